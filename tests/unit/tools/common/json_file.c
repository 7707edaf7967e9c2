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
      cmocka_unit_test(no_trouble_has_control_characters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
