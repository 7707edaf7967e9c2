/* Blocks of exactly the size asked for, several threads on one model, and what may change without compiling again. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/model/workspace.h"
#include "core/tree/composite.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "tests/support/prng.h"
#include "tests/support/trial.h"

enum { GUARD = 4096 };
static const unsigned char MARK = 0xa5;

/* `bytes` at a multiple of 64, with marked bytes before and behind. */
static unsigned char *guarded(size_t bytes, unsigned char **whole) {
  size_t all = (GUARD + bytes + GUARD + 63) / 64 * 64;
  *whole = aligned_alloc(64, all);
  assert_non_null(*whole);
  memset(*whole, MARK, all);
  return *whole + GUARD;
}

static void check_guards(unsigned char *whole, size_t bytes) {
  for (size_t i = 0; i < GUARD; i++) {
    assert_int_equal(whole[i], MARK);
    assert_int_equal(whole[GUARD + bytes + i], MARK);
  }
}

/* The three blocks used to the last byte and no further, through forward dynamics by both routes. */
static void every_object_stays_inside_the_bytes_it_asked_for(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 30; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 1 + (int)(seed % 9));
    struct orr_sample *s = orr_sample_make(&o);
    unsigned char *whole[3], *block[3];
    size_t bytes[3];
    enum orr_status status;
    int where = 0;
    double *accel = orr_vector_make(s->u_count);
    bytes[0] = orr_model_size(&s->description, 0);
    block[0] = guarded(bytes[0], &whole[0]);
    const struct orr_model *model = orr_model_init(block[0], bytes[0], &s->description, 0, &status, &where);
    assert_non_null(model);
    bytes[1] = orr_workspace_size(model);
    block[1] = guarded(bytes[1], &whole[1]);
    struct orr_workspace *ws = orr_workspace_init(block[1], bytes[1], model);
    assert_non_null(ws);
    bytes[2] = orr_composite_size(model);
    block[2] = guarded(bytes[2], &whole[2]);
    struct orr_composite *composite = orr_composite_init(block[2], bytes[2], model);
    assert_non_null(composite);
    struct orr_trial trial = {.sample = s, .model = model, .ws = ws, .accel = accel};
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    assert_int_equal(orr_composite_forward(model, ws, composite, s->force, s->given, accel), ORR_OK);
    for (int i = 0; i < 3; i++) {
      check_guards(whole[i], bytes[i]);
      free(whole[i]);
    }
    free(accel);
    orr_sample_free(s);
  }
}

static void a_smaller_block_is_refused_and_not_touched(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(7, 6);
  struct orr_sample *s = orr_sample_make(&o);
  struct orr_trial trial = orr_trial_make(s, 0);
  size_t bytes[3] = {orr_model_size(&s->description, 0), orr_workspace_size(trial.model),
                     orr_composite_size(trial.model)};
  for (int i = 0; i < 3; i++) {
    unsigned char *whole, *block = guarded(bytes[i], &whole);
    enum orr_status status = ORR_OK;
    int where = 0;
    if (i == 0)
      assert_null(orr_model_init(block, bytes[0] - 1, &s->description, 0, &status, &where));
    if (i == 1)
      assert_null(orr_workspace_init(block, bytes[1] - 1, trial.model));
    if (i == 2)
      assert_null(orr_composite_init(block, bytes[2] - 1, trial.model));
    if (i == 0)
      assert_int_equal(status, ORR_ERROR_BLOCK);
    for (size_t k = 0; k < bytes[i] + 2 * GUARD; k++)
      assert_int_equal(whole[k], MARK);
    free(whole);
  }
  assert_null(orr_workspace_init(NULL, bytes[1], trial.model));
  assert_null(orr_composite_init(NULL, bytes[2], trial.model));
  orr_trial_free(&trial);
  orr_sample_free(s);
}

/* A used block makes the same workspace as a fresh one. */
static void what_was_in_the_block_before_does_not_matter(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(9, 12);
  struct orr_sample *s = orr_sample_make(&o);
  struct orr_trial a = orr_trial_make(s, 0), b = orr_trial_second(&a);
  size_t bytes = orr_workspace_size(a.model);
  memset(b.ws_block, 0xff, bytes);
  b.ws = orr_workspace_init(b.ws_block, bytes, b.model);
  assert_int_equal(orr_trial_forward(&a), ORR_OK);
  assert_int_equal(orr_trial_forward(&b), ORR_OK);
  assert_memory_equal(a.accel, b.accel, sizeof(double) * (size_t)s->u_count);
  orr_trial_free(&a);
  orr_trial_free(&b);
  orr_sample_free(s);
}

enum { THREADS = 4, ROUNDS = 200 };

struct runner {
  struct orr_trial trial;
  double *want;
  bool agreed;
};

static void *run(void *argument) {
  struct runner *r = argument;
  r->agreed = true;
  for (int i = 0; i < ROUNDS; i++) {
    r->agreed = r->agreed && orr_trial_forward(&r->trial) == ORR_OK;
    r->agreed = r->agreed && memcmp(r->trial.accel, r->want, sizeof(double) * (size_t)r->trial.model->u_count) == 0;
  }
  return NULL;
}

static void threads_share_a_model_with_a_workspace_each(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(12, 20);
  struct orr_sample *s = orr_sample_make(&o);
  struct orr_trial first = orr_trial_make(s, 0);
  assert_int_equal(orr_trial_forward(&first), ORR_OK);
  struct runner runners[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    runners[i] = (struct runner){.trial = orr_trial_second(&first), .want = first.accel};
    assert_int_equal(pthread_create(&threads[i], NULL, run, &runners[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(runners[i].agreed);
    orr_trial_free(&runners[i].trial);
  }
  orr_trial_free(&first);
  orr_sample_free(s);
}

/* New mass properties for every body, in the sample and in the workspace. */
static void change_masses(struct orr_sample *s, struct orr_workspace *ws, uint64_t seed) {
  struct orr_prng p = {seed};
  for (int i = 0; i < (int)s->description.body_count; i++) {
    struct orr_body_desc *b = &s->bodies[i];
    if (!b->flexible) {
      b->mass += prng_between(&p, 0, 1);
      prng_vector(&p, 0.2, b->com, 3);
      for (int k = 0; k < 3; k++)
        b->inertia[k] += 0.1;
      if (ws)
        orr_mass_set(ws, i, b->mass, b->com, b->inertia);
      continue;
    }
    for (int j = 0; j < (int)b->node_count; j++) {
      if (!prng_chance(&p, 0.6))
        continue;
      struct orr_node_desc *node = &orr_sample_nodes(s, i)[j];
      node->mass += prng_between(&p, 0.1, 1);
      prng_vector(&p, 0.1, node->com, 3);
      for (int k = 0; k < 3; k++)
        node->inertia[k] += 0.05;
      if (ws)
        orr_node_mass_set(ws, i, j, node->mass, node->com, node->inertia);
    }
  }
}

/* K and D given as frequencies would be compiled with the new modal masses: as matrices they stay, as the switch
 * says. */
static void give_matrices(struct orr_sample *s) {
  static const double stiffness[64] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 3};
  for (int i = 0; i < (int)s->description.body_count; i++) {
    if (!s->bodies[i].modes)
      continue;
    s->bodies[i].modes = NULL;
    s->bodies[i].stiffness = stiffness;
    s->bodies[i].damping = NULL;
  }
}

static void new_masses_in_the_workspace_equal_a_new_description(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 8);
    o.flexible = 0.6;
    if (seed % 4 == 3) {
      o.one_kind = true;
      o.kind = ORR_HINGE_REVOLUTE;
      o.flexible = 0.2;
    }
    struct orr_sample *s = orr_sample_make(&o);
    give_matrices(s);
    struct orr_trial switched = orr_trial_make(s, 0);
    assert_int_equal(orr_trial_forward(&switched), ORR_OK);
    change_masses(s, switched.ws, seed);
    struct orr_trial compiled = orr_trial_make(s, 0);
    assert_int_equal(orr_trial_forward(&switched), ORR_OK);
    assert_int_equal(orr_trial_forward(&compiled), ORR_OK);
    orr_expect_below(orr_gap_bodies(s, switched.accel, compiled.accel), 1e-11, "acceleration", seed);
    orr_trial_free(&switched);
    orr_trial_free(&compiled);
    orr_sample_free(s);
  }
}

static void going_back_to_the_old_masses_leaves_no_trace(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(3, 8);
  struct orr_sample *s = orr_sample_make(&o), *other = orr_sample_copy(s);
  struct orr_trial trial = orr_trial_make(s, 0);
  double *before = orr_vector_make(s->u_count);
  assert_int_equal(orr_trial_forward(&trial), ORR_OK);
  memcpy(before, trial.accel, sizeof(double) * (size_t)s->u_count);
  for (uint64_t round = 0; round < 200; round++)
    change_masses(other, trial.ws, round);
  for (int i = 0; i < o.bodies; i++) {
    const struct orr_body_desc *b = &s->bodies[i];
    if (!b->flexible)
      orr_mass_set(trial.ws, i, b->mass, b->com, b->inertia);
    for (int j = 0; b->flexible && j < (int)b->node_count; j++)
      orr_node_mass_set(trial.ws, i, j, b->nodes[j].mass, b->nodes[j].com, b->nodes[j].inertia);
  }
  assert_int_equal(orr_trial_forward(&trial), ORR_OK);
  assert_memory_equal(trial.accel, before, sizeof(double) * (size_t)s->u_count);
  free(before);
  orr_trial_free(&trial);
  orr_sample_free(other);
  orr_sample_free(s);
}

static void a_switched_hinge_equals_one_compiled_so(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 9);
    o.prescribed = 0.4;
    o.massless = 0;
    if (seed % 3 == 2) {
      o.one_kind = true;
      o.kind = ORR_HINGE_REVOLUTE;
      o.flexible = 0.2;
    }
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial switched = orr_trial_make(s, 0);
    struct orr_prng p = {seed};
    for (int i = 0; i < o.bodies; i++) {
      bool driven = s->bodies[i].hinge.kind != ORR_HINGE_FIXED && prng_chance(&p, 0.5);
      s->bodies[i].hinge.prescribed = driven;
      orr_prescribe(switched.ws, i, driven);
    }
    struct orr_trial compiled = orr_trial_make(s, 0);
    assert_int_equal(orr_trial_forward(&switched), ORR_OK);
    assert_int_equal(orr_trial_forward(&compiled), ORR_OK);
    assert_memory_equal(switched.accel, compiled.accel, sizeof(double) * (size_t)s->u_count);
    orr_trial_free(&switched);
    orr_trial_free(&compiled);
    orr_sample_free(s);
  }
}

/* Driving a hinge as it would have moved by itself changes nothing, and takes the effort it had. */
static void a_hinge_driven_as_it_would_move_does_not_feel_it(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 9);
    o.prescribed = 0;
    o.massless = 0;
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial trial = orr_trial_make(s, 0);
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    double *free_accel = orr_vector_make(s->u_count);
    memcpy(free_accel, trial.accel, sizeof(double) * (size_t)s->u_count);
    memcpy(s->given, trial.accel, sizeof(double) * (size_t)s->u_count);
    for (int i = 0; i < o.bodies; i += 2)
      orr_prescribe(trial.ws, i, true);
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    orr_expect_below(orr_gap_bodies(s, trial.accel, free_accel), 1e-11, "acceleration", seed);
    double scale = 1;
    for (int i = 0; i < o.bodies; i++) {
      orr_spatial f = orr_hinge_force(trial.model, trial.ws, i);
      scale = fmax(scale, v3_norm(f.w) + v3_norm(f.v));
    }
    for (int i = 0; i < o.bodies; i += 2) {
      double effort[6];
      orr_hinge_effort(trial.model, trial.ws, i, effort);
      for (int k = 0; k < orr_sample_speeds(s->bodies[i].hinge.kind); k++)
        orr_expect_below(fabs(effort[k] - s->force[orr_sample_hinge_u(s, i) + k]) / scale, 1e-11, "effort", seed);
    }
    free(free_accel);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_object_stays_inside_the_bytes_it_asked_for),
      cmocka_unit_test(a_smaller_block_is_refused_and_not_touched),
      cmocka_unit_test(what_was_in_the_block_before_does_not_matter),
      cmocka_unit_test(threads_share_a_model_with_a_workspace_each),
      cmocka_unit_test(new_masses_in_the_workspace_equal_a_new_description),
      cmocka_unit_test(going_back_to_the_old_masses_leaves_no_trace),
      cmocka_unit_test(a_switched_hinge_equals_one_compiled_so),
      cmocka_unit_test(a_hinge_driven_as_it_would_move_does_not_feel_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
