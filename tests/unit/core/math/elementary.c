/* The elementary functions of core: within an ulp of the C library's in long double, and the special cases of annex F.
 * tests/bench/elementary.c does the same against MPFR; tests/soak/elementary.sh with ten million arguments each. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/math/bits.h"
#include "core/math/elementary.h"
#include "tests/support/prng.h"

enum { COUNT = 20000 };

static const double inf = (double)INFINITY, nan_ = (double)NAN;

/* How far `got` lies from the true value, in units of the last place of a double there. */
static double ulps(double got, long double want) {
  double near = (double)want;
  if (isnan(near) || isnan(got))
    return isnan(near) && isnan(got) ? 0 : 1e9;
  if (isinf(near) || isinf(got))
    return near == got ? 0 : 1e9;
  double size = fabs(near), ulp = size < DBL_MAX ? nextafter(size, inf) - size : size - nextafter(size, 0);
  return (double)(fabsl((long double)got - want) / (long double)ulp);
}

static double either_sign(struct orr_prng *p, double low, double high) {
  double x = prng_scale(p, low, high);
  return prng_chance(p, 0.5) ? x : -x;
}

struct one {
  const char *name;
  double (*ours)(double);
  long double (*theirs)(long double);
  double low, high; /* arguments: even between them, and of all sizes up to them */
};

static const struct one ones[] = {
    {"sin", orr_sin, sinl, -10, 10},      {"sin", orr_sin, sinl, -1e6, 1e6},      {"sin", orr_sin, sinl, -1e300, 1e300},
    {"cos", orr_cos, cosl, -10, 10},      {"cos", orr_cos, cosl, -1e6, 1e6},      {"cos", orr_cos, cosl, -1e300, 1e300},
    {"asin", orr_asin, asinl, -1, 1},     {"acos", orr_acos, acosl, -1, 1},       {"exp", orr_exp, expl, -745, 709},
    {"exp", orr_exp, expl, -1, 1},        {"expm1", orr_expm1, expm1l, -40, 709}, {"expm1", orr_expm1, expm1l, -1, 1},
    {"log", orr_log, logl, 1e-300, 2},    {"log", orr_log, logl, 0.5, 1e300},     {"tanh", orr_tanh, tanhl, -21, 21},
    {"tanh", orr_tanh, tanhl, -0.5, 0.5},
};

static void functions_of_one_number_are_within_an_ulp(void **state) {
  (void)state;
  struct orr_prng p = {23};
  for (size_t k = 0; k < sizeof ones / sizeof *ones; k++) {
    double worst = 0;
    for (int i = 0; i < COUNT; i++) {
      double x = prng_between(&p, ones[k].low, ones[k].high);
      if (i % 2)
        x = ones[k].low < 0 ? either_sign(&p, 1e-310, ones[k].high) : prng_scale(&p, ones[k].low, ones[k].high);
      double off = ulps(ones[k].ours(x), ones[k].theirs((long double)x));
      if (off > worst)
        worst = off;
      if (off > 1)
        fail_msg("%s(%a) is %a, %.2f ulp off", ones[k].name, x, ones[k].ours(x), off);
    }
    printf("# %s, %g to %g: %.3f ulp at most\n", ones[k].name, ones[k].low, ones[k].high, worst);
  }
}

struct two {
  const char *name;
  double (*ours)(double, double);
  long double (*theirs)(long double, long double);
  double low, high, low2, high2;
  bool positive; /* the first */
};

static const struct two twos[] = {
    {"atan2", orr_atan2, atan2l, 1e-3, 1e3, 1e-3, 1e3, false},
    {"atan2", orr_atan2, atan2l, 1e-310, 1e300, 1e-310, 1e300, false},
    {"hypot", orr_hypot, hypotl, 1e-3, 1e3, 1e-3, 1e3, false},
    {"hypot", orr_hypot, hypotl, 1e-310, 1e300, 1e-310, 1e300, false},
    {"pow", orr_pow, powl, 0.1, 10, 1e-3, 17, true},
    {"pow", orr_pow, powl, 1e-300, 1e300, 1e-5, 0.05, true},
};

static void functions_of_two_numbers_are_within_an_ulp(void **state) {
  (void)state;
  struct orr_prng p = {24};
  for (size_t k = 0; k < sizeof twos / sizeof *twos; k++)
    for (int i = 0; i < COUNT; i++) {
      const struct two *t = &twos[k];
      double x = t->positive ? prng_scale(&p, t->low, t->high) : either_sign(&p, t->low, t->high);
      double y = either_sign(&p, t->low2, t->high2);
      double off = ulps(t->ours(x, y), t->theirs((long double)x, (long double)y));
      if (off > 1)
        fail_msg("%s(%a, %a) is %a, %.2f ulp off", t->name, x, y, t->ours(x, y), off);
    }
}

/* y multiplies what is wrong in log x. (1.25 ulp at the first of them, once.) */
static void powers_keep_their_digits_where_the_exponent_is_large(void **state) {
  (void)state;
  struct orr_prng p = {26};
  double x = 0x1.69d2b8f5327cdp+0, y = 0x1.8f2f01db1dd16p+5;
  for (int i = 0; i < COUNT; i++) {
    double off = ulps(orr_pow(x, y), powl((long double)x, (long double)y));
    if (off > 0.6)
      fail_msg("pow(%a, %a) is %a, %.2f ulp off", x, y, orr_pow(x, y), off);
    x = prng_between(&p, 1.1, 2);
    y = prng_between(&p, 30, 40) / log(x);
  }
}

/* Arguments where a reduction loses most: next to multiples of π/2, and large ones. */
static void sine_and_cosine_keep_their_digits_where_they_are_small(void **state) {
  (void)state;
  struct orr_prng p = {25};
  for (int i = 0; i < COUNT; i++) {
    double x = floor(prng_scale(&p, 1, i % 2 ? 6e5 : 1e15)) * 1.57079632679489661923;
    for (int j = 0; j < 3; j++) {
      assert_true(ulps(orr_sin(x), sinl((long double)x)) <= 1);
      assert_true(ulps(orr_cos(x), cosl((long double)x)) <= 1);
      x = nextafter(x, inf);
    }
  }
  /* the double that is nearest to a multiple of π/2 of all: its cosine to 17 digits (Muller, Elementary Functions) */
  assert_true(fabs(orr_cos(6381956970095103.0 * 0x1p797) / -4.68716592425462761112e-19 - 1) < 1e-15);
}

static void same(const char *what, double got, double want) {
  if (isnan(want) ? !isnan(got) : orr_bits_of(got) != orr_bits_of(want))
    fail_msg("%s is %a, not %a", what, got, want);
}

#define SAME(call, want) same(#call, call, want)

static void special_values_are_those_of_the_standard(void **state) {
  (void)state;
  SAME(orr_sin(-0.0), -0.0), SAME(orr_sin(inf), nan_), SAME(orr_cos(-0.0), 1), SAME(orr_cos(-inf), nan_);
  SAME(orr_sin(nan_), nan_), SAME(orr_asin(-0.0), -0.0), SAME(orr_asin(1.1), nan_), SAME(orr_acos(1), 0);
  SAME(orr_acos(-1), 0x1.921fb54442d18p+1), SAME(orr_asin(-1), -0x1.921fb54442d18p+0), SAME(orr_acos(nan_), nan_);
  SAME(orr_exp(0), 1), SAME(orr_exp(-inf), 0), SAME(orr_exp(inf), inf), SAME(orr_exp(1e4), inf), SAME(orr_exp(-1e4), 0);
  SAME(orr_exp(nan_), nan_), SAME(orr_expm1(-0.0), -0.0), SAME(orr_expm1(-inf), -1), SAME(orr_expm1(inf), inf);
  SAME(orr_log(1), 0), SAME(orr_log(0), -inf), SAME(orr_log(-0.0), -inf), SAME(orr_log(-1), nan_);
  SAME(orr_log(inf), inf), SAME(orr_log(-inf), nan_), SAME(orr_tanh(-0.0), -0.0), SAME(orr_tanh(-inf), -1);
  SAME(orr_hypot(0, -0.0), 0), SAME(orr_hypot(-inf, nan_), inf), SAME(orr_hypot(nan_, 1), nan_),
      SAME(orr_hypot(3, -4), 5);
  SAME(orr_pow(2, 10), 1024), SAME(orr_pow(0.5, -3), 8), SAME(orr_pow(7, 0), 1), SAME(orr_pow(inf, -1), 0);
  SAME(orr_pow(-1, 2), nan_), SAME(orr_pow(2, 2000), inf), SAME(orr_pow(2, -2000), 0);
  static const double y[] = {0, -0.0, 1, -1, inf, -inf}, x[] = {0, -0.0, 1, -1, inf, -inf};
  for (size_t i = 0; i < sizeof y / sizeof *y; i++)
    for (size_t j = 0; j < sizeof x / sizeof *x; j++)
      same("atan2", orr_atan2(y[i], x[j]), atan2(y[i], x[j]));
  SAME(orr_atan2(nan_, 1), nan_), SAME(orr_atan2(1, nan_), nan_);
}

static void functions_are_odd_or_even_where_they_should_be(void **state) {
  (void)state;
  struct orr_prng p = {26};
  for (int i = 0; i < COUNT; i++) {
    double x = prng_scale(&p, 1e-300, 1e300), y = prng_scale(&p, 1e-3, 1e3), s = prng_unit(&p);
    same("sin", orr_sin(-x), -orr_sin(x)), same("cos", orr_cos(-x), orr_cos(x));
    same("tanh", orr_tanh(-y), -orr_tanh(y)), same("asin", orr_asin(-s), -orr_asin(s));
    same("atan2", orr_atan2(-y, x), -orr_atan2(y, x)), same("hypot", orr_hypot(-y, s), orr_hypot(s, y));
  }
}

static void the_larger_and_the_smaller_skip_what_is_no_number(void **state) {
  (void)state;
  SAME(orr_max(1, nan_), 1), SAME(orr_max(nan_, 1), 1), SAME(orr_min(1, nan_), 1), SAME(orr_min(nan_, 1), 1);
  SAME(orr_max(1, 2), 2), SAME(orr_min(1, 2), 1), SAME(orr_max(0.0, -0.0), 0.0), SAME(orr_min(-0.0, 0.0), -0.0);
}

static void a_wrapped_angle_is_exact(void **state) {
  (void)state;
  struct orr_prng p = {27};
  const double turn = 6.283185307179586476925;
  for (int i = 0; i < COUNT; i++) {
    double x = either_sign(&p, 1e-9, 1e9), r = orr_wrapped(x, turn);
    assert_true(fabs(r) <= 0.5 * turn);
    if (fabs(fabs(r) - 0.5 * turn) > 1e-12)
      same("wrapped", r, remainder(x, turn));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_of_one_number_are_within_an_ulp),
      cmocka_unit_test(functions_of_two_numbers_are_within_an_ulp),
      cmocka_unit_test(powers_keep_their_digits_where_the_exponent_is_large),
      cmocka_unit_test(sine_and_cosine_keep_their_digits_where_they_are_small),
      cmocka_unit_test(special_values_are_those_of_the_standard),
      cmocka_unit_test(functions_are_odd_or_even_where_they_should_be),
      cmocka_unit_test(the_larger_and_the_smaller_skip_what_is_no_number),
      cmocka_unit_test(a_wrapped_angle_is_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
