#include "core/math/eigen.h"

#include <math.h>

#include "core/math/elementary.h"

enum { MOST_SWEEPS = 60 };

static void sort(size_t n, double *values) {
  for (size_t i = 1; i < n; i++) {
    double v = values[i];
    size_t j = i;
    for (; j > 0 && values[j - 1] > v; j--)
      values[j] = values[j - 1];
    values[j] = v;
  }
}

/* The rotation in the plane of p and q that makes a[p][q] zero. */
static void rotate(size_t n, double *a, size_t p, size_t q) {
  double apq = a[p * n + q];
  double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
  double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
  double c = 1 / sqrt(t * t + 1), s = t * c;
  for (size_t k = 0; k < n; k++) {
    double akp = a[k * n + p], akq = a[k * n + q];
    a[k * n + p] = c * akp - s * akq;
    a[k * n + q] = s * akp + c * akq;
  }
  for (size_t k = 0; k < n; k++) {
    double apk = a[p * n + k], aqk = a[q * n + k];
    a[p * n + k] = c * apk - s * aqk;
    a[q * n + k] = s * apk + c * aqk;
  }
  a[p * n + q] = a[q * n + p] = 0;
}

/* One turn through all planes; false when nothing is left to rotate. */
static bool sweep(size_t n, double *a, double least) {
  bool turned = false;
  for (size_t p = 0; p < n; p++)
    for (size_t q = p + 1; q < n; q++)
      if (fabs(a[p * n + q]) > least) {
        rotate(n, a, p, q);
        turned = true;
      }
  return turned;
}

void orr_eigen_symmetric(size_t n, double *a, double *values) {
  double largest = 0;
  for (size_t i = 0; i < n * n; i++)
    largest = orr_max(largest, fabs(a[i]));
  for (int i = 0; i < MOST_SWEEPS && sweep(n, a, 1e-17 * largest); i++)
    ;
  for (size_t i = 0; i < n; i++)
    values[i] = a[i * n + i];
  sort(n, values);
}

bool orr_cholesky(size_t n, double *a, double tolerance, size_t *at) {
  for (size_t i = 0; i < n; i++) {
    double diagonal = a[i * n + i];
    for (size_t j = 0; j <= i; j++) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; k++)
        sum -= a[i * n + k] * a[j * n + k];
      if (j < i) {
        a[i * n + j] = sum / a[j * n + j];
      } else if (diagonal > 0 && sum > tolerance * diagonal) {
        a[i * n + i] = sqrt(sum);
      } else {
        if (at)
          *at = i;
        return false;
      }
    }
  }
  return true;
}

/* x = l⁻¹ x for each column of x [n][n]. */
static void solve_lower(size_t n, const double *l, double *x) {
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < n; c++) {
      double sum = x[i * n + c];
      for (size_t k = 0; k < i; k++)
        sum -= l[i * n + k] * x[k * n + c];
      x[i * n + c] = sum / l[i * n + i];
    }
}

static void transpose(size_t n, double *a) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++) {
      double t = a[i * n + j];
      a[i * n + j] = a[j * n + i];
      a[j * n + i] = t;
    }
}

/* With m = l lᵀ the values are those of l⁻¹ k l⁻ᵀ. */
bool orr_eigen_generalized(size_t n, double *k, double *m, double *values) {
  if (!orr_cholesky(n, m, 0, NULL))
    return false;
  solve_lower(n, m, k);
  transpose(n, k);
  solve_lower(n, m, k);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      k[i * n + j] = k[j * n + i] = 0.5 * (k[i * n + j] + k[j * n + i]);
  orr_eigen_symmetric(n, k, values);
  return true;
}
