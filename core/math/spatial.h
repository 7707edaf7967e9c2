/* Small algebra of the solver: 3-vectors, 3 x 3 matrices, quaternions, spatial vectors and inertias.
 *
 * Values go in and out by value, so the compiler keeps them in registers. A spatial vector is angular
 * first: motion [ω; v], force [N; F]. Nothing here allocates, fails or depends on state.  [any]
 */
#ifndef ORR_CORE_MATH_SPATIAL_H
#define ORR_CORE_MATH_SPATIAL_H

#include <math.h>

#include "core/math/elementary.h"

typedef struct {
  double x, y, z;
} orr_vec3;

/* Rows. */
typedef struct {
  double m[3][3];
} orr_mat3;

/* Symmetric 3 x 3. */
typedef struct {
  double xx, yy, zz, xy, xz, yz;
} orr_sym3;

/* Angular first: motion [ω; v] or force [N; F]. */
typedef struct {
  orr_vec3 w, v;
} orr_spatial;

/* Symmetric 6 x 6 [a b; bᵀ c], packed: 6 + 9 + 6. */
typedef struct {
  orr_sym3 a;
  orr_mat3 b;
  orr_sym3 c;
} orr_inertia;

static inline orr_vec3 v3(double x, double y, double z) { return (orr_vec3){x, y, z}; }
static inline orr_vec3 v3_zero(void) { return (orr_vec3){0, 0, 0}; }
static inline orr_vec3 v3_from(const double *p) { return (orr_vec3){p[0], p[1], p[2]}; }
static inline void v3_to(double *p, orr_vec3 a) {
  p[0] = a.x;
  p[1] = a.y;
  p[2] = a.z;
}
static inline orr_vec3 v3_add(orr_vec3 a, orr_vec3 b) { return v3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline orr_vec3 v3_sub(orr_vec3 a, orr_vec3 b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline orr_vec3 v3_neg(orr_vec3 a) { return v3(-a.x, -a.y, -a.z); }
static inline orr_vec3 v3_scale(double s, orr_vec3 a) { return v3(s * a.x, s * a.y, s * a.z); }
/* a + s b */
static inline orr_vec3 v3_madd(orr_vec3 a, double s, orr_vec3 b) {
  return v3(fma(s, b.x, a.x), fma(s, b.y, a.y), fma(s, b.z, a.z));
}
/* x u + y v + z w, and x u − y v */
static inline double sum_of_three(double x, double u, double y, double v, double z, double w) {
  return fma(z, w, fma(y, v, x * u));
}
static inline double difference_of_two(double x, double u, double y, double v) { return fma(x, u, -(y * v)); }
static inline double v3_dot(orr_vec3 a, orr_vec3 b) { return sum_of_three(a.x, b.x, a.y, b.y, a.z, b.z); }
static inline double v3_norm(orr_vec3 a) { return sqrt(v3_dot(a, a)); }
static inline orr_vec3 v3_cross(orr_vec3 a, orr_vec3 b) {
  return v3(difference_of_two(a.y, b.z, a.z, b.y), difference_of_two(a.z, b.x, a.x, b.z),
            difference_of_two(a.x, b.y, a.y, b.x));
}

static inline orr_mat3 m3_identity(void) { return (orr_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }
static inline orr_vec3 m3_row(orr_mat3 a, int i) { return v3(a.m[i][0], a.m[i][1], a.m[i][2]); }
static inline orr_vec3 m3_col(orr_mat3 a, int j) { return v3(a.m[0][j], a.m[1][j], a.m[2][j]); }
/* a b */
static inline orr_vec3 m3_apply(orr_mat3 a, orr_vec3 b) {
  return v3(v3_dot(m3_row(a, 0), b), v3_dot(m3_row(a, 1), b), v3_dot(m3_row(a, 2), b));
}
/* aᵀ b */
static inline orr_vec3 m3_apply_t(orr_mat3 a, orr_vec3 b) {
  return v3(v3_dot(m3_col(a, 0), b), v3_dot(m3_col(a, 1), b), v3_dot(m3_col(a, 2), b));
}
static inline orr_mat3 m3_mul(orr_mat3 a, orr_mat3 b) {
  orr_mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      c.m[i][j] = sum_of_three(a.m[i][0], b.m[0][j], a.m[i][1], b.m[1][j], a.m[i][2], b.m[2][j]);
  return c;
}
static inline orr_mat3 m3_transpose(orr_mat3 a) {
  orr_mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      c.m[i][j] = a.m[j][i];
  return c;
}
static inline orr_mat3 m3_add(orr_mat3 a, orr_mat3 b) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      a.m[i][j] += b.m[i][j];
  return a;
}
/* The matrix of the cross product: m3_skew(a) b = a × b. */
static inline orr_mat3 m3_skew(orr_vec3 a) { return (orr_mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}}; }

static inline orr_sym3 s3_zero(void) { return (orr_sym3){0, 0, 0, 0, 0, 0}; }
static inline orr_sym3 s3_from(const double *p) { return (orr_sym3){p[0], p[1], p[2], p[3], p[4], p[5]}; }
static inline orr_sym3 s3_add(orr_sym3 a, orr_sym3 b) {
  return (orr_sym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
static inline orr_sym3 s3_scale(double s, orr_sym3 a) {
  return (orr_sym3){s * a.xx, s * a.yy, s * a.zz, s * a.xy, s * a.xz, s * a.yz};
}
static inline orr_vec3 s3_apply(orr_sym3 a, orr_vec3 b) {
  return v3(sum_of_three(a.xx, b.x, a.xy, b.y, a.xz, b.z), sum_of_three(a.xy, b.x, a.yy, b.y, a.yz, b.z),
            sum_of_three(a.xz, b.x, a.yz, b.y, a.zz, b.z));
}
static inline orr_mat3 s3_full(orr_sym3 a) {
  return (orr_mat3){{{a.xx, a.xy, a.xz}, {a.xy, a.yy, a.yz}, {a.xz, a.yz, a.zz}}};
}
/* (a + aᵀ)/2 */
static inline orr_sym3 s3_part(orr_mat3 a) {
  return (orr_sym3){a.m[0][0],
                    a.m[1][1],
                    a.m[2][2],
                    0.5 * (a.m[0][1] + a.m[1][0]),
                    0.5 * (a.m[0][2] + a.m[2][0]),
                    0.5 * (a.m[1][2] + a.m[2][1])};
}
/* r a rᵀ */
static inline orr_sym3 s3_rotate(orr_mat3 r, orr_sym3 a) {
  orr_mat3 t = m3_mul(r, s3_full(a));
  orr_vec3 r0 = m3_row(r, 0), r1 = m3_row(r, 1), r2 = m3_row(r, 2);
  orr_vec3 t0 = m3_row(t, 0), t1 = m3_row(t, 1), t2 = m3_row(t, 2);
  return (orr_sym3){v3_dot(t0, r0), v3_dot(t1, r1), v3_dot(t2, r2), v3_dot(t0, r1), v3_dot(t0, r2), v3_dot(t1, r2)};
}
/* −a × (a × ·), times m: the inertia of a point mass m at a. */
static inline orr_sym3 s3_point(double m, orr_vec3 a) {
  return (orr_sym3){m * fma(a.y, a.y, a.z * a.z),
                    m * fma(a.x, a.x, a.z * a.z),
                    m * fma(a.x, a.x, a.y * a.y),
                    -m * a.x * a.y,
                    -m * a.x * a.z,
                    -m * a.y * a.z};
}

static inline orr_spatial sp_zero(void) { return (orr_spatial){v3_zero(), v3_zero()}; }
static inline orr_spatial sp_from(const double *p) { return (orr_spatial){v3_from(p), v3_from(p + 3)}; }
static inline void sp_to(double *p, orr_spatial a) {
  v3_to(p, a.w);
  v3_to(p + 3, a.v);
}
static inline orr_spatial sp_add(orr_spatial a, orr_spatial b) {
  return (orr_spatial){v3_add(a.w, b.w), v3_add(a.v, b.v)};
}
static inline orr_spatial sp_sub(orr_spatial a, orr_spatial b) {
  return (orr_spatial){v3_sub(a.w, b.w), v3_sub(a.v, b.v)};
}
static inline orr_spatial sp_madd(orr_spatial a, double s, orr_spatial b) {
  return (orr_spatial){v3_madd(a.w, s, b.w), v3_madd(a.v, s, b.v)};
}
static inline double sp_dot(orr_spatial a, orr_spatial b) { return v3_dot(a.w, b.w) + v3_dot(a.v, b.v); }

static inline orr_inertia in_zero(void) { return (orr_inertia){s3_zero(), {{{0}}}, s3_zero()}; }
static inline orr_inertia in_add(orr_inertia p, orr_inertia q) {
  return (orr_inertia){s3_add(p.a, q.a), m3_add(p.b, q.b), s3_add(p.c, q.c)};
}
static inline orr_spatial in_apply(orr_inertia p, orr_spatial x) {
  return (orr_spatial){v3_add(s3_apply(p.a, x.w), m3_apply(p.b, x.v)),
                       v3_add(m3_apply_t(p.b, x.w), s3_apply(p.c, x.v))};
}
/* All 36 numbers. */
static inline void in_full(const orr_inertia *p, double full[6][6]) {
  orr_mat3 a = s3_full(p->a), c = s3_full(p->c);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      full[i][j] = a.m[i][j];
      full[i][3 + j] = full[3 + j][i] = p->b.m[i][j];
      full[3 + i][3 + j] = c.m[i][j];
    }
}
/* A rigid body: mass m, first moment s = m c, inertia about the origin: [I s̃; s̃ᵀ m]. */
static inline orr_inertia in_rigid(double m, orr_vec3 s, orr_sym3 i) {
  return (orr_inertia){i, m3_skew(s), {m, m, m, 0, 0, 0}};
}
/* p − d x xᵀ for a spatial x. */
static inline orr_inertia in_rank1(orr_inertia p, double d, orr_spatial x) {
  orr_vec3 w = v3_scale(d, x.w), v = v3_scale(d, x.v);
  p.a = (orr_sym3){fma(-w.x, x.w.x, p.a.xx), fma(-w.y, x.w.y, p.a.yy), fma(-w.z, x.w.z, p.a.zz),
                   fma(-w.x, x.w.y, p.a.xy), fma(-w.x, x.w.z, p.a.xz), fma(-w.y, x.w.z, p.a.yz)};
  const double ww[3] = {w.x, w.y, w.z}, xv[3] = {x.v.x, x.v.y, x.v.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      p.b.m[i][j] = fma(-ww[i], xv[j], p.b.m[i][j]);
  p.c = (orr_sym3){fma(-v.x, x.v.x, p.c.xx), fma(-v.y, x.v.y, p.c.yy), fma(-v.z, x.v.z, p.c.zz),
                   fma(-v.x, x.v.y, p.c.xy), fma(-v.x, x.v.z, p.c.xz), fma(-v.y, x.v.z, p.c.yz)};
  return p;
}
/* The same inertia in axes turned by r (components in the new axes are r times those in the old ones). */
static inline orr_inertia in_rotate(orr_mat3 r, orr_inertia p) {
  return (orr_inertia){s3_rotate(r, p.a), m3_mul(m3_mul(r, p.b), m3_transpose(r)), s3_rotate(r, p.c)};
}
/* The same inertia about an origin from which the old one is at l: φ p φ* with φ = [1 l̃; 0 1], as
 * B'' = B + l̃ C,  A'' = A + l̃ Bᵀ + B'' l̃ᵀ, where (l̃ Bᵀ)_ij = (l × row_j)_i and (B'' l̃ᵀ)_ij = (l × row''_i)_j. */
static inline orr_inertia in_shift(orr_vec3 l, orr_inertia p) {
  orr_sym3 c = p.c;
  orr_vec3 x = m3_row(p.b, 0), y = m3_row(p.b, 1), z = m3_row(p.b, 2);
  orr_vec3 u = v3(fma(l.y, c.xz, fma(-l.z, c.xy, x.x)), fma(l.y, c.yz, fma(-l.z, c.yy, x.y)),
                  fma(l.y, c.zz, fma(-l.z, c.yz, x.z)));
  orr_vec3 v = v3(fma(l.z, c.xx, fma(-l.x, c.xz, y.x)), fma(l.z, c.xy, fma(-l.x, c.yz, y.y)),
                  fma(l.z, c.xz, fma(-l.x, c.zz, y.z)));
  orr_vec3 w = v3(fma(l.x, c.xy, fma(-l.y, c.xx, z.x)), fma(l.x, c.yy, fma(-l.y, c.xy, z.y)),
                  fma(l.x, c.yz, fma(-l.y, c.xz, z.z)));
  orr_inertia o = {.c = c, .b = {{{u.x, u.y, u.z}, {v.x, v.y, v.z}, {w.x, w.y, w.z}}}};
  o.a.xx = fma(l.y, x.z + u.z, fma(-l.z, x.y + u.y, p.a.xx));
  o.a.yy = fma(l.z, y.x + v.x, fma(-l.x, y.z + v.z, p.a.yy));
  o.a.zz = fma(l.x, z.y + w.y, fma(-l.y, z.x + w.x, p.a.zz));
  o.a.xy = fma(l.y, y.z, fma(-l.z, y.y, fma(l.z, u.x, fma(-l.x, u.z, p.a.xy))));
  o.a.xz = fma(l.y, z.z, fma(-l.z, z.y, fma(l.x, u.y, fma(-l.y, u.x, p.a.xz))));
  o.a.yz = fma(l.z, z.x, fma(-l.x, z.z, fma(l.x, v.y, fma(-l.y, v.x, p.a.yz))));
  return o;
}

/* Force to an origin from which the old one is at l: [N + l × F; F]. */
static inline orr_spatial sp_force_shift(orr_vec3 l, orr_spatial f) {
  return (orr_spatial){v3_add(f.w, v3_cross(l, f.v)), f.v};
}
/* Motion at a point l away from the old one: [ω; v + ω × l]. */
static inline orr_spatial sp_motion_shift(orr_vec3 l, orr_spatial x) {
  return (orr_spatial){x.w, v3_add(x.v, v3_cross(x.w, l))};
}
static inline orr_spatial sp_rotate(orr_mat3 r, orr_spatial x) {
  return (orr_spatial){m3_apply(r, x.w), m3_apply(r, x.v)};
}
static inline orr_spatial sp_rotate_t(orr_mat3 r, orr_spatial x) {
  return (orr_spatial){m3_apply_t(r, x.w), m3_apply_t(r, x.v)};
}

/* Quaternions are [x y z w]. */
static inline orr_mat3 quat_matrix(const double *q) {
  double x = q[0], y = q[1], z = q[2], w = q[3];
  return (orr_mat3){{{fma(-2, fma(y, y, z * z), 1), 2 * fma(x, y, -(z * w)), 2 * fma(x, z, y * w)},
                     {2 * fma(x, y, z * w), fma(-2, fma(x, x, z * z), 1), 2 * fma(y, z, -(x * w))},
                     {2 * fma(x, z, -(y * w)), 2 * fma(y, z, x * w), fma(-2, fma(x, x, y * y), 1)}}};
}
static inline void quat_mul(const double *p, const double *q, double *out) {
  double x = fma(-p[2], q[1], sum_of_three(p[3], q[0], p[0], q[3], p[1], q[2]));
  double y = fma(p[2], q[0], sum_of_three(p[3], q[1], -p[0], q[2], p[1], q[3]));
  double z = fma(p[2], q[3], sum_of_three(p[3], q[2], p[0], q[1], -p[1], q[0]));
  double w = fma(-p[2], q[2], sum_of_three(p[3], q[3], -p[0], q[0], -p[1], q[1]));
  out[0] = x, out[1] = y, out[2] = z, out[3] = w;
}
static inline void quat_normalise(double *q) {
  double s = 1 / sqrt(fma(q[3], q[3], sum_of_three(q[0], q[0], q[1], q[1], q[2], q[2])));
  for (int i = 0; i < 4; i++)
    q[i] *= s;
}
/* exp of a rotation vector, as a quaternion. */
static inline void quat_exp(orr_vec3 t, double *q) {
  double a2 = v3_dot(t, t), a = sqrt(a2);
  double k = a < 1e-4 ? 0.5 - a2 / 48 : orr_sin(0.5 * a) / a; /* sin(a/2)/a; the next term is a⁴/3840 */
  q[0] = k * t.x, q[1] = k * t.y, q[2] = k * t.z, q[3] = a < 1e-4 ? 1 - a2 / 8 + a2 * a2 / 384 : orr_cos(0.5 * a);
}
/* A rotation matrix as a quaternion with w ≥ 0 (Shepperd: the largest component first). */
static inline void quat_from_matrix(orr_mat3 r, double *q) {
  double t[4] = {r.m[0][0] - r.m[1][1] - r.m[2][2], r.m[1][1] - r.m[0][0] - r.m[2][2],
                 r.m[2][2] - r.m[0][0] - r.m[1][1], r.m[0][0] + r.m[1][1] + r.m[2][2]};
  int k = 0;
  for (int i = 1; i < 4; i++)
    if (t[i] > t[k])
      k = i;
  double big = 0.5 * sqrt(1 + t[k]), s = 0.25 / big;
  double xw = r.m[2][1] - r.m[1][2], yw = r.m[0][2] - r.m[2][0], zw = r.m[1][0] - r.m[0][1];
  double xy = r.m[0][1] + r.m[1][0], xz = r.m[0][2] + r.m[2][0], yz = r.m[1][2] + r.m[2][1];
  const double row[4][4] = {{0, xy, xz, xw}, {xy, 0, yz, yw}, {xz, yz, 0, zw}, {xw, yw, zw, 0}};
  for (int i = 0; i < 4; i++)
    q[i] = s * row[k][i];
  q[k] = big;
  if (q[3] < 0)
    for (int i = 0; i < 4; i++)
      q[i] = -q[i];
  quat_normalise(q);
}

/* exp(θ), E(θ) with E = 1 + (1−cos)/|θ|² θ̃ + (|θ|−sin)/|θ|³ θ̃² (left Jacobian), and Ė for a rate θ̇.
 * Coefficients: a = sin/t, b = (1−cos)/t², c = (t−sin)/t³ and their slopes db, dc: ḃ = (θ·θ̇) db, ċ = (θ·θ̇) dc. */
typedef struct {
  double a, b, c, db, dc;
} orr_turn;

/* The series of all five in x = t², to n terms:  a, b, c = Σ (−x)ⁱ/(2i+1, 2, 3)! */
static inline orr_turn turn_series(double x, int n) {
  double a = 1, b = 1, c = 1, db = 1, dc = 1;
  for (int i = n; i > 0; i--) { /* n is a constant where this is inlined, and so are the quotients */
    double r = (i + 1.0) / i;
    a = fma(-x * (1.0 / ((2 * i) * (2 * i + 1))), a, 1);
    b = fma(-x * (1.0 / ((2 * i + 1) * (2 * i + 2))), b, 1);
    c = fma(-x * (1.0 / ((2 * i + 2) * (2 * i + 3))), c, 1);
    db = fma(-x * (r / ((2 * i + 3) * (2 * i + 4))), db, 1);
    dc = fma(-x * (r / ((2 * i + 4) * (2 * i + 5))), dc, 1);
  }
  return (orr_turn){a, b * (1.0 / 2), c * (1.0 / 6), db * (-1.0 / 12), dc * (-1.0 / 60)};
}
/* Closed forms cancel below |θ| = 1, where the series is used: 1e-4 in t² needs four terms, 1 needs nine. */
static inline orr_turn turn_coefficients(orr_vec3 theta) {
  double x = v3_dot(theta, theta);
  if (x < 1e-4)
    return turn_series(x, 4);
  if (x < 1)
    return turn_series(x, 9);
  double t = sqrt(x), h = orr_sin(0.5 * t);
  orr_turn k;
  k.a = orr_sin(t) / t;
  k.b = 2 * h * h / x;
  k.c = (1 - k.a) / x;
  k.db = (k.a - 2 * k.b) / x;
  k.dc = (k.b - 3 * k.c) / x;
  return k;
}
/* 1 + p t̃ + q t̃², whose t̃² is t tᵀ − |t|² */
static inline orr_mat3 turn_poly(double p, double q, orr_vec3 t) {
  double xy = t.x * t.y, xz = t.x * t.z, yz = t.y * t.z, x = p * t.x, y = p * t.y, z = p * t.z;
  return (orr_mat3){{{fma(-q, fma(t.y, t.y, t.z * t.z), 1), fma(q, xy, -z), fma(q, xz, y)},
                     {fma(q, xy, z), fma(-q, fma(t.x, t.x, t.z * t.z), 1), fma(q, yz, -x)},
                     {fma(q, xz, -y), fma(q, yz, x), fma(-q, fma(t.x, t.x, t.y * t.y), 1)}}};
}
static inline orr_mat3 turn_exp(orr_turn k, orr_vec3 t) { return turn_poly(k.a, k.b, t); }
static inline orr_mat3 turn_jacobian(orr_turn k, orr_vec3 t) { return turn_poly(k.b, k.c, t); }
/* Ė(θ, θ̇) θ̇ */
static inline orr_vec3 turn_rate(orr_turn k, orr_vec3 t, orr_vec3 td) {
  double p = v3_dot(t, td);
  orr_vec3 tx = v3_cross(t, td);
  /* d/dt [b θ̃ + c θ̃θ̃] θ̇ = ḃ θ×θ̇ + b θ̇×θ̇ + ċ θ×(θ×θ̇) + c (θ̇×(θ×θ̇) + θ×(θ̇×θ̇)) */
  return v3_add(v3_add(v3_scale(p * k.db, tx), v3_scale(p * k.dc, v3_cross(t, tx))), v3_scale(k.c, v3_cross(td, tx)));
}

#endif
