#include "io/config/config.h"

#include <string.h>

#include "io/config/spacecraft.h"

struct orr_config {
  struct orr_reader reader;
  struct orr_files files;
  struct orr_draft draft;
  struct orr_description description;
};

struct top_keys {
  struct orr_place version, spacecraft;
};

static const struct orr_key top_table[] = {
    {.name = "orrery", .type = ORR_KEY_PLACE, .required = true, .offset = offsetof(struct top_keys, version)},
    {.name = "spacecraft", .type = ORR_KEY_PLACE, .required = true, .offset = offsetof(struct top_keys, spacecraft)},
    {.name = "actuators", .type = ORR_KEY_UNBUILT},
    {.name = "sensors", .type = ORR_KEY_UNBUILT},
    {.name = "pointing", .type = ORR_KEY_UNBUILT},
    {.name = "environment", .type = ORR_KEY_UNBUILT},
    {.name = "simulation", .type = ORR_KEY_UNBUILT},
    {.name = "commands", .type = ORR_KEY_UNBUILT},
    {.name = "realtime", .type = ORR_KEY_UNBUILT},
    {.name = "links", .type = ORR_KEY_UNBUILT},
    {.name = "record", .type = ORR_KEY_UNBUILT},
    {.name = "faults", .type = ORR_KEY_UNBUILT},
    {.name = "expect", .type = ORR_KEY_UNBUILT},
};

/* The spacecraft section of a file: the mapping, or the file it names. */
static void read_top(struct orr_config *c, const struct orr_file *file, orr_source via, bool named) {
  struct top_keys keys = {0};
  uint64_t present;
  struct orr_place root = {file->root, via};
  if (root.node->kind != ORR_YAML_MAPPING) {
    orr_read_error(&c->reader, root, "wrong-type", "a model file is a mapping that begins with 'orrery: 1'");
    return;
  }
  const struct orr_thing thing = {.what = "a model file", .place = root};
  orr_read_mapping(&c->reader, &thing, top_table, sizeof top_table / sizeof *top_table, &keys, &present);
  orr_spacecraft_check_version(&c->reader, keys.version);
  if (!keys.spacecraft.node)
    return;
  struct orr_place key = orr_place_key(c->reader.diagnostics, root, orr_yaml_find(root.node, "spacecraft"));
  if (keys.spacecraft.node->kind != ORR_YAML_SCALAR) {
    orr_spacecraft_read(&c->draft, &c->files, file, keys.spacecraft, key, &c->description);
    return;
  }
  orr_source at = orr_place_source(c->reader.diagnostics, keys.spacecraft);
  if (named) {
    orr_report(c->reader.diagnostics, ORR_ERROR, at, "wrong-type",
               "the spacecraft's own file must hold the spacecraft, not name another file");
    return;
  }
  const struct orr_file *other = orr_files_open(&c->files, keys.spacecraft.node->text, file->path, at);
  struct orr_location l = orr_sources_get(orr_diagnostics_sources(c->reader.diagnostics), at);
  l.kind = ORR_VIA_INCLUDE;
  if (other->root)
    read_top(c, other, orr_sources_add(orr_diagnostics_sources(c->reader.diagnostics), l), true);
}

struct orr_config *orr_config_load(const char *path, const struct orr_config_options *options,
                                   struct orr_diagnostics *diagnostics) {
  struct orr_arena *arena = orr_diagnostics_arena(diagnostics);
  size_t errors = orr_diagnostics_errors(diagnostics), first = orr_diagnostics_count(diagnostics);
  struct orr_config *c = orr_arena_alloc(arena, 1, sizeof *c);
  c->reader = (struct orr_reader){diagnostics, arena};
  c->files.reader = c->draft.reader = &c->reader;
  c->draft.own.prefix = "";
  if (options && options->file_count) {
    c->files.memory = options->files;
    c->files.memory_count = options->file_count;
  }
  const struct orr_file *file = orr_files_open(&c->files, path, NULL, 0);
  if (file->root)
    read_top(c, file, 0, false);
  orr_diagnostics_sort(diagnostics, first);
  return orr_diagnostics_errors(diagnostics) > errors ? NULL : c;
}

const struct orr_description *orr_config_description(const struct orr_config *c) { return &c->description; }

int orr_config_find_body(const struct orr_config *c, const char *name) { return orr_names_find(&c->draft.names, name); }

int orr_config_find_node(const struct orr_config *c, int body, const char *name) {
  return orr_draft_find_node(&c->draft, body, name);
}

struct orr_draft *orr_config_draft(struct orr_config *c) {
  return &c->draft;
}
