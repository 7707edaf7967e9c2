/* core/devices: the noise of every sensor has the size and the spectrum of its parameters. Each noisy sensor flies
 * beside one of its kind without noise; the Allan deviation of the difference is σ √(T/τ) at every τ, which is white
 * noise, within five standard errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fields.h"
#include "tests/support/flight.h"

enum { SAMPLES = 8192 };

/* Overlapping Allan deviation of y at m samples. */
static double allan(const double *y, int n, int m) {
  double square = 0, first = 0, second = 0;
  for (int i = 0; i < m; i++) {
    first += y[i];
    second += y[i + m];
  }
  int count = n - 2 * m + 1;
  for (int i = 0; i < count; i++) {
    square += (second - first) / m * ((second - first) / m);
    if (i + 1 < count) {
      first += y[i + m] - y[i];
      second += y[i + 2 * m] - y[i + m];
    }
  }
  return sqrt(square / (2.0 * count));
}

static void is_white(const char *what, const double *y, double sigma) {
  const int m[] = {1, 4, 16, 64};
  double sum = 0;
  for (int i = 0; i < SAMPLES; i++)
    sum += y[i];
  bool good = fabs(sum / SAMPLES) < 5 * sigma / sqrt(SAMPLES);
  for (int k = 0; k < 4; k++) {
    double want = sigma / sqrt(m[k]), error = 5 * sqrt(m[k] / (1.5 * SAMPLES)); /* of the overlapping estimate */
    good = good && fabs(allan(y, SAMPLES, m[k]) / want - 1) < error;
  }
  if (!good)
    fail_msg("%s: mean %g, Allan deviations %g %g %g %g, for a white noise of %g", what, sum / SAMPLES,
             allan(y, SAMPLES, m[0]), allan(y, SAMPLES, m[1]), allan(y, SAMPLES, m[2]), allan(y, SAMPLES, m[3]), sigma);
}

/* The parameters of a noisy sensor and its clean twin, one number of theirs, and its deviation at 10 Hz. */
static const struct {
  const char *kind, *noise, *channel;
  double sigma;
} sensors[] = {
    {"rate_gyro, node: bus.n", "noise: {angle_random_walk: 1e-4}", "rate.y", 3.1622776601683795e-4},
    {"accelerometer, node: bus.n", "noise: {velocity_random_walk: 1e-4}", "acceleration.x", 3.1622776601683795e-4},
    {"magnetometer, node: bus.n", "noise: {density: 3e-8}", "field.z", 9.486832980505138e-8},
    {"coarse_sun_sensor, node: bus.n, boresight: [1, 0, 0]", "noise: 0.01", "current", 0.01},
    {"gps_receiver, node: bus.n", "noise: {position: 5 m}", "position.x", 5},
    {"gps_receiver, node: bus.n", "noise: {velocity: 0.1 m/s}", "velocity.y", 0.1},
    {"gps_receiver, node: bus.n", "noise: {time: 1e-6 s}", "time", 1e-6},
    {"hinge_encoder, hinge: arm", "noise: 1e-3", "position", 1e-3},
    {"tachometer, hinge: arm", "noise: 1e-3", "speed", 1e-3},
    {"hinge_load, hinge: arm", "noise: {moment: 0.2}", "moment.x", 0.2},
    {"hinge_load, hinge: arm", "noise: {force: 0.3}", "force.z", 0.3},
    {"strain, node: panel.tip, mode: modal", "noise: {amplitude: 1e-3}", "amplitude.0", 1e-3},
    {"strain, node: panel.tip, mode: nodal", "noise: {displacement: 1e-3}", "displacement.z", 1e-3},
    {"strain, node: panel.tip, mode: nodal", "noise: {rotation: 1e-3}", "rotation.x", 1e-3},
};
enum { SENSORS = sizeof sensors / sizeof *sensors };

#define CRAFT                                                                                                          \
  "orrery: 1\n"                                                                                                        \
  "spacecraft:\n"                                                                                                      \
  "  bodies:\n"                                                                                                        \
  "    bus: {mass: 100, inertia: [20, 30, 40, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0, 0, "    \
  "0]}}}\n"                                                                                                            \
  "    arm: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: bus.n}}\n"             \
  "    panel:\n"                                                                                                       \
  "      hinge: {kind: fixed, to: bus.n}\n"                                                                            \
  "      modes: [{frequency: 1 Hz, damping: 0.01}]\n"                                                                  \
  "      nodes:\n"                                                                                                     \
  "        origin: {at: [0, 0, 0], mass: 0.1, inertia: [1e-3, 1e-3, 1e-3, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}\n"    \
  "        tip: {at: [0, 2, 0], mass: 0.1, inertia: [1e-3, 1e-3, 1e-3, 0, 0, 0], modes: [[0.5, 0, 0, 0, 0, 1]]}\n"     \
  "environment: {epoch: \"2025-03-20T12:00:00\", magnetic_field: {file: wmm.cof}}\n"                                   \
  "simulation: {step: 100 ms, duration: 6000 s, seed: 5,\n"                                                            \
  "  initial: {bus: {orbit: {elements: {semi_major_axis: 6878 km, inclination: 51.6 deg, anomaly: 20 deg}}}}}\n"

static double number(const struct orr_flight *f, const char *head, size_t i, const char *tail) {
  char name[80];
  snprintf(name, sizeof name, "%s%zu.%s", head, i, tail);
  size_t at = strlen(name) - 2;
  if (strcmp(name + at, ".0") == 0)
    memcpy(name + at, "[0]", 4);
  return orr_flight_value(f, name);
}

static void every_noise_is_white_and_of_its_size(void **state) {
  (void)state;
  char text[8192];
  size_t used = (size_t)snprintf(text, sizeof text, "%ssensors:\n", CRAFT);
  for (size_t i = 0; i < SENSORS; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "  a%zu: {kind: %s, %s}\n  b%zu: {kind: %s}\n", i,
                             sensors[i].kind, sensors[i].noise, i, sensors[i].kind);
  struct orr_flight f = orr_flight_in_field(text, NULL);
  double(*y)[SAMPLES] = malloc(SENSORS * sizeof *y);
  assert_non_null(y);
  for (int k = 0; k < SAMPLES; k++) {
    for (size_t i = 0; i < SENSORS; i++)
      y[i][k] = number(&f, "a", i, sensors[i].channel) - number(&f, "b", i, sensors[i].channel);
    orr_flight_run(&f, 1);
  }
  for (size_t i = 0; i < SENSORS; i++)
    is_white(sensors[i].noise, y[i], sensors[i].sigma);
  free(y);
  orr_flight_free(&f);
}

/* Two angles across the direction, each of them white: their product with two axes across it. */
static void directions_are_turned_by_white_angles(void **state) {
  (void)state;
  static const struct {
    const char *sensor, *channel;
  } cases[] = {{"sun_sensor, node: bus.n, boresight: [1, 0, 0], view: 179 deg", "direction"},
               {"horizon_sensor, node: bus.n, boresight: [1, 0, 0], view: 179 deg", "nadir"}};
  static double y[2][SAMPLES];
  for (int c = 0; c < 2; c++) {
    char text[4096];
    snprintf(text, sizeof text, "%ssensors:\n  a0: {kind: %s, noise: 1 mrad}\n  b0: {kind: %s}\n", CRAFT,
             cases[c].sensor, cases[c].sensor);
    struct orr_flight f = orr_flight_in_field(text, NULL);
    for (int k = 0; k < SAMPLES; k++) {
      double d[2][3];
      for (int i = 0; i < 6; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s.%c", cases[c].channel, "xyz"[i % 3]);
        d[i / 3][i % 3] = number(&f, i < 3 ? "a" : "b", 0, name);
      }
      orr_vec3 off = v3_cross(v3_from(d[1]), v3_from(d[0])), across = v3_cross(v3_from(d[1]), v3(0, 0.6, 0.8));
      across = v3_scale(1 / v3_norm(across), across);
      y[0][k] = v3_dot(off, across);
      y[1][k] = v3_dot(off, v3_cross(v3_from(d[1]), across));
      orr_flight_run(&f, 1);
    }
    is_white(cases[c].channel, y[0], 1e-3);
    is_white(cases[c].channel, y[1], 1e-3);
    orr_flight_free(&f);
  }
}

static void star_trackers_and_wheel_tachometers_are_white_too(void **state) {
  (void)state;
  static double y[4][SAMPLES];
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
      "actuators: {w: {kind: reaction_wheel, node: bus.origin, axis: [0, 0, 1], inertia: 0.1, initial_speed: 10, "
      "tachometer: {noise: 0.02}}}\n"
      "sensors: {s: {kind: star_tracker, node: bus.origin, boresight: [0, 0, 1], noise: {across: 1e-4, about: 7e-4}}}\n"
      "simulation: {step: 100 ms, integrator: heun}\n",
      NULL);
  for (int k = 0; k < SAMPLES; k++) {
    y[0][k] = 2 * orr_flight_value(&f, "s.attitude.x") * orr_flight_value(&f, "s.attitude.w");
    y[1][k] = 2 * orr_flight_value(&f, "s.attitude.y") * orr_flight_value(&f, "s.attitude.w");
    y[2][k] = 2 * orr_flight_value(&f, "s.attitude.z") * orr_flight_value(&f, "s.attitude.w");
    y[3][k] = orr_flight_value(&f, "w.speed") - 10;
    orr_flight_run(&f, 1);
  }
  is_white("across x", y[0], 1e-4);
  is_white("across y", y[1], 1e-4);
  is_white("about", y[2], 7e-4);
  is_white("wheel", y[3], 0.02);
  orr_flight_free(&f);
}

/* ---- the integrating gyro ---------------------------------------------------------------------------------------- */

#define TOP                                                                                                            \
  "orrery: 1\n"                                                                                                        \
  "spacecraft: {bodies: {bus: {mass: 1, inertia: [2, 2, 4, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"           \
  "simulation: {step: 10 ms, integrator: %s, seed: 4, initial: {bus: {rate: [0.1, 0, 0.3]}}}\n"                        \
  "sensors: {s: {kind: rate_gyro, node: bus.origin, rate: 10 Hz, %s}}\n"

static struct orr_flight top(const char *rule, const char *gyro) {
  char text[1024];
  snprintf(text, sizeof text, TOP, rule, gyro);
  return orr_flight_make(text, NULL);
}

/* A symmetric top: ω = (a cos λt, a sin λt, Ω) with λ = Ω (4 − 2)/2, whose integrals are counted to the last step. */
static void counts_are_the_integral_of_the_rate(void **state) {
  (void)state;
  static const char *const rules[] = {"rk4", "heun", "implicit_modal"};
  static const double within[] = {1e-9, 1e-4, 1e-4};
  for (int r = 0; r < 3; r++) {
    struct orr_flight f = top(rules[r], "integrating: {step: 1e-7 rad}");
    double last[3] = {0};
    for (int i = 1; i <= 600; i++) {
      orr_flight_run(&f, 10);
      double t = 0.1 * i, l = 0.3;
      const double angle[3] = {0.1 * sin(l * t) / l, 0.1 * (1 - cos(l * t)) / l, 0.3 * t};
      for (int k = 0; k < 3; k++) {
        char name[2][20];
        snprintf(name[0], sizeof name[0], "s.counts.%c", "xyz"[k]);
        snprintf(name[1], sizeof name[1], "s.rate.%c", "xyz"[k]);
        double count = orr_flight_value(&f, name[0]);
        assert_true(fabs(1e-7 * (count + 0.5) - angle[k]) < 0.51e-7 + within[r]);
        assert_true(fabs(orr_flight_value(&f, name[1]) - 1e-7 * (count - last[k]) / 0.1) < 1e-12);
        last[k] = count;
      }
    }
    orr_flight_free(&f);
  }
}

static void counts_wrap_and_lose_nothing(void **state) {
  (void)state;
  struct orr_flight f = top("rk4", "integrating: {step: 1e-5 rad, wrap: 4096}");
  struct orr_flight whole = top("rk4", "integrating: {step: 1e-5 rad}");
  int wrapped = 0;
  for (int i = 0; i < 600; i++) {
    double a = orr_flight_value(&f, "s.counts.z"), b = orr_flight_value(&whole, "s.counts.z");
    assert_true(a >= 0 && a < 4096 && fmod(b, 4096) == a);
    wrapped += b >= 4096;
    orr_flight_run(&f, 10);
    orr_flight_run(&whole, 10);
  }
  assert_true(wrapped > 300);
  orr_flight_free(&f);
  orr_flight_free(&whole);
}

/* The angle's random walk: increments over T are white, N √T; bias and scale are those of the rate. */
static void noise_and_bias_of_counts_are_those_of_the_rate(void **state) {
  (void)state;
  static double y[SAMPLES];
  struct orr_flight f =
      top("heun", "noise: {angle_random_walk: 1e-4}, bias: [0, 0, 0.01], integrating: {step: 1e-8 rad}");
  double last = orr_flight_value(&f, "s.counts.z");
  for (int i = 0; i < SAMPLES; i++) {
    orr_flight_run(&f, 10);
    double count = orr_flight_value(&f, "s.counts.z");
    y[i] = 1e-8 * (count - last) - 0.1 * (0.3 + 0.01);
    last = count;
  }
  is_white("counts", y, 1e-4 * sqrt(0.1));
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_noise_is_white_and_of_its_size),
      cmocka_unit_test(directions_are_turned_by_white_angles),
      cmocka_unit_test(star_trackers_and_wheel_tachometers_are_white_too),
      cmocka_unit_test(counts_are_the_integral_of_the_rate),
      cmocka_unit_test(counts_wrap_and_lose_nothing),
      cmocka_unit_test(noise_and_bias_of_counts_are_those_of_the_rate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
