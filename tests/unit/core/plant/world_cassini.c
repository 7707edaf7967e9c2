/* core/plant/world: cassini in a low orbit at 1 ms, turning, its appendages swinging. Its mass centre against a
 * point in quadruple precision, and its base against a flight at half the step. ORR_SECONDS says how long (10);
 * tests/soak/revolutions.sh flies ten minutes.
 *
 * Under gravity and its gradient at the base the mass centre feels g(base) + Γ d, which is g at the mass centre
 * but for terms of μ d²/r⁴: 3e-13 m/s² for the decimetre between them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/energy.h"
#include "core/tree/kinematics.h"
#include "tests/support/flight.h"
#include "tests/support/orbit.h"
#include "tests/support/sanitized.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wdouble-promotion" /* to quadruple precision, as is meant */
#endif

static int seconds(void) {
  const int usual = ORR_SANITIZED ? 1 : 10;
  const char *asked = getenv("ORR_SECONDS");
  return asked ? atoi(asked) : usual;
}

/* A nanometre a second, so 0.6 μm in ten minutes. */
static double allowed(void) { return 1e-9 * seconds(); }

static struct orr_flight make(double step) {
  char text[1024];
  snprintf(text, sizeof text,
           "orrery: 1\nspacecraft: cassini.yaml\n"
           "environment: {epoch: \"2025-03-20T12:00:00\", gravity: {j2: 1.08262668e-3}, third_bodies: [sun, moon]}\n"
           "simulation: {step: %g s, duration: %d s, initial: {bus: {rate: [0.1 deg/s, -0.2 deg/s, 0.3 deg/s], orbit: "
           "{elements: {semi_major_axis: 6878 km, eccentricity: 0.003, inclination: 51.6 deg}}}, mag_inner: {q: [0.01, "
           "-0.005]}}}\n",
           step, seconds());
  return orr_flight_beside(text, "configs/cassini.yaml", "cassini.yaml", NULL);
}

/* The place of the base or, with its offset from it, of the mass centre, less y. */
static double off(const struct orr_flight *f, orr_vec3 at, const orr_quad y[3]) {
  const struct orr_world_state *s = f->session->ws->world->state;
  const double o[3] = {at.x, at.y, at.z};
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    double d = (double)((orr_quad)s->r[k] + s->r_rest[k] + o[k] - y[k]);
    sum += d * d;
  }
  return sqrt(sum);
}

static orr_vec3 base(const struct orr_flight *f) {
  struct orr_node_state bus;
  orr_body_query(f->session->model, f->session->ws, 0, &bus);
  return bus.position;
}

static void the_mass_centre_flies_as_a_point_does(void **state) {
  (void)state;
  struct orr_flight f = make(1e-3);
  const struct orr_world_desc *d = f.session->ws->world->desc;
  struct orr_mass_properties p = orr_mass_properties(f.session->model, f.session->ws);
  orr_vec3 v = v3_scale(1 / p.mass, orr_flight_momentum(&f).v);
  struct orr_orbit orbit = {f.session->ws->world, p.mass};
  const double rate[3] = {v.x, v.y, v.z};
  orr_quad y[6];
  for (int k = 0; k < 3; k++) {
    y[k] = (orr_quad)d->position[k] + p.com[k];
    y[3 + k] = (orr_quad)d->velocity[k] + rate[k];
  }
  double worst = 0, swing = 0;
  for (int i = 0; i < seconds(); i++) {
    orr_orbit_step(&orbit, i, 1, y);
    orr_flight_run(&f, 1000);
    p = orr_mass_properties(f.session->model, f.session->ws);
    orr_vec3 com = v3_from(p.com);
    worst = fmax(worst, off(&f, com, y));
    swing = fmax(swing, v3_norm(v3_sub(com, base(&f))));
  }
  print_message("%d s of cassini at 1 ms: its mass centre, %.2g m off its base, within %.2g um\n", seconds(), swing,
                1e6 * worst);
  assert_true(swing > 0.01 && worst < allowed());
  orr_flight_free(&f);
}

static void the_base_is_where_half_the_step_has_it(void **state) {
  (void)state;
  struct orr_flight f = make(1e-3), half = make(5e-4);
  double worst = 0;
  for (int i = 0; i < seconds(); i++) {
    orr_flight_run(&f, 1000);
    orr_flight_run(&half, 2000);
    const struct orr_world_state *s = half.session->ws->world->state;
    orr_vec3 at = base(&half);
    const double o[3] = {at.x, at.y, at.z};
    orr_quad y[3];
    for (int k = 0; k < 3; k++)
      y[k] = (orr_quad)s->r[k] + s->r_rest[k] + o[k];
    worst = fmax(worst, off(&f, base(&f), y));
  }
  print_message("%d s of cassini at 1 ms: its base within %.2g um of a flight at half the step\n", seconds(),
                1e6 * worst);
  assert_true(worst < allowed());
  orr_flight_free(&f);
  orr_flight_free(&half);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_mass_centre_flies_as_a_point_does),
      cmocka_unit_test(the_base_is_where_half_the_step_has_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
