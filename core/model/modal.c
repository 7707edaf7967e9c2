#include "core/model/modal.h"

#include "core/math/lanes.h"

void orr_modal_layout(struct orr_modal *modal, int n, struct orr_block *ledger) {
  int ld = (n + 3) / 4 * 4;
  size_t row = (size_t)ld, square = (size_t)n * (size_t)ld;
  modal->n = n;
  modal->ld = ld;
  modal->s1 = ORR_TAKE(ledger, double, 3 * row);
  modal->l0 = ORR_TAKE(ledger, double, 3 * row);
  modal->i1 = ORR_TAKE(ledger, double, 6 * row);
  modal->mff = ORR_TAKE(ledger, double, square);
  modal->stiffness = ORR_TAKE(ledger, double, square);
  modal->damping = ORR_TAKE(ledger, double, square);
  modal->diagonal = ORR_TAKE(ledger, double, 2 * row);
  modal->pairs = ORR_TAKE(ledger, double, ORR_MODAL_PAIR *square);
  modal->curve = modal->curved ? ORR_TAKE(ledger, double, ORR_MODAL_CURVE *square) : NULL;
  modal->lean = modal->curved && modal->line ? ORR_TAKE(ledger, double, square) : NULL;
  modal->straight = modal->lean != NULL;
  modal->plain = !modal->linearized && !modal->curved;
  modal->few = modal->plain && n <= ORR_FEW_MODES;
  modal->firsts = ORR_TAKE(ledger, double, 16 * (size_t)n);
}

static orr_vec3 column(const double *m, int ld, int r) { return v3(m[r], m[ld + r], m[2 * ld + r]); }

static void add3(double *m, int stride, int at, orr_vec3 x) {
  m[at] += x.x;
  m[stride + at] += x.y;
  m[2 * stride + at] += x.z;
}

static void add6(double *m, int stride, int at, orr_sym3 x) {
  const double e[6] = {x.xx, x.yy, x.zz, x.xy, x.xz, x.yz};
  for (int c = 0; c < 6; c++)
    m[c * stride + at] += e[c];
}

/* −(ã b̃ + b̃ ã)/2, the symmetric part of −ã b̃ */
static orr_sym3 cross_pair(orr_vec3 a, orr_vec3 b) {
  orr_mat3 m = m3_mul(m3_skew(a), m3_skew(b));
  return s3_scale(-1, s3_part(m));
}

/* i1_r = −m (c̃0 Γ̃ + Γ̃ c̃0) + S̃ J − J S̃ */
static orr_sym3 inertia_slope(double m, orr_vec3 c0, orr_vec3 gamma, orr_vec3 slope, orr_sym3 j) {
  orr_sym3 turned = s3_part(m3_mul(m3_skew(slope), s3_full(j))); /* (S̃J − JS̃)/2 */
  return s3_add(s3_scale(2 * m, cross_pair(c0, gamma)), s3_scale(2, turned));
}

/* The symmetric part of −S̃_a J S̃_b + ½ (J S̃_a S̃_b + S̃_a S̃_b J), also symmetric in ab. */
static orr_sym3 inertia_curve(orr_vec3 a, orr_vec3 b, orr_sym3 j) {
  orr_mat3 sa = m3_skew(a), sb = m3_skew(b), jf = s3_full(j);
  orr_mat3 first = m3_mul(sa, m3_mul(jf, sb));
  orr_mat3 second = m3_mul(jf, m3_add(m3_mul(sa, sb), m3_mul(sb, sa)));
  return s3_add(s3_scale(-1, s3_part(first)), s3_scale(0.5, s3_part(second)));
}

/* Adds to `count` of the twelve numbers of modes s and r, from number `first` on: n_sr, n_sr − n_rs, i2_rs. */
static void add_numbers(const struct orr_modal *modal, int s, int r, int first, int count, const double *x) {
  static const int place[ORR_MODAL_PAIR] = {4, 5, 6, 8, 9, 10, 0, 1, 2, 3, 7, 11}; /* where modes are few */
  int block = (r / ORR_LANES * modal->n + s) * ORR_MODAL_PAIR * ORR_LANES + r % ORR_LANES;
  for (int i = 0; i < count; i++) {
    int at = modal->few ? (r * modal->n + s) * ORR_MODAL_PAIR + place[first + i] : block + (first + i) * ORR_LANES;
    modal->pairs[at] += x[i];
  }
}

static void pair3(const struct orr_modal *modal, int s, int r, int first, orr_vec3 x) {
  add_numbers(modal, s, r, first, 3, (const double[3]){x.x, x.y, x.z});
}

static void pair6(const struct orr_modal *modal, int s, int r, orr_sym3 x) {
  add_numbers(modal, s, r, 6, 6, (const double[6]){x.xx, x.yy, x.zz, x.xy, x.xz, x.yz});
}

static void add_pair(struct orr_modal *modal, double m, orr_sym3 j, int a, int b, const orr_vec3 gamma[2],
                     const orr_vec3 slope[2]) {
  modal->mff[a * modal->ld + b] += m * v3_dot(gamma[0], gamma[1]) + v3_dot(slope[0], s3_apply(j, slope[1]));
  orr_vec3 n = v3_scale(m, v3_cross(gamma[0], gamma[1]));
  n = v3_add(n, v3_cross(slope[0], s3_apply(j, slope[1])));
  n = v3_madd(n, -0.5, s3_apply(j, v3_cross(slope[0], slope[1])));
  pair3(modal, a, b, 0, n);
  pair3(modal, a, b, 3, n);
  pair3(modal, b, a, 3, v3_neg(n));
  pair6(modal, a, b, s3_add(s3_scale(m, cross_pair(gamma[0], gamma[1])), inertia_curve(slope[0], slope[1], j)));
}

/* g_sr = G_sr + ½ (S_s × (S_r × p) + S_r × (S_s × p)): what a pair of amplitudes does to a mass centre beside Γ. */
static void add_curve(struct orr_modal *modal, double m, const struct orr_modal_node *node, int s, int r) {
  int ld = modal->ld, n = modal->n;
  orr_vec3 a = column(node->slope, ld, s), b = column(node->slope, ld, r), c0 = v3_add(node->at, node->com);
  orr_vec3 turned = v3_add(v3_cross(a, v3_cross(b, node->com)), v3_cross(b, v3_cross(a, node->com)));
  orr_vec3 g = v3_madd(orr_node_bend(modal, node, s, r), 0.5, turned);
  add3(orr_curve_at(modal->curve, ORR_MODAL_CURVE, n, s, r), ORR_LANES, 0, v3_scale(m, g));
  modal->straight = modal->straight && turned.x == 0 && turned.y == 0 && turned.z == 0;
  if (modal->lean)
    *orr_curve_at(modal->lean, 1, n, s, r) += m * v3_dot(modal->along, g);
  pair3(modal, s, r, 0, v3_scale(m, v3_cross(c0, g)));
  pair6(modal, s, r, s3_scale(m, cross_pair(c0, g)));
}

/* i1, l0 and s1 of each mode side by side, where modes are few. */
static void gather_firsts(struct orr_modal *modal) {
  int ld = modal->ld;
  for (int r = 0; r < modal->n; r++) {
    const double *i1 = modal->i1 + r, *l0 = modal->l0 + r, *s1 = modal->s1 + r;
    const double all[16] = {i1[0], i1[ld], i1[2 * ld], i1[3 * ld], l0[0], l0[ld], l0[2 * ld], i1[4 * ld],
                            0,     0,      0,          i1[5 * ld], s1[0], s1[ld], s1[2 * ld], 0};
    memcpy(modal->firsts + 16 * r, all, sizeof all);
  }
}

void orr_modal_add_node(struct orr_modal *modal, double sign, const struct orr_modal_node *node) {
  double m = sign * node->mass;
  orr_sym3 j = s3_scale(sign, node->inertia);
  orr_vec3 c0 = v3_add(node->at, node->com);
  int ld = modal->ld;
  modal->mass += m;
  modal->s0 = v3_madd(modal->s0, m, c0);
  modal->i0 = s3_add(modal->i0, s3_add(s3_point(m, c0), j));
  for (int r = 0; r < modal->n; r++) {
    orr_vec3 slope = column(node->slope, ld, r);
    orr_vec3 gamma = v3_add(column(node->shift, ld, r), v3_cross(slope, node->com));
    add3(modal->s1, ld, r, v3_scale(m, gamma));
    add3(modal->l0, ld, r, v3_add(v3_scale(m, v3_cross(c0, gamma)), s3_apply(j, slope)));
    add6(modal->i1, ld, r, inertia_slope(m, c0, gamma, slope, j));
    for (int s = 0; s < modal->n; s++) {
      orr_vec3 slope_s = column(node->slope, ld, s);
      orr_vec3 gamma_s = v3_add(column(node->shift, ld, s), v3_cross(slope_s, node->com));
      add_pair(modal, m, j, s, r, (const orr_vec3[2]){gamma_s, gamma}, (const orr_vec3[2]){slope_s, slope});
      if (modal->curved)
        add_curve(modal, m, node, s, r);
    }
  }
  gather_firsts(modal);
}

static double dot(const double *a, const double *b, int ld) {
  orr_lanes sum = {0};
  for (int r = 0; r < ld; r += ORR_LANES)
    sum = lanes_madd(lanes_load(a + r), lanes_load(b + r), sum);
  return lanes_sum(sum);
}

static orr_vec3 dot3(const double *m, const double *x, int ld) {
  return v3(dot(m, x, ld), dot(m + ld, x, ld), dot(m + 2 * ld, x, ld));
}

/* Sums over modes, four lanes each, that an evaluation gathers block by block. */
struct gathered {
  orr_lanes inertia[6];         /* Σ η_r (i1_r + Σ_s η_s i2_rs): I(η) − i0 */
  orr_lanes turn[6];            /* Σ η̇_r (i1_r + 2 Σ_s η_s i2_rs): its rate */
  orr_lanes moment[3];          /* Σ η̇_r Σ_s η̇_s n_sr */
  orr_lanes h[3];               /* Σ L_r η̇_r */
  orr_lanes moved[3], drift[3]; /* s − s0 = ½ (s1 + S) η; S η̇ */
  orr_lanes surge[3];           /* Σ η̇_r Σ_s η̇_s k_rs: what is left of s̈ where η̈ = 0 */
};

/* What a block of modes adds to s, ṡ and s̈, its S and k η̇. */
static inline void add_moments(struct gathered *sum, int c, orr_lanes eta, orr_lanes rate, orr_lanes s1,
                               orr_lanes k_eta, orr_lanes k_rate) {
  sum->moved[c] += eta * (s1 + 0.5 * k_eta);
  sum->drift[c] += rate * (s1 + k_eta);
  sum->surge[c] += rate * k_rate;
}

/* As gather_curve, where every k is along one direction. */
static inline void gather_lean(const struct orr_modal *modal, const double *restrict eta, const double *restrict rate,
                               int r, struct gathered *sum, struct orr_modal_state *out) {
  const double along[3] = {modal->along.x, modal->along.y, modal->along.z}, *row = modal->lean + r * modal->n;
  orr_lanes k_eta = {0}, k_rate = {0};
  int ld = modal->ld;
  for (int s = 0; s < modal->n; s++) {
    orr_lanes k = lanes_load(row + s * ORR_LANES);
    k_eta += eta[s] * k;
    k_rate += rate[s] * k;
  }
  for (int c = 0; c < 3; c++) {
    orr_lanes s1 = lanes_load(modal->s1 + c * ld + r), bend = along[c] * k_eta;
    lanes_store(out->s1 + c * ld + r, s1 + bend);
    add_moments(sum, c, lanes_load(eta + r), lanes_load(rate + r), s1, bend, along[c] * k_rate);
  }
}

/* Modes r … r + 3 of second-order shapes: S, and their share of s, ṡ and s̈. */
static inline void gather_curve(const struct orr_modal *modal, const double *restrict eta, const double *restrict rate,
                                int r, struct gathered *sum, struct orr_modal_state *out) {
  int ld = modal->ld;
  orr_lanes k_eta[3] = {{0}}, k_rate[3] = {{0}};
  const double *row = modal->curve + r * modal->n * ORR_MODAL_CURVE;
  for (int s = 0; s < modal->n; s++) {
    const double *at = row + s * ORR_MODAL_CURVE * ORR_LANES;
    double e = eta[s], v = rate[s];
    for (int c = 0; c < 3; c++) {
      orr_lanes k = lanes_load(at + c * ORR_LANES);
      k_eta[c] += e * k;
      k_rate[c] += v * k;
    }
  }
  for (int c = 0; c < 3; c++) {
    orr_lanes s1 = lanes_load(modal->s1 + c * ld + r);
    lanes_store(out->s1 + c * ld + r, s1 + k_eta[c]);
    add_moments(sum, c, lanes_load(eta + r), lanes_load(rate + r), s1, k_eta[c], k_rate[c]);
  }
}

/* Modes r … r + 3: L, the modal bias ω·Σ_s η̇_s (n_sr − n_rs) − ½ ω·∂I/∂η_r ω, and their share of the sums. */
static inline __attribute__((always_inline)) void gather_block(const struct orr_modal *modal,
                                                               const double *restrict eta, const double *restrict rate,
                                                               int r, const double w[3], const double k[6], bool curved,
                                                               struct gathered *sum, struct orr_modal_state *out) {
  int ld = modal->ld;
  const double *row = modal->pairs + r * modal->n * ORR_MODAL_PAIR;
  orr_lanes n_eta[3] = {{0}}, n_rate[3] = {{0}}, skew[3] = {{0}}, curve[6] = {{0}};
  /* two passes, so that the sums of each stay in registers */
  for (int s = 0; s < modal->n; s++) {
    const double *at = row + s * ORR_MODAL_PAIR * ORR_LANES;
    orr_lanes e = lanes_all(eta[s]), v = lanes_all(rate[s]);
    for (int c = 0; c < 3; c++) {
      orr_lanes n = lanes_load(at + c * ORR_LANES);
      n_eta[c] = lanes_madd(e, n, n_eta[c]);
      n_rate[c] = lanes_madd(v, n, n_rate[c]);
      skew[c] = lanes_madd(v, lanes_load(at + (3 + c) * ORR_LANES), skew[c]);
    }
  }
  for (int s = 0; s < modal->n; s++) {
    const double *at = row + (s * ORR_MODAL_PAIR + 6) * ORR_LANES;
    for (int c = 0; c < 6; c++)
      curve[c] = lanes_madd(lanes_all(eta[s]), lanes_load(at + c * ORR_LANES), curve[c]);
  }
  orr_lanes eta_r = lanes_load(eta + r), rate_r = lanes_load(rate + r), bias = {0};
  for (int c = 0; c < 3; c++) {
    orr_lanes l = lanes_load(modal->l0 + c * ld + r) + n_eta[c], s1 = lanes_load(modal->s1 + c * ld + r);
    lanes_store(out->l + c * ld + r, l);
    bias = lanes_madd(lanes_all(w[c]), skew[c], bias);
    sum->moment[c] = lanes_madd(rate_r, n_rate[c], sum->moment[c]);
    sum->h[c] = lanes_madd(rate_r, l, sum->h[c]);
    if (curved)
      continue;
    sum->moved[c] = lanes_madd(eta_r, s1, sum->moved[c]);
    sum->drift[c] = lanes_madd(rate_r, s1, sum->drift[c]);
  }
  if (curved && modal->straight)
    gather_lean(modal, eta, rate, r, sum, out);
  else if (curved)
    gather_curve(modal, eta, rate, r, sum, out);
  for (int c = 0; c < 6; c++) {
    orr_lanes one = lanes_load(modal->i1 + c * ld + r) + curve[c], slope = one + curve[c];
    bias = lanes_madd(lanes_all(k[c]), slope, bias);
    sum->inertia[c] = lanes_madd(eta_r, one, sum->inertia[c]);
    sum->turn[c] = lanes_madd(rate_r, slope, sum->turn[c]);
  }
  lanes_store(out->bias_f + r, bias);
}

/* M_m(0) only. The force on the modes is what T gives: v·(ω × s1), from v̇ = a − ω × v. The force on the body frame is
 * ω×(L η̇) + v × s1 η̇. */
static void evaluate_linearized(const struct orr_modal *modal, const double *rate, orr_vec3 omega, orr_vec3 v,
                                struct orr_modal_state *out) {
  int ld = modal->ld;
  orr_vec3 k = v3_cross(v, omega), s1 = dot3(modal->s1, rate, ld);
  for (int r = 0; r < ld; r++) {
    for (int c = 0; c < 3; c++)
      out->l[c * ld + r] = modal->l0[c * ld + r];
    out->bias_f[r] = v3_dot(k, column(modal->s1, ld, r));
  }
  out->s = modal->s0;
  out->inertia = modal->i0;
  orr_vec3 h = v3_add(s3_apply(modal->i0, omega), dot3(modal->l0, rate, ld));
  out->bias.w = v3_add(v3_cross(omega, h), v3_cross(v, s1));
  out->bias.v = v3_cross(omega, v3_add(v3_cross(omega, modal->s0), s1));
}

/* The sums of struct gathered over all modes. */
struct totals {
  orr_sym3 inertia, turn;
  orr_vec3 moment, h, moved, drift;
};

/* body frame: İ ω + Σ η̇η̇ n + ω × (I ω + L η̇);  ω × (ω × s) + 2 ω × ṡ */
static inline void finish(const struct orr_modal *modal, orr_vec3 omega, const struct totals *t,
                          struct orr_modal_state *out) {
  out->inertia = s3_add(modal->i0, t->inertia);
  out->s = v3_add(modal->s0, t->moved);
  orr_vec3 h = v3_add(s3_apply(out->inertia, omega), t->h);
  orr_vec3 moment = v3_add(s3_apply(t->turn, omega), t->moment);
  out->bias.w = v3_add(moment, v3_cross(omega, h));
  out->bias.v = v3_cross(omega, v3_madd(v3_cross(omega, out->s), 2, t->drift));
}

/* As evaluate, where modes are few, whose number is known where this is called. The numbers of one pair of modes stand
 * side by side, so nothing is padded. */
static inline __attribute__((always_inline)) void evaluate_few(int n, const struct orr_modal *modal, const double *eta,
                                                               const double *rate, orr_vec3 omega,
                                                               struct orr_modal_state *out) {
  const int ld = (n + 3) / 4 * 4;
  const double wx = omega.x, wy = omega.y, wz = omega.z;
  /* −½ ω·I ω by the six numbers of I, and ω */
  const orr_lanes ka = {-0.5 * wx * wx, -0.5 * wy * wy, -0.5 * wz * wz, -wx * wy}, kn = {0, 0, 0, -wx * wz};
  const orr_lanes ks = {wx, wy, wz, -wy * wz}, kz = {0, 0, 0, -wy * wz};
  orr_lanes inertia[3] = {{0}}, turn[3] = {{0}}, moment = {0}, h = {0}, moved = {0}, drift = {0}, bias[ORR_FEW_MODES];
  for (int r = 0; r < ld; r++)
    bias[r] = (orr_lanes){0};
  for (int r = 0; r < n; r++) {
    const double *row = modal->pairs + r * n * ORR_MODAL_PAIR, *first = modal->firsts + 16 * r;
    orr_lanes a = {0}, b = {0}, c = {0}, b_rate = {0}, e = lanes_all(eta[r]), v = lanes_all(rate[r]);
#ifdef __clang__
#pragma clang loop unroll(full)
#else
#pragma GCC unroll 8
#endif
    for (int s = 0; s < n; s++) {
      const double *at = row + s * ORR_MODAL_PAIR;
      orr_lanes by_eta = lanes_all(eta[s]), by_rate = lanes_all(rate[s]), pair = lanes_load(at + ORR_LANES);
      orr_lanes mixed = __builtin_shufflevector(by_rate, by_eta, 0, 1, 2, 7);
      a = lanes_madd(by_eta, lanes_load(at), a);
      b = lanes_madd(by_eta, pair, b);
      b_rate = lanes_madd(by_rate, pair, b_rate);
      c = lanes_madd(mixed, lanes_load(at + 2 * ORR_LANES), c);
    }
    orr_lanes one_a = a + lanes_load(first), one_b = b + lanes_load(first + 4), one_c = c + lanes_load(first + 8);
    orr_lanes s1 = lanes_load(first + 12), slope_a = one_a + a, slope_b = one_b + b;
    inertia[0] = lanes_madd(e, one_a, inertia[0]);
    inertia[1] = lanes_madd(e, one_b, inertia[1]);
    inertia[2] = lanes_madd(e, one_c, inertia[2]);
    turn[0] = lanes_madd(v, slope_a, turn[0]);
    turn[1] = lanes_madd(v, slope_b, turn[1]);
    turn[2] = lanes_madd(v, one_c + c, turn[2]);
    h = lanes_madd(v, one_b, h);
    moment = lanes_madd(v, b_rate, moment);
    moved = lanes_madd(e, s1, moved);
    drift = lanes_madd(v, s1, drift);
    bias[r] = lanes_madd(kz, one_c, lanes_madd(ks, c, lanes_madd(kn, slope_b, ka * slope_a)));
    out->l[r] = one_b[0];
    out->l[ld + r] = one_b[1];
    out->l[2 * ld + r] = one_b[2];
  }
  for (int r = 0; r < ld; r += ORR_LANES)
    lanes_store(out->bias_f + r, lanes_sums(bias[r], bias[r + 1], bias[r + 2], bias[r + 3]));
  struct totals t = {
      {inertia[0][0], inertia[0][1], inertia[0][2], inertia[0][3], inertia[1][3], inertia[2][3]},
      {turn[0][0], turn[0][1], turn[0][2], turn[0][3], turn[1][3], turn[2][3]},
      v3(moment[0], moment[1], moment[2]),
      v3(h[0], h[1], h[2]),
      v3(moved[0], moved[1], moved[2]),
      v3(drift[0], drift[1], drift[2]),
  };
  finish(modal, omega, &t, out);
}

static void evaluate_count(const struct orr_modal *modal, const double *eta, const double *rate, orr_vec3 omega,
                           struct orr_modal_state *out) {
  switch (modal->n) {
  case 1:
    evaluate_few(1, modal, eta, rate, omega, out);
    return;
  case 2:
    evaluate_few(2, modal, eta, rate, omega, out);
    return;
  case 3:
    evaluate_few(3, modal, eta, rate, omega, out);
    return;
  case 4:
    evaluate_few(4, modal, eta, rate, omega, out);
    return;
  case 5:
    evaluate_few(5, modal, eta, rate, omega, out);
    return;
  case 6:
    evaluate_few(6, modal, eta, rate, omega, out);
    return;
  case 7:
    evaluate_few(7, modal, eta, rate, omega, out);
    return;
  case 8:
    evaluate_few(8, modal, eta, rate, omega, out);
    return;
  }
}

/* `curved` is known where this is called, so that linear shapes pay nothing for the others. */
static inline __attribute__((always_inline)) void evaluate(const struct orr_modal *modal, const double *eta,
                                                           const double *rate, orr_vec3 omega, bool curved,
                                                           struct orr_modal_state *out) {
  const double w[3] = {omega.x, omega.y, omega.z};
  /* −½ ω·I ω by the six numbers of I */
  const double k[6] = {-0.5 * w[0] * w[0], -0.5 * w[1] * w[1], -0.5 * w[2] * w[2],
                       -w[0] * w[1],       -w[0] * w[2],       -w[1] * w[2]};
  struct gathered sum = {0};
  for (int r = 0; r < modal->ld; r += ORR_LANES)
    gather_block(modal, eta, rate, r, w, k, curved, &sum, out);
  orr_lanes a = lanes_sums(sum.inertia[0], sum.inertia[1], sum.inertia[2], sum.inertia[3]);
  orr_lanes b = lanes_sums(sum.inertia[4], sum.inertia[5], sum.turn[0], sum.turn[1]);
  orr_lanes c = lanes_sums(sum.turn[2], sum.turn[3], sum.turn[4], sum.turn[5]);
  orr_lanes d = lanes_sums(sum.moment[0], sum.moment[1], sum.moment[2], sum.h[0]);
  orr_lanes e = lanes_sums(sum.h[1], sum.h[2], sum.moved[0], sum.moved[1]);
  orr_lanes f = lanes_sums(sum.moved[2], sum.drift[0], sum.drift[1], sum.drift[2]);
  struct totals t = {{a[0], a[1], a[2], a[3], b[0], b[1]},
                     {b[2], b[3], c[0], c[1], c[2], c[3]},
                     v3(d[0], d[1], d[2]),
                     v3(d[3], e[0], e[1]),
                     v3(e[2], e[3], f[0]),
                     v3(f[1], f[2], f[3])};
  finish(modal, omega, &t, out);
  if (!curved)
    return;
  orr_lanes g = lanes_sums(sum.surge[0], sum.surge[1], sum.surge[2], sum.surge[2]);
  out->bias.v = v3_add(out->bias.v, v3(g[0], g[1], g[2]));
}

void orr_modal_evaluate(const struct orr_modal *modal, const double *eta, const double *rate, orr_vec3 omega,
                        orr_vec3 v, struct orr_modal_state *out) {
  if (modal->few)
    evaluate_count(modal, eta, rate, omega, out);
  else if (modal->plain)
    evaluate(modal, eta, rate, omega, false, out);
  else if (modal->curved)
    evaluate(modal, eta, rate, omega, true, out);
  else
    evaluate_linearized(modal, rate, omega, v, out);
}

void orr_modal_elastic(const struct orr_modal *modal, const double *eta, const double *rate, double *out) {
  int n = modal->n, ld = modal->ld;
  if (modal->uncoupled) {
    for (int r = 0; r < ld; r += ORR_LANES) {
      orr_lanes pull = lanes_load(modal->diagonal + r) * lanes_load(eta + r);
      pull = lanes_madd(lanes_load(modal->diagonal + ld + r), lanes_load(rate + r), pull);
      lanes_store(out + r, lanes_load(out + r) - pull);
    }
    return;
  }
  for (int s = 0; s < n; s++)
    out[s] -= dot(modal->stiffness + s * ld, eta, ld) + dot(modal->damping + s * ld, rate, ld);
}
