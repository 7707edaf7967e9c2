/* Two hundred random spacecraft have the bits that stand in tests/baseline/state_hash, whatever compiler, optimisation
 * and processor this was built for. `make bits-baseline` writes the file anew; only a change of the equations, or of
 * the order of sums, may call for it. */
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_models_have_one_hash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
