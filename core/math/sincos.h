/* Sine and cosine of many angles at once: plain C without a branch, which the compiler turns into vectors.
 *
 * x = k π/2 + r with |r| ≤ π/4. Three fused multiply-adds take off k π/2 in three parts, so that r keeps its digits up
 * to |x| = 1e6. Then come series of sin r and cos r whose next terms are below 1e-18, and the quadrant. The error is
 * within 1 ulp of 1, measured against libm. Angles that are larger or not finite go through libm one by one.
 */
#ifndef ORR_CORE_MATH_SINCOS_H
#define ORR_CORE_MATH_SINCOS_H

#include <math.h>

/* The same for |x| ≤ 1e6 alone. [rt] O(1). */
static inline void orr_sincos_reduced(double x, double *sine, double *cosine) {
  const double two_over_pi = 0x1.45f306dc9c883p-1;
  const double p1 = 0x1.921fb54442d18p+0, p2 = 0x1.1a62633145c07p-54, p3 = -0x1.f1976b7ed8fbcp-110;
  double k = floor(x * two_over_pi + 0.5);
  double r = fma(-k, p3, fma(-k, p2, fma(-k, p1, x)));
  double z = r * r, half = 0.5 * z;
  /* (sin r − r)/r³ and (cos r − 1 + r²/2)/r⁴ */
  double s = 1.0 / 355687428096000;
  s = -1.0 / 1307674368000 + z * s;
  s = 1.0 / 6227020800 + z * s;
  s = -1.0 / 39916800 + z * s;
  s = 1.0 / 362880 + z * s;
  s = -1.0 / 5040 + z * s;
  s = 1.0 / 120 + z * s;
  s = -1.0 / 6 + z * s;
  double c = 1.0 / 20922789888000;
  c = -1.0 / 87178291200 + z * c;
  c = 1.0 / 479001600 + z * c;
  c = -1.0 / 3628800 + z * c;
  c = 1.0 / 40320 + z * c;
  c = -1.0 / 720 + z * c;
  c = 1.0 / 24 + z * c;
  double sin_r = r + r * z * s, most = 1 - half;
  double cos_r = most + (((1 - most) - half) + z * z * c);
  double j = k - 4 * floor(0.25 * k); /* quadrant 0 … 3 */
  double odd = j - 2 * floor(0.5 * j);
  double sin_sign = 1 - 2 * floor(0.5 * j), cos_sign = sin_sign * (1 - 2 * odd);
  *sine = sin_sign * (odd > 0 ? cos_r : sin_r);
  *cosine = cos_sign * (odd > 0 ? sin_r : cos_r);
}

/* One angle. [rt] O(1). */
static inline void orr_sincos_one(double angle, double *sine, double *cosine) {
  if (fabs(angle) <= 1e6) {
    orr_sincos_reduced(angle, sine, cosine);
  } else {
    *sine = sin(angle);
    *cosine = cos(angle);
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
    sines[i] = sin(angles[i]);
    cosines[i] = cos(angles[i]);
  }
}

#endif
