/* A YAML or JSON text as a tree. Each node keeps its place in the file.
 *
 * libfyaml scans the text; this module resolves aliases and merge keys and finds duplicate keys, in linear time. An
 * alias shares the node that it names; nothing is copied. A text whose aliases would expand to more than
 * ORR_YAML_EXPANSION nodes is refused. [init]; one thread at a time per diagnostics.
 */
#ifndef ORR_IO_CONFIG_TEXT_YAML_H
#define ORR_IO_CONFIG_TEXT_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/config/text/diagnostic.h"

enum {
  ORR_YAML_EXPANSION = 2000000,         /* nodes that the aliases and merge keys of a text may stand for */
  ORR_YAML_DEPTH = 64,                  /* of nested mappings and lists */
  ORR_YAML_LONGEST = 128 * 1024 * 1024, /* bytes of a text */
  ORR_YAML_VALUES = 8000000,            /* keys, values, lists and mappings in all texts of a run */
};

enum orr_yaml_kind { ORR_YAML_NULL, ORR_YAML_SCALAR, ORR_YAML_SEQUENCE, ORR_YAML_MAPPING };

struct orr_yaml;

struct orr_yaml_item {
  const struct orr_yaml *value;
  orr_source via; /* the alias that stands here, or 0 */
};

struct orr_yaml_entry {
  const struct orr_yaml *key, *value;
  orr_source key_via;   /* the merge keys that brought it, or 0 */
  orr_source value_via; /* the same, and the alias that stands for the value */
};

struct orr_yaml {
  enum orr_yaml_kind kind;
  bool quoted;           /* a scalar in quotes: always a text */
  uint32_t file, offset; /* where it starts */
  uint32_t count;        /* bytes of the text, or items, or entries; 0 of an empty value */
  uint32_t weight;       /* nodes below and including this one, aliases expanded; saturates */
  union {
    const char *text; /* [count + 1], ended by a NUL */
    const struct orr_yaml_item *items;
    const struct orr_yaml_entry *entries; /* own ones first, then merged ones that are not overridden */
  };
};

/* A node, and the alias, merge key or include by which it was reached. */
struct orr_place {
  const struct orr_yaml *node; /* NULL: nothing there */
  orr_source via;
};

/* [init] Parses one document. `file` is its number from orr_sources_add_file. `from` is the place that includes it,
 * shown with its mistakes, or 0. Returns NULL after reporting what is wrong; of syntax errors only the first is found.
 * O(bytes + expansion). The tree lives as long as the diagnostics. */
const struct orr_yaml *orr_yaml_parse(struct orr_diagnostics *diagnostics, uint32_t file, orr_source from,
                                      const char *text, size_t length);

/* [init] The places below a place. */
struct orr_place orr_place_item(struct orr_diagnostics *diagnostics, struct orr_place sequence, size_t index);
struct orr_place orr_place_key(struct orr_diagnostics *diagnostics, struct orr_place mapping, size_t index);
struct orr_place orr_place_value(struct orr_diagnostics *diagnostics, struct orr_place mapping, size_t index);

/* [init] The index of a key in a mapping or an empty value, or its count; O(count). */
size_t orr_yaml_find(const struct orr_yaml *mapping, const char *key);

/* [init] The place as a source that a message can carry. */
orr_source orr_place_source(struct orr_diagnostics *diagnostics, struct orr_place place);

/* [init] A source for something that has a name, such as a body. It points at `key`, or at `value` where the key has no
 * node. orr_place_member looks for members in `value`. */
orr_source orr_place_entity(struct orr_diagnostics *diagnostics, struct orr_place key, struct orr_place value);

/* [init] The place of a member of an orr_place_entity, or of the entity itself where it has no such member;
 * O(members). */
orr_source orr_place_member(struct orr_diagnostics *diagnostics, orr_source entity, const char *member);

#endif
