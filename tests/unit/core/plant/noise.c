/* core/plant/noise: streams that are functions of where they are used. */
#include "core/plant/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* The known answers that come with the algorithm. */
static void philox_gives_the_published_words(void **state) {
  (void)state;
  const struct {
    uint64_t key, frame, draw;
    uint32_t words[4];
  } known[] = {
      {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {UINT64_C(0x299f31d0a4093822),
       UINT64_C(0x85a308d3243f6a88),
       UINT64_C(0x0370734413198a2e),
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    uint32_t words[4];
    orr_noise_words(known[i].key, known[i].frame, known[i].draw, words);
    for (int k = 0; k < 4; k++)
      assert_int_equal(words[k], known[i].words[k]);
  }
}

/* Mean, variance, kurtosis, correlation with the next frame and the next draw: within five standard errors of n =
 * 10⁵. */
static void normal_numbers_are_normal_and_uncorrelated(void **state) {
  (void)state;
  enum { N = 100000 };
  uint64_t key = orr_noise_key(7, "gyro");
  double sum = 0, square = 0, fourth = 0, frames = 0, draws = 0;
  for (uint64_t i = 0; i < N; i++) {
    double x = orr_noise_normal(key, i, 0);
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
    frames += x * orr_noise_normal(key, i + 1, 0);
    draws += x * orr_noise_normal(key, i, 1);
  }
  double error = 5 / sqrt(N);
  assert_true(fabs(sum / N) < error);
  assert_true(fabs(square / N - 1) < error * sqrt(2));
  assert_true(fabs(fourth / N - 3) < error * sqrt(96));
  assert_true(fabs(frames / N) < error && fabs(draws / N) < error);
}

static void keys_differ_by_seed_and_by_name(void **state) {
  (void)state;
  uint64_t a = orr_noise_key(1, "gyro");
  assert_true(a == orr_noise_key(1, "gyro"));
  assert_true(a != orr_noise_key(2, "gyro"));
  assert_true(a != orr_noise_key(1, "gyrp"));
  double u = 0;
  for (uint64_t i = 0; i < 1000; i++) {
    double x = orr_noise_uniform(a, i, 0);
    assert_true(x > 0 && x < 1);
    u += x;
  }
  assert_true(fabs(u / 1000 - 0.5) < 5 * sqrt(1.0 / 12 / 1000));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(philox_gives_the_published_words),
      cmocka_unit_test(normal_numbers_are_normal_and_uncorrelated),
      cmocka_unit_test(keys_differ_by_seed_and_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
