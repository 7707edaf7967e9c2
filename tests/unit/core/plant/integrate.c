/* core/plant/integrate: orders of convergence, drift, stiffness. Each test prints the figures it judges. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/energy.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "tests/support/flight.h"
#include "tests/support/sanitized.h"

/* A free bus with a gimballed arm and a flexible panel on a sprung ball-less hinge: quaternions, scalars, modes and
 * springs. */
static const char MIXED[] =
    "orrery: 1\n"
    "spacecraft:\n"
    "  bodies:\n"
    "    bus: {mass: 10, com: [0.1, 0, 0.05], inertia: [1, 2, 2.5, 0.1, 0, 0], hinge: {kind: free, to: inertial}}\n"
    "    ball: {mass: 2, com: [0.4, 0.1, 0], inertia: [0.1, 0.2, 0.15, 0, 0, 0], hinge: {kind: ball, to: bus.origin}}\n"
    "    arm: {mass: 1, com: [0, 0.3, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0],\n"
    "          hinge: {kind: revolute, axis: [1, 0, 0], to: ball.origin, stiffness: 3, damping: 0}}\n"
    "    panel:\n"
    "      hinge: {kind: revolute, axis: [0, 0, 1], to: bus.origin, stiffness: 20, damping: 0}\n"
    "      modes: [{frequency: 1 Hz, damping: 0}]\n"
    "      nodes:\n"
    "        origin: {at: [0, 0, 0], mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}\n"
    "        tip: {at: [0, 2, 0], mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], modes: [[0.5, 0, 0, 0, 0, 1]]}\n"
    "actuators: {w: {kind: reaction_wheel, node: bus.origin, axis: [1, 1, 0], inertia: 0.02, initial_speed: 300}}\n"
    "simulation: {step: 1 ms, initial: {bus: {rate: [0.6, -0.4, 0.8], velocity: [1, 0.5, 0]}, ball: {rate: [0.5, 0.3, "
    "-0.7]},\n"
    "  arm: {q: [0.4]}, panel: {q: [0.1], eta: [0.1], eta_rate: [0.2]}}}\n";

struct vectors {
  double q[64], u[64];
};

static void fly(const char *text, enum orr_integrator rule, int64_t step_ns, int64_t until_ns, struct vectors *out) {
  struct orr_flight f = orr_flight_make(text, NULL);
  f.plant->integration->rule = rule;
  for (int64_t t = 0; t < until_ns; t += step_ns)
    assert_int_equal(orr_integration_step(f.plant->integration, t, step_ns), ORR_OK);
  memcpy(out->q, f.plant->integration->q, sizeof(double) * (size_t)f.session->model->q_count);
  memcpy(out->u, f.plant->integration->u, sizeof(double) * (size_t)f.session->model->u_count);
  orr_flight_free(&f);
}

static double gap(const struct vectors *a, const struct vectors *b) {
  double worst = 0;
  for (size_t i = 0; i < 64; i++)
    worst = fmax(worst, fmax(fabs(a->q[i] - b->q[i]), fabs(a->u[i] - b->u[i])));
  return worst;
}

/* log₂ of the ratio of errors at h and h/2 after one second, against rk4 at a hundredth of a millisecond. */
static double order(enum orr_integrator rule, int64_t step_ns, const struct vectors *truth) {
  struct vectors coarse = {0}, fine = {0};
  fly(MIXED, rule, step_ns, 1024000000, &coarse);
  fly(MIXED, rule, step_ns / 2, 1024000000, &fine);
  double e1 = gap(&coarse, truth), e2 = gap(&fine, truth), p = log2(e1 / e2);
  printf("# %-14s error %.2e at %.3g ms, %.2e at %.3g ms: order %.2f\n", orr_integrator_names[rule], e1,
         1e-6 * (double)step_ns, e2, 5e-7 * (double)step_ns, p);
  return p;
}

static void each_integrator_converges_with_its_order(void **state) {
  (void)state;
  struct vectors truth = {0};
  fly(MIXED, ORR_RK4, 250000, 1024000000, &truth);
  assert_true(fabs(order(ORR_RK4, 4000000, &truth) - 4) < 0.3);
  assert_true(fabs(order(ORR_HEUN, 2000000, &truth) - 2) < 0.2);
  assert_true(fabs(order(ORR_SEMI_IMPLICIT, 1000000, &truth) - 1) < 0.15);
  assert_true(fabs(order(ORR_IMPLICIT_MODAL, 2000000, &truth) - 2) < 0.2);
}

static void quaternions_stay_unit(void **state) {
  (void)state;
  for (int rule = 0; rule < ORR_INTEGRATOR_COUNT; rule++) {
    struct vectors v = {0};
    fly(MIXED, (enum orr_integrator)rule, 10000000, 10000000000, &v);
    const double *bus = v.q + 3, *ball = v.q + 7;
    assert_true(fabs(sqrt(bus[0] * bus[0] + bus[1] * bus[1] + bus[2] * bus[2] + bus[3] * bus[3]) - 1) < 4e-16);
    assert_true(fabs(sqrt(ball[0] * ball[0] + ball[1] * ball[1] + ball[2] * ball[2] + ball[3] * ball[3]) - 1) < 4e-16);
  }
}

struct drift {
  double energy, angular, linear; /* relative, worst over the flight */
};

static struct drift drift_of(enum orr_integrator rule, int64_t step_ns, int steps) {
  struct orr_flight f = orr_flight_make(MIXED, NULL);
  struct orr_integration *i = f.plant->integration;
  struct drift d = {0};
  i->rule = rule;
  double energy = orr_flight_energy(&f);
  orr_spatial momentum = orr_flight_momentum(&f);
  for (int k = 0; k < steps; k++) {
    assert_int_equal(orr_integration_step(i, k * step_ns, step_ns), ORR_OK);
    if (k % 100 != 99)
      continue;
    orr_integration_set(i);
    orr_spatial now = orr_flight_momentum(&f);
    d.energy = fmax(d.energy, fabs(orr_flight_energy(&f) / energy - 1));
    d.angular = fmax(d.angular, v3_norm(v3_sub(now.w, momentum.w)) / v3_norm(momentum.w));
    d.linear = fmax(d.linear, v3_norm(v3_sub(now.v, momentum.v)) / v3_norm(momentum.v));
  }
  printf("# %-14s %d steps of %.3g ms: energy %.1e, angular momentum %.1e, linear %.1e\n", orr_integrator_names[rule],
         steps, 1e-6 * (double)step_ns, d.energy, d.angular, d.linear);
  orr_flight_free(&f);
  return d;
}

/* The table of core/README.md. A free flexible spacecraft with a spinning wheel, nothing acting on it. */
static void energy_and_momentum_drift_by_the_order_over_1e5_steps(void **state) {
  (void)state;
  struct drift d = drift_of(ORR_RK4, 1000000, ORR_SHARE(100000));
  assert_true(d.energy < 1e-11 && d.angular < 3e-9 && d.linear < 1e-10);
  d = drift_of(ORR_HEUN, 1000000, ORR_SHARE(100000));
  assert_true(d.energy < 1e-6 && d.angular < 2e-3 && d.linear < 3e-5);
  d = drift_of(ORR_IMPLICIT_MODAL, 1000000, ORR_SHARE(100000));
  assert_true(d.energy < 4e-6 && d.angular < 1e-2 && d.linear < 3e-4);
  d = drift_of(ORR_SEMI_IMPLICIT, 1000000, ORR_SHARE(100000));
  assert_true(d.energy < 0.1);
}

/* Halving the step divides rk4's loss of energy by 2⁵: one order more than the solution's, as the loss is the
 * dissipation of a step. */
static void what_rk4_loses_falls_with_its_order(void **state) {
  (void)state;
  struct drift coarse = drift_of(ORR_RK4, 8000000, 4000), fine = drift_of(ORR_RK4, 4000000, 8000);
  double p = log2(coarse.energy / fine.energy), m = log2(coarse.angular / fine.angular);
  printf("# energy by order %.2f, angular momentum by order %.2f\n", p, m);
  assert_true(p > 3.6 && m > 3.6);
}

/* A mass on a spring, its period 1 s, at a step of 20 ms for a thousand periods (under a sanitizer 250). */
static double oscillator_energy_change(enum orr_integrator rule) {
  struct orr_flight f =
      orr_flight_make("orrery: 1\n"
                      "spacecraft: {bodies: {m: {mass: 1, inertia: [1, 1, 1, 0, 0, 0],\n"
                      "  hinge: {kind: prismatic, axis: [1, 0, 0], to: inertial, stiffness: 39.4784176}}}}\n"
                      "simulation: {step: 20 ms, initial: {m: {q: [1]}}}\n",
                      NULL);
  f.plant->integration->rule = rule;
  double start = orr_flight_energy(&f), worst = 0;
  for (int k = 0; k < ORR_SHARE(50000); k++) {
    assert_int_equal(orr_integration_step(f.plant->integration, k * 20000000LL, 20000000), ORR_OK);
    orr_integration_set(f.plant->integration);
    worst = fmax(worst, fabs(orr_flight_energy(&f) / start - 1));
  }
  orr_flight_free(&f);
  printf("# %-14s an oscillator's energy is off by at most %.2e in %d periods\n", orr_integrator_names[rule], worst,
         ORR_SHARE(1000));
  return worst;
}

/* The shadow of symplectic Euler is off by ±hω/2 and stays so; heun gains without end. */
static void semi_implicit_keeps_an_oscillators_energy_near(void **state) {
  (void)state;
  assert_true(oscillator_energy_change(ORR_SEMI_IMPLICIT) < 0.07);
  assert_true(oscillator_energy_change(ORR_HEUN) > 1);
}

/* A panel on a soft hinge spring, pushed by a torque, with a mode far beyond any step. `mode` is its frequency; none:
 * rigid. */
static struct orr_flight stiff_panel(const char *mode, bool rows) {
  char text[2048];
  snprintf(text, sizeof text,
           "orrery: 1\n"
           "spacecraft:\n"
           "  bodies:\n"
           "    bus: {mass: 10, inertia: [1, 2, 2.5, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
           "    panel:\n"
           "      hinge: {kind: revolute, axis: [1, 0, 0], to: bus.origin, stiffness: 20, damping: 0.1}\n"
           "      modes: [%s]\n"
           "      nodes:\n"
           "        origin: {at: [0, 0, 0], mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], modes: [%s]}\n"
           "        tip: {at: [0, 2, 0], mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], modes: [%s]}\n"
           "actuators: {m: {kind: hinge_motor, hinge: panel, mode: torque}}\n"
           "simulation: {step: 1 ms, integrator: implicit_modal, initial: {panel: {q: [0.2]%s}}}\n",
           mode, rows ? "[0, 0, 0, 0, 0, 0]" : "", rows ? "[0.5, 0, 0, 0, 0, 1]" : "", rows ? ", eta: [1e-6]" : "");
  return orr_flight_make(text, "panel.*");
}

/* rk4 is stable for hω < 2.83; at 1 ms the mode here stands at 100 times that, 45 kHz. The coupled one is faster
 * still. */
static void a_mode_a_hundred_times_beyond_rk4_stays_bounded_and_slow_motion_right(void **state) {
  (void)state;
  struct orr_flight stiff = stiff_panel("{frequency: 45 kHz, damping: 0.001}", true), rigid = stiff_panel("", false);
  double worst = 0, largest = 0;
  for (int k = 0; k < 10000; k++) {
    double torque = sin(0.004 * k);
    orr_flight_command(&stiff, "m.torque", torque);
    orr_flight_command(&rigid, "m.torque", torque);
    orr_flight_run(&stiff, 1);
    orr_flight_run(&rigid, 1);
    worst = fmax(worst, fabs(orr_flight_value(&stiff, "panel.q") - orr_flight_value(&rigid, "panel.q")));
    largest = fmax(largest, fabs(orr_flight_value(&stiff, "panel.eta")));
  }
  double last = fabs(orr_flight_value(&stiff, "panel.eta"));
  printf("# 45 kHz at 1 ms for 10 s: hinge off by %.1e rad, amplitude at most %.1e, %.1e at the end\n", worst, largest,
         last);
  assert_true(worst < 1e-5 && largest < 1e-6 && last < 1e-9);
  orr_flight_free(&stiff);
  orr_flight_free(&rigid);
}

/* The same mode, resolved: 500 Hz at 1 ms against rk4 at 20 µs. rk4 itself blows up at 1 ms. */
static void a_500_hz_mode_is_stable_at_1_ms(void **state) {
  (void)state;
  struct orr_flight coarse = stiff_panel("{frequency: 500 Hz, damping: 0.01}", true);
  struct orr_flight fine = stiff_panel("{frequency: 500 Hz, damping: 0.01}", true);
  struct orr_flight explicit = stiff_panel("{frequency: 500 Hz, damping: 0.01}", true);
  fine.plant->integration->rule = ORR_RK4;
  fine.plant->substeps = 50;
  explicit.plant->integration->rule = ORR_RK4;
  orr_flight_run(&coarse, 3000);
  orr_flight_run(&fine, 3000);
  int frames = 0;
  while (frames < 3000 && fabs(orr_flight_value(&explicit, "panel.eta")) < 1 &&
         orr_session_frame(explicit.session) == 0)
    frames++;
  double off = fabs(orr_flight_value(&coarse, "panel.q") - orr_flight_value(&fine, "panel.q"));
  printf("# 500 Hz at 1 ms for 3 s: hinge off by %.1e rad; rk4 left after %d frames\n", off, frames);
  assert_true(off < 1e-3);
  assert_true(frames < 3000);
  orr_flight_free(&coarse);
  orr_flight_free(&fine);
  orr_flight_free(&explicit);
}

/* A watcher of evaluations: where each stood. */
struct watcher {
  struct orr_integration_hook hook; /* first: the integration calls back with it */
  struct orr_evaluation_point seen[8];
  int count;
};

static void note(struct orr_integration_hook *hook, const struct orr_evaluation_point *point) {
  struct watcher *w = (struct watcher *)hook;
  if (w->count < 8)
    w->seen[w->count] = *point;
  w->count++;
}

static void a_hook_is_told_of_every_evaluation_and_changes_no_bit(void **state) {
  (void)state;
  static const int evaluations[ORR_INTEGRATOR_COUNT] = {
      [ORR_RK4] = 4, [ORR_HEUN] = 2, [ORR_SEMI_IMPLICIT] = 1, [ORR_IMPLICIT_MODAL] = 2};
  for (int rule = 0; rule < ORR_INTEGRATOR_COUNT; rule++) {
    struct orr_flight watched = orr_flight_make(MIXED, NULL), plain = orr_flight_make(MIXED, NULL);
    struct orr_integration *i = watched.plant->integration;
    struct watcher w = {.hook.evaluation = note};
    i->rule = plain.plant->integration->rule = (enum orr_integrator)rule;
    i->hook = &w.hook;
    assert_int_equal(orr_integration_step(i, 5000000, 1000000), ORR_OK);
    assert_int_equal(w.count, evaluations[rule]);
    for (int k = 0; k < w.count; k++)
      assert_true(w.seen[k].index == k && w.seen[k].start_ns == 5000000 && w.seen[k].step_ns == 1000000);
    orr_integration_set(i);
    assert_int_equal(orr_integration_observe(i, 6000000), ORR_OK);
    assert_int_equal(w.count, evaluations[rule] + 1);
    assert_int_equal(w.seen[evaluations[rule]].index, -1);
    i->drive = NULL; /* also where nothing acts */
    assert_int_equal(orr_integration_step(i, 6000000, 1000000), ORR_OK);
    assert_int_equal(w.count, 2 * evaluations[rule] + 1);
    orr_flight_free(&watched);

    watched = orr_flight_make(MIXED, NULL);
    watched.plant->integration->rule = (enum orr_integrator)rule;
    watched.plant->integration->hook = &w.hook;
    orr_flight_run(&watched, 100);
    orr_flight_run(&plain, 100);
    assert_int_equal(orr_session_hash(watched.session), orr_session_hash(plain.session));
    orr_flight_free(&watched);
    orr_flight_free(&plain);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_integrator_converges_with_its_order),
      cmocka_unit_test(a_hook_is_told_of_every_evaluation_and_changes_no_bit),
      cmocka_unit_test(quaternions_stay_unit),
      cmocka_unit_test(energy_and_momentum_drift_by_the_order_over_1e5_steps),
      cmocka_unit_test(semi_implicit_keeps_an_oscillators_energy_near),
      cmocka_unit_test(a_mode_a_hundred_times_beyond_rk4_stays_bounded_and_slow_motion_right),
      cmocka_unit_test(a_500_hz_mode_is_stable_at_1_ms),
      cmocka_unit_test(what_rk4_loses_falls_with_its_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
