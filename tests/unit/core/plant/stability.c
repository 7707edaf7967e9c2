/* core/math/roots, core/plant/stiffness, core/plant/stability, io/session/step_limit: the stiffest motion and the
 * longest step, against dense matrices made elsewhere, against chains whose frequencies are known, and against the
 * step at which a run really blows up. */
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
#include "core/math/roots.h"
#include "io/session/step_limit.h"
#include "tests/support/dense.h"
#include "tests/support/flight.h"
#include "tests/support/prng.h"
#include "tests/support/sanitized.h"
#include "tests/support/trial.h"

static const double PI = 3.14159265358979323846;

static double size_of(struct orr_complex z) { return hypot(z.re, z.im); }

/* ---- roots ------------------------------------------------------------------------------------------------------- */

/* Largest |s| of s² + s c + k = 0 by squaring the companion matrix A again and again: |A^(2^k)|^(1/2^k). Shares nothing
 * with core/math/roots. */
static double radius(size_t n, const double *c, const double *k) {
  size_t m = 2 * n;
  long double *a = calloc(m * m, sizeof *a), *b = calloc(m * m, sizeof *b), logarithm = 0, power = 1;
  double sigma = 0;
  assert_true(a && b);
  for (size_t i = 0; i < n * n; i++)
    sigma = fmax(sigma, fmax(fabs(c[i]), sqrt(fabs(k[i]))));
  for (size_t i = 0; i < n; i++) {
    a[i * m + n + i] = 1;
    for (size_t j = 0; j < n; j++) {
      a[(n + i) * m + j] = (long double)(-k[i * n + j] / sigma / sigma);
      a[(n + i) * m + n + j] = (long double)(-c[i * n + j] / sigma);
    }
  }
  for (int round = 0; round < 24; round++) {
    long double norm = 0;
    for (size_t i = 0; i < m * m; i++)
      norm = fmaxl(norm, fabsl(a[i]));
    logarithm += logl(norm) / power;
    power *= 2;
    memset(b, 0, m * m * sizeof *b);
    for (size_t i = 0; i < m; i++)
      for (size_t l = 0; l < m; l++)
        for (size_t j = 0; j < m; j++)
          b[i * m + j] += a[i * m + l] / norm * (a[l * m + j] / norm);
    memcpy(a, b, m * m * sizeof *a);
  }
  free(a);
  free(b);
  return sigma * (double)expl(logarithm);
}

/* Symmetric random c and k, positive but for some zeros. */
static void random_pair(struct orr_prng *prng, size_t n, double *c, double *k) {
  double x[ORR_QUADRATIC_MOST];
  memset(c, 0, n * n * sizeof *c);
  memset(k, 0, n * n * sizeof *k);
  for (size_t r = 0; r + 1 < n || r == 0; r++) {
    double size[2] = {prng_scale(prng, 1e-2, 1e2), prng_scale(prng, 1, 1e4)};
    for (int which = 0; which < 2; which++) {
      for (size_t i = 0; i < n; i++)
        x[i] = prng_between(prng, -1, 1);
      for (size_t i = 0; i < n * n; i++)
        (which ? k : c)[i] += size[which] * x[i / n] * x[i % n];
    }
  }
}

static double residual(size_t n, const double *c, const double *k, struct orr_complex s, const struct orr_complex *x,
                       double scale) {
  double worst = 0;
  for (size_t i = 0; i < n; i++) {
    double re = (s.re * s.re - s.im * s.im) * x[i].re - 2 * s.re * s.im * x[i].im;
    double im = (s.re * s.re - s.im * s.im) * x[i].im + 2 * s.re * s.im * x[i].re;
    for (size_t j = 0; j < n; j++) {
      re += c[i * n + j] * (s.re * x[j].re - s.im * x[j].im) + k[i * n + j] * x[j].re;
      im += c[i * n + j] * (s.re * x[j].im + s.im * x[j].re) + k[i * n + j] * x[j].im;
    }
    worst = fmax(worst, hypot(re, im));
  }
  return worst / (scale * scale);
}

/* Every root has a vector; their sum is −tr c; the largest is the companion's spectral radius. */
static void roots_solve_their_problem(void **state) {
  (void)state;
  static struct orr_complex work[4 * ORR_QUADRATIC_MOST * ORR_QUADRATIC_MOST];
  struct orr_complex roots[2 * ORR_QUADRATIC_MOST], x[ORR_QUADRATIC_MOST];
  double c[ORR_QUADRATIC_MOST * ORR_QUADRATIC_MOST], k[ORR_QUADRATIC_MOST * ORR_QUADRATIC_MOST];
  for (uint64_t seed = 1; seed <= ORR_SHARE(120); seed++) {
    struct orr_prng prng = {seed};
    size_t n = seed % 40 == 0 ? ORR_QUADRATIC_MOST : 1 + seed % 12;
    double trace = 0, sum = 0, most = 0;
    random_pair(&prng, n, c, k);
    assert_true(orr_quadratic_roots(n, c, k, work, roots));
    for (size_t i = 0; i < n; i++)
      trace += c[i * n + i];
    for (size_t i = 0; i < 2 * n; i++) {
      sum += roots[i].re;
      most = fmax(most, size_of(roots[i]));
    }
    orr_expect_below(fabs(sum + trace) / most, 1e-12, "sum of roots", seed);
    orr_expect_below(fabs(radius(n, c, k) / most - 1), 1e-5, "largest root", seed);
    for (size_t i = 0; i < 2 * n; i++) {
      double length = 0;
      orr_quadratic_vector(n, c, k, roots[i], work, x);
      for (size_t j = 0; j < n; j++)
        length = hypot(length, size_of(x[j]));
      orr_expect_below(fabs(length - 1), 1e-12, "length of a vector", seed);
      orr_expect_below(residual(n, c, k, roots[i], x, most), 1e-12, "residual", seed);
    }
  }
  double nan = (double)NAN, zero = 0;
  assert_false(orr_quadratic_roots(1, &nan, &zero, work, roots));
}

/* ---- against dense matrices -------------------------------------------------------------------------------------- */

/* K and C of the conventions, from the description: [u][u]. */
static void elastic_of(const struct orr_sample *s, double *k, double *c) {
  size_t n = (size_t)s->u_count;
  for (int b = 0; b < (int)s->description.body_count; b++) {
    const struct orr_body_desc *body = &s->bodies[b];
    size_t at = (size_t)s->u_at[b], modes = body->mode_count, wide = modes + 6;
    double *mass = calloc(wide * wide, sizeof *mass), *eta = calloc(modes + 1, sizeof *eta);
    assert_true(mass && eta);
    if (modes)
      orr_dense_body_mass(body, eta, mass);
    for (size_t r = 0; r < modes; r++)
      for (size_t i = 0; i < modes; i++) {
        double kk = body->stiffness ? body->stiffness[r * modes + i] : 0;
        double cc = body->damping ? body->damping[r * modes + i] : 0;
        if (body->modes && i == r) {
          double omega = 2 * PI * body->modes[r].frequency_hz;
          kk = omega * omega * mass[r * wide + r];
          cc = 2 * body->modes[r].damping * omega * mass[r * wide + r];
        }
        k[(at + r) * n + at + i] = kk;
        c[(at + r) * n + at + i] = cc;
      }
    for (int i = 0; i < orr_sample_speeds(body->hinge.kind); i++) {
      size_t u = (size_t)orr_sample_hinge_u(s, b) + (size_t)i;
      k[u * n + u] = body->hinge.stiffness[i];
      c[u * n + u] = body->hinge.damping[i];
    }
    free(mass);
    free(eta);
  }
}

/* l⁻¹ a l⁻ᵀ, for m = l lᵀ. */
static void reduce(size_t n, const double *l, double *a) {
  for (int side = 0; side < 2; side++) {
    for (size_t col = 0; col < n; col++)
      for (size_t i = 0; i < n; i++) {
        double sum = a[i * n + col];
        for (size_t j = 0; j < i; j++)
          sum -= l[i * n + j] * a[j * n + col];
        a[i * n + col] = sum / l[i * n + i];
      }
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < i; j++) {
        double t = a[i * n + j];
        a[i * n + j] = a[j * n + i];
        a[j * n + i] = t;
      }
  }
}

/* Rows and columns of free speeds only, in the measure of the dense mass matrix. Returns how many. */
static size_t dense_pair(const struct orr_sample *s, double *k, double *c) {
  size_t n = (size_t)s->u_count, left = 0;
  double *mass = calloc(n * n, sizeof *mass);
  bool *held = calloc(n, sizeof *held);
  assert_true(mass && held);
  struct orr_dense *dense = orr_dense_make(s);
  orr_dense_mass(dense, mass);
  orr_dense_free(dense);
  elastic_of(s, k, c);
  for (int b = 0; b < (int)s->description.body_count; b++)
    for (int i = 0; i < orr_sample_speeds(s->bodies[b].hinge.kind); i++)
      held[orr_sample_hinge_u(s, b) + i] = s->bodies[b].hinge.prescribed;
  for (size_t i = 0; i < n; i++)
    left += !held[i];
  double *all[] = {mass, k, c};
  for (int which = 0; which < 3; which++)
    for (size_t i = 0, to = 0; i < n; i++)
      for (size_t j = 0; j < n; j++)
        if (!held[i] && !held[j])
          all[which][to++] = all[which][i * n + j];
  assert_true(orr_cholesky(left, mass, 0, NULL));
  reduce(left, mass, k);
  reduce(left, mass, c);
  free(mass);
  free(held);
  return left;
}

struct estimate {
  struct orr_stiffness *s;
  struct orr_trial trial;
  void *block;
  double fastest;
};

static struct estimate estimate_make(const struct orr_sample *sample) {
  struct estimate e = {.trial = orr_trial_make(sample, 0)};
  size_t bytes = orr_stiffness_size(e.trial.model);
  e.block = aligned_alloc(ORR_ALIGNMENT, (bytes / ORR_ALIGNMENT + 1) * ORR_ALIGNMENT);
  assert_null(orr_stiffness_init(e.block, bytes - 1, e.trial.model, e.trial.ws, NULL));
  e.s = orr_stiffness_init(e.block, bytes, e.trial.model, e.trial.ws, NULL);
  assert_non_null(e.s);
  assert_int_equal(orr_stiffness_find(e.s, sample->q), ORR_OK);
  for (int i = 0; i < e.s->root_count; i++)
    e.fastest = fmax(e.fastest, size_of(e.s->roots[i]));
  return e;
}

static void estimate_free(struct estimate *e) {
  free(e->block);
  orr_trial_free(&e->trial);
}

enum { MODES = 4, BODIES = 10 };

/* `still` takes the modes without their damping; NULL: as they are, and dampers of all sizes in the hinges. */
static struct orr_sample *sprung_sample(uint64_t seed, struct orr_mode_desc still[BODIES][MODES]) {
  struct orr_sample_options o = orr_sample_default(seed, 2 + (int)(seed % (BODIES - 1)));
  o.springs = 0.7;
  o.modes_max = MODES;
  struct orr_sample *s = orr_sample_make(&o);
  struct orr_prng prng = {seed};
  for (int b = 0; b < o.bodies; b++) {
    struct orr_body_desc *body = &s->bodies[b];
    for (int i = 0; i < 6; i++) {
      body->hinge.stiffness[i] *= prng_scale(&prng, 0.01, 1e4);
      body->hinge.damping[i] *= still ? 0 : prng_scale(&prng, 0.01, 1e3);
    }
    for (size_t r = 0; still && body->modes && r < body->mode_count; r++)
      still[b][r] = (struct orr_mode_desc){.frequency_hz = body->modes[r].frequency_hz};
    body->damping = still ? NULL : body->damping;
    body->modes = still && body->modes ? still[b] : body->modes;
  }
  return s;
}

/* Without dampers: the largest of M⁻¹ K, by Jacobi on the reference's matrices. */
static void stiffness_is_that_of_dense_matrices(void **state) {
  (void)state;
  double worst = 0;
  for (uint64_t seed = 1; seed <= ORR_SHARE(60); seed++) {
    struct orr_mode_desc still[BODIES][MODES];
    struct orr_sample *s = sprung_sample(seed, still);
    size_t n = (size_t)s->u_count;
    double *k = calloc(n * n, sizeof *k), *c = calloc(n * n, sizeof *c), *values = calloc(n + 1, sizeof *values);
    assert_true(k && c && values);
    size_t left = dense_pair(s, k, c);
    for (size_t i = 0; i < left * left; i++)
      c[i] = k[i];
    orr_eigen_symmetric(left, c, values);
    struct estimate e = estimate_make(s);
    double omega = left && values[left - 1] > 0 ? sqrt(values[left - 1]) : 0;
    if (omega > 0) {
      worst = fmax(worst, fabs(e.fastest / omega - 1));
      orr_expect_below(fabs(e.fastest / omega - 1), 1e-6, "stiffest frequency", seed);
    }
    estimate_free(&e);
    free(k);
    free(c);
    free(values);
    orr_sample_free(s);
  }
  printf("# stiffest frequency against dense matrices: off by at most %.1e\n", worst);
}

/* With dampers that share no motion with the springs: the spectral radius of the dense companion. */
static void damped_motion_is_that_of_dense_matrices(void **state) {
  (void)state;
  double worst = 0;
  for (uint64_t seed = 100; seed < 100 + ORR_SHARE(30); seed++) {
    struct orr_sample *s = sprung_sample(seed, NULL);
    size_t n = (size_t)s->u_count;
    double *k = calloc(n * n, sizeof *k), *c = calloc(n * n, sizeof *c);
    assert_true(k && c);
    size_t left = dense_pair(s, k, c);
    struct estimate e = estimate_make(s);
    double most = left && left <= 40 && e.fastest > 0 ? radius(left, c, k) : e.fastest;
    if (most > 0) {
      worst = fmax(worst, fabs(e.fastest / most - 1));
      orr_expect_below(fabs(e.fastest / most - 1), 1e-5, "fastest motion", seed);
    }
    estimate_free(&e);
    free(k);
    free(c);
    orr_sample_free(s);
  }
  printf("# fastest damped motion against dense matrices: off by at most %.1e\n", worst);
}

/* ---- against formulas -------------------------------------------------------------------------------------------- */

/* `count` carts of m kg in a row, free, k N/m between neighbours: ω = 2 √(k/m) sin(π (count − 1)/(2 count)). */
static char *carts(int count, double m, double k, const char *simulation) {
  size_t room = 400 + 200 * (size_t)count, used = 0;
  char *text = malloc(room);
  assert_non_null(text);
  used += (size_t)snprintf(text, room, "orrery: 1\nspacecraft:\n  bodies:\n");
  for (int i = 0; i < count; i++) {
    char to[32] = "inertial", spring[64] = "";
    if (i)
      snprintf(to, sizeof to, "c%d.origin", i - 1);
    if (i)
      snprintf(spring, sizeof spring, ", stiffness: %.17g", k);
    used += (size_t)snprintf(
        text + used, room - used,
        "    c%d: {mass: %.17g, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, axis: [1, 0, 0], to: %s%s}}\n", i,
        m, to, spring);
  }
  snprintf(text + used, room - used, "%s\n", simulation);
  return text;
}

/* The estimate is never above the truth, and near it although the frequencies at the top stand close. */
static void a_row_of_carts_has_its_known_frequency(void **state) {
  (void)state;
  const int counts[] = {2, 3, 10, 40, 200, 1000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    char *text = carts(counts[i], 2, 5e4, "simulation: {step: 1 ms}");
    struct orr_flight f = orr_flight_make(text, NULL);
    struct orr_stability found = orr_run_judge_step(f.run, f.diagnostics);
    double omega = 2 * sqrt(5e4 / 2) * sin(PI * (counts[i] - 1) / (2.0 * counts[i])),
           got = size_of(found.stiffest.root);
    printf("# %4d carts: %.5f of the known frequency, rk4 up to %.4g ms\n", counts[i], got / omega,
           1e3 * found.limit_s);
    assert_true(found.moves && got < omega * (1 + 1e-9) && got > omega * (counts[i] <= 40 ? 1 - 1e-6 : 0.99));
    assert_true(fabs(found.limit_s * got / 2.8284271247461903 - 1) < 1e-3);
    orr_flight_free(&f);
    free(text);
  }
}

/* A damper of c/m = 3e4 1/s beside 150 carts of up to 1e4 rad/s: seen with h of 1 ms it stands in the midst of the
 * springs, and only with that of the motions themselves in front. */
static void a_damper_among_many_springs_is_found(void **state) {
  (void)state;
  char *text =
      carts(150, 2, 5e7,
            "    d: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, axis: [1, 0, 0], to: inertial, "
            "damping: 6e4}}\n"
            "simulation: {step: 1 ms}");
  struct orr_flight f = orr_flight_make(text, NULL);
  struct orr_stability found = orr_run_judge_step(f.run, f.diagnostics);
  assert_true(fabs(size_of(found.stiffest.root) / 3e4 - 1) < 1e-6);
  assert_int_equal(found.limiting.body, 150);
  orr_flight_free(&f);
  free(text);
}

/* A hub free to turn about one axis with a cantilever mode: f √(M_ff / (M_ff − M_fr²/M_rr)). */
static void an_appendage_on_a_free_hub_is_faster_than_on_a_wall(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft:\n"
      "  bodies:\n"
      "    hub: {mass: 10, inertia: [4, 4, 4, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: inertial}}\n"
      "    boom:\n"
      "      hinge: {kind: fixed, to: hub.origin}\n"
      "      modes: [{frequency: 7 Hz, damping: 0}]\n"
      "      nodes:\n"
      "        origin: {at: [0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}\n"
      "        tip: {at: [3, 0, 0], mass: 2, modes: [[0, 0, 0, 0, 1, 0]]}\n"
      "simulation: {step: 1 ms}\n",
      NULL);
  struct orr_stability found = orr_run_judge_step(f.run, f.diagnostics);
  double wanted = 2 * PI * 7 * sqrt(2 / (2 - 6.0 * 6 / (4 + 2.0 * 9)));
  assert_true(fabs(size_of(found.stiffest.root) / wanted - 1) < 1e-9);
  assert_int_equal(found.stiffest.body, 1);
  assert_int_equal(found.stiffest.mode, 0);
  orr_flight_free(&f);
}

/* Two carts on the ground, geared by −3, a spring of k and a damper of c on the second: (m + 9 m) ẍ + 9 c ẋ + 9 k x =
 * 0. */
static void loops_let_move_only_what_they_allow(void **state) {
  (void)state;
  static const char *const methods[] = {"embed", "augment"};
  for (int i = 0; i < 2; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "orrery: 1\n"
             "spacecraft:\n"
             "  bodies:\n"
             "    a: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, axis: [1, 0, 0], to: inertial}}\n"
             "    b: {mass: 2, inertia: [1, 1, 1, 0, 0, 0],\n"
             "        hinge: {kind: prismatic, axis: [1, 0, 0], to: inertial, stiffness: 8e4, damping: 40}}\n"
             "  loops: [{gear: {hinge: a, drives: b, ratio: -3}, method: %s}]\n"
             "simulation: {step: 1 ms}\n",
             methods[i]);
    struct orr_flight f = orr_flight_make(text, NULL);
    struct orr_stability found = orr_run_judge_step(f.run, f.diagnostics);
    assert_true(found.moves);
    assert_true(fabs(size_of(found.stiffest.root) / sqrt(9 * 8e4 / 20) - 1) < 1e-9);
    assert_true(fabs(found.stiffest.root.re / (-0.5 * 9 * 40 / 20) - 1) < 1e-9);
    assert_int_equal(found.stiffest.body, 1);
    assert_int_equal(found.stiffest.coordinate, 0);
    assert_true(fabs(found.stiffest.share - 1) < 1e-9);
    orr_flight_free(&f);
  }
}

/* Regions of stability: of rk4 from its polynomial, ±2.8284 i and −2.7853; of heun −2; of semi_implicit 2 and 2. */
static void limits_are_those_of_the_rules(void **state) {
  (void)state;
  const struct orr_complex swing = {0, 1}, decay = {-1, 0}, damped = {-0.01, 0.9999499987499375};
  double far = 1e9;
  assert_true(fabs(orr_stability_limit(ORR_RK4, swing, far) - sqrt(8)) < 1e-5);
  assert_true(fabs(orr_stability_limit(ORR_RK4, decay, far) - 2.785293563405282) < 1e-6);
  assert_true(fabs(orr_stability_limit(ORR_HEUN, decay, far) - 2) < 1e-6);
  assert_true(orr_stability_limit(ORR_HEUN, swing, far) < 1e-2); /* h³ < 8/span */
  assert_true(fabs(orr_stability_limit(ORR_HEUN, swing, 1e3) - 0.2) < 1e-3);
  assert_true(fabs(orr_stability_limit(ORR_HEUN, damped, far) - 0.43) < 0.02); /* (8 ζ)^⅓, nearly */
  assert_true(fabs(orr_stability_limit(ORR_SEMI_IMPLICIT, swing, far) - 2) < 1e-12);
  assert_true(fabs(orr_stability_limit(ORR_SEMI_IMPLICIT, decay, far) - 2) < 1e-12);
  assert_true(isinf(orr_stability_limit(ORR_RK4, (struct orr_complex){0, 0}, far)));
}

/* ---- against runs that blow up ----------------------------------------------------------------------------------- */

/* How far two flights that begin 1e-9 apart have come from each other after so many steps, by the largest speed;
 * infinite when the solver gives up. */
static double divergence(struct orr_flight *f, double h, int steps) {
  struct orr_integration *i = f->plant->integration;
  size_t n = (size_t)f->session->model->u_count, rotors = (size_t)f->session->model->rotor_count;
  double *u = calloc(n + rotors + 1, sizeof *u), apart = 0;
  assert_non_null(u);
  for (int twin = 0; twin < 2; twin++) {
    assert_int_equal(orr_plant_reset(f->plant), ORR_OK);
    struct orr_prng prng = {1};
    for (size_t k = 0; k < n && twin; k++)
      i->u[k] += 1e-9 * prng_between(&prng, -1, 1);
    for (size_t k = 0; k < rotors && twin; k++)
      i->spin[k] += 1e-9 * prng_between(&prng, -1, 1);
    i->state_is_set = false;
    for (int step = 0; step < steps; step++)
      if (orr_integration_step(i, (int64_t)(1e9 * h) * step, (int64_t)(1e9 * h)) != ORR_OK) {
        free(u);
        return HUGE_VAL;
      }
    for (size_t k = 0; k < n + rotors; k++) {
      double now = k < n ? i->u[k] : i->spin[k - n];
      apart = twin ? fmax(apart, fabs(now - u[k])) : 0;
      u[k] = now;
    }
  }
  free(u);
  return apart;
}

/* The step at which the flight begins to blow up, from bisection about a guess. */
static double real_limit(struct orr_flight *f, double guess, int steps) {
  double low = 0.93 * guess, high = 1.07 * guess;
  for (int i = 0; i < 5; i++) {
    double h = 0.5 * (low + high);
    *(divergence(f, h, steps) > 1e-5 ? &high : &low) = h;
  }
  return 0.5 * (low + high);
}

static struct orr_flight file_flight(const char *path, const char *const *settings, size_t count) {
  const struct orr_config_options options = {.settings = settings, .setting_count = count};
  struct orr_flight f = {.diagnostics = orr_diagnostics_create()};
  f.run = orr_run_load(path, &options, f.diagnostics);
  assert_non_null(f.run);
  f.session = orr_session_create(f.run, NULL);
  f.plant = f.session->plant;
  assert_int_equal(orr_session_start(f.session), ORR_OK);
  return f;
}

/* Files refuse semi_implicit for spacecraft that fly free, whose momentum it loses; its limit is right for them, as
 * well. */
static void take_rule(struct orr_flight *f, enum orr_integrator rule) {
  struct orr_run *run = (struct orr_run *)f->run;
  run->plant.integrator = f->plant->integration->rule = rule;
}

/* The ratio of the real limit to the one foretold. */
static double ratio(struct orr_flight *f, const char *name, int steps) {
  struct orr_stability found = orr_run_judge_step(f->run, f->diagnostics);
  double real = real_limit(f, found.limit_s, steps);
  printf("# %-28s %-13s foretold %8.4g ms, real %8.4g ms, ratio %.4f\n", name,
         orr_integrator_names[f->run->plant.integrator], 1e3 * found.limit_s, 1e3 * real, real / found.limit_s);
  return real / found.limit_s;
}

static void shipped_runs_blow_up_where_it_is_foretold(void **state) {
  (void)state;
  const char *const paths[] = {"configs/chain-slew.yaml", "configs/chain-drive.yaml", "configs/wings-slew.yaml",
                               "configs/cassini-slew.yaml", "configs/reference.yaml"};
  const enum orr_integrator rules[] = {ORR_RK4, ORR_SEMI_IMPLICIT};
  for (size_t r = 0; r < 2; r++)
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
      struct orr_flight f = file_flight(paths[i], NULL, 0);
      take_rule(&f, rules[r]);
      double found = ratio(&f, paths[i], 400);
      assert_true(found > 0.99 && found < 1.02);
      orr_flight_free(&f);
    }
}

/* Five panels and a four-bar, held by a stiff spring on the first one's hinge where they begin. */
static void a_mechanism_blows_up_where_it_is_foretold(void **state) {
  (void)state;
  static const char *const methods[] = {"spacecraft.loops.0.method=embed", "spacecraft.loops.0.method=augment"};
  for (int i = 0; i < 2; i++) {
    const char *const settings[] = {methods[i], "spacecraft.bodies.panel_1.hinge.stiffness=1e6",
                                    "spacecraft.bodies.panel_1.hinge.rest=88 deg"};
    struct orr_flight f = file_flight("configs/deployment.yaml", settings, 3);
    double found = ratio(&f, strrchr(methods[i], '.') + 1, 400);
    assert_true(found > 0.99 && found < 1.02);
    orr_flight_free(&f);
  }
}

/* A free bus with a wheel in friction and six bodies on sprung and damped hinges, one of them flexible, one driven by a
 * motor in friction; springs at rest where they begin. */
static char *random_ship(uint64_t seed, const char *simulation) {
  enum { ROOM = 6000 };
  struct orr_prng prng = {seed};
  char *text = malloc(ROOM);
  assert_non_null(text);
  int used =
      snprintf(text, ROOM,
               "orrery: 1\nspacecraft:\n  bodies:\n    b0: {mass: 20, com: [0.1, 0, 0], inertia: [4, 5, 6, 0, 0, 0], "
               "hinge: {kind: free, to: inertial}, nodes: {n: {at: [0.5, 0.2, 0]}}}\n");
  for (int i = 1; i <= 6; i++) {
    const double mass = prng_scale(&prng, 0.1, 10), axis[3] = {prng_unit(&prng), prng_unit(&prng), prng_unit(&prng)};
    const double k = prng_scale(&prng, 1, 1e4), c = prng_scale(&prng, 1e-3, 1) * (double)(seed % 2);
    char inside[600];
    if (i == 3)
      snprintf(
          inside, sizeof inside,
          "modes: [{frequency: %.3g, damping: 0.01}], nodes: {origin: {at: [0, 0, 0], mass: %.3g, inertia: [1, 1, 1, "
          "0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}, n: {at: [1, 0, 0], mass: 1, modes: [[0, 0, 0.5, 0, 1, 0]]}}",
          prng_scale(&prng, 1, 100), mass);
    else
      snprintf(inside, sizeof inside,
               "mass: %.3g, com: [0.2, 0.1, 0], inertia: [%.3g, %.3g, %.3g, 0, 0, 0], nodes: {n: {at: [0.4, 0, 0.1]}}",
               mass, 0.1 * mass, 0.12 * mass, 0.15 * mass);
    used += snprintf(
        text + used, (size_t)(ROOM - used),
        "    b%d: {%s, hinge: {kind: %s, axis: [%.3g, %.3g, %.3g], to: b%d.n, stiffness: %.3g, damping: %.3g}}\n", i,
        inside, prng_chance(&prng, 0.3) ? "prismatic" : "revolute", axis[0], axis[1], axis[2], prng_pick(&prng, i), k,
        c);
  }
  snprintf(
      text + used, (size_t)(ROOM - used),
      "actuators:\n"
      "  w: {kind: reaction_wheel, node: b0.n, axis: [1, 0, 0], inertia: 0.01, friction: {viscous: %.3g, coulomb: "
      "1e-3}}\n"
      "  m: {kind: hinge_motor, hinge: b2, mode: torque, gear: {ratio: 10, rotor_inertia: 1e-4}, friction: {viscous: "
      "%.3g, coulomb: %.3g, stiction: %.3g}}\n%s\n",
      prng_scale(&prng, 1e-3, 1), prng_scale(&prng, 1e-2, 10), 1e-3, 2e-3, simulation);
  return text;
}

static void random_runs_blow_up_where_it_is_foretold(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= ORR_SHARE(16); seed++) {
    char name[20];
    snprintf(name, sizeof name, "random %d", (int)seed);
    char *text = random_ship(seed, "simulation: {step: 1 ms}");
    struct orr_flight f = orr_flight_make(text, NULL);
    take_rule(&f, seed % 4 < 2 ? ORR_RK4 : ORR_SEMI_IMPLICIT);
    double found = ratio(&f, name, 600);
    assert_true(found > 0.99 && found < 1.02);
    orr_flight_free(&f);
    free(text);
  }
}

/* heun multiplies an undamped motion by e over the run at its limit. */
static void heun_grows_e_fold_in_a_run_at_its_limit(void **state) {
  (void)state;
  struct orr_flight f =
      orr_flight_make("orrery: 1\n"
                      "spacecraft: {bodies: {m: {mass: 1, inertia: [1, 1, 1, 0, 0, 0],\n"
                      "  hinge: {kind: prismatic, axis: [1, 0, 0], to: inertial, stiffness: 3600}}}}\n"
                      "simulation: {step: 1 ms, integrator: heun, duration: 20 s, initial: {m: {q: [1]}}}\n",
                      NULL);
  struct orr_stability found = orr_run_judge_step(f.run, f.diagnostics);
  struct orr_integration *i = f.plant->integration;
  int64_t h = (int64_t)(1e9 * found.limit_s);
  for (int64_t t = 0; t < 20000000000; t += h)
    assert_int_equal(orr_integration_step(i, t, h), ORR_OK);
  double grown = hypot(i->q[0], i->u[0] / 60);
  printf("# heun at its limit of %.3f ms: times %.3f\n", 1e3 * found.limit_s, grown);
  assert_true(fabs(grown / exp(1) - 1) < 0.02);
  orr_flight_free(&f);
}

/* An arm of 0.1 kg m² in the friction of a motor, on a spring that rk4 could not follow. */
static void implicit_modal_is_limited_by_devices_alone(void **state) {
  (void)state;
  static const char *const frictions[] = {"", ", friction: {viscous: 50}"};
  for (int i = 0; i < 2; i++) {
    char text[800];
    snprintf(text, sizeof text,
             "orrery: 1\n"
             "spacecraft:\n"
             "  bodies:\n"
             "    stiff: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: "
             "inertial, "
             "stiffness: 1e7}}\n"
             "    arm: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: "
             "inertial}}\n"
             "actuators: {m: {kind: hinge_motor, hinge: arm, mode: torque%s}}\n"
             "simulation: {step: 1 ms, integrator: implicit_modal}\n",
             frictions[i]);
    struct orr_flight f = orr_flight_make(text, NULL);
    struct orr_stability found = orr_run_judge_step(f.run, f.diagnostics);
    assert_true(fabs(size_of(found.stiffest.root) / 1e4 - 1) < 1e-9);
    if (i) {
      assert_true(fabs(found.limit_s / (2 / 500.0) - 1) < 1e-3);
      assert_int_equal(found.limiting.body, 1);
      double real = real_limit(&f, found.limit_s, 400);
      assert_true(real / found.limit_s > 0.99 && real / found.limit_s < 1.03);
    } else {
      assert_true(isinf(found.limit_s));
    }
    orr_flight_free(&f);
  }
}

/* A stop that is not touched yet counts. */
static void a_stop_counts_as_touched(void **state) {
  (void)state;
  struct orr_flight f =
      orr_flight_make("orrery: 1\n"
                      "spacecraft: {bodies: {m: {mass: 1, inertia: [1, 1, 0.25, 0, 0, 0],\n"
                      "  hinge: {kind: revolute, axis: [0, 0, 1], to: inertial}}}}\n"
                      "actuators: {b: {kind: hinge_motor, hinge: m, mode: torque, stops: {high: 1, stiffness: 1e4}}}\n"
                      "simulation: {step: 20 ms}\n",
                      NULL);
  struct orr_stability found = orr_run_judge_step(f.run, f.diagnostics);
  char text[ORR_MOTION_TEXT];
  assert_true(fabs(size_of(found.stiffest.root) / 200 - 1) < 1e-9);
  assert_string_equal(orr_motion_place(f.run, &found.limiting, text), "the hinge of 'm' at its stop");
  assert_int_equal(orr_diagnostics_count(f.diagnostics), 1);
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(roots_solve_their_problem),
      cmocka_unit_test(stiffness_is_that_of_dense_matrices),
      cmocka_unit_test(damped_motion_is_that_of_dense_matrices),
      cmocka_unit_test(a_row_of_carts_has_its_known_frequency),
      cmocka_unit_test(a_damper_among_many_springs_is_found),
      cmocka_unit_test(an_appendage_on_a_free_hub_is_faster_than_on_a_wall),
      cmocka_unit_test(loops_let_move_only_what_they_allow),
      cmocka_unit_test(limits_are_those_of_the_rules),
      cmocka_unit_test(shipped_runs_blow_up_where_it_is_foretold),
      cmocka_unit_test(a_mechanism_blows_up_where_it_is_foretold),
      cmocka_unit_test(random_runs_blow_up_where_it_is_foretold),
      cmocka_unit_test(heun_grows_e_fold_in_a_run_at_its_limit),
      cmocka_unit_test(implicit_modal_is_limited_by_devices_alone),
      cmocka_unit_test(a_stop_counts_as_touched),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
