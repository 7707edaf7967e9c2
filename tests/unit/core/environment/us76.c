/* core/environment/us76: rows of the standard's table I, geometric altitude, NOAA-S/T 76-1562. */
#include "core/environment/us76.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct row {
  double km, t, p, rho;            /* K, Pa, kg/m³ as printed */
  double t_unit, p_unit, rho_unit; /* one of the last digit printed */
};

/* Up to 86 km the standard is a closed form, and every digit printed must come out; pressures are printed cut off, not
 * rounded (26499.9 Pa stands as 2.6499 + 2 mb). */
static const struct row low[] = {
    {0, 288.15, 101325, 1.2250, 1e-2, 1, 1e-4},         {0.5, 284.900, 95461, 1.1673, 1e-3, 1, 1e-4},
    {1, 281.651, 89876, 1.1117, 1e-3, 1, 1e-4},         {10, 223.252, 26499, 0.41351, 1e-3, 1, 1e-5},
    {77, 204.493, 1.7286, 2.9448e-5, 1e-3, 1e-4, 1e-9}, {86, 186.87, 0.37338, 6.958e-6, 1e-2, 1e-5, 1e-9},
};

/* Above, the printed values come from the integration of 1976. An exact one differs from it by up to one of the last
 * digit of densities (four digits) and by up to 1e-4 of pressures (five digits), which are sums of species; the
 * integration here is converged to 1e-7, see below. Temperatures are closed forms. */
static const struct row high[] = {
    {90, 186.87, 0.18359, 3.416e-6, 1e-2, 2e-5, 1e-9},
    {92, 186.96, 0.12887, 2.393e-6, 1e-2, 1.3e-5, 1e-9},
    {95, 188.42, 7.5966e-2, 1.393e-6, 1e-2, 7.6e-6, 1e-9},
    {100, 195.08, 3.2011e-2, 5.604e-7, 1e-2, 3.2e-6, 1e-10},
    {110, 240.00, 7.1042e-3, 9.708e-8, 1e-2, 7.1e-7, 1e-11},
    {120, 360.00, 2.5382e-3, 2.222e-8, 1e-2, 2.5e-7, 1e-11},
    {130, 469.27, 1.2505e-3, 8.152e-9, 1e-2, 1.3e-7, 1e-12},
    {140, 559.63, 7.2028e-4, 3.831e-9, 1e-2, 7.2e-8, 1e-12},
    {150, 634.39, 4.5422e-4, 2.076e-9, 1e-2, 4.5e-8, 1e-12},
    {200, 854.56, 8.4736e-5, 2.541e-10, 1e-2, 8.5e-9, 1e-13},
    {230, 915.78, 3.9276e-5, 1.029e-10, 1e-2, 3.9e-9, 1e-13},
    {300, 976.01, 8.7704e-6, 1.916e-11, 1e-2, 8.8e-10, 1e-14},
    {400, 995.83, 1.4518e-6, 2.803e-12, 1e-2, 1.5e-10, 1e-15},
    {500, 999.24, 3.0236e-7, 5.215e-13, 1e-2, 3e-11, 1e-16},
    {600, 999.85, 8.2130e-8, 1.137e-13, 1e-2, 8.2e-12, 1e-16},
    {750, 999.99, 2.2599e-8, 1.788e-14, 1e-2, 2.3e-12, 1e-17},
    {1000, 1000.00, 7.5138e-9, 3.561e-15, 1e-2, 7.5e-13, 1e-18},
};

static int setup(void **state) {
  struct orr_us76 *us76 = malloc(sizeof *us76);
  orr_us76_init(us76);
  *state = us76;
  return 0;
}

static int teardown(void **state) {
  free(*state);
  return 0;
}

static void within(const struct row *r, const char *what, double got, double want, double most) {
  if (fabs(got - want) > most * (1 + 1e-6))
    fail_msg("%g km, %s: %.6e is not %.6e", r->km, what, got, want);
}

static void rows_below_86_km_agree_to_the_last_digit(void **state) {
  for (size_t i = 0; i < sizeof low / sizeof *low; i++) {
    const struct row *r = &low[i];
    struct orr_us76_air air = orr_us76_at(*state, 1000 * r->km);
    within(r, "temperature", air.temperature, r->t, 0.5 * r->t_unit);
    assert_true(air.pressure >= r->p - 0.5 * r->p_unit);
    within(r, "pressure", air.pressure, r->p, r->p_unit);
    within(r, "density", air.density, r->rho, 0.5 * r->rho_unit);
  }
}

static void rows_above_86_km_agree_within_one_of_the_last_digit(void **state) {
  for (size_t i = 0; i < sizeof high / sizeof *high; i++) {
    const struct row *r = &high[i];
    struct orr_us76_air air = orr_us76_at(*state, 1000 * r->km);
    within(r, "temperature", air.temperature, r->t, 0.5 * r->t_unit);
    within(r, "pressure", air.pressure, r->p, r->p_unit);
    within(r, "density", air.density, r->rho, r->rho_unit);
    assert_true(air.density == orr_us76_density(*state, 1000 * r->km));
  }
}

/* What the table between kilometres must be: continuous to where the formulas end, convex enough not to ripple, and
 * nearly hydrostatic (exactly so it is for each species alone). */
static void density_is_continuous_and_follows_its_slope(void **state) {
  const struct orr_us76 *us76 = *state;
  double below = orr_us76_density(us76, 85999.999), above = orr_us76_density(us76, 86000);
  assert_true(fabs(below / above - 1) < 2e-5);
  for (int i = 0; i < 3660; i++) {
    double z = 86000 + 250.0 * i;
    double a = log(orr_us76_density(us76, z)), b = log(orr_us76_density(us76, z + 0.5));
    double c = log(orr_us76_density(us76, z + 1));
    assert_true(a > b && b > c && fabs(a - 2 * b + c) < 1e-6);
  }
  /* hydrostatic: dP = −ρ g dZ, above the mixed layers */
  for (int i = 4; i < 18; i++) {
    double z = 50.0 * i;
    double up = orr_us76_at(us76, 1000 * (z + 1)).pressure, down = orr_us76_at(us76, 1000 * (z - 1)).pressure;
    double g = 9.80665 * pow(6356.766 / (6356.766 + z), 2), slope = (up - down) / 2000;
    double rho = orr_us76_density(us76, 1000 * z);
    assert_true(fabs(slope / (rho * g) + 1) < 0.01);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_below_86_km_agree_to_the_last_digit),
      cmocka_unit_test(rows_above_86_km_agree_within_one_of_the_last_digit),
      cmocka_unit_test(density_is_continuous_and_follows_its_slope),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
