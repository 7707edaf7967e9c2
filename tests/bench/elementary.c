/* The elementary functions of core (core/math/elementary) beside MPFR, which is right to the last digit: how far
 * each is off, in units of the last place, at most, and where. `elementary [COUNT [NAME...]]`: so many arguments of
 * each kind, 100,000 without, of these functions or of all. Ends with 1 where one is off by more than 1.
 * Links with: -lmpfr
 */
#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/math/elementary.h"
#include "tests/support/prng.h"

/* How an argument is drawn. */
struct law {
  enum { EVEN, SIZES, ANY, QUARTERS } kind;
  double low, high; /* EVEN: between them; SIZES: of either sign and any size between them */
};

struct function {
  const char *name;
  double (*one)(double), (*two)(double, double);
  int (*true_one)(mpfr_t, const mpfr_t, mpfr_rnd_t), (*true_two)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
  struct law x, y;
};

#define ONE(name, ...)                                                                                                 \
  {                                                                                                                    \
#name, orr_##name, NULL, mpfr_##name, NULL, __VA_ARGS__, { EVEN, 0, 0 }                                            \
  }
#define TWO(name, ...)                                                                                                 \
  { #name, NULL, orr_##name, NULL, mpfr_##name, __VA_ARGS__ }

static const struct function functions[] = {
    ONE(sin, {EVEN, -4, 4}),
    ONE(sin, {EVEN, -1e6, 1e6}),
    ONE(sin, {SIZES, 0x1p-1074, 0x1p1023}),
    ONE(sin, {QUARTERS, 0, 6e5}),
    ONE(cos, {EVEN, -4, 4}),
    ONE(cos, {EVEN, -1e6, 1e6}),
    ONE(cos, {SIZES, 0x1p-1074, 0x1p1023}),
    ONE(cos, {QUARTERS, 0, 6e5}),
    ONE(asin, {EVEN, -1, 1}),
    ONE(asin, {SIZES, 0x1p-1074, 1}),
    ONE(acos, {EVEN, -1, 1}),
    ONE(acos, {SIZES, 0x1p-1074, 1}),
    ONE(exp, {EVEN, -1, 1}),
    ONE(exp, {EVEN, -746, 710}),
    ONE(expm1, {EVEN, -1, 1}),
    ONE(expm1, {SIZES, 0x1p-1074, 700}),
    ONE(log, {EVEN, 0.9, 1.1}),
    ONE(log, {EVEN, 0, 2}),
    ONE(log, {ANY, 0, 0}),
    ONE(tanh, {EVEN, -1, 1}),
    ONE(tanh, {SIZES, 0x1p-1074, 22}),
    TWO(atan2, {EVEN, -1, 1}, {EVEN, -1, 1}),
    TWO(atan2, {ANY, 0, 0}, {ANY, 0, 0}),
    TWO(atan2, {SIZES, 0x1p-80, 8}, {SIZES, 0.125, 8}),
    TWO(hypot, {EVEN, -1, 1}, {EVEN, -1, 1}),
    TWO(hypot, {SIZES, 0x1p-1074, 0x1p-1010}, {SIZES, 0x1p-1074, 0x1p-1010}),
    TWO(hypot, {SIZES, 0x1p990, 0x1p1023}, {SIZES, 0x1p990, 0x1p1023}),
    TWO(pow, {EVEN, 0.1, 10}, {EVEN, -17, 17}),
    TWO(pow, {EVEN, 0.5, 2}, {EVEN, -50, 50}),
};

static double drawn(struct orr_prng *p, struct law law, bool positive) {
  double x = 0;
  if (law.kind == EVEN)
    return prng_between(p, law.low, law.high);
  if (law.kind == QUARTERS)
    return floor(prng_between(p, law.low, law.high)) * 1.57079632679489661923;
  if (law.kind == SIZES)
    x = exp2(prng_between(p, log2(law.low), log2(law.high)));
  do
    if (law.kind == ANY) {
      uint64_t bits = prng_next(p) & INT64_MAX;
      memcpy(&x, &bits, sizeof x);
    }
  while (!isfinite(x));
  return !positive && prng_chance(p, 0.5) ? -x : x;
}

/* |got − want| in units of the last place of `want`. */
static double off(double got, mpfr_t want, mpfr_t scratch) {
  double near = mpfr_get_d(want, MPFR_RNDN), size = fabs(near);
  if (!isfinite(near) || !isfinite(got))
    return near == got ? 0 : HUGE_VAL;
  double ulp = size < 0x1p1023 ? nextafter(size, HUGE_VAL) - size : 0x1p971;
  mpfr_sub_d(scratch, want, got, MPFR_RNDN);
  mpfr_div_d(scratch, scratch, ulp, MPFR_RNDN);
  return fabs(mpfr_get_d(scratch, MPFR_RNDN));
}

static bool judge(const struct function *f, long count) {
  struct orr_prng p = {5};
  double worst = 0, x_worst = 0, y_worst = 0;
  mpfr_t x, y, want;
  mpfr_inits2(200, x, y, want, (mpfr_ptr)NULL);
  for (long i = 0; i < count; i++) {
    double a = drawn(&p, f->x, f->one == orr_log), b = f->two ? drawn(&p, f->y, false) : 0;
    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_set_d(y, b, MPFR_RNDN);
    if (f->two)
      f->true_two(want, x, y, MPFR_RNDN);
    else
      f->true_one(want, x, MPFR_RNDN);
    double e = off(f->two ? f->two(a, b) : f->one(a), want, x);
    if (e > worst)
      worst = e, x_worst = a, y_worst = b;
  }
  mpfr_clears(x, y, want, (mpfr_ptr)NULL);
  printf("%-6s %.4f ulp at most, at %a", f->name, worst, x_worst);
  printf(f->two ? ", %a\n" : "\n", y_worst);
  return worst <= 1;
}

static bool named(const char *name, int count, char **names) {
  bool found = count == 0;
  for (int i = 0; i < count; i++)
    found |= strcmp(names[i], name) == 0;
  return found;
}

int main(int argc, char **argv) {
  long count = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
  bool good = true;
  int judged = 0;
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
    if (named(functions[k].name, argc > 2 ? argc - 2 : 0, argv + 2)) {
      good &= judge(&functions[k], count);
      judged++;
    }
  return !good || judged == 0;
}
