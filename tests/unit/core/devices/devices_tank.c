/* core/devices, tanks: what thrusters draw leaves from the tank's place, and the pendulum follows the level. */
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

#define NEAR(a, b, eps) assert_true(fabs(1.0 * (a)-1.0 * (b)) <= (eps))

static const double g0 = 9.80665;

/* A dry body of 10 kg with its mass centre at the origin, and 4 kg at [0.5, 0, 0], written as one. */
#define FULL                                                                                                           \
  "orrery: 1\n"                                                                                                        \
  "spacecraft: {bodies: {bus: {mass: 14, com: [0.142857142857142857, 0, 0], inertia: [2, 3.714285714285714, "          \
  "4.714285714285714, 0, 0, 0], hinge: {kind: free, to: inertial},\n"                                                  \
  "  nodes: {n: {at: [0, 0, 0]}, t: {at: [0.5, 0, 0]}}}}}\n"

static const struct orr_rigid *body_of(const struct orr_flight *f, int b) {
  return &f->session->ws->rigids[f->session->model->limb_of_body[b]];
}

/* Two thrusters that feed from one tank take what their impulses need until it has no more. */
static void thrusters_share_a_tank_and_its_place_gets_light(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      FULL "actuators:\n"
           "  tank: {kind: tank, node: bus.t, propellant: 4 kg, residual: 0.5 kg}\n"
           "  a: {kind: thruster, node: bus.n, direction: [0, 0, 1], thrust: 20, isp: 100 s, tank: tank, max_on_time: "
           "1 h}\n"
           "  b: {kind: thruster, node: bus.n, direction: [0, 0, -1], thrust: 10, isp: 50 s, tank: tank, max_on_time: "
           "1 h}\n"
           "simulation: {step: 10 ms}\n",
      "*");
  NEAR(body_of(&f, 0)->mass, 14, 1e-12);
  NEAR(body_of(&f, 0)->i.yy, 3 + 4 * 0.25, 1e-12); /* about the origin */
  orr_flight_command(&f, "a.on_time", 3600);
  orr_flight_command(&f, "b.on_time", 3600);
  orr_flight_run(&f, 1000);
  double used = 10 * (20 / (g0 * 100) + 10 / (g0 * 50));
  NEAR(orr_flight_value(&f, "tank.propellant"), 4 - used, 1e-12);
  NEAR(orr_flight_value(&f, "a.propellant"), 4 - used, 1e-12);
  const struct orr_rigid *r = body_of(&f, 0);
  NEAR(r->mass, 14 - used, 1e-12);
  NEAR(r->s.x, 0.5 * (4 - used), 1e-12);
  NEAR(r->i.xx, 2, 1e-12);
  NEAR(r->i.yy, 3 + 0.25 * (4 - used), 1e-12);
  NEAR(r->i.zz, 4 + 0.25 * (4 - used), 1e-12);
  orr_flight_run(&f, 9000);
  NEAR(orr_flight_value(&f, "tank.propellant"), 0.5, 1e-12);
  NEAR(orr_flight_value(&f, "a.thrust"), 0, 0);
  NEAR(orr_flight_value(&f, "b.thrust"), 0, 0);
  NEAR(body_of(&f, 0)->mass, 10.5, 1e-12);
  orr_flight_free(&f);
}

/* Tsiolkovsky, thrust through the mass centre, which lies at the tank. */
static void a_tank_gives_the_speed_of_the_rocket_equation(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 14, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
      "actuators:\n"
      "  tank: {kind: tank, node: bus.origin, propellant: 4 kg}\n"
      "  a: {kind: thruster, node: bus.origin, direction: [0, 0, 1], thrust: 20, isp: 100 s, tank: tank, max_on_time: "
      "1 h}\n"
      "simulation: {step: 10 ms}\n",
      "*");
  orr_flight_command(&f, "a.on_time", 3600);
  orr_flight_run(&f, 30000);
  NEAR(orr_flight_value(&f, "tank.propellant"), 0, 0);
  NEAR(orr_flight_value(&f, "bus.velocity.z"), g0 * 100 * log(14 / 10.0), 0.01);
  orr_flight_free(&f);
}

/* A sphere of 0.5 m with 200 kg of 1000 kg/m^3: level 0.4211…; on a pushed body of large mass. */
static struct orr_flight sloshing(double mass, double arm, const char *hinge, const char *rest) {
  char text[4096];
  snprintf(text, sizeof text,
           "orrery: 1\n"
           "spacecraft:\n"
           "  bodies:\n"
           "    bus: {mass: 1e5, inertia: [1e6, 1e6, 1e6, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {t: {at: "
           "[0, 0, 0]}}}\n"
           "    bob: {mass: %.10g, com: [0, 0, %.10g], inertia: [1e-6, 1e-6, 1e-6, 0, 0, 0], hinge: {%s, to: bus.t}}\n"
           "actuators:\n"
           "  tank: {kind: tank, node: bus.t, propellant: 200 kg, residual: 10 kg, slosh: bob, radius: 0.5 m, density: "
           "1000 kg/m^3}\n"
           "  push: {kind: wrench, node: bus.t}\n"
           "simulation: {step: 10 ms, initial: {bob: {%s}}}\n",
           mass, -arm, hinge, rest);
  return orr_flight_make(text, "*");
}

/* ω² = λ a/R, with λ between its neighbours in the table. */
static void the_pendulum_swings_with_the_first_mode_of_the_sphere(void **state) {
  (void)state;
  double v = 200 / (4 * acos(-1) / 3 * 0.125 * 1000), f = 0.4;
  for (int i = 0; i < 50; i++) /* Newton */
    f -= (3 * f * f - 2 * f * f * f - v) / (6 * f - 6 * f * f);
  /* from the quadruple-precision table at 0.42 and 0.44 */
  double part = (f - 0.42) / 0.02, lambda = 1.4223950 + part * (1.4540144 - 1.4223950),
         bob = (0.660603 + part * (0.640939 - 0.660603)) * 200;
  assert_true(part > 0 && part < 1);
  struct orr_flight flight =
      sloshing(bob, 0.5 / lambda, "kind: universal, axes: [[1, 0, 0], [0, 1, 0]]", "q: [0.001, 0]");
  NEAR(orr_flight_value(&flight, "tank.level"), f, 1e-12);
  NEAR(orr_flight_value(&flight, "tank.sloshing"), bob, 0.02);
  NEAR(orr_flight_value(&flight, "tank.arm"), 0.5 / lambda, 5e-5);
  orr_flight_command(&flight, "push.force.z", 1e5 + 200);
  double last = 0.001, first = 0, since = 0;
  int crossings = 0;
  for (int i = 1; i <= 6000; i++) {
    orr_flight_run(&flight, 1);
    double q = orr_flight_value(&flight, "bob.q[0]"), t = 0.01 * (i - q / (q - last));
    if (q * last < 0) {
      first = crossings ? first : t;
      since = t;
      crossings++;
    }
    last = q;
  }
  double omega = acos(-1) * (crossings - 1) / (since - first);
  NEAR(omega / sqrt(lambda / 0.5), 1, 2e-3);
  orr_flight_free(&flight);
}

/* Bob, rest and body weigh together what is there, at any level. */
static void bob_and_body_follow_the_level(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft:\n"
      "  bodies:\n"
      "    bus: {mass: 300, inertia: [80, 80, 80, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {t: {at: [0.2, "
      "0, "
      "0]}}}\n"
      "    bob: {mass: 130.7, com: [0, 0, -0.35], inertia: [0.01, 0.01, 0.01, 0, 0, 0], hinge: {kind: ball, to: "
      "bus.t}}\n"
      "actuators:\n"
      "  tank: {kind: tank, node: bus.t, propellant: 200 kg, residual: 10 kg, slosh: bob, radius: 0.5 m, density: 1000 "
      "kg/m^3}\n"
      "  jet: {kind: thruster, node: bus.t, direction: [0, 0, 1], thrust: 1000, isp: 100 s, tank: tank, max_on_time: 1 "
      "h}\n"
      "simulation: {step: 10 ms}\n",
      "*");
  orr_flight_command(&f, "jet.on_time", 3600);
  double before = 1e9, full = 300 + body_of(&f, 1)->mass;
  for (int i = 0; i < 25; i++) {
    double left = orr_flight_value(&f, "tank.propellant"), bob = body_of(&f, 1)->mass;
    NEAR(body_of(&f, 0)->mass + bob, full - 200 + left, 1e-9);
    NEAR(bob, orr_flight_value(&f, "tank.sloshing"), 1e-9);
    NEAR(body_of(&f, 0)->s.x, 0.2 * (body_of(&f, 0)->mass - 300), 1e-9); /* what went lay at the tank */
    assert_true(left < before && bob < left);
    before = left;
    orr_flight_run(&f, 700);
  }
  orr_flight_run(&f, 2000);
  NEAR(orr_flight_value(&f, "tank.propellant"), 10, 1e-9);
  NEAR(orr_flight_value(&f, "jet.thrust"), 0, 0);
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thrusters_share_a_tank_and_its_place_gets_light),
      cmocka_unit_test(a_tank_gives_the_speed_of_the_rocket_equation),
      cmocka_unit_test(the_pendulum_swings_with_the_first_mode_of_the_sphere),
      cmocka_unit_test(bob_and_body_follow_the_level),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
