/* `orrery schema`: a JSON Schema (draft 7, which editors know) of the files that Orrery reads, from the tables of the
 * reader. It holds which keys there are, what types they have, words, lengths and ranges. What needs the rest of a file
 * stays with `orrery check`: names that refer to something, keys that go together, the dimension of a unit. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/devices/devices.h"
#include "io/config/campaign/campaign_file.h"
#include "io/config/text/unit.h"
#include "tools/common/commands.h"
#include "tools/reference/language.h"

/* ---- values ------------------------------------------------------------------------------------------------------ */

static json_t *reference(const char *name) {
  char path[128];
  snprintf(path, sizeof path, "#/definitions/%s", name);
  return json_pack("{s:s}", "$ref", path);
}

static json_t *any_of(json_t *a, json_t *b) { return json_pack("{s:[o,o]}", "anyOf", a, b); }

static json_t *words_schema(const char *const *words) {
  json_t *list = json_array();
  for (size_t i = 0; words[i]; i++)
    json_array_append_new(list, json_string(words[i]));
  return json_pack("{s:o}", "enum", list);
}

static const char with_unit[] = "number_with_unit", without_unit[] = "plain_number";

/* A bare number, which a range can be held against, or a text with a unit, which it cannot. */
static json_t *number_schema(const char *unit, const struct orr_range *range, bool whole) {
  json_t *bare = json_pack("{s:s}", "type", whole ? "integer" : "number");
  if (range && isfinite(range->low))
    json_object_set_new(bare, range->open ? "exclusiveMinimum" : "minimum", json_real(range->low));
  if (range && isfinite(range->high))
    json_object_set_new(bare, "maximum", json_real(range->high));
  return whole ? bare : any_of(bare, reference(unit && *unit ? with_unit : without_unit));
}

/* Every name of a unit, with its prefixes: (?:[numckMGµμ]?(?:m|g|…)|t|min|…). */
static void add_names(FILE *out) {
  for (int prefixed = 1; prefixed >= 0; prefixed--) {
    struct orr_unit unit;
    bool takes, first = true;
    const char *name;
    double factor;
    fputs(prefixed ? "(?:(?:" : ")|", out);
    for (size_t i = 0; prefixed && (name = orr_unit_prefix(i, &factor)); i++)
      fprintf(out, i ? "|%s" : "%s", name);
    fputs(prefixed ? ")?(?:" : "", out);
    for (size_t i = 0; (name = orr_unit_named(i, &unit, &takes)); i++) {
      if (takes != (prefixed == 1))
        continue;
      fprintf(out, first ? "%s" : "|%s", name);
      first = false;
    }
  }
  fputs(")", out);
}

/* A number, and with `units` the grammar of units but for their dimension: names with powers, roots and brackets. */
static json_t *number_text_schema(bool units) {
  static const char number[] = "^\\s*[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?\\s*";
  char *pattern = NULL, *factor = NULL;
  size_t bytes;
  FILE *out = open_memstream(&factor, &bytes);
  fputs("[ (]*(?:1|sqrt\\( *)?", out);
  add_names(out);
  fputs("?(?:\\^-?[0-9]|²|³)?[ )]*", out);
  fclose(out);
  out = open_memstream(&pattern, &bytes);
  if (units)
    fprintf(out, "%s(%s([*/.· ]%s)*)?$", number, factor, factor);
  else
    fprintf(out, "%s(%%|ppm)?$", number);
  fclose(out);
  json_t *o = json_pack("{s:s,s:s}", "type", "string", "pattern", pattern);
  free(pattern);
  free(factor);
  return o;
}

static json_t *text_schema(void) { return json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean"); }

/* `count` of them, or any number. */
static json_t *list_schema(json_t *item, size_t count) {
  json_t *o = json_pack("{s:[s,s],s:o}", "type", "array", "null", "items", item);
  if (count) {
    json_object_set_new(o, "type", json_string("array"));
    json_object_set_new(o, "minItems", json_integer((json_int_t)count));
    json_object_set_new(o, "maxItems", json_integer((json_int_t)count));
  }
  return o;
}

static json_t *shape_schema(const struct orr_shape *s) {
  switch (s->kind) {
  case ORR_SHAPE_TEXT:
    return text_schema();
  case ORR_SHAPE_WORD:
    return words_schema(s->words);
  case ORR_SHAPE_NUMBER:
    return number_schema(s->unit ? s->unit : "", NULL, false);
  case ORR_SHAPE_TIME:
    return number_schema("s", NULL, false);
  case ORR_SHAPE_NUMBERS:
    return list_schema(number_schema(s->unit ? s->unit : "", NULL, false), s->count);
  case ORR_SHAPE_MAPPING:
  case ORR_SHAPE_LATER:
    return reference(orr_language_mapping(s)->name);
  case ORR_SHAPE_DEVICE:
    return reference(s->what);
  case ORR_SHAPE_LIST:
    return list_schema(shape_schema(s->of), 0);
  case ORR_SHAPE_PAIR:
    return json_pack("{s:s,s:[o,o],s:i,s:i}", "type", "array", "items", shape_schema(s->of), shape_schema(s->other),
                     "minItems", 2, "maxItems", 2);
  case ORR_SHAPE_NAMED:
    return json_pack("{s:[s,s],s:{s:s},s:o}", "type", "object", "null", "propertyNames", "pattern",
                     strcmp(s->what, "path") == 0      ? "^[A-Za-z_*][A-Za-z0-9_.*\\[\\]-]*$"
                     : strcmp(s->what, "channel") == 0 ? "^[A-Za-z_*][A-Za-z0-9_.*\\[\\]-]*$"
                                                       : "^[A-Za-z_][A-Za-z0-9_-]*$",
                     "additionalProperties", shape_schema(s->of));
  case ORR_SHAPE_EITHER:
    break;
  }
  return any_of(shape_schema(s->of), shape_schema(s->other));
}

static json_t *value_schema(const struct orr_key *key) {
  switch (key->type) {
  case ORR_KEY_NUMBER:
    return number_schema(key->unit, key->range, false);
  case ORR_KEY_NUMBERS:
    return list_schema(number_schema(key->unit, key->range, false), key->count);
  case ORR_KEY_WHOLE:
    return number_schema(NULL, key->range, true);
  case ORR_KEY_TIME:
    return number_schema("s", key->range, false);
  case ORR_KEY_FLAG:
    return json_pack("{s:s}", "type", "boolean");
  case ORR_KEY_CHOICE:
    return words_schema(key->choices);
  case ORR_KEY_TEXT:
    return text_schema();
  case ORR_KEY_PLACE:
    return shape_schema(key->shape);
  case ORR_KEY_UNBUILT:
    break;
  }
  return json_pack("{s:{}}", "not");
}

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

/* What an editor shows at a key. */
static json_t *key_schema(const struct orr_key *key) {
  char takes[ORR_LANGUAGE_TEXT], absence[ORR_LANGUAGE_TEXT], text[3 * ORR_LANGUAGE_TEXT];
  json_t *o = value_schema(key);
  if (key->choices && key->type != ORR_KEY_CHOICE)
    o = any_of(o, words_schema(key->choices));
  orr_language_describe(key, takes);
  orr_language_absence(key, absence);
  snprintf(text, sizeof text, "%s (%s; %s)", key->doc, takes, absence);
  if (json_object_get(o, "$ref")) /* whatever stands beside a $ref is not looked at */
    o = json_pack("{s:[o]}", "allOf", o);
  json_object_set_new(o, "description", json_string(text));
  return o;
}

static json_t *empty_mapping(const char *doc) {
  return json_pack("{s:s,s:[s,s],s:b,s:{},s:[]}", "description", doc, "type", "object", "null", "additionalProperties",
                   0, "properties", "required");
}

static void add_key(json_t *mapping, const struct orr_key *key) {
  json_object_set_new(json_object_get(mapping, "properties"), key->name, key_schema(key));
  if (key->required)
    json_array_append_new(json_object_get(mapping, "required"), json_string(key->name));
}

static json_t *mapping_schema(const struct orr_mapping *m) {
  json_t *o = empty_mapping(m->doc);
  for (size_t i = 0; i < m->key_count; i++)
    add_key(o, &m->keys[i]);
  return o;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

/* A parameter with a dot stands in a mapping of its own. */
static void add_param(json_t *device, const struct orr_param *param) {
  struct orr_range range;
  char texts[ORR_LANGUAGE_TEXT], group[64];
  struct orr_key key = orr_language_param(param, &range, texts);
  const char *dot = strchr(param->name, '.');
  if (!dot) {
    add_key(device, &key);
    return;
  }
  snprintf(group, sizeof group, "%.*s", (int)(dot - param->name), param->name);
  json_t *properties = json_object_get(device, "properties");
  if (!json_object_get(properties, group))
    json_object_set_new(properties, group, empty_mapping(group));
  key.name = dot + 1;
  add_key(json_object_get(properties, group), &key);
}

static json_t *device_schema(const struct orr_device_kind *kind) {
  json_t *o = empty_mapping(kind->doc);
  for (size_t i = 0; i < orr_device_mapping.key_count; i++)
    if (orr_device_takes(kind, &orr_device_mapping.keys[i]))
      add_key(o, &orr_device_mapping.keys[i]);
  for (size_t i = 0; i < kind->param_count; i++)
    add_param(o, &kind->params[i]);
  json_object_set_new(json_object_get(o, "properties"), "kind", json_pack("{s:s}", "const", kind->name));
  return o;
}

/* By its kind, so that a mistake is reported against the kind that is meant. */
static json_t *role_schema(enum orr_device_role role) {
  json_t *kinds = json_array(), *cases = json_array();
  for (const struct orr_device_kind *const *k = orr_device_kinds; *k; k++) {
    if ((*k)->role != role)
      continue;
    json_array_append_new(kinds, json_string((*k)->name));
    json_array_append_new(cases, json_pack("{s:{s:{s:{s:s}}},s:o}", "if", "properties", "kind", "const", (*k)->name,
                                           "then", reference((*k)->name)));
  }
  return json_pack("{s:s,s:[s],s:{s:{s:o,s:s}},s:o}", "type", "object", "required", "kind", "properties", "kind",
                   "enum", kinds, "description", "what it is", "allOf", cases);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static json_t *file_schema(const struct orr_mapping *file) {
  const struct orr_mapping *list[ORR_LANGUAGE_MOST];
  json_t *definitions = json_object(), *root = mapping_schema(file), *o;
  size_t n = orr_language_list(file, list);
  json_object_set_new(definitions, with_unit, number_text_schema(true));
  json_object_set_new(definitions, without_unit, number_text_schema(false));
  for (size_t i = 1; i < n; i++)
    json_object_set_new(definitions, list[i]->name, mapping_schema(list[i]));
  for (const struct orr_device_kind *const *k = orr_device_kinds; file == &orr_file_mapping && *k; k++)
    json_object_set_new(definitions, (*k)->name, device_schema(*k));
  if (file == &orr_file_mapping) {
    json_object_set_new(definitions, "actuator", role_schema(ORR_ACTUATOR));
    json_object_set_new(definitions, "sensor", role_schema(ORR_SENSOR));
  }
  o = json_pack("{s:s,s:s}", "$schema", "http://json-schema.org/draft-07/schema#", "title", file->name);
  json_object_update(o, root);
  json_decref(root);
  json_object_set_new(o, "type", json_string("object"));
  json_object_set_new(o, "definitions", definitions);
  return o;
}

static int run(int argc, char **argv) {
  static const struct {
    const char *name;
    const struct orr_mapping *file;
  } files[] = {{"run", &orr_file_mapping},
               {"part", &orr_part_file_mapping},
               {"case", &orr_case_mapping},
               {"campaign", &orr_campaign_file_mapping}};
  const struct orr_mapping *file = argc < 2 ? files[0].file : NULL;
  for (size_t i = 0; argc == 2 && i < sizeof files / sizeof *files; i++)
    if (strcmp(argv[1], files[i].name) == 0)
      file = files[i].file;
  if (!file) {
    fprintf(stderr, "orrery schema: unexpected argument '%s'\nusage: orrery schema %s\n", argv[argc > 2 ? 2 : 1],
            orr_cmd_schema.usage);
    return ORR_EXIT_USAGE;
  }
  json_t *o = file_schema(file);
  json_dumpf(o, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
  putchar('\n');
  json_decref(o);
  return ORR_EXIT_OK;
}

const struct orr_command orr_cmd_schema = {
    .name = "schema",
    .summary = "print a JSON Schema of model and run files, for editors",
    .usage = "[run | part | case | campaign]",
    .help = "Prints a JSON Schema (draft 7) of model and run files, or of the file of a part, of a case of\n"
            "'orrery eval', or of a campaign. It is made from the tables that the reader itself uses, so that an\n"
            "editor completes keys, shows what they mean and marks mistakes. It holds which keys there are and\n"
            "their types, words, lengths and ranges. What needs the rest of a file (names, keys that go together,\n"
            "the dimension of a unit) only 'orrery check' tells.\n"
            "\n"
            "In an editor with a YAML language server, this first line of a file names the schema:\n"
            "  # yaml-language-server: $schema=orrery.schema.json\n"
            "\n"
            "Example:\n"
            "  orrery schema > orrery.schema.json\n"
            "\n"
            "Exit status: 0 printed; 2 the command line is wrong.\n",
    .run = run,
};
