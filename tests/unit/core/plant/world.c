/* core/plant/world: orbits against closed forms and an integrator in quadruple precision, and what gravity's gradient,
 * the field and the air do to a spacecraft. */
#include "core/plant/world.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/kinematics.h"
#include "tests/support/flight.h"
#include "tests/support/orbit.h"
#include "tests/support/sanitized.h"

enum { SHORTER = ORR_SANITIZED ? 24 : 1 };

static const double mu = 3.986004418e14, pi = 3.14159265358979323846;

/* ---- flights ----------------------------------------------------------------------------------------------------- */

static struct orr_flight fly(const char *environment, const char *body, const char *initial, double step,
                             double duration, const char *rest) {
  char text[4096];
  snprintf(
      text, sizeof text,
      "orrery: 1\nspacecraft: {bodies: {bus: {%s, hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, 0]}}}}}\n"
      "environment: {epoch: \"2025-03-20T12:00:00\"%s}\n"
      "simulation: {step: %.9g s, duration: %.9g s, initial: {bus: {%s}}}\n%s",
      body, environment, step, duration, initial, rest);
  return orr_flight_make(text, "bus.*");
}

/* Flies a day and integrates the mass centre beside it. */
static double worst_in_a_day(struct orr_flight *f, orr_vec3 com, int frames_per_leg) {
  struct orr_orbit orbit = {f->session->ws->world, f->run->spacecraft.bodies[0].mass};
  orr_quad y[6];
  orr_orbit_start(f, com, y);
  double leg = 1e-9 * (double)f->plant->step_ns * frames_per_leg, worst = 0;
  int legs = (int)(86400 / leg) / SHORTER;
  for (int i = 0; i < legs; i++) {
    orr_orbit_step(&orbit, i * leg, leg, y);
    orr_flight_run(f, frames_per_leg);
    if (i % 50 == 49 || i == legs - 1)
      worst = fmax(worst, orr_orbit_off(f, com, y));
  }
  return worst;
}

static const char low_orbit[] = "rate: [0.01, -0.02, 0.015], orbit: {elements: {semi_major_axis: 6878 km, "
                                "eccentricity: 0.003, inclination: 51.6 deg, "
                                "node: 40 deg, perigee: 30 deg, anomaly: 10 deg}}";

/* A body that turns about a mass centre 5 cm off its base, so that the gradient has to carry it, too. */
static void a_day_in_orbit_agrees_with_quadruple_precision(void **state) {
  (void)state;
  struct orr_flight f =
      fly(", gravity: {j2: 1.08262668e-3}, third_bodies: [sun, moon]",
          "mass: 4, com: [0.03, 0, 0.04], inertia: [0.04, 0.04, 0.01, 0, 0, 0]", low_orbit, 0.1, 86400, "");
  double worst = worst_in_a_day(&f, v3(0.03, 0, 0.04), 1200);
  print_message("a day at 0.1 s with J2, Sun and Moon: %.2g um\n", 1e6 * worst);
  assert_true(worst < 10e-6);
  orr_flight_free(&f);
}

/* At 0.1 s with ORR_LONG, as tests/soak/revolutions.sh asks for; at 1 s the rule errs more, and it takes a third of the
 * time. Legs of 5 s: |n·v| has kinks, where an order of 16 is none. */
static void a_day_with_drag_agrees_with_quadruple_precision(void **state) {
  (void)state;
  const double step = getenv("ORR_LONG") ? 0.1 : 1;
  struct orr_flight f =
      fly(", gravity: {j2: 1.08262668e-3}, atmosphere: {model: exponential, density: 3e-12 kg/m^3, base: 400 km, "
          "scale: 60 km},\n"
          "  surfaces: [{node: bus.n, area: 0.03 m^2, normal: [1, 0, 0]}, {node: bus.n, area: 0.03 m^2, normal: [-1, "
          "0, 0]},\n"
          "    {node: bus.n, area: 0.02 m^2, normal: [0, 1, 0]}, {node: bus.n, area: 0.02 m^2, normal: [0, -1, 0]},\n"
          "    {node: bus.n, area: 0.01 m^2, normal: [0, 0, 1]}, {node: bus.n, area: 0.01 m^2, normal: [0, 0, -1]}]",
          "mass: 4, com: [0, 0, 0], inertia: [0.04, 0.04, 0.04, 0, 0, 0]",
          "orbit: {elements: {semi_major_axis: 6778 km, eccentricity: 0.001, inclination: 51.6 deg}}", step, 86400, "");
  double worst = worst_in_a_day(&f, v3_zero(), (int)(5 / step + 0.5));
  print_message("a day at %g s with J2 and drag: %.2g mm\n", step, 1e3 * worst);
  assert_true(worst < 0.01);
  orr_flight_free(&f);
}

/* An ellipse closes after its period: Kepler's third law, and the place at a quarter of the mean anomaly. */
static void central_orbits_follow_kepler(void **state) {
  (void)state;
  const double a = 12e6, e = 0.3, n = sqrt(mu / (a * a * a));
  static const char *const rules[] = {"rk4", "heun", "semi_implicit", "implicit_modal"};
  static const double most[] = {1e-6, 30, 3e4, 30};
  for (int k = 0; k < 4; k++) {
    struct orr_flight f =
        fly(", gravity: central", "mass: 1, inertia: [1, 1, 1, 0, 0, 0]",
            "orbit: {elements: {semi_major_axis: 12000 km, eccentricity: 0.3, inclination: 1 rad}}", 1, 10000, "");
    orr_flight_free(&f);
    char text[1024];
    snprintf(text, sizeof text,
             "orrery: 1\nspacecraft: {bodies: {bus: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: "
             "inertial}}}}\n"
             "environment: {epoch: \"2025-03-20T12:00:00\"}\nsimulation: {step: 1 s, integrator: %s, duration: 10000 "
             "s, initial: "
             "{bus: {orbit: {elements: {semi_major_axis: 12000 km, eccentricity: 0.3, inclination: 1 rad}}}}}\n",
             rules[k]);
    f = orr_flight_make(text, NULL);
    orr_flight_run(&f, 5000);
    double m = n * 5000, x = m;
    for (int i = 0; i < 50; i++)
      x -= (x - e * sin(x) - m) / (1 - e * cos(x));
    double along = a * (cos(x) - e), across = a * sqrt(1 - e * e) * sin(x);
    orr_vec3 want = v3(along, across * cos(1.0), across * sin(1.0)),
             got = orr_flight_vector(&f, "environment.position");
    double off = v3_norm(v3_sub(got, want));
    print_message("%s, 5000 s of an ellipse at 1 s: %.2g m\n", rules[k], off);
    assert_true(off < most[k]);
    orr_flight_free(&f);
  }
}

/* Circles about the Moon and Mars turn by √(μ/r³) t; μ of DE440, and of Mars without its moons. */
static void moon_and_mars_hold_what_circles_them(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double mu, r;
  } bodies[] = {{"moon", 4.902800118e12, 1.9e6}, {"mars", 4.282837362e13, 3.8e6}};
  for (int k = 0; k < 2; k++) {
    char text[1024];
    double r = bodies[k].r, speed = sqrt(bodies[k].mu / r), angle = speed / r * 5000;
    snprintf(text, sizeof text,
             "orrery: 1\nspacecraft: {bodies: {bus: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: "
             "inertial}}}}\n"
             "environment: {epoch: \"2025-03-20T12:00:00\", central: %s}\nsimulation: {step: 1 s, duration: 5000 s, "
             "initial: "
             "{bus: {orbit: {position: [%g, 0, 0], velocity: [0, 0, %.17g]}}}}\n",
             bodies[k].name, r, speed);
    struct orr_flight f = orr_flight_make(text, NULL);
    orr_flight_run(&f, 5000);
    double off = v3_norm(v3_sub(orr_flight_vector(&f, "environment.position"), v3(r * cos(angle), 0, r * sin(angle))));
    print_message("5000 s about %s at 1 s: %.2g m off the circle\n", bodies[k].name, off);
    assert_true(off < 1e-3);
    orr_flight_free(&f);
  }
}

/* Pitch about a circular orbit swings by n √(3 (I_roll − I_yaw)/I_pitch): a rod that hangs, 0.01 rad off. */
static void gravity_gradient_swings_by_its_closed_form(void **state) {
  (void)state;
  const double a = 7e6, n = sqrt(mu / (a * a * a)), tilt = 0.01;
  /* the orbit lies in x-y, and the spacecraft is above x: lvlh has z = −X, x = Y, y = −Z */
  orr_mat3 lvlh = orr_aim_axes(ORR_AIM_LVLH, v3(a, 0, 0), v3(0, a * n, 0), v3(1, 0, 0));
  double q[4], turn[4], start[4];
  quat_from_matrix(lvlh, q);
  quat_exp(v3(0, tilt, 0), turn);
  quat_mul(q, turn, start);
  char initial[512];
  snprintf(initial, sizeof initial,
           "attitude: [%.17g, %.17g, %.17g, %.17g], rate: [0, %.17g, 0], orbit: {position: [7e6, 0, 0], velocity: [0, "
           "%.17g, 0]}",
           start[0], start[1], start[2], start[3], -n, a * n);
  struct orr_flight f = fly(", gravity: central", "mass: 10, com: [0, 0, 0.02], inertia: [5, 6, 2, 0, 0, 0]", initial,
                            0.5, 7000, "pointing: {bus: {node: bus.n, target: lvlh}}\n");
  double omega = n * sqrt(3 * (5.0 - 2.0) / 6), worst = 0;
  for (int i = 1; i <= 140; i++) {
    orr_flight_run(&f, 100);
    worst = fmax(worst, fabs(orr_flight_value(&f, "bus.pointing_error") - fabs(tilt * cos(omega * 50 * i))));
  }
  print_message("libration of 0.01 rad over %.1f periods: within %.1e rad\n", omega * 7000 / (2 * pi), worst);
  assert_true(worst < 2e-5); /* of which θ³ makes 1e-5 */
  orr_flight_free(&f);
}

/* Roll and yaw swing together, with s⁴ + (1 + 3 σ1 + σ1 σ3) n² s² + 4 σ1 σ3 n⁴ = 0, σ1 = (I_pitch − I_yaw)/I_roll,
 * σ3 = (I_pitch − I_roll)/I_yaw. Whatever two frequencies make, samples T apart keep, with c = cos ω T,
 *   x₊₂ + x₋₂ − 2 (c1 + c2) (x₊₁ + x₋₁) + (2 + 4 c1 c2) x = 0. */
static void roll_and_yaw_swing_by_their_closed_form(void **state) {
  (void)state;
  const double a = 7e6, n = sqrt(mu / (a * a * a)), s1 = (6.0 - 2) / 5, s3 = (6.0 - 5) / 2;
  orr_mat3 lvlh = orr_aim_axes(ORR_AIM_LVLH, v3(a, 0, 0), v3(0, a * n, 0), v3(1, 0, 0));
  double q[4], turn[4], start[4];
  quat_from_matrix(lvlh, q);
  quat_exp(v3(0.003, 0, 0.002), turn);
  quat_mul(q, turn, start);
  char initial[512];
  snprintf(initial, sizeof initial,
           "attitude: [%.17g, %.17g, %.17g, %.17g], rate: [0, %.17g, 0], orbit: {position: [7e6, 0, 0], velocity: [0, "
           "%.17g, 0]}",
           start[0], start[1], start[2], start[3], -n, a * n);
  struct orr_flight f = fly(", gravity: central", "mass: 10, com: [0, 0, 0.02], inertia: [5, 6, 2, 0, 0, 0]", initial,
                            0.5, 12000, "pointing: {bus: {node: bus.n, target: lvlh}}\n");
  double half = (1 + 3 * s1 + s1 * s3) / 2, apart = sqrt(half * half - 4 * s1 * s3), x[24][2], worst = 0, least = 1;
  double c1 = cos(500 * n * sqrt(half + apart)), c2 = cos(500 * n * sqrt(half - apart));
  for (int i = 0; i < 24; i++) {
    orr_mat3 r = m3_mul(m3_transpose(orr_flight_turn(&f, "bus.target")), orr_flight_turn(&f, "bus.attitude"));
    x[i][0] = 0.5 * (r.m[2][1] - r.m[1][2]);
    x[i][1] = 0.5 * (r.m[1][0] - r.m[0][1]);
    orr_flight_run(&f, 1000);
  }
  for (int k = 0; k < 2; k++) {
    double most = 0;
    for (int i = 2; i < 22; i++) {
      double off =
          x[i + 2][k] + x[i - 2][k] - 2 * (c1 + c2) * (x[i + 1][k] + x[i - 1][k]) + (2 + 4 * c1 * c2) * x[i][k];
      worst = fmax(worst, fabs(off));
      most = fmax(most, fabs(x[i][k]));
    }
    least = fmin(least, most);
  }
  print_message("roll and yaw at %.4f and %.4f of the orbit's rate: swings of %.4f rad, within %.1e\n",
                sqrt(half + apart), sqrt(half - apart), least, worst);
  assert_true(least > 2e-3 && worst < 1e-4 * least);
  orr_flight_free(&f);
}

/* A second body, 1 km ahead and 200 m above, drifts as Hill's equations say; they err by x²/a. */
static void a_neighbour_drifts_by_hills_equations(void **state) {
  (void)state;
  const double a = 7e6, n = sqrt(mu / (a * a * a)), t = 1500;
  char text[2048];
  snprintf(text, sizeof text,
           "orrery: 1\nspacecraft: {bodies: {bus: {mass: 9, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: "
           "inertial}},\n"
           "  other: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
           "environment: {epoch: \"2025-03-20T12:00:00\", gravity: central}\n"
           "simulation: {step: 1 s, duration: 1500 s, initial: {\n"
           "  bus: {orbit: {position: [7e6, 0, 0], velocity: [0, %.17g, 0]}},\n"
           "  other: {position: [200, 1000, 50], velocity: [%.17g, %.17g, 0]}}}\n",
           a * n, -1000 * n, 200 * n);
  struct orr_flight f = orr_flight_make(text, "*.position");
  orr_flight_run(&f, 1500);
  double c = cos(n * t), s = sin(n * t);
  /* at rest in the turning axes: x = (4 − 3c) x0, y = 6 (s − nt) x0 + y0, z = c z0 */
  double x = (4 - 3 * c) * 200, y = 6 * (s - n * t) * 200 + 1000, z = 50 * c;
  orr_vec3 want = v3(x * c - y * s, x * s + y * c, z),
           got = v3_sub(orr_flight_vector(&f, "other.position"), orr_flight_vector(&f, "bus.position"));
  print_message("a neighbour at 1 km after 1500 s: %.2g m from Hill's\n", v3_norm(v3_sub(got, want)));
  assert_true(v3_norm(v3_sub(got, want)) < 1.0);
  orr_flight_free(&f);
}

/* An accelerometer a metre above the mass centre of what falls feels −Γ d. */
static void an_accelerometer_in_free_fall_feels_the_gradient(void **state) {
  (void)state;
  struct orr_flight f = fly(", gravity: central", "mass: 10, com: [-1, 0, 0], inertia: [1, 1, 1, 0, 0, 0]",
                            "orbit: {position: [7e6, 0, 0], velocity: [0, 7500, 0]}", 0.1, 10,
                            "sensors: {acc: {kind: accelerometer, node: bus.n, rate: 10 Hz}}\n");
  double k = mu / (7e6 * 7e6 * 7e6);
  assert_true(fabs(orr_flight_value(&f, "acc.acceleration.x") + 2 * k) < 1e-4 * k);
  orr_flight_free(&f);
}

/* A flexible body of three masses, with a mode far too stiff to move, falls as the rigid one with their inertia. */
static void a_flexible_body_feels_the_gradient_of_its_nodes(void **state) {
  (void)state;
  const char *initial =
      "attitude: [0.1, 0.2, 0.3, 0.927361849549570], orbit: {position: [7e6, 1e5, -2e5], velocity: [0, 7500, 100]}";
  struct orr_flight rigid =
      fly(", third_bodies: [sun]", "mass: 6, com: [0.5, 0, 0.25], inertia: [7.425, 11.925, 4.8, 0, 3.75, 0]", initial,
          1, 600, "");
  char text[2048];
  snprintf(text, sizeof text,
           "orrery: 1\nspacecraft: {bodies: {bus: {hinge: {kind: free, to: inertial, at: a}, modes: [{frequency: 50, "
           "damping: "
           "0.01}], nodes: {\n"
           "  a: {at: [0, 0, 0], mass: 3, inertia: [0.1, 0.1, 0.1, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}, b: {at: [2, "
           "0, -1], mass: 1.5, inertia: [0.1, 0.1, 0.1, 0, 0, 0], modes: [[0, 0, "
           "0, 0, 0.01, 0]]},\n"
           "  c: {at: [0, 0, 2], mass: 1.5, inertia: [0.1, 0.1, 0.1, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}}}}}\n"
           "environment: {epoch: \"2025-03-20T12:00:00\", third_bodies: [sun]}\n"
           "simulation: {step: 1 s, integrator: implicit_modal, duration: 600 s, initial: {bus: {%s}}}\n",
           initial);
  struct orr_flight flexible = orr_flight_make(text, "bus.*");
  orr_flight_run(&rigid, 60);
  orr_flight_run(&flexible, 60);
  orr_vec3 a = orr_flight_vector(&rigid, "bus.rate"), b = orr_flight_vector(&flexible, "bus.rate");
  print_message("rates by the gradient after 60 s: rigid %.3e, flexible off by %.1e\n", v3_norm(a),
                v3_norm(v3_sub(a, b)));
  assert_true(v3_norm(a) > 1e-6 && v3_norm(v3_sub(a, b)) < 1e-4 * v3_norm(a));
  orr_flight_free(&rigid);
  orr_flight_free(&flexible);
}

/* Saved and set again, a flight goes on with the same bits. */
static void a_saved_world_goes_on_with_the_same_bits(void **state) {
  (void)state;
  struct orr_flight f = fly(", gravity: {j2: 1e-3}, third_bodies: [moon]", "mass: 4, inertia: [1, 1, 1, 0, 0, 0]",
                            low_orbit, 0.5, 1000, "");
  orr_flight_run(&f, 100);
  size_t words = orr_plant_state_words(f.plant);
  uint64_t *saved = calloc(words, sizeof *saved);
  orr_plant_state_get(f.plant, saved);
  orr_flight_run(&f, 100);
  uint64_t hash = orr_plant_hash(f.plant);
  assert_int_equal(orr_plant_state_put(f.plant, saved), ORR_OK);
  orr_flight_run(&f, 100);
  assert_true(orr_plant_hash(f.plant) == hash);
  free(saved);
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_day_in_orbit_agrees_with_quadruple_precision),
      cmocka_unit_test(a_day_with_drag_agrees_with_quadruple_precision),
      cmocka_unit_test(central_orbits_follow_kepler),
      cmocka_unit_test(moon_and_mars_hold_what_circles_them),
      cmocka_unit_test(gravity_gradient_swings_by_its_closed_form),
      cmocka_unit_test(roll_and_yaw_swing_by_their_closed_form),
      cmocka_unit_test(a_neighbour_drifts_by_hills_equations),
      cmocka_unit_test(an_accelerometer_in_free_fall_feels_the_gradient),
      cmocka_unit_test(a_flexible_body_feels_the_gradient_of_its_nodes),
      cmocka_unit_test(a_saved_world_goes_on_with_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
