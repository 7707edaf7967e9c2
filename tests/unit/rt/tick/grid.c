/* The grid: absolute ticks, phase, slips by whole periods, divisors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/tick/grid.h"

static void ticks_do_not_drift_over_a_century(void **state) {
  (void)state;
  struct orr_grid grid;
  assert_true(orr_grid_init(&grid, 333333, 12345, 1000000007));
  const uint64_t century = UINT64_C(3155760000) * 3000;
  assert_int_equal(orr_grid_tick_ns(&grid, century), grid.origin_ns + (int64_t)century * 333333);
  for (uint64_t n = 0; n < 100000; n++)
    assert_int_equal(orr_grid_tick_ns(&grid, n + 1) - orr_grid_tick_ns(&grid, n), 333333);
}

static void first_tick_has_the_phase_and_is_not_before(void **state) {
  (void)state;
  const int64_t period_ns = 1000000;
  for (int64_t phase_ns = -1500000; phase_ns < 2500000; phase_ns += 99991)
    for (int64_t after_ns = 0; after_ns < 3000000; after_ns += 123457) {
      struct orr_grid grid;
      assert_true(orr_grid_init(&grid, period_ns, phase_ns, after_ns));
      assert_true(grid.origin_ns >= after_ns && grid.origin_ns < after_ns + period_ns);
      assert_int_equal((grid.origin_ns - phase_ns) % period_ns, 0);
    }
}

static void rates_outside_10_hz_to_20_khz_are_refused(void **state) {
  (void)state;
  struct orr_grid grid = {.period_ns = 7};
  assert_false(orr_grid_init(&grid, ORR_PERIOD_MIN_NS - 1, 0, 0));
  assert_false(orr_grid_init(&grid, ORR_PERIOD_MAX_NS + 1, 0, 0));
  assert_int_equal(grid.period_ns, 7);
  assert_true(orr_grid_init(&grid, ORR_PERIOD_MIN_NS, 0, 0));
  assert_true(orr_grid_init(&grid, ORR_PERIOD_MAX_NS, 0, 0));
}

static void slip_moves_to_the_next_tick_ahead_and_keeps_the_phase(void **state) {
  (void)state;
  struct orr_grid grid;
  orr_grid_init(&grid, 1000000, 250000, 0);
  int64_t tick_ns = orr_grid_tick_ns(&grid, 10);
  assert_int_equal(orr_grid_slip(&grid, 10, tick_ns), 0);
  assert_int_equal(orr_grid_slip(&grid, 10, tick_ns - 5), 0);
  assert_int_equal(orr_grid_slip(&grid, 10, tick_ns + 1), 1);
  assert_int_equal(orr_grid_tick_ns(&grid, 10), tick_ns + 1000000);
  assert_int_equal(orr_grid_slip(&grid, 10, tick_ns + 4000000), 3);
  assert_int_equal(orr_grid_tick_ns(&grid, 10), tick_ns + 4000000);
  assert_int_equal(grid.skipped, 4);
  assert_int_equal(grid.origin_ns % 1000000, 250000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ticks_do_not_drift_over_a_century),
      cmocka_unit_test(first_tick_has_the_phase_and_is_not_before),
      cmocka_unit_test(rates_outside_10_hz_to_20_khz_are_refused),
      cmocka_unit_test(slip_moves_to_the_next_tick_ahead_and_keeps_the_phase),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
