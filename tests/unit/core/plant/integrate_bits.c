/* Two hundred random spacecraft have the bits that stand in tests/baseline/state_hash, whatever compiler, optimisation
 * and processor this was built for. `make bits-baseline` writes the file anew; only a change of the equations, or of
 * the order of sums, may call for it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/math/hash.h"
#include "core/plant/integrate.h"
#include "tests/support/trial.h"

static const char file_name[] = "tests/baseline/state_hash";

static uint64_t mix(uint64_t hash, const double *numbers, int count) {
  return orr_hash_words(hash, numbers, sizeof *numbers * (size_t)count);
}

/* Accelerations, then three steps of one rule, with what else the sample has: springs, rotors, modes, given motions. */
static uint64_t flown(uint64_t hash, uint64_t seed) {
  struct orr_sample_options options = orr_sample_default(seed, 1 + (int)(seed % 20));
  struct orr_sample *s = orr_sample_make(&options);
  struct orr_trial trial = orr_trial_make(s, 0);
  if (orr_trial_forward(&trial) == ORR_OK)
    hash = mix(hash, trial.accel, s->u_count);
  size_t bytes = orr_integration_size(trial.model);
  void *block = orr_aligned_block(bytes);
  struct orr_integration *i = orr_integration_init(block, bytes, trial.model, trial.ws, NULL);
  i->rule = (enum orr_integrator)(seed % ORR_INTEGRATOR_COUNT);
  memcpy(i->q, s->q, sizeof *s->q * (size_t)s->q_count);
  memcpy(i->u, s->u, sizeof *s->u * (size_t)s->u_count);
  for (int n = 0; n < 3; n++)
    hash = orr_hash_mix(hash, (uint64_t)orr_integration_step(i, n * INT64_C(1000000), 1000000));
  hash = mix(mix(hash, i->q, s->q_count), i->u, s->u_count);
  free(block);
  orr_trial_free(&trial);
  orr_sample_free(s);
  return hash;
}

static uint64_t expected(void) {
  FILE *file = fopen(file_name, "r");
  assert_non_null(file);
  char name[64];
  unsigned long long hash = 0;
  while (fscanf(file, "%63s %llx", name, &hash) == 2 && strcmp(name, "random-models") != 0)
    hash = 0;
  fclose(file);
  return hash;
}

static void random_models_have_one_hash(void **state) {
  (void)state;
  uint64_t hash = ORR_HASH_BEGIN;
  for (uint64_t seed = 1; seed <= 200; seed++)
    hash = flown(hash, seed);
  printf("# random-models %016llx\n", (unsigned long long)hash);
  if (!getenv("ORR_BITS_PRINT"))
    assert_int_equal(hash, expected());
}

/* ---- what the sensors have computed ------------------------------------------------------------------------------ */

enum change { NOTHING, A_FORCE, A_MOMENT_OF_A_STEP, A_MASS, A_HOLD, CHANGES };

struct pushes {
  struct orr_drive drive;
  double force;   /* on every speed */
  double by_step; /* more of it where a step begins */
};

static void push(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                 double *force, double *given) {
  const struct pushes *p = (const struct pushes *)drive;
  (void)given;
  for (int i = 0; i < ws->model->u_count; i++)
    force[i] += p->force + (point->index < 0 ? 0 : p->by_step);
}

/* A bus and a chain of revolute hinges. */
static struct orr_sample *rigid_sample(uint64_t seed) {
  struct orr_sample_options o = orr_sample_default(seed, 8);
  o.one_kind = seed % 2;
  o.kind = ORR_HINGE_REVOLUTE;
  o.flexible = 0;
  o.rotors = 0;
  o.massless = 0;
  o.prescribed = 0;
  return orr_sample_make(&o);
}

/* Ten steps into q and u; sensors look before each of them or not, and then something changes. True if the first
 * evaluation of a step took what the sensors had computed; `poison` shows it. */
static bool flown_under(uint64_t seed, enum change change, bool look, bool poison, double *q, double *u) {
  struct orr_sample *s = rigid_sample(seed);
  struct orr_trial trial = orr_trial_make(s, 0);
  struct pushes pushes = {.drive = {push, false}, .force = 0.1};
  size_t bytes = orr_integration_size(trial.model);
  void *block = orr_aligned_block(bytes);
  struct orr_integration *i = orr_integration_init(block, bytes, trial.model, trial.ws, &pushes.drive);
  const struct orr_body_desc *last = &s->bodies[7];
  enum orr_status status = ORR_OK;
  memcpy(i->q, s->q, sizeof *s->q * (size_t)s->q_count);
  memcpy(i->u, s->u, sizeof *s->u * (size_t)s->u_count);
  pushes.by_step = change == A_MOMENT_OF_A_STEP ? 0.1 : 0;
  for (int n = 0; n < 10 && status == ORR_OK; n++) {
    orr_integration_set(i);
    if (look)
      assert_int_equal(orr_integration_observe(i, n * INT64_C(1000000)), ORR_OK);
    if (poison)
      i->ku[0][0] = HUGE_VAL;
    if (change == A_FORCE)
      pushes.force += 0.1;
    if (change == A_MASS)
      orr_mass_set(trial.ws, 7, last->mass * (n + 2), last->com, last->inertia);
    if (change == A_HOLD)
      orr_prescribe(trial.ws, 7, n % 2 == 0);
    status = orr_integration_step(i, n * INT64_C(1000000), 1000000);
  }
  memcpy(q, i->q, sizeof *q * (size_t)s->q_count);
  memcpy(u, i->u, sizeof *u * (size_t)s->u_count);
  free(block);
  orr_trial_free(&trial);
  orr_sample_free(s);
  return status == ORR_ERROR_NOT_FINITE;
}

static void what_the_sensors_computed_is_taken_where_nothing_has_changed(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 10; seed++)
    for (int change = NOTHING; change < CHANGES; change++) {
      double q[2][64] = {{0}}, u[2][64] = {{0}};
      assert_false(flown_under(seed, (enum change)change, false, false, q[0], u[0]));
      assert_false(flown_under(seed, (enum change)change, true, false, q[1], u[1]));
      assert_memory_equal(q[0], q[1], sizeof q[0]);
      assert_memory_equal(u[0], u[1], sizeof u[0]);
      assert_int_equal(flown_under(seed, (enum change)change, true, true, q[1], u[1]), change == NOTHING);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_models_have_one_hash),
      cmocka_unit_test(what_the_sensors_computed_is_taken_where_nothing_has_changed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
