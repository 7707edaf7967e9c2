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
                .type = ORR_KEY_NUMBER,
                .unit = "N m",
                .range = &orr_range_positive,
                .offset = offsetof(struct target, number)},
    [VECTOR] =
        {.name = "vector", .type = ORR_KEY_NUMBERS, .unit = "m", .count = 3, .offset = offsetof(struct target, vector)},
    [WHOLE] = {.name = "whole", .type = ORR_KEY_WHOLE, .offset = offsetof(struct target, whole)},
    [TIME] = {.name = "time", .type = ORR_KEY_TIME, .offset = offsetof(struct target, time)},
    [FLAG] = {.name = "flag", .type = ORR_KEY_FLAG, .offset = offsetof(struct target, flag)},
    [CHOICE] = {.name = "choice",
                .type = ORR_KEY_CHOICE,
                .choices = colours,
                .offset = offsetof(struct target, choice)},
    [TEXT] = {.name = "text", .type = ORR_KEY_TEXT, .offset = offsetof(struct target, text)},
    [PLACE] = {.name = "place", .type = ORR_KEY_PLACE, .offset = offsetof(struct target, place)},
    [REQUIRED] = {.name = "required", .type = ORR_KEY_FLAG, .required = true, .offset = offsetof(struct target, flag)},
};

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
  r.good = orr_read_mapping(&reader, &thing, table, KEYS, &r.target, &r.present);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_is_read),
      cmocka_unit_test(wrong_values_leave_the_target_as_it_was),
      cmocka_unit_test(what_is_missing_is_told_at_the_mapping),
      cmocka_unit_test(a_required_key_with_a_wrong_value_is_not_missing),
      cmocka_unit_test(suggestions_stop_after_a_hundred_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
