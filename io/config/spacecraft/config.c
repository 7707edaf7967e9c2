#include "io/config/spacecraft/config.h"

#include <string.h>

#include "io/config/spacecraft/mappings.h"
#include "io/config/spacecraft/spacecraft.h"
#include "io/config/text/setting.h"

struct orr_config {
  struct orr_reader reader;
  struct orr_files files;
  struct orr_draft draft;
  struct orr_description description;
  struct orr_place sections[ORR_SECTION_COUNT], section_keys[ORR_SECTION_COUNT];
  struct orr_replaced replaced;
  uint32_t replaced_by; /* the file, while it is so */
  bool spacecraft_good;
  const char *path;                         /* of the file that was named */
  const struct orr_config_options *options; /* while it is read; or NULL */
  int64_t start_ns;                         /* as in orr_config_options */
};

struct top_keys {
  struct orr_place version, spacecraft, sections[ORR_SECTION_COUNT];
};

#define SECTION(which) .type = ORR_KEY_PLACE, .offset = offsetof(struct top_keys, sections[which])

static const struct orr_key top_table[] = {
    {.name = "orrery",
     .doc = "version of the language: 1",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_NUMBER(NULL),
     .offset = offsetof(struct top_keys, version)},
    {.name = "spacecraft",
     .doc = "the spacecraft, or the file that holds it",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_EITHER(ORR_TEXT("a path, relative to this file"), ORR_MAPPING(orr_spacecraft_mapping)),
     .offset = offsetof(struct top_keys, spacecraft)},
    {.name = "actuators",
     .doc = "what takes commands and moves the spacecraft",
     .absent = "none",
     .shape = ORR_NAMED("actuator", ORR_SHAPE(.kind = ORR_SHAPE_DEVICE, .what = "actuator")),
     SECTION(ORR_SECTION_ACTUATORS)},
    {.name = "sensors",
     .doc = "what measures",
     .absent = "none",
     .shape = ORR_NAMED("sensor", ORR_SHAPE(.kind = ORR_SHAPE_DEVICE, .what = "sensor")),
     SECTION(ORR_SECTION_SENSORS)},
    {.name = "pointing",
     .doc = "where bodies should look, by the body's name",
     .absent = "none",
     .shape = ORR_NAMED("body", ORR_LATER("pointing")),
     SECTION(ORR_SECTION_POINTING)},
    {.name = "environment",
     .doc = "gravity fields, air, light and magnetic field around an orbit",
     .absent = "empty space",
     .shape = ORR_LATER("environment"),
     SECTION(ORR_SECTION_ENVIRONMENT)},
    {.name = "simulation",
     .doc = "step, duration, integrator and initial state; a file with it is a run",
     .absent = "the file is a model alone",
     .shape = ORR_LATER("simulation"),
     SECTION(ORR_SECTION_SIMULATION)},
    {.name = "commands",
     .doc = "scripted commands",
     .absent = "none",
     .shape = ORR_LIST(ORR_LATER("commands")),
     SECTION(ORR_SECTION_COMMANDS)},
    {.name = "realtime",
     .doc = "how the executive keeps time",
     .absent = "as its keys say",
     .shape = ORR_LATER("realtime"),
     SECTION(ORR_SECTION_REALTIME)},
    {.name = "links",
     .doc = "links to flight software, by name",
     .absent = "none",
     .shape = ORR_NAMED("link", ORR_LATER("links")),
     SECTION(ORR_SECTION_LINKS)},
    {.name = "record",
     .doc = "what a log of the run holds",
     .absent = "as its keys say",
     .shape = ORR_LATER("record"),
     SECTION(ORR_SECTION_RECORD)},
    {.name = "faults",
     .doc = "what breaks, how and when",
     .absent = "nothing",
     .shape = ORR_LIST(ORR_LATER("faults")),
     SECTION(ORR_SECTION_FAULTS)},
    {.name = "sequence",
     .doc = "the steps of a test procedure",
     .absent = "none",
     .shape = ORR_LIST(ORR_LATER("sequence")),
     SECTION(ORR_SECTION_SEQUENCE)},
    {.name = "expect",
     .doc = "what the run must show to have passed",
     .absent = "nothing",
     .shape = ORR_LIST(ORR_LATER("expect")),
     SECTION(ORR_SECTION_EXPECT)},
};

/* What the examples of the other sections refer to. */
static const char file_example[] =
    "actuators:\n"
    "  wheel_x: &wheel {kind: reaction_wheel, node: bus.imu, axis: [1, 0, 0], inertia: 0.1 kg m^2,\n"
    "                   max_torque: 2 N m, max_speed: 6000 rpm}\n"
    "  wheel_y: {<<: *wheel, axis: [0, 1, 0]}\n"
    "  wheel_z: {<<: *wheel, axis: [0, 0, 1]}\n"
    "  motor: {kind: hinge_motor, hinge: wing, mode: torque, max_torque: 0.5 N m}\n"
    "  shake: {kind: wrench, node: bus.imu}\n"
    "  jet: {kind: thruster, node: bus.imu, direction: [1, 0, 0], thrust: 1 N}\n"
    "sensors:\n"
    "  gyro: {kind: rate_gyro, node: bus.imu, rate: 10 Hz, noise: {angle_random_walk: 0.1 deg/sqrt(h)}}\n"
    "  star: {kind: star_tracker, node: bus.imu, rate: 10 Hz, boresight: [0, 0, 1],\n"
    "         noise: {across: 10 arcsec, about: 60 arcsec}}\n";

const struct orr_mapping orr_file_mapping = {
    .name = "run file",
    .doc = "A model file is `orrery` and `spacecraft`. A run file adds sections that say how it is flown. Numbers may "
           "carry a unit (30 deg, 5 ms, 1200 rpm); a bare number is SI.",
    ORR_KEYS(top_table),
    .example = file_example,
};

/* Sections belong to the file that is named on the command line. */
static void keep_sections(struct orr_config *c, const struct top_keys *keys, struct orr_place root, bool named) {
  for (size_t k = 0; k < sizeof top_table / sizeof *top_table; k++) {
    if (top_table[k].offset < offsetof(struct top_keys, sections) || top_table[k].type != ORR_KEY_PLACE)
      continue;
    size_t section = (top_table[k].offset - offsetof(struct top_keys, sections)) / sizeof(struct orr_place);
    if (!keys->sections[section].node)
      continue;
    struct orr_place key = orr_place_key(c->reader.diagnostics, root, orr_yaml_find(root.node, top_table[k].name));
    if (named)
      orr_read_error(&c->reader, key, "section-in-spacecraft",
                     "'%s' belongs in the run file, not in the file of its spacecraft", top_table[k].name);
    if (c->sections[section].node)
      continue;
    c->sections[section] = keys->sections[section];
    c->section_keys[section] = key;
  }
}

/* A setting of what stands in the spacecraft's own file, where the run file names one. */
static bool is_of_named(const struct orr_yaml *root, const char *setting) {
  if (strncmp(setting, "spacecraft.", strlen("spacecraft.")) != 0 || root->kind != ORR_YAML_MAPPING)
    return false;
  size_t at = orr_yaml_find(root, "spacecraft");
  return at < root->count && root->entries[at].value->kind == ORR_YAML_SCALAR;
}

/* A file of another sort says so by a key of its own, and has no spacecraft. */
static bool is_of_other_sort(struct orr_config *c, struct orr_place root) {
  static const char *const sorts[][3] = {
      {"campaign", "campaign file", "orrery campaign run FILE' or 'orrery campaign check FILE"},
      {"sequence", "test procedure", "orrery run RUN.yaml --sequence FILE' or 'orrery check RUN.yaml --sequence FILE"}};
  if (orr_yaml_find(root.node, "spacecraft") < orr_place_count(root))
    return false;
  for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
    size_t at = orr_yaml_find(root.node, sorts[i][0]);
    if (at >= orr_place_count(root))
      continue;
    orr_read_error(&c->reader, orr_place_key(c->reader.diagnostics, root, at), "other-file",
                   "this is a %s, not a model or run file: '%s' takes it", sorts[i][1], sorts[i][2]);
    return true;
  }
  return false;
}

/* The spacecraft section of a file: the mapping, or the file it names. */
static void read_top(struct orr_config *c, const struct orr_file *file, orr_source via, bool named) {
  struct top_keys keys = {0};
  uint64_t present;
  struct orr_place root = {file->root, via};
  if (root.node->kind != ORR_YAML_MAPPING) {
    orr_read_error(&c->reader, root, "wrong-type", "a model file is a mapping that begins with 'orrery: 1'");
    return;
  }
  if (is_of_other_sort(c, root))
    return;
  const struct orr_thing thing = {.what = "a model file", .place = root};
  orr_read_mapping(&c->reader, &thing, &orr_file_mapping, &keys, &present);
  orr_spacecraft_check_version(&c->reader, keys.version);
  keep_sections(c, &keys, root, named);
  if (!keys.spacecraft.node)
    return;
  struct orr_place key = orr_place_key(c->reader.diagnostics, root, orr_yaml_find(root.node, "spacecraft"));
  if (keys.spacecraft.node->kind != ORR_YAML_SCALAR) {
    size_t errors = orr_diagnostics_errors(c->reader.diagnostics);
    orr_spacecraft_read(&c->draft, &c->files, file, keys.spacecraft, key, &c->description);
    c->spacecraft_good = orr_diagnostics_errors(c->reader.diagnostics) == errors;
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
  struct orr_file overlaid = *other;
  for (size_t i = 0; c->options && overlaid.root && i < c->options->setting_count; i++)
    if (is_of_named(file->root, c->options->settings[i]))
      overlaid.root = orr_setting_apply(&c->reader, overlaid.root, c->options->settings[i]);
  if (overlaid.root)
    read_top(c, &overlaid, orr_sources_add(orr_diagnostics_sources(c->reader.diagnostics), l), true);
}

static const struct orr_yaml *expectations_of(const struct orr_yaml *root) {
  size_t at = root->kind == ORR_YAML_MAPPING ? orr_yaml_find(root, "expect") : 0;
  return root->kind == ORR_YAML_MAPPING && at < root->count ? root->entries[at].value : NULL;
}

/* A procedure whose expectations stand in place of others. */
static void note_replaced(struct orr_config *c, const struct orr_yaml *before, const struct orr_yaml *after) {
  const struct orr_sources *sources = orr_diagnostics_sources(c->reader.diagnostics);
  const struct orr_yaml *was = expectations_of(before), *is = expectations_of(after);
  if (!was || was == is || was->kind != ORR_YAML_SEQUENCE || was->count == 0)
    return;
  c->replaced_by = is->file;
  c->replaced = (struct orr_replaced){.count = was->count,
                                      .file = orr_sources_file_name(sources, was->file),
                                      .by = orr_sources_file_name(sources, is->file)};
}

struct orr_replaced orr_config_replaced(const struct orr_config *c) {
  struct orr_place now = c->sections[ORR_SECTION_EXPECT];
  return now.node && now.node->file == c->replaced_by ? c->replaced : (struct orr_replaced){0};
}

static const struct orr_yaml *apply(struct orr_config *c, const struct orr_yaml *root, const char *setting) {
  static const char *const of_procedures[] = {"faults", "expect", "sequence", NULL}, *const of_rules[] = {"expect",
                                                                                                          NULL};
  bool rules = setting[0] == '@' && setting[1] == '@';
  if (setting[0] != '@')
    return orr_setting_apply(&c->reader, root, setting);
  const char *path = orr_arena_copy(c->reader.arena, setting + 1 + rules, strlen(setting + 1 + rules));
  const struct orr_file *file = orr_files_open(&c->files, path, NULL, 0);
  if (!file->root)
    return root;
  const struct orr_yaml *over = orr_setting_overlay(&c->reader, root, file->root, rules ? of_rules : of_procedures);
  if (!rules)
    note_replaced(c, root, over);
  return over;
}

const struct orr_config *orr_config_read_rules(const struct orr_text_file *file, struct orr_diagnostics *diagnostics) {
  static const struct orr_yaml_entry none;
  static const struct orr_yaml nothing = {.kind = ORR_YAML_MAPPING, .entries = &none};
  struct orr_arena *arena = orr_diagnostics_arena(diagnostics);
  struct orr_config *c = orr_arena_alloc(arena, 1, sizeof *c);
  c->reader = (struct orr_reader){diagnostics, arena};
  c->files = (struct orr_files){.reader = &c->reader, .memory = file, .memory_count = 1};
  const struct orr_yaml *root = apply(c, &nothing, orr_arena_format(arena, "@@%s", file->name));
  size_t at = orr_yaml_find(root, "expect");
  if (at < root->count)
    c->sections[ORR_SECTION_EXPECT] = orr_place_value(diagnostics, (struct orr_place){.node = root}, at);
  return c;
}

int64_t orr_config_end_ns(const struct orr_config *c, int64_t duration_ns) {
  return c->start_ns >= 0 && duration_ns > 0 ? c->start_ns + duration_ns : 0;
}

struct orr_config *orr_config_read(const char *path, const struct orr_config_options *options,
                                   struct orr_diagnostics *diagnostics) {
  struct orr_arena *arena = orr_diagnostics_arena(diagnostics);
  struct orr_config *c = orr_arena_alloc(arena, 1, sizeof *c);
  c->reader = (struct orr_reader){diagnostics, arena};
  c->files.reader = c->draft.reader = &c->reader;
  c->draft.own.prefix = "";
  c->draft.own.mirror[0] = c->draft.own.mirror[1] = c->draft.own.mirror[2] = c->draft.own.turn[3] = 1;
  c->start_ns = options ? options->start_ns : 0;
  c->draft.state_follows = options && options->state_follows;
  if (options && options->file_count) {
    c->files.memory = options->files;
    c->files.memory_count = options->file_count;
    c->files.from_disk = options->from_disk;
  }
  const struct orr_file *file = orr_files_open(&c->files, path, NULL, 0);
  struct orr_file overlaid = *file;
  c->path = file->path;
  c->options = options;
  for (size_t i = 0; options && overlaid.root && i < options->setting_count; i++)
    if (!is_of_named(overlaid.root, options->settings[i]))
      overlaid.root = apply(c, overlaid.root, options->settings[i]);
  if (overlaid.root)
    read_top(c, &overlaid, 0, false);
  return c;
}

struct orr_config *orr_config_load(const char *path, const struct orr_config_options *options,
                                   struct orr_diagnostics *diagnostics) {
  size_t errors = orr_diagnostics_errors(diagnostics), first = orr_diagnostics_count(diagnostics);
  struct orr_config *c = orr_config_read(path, options, diagnostics);
  orr_diagnostics_sort(diagnostics, first);
  return orr_diagnostics_errors(diagnostics) > errors ? NULL : c;
}

bool orr_config_spacecraft_is_good(const struct orr_config *c) { return c->spacecraft_good; }

const struct orr_description *orr_config_description(const struct orr_config *c) { return &c->description; }

struct orr_place orr_config_section(const struct orr_config *c, enum orr_section section) {
  return c->sections[section];
}

struct orr_place orr_config_section_key(const struct orr_config *c, enum orr_section section) {
  return c->section_keys[section];
}

bool orr_config_is_run(const struct orr_config *c) {
  for (size_t i = 0; i < ORR_SECTION_COUNT; i++)
    if (c->sections[i].node)
      return true;
  return false;
}

int orr_config_find_body(const struct orr_config *c, const char *name) { return orr_names_find(&c->draft.names, name); }

int orr_config_find_node(const struct orr_config *c, int body, const char *name) {
  return orr_draft_find_node(&c->draft, body, name);
}

struct orr_draft *orr_config_draft(struct orr_config *c) {
  return &c->draft;
}

const char *orr_config_beside(struct orr_config *c, const char *path) {
  return orr_files_beside(&c->files, path, c->path);
}

bool orr_config_text(struct orr_config *c, const char *path, orr_source from, const char **text, size_t *length) {
  return orr_files_text(&c->files, path, c->path, from, text, length);
}
