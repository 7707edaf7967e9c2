/* Names to numbers, and the nearest name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/config/text/names.h"

static void every_name_is_found_again(void **state) {
  (void)state;
  struct orr_arena *arena = orr_arena_create();
  struct orr_names names = {0};
  assert_int_equal(orr_names_find(&names, "anything"), ORR_NAME_NONE);
  for (int i = 0; i < 5000; i++) {
    const char *name = orr_arena_format(arena, "n%d", i);
    assert_int_equal(orr_names_find(&names, name), ORR_NAME_NONE);
    orr_names_add(&names, arena, name, 3 * i);
  }
  for (int i = 0; i < 5000; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    assert_int_equal(orr_names_find(&names, name), 3 * i);
  }
  assert_int_equal(orr_names_find(&names, "n5000"), ORR_NAME_NONE);
  orr_arena_destroy(arena);
}

static const char *nearest(const char *wanted, const char *const *among) {
  struct orr_nearest n = {.wanted = wanted};
  for (; *among; among++)
    orr_nearest_offer(&n, *among);
  return n.best;
}

static void a_slip_finds_its_name(void **state) {
  (void)state;
  static const char *const keys[] = {"mass", "com", "inertia", "hinge", "nodes", NULL};
  assert_string_equal(nearest("inertai", keys), "inertia");
  assert_string_equal(nearest("mas", keys), "mass");
  assert_string_equal(nearest("masss", keys), "mass");
  assert_string_equal(nearest("hindge", keys), "hinge");
  assert_string_equal(nearest("noeds", keys), "nodes");
  assert_null(nearest("stiffness", keys));
  assert_null(nearest("", keys));
  assert_null(nearest("x", keys));
  assert_null(nearest("inertiainertiainertiainertiainertiainertiainertia", keys));
}

static void the_arena_keeps_what_it_gave(void **state) {
  (void)state;
  struct orr_arena *arena = orr_arena_create();
  static const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 20000, 70000, 3};
  unsigned char *pieces[900];
  for (size_t i = 0; i < 900; i++) {
    size_t n = sizes[i % 9];
    pieces[i] = orr_arena_alloc(arena, n, 1);
    assert_non_null(pieces[i]);
    assert_int_equal((uintptr_t)pieces[i] % 16, 0);
    for (size_t k = 0; k < n; k++)
      assert_int_equal(pieces[i][k], 0);
    memset(pieces[i], (int)(i % 251), n);
  }
  for (size_t i = 0; i < 900; i++)
    for (size_t k = 0; k < sizes[i % 9]; k += 7)
      assert_int_equal(pieces[i][k], i % 251);
  assert_string_equal(orr_arena_format(arena, "%s-%d", "long", 12345), "long-12345");
  size_t room = 0;
  int *list = orr_arena_grow(arena, NULL, 0, sizeof *list, &room);
  assert_int_equal(room, 8);
  for (int i = 0; i < 8; i++)
    list[i] = i;
  list = orr_arena_grow(arena, list, 8, sizeof *list, &room);
  assert_int_equal(room, 16);
  assert_int_equal(list[7], 7);
  orr_arena_destroy(arena);
  orr_arena_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_name_is_found_again),
      cmocka_unit_test(a_slip_finds_its_name),
      cmocka_unit_test(the_arena_keeps_what_it_gave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
