/* configs/wire-booms.yaml against the closed form of its nutation.
 *
 * A hub of inertia I_t across and I_s along its spin Ω carries four wires without mass or stiffness from the radius r,
 * each with a mass m at its end, at R = r + L. With the tilt θ of the hub and the pattern b of the flaps
 * (β_i = b_x sin φ_i − b_y cos φ_i) as complex numbers in axes that turn with the hub:
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

static const double across = 40, along = 60, radius = 0.8, length = 20, mass = 0.1;
static const double spin = 1.5707963267948966; /* 15 rpm */

static double polynomial(double s) {
  double reach = radius + length;
  return (along - across * (s + 1)) * (reach - length * s * s) + 2 * radius * mass * reach * reach * (1 - s);
}

/* Its three roots, by bisection from a scan. */
static int find_roots(double roots[3]) {
  int count = 0;
  for (int n = -4000; n < 4000 && count < 3; n++) {
    double low = 1e-3 * n, high = 1e-3 * (n + 1);
    if (polynomial(low) * polynomial(high) > 0)
      continue;
    for (int i = 0; i < 60; i++) {
      double middle = 0.5 * (low + high);
      *(polynomial(low) * polynomial(middle) <= 0 ? &high : &low) = middle;
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

static void the_hub_nutates_as_its_closed_form_says(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_run *run = orr_run_load("configs/wire-booms.yaml", NULL, d);
  assert_non_null(run);
  struct orr_flight f = {.diagnostics = d, .run = run, .session = orr_session_create(run, NULL)};
  f.plant = f.session->plant;
  orr_plant_ask(f.plant, orr_channel_find(&f.plant->table, "hub.rate"));
  assert_int_equal(orr_session_start(f.session), ORR_OK);

  double s[4] = {-1}, first = 0.1 * 3.14159265358979323846 / 180, reach = radius + length, worst = 0;
  assert_int_equal(find_roots(s + 1), 3);
  const double complex turn = csqrt(-1);
  double complex a[4][5] = {{0}}, x[4];
  for (int k = 0; k < 4; k++) { /* θ, θ̇, b, ḃ at the start */
    double flap = k ? -reach * (1 - s[k] * s[k]) / (reach - length * s[k] * s[k]) : 0;
    a[0][k] = 1;
    a[1][k] = turn * s[k] * spin;
    a[2][k] = flap;
    a[3][k] = turn * s[k] * spin * flap;
  }
  a[1][4] = first;
  solve(a, x);
  for (int n = 0; n < 6000; n++) {
    double complex want = 0;
    for (int k = 0; k < 4; k++)
      want += x[k] * turn * spin * (s[k] + 1) * cexp(turn * s[k] * spin * 0.01 * n);
    worst = fmax(worst, fabs(orr_flight_value(&f, "hub.rate.x") - creal(want)));
    worst = fmax(worst, fabs(orr_flight_value(&f, "hub.rate.y") - cimag(want)));
    orr_flight_run(&f, 1);
  }
  printf("# wire booms: nutation at %.4f, %.4f and %.4f of the spin; rates over 60 s within %.1e of %.1e rad/s\n", s[1],
         s[2], s[3], worst, first);
  assert_true(worst < 1e-4 * first);
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_hub_nutates_as_its_closed_form_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
