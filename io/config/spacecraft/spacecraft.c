/* Finds the bodies of a spacecraft and of its parts, then has them read: bodies first, then the hinges that refer to
 * them, then the loops. */
#include "io/config/spacecraft/spacecraft.h"

#include <string.h>

#include "io/config/spacecraft/mappings.h"

enum { DEEPEST_INCLUDE = 16 };

/* A file on the way from the spacecraft to the part that is being read. */
struct level {
  const struct level *outer;
  const struct orr_file *file;
  struct orr_scope *scope;
  size_t depth;
};

struct section {
  struct orr_place bodies, loops, parts, version;
  double gravity[3];
};

/* Loops wait until every hinge has been read. */
struct waiting {
  struct waiting *next;
  const struct orr_scope *scope;
  struct orr_place loops;
};

struct gathering {
  struct orr_draft *draft;
  struct orr_reader *reader;
  struct orr_files *files;
  size_t room;
  struct waiting *loops, *last_loops;
  uint64_t included; /* nodes that includes stood for so far */
};

struct part_keys {
  const char *include, *prefix;
  int mirror;
  struct orr_place include_place, to, rotation;
};

static const char *const mirrors[] = {"none", "x", "y", "z", NULL};

static const struct orr_key part_table[] = {
    {.name = "include",
     .doc = "the file of the part, relative to the file that names it",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_TEXT("a path"),
     .offset = offsetof(struct part_keys, include_place)},
    {.name = "prefix",
     .doc = "what all names inside take in front",
     .type = ORR_KEY_TEXT,
     .fallback = "",
     .offset = offsetof(struct part_keys, prefix)},
    {.name = "to",
     .doc = "what the hinge hangs on that the file writes `to: mount`",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_TEXT("body.node or inertial"),
     .offset = offsetof(struct part_keys, to)},
    {.name = "mirror",
     .doc = "the axis of its mount to which the mirror is normal that it is seen in: places, mass, hinges, modes and "
            "loops; the same coordinates are then the mirrored posture",
     .type = ORR_KEY_CHOICE,
     .choices = mirrors,
     .fallback = "none",
     .offset = offsetof(struct part_keys, mirror)},
    {.name = "rotation",
     .doc = "turns the part, mirrored or not, about its mount, axes of the node that it hangs on",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = &orr_shape_quaternion,
     .offset = offsetof(struct part_keys, rotation)},
};

static const struct orr_mapping part_mapping = {
    .name = "parts",
    .doc = "Bodies and loops from another file, as often as one likes, turned or mirrored. One hinge of that file is "
           "written `to: mount`.",
    ORR_KEYS(part_table),
    .example = "spacecraft:\n"
               "  bodies:\n"
               "    bus: {mass: 1200, inertia: [800, 900, 700, 0, 0, 0], hinge: {kind: free, to: inertial},\n"
               "          nodes: {left: {at: [0, 1, 0]}, right: {at: [0, -1, 0]}}}\n"
               "  parts:\n"
               "    left: {include: boom.yaml, prefix: l_, to: bus.left}\n"
               "    right: {include: boom.yaml, prefix: r_, to: bus.right, mirror: y}\n",
};

static const struct orr_key spacecraft_table[] = {
    {.name = "bodies",
     .doc = "the bodies by name, in any order",
     .type = ORR_KEY_PLACE,
     .absent = "the parts have them",
     .shape = ORR_NAMED("body", ORR_MAPPING(orr_body_mapping)),
     .offset = offsetof(struct section, bodies)},
    {.name = "loops",
     .doc = "closed loops and gears",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = ORR_LIST(ORR_MAPPING(orr_loop_mapping)),
     .offset = offsetof(struct section, loops)},
    {.name = "parts",
     .doc = "parts that stand in files of their own",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = ORR_NAMED("part", ORR_MAPPING(part_mapping)),
     .offset = offsetof(struct section, parts)},
    {.name = "gravity",
     .doc = "uniform gravity, inertial axes; fields around an orbit are the environment's",
     .type = ORR_KEY_NUMBERS,
     .unit = "m/s^2",
     .count = 3,
     .form = "[x, y, z]",
     .fallback = "0",
     .offset = offsetof(struct section, gravity)},
};

const struct orr_mapping orr_spacecraft_mapping = {
    .name = "spacecraft",
    .doc = "The spacecraft: bodies, what closes loops between them, parts from other files.",
    ORR_KEYS(spacecraft_table)};

static const struct orr_key part_file_table[] = {
    {.name = "bodies",
     .doc = "the bodies by name, in any order",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_NAMED("body", ORR_MAPPING(orr_body_mapping)),
     .offset = offsetof(struct section, bodies)},
    {.name = "loops",
     .doc = "closed loops and gears",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = ORR_LIST(ORR_MAPPING(orr_loop_mapping)),
     .offset = offsetof(struct section, loops)},
    {.name = "parts",
     .doc = "parts of the part",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = ORR_NAMED("part", ORR_MAPPING(part_mapping)),
     .offset = offsetof(struct section, parts)},
    {.name = "orrery",
     .doc = "version of the language: 1",
     .type = ORR_KEY_PLACE,
     .absent = "1",
     .shape = ORR_NUMBER(NULL),
     .offset = offsetof(struct section, version)},
};

const struct orr_mapping orr_part_file_mapping = {
    .name = "part file",
    .doc = "The file that a part includes.",
    ORR_KEYS(part_file_table),
    .example = "bodies:\n"
               "  boom: {mass: 5, com: [0, 1, 0], inertia: [2, 0.1, 2, 0, 0, 0],\n"
               "         hinge: {kind: revolute, to: mount, axis: [1, 0, 0], stiffness: 100 N m/rad},\n"
               "         nodes: {tip: {at: [0, 2, 0]}}}\n"
               "  tip: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: fixed, to: boom.tip}}\n",
};

/* --- bodies ---------------------------------------------------------------------------------------------------- */

static void make_room(struct gathering *g) {
  struct orr_draft *d = g->draft;
  if (d->body_count < g->room)
    return;
  size_t room;
  d->bodies = orr_arena_grow(g->reader->arena, d->bodies, d->body_count, sizeof *d->bodies, &room);
  d->drafts = orr_arena_grow(g->reader->arena, d->drafts, d->body_count, sizeof *d->drafts, &room);
  g->room = room;
}

const char *orr_name_reserved_for(const char *name) {
  static const char *const names[][2] = {{"loops", "of closed loops"},
                                         {"energy", "of the energy of the spacecraft"},
                                         {"momentum", "of the momentum of the spacecraft"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i][0]) == 0)
      return names[i][1];
  return NULL;
}

/* Whether a body may have that name; false after reporting. */
static bool may_name(struct gathering *g, const struct orr_scope *scope, struct orr_place key) {
  const char *name = key.node->text;
  if (!orr_read_name(g->reader, key, "body"))
    return false;
  const char *full = orr_arena_format(g->reader->arena, "%s%s", scope->prefix, name);
  const char *reserved = orr_name_reserved_for(full);
  if (reserved) {
    orr_read_error(g->reader, key, "reserved-name", "'%s' begins the channels %s and cannot name a body", full,
                   reserved);
    return false;
  }
  if (strcmp(name, "inertial") != 0 && strcmp(name, "mount") != 0)
    return true;
  orr_read_error(g->reader, key, "reserved-name", "'%s' has a meaning of its own and cannot name a body", name);
  return false;
}

static void gather_body(struct gathering *g, struct orr_scope *scope, struct orr_place key, struct orr_place value) {
  struct orr_draft *d = g->draft;
  const char *local = key.node->text;
  if (!may_name(g, scope, key)) {
    scope->doubtful = true;
    return;
  }
  const char *name = orr_arena_format(g->reader->arena, "%s%s", scope->prefix, local);
  int32_t known = orr_names_find(&d->names, name);
  if (known != ORR_NAME_NONE) {
    orr_read_error(g->reader, key, "duplicate-name", "a second body is named '%.60s'; give the part another prefix",
                   name);
    orr_report_related(g->reader->diagnostics, orr_place_source(g->reader->diagnostics, d->drafts[known].key),
                       "the first one");
    scope->doubtful = true;
    return;
  }
  make_room(g);
  orr_names_add(&d->names, g->reader->arena, name, (int32_t)d->body_count);
  d->bodies[d->body_count] = (struct orr_body_desc){.name = name};
  d->drafts[d->body_count++] = (struct orr_draft_body){.scope = scope, .key = key, .value = value, .local = local};
}

static void gather_parts(struct gathering *g, const struct level *level, struct orr_place parts);

static void gather_section(struct gathering *g, const struct level *level, const struct section *section) {
  if (section->bodies.node && orr_expect_mapping(g->reader, section->bodies, "bodies"))
    for (size_t i = 0; i < orr_place_count(section->bodies); i++)
      gather_body(g, level->scope, orr_place_key(g->reader->diagnostics, section->bodies, i),
                  orr_place_value(g->reader->diagnostics, section->bodies, i));
  if (section->loops.node) {
    struct waiting *w = orr_arena_alloc(g->reader->arena, 1, sizeof *w);
    *w = (struct waiting){.scope = level->scope, .loops = section->loops};
    *(g->loops ? &g->last_loops->next : &g->loops) = w;
    g->last_loops = w;
  }
  if (section->parts.node && orr_expect_mapping(g->reader, section->parts, "parts"))
    gather_parts(g, level, section->parts);
}

/* --- parts ----------------------------------------------------------------------------------------------------- */

static bool may_include(struct gathering *g, const struct level *level, const struct orr_file *file,
                        struct orr_place place) {
  for (const struct level *l = level; l; l = l->outer)
    if (strcmp(l->file->identity, file->identity) == 0) {
      orr_read_error(g->reader, place, "include-cycle", "'%.100s' is included by itself", file->path);
      return false;
    }
  if (level->depth == DEEPEST_INCLUDE) {
    orr_read_error(g->reader, place, "too-deep", "parts are included more than %d deep", DEEPEST_INCLUDE);
    return false;
  }
  bool before = g->included > ORR_YAML_EXPANSION; /* once it has been said, it has been said */
  g->included += file->root->weight;
  if (g->included <= ORR_YAML_EXPANSION)
    return true;
  if (!before)
    orr_read_error(g->reader, place, "include-bomb", "the parts up to here stand for more than 2,000,000 nodes");
  return false;
}

static void gather_part_file(struct gathering *g, const struct level *outer, const struct orr_file *file,
                             struct orr_scope *scope, struct orr_place include) {
  struct orr_diagnostics *d = g->reader->diagnostics;
  struct orr_location l = orr_sources_get(orr_diagnostics_sources(d), orr_place_source(d, include));
  l.kind = ORR_VIA_INCLUDE;
  struct orr_place root = {file->root, orr_sources_add(orr_diagnostics_sources(d), l)};
  struct section section = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "a part's file", .place = root};
  scope->doubtful = !orr_read_mapping(g->reader, &thing, &orr_part_file_mapping, &section, &present);
  orr_spacecraft_check_version(g->reader, section.version);
  const struct level level = {.outer = outer, .file = file, .scope = scope, .depth = outer->depth + 1};
  gather_section(g, &level, &section);
}

static bool read_prefix(struct gathering *g, struct orr_place part, const char **prefix) {
  if (!*prefix || !**prefix) {
    *prefix = "";
    return true;
  }
  struct orr_place place = orr_place_value(g->reader->diagnostics, part, orr_yaml_find(part.node, "prefix"));
  return orr_read_name(g->reader, place, "prefix");
}

/* Both in the axes of the outer file, which may be seen in a mirror itself. */
static void place_part(struct gathering *g, const struct part_keys *keys, struct orr_scope *scope) {
  const struct orr_scope *outer = scope->outer;
  memcpy(scope->mirror, outer->mirror, sizeof scope->mirror);
  if (keys->mirror)
    scope->mirror[keys->mirror - 1] *= -1;
  scope->turn[3] = 1;
  if (!keys->rotation.node || !orr_read_quaternion(g->reader, keys->rotation, "rotation", scope->turn))
    return;
  double det = outer->mirror[0] * outer->mirror[1] * outer->mirror[2];
  for (int i = 0; i < 3; i++)
    scope->turn[i] *= det * outer->mirror[i];
}

static void gather_part(struct gathering *g, const struct level *outer, struct orr_place key, struct orr_place value) {
  struct part_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "part", .name = key.node->text, .place = value, .key = key};
  orr_read_name(g->reader, key, "part");
  orr_read_mapping(g->reader, &thing, &part_mapping, &keys, &present);
  const char *to;
  if (keys.to.node && !orr_read_text(g->reader, keys.to, "to", &to))
    keys.to.node = NULL;
  bool prefixed = read_prefix(g, value, &keys.prefix);
  if (!keys.include_place.node || !orr_read_text(g->reader, keys.include_place, "include", &keys.include) || !prefixed)
    return;
  const struct orr_file *file = orr_files_open(g->files, keys.include, outer->file->path,
                                               orr_place_source(g->reader->diagnostics, keys.include_place));
  if (!file->root || !may_include(g, outer, file, keys.include_place))
    return;
  struct orr_scope *scope = orr_arena_alloc(g->reader->arena, 1, sizeof *scope);
  *scope = (struct orr_scope){.outer = outer->scope, .part = key.node->text, .key = key, .mount = keys.to};
  scope->prefix = orr_arena_format(g->reader->arena, "%s%s", outer->scope->prefix, keys.prefix);
  place_part(g, &keys, scope);
  scope->next = g->draft->parts;
  g->draft->parts = scope;
  gather_part_file(g, outer, file, scope, keys.include_place);
}

static void gather_parts(struct gathering *g, const struct level *level, struct orr_place parts) {
  for (size_t i = 0; i < orr_place_count(parts); i++)
    gather_part(g, level, orr_place_key(g->reader->diagnostics, parts, i),
                orr_place_value(g->reader->diagnostics, parts, i));
}

/* A part hangs by one hinge; nothing else of it says where. */
static void check_mounts(struct orr_draft *draft) {
  for (const struct orr_scope *s = draft->parts; s; s = s->next)
    if (s->mounted > 1 || (s->mounted == 0 && !s->doubtful))
      orr_read_error(draft->reader, s->key, "mount",
                     "part '%.60s' has %s hinge written 'to: mount'; it needs exactly one", s->part,
                     s->mounted ? "more than one" : "no");
}

/* Beside a spacecraft that flies freely, another body on `inertial` is seldom meant. Loops may tie it. */
static void doubt_roots(struct orr_draft *draft, bool loops) {
  int free = -1;
  for (size_t i = 0; i < draft->body_count && free < 0; i++)
    if (!draft->broken[i] && draft->bodies[i].hinge.parent == ORR_INERTIAL &&
        draft->bodies[i].hinge.kind == ORR_HINGE_FREE)
      free = (int)i;
  for (size_t i = 0; i < draft->body_count && free >= 0 && !loops; i++)
    if ((int)i != free && !draft->broken[i] && draft->bodies[i].hinge.parent == ORR_INERTIAL &&
        !(draft->drafts[i].scope->outer && draft->drafts[i].scope->mounted != 1)) /* that was reported */
      orr_read_warning(draft->reader, draft->drafts[i].hinge, "second-root",
                       "'%.60s' hangs on 'inertial' beside '%.60s', and nothing joins them: if it is a part of that, "
                       "hang it on one of its nodes, 'to: %.60s.NODE'",
                       draft->bodies[i].name, draft->bodies[free].name, draft->bodies[free].name);
}

/* --- all ------------------------------------------------------------------------------------------------------- */

void orr_spacecraft_read(struct orr_draft *draft, struct orr_files *files, const struct orr_file *file,
                         struct orr_place place, struct orr_place key, struct orr_description *out) {
  struct gathering g = {.draft = draft, .reader = draft->reader, .files = files};
  struct section section = {0};
  uint64_t present;
  draft->errors_before = orr_diagnostics_errors(draft->reader->diagnostics);
  const struct orr_thing thing = {.what = "spacecraft", .place = place, .key = key};
  orr_read_mapping(draft->reader, &thing, &orr_spacecraft_mapping, &section, &present);
  const struct level level = {.file = file, .scope = &draft->own};
  gather_section(&g, &level, &section);
  draft->broken = orr_arena_alloc(draft->reader->arena, draft->body_count, 1);
  for (size_t i = 0; i < draft->body_count; i++)
    orr_draft_read_body(draft, i);
  for (size_t i = 0; i < draft->body_count; i++)
    orr_draft_read_hinge(draft, i);
  check_mounts(draft);
  doubt_roots(draft, g.loops != NULL);
  for (const struct waiting *w = g.loops; w; w = w->next)
    orr_draft_read_loops(draft, w->scope, w->loops);
  orr_draft_name_loops(draft);
  *out = (struct orr_description){
      .body_count = draft->body_count, .bodies = draft->bodies, .loop_count = draft->loop_count, .loops = draft->loops};
  memcpy(out->gravity, section.gravity, sizeof out->gravity);
  out->source = orr_place_entity(draft->reader->diagnostics, key, place);
  orr_draft_judge(draft, out);
  if (out->loop_count && orr_diagnostics_errors(draft->reader->diagnostics) == draft->errors_before)
    orr_draft_judge_loops(draft, out);
}

void orr_spacecraft_check_version(struct orr_reader *reader, struct orr_place place) {
  double version;
  if (place.node && orr_read_number(reader, place, "orrery", NULL, NULL, &version) && version != 1)
    orr_read_error(reader, place, "version",
                   "this is written for version '%.20s' of the language, and this program reads 1", place.node->text);
}
