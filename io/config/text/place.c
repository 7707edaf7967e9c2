/* Walking a tree: the places below a place, and the sources of places. */
#include <string.h>

#include "io/config/text/yaml.h"

static orr_source join(struct orr_diagnostics *d, orr_source inner, orr_source outer) {
  return orr_sources_join(orr_diagnostics_sources(d), inner, outer);
}

struct orr_place orr_place_item(struct orr_diagnostics *d, struct orr_place sequence, size_t index) {
  const struct orr_yaml_item *item = &sequence.node->items[index];
  return (struct orr_place){item->value, join(d, item->via, sequence.via)};
}

struct orr_place orr_place_key(struct orr_diagnostics *d, struct orr_place mapping, size_t index) {
  const struct orr_yaml_entry *entry = &mapping.node->entries[index];
  return (struct orr_place){entry->key, join(d, entry->key_via, mapping.via)};
}

struct orr_place orr_place_value(struct orr_diagnostics *d, struct orr_place mapping, size_t index) {
  const struct orr_yaml_entry *entry = &mapping.node->entries[index];
  return (struct orr_place){entry->value, join(d, entry->value_via, mapping.via)};
}

size_t orr_yaml_find(const struct orr_yaml *mapping, const char *key) {
  size_t i = 0;
  while (i < mapping->count && strcmp(mapping->entries[i].key->text, key) != 0)
    i++;
  return i;
}

orr_source orr_place_source(struct orr_diagnostics *d, struct orr_place p) {
  return orr_place_entity(d, (struct orr_place){0}, p);
}

orr_source orr_place_entity(struct orr_diagnostics *d, struct orr_place key, struct orr_place value) {
  const struct orr_place shown = key.node ? key : value;
  return orr_sources_add(orr_diagnostics_sources(d), (struct orr_location){.file = shown.node->file,
                                                                           .offset = shown.node->offset,
                                                                           .via = shown.via,
                                                                           .node = value.node,
                                                                           .node_via = value.via});
}

orr_source orr_place_member(struct orr_diagnostics *d, orr_source entity, const char *member) {
  struct orr_location l = orr_sources_get(orr_diagnostics_sources(d), entity);
  if (!l.node || l.node->kind != ORR_YAML_MAPPING || !member)
    return entity;
  size_t index = orr_yaml_find(l.node, member);
  if (index == l.node->count)
    return entity;
  struct orr_place mapping = {l.node, l.node_via};
  return orr_place_entity(d, (struct orr_place){0}, orr_place_value(d, mapping, index));
}
