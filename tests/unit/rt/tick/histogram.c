/* The histogram against a sorted list of the same samples. */
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/tick/histogram.h"

static struct orr_histogram *make(void) { return test_calloc(1, sizeof(struct orr_histogram)); }

static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

static void buckets_tile_the_range_without_gap_and_within_one_percent(void **state) {
  (void)state;
  for (size_t i = 0; i < ORR_HISTOGRAM_BUCKETS; i++) {
    int64_t low_ns = orr_histogram_floor_ns(i), next_ns = orr_histogram_floor_ns(i + 1);
    assert_true(next_ns > low_ns);
    assert_int_equal(orr_histogram_index(low_ns), i);
    assert_int_equal(orr_histogram_index(next_ns - 1), i);
    assert_true((next_ns - 1 - low_ns) * 100 <= low_ns);
  }
  assert_int_equal(orr_histogram_floor_ns(ORR_HISTOGRAM_BUCKETS), ORR_HISTOGRAM_LIMIT_NS);
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static void percentiles_are_those_of_a_sorted_list_to_one_percent(void **state) {
  (void)state;
  enum { N = 20000 };
  static int64_t sample[N];
  struct orr_histogram *h = make();
  uint64_t seed = 88172645463325252u;
  double sum = 0;
  for (int i = 0; i < N; i++) {
    sample[i] = (int64_t)(next_random(&seed) >> (28 + next_random(&seed) % 30));
    orr_histogram_add(h, sample[i]);
    sum += (double)sample[i];
  }
  qsort(sample, N, sizeof *sample, by_value);
  const double fractions[] = {0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1};
  for (size_t k = 0; k < sizeof fractions / sizeof *fractions; k++) {
    int rank = (int)(fractions[k] * N + 0.999999);
    int64_t exact_ns = sample[rank > 0 ? rank - 1 : 0];
    int64_t got_ns = orr_histogram_percentile_ns(h, fractions[k]);
    assert_true(got_ns >= exact_ns && got_ns - exact_ns <= exact_ns / 100);
  }
  assert_int_equal(orr_histogram_percentile_ns(h, 1), sample[N - 1]);
  assert_true(orr_histogram_mean_ns(h) > sum / N * 0.999999 && orr_histogram_mean_ns(h) < sum / N * 1.000001);
  test_free(h);
}

static void values_outside_the_range_are_counted_and_kept_in_the_percentiles(void **state) {
  (void)state;
  struct orr_histogram *h = make();
  assert_int_equal(orr_histogram_percentile_ns(h, 0.5), 0);
  orr_histogram_add(h, -7);
  orr_histogram_add(h, 100);
  orr_histogram_add(h, ORR_HISTOGRAM_LIMIT_NS);
  orr_histogram_add(h, ORR_HISTOGRAM_LIMIT_NS * 3);
  assert_int_equal(h->underflow, 1);
  assert_int_equal(h->overflow, 2);
  assert_int_equal(h->total, 4);
  assert_int_equal(orr_histogram_percentile_ns(h, 0.25), -7);
  assert_int_equal(orr_histogram_percentile_ns(h, 0.5), 100);
  assert_int_equal(orr_histogram_percentile_ns(h, 0.99), ORR_HISTOGRAM_LIMIT_NS * 3);
  test_free(h);
}

static void assert_same(const struct orr_histogram *a, const struct orr_histogram *b) {
  for (size_t i = 0; i < ORR_HISTOGRAM_BUCKETS; i++)
    assert_int_equal(a->bucket[i], b->bucket[i]);
  assert_int_equal(a->underflow, b->underflow);
  assert_int_equal(a->overflow, b->overflow);
  assert_int_equal(a->total, b->total);
  assert_int_equal(a->sum_ns, b->sum_ns);
  assert_int_equal(a->min_ns, b->min_ns);
  assert_int_equal(a->max_ns, b->max_ns);
}

static void a_ramp_is_the_same_as_its_samples_one_by_one(void **state) {
  (void)state;
  const struct {
    int64_t top_ns, step_ns;
    uint64_t count;
  } ramps[] = {{5, 1, 6},           {1000000, 1, 5000},    {123456789, 1000000, 123},
               {50000, 1000000, 1}, {3000000, 1000000, 5}, {ORR_HISTOGRAM_LIMIT_NS + 5, 1000003, 10000}};
  for (size_t k = 0; k < sizeof ramps / sizeof *ramps; k++) {
    struct orr_histogram *fast = make(), *slow = make();
    orr_histogram_add_ramp(fast, ramps[k].top_ns, ramps[k].step_ns, ramps[k].count);
    for (uint64_t i = 0; i < ramps[k].count; i++)
      orr_histogram_add(slow, ramps[k].top_ns - (int64_t)i * ramps[k].step_ns);
    assert_same(fast, slow);
    test_free(fast);
    test_free(slow);
  }
}

/* 999 ticks at 10 µs, then 1000 skipped behind one stall of a second: half of all ticks waited, and p50…p99 must say
 * so. */
static void a_skipped_second_is_not_hidden_from_the_percentiles(void **state) {
  (void)state;
  struct orr_histogram *h = make();
  for (int i = 0; i < 999; i++)
    orr_histogram_add(h, 10000);
  assert_true(orr_histogram_percentile_ns(h, 0.99) <= 10000);
  orr_histogram_add_ramp(h, 1000000000, 1000000, 1000);
  int64_t p75_ns = orr_histogram_percentile_ns(h, 0.75);
  assert_true(p75_ns > 490000000 && p75_ns < 510000000);
  test_free(h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(buckets_tile_the_range_without_gap_and_within_one_percent),
      cmocka_unit_test(percentiles_are_those_of_a_sorted_list_to_one_percent),
      cmocka_unit_test(values_outside_the_range_are_counted_and_kept_in_the_percentiles),
      cmocka_unit_test(a_ramp_is_the_same_as_its_samples_one_by_one),
      cmocka_unit_test(a_skipped_second_is_not_hidden_from_the_percentiles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
