/* Beams that spin, by forward dynamics: their modes against a Rayleigh-Ritz computation, a spin-up against a chain of
 * rigid bodies and against linear theory, and what second-order shapes do to power and momentum. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/math/eigen.h"
#include "core/tree/energy.h"
#include "core/tree/forward.h"
#include "tests/support/beam.h"
#include "tests/support/prng.h"
#include "tests/support/sanitized.h"
#include "tests/support/trial.h"

static const struct orr_beam unit_beam = {
    .segments = 44, .length = 1, .mass = 1, .bending = 1, .stiffening = true, .base = ORR_HINGE_REVOLUTE};

/* η̈ at η = ε e_r and η̇ = 0, on the hub that turns at `spin`. */
static void pulled(struct orr_trial *trial, double spin, int r, double amount, double *out) {
  struct orr_sample *s = (struct orr_sample *)trial->sample;
  int n = (int)s->bodies[1].mode_count;
  memset(s->q, 0, sizeof(double) * (size_t)s->q_count);
  memset(s->u, 0, sizeof(double) * (size_t)s->u_count);
  s->u[s->u_at[0]] = spin;
  s->q[s->q_at[1] + r] = amount;
  assert_int_equal(orr_trial_forward(trial), ORR_OK);
  memcpy(out, trial->accel + s->u_at[1], sizeof(double) * (size_t)n);
}

/* Frequencies of the modes `first` … about the state that turns steadily: η̈ = −A η there, and the modal mass matrix
 * times A is symmetric. */
static void spinning_frequencies(const struct orr_beam *beam, double spin, int first, int n, double *out) {
  struct orr_sample *s = orr_beam_make(beam);
  struct orr_trial trial = orr_trial_make(s, 0);
  double k[ORR_BEAM_MODES * ORR_BEAM_MODES], m[ORR_BEAM_MODES * ORR_BEAM_MODES], values[ORR_BEAM_MODES];
  const struct orr_modal *modal = &trial.model->modals[0];
  for (int r = 0; r < n; r++) {
    double up[ORR_BEAM_MODES], down[ORR_BEAM_MODES];
    pulled(&trial, spin, first + r, 1e-5, up);
    pulled(&trial, spin, first + r, -1e-5, down);
    for (int i = 0; i < n; i++) {
      m[r * n + i] = modal->mff[(first + r) * modal->ld + first + i];
      k[i * n + r] = 0;
      for (int j = 0; j < n; j++)
        k[i * n + r] -= modal->mff[(first + i) * modal->ld + first + j] * (up[first + j] - down[first + j]) / 2e-5;
    }
  }
  for (int r = 0; r < n; r++)
    for (int i = 0; i < r; i++)
      k[r * n + i] = k[i * n + r] = 0.5 * (k[r * n + i] + k[i * n + r]);
  assert_true(orr_eigen_generalized((size_t)n, k, m, values));
  for (int r = 0; r < n; r++)
    out[r] = values[r] > 0 ? sqrt(values[r]) : -sqrt(-values[r]);
  orr_trial_free(&trial);
  orr_sample_free(s);
}

/* The largest relative gap of modes 1 to 3. */
static double worst_mode(const struct orr_beam *beam, double spin, bool flap) {
  double have[ORR_BEAM_MODES], want[3], worst = 0;
  spinning_frequencies(beam, spin, flap ? beam->lag : 0, flap ? beam->flap : beam->lag, have);
  orr_beam_ritz(beam->hub, spin, flap, 3, want);
  for (int i = 0; i < 3; i++)
    worst = fmax(worst, fabs(have[i] / want[i] - 1));
  return worst;
}

static void the_truth_is_the_published_one(void **state) {
  (void)state;
  const double spins[3] = {3, 6, 12}, want[3] = {4.7973, 7.3604, 13.1702};
  for (int i = 0; i < 3; i++) {
    double have;
    orr_beam_ritz(0, spins[i], true, 1, &have);
    assert_true(fabs(have - want[i]) < 6e-5);
  }
}

static void five_modes_at_hub_zero_are_within_a_thousandth(void **state) {
  (void)state;
  struct orr_beam beam = unit_beam;
  beam.flap = beam.lag = 5;
  double flap = 0, lag = 0;
  for (int i = 0; i <= 12; i++) {
    flap = fmax(flap, worst_mode(&beam, i, true));
    if (i <= 6)
      lag = fmax(lag, worst_mode(&beam, i, false));
  }
  beam.stiffening = false;
  double first[ORR_BEAM_MODES], want;
  spinning_frequencies(&beam, 3, 5, 5, first);
  orr_beam_ritz(0, 3, true, 1, &want);
  printf("# 5 modes, hub 0: flap to 12 within %.2g, lag to 6 within %.2g; linear shapes at 3 %.2g off\n", flap, lag,
         first[0] / want - 1);
  assert_true(flap < 1e-3 && lag < 1e-3);
  assert_true(first[0] / want - 1 < -0.1); /* 4.7973 is 3.516 */
}

/* The first mode, at parts of its own rate at rest: what second-order shapes mend. */
static void linear_shapes_are_off_where_second_order_ones_are_not(void **state) {
  (void)state;
  const double parts[2] = {0.3, 0.5};
  for (int flap = 0; flap < 2; flap++)
    for (int i = 0; i < 2; i++) {
      struct orr_beam beam = unit_beam;
      double spin = parts[i] * 3.51601527, have[2][ORR_BEAM_MODES], want;
      beam.flap = beam.lag = 5;
      orr_beam_ritz(0, spin, flap, 1, &want);
      for (int on = 0; on < 2; on++) {
        beam.stiffening = on;
        spinning_frequencies(&beam, spin, flap ? 5 : 0, 5, have[on]);
      }
      printf("# first mode in %s at %.1f of its rate: linear shapes %.3f off, of second order %.1e\n",
             flap ? "flap" : "lag", parts[i], have[0][0] / want - 1, have[1][0] / want - 1);
      assert_true(have[0][0] / want - 1 < -0.04);
      assert_true(fabs(have[1][0] / want - 1) < 5e-4);
    }
}

static void ten_modes_to_hub_ratio_five_are_within_a_thousandth(void **state) {
  (void)state;
  struct orr_beam beam = unit_beam;
  beam.flap = beam.lag = 10;
  double flap = 0, lag = 0;
  const double hubs[] = {0, 0.5, 1, 2, 5}, spins[] = {0, 2, 4, 6, 8, 10, 12};
  for (size_t h = 0; h < 5; h++)
    for (size_t i = 0; i < 7; i++) {
      beam.hub = hubs[h];
      flap = fmax(flap, worst_mode(&beam, spins[i], true));
      lag = fmax(lag, worst_mode(&beam, spins[i], false));
    }
  printf("# 10 modes each way, hub ratio to 5, spin to 12: flap within %.2g, lag within %.2g\n", flap, lag);
  assert_true(flap < 1e-3 && lag < 1e-3);
}

/* ---- the spin-up of Simo and Vu-Quoc (1987) -------------------------------------------------------------------- */

/* Angle, rate and acceleration of the hub: to 6 rad/s in 15 s, smoothly. */
static void spin_up(double t, double out[3]) {
  const double top = 6, time = 15, k = 2 * 3.14159265358979323846 / time;
  if (t >= time) {
    out[0] = top * t - 0.5 * top * time, out[1] = top, out[2] = 0;
    return;
  }
  out[0] = top / time * (0.5 * t * t + (cos(k * t) - 1) / (k * k));
  out[1] = top / time * (t - sin(k * t) / k);
  out[2] = top / time * (1 - cos(k * t));
}

/* What is flown: q̈ of everything behind the hub's driven hinge at a time, by core. */
struct drive {
  struct orr_trial trial;
  double *given; /* [u_count] */
};

static void accelerate(struct drive *d, double t, const double *x, const double *v, double *out) {
  struct orr_sample *s = (struct orr_sample *)d->trial.sample;
  int count = s->u_count;
  double now[3];
  spin_up(t, now);
  memcpy(s->q, x, sizeof(double) * (size_t)count);
  memcpy(s->u, v, sizeof(double) * (size_t)count);
  s->q[0] = now[0], s->u[0] = now[1], s->given[0] = now[2];
  assert_int_equal(orr_trial_forward(&d->trial), ORR_OK);
  memcpy(out, d->trial.accel, sizeof(double) * (size_t)count);
}

/* One step of the classical rule; every coordinate's rate is its speed. */
static void step(struct drive *d, double t, double h, double *x, double *v) {
  enum { MOST = 48 };
  static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0};
  int n = d->trial.sample->u_count;
  double a[MOST] = {0}, y[MOST], w[MOST] = {0}, dx[MOST] = {0}, dv[MOST] = {0};
  assert_true(n <= MOST);
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < n; i++) {
      y[i] = x[i] + h * at[k] * w[i];
      w[i] = v[i] + h * at[k] * a[i];
    }
    for (int i = 0; i < n && k == 0; i++)
      y[i] = x[i], w[i] = v[i];
    accelerate(d, t + h * at[k], y, w, a);
    for (int i = 0; i < n; i++)
      dx[i] += h * weight[k] * w[i], dv[i] += h * weight[k] * a[i];
  }
  for (int i = 0; i < n; i++)
    x[i] += dx[i], v[i] += dv[i];
}

/* The tip, seen from the hub's axes, across the undeformed beam: every 0.05 s for 20 s; under a sanitizer for 2.5 s. */
enum { LOOKS = ORR_SANITIZED ? 50 : 400 };

static void fly(struct orr_sample *s, int tip_body, int tip_node, int parts, double *out) {
  struct drive d = {.trial = orr_trial_make(s, 0)};
  double *x = orr_vector_make(s->u_count), *v = orr_vector_make(s->u_count), now[3];
  double h = 0.05 / parts;
  for (int i = 0; i < LOOKS; i++) {
    for (int k = 0; k < parts; k++)
      step(&d, 0.05 * i + h * k, h, x, v);
    double a[48];
    accelerate(&d, 0.05 * (i + 1), x, v, a);
    spin_up(0.05 * (i + 1), now);
    struct orr_node_state tip;
    orr_poses_update(d.trial.model, d.trial.ws);
    orr_node_query(d.trial.model, d.trial.ws, orr_model_node(d.trial.model, tip_body, tip_node), &tip);
    out[i] = cos(now[0]) * tip.position.y - sin(now[0]) * tip.position.x;
  }
  free(x);
  free(v);
  orr_trial_free(&d.trial);
}

/* The same beam as links of equal length, each a rigid body with all that its section has, and springs EI/h between
 * them (2 EI/h at the root): it knows large rotations and nothing of shapes. */
static struct orr_sample *chain(int links, double length, double mass, double bending) {
  struct orr_body_desc bodies[33];
  struct orr_node_desc hub[2] = {{.name = "origin"}, {.name = "rim"}}, link[2] = {{.name = "origin"}, {.name = "end"}};
  double h = length / links, m = mass * h, small = m * h * h / 12;
  assert_true(links < 33);
  link[1].at[0] = h;
  for (int i = 0; i <= links; i++) {
    bodies[i] = (struct orr_body_desc){
        .name = "link", .mass = m, .com = {0.5 * h, 0, 0}, .inertia = {1e-3 * small, small, small}, .node_count = 2};
    bodies[i].nodes = i ? link : hub;
    bodies[i].hinge = (struct orr_hinge_desc){.kind = ORR_HINGE_REVOLUTE,
                                              .parent = i ? i - 1 : ORR_INERTIAL,
                                              .parent_node = i ? 1 : 0,
                                              .axes = {{0, 0, 1}},
                                              .rotation = {0, 0, 0, 1},
                                              .prescribed = i == 0,
                                              .stiffness = {i == 0 ? 0 : (i == 1 ? 2 : 1) * bending / h}};
  }
  return orr_sample_of(bodies, (size_t)links + 1);
}

static void largest(const double *x, const double *truth, double *lag, double *gap) {
  *lag = *gap = 0;
  for (int i = 0; i < LOOKS; i++) {
    *lag = fmin(*lag, x[i]);
    *gap = fmax(*gap, fabs(x[i] - truth[i]));
  }
}

static void the_spin_up_lags_as_a_chain_of_links_does(void **state) {
  (void)state;
  struct orr_beam beam = {.lag = 5, .segments = 44, .length = 10, .mass = 1.2, .bending = 1.4e4};
  double have[LOOKS], want[LOOKS], linear[LOOKS], lag[3], gap[3];
  beam.base = ORR_HINGE_REVOLUTE;
  beam.stiffening = true;
  struct orr_sample *s = orr_beam_make(&beam), *links = chain(32, beam.length, beam.mass, beam.bending);
  fly(s, 1, 44, 20, have);
  fly(links, 32, 1, 200, want);
  orr_sample_free(s);
  beam.stiffening = false;
  s = orr_beam_make(&beam);
  fly(s, 1, 44, 20, linear);
  largest(want, want, &lag[0], &gap[0]);
  largest(have, want, &lag[1], &gap[1]);
  largest(linear, want, &lag[2], &gap[2]);
  printf(
      "# spin-up: the tip lags by %.4f m, a chain of 32 links by %.4f; apart by at most %.2g m; linear shapes: %.3g\n",
      -lag[1], -lag[0], gap[1], gap[2]);
  assert_true(gap[1] < 0.02 * -lag[0]);
  assert_true(ORR_SANITIZED || !(gap[2] < 1)); /* they leave late */
  orr_sample_free(s);
  orr_sample_free(links);
}

/* ---- power and momentum ---------------------------------------------------------------------------------------- */

/* A hub that flies and turns freely, its beam bent both ways and swinging. */
static struct orr_sample *flyer(bool stiffening, uint64_t seed) {
  struct orr_beam beam = {.lag = 5, .flap = 5, .segments = 44, .length = 2, .mass = 0.7, .bending = 3, .hub = 0.4};
  struct orr_prng p = {seed};
  beam.stiffening = stiffening;
  beam.base = ORR_HINGE_FREE;
  struct orr_sample *s = orr_beam_make(&beam);
  for (int i = 0; i < s->u_count; i++) {
    bool mode = i >= s->u_at[1];
    if (mode)
      s->q[s->q_at[1] + i - s->u_at[1]] = prng_between(&p, -0.03, 0.03);
    s->u[i] = prng_between(&p, -1, 1) * (mode ? 0.3 : 2);
    s->force[i] = prng_between(&p, -1, 1);
  }
  return s;
}

static double energy_at(struct orr_trial *trial, const double *q, const double *u) {
  orr_state_set(trial->model, trial->ws, q, u);
  orr_poses_update(trial->model, trial->ws);
  return orr_kinetic_energy(trial->model, trial->ws) + orr_potential_energy(trial->model, trial->ws);
}

/* The energy does not know where the hub is, so its pose may stand still. Along η + t η̇, u + t u̇ it is then a
 * polynomial of fourth degree, and differences give its rate but for rounding. */
static void one_evaluation_balances_power(void **state) {
  (void)state;
  double worst = 0;
  for (uint64_t seed = 0; seed < 30; seed++) {
    struct orr_sample *s = flyer(true, seed);
    struct orr_trial trial = orr_trial_make(s, 0);
    double q[32], u[32], rate = 0, power = 0, size = 0;
    const double weight[5] = {1 / 12.0, -8 / 12.0, 0, 8 / 12.0, -1 / 12.0}, h = 0.25;
    assert_true(s->q_count <= 32);
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    for (int i = 0; i < s->u_count; i++)
      power += s->force[i] * s->u[i];
    for (int k = 0; k < 5; k++) {
      double t = (k - 2) * h;
      for (int i = 0; i < s->u_count; i++)
        u[i] = s->u[i] + t * trial.accel[i];
      memcpy(q, s->q, sizeof *q * (size_t)s->q_count);
      for (int i = 0; i < 10; i++)
        q[s->q_at[1] + i] += t * s->u[s->u_at[1] + i];
      double energy = energy_at(&trial, q, u);
      rate += weight[k] * energy / h;
      size = fmax(size, fabs(energy));
    }
    worst = fmax(worst, fabs(rate - power) / size);
    orr_expect_below(fabs(rate - power) / size, 1e-12, "power", seed);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
  printf("# power balance of one evaluation: within %.2g\n", worst);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_truth_is_the_published_one),
      cmocka_unit_test(five_modes_at_hub_zero_are_within_a_thousandth),
      cmocka_unit_test(linear_shapes_are_off_where_second_order_ones_are_not),
      cmocka_unit_test(ten_modes_to_hub_ratio_five_are_within_a_thousandth),
      cmocka_unit_test(the_spin_up_lags_as_a_chain_of_links_does),
      cmocka_unit_test(one_evaluation_balances_power),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
