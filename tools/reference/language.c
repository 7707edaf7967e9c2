#include "tools/reference/language.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- which mappings there are ------------------------------------------------------------------------------------ */

/* What sections of earlier rooms refer to by name. */
static const struct orr_mapping *const later[] = {
    &orr_simulation_mapping, &orr_pointing_mapping, &orr_environment_mapping, &orr_command_mapping,
    &orr_realtime_mapping,   &orr_link_mapping,     &orr_record_mapping,      &orr_expectation_mapping,
    &orr_orbit_mapping,      &orr_fault_mapping,    &orr_step_mapping,
};

const struct orr_mapping *orr_language_mapping(const struct orr_shape *shape) {
  if (shape->kind == ORR_SHAPE_MAPPING)
    return shape->mapping;
  for (size_t i = 0; shape->kind == ORR_SHAPE_LATER && i < sizeof later / sizeof *later; i++)
    if (strcmp(later[i]->name, shape->what) == 0)
      return later[i];
  assert(shape->kind != ORR_SHAPE_LATER); /* a name that no mapping has */
  return NULL;
}

struct listing {
  const struct orr_mapping **list;
  size_t count;
};

static void visit(struct listing *l, const struct orr_mapping *mapping);

static void visit_shape(struct listing *l, const struct orr_shape *shape) {
  if (!shape)
    return;
  if (orr_language_mapping(shape))
    visit(l, orr_language_mapping(shape));
  visit_shape(l, shape->of);
  visit_shape(l, shape->other);
}

static void visit(struct listing *l, const struct orr_mapping *mapping) {
  for (size_t i = 0; i < l->count; i++)
    if (l->list[i] == mapping)
      return;
  assert(l->count < ORR_LANGUAGE_MOST);
  l->list[l->count++] = mapping;
  for (size_t i = 0; i < mapping->key_count; i++)
    visit_shape(l, mapping->keys[i].shape);
}

size_t orr_language_list(const struct orr_mapping *file, const struct orr_mapping *list[ORR_LANGUAGE_MOST]) {
  struct listing l = {.list = list};
  visit(&l, file);
  return l.count;
}

/* ---- what a key takes -------------------------------------------------------------------------------------------- */

struct text {
  char *bytes;
  size_t used;
};

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = ORR_LANGUAGE_TEXT - t->used;
  int length = vsnprintf(t->bytes + t->used, room, format, arguments);
  va_end(arguments);
  if (length > 0)
    t->used += (size_t)length < room ? (size_t)length : room - 1;
}

static void add_words(struct text *t, const char *const *words) {
  for (size_t i = 0; words[i]; i++)
    add(t, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
}

/* ", N m or N" of "N m|N"; an empty unit is a plain number. */
static void add_unit(struct text *t, const char *unit) {
  if (!unit || !*unit)
    return;
  if (strcmp(unit, ORR_UNIT_OF_CHANNEL) == 0) {
    add(t, ", in the unit of the channel");
    return;
  }
  const char *join = ", ";
  for (const char *at = unit;;) {
    size_t n = strcspn(at, "|");
    if (n)
      add(t, "%s%.*s", join, (int)n, at);
    else
      add(t, "%splain", join);
    if (!at[n])
      return;
    at += n + 1;
    join = strchr(at, '|') ? ", " : " or ";
  }
}

static void add_range(struct text *t, const struct orr_range *range, const char *unit) {
  if (!range || (isinf(range->low) && isinf(range->high)))
    return;
  if (isinf(range->high))
    add(t, ", %s %g%s", range->open ? "above" : "at least", range->low, range->low != 0 ? unit : "");
  else if (isinf(range->low))
    add(t, ", at most %g%s", range->high, unit);
  else
    add(t, ", %s%g to %.10g%s", range->open ? "above " : "", range->low, range->high, unit);
}

static void add_shape(struct text *t, const struct orr_shape *shape) {
  switch (shape->kind) {
  case ORR_SHAPE_TEXT:
    add(t, "%s", shape->what);
    break;
  case ORR_SHAPE_WORD:
    add_words(t, shape->words);
    break;
  case ORR_SHAPE_NUMBER:
    add(t, "number");
    add_unit(t, shape->unit);
    break;
  case ORR_SHAPE_TIME:
    add(t, "time");
    break;
  case ORR_SHAPE_NUMBERS:
    if (shape->what)
      add(t, "%s", shape->what);
    else if (shape->count)
      add(t, "list of %zu numbers", shape->count);
    else
      add(t, "list of numbers");
    add_unit(t, shape->unit);
    break;
  case ORR_SHAPE_MAPPING:
  case ORR_SHAPE_LATER:
    add(t, "`%s`", orr_language_mapping(shape)->name);
    break;
  case ORR_SHAPE_DEVICE:
    add(t, "a device (`orrery help devices`)");
    break;
  case ORR_SHAPE_LIST:
    add(t, "list of ");
    add_shape(t, shape->of);
    break;
  case ORR_SHAPE_PAIR:
    add(t, "[");
    add_shape(t, shape->of);
    add(t, "; ");
    add_shape(t, shape->other);
    add(t, "]");
    break;
  case ORR_SHAPE_NAMED:
    add(t, "for each %s, NAME: ", shape->what);
    add_shape(t, shape->of);
    break;
  case ORR_SHAPE_EITHER:
    add_shape(t, shape->of);
    add(t, "; or ");
    add_shape(t, shape->other);
    break;
  }
}

void orr_language_describe(const struct orr_key *key, char bytes[ORR_LANGUAGE_TEXT]) {
  struct text t = {.bytes = bytes};
  bytes[0] = '\0';
  switch (key->type) {
  case ORR_KEY_NUMBER:
    add(&t, "number");
    add_unit(&t, key->unit);
    add_range(&t, key->range, "");
    break;
  case ORR_KEY_NUMBERS:
    if (key->form)
      add(&t, "%s", key->form);
    else
      add(&t, "list of %zu numbers", key->count);
    add_unit(&t, key->unit);
    add_range(&t, key->range, "");
    break;
  case ORR_KEY_WHOLE:
    add(&t, "whole number");
    add_range(&t, key->range, "");
    break;
  case ORR_KEY_TIME:
    add(&t, "time");
    add_range(&t, key->range, " s");
    break;
  case ORR_KEY_FLAG:
    add(&t, "true or false");
    break;
  case ORR_KEY_CHOICE:
    add_words(&t, key->choices);
    break;
  case ORR_KEY_TEXT:
    add(&t, "text");
    break;
  case ORR_KEY_PLACE:
    add_shape(&t, key->shape);
    break;
  case ORR_KEY_UNBUILT:
    add(&t, "not built yet");
    break;
  }
  if (key->choices && key->type != ORR_KEY_CHOICE) {
    add(&t, "; or ");
    add_words(&t, key->choices);
  }
}

void orr_language_absence(const struct orr_key *key, char bytes[ORR_LANGUAGE_TEXT]) {
  struct text t = {.bytes = bytes};
  bytes[0] = '\0';
  if (key->required)
    add(&t, "required");
  else if (key->type == ORR_KEY_UNBUILT)
    add(&t, "leave it out");
  else if (key->fallback && !*key->fallback)
    add(&t, "default: nothing");
  else if (key->fallback)
    add(&t, "default %s", key->fallback);
  else
    add(&t, "without it: %s", key->absent);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

struct orr_key orr_language_param(const struct orr_param *p, struct orr_range *range, char texts[ORR_LANGUAGE_TEXT]) {
  struct text t = {.bytes = texts};
  struct orr_key key = {.name = p->name, .doc = p->doc, .required = p->required, .unit = p->unit};
  texts[0] = '\0';
  *range = (struct orr_range){p->low, p->high, p->open};
  key.range = p->low == 0 && p->high == 0 ? NULL : range;
  switch (p->type) {
  case ORR_PARAM_NUMBER:
    key.type = ORR_KEY_NUMBER;
    break;
  case ORR_PARAM_VECTOR:
    key.type = ORR_KEY_NUMBERS;
    key.count = 3;
    key.form = "[x, y, z]";
    break;
  case ORR_PARAM_AXIS:
    key.type = ORR_KEY_PLACE;
    key.shape = &orr_shape_direction;
    key.absent = "none";
    return key;
  case ORR_PARAM_CHOICE:
    key.type = ORR_KEY_CHOICE;
    key.choices = p->choices;
    key.fallback = p->choices[(size_t)p->fallback];
    return key;
  case ORR_PARAM_NAME:
    key.type = ORR_KEY_TEXT;
    key.absent = "none";
    return key;
  }
  if (isinf(p->fallback)) {
    key.absent = "no limit";
    return key;
  }
  add(&t, "%.6g", p->fallback);
  if (p->fallback != 0 && p->unit && *p->unit)
    add(&t, " %.*s", (int)strcspn(p->unit, "|"), p->unit);
  key.fallback = texts;
  return key;
}
