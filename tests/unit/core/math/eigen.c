/* Eigenvalues of small symmetric matrices. */
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

static void expect_values(const double *got, size_t n, const double *expected) {
  for (size_t i = 0; i < n; i++)
    if (fabs(got[i] - expected[i]) > 1e-13 * fmax(1, fabs(expected[n - 1])))
      fail_msg("value %zu is %.17g, not %.17g", i, got[i], expected[i]);
}

static void known_matrices_have_known_values(void **state) {
  (void)state;
  double a[] = {2, 1, 1, 2}, v[4];
  orr_eigen_symmetric(2, a, v);
  expect_values(v, 2, (double[]){1, 3});
  double b[] = {3, 0, 0, 0, -1, 0, 0, 0, 2};
  orr_eigen_symmetric(3, b, v);
  expect_values(v, 3, (double[]){-1, 2, 3});
  double zero[4] = {0};
  orr_eigen_symmetric(2, zero, v);
  expect_values(v, 2, (double[]){0, 0});
  double one = 7;
  orr_eigen_symmetric(1, &one, v);
  expect_values(v, 1, (double[]){7});
}

/* Second differences: 2 − 2 cos(k π / (n + 1)). */
static void a_string_of_masses_has_its_frequencies(void **state) {
  (void)state;
  enum { N = 40 };
  static double k[N * N], m[N * N];
  double values[N], expected[N];
  for (size_t i = 0; i < N; i++) {
    k[i * N + i] = 2 * 5;
    m[i * N + i] = 5;
    if (i + 1 < N)
      k[i * N + i + 1] = k[(i + 1) * N + i] = -5;
    expected[i] = 2 - 2 * cos((double)(i + 1) * 3.14159265358979323846 / (N + 1));
  }
  assert_true(orr_eigen_generalized(N, k, m, values));
  expect_values(values, N, expected);
}

/* With M = L Lᵀ and K = L diag(d) Lᵀ the values are d. */
static void coupled_masses_change_nothing_that_is_theirs(void **state) {
  (void)state;
  const double l[3][3] = {{2, 0, 0}, {0.5, 1, 0}, {-0.3, 0.7, 3}}, d[3] = {-2, 1e-3, 50};
  double k[9] = {0}, m[9] = {0}, values[3];
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 3; j++)
      for (size_t r = 0; r < 3; r++) {
        m[3 * i + j] += l[i][r] * l[j][r];
        k[3 * i + j] += l[i][r] * d[r] * l[j][r];
      }
  assert_true(orr_eigen_generalized(3, k, m, values));
  expect_values(values, 3, d);
}

static void what_is_not_positive_definite_is_refused_at_its_row(void **state) {
  (void)state;
  size_t at = 9;
  double a[] = {4, 2, 2, 1}; /* the second row is half the first */
  assert_false(orr_cholesky(2, a, 1e-12, &at));
  assert_int_equal(at, 1);
  double b[] = {0, 0, 0, 1};
  assert_false(orr_cholesky(2, b, 1e-12, &at));
  assert_int_equal(at, 0);
  double c[] = {4, 2, 2, 5}, k[] = {1, 0, 0, 1}, values[2];
  assert_true(orr_cholesky(2, c, 1e-12, NULL));
  assert_true(fabs(c[0] - (2)) <= 0);
  assert_true(fabs(c[2] - (1)) <= 0);
  assert_true(fabs(c[3] - (2)) <= 0);
  double m[] = {1, 2, 2, 1};
  assert_false(orr_eigen_generalized(2, k, m, values));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_matrices_have_known_values),
      cmocka_unit_test(a_string_of_masses_has_its_frequencies),
      cmocka_unit_test(coupled_masses_change_nothing_that_is_theirs),
      cmocka_unit_test(what_is_not_positive_definite_is_refused_at_its_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
