/* Loads of nodes as channels: Newton's and Euler's equations of the body that they are on. */
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

/* A body in the middle with something of each kind on it: hinges with geared rotors and a gap, a wheel, a thruster,
 * and a strut from one of its children to another of its nodes. Its mass centre is the node c. */
static struct orr_flight craft(const char *method) {
  char text[8192];
  snprintf(text, sizeof text,
           "orrery: 1\n"
           "spacecraft:\n"
           "  gravity: [0.3, -0.2, 9]\n"
           "  bodies:\n"
           "    bus: {mass: 50, inertia: [20, 30, 25, 1, 0, 2], hinge: {kind: free, to: inertial},\n"
           "          nodes: {side: {at: [0.5, 0.1, 0.2]}}}\n"
           "    mid: {mass: 7, com: [0.2, 0.1, -0.1], inertia: [3, 4, 5, 0.1, 0.2, 0.3],\n"
           "          hinge: {kind: cylindrical, axis: [0, 0.6, 0.8], to: bus.side, rotation: [0.1, 0.2, 0.3, "
           "0.92736184954957037], damping: [1, 2]},\n"
           "          nodes: {c: {at: [0.2, 0.1, -0.1]}, a: {at: [1, 0, 0]}, b: {at: [0, 1, 0.3]}, w: {at: [0, 0, "
           "1]}, d: {at: [-0.4, 0.5, 0.1]}}}\n"
           "    arm: {mass: 2, com: [0.3, 0.1, 0], inertia: [0.2, 0.3, 0.25, 0, 0, 0], nodes: {tip: {at: [0.5, 0, "
           "0]}},\n"
           "          hinge: {kind: universal, axes: [[0, 0, 1], [0, 1, 0]], to: mid.a}}\n"
           "    leg: {mass: 1, com: [0, 0.4, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0],\n"
           "          hinge: {kind: revolute, axis: [1, 0, 0], to: mid.b}}\n"
           "    slider: {mass: 1.5, com: [0, 0.1, 0.2], inertia: [0.1, 0.1, 0.1, 0, 0, 0],\n"
           "          hinge: {kind: prismatic, axis: [0, 0.8, 0.6], to: mid.a, stiffness: [100]}}\n"
           "  loops: [{name: strut, between: [arm.tip, mid.d], kind: distance, method: %s}]\n"
           "actuators:\n"
           "  geared: {kind: hinge_motor, hinge: arm, coordinate: 0, mode: torque, gear: {ratio: 30, rotor_inertia: "
           "1e-3}}\n"
           "  other: {kind: hinge_motor, hinge: arm, coordinate: 1, mode: torque, gear: {ratio: 20, rotor_inertia: "
           "1e-3}}\n"
           "  loose: {kind: hinge_motor, hinge: leg, mode: torque, gear: {ratio: 10, rotor_inertia: 2e-3, backlash: "
           "1e-3, stiffness: 500}}\n"
           "  wheel: {kind: reaction_wheel, node: mid.w, axis: [0, 0.6, 0.8], inertia: 0.02, initial_speed: 200}\n"
           "  jet: {kind: thruster, node: mid.w, direction: [0.6, 0, 0.8], thrust: 3}\n"
           "  push: {kind: wrench, node: mid.c}\n"
           "simulation: {step: 1 ms, initial: {bus: {rate: [0.3, -0.5, 0.4], velocity: [1, 2, 3]}, mid: {q: [0.4, "
           "0.05], speed: [0.7, 0.1]},\n"
           "  arm: {q: [0.3, -0.2]}, leg: {q: 0.1, speed: -0.6}, slider: {speed: 0.5}}}\n",
           method);
  return orr_flight_make(text, "*");
}

static orr_spatial load(const struct orr_flight *f, const char *channel) {
  static const char *const ways[] = {"nx", "ny", "nz", "fx", "fy", "fz"};
  double six[6];
  for (int k = 0; k < 6; k++) {
    char name[80];
    snprintf(name, sizeof name, "%s.%s", channel, ways[k]);
    six[k] = orr_flight_value(f, name);
  }
  return sp_from(six);
}

static void loads_balance_the_body_that_they_are_on(void **state) {
  (void)state;
  static const char *const nodes[] = {"mid.a", "mid.b", "mid.w", "mid.d", "mid.c", "mid.origin"}, *const methods[] = {
                                                                                                      "embed",
                                                                                                      "augment"};
  const orr_vec3 at[] = {v3(1, 0, 0), v3(0, 1, 0.3), v3(0, 0, 1), v3(-0.4, 0.5, 0.1), v3(0.2, 0.1, -0.1), v3_zero()};
  const orr_sym3 inertia = {3, 4, 5, 0.1, 0.2, 0.3};
  for (int m = 0; m < 2; m++) {
    struct orr_flight f = craft(methods[m]);
    double worst = 0;
    for (int i = 0; i < 40; i++) {
      orr_flight_command(&f, "geared.torque", 0.4);
      orr_flight_command(&f, "other.torque", -0.3);
      orr_flight_command(&f, "loose.torque", 0.2);
      orr_flight_command(&f, "wheel.torque", 0.5);
      orr_flight_command(&f, "jet.on_time", 0.05);
      orr_flight_command(&f, "push.force.y", 4);
      orr_flight_command(&f, "push.torque.z", -2);
      orr_flight_run(&f, 5);
      orr_vec3 com = at[4], rate = orr_flight_vector(&f, "mid.rate");
      orr_spatial own = load(&f, "mid.load"), sum = sp_force_shift(v3_neg(com), own);
      double size = v3_norm(sum.w) + v3_norm(sum.v);
      for (int n = 0; n < 6; n++) {
        char name[40];
        snprintf(name, sizeof name, "%s.load", nodes[n]);
        orr_spatial one = load(&f, name);
        assert_true((v3_norm(one.w) + v3_norm(one.v) > 0.1) == (n < 5));
        sum = sp_add(sum, sp_force_shift(v3_sub(at[n], com), one));
        size += v3_norm(one.w) + v3_norm(one.v);
      }
      orr_vec3 turn = v3_add(s3_apply(inertia, orr_flight_vector(&f, "mid.c.angular_acceleration")),
                             v3_cross(rate, s3_apply(inertia, rate)));
      orr_vec3 force = v3_scale(7, orr_flight_vector(&f, "mid.c.acceleration"));
      worst = fmax(worst, (v3_norm(v3_sub(sum.w, turn)) + v3_norm(v3_sub(sum.v, force))) / size);
    }
    printf("loads of a body's nodes and its own hinge against its motion, loop by %s: %.2g of them\n", methods[m],
           worst);
    assert_true(worst < 1e-12);
    orr_flight_free(&f);
  }
}

/* A weight fixed to the tip of a bending beam: the tip carries its inertia. */
static void a_bent_node_carries_what_hangs_on_it(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft:\n"
      "  bodies:\n"
      "    bus: {mass: 50, inertia: [20, 30, 25, 1, 0, 2], hinge: {kind: free, to: inertial}}\n"
      "    beam:\n"
      "      hinge: {kind: fixed, to: bus.origin, at: root}\n"
      "      modes: [{frequency: 1}, {frequency: 3}]\n"
      "      nodes:\n"
      "        root: {at: [0, 0, 0], mass: 1, modes: [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}\n"
      "        tip: {at: [4, 0, 0], mass: 1, modes: [[0, 0, 0.3, 0, 1, 0], [0, 0.4, 0, 0, 0, -1]]}\n"
      "    weight: {mass: 2, com: [0.1, 0.2, 0.3], inertia: [0.4, 0.5, 0.6, 0, 0, 0], hinge: {kind: fixed, to: "
      "beam.tip}, nodes: {c: {at: [0.1, 0.2, 0.3]}}}\n"
      "simulation: {step: 1 ms, initial: {bus: {rate: [0.3, -0.5, 0.4]}, beam: {eta: [0.2, -0.1]}}}\n",
      "*");
  const orr_sym3 inertia = {0.4, 0.5, 0.6, 0, 0, 0};
  for (int i = 0; i < 50; i++) {
    orr_flight_run(&f, 10);
    orr_vec3 force = v3_scale(2, orr_flight_vector(&f, "weight.c.acceleration"));
    orr_vec3 rate = orr_flight_vector(&f, "weight.rate");
    orr_vec3 turn = v3_add(s3_apply(inertia, orr_flight_vector(&f, "weight.c.angular_acceleration")),
                           v3_cross(rate, s3_apply(inertia, rate)));
    turn = v3_add(turn, v3_cross(v3(0.1, 0.2, 0.3), force));
    orr_spatial have = load(&f, "beam.tip.load");
    assert_true(v3_norm(v3_add(have.v, force)) < 1e-12 * v3_norm(force));
    assert_true(v3_norm(v3_add(have.w, turn)) < 1e-12 * (v3_norm(turn) + v3_norm(force)));
  }
  orr_flight_free(&f);
}

/* Who asks changes nothing. */
static void asking_changes_no_bit(void **state) {
  (void)state;
  struct orr_flight asked = craft("augment"), other = craft("augment");
  other.plant->asked_loads = 0;
  for (int i = 0; i < 100; i++) {
    orr_flight_command(&asked, "jet.on_time", 0.05);
    orr_flight_command(&other, "jet.on_time", 0.05);
    orr_flight_run(&asked, 1);
    orr_flight_run(&other, 1);
    assert_true(orr_plant_hash(asked.plant) == orr_plant_hash(other.plant));
  }
  assert_true(asked.plant->asked_loads > 10);
  orr_flight_free(&asked);
  orr_flight_free(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_balance_the_body_that_they_are_on),
      cmocka_unit_test(a_bent_node_carries_what_hangs_on_it),
      cmocka_unit_test(asking_changes_no_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
