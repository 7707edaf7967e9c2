/* How mistakes are printed, counted and ordered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/config/text/diagnostic.h"

static char *printed(struct orr_diagnostics *d, bool colour) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  assert_non_null(out);
  orr_diagnostics_print(d, 0, out, colour);
  fclose(out);
  return text;
}

static orr_source at(struct orr_diagnostics *d, uint32_t file, uint32_t offset, enum orr_via kind, orr_source via) {
  return orr_sources_add(orr_diagnostics_sources(d),
                         (struct orr_location){.file = file, .offset = offset, .kind = kind, .via = via});
}

static uint32_t add(struct orr_diagnostics *d, const char *name, const char *text) {
  return orr_sources_add_file(orr_diagnostics_sources(d), name, text, strlen(text));
}

static void a_message_shows_its_line_and_what_led_there(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  uint32_t ship = add(d, "ship.yaml", "parts:\n  left: {include: wing.yaml}\n");
  uint32_t wing = add(d, "wing.yaml", "bodies:\n\tpanel: \"two words\"  # \u00e9\n");
  orr_source include = at(d, ship, 25, ORR_VIA_INCLUDE, 0);
  orr_report(d, ORR_ERROR, at(d, wing, 16, ORR_VIA_NONE, include), "code", "wrong by %d", 3);
  orr_report_related(d, at(d, wing, 0, ORR_VIA_NONE, 0), "seen here");
  orr_report(d, ORR_WARNING, 0, "code", "of no place");
  char *text = printed(d, false);
  assert_string_equal(text, "wing.yaml:2:9: error: wrong by 3\n"
                            "    2 | \tpanel: \"two words\"  # \u00e9\n"
                            "      | \t       ^~~~~~~~~~~\n"
                            "ship.yaml:2:19: note: included from here\n"
                            "    2 |   left: {include: wing.yaml}\n"
                            "      |                   ^~~~~~~~~\n"
                            "wing.yaml:1:1: note: seen here\n"
                            "    1 | bodies:\n"
                            "      | ^~~~~~\n"
                            "orrery: warning: of no place\n");
  free(text);
  assert_int_equal(orr_diagnostics_errors(d), 1);
  orr_diagnostics_destroy(d);
}

static void a_terminal_is_never_told_what_a_file_says(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  uint32_t file = add(d, "a.yaml", "x: \033[31m\177 red\n");
  orr_report(d, ORR_ERROR, at(d, file, 0, ORR_VIA_NONE, 0), "code", "from \033]0;title\007");
  char *text = printed(d, false);
  assert_null(strpbrk(text, "\033\007\177"));
  free(text);
  text = printed(d, true);
  assert_non_null(strstr(text, "\033[1;31merror:"));
  free(text);
  orr_diagnostics_destroy(d);
}

static void the_caret_stands_under_the_place_however_wide_the_letters_before_it(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  uint32_t file = add(d, "a.yaml", "\t\u5b87\u5b99\u8239, e\u0301 \U0001f680: \u5b87\u00e9 x\n");
  orr_report(d, ORR_ERROR, at(d, file, 22, ORR_VIA_NONE, 0), "code", "here");
  char *text = printed(d, false);
  assert_string_equal(text, "a.yaml:1:13: error: here\n"
                            "    1 | \t\u5b87\u5b99\u8239, e\u0301 \U0001f680: \u5b87\u00e9 x\n"
                            "      | \t              ^~~\n");
  free(text);
  orr_diagnostics_destroy(d);
}

/* A byte order mark is no part of the first line; lines end in LF, CR LF or CR. */
static void a_mark_takes_no_column_and_every_line_end_counts(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  struct orr_sources *s = orr_diagnostics_sources(d);
  uint32_t file = add(d, "a.yaml",
                      "\xEF\xBB\xBF"
                      "ab\rcd\r\ne\u00e9f\n");
  static const struct {
    uint32_t offset;
    size_t line, column;
  } cases[] = {{0, 1, 1}, {3, 1, 1}, {4, 1, 2}, {6, 2, 1}, {7, 2, 2}, {10, 3, 1}, {13, 3, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct orr_line line = orr_sources_line(s, file, cases[i].offset);
    assert_int_equal(line.number, cases[i].line);
    assert_int_equal(line.column, cases[i].column);
    if (cases[i].offset > 0)
      assert_int_equal(orr_sources_offset(s, file, cases[i].line, cases[i].column), cases[i].offset);
  }
  orr_diagnostics_destroy(d);
}

static void a_message_is_text_whatever_is_cut_or_written(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  uint32_t file = add(d, "a.yaml",
                      "\xC2\x9B"
                      "31m \xFF\n");
  orr_report(d, ORR_ERROR, at(d, file, 0, ORR_VIA_NONE, 0), "code", "key '%.4s' and '%.3s'", "abc\u00e9",
             "\xC2\x9B"
             "3");
  char *text = printed(d, false);
  assert_string_equal(text, "a.yaml:1:1: error: key 'abc?' and '\?\?3'\n    1 | ?31m ?\n      | ^~~~\n");
  free(text);
  orr_diagnostics_destroy(d);
}

static void a_long_line_is_shown_around_the_place(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  char *line = malloc(100001);
  assert_non_null(line);
  for (size_t i = 0; i < 100000; i += 2) /* two-byte characters, which must not be cut */
    memcpy(line + i, "\u00e9", 2);
  line[100000] = '\0';
  uint32_t file = add(d, "a.yaml", line);
  orr_report(d, ORR_ERROR, at(d, file, 50000, ORR_VIA_NONE, 0), "code", "here");
  char *text = printed(d, false);
  assert_true(strlen(text) < 500);
  assert_non_null(strstr(text, "a.yaml:1:25001: error: here\n    1 | ...\u00e9"));
  assert_non_null(strstr(text, "\u00e9...\n"));
  free(text);
  free(line);
  orr_diagnostics_destroy(d);
}

static void a_mistake_reached_twice_is_told_once(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  uint32_t file = add(d, "a.yaml", "one\ntwo\nthree\n");
  orr_source doors[2] = {at(d, file, 4, ORR_VIA_ALIAS, 0), at(d, file, 8, ORR_VIA_ALIAS, 0)};
  orr_report(d, ORR_ERROR, at(d, file, 0, ORR_VIA_NONE, doors[0]), "code", "of 'a'");
  orr_report(d, ORR_ERROR, at(d, file, 0, ORR_VIA_NONE, doors[1]), "code", "of 'b'");  /* another way to the same */
  orr_report(d, ORR_ERROR, at(d, file, 0, ORR_VIA_NONE, doors[0]), "other", "of 'a'"); /* the same text */
  orr_report(d, ORR_ERROR, at(d, file, 0, ORR_VIA_NONE, doors[0]), "code", "more"); /* the same way: a second mistake */
  assert_int_equal(orr_diagnostics_count(d), 2);
  assert_int_equal(orr_diagnostics_errors(d), 4); /* what is wrong is wrong, told or not */
  orr_diagnostics_destroy(d);
}

static void messages_beyond_the_last_kept_are_counted(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  for (int i = 0; i < ORR_MESSAGES_KEPT + 7; i++)
    orr_report(d, ORR_ERROR, 0, "code", "number %d", i);
  assert_int_equal(orr_diagnostics_count(d), ORR_MESSAGES_KEPT);
  assert_int_equal(orr_diagnostics_errors(d), ORR_MESSAGES_KEPT + 7);
  char *text = printed(d, false);
  assert_non_null(strstr(text, "orrery: 7 more not shown\n"));
  free(text);
  orr_diagnostics_destroy(d);
}

static void messages_are_sorted_by_place(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  uint32_t a = add(d, "a.yaml", "one\ntwo\n"), b = add(d, "b.yaml", "one\ntwo\n");
  orr_report(d, ORR_ERROR, at(d, b, 4, ORR_VIA_NONE, 0), "code", "3");
  orr_report(d, ORR_ERROR, at(d, a, 4, ORR_VIA_NONE, 0), "code", "1");
  orr_report(d, ORR_ERROR, at(d, a, 4, ORR_VIA_NONE, 0), "code", "2");
  orr_report(d, ORR_ERROR, at(d, a, 0, ORR_VIA_NONE, 0), "code", "0");
  orr_diagnostics_sort(d, 0);
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(atoi(orr_diagnostics_get(d, i).text), i);
  orr_diagnostics_destroy(d);
}

static void lines_and_offsets_agree(void **state) {
  (void)state;
  struct orr_diagnostics *d = orr_diagnostics_create();
  struct orr_sources *s = orr_diagnostics_sources(d);
  uint32_t file = add(d, "a.yaml", "ab\r\n\ncde");
  static const struct {
    uint32_t offset;
    size_t line, column;
  } cases[] = {{0, 1, 1}, {1, 1, 2}, {2, 1, 3}, {3, 1, 3}, {4, 2, 1}, {5, 3, 1}, {8, 3, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct orr_line line = orr_sources_line(s, file, cases[i].offset);
    assert_int_equal(line.number, cases[i].line);
    assert_int_equal(line.column, cases[i].column);
  }
  assert_int_equal(orr_sources_offset(s, file, 3, 2), 6);
  assert_int_equal(orr_sources_offset(s, file, 3, 99), 8);
  assert_int_equal(orr_sources_offset(s, file, 99, 1), 8);
  assert_int_equal(orr_sources_offset(s, file, 0, 0), 0);
  orr_diagnostics_destroy(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_message_shows_its_line_and_what_led_there),
      cmocka_unit_test(a_terminal_is_never_told_what_a_file_says),
      cmocka_unit_test(the_caret_stands_under_the_place_however_wide_the_letters_before_it),
      cmocka_unit_test(a_mark_takes_no_column_and_every_line_end_counts),
      cmocka_unit_test(a_message_is_text_whatever_is_cut_or_written),
      cmocka_unit_test(a_long_line_is_shown_around_the_place),
      cmocka_unit_test(a_mistake_reached_twice_is_told_once),
      cmocka_unit_test(messages_beyond_the_last_kept_are_counted),
      cmocka_unit_test(messages_are_sorted_by_place),
      cmocka_unit_test(lines_and_offsets_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
