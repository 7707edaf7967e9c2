/* The reference: every key, device and channel says what it is, and every mapping has a name of its own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/devices/devices.h"
#include "core/plant/plant.h"
#include "core/plant/world.h"
#include "io/config/run/run_file.h"
#include "tools/reference/language.h"

static const struct orr_mapping *const files[] = {&orr_file_mapping, &orr_part_file_mapping, &orr_case_mapping};

/* A sentence without a full stop; ASCII, so that a terminal and an editor show it. */
static void assert_doc(const char *doc, const char *whose) {
  size_t n = doc ? strlen(doc) : 0;
  if (n == 0 || doc[n - 1] == '.' || doc[0] == ' ')
    fail_msg("%s: its doc is '%s'", whose, doc ? doc : "missing");
  for (size_t i = 0; i < n; i++)
    if (doc[i] < ' ' || doc[i] > '~')
      fail_msg("%s: its doc has a letter that is not ASCII", whose);
}

static void assert_shape(const struct orr_shape *s, const char *whose) {
  if (!s)
    fail_msg("%s: its shape is missing", whose);
  switch (s->kind) {
  case ORR_SHAPE_TEXT:
  case ORR_SHAPE_DEVICE:
    assert_non_null(s->what);
    break;
  case ORR_SHAPE_WORD:
    assert_non_null(s->words);
    break;
  case ORR_SHAPE_MAPPING:
  case ORR_SHAPE_LATER:
    assert_non_null(orr_language_mapping(s));
    break;
  case ORR_SHAPE_NAMED:
    assert_non_null(s->what);
    assert_shape(s->of, whose);
    break;
  case ORR_SHAPE_LIST:
    assert_shape(s->of, whose);
    break;
  case ORR_SHAPE_PAIR:
  case ORR_SHAPE_EITHER:
    assert_shape(s->of, whose);
    assert_shape(s->other, whose);
    break;
  default:
    break;
  }
}

static void every_key_says_what_it_is(void **state) {
  (void)state;
  const struct orr_mapping *list[ORR_LANGUAGE_MOST];
  size_t keys = 0;
  for (size_t f = 0; f < 3; f++) {
    size_t n = orr_language_list(files[f], list);
    for (size_t i = 0; i < n; i++) {
      bool section = !strchr(list[i]->name, '.') && strcmp(list[i]->name, "spacecraft") != 0 &&
                     strcmp(list[i]->name, "state") != 0;
      if (section && !list[i]->example)
        fail_msg("the section '%s' has no example", list[i]->name);
      assert_true(list[i]->doc && list[i]->doc[strlen(list[i]->doc) - 1] == '.');
      for (size_t k = 0; k < list[i]->key_count; k++, keys++) {
        const struct orr_key *key = &list[i]->keys[k];
        char whose[128], text[ORR_LANGUAGE_TEXT];
        snprintf(whose, sizeof whose, "%s.%s", list[i]->name, key->name);
        assert_doc(key->doc, whose);
        if (!key->required && !key->fallback && !key->absent && key->type != ORR_KEY_UNBUILT)
          fail_msg("%s: says neither its fallback nor what its absence means", whose);
        if (key->type == ORR_KEY_PLACE)
          assert_shape(key->shape, whose);
        orr_language_describe(key, text);
        assert_true(text[0] && strlen(text) < ORR_LANGUAGE_TEXT - 1);
        orr_language_absence(key, text);
        assert_true(text[0] != '\0');
      }
    }
  }
  assert_true(keys > 120);
}

static void every_mapping_has_a_name_of_its_own(void **state) {
  (void)state;
  const struct orr_mapping *list[3 * ORR_LANGUAGE_MOST];
  size_t n = 0;
  for (size_t f = 0; f < 3; f++)
    n += orr_language_list(files[f], list + n);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++)
      if (list[i] != list[k] && strcmp(list[i]->name, list[k]->name) == 0)
        fail_msg("two mappings are named '%s'", list[i]->name);
}

static void every_device_says_what_it_is(void **state) {
  (void)state;
  size_t params = 0;
  for (const struct orr_device_kind *const *k = orr_device_kinds; *k; k++) {
    assert_true((*k)->doc && (*k)->equation && (*k)->example);
    assert_true((*k)->equation[strlen((*k)->equation) - 1] == '\n');
    for (size_t i = 0; i < (*k)->param_count; i++, params++)
      assert_doc((*k)->params[i].doc, (*k)->params[i].name);
    for (size_t i = 0; i < (*k)->channel_count; i++)
      assert_doc((*k)->channels[i].doc, (*k)->channels[i].name);
  }
  assert_true(params > 70);
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

static bool has_channel(const struct orr_device_kind *kind, const char *name) {
  for (size_t i = 0; i < kind->channel_count; i++)
    if (strcmp(kind->channels[i].name, name) == 0)
      return true;
  return false;
}

/* Whether `orrery help channels` has a channel of this last name. */
static bool is_told(const char *name) {
  const struct orr_channel *c;
  const char *of;
  for (size_t i = 0; (c = orr_plant_channel(i, &of)); i++)
    if (strcmp(c->name, name) == 0)
      return true;
  for (const struct orr_device_kind *const *k = orr_device_kinds; *k; k++)
    if (has_channel(*k, name))
      return true;
  return has_channel(&orr_world_kind, name) || has_channel(&orr_world_place_kind, name);
}

static void every_channel_of_the_configs_is_told(void **state) {
  (void)state;
  static const char *const paths[] = {"configs/cassini-slew.yaml", "configs/deployment.yaml",  "configs/orbit.yaml",
                                      "configs/reference.yaml",    "configs/chain-drive.yaml", "configs/cubesat.yaml"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    struct orr_diagnostics *d = orr_diagnostics_create();
    const struct orr_run *run = orr_run_load(paths[i], NULL, d);
    assert_non_null(run);
    for (int c = 0; c < run->table.count; c++) {
      const struct orr_channel *channel = &run->table.channels[c];
      assert_doc(channel->doc, channel->name);
      if (!is_told(strrchr(channel->name, '.') + 1))
        fail_msg("%s: the reference has no channel '%s'", paths[i], channel->name);
    }
    orr_diagnostics_destroy(d);
  }
}

/* ---- what is said of a key --------------------------------------------------------------------------------------- */

static const char *const words[] = {"auto", "any", NULL};
static const struct orr_range share = {0, 1, true};
static const struct {
  struct orr_key key;
  const char *takes, *absence;
} cases[] = {
    {{.unit = "N m|N", .range = &orr_range_positive, .required = true}, "number, N m or N, above 0", "required"},
    {{.range = &share, .fallback = "0.5"}, "number, above 0 to 1", "default 0.5"},
    {{.type = ORR_KEY_WHOLE, .choices = words, .fallback = "auto"}, "whole number; or auto or any", "default auto"},
    {{.type = ORR_KEY_PLACE, .shape = ORR_LIST(ORR_NUMBERS(6, "m")), .absent = "none"},
     "list of list of 6 numbers, m",
     "without it: none"},
    {{.type = ORR_KEY_PLACE, .shape = ORR_NUMBER("|rad/m|m/rad"), .absent = "0"},
     "number, plain, rad/m or m/rad",
     "without it: 0"},
};

static void what_a_key_takes_is_said_in_words(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[ORR_LANGUAGE_TEXT];
    orr_language_describe(&cases[i].key, text);
    assert_string_equal(text, cases[i].takes);
    orr_language_absence(&cases[i].key, text);
    assert_string_equal(text, cases[i].absence);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_key_says_what_it_is),         cmocka_unit_test(every_mapping_has_a_name_of_its_own),
      cmocka_unit_test(every_device_says_what_it_is),      cmocka_unit_test(every_channel_of_the_configs_is_told),
      cmocka_unit_test(what_a_key_takes_is_said_in_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
