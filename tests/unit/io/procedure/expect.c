/* `expect`: what is read, where mistakes are shown, and what the verdicts are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/flight.h"

/* A body that turns about z at 0.1 rad/s, with nothing that acts on it; t = 0 … 1 s in frames of 0.1 s. */
#define SPINNER                                                                                                        \
  "orrery: 1\n"                                                                                                        \
  "spacecraft:\n"                                                                                                      \
  "  bodies:\n"                                                                                                        \
  "    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {imu: {at: [0, 0, "      \
  "0]}}}\n"                                                                                                            \
  "pointing: {bus: {node: bus.imu, target: [0, 0, 0, 1]}}\n"                                                           \
  "simulation: {step: 100 ms, duration: 1 s, initial: {bus: {rate: [0, 0, 0.1]}}}\n"
enum { SPINNER_LINES = 6, FRAMES = 10, TEXT = 4096 };

/* The verdict on one line of `expect` after the whole run. */
static struct orr_expect_verdict verdict_on(const char *line, double measured) {
  char text[TEXT];
  snprintf(text, sizeof text, SPINNER "expect: [%s]\n", line);
  struct orr_flight f = orr_flight_make(text, NULL);
  orr_flight_run(&f, FRAMES);
  orr_session_record(f.session);
  assert_int_equal(f.run->expect_count, 1);
  struct orr_expect_verdict v = orr_expect_judge(&f.run->expects[0], &f.session->seen[0], measured);
  orr_flight_free(&f);
  return v;
}

static void check(const char *line, enum orr_verdict_kind kind) {
  struct orr_expect_verdict v = verdict_on(line, nan(""));
  if (v.kind != kind)
    fail_msg("%s: verdict %d, not %d (value %g)", line, (int)v.kind, (int)kind, v.value);
}

static void bounds_hold_or_break_over_their_span(void **state) {
  (void)state;
  check("{channel: bus.pointing_error, below: 0.11 rad}", ORR_EXPECT_MET);
  check("{channel: bus.pointing_error, below: 0.09 rad}", ORR_EXPECT_NOT_MET); /* only the last frame breaks it */
  check("{channel: bus.pointing_error, below: 0.09 rad, until: 0.8 s}", ORR_EXPECT_MET);
  check("{channel: bus.pointing_error, above: 0.05 rad}", ORR_EXPECT_NOT_MET);
  check("{channel: bus.pointing_error, above: 0.05 rad, after: 0.6 s}", ORR_EXPECT_MET);
  check("{channel: bus.pointing_error, below: 5.8 deg}", ORR_EXPECT_MET); /* 0.1 rad is 5.73 deg */
  check("{channel: bus.pointing_error, below: 5.7 deg}", ORR_EXPECT_NOT_MET);
  check("{channel: bus.rate, between: [-0.01, 0.11]}", ORR_EXPECT_MET);
  check("{channel: bus.rate, between: [0.01, 0.11]}", ORR_EXPECT_NOT_MET); /* each of the three numbers counts */
  check("{channel: bus.rate.z, between: [0.01, 0.11]}", ORR_EXPECT_MET);
  check("{channel: bus.rate.x, is: 0}", ORR_EXPECT_MET);
  check("{channel: bus.rate.z, is: 0}", ORR_EXPECT_NOT_MET);
}

static void what_has_no_sample_is_not_judged(void **state) {
  (void)state;
  check("{channel: bus.pointing_error, below: 1 rad, after: 1 s}", ORR_EXPECT_MET); /* the last frame is one */
  check("{channel: bus.pointing_error, below: 1 rad, after: 1.01 s}", ORR_EXPECT_NOT_JUDGED);
  check("{measure: overruns.own, is: 0}", ORR_EXPECT_NOT_JUDGED); /* NaN: not measured */
}

static void a_measure_is_judged_by_its_number(void **state) {
  (void)state;
  assert_int_equal(verdict_on("{measure: overruns.own, is: 0}", 0).kind, ORR_EXPECT_MET);
  assert_int_equal(verdict_on("{measure: overruns.own, is: 0}", 1).kind, ORR_EXPECT_NOT_MET);
  assert_int_equal(verdict_on("{measure: wake_up.p99.9, below: 100 us}", 99e-6).kind, ORR_EXPECT_MET);
  assert_int_equal(verdict_on("{measure: wake_up.p99.9, below: 100 us}", 101e-6).kind, ORR_EXPECT_NOT_MET);
}

static void the_worst_value_and_its_time_are_kept(void **state) {
  (void)state;
  struct orr_expect_verdict v = verdict_on("{channel: bus.pointing_error, below: 1 rad, until: 0.5 s}", nan(""));
  assert_true(fabs(v.value - 0.05) < 1e-12);
  assert_int_equal(v.at_ns, 500000000);
  v = verdict_on("{channel: bus.pointing_error, above: -1 rad, after: 0.2 s}", nan(""));
  assert_true(fabs(v.value - 0.02) < 1e-12);
}

/* The error grows from 0 to 0.1 rad: what is left in 0.5 … 1 s is 0.1/0.04 of what it was before. */
static void of_peak_compares_with_the_largest_before(void **state) {
  (void)state;
  struct orr_expect_verdict v = verdict_on("{channel: bus.pointing_error, of_peak: 0.9, after: 0.5 s}", nan(""));
  assert_int_equal(v.kind, ORR_EXPECT_NOT_MET);
  assert_true(fabs(v.value - 2.5) < 1e-9);
  v = verdict_on("{channel: bus.rate.x, of_peak: 0.1, after: 0.5 s}", nan(""));
  assert_int_equal(v.kind, ORR_EXPECT_MET); /* what never moved has settled */
}

/* A number that is none breaks every bound, and is shown. */
static void not_a_number_is_not_met(void **state) {
  (void)state;
  const char *const lines[] = {"{channel: bus.pointing_error, below: 1 rad}",
                               "{channel: bus.pointing_error, between: [-1, 1]}",
                               "{channel: bus.pointing_error, is: 0}", "{channel: bus.pointing_error, above: -1 rad}"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char text[TEXT];
    snprintf(text, sizeof text, SPINNER "expect: [%s]\n", lines[i]);
    struct orr_flight f = orr_flight_make(text, NULL);
    int at = f.plant->table.channels[f.run->expects[0].channel].offset;
    orr_session_record(f.session);
    f.plant->values[at] = nan("");
    orr_session_record(f.session);
    f.plant->values[at] = 0;
    orr_session_record(f.session);
    struct orr_expect_verdict v = orr_expect_judge(&f.run->expects[0], f.session->seen, nan(""));
    assert_int_equal(v.kind, ORR_EXPECT_NOT_MET);
    assert_true(isnan(v.value));
    orr_flight_free(&f);
  }
}

static void mistakes_are_shown_at_their_place(void **state) {
  (void)state;
  const struct {
    const char *line, *says;
  } cases[] = {
      {"{channel: bus.pointing_eror, below: 1 rad}", "did you mean 'bus.pointing_error'"},
      {"{channel: bus.pointing_error, below: 1 m}", "1 m"},
      {"{channel: bus.pointing_error, below: 1 rad, above: 0 rad}", "one of 'below'"},
      {"{channel: bus.pointing_error}", "one of 'below'"},
      {"{below: 1}", "one 'channel' or of one 'measure'"},
      {"{channel: bus.rate, measure: overruns.own, is: 0}", "one 'channel' or of one 'measure'"},
      {"{measure: overruns.onw, is: 0}", "did you mean 'overruns.own'"},
      {"{measure: wake_up.p98, below: 1 ms}", "there is no measure"},
      {"{measure: wake_up.p99, below: 1 m}", "1 m"},
      {"{measure: overruns.own, is: 0, after: 1 s}", "go with a channel"},
      {"{channel: bus.rate, between: [1, -1]}", "not below high"},
      {"{channel: bus.rate, between: [1]}", "takes 2 numbers"},
      {"{channel: bus.rate, below: 1, after: 2 s, until: 1 s}", "nothing to judge"},
      {"{channel: bus.rate, of_peak: 0.1}", "needs 'after'"},
      {"{channel: bus.rate, of_peak: 2, after: 1 s}", "must be"},
      {"{chanel: bus.rate, below: 1}", "did you mean 'channel'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TEXT], message[1024] = "";
    size_t at;
    snprintf(text, sizeof text, SPINNER "expect:\n  - %s\n", cases[i].line);
    orr_flight_refuse(text, message, sizeof message, &at);
    if (!strstr(message, cases[i].says) || at != SPINNER_LINES + 2)
      fail_msg("line %zu of %s: '%s', not '%s'", at, cases[i].line, message, cases[i].says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_hold_or_break_over_their_span),
      cmocka_unit_test(what_has_no_sample_is_not_judged),
      cmocka_unit_test(a_measure_is_judged_by_its_number),
      cmocka_unit_test(the_worst_value_and_its_time_are_kept),
      cmocka_unit_test(of_peak_compares_with_the_largest_before),
      cmocka_unit_test(not_a_number_is_not_met),
      cmocka_unit_test(mistakes_are_shown_at_their_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
