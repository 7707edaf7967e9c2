/* Second-order shapes over a flight: energy and momentum of a free spacecraft with a beam that bends, with and
 * without. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/beam.h"
#include "tests/support/flight.h"

/* A beam of 10 m with two modes each way on a hub that turns at a third of its first mode's rate. */
static void write_run(bool stiffening, int state, double step_ms, char *text, size_t size) {
  enum { NODES = 21 };
  size_t used =
      (size_t)snprintf(text, size,
                       "orrery: 1\nspacecraft:\n  bodies:\n"
                       "    hub: {mass: 100, inertia: [50, 60, 70, 0, 0, 0], hinge: {kind: free, to: inertial},\n"
                       "      nodes: {rim: {at: [0.5, 0, 0]}}}\n"
                       "    beam:\n      hinge: {kind: fixed, to: hub.rim, at: n0}\n      stiffening: %s\n"
                       "      modes: [{frequency: 0.6044}, {frequency: 3.7879}, {frequency: 0.6044},\n"
                       "              {frequency: 3.7879}]\n      nodes:\n",
                       stiffening ? "on" : "off");
  for (int j = 0; j < NODES; j++) {
    double x = j / (NODES - 1.0), slope[2], shift[2];
    for (int k = 0; k < 2; k++)
      shift[k] = orr_beam_shape(k + 1, x, &slope[k], NULL);
    used += (size_t)snprintf(text + used, size - used,
                             "        n%d: {at: [%.17g, 0, 0], mass: %.17g, modes: [[0, 0, %.17g, 0, %.17g, 0], [0, 0, "
                             "%.17g, 0, %.17g, 0],\n"
                             "          [0, %.17g, 0, 0, 0, %.17g], [0, %.17g, 0, 0, 0, %.17g]]}\n",
                             j, 10 * x, j == 0 || j == NODES - 1 ? 0.3 : 0.6, slope[0] / 10, shift[0], slope[1] / 10,
                             shift[1], -slope[0] / 10, shift[0], -slope[1] / 10, shift[1]);
  }
  snprintf(text + used, size - used,
           "simulation: {step: %.17g ms, duration: 100 s, initial: {hub: {rate: [%.17g, %.17g, 1.2], velocity: [0.1, "
           "0, 0]},\n"
           "  beam: {eta: [%.17g, 0.01, %.17g, 0.01]}}}\n",
           step_ms, 0.05 * state, 0.1 - 0.02 * state, 0.1 - 0.03 * state, 0.05 * (state - 1));
}

struct drift {
  double energy, angular, linear; /* relative, worst over the flight */
};

static struct drift drift_of(bool stiffening, int state, double step_ms, int seconds) {
  char text[16384];
  write_run(stiffening, state, step_ms, text, sizeof text);
  struct orr_flight f = orr_flight_make(text, NULL);
  struct drift d = {0};
  double energy = orr_flight_energy(&f);
  orr_spatial momentum = orr_flight_momentum(&f);
  for (int k = 0; k < seconds; k++) {
    orr_flight_run(&f, (int)(1000 / step_ms));
    orr_spatial now = orr_flight_momentum(&f);
    d.energy = fmax(d.energy, fabs(orr_flight_energy(&f) / energy - 1));
    d.angular = fmax(d.angular, v3_norm(v3_sub(now.w, momentum.w)) / v3_norm(momentum.w));
    d.linear = fmax(d.linear, v3_norm(v3_sub(now.v, momentum.v)) / v3_norm(momentum.v));
  }
  /* Turning at a third of its first mode's rate counts with linear shapes alone. */
  assert_int_equal(f.plant->bounds.items[0].fast > 0, !stiffening);
  assert_int_equal(f.plant->bounds.items[0].bent, 0);
  orr_flight_free(&f);
  return d;
}

/* Means over three flights that begin otherwise. */
static struct drift mean_drift(bool stiffening, double step_ms, int seconds) {
  struct drift mean = {0};
  for (int k = 0; k < 3; k++) {
    struct drift d = drift_of(stiffening, k, step_ms, seconds);
    mean.energy += d.energy / 3, mean.angular += d.angular / 3, mean.linear += d.linear / 3;
  }
  printf("# stiffening %s, %d s in steps of %g ms: energy %.1e, angular momentum %.1e, linear %.1e\n",
         stiffening ? "on" : "off", seconds, step_ms, mean.energy, mean.angular, mean.linear);
  return mean;
}

/* What is lost is rk4's own error, and falls as that does. The second-order places swing at twice the rate of their
 * modes, so that it is somewhat more of momentum than with linear shapes. */
static void momentum_drifts_by_the_error_of_the_rule_alone(void **state) {
  (void)state;
  struct drift off = mean_drift(false, 5, 25), on = mean_drift(true, 5, 25), fine = mean_drift(true, 2.5, 25);
  assert_true(on.angular < 4 * off.angular && on.linear < 4 * off.linear && on.energy < 1.2 * off.energy);
  assert_true(fine.angular < on.angular / 14 && fine.linear < on.linear / 14 && fine.energy < on.energy / 14);
}

/* Where the rule's error is below rounding, the equations keep it as well with either. */
static void momentum_drifts_by_rounding_in_small_steps(void **state) {
  (void)state;
  struct drift off = mean_drift(false, 0.5, 5), on = mean_drift(true, 0.5, 5);
  assert_true(on.angular < 1.5 * off.angular && on.linear < 1.5 * off.linear);
  assert_true(on.angular < 1e-11 && on.linear < 1e-10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(momentum_drifts_by_the_error_of_the_rule_alone),
      cmocka_unit_test(momentum_drifts_by_rounding_in_small_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
