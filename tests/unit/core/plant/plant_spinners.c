/* configs/wire-booms.yaml and configs/spinner.yaml against the closed form of their nutation.
 *
 * A hub of inertia I_t across and I_s along its spin Ω carries four wires without mass or stiffness from the radius r,
 * each with a mass m at its end, at R = r + L. So does a stage whose liquid sloshes in four tanks. With the tilt θ
 * of the hub and the pattern b of the flaps (β_i = b_x sin φ_i − b_y cos φ_i) as complex numbers in axes that turn
 * with the hub:
 *
 *   hub     I_t (θ̈ + 2iΩθ̇ − Ω²θ) − i I_s Ω (θ̇ + iΩθ) = 2 r T b,   T = m Ω² R
 *   wires   R θ̈ + L b̈ + Ω² R (θ + b) = 0
 *
 * θ ~ exp(i s Ω t) has s = −1 (the hub's axis leans in space, and all with it), and the three roots of
 *   (I_s − I_t (s + 1)) (R − L s²) + 2 r m R² (1 − s) = 0
 * with b = −R (1 − s²)/(R − L s²) θ. The hub's transverse rate in its own axes is θ̇ + iΩθ.
 */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/flight.h"

static const double degree = 0.017453292519943295;

/* I_t, I_s, r, L, m, Ω; the transverse rate at the start, about x. */
struct spinner {
  double across, along, radius, length, mass, spin, first;
};

static double polynomial(const struct spinner *p, double s) {
  double reach = p->radius + p->length;
  return (p->along - p->across * (s + 1)) * (reach - p->length * s * s) +
         2 * p->radius * p->mass * reach * reach * (1 - s);
}

/* Its three roots, by bisection from a scan. */
static int find_roots(const struct spinner *p, double roots[3]) {
  int count = 0;
  for (int n = -4000; n < 4000 && count < 3; n++) {
    double low = 1e-3 * n, high = 1e-3 * (n + 1);
    if (polynomial(p, low) * polynomial(p, high) > 0)
      continue;
    for (int i = 0; i < 60; i++) {
      double middle = 0.5 * (low + high);
      *(polynomial(p, low) * polynomial(p, middle) <= 0 ? &high : &low) = middle;
    }
    roots[count++] = 0.5 * (low + high);
  }
  return count;
}

/* a x = b of four complex unknowns, pivots by size. */
static void solve(double complex a[4][5], double complex x[4]) {
  for (int k = 0; k < 4; k++) {
    int most = k;
    for (int i = k + 1; i < 4; i++)
      if (cabs(a[i][k]) > cabs(a[most][k]))
        most = i;
    for (int c = 0; c < 5; c++) {
      double complex other = a[k][c];
      a[k][c] = a[most][c];
      a[most][c] = other;
    }
    for (int i = 0; i < 4; i++) {
      double complex part = a[i][k] / a[k][k];
      for (int c = k; c < 5 && i != k; c++)
        a[i][c] -= part * a[k][c];
    }
  }
  for (int k = 0; k < 4; k++)
    x[k] = a[k][4] / a[k][k];
}

/* Solves for the four parts x of the motion from the rate at the start, flaps and tilt zero. */
static void split(const struct spinner *p, const double s[4], double complex x[4]) {
  const double complex turn = csqrt(-1);
  double complex a[4][5] = {{0}};
  double reach = p->radius + p->length;
  for (int k = 0; k < 4; k++) { /* θ, θ̇, b, ḃ at the start */
    double flap = k ? -reach * (1 - s[k] * s[k]) / (reach - p->length * s[k] * s[k]) : 0;
    a[0][k] = 1;
    a[1][k] = turn * s[k] * p->spin;
    a[2][k] = flap;
    a[3][k] = turn * s[k] * p->spin * flap;
  }
  a[1][4] = p->first;
  solve(a, x);
}

static struct orr_flight fly(const char *file, const char *watch) {
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_run *run = orr_run_load(file, NULL, d);
  assert_non_null(run);
  struct orr_flight f = {.diagnostics = d, .run = run, .session = orr_session_create(run, NULL)};
  f.plant = f.session->plant;
  orr_plant_ask(f.plant, orr_channel_find(&f.plant->table, watch));
  assert_int_equal(orr_session_start(f.session), ORR_OK);
  return f;
}

/* Compares the transverse rates of the body, `x` and `y`, over `frames`. */
static void nutates(struct orr_flight *f, const struct spinner *p, const char *x_rate, const char *y_rate, int frames,
                    double bound) {
  const double complex turn = csqrt(-1);
  double s[4] = {-1}, worst = 0, dt = 1e-9 * (double)f->plant->step_ns;
  double complex x[4];
  assert_int_equal(find_roots(p, s + 1), 3);
  split(p, s, x);
  for (int n = 0; n < frames; n++) {
    double complex want = 0;
    for (int k = 0; k < 4; k++)
      want += x[k] * turn * p->spin * (s[k] + 1) * cexp(turn * s[k] * p->spin * dt * n);
    worst = fmax(worst, fabs(orr_flight_value(f, x_rate) - creal(want)));
    worst = fmax(worst, fabs(orr_flight_value(f, y_rate) - cimag(want)));
    orr_flight_run(f, 1);
  }
  printf("# %s: nutation at %.4f, %.4f and %.4f of the spin; rates over %.0f s within %.1e of %.1e rad/s\n", x_rate,
         s[1], s[2], s[3], dt * frames, worst, p->first);
  assert_true(worst < bound * p->first);
}

static void wire_booms_nutate_as_their_closed_form_says(void **state) {
  (void)state;
  struct orr_flight f = fly("configs/wire-booms.yaml", "hub.rate");
  const struct spinner booms = {40, 60, 0.8, 20, 0.1, 90 * degree, 0.1 * degree};
  nutates(&f, &booms, "hub.rate.x", "hub.rate.y", 6000, 1e-4);
  orr_flight_free(&f);
}

/* Its pendulums are those of the level: mass and length from the tank's channels, which devices_tank.c holds. */
static void a_stage_nutates_with_its_slosh_as_the_closed_form_says(void **state) {
  (void)state;
  struct orr_flight f = fly("configs/spinner.yaml", "stage.rate");
  struct spinner stage = {
      723,         396,         0.65, orr_flight_value(&f, "tank_px.arm"), orr_flight_value(&f, "tank_px.sloshing"),
      30 * degree, 0.1 * degree};
  nutates(&f, &stage, "stage.rate.x", "stage.rate.y", 12000, 1e-4);
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wire_booms_nutate_as_their_closed_form_says),
      cmocka_unit_test(a_stage_nutates_with_its_slosh_as_the_closed_form_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
