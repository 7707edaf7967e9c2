/* core/environment/magnetic: the official table of WMM2025, and IGRF by two other ways. */
#include "core/environment/magnetic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/environment/ellipsoid.h"
#include "tests/support/fields.h"
#include "tests/support/prng.h"

static const double degree = 0.017453292519943295;

/* ---- WMM2025 ----------------------------------------------------------------------------------------------------- */

struct local {
  double x, y, z, h, f, i, d;
};

static struct local elements(double x, double y, double z) {
  double h = hypot(x, y);
  return (struct local){x, y, z, h, hypot(h, z), atan2(z, h) / degree, atan2(y, x) / degree};
}

static orr_vec3 north_east_down(const struct orr_field_file *f, struct orr_geodetic at) {
  orr_vec3 b = orr_magnetic_field(f->magnetic, orr_geodetic_place(&orr_wgs84, at));
  return v3_scale(1e9, m3_apply(orr_geodetic_axes(at), b));
}

/* Half of the last printed digit, and what rounding 1e-9 away from a tie may add. */
static void printed(double got, double want, double unit) {
  if (fabs(got - want) > 0.5 * unit * (1 + 1e-6))
    fail_msg("%.6f is not %.6f to %g", got, want, unit);
}

static void check_row(const double *row) {
  struct orr_field_file f = orr_field_magnetic("configs/data/wmm2025.cof", NULL, row[0]);
  struct orr_geodetic at = {row[2] * degree, row[3] * degree, 1000 * row[1]};
  orr_vec3 b = north_east_down(&f, at);
  orr_magnetic_set_year(f.magnetic, row[0] + 1);
  orr_vec3 rate = v3_sub(north_east_down(&f, at), b); /* linear in time */
  struct local e = elements(b.x, b.y, b.z);
  const double got[7] = {e.x, e.y, e.z, e.h, e.f, e.i, e.d};
  for (int k = 0; k < 7; k++)
    printed(got[k], row[4 + k], k < 5 ? 0.1 : 0.01);
  if (!isnan(row[11])) { /* grid variation: above 55 degrees of latitude */
    double grid = e.d - copysign(row[3], row[2]);
    printed(grid - 360 * rint(grid / 360), row[11], 0.01);
  }
  double h_rate = (b.x * rate.x + b.y * rate.y) / e.h, f_rate = v3_dot(b, rate) / e.f;
  double i_rate = (e.h * rate.z - b.z * h_rate) / (e.f * e.f), d_rate = (b.x * rate.y - b.y * rate.x) / (e.h * e.h);
  const double rates[7] = {rate.x, rate.y, rate.z, h_rate, f_rate, i_rate / degree, d_rate / degree};
  for (int k = 0; k < 7; k++)
    printed(rates[k], row[12 + k], k < 5 ? 0.1 : 0.01);
  orr_field_free(&f);
}

static void wmm_2025_agrees_with_its_table_to_the_last_digit(void **state) {
  (void)state;
  FILE *in = fopen("tests/data/wmm2025_test_values.txt", "r");
  assert_non_null(in);
  char line[512];
  int rows = 0;
  while (fgets(line, sizeof line, in)) {
    double row[19];
    char *at = line;
    int n = 0;
    for (char *end; n < 19; n++, at = end) {
      row[n] = strtod(at, &end);
      if (end == at)
        break;
    }
    if (n != 19)
      continue;
    check_row(row);
    rows++;
  }
  fclose(in);
  assert_int_equal(rows, 12);
}

/* ---- IGRF -------------------------------------------------------------------------------------------------------- */

#ifdef __clang__
#pragma clang diagnostic ignored "-Wdouble-promotion" /* which is what it is for */
#endif
typedef long double real;

static real coefficient(const struct orr_magnetic_desc *d, double year, int n, int m, bool sine) {
  const struct orr_gauss *k = &d->gauss[orr_gauss_index(n, m)];
  real gone = (real)year - d->epoch;
  return sine ? k->h + gone * k->h_rate : k->g + gone * k->g_rate;
}

/* One way: X, Y, Z in geocentric axes by Schmidt's functions of colatitude and their slopes, by recursion in n. */
static void by_colatitude(const struct orr_magnetic_desc *d, double year, real r, real theta, real lambda,
                          real out[3]) {
  static real p[ORR_MAGNETIC_DEGREE + 1][ORR_MAGNETIC_DEGREE + 1], q[ORR_MAGNETIC_DEGREE + 1][ORR_MAGNETIC_DEGREE + 1];
  real c = cosl(theta), s = sinl(theta);
  p[0][0] = 1;
  q[0][0] = 0;
  out[0] = out[1] = out[2] = 0;
  for (int n = 1; n <= d->degree; n++) {
    real k = n == 1 ? 1 : sqrtl(1 - 0.5L / n);
    p[n][n] = k * s * p[n - 1][n - 1];
    q[n][n] = k * (s * q[n - 1][n - 1] + c * p[n - 1][n - 1]);
    for (int m = 0; m < n; m++) {
      real root = sqrtl((real)n * n - (real)m * m), less = n - 1 > m ? sqrtl((n - 1.0L) * (n - 1) - (real)m * m) : 0;
      real before = n - 1 > m ? p[n - 2][m] : 0, slope = n - 1 > m ? q[n - 2][m] : 0;
      p[n][m] = ((2 * n - 1) * c * p[n - 1][m] - less * before) / root;
      q[n][m] = ((2 * n - 1) * (c * q[n - 1][m] - s * p[n - 1][m]) - less * slope) / root;
    }
    real fall = powl(d->radius / r, n + 2);
    for (int m = 0; m <= n; m++) {
      real g = coefficient(d, year, n, m, false), h = coefficient(d, year, n, m, true);
      real along = g * cosl(m * lambda) + h * sinl(m * lambda), across = g * sinl(m * lambda) - h * cosl(m * lambda);
      out[0] += fall * along * q[n][m];
      out[1] += fall * m * across * p[n][m] / s;
      out[2] -= (n + 1) * fall * along * p[n][m];
    }
  }
}

/* Another: the potential by Legendre functions in closed form (a finite sum of powers), differentiated by differences
 * of sixth order. */
static real legendre(int n, int m, real x) {
  real sum = 0;
  for (int k = 0; 2 * k <= n - m; k++) {
    /* d^m/dx^m of the k-th term of P_n: (−1)^k (2n − 2k)!/(2^n k! (n − k)! (n − 2k)!) x^(n − 2k) */
    real term = k % 2 ? -1 : 1;
    term *= expl(lgammal(2 * n - 2 * k + 1) - n * logl(2) - lgammal(k + 1) - lgammal(n - k + 1) -
                 lgammal(n - 2 * k - m + 1));
    sum += term * powl(x, n - 2 * k - m);
  }
  real norm = m ? sqrtl(2 * expl(lgammal(n - m + 1) - lgammal(n + m + 1))) : 1;
  return norm * powl(1 - x * x, 0.5L * m) * sum;
}

static real potential(const struct orr_magnetic_desc *d, double year, const real x[3]) {
  real r = sqrtl(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), lambda = atan2l(x[1], x[0]), sum = 0;
  for (int n = 1; n <= d->degree; n++)
    for (int m = 0; m <= n; m++)
      sum +=
          powl(d->radius / r, n + 1) * legendre(n, m, x[2] / r) *
          (coefficient(d, year, n, m, false) * cosl(m * lambda) + coefficient(d, year, n, m, true) * sinl(m * lambda));
  return d->radius * sum;
}

static real by_difference(const struct orr_magnetic_desc *d, double year, const real x[3], int axis) {
  static const real weight[3] = {45, -9, 1};
  real sum = 0, h = 2000;
  for (int k = 1; k <= 3; k++) {
    real a[3] = {x[0], x[1], x[2]}, b[3] = {x[0], x[1], x[2]};
    a[axis] += k * h;
    b[axis] -= k * h;
    sum += weight[k - 1] * (potential(d, year, a) - potential(d, year, b));
  }
  return -sum / (60 * h);
}

static void igrf_agrees_with_two_other_ways(void **state) {
  (void)state;
  struct orr_prng prng = {6};
  double first = 0, second = 0;
  for (int i = 0; i < 60; i++) {
    double year = prng_between(&prng, 2015, 2020);
    struct orr_field_file f = orr_field_magnetic("configs/data/igrf_2015.txt", "configs/data/igrf_2020.txt", year);
    double latitude = asin(prng_between(&prng, -0.9999, 0.9999)), longitude = prng_between(&prng, -3.14, 3.14);
    double r = 6371200 + prng_between(&prng, 0, 2e6);
    struct orr_ellipsoid sphere = {6371200, 0};
    struct orr_geodetic at = {latitude, longitude, r - 6371200};
    orr_vec3 x = orr_geodetic_place(&sphere, at), b = orr_magnetic_field(f.magnetic, x);
    orr_vec3 local = v3_scale(1e9, m3_apply(orr_geodetic_axes(at), b));
    real want[3];
    by_colatitude(&f.desc, year, r, 1.57079632679489661923L - (real)latitude, longitude, want);
    first = fmax(first, fmax(fabs((double)(local.x - want[0])),
                             fmax(fabs((double)(local.y - want[1])), fabs((double)(local.z - want[2])))));
    if (i < 10)
      for (int axis = 0; axis < 3; axis++) {
        real d = by_difference(&f.desc, year, (real[]){x.x, x.y, x.z}, axis);
        second = fmax(second, fabs((double)(1e9L * (axis == 0 ? b.x : axis == 1 ? b.y : b.z) - d)));
      }
    orr_field_free(&f);
  }
  print_message("IGRF against colatitude functions %.1e nT, against differences of its potential %.1e nT\n", first,
                second);
  assert_true(first < 2e-10);
  assert_true(second < 1e-7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wmm_2025_agrees_with_its_table_to_the_last_digit),
      cmocka_unit_test(igrf_agrees_with_two_other_ways),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
