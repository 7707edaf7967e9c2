/* Numbers with units, dimensions and exact times. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "io/config/text/unit.h"

static double si(const char *text, const char *unit) {
  struct orr_quantity q;
  enum orr_quantity_status status = orr_quantity_parse(text, unit, &q);
  if (status != ORR_QUANTITY_OK)
    fail_msg("'%s' as '%s': status %d", text, unit, status);
  return q.value;
}

static void expect_si(const char *text, const char *unit, double value) {
  double got = si(text, unit);
  if (got != value && fabs(got - value) > 4e-16 * fabs(value))
    fail_msg("'%s' is %.17g, not %.17g", text, got, value);
}

static void expect_status(const char *text, const char *unit, enum orr_quantity_status status) {
  struct orr_quantity q;
  enum orr_quantity_status got = orr_quantity_parse(text, unit, &q);
  if (got != status)
    fail_msg("'%s' as '%s': status %d, not %d", text, unit, got, status);
}

static const double pi = 3.14159265358979323846;

static void units_mean_what_they_say(void **state) {
  (void)state;
  expect_si("3", "m", 3);
  expect_si("-3.5e-2", "kg", -0.035);
  expect_si("+.5", "", 0.5);
  expect_si("5.", "", 5);
  expect_si("1 km", "m", 1000);
  expect_si("1ms", "s", 1e-3);
  expect_si("5 min", "s", 300);
  expect_si("2 h", "s", 7200);
  expect_si("1 d", "s", 86400);
  expect_si("30 deg", "rad", pi / 6);
  expect_si("30\u00b0", "rad", pi / 6);
  expect_si("1 arcsec", "rad", pi / 648000);
  expect_si("60 arcmin", "rad", pi / 180);
  expect_si("1200 rpm", "rad/s", 40 * pi);
  expect_si("20 rev/s", "rad/s", 40 * pi);
  expect_si("0.15 N m", "N m", 0.15);
  expect_si("0.15 Nm", "N m", 0.15);
  expect_si("0.15 N*m", "N m", 0.15);
  expect_si("0.15 N.m", "N m", 0.15);
  expect_si("0.15 N\u00b7m", "N m", 0.15);
  expect_si("150 mNm", "N m", 0.15);
  expect_si("2 kg m^2", "kg m^2", 2);
  expect_si("2 kg m\u00b2", "kg m^2", 2);
  expect_si("2 m\u00b3", "m^3", 2);
  expect_si("2000 g m^2", "kg m^2", 2);
  expect_si("1 t", "kg", 1000);
  expect_si("9.81 m/s^2", "m/s^2", 9.81);
  expect_si("9.81 m s^-2", "m/s^2", 9.81);
}

static void compound_units(void **state) {
  (void)state;
  expect_si("0.01 deg/sqrt(h)", "rad/sqrt(s)", 0.01 * pi / 180 / 60);
  expect_si("0.02 deg/h", "rad/s", 0.02 * pi / 180 / 3600);
  expect_si("3 N m/(rad/s)", "N m s/rad", 3);
  expect_si("3 N m s/rad", "N m s/rad|N m s", 3);
  expect_si("3 N m s", "N m s/rad|N m s", 3);
  expect_si("4 1/s", "Hz", 4);
  expect_si("5 kHz", "1/s", 5000);
  expect_si("7 J/rad", "N m/rad", 7);
  expect_si("7 W/A", "V", 7);
  expect_si("50 uT", "T", 5e-5);
  expect_si("50 \u00b5T", "T", 5e-5);
  expect_si("50 %", "", 0.5);
  expect_si("20 ppm", "", 2e-5);
  expect_si("9 sqrt(m^2)", "m", 9);
}

static void dimensions_do_not_mix(void **state) {
  (void)state;
  expect_status("1 Hz", "rad/s", ORR_QUANTITY_WRONG_UNIT);
  expect_status("1 rad/s", "Hz", ORR_QUANTITY_WRONG_UNIT);
  expect_status("1 m", "", ORR_QUANTITY_WRONG_UNIT);
  expect_status("1 N m/rad", "N/m", ORR_QUANTITY_WRONG_UNIT);
  expect_status("1 rad", "", ORR_QUANTITY_WRONG_UNIT);
  expect_status("1 sqrt(m)", "m", ORR_QUANTITY_WRONG_UNIT);
}

static void what_is_no_quantity_is_refused(void **state) {
  (void)state;
  static const char *const no_numbers[] = {"", "m", "-", "+", ".", "e5", "one", "--1", "- 1"};
  for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++)
    expect_status(no_numbers[i], "", ORR_QUANTITY_NOT_A_NUMBER);
  static const char *const bad[] = {"1 /",
                                    "1 m/",
                                    "1 m^",
                                    "1 m^x",
                                    "1 m^-",
                                    "1 m^10",
                                    "1 (m",
                                    "1 m)",

                                    "1 sqrt(",
                                    "1 sqrt(",
                                    "1 ^2",
                                    "1 m,s",
                                    "1 ((((((((((m))))))))))",
                                    "1 m|s",
                                    "1 m^9 m^9 m^9 m^9 m^9 m^9 m^9",
                                    "1 sqrt(sqrt(m))"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    expect_status(bad[i], "", ORR_QUANTITY_BAD_UNIT);
  expect_status("1 furlong", "m", ORR_QUANTITY_UNKNOWN_UNIT);
  expect_status("1 sqrt m", "m", ORR_QUANTITY_UNKNOWN_UNIT);
  expect_status("0x10", "", ORR_QUANTITY_UNKNOWN_UNIT);
  expect_status("1 kmin", "s", ORR_QUANTITY_UNKNOWN_UNIT);
  static const char *const endless[] = {".nan", "nan", "-.inf", "+inf", "Infinity", "1e999", "1e308 km"};
  for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
    expect_status(endless[i], "m", ORR_QUANTITY_NOT_FINITE);
}

static int64_t ns(const char *text) {
  struct orr_quantity q;
  enum orr_quantity_status status = orr_quantity_parse_time(text, &q);
  if (status != ORR_QUANTITY_OK)
    fail_msg("'%s': status %d", text, status);
  return q.ns;
}

static void times_are_exact(void **state) {
  (void)state;
  assert_true(ns("1 ms") == 1000000);
  assert_true(ns("1ms") == 1000000);
  assert_true(ns("0.1 ms") == 100000);
  assert_true(ns("0.001") == 1000000);
  assert_true(ns("1e-9") == 1);
  assert_true(ns("123456789.987654321 s") == 123456789987654321);
  assert_true(ns("0.3") == 300000000);
  assert_true(ns("2.5 us") == 2500);
  assert_true(ns("90 min") == 5400000000000);
  assert_true(ns("-1 d") == -86400000000000);
  assert_true(ns("0") == 0);
  assert_true(ns("0e-400 s") == 0);
  assert_true(ns("0E8888888888888888888") == 0); /* at once */
  assert_true(ns("0.0E9223372036854775807 s") == 0);
  assert_true(ns("9223372036.854775807") == INT64_MAX);
  assert_true(ns("1.000000000000 s") == 1000000000);
  assert_true(ns("100e-2") == 1000000000);
}

static void times_that_are_not_whole_are_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"1.5 ns",
                                      "1e-10",
                                      "9223372036.854775808",
                                      "1e300 d",
                                      "1e-300",
                                      "1.0000000000001",
                                      "400000 d",
                                      "0.1E-9223372036854775808",
                                      "1234567890123456789123 ns"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct orr_quantity q;
    enum orr_quantity_status status = orr_quantity_parse_time(texts[i], &q);
    if (status != ORR_QUANTITY_NOT_WHOLE_NS)
      fail_msg("'%s': status %d", texts[i], status);
  }
  struct orr_quantity q;
  assert_int_equal(orr_quantity_parse_time("3 m", &q), ORR_QUANTITY_WRONG_UNIT);
}

static void every_named_unit_parses(void **state) {
  (void)state;
  size_t i = 0;
  for (; orr_unit_name(i); i++) {
    struct orr_unit unit;
    const char *at;
    if (orr_unit_parse(orr_unit_name(i), &unit, &at) != ORR_QUANTITY_OK)
      fail_msg("%s", orr_unit_name(i));
  }
  assert_true(i > 30);
}

static void the_place_of_a_wrong_unit_is_known(void **state) {
  (void)state;
  struct orr_quantity q;
  const char *text = "1 N furlong";
  assert_int_equal(orr_quantity_parse(text, "N m", &q), ORR_QUANTITY_UNKNOWN_UNIT);
  assert_string_equal(q.at, "furlong");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(units_mean_what_they_say), cmocka_unit_test(compound_units),
      cmocka_unit_test(dimensions_do_not_mix),    cmocka_unit_test(what_is_no_quantity_is_refused),
      cmocka_unit_test(times_are_exact),          cmocka_unit_test(times_that_are_not_whole_are_refused),
      cmocka_unit_test(every_named_unit_parses),  cmocka_unit_test(the_place_of_a_wrong_unit_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
