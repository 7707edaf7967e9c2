/* Old bits of core's power, kept for the drawing of random models. */
#include "tests/support/draw_power.h"

#include <math.h>
#include <stdint.h>

#include "core/math/bits.h"

struct pair {
  double hi, lo;
};

/* a + b exactly (Knuth); and for |a| ≥ |b| or a = 0 (Dekker). */
static struct pair sum(double a, double b) {
  double s = a + b, t = s - a;
  return (struct pair){s, (a - (s - t)) + (b - t)};
}
static struct pair quick_sum(double a, double b) {
  double s = a + b;
  return (struct pair){s, b - (s - a)};
}
/* a b exactly. */
static struct pair product(double a, double b) {
  double p = a * b;
  return (struct pair){p, fma(a, b, -p)};
}
/* n/d */
static struct pair quotient(struct pair n, struct pair d) {
  double q = n.hi / d.hi;
  return quick_sum(q, (fma(-q, d.hi, n.hi) + (n.lo - q * d.lo)) / d.hi);
}

/* 2ⁿ, −1022 ≤ n ≤ 1023 */
static double power_of_two(int n) { return orr_double_of((uint64_t)(n + 1023) << 52); }
/* 2ⁿ x, |n| ≤ 1100, |x| such that the first product is exact. */
static double scaled(double x, int n) { return x * power_of_two(n / 2) * power_of_two(n - n / 2); }

/* exp(r) − 1 for |r| ≤ 0.36: r + r²/2 + r³ Σ r^i/(i + 3)! */
static struct pair grown(struct pair r) {
  double p = 1.0 / 6227020800;
  p = fma(r.hi, p, 1.0 / 479001600);
  p = fma(r.hi, p, 1.0 / 39916800);
  p = fma(r.hi, p, 1.0 / 3628800);
  p = fma(r.hi, p, 1.0 / 362880);
  p = fma(r.hi, p, 1.0 / 40320);
  p = fma(r.hi, p, 1.0 / 5040);
  p = fma(r.hi, p, 1.0 / 720);
  p = fma(r.hi, p, 1.0 / 120);
  p = fma(r.hi, p, 1.0 / 24);
  p = fma(r.hi, p, 1.0 / 6);
  struct pair half = product(0.5 * r.hi, r.hi), s = quick_sum(r.hi, half.hi);
  double cube = r.hi * r.hi * r.hi;
  return quick_sum(s.hi, s.lo + fma(cube, p, half.lo + fma(r.hi, r.lo, r.lo)));
}

/* x + below = k log 2 + r. The first part of log 2 has 42 bits, so that its product with k is exact. */
static struct pair less_octaves(struct pair x, int *k) {
  double n = rint(x.hi * 0x1.71547652b82fep+0);
  *k = (int)n;
  double first = fma(-n, 0x1.62e42fefa3800p-1, x.hi);
  struct pair take = product(n, 0x1.ef35793c76730p-45), r = sum(first, -take.hi);
  return quick_sum(r.hi, r.lo + (x.lo - fma(n, 0x1.f97b57a079a19p-103, take.lo)));
}

/* exp(x), |x| < 800 */
static double exp_of(struct pair x) {
  int k;
  struct pair e = grown(less_octaves(x, &k)), s = quick_sum(1, e.hi);
  return scaled(s.hi + (s.lo + e.lo), k);
}

/* log(x), 0 < x finite. x = 2ᵏ m with √½ ≤ m < √2; log m = 2 atanh(s), s = (m − 1)/(m + 1), |s| ≤ 0.172. */
static struct pair log_of(double x) {
  int k = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    k = -54;
  }
  uint64_t bits = orr_bits_of(x);
  k += (int)(bits >> 52) - 1023;
  double m = orr_double_of((bits & 0xfffffffffffff) | UINT64_C(1023) << 52);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    k++;
  }
  struct pair s = quotient((struct pair){m - 1, 0}, sum(m, 1));
  double z = s.hi * s.hi, p = 1.0 / 25;
  p = fma(z, p, 1.0 / 23);
  p = fma(z, p, 1.0 / 21);
  p = fma(z, p, 1.0 / 19);
  p = fma(z, p, 1.0 / 17);
  p = fma(z, p, 1.0 / 15);
  p = fma(z, p, 1.0 / 13);
  p = fma(z, p, 1.0 / 11);
  p = fma(z, p, 1.0 / 9);
  p = fma(z, p, 1.0 / 7);
  p = fma(z, p, 1.0 / 5);
  p = fma(z, p, 1.0 / 3);
  struct pair a = sum(k * 0x1.62e42fefa3800p-1, 2 * s.hi);
  return quick_sum(a.hi, a.lo + fma(k, 0x1.ef35793c76730p-45, fma(2 * s.hi * z, p, 2 * s.lo)));
}

double orr_draw_power(double x, double y) {
  if (y == 0 || x == 1)
    return 1;
  if (x > 0x1.fffffffffffffp+1023)
    return y > 0 ? (double)INFINITY : 0;
  struct pair l = log_of(x), e = product(y, l.hi);
  e = quick_sum(e.hi, fma(y, l.lo, e.lo));
  return exp_of(e);
}
