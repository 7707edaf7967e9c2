/* The mass matrix and its inverse as products, their factors, the determinant, the compliance of nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/articulated.h"
#include "core/tree/compliance.h"
#include "core/tree/operators.h"
#include "tests/support/dense.h"
#include "tests/support/prng.h"
#include "tests/support/trial.h"

/* A sample on the bench with its articulated factors, and random vectors whose driven entries are zero. */
struct operand {
  struct orr_sample *s;
  struct orr_trial trial;
  uint64_t seed;
  double *x, *y, *a, *b;
};

static void clear_driven(const struct orr_sample *s, double *x) {
  for (int i = 0; i < (int)s->description.body_count; i++)
    for (int k = 0; k < orr_sample_speeds(s->bodies[i].hinge.kind) && s->bodies[i].hinge.prescribed; k++)
      x[orr_sample_hinge_u(s, i) + k] = 0;
}

static struct operand operand_make(uint64_t seed, int bodies) {
  struct orr_sample_options o = orr_sample_default(seed, bodies);
  if (seed % 4 == 3) { /* a tree of revolute hinges, mostly on their own kernel */
    o.one_kind = true;
    o.kind = ORR_HINGE_REVOLUTE;
    o.flexible = 0.2;
    o.massless = 0;
  }
  struct operand p = {.s = orr_sample_make(&o), .seed = seed};
  struct orr_prng prng = {seed};
  double **each[] = {&p.x, &p.y, &p.a, &p.b};
  for (int i = 0; i < 4; i++) {
    *each[i] = orr_vector_make(p.s->u_count);
    prng_vector(&prng, 1, *each[i], p.s->u_count);
  }
  clear_driven(p.s, p.x);
  clear_driven(p.s, p.y);
  p.trial = orr_trial_make(p.s, 0);
  orr_trial_load(&p.trial);
  assert_int_equal(orr_articulated_factor(p.trial.model, p.trial.ws), ORR_OK);
  return p;
}

static void operand_free(struct operand *p) {
  free(p->x);
  free(p->y);
  free(p->a);
  free(p->b);
  orr_trial_free(&p->trial);
  orr_sample_free(p->s);
}

static double inner(const double *a, const double *b, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++)
    sum += a[i] * b[i];
  return sum;
}

static int size_of(uint64_t seed) { return seed % 8 == 7 ? 100 : 1 + (int)(seed % 13); }

static void the_product_with_m_agrees_with_the_dense_reference(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 30; seed++) {
    struct operand p = operand_make(seed, 1 + (int)(seed % 13));
    struct orr_dense *dense = orr_dense_make(p.s);
    int n = p.s->u_count;
    double *m = orr_vector_make(n * n);
    orr_dense_mass(dense, m);
    orr_mass_apply(p.trial.model, p.trial.ws, p.a, p.b); /* driven entries of a are not zero: M is the whole matrix */
    for (int i = 0; i < n; i++)
      p.y[i] = inner(m + i * n, p.a, n);
    orr_expect_below(orr_gap_bodies(p.s, p.b, p.y), 1e-12, "M x", seed);
    free(m);
    orr_dense_free(dense);
    operand_free(&p);
  }
}

static void the_factored_inverse_times_m_is_the_identity(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct operand p = operand_make(seed, size_of(seed));
    orr_mass_apply(p.trial.model, p.trial.ws, p.x, p.a);
    orr_inverse_mass_apply(p.trial.model, p.trial.ws, p.a, p.b);
    orr_expect_below(orr_gap_bodies(p.s, p.b, p.x), 1e-10, "M^-1 M x", seed);
    orr_inverse_mass_apply(p.trial.model, p.trial.ws, p.x, p.a);
    orr_mass_apply(p.trial.model, p.trial.ws, p.a, p.b);
    clear_driven(p.s, p.b);
    orr_expect_below(orr_gap_bodies(p.s, p.b, p.x), 1e-10, "M M^-1 x", seed);
    operand_free(&p);
  }
}

static void the_factors_multiply_to_m(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct operand p = operand_make(seed, size_of(seed));
    const struct orr_model *m = p.trial.model;
    orr_mass_apply(m, p.trial.ws, p.x, p.y);
    clear_driven(p.s, p.y);
    orr_colour_transposed(m, p.trial.ws, p.x, p.a);
    orr_innovations_scale(m, p.trial.ws, false, p.a, p.b);
    orr_colour(m, p.trial.ws, p.b, p.a);
    orr_expect_below(orr_gap_bodies(p.s, p.a, p.y), 1e-11, "(I+HFK) D (I+HFK)* x", seed);
    operand_free(&p);
  }
}

static void the_inverse_factors_undo_the_factors(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct operand p = operand_make(seed, size_of(seed));
    const struct orr_model *m = p.trial.model;
    struct orr_workspace *ws = p.trial.ws;
    orr_colour(m, ws, p.x, p.a);
    orr_innovate(m, ws, p.a, p.b);
    orr_expect_below(orr_gap_bodies(p.s, p.b, p.x), 1e-10, "(I-HYK)(I+HFK) x", seed);
    orr_innovate(m, ws, p.x, p.a);
    clear_driven(p.s, p.a);
    orr_colour(m, ws, p.a, p.b);
    orr_expect_below(orr_gap_bodies(p.s, p.b, p.x), 1e-10, "(I+HFK)(I-HYK) x", seed);
    orr_colour_transposed(m, ws, p.x, p.a);
    orr_innovate_transposed(m, ws, p.a, p.b);
    orr_expect_below(orr_gap_bodies(p.s, p.b, p.x), 1e-10, "transposed", seed);
    orr_innovations_scale(m, ws, false, p.x, p.a);
    orr_innovations_scale(m, ws, true, p.a, p.b);
    orr_expect_below(orr_gap_bodies(p.s, p.b, p.x), 1e-11, "D", seed);
    /* and the three of them make the inverse */
    orr_inverse_mass_apply(m, ws, p.x, p.y);
    orr_innovate(m, ws, p.x, p.a);
    orr_innovations_scale(m, ws, true, p.a, p.b);
    orr_innovate_transposed(m, ws, p.b, p.a);
    orr_expect_below(orr_gap_bodies(p.s, p.a, p.y), 1e-10, "M^-1 by factors", seed);
    operand_free(&p);
  }
}

/* Rather than what the call before left behind. */
static void a_vector_that_is_not_finite_makes_all_of_the_answer_nan(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 8; seed++) {
    struct operand p = operand_make(seed, 5);
    const double bad[2] = {(double)NAN, (double)INFINITY};
    for (int k = 0; k < p.s->u_count; k++) {
      double kept = p.x[k];
      if (kept == 0) /* a driven hinge's: not read */
        continue;
      p.x[k] = bad[k % 2];
      orr_inverse_mass_apply(p.trial.model, p.trial.ws, p.x, p.a);
      orr_innovate(p.trial.model, p.trial.ws, p.x, p.b);
      for (int i = 0; i < p.s->u_count; i++)
        assert_true(isnan(p.a[i]) && isnan(p.b[i]));
      p.x[k] = kept;
    }
    operand_free(&p);
  }
}

static void transposed_factors_are_transposes(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct operand p = operand_make(seed, size_of(seed));
    const struct orr_model *m = p.trial.model;
    int n = p.s->u_count;
    double size = 1 + sqrt(inner(p.x, p.x, n) * inner(p.y, p.y, n));
    orr_colour(m, p.trial.ws, p.x, p.a);
    orr_colour_transposed(m, p.trial.ws, p.y, p.b);
    size += sqrt(inner(p.a, p.a, n) * inner(p.y, p.y, n)) + sqrt(inner(p.b, p.b, n) * inner(p.x, p.x, n));
    orr_expect_below(fabs(inner(p.a, p.y, n) - inner(p.x, p.b, n)) / size, 1e-13, "colour", seed);
    orr_innovate(m, p.trial.ws, p.x, p.a);
    orr_innovate_transposed(m, p.trial.ws, p.y, p.b);
    orr_expect_below(fabs(inner(p.a, p.y, n) - inner(p.x, p.b, n)) / size, 1e-12, "innovate", seed);
    operand_free(&p);
  }
}

/* Only the factor (I + HΦK) is unit triangular in the order of the tree: unit speeds of tips reach the base, never
 * back. */
static void a_colour_reaches_only_towards_the_base(void **state) {
  (void)state;
  struct operand p = operand_make(21, 12);
  for (int i = 0; i < p.s->u_count; i++) {
    memset(p.x, 0, sizeof(double) * (size_t)p.s->u_count);
    p.x[i] = 1;
    clear_driven(p.s, p.x);
    if (p.x[i] == 0)
      continue;
    orr_colour(p.trial.model, p.trial.ws, p.x, p.a);
    assert_true(fabs(p.a[i] - 1) < 1e-12);
    for (int body = 0; body < 12; body++) {
      int from = -1;
      for (int b = 0; b < 12; b++)
        if (i >= p.s->u_at[b] && i < orr_sample_hinge_u(p.s, b) + orr_sample_speeds(p.s->bodies[b].hinge.kind))
          from = b;
      while (from >= 0 && from != body)
        from = p.s->bodies[from].hinge.parent;
      int end = orr_sample_hinge_u(p.s, body) + orr_sample_speeds(p.s->bodies[body].hinge.kind);
      for (int k = p.s->u_at[body]; k < end && from < 0; k++)
        assert_true(p.a[k] == 0);
    }
  }
  operand_free(&p);
}

static void the_determinant_equals_the_dense_one(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 30; seed++) {
    struct operand p = operand_make(seed, 1 + (int)(seed % 13));
    struct orr_dense *dense = orr_dense_make(p.s);
    double want, have;
    assert_true(orr_dense_log_det(dense, &want));
    assert_int_equal(orr_log_det_mass(p.trial.model, p.trial.ws, &have), ORR_OK);
    orr_expect_below(fabs(have - want) / fmax(1, fabs(want)), 1e-12, "log det", seed);
    for (int i = 0; i < (int)p.s->description.body_count; i++) /* what was driven still is */
      assert_true(p.trial.ws->prescribed[p.trial.model->limb_of_body[i]] == p.s->bodies[i].hinge.prescribed);
    orr_dense_free(dense);
    operand_free(&p);
  }
}

static void check_compliance(struct operand *p, int (*nodes)[2], int count) {
  struct orr_dense *dense = orr_dense_make(p->s);
  int rows = 6 * count, index[8];
  double *want = orr_vector_make(rows * rows), *have = orr_vector_make(rows * rows);
  assert_true(orr_dense_compliance(dense, nodes, count, want));
  for (int i = 0; i < count; i++)
    index[i] = orr_model_node(p->trial.model, nodes[i][0], nodes[i][1]);
  size_t bytes = orr_compliance_size(p->trial.model, count);
  void *scratch = aligned_alloc(64, (bytes + 64) / 64 * 64);
  assert_non_null(scratch);
  orr_compliance(p->trial.model, p->trial.ws, index, count, scratch, have);
  /* a driven root leaves rows of zeros: measured against the largest element of each half */
  double scale = 1e-30, gap = 0;
  for (int i = 0; i < rows * rows; i++) {
    scale = fmax(scale, fabs(want[i]));
    gap = fmax(gap, isfinite(have[i]) ? fabs(have[i] - want[i]) : HUGE_VAL);
  }
  orr_expect_below(gap / scale, 1e-11, "compliance", p->seed);
  free(scratch);
  free(want);
  free(have);
  orr_dense_free(dense);
}

static void compliance_equals_the_dense_one(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct operand p = operand_make(seed, 1 + (int)(seed % 13));
    struct orr_prng prng = {seed};
    int nodes[8][2], count = 1 + prng_pick(&prng, 6);
    for (int i = 0; i < count; i++) {
      nodes[i][0] = prng_pick(&prng, (int)p.s->description.body_count);
      nodes[i][1] = prng_pick(&prng, (int)p.s->bodies[nodes[i][0]].node_count);
    }
    check_compliance(&p, nodes, count);
    operand_free(&p);
  }
}

/* A wrench on a node changes the accelerations of another by Λ⁻¹ times it. */
static void compliance_is_what_a_push_does(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 8);
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial trial = orr_trial_make(s, 0);
    int pushed = orr_model_node(trial.model, 5, 0), seen = orr_model_node(trial.model, 2, 0);
    const int nodes[2] = {pushed, seen};
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    struct orr_node_state place;
    double before[6], after[6], want[6], matrix[144];
    orr_node_query(trial.model, trial.ws, seen, &place);
    orr_spatial a = orr_node_acceleration(trial.model, trial.ws, seen);
    sp_to(before, sp_rotate(place.attitude, a));
    const double force[3] = {1, -2, 3}, moment[3] = {0.5, 0.3, -0.7};
    orr_force_add(trial.model, trial.ws, pushed, ORR_AXES_INERTIAL, v3_from(force), v3_from(moment));
    assert_int_equal(orr_forward(trial.model, trial.ws, s->force, s->given, trial.accel), ORR_OK);
    a = orr_node_acceleration(trial.model, trial.ws, seen);
    sp_to(after, sp_rotate(place.attitude, a));
    void *scratch = aligned_alloc(64, (orr_compliance_size(trial.model, 2) + 64) / 64 * 64);
    assert_non_null(scratch);
    assert_int_equal(orr_articulated_factor(trial.model, trial.ws), ORR_OK);
    orr_compliance(trial.model, trial.ws, nodes, 2, scratch, matrix);
    double scale = 1e-30;
    for (int i = 0; i < 6; i++) {
      want[i] = 0;
      for (int k = 0; k < 3; k++)
        want[i] += matrix[(6 + i) * 12 + k] * moment[k] + matrix[(6 + i) * 12 + 3 + k] * force[k];
      scale = fmax(scale, fabs(want[i]) + fabs(before[i]));
    }
    for (int i = 0; i < 6; i++)
      orr_expect_below(fabs(after[i] - before[i] - want[i]) / scale, 1e-11, "push", seed);
    free(scratch);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_product_with_m_agrees_with_the_dense_reference),
      cmocka_unit_test(the_factored_inverse_times_m_is_the_identity),
      cmocka_unit_test(the_factors_multiply_to_m),
      cmocka_unit_test(the_inverse_factors_undo_the_factors),
      cmocka_unit_test(a_vector_that_is_not_finite_makes_all_of_the_answer_nan),
      cmocka_unit_test(transposed_factors_are_transposes),
      cmocka_unit_test(a_colour_reaches_only_towards_the_base),
      cmocka_unit_test(the_determinant_equals_the_dense_one),
      cmocka_unit_test(compliance_equals_the_dense_one),
      cmocka_unit_test(compliance_is_what_a_push_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
