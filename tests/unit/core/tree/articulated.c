/* What is singular or not a number comes back as a status with the body, and nothing is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/articulated.h"
#include "core/tree/composite.h"
#include "core/tree/forward.h"
#include "core/tree/operators.h"
#include "tests/support/trial.h"

static struct orr_body_desc rigid(const struct orr_node_desc *nodes, size_t count, double mass, int parent) {
  struct orr_body_desc b = {.name = "b", .mass = mass, .node_count = count, .nodes = nodes};
  for (int i = 0; i < 3; i++)
    b.inertia[i] = 0.1 * mass;
  b.hinge = (struct orr_hinge_desc){.kind = ORR_HINGE_REVOLUTE, .parent = parent, .rotation = {0, 0, 0, 1}};
  b.hinge.axes[0][2] = 1;
  return b;
}

static const struct orr_node_desc PLACES[2] = {{.name = "origin"}, {.name = "end", .at = {1, 0, 0}}};

/* Forward dynamics by both routes fails with `status` at `body` and leaves the output as it was; with `cure` put right
 * it works. */
static void expect_failure(struct orr_trial *trial, enum orr_status status, int body) {
  const struct orr_sample *s = trial->sample;
  double *accel = orr_vector_make(s->u_count), *rotor = orr_vector_make((int)s->description.rotor_count);
  for (int i = 0; i < s->u_count; i++)
    accel[i] = 1234.5 + i;
  memcpy(rotor, trial->ws->rotor_accel, sizeof(double) * s->description.rotor_count);
  orr_trial_load(trial);
  trial->ws->failed_body = -1;
  assert_int_equal(orr_forward(trial->model, trial->ws, s->force, s->given, accel), status);
  assert_int_equal(trial->ws->failed_body, body);
  struct orr_composite *composite = trial->composite_block ? NULL : orr_trial_composite(trial);
  if (composite) {
    trial->ws->failed_body = -1;
    assert_int_equal(orr_composite_forward(trial->model, trial->ws, composite, s->force, s->given, accel), status);
    assert_int_equal(trial->ws->failed_body, body);
  }
  for (int i = 0; i < s->u_count; i++)
    assert_true(accel[i] == 1234.5 + i);
  assert_memory_equal(rotor, trial->ws->rotor_accel, sizeof(double) * s->description.rotor_count);
  free(accel);
  free(rotor);
}

static void a_massless_tip_is_singular_on_fast_and_plain_kernels(void **state) {
  (void)state;
  for (unsigned options = 0; options <= ORR_MODEL_PLAIN; options++) {
    const struct orr_body_desc bodies[3] = {rigid(PLACES, 2, 2, ORR_INERTIAL), rigid(PLACES, 2, 0, 0),
                                            rigid(PLACES, 2, 1, 0)};
    struct orr_sample *s = orr_sample_of(bodies, 3);
    struct orr_trial trial = orr_trial_make(s, options);
    expect_failure(&trial, ORR_ERROR_SINGULAR, 1);
    /* a driven hinge needs no inertia beyond it */
    orr_prescribe(trial.ws, 1, true);
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

static void two_coaxial_hinges_with_nothing_between_are_singular(void **state) {
  (void)state;
  for (unsigned options = 0; options <= ORR_MODEL_PLAIN; options++) {
    struct orr_body_desc bodies[3] = {rigid(PLACES, 2, 2, ORR_INERTIAL), rigid(PLACES, 2, 0, 0),
                                      rigid(PLACES, 2, 1, 1)};
    bodies[1].hinge.parent_node = 1;
    struct orr_sample *s = orr_sample_of(bodies, 3);
    s->q[0] = 0.3, s->q[1] = -0.8, s->q[2] = 1.9;
    struct orr_trial trial = orr_trial_make(s, options);
    expect_failure(&trial, ORR_ERROR_SINGULAR, 1);
    orr_trial_free(&trial);
    /* apart by a metre they are not */
    s->bodies[2].hinge.parent_node = 1;
    trial = orr_trial_make(s, options);
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

static void a_hinge_without_inertia_about_its_axis_is_singular(void **state) {
  (void)state;
  struct orr_body_desc bodies[1] = {rigid(PLACES, 2, 2, ORR_INERTIAL)};
  bodies[0].hinge.kind = ORR_HINGE_BALL;
  memset(bodies[0].inertia, 0, sizeof bodies[0].inertia);
  bodies[0].com[1] = 0.5; /* a point mass on a ball hinge: nothing resists turning about its own arm */
  struct orr_sample *s = orr_sample_of(bodies, 1);
  struct orr_trial trial = orr_trial_make(s, 0);
  expect_failure(&trial, ORR_ERROR_SINGULAR, 0);
  orr_trial_free(&trial);
  orr_sample_free(s);
}

/* Each number of the state in turn: NaN and infinity. Angular rates of fixed or single bodies count too. */
static void a_state_that_is_not_finite_is_reported(void **state) {
  (void)state;
  const double bad[2] = {(double)NAN, (double)INFINITY};
  for (uint64_t seed = 0; seed < 10; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 5);
    o.one_kind = seed % 3 == 2;
    o.kind = ORR_HINGE_REVOLUTE;
    if (o.one_kind)
      o.flexible = o.massless = 0;
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial trial = orr_trial_make(s, 0);
    double *accel = orr_vector_make(s->u_count);
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    for (int k = 0; k < 2 * (s->q_count + s->u_count); k++) {
      double *x = k / 2 < s->q_count ? &s->q[k / 2] : &s->u[k / 2 - s->q_count], kept = *x;
      for (int i = 0; i < s->u_count; i++)
        accel[i] = 7;
      *x = bad[k % 2];
      orr_trial_load(&trial);
      enum orr_status status = orr_forward(trial.model, trial.ws, s->force, s->given, accel);
      bool finite = true, written = false;
      for (int i = 0; i < s->u_count; i++) {
        finite = finite && isfinite(accel[i]);
        written = written || accel[i] != 7;
      }
      /* a number that nothing depends on (a free body's place, an angle of a symmetric thing) may pass; NaN may not */
      assert_true(status == ORR_OK ? finite : !written);
      if (status != ORR_OK)
        assert_in_range(trial.ws->failed_body, 0, o.bodies - 1);
      *x = kept;
    }
    for (int i = 0; i < s->u_count; i++)
      accel[i] = 0;
    orr_trial_load(&trial);
    assert_int_equal(orr_forward(trial.model, trial.ws, s->force, s->given, accel), ORR_OK);
    assert_memory_equal(accel, trial.accel, sizeof(double) * (size_t)s->u_count); /* nothing of it stays behind */
    free(accel);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

static void a_speed_that_is_not_a_number_is_reported_at_its_body(void **state) {
  (void)state;
  for (unsigned options = 0; options <= ORR_MODEL_PLAIN; options++) {
    const struct orr_body_desc bodies[3] = {rigid(PLACES, 2, 2, ORR_INERTIAL), rigid(PLACES, 2, 1, 0),
                                            rigid(PLACES, 2, 1, 1)};
    struct orr_sample *s = orr_sample_of(bodies, 3);
    struct orr_trial trial = orr_trial_make(s, options);
    s->q[2] = (double)NAN;
    double *accel = orr_vector_make(s->u_count);
    orr_trial_load(&trial);
    assert_int_equal(orr_forward(trial.model, trial.ws, s->force, s->given, accel), ORR_ERROR_NOT_FINITE);
    assert_int_not_equal(trial.ws->failed_body, 0); /* the sweep meets it at the tip, or where it reaches first */
    free(accel);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

static void forces_that_are_not_finite_are_reported(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 10; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 5);
    o.one_kind = seed % 3 == 2;
    o.kind = ORR_HINGE_REVOLUTE;
    if (o.one_kind)
      o.flexible = o.massless = 0;
    o.prescribed = 0;
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial trial = orr_trial_make(s, 0);
    double *accel = orr_vector_make(s->u_count);
    for (int k = 0; k < s->u_count; k++) {
      double kept = s->force[k];
      for (int i = 0; i < s->u_count; i++)
        accel[i] = 7;
      s->force[k] = k % 2 ? (double)NAN : (double)INFINITY;
      orr_trial_load(&trial);
      assert_int_equal(orr_forward(trial.model, trial.ws, s->force, s->given, accel), ORR_ERROR_NOT_FINITE);
      for (int i = 0; i < s->u_count; i++)
        assert_true(accel[i] == 7);
      s->force[k] = kept;
    }
    s->pushes[0].moment[1] = (double)NAN;
    orr_trial_load(&trial);
    assert_int_equal(orr_forward(trial.model, trial.ws, s->force, s->given, accel), ORR_ERROR_NOT_FINITE);
    free(accel);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

static void an_infinite_mass_is_reported(void **state) {
  (void)state;
  for (unsigned options = 0; options <= ORR_MODEL_PLAIN; options++) {
    const struct orr_body_desc bodies[3] = {rigid(PLACES, 2, 2, ORR_INERTIAL), rigid(PLACES, 2, 1, 0),
                                            rigid(PLACES, 2, 1, 1)};
    const double com[3] = {0.1, 0, 0}, inertia[6] = {1, 1, 1, 0, 0, 0}, endless[6] = {1, 1, (double)INFINITY, 0, 0, 0};
    struct orr_sample *s = orr_sample_of(bodies, 3);
    struct orr_trial trial = orr_trial_make(s, options);
    orr_mass_set(trial.ws, 1, (double)INFINITY, com, inertia);
    expect_failure(&trial, ORR_ERROR_NOT_FINITE, 1);
    orr_mass_set(trial.ws, 1, 1, com, inertia);
    orr_mass_set(trial.ws, 2, 1, com, endless);
    expect_failure(&trial, ORR_ERROR_NOT_FINITE, 2);
    orr_mass_set(trial.ws, 2, 1, com, inertia);
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

/* Two modes that a second massive node tells apart: without its mass they are the same motion. */
static void modes_that_lose_their_mass_are_singular(void **state) {
  (void)state;
  const double still[12] = {0}, a[12] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1},
               b[12] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0};
  const struct orr_node_desc nodes[3] = {
      {.name = "origin", .mass = 1, .inertia = {1, 1, 1, 0, 0, 0}, .modes = still},
      {.name = "mid", .at = {1, 0, 0}, .mass = 1, .modes = a},
      {.name = "tip", .at = {2, 0, 0}, .mass = 1, .modes = b},
  };
  const struct orr_mode_desc modes[2] = {{1, 0.01, 0}, {2, 0.01, 0}};
  struct orr_body_desc bodies[2] = {rigid(PLACES, 2, 2, ORR_INERTIAL), rigid(nodes, 3, 0, 0)};
  bodies[1].flexible = true;
  bodies[1].mode_count = 2;
  bodies[1].modes = modes;
  /* mid moves along z in both modes alike; tip along ±y */
  struct orr_sample *s = orr_sample_of(bodies, 2);
  struct orr_trial trial = orr_trial_make(s, 0);
  assert_int_equal(orr_trial_forward(&trial), ORR_OK);
  const double zero[3] = {0, 0, 0}, none[6] = {0};
  orr_node_mass_set(trial.ws, 1, 2, 0, zero, none);
  expect_failure(&trial, ORR_ERROR_SINGULAR, 1);
  orr_node_mass_set(trial.ws, 1, 2, 1, zero, none);
  assert_int_equal(orr_trial_forward(&trial), ORR_OK);
  orr_trial_free(&trial);
  orr_sample_free(s);
}

/* Free-free modes that are a rigid motion of a flying body repeat what its hinge can do. */
static void modes_that_repeat_the_hinge_are_singular(void **state) {
  (void)state;
  const double shift[6] = {0, 0, 0, 0, 0, 1};
  const struct orr_node_desc nodes[2] = {
      {.name = "origin", .mass = 1, .inertia = {1, 1, 1, 0, 0, 0}, .modes = shift},
      {.name = "tip", .at = {1, 0.5, 0}, .mass = 1, .inertia = {1, 1, 1, 0, 0, 0}, .modes = shift},
  };
  const struct orr_mode_desc modes[1] = {{1, 0, 0}};
  struct orr_body_desc bodies[1] = {rigid(nodes, 2, 0, ORR_INERTIAL)};
  bodies[0].hinge.kind = ORR_HINGE_FREE;
  bodies[0].flexible = true;
  bodies[0].mode_count = 1;
  bodies[0].modes = modes;
  struct orr_sample *s = orr_sample_of(bodies, 1);
  struct orr_trial trial = orr_trial_make(s, 0);
  expect_failure(&trial, ORR_ERROR_SINGULAR, 0);
  double unused;
  assert_int_equal(orr_log_det_mass(trial.model, trial.ws, &unused), ORR_ERROR_SINGULAR);
  orr_trial_free(&trial);
  orr_sample_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_massless_tip_is_singular_on_fast_and_plain_kernels),
      cmocka_unit_test(two_coaxial_hinges_with_nothing_between_are_singular),
      cmocka_unit_test(a_hinge_without_inertia_about_its_axis_is_singular),
      cmocka_unit_test(a_state_that_is_not_finite_is_reported),
      cmocka_unit_test(a_speed_that_is_not_a_number_is_reported_at_its_body),
      cmocka_unit_test(forces_that_are_not_finite_are_reported),
      cmocka_unit_test(an_infinite_mass_is_reported),
      cmocka_unit_test(modes_that_lose_their_mass_are_singular),
      cmocka_unit_test(modes_that_repeat_the_hinge_are_singular),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
