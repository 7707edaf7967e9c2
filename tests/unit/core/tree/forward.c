/* Forward dynamics against the dense reference, its plain twin and itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/forward.h"
#include "core/tree/turning.h"
#include "tests/support/dense.h"
#include "tests/support/trial.h"

/* The reference is good to 1e-15 times the condition of M, and so is core: 1e-11 leaves room for a condition of 1e4. */
static const double AGREE = 1e-11;

/* f(k) of every body: worst difference over the largest force, the linear and the angular part each. */
static double hinge_gap(const struct orr_trial *trial, const struct orr_dense *dense) {
  double gap[2] = {0, 0}, scale[2] = {1e-30, 1e-30};
  for (int i = 0; i < (int)trial->sample->description.body_count; i++) {
    double want[6], have[6];
    orr_dense_hinge_force(dense, i, want);
    sp_to(have, orr_hinge_force(trial->model, trial->ws, i));
    for (int k = 0; k < 6; k++) {
      gap[k / 3] = fmax(gap[k / 3], isfinite(have[k]) ? fabs(have[k] - want[k]) : HUGE_VAL);
      scale[k / 3] = fmax(scale[k / 3], fabs(want[k]));
    }
  }
  return fmax(gap[0] / scale[0], gap[1] / scale[1]);
}

/* Accelerations, rotor accelerations, hinge forces and hinge efforts of one sample, all against the reference. */
static void compare_with_dense(const struct orr_sample *s, unsigned options, uint64_t seed) {
  struct orr_trial trial = orr_trial_make(s, options);
  struct orr_dense *dense = orr_dense_make(s);
  int rotors = (int)s->description.rotor_count;
  double *want = orr_vector_make(s->u_count), *tau = orr_vector_make(s->u_count), *rotor = orr_vector_make(rotors);
  assert_true(orr_dense_forward(dense, want, rotor));
  assert_int_equal(orr_trial_forward(&trial), ORR_OK);
  orr_expect_below(orr_gap_bodies(s, trial.accel, want), AGREE, "acceleration", seed);
  orr_expect_below(orr_gap(trial.ws->rotor_accel, rotor, rotors), AGREE, "rotor", seed);
  orr_expect_below(hinge_gap(&trial, dense), AGREE, "hinge force", seed);
  orr_dense_inverse(dense, want, tau);
  for (int i = 0; i < (int)s->description.body_count; i++) {
    int at = orr_sample_hinge_u(s, i);
    memcpy(trial.force + s->u_at[i], tau + s->u_at[i], sizeof(double) * s->bodies[i].mode_count);
    orr_hinge_effort(trial.model, trial.ws, i, trial.force + at);
  }
  orr_expect_below(orr_gap(trial.force, tau, s->u_count), AGREE, "effort", seed);
  free(want);
  free(tau);
  free(rotor);
  orr_dense_free(dense);
  orr_trial_free(&trial);
}

static void accelerations_and_hinge_forces_agree_with_the_dense_reference(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 80; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 1 + (int)(seed % 12));
    struct orr_sample *s = orr_sample_make(&o);
    compare_with_dense(s, ORR_MODEL_DEFAULT, seed);
    orr_sample_free(s);
  }
}

static void two_hundred_bodies_agree_with_the_dense_reference(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(4711, 200);
  o.modes_max = 3;
  struct orr_sample *s = orr_sample_make(&o);
  compare_with_dense(s, ORR_MODEL_DEFAULT, o.seed);
  orr_sample_free(s);
}

static void every_hinge_kind_agrees_on_rigid_and_flexible_bodies(void **state) {
  (void)state;
  for (int kind = 0; kind < ORR_HINGE_KIND_COUNT; kind++)
    for (uint64_t seed = 0; seed < 12; seed++) {
      struct orr_sample_options o = orr_sample_default(seed, 5);
      o.one_kind = true;
      o.kind = (enum orr_hinge_kind)kind;
      o.reach = seed % 2 ? 1 : 0;
      o.flexible = (double)(seed % 3) / 2;
      o.massless = 0;
      struct orr_sample *s = orr_sample_make(&o);
      compare_with_dense(s, ORR_MODEL_DEFAULT, seed);
      orr_sample_free(s);
    }
}

static void linearized_bodies_agree_at_speed(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 30; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 6);
    o.flexible = o.linearized = 1;
    o.spin = 4;
    struct orr_sample *s = orr_sample_make(&o);
    compare_with_dense(s, ORR_MODEL_DEFAULT, seed);
    orr_sample_free(s);
  }
}

static void large_deformations_agree(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 4);
    o.flexible = 1;
    o.linearized = 0.5;
    o.modes_max = 2;
    o.rotors = 0;
    struct orr_sample *s = orr_sample_make(&o);
    /* |θ| up to 1.5 or so: both forms of the Jacobian of the exponential; mass matrices must stay positive */
    for (int i = 0; i < 4; i++)
      for (size_t r = 0; r < s->bodies[i].mode_count && s->bodies[i].deformation == ORR_DEFORMATION_LINEARIZED; r++)
        s->q[s->q_at[i] + (int)r] *= 10;
    compare_with_dense(s, ORR_MODEL_DEFAULT, seed);
    orr_sample_free(s);
  }
}

static void fast_kernels_equal_their_plain_twin(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, seed < 55 ? 12 : 200);
    o.one_kind = seed % 4 != 3;
    o.kind = ORR_HINGE_REVOLUTE;
    o.flexible = seed % 4 == 2 ? 0.3 : 0;
    o.massless = 0;
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial fast = orr_trial_make(s, ORR_MODEL_DEFAULT), plain = orr_trial_make(s, ORR_MODEL_PLAIN);
    if (o.one_kind)
      assert_true(fast.model->revolute_count > 0);
    assert_int_equal(plain.model->revolute_count, 0);
    assert_int_equal(orr_trial_forward(&fast), ORR_OK);
    assert_int_equal(orr_trial_forward(&plain), ORR_OK);
    orr_expect_below(orr_gap_bodies(s, fast.accel, plain.accel), 1e-10, "acceleration", seed);
    double *have = orr_vector_make(6 * o.bodies), *want = orr_vector_make(6 * o.bodies);
    for (int i = 0; i < o.bodies; i++) {
      sp_to(have + 6 * i, orr_hinge_force(fast.model, fast.ws, i));
      sp_to(want + 6 * i, orr_hinge_force(plain.model, plain.ws, i));
    }
    orr_expect_below(orr_gap(have, want, 6 * o.bodies), 1e-10, "hinge force", seed);
    free(have);
    free(want);
    orr_trial_free(&fast);
    orr_trial_free(&plain);
    orr_sample_free(s);
  }
}

/* Trees of bodies with up to eight modes, on revolute hinges alone: each number of modes that has a kernel of
 * its own is met, and children of such bodies hang on places that bend and on others. */
static void few_modes_equal_their_plain_twin(void **state) {
  (void)state;
  int met[ORR_FEW_MODES + 1] = {0}, beside = 0, rigid = 0;
  for (uint64_t seed = 0; seed < 80; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 8);
    o.one_kind = true;
    o.kind = ORR_HINGE_REVOLUTE;
    o.flexible = 0.6;
    o.modes_max = 1 + (int)(seed % ORR_FEW_MODES);
    o.rotors = 0;
    o.massless = o.prescribed = 0;
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial fast = orr_trial_make(s, ORR_MODEL_DEFAULT), plain = orr_trial_make(s, ORR_MODEL_PLAIN);
    assert_int_equal(orr_trial_forward(&fast), ORR_OK);
    assert_int_equal(orr_trial_forward(&plain), ORR_OK);
    orr_expect_below(orr_gap_bodies(s, fast.accel, plain.accel), 1e-10, "acceleration", seed);
    for (int k = 0; k < o.bodies; k++) {
      const struct orr_limb *limb = &fast.model->limbs[k];
      orr_spatial f = orr_hinge_force(fast.model, fast.ws, limb->body);
      orr_spatial g = orr_hinge_force(plain.model, plain.ws, limb->body), apart = sp_sub(f, g);
      orr_expect_below(sqrt(sp_dot(apart, apart)) / (1 + sqrt(sp_dot(g, g))), 1e-10, "hinge force", seed);
      bool lean = fast.ws->lean[k] == ORR_LEAN_BENT;
      met[lean && limb->flex >= 0 ? limb->mode_count : 0]++;
      rigid += lean && limb->flex < 0;
      beside += fast.ws->lean[k] && fast.ws->adds[k];
    }
    orr_trial_free(&fast);
    orr_trial_free(&plain);
    orr_sample_free(s);
  }
  for (int n = 1; n <= ORR_FEW_MODES; n++)
    assert_true(met[n] > 0);
  assert_true(beside > 0 && rigid > 0);
}

/* Universal and gimbal hinges alone and among others, on and under bodies that bend and hinges that are driven. */
static void universal_and_gimbal_sweeps_equal_their_plain_twin(void **state) {
  (void)state;
  int swept = 0, on_bent = 0, under_bent = 0, beside_driven = 0;
  for (uint64_t seed = 0; seed < 80; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 10);
    o.one_kind = seed % 4 != 3;
    o.kind = seed % 2 ? ORR_HINGE_UNIVERSAL : ORR_HINGE_GIMBAL;
    o.flexible = (double)(seed % 3) / 4;
    o.massless = 0;
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial fast = orr_trial_make(s, ORR_MODEL_DEFAULT), plain = orr_trial_make(s, ORR_MODEL_PLAIN);
    assert_int_equal(orr_trial_forward(&fast), ORR_OK);
    assert_int_equal(orr_trial_forward(&plain), ORR_OK);
    orr_expect_below(orr_gap_bodies(s, fast.accel, plain.accel), 1e-10, "acceleration", seed);
    for (int k = 0; k < o.bodies; k++) {
      const struct orr_limb *limb = &fast.model->limbs[k];
      int parent = limb->parent;
      orr_spatial f = orr_hinge_force(fast.model, fast.ws, limb->body);
      orr_spatial g = orr_hinge_force(plain.model, plain.ws, limb->body), apart = sp_sub(f, g);
      orr_expect_below(sqrt(sp_dot(apart, apart)) / (1 + sqrt(sp_dot(g, g))), 1e-10, "hinge force", seed);
      assert_false(turning_sweeps(&plain.model->limbs[k], plain.ws, k));
      bool takes = turning_sweeps(limb, fast.ws, k);
      swept += takes;
      on_bent += takes && limb->site_parent >= 0;
      beside_driven += takes && parent >= 0 && fast.ws->prescribed[parent];
      if (parent >= 0 && turning_sweeps(&fast.model->limbs[parent], fast.ws, parent)) {
        under_bent += limb->flex >= 0;
        beside_driven += fast.ws->prescribed[k];
      }
    }
    orr_trial_free(&fast);
    orr_trial_free(&plain);
    orr_sample_free(s);
  }
  assert_true(swept > 200 && on_bent > 20 && under_bent > 20 && beside_driven > 20);
}

/* Which kernel computes a limb is chosen anew when a hinge is driven from now on, or no longer. */
static void kernels_change_with_driven_hinges(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 12);
    o.one_kind = true;
    o.kind = ORR_HINGE_REVOLUTE;
    o.flexible = seed % 2 ? 0.3 : 0;
    o.massless = 0;
    o.prescribed = 0;
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial fast = orr_trial_make(s, ORR_MODEL_DEFAULT), plain = orr_trial_make(s, ORR_MODEL_PLAIN);
    for (int body = -1; body < 2 * o.bodies; body++) {
      if (body >= 0) {
        orr_prescribe(fast.ws, body / 2, body % 2 == 0);
        orr_prescribe(plain.ws, body / 2, body % 2 == 0);
      }
      assert_int_equal(orr_trial_forward(&fast), ORR_OK);
      assert_int_equal(orr_trial_forward(&plain), ORR_OK);
      orr_expect_below(orr_gap_bodies(s, fast.accel, plain.accel), 1e-10, "acceleration", seed);
    }
    orr_trial_free(&fast);
    orr_trial_free(&plain);
    orr_sample_free(s);
  }
}

static void renumbering_the_bodies_changes_nothing(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, seed < 38 ? 10 : 200);
    struct orr_sample *s = orr_sample_make(&o);
    int to[200];
    struct orr_sample *other = orr_sample_renumber(s, seed + 1, to);
    struct orr_trial a = orr_trial_make(s, 0), b = orr_trial_make(other, 0);
    assert_int_equal(orr_trial_forward(&a), ORR_OK);
    assert_int_equal(orr_trial_forward(&b), ORR_OK);
    double *back = orr_vector_make(s->u_count);
    for (int i = 0; i < o.bodies; i++) {
      int count = orr_sample_hinge_u(s, i) - s->u_at[i] + orr_sample_speeds(s->bodies[i].hinge.kind);
      memcpy(back + s->u_at[i], b.accel + other->u_at[to[i]], sizeof(double) * (size_t)count);
    }
    orr_expect_below(orr_gap_bodies(s, back, a.accel), 1e-10, "acceleration", seed);
    free(back);
    orr_trial_free(&a);
    orr_trial_free(&b);
    orr_sample_free(other);
    orr_sample_free(s);
  }
}

/* A rigid body written as a flexible one without modes, its mass on one node. */
static void a_flexible_body_without_modes_equals_the_rigid_one(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 30; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 8);
    struct orr_sample *s = orr_sample_make(&o), *other = orr_sample_copy(s);
    for (int i = 0; i < o.bodies; i++) {
      struct orr_body_desc *b = &other->bodies[i];
      struct orr_node_desc *node = orr_sample_nodes(other, i) + (int)b->node_count - 1;
      if (b->flexible)
        continue;
      b->flexible = true;
      node->mass = b->mass;
      for (int k = 0; k < 3; k++)
        node->com[k] = b->com[k] - node->at[k];
      memcpy(node->inertia, b->inertia, sizeof node->inertia);
      b->mass = 0;
    }
    struct orr_trial a = orr_trial_make(s, 0), b = orr_trial_make(other, 0);
    assert_int_equal(orr_trial_forward(&a), ORR_OK);
    assert_int_equal(orr_trial_forward(&b), ORR_OK);
    orr_expect_below(orr_gap_bodies(s, b.accel, a.accel), 1e-12, "acceleration", seed);
    orr_trial_free(&a);
    orr_trial_free(&b);
    orr_sample_free(other);
    orr_sample_free(s);
  }
}

/* What a hinge does not listen to is not read. */
static void forces_of_driven_hinges_and_accelerations_of_free_ones_are_not_read(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 8);
    o.prescribed = 0.4;
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial trial = orr_trial_make(s, 0);
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    double *want = orr_vector_make(s->u_count);
    memcpy(want, trial.accel, sizeof(double) * (size_t)s->u_count);
    for (int i = 0; i < o.bodies; i++) {
      int hinge = orr_sample_hinge_u(s, i), end = hinge + orr_sample_speeds(s->bodies[i].hinge.kind);
      for (int k = s->u_at[i]; k < end; k++) {
        bool driven = k >= hinge && s->bodies[i].hinge.prescribed;
        (driven ? s->force : s->given)[k] = (double)NAN;
        if (driven)
          assert_true(want[k] == s->given[k]);
      }
    }
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    assert_memory_equal(trial.accel, want, sizeof(double) * (size_t)s->u_count);
    free(want);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

static void no_given_accelerations_mean_zero(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(3, 10);
  o.prescribed = 0.5;
  struct orr_sample *s = orr_sample_make(&o);
  memset(s->given, 0, sizeof(double) * (size_t)s->u_count);
  struct orr_trial trial = orr_trial_make(s, 0);
  assert_int_equal(orr_trial_forward(&trial), ORR_OK);
  double *absent = orr_vector_make(s->u_count);
  assert_int_equal(orr_forward(trial.model, trial.ws, s->force, NULL, absent), ORR_OK);
  assert_memory_equal(trial.accel, absent, sizeof(double) * (size_t)s->u_count);
  free(absent);
  orr_trial_free(&trial);
  orr_sample_free(s);
}

static void the_same_inputs_give_the_same_bits(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(11, 30);
  struct orr_sample *s = orr_sample_make(&o);
  struct orr_trial a = orr_trial_make(s, 0), b = orr_trial_second(&a);
  assert_int_equal(orr_trial_forward(&a), ORR_OK);
  for (int i = 0; i < s->q_count; i++)
    s->q[i] = -s->q[i];
  assert_int_equal(orr_trial_forward(&b), ORR_OK); /* another state leaves nothing behind */
  for (int i = 0; i < s->q_count; i++)
    s->q[i] = -s->q[i];
  assert_int_equal(orr_trial_forward(&b), ORR_OK);
  assert_memory_equal(a.accel, b.accel, sizeof(double) * (size_t)s->u_count);
  orr_trial_free(&a);
  orr_trial_free(&b);
  orr_sample_free(s);
}

static void a_hinge_force_along_an_axis_is_its_component(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(5, 6);
  struct orr_sample *s = orr_sample_make(&o);
  struct orr_trial trial = orr_trial_make(s, 0);
  assert_int_equal(orr_trial_forward(&trial), ORR_OK);
  const double axis[3] = {0.36, -0.48, 0.8};
  for (int i = 0; i < o.bodies; i++) {
    double f[6];
    sp_to(f, orr_hinge_force(trial.model, trial.ws, i));
    struct orr_axis_force along = orr_hinge_force_along(trial.model, trial.ws, i, v3_from(axis));
    double moment = axis[0] * f[0] + axis[1] * f[1] + axis[2] * f[2];
    double force = axis[0] * f[3] + axis[1] * f[4] + axis[2] * f[5];
    assert_true(fabs(along.moment - moment) <= 1e-14 * (1 + fabs(moment)));
    assert_true(fabs(along.force - force) <= 1e-14 * (1 + fabs(force)));
  }
  orr_trial_free(&trial);
  orr_sample_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accelerations_and_hinge_forces_agree_with_the_dense_reference),
      cmocka_unit_test(two_hundred_bodies_agree_with_the_dense_reference),
      cmocka_unit_test(every_hinge_kind_agrees_on_rigid_and_flexible_bodies),
      cmocka_unit_test(linearized_bodies_agree_at_speed),
      cmocka_unit_test(large_deformations_agree),
      cmocka_unit_test(fast_kernels_equal_their_plain_twin),
      cmocka_unit_test(few_modes_equal_their_plain_twin),
      cmocka_unit_test(universal_and_gimbal_sweeps_equal_their_plain_twin),
      cmocka_unit_test(kernels_change_with_driven_hinges),
      cmocka_unit_test(renumbering_the_bodies_changes_nothing),
      cmocka_unit_test(a_flexible_body_without_modes_equals_the_rigid_one),
      cmocka_unit_test(forces_of_driven_hinges_and_accelerations_of_free_ones_are_not_read),
      cmocka_unit_test(no_given_accelerations_mean_zero),
      cmocka_unit_test(the_same_inputs_give_the_same_bits),
      cmocka_unit_test(a_hinge_force_along_an_axis_is_its_component),
  };
  return cmocka_run_group_tests_name("forward", tests, NULL, NULL);
}
