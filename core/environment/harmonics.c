/* With X = R x/r², the inverse of the point in the sphere of the reference radius, V = (μ/r) H(X) where H is a harmonic
 * polynomial (Kelvin):
 *
 *   H = Σm Re[(Pm)(ζ, τ) (ξ + iη)ᵐ],   Pm = Σn (C̄nm − i S̄nm) Ânm,   X = (ξ, η, ζ), τ = |X|²
 *
 * and the derived Legendre functions Â are polynomials in ζ and τ, without cosines of latitude and so without poles:
 *
 *   Ânm = α ζ Ân−1,m − β τ Ân−2,m,   α² = (2n+1)(2n−1)/((n−m)(n+m)),   β² = (2n+1)(n−m−1)(n+m−1)/((2n−3)(n−m)(n+m))
 *
 * Four orders run side by side. Their ζ derivatives follow from the same recursion, those in τ from Euler's relation
 * ζ Âζ + 2τ Âτ = (n − m) Â.
 */
#include "core/environment/harmonics.h"

#include <assert.h>

#include "core/math/block.h"
#include "core/math/lanes.h"

enum { WIDTH = ORR_LANES, ROW = 4 * ORR_LANES, ALPHA = 0, BETA = ORR_LANES, COS = 2 * ORR_LANES, SIN = 3 * ORR_LANES };

static struct orr_harmonics layout(struct orr_block *block, int degree, int order, struct orr_harmonics **self) {
  struct orr_harmonics h = {.degree = degree, .order = order, .central = 1};
  int groups = order / WIDTH + 1, rows = 0;
  *self = ORR_TAKE(block, struct orr_harmonics, 1);
  h.first = ORR_TAKE(block, int, groups);
  for (int g = 0; g < groups; g++) {
    if (h.first)
      h.first[g] = rows;
    rows += degree - g * WIDTH + 1;
  }
  h.table = ORR_TAKE(block, double, rows *ROW);
  h.seed = ORR_TAKE(block, double, groups *WIDTH);
  return h;
}

size_t orr_harmonics_size(int degree, int order) {
  struct orr_block block = {0};
  struct orr_harmonics *self;
  layout(&block, degree, order, &self);
  return block.used;
}

static double *row_of(const struct orr_harmonics *h, int n, int m) {
  return h->table + (h->first[m / WIDTH] + n - m / WIDTH * WIDTH) * ROW + m % WIDTH;
}

struct orr_harmonics *orr_harmonics_init(void *block, size_t bytes, double mu, double radius, int degree, int order) {
  assert(order >= 1 && order <= degree && degree <= ORR_HARMONICS_DEGREE);
  if (!block || bytes < orr_harmonics_size(degree, order))
    return NULL;
  struct orr_block b = {.base = block, .size = bytes};
  struct orr_harmonics *self, h = layout(&b, degree, order, &self);
  h.mu = mu;
  h.radius = radius;
  *self = h;
  double sectoral = 1;
  for (int m = 0; m <= order; m++) {
    if (m > 0)
      sectoral *= m == 1 ? sqrt(3) : sqrt((2.0 * m + 1) / (2.0 * m));
    h.seed[m] = sectoral;
    for (int n = m + 1; n <= degree; n++) {
      double below = (double)(n - m) * (n + m);
      row_of(self, n, m)[ALPHA] = sqrt((2.0 * n + 1) * (2.0 * n - 1) / below);
      row_of(self, n, m)[BETA] = sqrt((2.0 * n + 1) * (n - m - 1) * (n + m - 1) / ((2.0 * n - 3) * below));
    }
  }
  return self;
}

bool orr_harmonics_set(struct orr_harmonics *h, int n, int m, double c, double s) {
  if (n < 0 || n > h->degree || m < 0 || m > n || m > h->order)
    return false;
  if (n == 0) {
    h->central = c;
    return true;
  }
  row_of(h, n, m)[COS] = c;
  row_of(h, n, m)[SIN] = m ? s : 0;
  return true;
}

/* ---- sums over degrees ------------------------------------------------------------------------------------------- */

/* Of four orders: Σ C Â and Σ S Â, the same with Âζ and with n Â; for second derivatives with Âζζ, n Âζ and n² Â. */
enum { P, PZ, PN, PZZ, PZN, PNN, SUMS };

struct sums {
  orr_lanes c[SUMS], s[SUMS];
};

static inline orr_lanes all(double x) { return (orr_lanes){x, x, x, x}; }

/* Where an order begins its seed comes in; everywhere else it is zero. */
static inline orr_lanes seed_at(const double *seed, int row) {
  orr_lanes e = {0, 0, 0, 0};
  if (row < WIDTH)
    e[row] = seed[row];
  return e;
}

static inline __attribute__((always_inline)) void sum_degrees(const struct orr_harmonics *h, int group, double zeta,
                                                              double tau, bool second, struct sums *out) {
  const double *row = h->table + (ptrdiff_t)h->first[group] * ROW, *seed = h->seed + (ptrdiff_t)group * WIDTH;
  orr_lanes a1 = all(0), a2 = a1, z1 = a1, z2 = a1, y1 = a1, y2 = a1, n = all(group * WIDTH);
  struct sums sum = {{a1, a1, a1, a1, a1, a1}, {a1, a1, a1, a1, a1, a1}};
  int rows = h->degree - group * WIDTH + 1;
  for (int i = 0; i < rows; i++, row += ROW) {
    orr_lanes alpha = lanes_load(row + ALPHA), beta = tau * lanes_load(row + BETA), az = zeta * alpha;
    orr_lanes c = lanes_load(row + COS), s = lanes_load(row + SIN);
    orr_lanes a = az * a1 - beta * a2, z = az * z1 + (alpha * a1 - beta * z2);
    if (i < WIDTH)
      a += seed_at(seed, i);
    orr_lanes na = n * a;
    sum.c[P] += c * a;
    sum.s[P] += s * a;
    sum.c[PZ] += c * z;
    sum.s[PZ] += s * z;
    sum.c[PN] += c * na;
    sum.s[PN] += s * na;
    if (second) {
      orr_lanes y = az * y1 + (2 * alpha * z1 - beta * y2), nz = n * z, nna = n * na;
      sum.c[PZZ] += c * y;
      sum.s[PZZ] += s * y;
      sum.c[PZN] += c * nz;
      sum.s[PZN] += s * nz;
      sum.c[PNN] += c * nna;
      sum.s[PNN] += s * nna;
      y2 = y1;
      y1 = y;
    }
    a2 = a1;
    a1 = a;
    z2 = z1;
    z1 = z;
    n += 1;
  }
  *out = sum;
}

/* ---- sums over orders -------------------------------------------------------------------------------------------- */

/* Re and Im of (ξ + iη)ᵐ, from m = −2 (zero below m = 0). */
struct powers {
  _Alignas(32) double re[ORR_HARMONICS_DEGREE + 12], im[ORR_HARMONICS_DEGREE + 12];
};

enum { SHIFT = 4 };

static void set_powers(struct powers *p, double x, double y, int order) {
  double *re = p->re + SHIFT, *im = p->im + SHIFT;
  for (int k = 0; k < SHIFT; k++)
    p->re[k] = p->im[k] = 0;
  re[0] = 1;
  im[0] = 0;
  for (int m = 1; m <= WIDTH; m++) {
    re[m] = x * re[m - 1] - y * im[m - 1];
    im[m] = x * im[m - 1] + y * re[m - 1];
  }
  orr_lanes c = all(re[WIDTH]), s = all(im[WIDTH]);
  for (int m = WIDTH; m <= order; m += WIDTH) {
    orr_lanes a = lanes_load(re + m - WIDTH), b = lanes_load(im + m - WIDTH);
    lanes_store(re + m, c * a - s * b);
    lanes_store(im + m, c * b + s * a);
  }
}

static inline orr_lanes any_load(const double *p) {
  orr_lanes a;
  memcpy(&a, p, sizeof a);
  return a;
}

/* H and its derivatives as sums over orders: the value, ζ and τ derivatives of the P, each times (ξ + iη)ᵐ; then the
 * same with the power's own derivatives in ξ and in η. */
enum { S_, SZ, ST, SZZ, SZT, STT, AX, AY, AZX, AZY, ATX, ATY, AXX, AXY, TOTALS };

static inline __attribute__((always_inline)) void sum_orders(const struct orr_harmonics *h, const struct powers *p,
                                                             double zeta, double tau, bool second, double *total) {
  orr_lanes sum[TOTALS];
  for (int k = 0; k < TOTALS; k++)
    sum[k] = all(0);
  double half = 0.5 / tau;
  for (int g = 0; g * WIDTH <= h->order; g++) {
    struct sums of;
    sum_degrees(h, g, zeta, tau, second, &of);
    int at = SHIFT + g * WIDTH;
    orr_lanes m = all(g * WIDTH) + (orr_lanes){0, 1, 2, 3};
    orr_lanes re = any_load(p->re + at), im = any_load(p->im + at);
    orr_lanes re1 = m * any_load(p->re + at - 1), im1 = m * any_load(p->im + at - 1);
    /* 2τ Pτ = Σ (n − m) Â − ζ Pζ */
    orr_lanes tc = half * (of.c[PN] - m * of.c[P] - zeta * of.c[PZ]);
    orr_lanes ts = half * (of.s[PN] - m * of.s[P] - zeta * of.s[PZ]);
    sum[S_] += of.c[P] * re + of.s[P] * im;
    sum[SZ] += of.c[PZ] * re + of.s[PZ] * im;
    sum[ST] += tc * re + ts * im;
    sum[AX] += of.c[P] * re1 + of.s[P] * im1;
    sum[AY] += of.s[P] * re1 - of.c[P] * im1;
    if (!second)
      continue;
    orr_lanes m1 = m * (m - 1);
    orr_lanes re2 = m1 * any_load(p->re + at - 2), im2 = m1 * any_load(p->im + at - 2);
    /* 2τ Pζτ = Σ (n − m − 1) Âζ − ζ Pζζ;  2τ Pττ = Σ (n − m − 2) Âτ − ζ Pζτ, with Σ n Âτ from n² Â and n Âζ */
    orr_lanes ztc = half * (of.c[PZN] - (m + 1) * of.c[PZ] - zeta * of.c[PZZ]);
    orr_lanes zts = half * (of.s[PZN] - (m + 1) * of.s[PZ] - zeta * of.s[PZZ]);
    orr_lanes ntc = half * (of.c[PNN] - m * of.c[PN] - zeta * of.c[PZN]);
    orr_lanes nts = half * (of.s[PNN] - m * of.s[PN] - zeta * of.s[PZN]);
    orr_lanes ttc = half * (ntc - (m + 2) * tc - zeta * ztc), tts = half * (nts - (m + 2) * ts - zeta * zts);
    sum[SZZ] += of.c[PZZ] * re + of.s[PZZ] * im;
    sum[SZT] += ztc * re + zts * im;
    sum[STT] += ttc * re + tts * im;
    sum[AZX] += of.c[PZ] * re1 + of.s[PZ] * im1;
    sum[AZY] += of.s[PZ] * re1 - of.c[PZ] * im1;
    sum[ATX] += tc * re1 + ts * im1;
    sum[ATY] += ts * re1 - tc * im1;
    sum[AXX] += of.c[P] * re2 + of.s[P] * im2;
    sum[AXY] += of.s[P] * re2 - of.c[P] * im2;
  }
  for (int k = 0; k < TOTALS; k++)
    total[k] = lanes_sum(sum[k]);
}

/* ---- back to the point ------------------------------------------------------------------------------------------- */

static orr_vec3 polynomial_gradient(const double *t, orr_vec3 at) {
  return v3(t[AX] + 2 * at.x * t[ST], t[AY] + 2 * at.y * t[ST], t[SZ] + 2 * at.z * t[ST]);
}

static orr_sym3 polynomial_hessian(const double *t, orr_vec3 at) {
  double x = at.x, y = at.y, z = at.z, tt = 4 * t[STT];
  return (orr_sym3){.xx = t[AXX] + 4 * x * t[ATX] + 2 * t[ST] + x * x * tt,
                    .yy = -t[AXX] + 4 * y * t[ATY] + 2 * t[ST] + y * y * tt,
                    .zz = t[SZZ] + 4 * z * t[SZT] + 2 * t[ST] + z * z * tt,
                    .xy = t[AXY] + 2 * y * t[ATX] + 2 * x * t[ATY] + x * y * tt,
                    .xz = t[AZX] + 2 * x * t[SZT] + 2 * z * t[ATX] + x * z * tt,
                    .yz = t[AZY] + 2 * y * t[SZT] + 2 * z * t[ATY] + y * z * tt};
}

/* Q N Q with the reflection Q = 1 − 2 e eᵀ:  N − 2 (e nᵀ + n eᵀ) + 4 (e·n) e eᵀ, n = N e; plus a bᵀ + b aᵀ terms. */
static orr_sym3 sym_add(orr_sym3 s, double k, orr_vec3 a, orr_vec3 b) {
  s.xx += 2 * k * a.x * b.x;
  s.yy += 2 * k * a.y * b.y;
  s.zz += 2 * k * a.z * b.z;
  s.xy += k * (a.x * b.y + a.y * b.x);
  s.xz += k * (a.x * b.z + a.z * b.x);
  s.yz += k * (a.y * b.z + a.z * b.y);
  return s;
}

struct inverse {
  double r, w; /* |x|; R/r² */
  orr_vec3 e, at;
  struct powers powers;
};

static void set_inverse(const struct orr_harmonics *h, orr_vec3 x, struct inverse *in) {
  double r2 = v3_dot(x, x);
  in->r = sqrt(r2);
  in->w = h->radius / r2;
  in->e = v3_scale(1 / in->r, x);
  in->at = v3_scale(in->w, x);
  set_powers(&in->powers, in->at.x, in->at.y, h->order);
}

/* ∇V = (μ/r)(w Q ∇H − H e/r), the centre's part last. */
static orr_vec3 to_gradient(const struct orr_harmonics *h, const struct inverse *in, const double *total,
                            orr_vec3 *inner) {
  *inner = polynomial_gradient(total, in->at);
  orr_vec3 g = v3_scale(in->w, v3_madd(*inner, -2 * v3_dot(*inner, in->e), in->e));
  double scale = h->mu / in->r;
  orr_vec3 out = v3_scale(scale, v3_madd(g, -total[S_] / in->r, in->e));
  return v3_madd(out, -h->central * scale / in->r, in->e);
}

orr_vec3 orr_harmonics_gradient(const struct orr_harmonics *h, orr_vec3 at) {
  struct inverse in;
  double total[TOTALS];
  orr_vec3 inner;
  set_inverse(h, at, &in);
  sum_orders(h, &in.powers, in.at.z, v3_dot(in.at, in.at), false, total);
  return to_gradient(h, &in, total, &inner);
}

/* ∂∂V = (μ/r) [(3 e eᵀ − 1) H/r² − (e gᵀ + g eᵀ)/r + w² Q N Q + (w/r)(8 (e·h) e eᵀ − 2 (h eᵀ + e hᵀ) − 2 (e·h))] with
 * h, N the derivatives of H in X and g = w Q h. */
orr_vec3 orr_harmonics_hessian(const struct orr_harmonics *h, orr_vec3 at, orr_sym3 *second) {
  struct inverse in;
  double total[TOTALS];
  orr_vec3 inner;
  set_inverse(h, at, &in);
  sum_orders(h, &in.powers, in.at.z, v3_dot(in.at, in.at), true, total);
  orr_vec3 out = to_gradient(h, &in, total, &inner), e = in.e;
  double r = in.r, w = in.w, eh = v3_dot(e, inner), scale = h->mu / r, value = (total[S_] + h->central) / (r * r);
  orr_vec3 g = v3_scale(w, v3_madd(inner, -2 * eh, e));
  orr_sym3 n = polynomial_hessian(total, in.at);
  orr_vec3 ne = s3_apply(n, e);
  orr_sym3 m = sym_add(sym_add(n, -2, e, ne), 2 * v3_dot(e, ne), e, e);
  m = s3_scale(w * w, m);
  m = sym_add(m, w / r * 4 * eh, e, e);
  m = sym_add(m, -2 * w / r, e, inner);
  m = sym_add(m, -1 / r, e, g);
  m = sym_add(m, 1.5 * value, e, e);
  double isotropic = -value - 2 * eh * w / r;
  m.xx += isotropic;
  m.yy += isotropic;
  m.zz += isotropic;
  *second = s3_scale(scale, m);
  return out;
}
