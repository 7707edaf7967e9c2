/* Changes in series that are drawn with a known one, or with none. Seeded. */
#include <math.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/prng.h"
#include "tools/timing/timing_changes.h"

enum { COUNT = 40 };

/* A percentile of 32 us that scatters by two per cent; one in twenty is an outlier. `step` from `at` on. */
static size_t found(uint64_t seed, size_t at, double step, struct orr_timing_change *changes) {
  struct orr_prng p = {seed * 104729};
  double value[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    value[i] = 32 * (1 + 0.02 * (prng_unit(&p) + prng_unit(&p) + prng_unit(&p) - 1.5) * 2);
    value[i] *= prng_chance(&p, 0.05) ? 3 : 1;
    value[i] *= i >= at ? 1 + step : 1;
  }
  return orr_timing_changes(value, COUNT, changes, ORR_TIMING_CHANGES_MAX);
}

/* One in a hundred is expected: more than seven of two hundred are seen once in two thousand such tests. */
static void what_does_not_change_is_hardly_ever_marked(void **state) {
  (void)state;
  enum { SERIES = 200 };
  struct orr_timing_change changes[ORR_TIMING_CHANGES_MAX];
  int marked = 0;
  for (uint64_t seed = 1; seed <= SERIES; seed++)
    marked += found(seed, COUNT, 0, changes) > 0;
  print_message("of %d series without a change %d are marked\n", SERIES, marked);
  assert_in_range(marked, 0, 7);
}

static void a_change_is_marked_where_it_is(void **state) {
  (void)state;
  enum { SERIES = 40 };
  struct orr_timing_change changes[ORR_TIMING_CHANGES_MAX];
  const size_t places[] = {10, 20, 30};
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    int right = 0;
    for (uint64_t seed = 1; seed <= SERIES; seed++) {
      size_t count = found(1000 + seed, places[k], 0.08, changes);
      for (size_t i = 0; i < count; i++)
        right += changes[i].at + 3 >= places[k] && changes[i].at <= places[k] + 3 &&
                 fabs(changes[i].after / changes[i].before - 1.08) < 0.04;
    }
    print_message("8 %% from %zu on: marked in %d of %d\n", places[k], right, SERIES);
    assert_in_range(right, SERIES * 9 / 10, SERIES);
  }
}

static void several_changes_come_in_their_order(void **state) {
  (void)state;
  double value[45];
  struct orr_timing_change changes[ORR_TIMING_CHANGES_MAX];
  for (size_t i = 0; i < 45; i++)
    value[i] = (i < 15 ? 10 : i < 30 ? 12 : 11) + 0.01 * (double)(i * 7 % 5);
  assert_int_equal(orr_timing_changes(value, 45, changes, ORR_TIMING_CHANGES_MAX), 2);
  assert_int_equal(changes[0].at, 15);
  assert_int_equal(changes[1].at, 30);
  assert_true(fabs(changes[0].before - 10) < 0.05 && fabs(changes[0].after - 12) < 0.05 &&
              fabs(changes[1].after - 11) < 0.05);
  assert_int_equal(orr_timing_changes(value, 45, changes, 1), 1); /* no more than there is room for */
  assert_int_equal(orr_timing_changes(value, 7, changes, 1), 0);  /* too short for two sides */
  assert_int_equal(orr_timing_changes(value, 0, changes, 1), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_does_not_change_is_hardly_ever_marked),
      cmocka_unit_test(a_change_is_marked_where_it_is),
      cmocka_unit_test(several_changes_come_in_their_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
