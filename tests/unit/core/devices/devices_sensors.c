/* core/devices, sensors: each parameter alone changes the output by the amount it says. */
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

/* A bus that turns and is pushed, an arm and a slider that move, a panel that swings; then the sensor of a test. */
static struct orr_flight with(const char *sensor) {
  char text[4096];
  snprintf(
      text, sizeof text,
      "orrery: 1\n"
      "spacecraft:\n"
      "  bodies:\n"
      "    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [1, 0, "
      "0]}}}\n"
      "    arm: {mass: 1e-3, inertia: [1e-3, 1e-3, 1e-3, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: "
      "bus.origin}}\n"
      "    slide: {mass: 1e-3, inertia: [1e-3, 1e-3, 1e-3, 0, 0, 0], hinge: {kind: prismatic, axis: [0, 0, 1], to: "
      "bus.origin}}\n"
      "    panel:\n"
      "      hinge: {kind: fixed, to: bus.origin}\n"
      "      modes: [{frequency: 1 Hz, damping: 0}]\n"
      "      nodes:\n"
      "        origin: {at: [0, 0, 0], mass: 0.1, inertia: [1e-3, 1e-3, 1e-3, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}\n"
      "        tip: {at: [0, 2, 0], mass: 0.1, inertia: [1e-3, 1e-3, 1e-3, 0, 0, 0], modes: [[0.5, 0, 0, 0, 0, 1]]}\n"
      "actuators: {push: {kind: wrench, node: bus.n}}\n"
      "sensors: {s: {%s}}\n"
      "simulation: {step: 10 ms, seed: 3, initial: {bus: {rate: [0.1, -0.2, 0.3]}, arm: {q: [0.4], speed: [0.5]},\n"
      "  slide: {q: [0.03], speed: [-0.02]}, panel: {eta: [0.01]}}}\n"
      "commands: [{channel: push.force, value: [3, -2, 1]}]\n",
      sensor);
  struct orr_flight f = orr_flight_make(text, "*");
  orr_flight_run(&f, 1);
  return f;
}

static void values(const char *sensor, const char *const names[], int count, double *out) {
  struct orr_flight f = with(sensor);
  for (int i = 0; i < count; i++)
    out[i] = orr_flight_value(&f, names[i]);
  orr_flight_free(&f);
}

#define NEAR(a, b, eps) assert_true(fabs(1.0 * (a)-1.0 * (b)) <= (eps))

/* ---- three axes: gyro and accelerometer -------------------------------------------------------------------------- */

struct triad {
  const char *head;       /* kind and node */
  const char *outputs[4]; /* x y z saturated */
  const char *truth[3];
};

static const struct triad gyro = {"kind: rate_gyro, node: bus.n",
                                  {"s.rate.x", "s.rate.y", "s.rate.z", "s.saturated"},
                                  {"bus.n.rate.x", "bus.n.rate.y", "bus.n.rate.z"}};
static const struct triad accelerometer = {
    "kind: accelerometer, node: panel.tip",
    {"s.acceleration.x", "s.acceleration.y", "s.acceleration.z", "s.saturated"},
    {"panel.tip.acceleration.x", "panel.tip.acceleration.y", "panel.tip.acceleration.z"}};

static void measure(const struct triad *t, const char *parameter, double *out) {
  char sensor[256];
  snprintf(sensor, sizeof sensor, "%s%s", t->head, parameter);
  values(sensor, t->outputs, 4, out);
}

static void ideal_triads_tell_the_truth(void **state) {
  (void)state;
  const struct triad *const all[] = {&gyro, &accelerometer};
  for (int k = 0; k < 2; k++) {
    double y[4];
    struct orr_flight f = with(all[k]->head);
    for (int i = 0; i < 3; i++) {
      y[i] = orr_flight_value(&f, all[k]->outputs[i]);
      NEAR(y[i], orr_flight_value(&f, all[k]->truth[i]), 1e-14);
      assert_true(fabs(y[i]) > 1e-3);
    }
    NEAR(orr_flight_value(&f, all[k]->outputs[3]), 0, 0);
    orr_flight_free(&f);
  }
}

static void bias_scale_and_misalignment_act_as_they_say(void **state) {
  (void)state;
  const struct triad *const all[] = {&gyro, &accelerometer};
  for (int k = 0; k < 2; k++) {
    double t[4], y[4];
    measure(all[k], "", t);
    measure(all[k], ", bias: [0.01, -0.02, 0.03]", y);
    NEAR(y[0] - t[0], 0.01, 1e-14);
    NEAR(y[1] - t[1], -0.02, 1e-14);
    NEAR(y[2] - t[2], 0.03, 1e-14);
    measure(all[k], ", scale: [0.001, 0, -0.002]", y);
    NEAR(y[0], 1.001 * t[0], 1e-14);
    NEAR(y[1], t[1], 0);
    NEAR(y[2], 0.998 * t[2], 1e-14);
    measure(all[k], ", misalignment: [0.01, 0, 0]", y); /* −m × t: the case is turned by +0.01 about x */
    NEAR(y[0], t[0], 1e-15);
    NEAR(y[1], t[1] + 0.01 * t[2], 1e-14);
    NEAR(y[2], t[2] - 0.01 * t[1], 1e-14);
  }
}

static void quantisation_rounds_and_range_cuts_and_says_so(void **state) {
  (void)state;
  const struct triad *const all[] = {&gyro, &accelerometer};
  for (int k = 0; k < 2; k++) {
    double t[4], y[4];
    measure(all[k], "", t);
    measure(all[k], ", quantisation: 0.07", y);
    for (int i = 0; i < 3; i++)
      NEAR(y[i], 0.07 * rint(t[i] / 0.07), 1e-15);
    measure(all[k], ", range: 0.05", y);
    for (int i = 0; i < 3; i++)
      NEAR(y[i], fmax(-0.05, fmin(0.05, t[i])), 1e-15);
    assert_true(y[3] == 1);
    measure(all[k], ", range: 100", y);
    assert_true(y[3] == 0);
  }
}

/* Standard deviation over frames of an output less its truth, with and without what is asked of it. */
static double spread(const char *sensor, const char *output, const char *truth, int frames) {
  struct orr_flight f = with(sensor);
  double sum = 0, square = 0;
  for (int i = 0; i < frames; i++) {
    double d = orr_flight_value(&f, output) - orr_flight_value(&f, truth);
    sum += d;
    square += d * d;
    orr_flight_run(&f, 1);
  }
  orr_flight_free(&f);
  return sqrt(square / frames - sum * sum / frames / frames);
}

/* N/√T with T = 10 ms: ten times N. 2000 samples know a deviation to 1.6 %, so 8 % is five of that. */
static void random_walk_is_white_noise_of_the_sample_interval(void **state) {
  (void)state;
  double s = spread("kind: rate_gyro, node: bus.n, noise: {angle_random_walk: 1e-3}", "s.rate.y", "bus.n.rate.y", 2000);
  NEAR(s, 1e-2, 8e-4);
  s = spread("kind: accelerometer, node: panel.tip, noise: {velocity_random_walk: 1e-3}", "s.acceleration.x",
             "panel.tip.acceleration.x", 2000);
  NEAR(s, 1e-2, 8e-4);
}

/* σ = B / 0.6174 where it settles; consecutive samples change by σ √(2 (1 − e^(−T/τ))). */
static void bias_instability_drifts_with_its_time(void **state) {
  (void)state;
  double s = spread("kind: rate_gyro, node: bus.n, noise: {bias_instability: 1e-3, bias_time: 20 ms}", "s.rate.x",
                    "bus.n.rate.x", 4000);
  NEAR(s, 1e-3 / 0.6174, 1.2e-4);
  struct orr_flight f = with("kind: rate_gyro, node: bus.n, noise: {bias_instability: 1e-3, bias_time: 10 s}");
  double last = 0, square = 0;
  for (int i = 0; i < 2000; i++) {
    double d = orr_flight_value(&f, "s.rate.x") - orr_flight_value(&f, "bus.n.rate.x");
    square += i ? (d - last) * (d - last) : 0;
    last = d;
    orr_flight_run(&f, 1);
  }
  double expected = 1e-3 / 0.6174 * sqrt(2 * -expm1(-0.01 / 10));
  NEAR(sqrt(square / 1999), expected, 0.08 * expected);
  orr_flight_free(&f);
}

/* ---- Allan deviation --------------------------------------------------------------------------------------------- */

/* Overlapping Allan deviation of y at m samples: from sums, so O(n). */
static double allan(const double *y, int n, int m) {
  double *sum = malloc(sizeof *sum * (size_t)(n + 1)), square = 0;
  assert_non_null(sum);
  sum[0] = 0;
  for (int i = 0; i < n; i++)
    sum[i + 1] = sum[i] + y[i];
  int count = n - 2 * m + 1;
  for (int i = 0; i < count; i++) {
    double d = (sum[i + 2 * m] - 2 * sum[i + m] + sum[i]) / m;
    square += d * d;
  }
  free(sum);
  return sqrt(square / (2.0 * count));
}

/* White noise N/√τ and the Gauss-Markov drift: 2σ²/x [1 − (3 − 4e^−x + e^−2x)/(2x)], x = τ/T. */
static double allan_expected(double walk, double instability, double time, double tau) {
  double sigma = instability / 0.6174, x = tau / time;
  double drift = 2 * sigma * sigma / x * (1 - (3 - 4 * exp(-x) + exp(-2 * x)) / (2 * x));
  return sqrt(walk * walk / tau + drift);
}

static void the_allan_deviation_of_a_gyro_is_that_of_its_parameters(void **state) {
  (void)state;
  enum { N = 200000 };
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
      "sensors: {s: {kind: rate_gyro, node: bus.origin, noise: {angle_random_walk: 1e-4, bias_instability: 1e-4, "
      "bias_time: 2 s}}}\n"
      "simulation: {step: 10 ms, integrator: semi_implicit}\n",
      NULL);
  double *y = malloc(sizeof *y * N);
  assert_non_null(y);
  for (int i = 0; i < N; i++) {
    y[i] = orr_flight_value(&f, "s.rate.z");
    orr_flight_run(&f, 1);
  }
  const int m[] = {1, 10, 100, 380, 1000};
  for (int i = 0; i < 5; i++) {
    double have = allan(y, N, m[i]), want = allan_expected(1e-4, 1e-4, 2, 0.01 * m[i]);
    double error = 5 * sqrt(m[i] / (2.0 * N)); /* about five standard errors */
    printf("# tau %.4g s: Allan deviation %.4g, expected %.4g, +- %.2g\n", 0.01 * m[i], have, want, error * want);
    NEAR(have, want, fmax(error, 0.01) * want);
  }
  NEAR(allan_expected(0, 1e-4, 2, 2 * 1.8926), 1e-4, 1e-8); /* the top is the instability itself */
  free(y);
  orr_flight_free(&f);
}

/* ---- star tracker ------------------------------------------------------------------------------------------------ */

static void attitude_off(const struct orr_flight *f, double out[3]) {
  static const char *const s[] = {"s.attitude.x", "s.attitude.y", "s.attitude.z", "s.attitude.w"};
  static const char *const t[] = {"bus.n.attitude.x", "bus.n.attitude.y", "bus.n.attitude.z", "bus.n.attitude.w"};
  double q[4], back[4], d[4];
  for (int i = 0; i < 4; i++) {
    q[i] = orr_flight_value(f, s[i]);
    back[i] = orr_flight_value(f, t[i]) * (i < 3 ? -1 : 1);
  }
  quat_mul(back, q, d);
  for (int i = 0; i < 3; i++)
    out[i] = 2 * d[i] * (d[3] < 0 ? -1 : 1);
}

static void star_tracker_noise_is_across_and_about_its_boresight(void **state) {
  (void)state;
  const struct {
    const char *sensor;
    double sigma[3];
  } cases[] = {
      {"kind: star_tracker, node: bus.n, boresight: [0, 0, 2]", {0, 0, 0}},
      {"kind: star_tracker, node: bus.n, boresight: [0, 0, 1], noise: {across: 1e-3}", {1e-3, 1e-3, 0}},
      {"kind: star_tracker, node: bus.n, boresight: [0, 0, 1], noise: {about: 1e-3}", {0, 0, 1e-3}},
      {"kind: star_tracker, node: bus.n, boresight: [1, 0, 0], noise: {about: 1e-3}", {1e-3, 0, 0}},
  };
  for (int k = 0; k < 4; k++) {
    struct orr_flight f = with(cases[k].sensor);
    double square[3] = {0, 0, 0};
    for (int i = 0; i < 1000; i++) {
      double off[3];
      attitude_off(&f, off);
      for (int j = 0; j < 3; j++)
        square[j] += off[j] * off[j];
      assert_true(orr_flight_value(&f, "s.valid") == 1);
      orr_flight_run(&f, 1);
    }
    for (int j = 0; j < 3; j++)
      NEAR(sqrt(square[j] / 1000), cases[k].sigma[j], 0.12 * cases[k].sigma[j] + 1e-9);
    orr_flight_free(&f);
  }
}

static void a_star_tracker_is_blind_above_its_rate_and_when_it_drops_out(void **state) {
  (void)state;
  double y[5];
  static const char *const names[] = {"s.valid", "s.attitude.x", "s.attitude.w"};
  values("kind: star_tracker, node: bus.n, boresight: [0, 0, 1], rate_limit: 0.3", names, 3, y); /* it turns at 0.37 */
  assert_true(y[0] == 0 && y[1] == 0 && y[2] == 1);
  values("kind: star_tracker, node: bus.n, boresight: [0, 0, 1], rate_limit: 0.5", names, 3, y);
  assert_true(y[0] == 1 && y[1] != 0);
  struct orr_flight f = with("kind: star_tracker, node: bus.n, boresight: [0, 0, 1], dropout: 0.2");
  int lost = 0;
  double held = 0;
  for (int i = 0; i < 2000; i++) {
    double now = orr_flight_value(&f, "s.attitude.z");
    if (orr_flight_value(&f, "s.valid") == 0) {
      lost++;
      assert_true(i == 0 || now == held);
    }
    held = now;
    orr_flight_run(&f, 1);
  }
  NEAR(lost, 400, 5 * sqrt(2000 * 0.2 * 0.8));
  orr_flight_free(&f);
}

/* The bus turns for long: the printed form, w >= 0, would jump where w is 0; a channel goes through. */
static void an_attitude_keeps_the_sign_nearest_its_last_sample(void **state) {
  (void)state;
  struct orr_flight f = with("kind: star_tracker, node: bus.n, boresight: [0, 0, 1]");
  static const char *const names[] = {"s.attitude", "bus.attitude", "bus.n.attitude"};
  for (int k = 0; k < 3; k++)
    assert_true(orr_flight_value(&f, names[k]) != 0);
  double last[3][4] = {{0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}};
  bool negative[3] = {false, false, false};
  for (int i = 0; i < 1000; i++) {
    for (int k = 0; k < 3; k++)
      for (int j = 0; j < 4; j++) {
        char name[64];
        snprintf(name, sizeof name, "%s[%d]", names[k], j);
        double now = orr_flight_value(&f, name);
        assert_true(fabs(now - last[k][j]) < 0.1);
        negative[k] |= j == 3 && now < -0.5;
        last[k][j] = now;
      }
    orr_flight_run(&f, 1);
  }
  assert_true(negative[0] && negative[1] && negative[2]);
  orr_flight_free(&f);
}

/* ---- hinges ------------------------------------------------------------------------------------------------------ */

static void encoders_and_tachometers_read_their_coordinate(void **state) {
  (void)state;
  const struct {
    const char *sensor, *output, *truth;
    double scale, offset, quantum;
  } cases[] = {
      {"kind: hinge_encoder, hinge: arm", "s.position", "arm.q", 1, 0, 0},
      {"kind: hinge_encoder, hinge: arm, offset: 2 deg", "s.position", "arm.q", 1, 2 * 0.017453292519943295, 0},
      {"kind: hinge_encoder, hinge: arm, quantisation: 0.1", "s.position", "arm.q", 1, 0, 0.1},
      {"kind: hinge_encoder, hinge: slide, quantisation: 7 mm", "s.position", "slide.q", 1, 0, 0.007},
      {"kind: hinge_encoder, hinge: slide, offset: 1 mm", "s.position", "slide.q", 1, 0.001, 0},
      {"kind: tachometer, hinge: arm", "s.speed", "arm.speed", 1, 0, 0},
      {"kind: tachometer, hinge: arm, scale: 0.01", "s.speed", "arm.speed", 1.01, 0, 0},
      {"kind: tachometer, hinge: slide, quantisation: 3 mm/s", "s.speed", "slide.speed", 1, 0, 0.003},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct orr_flight f = with(cases[k].sensor);
    double want = cases[k].scale * orr_flight_value(&f, cases[k].truth) + cases[k].offset;
    if (cases[k].quantum > 0)
      want = cases[k].quantum * rint(want / cases[k].quantum);
    assert_true(fabs(want) > 1e-3);
    NEAR(orr_flight_value(&f, cases[k].output), want, 1e-15);
    orr_flight_free(&f);
  }
  NEAR(spread("kind: hinge_encoder, hinge: arm, noise: 1e-3", "s.position", "arm.q", 2000), 1e-3, 8e-5);
  NEAR(spread("kind: tachometer, hinge: arm, noise: 1e-3", "s.speed", "arm.speed", 2000), 1e-3, 8e-5);
}

static void a_load_cell_reads_the_hinge_force_of_the_solver(void **state) {
  (void)state;
  static const char *const out[] = {"s.moment.x", "s.moment.y", "s.moment.z", "s.force.x", "s.force.y", "s.force.z"};
  static const char *const truth[] = {"panel.load.nx", "panel.load.ny", "panel.load.nz",
                                      "panel.load.fx", "panel.load.fy", "panel.load.fz"};
  struct orr_flight f = with("kind: hinge_load, hinge: panel"), g = with("kind: hinge_load, hinge: panel, scale: 0.1");
  for (int i = 0; i < 6; i++) {
    double t = orr_flight_value(&f, truth[i]);
    assert_true(fabs(t) > 1e-6);
    NEAR(orr_flight_value(&f, out[i]), t, 0);
    NEAR(orr_flight_value(&g, out[i]), 1.1 * t, 1e-14);
  }
  orr_flight_free(&f);
  orr_flight_free(&g);
  NEAR(spread("kind: hinge_load, hinge: panel, noise: {moment: 1e-3}", out[1], truth[1], 2000), 1e-3, 8e-5);
  NEAR(spread("kind: hinge_load, hinge: panel, noise: {moment: 1e-3}", out[4], truth[4], 200), 0, 1e-15);
  NEAR(spread("kind: hinge_load, hinge: panel, noise: {force: 1e-3}", out[4], truth[4], 2000), 1e-3, 8e-5);
}

/* A body that turns steadily about z of inertial, at ω, with gravity along −z. Its mass centre c goes in a circle, so
 * F = m [−ω² c_x, −ω² c_y, g] and N = c × F about the hinge, in the axes of the body, which turn with it. */
static void a_load_cell_with_an_axis_tells_the_component_along_it(void **state) {
  (void)state;
  const double mass = 3, rate = 2, g = 9.8, c[3] = {0.5, 0.1, 0.2}, axis[3] = {1 / 3.0, 2 / 3.0, -2 / 3.0};
  const double force[3] = {-mass * rate * rate * c[0], -mass * rate * rate * c[1], mass * g};
  const double moment[3] = {c[1] * force[2] - c[2] * force[1], c[2] * force[0] - c[0] * force[2],
                            c[0] * force[1] - c[1] * force[0]};
  double along_force = 0, along_moment = 0;
  for (int i = 0; i < 3; i++) {
    along_force += axis[i] * force[i];
    along_moment += axis[i] * moment[i];
  }
  const char text[] = "orrery: 1\n"
                      "spacecraft:\n"
                      "  gravity: [0, 0, -9.8]\n"
                      "  bodies: {top: {mass: 3, com: [0.5, 0.1, 0.2], inertia: [1, 2, 2.5, 0, 0, 0],\n"
                      "    hinge: {kind: revolute, axis: [0, 0, 1], to: inertial}}}\n"
                      "sensors:\n"
                      "  plain: {kind: hinge_load, hinge: top}\n"
                      "  pull: {kind: hinge_load, hinge: top, axis: [1, 2, -2]}\n"
                      "  push: {kind: hinge_load, hinge: top, axis: [1, 2, -2], component: force, scale: 0.1}\n"
                      "  twist: {kind: hinge_load, hinge: top, axis: [1, 2, -2], component: moment}\n"
                      "simulation: {step: 10 ms, initial: {top: {q: [0.4], speed: [2]}}}\n";
  struct orr_flight f = orr_flight_make(text, NULL);
  assert_true(fabs(along_force) > 1 && fabs(along_moment) > 1 && fabs(along_force - along_moment) > 1);
  for (int frame = 0; frame < 3; frame++) {
    NEAR(orr_flight_value(&f, "pull.along"), along_force, 1e-12);
    NEAR(orr_flight_value(&f, "push.along"), 1.1 * along_force, 1e-12);
    NEAR(orr_flight_value(&f, "twist.along"), along_moment, 1e-12);
    orr_flight_run(&f, 1);
  }
  const struct orr_channel_table *t = &f.plant->table;
  assert_string_equal(t->channels[orr_channel_find(t, "pull.along")].unit, "N");
  assert_string_equal(t->channels[orr_channel_find(t, "twist.along")].unit, "N m");
  assert_true(orr_channel_find(t, "plain.along") < 0);
  orr_flight_free(&f);
}

/* A draw of its own; and the six numbers beside it are those of a cell without an axis, noise and all. */
static void an_axis_leaves_the_other_numbers_of_a_load_cell_alone(void **state) {
  (void)state;
  static const char plain[] = "kind: hinge_load, hinge: panel, noise: {moment: 1e-3, force: 2e-3}";
  char along[200];
  double x[2][6];
  static const char *const out[] = {"s.moment.x", "s.moment.y", "s.moment.z", "s.force.x", "s.force.y", "s.force.z"};
  snprintf(along, sizeof along, "%s, axis: [0, 1, 0]", plain);
  values(plain, out, 6, x[0]);
  values(along, out, 6, x[1]);
  assert_memory_equal(x[0], x[1], sizeof x[0]);
  NEAR(spread(along, "s.along", "panel.load.fy", 2000), 2e-3, 16e-5);
  NEAR(spread("kind: hinge_load, hinge: panel, noise: {moment: 1e-3}, axis: [0, 1, 0], component: moment", "s.along",
              "panel.load.ny", 2000),
       1e-3, 8e-5);
}

static void strain_is_modal_or_nodal(void **state) {
  (void)state;
  struct orr_flight f = with("kind: strain, node: panel.tip, mode: modal");
  double eta = orr_flight_value(&f, "panel.eta");
  assert_true(fabs(eta) > 1e-3);
  NEAR(orr_flight_value(&f, "s.amplitude"), eta, 0);
  orr_flight_free(&f);
  f = with("kind: strain, node: panel.tip, mode: nodal");
  NEAR(orr_flight_value(&f, "s.displacement.z"), eta, 1e-15);
  NEAR(orr_flight_value(&f, "s.displacement.y"), 0, 1e-15);
  NEAR(orr_flight_value(&f, "s.rotation.x"), 0.5 * eta, 1e-15);
  orr_flight_free(&f);
  NEAR(spread("kind: strain, node: panel.tip, mode: modal, noise: {amplitude: 1e-3}", "s.amplitude", "panel.eta", 2000),
       1e-3, 8e-5);
  NEAR(spread("kind: strain, node: panel.tip, mode: nodal, noise: {displacement: 1e-3}", "s.displacement.z",
              "panel.eta", 2000),
       1e-3, 8e-5);
  struct orr_flight g = with("kind: strain, node: panel.tip, mode: nodal, noise: {rotation: 1e-3}");
  double square = 0;
  for (int i = 0; i < 2000; i++) {
    double y = orr_flight_value(&g, "s.rotation.y");
    square += y * y;
    NEAR(orr_flight_value(&g, "s.displacement.y"), 0, 1e-15);
    orr_flight_run(&g, 1);
  }
  NEAR(sqrt(square / 2000), 1e-3, 8e-5);
  orr_flight_free(&g);
}

/* ---- rate, phase, delay ------------------------------------------------------------------------------------------ */

static void a_sensor_samples_at_its_rate_phase_and_delay(void **state) {
  (void)state;
  const struct {
    const char *sensor;
    int divisor, phase, delay;
  } cases[] = {
      {"kind: hinge_encoder, hinge: arm", 1, 0, 0},
      {"kind: hinge_encoder, hinge: arm, rate: 20 Hz", 5, 0, 0},
      {"kind: hinge_encoder, hinge: arm, rate: 20 Hz, phase: 3", 5, 3, 0},
      {"kind: hinge_encoder, hinge: arm, delay: 4", 1, 0, 4},
      {"kind: hinge_encoder, hinge: arm, rate: 20 Hz, phase: 2, delay: 13", 5, 2, 13},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct orr_flight f = with(cases[k].sensor);
    double truth[200], first = 0;
    for (int n = 1; n < 100; n++) { /* frame 0 is gone: `with` has flown it */
      truth[n] = orr_flight_value(&f, "arm.q");
      double have = orr_flight_value(&f, "s.position");
      int from = n - cases[k].delay; /* the last sample taken at or before this frame */
      while (from > 0 && (from < cases[k].phase || (from - cases[k].phase) % cases[k].divisor))
        from--;
      if (from > 0)
        NEAR(have, truth[from], 0);
      else if (n == 1)
        first = have;
      else
        NEAR(have, first, 0);
      orr_flight_run(&f, 1);
    }
    orr_flight_free(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ideal_triads_tell_the_truth),
      cmocka_unit_test(bias_scale_and_misalignment_act_as_they_say),
      cmocka_unit_test(quantisation_rounds_and_range_cuts_and_says_so),
      cmocka_unit_test(random_walk_is_white_noise_of_the_sample_interval),
      cmocka_unit_test(bias_instability_drifts_with_its_time),
      cmocka_unit_test(the_allan_deviation_of_a_gyro_is_that_of_its_parameters),
      cmocka_unit_test(star_tracker_noise_is_across_and_about_its_boresight),
      cmocka_unit_test(a_star_tracker_is_blind_above_its_rate_and_when_it_drops_out),
      cmocka_unit_test(an_attitude_keeps_the_sign_nearest_its_last_sample),
      cmocka_unit_test(encoders_and_tachometers_read_their_coordinate),
      cmocka_unit_test(a_load_cell_reads_the_hinge_force_of_the_solver),
      cmocka_unit_test(a_load_cell_with_an_axis_tells_the_component_along_it),
      cmocka_unit_test(an_axis_leaves_the_other_numbers_of_a_load_cell_alone),
      cmocka_unit_test(strain_is_modal_or_nodal),
      cmocka_unit_test(a_sensor_samples_at_its_rate_phase_and_delay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
