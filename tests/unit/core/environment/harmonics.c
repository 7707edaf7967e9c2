/* core/environment/harmonics: the gradient and the second derivatives of a field in spherical harmonics. */
#include "core/environment/harmonics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/fields.h"
#include "tests/support/prng.h"

enum { DEGREE = 70 };

/* ---- a slow reference: Cunningham's V and W, not normalised, in long double -------------------------------------- */

#ifdef __clang__
#pragma clang diagnostic ignored "-Wdouble-promotion" /* which is what it is for */
#endif
typedef long double real;

struct slow {
  real c[DEGREE + 1][DEGREE + 1], s[DEGREE + 1][DEGREE + 1];
  real mu, radius;
};

static struct slow *slow_field(const struct orr_gravity_table *table) {
  struct slow *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->mu = table->mu;
  f->radius = table->radius;
  for (size_t i = 0; i < table->count; i++) {
    const struct orr_harmonic_term *t = &table->terms[i];
    /* C = C̄ √((2 − δ)(2n + 1)(n − m)!/(n + m)!) */
    real scale = (t->m ? 2 : 1) * (2.0L * t->n + 1);
    for (int k = t->n - t->m + 1; k <= t->n + t->m; k++)
      scale /= k;
    f->c[t->n][t->m] = t->c * sqrtl(scale);
    f->s[t->n][t->m] = t->s * sqrtl(scale);
  }
  return f;
}

static void slow_gradient(const struct slow *f, const real x[3], real out[3]) {
  static real v[DEGREE + 2][DEGREE + 2], w[DEGREE + 2][DEGREE + 2];
  real r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], rho = f->radius / r2;
  real a = x[0] * rho, b = x[1] * rho, c = x[2] * rho, d = f->radius * rho;
  v[0][0] = f->radius / sqrtl(r2);
  w[0][0] = 0;
  for (int m = 0; m <= DEGREE + 1; m++) {
    if (m > 0) {
      v[m][m] = (2 * m - 1) * (a * v[m - 1][m - 1] - b * w[m - 1][m - 1]);
      w[m][m] = (2 * m - 1) * (a * w[m - 1][m - 1] + b * v[m - 1][m - 1]);
    }
    for (int n = m + 1; n <= DEGREE + 1; n++) {
      int far = n > m + 1 ? n - 2 : m;
      real before_v = n > m + 1 ? v[far][m] : 0, before_w = n > m + 1 ? w[far][m] : 0;
      v[n][m] = ((2 * n - 1) * c * v[n - 1][m] - (n + m - 1) * d * before_v) / (n - m);
      w[n][m] = ((2 * n - 1) * c * w[n - 1][m] - (n + m - 1) * d * before_w) / (n - m);
    }
  }
  out[0] = out[1] = out[2] = 0;
  for (int n = 0; n <= DEGREE; n++)
    for (int m = 0; m <= n; m++) {
      real cc = f->c[n][m], ss = f->s[n][m], k = (real)(n - m + 1) * (n - m + 2);
      if (m == 0) {
        out[0] -= cc * v[n + 1][1];
        out[1] -= cc * w[n + 1][1];
      } else {
        out[0] +=
            0.5L * (-cc * v[n + 1][m + 1] - ss * w[n + 1][m + 1] + k * (cc * v[n + 1][m - 1] + ss * w[n + 1][m - 1]));
        out[1] +=
            0.5L * (-cc * w[n + 1][m + 1] + ss * v[n + 1][m + 1] + k * (-cc * w[n + 1][m - 1] + ss * v[n + 1][m - 1]));
      }
      out[2] += (n - m + 1) * (-cc * v[n + 1][m] - ss * w[n + 1][m]);
    }
  for (int i = 0; i < 3; i++)
    out[i] *= f->mu / (f->radius * f->radius);
}

/* Differences of the reference, of fourth order: 1e-13 of the second derivatives at 1 km steps. */
static void slow_hessian(const struct slow *f, const real x[3], real out[3][3]) {
  const real h = 1000;
  for (int j = 0; j < 3; j++) {
    real at[4][3], g[4][3];
    for (int k = 0; k < 4; k++) {
      for (int i = 0; i < 3; i++)
        at[k][i] = x[i];
      at[k][j] += h * (real[]){-2, -1, 1, 2}[k];
      slow_gradient(f, at[k], g[k]);
    }
    for (int i = 0; i < 3; i++)
      out[i][j] = (g[0][i] - 8 * g[1][i] + 8 * g[2][i] - g[3][i]) / (12 * h);
  }
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

struct world {
  struct orr_field_file file;
  struct orr_harmonics *field;
  struct slow *slow;
};

static int setup(void **state) {
  struct world *w = calloc(1, sizeof *w);
  w->file = orr_field_gravity("configs/data/ggm03s_70.txt", DEGREE);
  w->field = w->file.harmonics;
  w->slow = slow_field(&w->file.gravity);
  *state = w;
  return 0;
}

static int teardown(void **state) {
  struct world *w = *state;
  orr_field_free(&w->file);
  free(w->slow);
  free(w);
  return 0;
}

/* Random points, then the poles, the equator, the meridians, and near the poles. */
static orr_vec3 point(struct orr_prng *prng, int i) {
  static const double axes[8][3] = {{0, 0, 1},  {0, 0, -1}, {1, 0, 0},      {0, 1, 0},
                                    {-1, 0, 0}, {0, -1, 0}, {1e-9, 0, 1.0}, {1e-5, -1e-5, -1.0}};
  double r = 6378136.3 * (1.03 + 0.02 * (i % 10) + (i % 7 == 0 ? 6 : 0));
  orr_vec3 d =
      i < 8 ? v3_from(axes[i]) : v3(prng_between(prng, -1, 1), prng_between(prng, -1, 1), prng_between(prng, -1, 1));
  return v3_scale(r / v3_norm(d), d);
}

static void gradient_agrees_with_long_double(void **state) {
  struct world *w = *state;
  struct orr_prng prng = {3};
  double worst = 0;
  for (int i = 0; i < 300; i++) {
    orr_vec3 x = point(&prng, i), a = orr_harmonics_gradient(w->field, x);
    real want[3];
    slow_gradient(w->slow, (real[]){x.x, x.y, x.z}, want);
    orr_vec3 off = v3((double)(a.x - want[0]), (double)(a.y - want[1]), (double)(a.z - want[2]));
    worst = fmax(worst, v3_norm(off) / v3_norm(a));
  }
  print_message("70 x 70 gradient against long double: %.1e of it\n", worst);
  assert_true(worst < 5e-16);
}

static void second_derivatives_agree_with_differences(void **state) {
  struct world *w = *state;
  struct orr_prng prng = {4};
  double worst = 0;
  for (int i = 0; i < 100; i++) {
    orr_vec3 x = point(&prng, i);
    orr_sym3 g;
    orr_harmonics_hessian(w->field, x, &g);
    real want[3][3];
    slow_hessian(w->slow, (real[]){x.x, x.y, x.z}, want);
    const double got[3][3] = {{g.xx, g.xy, g.xz}, {g.xy, g.yy, g.yz}, {g.xz, g.yz, g.zz}};
    double scale = w->field->mu / pow(v3_norm(x), 3);
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++)
        worst = fmax(worst, fabs((double)(got[r][c] - want[r][c])) / scale);
  }
  print_message("second derivatives against differences in long double: %.1e of mu/r^3\n", worst);
  assert_true(worst < 5e-13);
}

/* Outside the masses the potential is harmonic; and both functions give one gradient. */
static void trace_of_second_derivatives_is_zero(void **state) {
  struct world *w = *state;
  struct orr_prng prng = {5};
  for (int i = 0; i < 300; i++) {
    orr_vec3 x = point(&prng, i);
    orr_sym3 g;
    orr_vec3 a = orr_harmonics_hessian(w->field, x, &g), b = orr_harmonics_gradient(w->field, x);
    assert_true(fabs(g.xx + g.yy + g.zz) < 2e-15 * w->field->mu / pow(v3_norm(x), 3));
    assert_true(v3_norm(v3_sub(a, b)) < 3e-16 * v3_norm(a));
  }
}

/* −μ/r² and its derivatives by hand, and those of J2 alone. */
static void central_field_and_oblateness_have_their_closed_forms(void **state) {
  (void)state;
  const double mu = 3.986004418e14, radius = 6378137, j2 = 1.0826e-3;
  size_t bytes = orr_harmonics_size(2, 1);
  void *block = aligned_alloc(64, bytes);
  struct orr_harmonics *h = orr_harmonics_init(block, bytes, mu, radius, 2, 1);
  assert_non_null(h);
  assert_null(orr_harmonics_init(block, bytes - 1, mu, radius, 2, 1));
  assert_false(orr_harmonics_set(h, 3, 0, 1, 0));
  assert_false(orr_harmonics_set(h, 2, 2, 1, 0));
  orr_vec3 x = v3(5e6, 3e6, -4.5e6);
  orr_sym3 g;
  double r = v3_norm(x), k = mu / (r * r * r);
  orr_vec3 a = orr_harmonics_hessian(h, x, &g);
  assert_true(v3_norm(v3_madd(a, k, x)) < 1e-15 * k * r);
  assert_true(fabs(g.xx - k * (3 * x.x * x.x / (r * r) - 1)) < 1e-15 * k);
  assert_true(fabs(g.yz - k * (3 * x.y * x.z / (r * r))) < 1e-15 * k);
  orr_harmonics_set(h, 2, 0, -j2 / sqrt(5), 0);
  a = orr_harmonics_gradient(h, x);
  double q = 1.5 * j2 * radius * radius / (r * r), z2 = 5 * x.z * x.z / (r * r);
  orr_vec3 want = v3(-k * x.x * (1 + q * (1 - z2)), -k * x.y * (1 + q * (1 - z2)), -k * x.z * (1 + q * (3 - z2)));
  assert_true(v3_norm(v3_sub(a, want)) < 2e-15 * k * r);
  free(block);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradient_agrees_with_long_double),
      cmocka_unit_test(second_derivatives_agree_with_differences),
      cmocka_unit_test(trace_of_second_derivatives_is_zero),
      cmocka_unit_test(central_field_and_oblateness_have_their_closed_forms),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
