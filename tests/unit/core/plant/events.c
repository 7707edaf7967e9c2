/* core/plant/events: stops are located in the step, whatever the rule and the step. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/flight.h"

/* An arm of 0.5 kg m² that comes at 1 rad/s to a stop at 0.2 rad; with 5832 N m/rad it swings at 108 rad/s on it. */
static struct orr_flight arm(int step_us, const char *rule, const char *stops, const char *start) {
  char text[2048];
  snprintf(text, sizeof text,
           "orrery: 1\n"
           "spacecraft:\n"
           "  bodies:\n"
           "    arm: {mass: 1, inertia: [0.5, 0.5, 0.5, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: "
           "inertial}}\n"
           "actuators: {d: {kind: hinge_motor, hinge: arm, mode: torque, stops: {%s}}}\n"
           "simulation: {step: %d us, integrator: %s, initial: {arm: {%s}}}\n",
           stops, step_us, rule, start);
  return orr_flight_make(text, "arm.*");
}

/* The most of the speed that is lost or won in one bounce, over many moments at which the stop is touched. */
static double lost(int step_us, const char *rule, double damping) {
  double worst = 0;
  for (int k = 0; k < 16; k++) {
    char start[80], stops[80];
    snprintf(start, sizeof start, "q: %.17g, speed: 1", 0.1 - 0.0007 * k);
    snprintf(stops, sizeof stops, "high: 0.2, stiffness: 5832, damping: %g", damping);
    struct orr_flight f = arm(step_us, rule, stops, start);
    orr_flight_run(&f, 300000 / step_us);
    assert_true(orr_flight_value(&f, "arm.q") < 0.2);
    worst = fmax(worst, fabs(1 + orr_flight_value(&f, "arm.speed")));
    orr_flight_free(&f);
  }
  return worst;
}

static void a_bounce_keeps_its_speed(void **state) {
  (void)state;
  printf("speed lost or won in a bounce off an undamped stop (an arm that swings at 108 rad/s on it):\n");
  for (int rule = 0; rule < ORR_INTEGRATOR_COUNT; rule++)
    printf("  %-15s 10 ms %.3g, 5 ms %.3g, 2 ms %.3g, 1 ms %.3g\n", orr_integrator_names[rule],
           lost(10000, orr_integrator_names[rule], 0), lost(5000, orr_integrator_names[rule], 0),
           lost(2000, orr_integrator_names[rule], 0), lost(1000, orr_integrator_names[rule], 0));
  assert_true(lost(5000, "rk4", 0) < 1e-3);
  assert_true(lost(2000, "rk4", 0) < 2e-5);
  assert_true(lost(2000, "heun", 0) < 5e-3);
  assert_true(lost(2000, "implicit_modal", 0) < 5e-3);
  assert_true(lost(2000, "semi_implicit", 0) < 1e-2); /* not located */
}

/* m x'' = −k x − c x' while that pushes: it lets go at ω_d t = 2 φ with exp(−2 φ cot φ) of the speed, φ = acos ζ. */
static void a_damped_stop_lets_go_where_it_would_pull(void **state) {
  (void)state;
  for (int k = 1; k <= 9; k += 2) {
    double zeta = 0.1 * k, phi = acos(zeta), left = exp(-2 * phi / tan(phi));
    double off = fabs(1 - left - lost(2000, "rk4", 2 * zeta * sqrt(5832 * 0.5)));
    printf("  damping %.1f: speed kept %.4f, off by %.2g\n", zeta, left, off);
    assert_true(off < 2e-4);
  }
}

/* On the spring between two stops, and many arms at once. */
static struct orr_flight arms(int count, double apart, int substeps) {
  char text[8192];
  int n = snprintf(text, sizeof text, "orrery: 1\nspacecraft:\n  bodies:\n");
  for (int i = 0; i < count; i++)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "    a%d: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: "
                  "inertial}}\n",
                  i);
  n += snprintf(text + n, sizeof text - (size_t)n, "actuators:\n");
  for (int i = 0; i < count; i++)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  d%d: {kind: hinge_motor, hinge: a%d, mode: torque, stops: {high: %.17g, stiffness: 100}}\n", i, i,
                  0.0142 + apart * i);
  n += snprintf(text + n, sizeof text - (size_t)n, "simulation: {step: 10 ms, substeps: %d, initial: {", substeps);
  for (int i = 0; i < count; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%sa%d: {speed: 1}", i ? ", " : "", i);
  snprintf(text + n, sizeof text - (size_t)n, "}}\n");
  return orr_flight_make(text, "*");
}

struct counter {
  struct orr_integration_hook hook; /* first */
  int evaluations;
};

static void count(struct orr_integration_hook *hook, const struct orr_evaluation_point *point) {
  (void)point;
  ((struct counter *)hook)->evaluations++;
}

/* The most evaluations of a frame over 40 of them. */
static int most_evaluations(struct orr_flight *f) {
  struct counter counter = {.hook = {count}};
  int most = 0;
  f->plant->integration->hook = &counter.hook;
  for (int i = 0; i < 40; i++) {
    counter.evaluations = 0;
    orr_flight_run(f, 1);
    most = counter.evaluations > most ? counter.evaluations : most;
  }
  f->plant->integration->hook = NULL;
  return most;
}

static void a_frame_is_divided_twice_at_most(void **state) {
  (void)state;
  struct orr_flight f = arms(1, 0, 1);            /* touches once, lets go once */
  assert_int_equal(most_evaluations(&f), 12 + 1); /* and one for the truth */
  assert_int_equal(f.plant->events.located, 2);
  assert_int_equal(f.plant->events.late, 0);
  orr_flight_free(&f);
  f = arms(6, 0, 1); /* all at once: one split */
  assert_int_equal(most_evaluations(&f), 12 + 1);
  assert_int_equal(f.plant->events.located, 12);
  assert_int_equal(f.plant->events.late, 0);
  orr_flight_free(&f);
  f = arms(5, 0.001, 1); /* 1 ms one after the other, in one frame */
  assert_int_equal(most_evaluations(&f), 20 + 1);
  assert_int_equal(f.plant->events.located + f.plant->events.late, 10);
  assert_in_range(f.plant->events.late, 3, 6); /* those that touched late let go one by one */
  orr_flight_free(&f);
  f = arms(5, 0.001, 4);
  assert_int_equal(most_evaluations(&f), 4 * (4 + 4) + 1);
  assert_true(f.plant->events.late > 0);
  orr_flight_free(&f);
}

/* From a state that is saved in every frame, the same bits follow. */
static void a_saved_state_goes_on_with_the_same_bits(void **state) {
  (void)state;
  struct orr_flight a = arms(5, 0.001, 1), b = arms(5, 0.001, 1);
  size_t words = orr_plant_state_words(a.plant);
  uint64_t *saved = malloc(8 * words);
  for (int i = 0; i < 60; i++) {
    orr_flight_run(&a, 1);
    orr_plant_state_get(b.plant, saved);
    assert_true(orr_plant_state_is_sound(b.plant, saved, i));
    assert_int_equal(orr_plant_state_put(b.plant, saved), ORR_OK);
    orr_flight_run(&b, 1);
    assert_true(orr_plant_hash(a.plant) == orr_plant_hash(b.plant));
  }
  free(saved);
  orr_flight_free(&a);
  orr_flight_free(&b);
}

/* What counts by steps, a pulse, a wheel's angle, its seizure, counts by parts of them. */
static void devices_know_how_long_a_part_is(void **state) {
  (void)state;
  char text[2048];
  double momentum[2];
  for (int stopped = 0; stopped < 2; stopped++) {
    snprintf(
        text, sizeof text,
        "orrery: 1\n"
        "spacecraft:\n"
        "  bodies:\n"
        "    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, "
        "0]}}}\n"
        "    arm: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: inertial}}\n"
        "actuators:\n"
        "  d: {kind: hinge_motor, hinge: arm, mode: torque%s}\n"
        "  jet: {kind: thruster, node: bus.n, direction: [1, 0, 0], thrust: 3}\n"
        "simulation: {step: 10 ms, initial: {arm: {speed: 1}}}\n",
        stopped ? ", stops: {high: 0.0142, stiffness: 1000}" : "");
    struct orr_flight f = orr_flight_make(text, "*");
    orr_flight_run(&f, 1);
    orr_flight_command(&f, "jet.on_time", 0.0731);
    orr_flight_run(&f, 30);
    assert_int_equal(f.plant->events.located, 2 * stopped);
    momentum[stopped] = v3_norm(orr_flight_momentum(&f).v);
    orr_flight_free(&f);
  }
  assert_true(fabs(momentum[0] - 3 * 0.0731) < 1e-12);
  assert_true(fabs(momentum[1] - 3 * 0.0731) < 1e-12);
}

/* A four-bar that falls on a stop and comes back: the energy of the mechanism and of the stop's spring stays. */
static void stops_in_closed_loops_are_located(void **state) {
  (void)state;
  static const char *const methods[] = {"embed", "augment"};
  for (int m = 0; m < 2; m++) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "orrery: 1\n"
        "spacecraft:\n"
        "  gravity: [0, -9.81, 0]\n"
        "  bodies:\n"
        "    crank: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], nodes: {tip: {at: [1, 0, 0]}},\n"
        "      hinge: {kind: revolute, axis: [0, 0, 1], to: inertial}}\n"
        "    rod: {mass: 1, com: [1, 0, 0], inertia: [0.3, 0.3, 0.3, 0, 0, 0], nodes: {tip: {at: [2, 0, 0]}},\n"
        "      hinge: {kind: revolute, axis: [0, 0, 1], to: crank.tip}}\n"
        "    ground: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: fixed, to: inertial}, nodes: {p: {at: [2, "
        "0, 0]}}}\n"
        "    arm: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], nodes: {tip: {at: [1, 0, 0]}},\n"
        "      hinge: {kind: revolute, axis: [0, 0, 1], to: ground.p}}\n"
        "  loops:\n"
        "    - {between: [rod.tip, arm.tip], kind: point, method: %s}\n"
        "actuators: {d: {kind: hinge_motor, hinge: crank, mode: torque, stops: {low: 0.7, stiffness: 5000}}}\n"
        "simulation: {step: 5 ms, duration: 4 s, initial: {crank: {q: 1.2}, rod: {q: -1.2}, arm: {q: 1.2}}}\n",
        methods[m]);
    struct orr_flight f = orr_flight_make(text, "*");
    double before = orr_flight_energy(&f), worst = 0;
    for (int i = 0; i < 800; i++) {
      orr_flight_run(&f, 1);
      double in = fmax(0, 0.7 - orr_flight_value(&f, "crank.q"));
      worst = fmax(worst, fabs(orr_flight_energy(&f) + 0.5 * 5000 * in * in - before));
    }
    printf("  four-bar on a stop, %s: %lld contacts made and left in 4 s, energy off by %.3g J\n", methods[m],
           (long long)f.plant->events.located, worst);
    assert_true(f.plant->events.located >= 8);
    assert_true(worst < 2e-3);
    orr_flight_free(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bounce_keeps_its_speed),         cmocka_unit_test(a_damped_stop_lets_go_where_it_would_pull),
      cmocka_unit_test(a_frame_is_divided_twice_at_most), cmocka_unit_test(a_saved_state_goes_on_with_the_same_bits),
      cmocka_unit_test(devices_know_how_long_a_part_is),  cmocka_unit_test(stops_in_closed_loops_are_located),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
