/* Inverse dynamics: against the dense reference, and as the inverse of forward dynamics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/inverse.h"
#include "core/tree/operators.h"
#include "tests/support/dense.h"
#include "tests/support/prng.h"
#include "tests/support/trial.h"

static void forces_agree_with_the_dense_reference(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 1 + (int)(seed % 12));
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial trial = orr_trial_make(s, 0);
    struct orr_dense *dense = orr_dense_make(s);
    struct orr_prng prng = {seed};
    double *accel = orr_vector_make(s->u_count), *want = orr_vector_make(s->u_count);
    prng_vector(&prng, 3, accel, s->u_count);
    orr_dense_inverse(dense, accel, want);
    orr_trial_load(&trial);
    orr_inverse(trial.model, trial.ws, accel, trial.force);
    orr_expect_below(orr_gap_bodies(s, trial.force, want), 1e-12, "force", seed);
    for (int i = 0; i < o.bodies; i++) {
      double have[6], f[6];
      orr_dense_hinge_force(dense, i, f);
      sp_to(have, orr_hinge_force(trial.model, trial.ws, i));
      orr_expect_below(orr_gap(have, f, 6), 1e-10, "hinge force", seed);
    }
    free(accel);
    free(want);
    orr_dense_free(dense);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

/* Forward dynamics, then the forces for what came out: the actuators' own at free hinges, the answer at driven ones. */
static void check_round_trip(const struct orr_sample *s, uint64_t seed) {
  struct orr_trial trial = orr_trial_make(s, 0);
  int bodies = (int)s->description.body_count;
  double *want = orr_vector_make(s->u_count), *f = orr_vector_make(6 * bodies), *g = orr_vector_make(6 * bodies);
  assert_int_equal(orr_trial_forward(&trial), ORR_OK);
  memcpy(want, s->force, sizeof(double) * (size_t)s->u_count);
  for (int i = 0; i < bodies; i++) {
    if (s->bodies[i].hinge.prescribed)
      orr_hinge_effort(trial.model, trial.ws, i, want + orr_sample_hinge_u(s, i));
    sp_to(f + 6 * i, orr_hinge_force(trial.model, trial.ws, i));
  }
  orr_inverse(trial.model, trial.ws, trial.accel, trial.force);
  for (int i = 0; i < bodies; i++)
    sp_to(g + 6 * i, orr_hinge_force(trial.model, trial.ws, i));
  /* forces add up over the tree: measured against the largest that passes a hinge */
  double scale = 1;
  for (int i = 0; i < 6 * bodies; i++)
    scale = fmax(scale, fabs(f[i]));
  for (int i = 0; i < s->u_count; i++)
    orr_expect_below(fabs(trial.force[i] - want[i]) / scale, 1e-12, "force", seed);
  orr_expect_below(orr_gap(g, f, 6 * bodies), 1e-11, "hinge force", seed);
  free(want);
  free(f);
  free(g);
  orr_trial_free(&trial);
}

static void inverse_undoes_forward(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 80; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, seed < 75 ? 1 + (int)(seed % 20) : 200);
    struct orr_sample *s = orr_sample_make(&o);
    check_round_trip(s, seed);
    orr_sample_free(s);
  }
}

static void inverse_undoes_forward_on_fast_kernels(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 30);
    o.one_kind = true;
    o.kind = ORR_HINGE_REVOLUTE;
    o.flexible = o.massless = 0;
    struct orr_sample *s = orr_sample_make(&o);
    check_round_trip(s, seed);
    orr_sample_free(s);
  }
}

static void force_is_affine_in_the_acceleration_with_slope_m(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 10);
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial trial = orr_trial_make(s, 0);
    struct orr_prng prng = {seed};
    double *x = orr_vector_make(s->u_count), *at_zero = orr_vector_make(s->u_count),
           *slope = orr_vector_make(s->u_count);
    orr_trial_load(&trial);
    orr_inverse(trial.model, trial.ws, x, at_zero);
    prng_vector(&prng, 50, x, s->u_count);
    orr_inverse(trial.model, trial.ws, x, trial.force);
    orr_mass_apply(trial.model, trial.ws, x, slope);
    for (int i = 0; i < s->u_count; i++)
      trial.force[i] -= at_zero[i];
    orr_expect_below(orr_gap_bodies(s, trial.force, slope), 1e-11, "M x", seed);
    free(x);
    free(at_zero);
    free(slope);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_agree_with_the_dense_reference),
      cmocka_unit_test(inverse_undoes_forward),
      cmocka_unit_test(inverse_undoes_forward_on_fast_kernels),
      cmocka_unit_test(force_is_affine_in_the_acceleration_with_slope_m),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
