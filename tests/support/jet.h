/* Truncated Taylor series in time, to second order, in 80-bit arithmetic: x(t) = c[0] + c[1] t + c[2] t².
 *
 * The dense reference (dense.h) writes positions and attitudes as such series and reads velocities and accelerations
 * off them, so that no formula for a velocity or an acceleration has to be trusted. Values in, values out; any thread.
 * [any]
 */
#ifndef ORR_TESTS_SUPPORT_JET_H
#define ORR_TESTS_SUPPORT_JET_H

#include <math.h>

typedef struct {
  long double c[3];
} jet;

typedef struct {
  jet e[3];
} jet_vec;

/* Rows. */
typedef struct {
  jet e[3][3];
} jet_mat;

static inline jet jet_of(long double x) { return (jet){{x, 0, 0}}; }
static inline jet jet_add(jet a, jet b) { return (jet){{a.c[0] + b.c[0], a.c[1] + b.c[1], a.c[2] + b.c[2]}}; }
static inline jet jet_scale(long double s, jet a) { return (jet){{s * a.c[0], s * a.c[1], s * a.c[2]}}; }
static inline jet jet_mul(jet a, jet b) {
  return (jet){
      {a.c[0] * b.c[0], a.c[0] * b.c[1] + a.c[1] * b.c[0], a.c[0] * b.c[2] + a.c[1] * b.c[1] + a.c[2] * b.c[0]}};
}
static inline jet jet_sin(jet a) {
  long double s = sinl(a.c[0]), c = cosl(a.c[0]);
  return (jet){{s, c * a.c[1], c * a.c[2] - 0.5L * s * a.c[1] * a.c[1]}};
}
static inline jet jet_cos(jet a) {
  long double s = sinl(a.c[0]), c = cosl(a.c[0]);
  return (jet){{c, -s * a.c[1], -s * a.c[2] - 0.5L * c * a.c[1] * a.c[1]}};
}

static inline jet_vec jv_zero(void) { return (jet_vec){{{{0, 0, 0}}, {{0, 0, 0}}, {{0, 0, 0}}}}; }
static inline jet_vec jv_of(const double x[3]) {
  return (jet_vec){{jet_of((long double)x[0]), jet_of((long double)x[1]), jet_of((long double)x[2])}};
}
static inline jet_vec jv_add(jet_vec a, jet_vec b) {
  for (int i = 0; i < 3; i++)
    a.e[i] = jet_add(a.e[i], b.e[i]);
  return a;
}
static inline jet_vec jv_scale(jet s, jet_vec a) {
  for (int i = 0; i < 3; i++)
    a.e[i] = jet_mul(s, a.e[i]);
  return a;
}
static inline jet_vec jv_neg(jet_vec a) { return jv_scale(jet_of(-1), a); }

static inline jet_mat jm_zero(void) {
  jet_mat m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      m.e[i][j] = jet_of(0);
  return m;
}
static inline jet_mat jm_identity(void) {
  jet_mat m = jm_zero();
  for (int i = 0; i < 3; i++)
    m.e[i][i] = jet_of(1);
  return m;
}
static inline jet_mat jm_add(jet_mat a, jet_mat b) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      a.e[i][j] = jet_add(a.e[i][j], b.e[i][j]);
  return a;
}
static inline jet_mat jm_scale(jet s, jet_mat a) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      a.e[i][j] = jet_mul(s, a.e[i][j]);
  return a;
}
static inline jet_mat jm_mul(jet_mat a, jet_mat b) {
  jet_mat m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      m.e[i][j] =
          jet_add(jet_add(jet_mul(a.e[i][0], b.e[0][j]), jet_mul(a.e[i][1], b.e[1][j])), jet_mul(a.e[i][2], b.e[2][j]));
  return m;
}
static inline jet_mat jm_transpose(jet_mat a) {
  jet_mat m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      m.e[i][j] = a.e[j][i];
  return m;
}
static inline jet_vec jm_apply(jet_mat a, jet_vec x) {
  jet_vec y;
  for (int i = 0; i < 3; i++)
    y.e[i] = jet_add(jet_add(jet_mul(a.e[i][0], x.e[0]), jet_mul(a.e[i][1], x.e[1])), jet_mul(a.e[i][2], x.e[2]));
  return y;
}
static inline jet_mat jm_skew(jet_vec a) {
  jet_mat m = jm_zero();
  m.e[0][1] = jet_scale(-1, a.e[2]), m.e[0][2] = a.e[1];
  m.e[1][0] = a.e[2], m.e[1][2] = jet_scale(-1, a.e[0]);
  m.e[2][0] = jet_scale(-1, a.e[1]), m.e[2][1] = a.e[0];
  return m;
}

/* exp(θ) = 1 + A θ̃ + B θ̃², A = Σ (−x)ⁱ/(2i+1)!, B = Σ (−x)ⁱ/(2i+2)!, x = θ·θ: entire functions, so the series needs
 * no branch; 24 terms are enough for |θ| up to 6. */
static inline jet_mat jm_exp(jet_vec theta) {
  jet x = jet_of(0);
  for (int i = 0; i < 3; i++)
    x = jet_add(x, jet_mul(theta.e[i], theta.e[i]));
  jet a = jet_of(1), b = jet_of(1);
  for (int i = 24; i > 0; i--) {
    long double k = 2 * (long double)i;
    a = jet_add(jet_of(1), jet_scale(-1 / (k * (k + 1)), jet_mul(x, a)));
    b = jet_add(jet_of(1), jet_scale(-1 / ((k + 1) * (k + 2)), jet_mul(x, b)));
  }
  jet_mat s = jm_skew(theta);
  return jm_add(jm_identity(), jm_add(jm_scale(a, s), jm_scale(jet_scale(0.5L, b), jm_mul(s, s))));
}

/* q v q* written out for the three unit vectors. */
static inline jet_mat jm_from_quaternion(const double q[4]) {
  long double x = (long double)q[0], y = (long double)q[1], z = (long double)q[2], w = (long double)q[3];
  long double m[3][3] = {{w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
                         {2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
                         {2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}};
  jet_mat r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      r.e[i][j] = jet_of(m[i][j]);
  return r;
}

/* Angular velocity of R(t) and its rate, in the axes of the moved frame: Rᵀ Ṙ = ω̃. */
static inline void jm_spin(const jet_mat *r, long double omega[3], long double rate[3]) {
  static const int at[3][2] = {{2, 1}, {0, 2}, {1, 0}};
  for (int i = 0; i < 3; i++) {
    int a = at[i][0], b = at[i][1];
    omega[i] = rate[i] = 0;
    for (int k = 0; k < 3; k++) {
      omega[i] += 0.5L * (r->e[k][a].c[0] * r->e[k][b].c[1] - r->e[k][b].c[0] * r->e[k][a].c[1]);
      rate[i] += r->e[k][a].c[0] * r->e[k][b].c[2] - r->e[k][b].c[0] * r->e[k][a].c[2];
    }
  }
}

#endif
