/* The plant against closed forms and invariants: tops, wheels, panels, and the bits of a run. */
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

static const double TAU = 6.283185307179586476925;

/* ---- rigid bodies ------------------------------------------------------------------------------------------------ */

/* Jacobi's sn, cn, dn by the arithmetic-geometric mean; m = k². */
static void jacobi(double u, double m, double *sn, double *cn, double *dn) {
  double a[16] = {1}, c[16] = {sqrt(m)}, b = sqrt(1 - m), phi, last = 0;
  int n = 0;
  while (fabs(c[n]) > 1e-16 && n < 15) {
    a[n + 1] = 0.5 * (a[n] + b);
    c[n + 1] = 0.5 * (a[n] - b);
    b = sqrt(a[n] * b);
    n++;
  }
  phi = ldexp(a[n] * u, n);
  for (int i = n; i > 0; i--) {
    last = phi;
    phi = 0.5 * (phi + asin(c[i] * sin(phi) / a[i]));
  }
  *sn = sin(phi);
  *cn = cos(phi);
  *dn = n ? cos(phi) / cos(last - phi) : 1;
  if (!isfinite(*dn))
    *dn = sqrt(1 - m * *sn * *sn);
}

/* Euler's top, I1 < I2 < I3 and L² > 2 T I2: ω = (ω1 cn, −ω2 sn, ω3 dn)(λt) (Landau and Lifshitz, 37.10, axes in their
 * order). */
static void a_torque_free_top_moves_as_elliptic_functions_say(void **state) {
  (void)state;
  const double inertia[3] = {1, 2, 2.5}, w1 = 0.3, w3 = 0.5;
  struct orr_flight f = orr_flight_make("orrery: 1\n"
                                        "spacecraft: {bodies: {top: {mass: 4, com: [0.1, -0.2, 0.3], inertia: [1, 2, "
                                        "2.5, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
                                        "simulation: {step: 10 ms, initial: {top: {rate: [0.3, 0, 0.5]}}}\n",
                                        "*");
  double t2 = inertia[0] * w1 * w1 + inertia[2] * w3 * w3;
  double l2 = inertia[0] * inertia[0] * w1 * w1 + inertia[2] * inertia[2] * w3 * w3;
  assert_true(l2 > t2 * inertia[1]);
  double lambda = sqrt((inertia[2] - inertia[1]) * (l2 - t2 * inertia[0]) / (inertia[0] * inertia[1] * inertia[2]));
  double m = (inertia[1] - inertia[0]) * (t2 * inertia[2] - l2) / ((inertia[2] - inertia[1]) * (l2 - t2 * inertia[0]));
  double w2 = sqrt((t2 * inertia[2] - l2) / (inertia[1] * (inertia[2] - inertia[1])));
  double worst = 0, angle = 0;
  orr_spatial start = orr_flight_momentum(&f);
  for (int n = 0; n < 6000; n++) {
    double sn, cn, dn;
    jacobi(lambda * 0.01 * n, m, &sn, &cn, &dn);
    worst = fmax(worst, fabs(orr_flight_value(&f, "top.rate.x") - w1 * cn));
    worst = fmax(worst, fabs(fabs(orr_flight_value(&f, "top.rate.y")) - fabs(w2 * sn)));
    worst = fmax(worst, fabs(orr_flight_value(&f, "top.rate.z") - w3 * dn));
    angle = fmax(angle, v3_norm(v3_sub(orr_flight_momentum(&f).w, start.w)) / v3_norm(start.w));
    orr_flight_run(&f, 1);
  }
  printf("# top: rates within %.1e rad/s of the elliptic functions over 60 s, momentum within %.1e\n", worst, angle);
  assert_true(worst < 1e-10 && angle < 1e-9);
  orr_flight_free(&f);
}

/* Nothing acts on a tumbling body at 7.5 km/s: its mass centre goes straight on. While its velocity was integrated in
 * its own axes, rk4 lost 21 m in 600 s. What is left is the rounding of a position of 4500 km, step by step. */
static void a_free_body_coasts_straight(void **state) {
  (void)state;
  static const char *const rules[] = {"rk4", "heun", "semi_implicit", "implicit_modal"};
  for (int rule = 0; rule < 4; rule++) {
    char text[512];
    snprintf(
        text, sizeof text,
        "orrery: 1\n"
        "spacecraft: {bodies: {top: {mass: 4, inertia: [1, 2, 2.5, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
        "simulation: {step: 10 ms, integrator: %s, initial: {top: {rate: [2, 1, 2], velocity: [7500, 0, 0]}}}\n",
        rules[rule]);
    struct orr_flight f = orr_flight_make(text, "top.position");
    int seconds = rule ? 60 : 600;
    orr_flight_run(&f, 100 * seconds);
    double along = orr_flight_value(&f, "top.position.x") - 7500.0 * seconds;
    double across = hypot(orr_flight_value(&f, "top.position.y"), orr_flight_value(&f, "top.position.z"));
    printf("# %s: off the straight line by %.1e m in %d s at 7.5 km/s and 3 rad/s\n", rules[rule], hypot(along, across),
           seconds);
    assert_true(hypot(along, across) < 1e-3);
    orr_flight_free(&f);
  }
}

/* ½ m v² + ½ I ω² and I ω of a free body, ½ k x² of a spring and −m g z of both; and they stay what they are. */
static void energy_and_momentum_are_channels(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft:\n"
      "  gravity: [0, 0, -9]\n"
      "  bodies:\n"
      "    top: {mass: 4, inertia: [1, 2, 2.5, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
      "    slide: {mass: 2, inertia: [1, 1, 1, 0, 0, 0],\n"
      "      hinge: {kind: prismatic, axis: [1, 0, 0], to: inertial, stiffness: 8}}\n"
      "simulation: {step: 1 ms, initial: {top: {position: [0, 0, 10], rate: [0, 0, 2], velocity: [3, 0, 0]},\n"
      "  slide: {q: [0.5], speed: [-1]}}}\n",
      "*.*");
  NEAR(orr_flight_value(&f, "energy.kinetic"), 18 + 5 + 1, 1e-14);
  NEAR(orr_flight_value(&f, "energy.potential"), 1 + 4 * 9 * 10, 1e-12);
  NEAR(orr_flight_value(&f, "momentum.linear.x"), 12 - 2, 1e-14);
  NEAR(orr_flight_value(&f, "momentum.angular.y"), 10 * 12, 1e-13); /* r × m v */
  NEAR(orr_flight_value(&f, "momentum.angular.z"), 5, 1e-14);
  orr_flight_run(&f, 1000); /* 9 m/s down, 4.5 m lower */
  NEAR(orr_flight_value(&f, "energy.kinetic") + orr_flight_value(&f, "energy.potential"), 24 + 361, 1e-9);
  NEAR(orr_flight_value(&f, "momentum.linear.z"), -36, 1e-12);
  NEAR(orr_flight_value(&f, "momentum.angular.z"), 5, 1e-12);
  orr_flight_free(&f);
}

/* A dual spinner: body with transverse inertia I_t, axial I_s (rotor's spin inertia J in it), rotor at Ω. With the
 * axial rate ω_s its transverse rate turns in the body at  λ = ((I_s − I_t) ω_s + J Ω)/I_t. */
static void a_dual_spinner_nutates_at_its_rate(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 4, inertia: [2, 2, 3, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
      "actuators: {rotor: {kind: reaction_wheel, node: bus.origin, axis: [0, 0, 1], inertia: 0.2, initial_speed: 40}}\n"
      "simulation: {step: 5 ms, initial: {bus: {rate: [0.02, 0, 0.3]}}}\n",
      "*");
  double rate = ((3 - 2) * 0.3 + 0.2 * 40) / 2, worst = 0;
  for (int n = 0; n < 4000; n++) {
    worst = fmax(worst, fabs(orr_flight_value(&f, "bus.rate.x") - 0.02 * cos(rate * 0.005 * n)));
    worst = fmax(worst, fabs(orr_flight_value(&f, "bus.rate.y") - 0.02 * sin(rate * 0.005 * n)));
    worst = fmax(worst, fabs(orr_flight_value(&f, "bus.rate.z") - 0.3));
    worst = fmax(worst, 1e-3 * fabs(orr_flight_value(&f, "rotor.speed") - 40));
    orr_flight_run(&f, 1);
  }
  printf("# dual spinner: within %.1e rad/s over 20 s\n", worst);
  assert_true(worst < 1e-8);
  orr_flight_free(&f);
}

/* Spin-up at a constant torque, then a stop: what the wheel gains the body has lost, about any axis. */
static void a_wheel_spun_up_takes_its_momentum_from_the_body(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 4, inertia: [2, 2.5, 3, 0.1, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
      "actuators: {w: {kind: reaction_wheel, node: bus.origin, axis: [1, 2, 2], inertia: 0.05}}\n"
      "simulation: {step: 5 ms}\n"
      "commands: [{channel: w.torque, at: 0 s, value: 0.1}, {channel: w.torque, at: 10 s, value: 0}]\n",
      "*");
  orr_flight_run(&f, 3000);
  orr_spatial h = orr_flight_momentum(&f);
  NEAR(v3_norm(h.w), 0, 1e-12);
  /* the rotor's absolute spin momentum is the torque's impulse: J (Ω + u·ω) = τ t */
  orr_vec3 omega =
      v3(orr_flight_value(&f, "bus.rate.x"), orr_flight_value(&f, "bus.rate.y"), orr_flight_value(&f, "bus.rate.z"));
  double spin = orr_flight_value(&f, "w.speed") + v3_dot(omega, v3(1.0 / 3, 2.0 / 3, 2.0 / 3));
  NEAR(0.05 * spin, 1.0, 1e-12);
  orr_flight_free(&f);
}

/* ---- flexible bodies --------------------------------------------------------------------------------------------- */

/* A hub that may turn about z with one mode of a beam along x; `root` is what the mode does at the inboard node. */
static struct orr_flight hub(const char *hinge, double damping, double eta) {
  char text[2048];
  snprintf(text, sizeof text,
           "orrery: 1\n"
           "spacecraft:\n"
           "  bodies:\n"
           "    hub: {mass: 10, inertia: [5, 5, 5, 0, 0, 0], hinge: %s}\n"
           "    beam:\n"
           "      hinge: {kind: fixed, to: hub.origin}\n"
           "      modes: [{frequency: 1 Hz, damping: %g}]\n"
           "      nodes:\n"
           "        origin: {at: [0, 0, 0], mass: 0, inertia: [0, 0, 0, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}\n"
           "        mid: {at: [1, 0, 0], mass: 1, modes: [[0, 0, 0.5, 0, 0.3, 0]]}\n"
           "        tip: {at: [2, 0, 0], mass: 1, inertia: [0, 0, 0.1, 0, 0, 0], modes: [[0, 0, 0.7, 0, 1, 0]]}\n"
           "simulation: {step: 2 ms, initial: {beam: {eta: [%g]}}}\n",
           hinge, damping, eta);
  return orr_flight_make(text, "*");
}

/* Zero crossings of the amplitude by linear interpolation, and its extremes. */
struct decay {
  double period, ratio; /* of one swing to the next, one period later */
};

static struct decay decay_of(struct orr_flight *f, int frames) {
  struct decay d = {0};
  double first = 0, last = 0, peaks[64] = {0}, before = orr_flight_value(f, "beam.eta"), slope = 0;
  int crossings = 0, peak_count = 0;
  for (int n = 1; n <= frames; n++) {
    orr_flight_run(f, 1);
    double now = orr_flight_value(f, "beam.eta"), rate = orr_flight_value(f, "beam.eta_rate");
    if (before < 0 && now >= 0) {
      last = 0.002 * (n - 1 + before / (before - now));
      first = crossings++ ? first : last;
    }
    if (slope > 0 && rate <= 0 && peak_count < 64) {
      double part = slope / (slope - rate); /* the extreme lies here between the frames */
      peaks[peak_count++] = before + 0.5 * part * slope * 0.002;
    }
    before = now;
    slope = rate;
  }
  d.period = (last - first) / (crossings - 1);
  d.ratio = pow(peaks[peak_count - 1] / peaks[0], 1.0 / (peak_count - 1));
  return d;
}

/* A cantilever: f √(1 − ζ²), and e^(−2πζ/√(1−ζ²)) from swing to swing. Small amplitude: nothing but the linear part. */
static void a_cantilever_rings_at_its_frequency_and_decays_by_its_damping(void **state) {
  (void)state;
  const double zeta = 0.02;
  struct orr_flight f = hub("{kind: fixed, to: inertial}", zeta, 1e-5);
  struct decay d = decay_of(&f, 10000);
  double root = sqrt(1 - zeta * zeta);
  printf("# cantilever: period %.9f s, swing to swing %.7f\n", d.period, d.ratio);
  NEAR(d.period, 1 / root, 1e-6);
  NEAR(d.ratio, exp(-TAU * zeta / root), 1e-5);
  orr_flight_free(&f);
}

/* M_rr = Σ m φ² + J s² with the frame held; coupled to a hub free to turn: f √(M_ff/(M_ff − M_fr²/M_rr)). */
static void a_free_hub_raises_the_frequency_by_the_known_factor(void **state) {
  (void)state;
  struct orr_flight f = hub("{kind: revolute, axis: [0, 0, 1], to: inertial}", 0, 1e-6);
  double mff = 0.09 + 1 + 0.1 * 0.49, mfr = 1 * 0.3 + 2 * 1 + 0.1 * 0.7, mrr = 5 + 1 + 4 + 0.1;
  struct decay d = decay_of(&f, 10000);
  double expected = sqrt(mff / (mff - mfr * mfr / mrr));
  printf("# free hub: %.9f Hz, expected %.9f Hz\n", 1 / d.period, expected);
  NEAR(1 / d.period, expected, 1e-6);
  orr_flight_free(&f);
}

/* The same beam and hub as one body: the hub a node, the mode's free-free shape φ − (M_fr/M_rr) r, the frequency as
 * above. */
static void the_same_body_by_its_free_free_mode_rings_alike(void **state) {
  (void)state;
  double mff = 0.09 + 1 + 0.1 * 0.49, mfr = 1 * 0.3 + 2 * 1 + 0.1 * 0.7, mrr = 5 + 1 + 4 + 0.1, c = mfr / mrr;
  double frequency = sqrt(mff / (mff - mfr * mfr / mrr));
  char text[2048];
  snprintf(text, sizeof text,
           "orrery: 1\n"
           "spacecraft:\n"
           "  bodies:\n"
           "    beam:\n"
           "      hinge: {kind: revolute, axis: [0, 0, 1], to: inertial}\n"
           "      modes: [{frequency: %.17g Hz, damping: 0}]\n"
           "      nodes:\n"
           "        origin: {at: [0, 0, 0], mass: 10, inertia: [5, 5, 5, 0, 0, 0], modes: [[0, 0, %.17g, 0, 0, 0]]}\n"
           "        mid: {at: [1, 0, 0], mass: 1, modes: [[0, 0, %.17g, 0, %.17g, 0]]}\n"
           "        tip: {at: [2, 0, 0], mass: 1, inertia: [0, 0, 0.1, 0, 0, 0], modes: [[0, 0, %.17g, 0, %.17g, 0]]}\n"
           "simulation: {step: 2 ms, initial: {beam: {eta: [1e-6]}}}\n",
           frequency, -c, 0.5 - c, 0.3 - c, 0.7 - c, 1 - 2 * c);
  struct orr_flight f = orr_flight_make(text, "*");
  struct decay d = decay_of(&f, 10000);
  printf("# free-free: %.9f Hz, expected %.9f Hz\n", 1 / d.period, frequency);
  NEAR(1 / d.period, frequency, 1e-6);
  orr_flight_free(&f);
}

/* A panel driven through a slew by its hinge on a free bus: what goes through the hinge is what moves the bus, and the
 * total stays. */
static void a_slewed_panel_reacts_on_its_base(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft:\n"
      "  bodies:\n"
      "    bus: {mass: 50, inertia: [10, 12, 14, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
      "    panel:\n"
      "      hinge: {kind: revolute, axis: [0, 0, 1], to: bus.origin}\n"
      "      modes: [{frequency: 0.7 Hz, damping: 0.005}]\n"
      "      nodes:\n"
      "        origin: {at: [0, 0, 0], mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}\n"
      "        tip: {at: [3, 0, 0], mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0], modes: [[0, 0, 0.5, 0, 1, 0]]}\n"
      "actuators: {m: {kind: hinge_motor, hinge: panel, mode: rate, max_acceleration: 0.5}}\n"
      "sensors: {load: {kind: hinge_load, hinge: panel}}\n"
      "simulation: {step: 1 ms}\n"
      "commands: [{channel: m.rate, at: 0 s, value: 0.3}, {channel: m.rate, at: 2 s, value: 0}]\n",
      "*");
  double worst = 0, largest = 0, eta = 0;
  for (int n = 0; n < 4000; n++) {
    /* at the bus, whose mass centre is its origin: I ω̇ + ω × Iω = −N, m a = −F; in the plane, so the axes of both are
     * turned about z */
    double q = orr_flight_value(&f, "panel.q"), fx = orr_flight_value(&f, "load.force.x"),
           fy = orr_flight_value(&f, "load.force.y");
    double ax = orr_flight_value(&f, "bus.origin.acceleration.x"),
           ay = orr_flight_value(&f, "bus.origin.acceleration.y");
    double spin = orr_flight_value(&f, "bus.origin.angular_acceleration.z");
    worst = fmax(worst, fabs(14 * spin + orr_flight_value(&f, "load.moment.z")));
    worst = fmax(worst, fabs(50 * ax + cos(q) * fx - sin(q) * fy));
    worst = fmax(worst, fabs(50 * ay + sin(q) * fx + cos(q) * fy));
    largest = fmax(largest, fabs(orr_flight_value(&f, "load.moment.z")));
    eta = fmax(eta, fabs(orr_flight_value(&f, "panel.eta")));
    orr_flight_run(&f, 1);
  }
  orr_spatial h = orr_flight_momentum(&f);
  printf("# slewed panel: base reaction up to %.3g N m, closed within %.1e; it rings to %.3g m\n", largest, worst, eta);
  assert_true(worst < 1e-11 && largest > 1 && eta > 1e-3);
  NEAR(v3_norm(h.w), 0, 1e-10);
  NEAR(v3_norm(h.v), 0, 1e-11);
  orr_flight_free(&f);
}

/* ---- bits -------------------------------------------------------------------------------------------------------- */

static const char NOISY[] =
    "orrery: 1\n"
    "spacecraft: {bodies: {bus: {mass: 4, inertia: [2, 2.5, 3, 0.1, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
    "actuators: {w: {kind: reaction_wheel, node: bus.origin, axis: [1, 2, 2], inertia: 0.05}}\n"
    "sensors: {%sgyro: {kind: rate_gyro, node: bus.origin, delay: 3, noise: {angle_random_walk: 1e-4, "
    "bias_instability: 1e-4}}}\n"
    "simulation: {step: 5 ms, seed: %d, initial: {bus: {rate: [0.1, 0.2, 0.3]}}}\n"
    "commands: [{channel: w.torque, sine: {amplitude: 0.1, frequency: 1 Hz}}]\n";

static struct orr_flight noisy(const char *more, int seed, const char *watch) {
  char text[2048];
  snprintf(text, sizeof text, NOISY, more, seed);
  return orr_flight_make(text, watch);
}

static void what_is_asked_for_changes_no_bit(void **state) {
  (void)state;
  struct orr_flight a = noisy("", 1, NULL), b = noisy("", 1, "*"), c = noisy("", 2, NULL);
  orr_flight_run(&a, 500);
  orr_flight_run(&b, 500);
  orr_flight_run(&c, 500);
  assert_true(orr_session_hash(a.session) == orr_session_hash(b.session));
  assert_true(orr_session_hash(a.session) != orr_session_hash(c.session));
  orr_flight_free(&a);
  orr_flight_free(&b);
  orr_flight_free(&c);
}

static void another_sensor_changes_nobodys_noise(void **state) {
  (void)state;
  struct orr_flight a = noisy("", 1, NULL);
  struct orr_flight b =
      noisy("first: {kind: rate_gyro, node: bus.origin, noise: {angle_random_walk: 1e-4}}, ", 1, NULL);
  bool differ = false;
  for (int i = 0; i < 300; i++) {
    assert_true(orr_flight_value(&a, "gyro.rate.x") == orr_flight_value(&b, "gyro.rate.x"));
    differ |= orr_flight_value(&b, "first.rate.x") != orr_flight_value(&b, "gyro.rate.x");
    orr_flight_run(&a, 1);
    orr_flight_run(&b, 1);
  }
  assert_true(differ);
  orr_flight_free(&a);
  orr_flight_free(&b);
}

static void a_state_put_into_another_plant_goes_on_with_the_same_bits(void **state) {
  (void)state;
  struct orr_flight a = noisy("", 1, NULL), b = noisy("", 1, NULL);
  orr_flight_run(&a, 123);
  size_t words = orr_session_state_words(a.session);
  uint64_t *saved = calloc(words, sizeof *saved);
  assert_non_null(saved);
  orr_session_state_get(a.session, saved);
  assert_int_equal(orr_session_state_put(b.session, saved), ORR_OK);
  free(saved);
  for (int i = 0; i < 100; i++) {
    assert_true(orr_session_hash(a.session) == orr_session_hash(b.session));
    assert_true(orr_flight_value(&a, "gyro.rate.y") == orr_flight_value(&b, "gyro.rate.y"));
    orr_flight_run(&a, 1);
    orr_flight_run(&b, 1);
  }
  orr_flight_free(&a);
  orr_flight_free(&b);
}

/* Substeps only refine: four at a time are four steps under a held command. */
static void commands_are_held_over_substeps(void **state) {
  (void)state;
  struct orr_flight coarse = noisy("", 1, NULL), fine = noisy("", 1, NULL);
  orr_flight_command(&coarse, "w.torque", 0);
  coarse.plant->substeps = 5;
  coarse.plant->acting.step_s /= 5;
  fine.plant->step_ns = 1000000;
  fine.plant->acting.step_s = fine.plant->acting.frame_s = 1e-3;
  for (int i = 0; i < 100; i++) {
    orr_flight_command(&coarse, "w.torque", 0.01 * i);
    orr_flight_command(&fine, "w.torque", 0.01 * i);
    assert_int_equal(orr_plant_advance(coarse.plant), ORR_OK);
    for (int k = 0; k < 5; k++)
      assert_int_equal(orr_plant_advance(fine.plant), ORR_OK);
  }
  for (int k = 0; k < 6; k++)
    assert_true(coarse.plant->integration->u[k] == fine.plant->integration->u[k]);
  orr_flight_free(&coarse);
  orr_flight_free(&fine);
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

/* Says back what it was told: the body's rate about x as a torque. */
static void echo(const struct orr_answer *a) {
  for (int i = 0; i < 3; i++)
    a->commands[i] = a->telemetry[i];
}

/* The answer to frame kd is latched at frame (k+1)d and held for d frames. */
static void a_linked_answer_to_frame_kd_acts_from_frame_k_plus_1_d_on(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 4, inertia: [2, 2.5, 3, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
      "actuators: {wx: &w {kind: reaction_wheel, node: bus.origin, axis: [1, 0, 0], inertia: 0.05},\n"
      "  wy: {<<: *w, axis: [0, 1, 0]}, wz: {<<: *w, axis: [0, 0, 1]}}\n"
      "sensors: {g: {kind: rate_gyro, node: bus.origin}, s: {kind: star_tracker, node: bus.origin, boresight: [0, 0, "
      "1]}}\n"
      "pointing: {bus: {node: bus.origin, target: [0, 0, 0, 1]}}\n"
      "simulation: {step: 10 ms, initial: {bus: {rate: [0.3, -0.2, 0.5]}}}\n"
      "links: {fsw: {transport: linked, rate: 20 Hz, telemetry: [g.rate, s.attitude, bus.target], commands: "
      "['w*.torque'],\n"
      "  stiffness: [1, 1, 1], damping: [1, 1, 1]}}\n",
      NULL);
  orr_linked_answer_by(f.session->links[0].inside->carrier, echo);
  double told[60];
  for (int n = 0; n < 60; n++) {
    told[n] = orr_flight_value(&f, "g.rate.y");
    orr_flight_run(&f, 1);
    int k = n / 5;
    NEAR(orr_flight_value(&f, "wy.torque"), k ? told[5 * (k - 1)] : 0, 0);
  }
  assert_true(told[0] != told[50]);
  orr_flight_free(&f);
}

/* ---- scripts, pointing, prescribed hinges ------------------------------------------------------------------------ */

static void scripts_step_ramp_swing_and_follow_tables(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 4, inertia: [2, 2.5, 3, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
      "actuators: {w: {kind: wrench, node: bus.origin}, v: {kind: wrench, node: bus.origin},\n"
      "  t: {kind: thruster, node: bus.origin, direction: [1, 0, 0], thrust: 1}}\n"
      "simulation: {step: 10 ms}\n"
      "commands:\n"
      "  - {channel: w.force.x, at: 0.1 s, value: 2 kN}\n"
      "  - {channel: w.force.x, at: 0.3 s, ramp: {from: 1, to: 3, over: 0.2 s}}\n"
      "  - {channel: w.force.x, at: 0.8 s, value: -1}\n"
      "  - {channel: w.force.y, at: 0.2 s, sine: {amplitude: 2, frequency: 1 Hz, phase: 90 deg, offset: 1}}\n"
      "  - {channel: w.force.z, at: 0.1 s, table: [[0 s, 1], [0.1 s, 2], [0.3 s, 0]]}\n"
      "  - {channel: v.torque, at: 0.5 s, value: [1, 2, 3]}\n"
      "  - {channel: t.on_time, at: 0.42 s, value: 50 ms}\n",
      NULL);
  for (int n = 0; n < 100; n++) {
    double t = 0.01 * n, since = t - 0.1;
    orr_session_publish(f.session);
    orr_session_latch(f.session);
    double x = n < 10 ? 0 : n < 30 ? 2000 : n < 50 ? 1 + 2 * (t - 0.3) / 0.2 : n < 80 ? 3 : -1;
    double y = n < 20 ? 0 : 1 + 2 * cos(TAU * (t - 0.2));
    double z = n < 10 ? 0 : n < 20 ? 1 + since / 0.1 : n < 40 ? 2 - (since - 0.1) / 0.1 : 0;
    NEAR(orr_flight_value(&f, "w.force.x"), x, 1e-12);
    NEAR(orr_flight_value(&f, "w.force.y"), y, 1e-12);
    NEAR(orr_flight_value(&f, "w.force.z"), z, 1e-12);
    NEAR(orr_flight_value(&f, "v.torque.y"), n < 50 ? 0 : 2, 0);
    NEAR(orr_flight_value(&f, "t.on_time"), n == 42 ? 0.05 : 0, 0);
    assert_int_equal(orr_session_advance(f.session), 0);
    assert_int_equal(orr_session_sense(f.session), 0);
  }
  orr_flight_free(&f);
}

/* Targets 90° apart, the second written with the other sign: halfway the target is 45° on, and the error what is left
 * of it. */
static void a_target_turns_the_short_way_and_its_error_is_the_angle_to_it(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 4, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
      "pointing: {bus: {node: bus.origin, target: [{at: 1 s, attitude: [0, 0, 0, 1]}, {at: 3 s, attitude: [0, 0, "
      "-0.70710678118654752, -0.70710678118654752]}]}}\n"
      "simulation: {step: 10 ms, initial: {bus: {rate: [0, 0, 0.1]}}}\n",
      NULL);
  for (int n = 0; n < 400; n++) {
    double t = 0.01 * n, target = t < 1 ? 0 : t < 3 ? TAU / 8 * (t - 1) : TAU / 4;
    NEAR(orr_flight_value(&f, "bus.pointing_error"), fabs(target - 0.1 * t), 1e-7);
    NEAR(orr_flight_value(&f, "bus.target.z"), sin(0.5 * target), 1e-12);
    NEAR(orr_flight_value(&f, "bus.target.w"), cos(0.5 * target), 1e-12);
    orr_flight_run(&f, 1);
  }
  orr_flight_free(&f);
}

static void a_prescribed_hinge_follows_its_acceleration(void **state) {
  (void)state;
  struct orr_flight f =
      orr_flight_make("orrery: 1\n"
                      "spacecraft:\n"
                      "  bodies:\n"
                      "    bus: {mass: 4, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
                      "    arm: {mass: 1, com: [1, 0, 0], inertia: [1, 1, 1, 0, 0, 0],\n"
                      "          hinge: {kind: revolute, axis: [0, 0, 1], to: bus.origin, prescribed: true}}\n"
                      "simulation: {step: 10 ms}\n"
                      "commands: [{channel: arm.acceleration, at: 0 s, value: 3 deg/s^2}]\n",
                      "*");
  orr_flight_run(&f, 200);
  NEAR(orr_flight_value(&f, "arm.speed"), 6 * TAU / 360, 1e-13);
  NEAR(orr_flight_value(&f, "arm.q"), 6 * TAU / 360, 1e-13);
  NEAR(v3_norm(orr_flight_momentum(&f).w), 0, 1e-10);
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_torque_free_top_moves_as_elliptic_functions_say),
      cmocka_unit_test(a_free_body_coasts_straight),
      cmocka_unit_test(energy_and_momentum_are_channels),
      cmocka_unit_test(a_dual_spinner_nutates_at_its_rate),
      cmocka_unit_test(a_wheel_spun_up_takes_its_momentum_from_the_body),
      cmocka_unit_test(a_cantilever_rings_at_its_frequency_and_decays_by_its_damping),
      cmocka_unit_test(a_free_hub_raises_the_frequency_by_the_known_factor),
      cmocka_unit_test(the_same_body_by_its_free_free_mode_rings_alike),
      cmocka_unit_test(a_slewed_panel_reacts_on_its_base),
      cmocka_unit_test(what_is_asked_for_changes_no_bit),
      cmocka_unit_test(another_sensor_changes_nobodys_noise),
      cmocka_unit_test(a_state_put_into_another_plant_goes_on_with_the_same_bits),
      cmocka_unit_test(commands_are_held_over_substeps),
      cmocka_unit_test(a_linked_answer_to_frame_kd_acts_from_frame_k_plus_1_d_on),
      cmocka_unit_test(scripts_step_ramp_swing_and_follow_tables),
      cmocka_unit_test(a_target_turns_the_short_way_and_its_error_is_the_angle_to_it),
      cmocka_unit_test(a_prescribed_hinge_follows_its_acceleration),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
