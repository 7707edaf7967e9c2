/* Pools of latencies against what they must say for samples known exactly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/bench/latency_pool.h"

static struct orr_pool *make(size_t count) { return test_calloc(count, sizeof(struct orr_pool)); }

static void a_percentile_lies_within_its_microsecond(void **state) {
  (void)state;
  struct orr_pool *p = make(1);
  assert_true(orr_pool_percentile_us(p, 0.5) == 0.0);
  orr_pool_add(p, 10, 900);
  orr_pool_add(p, 50, 99);
  orr_pool_add(p, 30000, 1);
  assert_true(orr_pool_percentile_us(p, 0.5) > 10 && orr_pool_percentile_us(p, 0.5) < 11);
  assert_true(orr_pool_percentile_us(p, 0.99) > 50 && orr_pool_percentile_us(p, 0.99) < 51);
  assert_true(orr_pool_percentile_us(p, 1.0) == 30000.0);
  assert_int_equal(p->count[ORR_POOL_LIMIT_US], 1);
  test_free(p);
}

/* One stall of 5.5 ms at 1 kHz: the five ticks inside it waited 4.5, 3.5, 2.5, 1.5 and 0.5 ms. */
static void skipped_periods_come_back(void **state) {
  (void)state;
  struct orr_pool *p = make(1);
  orr_pool_add(p, 5500, 1);
  orr_pool_add(p, 20, 100);
  orr_pool_add_skipped(p, 1000);
  for (int us = 500; us <= 5500; us += 1000)
    assert_int_equal(p->count[us], 1);
  assert_int_equal(p->count[20], 100);
  uint64_t total = 0;
  for (size_t i = 0; i <= ORR_POOL_LIMIT_US; i++)
    total += p->count[i];
  assert_int_equal(total, 106);
  test_free(p);
}

static void fill(struct orr_pool *pools, size_t slices, int64_t scale_us) {
  for (size_t s = 0; s < slices; s++)
    for (int64_t k = 0; k < 1000; k++)
      orr_pool_add(&pools[s], (k * k / 10000 + (int64_t)(s % 5)) * scale_us, 1);
}

static void pools_of_twice_the_latency_have_the_ratio_two_inside_their_interval(void **state) {
  (void)state;
  enum { SLICES = 20 };
  struct orr_pool *ours = make(SLICES), *theirs = make(SLICES), *scratch = make(2);
  fill(ours, SLICES, 20);
  fill(theirs, SLICES, 10);
  struct orr_ratio r = orr_pool_ratio(ours, theirs, SLICES, 0.99, scratch);
  assert_true(r.value > 1.95 && r.value < 2.05);
  assert_true(r.low <= r.value && r.value <= r.high && r.high - r.low < 0.2);
  r = orr_pool_ratio(ours, ours, SLICES, 0.99, scratch);
  assert_true(r.value == 1.0 && r.low == 1.0 && r.high == 1.0);
  test_free(ours);
  test_free(theirs);
  test_free(scratch);
}

/* One slice in four is ten times as bad: how many of them are drawn decides, and the interval says so. */
static void slices_that_differ_widen_the_interval(void **state) {
  (void)state;
  enum { SLICES = 20 };
  struct orr_pool *ours = make(SLICES), *theirs = make(SLICES), *scratch = make(2);
  fill(theirs, SLICES, 1);
  for (size_t s = 0; s < SLICES; s++)
    fill(&ours[s], 1, s % 4 == 0 ? 10 : 1);
  struct orr_ratio r = orr_pool_ratio(ours, theirs, SLICES, 0.9, scratch);
  assert_true(r.high - r.low > 0.5 * r.value);
  test_free(ours);
  test_free(theirs);
  test_free(scratch);
}

/* ---- histograms in ns ---- */

enum { HISTOGRAMS = 20 };

static const struct orr_histogram **histograms(int64_t scale_ns, int bad_every, int64_t bad) {
  const struct orr_histogram **slices = test_calloc(HISTOGRAMS, sizeof *slices);
  for (size_t s = 0; s < HISTOGRAMS; s++) {
    struct orr_histogram *h = test_calloc(1, sizeof *h);
    for (int64_t k = 1; k <= 1000; k++)
      orr_histogram_add(h, k * scale_ns * (bad_every && s % (size_t)bad_every == 0 ? bad : 1));
    slices[s] = h;
  }
  return slices;
}

static void free_histograms(const struct orr_histogram **slices) {
  for (size_t s = 0; s < HISTOGRAMS; s++)
    test_free((void *)(uintptr_t)slices[s]);
  test_free(slices);
}

static void slices_in_ns_know_their_percentiles_and_ratios(void **state) {
  (void)state;
  const struct orr_histogram **ours = histograms(30, 0, 1), **theirs = histograms(20, 0, 1);
  double p50 = orr_slices_percentile_ns(theirs, HISTOGRAMS, 0.5),
         p99 = orr_slices_percentile_ns(theirs, HISTOGRAMS, 0.99);
  assert_true(fabs(p50 / 10000 - 1) < 0.01 && fabs(p99 / 19800 - 1) < 0.01);
  struct orr_ratio r = orr_slices_ratio(ours, theirs, HISTOGRAMS, 0.5);
  assert_true(fabs(r.value / 1.5 - 1) < 0.01 && r.low == r.value && r.high == r.value);
  assert_true(orr_slices_ratio(ours, theirs, 0, 0.5).value == 0);
  free_histograms(ours);
  /* one slice in four is ten times as bad */
  ours = histograms(20, 4, 10);
  r = orr_slices_ratio(ours, theirs, HISTOGRAMS, 0.9);
  assert_true(r.low < r.value && r.value < r.high && r.high - r.low > 0.5 * r.value);
  free_histograms(ours);
  free_histograms(theirs);
}

static void a_verdict_takes_slices_enough_and_a_narrow_interval(void **state) {
  (void)state;
  const struct orr_ratio good = {1.0, 0.9, 1.1}, wide = {1.0, 0.7, 1.3}, bad = {1.3, 1.2, 1.4}, none = {0, 0, 0};
  assert_string_equal(orr_ratio_verdict(&good, 20, 10), "met");
  assert_string_equal(orr_ratio_verdict(&bad, 20, 10), "not met");
  assert_non_null(strstr(orr_ratio_verdict(&wide, 20, 10), "no verdict"));
  assert_non_null(strstr(orr_ratio_verdict(&none, 20, 10), "no verdict"));
  assert_non_null(strstr(orr_ratio_verdict(&good, 19, 10), "no verdict"));
  assert_non_null(strstr(orr_ratio_verdict(&good, 20, 9.9), "no verdict"));
}

/* A clock that counts in steps of 10 ns: the median moves with the share of the samples, not in steps. */
static void samples_of_a_coarse_clock_are_spread_over_its_steps(void **state) {
  (void)state;
  struct orr_histogram *h = test_calloc(1, sizeof *h);
  const struct orr_histogram *one = h;
  assert_true(orr_slices_percentile_ns(&one, 1, 0.5) == 0);
  for (int i = 0; i < 100; i++)
    orr_histogram_add(h, i < 40 ? 100 : 110);
  double p50 = orr_slices_percentile_ns(&one, 1, 0.5), p90 = orr_slices_percentile_ns(&one, 1, 0.9);
  assert_true(p50 > 101 && p50 < 103 && p90 > 107 && p90 < 110);
  test_free(h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_percentile_lies_within_its_microsecond),
      cmocka_unit_test(skipped_periods_come_back),
      cmocka_unit_test(pools_of_twice_the_latency_have_the_ratio_two_inside_their_interval),
      cmocka_unit_test(slices_that_differ_widen_the_interval),
      cmocka_unit_test(slices_in_ns_know_their_percentiles_and_ratios),
      cmocka_unit_test(a_verdict_takes_slices_enough_and_a_narrow_interval),
      cmocka_unit_test(samples_of_a_coarse_clock_are_spread_over_its_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
