/* The forces in closed loops as channels of a run: against weights, textbooks, and one method against the other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/flight.h"

#define NEAR(a, b, eps) assert_true(fabs(1.0 * (a)-1.0 * (b)) <= (eps))

enum { TEXT = 4000 };

static const char *const methods[] = {"embed", "augment"};

/* A bob of 3 kg on a rod of 2 m, let go at 60 degrees: S = m g (3 cos θ − 2 cos θ0) pulls; positive pushes apart. */
static void a_rod_bears_what_a_pendulum_weighs(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "orrery: 1\n"
             "spacecraft:\n"
             "  gravity: [0, 0, -9.81]\n"
             "  bodies:\n"
             "    wall: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: fixed, to: inertial}}\n"
             "    bob: {mass: 3, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
             "  loops: [{name: rod, between: [wall.origin, bob.origin], kind: distance, method: %s}]\n"
             "simulation: {step: 1 ms, initial: {bob: {position: [%.17g, 0, -1]}}}\n",
             methods[k], sqrt(3));
    struct orr_flight f = orr_flight_make(text, "*");
    double worst = 0;
    for (int n = 0; n < 2000; n++) {
      double cosine = -orr_flight_value(&f, "bob.position.z") / 2;
      worst = fmax(worst, fabs(orr_flight_value(&f, "loops.rod.force") + 3 * 9.81 * (3 * cosine - 1)));
      orr_flight_run(&f, 1);
    }
    printf("# pendulum on a rod, %s: its tension within %.1e N over 2 s\n", methods[k], worst);
    assert_true(worst < 1e-8);
    NEAR(orr_flight_value(&f, "loops.rod.determined"), 1, 0);
    orr_flight_free(&f);
  }
}

/* A body of 5 kg welded to a wall at a bracket that is turned by 90 degrees about z, its mass centre 0.4 m beyond the
 * weld along x of the world and 0.1 m aside along y: the weld carries m g and its moment, in the bracket's axes. */
static void a_weld_carries_weight_and_moment(void **state) {
  (void)state;
  const double g = 9.81, m = 5;
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(
        text, sizeof text,
        "orrery: 1\n"
        "spacecraft:\n"
        "  gravity: [0, 0, -9.81]\n"
        "  bodies:\n"
        "    wall: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: fixed, to: inertial, rotation: [0, 0, "
        "0.70710678118654752, 0.70710678118654752]}, nodes: {bracket: {at: [0, -1, 0]}}}\n"
        "    load: {mass: 5, com: [0.1, -0.4, 0], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
        "  loops: [{name: joint, between: [wall.bracket, load.origin], kind: weld, method: %s}]\n"
        "simulation: {step: 10 ms, initial: {load: {position: [1, 0, 0], attitude: [0, 0, 0.70710678118654752, "
        "0.70710678118654752]}}}\n",
        methods[k]);
    struct orr_flight f = orr_flight_make(text, "loops.*");
    orr_flight_run(&f, 10);
    /* on the load, the wall's x is y of the world and its y is −x of the world */
    NEAR(orr_flight_value(&f, "loops.joint.force.x"), 0, 1e-11);
    NEAR(orr_flight_value(&f, "loops.joint.force.y"), 0, 1e-11);
    NEAR(orr_flight_value(&f, "loops.joint.force.z"), m * g, 1e-11);
    /* the mass centre in the wall's axes is c = (0.1, −0.4, 0): N = c × m g z */
    NEAR(orr_flight_value(&f, "loops.joint.moment.x"), -0.4 * m * g, 1e-11);
    NEAR(orr_flight_value(&f, "loops.joint.moment.y"), -0.1 * m * g, 1e-11);
    NEAR(orr_flight_value(&f, "loops.joint.moment.z"), 0, 1e-11);
    for (int i = 0; i < 6; i++) {
      char name[64];
      snprintf(name, sizeof name, "loops.joint.determined.%s", orr_channel_wrench[i]);
      NEAR(orr_flight_value(&f, name), 1, 0);
    }
    orr_flight_free(&f);
  }
}

/* Wheels of 2 and 0.5 kg m² geared by −3, the second to a slide of 4 kg by 0.25 m/rad, 7 N m on the first: α = 7/(2 + 9
 * (0.5 + 4 0.25²)), and each gear passes on what lies beyond it. */
static void a_gear_passes_on_what_the_second_needs(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "orrery: 1\n"
             "spacecraft:\n"
             "  bodies:\n"
             "    a: {mass: 1, inertia: [1, 1, 2, 0, 0, 0], hinge: {kind: revolute, to: inertial, axis: [0, 0, 1]}}\n"
             "    b: {mass: 1, inertia: [1, 1, 0.5, 0, 0, 0], hinge: {kind: revolute, to: inertial, axis: [0, 0, 1]}}\n"
             "    s: {mass: 4, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, to: inertial, axis: [1, 0, 0]}}\n"
             "  loops:\n"
             "    - {name: train, gear: {hinge: a, drives: b, ratio: -3}, method: %s}\n"
             "    - {gear: {hinge: b, drives: s, ratio: 0.25 m/rad}, method: %s}\n"
             "actuators: {motor: {kind: hinge_motor, hinge: a, mode: torque}}\n"
             "simulation: {step: 10 ms}\n"
             "commands: [{channel: motor.torque, at: 0 s, value: 7}]\n",
             methods[k], methods[k]);
    struct orr_flight f = orr_flight_make(text, "loops.*");
    orr_flight_run(&f, 3);
    double alpha = 7 / (2 + 9 * (0.5 + 4 * 0.0625));
    NEAR(orr_flight_value(&f, "loops.train.moment"), -3 * alpha * (0.5 + 4 * 0.0625), 1e-12);
    NEAR(orr_flight_value(&f, "loops.loop1.force"), -3 * alpha * 0.25 * 4, 1e-12);
    assert_int_equal(orr_channel_find(&f.plant->table, "loops.train.force"), -1);
    assert_string_equal(f.plant->table.channels[orr_channel_find(&f.plant->table, "loops.loop1.force")].unit, "N");
    assert_string_equal(f.plant->table.channels[orr_channel_find(&f.plant->table, "loops.train.moment")].unit, "N m");
    orr_flight_free(&f);
  }
}

/* A four-bar on a free bus, closed by a pin: in its plane the pin's force is determined, across it nothing is. */
static const char four_bar[] =
    "orrery: 1\n"
    "spacecraft:\n"
    "  gravity: [0, 0, -1]\n"
    "  bodies:\n"
    "    bus: {mass: 50, inertia: [20, 20, 20, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {a: {at: [0, 0, "
    "1]}, "
    "b: {at: [0, 1.2, 1]}}}\n"
    "    crank: {mass: 2, com: [0, 0.2, 0], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.a, axis: [1, "
    "0, 0]}, nodes: {end: {at: [0, 0.4, 0]}}}\n"
    "    coupler: {mass: 3, com: [0, 0.5, 0.1], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: crank.end, "
    "axis: [1, 0, 0]}, nodes: {end: {at: [0, 1.1, 0]}}}\n"
    "    rocker: {mass: 2, com: [0, 0.4, 0], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.b, axis: [1, "
    "0, 0], stiffness: 3}, nodes: {end: {at: [0, 0.8, 0]}}}\n"
    "  loops: [{name: pin, between: [coupler.end, rocker.end], kind: revolute, axis: [1, 0, 0], method: %s}]\n"
    "actuators: {motor: {kind: hinge_motor, hinge: crank, mode: torque}}\n"
    "commands: [{channel: motor.torque, at: 0 s, sine: {amplitude: 2, frequency: 0.7 Hz}}]\n"
    "simulation: {step: 1 ms, initial: {bus: {rate: [0.1, 0.2, -0.1]}, crank: {q: [1]}, coupler: {q: [-0.5]}, rocker: "
    "{q: [1.5]}}}\n";

static void both_methods_tell_the_same_forces_and_what_nobody_can_tell(void **state) {
  (void)state;
  static const char *const numbers[] = {"moment.x", "moment.y", "moment.z", "force.x", "force.y", "force.z"};
  /* moments about the pin are not carried; across the plane four supports share what three would carry */
  static const bool determined[] = {true, false, false, false, true, true};
  struct orr_flight f[2];
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, sizeof text, four_bar, methods[k]);
    f[k] = orr_flight_make(text, "loops.*");
  }
  double worst = 0, most = 0;
  for (int n = 0; n < 500; n++) {
    for (int i = 0; i < 6; i++) {
      char name[64], flag[64];
      snprintf(name, sizeof name, "loops.pin.%s", numbers[i]);
      snprintf(flag, sizeof flag, "loops.pin.determined.%s", orr_channel_wrench[i]);
      double a = orr_flight_value(&f[0], name), b = orr_flight_value(&f[1], name);
      worst = fmax(worst, fabs(a - b));
      most = fmax(most, fabs(a));
      for (int k = 0; k < 2; k++)
        assert_true(orr_flight_value(&f[k], flag) == determined[i]);
      if (!determined[i] || i == 0)
        assert_true(a == 0 && b == 0);
    }
    orr_flight_run(&f[0], 1);
    orr_flight_run(&f[1], 1);
  }
  printf("# pin of a four-bar: embed and augment within %.1e of %.1f N over 0.5 s\n", worst, most);
  assert_true(worst < 1e-9 * most && most > 1);
  orr_flight_free(&f[0]);
  orr_flight_free(&f[1]);
}

/* Who asks changes no bit of the motion. */
static void asking_changes_no_bit(void **state) {
  (void)state;
  char text[TEXT];
  uint64_t hash[2];
  snprintf(text, sizeof text, four_bar, "augment");
  for (int k = 0; k < 2; k++) {
    struct orr_flight f = orr_flight_make(text, k ? "loops.*" : NULL);
    orr_flight_run(&f, 200);
    hash[k] = orr_session_hash(f.session);
    orr_flight_free(&f);
  }
  assert_true(hash[0] == hash[1]);
}

/* A pendulum's weight by name, hung up by prefix in a part and numbered without a name. */
static void what_nobody_can_know_is_not_expected(void **state) {
  (void)state;
  char text[TEXT], message[400];
  size_t line;
  int used = snprintf(text, sizeof text, four_bar, "embed");
  snprintf(text + used, sizeof text - (size_t)used, "expect: [{channel: loops.pin.force, below: 100 N}]\n");
  orr_flight_refuse(text, message, sizeof message, &line);
  assert_non_null(strstr(message, "'loops.pin.force' cannot be expected"));
  assert_non_null(strstr(message, "leave x undetermined; expect a number that is, such as 'loops.pin.force.y'"));
  snprintf(text + used, sizeof text - (size_t)used,
           "expect: [{channel: loops.pin.force.y, below: 100 N}, {channel: loops.pin.moment.x, is: 0}]\n");
  struct orr_flight f = orr_flight_make(text, NULL);
  orr_flight_free(&f);
  snprintf(text + used, sizeof text - (size_t)used, "expect: [{channel: loops.pin.moment.z, is: 0}]\n");
  orr_flight_refuse(text, message, sizeof message, &line);
  assert_non_null(strstr(message, "leave it undetermined"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rod_bears_what_a_pendulum_weighs),
      cmocka_unit_test(a_weld_carries_weight_and_moment),
      cmocka_unit_test(a_gear_passes_on_what_the_second_needs),
      cmocka_unit_test(both_methods_tell_the_same_forces_and_what_nobody_can_tell),
      cmocka_unit_test(asking_changes_no_bit),
      cmocka_unit_test(what_nobody_can_know_is_not_expected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
