/* Results of timing: what is written is read again, what is wrong is refused with a word, what differs is named. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/timing/timing_result.h"

static json_t *part(const char *kernel, const struct orr_histogram *h) {
  json_t *root =
      json_pack("{s:i, s:[{s:{s:{s:s}, s:{s:s}, s:i, s:{s:b, s:i}}, s:{s:s, s:s}, s:[{s:{s:o}, s:{s:i, "
                "s:{s:{s:i, s:i}}}}]}]}",
                "orrery_timing", 1, "parts", "environment", "kernel", "release", kernel, "power", "cpu", "A",
                "cores_online", 2, "isolation", "isolcpus", 0, "irqs", (int)strlen(kernel), "case", "identity", "1",
                "load", "none", "slices", "distributions", "integrate", orr_timing_bins_json(h), "calm", "frames", 90,
                "stages", "integrate", "min_ns", 950, "sum_ns", 90000);
  assert_non_null(root);
  return root;
}

static void fill(struct orr_histogram *h) {
  memset(h, 0, sizeof *h);
  for (int64_t ns = 1000; ns < 1100; ns++)
    orr_histogram_add(h, ns);
  orr_histogram_add(h, -5);
  orr_histogram_add(h, ORR_HISTOGRAM_LIMIT_NS + 7);
}

static void what_is_written_is_read_again(void **state) {
  (void)state;
  static struct orr_histogram h;
  struct orr_timing_result r;
  fill(&h);
  assert_true(orr_timing_result_of(part("6.1", &h), &r));
  assert_int_equal(r.set.slice_count, 1);
  assert_int_equal(r.set.name_count, 1);
  const struct orr_timing_bins *b = &r.set.slice[0].of[0];
  assert_int_equal(b->count, 102);
  assert_int_equal(b->sum_ns, h.sum_ns);
  assert_int_equal(b->at[0], -1);
  assert_int_equal(b->at[b->used - 1], ORR_HISTOGRAM_BUCKETS);
  assert_int_equal(b->min_ns, -5);
  assert_int_equal(b->max_ns, ORR_HISTOGRAM_LIMIT_NS + 7);
  assert_int_equal(r.set.slice[0].calm_frames, 90);
  assert_true(r.set.slice[0].calm[0]);
  assert_int_equal(r.set.slice[0].calm_min_ns[0], 950);
  orr_timing_result_close(&r);
}

static void merged_results_have_the_samples_of_all(void **state) {
  (void)state;
  static struct orr_histogram h;
  struct orr_timing_result r;
  fill(&h);
  json_t *all = orr_timing_result_new(), *one = part("6.1", &h), *other = part("6.12", &h);
  assert_true(orr_timing_result_add(all, one, true));
  assert_true(orr_timing_result_add(all, one, true));
  assert_true(orr_timing_result_add(all, other, true));
  assert_int_equal(json_array_size(json_object_get(all, "parts")), 2); /* another kernel is another part */
  assert_true(orr_timing_result_of(all, &r));
  assert_int_equal(r.set.slice_count, 3);
  assert_int_equal(orr_timing_count(&r.set, 0), 306);
  orr_timing_result_close(&r);
  json_decref(one);
  json_decref(other);
}

static ino_t file_at(const char *path) {
  struct stat file;
  assert_int_equal(stat(path, &file), 0);
  return file.st_ino;
}

/* A saved file is another than the one before. */
static void what_is_saved_whole_is_not_saved_again_at_the_end(void **state) {
  (void)state;
  static struct orr_histogram h;
  struct orr_timing_saver saver;
  struct orr_timing_result r;
  char path[] = "/tmp/orrery.test.XXXXXX";
  close(mkstemp(path));
  fill(&h);
  json_t *all = orr_timing_result_new(), *one = part("6.1", &h);
  assert_true(orr_timing_result_add(all, one, true));
  assert_true(orr_timing_saver_open(&saver, path));
  orr_timing_saver_save(&saver, path, all);
  ino_t saved = file_at(path);
  assert_true(orr_timing_saver_close(&saver, path, all));
  assert_int_equal(file_at(path), saved);
  assert_true(orr_timing_result_add(all, one, true));
  orr_timing_saver_save(&saver, path, all); /* not a minute later */
  assert_int_equal(file_at(path), saved);
  assert_true(orr_timing_saver_close(&saver, path, all));
  assert_true(orr_timing_result_load(path, &r));
  assert_int_equal(r.set.slice_count, 2);
  orr_timing_result_close(&r);
  json_decref(all);
  json_decref(one);
  unlink(path);
}

/* Interrupts are routed anew at any time; a core that is taken out of the others' is another machine. */
static void slices_of_another_isolation_are_another_part_and_those_of_other_interrupts_are_not(void **state) {
  (void)state;
  static struct orr_histogram h;
  fill(&h);
  json_t *all = orr_timing_result_new();
  for (int i = 0; i < 3; i++) {
    json_t *one = part("6.1", &h);
    json_t *isolation =
        json_object_get(json_object_get(json_array_get(json_object_get(one, "parts"), 0), "environment"), "isolation");
    assert_int_equal(json_object_set_new(isolation, "irqs", json_integer(i)), 0);
    assert_int_equal(json_object_set_new(isolation, "isolcpus", json_boolean(i == 2)), 0);
    assert_true(orr_timing_result_add(all, one, true));
    json_decref(one);
    assert_int_equal(json_array_size(json_object_get(all, "parts")), i == 2 ? 2 : 1);
  }
  json_decref(all);
}

static void what_keeps_two_apart_is_named(void **state) {
  (void)state;
  static struct orr_histogram h;
  static char reasons[ORR_TIMING_REASONS_MAX][ORR_TIMING_REASON];
  struct orr_timing_result a, b;
  fill(&h);
  assert_true(orr_timing_result_of(part("6.1", &h), &a));
  assert_true(orr_timing_result_of(part("6.12", &h), &b));
  assert_int_equal(orr_timing_incomparable(&a, &a, NULL, reasons), 0);
  assert_int_equal(orr_timing_incomparable(&a, &b, NULL, reasons), 1); /* interrupts that may come are no isolation */
  assert_non_null(strstr(reasons[0], "kernel"));
  assert_non_null(strstr(reasons[0], "6.12"));
  assert_int_equal(orr_timing_incomparable(&a, &b, "load,kernel", reasons), 0);
  assert_int_equal(orr_timing_incomparable(&a, &b, "kernels", reasons), 1);
  json_t *of_b = json_array_get(json_object_get(b.root, "parts"), 0);
  json_object_set_new(json_object_get(json_object_get(of_b, "environment"), "isolation"), "isolcpus", json_true());
  json_object_set_new(json_object_get(of_b, "case"), "load", json_string("burner"));
  assert_int_equal(orr_timing_incomparable(&a, &b, NULL, reasons), 3);
  orr_timing_result_close(&a);
  orr_timing_result_close(&b);
}

/* An object of the only part of a result, by its path. */
static json_t *of_part(struct orr_timing_result *r, const char *one, const char *two) {
  json_t *at = json_array_get(json_object_get(r->root, "parts"), 0);
  at = one ? json_object_get(at, one) : at;
  return two ? json_object_get(at, two) : at;
}

static void opened_pair(struct orr_timing_result *a, struct orr_timing_result *b) {
  static struct orr_histogram h;
  fill(&h);
  assert_true(orr_timing_result_of(part("6.1", &h), a));
  assert_true(orr_timing_result_of(part("6.1", &h), b));
}

static void each_fact_that_differs_is_named(void **state) {
  (void)state;
  static char reasons[ORR_TIMING_REASONS_MAX][ORR_TIMING_REASON];
  struct orr_timing_result a, b;
  const struct {
    const char *one, *two, *key, *across, *reason;
    json_t *value;
  } facts[] = {
      {"environment", "power", "cpu", "processor", "the processor differs: \"A\", and \"B\"", json_string("B")},
      {"environment", NULL, "cores_online", "processor", "the number of cores differs: 2, and 3", json_integer(3)},
      {"case", NULL, "identity", "case", "the case differs: \"1\", and \"2\"", json_string("2")},
      {"case", NULL, "load", "load", "the load differs: \"none\", and \"burner\"", json_string("burner")},
  };
  for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
    opened_pair(&a, &b);
    assert_int_equal(json_object_set_new(of_part(&b, facts[k].one, facts[k].two), facts[k].key, facts[k].value), 0);
    assert_int_equal(orr_timing_incomparable(&a, &b, NULL, reasons), 1);
    assert_string_equal(reasons[0], facts[k].reason);
    assert_int_equal(orr_timing_incomparable(&a, &b, facts[k].across, reasons), 0);
    orr_timing_result_close(&a);
    orr_timing_result_close(&b);
  }
}

static void what_nobody_knows_is_not_the_same(void **state) {
  (void)state;
  static char reasons[ORR_TIMING_REASONS_MAX][ORR_TIMING_REASON];
  struct orr_timing_result a, b;
  opened_pair(&a, &b);
  json_object_set_new(of_part(&a, "environment", NULL), "kernel", json_null());
  json_object_del(of_part(&b, "environment", NULL), "kernel");
  assert_int_equal(orr_timing_incomparable(&a, &b, NULL, reasons), 1);
  assert_string_equal(reasons[0], "the kernel is not known");
  assert_int_equal(orr_timing_incomparable(&b, &b, NULL, reasons), 1);
  assert_int_equal(orr_timing_incomparable(&b, &b, "kernel", reasons), 0);
  for (int side = 0; side < 2; side++)
    json_object_set_new(of_part(side ? &b : &a, "environment", "power"), "cpu", json_string(""));
  assert_int_equal(orr_timing_incomparable(&a, &b, NULL, reasons), 2);
  assert_string_equal(reasons[1], "the processor is not known");
  assert_int_equal(orr_timing_incomparable(&a, &b, "kernel,processor", reasons), 0);
  for (int side = 0; side < 2; side++) {
    json_object_del(of_part(side ? &b : &a, NULL, NULL), "environment");
    json_object_del(of_part(side ? &b : &a, NULL, NULL), "case");
  }
  assert_int_equal(orr_timing_incomparable(&a, &b, NULL, reasons), 6);
  assert_int_equal(orr_timing_incomparable(&a, &b, "kernel,processor,isolation,case,load", reasons), 0);
  orr_timing_result_close(&a);
  orr_timing_result_close(&b);
}

/* Facts that differ behind what a reason can show; the reason shows where. Terminals obey control characters. */
static void facts_that_differ_late_are_not_the_same(void **state) {
  (void)state;
  static char reasons[ORR_TIMING_REASONS_MAX][ORR_TIMING_REASON];
  struct orr_timing_result a, b;
  char text[2][802];
  opened_pair(&a, &b);
  for (int side = 0; side < 2; side++) {
    memset(text[side], 'x', sizeof text[side]);
    memcpy(text[side] + 780, side ? "NEW\x7f" : "OLD\x7f", 5);
    json_object_set_new(of_part(side ? &b : &a, "environment", "isolation"), "siblings", json_string(text[side]));
  }
  assert_int_equal(orr_timing_incomparable(&a, &b, NULL, reasons), 1);
  assert_non_null(strstr(reasons[0], "the isolation of the core differs"));
  assert_non_null(strstr(reasons[0], "OLD?"));
  assert_non_null(strstr(reasons[0], "NEW?"));
  orr_timing_result_close(&a);
  orr_timing_result_close(&b);
}

#define DISTRIBUTION(text) "{\"orrery_timing\": 1, \"parts\": [{\"slices\": [{\"distributions\": {\"x\": " text "}}]}]}"

static void what_is_wrong_is_refused_with_a_word(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "[]",
      "{}",
      "{\"orrery_timing\": 2, \"parts\": []}",
      "{\"orrery_timing\": 1, \"parts\": []}",
      "{\"orrery_timing\": 1, \"parts\": [{\"slices\": []}]}",
      "{\"orrery_timing\": 1, \"parts\": 7}",
      "{\"orrery_timing\": 1, \"parts\": [{\"slices\": [5]}]}",
      "{\"orrery_timing\": 1, \"parts\": [5]}",
      "{\"orrery_timing\": 1, \"parts\": [{\"slices\": {}}]}",
      DISTRIBUTION("5"),
      DISTRIBUTION("{\"count\": 1, \"sum_ns\": 1, \"min_ns\": 1, \"max_ns\": 1}"),
      DISTRIBUTION("{\"count\": 1, \"sum_ns\": 1, \"min_ns\": 2, \"max_ns\": 1, \"bins\": [1, 1]}"),
      DISTRIBUTION("{\"count\": 1, \"sum_ns\": 1, \"min_ns\": 1, \"max_ns\": 1, \"bins\": [1]}"),
      DISTRIBUTION("{\"count\": 1, \"sum_ns\": 1, \"min_ns\": 1, \"max_ns\": 1, \"bins\": [1, 2]}"),
      DISTRIBUTION("{\"count\": 2, \"sum_ns\": 1, \"min_ns\": 1, \"max_ns\": 1, \"bins\": [1, 1, 1, 1]}"),
      DISTRIBUTION("{\"count\": 1, \"sum_ns\": 1, \"min_ns\": 1, \"max_ns\": 1, \"bins\": [-2, 1]}"),
      DISTRIBUTION("{\"count\": 1, \"sum_ns\": 1, \"min_ns\": 1, \"max_ns\": 1, \"bins\": [99999999, 1]}"),
      DISTRIBUTION("{\"count\": 0, \"sum_ns\": 1, \"min_ns\": 1, \"max_ns\": 1, \"bins\": [1, 0]}"),
      DISTRIBUTION("{\"count\": -1, \"sum_ns\": 1, \"min_ns\": 1, \"max_ns\": 1, \"bins\": []}"),
      DISTRIBUTION("{\"count\": 1.5, \"sum_ns\": 1, \"min_ns\": 1, \"max_ns\": 1, \"bins\": [1, 1]}"),
      "{\"orrery_timing\": 1, \"parts\": [{\"slices\": [{\"distributions\": {}, \"calm\": {\"frames\": -1}}]}]}",
      "{\"orrery_timing\": 1, \"parts\": [{\"slices\": [{\"distributions\": {\"\": {}}}]}]}",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct orr_timing_result r;
    json_t *root = json_loads(wrong[i], 0, NULL);
    assert_non_null(root);
    if (orr_timing_result_of(root, &r))
      fail_msg("taken: %s", wrong[i]);
    assert_true(r.error[0] != '\0');
  }
}

/* Whoever reads a message reads it in a terminal. */
static void no_message_has_control_characters(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "{\"orrery_timing\": 1, \"parts\": [{\"slices\": [{\"distributions\": {\"\\u001b[2J\\u009bH\\u007fx\": {}}}]}]}",
      "{\"orrery_timing\": 1, \"parts\": [{\"slices\": [{\"distributions\": {}, \"calm\": {\"frames\": 1, \"stages\": "
      "{\"\\u001bc\": {}}}}]}]}",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct orr_timing_result r;
    json_t *root = json_loads(wrong[i], 0, NULL);
    assert_non_null(root);
    assert_false(orr_timing_result_of(root, &r));
    assert_non_null(strstr(r.error, "no name of a distribution"));
    for (const char *c = r.error; *c; c++)
      assert_in_range((unsigned char)*c, ' ', '~');
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read_again),
      cmocka_unit_test(what_is_saved_whole_is_not_saved_again_at_the_end),
      cmocka_unit_test(merged_results_have_the_samples_of_all),
      cmocka_unit_test(slices_of_another_isolation_are_another_part_and_those_of_other_interrupts_are_not),
      cmocka_unit_test(what_keeps_two_apart_is_named),
      cmocka_unit_test(each_fact_that_differs_is_named),
      cmocka_unit_test(what_nobody_knows_is_not_the_same),
      cmocka_unit_test(facts_that_differ_late_are_not_the_same),
      cmocka_unit_test(what_is_wrong_is_refused_with_a_word),
      cmocka_unit_test(no_message_has_control_characters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
