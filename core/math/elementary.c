#include "core/math/elementary.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/math/bits.h"
#include "core/math/sincos.h"

/* Most functions compute an unevaluated sum hi + lo of some 60 to 65 good bits, and round once at the end. */
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

static const double not_a_number = (double)NAN, infinite = (double)INFINITY;

/* ---- sine and cosine of large angles ----------------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 wide;

/* 2/π, 64 bits a word, behind a word of zeros. */
static const uint64_t two_over_pi[] = {0,
                                       0xa2f9836e4e441529,
                                       0xfc2757d1f534ddc0,
                                       0xdb6295993c439041,
                                       0xfe5163abdebbc561,
                                       0xb7246e3a424dd2e0,
                                       0x06492eea09d1921c,
                                       0xfe1deb1cb129a73e,
                                       0xe88235f52ebb4484,
                                       0xe99c7026b45f7e41,
                                       0x3991d639835339f4,
                                       0x9c845f8bbdf9283b,
                                       0x1ff897ffde05980f,
                                       0xef2f118b5a0a6d1f,
                                       0x6d367ecf27cb09b7,
                                       0x4f463f669e5fea2d,
                                       0x7527bac7ebe5f17b,
                                       0x3d0739f78a5292ea,
                                       0x6bfb5fb11f8d5d08,
                                       0x56033046fc7b6bab,
                                       0xf0cfbc209af4361d};

/* 64 bits of the table from bit `at`. */
static uint64_t window(int at) {
  int word = at / 64, shift = at % 64;
  return shift ? two_over_pi[word] << shift | two_over_pi[word + 1] >> (64 - shift) : two_over_pi[word];
}

/* Payne and Hanek: a finite x ≥ 1e6 is k π/2 + r, |r| ≤ π/4. Returns r, and k mod 4 in `quadrant`.
 * x = m 2ᵉ with a whole m. Bits of 2/π whose product with 2ᵉ is a multiple of 4 count nothing; the 192 that follow,
 * times m, are x·2/π mod 4 in units of 2⁻¹⁹⁰. */
static struct pair reduced(double x, int *quadrant) {
  uint64_t bits = orr_bits_of(x), m = (bits & 0xfffffffffffff) | UINT64_C(1) << 52;
  int e = (int)(bits >> 52) - 1023 - 52, at = 64 + e - 2; /* bit 64 of the table is 2⁻¹ */
  wide low = (wide)m * window(at + 128), middle = (wide)m * window(at + 64) + (uint64_t)(low >> 64);
  uint64_t p2 = m * window(at) + (uint64_t)(middle >> 64), p1 = (uint64_t)middle, p0 = (uint64_t)low;
  *quadrant = (int)(p2 >> 62);
  p2 = p2 << 2 | p1 >> 62; /* the fraction, in units of 2⁻¹⁹² */
  p1 = p1 << 2 | p0 >> 62;
  p0 <<= 2;
  double sign = 1;
  if (p2 >> 63) { /* a half or more: the next quadrant less the rest */
    *quadrant = (*quadrant + 1) & 3;
    sign = -1;
    p0 = ~p0, p1 = ~p1, p2 = ~p2; /* but for one unit of the last place */
  }
  int shift = 0;
  while (p2 >> 63 == 0 && shift < 120) {
    p2 = p2 << 1 | p1 >> 63;
    p1 = p1 << 1 | p0 >> 63;
    p0 <<= 1;
    shift++;
  }
  /* 53 bits and the 53 after them */
  double hi = (double)(p2 >> 11) * power_of_two(-53 - shift);
  double lo = (double)((p2 & 2047) << 42 | p1 >> 22) * power_of_two(-106 - shift);
  struct pair r = product(hi, 0x1.921fb54442d18p+0);
  r = quick_sum(r.hi, r.lo + fma(hi, 0x1.1a62633145c07p-54, lo * 0x1.921fb54442d18p+0));
  return (struct pair){sign * r.hi, sign * r.lo};
}

static void sincos_of(double x, double *sine, double *cosine) {
  if (fabs(x) <= 1e6) {
    orr_sincos_reduced(x, sine, cosine);
    return;
  }
  if (!(fabs(x) <= 0x1.fffffffffffffp+1023)) {
    *sine = *cosine = x - x; /* NaN */
    return;
  }
  int quadrant;
  double s, c;
  struct pair r = reduced(fabs(x), &quadrant);
  orr_sincos_series(r.hi, r.lo, &s, &c);
  double sines[4] = {s, c, -s, -c};
  *sine = copysign(1, x) * sines[quadrant];
  *cosine = sines[(quadrant + 1) & 3];
}

double orr_sin(double x) {
  double s, c;
  sincos_of(x, &s, &c);
  return s;
}

double orr_cos(double x) {
  double s, c;
  sincos_of(x, &s, &c);
  return c;
}

/* ---- arcs -------------------------------------------------------------------------------------------------------- */

/* atan(i/8) */
static const struct pair arcs[9] = {{0, 0},
                                    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};

/* atan(y/x), 0 ≤ y ≤ x. With c = i/8 nearest to y/x: atan(c) + atan(q), q = (y − c x)/(x + c y), |q| ≤ 1/16. */
static struct pair arc(struct pair y, struct pair x) {
  int i = (int)rint(8 * (y.hi / x.hi));
  double c = 0.125 * i;
  struct pair cx = product(c, x.hi), cy = product(c, y.hi);
  struct pair n = sum(y.hi, -cx.hi), d = sum(x.hi, cy.hi);
  n.lo += y.lo - (cx.lo + c * x.lo);
  d.lo += x.lo + (cy.lo + c * y.lo);
  struct pair q = quotient(n, d);
  double z = q.hi * q.hi, s = 1.0 / 17;
  s = fma(-z, s, 1.0 / 15);
  s = fma(-z, s, 1.0 / 13);
  s = fma(-z, s, 1.0 / 11);
  s = fma(-z, s, 1.0 / 9);
  s = fma(-z, s, 1.0 / 7);
  s = fma(-z, s, 1.0 / 5);
  s = fma(-z, s, 1.0 / 3);
  struct pair a = sum(arcs[i].hi, q.hi);
  return quick_sum(a.hi, a.lo + (arcs[i].lo + fma(-q.hi * z, s, q.lo)));
}

static const struct pair half_turn = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
static const struct pair quarter_turn = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

static struct pair difference(struct pair a, struct pair b) {
  struct pair d = sum(a.hi, -b.hi);
  return quick_sum(d.hi, d.lo + (a.lo - b.lo));
}

/* The angle of (x, y), y ≥ 0, both finite and not both zero, of numbers near 1 at most. */
static double angle(struct pair y, struct pair x) {
  struct pair length = x.hi < 0 ? (struct pair){-x.hi, -x.lo} : x;
  bool steep = y.hi > length.hi;
  struct pair a = steep ? arc(length, y) : arc(y, length);
  if (steep)
    a = difference(quarter_turn, a);
  if (x.hi < 0)
    a = difference(half_turn, a);
  return a.hi;
}

double orr_atan2(double y, double x) {
  if (x != x || y != y)
    return x + y;
  double a = fabs(y), b = fabs(x), largest = orr_max(a, b);
  if (largest > 0x1.fffffffffffffp+1023) { /* of an infinite point: one of the eight directions */
    y = a > 0x1.fffffffffffffp+1023 ? copysign(1, y) : copysign(0, y);
    x = b > 0x1.fffffffffffffp+1023 ? copysign(1, x) : copysign(0, x);
    a = fabs(y), b = fabs(x);
    largest = 1;
  }
  double right = copysign(1, x), turned = copysign(1, y);
  if (a == 0)
    return turned * (right < 0 ? half_turn.hi : 0);
  if (right > 0 && a < b * 0x1p-60) /* y/x and less than an ulp: it may be subnormal */
    return turned * (a / b);
  int n = (int)(orr_bits_of(largest) >> 52) - 1023;
  if (n < -1022)
    n = -1074;
  a = scaled(a, -n), b = scaled(b, -n);
  return turned * angle((struct pair){a, 0}, (struct pair){right * b, 0});
}

/* √(1 − x²), |x| ≤ 1 */
static struct pair other_leg(double x) {
  struct pair square = product(x, x), d = sum(1, -square.hi);
  d = quick_sum(d.hi, d.lo - square.lo);
  if (d.hi <= 0)
    return (struct pair){0, 0};
  double s = sqrt(d.hi);
  return quick_sum(s, (fma(-s, s, d.hi) + d.lo) / (2 * s));
}

double orr_asin(double x) {
  if (!(fabs(x) <= 1))
    return not_a_number;
  if (fabs(x) < 0x1p-27)
    return x;
  struct pair leg = other_leg(x), opposite = {fabs(x), 0};
  return copysign(leg.hi < opposite.hi ? difference(quarter_turn, arc(leg, opposite)).hi : arc(opposite, leg).hi, x);
}

double orr_acos(double x) {
  return fabs(x) <= 1 ? x == 1 ? 0 : angle(other_leg(x), (struct pair){x, 0}) : not_a_number;
}

/* ---- exponentials ------------------------------------------------------------------------------------------------ */

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

/* exp(x) − 1, |x| < 800 */
static struct pair expm1_of(double x) {
  int k;
  struct pair e = grown(less_octaves((struct pair){x, 0}, &k));
  if (k == 0)
    return e;
  if (k > 100 || k < -100) { /* one of them does not count */
    struct pair s = quick_sum(1, e.hi);
    double value = scaled(s.hi + (s.lo + e.lo), k);
    return k > 0 ? (struct pair){value, 0} : (struct pair){-1, value};
  }
  double two = power_of_two(k);
  struct pair less = sum(two, -1), s = sum(less.hi, two * e.hi);
  return quick_sum(s.hi, s.lo + (less.lo + two * e.lo));
}

double orr_exp(double x) {
  if (x != x)
    return x;
  if (x > 710)
    return infinite;
  return x < -750 ? 0 : exp_of((struct pair){x, 0});
}

double orr_expm1(double x) {
  if (x != x || fabs(x) < 0x1p-54)
    return x;
  if (x > 710)
    return infinite;
  if (x < -60)
    return -1;
  return expm1_of(x).hi;
}

/* (exp(2x) − 1)/(exp(2x) + 1) */
double orr_tanh(double x) {
  double a = fabs(x);
  if (x != x || a < 0x1p-28)
    return x;
  if (a > 20)
    return copysign(1, x);
  struct pair e = expm1_of(2 * a), d = sum(e.hi, 2);
  d.lo += e.lo;
  return copysign(quotient(e, d).hi, x);
}

/* ---- logarithm, powers, lengths ---------------------------------------------------------------------------------- */

/* 0 < x finite as 2ᵏ m with √½ ≤ m < √2. Returns s = (m − 1)/(m + 1), |s| ≤ 0.172: log m = 2 atanh(s). */
static struct pair less_powers(double x, int *k) {
  *k = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    *k = -54;
  }
  uint64_t bits = orr_bits_of(x);
  *k += (int)(bits >> 52) - 1023;
  double m = orr_double_of((bits & 0xfffffffffffff) | UINT64_C(1023) << 52);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    ++*k;
  }
  return quotient((struct pair){m - 1, 0}, sum(m, 1));
}

/* 1/5 + z/7 + z²/9 + … */
static double beyond_the_cube(double z) {
  double p = 1.0 / 25;
  p = fma(z, p, 1.0 / 23);
  p = fma(z, p, 1.0 / 21);
  p = fma(z, p, 1.0 / 19);
  p = fma(z, p, 1.0 / 17);
  p = fma(z, p, 1.0 / 15);
  p = fma(z, p, 1.0 / 13);
  p = fma(z, p, 1.0 / 11);
  p = fma(z, p, 1.0 / 9);
  p = fma(z, p, 1.0 / 7);
  return fma(z, p, 1.0 / 5);
}

/* log 2, in two numbers; the first has 42 bits, so that its product with k is exact. */
static const struct pair octave = {0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45};

/* log(x) with some 58 good bits */
static struct pair log_of(double x) {
  int k;
  struct pair s = less_powers(x, &k), a = sum(k * octave.hi, 2 * s.hi);
  double z = s.hi * s.hi, p = fma(z, beyond_the_cube(z), 1.0 / 3);
  return quick_sum(a.hi, a.lo + fma(k, octave.lo, fma(2 * s.hi * z, p, 2 * s.lo)));
}

/* log(x) with some 64, for powers: y multiplies what is wrong in it. The cube of s is computed in two numbers, too:
 * log m = 2 s + 2 s w, w = s²/3 + s⁴ (1/5 + …). */
static struct pair log_fine(double x) {
  int k;
  struct pair s = less_powers(x, &k), z = product(s.hi, s.hi), w = product(z.hi, 1.0 / 3);
  z.lo = fma(2 * s.hi, s.lo, z.lo);
  w.lo += fma(z.hi, 0x1.5555555555555p-56, z.lo / 3);
  w = quick_sum(w.hi, fma(z.hi * z.hi, beyond_the_cube(z.hi), w.lo));
  struct pair cube = product(2 * s.hi, w.hi), a = sum(k * octave.hi, 2 * s.hi), b = sum(a.hi, cube.hi);
  cube.lo += 2 * fma(s.hi, w.lo, s.lo * w.hi);
  return quick_sum(b.hi, b.lo + (a.lo + fma(k, octave.lo, cube.lo + 2 * s.lo)));
}

double orr_log(double x) {
  if (x != x || x > 0x1.fffffffffffffp+1023)
    return x < 0 ? not_a_number : x;
  if (x <= 0)
    return x == 0 ? -infinite : not_a_number;
  return log_of(x).hi;
}

double orr_pow(double x, double y) {
  if (!(x > 0) || y != y)
    return not_a_number;
  if (y == 0 || x == 1)
    return 1;
  bool great = x > 0x1.fffffffffffffp+1023;
  struct pair l = great ? (struct pair){infinite, 0} : log_fine(x);
  double most = y * l.hi;
  if (!(fabs(most) < 760))
    return most > 0 ? infinite : 0;
  struct pair e = product(y, l.hi);
  e = quick_sum(e.hi, fma(y, l.lo, e.lo));
  return e.hi > 710 ? infinite : exp_of(e);
}

double orr_hypot(double x, double y) {
  double a = fabs(x), b = fabs(y), most = orr_max(a, b), least = orr_min(a, b);
  if (a > 0x1.fffffffffffffp+1023 || b > 0x1.fffffffffffffp+1023)
    return infinite;
  if (x != x || y != y)
    return x + y;
  if (least <= most * 0x1p-60)
    return most;
  int n = (int)(orr_bits_of(most) >> 52) - 1023;
  if (n < -1022)
    n = -1074;
  most = scaled(most, -n), least = scaled(least, -n);
  struct pair p = product(most, most), q = product(least, least), s = quick_sum(p.hi, q.hi);
  double root = sqrt(s.hi);
  double rest = fma(-root, root, s.hi) + (s.lo + (p.lo + q.lo));
  return scaled(root + rest / (2 * root), n);
}

double orr_wrapped(double x, double turn) {
  double r = fma(-rint(x / turn), turn, x);
  if (r > 0.5 * turn)
    r -= turn;
  if (r < -0.5 * turn)
    r += turn;
  return r;
}
