/* The numbers of flights: known answers of generator and sequence; the laws by chi-square and Kolmogorov. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/campaign/binomial.h"
#include "tools/campaign/campaign_page.h"
#include "tools/campaign/draw.h"
#include "tools/campaign/sobol.h"

enum { DRAWS = 100000 };

/* Random123, kat_vectors: philox2x64 10. */
static void the_generator_gives_its_published_answers(void **state) {
  (void)state;
  assert_true(orr_draw_bits(0, 0, 0) == UINT64_C(0xca00a0459843d731));
  assert_true(orr_draw_bits(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_C(0x65b021d60cd8310f));
  assert_true(orr_draw_bits(UINT64_C(0xa4093822299f31d0), UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344)) ==
              UINT64_C(0x0a5e742c2997341c));
}

/* The first ten points in three dimensions as Joe and Kuo print them. */
static void the_sequence_begins_as_published(void **state) {
  (void)state;
  static const double points[10][3] = {{0, 0, 0},
                                       {0.5, 0.5, 0.5},
                                       {0.75, 0.25, 0.25},
                                       {0.25, 0.75, 0.75},
                                       {0.375, 0.375, 0.625},
                                       {0.875, 0.875, 0.125},
                                       {0.625, 0.125, 0.875},
                                       {0.125, 0.625, 0.375},
                                       {0.1875, 0.3125, 0.9375},
                                       {0.6875, 0.8125, 0.4375}};
  for (uint32_t i = 0; i < 10; i++)
    for (int d = 0; d < 3; d++)
      assert_true((double)orr_sobol(d, i) * 0x1p-32 == points[i][d]);
}

/* Whatever the direction numbers, 2^m points have one in each of 2^m layers of each dimension. */
static void each_dimension_fills_its_layers(void **state) {
  (void)state;
  enum { BITS = 10, COUNT = 1 << BITS };
  for (int d = 0; d < ORR_SOBOL_DIMENSIONS; d++) {
    bool seen[COUNT] = {false};
    for (uint32_t i = 0; i < COUNT; i++)
      seen[orr_sobol(d, i) >> (32 - BITS)] = true;
    for (int i = 0; i < COUNT; i++)
      assert_true(seen[i]);
    for (int other = 0; other < d; other++) {
      bool same = true;
      for (uint32_t i = 0; i < COUNT; i++)
        same &= orr_sobol(d, i) == orr_sobol(other, i);
      assert_false(same);
    }
  }
}

static void a_permutation_takes_every_place_once(void **state) {
  (void)state;
  static const uint64_t counts[] = {1, 2, 3, 7, 64, 1000, 4097};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    bool seen[4097] = {false};
    for (uint64_t i = 0; i < counts[c]; i++) {
      uint64_t place = orr_draw_place(5, 11, i, counts[c]);
      assert_true(place < counts[c] && !seen[place]);
      seen[place] = true;
    }
  }
}

/* Against values of the normal distribution as tables print them (Abramowitz and Stegun, table 26.5 and its kind). */
static void quantiles_are_those_of_tables(void **state) {
  (void)state;
  static const double known[][2] = {{0.5, 0},
                                    {0.975, 1.959963984540054},
                                    {0.99, 2.326347874040841},
                                    {0.001, -3.090232306167813},
                                    {1e-6, -4.753424308822899},
                                    {1e-9, -5.997807015007687},
                                    {0.25, -0.674489750196082}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_true(fabs(orr_draw_normal_quantile(known[i][0]) - known[i][1]) < 1e-14 + 1e-14 * fabs(known[i][1]));
  for (int power = -300; power < 0; power++) {
    double p = pow(10, power);
    assert_true(fabs(orr_draw_normal_below(orr_draw_normal_quantile(p)) / p - 1) < 1e-11);
  }
}

/* ---- laws -------------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Kolmogorov's statistic of sorted probabilities, times the root of their number: beyond 1.95 by chance once in a
 * thousand; and chi-square over a hundred cells, whose 0.999 quantile with 99 degrees of freedom is 148.2. */
static void judge_uniform(double *p, const char *what, bool layered) {
  double worst = 0, chi = 0, cells[100] = {0};
  qsort(p, DRAWS, sizeof *p, by_size);
  for (int i = 0; i < DRAWS; i++) {
    assert_true(p[i] >= 0 && p[i] <= 1);
    worst = fmax(worst, fmax(fabs(p[i] - i / (double)DRAWS), fabs(p[i] - (i + 1) / (double)DRAWS)));
    cells[(int)fmin(99, p[i] * 100)]++;
  }
  for (int i = 0; i < 100; i++)
    chi += (cells[i] - DRAWS / 100.0) * (cells[i] - DRAWS / 100.0) / (DRAWS / 100.0);
  if (worst * sqrt(DRAWS) > 1.95 || chi > 148.2)
    fail_msg("%s: Kolmogorov %.3f, chi-square %.1f", what, worst * sqrt(DRAWS), chi);
  if (layered && worst > 1.001 / DRAWS)
    fail_msg("%s: not one in each layer: %.3g", what, worst * DRAWS);
}

enum { LAWS = 9 };
static const double covariance_factor[2][2] = {{2, 0}, {1.5, 0.5}};
static const double text_values[4] = {1, 2, 3, 4};
static const char *const texts[4] = {"1", "2", "3", "4"};

static const struct orr_campaign_vary varies[LAWS] = {
    {.law = ORR_LAW_NORMAL, .number = {5, 2}, .low = -HUGE_VAL, .high = HUGE_VAL, .dimension = 0},
    {.law = ORR_LAW_NORMAL, .number = {5, 2}, .low = 4, .high = 9, .dimension = 1},
    {.law = ORR_LAW_NORMAL, .number = {0, 1}, .low = 4, .high = HUGE_VAL, .dimension = 2},
    {.law = ORR_LAW_UNIFORM, .number = {-3, 7}, .low = -HUGE_VAL, .high = HUGE_VAL, .dimension = 3},
    {.law = ORR_LAW_LOG_UNIFORM, .number = {0.01, 100}, .low = -HUGE_VAL, .high = HUGE_VAL, .dimension = 4},
    {.law = ORR_LAW_TRIANGULAR, .number = {1, 2, 5}, .low = -HUGE_VAL, .high = HUGE_VAL, .dimension = 5},
    {.law = ORR_LAW_JOINT, .number = {1}, .factor = covariance_factor[0], .joint_first = 6, .dimension = 6},
    {.law = ORR_LAW_JOINT, .number = {-1}, .factor = covariance_factor[1], .joint_first = 6, .dimension = 7},
    {.law = ORR_LAW_ONE_OF, .texts = texts, .text_values = text_values, .text_count = 4, .dimension = 8},
};

/* Distribution functions, written out anew. */
static double normal_below(double x) { return 0.5 * erfc(-x / sqrt(2)); }
static double probability(int law, const double *x) {
  double low, high;
  switch (law) {
  case 0:
    return normal_below((x[0] - 5) / 2);
  case 1:
    low = normal_below(-0.5), high = normal_below(2);
    return (normal_below((x[1] - 5) / 2) - low) / (high - low);
  case 2: /* by the upper tail, where it has digits */
    return 1 - normal_below(-x[2]) / normal_below(-4);
  case 3:
    return (x[3] + 3) / 10;
  case 4:
    return log(x[4] / 0.01) / log(1e4);
  case 5:
    return x[5] < 2 ? (x[5] - 1) * (x[5] - 1) / 4 : 1 - (5 - x[5]) * (5 - x[5]) / 12;
  case 6:
    return normal_below((x[6] - 1) / 2);
  case 7: /* what is left of the second when the first is taken out: correlation 3/4 of σ₂/σ₁ */
    return normal_below((x[7] + 1 - 0.75 * (x[6] - 1)) / 0.5);
  default:
    return 0;
  }
}

static void the_laws_are_what_they_say(void **state) {
  (void)state;
  double *p = malloc((LAWS - 1) * DRAWS * sizeof *p);
  assert_non_null(p);
  for (int sampling = 0; sampling <= ORR_SAMPLING_SOBOL; sampling++) {
    const struct orr_campaign c = {.flights = DRAWS,
                                   .seed = 42,
                                   .sampling = (enum orr_campaign_sampling)sampling,
                                   .vary_count = LAWS,
                                   .dimensions = LAWS,
                                   .varies = varies};
    double counts[4] = {0}, chi = 0;
    for (int64_t i = 0; i < DRAWS; i++) {
      double x[LAWS];
      orr_draw_flight(&c, i, x);
      for (int law = 0; law < LAWS - 1; law++)
        p[law * DRAWS + i] = probability(law, x);
      counts[(int)x[8]]++;
    }
    for (int law = 0; law < LAWS - 1; law++) {
      char what[60];
      snprintf(what, sizeof what, "law %d, %s", law, orr_sampling_names[sampling]);
      judge_uniform(p + law * DRAWS, what, sampling == ORR_SAMPLING_LATIN_HYPERCUBE && law < 7 && law != 2);
    }
    for (int i = 0; i < 4; i++)
      chi += (counts[i] - DRAWS / 4.0) * (counts[i] - DRAWS / 4.0) / (DRAWS / 4.0);
    assert_true(chi < 16.3); /* 0.999 with three degrees of freedom */
  }
  free(p);
}

/* The same whatever was asked before, and different for every flight and seed. */
static void a_flight_depends_on_itself_alone(void **state) {
  (void)state;
  static const struct orr_campaign_vary two[] = {{.law = ORR_LAW_EACH, .dimension = -1},
                                                 {.law = ORR_LAW_UNIFORM, .number = {0, 1}, .dimension = 0}};
  struct orr_campaign c = {.flights = 1000, .seed = 1, .vary_count = 2, .dimensions = 1, .varies = two};
  double first[2], again[2], other[2];
  orr_draw_flight(&c, 417, first);
  for (int64_t i = 999; i >= 0; i--) {
    orr_draw_flight(&c, i, again);
    assert_true(again[0] >= 0 && again[0] < 0x1p53 && again[0] == floor(again[0]));
    assert_true((i == 417) == (memcmp(first, again, sizeof first) == 0));
  }
  c.seed = 2;
  orr_draw_flight(&c, 417, other);
  assert_true(other[0] != first[0] && other[1] != first[1]);
}

static void a_grid_takes_every_cell(void **state) {
  (void)state;
  static const struct orr_campaign_vary three[] = {{.law = ORR_LAW_ONE_OF, .text_count = 3, .dimension = 0},
                                                   {.law = ORR_LAW_EACH, .dimension = -1},
                                                   {.law = ORR_LAW_ONE_OF, .text_count = 4, .dimension = 1}};
  const struct orr_campaign c = {
      .flights = 12, .sampling = ORR_SAMPLING_GRID, .vary_count = 3, .dimensions = 2, .varies = three};
  for (int64_t i = 0; i < 12; i++) {
    double x[3];
    orr_draw_flight(&c, i, x);
    int64_t slow = i / 4, fast = i % 4;
    assert_true(x[0] == (double)slow && x[2] == (double)fast);
  }
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* Closed forms: none missed, the bound is the n-th root of 1 − confidence; and the bound itself: at it, so many or more
 * have exactly that probability, by a sum of binomial terms. */
static void bounds_are_those_of_clopper_and_pearson(void **state) {
  (void)state;
  static const struct {
    int64_t met, count;
    double confidence;
  } cases[] = {{10, 10, 0.95},    {299, 299, 0.95}, {1000, 1000, 0.99}, {5, 10, 0.95},
               {998, 1000, 0.95}, {1, 20, 0.9},     {37, 60, 0.975}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t k = cases[i].met, n = cases[i].count;
    double p = orr_binomial_lower(k, n, cases[i].confidence), at_least = 0, term = pow(1 - p, (double)n);
    if (k == n)
      assert_true(fabs(p - pow(1 - cases[i].confidence, 1.0 / (double)n)) < 1e-12);
    for (int64_t j = 0; j <= n; j++) {
      at_least += j >= k ? term : 0;
      term *= (double)(n - j) / (double)(j + 1) * p / (1 - p);
    }
    if (pow(1 - p, (double)n) > 1e-290)
      assert_true(fabs(at_least - (1 - cases[i].confidence)) < 1e-9);
    assert_true(fabs(orr_binomial_upper(n - k, n, cases[i].confidence) - (1 - p)) < 1e-12);
  }
  assert_true(orr_binomial_lower(0, 10, 0.95) == 0 && orr_binomial_upper(10, 10, 0.95) == 1);
  assert_true(orr_binomial_needed(0.99, 0.95) == 299 && orr_binomial_needed(0.9, 0.9) == 22);
  assert_true(orr_binomial_lower(299, 299, 0.95) >= 0.99 && orr_binomial_lower(298, 298, 0.95) < 0.99);
}

/* Without equal values 1 − 6 Σ d² / (n (n² − 1)). */
static void rank_correlations_are_spearmans(void **state) {
  (void)state;
  static const double mathematics[] = {7, 4, 3, 10, 6, 2, 9, 8, 1, 5}, music[] = {5, 7, 3, 10, 1, 9, 6, 2, 8, 4},
                      tied[] = {1, 1, 2, 2}, other[] = {3, 3, 7, 7};
  double sum = 0, squared[10], lacking[10];
  for (int i = 0; i < 10; i++) {
    sum += (mathematics[i] - music[i]) * (mathematics[i] - music[i]);
    squared[i] = mathematics[i] * mathematics[i];
    lacking[i] = i % 3 ? -mathematics[i] : nan("");
  }
  assert_true(fabs(orr_rank_correlation(mathematics, music, 10) - (1 - 6 * sum / 990)) < 1e-14);
  assert_true(fabs(orr_rank_correlation(mathematics, squared, 10) - 1) < 1e-14);
  assert_true(fabs(orr_rank_correlation(mathematics, lacking, 10) + 1) < 1e-14);
  assert_true(fabs(orr_rank_correlation(tied, other, 4) - 1) < 1e-14);
  assert_true(isnan(orr_rank_correlation(mathematics, tied, 2)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_generator_gives_its_published_answers),
      cmocka_unit_test(the_sequence_begins_as_published),
      cmocka_unit_test(each_dimension_fills_its_layers),
      cmocka_unit_test(a_permutation_takes_every_place_once),
      cmocka_unit_test(quantiles_are_those_of_tables),
      cmocka_unit_test(the_laws_are_what_they_say),
      cmocka_unit_test(a_flight_depends_on_itself_alone),
      cmocka_unit_test(a_grid_takes_every_cell),
      cmocka_unit_test(rank_correlations_are_spearmans),
      cmocka_unit_test(bounds_are_those_of_clopper_and_pearson),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
