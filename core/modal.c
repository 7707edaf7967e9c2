#include "core/modal.h"

void orr_modal_layout(struct orr_modal *modal, int n, struct orr_block *arena) {
  int ld = (n + 3) / 4 * 4;
  size_t row = (size_t)ld, square = (size_t)n * (size_t)ld;
  modal->n = n;
  modal->ld = ld;
  modal->s1 = ORR_TAKE(arena, double, 3 * row);
  modal->l0 = ORR_TAKE(arena, double, 3 * row);
  modal->i1 = ORR_TAKE(arena, double, 6 * row);
  modal->mff = ORR_TAKE(arena, double, square);
  modal->stiffness = ORR_TAKE(arena, double, square);
  modal->damping = ORR_TAKE(arena, double, square);
  modal->nn = ORR_TAKE(arena, double, 3 * square);
  modal->i2 = ORR_TAKE(arena, double, 6 * square);
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

static void add_pair(struct orr_modal *modal, double m, orr_sym3 j, int a, int b, const orr_vec3 gamma[2],
                     const orr_vec3 slope[2]) {
  int ld = modal->ld, square = modal->n * ld, at = a * ld + b;
  modal->mff[at] += m * v3_dot(gamma[0], gamma[1]) + v3_dot(slope[0], s3_apply(j, slope[1]));
  orr_vec3 n = v3_scale(m, v3_cross(gamma[0], gamma[1]));
  n = v3_add(n, v3_cross(slope[0], s3_apply(j, slope[1])));
  n = v3_madd(n, -0.5, s3_apply(j, v3_cross(slope[0], slope[1])));
  add3(modal->nn, square, at, n);
  add6(modal->i2, square, at,
       s3_add(s3_scale(m, cross_pair(gamma[0], gamma[1])), inertia_curve(slope[0], slope[1], j)));
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
    }
  }
}

static double dot(const double *restrict a, const double *restrict b, int ld) {
  double sum[4] = {0, 0, 0, 0};
  for (int r = 0; r < ld; r += 4)
    for (int i = 0; i < 4; i++)
      sum[i] += a[r + i] * b[r + i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static orr_vec3 dot3(const double *m, const double *x, int ld) {
  return v3(dot(m, x, ld), dot(m + ld, x, ld), dot(m + 2 * ld, x, ld));
}

/* L(η), and the part of the bias that comes from n: modes ω·Σ_s η̇_s (n_sr − n_rs), frame Σ_rs η̇_s η̇_r n_sr. */
static orr_vec3 evaluate_coupling(const struct orr_modal *modal, const double *restrict eta,
                                  const double *restrict rate, orr_vec3 omega, struct orr_modal_state *out) {
  int n = modal->n, ld = modal->ld;
  const double w[3] = {omega.x, omega.y, omega.z};
  double moment[3];
  for (int c = 0; c < 3; c++) {
    double *restrict l = out->l + c * ld, *restrict bias = out->bias_f;
    const double *row = modal->nn + c * n * ld;
    double sum = 0;
    for (int r = 0; r < ld; r++)
      l[r] = modal->l0[c * ld + r];
    for (int s = 0; s < n; s++, row += ld) {
      double e = eta[s], k = w[c] * rate[s], back = dot(row, rate, ld);
      for (int r = 0; r < ld; r++) {
        l[r] += e * row[r];
        bias[r] += k * row[r];
      }
      bias[s] -= w[c] * back;
      sum += rate[s] * back;
    }
    moment[c] = sum;
  }
  return v3_from(moment);
}

/* I(η), its rate İ, and the modal part −½ ω·∂I/∂η_r ω. */
static orr_sym3 evaluate_inertia(const struct orr_modal *modal, const double *restrict eta, const double *restrict rate,
                                 orr_vec3 w, struct orr_modal_state *out) {
  int n = modal->n, ld = modal->ld;
  const double k[6] = {-0.5 * w.x * w.x, -0.5 * w.y * w.y, -0.5 * w.z * w.z, -w.x * w.y, -w.x * w.z, -w.y * w.z};
  double value[6], slope[6];
  for (int c = 0; c < 6; c++) {
    const double *restrict one = modal->i1 + c * ld, *row = modal->i2 + c * n * ld;
    double *restrict bias = out->bias_f;
    double kc = k[c], first = dot(one, eta, ld), turn = dot(one, rate, ld), second = 0;
    for (int r = 0; r < ld; r++)
      bias[r] += kc * one[r];
    for (int s = 0; s < n; s++, row += ld) {
      double e = eta[s], ke = 2 * kc * e, by_eta = dot(row, eta, ld), by_rate = dot(row, rate, ld);
      second += e * by_eta;
      turn += 2 * e * by_rate;
      for (int r = 0; r < ld; r++)
        bias[r] += ke * row[r];
    }
    value[c] = first + second;
    slope[c] = turn;
  }
  out->inertia = s3_add(modal->i0, s3_from(value));
  return s3_from(slope);
}

/* M_m(0) only: no force on the modes but what T gives: v·(ω × s1), from v̇ = a − ω × v; and ω×(L η̇) + v × s1 η̇ on the frame. */
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

void orr_modal_evaluate(const struct orr_modal *modal, const double *eta, const double *rate, orr_vec3 omega,
                        orr_vec3 v, struct orr_modal_state *out) {
  if (modal->linearized) {
    evaluate_linearized(modal, rate, omega, v, out);
    return;
  }
  int ld = modal->ld;
  for (int r = 0; r < ld; r++)
    out->bias_f[r] = 0;
  orr_vec3 moment = evaluate_coupling(modal, eta, rate, omega, out);
  orr_sym3 turn = evaluate_inertia(modal, eta, rate, omega, out);
  orr_vec3 s1 = dot3(modal->s1, rate, ld);
  out->s = v3_add(modal->s0, dot3(modal->s1, eta, ld));
  /* frame: İ ω + Σ η̇η̇ n + ω × (I ω + L η̇);  ω × (ω × s) + 2 ω × ṡ */
  orr_vec3 h = v3_add(s3_apply(out->inertia, omega), dot3(out->l, rate, ld));
  out->bias.w = v3_add(v3_add(s3_apply(turn, omega), moment), v3_cross(omega, h));
  out->bias.v = v3_cross(omega, v3_madd(v3_cross(omega, out->s), 2, s1));
}

void orr_modal_elastic(const struct orr_modal *modal, const double *restrict eta, const double *restrict rate,
                       double *restrict out) {
  int ld = modal->ld;
  for (int s = 0; s < modal->n; s++)
    out[s] -= dot(modal->stiffness + s * ld, eta, ld) + dot(modal->damping + s * ld, rate, ld);
}
