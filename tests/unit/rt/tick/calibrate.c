/* The decisions of the calibration, from scores written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/tick/calibrate.h"

static void the_middle_of_a_quiet_stretch_wins(void **state) {
  (void)state;
  const int64_t scores[ORR_PHASES] = {58000, 40000, 21000, 15000, 14500, 15000, 22000, 39000};
  assert_int_equal(orr_calibrate_best_phase(scores), 4);
}

static void one_lucky_phase_between_bad_ones_does_not(void **state) {
  (void)state;
  const int64_t scores[ORR_PHASES] = {12000, 60000, 30000, 15000, 15000, 15000, 30000, 60000};
  assert_int_equal(orr_calibrate_best_phase(scores), 4);
}

static void the_circle_has_no_end(void **state) {
  (void)state;
  const int64_t scores[ORR_PHASES] = {10000, 10000, 60000, 60000, 60000, 60000, 60000, 10000};
  assert_int_equal(orr_calibrate_best_phase(scores), 0);
}

static void the_margin_covers_the_tail_with_room(void **state) {
  (void)state;
  assert_int_equal(orr_calibrate_margin_for(60000, 1000000), 100000);
  assert_int_equal(orr_calibrate_margin_for(0, 1000000), 10000);
}

static void where_sleep_does_not_pay_the_margin_is_the_period(void **state) {
  (void)state;
  assert_int_equal(orr_calibrate_margin_for(60000, 50000), 50000);
  assert_int_equal(orr_calibrate_margin_for(400000, 1000000), 1000000);
  assert_int_equal(orr_calibrate_margin_for(INT64_C(1000000000), 100000000), 100000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_middle_of_a_quiet_stretch_wins),
      cmocka_unit_test(one_lucky_phase_between_bad_ones_does_not),
      cmocka_unit_test(the_circle_has_no_end),
      cmocka_unit_test(the_margin_covers_the_tail_with_room),
      cmocka_unit_test(where_sleep_does_not_pay_the_margin_is_the_period),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
