/* The text of scalars: quotes, escapes, folded lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/config/text/scalar.h"

static void expect(enum orr_scalar_style style, const char *raw, const char *text) {
  size_t n = strlen(raw), written = 0, at = 0;
  char *out = malloc(n + 1); /* as many bytes as it may write: the sanitizer sees one more */
  assert_non_null(out);
  if (!orr_scalar_decode(style, raw, n, out, &written, &at))
    fail_msg("%s: refused at %zu", raw, at);
  assert_true(written <= n);
  out[written] = '\0';
  assert_string_equal(out, text);
  free(out);
}

static void refuse(const char *raw, size_t where) {
  char out[100];
  size_t written, at = 99;
  if (orr_scalar_decode(ORR_SCALAR_DOUBLE_QUOTED, raw, strlen(raw), out, &written, &at))
    fail_msg("%s: taken", raw);
  assert_int_equal(at, where);
}

static void plain_text_is_itself(void **state) {
  (void)state;
  expect(ORR_SCALAR_PLAIN, "30 deg", "30 deg");
  expect(ORR_SCALAR_PLAIN, "a\\n'b", "a\\n'b");
  expect(ORR_SCALAR_PLAIN, "", "");
  expect(ORR_SCALAR_SINGLE_QUOTED, "it''s \\n", "it's \\n");
}

static void escapes_mean_what_json_says(void **state) {
  (void)state;
  expect(ORR_SCALAR_DOUBLE_QUOTED, "a\\\"b\\\\c\\/d", "a\"b\\c/d");
  expect(ORR_SCALAR_DOUBLE_QUOTED, "\\b\\f\\n\\r\\t\\ ", "\b\f\n\r\t ");
  expect(ORR_SCALAR_DOUBLE_QUOTED, "\\u0041\\x42", "AB");
  expect(ORR_SCALAR_DOUBLE_QUOTED, "\\u00b5\\u20AC\\ud83d\\ude00", "\u00b5\u20ac\U0001f600");
  expect(ORR_SCALAR_DOUBLE_QUOTED, "\\xb5", "\u00b5");
}

static void what_is_no_escape_is_refused_at_its_place(void **state) {
  (void)state;
  refuse("ab\\q", 2);
  refuse("\\", 0);
  refuse("\\u12", 0);
  refuse("\\u12g4", 0);
  refuse("\\ud800", 0);
  refuse("\\ud800\\n1234", 0);
  refuse("\\ud800\\u0041", 0);
  refuse("\\udc00", 0);
  refuse("x\\x4", 1);
}

static void lines_are_folded(void **state) {
  (void)state;
  expect(ORR_SCALAR_PLAIN, "one\n  two", "one two");
  expect(ORR_SCALAR_PLAIN, "one  \r\n\t two", "one two");
  expect(ORR_SCALAR_PLAIN, "one\n\n\n  two", "one\n\ntwo");
  expect(ORR_SCALAR_DOUBLE_QUOTED, "one\\t\n two", "one\t two");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_text_is_itself),
      cmocka_unit_test(escapes_mean_what_json_says),
      cmocka_unit_test(what_is_no_escape_is_refused_at_its_place),
      cmocka_unit_test(lines_are_folded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
