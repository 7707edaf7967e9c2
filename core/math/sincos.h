/* Sine and cosine of many angles at once: plain C without a branch, which the compiler turns into vectors.
 *
 * |x| = k π/2 + r + e with |r| ≤ π/4: k times the first of three parts of π/2 comes off exactly, k times the second
 * by a product and a difference whose rounding errors make up e. Then come series of sin r and cos r whose next
 * terms are below 1e-18, with e to first order, and the quadrant. The error is below 1 ulp up to |x| = 1e6. Larger
 * angles, and those that are not finite, go through orr_sin and orr_cos one by one.
 */
#ifndef ORR_CORE_MATH_SINCOS_H
#define ORR_CORE_MATH_SINCOS_H

#include <math.h>

#include "core/math/elementary.h"

/* Sine and cosine of r + e, |r| ≤ π/4, |e| ≤ ulp(r). [rt] O(1). */
static inline void orr_sincos_series(double r, double e, double *sine, double *cosine) {
  double z = r * r, half = 0.5 * z;
  /* (sin r − r)/r³ and (cos r − 1 + r²/2)/r⁴ */
  double s = 1.0 / 355687428096000;
  s = fma(z, s, -1.0 / 1307674368000);
  s = fma(z, s, 1.0 / 6227020800);
  s = fma(z, s, -1.0 / 39916800);
  s = fma(z, s, 1.0 / 362880);
  s = fma(z, s, -1.0 / 5040);
  s = fma(z, s, 1.0 / 120);
  s = fma(z, s, -1.0 / 6);
  double c = 1.0 / 20922789888000;
  c = fma(z, c, -1.0 / 87178291200);
  c = fma(z, c, 1.0 / 479001600);
  c = fma(z, c, -1.0 / 3628800);
  c = fma(z, c, 1.0 / 40320);
  c = fma(z, c, -1.0 / 720);
  c = fma(z, c, 1.0 / 24);
  double most = 1 - half;
  *sine = r + fma(r * z, s, fma(-half, e, e));
  *cosine = most + (((1 - most) - half) + fma(z * z, c, -r * e));
}

/* The same for |x| ≤ 1e6 alone. [rt] O(1). */
static inline void orr_sincos_reduced(double x, double *sine, double *cosine) {
  const double two_over_pi = 0x1.45f306dc9c883p-1;
  const double p1 = 0x1.921fb54442d18p+0, p2 = 0x1.1a62633145c07p-54, p3 = -0x1.f1976b7ed8fbcp-110;
  double a = fabs(x);
  double k = floor(fma(a, two_over_pi, 0.5));
  double first = fma(-k, p1, a), take = k * p2, take_error = fma(k, p2, -take);
  double r = first - take, back = r - first;
  double r_error = (first - (r - back)) - (take + back);
  double e = fma(-k, p3, r_error - take_error);
  double sin_r, cos_r;
  orr_sincos_series(r, e, &sin_r, &cos_r);
  double j = k - 4 * floor(0.25 * k); /* quadrant 0 … 3 */
  double odd = j - 2 * floor(0.5 * j);
  double sin_sign = 1 - 2 * floor(0.5 * j), cos_sign = sin_sign * (1 - 2 * odd);
  *sine = copysign(1, x) * (sin_sign * (odd > 0 ? cos_r : sin_r));
  *cosine = cos_sign * (odd > 0 ? sin_r : cos_r);
}

/* One angle. [rt] O(1). */
static inline void orr_sincos_one(double angle, double *sine, double *cosine) {
  if (fabs(angle) <= 1e6) {
    orr_sincos_reduced(angle, sine, cosine);
  } else {
    *sine = orr_sin(angle);
    *cosine = orr_cos(angle);
  }
}

/* sines[i], cosines[i] of angles[i], i < count. Arrays do not overlap. [rt] O(count). */
static inline void orr_sincos(const double *restrict angles, double *restrict sines, double *restrict cosines,
                              int count) {
  double largest = 0;
  for (int i = 0; i < count; i++) {
    orr_sincos_reduced(angles[i], &sines[i], &cosines[i]);
    double a = fabs(angles[i]);
    largest = a <= 1e6 ? largest : 1e9;
  }
  if (largest == 0)
    return;
  for (int i = 0; i < count; i++) {
    if (fabs(angles[i]) <= 1e6)
      continue;
    sines[i] = orr_sin(angles[i]);
    cosines[i] = orr_cos(angles[i]);
  }
}

#endif
