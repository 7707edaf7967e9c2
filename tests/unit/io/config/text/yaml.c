/* The tree of a text: places, aliases, merge keys, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/config/text/yaml.h"

struct parsed {
  struct orr_diagnostics *d;
  struct orr_place root;
};

static struct parsed parse(const char *text, size_t length) {
  struct parsed p = {.d = orr_diagnostics_create()};
  uint32_t file = orr_sources_add_file(orr_diagnostics_sources(p.d), "t.yaml", text, length);
  p.root.node = orr_yaml_parse(p.d, file, 0, text, length);
  return p;
}

static struct parsed good(const char *text) {
  struct parsed p = parse(text, strlen(text));
  if (!p.root.node)
    orr_diagnostics_print(p.d, 0, stderr, false);
  assert_non_null(p.root.node);
  return p;
}

static struct orr_place member(struct parsed *p, struct orr_place mapping, const char *key) {
  assert_int_equal(mapping.node->kind, ORR_YAML_MAPPING);
  size_t i = orr_yaml_find(mapping.node, key);
  if (i == mapping.node->count)
    fail_msg("no key %s", key);
  return orr_place_value(p->d, mapping, i);
}

/* "LINE:COLUMN", followed by the places it came through. */
static void expect_place(struct parsed *p, orr_source at, const char *expected) {
  char text[200] = "";
  struct orr_sources *s = orr_diagnostics_sources(p->d);
  for (size_t n = 0; at; at = orr_sources_get(s, at).via) {
    struct orr_location l = orr_sources_get(s, at);
    struct orr_line line = orr_sources_line(s, l.file, l.offset);
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%zu:%zu", n ? " " : "", line.number, line.column);
  }
  assert_string_equal(text, expected);
}

static void json_and_yaml_give_the_same_tree(void **state) {
  (void)state;
  static const char *const texts[] = {"{\"a\": [1, \"x y\"],\n\t\"b\": {\"c\": null}}", "a: [1, x y]\nb: {c: }\n",
                                      "a:\n- 1\n- 'x y'\nb:\n  c: ~\n",
                                      ("\xef\xbb\xbf"
                                       "a: [1, \"x\\u0020y\"]\r\nb: {c: null}\r\n")};
  for (size_t i = 0; i < 4; i++) {
    struct parsed p = good(texts[i]);
    struct orr_place a = member(&p, p.root, "a");
    assert_int_equal(a.node->kind, ORR_YAML_SEQUENCE);
    assert_int_equal(a.node->count, 2);
    assert_string_equal(a.node->items[0].value->text, "1");
    assert_string_equal(a.node->items[1].value->text, "x y");
    assert_int_equal(member(&p, member(&p, p.root, "b"), "c").node->kind, ORR_YAML_NULL);
    orr_diagnostics_destroy(p.d);
  }
}

static void places_are_those_of_the_text(void **state) {
  (void)state;
  struct parsed p = good("first: 1\nsecond: {in: \"quoted\", \u00e9t\u00e9: x}\n");
  expect_place(&p, orr_place_source(p.d, member(&p, p.root, "first")), "1:8");
  struct orr_place second = member(&p, p.root, "second");
  expect_place(&p, orr_place_source(p.d, second), "2:9");
  expect_place(&p, orr_place_source(p.d, member(&p, second, "in")), "2:14");
  expect_place(&p, orr_place_source(p.d, member(&p, second, "\u00e9t\u00e9")), "2:29"); /* characters, not bytes */
  expect_place(&p, orr_place_source(p.d, orr_place_key(p.d, second, 1)), "2:24");
  orr_diagnostics_destroy(p.d);
}

static void an_alias_is_what_it_names_at_both_places(void **state) {
  (void)state;
  struct parsed p = good("a: &x {m: 1}\nb: *x\nc: [*x]\n");
  expect_place(&p, orr_place_source(p.d, member(&p, member(&p, p.root, "b"), "m")), "1:11 2:4");
  expect_place(&p, orr_place_source(p.d, member(&p, orr_place_item(p.d, member(&p, p.root, "c"), 0), "m")), "1:11 3:5");
  orr_diagnostics_destroy(p.d);
}

static void the_latest_anchor_of_a_name_counts(void **state) {
  (void)state;
  struct parsed p = good("a: &x 1\nb: *x\nc: &x 2\nd: *x\n");
  assert_string_equal(member(&p, p.root, "b").node->text, "1");
  assert_string_equal(member(&p, p.root, "d").node->text, "2");
  orr_diagnostics_destroy(p.d);
}

static void own_keys_win_over_merged_ones_wherever_they_stand(void **state) {
  (void)state;
  struct parsed p = good("a: &a {m: 1, n: 2}\n"
                         "b: &b {n: 3, o: 4}\n"
                         "c: {m: 9, <<: *a}\n"
                         "d: {<<: *a, m: 9}\n"
                         "e: {<<: [*b, *a]}\n"
                         "f: &f {<<: *a, p: 5}\n"
                         "g: {<<: *f}\n"
                         "h: {<<: {q: 6}, \"<<\": 7}\n");
  static const struct {
    const char *in, *key, *value, *place;
  } cases[] = {
      {"c", "m", "9", "3:8"},           {"c", "n", "2", "1:17 3:15"},     {"d", "m", "9", "4:16"},
      {"d", "n", "2", "1:17 4:9"},      {"e", "n", "3", "2:11 5:10 5:5"}, {"e", "m", "1", "1:11 5:14 5:5"},
      {"g", "m", "1", "1:11 6:12 7:9"}, {"g", "p", "5", "6:19 7:9"},      {"h", "q", "6", "8:13 8:5"},
      {"h", "<<", "7", "8:23"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct orr_place v = member(&p, member(&p, p.root, cases[i].in), cases[i].key);
    assert_string_equal(v.node->text, cases[i].value);
    expect_place(&p, orr_place_source(p.d, v), cases[i].place);
  }
  orr_diagnostics_destroy(p.d);
}

static void large_mappings_find_their_keys_and_duplicates(void **state) {
  (void)state;
  char *text = calloc(1, 40 * 3000), *end = text;
  assert_non_null(text);
  for (int i = 0; i < 3000; i++)
    end += sprintf(end, "key_%d: %d\n", i, i);
  snprintf(end, 20, "key_7: again\n");
  struct parsed p = good(text); /* a duplicate is reported, and the first one stays */
  assert_int_equal(orr_diagnostics_errors(p.d), 1);
  assert_string_equal(member(&p, p.root, "key_7").node->text, "7");
  assert_string_equal(member(&p, p.root, "key_2999").node->text, "2999");
  assert_int_equal(p.root.node->count, 3000);
  orr_diagnostics_destroy(p.d);
  free(text);
}

static const char *refused(const char *text, size_t length) {
  static char code[40];
  struct parsed p = parse(text, length);
  assert_null(p.root.node);
  assert_true(orr_diagnostics_errors(p.d) > 0);
  snprintf(code, sizeof code, "%s", orr_diagnostics_get(p.d, 0).code);
  orr_diagnostics_destroy(p.d);
  return code;
}

static void bombs_are_refused_before_they_expand(void **state) {
  (void)state;
  char merges[4000] = "a0: &a0 {k0: 0}\n";
  for (int i = 1; i < 40; i++)
    sprintf(merges + strlen(merges), "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1);
  assert_string_equal(refused(merges, strlen(merges)), "alias-bomb");
}

static void what_is_no_text_or_too_long_is_refused(void **state) {
  (void)state;
  static const char nothing[] = "";
  assert_string_equal(refused("a: \x01", 4), "not-text");
  assert_string_equal(refused("a: \xed\xa0\x80", 6), "not-text"); /* a surrogate */
  assert_string_equal(refused("a: \xf4\x90\x80\x80", 7), "not-text");
  assert_string_equal(refused("a: \xe0\x9f\xbf", 6), "not-text");
  assert_string_equal(refused("a: \xe2\x82", 5), "not-text");
  assert_string_equal(refused(nothing, 0), "empty");
  assert_string_equal(refused(nothing, (size_t)ORR_YAML_LONGEST + 1), "too-long"); /* it never looks at the bytes */
}

static void depth_is_bounded(void **state) {
  (void)state;
  char text[200] = "";
  memset(text, '[', 64);
  memset(text + 64, ']', 64);
  struct parsed p = good(text);
  orr_diagnostics_destroy(p.d);
  memset(text, '[', 65);
  memset(text + 65, ']', 65);
  assert_string_equal(refused(text, 130), "too-deep");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(json_and_yaml_give_the_same_tree),
      cmocka_unit_test(places_are_those_of_the_text),
      cmocka_unit_test(an_alias_is_what_it_names_at_both_places),
      cmocka_unit_test(the_latest_anchor_of_a_name_counts),
      cmocka_unit_test(own_keys_win_over_merged_ones_wherever_they_stand),
      cmocka_unit_test(large_mappings_find_their_keys_and_duplicates),
      cmocka_unit_test(bombs_are_refused_before_they_expand),
      cmocka_unit_test(what_is_no_text_or_too_long_is_refused),
      cmocka_unit_test(depth_is_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
