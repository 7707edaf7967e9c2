/* Verdicts on slices drawn from distributions that are known: how often what is the same is called slower, and how
 * often a stage that has become slower is found. Seeded, so that every run draws the same; no clock is read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/prng.h"
#include "tools/timing/timing_verdict.h"

/* As measured on the shared machine of rt/README.md: publish, integrate and sensors of `cassini`, and its wake-ups. */
enum { PUBLISH, INTEGRATE, SENSORS, WAKE_UP, NAMES, SAMPLES = 1000 };
static const char *const names[NAMES] = {"publish", "integrate", "sensors", "wake-up"};
static const double typical_ns[NAMES] = {420, 32000, 7000, 13000};

struct change {
  int name; /* −1: none */
  double part, ns;
  bool neighbour; /* takes the caches away, now and then */
};

static double normal(struct orr_prng *p) {
  return sqrt(-2 * log(1 - prng_unit(p))) * cos(2 * 3.14159265358979 * prng_unit(p));
}

/* Every process has its own luck with caches (a part of a percent for the whole slice); a frame scatters by some per
 * cent; three in a hundred see an interrupt; some in ten thousand, in bad slices more, a stall of up to milliseconds.
 * */
static double sample_ns(struct orr_prng *p, int name, double luck, double stalls) {
  double ns = typical_ns[name] * luck * exp(0.03 * normal(p) * (name == WAKE_UP ? 5 : 1));
  if (prng_chance(p, 0.03))
    ns += prng_between(p, 1000, 8000);
  if (prng_chance(p, stalls))
    ns += prng_scale(p, 1e4, 5e6);
  return ns;
}

/* The part of a slice's frames whose caches are taken: in stretches of eight slices, and in some slices by themselves.
 * */
static double taken_of(struct orr_prng *p, size_t slice, const struct change *change) {
  if (!change->neighbour)
    return 0;
  if (slice / 8 % 3 == 1)
    return prng_between(p, 0.05, 0.6);
  return prng_chance(p, 0.15) ? prng_between(p, 0.05, 0.3) : 0;
}

static void fill(struct orr_timing_slice *slice, struct orr_prng *p, int name, const struct change *change,
                 double taken) {
  static struct orr_histogram h;
  double luck = exp(0.004 * normal(p)), stalls = prng_chance(p, 0.2) ? 0.003 : 0.0005;
  memset(&h, 0, sizeof h);
  slice->calm[name] = name != WAKE_UP;
  slice->calm_frames = SAMPLES / 2;
  slice->calm_min_ns[name] = INT64_MAX;
  for (int i = 0; i < SAMPLES; i++) {
    double ns = sample_ns(p, name, luck, stalls);
    if (change->name == name)
      ns = ns * (1 + change->part) + change->ns;
    const bool is_taken = taken > 0 && prng_chance(p, taken);
    if (is_taken)
      ns *= 1.3;
    orr_histogram_add(&h, (int64_t)ns);
    if (i % 2 == 0)
      continue;
    double calm_ns = typical_ns[name] * luck * exp(0.01 * fabs(normal(p)));
    if (change->name == name)
      calm_ns = calm_ns * (1 + change->part) + change->ns;
    if (is_taken)
      calm_ns *= 1.3;
    slice->calm_sum_ns[name] += (int64_t)calm_ns;
    if ((int64_t)calm_ns < slice->calm_min_ns[name])
      slice->calm_min_ns[name] = (int64_t)calm_ns;
  }
  assert_true(orr_timing_bins_of(&h, &slice->of[name]));
}

static struct orr_timing_set make(struct orr_prng *p, size_t slices, const struct change *change) {
  struct orr_timing_set set = {.name_count = NAMES, .slice_count = slices};
  set.slice = calloc(slices, sizeof *set.slice);
  assert_non_null(set.slice);
  for (int i = 0; i < NAMES; i++)
    snprintf(set.name[i], ORR_TIMING_NAME, "%s", names[i]);
  for (size_t s = 0; s < slices; s++) {
    const double taken = taken_of(p, s, change);
    for (int i = 0; i < NAMES; i++)
      fill(&set.slice[s], p, i, change, taken);
  }
  return set;
}

static struct orr_timing_comparison compared_by(uint64_t seed, size_t slices, struct change change,
                                                const struct orr_timing_options *how) {
  static struct orr_timing_comparison result;
  struct orr_prng p = {seed * 7919};
  struct orr_timing_set base = make(&p, slices, &(struct change){.name = -1, .neighbour = change.neighbour}),
                        new = make(&p, slices, &change);
  struct orr_timing_options options = *how;
  options.seed = seed;
  assert_true(orr_timing_compare(&base, &new, &options, &result));
  orr_timing_set_free(&base);
  orr_timing_set_free(&new);
  return result;
}

static struct orr_timing_comparison compared(uint64_t seed, size_t slices, struct change change, bool paired) {
  return compared_by(seed, slices, change, &(struct orr_timing_options){.paired = paired, .draws = 300});
}

static bool found(const struct orr_timing_comparison *c, int name, enum orr_timing_verdict verdict) {
  for (size_t i = 0; i < c->row_count; i++)
    if (c->row[i].verdict == verdict && strcmp(c->row[i].name, names[name]) == 0)
      return true;
  return false;
}

/* At one false alarm in a hundred, more than three of forty are seen once in a thousand such tests. */
static void what_is_the_same_is_hardly_ever_called_slower(void **state) {
  (void)state;
  enum { PAIRS = 40 };
  for (int paired = 0; paired < 2; paired++) {
    int slower = 0, faster = 0, noisy = 0;
    for (uint64_t seed = 1; seed <= PAIRS; seed++) {
      struct orr_timing_comparison c = compared(seed, 12, (struct change){.name = -1}, paired);
      slower += c.verdict == ORR_TIMING_SLOWER;
      faster += c.verdict == ORR_TIMING_FASTER;
      noisy += c.verdict == ORR_TIMING_NOISY;
    }
    print_message("of %d that are the same (%s): %d slower, %d faster, %d too noisy\n", PAIRS,
                  paired ? "paired" : "not paired", slower, faster, noisy);
    assert_in_range(slower, 0, 3);
    assert_in_range(faster, 0, 3);
    assert_in_range(noisy, 0, 4);
  }
}

static void a_slower_stage_is_found_and_named(void **state) {
  (void)state;
  enum { PAIRS = 20 };
  const struct change changes[] = {
      {.name = INTEGRATE, .part = 0.05}, {.name = PUBLISH, .ns = 200}, {.name = SENSORS, .ns = 200}};
  for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
    int slower = 0, blamed = 0;
    for (uint64_t seed = 1; seed <= PAIRS; seed++) {
      struct orr_timing_comparison c = compared(1000 + seed, 12, changes[k], false);
      slower += c.verdict == ORR_TIMING_SLOWER && found(&c, changes[k].name, ORR_TIMING_SLOWER);
      for (int i = 0; i < NAMES; i++)
        blamed += i != changes[k].name && found(&c, i, ORR_TIMING_SLOWER);
    }
    print_message("%s by %g %% and %g ns: found in %d of %d, another blamed in %d\n", names[changes[k].name],
                  100 * changes[k].part, changes[k].ns, slower, PAIRS, blamed);
    assert_in_range(slower, 18, PAIRS);
    assert_in_range(blamed, 0, 2);
  }
}

/* The first look of `orrery timing compare --fly`, with its quarter of the false alarms. */
static void twelve_pairs_are_enough(void **state) {
  (void)state;
  enum { PAIRS = 20 };
  const struct change changes[] = {
      {.name = -1}, {.name = INTEGRATE, .part = 0.05}, {.name = PUBLISH, .ns = 200}, {.name = SENSORS, .ns = 200}};
  const struct orr_timing_options options = {.paired = true, .alarm = 0.01 / 4, .draws = 1200};
  for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
    int slower = 0, blamed = 0;
    for (uint64_t seed = 1; seed <= PAIRS; seed++) {
      struct orr_timing_comparison c = compared_by(3000 + seed, 12, changes[k], &options);
      slower += changes[k].name >= 0 && found(&c, changes[k].name, ORR_TIMING_SLOWER);
      for (int i = 0; i < NAMES; i++)
        blamed += i != changes[k].name && found(&c, i, ORR_TIMING_SLOWER);
    }
    print_message("%s by %g %% and %g ns: found in %d of %d, another blamed in %d\n",
                  changes[k].name < 0 ? "none" : names[changes[k].name], 100 * changes[k].part, changes[k].ns, slower,
                  PAIRS, blamed);
    assert_in_range(slower, changes[k].name < 0 ? 0 : 18, PAIRS);
    assert_in_range(blamed, 0, 1);
  }
}

/* A neighbour on the same machine is no noise of the program: pairs in which he hits both slices, or one, are not in
 * the middle of them. What is slower for all that is found. */
static void a_neighbour_makes_no_verdict_too_noisy(void **state) {
  (void)state;
  enum { PAIRS = 20 };
  const struct change changes[] = {{.name = -1, .neighbour = true},
                                   {.name = INTEGRATE, .part = 0.05, .neighbour = true}};
  const struct orr_timing_options options = {.paired = true, .alarm = 0.01 / 4, .draws = 1200};
  for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
    int verdicts[ORR_TIMING_NOT_COMPARABLE + 1] = {0};
    for (uint64_t seed = 1; seed <= PAIRS; seed++)
      verdicts[compared_by(5000 + seed, 40, changes[k], &options).verdict]++;
    print_message("integrate by %g %%, with a neighbour: same %d, slower %d, too noisy %d of %d\n",
                  100 * changes[k].part, verdicts[ORR_TIMING_SAME], verdicts[ORR_TIMING_SLOWER],
                  verdicts[ORR_TIMING_NOISY], PAIRS);
    assert_in_range(verdicts[k == 0 ? ORR_TIMING_SAME : ORR_TIMING_SLOWER], 18, PAIRS);
  }
}

/* As where nobody can tell which frames are calm. Both sides are narrow and far apart, so a pool of them has two tops,
 * and its median is on one or the other, however they are dealt out. */
static void two_narrow_sides_are_told_apart_without_calm_frames(void **state) {
  (void)state;
  enum { PAIRS = 10, SLICES = 12 };
  static struct orr_timing_comparison result;
  for (int paired = 0; paired < 2; paired++) {
    int slower = 0;
    for (uint64_t seed = 1; seed <= PAIRS; seed++) {
      struct orr_prng p = {seed * 104729};
      struct orr_timing_set set[2] = {make(&p, SLICES, &(struct change){.name = -1}),
                                      make(&p, SLICES, &(struct change){.name = PUBLISH, .ns = 200})};
      for (int side = 0; side < 2; side++)
        for (int s = 0; s < SLICES; s++)
          set[side].slice[s].calm_frames = 0;
      const struct orr_timing_options options = {.paired = paired, .alarm = 0.01 / 4, .draws = 1200, .seed = seed};
      assert_true(orr_timing_compare(&set[0], &set[1], &options, &result));
      slower += found(&result, PUBLISH, ORR_TIMING_SLOWER);
      for (int side = 0; side < 2; side++)
        orr_timing_set_free(&set[side]);
    }
    print_message("without calm frames (%s): found in %d of %d\n", paired ? "paired" : "not paired", slower, PAIRS);
    assert_in_range(slower, 9, PAIRS);
  }
}

/* Eight pairs can be dealt out in 256 ways. Where all of them say the same, in one distribution of known numbers, the
 * way that was flown is the only one of its kind: 1 of 256, on each of two halves. */
static void pairs_are_dealt_out_in_every_way_once(void **state) {
  (void)state;
  enum { PAIRS = 8 };
  static struct orr_timing_comparison result;
  struct orr_timing_set set[2] = {{.slice_count = 0}};
  for (int side = 0; side < 2; side++) {
    set[side] = (struct orr_timing_set){.name_count = 1, .slice_count = PAIRS};
    snprintf(set[side].name[0], ORR_TIMING_NAME, "publish");
    set[side].slice = calloc(PAIRS, sizeof *set[side].slice);
    assert_non_null(set[side].slice);
    for (int s = 0; s < PAIRS; s++) {
      static struct orr_histogram h;
      struct orr_timing_slice *slice = &set[side].slice[s];
      memset(&h, 0, sizeof h);
      for (int i = 0; i < 100; i++)
        orr_histogram_add(&h, 1000 + 10 * s + 300 * side);
      assert_true(orr_timing_bins_of(&h, &slice->of[0]));
      slice->calm[0] = true;
      slice->calm_frames = 100;
      slice->calm_min_ns[0] = 1000 + 10 * s + 300 * side;
      slice->calm_sum_ns[0] = 100 * slice->calm_min_ns[0];
    }
  }
  for (uint64_t seed = 1; seed <= 3; seed++) {
    const struct orr_timing_options options = {.paired = true, .draws = 255, .seed = seed};
    assert_true(orr_timing_compare(&set[0], &set[1], &options, &result));
    assert_int_equal(result.verdict, ORR_TIMING_SLOWER);
    for (size_t i = 0; i < result.row_count; i++)
      if (result.row[i].kind != ORR_TIMING_PERCENTILE)
        assert_true(fabs(result.row[i].chance - 2.0 / 256) < 1e-12);
  }
  orr_timing_set_free(&set[0]);
  orr_timing_set_free(&set[1]);
}

static void a_faster_stage_is_faster(void **state) {
  (void)state;
  struct orr_timing_comparison c = compared(1, 12, (struct change){.name = INTEGRATE, .part = -0.1}, false);
  assert_true(found(&c, INTEGRATE, ORR_TIMING_FASTER));
  assert_int_equal(c.verdict, ORR_TIMING_FASTER);
  for (size_t i = 0; i < c.name_count; i++)
    if (strcmp(c.name[i], "integrate") == 0)
      assert_true(c.effect[i] < -0.8);
}

static void too_few_slices_are_too_noisy_whatever_they_show(void **state) {
  (void)state;
  struct orr_timing_comparison c =
      compared(1, ORR_TIMING_SLICES_FEWEST - 1, (struct change){.name = INTEGRATE, .part = 0.5}, false);
  assert_int_equal(c.verdict, ORR_TIMING_NOISY);
}

static void sets_without_slices_say_nothing(void **state) {
  (void)state;
  static struct orr_timing_comparison result;
  struct orr_prng p = {7919};
  struct orr_timing_set some = make(&p, 9, &(struct change){.name = -1}), none = {.name_count = 0};
  const struct orr_timing_set *const sides[][2] = {{&none, &none}, {&none, &some}, {&some, &none}};
  for (size_t k = 0; k < 6; k++) {
    const struct orr_timing_options options = {.paired = k == 3, .draws = 300, .seed = 1};
    assert_true(orr_timing_compare(sides[k % 3][0], sides[k % 3][1], &options, &result));
    assert_int_equal(result.row_count, 0);
    assert_int_equal(result.verdict, ORR_TIMING_NOT_COMPARABLE); /* more slices would tell no more */
  }
  orr_timing_set_free(&some);
}

/* The interval of a difference of 1600 ns in the median holds it in about 95 of 100; and the same seed says the same.
 * */
static void the_interval_holds_the_true_difference(void **state) {
  (void)state;
  enum { PAIRS = 40 };
  int holds = 0;
  for (uint64_t seed = 1; seed <= PAIRS; seed++) {
    struct orr_timing_comparison c = compared(2000 + seed, 12, (struct change){.name = INTEGRATE, .ns = 1600}, false);
    for (size_t i = 0; i < c.row_count; i++)
      if (strcmp(c.row[i].name, "integrate") == 0 && c.row[i].kind == ORR_TIMING_PERCENTILE && c.row[i].fraction == 0.5)
        holds += c.row[i].low_ns <= 1600 && c.row[i].high_ns >= 1600;
  }
  print_message("the interval holds the true difference in %d of %d\n", holds, PAIRS);
  assert_in_range(holds, 34, PAIRS);
  struct orr_timing_comparison a = compared(3, 12, (struct change){.name = -1}, false);
  struct orr_timing_comparison b = compared(3, 12, (struct change){.name = -1}, false);
  assert_memory_equal(a.row, b.row, sizeof a.row);
}

/* Percentiles of what is counted one by one: 1000 … 1999 ns, once each, over two slices. */
static void a_percentile_is_that_of_all_slices(void **state) {
  (void)state;
  static struct orr_histogram h[2];
  struct orr_timing_set set = {.name_count = 1, .slice_count = 2};
  set.slice = calloc(2, sizeof *set.slice);
  assert_non_null(set.slice);
  for (int ns = 1000; ns < 2000; ns++)
    orr_histogram_add(&h[ns % 2], ns);
  for (int s = 0; s < 2; s++)
    assert_true(orr_timing_bins_of(&h[s], &set.slice[s].of[0]));
  for (int percent = 1; percent < 100; percent++)
    assert_true(fabs(orr_timing_percentile_ns(&set, 0, 0.01 * percent) - (1000 + 10.0 * percent)) <= 1);
  assert_int_equal(orr_timing_count(&set, 0), 1000);
  assert_int_equal(orr_timing_least_ns(&set, 0), 1000);
  assert_int_equal(orr_timing_most_ns(&set, 0), 1999);
  orr_timing_set_free(&set);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_percentile_is_that_of_all_slices),
      cmocka_unit_test(what_is_the_same_is_hardly_ever_called_slower),
      cmocka_unit_test(a_slower_stage_is_found_and_named),
      cmocka_unit_test(twelve_pairs_are_enough),
      cmocka_unit_test(a_neighbour_makes_no_verdict_too_noisy),
      cmocka_unit_test(two_narrow_sides_are_told_apart_without_calm_frames),
      cmocka_unit_test(pairs_are_dealt_out_in_every_way_once),
      cmocka_unit_test(a_faster_stage_is_faster),
      cmocka_unit_test(too_few_slices_are_too_noisy_whatever_they_show),
      cmocka_unit_test(sets_without_slices_say_nothing),
      cmocka_unit_test(the_interval_holds_the_true_difference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
