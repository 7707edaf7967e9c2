#include "tools/run/state_file.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *hex(uint64_t word) {
  char text[17];
  snprintf(text, sizeof text, "%016" PRIx64, word);
  return json_string(text);
}

static bool unhex(const json_t *item, uint64_t *word) {
  const char *text = json_string_value(item);
  if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
    return false;
  *word = strtoull(text, NULL, 16);
  return true;
}

bool orr_state_file_save(const char *path, const struct orr_session *s) {
  size_t count = orr_session_state_words(s);
  uint64_t *words = calloc(count, sizeof *words);
  json_t *root = json_object(), *list = json_array();
  if (words)
    orr_session_state_get(s, words);
  for (size_t i = 0; words && i < count; i++)
    json_array_append_new(list, hex(words[i]));
  json_object_set_new(root, "orrery_state", json_integer(1));
  json_object_set_new(root, "time_s", json_real(1e-9 * (double)orr_plant_time_ns(s->plant)));
  json_object_set_new(root, "state_hash", hex(orr_session_hash(s)));
  json_object_set_new(root, "layout", hex(orr_plant_layout_hash(s->plant)));
  json_object_set_new(root, "words", list);
  bool good = words && json_dump_file(root, path, JSON_INDENT(1)) == 0;
  if (!good)
    fprintf(stderr, "orrery run: cannot write the state to '%s'\n", path);
  json_decref(root);
  free(words);
  return good;
}

/* NULL, or what is wrong. */
static const char *put(const json_t *root, struct orr_session *s) {
  uint64_t layout, hash;
  const json_t *list = json_object_get(root, "words");
  size_t count = orr_session_state_words(s);
  if (json_integer_value(json_object_get(root, "orrery_state")) != 1 || !json_is_array(list) ||
      !unhex(json_object_get(root, "layout"), &layout) || !unhex(json_object_get(root, "state_hash"), &hash))
    return "it is not a state that orrery has saved";
  if (layout != orr_plant_layout_hash(s->plant) || json_array_size(list) != count)
    return "it was saved by a run of another spacecraft, other devices or another step";
  uint64_t *words = calloc(count, sizeof *words);
  const char *wrong = words ? NULL : "no memory";
  for (size_t i = 0; i < count && !wrong; i++)
    if (!unhex(json_array_get(list, i), &words[i]))
      wrong = "some of its words are damaged";
  if (!wrong && orr_session_state_put(s, words) != ORR_OK)
    wrong = "the solver fails at its state";
  if (!wrong && orr_session_hash(s) != hash)
    wrong = "its hash does not fit its words";
  free(words);
  return wrong;
}

bool orr_state_file_load(const char *path, struct orr_session *s) {
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error);
  const char *wrong = root ? put(root, s) : error.text;
  if (wrong)
    fprintf(stderr, "orrery run: cannot start from '%s': %s\n", path, wrong);
  json_decref(root);
  return !wrong;
}
