/* Texts from outside, made fit for what we write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/common/text.h"

static void what_is_no_letter_is_a_question_mark(void **state) {
  (void)state;
  static const char *const pairs[][2] = {{"a path/r.yaml", "a path/r.yaml"},
                                         {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
                                         {"lat\xe9n", "lat?n"},
                                         {"cut \xc3", "cut ?"},
                                         {"\xed\xa0\x80", "???"}, /* half of a pair */
                                         {"a\nb\x7f\xc2\x85", "a?b??"},
                                         {"a\\b\"c*", "a?b?c?"},
                                         {"", ""}};
  char clean[40];
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    assert_string_equal(orr_text_clean(pairs[i][0], "\\\"*", clean, sizeof clean), pairs[i][1]);
}

static void what_does_not_fit_is_cut_to_whole_letters(void **state) {
  (void)state;
  char clean[6];
  assert_string_equal(orr_text_clean("abcdefg", "", clean, sizeof clean), "abcde");
  assert_string_equal(orr_text_clean("abcd\xc3\xbc", "", clean, sizeof clean), "abcd");
  assert_string_equal(orr_text_clean("\xe2\x82\xac\xe2\x82\xac", "", clean, sizeof clean), "\xe2\x82\xac");
}

static void what_is_printed_steers_no_terminal(void **state) {
  (void)state;
  static const char text[] = "gr\xc3\xbc\xc3\x9f\x1b[2J\0\xff\xc2\x9b";
  char *printed;
  size_t size;
  FILE *out = open_memstream(&printed, &size);
  assert_non_null(out);
  assert_int_equal(orr_text_print(out, text, sizeof text - 1), 13);
  fclose(out);
  assert_string_equal(printed, "gr\xc3\xbc\xc3\x9f?[2J???");
  free(printed);
}

static void a_string_of_json_is_never_left_out(void **state) {
  (void)state;
  static const char *const texts[] = {"plain", "line\nbreak", "lat\xe9n", "\xff", ""};
  static const char *const strings[] = {"plain", "line\nbreak", "lat?n", "?", ""};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    json_t *j = orr_json_text(texts[i]);
    assert_non_null(j);
    assert_string_equal(json_string_value(j), strings[i]);
    json_decref(j);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_no_letter_is_a_question_mark),
      cmocka_unit_test(what_does_not_fit_is_cut_to_whole_letters),
      cmocka_unit_test(what_is_printed_steers_no_terminal),
      cmocka_unit_test(a_string_of_json_is_never_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
