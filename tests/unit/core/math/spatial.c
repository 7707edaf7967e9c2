/* Small algebra: inertias, shifts and turns against full matrices, rotations against series in 80 bits, sine and
 * cosine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/math/sincos.h"
#include "core/math/spatial.h"
#include "tests/support/jet.h"
#include "tests/support/prng.h"
#include "tests/support/trial.h"

enum { ROUNDS = 200 };

static orr_vec3 any_vector(struct orr_prng *p) {
  double x[3];
  prng_vector(p, 1, x, 3);
  return v3_from(x);
}
static orr_spatial any_spatial(struct orr_prng *p) { return (orr_spatial){any_vector(p), any_vector(p)}; }
static orr_mat3 any_rotation(struct orr_prng *p) {
  double q[4];
  prng_direction(p, q, 4);
  return quat_matrix(q);
}
/* Not a physical one: any symmetric 6 x 6. */
static orr_inertia any_inertia(struct orr_prng *p) {
  double a[6], b[9], c[6];
  prng_vector(p, 1, a, 6);
  prng_vector(p, 1, b, 9);
  prng_vector(p, 1, c, 6);
  orr_inertia i = {s3_from(a), {{{b[0], b[1], b[2]}, {b[3], b[4], b[5]}, {b[6], b[7], b[8]}}}, s3_from(c)};
  return i;
}
static void same(orr_spatial a, orr_spatial b, const char *what) {
  orr_spatial d = sp_sub(a, b);
  orr_expect_below(v3_norm(d.w) + v3_norm(d.v), 1e-14, what, 0);
}

static void packed_inertias_act_like_their_matrices(void **state) {
  (void)state;
  struct orr_prng p = {1};
  for (int k = 0; k < ROUNDS; k++) {
    orr_inertia i = any_inertia(&p), j = any_inertia(&p);
    orr_spatial x = any_spatial(&p), y = any_spatial(&p);
    orr_expect_below(fabs(sp_dot(x, in_apply(i, y)) - sp_dot(y, in_apply(i, x))), 1e-14, "symmetric", 0);
    same(in_apply(in_add(i, j), x), sp_add(in_apply(i, x), in_apply(j, x)), "sum");
    double d = prng_between(&p, -2, 2);
    same(in_apply(in_rank1(i, d, y), x), sp_madd(in_apply(i, x), -d * sp_dot(y, x), y), "rank one");
  }
}

/* φ P φ* and T P T* do what moving the vector, applying and moving back does; power is the same on both sides. */
static void shifts_and_turns_move_forces_and_motions_together(void **state) {
  (void)state;
  struct orr_prng p = {2};
  for (int k = 0; k < ROUNDS; k++) {
    orr_inertia i = any_inertia(&p);
    orr_spatial x = any_spatial(&p), f = any_spatial(&p);
    orr_vec3 l = any_vector(&p);
    orr_mat3 r = any_rotation(&p);
    same(in_apply(in_shift(l, i), x), sp_force_shift(l, in_apply(i, sp_motion_shift(l, x))), "shift");
    same(in_apply(in_rotate(r, i), x), sp_rotate(r, in_apply(i, sp_rotate_t(r, x))), "turn");
    double power = sp_dot(f, sp_motion_shift(l, x)) - sp_dot(sp_force_shift(l, f), x);
    orr_expect_below(fabs(power), 1e-14, "power", 0);
    same(sp_rotate_t(r, sp_rotate(r, x)), x, "there and back");
  }
}

/* ½ m |v + ω × c|² + ½ ω·J ω about the mass centre, as a rigid inertia about the origin gives it. */
static void a_rigid_inertia_has_the_kinetic_energy_of_its_mass(void **state) {
  (void)state;
  struct orr_prng p = {3};
  for (int k = 0; k < ROUNDS; k++) {
    double m = prng_between(&p, 0.1, 2), j[6];
    orr_vec3 c = any_vector(&p);
    orr_spatial x = any_spatial(&p);
    prng_vector(&p, 1, j, 6);
    orr_vec3 v = v3_add(x.v, v3_cross(x.w, c));
    double want = 0.5 * m * v3_dot(v, v) + 0.5 * v3_dot(x.w, s3_apply(s3_from(j), x.w));
    orr_inertia i = in_rigid(m, v3_scale(m, c), s3_add(s3_from(j), s3_point(m, c)));
    orr_expect_below(fabs(0.5 * sp_dot(x, in_apply(i, x)) - want), 1e-14, "energy", 0);
  }
}

static void quaternions_and_matrices_agree(void **state) {
  (void)state;
  struct orr_prng p = {4};
  for (int k = 0; k < ROUNDS; k++) {
    double a[4], b[4], ab[4], back[4];
    prng_direction(&p, a, 4);
    prng_direction(&p, b, 4);
    if (k % 4 == 0) /* near half a turn, where w vanishes */
      a[3] *= 1e-9;
    quat_normalise(a);
    quat_mul(a, b, ab);
    orr_mat3 left = quat_matrix(ab), right = m3_mul(quat_matrix(a), quat_matrix(b));
    jet_mat exact = jm_from_quaternion(a);
    quat_from_matrix(quat_matrix(a), back);
    assert_true(back[3] >= 0);
    orr_mat3 again = quat_matrix(back), once = quat_matrix(a);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        orr_expect_below(fabs(left.m[i][j] - right.m[i][j]), 1e-14, "product", (uint64_t)k);
        orr_expect_below((double)fabsl((long double)once.m[i][j] - exact.e[i][j].c[0]), 1e-15, "matrix", (uint64_t)k);
        orr_expect_below(fabs(again.m[i][j] - once.m[i][j]), 1e-14, "back", (uint64_t)k);
      }
  }
}

static jet_vec jets(orr_vec3 x, orr_vec3 rate) {
  const double a[3] = {x.x, x.y, x.z}, b[3] = {rate.x, rate.y, rate.z};
  jet_vec v;
  for (int i = 0; i < 3; i++)
    v.e[i] = (jet){{(long double)a[i], (long double)b[i], 0}};
  return v;
}

/* exp(θ), E(θ) θ̇ and Ė θ̇ from no turn at all to most of a whole one, on both sides of every switch of formula. */
static void turns_agree_with_the_series_at_every_size(void **state) {
  (void)state;
  struct orr_prng p = {5};
  const double sizes[] = {0,   1e-300, 1e-12,     1e-6,      1e-3, 0.00999999, 0.01000001,
                          0.1, 0.5,    0.9999999, 1.0000001, 2,    3.1,        5};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int round = 0; round < 20; round++) {
      double axis[3], q[4];
      prng_direction(&p, axis, 3);
      orr_vec3 theta = v3_scale(sizes[k], v3_from(axis)), rate = any_vector(&p);
      orr_turn turn = turn_coefficients(theta);
      jet_mat exact = jm_exp(jets(theta, rate));
      orr_mat3 r = turn_exp(turn, theta);
      quat_exp(theta, q);
      orr_mat3 by_quaternion = quat_matrix(q);
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          orr_expect_below((double)fabsl((long double)r.m[i][j] - exact.e[i][j].c[0]), 8e-16, "exp", k);
          orr_expect_below(fabs(by_quaternion.m[i][j] - r.m[i][j]), 2e-15, "quaternion", k);
        }
      long double w[3], a[3];
      jm_spin(&exact, w, a); /* in the turned axes; E gives the spin in the axes before the turn */
      const double spin[3] = {(double)w[0], (double)w[1], (double)w[2]},
                   slope[3] = {(double)a[0], (double)a[1], (double)a[2]};
      orr_vec3 before = m3_apply(r, v3_from(spin)), have = m3_apply(turn_jacobian(turn, theta), rate);
      orr_expect_below(v3_norm(v3_sub(have, before)), 2e-15, "E", k);
      /* d/dt (R w') = R ẇ' + w × w */
      orr_vec3 want = m3_apply(r, v3_from(slope));
      orr_expect_below(v3_norm(v3_sub(turn_rate(turn, theta, rate), want)), 4e-15, "rate of E", k);
    }
}

static void sine_and_cosine_are_within_an_ulp_at_any_angle(void **state) {
  (void)state;
  struct orr_prng p = {6};
  enum { COUNT = 4096 };
  static double angle[COUNT], sine[COUNT], cosine[COUNT];
  for (int i = 0; i < COUNT; i++)
    angle[i] = prng_scale(&p, 1e-9, i % 8 == 7 ? 1e15 : 1e6) * (i % 2 ? 1 : -1);
  for (int i = 0; i < 64; i++) /* multiples of π/4, where the quadrant changes */
    angle[i] = (i - 32) * 0.785398163397448309616;
  angle[64] = 0;
  angle[65] = 999999.9, angle[66] = 1e6, angle[67] = 1000000.1, angle[68] = -1e300;
  angle[69] = 1e5 * 1.57079632679489661923; /* close to a multiple of π/2 */
  orr_sincos(angle, sine, cosine, COUNT);
  for (int i = 0; i < COUNT; i++) {
    orr_expect_below((double)fabsl((long double)sine[i] - sinl((long double)angle[i])), 2.3e-16, "sine", (uint64_t)i);
    orr_expect_below((double)fabsl((long double)cosine[i] - cosl((long double)angle[i])), 2.3e-16, "cosine",
                     (uint64_t)i);
  }
  assert_true(sine[64] == 0 && cosine[64] == 1);
}

static void an_angle_that_is_not_finite_gives_no_number(void **state) {
  (void)state;
  double angle[4] = {0.5, (double)NAN, (double)INFINITY, -(double)INFINITY}, sine[4], cosine[4];
  orr_sincos(angle, sine, cosine, 4);
  for (int i = 1; i < 4; i++)
    assert_true(isnan(sine[i]) && isnan(cosine[i]));
  assert_true(fabs(sine[0] - sin(0.5)) < 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(packed_inertias_act_like_their_matrices),
      cmocka_unit_test(shifts_and_turns_move_forces_and_motions_together),
      cmocka_unit_test(a_rigid_inertia_has_the_kinetic_energy_of_its_mass),
      cmocka_unit_test(quaternions_and_matrices_agree),
      cmocka_unit_test(turns_agree_with_the_series_at_every_size),
      cmocka_unit_test(sine_and_cosine_are_within_an_ulp_at_any_angle),
      cmocka_unit_test(an_angle_that_is_not_finite_gives_no_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
