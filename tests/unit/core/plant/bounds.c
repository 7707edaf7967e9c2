/* What is counted where linear mode shapes stop being right. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/flight.h"

static const double TWO_PI = 6.283185307179586476925;

/* A boom that is turned at `rate` about z, its modes at f, 3 Hz and 0 Hz, with amplitudes a and b. The tip turns about
 * y by a + b in its body; the middle by a. Its modes share no mass. */
static struct orr_flight bent_boom(double rate, double frequency, double a, double b, bool stiffening) {
  char text[2048];
  snprintf(
      text, sizeof text,
      "orrery: 1\n"
      "spacecraft:\n"
      "  bodies:\n"
      "    hub: {mass: 10, inertia: [5, 5, 5, 0, 0, 0], hinge: {kind: revolute, to: inertial, axis: [0, 0, 1],\n"
      "      motion: {polynomial: [0, %.17g]}}}\n"
      "    boom:\n"
      "      hinge: {kind: fixed, to: hub.origin}\n"
      "      stiffening: %s\n"
      "      modes: [{frequency: 3 Hz, damping: 0}, {frequency: %.17g, damping: 0}, {frequency: 0, damping: 0}]\n"
      "      nodes:\n"
      "        origin: {at: [0, 0, 0], modes: [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}\n"
      "        mid: {at: [1, 0, 0], mass: 1, modes: [[0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0.2], [0, 0, 0, 0, 0.3, 0]]}\n"
      "        tip: {at: [2, 0, 0], mass: 1, modes: [[0, 1, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0]]}\n"
      "simulation: {step: 1 ms, initial: {boom: {eta: [%.17g, %.17g, 0]}}}\n",
      rate, stiffening ? "on" : "off", frequency, b, a);
  return orr_flight_make(text, NULL);
}

static struct orr_flight boom(double rate, double frequency, double a, double b) {
  return bent_boom(rate, frequency, a, b, false);
}

static void a_spin_counts_above_a_fifth_of_the_lowest_mode_that_has_stiffness(void **state) {
  (void)state;
  for (int over = 0; over < 2; over++) {
    double rate = (over ? 0.201 : 0.199) * TWO_PI * 0.7;
    struct orr_flight f = boom(rate, 0.7, 0, 0);
    orr_flight_run(&f, 20);
    assert_int_equal(f.plant->bounds.count, 1);
    assert_int_equal(f.plant->bounds.items[0].body, 1);
    printf("# spin %.4f of the first mode: %lld of 21 frames\n", f.plant->bounds.items[0].fastest,
           (long long)f.plant->bounds.items[0].fast);
    assert_true(fabs(f.plant->bounds.items[0].pace / (TWO_PI * 0.7) - 1) < 1e-12);
    assert_true(fabs(f.plant->bounds.items[0].fastest - (over ? 0.201 : 0.199)) < 1e-12);
    assert_int_equal(f.plant->bounds.items[0].fast, over ? 21 : 0);
    assert_int_equal(f.plant->bounds.items[0].bent, 0);
    orr_flight_free(&f);
  }
}

static void slopes_count_by_node_and_not_mode_by_mode(void **state) {
  (void)state;
  struct orr_flight f = boom(0, 0.7, 0.2, 0.095);
  assert_int_equal(f.plant->bounds.items[0].bent, 0); /* 0.295 at the tip */
  orr_flight_free(&f);
  f = boom(0, 0.7, 0.2, 0.105);
  assert_int_equal(f.plant->bounds.items[0].bent, 1);
  assert_true(fabs(f.plant->bounds.items[0].steepest - 0.305) < 1e-15);
  orr_flight_free(&f);
  f = boom(0, 0.7, 0.2, -0.15); /* 0.05 at the tip, 0.2 at the middle: the modes do not add up at any node */
  assert_int_equal(f.plant->bounds.items[0].bent, 0);
  orr_flight_free(&f);
}

/* Second-order shapes know the pull of the spin, and places to second order: 0.4 rad is well within them. */
static void stiffening_counts_no_spin_and_twice_the_slope(void **state) {
  (void)state;
  struct orr_flight f = bent_boom(3 * TWO_PI * 0.7, 0.7, 0.2, 0.2, true);
  assert_int_equal(f.plant->bounds.items[0].fast, 0);
  assert_int_equal(f.plant->bounds.items[0].bent, 0);
  orr_flight_free(&f);
  f = bent_boom(0, 0.7, 0.3, 0.31, true);
  assert_int_equal(f.plant->bounds.items[0].bent, 1);
  assert_true(fabs(f.plant->bounds.items[0].steepest - 0.61) < 1e-15);
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_spin_counts_above_a_fifth_of_the_lowest_mode_that_has_stiffness),
      cmocka_unit_test(slopes_count_by_node_and_not_mode_by_mode),
      cmocka_unit_test(stiffening_counts_no_spin_and_twice_the_slope),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
