/* Mappings read by a table of keys: every type, what is present, and that a wrong value leaves the target alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/config/text/reader.h"

static const char *const colours[] = {"red", "green", "blue", NULL};

struct target {
  double number, vector[3];
  int64_t whole, time;
  bool flag;
  int choice;
  const char *text;
  struct orr_place place;
};

enum key { NUMBER, VECTOR, WHOLE, TIME, FLAG, CHOICE, TEXT, PLACE, REQUIRED, KEYS };

static const struct orr_key table[KEYS] = {
    [NUMBER] = {.name = "number",
                .doc = "number",
                .absent = "as it was",
                .type = ORR_KEY_NUMBER,
                .unit = "N m",
                .range = &orr_range_positive,
                .offset = offsetof(struct target, number)},
    [VECTOR] = {.name = "vector",
                .doc = "vector",
                .absent = "as it was",
                .type = ORR_KEY_NUMBERS,
                .unit = "m",
                .count = 3,
                .offset = offsetof(struct target, vector)},
    [WHOLE] = {.name = "whole",
               .doc = "whole",
               .absent = "as it was",
               .type = ORR_KEY_WHOLE,
               .offset = offsetof(struct target, whole)},
    [TIME] = {.name = "time",
              .doc = "time",
              .absent = "as it was",
              .type = ORR_KEY_TIME,
              .offset = offsetof(struct target, time)},
    [FLAG] = {.name = "flag",
              .doc = "flag",
              .absent = "as it was",
              .type = ORR_KEY_FLAG,
              .offset = offsetof(struct target, flag)},
    [CHOICE] = {.name = "choice",
                .doc = "choice",
                .absent = "as it was",
                .type = ORR_KEY_CHOICE,
                .choices = colours,
                .offset = offsetof(struct target, choice)},
    [TEXT] = {.name = "text",
              .doc = "text",
              .absent = "as it was",
              .type = ORR_KEY_TEXT,
              .offset = offsetof(struct target, text)},
    [PLACE] = {.name = "place",
               .doc = "place",
               .absent = "as it was",
               .type = ORR_KEY_PLACE,
               .shape = ORR_TEXT("anything"),
               .offset = offsetof(struct target, place)},
    [REQUIRED] = {.name = "required",
                  .doc = "required",
                  .absent = "as it was",
                  .type = ORR_KEY_FLAG,
                  .required = true,
                  .offset = offsetof(struct target, flag)},
};

static const struct orr_mapping mapping = {.name = "thing", ORR_KEYS(table)};

struct reading {
  struct orr_diagnostics *d;
  struct target target;
  uint64_t present;
  bool good;
};

static struct reading read_text(const char *text) {
  struct reading r = {.d = orr_diagnostics_create(),
                      .target = {.number = -7, .vector = {-7, -7, -7}, .whole = -7, .choice = -7, .text = "-7"}};
  uint32_t file = orr_sources_add_file(orr_diagnostics_sources(r.d), "t.yaml", text, strlen(text));
  struct orr_reader reader = {r.d, orr_diagnostics_arena(r.d)};
  const struct orr_thing thing = {
      .what = "thing", .name = "t", .place = {orr_yaml_parse(r.d, file, 0, text, strlen(text)), 0}};
  assert_non_null(thing.place.node);
  r.good = orr_read_mapping(&reader, &thing, &mapping, &r.target, &r.present);
  assert_true(r.good == (orr_diagnostics_errors(r.d) == 0));
  return r;
}

static void every_type_is_read(void **state) {
  (void)state;
  struct reading r = read_text("{number: 3 mN m, vector: [1, 2 cm, -3], whole: -12, time: 1.5 ms, flag: true, choice: "
                               "blue, text: a b, place: [x], required: false}");
  assert_true(r.good);
  assert_int_equal(r.present, (1u << KEYS) - 1);
  assert_true(fabs(r.target.number - 0.003) < 1e-18);
  assert_true(r.target.vector[0] == 1 && r.target.vector[1] == 0.02 && r.target.vector[2] == -3);
  assert_true(r.target.whole == -12);
  assert_true(r.target.time == 1500000);
  assert_int_equal(r.target.choice, 2);
  assert_string_equal(r.target.text, "a b");
  assert_int_equal(r.target.place.node->kind, ORR_YAML_SEQUENCE);
  assert_false(r.target.flag);
  orr_diagnostics_destroy(r.d);
}

static void wrong_values_leave_the_target_as_it_was(void **state) {
  (void)state;
  struct reading r =
      read_text("{number: -1, vector: [1, 2, x], whole: 1.5, flag: 'true', choice: rde, text: [a], required: true}");
  assert_false(r.good);
  assert_int_equal(r.present, 1u << REQUIRED);
  assert_true(r.target.number == -7 && r.target.vector[0] == -7 && r.target.whole == -7);
  assert_int_equal(r.target.choice, -7);
  assert_string_equal(r.target.text, "-7");
  assert_int_equal(orr_diagnostics_errors(r.d), 6);
  orr_diagnostics_destroy(r.d);
}

static void what_is_missing_is_told_at_the_mapping(void **state) {
  (void)state;
  struct reading r = read_text("\n  {flag: true}");
  assert_int_equal(orr_diagnostics_errors(r.d), 1);
  assert_string_equal(orr_diagnostics_get(r.d, 0).text, "thing 't' has no 'required', which it needs");
  struct orr_location l = orr_sources_get(orr_diagnostics_sources(r.d), orr_diagnostics_get(r.d, 0).at);
  assert_int_equal(l.offset, 3);
  orr_diagnostics_destroy(r.d);
}

static void a_required_key_with_a_wrong_value_is_not_missing(void **state) {
  (void)state;
  struct reading r = read_text("{required: perhaps}");
  assert_int_equal(orr_diagnostics_errors(r.d), 1);
  assert_string_equal(orr_diagnostics_get(r.d, 0).code, "wrong-type");
  orr_diagnostics_destroy(r.d);
}

static void suggestions_stop_after_a_hundred_errors(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  struct orr_reader reader = {d, orr_diagnostics_arena(d)};
  for (int i = 0; i < 100; i++) {
    assert_true(orr_read_may_suggest(&reader));
    orr_report(d, ORR_ERROR, 0, "code", "%d", i);
  }
  assert_false(orr_read_may_suggest(&reader));
  orr_diagnostics_destroy(d);
}

/* ---- defaults, and words in place of numbers --------------------------------------------------------------------- */

static const char *const words[] = {"auto", "any", NULL};

static const struct orr_key default_table[] = {
    {.name = "number", .doc = "number", .unit = "N m", .fallback = "3 mN m", .offset = offsetof(struct target, number)},
    {.name = "vector",
     .doc = "vector",
     .type = ORR_KEY_NUMBERS,
     .unit = "m",
     .count = 3,
     .fallback = "2 cm",
     .offset = offsetof(struct target, vector)},
    {.name = "whole",
     .doc = "whole",
     .type = ORR_KEY_WHOLE,
     .choices = words,
     .fallback = "any",
     .offset = offsetof(struct target, whole)},
    {.name = "time",
     .doc = "time",
     .type = ORR_KEY_TIME,
     .choices = words,
     .fallback = "5 ms",
     .offset = offsetof(struct target, time)},
    {.name = "flag", .doc = "flag", .type = ORR_KEY_FLAG, .fallback = "true", .offset = offsetof(struct target, flag)},
    {.name = "choice",
     .doc = "choice",
     .type = ORR_KEY_CHOICE,
     .choices = colours,
     .fallback = "green",
     .offset = offsetof(struct target, choice)},
    {.name = "text", .doc = "text", .type = ORR_KEY_TEXT, .fallback = "a b", .offset = offsetof(struct target, text)},
};

static const struct orr_mapping default_mapping = {.name = "defaults", ORR_KEYS(default_table)};

static struct reading read_defaults(const char *text) {
  struct reading r = {.d = orr_diagnostics_create()};
  struct orr_reader reader = {r.d, orr_diagnostics_arena(r.d)};
  struct orr_thing thing = {.what = "thing"};
  if (text) {
    uint32_t file = orr_sources_add_file(orr_diagnostics_sources(r.d), "t.yaml", text, strlen(text));
    thing.place.node = orr_yaml_parse(r.d, file, 0, text, strlen(text));
  }
  r.good = orr_read_mapping(&reader, &thing, &default_mapping, &r.target, &r.present);
  return r;
}

static void assert_defaults(const struct target *t) {
  assert_true(fabs(t->number - 0.003) < 1e-18);
  assert_true(t->vector[0] == 0.02 && t->vector[1] == 0.02 && t->vector[2] == 0.02);
  assert_true(t->whole == -2 && t->time == 5000000 && t->flag);
  assert_int_equal(t->choice, 1);
  assert_string_equal(t->text, "a b");
}

static void what_is_absent_or_wrong_has_its_default(void **state) {
  (void)state;
  static const char *const texts[] = {NULL, "{}",
                                      "{number: x, vector: [1], whole: 1.5, time: ay, flag: 1, choice: x, text: []}"};
  for (int i = 0; i < 3; i++) {
    struct reading r = read_defaults(texts[i]);
    assert_true(r.good == (i < 2));
    assert_int_equal(r.present, 0);
    assert_defaults(&r.target);
    orr_diagnostics_destroy(r.d);
  }
}

static void a_word_may_stand_in_place_of_a_number(void **state) {
  (void)state;
  struct reading r = read_defaults("{whole: auto, time: any}");
  assert_true(r.good && r.target.whole == -1 && r.target.time == -2);
  orr_diagnostics_destroy(r.d);
  r = read_defaults("{whole: 7, time: 2 s}");
  assert_true(r.good && r.target.whole == 7 && r.target.time == 2000000000);
  orr_diagnostics_destroy(r.d);
  r = read_defaults("{whole: aut}");
  assert_string_equal(orr_diagnostics_get(r.d, 0).text, "unknown whole 'aut', did you mean 'auto'?");
  orr_diagnostics_destroy(r.d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_is_read),
      cmocka_unit_test(wrong_values_leave_the_target_as_it_was),
      cmocka_unit_test(what_is_missing_is_told_at_the_mapping),
      cmocka_unit_test(a_required_key_with_a_wrong_value_is_not_missing),
      cmocka_unit_test(what_is_absent_or_wrong_has_its_default),
      cmocka_unit_test(a_word_may_stand_in_place_of_a_number),
      cmocka_unit_test(suggestions_stop_after_a_hundred_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
