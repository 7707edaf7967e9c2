/* Rotors geared to hinges against the same rotors written out as bodies (tests/support/gears.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/articulated.h"
#include "core/tree/energy.h"
#include "core/tree/operators.h"
#include "tests/support/flight.h"
#include "tests/support/gears.h"
#include "tests/support/prng.h"
#include "tests/support/trial.h"

/* As in the tests of forward dynamics: 1e-15 times a condition of 1e4. */
static const double AGREE = 1e-11;

enum { GEARS_MAX = 64 };

/* How many of a kind's first coordinates are angles that a motor can drive. */
static int angles_of(enum orr_hinge_kind kind) {
  switch (kind) {
  case ORR_HINGE_REVOLUTE:
  case ORR_HINGE_CYLINDRICAL:
  case ORR_HINGE_PLANAR:
    return 1;
  case ORR_HINGE_UNIVERSAL:
    return 2;
  case ORR_HINGE_GIMBAL:
    return 3;
  default:
    return 0;
  }
}

/* A sample with rotors on many of its angles, on the bench and written out. */
struct geared_case {
  struct orr_sample *s;
  struct orr_trial trial;
  struct orr_gears *truth;
  int count;
};

static struct geared_case make(uint64_t seed, unsigned options) {
  struct orr_sample_options o = orr_sample_default(seed, 1 + (int)(seed % 9));
  struct orr_prng prng = {seed};
  struct orr_gear_desc gears[GEARS_MAX];
  struct geared_case c = {0};
  o.rotors = o.massless = 0;
  o.spin = 1;
  c.s = orr_sample_make(&o);
  c.trial = orr_trial_make(c.s, options);
  for (int b = 0; b < (int)c.s->description.body_count; b++)
    for (int k = 0; k < angles_of(c.s->bodies[b].hinge.kind) && c.count < GEARS_MAX; k++) {
      double draw[2];
      prng_vector(&prng, 1, draw, 2);
      if (draw[0] < -0.5)
        continue;
      gears[c.count++] = (struct orr_gear_desc){b, k, 1 + 30 * fabs(draw[0]), 0.02 * (1.1 + draw[1])};
      orr_rotor_gear(c.trial.ws, b, k, gears[c.count - 1].ratio, gears[c.count - 1].inertia);
    }
  c.truth = orr_gears_make(c.s, gears, c.count);
  orr_trial_load(&c.trial);
  return c;
}

static void release(struct geared_case *c) {
  orr_gears_free(c->truth);
  orr_trial_free(&c->trial);
  orr_sample_free(c->s);
}

/* f(k) of every body: worst difference over the largest, the linear and the angular part each. */
static double hinge_gap(const struct geared_case *c) {
  double gap[2] = {0, 0}, scale[2] = {1e-30, 1e-30};
  for (int i = 0; i < (int)c->s->description.body_count; i++) {
    double want[6], have[6];
    orr_dense_hinge_force(c->truth->dense, i, want);
    sp_to(have, orr_hinge_force(c->trial.model, c->trial.ws, i));
    for (int k = 0; k < 6; k++) {
      gap[k / 3] = fmax(gap[k / 3], isfinite(have[k]) ? fabs(have[k] - want[k]) : HUGE_VAL);
      scale[k / 3] = fmax(scale[k / 3], fabs(want[k]));
    }
  }
  return fmax(gap[0] / scale[0], gap[1] / scale[1]);
}

static void accelerations_and_hinge_forces_are_those_of_rotors_written_out(void **state) {
  (void)state;
  int rotors = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct geared_case c = make(seed, seed % 2 ? ORR_MODEL_PLAIN : ORR_MODEL_DEFAULT);
    double *want = orr_vector_make(c.s->u_count);
    rotors += c.count;
    orr_gears_forward(c.truth, want);
    assert_int_equal(orr_forward(c.trial.model, c.trial.ws, c.s->force, c.s->given, c.trial.accel), ORR_OK);
    orr_expect_below(orr_gap_bodies(c.s, c.trial.accel, want), AGREE, "acceleration", seed);
    orr_expect_below(hinge_gap(&c), AGREE, "hinge force", seed);
    free(want);
    release(&c);
  }
  assert_true(rotors > 100);
}

static void energy_and_momentum_are_those_of_rotors_written_out(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct geared_case c = make(seed, ORR_MODEL_DEFAULT);
    struct orr_dense_totals want = orr_gears_totals(c.truth);
    double have[6], momentum[6], scale = (double)(fabsl(want.kinetic) + 1e-30L);
    orr_expect_below(fabs(orr_kinetic_energy(c.trial.model, c.trial.ws) - (double)want.kinetic) / scale, 1e-13,
                     "kinetic", seed);
    sp_to(have, orr_momentum(c.trial.model, c.trial.ws));
    for (int i = 0; i < 6; i++)
      momentum[i] = (double)want.momentum[i];
    if (c.s->u_count) {
      orr_expect_below(orr_gap(have, momentum, 3), 1e-12, "angular momentum", seed);
      orr_expect_below(orr_gap(have + 3, momentum + 3, 3), 1e-12, "linear momentum", seed);
    }
    release(&c);
  }
}

static void products_with_the_inverse_mass_matrix_have_the_rotors_in(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct geared_case c = make(seed, ORR_MODEL_DEFAULT);
    struct orr_prng prng = {seed + 1};
    int n = c.s->u_count;
    double *x = orr_vector_make(n), *want = orr_vector_make(n), *have = orr_vector_make(n), log_det;
    prng_vector(&prng, 1, x, n);
    orr_gears_solve(c.truth, x, want);
    assert_int_equal(orr_articulated_factor(c.trial.model, c.trial.ws), ORR_OK);
    orr_inverse_mass_apply(c.trial.model, c.trial.ws, x, have);
    orr_expect_below(orr_gap_bodies(c.s, have, want), AGREE, "product", seed);
    /* and through the two factors: (I + HΦK)* (I + HΦK)⁻* and back */
    orr_colour_transposed(c.trial.model, c.trial.ws, have, want);
    orr_innovate_transposed(c.trial.model, c.trial.ws, want, x);
    orr_expect_below(orr_gap(x, have, n), AGREE, "factors", seed);
    assert_int_equal(orr_log_det_mass(c.trial.model, c.trial.ws, &log_det), ORR_OK);
    orr_expect_below(fabs(log_det - orr_gears_log_det(c.truth)), 1e-9, "determinant", seed);
    free(x);
    free(want);
    free(have);
    release(&c);
  }
}

/* A free bus of inertia B turns a panel of inertia I about z by a motor of gear ratio n, rotor J, from rest. Nothing
 * acts from outside, so (B + I) ω + (I + n J) β = 0 for ever. Before the coupling was in, ω was −I β/(B + I). */
static void a_bus_turns_back_against_panel_and_rotor(void **state) {
  (void)state;
  const double bus = 20, panel = 0.5, rotor = 0.9;
  static const int ratios[2] = {1, 100};
  for (int i = 0; i < 2; i++) {
    char text[1024];
    double n = ratios[i], j = i ? 5e-5 : rotor;
    snprintf(text, sizeof text,
             "orrery: 1\n"
             "spacecraft:\n"
             "  bodies:\n"
             "    bus: {mass: 100, inertia: [30, 30, %g, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
             "    panel: {mass: 1, inertia: [0.2, 0.4, %g, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [0, "
             "0, 1]}}\n"
             "actuators: {m: {kind: hinge_motor, hinge: panel, mode: torque, gear: {ratio: %g, rotor_inertia: %g}}}\n"
             "simulation: {step: 10 ms}\n",
             bus, panel, n, j);
    struct orr_flight f = orr_flight_make(text, "*");
    orr_flight_command(&f, "m.torque", 0.1 / n);
    orr_flight_run(&f, 100);
    double omega = orr_flight_value(&f, "bus.rate.z"), beta = orr_flight_value(&f, "panel.speed");
    double want = -(panel + n * j) * beta / (bus + panel), before = -panel * beta / (bus + panel);
    printf("# gear 1:%g: base rate within %.1e; without the coupling %.0f %% off\n", n, fabs(omega / want - 1),
           100 * fabs(before / want - 1));
    assert_true(beta > 1e-3 && fabs(omega / want - 1) < 1e-12);
    assert_true(v3_norm(orr_flight_momentum(&f).w) < 1e-14);
    orr_flight_free(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accelerations_and_hinge_forces_are_those_of_rotors_written_out),
      cmocka_unit_test(energy_and_momentum_are_those_of_rotors_written_out),
      cmocka_unit_test(products_with_the_inverse_mass_matrix_have_the_rotors_in),
      cmocka_unit_test(a_bus_turns_back_against_panel_and_rotor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
