/* Hinges: that speeds, biases and coordinate rates are the derivatives of the pose, for every kind.
 *
 * Derivatives by seven points at 1/256 s along q̇: good to 1e-12.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/model/hinge.h"
#include "core/model/hinge_kinds.h"
#include "tests/support/prng.h"
#include "tests/support/trial.h"

/* A random hinge of a kind: axes, coordinates, speeds. */
struct sample {
  double axes[3][3], q[7], u[6];
};

static struct sample sample_of(struct orr_prng *p, enum orr_hinge_kind kind) {
  struct sample s = {{{0}}, {0}, {0}};
  if (kind == ORR_HINGE_PLANAR)
    s.axes[0][prng_pick(p, 3)] = 1;
  for (int i = 0; i < 3 && kind != ORR_HINGE_PLANAR; i++)
    prng_direction(p, s.axes[i], 3);
  prng_vector(p, 1, s.q, 7);
  prng_vector(p, 1, s.u, 6);
  int at = orr_hinge_quaternion(kind);
  if (at >= 0)
    prng_direction(p, s.q + at, 4);
  return s;
}

static struct orr_joint joint_at(enum orr_hinge_kind kind, const struct sample *s, const double *q) {
  struct orr_joint joint;
  memset(&joint, 0, sizeof joint);
  orr_joint_pose(kind, s->axes, q, &joint);
  orr_joint_motion(kind, s->u, &joint);
  return joint;
}

static const double STEP = 1.0 / 256;
static const double WEIGHT[7] = {-1 / 60.0, 9 / 60.0, -45 / 60.0, 0, 45 / 60.0, -9 / 60.0, 1 / 60.0};

/* q̇ = ½ q ∘ [ω; 0] for ω in the moved axes: the product of quaternions [x, y, z, w] written out. */
static void quaternion_rate(const double *q, const double *w, double *rate) {
  rate[0] = 0.5 * (q[3] * w[0] + q[1] * w[2] - q[2] * w[1]);
  rate[1] = 0.5 * (q[3] * w[1] + q[2] * w[0] - q[0] * w[2]);
  rate[2] = 0.5 * (q[3] * w[2] + q[0] * w[1] - q[1] * w[0]);
  rate[3] = -0.5 * (q[0] * w[0] + q[1] * w[1] + q[2] * w[2]);
}

/* q̇ from β as the conventions have them. */
static void rates_of(enum orr_hinge_kind kind, const double *q, const double *speeds, double *rates) {
  if (kind == ORR_HINGE_BALL) {
    quaternion_rate(q, speeds, rates);
  } else if (kind == ORR_HINGE_FREE) {
    v3_to(rates, m3_apply(quat_matrix(q + 3), v3_from(speeds + 3)));
    quaternion_rate(q + 3, speeds, rates + 3);
  } else {
    for (int i = 0; i < orr_hinge_speeds(kind); i++)
      rates[i] = speeds[i];
  }
}

/* The state a time t later: steps of Runge and Kutta of the coordinates under constant speeds. */
static void later(enum orr_hinge_kind kind, const struct sample *s, double t, double q[7]) {
  enum { STEPS = 8 };
  int count = orr_hinge_coordinates(kind);
  double h = t / STEPS, k[4][7] = {{0}}, x[7];
  memcpy(q, s->q, 7 * sizeof *q);
  for (int n = 0; n < STEPS; n++) {
    for (int i = 0; i < 4; i++) {
      for (int c = 0; c < count; c++)
        x[c] = q[c] + (i == 0 ? 0 : (i == 3 ? h : 0.5 * h) * k[i - 1][c]);
      rates_of(kind, x, s->u, k[i]);
    }
    for (int c = 0; c < count; c++)
      q[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
  }
}

/* Pose, and their derivatives at the sample: Ṙ, ṗ, and d/dt of the velocity [ω; v] in O. */
struct slopes {
  orr_mat3 r;
  orr_vec3 p;
  orr_spatial vel;
};

static struct slopes differentiate(enum orr_hinge_kind kind, const struct sample *s) {
  struct slopes d = {.p = {0, 0, 0}};
  memset(&d, 0, sizeof d);
  for (int k = 0; k < 7; k++) {
    double q[7], w = WEIGHT[k] / STEP;
    later(kind, s, (k - 3) * STEP, q);
    struct orr_joint joint = joint_at(kind, s, q);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        d.r.m[i][j] += w * joint.r.m[i][j];
    d.p = v3_madd(d.p, w, joint.p);
    d.vel = sp_madd(d.vel, w, joint.vel);
  }
  return d;
}

static void velocity_is_the_rate_of_the_pose(void **state) {
  (void)state;
  struct orr_prng p = {1};
  for (int kind = 0; kind < ORR_HINGE_KIND_COUNT; kind++)
    for (uint64_t round = 0; round < 40; round++) {
      struct sample s = sample_of(&p, (enum orr_hinge_kind)kind);
      struct slopes d = differentiate((enum orr_hinge_kind)kind, &s);
      struct orr_joint joint = joint_at((enum orr_hinge_kind)kind, &s, s.q);
      orr_mat3 spin = m3_mul(m3_transpose(joint.r), d.r); /* Rᵀ Ṙ = ω̃ in O */
      orr_vec3 omega = {spin.m[2][1], spin.m[0][2], spin.m[1][0]};
      orr_expect_below(v3_norm(v3_sub(joint.vel.w, omega)), 1e-11, "angular", round);
      orr_expect_below(v3_norm(v3_sub(joint.vel.v, m3_apply_t(joint.r, d.p))), 1e-11, "linear", round);
    }
}

/* Under constant speeds: the angular bias is d/dt ω_J; the linear one d/dt v_J + ω_J × v_J. */
static void bias_is_the_acceleration_at_constant_speeds(void **state) {
  (void)state;
  struct orr_prng p = {2};
  for (int kind = 0; kind < ORR_HINGE_KIND_COUNT; kind++)
    for (uint64_t round = 0; round < 40; round++) {
      struct sample s = sample_of(&p, (enum orr_hinge_kind)kind);
      struct slopes d = differentiate((enum orr_hinge_kind)kind, &s);
      struct orr_joint joint = joint_at((enum orr_hinge_kind)kind, &s, s.q);
      orr_vec3 linear = v3_add(d.vel.v, v3_cross(joint.vel.w, joint.vel.v));
      orr_expect_below(v3_norm(v3_sub(joint.bias.w, d.vel.w)), 1e-11, "angular", round);
      orr_expect_below(v3_norm(v3_sub(joint.bias.v, linear)), 1e-11, "linear", round);
    }
}

static void velocity_is_the_joint_map_times_the_speeds(void **state) {
  (void)state;
  struct orr_prng p = {3};
  for (int kind = 0; kind < ORR_HINGE_KIND_COUNT; kind++)
    for (uint64_t round = 0; round < 20; round++) {
      struct sample s = sample_of(&p, (enum orr_hinge_kind)kind);
      struct orr_joint joint = joint_at((enum orr_hinge_kind)kind, &s, s.q);
      orr_spatial sum = sp_zero();
      for (int i = 0; i < orr_hinge_speeds((enum orr_hinge_kind)kind); i++)
        sum = sp_madd(sum, s.u[i], joint.h[i]);
      sum = sp_sub(sum, joint.vel);
      orr_expect_below(v3_norm(sum.w) + v3_norm(sum.v), 1e-15, "H* beta", round);
    }
}

/* "at zero coordinates O = O+"; attitudes stay rotations at any other. */
static void poses_are_identities_at_zero_and_rotations_everywhere(void **state) {
  (void)state;
  struct orr_prng p = {4};
  for (int kind = 0; kind < ORR_HINGE_KIND_COUNT; kind++)
    for (uint64_t round = 0; round < 20; round++) {
      struct sample s = sample_of(&p, (enum orr_hinge_kind)kind);
      struct orr_joint joint = joint_at((enum orr_hinge_kind)kind, &s, s.q);
      orr_mat3 product = m3_mul(joint.r, m3_transpose(joint.r));
      double zero[7] = {0};
      if (orr_hinge_quaternion((enum orr_hinge_kind)kind) >= 0)
        zero[orr_hinge_quaternion((enum orr_hinge_kind)kind) + 3] = 1;
      joint = joint_at((enum orr_hinge_kind)kind, &s, zero);
      assert_true(v3_norm(joint.p) == 0);
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          orr_expect_below(fabs(product.m[i][j] - (i == j)), 1e-15 * 4, "orthogonal", round);
          orr_expect_below(fabs(joint.r.m[i][j] - (i == j)), 1e-16, "identity", round);
        }
    }
}

/* The table of the conventions, written out again. */
static void counts_are_those_of_the_table(void **state) {
  (void)state;
  static const struct {
    enum orr_hinge_kind kind;
    int coordinates, speeds, quaternion;
  } table[] = {{ORR_HINGE_FIXED, 0, 0, -1},       {ORR_HINGE_REVOLUTE, 1, 1, -1},  {ORR_HINGE_PRISMATIC, 1, 1, -1},
               {ORR_HINGE_CYLINDRICAL, 2, 2, -1}, {ORR_HINGE_UNIVERSAL, 2, 2, -1}, {ORR_HINGE_GIMBAL, 3, 3, -1},
               {ORR_HINGE_BALL, 4, 3, 0},         {ORR_HINGE_PLANAR, 3, 3, -1},    {ORR_HINGE_FREE, 7, 6, 3}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    assert_int_equal(orr_hinge_coordinates(table[i].kind), table[i].coordinates);
    assert_int_equal(orr_hinge_speeds(table[i].kind), table[i].speeds);
    assert_int_equal(orr_hinge_quaternion(table[i].kind), table[i].quaternion);
    assert_int_equal(orr_hinge_kind_info(table[i].kind)->coordinate_count, table[i].coordinates);
    assert_int_equal(orr_hinge_kind_info(table[i].kind)->speed_count, table[i].speeds);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(velocity_is_the_rate_of_the_pose),
      cmocka_unit_test(bias_is_the_acceleration_at_constant_speeds),
      cmocka_unit_test(velocity_is_the_joint_map_times_the_speeds),
      cmocka_unit_test(poses_are_identities_at_zero_and_rotations_everywhere),
      cmocka_unit_test(counts_are_those_of_the_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
