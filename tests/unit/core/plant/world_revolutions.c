/* core/plant/world: a thousand revolutions at 1 s beside an integrator in quadruple precision. ORR_REVOLUTIONS says
 * how many (20; 2 with sanitizers); tests/soak/revolutions.sh flies all. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/plant/world.h"
#include "tests/support/flight.h"
#include "tests/support/orbit.h"
#include "tests/support/sanitized.h"

enum { USUAL = ORR_SANITIZED ? 2 : 20 };

static int revolutions(void) {
  const char *asked = getenv("ORR_REVOLUTIONS");
  return asked ? atoi(asked) : USUAL;
}

/* Flies; the worst distance, and with ORR_SAY where it stands. */
static double fly(const char *bus, const char *initial, orr_vec3 com, double step) {
  const double period = 5677, leg = 120; /* s, of the orbit below */
  int legs = (int)(period * revolutions() / leg), frames = (int)(leg / step);
  char text[2048];
  snprintf(
      text, sizeof text,
      "orrery: 1\nspacecraft: {bodies: {bus: {%s, hinge: {kind: free, to: inertial}}}}\n"
      "environment: {epoch: \"2025-03-20T12:00:00\", gravity: {j2: 1.08262668e-3}, third_bodies: [sun, moon]}\n"
      "simulation: {step: %g s, duration: %.9g s, initial: {bus: {%s, orbit: {elements: {semi_major_axis: 6878 km, "
      "eccentricity: 0.003, inclination: 51.6 deg, node: 40 deg, perigee: 30 deg, anomaly: 10 deg}}}}}\n",
      bus, step, leg * legs, initial);
  struct orr_flight f = orr_flight_make(text, NULL);
  struct orr_orbit orbit = {f.session->ws->world, f.run->spacecraft.bodies[0].mass};
  orr_quad y[6];
  double worst = 0;
  orr_orbit_start(&f, com, y);
  for (int i = 0; i < legs; i++) {
    orr_orbit_step(&orbit, i * leg, leg, y);
    orr_flight_run(&f, frames);
    double off = orr_orbit_off(&f, com, y);
    worst = fmax(worst, off);
    if (getenv("ORR_SAY") && (i % (legs / 20) == 0 || i == legs - 1))
      print_message("%8.1f revolutions: %.3g m\n", (i + 1) * leg / period, off);
  }
  orr_flight_free(&f);
  return worst;
}

/* A thousand end 10.9 mm away. What they end away grows with the square of the time, and falls by 2^5 with half the
 * step: rk4 loses energy by a part of (n h)^5, where n is the rate of the orbit, and the angle follows. */
static void revolutions_stay_within_the_error_of_the_rule(void **state) {
  (void)state;
  double worst = fly("mass: 4, inertia: [0.04, 0.04, 0.01, 0, 0, 0]", "rate: [0, 0, 0]", v3_zero(), 1);
  double half = fly("mass: 4, inertia: [0.04, 0.04, 0.01, 0, 0, 0]", "rate: [0, 0, 0]", v3_zero(), 0.5);
  print_message("%d revolutions at 1 s: %.3g mm; at 0.5 s: %.3g mm, %.1f times less\n", revolutions(), 1e3 * worst,
                1e3 * half, worst / half);
  assert_true(worst < 2e-6 * revolutions() + 1e-8 * revolutions() * revolutions());
  assert_true(worst > 14 * half); /* at first the angle's own error of (n h)^4 is larger: 2^4 */
}

static void a_body_that_turns_does_no_worse(void **state) {
  (void)state;
  double worst = fly("mass: 4, com: [0.03, 0, 0.04], inertia: [0.04, 0.04, 0.01, 0, 0, 0]",
                     "rate: [0.01, -0.02, 0.015]", v3(0.03, 0, 0.04), 1);
  print_message("%d revolutions at 1 s, turning about its mass centre: %.3g mm\n", revolutions(), 1e3 * worst);
  assert_true(worst < 2e-6 * revolutions() + 1e-8 * revolutions() * revolutions());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(revolutions_stay_within_the_error_of_the_rule),
      cmocka_unit_test(a_body_that_turns_does_no_worse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
