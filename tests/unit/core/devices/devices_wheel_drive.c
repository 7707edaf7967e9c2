/* core/devices, the drive of a reaction wheel: its voltage, its power and the ripple of its torque. */
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

/* A rotor of 0.1 kg m² on a bus that weighs so much that the rotor alone turns. */
static struct orr_flight with(const char *more) {
  char text[2048];
  snprintf(text, sizeof text,
           "orrery: 1\n"
           "spacecraft: {bodies: {bus: {mass: 10, inertia: [1e6, 1e6, 1e6, 0, 0, 0], hinge: {kind: free, to: "
           "inertial},\n"
           "  nodes: {n: {at: [0, 0, 0]}}}}}\n"
           "actuators: {w: {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 0.1%s}}\n"
           "simulation: {step: 1 ms}\n",
           more);
  return orr_flight_make(text, "*");
}

#define NEAR(a, b, eps) assert_true(fabs(1.0 * (a)-1.0 * (b)) <= (eps))

/* J Ω̇ = k (V − k Ω)/R: Ω = V/k (1 − exp(−k² t/(R J))); braking has the sum in place of the difference. */
static void a_voltage_lets_the_torque_fall_with_the_speed(void **state) {
  (void)state;
  struct orr_flight f = with(", drive: {voltage: 28 V, constant: 0.1 N m/A, resistance: 2 V/A}");
  orr_flight_command(&f, "w.torque", 100);
  for (int i = 1; i <= 40; i++) {
    orr_flight_run(&f, 1000);
    double speed = 280 * (1 - exp(-0.01 * i / 0.2));
    NEAR(orr_flight_value(&f, "w.speed"), speed, 1e-5 * speed);
    NEAR(orr_flight_value(&f, "w.applied_torque"), 0.05 * (28 - 0.1 * speed), 1e-5);
  }
  orr_flight_command(&f, "w.torque", -100);
  orr_flight_run(&f, 1);
  double speed = orr_flight_value(&f, "w.speed");
  NEAR(orr_flight_value(&f, "w.applied_torque"), -0.05 * (28 + 0.1 * speed), 1e-9);
  orr_flight_free(&f);
}

static void beyond_its_voltage_a_motor_gives_nothing_forward(void **state) {
  (void)state;
  struct orr_flight f = with(", initial_speed: 300, drive: {voltage: 28 V, constant: 0.1 N m/A, resistance: 2 V/A}");
  orr_flight_command(&f, "w.torque", 1);
  orr_flight_run(&f, 10);
  NEAR(orr_flight_value(&f, "w.speed"), 300, 1e-9);
  NEAR(orr_flight_value(&f, "w.power"), 0, 0);
  orr_flight_free(&f);
}

/* Without loss, ½ J (Ω² − Ω₁²) = P (t − t₁) from the speed P/τ on at which the drive is at its power. */
static void a_power_makes_the_energy_grow_evenly(void **state) {
  (void)state;
  struct orr_flight f = with(", max_torque: 0.5, drive: {power: 10 W}");
  orr_flight_command(&f, "w.torque", 0.5);
  orr_flight_run(&f, 20000);
  double first = 10 / 0.5, since = 20 - first * 0.1 / 0.5, speed = sqrt(first * first + 2 * 10 * since / 0.1);
  NEAR(orr_flight_value(&f, "w.speed"), speed, 1e-5 * speed);
  NEAR(orr_flight_value(&f, "w.power"), 10, 1e-9);
  orr_flight_command(&f, "w.torque", -0.5); /* braking takes no power */
  orr_flight_run(&f, 1);
  NEAR(orr_flight_value(&f, "w.applied_torque"), -0.5, 0);
  assert_true(orr_flight_value(&f, "w.power") < -10);
  orr_flight_free(&f);
}

/* T Ω + R (T/k)² = P, both ways, at rest and in motion. */
static void the_heat_of_the_winding_counts(void **state) {
  (void)state;
  struct orr_flight f = with(", initial_speed: 50, drive: {power: 10 W, constant: 0.1 N m/A, resistance: 2 V/A}");
  static const double commands[] = {100, -100};
  for (int k = 0; k < 2; k++) {
    orr_flight_command(&f, "w.torque", commands[k]);
    for (int i = 0; i < 100; i++) {
      orr_flight_run(&f, 1);
      double torque = orr_flight_value(&f, "w.applied_torque"), speed = orr_flight_value(&f, "w.speed");
      NEAR(torque * speed + 200 * torque * torque, 10, 1e-9);
      NEAR(orr_flight_value(&f, "w.power"), 10, 1e-9);
      assert_true(torque * commands[k] > 0);
    }
  }
  orr_flight_free(&f);
}

/* The bus feels the opposite of T + (part T + cogging) sin nφ, φ = Ω t while the torque changes Ω but little. */
static void torque_ripples_with_the_angle_of_the_rotor(void **state) {
  (void)state;
  struct orr_flight f = with(", initial_speed: 20, ripple: {part: 0.1, cogging: 0.003 N m, periods: 6}");
  orr_flight_command(&f, "w.torque", 0.02);
  double least = 1, most = -1;
  for (int i = 1; i <= 400; i++) {
    orr_flight_run(&f, 1);
    double t = 1e-3 * i, phase = 6 * (20 * t + 0.5 * 0.2 * t * t),
           felt = -1e6 * orr_flight_value(&f, "bus.n.angular_acceleration.z");
    NEAR(felt, 0.02 + (0.002 + 0.003) * sin(phase), 1e-5);
    least = fmin(least, felt);
    most = fmax(most, felt);
  }
  NEAR(most - least, 0.01, 1e-4);
  NEAR(orr_flight_value(&f, "w.applied_torque"), 0.02, 0);
  orr_flight_free(&f);
}

/* A wheel with a drive that seizes does as one without, and its drag comes on top. */
static void faults_of_a_driven_wheel_are_those_of_any(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "%s}}\nfaults: [{device: w, at: 1 s, drag: 0.02}, {device: v, at: 1 s, seized: 0.5 s}]\n"
             "simulation: {step: 1 ms}\n",
             "orrery: 1\nspacecraft: {bodies: {bus: {mass: 10, inertia: [1e6, 1e6, 1e6, 0, 0, 0], hinge: {kind: free, "
             "to: inertial},\n  nodes: {n: {at: [0, 0, 0]}}}}}\n"
             "actuators: {w: {kind: reaction_wheel, node: bus.n, axis: [0, 0, 1], inertia: 0.1, drive: {power: 1 W}},\n"
             "  v: {kind: reaction_wheel, node: bus.n, axis: [1, 0, 0], inertia: 0.1, initial_speed: 30, drive: "
             "{power: 1 W}");
    struct orr_flight f = orr_flight_make(text, "*");
    orr_flight_command(&f, "w.torque", k ? 10 : -10);
    orr_flight_run(&f, 60000);
    /* P/Ω = d Ω where it settles */
    NEAR(fabs(orr_flight_value(&f, "w.speed")), sqrt(1 / 0.02), 1e-3);
    NEAR(orr_flight_value(&f, "v.speed"), 0, 1e-9);
    NEAR(orr_flight_value(&f, "v.power"), 0, 0);
    orr_flight_free(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_voltage_lets_the_torque_fall_with_the_speed),
      cmocka_unit_test(beyond_its_voltage_a_motor_gives_nothing_forward),
      cmocka_unit_test(a_power_makes_the_energy_grow_evenly),
      cmocka_unit_test(the_heat_of_the_winding_counts),
      cmocka_unit_test(torque_ripples_with_the_angle_of_the_rotor),
      cmocka_unit_test(faults_of_a_driven_wheel_are_those_of_any),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
