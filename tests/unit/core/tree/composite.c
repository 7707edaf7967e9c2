/* The mass matrix by composite bodies, and the accelerations from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/composite.h"
#include "core/tree/forward.h"
#include "tests/support/dense.h"
#include "tests/support/trial.h"

static void matrix_agrees_with_the_dense_reference(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 1 + (int)(seed % 12));
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial trial = orr_trial_make(s, 0);
    struct orr_dense *dense = orr_dense_make(s);
    int square = s->u_count * s->u_count;
    double *want = orr_vector_make(square), *have = orr_vector_make(square);
    orr_dense_mass(dense, want);
    orr_trial_load(&trial);
    struct orr_composite *composite = orr_trial_composite(&trial);
    orr_composite_matrix(trial.model, trial.ws, composite);
    orr_composite_dense(composite, have);
    orr_expect_below(orr_gap_matrix(have, want, s->u_count), 1e-13, "M", seed);
    free(want);
    free(have);
    orr_dense_free(dense);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

/* The two routes of issue and paper: O(N) and O(N³). Hinge forces too. */
static void check_against_forward(const struct orr_sample *s, uint64_t seed) {
  struct orr_trial trial = orr_trial_make(s, 0);
  struct orr_composite *composite = orr_trial_composite(&trial);
  int bodies = (int)s->description.body_count;
  double *accel = orr_vector_make(s->u_count), *f = orr_vector_make(6 * bodies), *g = orr_vector_make(6 * bodies);
  assert_int_equal(orr_trial_forward(&trial), ORR_OK);
  for (int i = 0; i < bodies; i++)
    sp_to(f + 6 * i, orr_hinge_force(trial.model, trial.ws, i));
  assert_int_equal(orr_composite_forward(trial.model, trial.ws, composite, s->force, s->given, accel), ORR_OK);
  for (int i = 0; i < bodies; i++)
    sp_to(g + 6 * i, orr_hinge_force(trial.model, trial.ws, i));
  orr_expect_below(orr_gap_bodies(s, accel, trial.accel), 1e-9, "acceleration", seed);
  orr_expect_below(orr_gap(g, f, 6 * bodies), 1e-9, "hinge force", seed);
  free(accel);
  free(f);
  free(g);
  orr_trial_free(&trial);
}

static void forward_and_composite_agree_to_1e_9_up_to_two_hundred_bodies(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 100; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, seed % 10 ? 1 + (int)(seed * seed % 40) : 200);
    o.reach = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 2 : 10;
    if (seed % 5 == 4)
      o.flexible = 0;
    struct orr_sample *s = orr_sample_make(&o);
    check_against_forward(s, seed);
    orr_sample_free(s);
  }
}

/* Is body `a` on the way from `b` to the base, or b itself? */
static bool leads_to(const struct orr_sample *s, int a, int b) {
  while (b >= 0 && b != a)
    b = s->bodies[b].hinge.parent;
  return b == a;
}

static void blocks_of_unrelated_branches_are_zero_and_take_no_room(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(17, 40);
  o.roots = 0.2;
  o.reach = 0;
  struct orr_sample *s = orr_sample_make(&o);
  struct orr_trial trial = orr_trial_make(s, 0);
  struct orr_composite *composite = orr_trial_composite(&trial);
  double *m = orr_vector_make(s->u_count * s->u_count);
  orr_trial_load(&trial);
  orr_composite_matrix(trial.model, trial.ws, composite);
  orr_composite_dense(composite, m);
  size_t stored = 0, related = 0;
  for (int k = 0; k < composite->count; k++)
    stored += (size_t)composite->depth[k] + 1;
  for (int a = 0; a < o.bodies; a++)
    for (int b = 0; b < o.bodies; b++) {
      int rows = orr_sample_hinge_u(s, a) - s->u_at[a] + orr_sample_speeds(s->bodies[a].hinge.kind);
      int columns = orr_sample_hinge_u(s, b) - s->u_at[b] + orr_sample_speeds(s->bodies[b].hinge.kind);
      if (leads_to(s, a, b) || leads_to(s, b, a)) {
        related += (size_t)(a == b ? rows * (rows + 1) / 2 : a < b ? rows * columns : 0);
        continue;
      }
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
          assert_true(m[(s->u_at[a] + i) * s->u_count + s->u_at[b] + j] == 0);
    }
  assert_int_equal(stored, related);
  free(m);
  orr_trial_free(&trial);
  orr_sample_free(s);
}

static void a_failed_solution_says_which_body_and_writes_nothing(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(2, 6);
  o.prescribed = 0;
  struct orr_sample *s = orr_sample_make(&o);
  struct orr_trial trial = orr_trial_make(s, 0);
  struct orr_composite *composite = orr_trial_composite(&trial);
  double *accel = orr_vector_make(s->u_count);
  orr_trial_load(&trial);
  for (int i = 0; i < s->u_count; i++)
    accel[i] = 42;
  double kept = s->force[0];
  s->force[0] = (double)NAN;
  assert_int_equal(orr_composite_forward(trial.model, trial.ws, composite, s->force, s->given, accel),
                   ORR_ERROR_NOT_FINITE);
  assert_in_range(trial.ws->failed_body, 0, o.bodies - 1);
  for (int i = 0; i < s->u_count; i++)
    assert_true(accel[i] == 42);
  s->force[0] = kept;
  assert_int_equal(orr_composite_forward(trial.model, trial.ws, composite, s->force, s->given, accel), ORR_OK);
  assert_true(accel[0] != 42);
  free(accel);
  orr_trial_free(&trial);
  orr_sample_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrix_agrees_with_the_dense_reference),
      cmocka_unit_test(forward_and_composite_agree_to_1e_9_up_to_two_hundred_bodies),
      cmocka_unit_test(blocks_of_unrelated_branches_are_zero_and_take_no_room),
      cmocka_unit_test(a_failed_solution_says_which_body_and_writes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
