#include "io/config/text/setting.h"

#include <stdlib.h>
#include <string.h>

#include "io/config/text/arena.h"
#include "io/config/text/names.h"

struct setting {
  struct orr_reader *reader;
  const char *text; /* as given */
  const struct orr_yaml *value;
  orr_source at;
};

static const struct orr_yaml *fail(struct setting *s, const char *what, const char *where) {
  orr_report(s->reader->diagnostics, ORR_ERROR, s->at, "bad-setting", "'--set %.100s': %s%.60s", s->text, what, where);
  return NULL;
}

static const struct orr_yaml *lay(struct setting *s, const struct orr_yaml *old, const char *path);

/* `*` stands for any letters. */
static bool fits(const char *pattern, const char *name) {
  const char *star = NULL, *resume = NULL;
  while (*name) {
    if (*pattern == '*') {
      star = ++pattern;
      resume = name;
    } else if (*pattern == *name) {
      pattern++;
      name++;
    } else if (star) {
      pattern = star;
      name = ++resume;
    } else {
      return false;
    }
  }
  while (*pattern == '*')
    pattern++;
  return !*pattern;
}

/* A key of its own node, placed where the value is. */
static const struct orr_yaml *key_node(struct setting *s, const char *name) {
  struct orr_yaml *key = orr_arena_alloc(s->reader->arena, 1, sizeof *key);
  *key = *s->value;
  key->kind = ORR_YAML_SCALAR;
  key->quoted = false;
  key->weight = 1;
  key->text = name;
  key->count = (uint32_t)strlen(name);
  return key;
}

/* A name on the way that is not there makes a new mapping. That may be meant; where its like is there it is a slip. */
static void doubt_new_name(struct setting *s, const struct orr_yaml *old, const char *name) {
  struct orr_nearest nearest = {.wanted = name};
  for (uint32_t i = 0; i < old->count; i++)
    if (old->entries[i].key->kind == ORR_YAML_SCALAR)
      orr_nearest_offer(&nearest, old->entries[i].key->text);
  if (nearest.best)
    orr_report(s->reader->diagnostics, ORR_WARNING, s->at, "new-name",
               "'--set %.100s': there is no '%.60s', so it is added; did you mean '%.60s'?", s->text, name,
               nearest.best);
}

static const struct orr_yaml *lay_key(struct setting *s, const struct orr_yaml *old, const char *name,
                                      const char *rest) {
  bool mapping = old && old->kind == ORR_YAML_MAPPING;
  uint32_t count = mapping ? old->count : 0;
  size_t at = mapping ? orr_yaml_find(old, name) : 0;
  struct orr_yaml *new = orr_arena_alloc(s->reader->arena, 1, sizeof *new);
  struct orr_yaml_entry *entries = orr_arena_alloc(s->reader->arena, (size_t)count + 1, sizeof *entries);
  *new = mapping ? *old : *s->value;
  if (mapping)
    memcpy(entries, old->entries, count * sizeof *entries);
  if (at == count) {
    if (mapping && rest)
      doubt_new_name(s, old, name);
    entries[count] = (struct orr_yaml_entry){.key = key_node(s, name)};
    count++;
  }
  new->kind = ORR_YAML_MAPPING;
  new->count = count;
  new->entries = entries;
  entries[at].value = lay(s, entries[at].value, rest);
  entries[at].value_via = 0;
  return entries[at].value ? new : NULL;
}

/* `*` in a name: every key that fits it has the rest of the path set. The value is shared: it is read anew at each. */
static const struct orr_yaml *lay_all(struct setting *s, const struct orr_yaml *old, const char *pattern,
                                      const char *rest) {
  struct orr_yaml *new = orr_arena_alloc(s->reader->arena, 1, sizeof *new);
  struct orr_yaml_entry *entries = orr_arena_alloc(s->reader->arena, (size_t)old->count + 1, sizeof *entries);
  bool any = false;
  *new = *old;
  memcpy(entries, old->entries, old->count * sizeof *entries);
  new->entries = entries;
  for (uint32_t i = 0; i < old->count; i++) {
    const struct orr_yaml *key = entries[i].key;
    if (key->kind != ORR_YAML_SCALAR || !fits(pattern, key->text))
      continue;
    entries[i].value = lay(s, entries[i].value, rest);
    entries[i].value_via = 0;
    if (!entries[i].value)
      return NULL;
    any = true;
  }
  return any ? new : fail(s, "nothing there fits ", pattern);
}

static const struct orr_yaml *lay_item(struct setting *s, const struct orr_yaml *old, const char *name,
                                       const char *rest) {
  char *end;
  unsigned long index = strtoul(name, &end, 10);
  if (*end || end == name || index >= old->count)
    return fail(s, "that list has no item ", name);
  struct orr_yaml *new = orr_arena_alloc(s->reader->arena, 1, sizeof *new);
  struct orr_yaml_item *items = orr_arena_alloc(s->reader->arena, old->count, sizeof *items);
  *new = *old;
  memcpy(items, old->items, old->count * sizeof *items);
  new->items = items;
  items[index] = (struct orr_yaml_item){.value = lay(s, items[index].value, rest)};
  return items[index].value ? new : NULL;
}

/* What stands in place of `old` when `path` below it is set; an empty path is the place itself. */
static const struct orr_yaml *lay(struct setting *s, const struct orr_yaml *old, const char *path) {
  if (!path)
    return s->value;
  size_t length = strcspn(path, ".");
  const char *name = orr_arena_copy(s->reader->arena, path, length);
  const char *rest = path[length] ? path + length + 1 : NULL;
  if (!length)
    return fail(s, "write it as PATH.TO.KEY=VALUE", "");
  if (old && old->kind == ORR_YAML_SEQUENCE)
    return lay_item(s, old, name, rest);
  if (old && old->kind == ORR_YAML_SCALAR)
    return fail(s, "there is a single value where a mapping should hold ", name);
  if (strchr(name, '*'))
    return old ? lay_all(s, old, name, rest) : fail(s, "nothing there fits ", name);
  return lay_key(s, old, name, rest);
}

const struct orr_yaml *orr_setting_apply(struct orr_reader *reader, const struct orr_yaml *root, const char *setting) {
  struct setting s = {.reader = reader, .text = setting};
  const char *equals = strchr(setting, '=');
  if (!equals || equals == setting || !equals[1]) {
    fail(&s, "write it as PATH.TO.KEY=VALUE", "");
    return root;
  }
  struct orr_sources *sources = orr_diagnostics_sources(reader->diagnostics);
  const char *value = orr_arena_copy(reader->arena, equals + 1, strlen(equals + 1));
  const char *name = orr_arena_format(reader->arena, "--set %s", setting);
  uint32_t file = orr_sources_add_file(sources, name, value, strlen(value));
  s.value = orr_yaml_parse(reader->diagnostics, file, 0, value, strlen(value));
  if (!s.value)
    return root;
  s.at = orr_sources_add(sources, (struct orr_location){.file = file});
  const struct orr_yaml *laid = lay(&s, root, orr_arena_copy(reader->arena, setting, (size_t)(equals - setting)));
  return laid ? laid : root;
}

/* One entry of `over`, or the whole of it, in the place of that key. */
static const struct orr_yaml *put_entry(struct orr_reader *reader, const struct orr_yaml *root,
                                        struct orr_yaml_entry entry) {
  size_t at = orr_yaml_find(root, entry.key->text), count = root->count;
  struct orr_yaml *new = orr_arena_alloc(reader->arena, 1, sizeof *new);
  struct orr_yaml_entry *entries = orr_arena_alloc(reader->arena, count + 1, sizeof *entries);
  *new = *root;
  memcpy(entries, root->entries, count * sizeof *entries);
  new->count = (uint32_t)(at == count ? count + 1 : count);
  new->entries = entries;
  entries[at] = entry;
  return new;
}

static const char *list_of(struct orr_reader *reader, const char *const *keys) {
  const char *text = *keys;
  for (size_t i = 1; keys[i]; i++)
    text = orr_arena_format(reader->arena, "%s%s%s", text, keys[i + 1] ? ", " : " and ", keys[i]);
  return text;
}

static const char *last_of(const char *const *keys) {
  while (keys[1])
    keys++;
  return *keys;
}

const struct orr_yaml *orr_setting_overlay(struct orr_reader *reader, const struct orr_yaml *root,
                                           const struct orr_yaml *over, const char *const *keys) {
  struct orr_place place = {.node = over};
  if (root->kind != ORR_YAML_MAPPING)
    return root;
  if (over->kind == ORR_YAML_SEQUENCE) {
    struct orr_yaml *key = orr_arena_alloc(reader->arena, 1, sizeof *key);
    *key = *over;
    key->kind = ORR_YAML_SCALAR;
    key->text = last_of(keys);
    key->count = (uint32_t)strlen(key->text);
    return put_entry(reader, root, (struct orr_yaml_entry){.key = key, .value = over});
  }
  if (!orr_expect_mapping(reader, place, "the file"))
    return root;
  for (size_t i = 0; i < orr_place_count(place); i++) {
    size_t k = 0;
    while (keys[k] && strcmp(keys[k], over->entries[i].key->text) != 0)
      k++;
    if (keys[k])
      root = put_entry(reader, root, over->entries[i]);
    else
      orr_read_error(reader, orr_place_key(reader->diagnostics, place, i), "unknown-key",
                     "a file that is laid over a run holds %s here, not '%.60s'", list_of(reader, keys),
                     over->entries[i].key->text);
  }
  return root;
}
