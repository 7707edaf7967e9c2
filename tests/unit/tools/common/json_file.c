/* Files of JSON from anywhere: what is wrong is told in words that a terminal can be shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/common/json_file.h"

static json_t *load(const char *text, char trouble[ORR_JSON_TROUBLE]) {
  char path[] = "/tmp/orrery.json_file.XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
  close(fd);
  json_t *root = orr_json_load(path, JSON_REJECT_DUPLICATES, trouble);
  unlink(path);
  return root;
}

static void what_it_holds_is_read(void **state) {
  (void)state;
  char trouble[ORR_JSON_TROUBLE];
  json_t *root = load("{\"a\": [1, 2]}", trouble);
  assert_int_equal(json_array_size(json_object_get(root, "a")), 2);
  json_decref(root);
}

static const char nones[] =
    "[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],";

/* Row by row as a file is: what has too many lists is none, and the next one is found behind it. */
static void a_row_has_the_bounds_of_a_file(void **state) {
  (void)state;
  struct orr_json_line line = {0};
  FILE *rows = tmpfile();
  assert_non_null(rows);
  fputs("{\"a\": 1}\n[", rows);
  for (size_t i = 0; i < 2 * ORR_JSON_HOLDERS / (sizeof nones / 3); i++)
    fputs(nones, rows);
  fputs("0]\n[2", rows);
  rewind(rows);
  assert_int_equal(orr_json_next(&line, rows), ORR_JSON_WHOLE);
  assert_int_equal(line.length, 9);
  json_t *row = orr_json_row(&line);
  assert_int_equal(json_integer_value(json_object_get(row, "a")), 1);
  json_decref(row);
  assert_int_equal(orr_json_next(&line, rows), ORR_JSON_WHOLE);
  assert_null(orr_json_row(&line));
  assert_int_equal(orr_json_next(&line, rows), ORR_JSON_PART);
  assert_int_equal(line.length, 2);
  assert_null(orr_json_row(&line));
  assert_int_equal(orr_json_next(&line, rows), ORR_JSON_NONE);
  free(line.text);
  fclose(rows);
}

/* A line without end takes no more than a file may. */
static void what_is_longer_is_counted_and_not_kept(void **state) {
  (void)state;
  struct orr_json_line line = {0};
  FILE *rows = tmpfile();
  assert_non_null(rows);
  assert_int_equal(ftruncate(fileno(rows), ((off_t)ORR_JSON_MIB << 20) + 5), 0);
  fseek(rows, 0, SEEK_END);
  fputs("\n[1]\n", rows);
  rewind(rows);
  assert_int_equal(orr_json_next(&line, rows), ORR_JSON_WHOLE);
  assert_int_equal(line.length, ((size_t)ORR_JSON_MIB << 20) + 6);
  assert_int_equal(line.room, (size_t)ORR_JSON_MIB << 20);
  assert_null(orr_json_row(&line));
  assert_int_equal(orr_json_next(&line, rows), ORR_JSON_WHOLE);
  json_t *row = orr_json_row(&line);
  assert_int_equal(json_array_size(row), 1);
  json_decref(row);
  free(line.text);
  fclose(rows);
}

/* The parser repeats what it does not know, bytes that terminals obey among it. */
static void no_trouble_has_control_characters(void **state) {
  (void)state;
  static const char *const wrong[] = {"{\"a\": x\x1b[2J}", "{\"a\x1b]0;title\x07\": 1}",
                                      "{\"\\u001b[2J\": 1, \"\\u001b[2J\": 2}", "{\"\\u009b2J\": 1, \"\\u009b2J\": 2}",
                                      "{\"a\": 1} \x7f\x1b"};
  char trouble[ORR_JSON_TROUBLE];
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_null(load(wrong[i], trouble));
    assert_non_null(strstr(trouble, "line 1, column "));
    for (const char *c = trouble; *c; c++)
      if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
        fail_msg("%zu: byte %d in the message", i, (unsigned char)*c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_it_holds_is_read),
      cmocka_unit_test(a_row_has_the_bounds_of_a_file),
      cmocka_unit_test(what_is_longer_is_counted_and_not_kept),
      cmocka_unit_test(no_trouble_has_control_characters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
