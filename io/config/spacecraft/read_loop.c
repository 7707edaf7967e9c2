/* Loops and gears. */
#include "core/model/hinge_kinds.h"
#include "core/model/motion.h"
#include "io/config/spacecraft/draft.h"
#include "io/config/spacecraft/mappings.h"

struct loop_keys {
  struct orr_place name, between, gear, axis, motion, normal, radius;
  int kind, method;
  bool slides;
};

enum loop_key { NAME, BETWEEN, GEAR, LOOP_KIND, AXIS, METHOD, MOTION, NORMAL, RADIUS, SLIDES, LOOP_KEYS };

static const char *const kinds[] = {"point", "weld", "revolute", "distance", "rolling", NULL};
static const enum orr_loop_kind meanings[] = {ORR_LOOP_POINT, ORR_LOOP_WELD, ORR_LOOP_REVOLUTE, ORR_LOOP_DISTANCE,
                                              ORR_LOOP_ROLLING};
static const char *const methods[] = {"auto", "embed", "augment", NULL}; /* as enum orr_loop_method */

struct gear_keys {
  struct orr_place hinge, drives, ratio, offset;
};

enum gear_key { GEAR_HINGE, GEAR_DRIVES, GEAR_RATIO, GEAR_OFFSET, GEAR_KEYS };

static const struct orr_key gear_table[GEAR_KEYS] = {
    [GEAR_HINGE] = {.name = "hinge",
                    .doc = "body A, whose hinge drives",
                    .type = ORR_KEY_PLACE,
                    .required = true,
                    .shape = ORR_TEXT("a body"),
                    .offset = offsetof(struct gear_keys, hinge)},
    [GEAR_DRIVES] = {.name = "drives",
                     .doc = "body B, whose hinge is driven",
                     .type = ORR_KEY_PLACE,
                     .required = true,
                     .shape = ORR_TEXT("a body"),
                     .offset = offsetof(struct gear_keys, drives)},
    [GEAR_RATIO] = {.name = "ratio",
                    .doc = "turns of B for one of A; not 0; between an angle and a distance it has a unit",
                    .type = ORR_KEY_PLACE,
                    .required = true,
                    .shape = ORR_NUMBER("|rad/m|m/rad"),
                    .offset = offsetof(struct gear_keys, ratio)},
    [GEAR_OFFSET] = {.name = "offset",
                     .doc = "where B stands when A is at zero",
                     .type = ORR_KEY_PLACE,
                     .absent = "0",
                     .shape = ORR_NUMBER("rad|m"),
                     .offset = offsetof(struct gear_keys, offset)},
};

static const struct orr_mapping gear_mapping = {
    .name = "loops.gear",
    .doc = "A gear between the hinges of two bodies, of one coordinate each: q_B = ratio q_A + offset.",
    ORR_KEYS(gear_table)};

static const struct orr_key loop_table[LOOP_KEYS] = {
    [NAME] = {.name = "name",
              .doc = "names its channels, such as loops.NAME.force; inside a part it takes the prefix",
              .type = ORR_KEY_PLACE,
              .absent = "loop and its number in the list, from 0",
              .shape = ORR_TEXT("a name"),
              .offset = offsetof(struct loop_keys, name)},
    [BETWEEN] = {.name = "between",
                 .doc = "the two nodes that the loop joins",
                 .type = ORR_KEY_PLACE,
                 .absent = "it is a gear",
                 .shape = ORR_PAIR(&orr_shape_node, &orr_shape_node),
                 .offset = offsetof(struct loop_keys, between)},
    [GEAR] = {.name = "gear",
              .doc = "a gear, in place of `between`",
              .type = ORR_KEY_PLACE,
              .absent = "it joins two nodes",
              .shape = ORR_MAPPING(gear_mapping),
              .offset = offsetof(struct loop_keys, gear)},
    [LOOP_KIND] = {.name = "kind",
                   .doc = "what it keeps: point, the two nodes together; weld, their orientation too; revolute, all "
                          "but the turn about `axis`; distance, their distance; rolling, that a wheel about the second "
                          "node rolls on the plane of the first without slip",
                   .type = ORR_KEY_CHOICE,
                   .absent = "right for a gear only",
                   .choices = kinds,
                   .offset = offsetof(struct loop_keys, kind)},
    [AXIS] = {.name = "axis",
              .doc =
                  "of a revolute loop, the same components in both nodes' frames; of a rolling one the wheel's, in the "
                  "second node's frame",
              .type = ORR_KEY_PLACE,
              .absent = "the kind takes none",
              .shape = &orr_shape_direction,
              .offset = offsetof(struct loop_keys, axis)},
    [METHOD] = {.name = "method",
                .doc = "how it is solved: embed makes its bodies one aggregate, augment adds multipliers; the "
                       "accelerations are the same",
                .type = ORR_KEY_CHOICE,
                .choices = methods,
                .fallback = "auto",
                .offset = offsetof(struct loop_keys, method)},
    [MOTION] = {.name = "motion",
                .doc = "drives it: the distance of a distance loop, the angle about the axis of a revolute one, the "
                       "offset of a gear; what that takes is in its channels",
                .type = ORR_KEY_PLACE,
                .absent = "nothing drives it",
                .shape = ORR_MAPPING(orr_motion_mapping),
                .offset = offsetof(struct loop_keys, motion)},
    [NORMAL] = {.name = "normal",
                .doc = "of a rolling loop: the ground's, in the first node's frame",
                .type = ORR_KEY_PLACE,
                .absent = "the kind takes none",
                .shape = &orr_shape_direction,
                .offset = offsetof(struct loop_keys, normal)},
    [RADIUS] = {.name = "radius",
                .doc = "of a rolling loop: the wheel's, about the second node",
                .type = ORR_KEY_PLACE,
                .absent = "the kind takes none",
                .shape = ORR_NUMBER("m"),
                .offset = offsetof(struct loop_keys, radius)},
    [SLIDES] = {.name = "slides",
                .doc = "of a rolling loop: it slides freely across its way, as a skid-steered wheel is taken to do",
                .type = ORR_KEY_FLAG,
                .fallback = "false",
                .offset = offsetof(struct loop_keys, slides)},
};

const struct orr_mapping orr_loop_mapping = {
    .name = "loops",
    .doc = "What makes the tree of hinges more than a tree: two nodes kept together, or two hinges geared. Where the "
           "motion begins a loop must be closed within 1e-6 m and rad.",
    ORR_KEYS(loop_table),
    .example = "spacecraft:\n"
               "  bodies:\n"
               "    base: {mass: 100, inertia: [50, 50, 50, 0, 0, 0], hinge: {kind: free, to: inertial},\n"
               "           nodes: {left: {at: [0, 0, 0]}, right: {at: [3, 0, 0]}}}\n"
               "    crank: &link {mass: 1, com: [0, 0.5, 0], inertia: [0.1, 0.01, 0.1, 0, 0, 0],\n"
               "                  hinge: {kind: revolute, to: base.left, axis: [0, 0, 1]},\n"
               "                  nodes: {end: {at: [0, 1, 0]}}}\n"
               "    rocker: {<<: *link, hinge: {kind: revolute, to: base.right, axis: [0, 0, 1]}}\n"
               "    wheel: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0],\n"
               "            hinge: {kind: revolute, to: base.left, axis: [0, 0, 1]}}\n"
               "  loops:\n"
               "    - {name: rod, between: [crank.end, rocker.end], kind: distance} # a rod of 3 m without mass\n"
               "    - {gear: {hinge: crank, drives: wheel, ratio: -2}}\n",
};

struct reading {
  struct orr_draft *draft;
  struct orr_reader *reader;
  const struct orr_scope *scope;
  struct orr_place place; /* of the loop */
  struct orr_loop_desc *loop;
  struct loop_keys keys;
  uint64_t present;
  bool doubtful; /* something it refers to was reported */
};

static struct orr_place key_place(struct reading *r, enum loop_key key) {
  return orr_place_key(r->reader->diagnostics, r->place, orr_yaml_find(r->place.node, loop_table[key].name));
}

static void refuse_key(struct reading *r, enum loop_key key, const char *what) {
  if (r->present >> key & 1)
    orr_read_error(r->reader, key_place(r, key), "loop-key", "a %s takes no '%s'", what, loop_table[key].name);
}

static bool need_key(struct reading *r, enum loop_key key, const char *what) {
  if (r->present >> key & 1)
    return true;
  if (orr_yaml_find(r->place.node, loop_table[key].name) == r->place.node->count)
    orr_read_error(r->reader, r->place, "missing-key", "a %s needs '%s'", what, loop_table[key].name);
  return false;
}

/* --- two nodes ------------------------------------------------------------------------------------------------- */

static void read_between(struct reading *r) {
  if (!orr_expect_sequence(r->reader, r->keys.between, "between"))
    return;
  if (orr_place_count(r->keys.between) != 2) {
    orr_read_error(r->reader, r->keys.between, "wrong-length",
                   "'between' takes two nodes, [body.node, body.node], and here %s %zu",
                   orr_place_count(r->keys.between) == 1 ? "is" : "are", orr_place_count(r->keys.between));
    return;
  }
  bool good = true;
  for (size_t i = 0; i < 2; i++)
    good &= orr_draft_read_reference(r->draft, r->scope, orr_place_item(r->reader->diagnostics, r->keys.between, i),
                                     "between", &r->loop->body[i], &r->loop->node[i]);
  if (!good || r->loop->body[0] != r->loop->body[1])
    return;
  const struct orr_body_desc *body = &r->draft->bodies[r->loop->body[0]];
  if (r->loop->node[0] == r->loop->node[1])
    orr_read_error(r->reader, r->keys.between, "loop-on-itself", "this loop joins a node to itself");
  else if (body->mode_count == 0)
    orr_read_error(r->reader, r->keys.between, "loop-on-itself",
                   "this loop joins two nodes of '%.60s', which has no modes: they cannot move apart", body->name);
}

static void read_motion(struct reading *r, const char *unit) {
  if (!r->keys.motion.node)
    return;
  struct orr_motion_desc *motion = orr_arena_alloc(r->reader->arena, 1, sizeof *motion);
  if (!orr_draft_read_motion(r->reader, r->keys.motion, key_place(r, MOTION), unit, true, motion))
    return;
  if (r->loop->kind == ORR_LOOP_DISTANCE && !(orr_motion_begin(motion).x > 0))
    orr_read_error(r->reader, r->keys.motion, "motion", "a distance is above zero, and this one begins at %.6g m",
                   orr_motion_begin(motion).x);
  r->loop->motion = motion;
}

/* A wheel is about its node, which must not be on the body that it rolls on. */
static void read_rolling(struct reading *r) {
  if (need_key(r, AXIS, "rolling loop"))
    orr_read_direction(r->reader, r->keys.axis, "axis", r->loop->axis);
  if (need_key(r, NORMAL, "rolling loop"))
    orr_read_direction(r->reader, r->keys.normal, "normal", r->loop->normal);
  if (need_key(r, RADIUS, "rolling loop"))
    orr_read_number(r->reader, r->keys.radius, "radius", "m", &orr_range_positive, &r->loop->radius);
  r->loop->slides = r->keys.slides;
  if (r->loop->method == ORR_LOOP_EMBED)
    orr_read_error(r->reader, key_place(r, METHOD), "loop-key",
                   "a rolling loop cannot be embedded: it is of speeds, and no coordinate follows from others by it");
}

/* What only rolling wheels have. */
static void refuse_rolling_keys(struct reading *r, const char *what) {
  refuse_key(r, NORMAL, what);
  refuse_key(r, RADIUS, what);
  refuse_key(r, SLIDES, what);
}

static void read_loop(struct reading *r) {
  read_between(r);
  if (!need_key(r, LOOP_KIND, "loop between two nodes"))
    return;
  r->loop->kind = meanings[r->keys.kind];
  if (r->loop->kind == ORR_LOOP_ROLLING)
    read_rolling(r);
  else if (r->loop->kind != ORR_LOOP_REVOLUTE)
    refuse_key(r, AXIS, orr_arena_format(r->reader->arena, "%s loop", kinds[r->keys.kind]));
  else if (need_key(r, AXIS, "revolute loop"))
    orr_read_direction(r->reader, r->keys.axis, "axis", r->loop->axis);
  if (r->loop->kind != ORR_LOOP_ROLLING)
    refuse_rolling_keys(r, orr_arena_format(r->reader->arena, "%s loop", kinds[r->keys.kind]));
  if (r->loop->kind == ORR_LOOP_REVOLUTE || r->loop->kind == ORR_LOOP_DISTANCE)
    read_motion(r, r->loop->kind == ORR_LOOP_DISTANCE ? "m" : "rad");
  else
    refuse_key(r, MOTION, orr_arena_format(r->reader->arena, "%s loop", kinds[r->keys.kind]));
}

/* --- gears ----------------------------------------------------------------------------------------------------- */

/* The body whose hinge is named; its hinge must have one coordinate. */
static bool read_gear_hinge(struct reading *r, struct orr_place place, const char *key, int *body) {
  const char *name;
  *body = -1;
  if (!place.node || !orr_read_text(r->reader, place, key, &name))
    return false;
  *body = orr_draft_find_body(r->draft, r->scope, place, name);
  if (*body < 0)
    return false;
  if (r->draft->broken[*body]) { /* its hinge may not be what it is meant to be, and that has been reported */
    r->doubtful = true;
    return false;
  }
  const struct orr_hinge_kind_info *kind = orr_hinge_kind_info(r->draft->bodies[*body].hinge.kind);
  if (kind->speed_count == 1)
    return true;
  orr_read_error(r->reader, place, "not-scalar", "a gear joins hinges of one coordinate, and that of '%.60s' is %s",
                 name, kind->name);
  return false;
}

static bool is_angle(const struct reading *r, int body) {
  return r->draft->bodies[body].hinge.kind == ORR_HINGE_REVOLUTE;
}

/* q_B = ratio q_A + offset: the units follow from what the two hinges do. */
static void read_ratio(struct reading *r, const struct gear_keys *keys) {
  bool a = is_angle(r, r->loop->body[0]), b = is_angle(r, r->loop->body[1]);
  if (keys->ratio.node &&
      orr_read_number(r->reader, keys->ratio, "ratio",
                      a == b ? ""
                      : b    ? "rad/m"
                             : "m/rad",
                      NULL, &r->loop->ratio) &&
      r->loop->ratio == 0)
    orr_read_error(r->reader, keys->ratio, "zero-ratio", "a gear of ratio 0 drives nothing");
  if (keys->offset.node)
    orr_read_number(r->reader, keys->offset, "offset", b ? "rad" : "m", NULL, &r->loop->offset);
}

static void read_gear(struct reading *r) {
  struct gear_keys keys = {0};
  uint64_t present;
  r->loop->kind = ORR_LOOP_GEAR;
  r->loop->source = orr_place_entity(r->reader->diagnostics, key_place(r, GEAR), r->keys.gear);
  refuse_key(r, LOOP_KIND, "gear");
  refuse_key(r, AXIS, "gear");
  refuse_rolling_keys(r, "gear");
  const struct orr_thing thing = {.what = "a gear", .place = r->keys.gear, .key = key_place(r, GEAR)};
  orr_read_mapping(r->reader, &thing, &gear_mapping, &keys, &present);
  bool a = read_gear_hinge(r, keys.hinge, "hinge", &r->loop->body[0]);
  bool b = read_gear_hinge(r, keys.drives, "drives", &r->loop->body[1]);
  if (!a || !b)
    return;
  if (r->loop->body[0] == r->loop->body[1])
    orr_read_error(r->reader, keys.drives, "loop-on-itself", "this gear joins a hinge to itself");
  read_ratio(r, &keys);
  read_motion(r, is_angle(r, r->loop->body[1]) ? "rad" : "m");
  if (r->keys.motion.node && keys.offset.node)
    orr_read_error(r->reader, keys.offset, "loop-key", "the motion of a gear is its offset: leave out 'offset'");
}

static void read_kind(struct reading *r) {
  if (r->keys.between.node && r->keys.gear.node)
    orr_read_error(r->reader, key_place(r, GEAR), "loop-key", "a loop has either 'between' or 'gear', not both");
  else if (r->keys.gear.node)
    read_gear(r);
  else if (r->keys.between.node)
    read_loop(r);
  else
    orr_read_error(r->reader, r->place, "missing-key", "a loop needs 'between' (two nodes) or 'gear' (two hinges)");
}

/* The name as the file gives it, without prefix; false after reporting. */
static bool read_name(struct reading *r) {
  const char *name;
  return !r->keys.name.node ||
         (orr_read_text(r->reader, r->keys.name, "name", &name) && orr_read_name(r->reader, r->keys.name, "loop"));
}

static void read_one(struct orr_draft *draft, const struct orr_scope *scope, struct orr_place place, size_t index) {
  struct reading r = {.draft = draft, .reader = draft->reader, .scope = scope, .place = place};
  size_t errors = orr_diagnostics_errors(draft->reader->diagnostics);
  if (draft->loop_count == draft->loop_room) {
    size_t room;
    draft->loop_drafts =
        orr_arena_grow(draft->reader->arena, draft->loop_drafts, draft->loop_count, sizeof *draft->loop_drafts, &room);
    draft->loops =
        orr_arena_grow(draft->reader->arena, draft->loops, draft->loop_count, sizeof *draft->loops, &draft->loop_room);
  }
  r.loop = &draft->loops[draft->loop_count];
  *r.loop = (struct orr_loop_desc){.source = orr_place_source(draft->reader->diagnostics, place)};
  const struct orr_thing thing = {.what = "a loop", .place = place};
  orr_read_mapping(draft->reader, &thing, &orr_loop_mapping, &r.keys, &r.present);
  r.loop->method = (enum orr_loop_method)r.keys.method;
  (void)read_name(&r);
  if (place.node->kind == ORR_YAML_MAPPING || place.node->kind == ORR_YAML_NULL)
    read_kind(&r);
  if (orr_scope_is_mirrored(scope))
    orr_mirror_loop(r.loop, scope->mirror);
  if (orr_diagnostics_errors(draft->reader->diagnostics) == errors && !r.doubtful)
    draft->loop_drafts[draft->loop_count++] =
        (struct orr_draft_loop){scope, index, r.keys.name}; /* a wrong one is not judged any further */
}

void orr_draft_read_loops(struct orr_draft *draft, const struct orr_scope *scope, struct orr_place loops) {
  if (!loops.node || !orr_expect_sequence(draft->reader, loops, "loops"))
    return;
  for (size_t i = 0; i < orr_place_count(loops); i++)
    read_one(draft, scope, orr_place_item(draft->reader->diagnostics, loops, i), i);
}

/* --- names ----------------------------------------------------------------------------------------------------- */

/* A loop without a name takes `loop` and its number in its file's list, or the next number that is free. */
static const char *free_name(struct orr_draft *draft, const struct orr_names *names, const struct orr_draft_loop *l) {
  const char *name;
  size_t number = l->index;
  do
    name = orr_arena_format(draft->reader->arena, "%sloop%zu", l->scope->prefix, number++);
  while (orr_names_find(names, name) != ORR_NAME_NONE);
  return name;
}

/* Given names first, so that none of them finds its place taken by one that was only numbered. */
void orr_draft_name_loops(struct orr_draft *draft) {
  struct orr_names names = {0};
  struct orr_diagnostics *d = draft->reader->diagnostics;
  for (size_t i = 0; i < draft->loop_count; i++) {
    const struct orr_draft_loop *l = &draft->loop_drafts[i];
    if (!l->name.node)
      continue;
    const char *name = orr_arena_format(draft->reader->arena, "%s%s", l->scope->prefix, l->name.node->text);
    int32_t known = orr_names_find(&names, name);
    draft->loops[i].name = name;
    if (known == ORR_NAME_NONE) {
      orr_names_add(&names, draft->reader->arena, name, (int32_t)i);
      continue;
    }
    orr_read_error(draft->reader, l->name, "duplicate-name", "a second loop is named '%.60s'", name);
    orr_report_related(d, orr_place_source(d, draft->loop_drafts[known].name), "the first one");
  }
  for (size_t i = 0; i < draft->loop_count; i++) {
    if (draft->loops[i].name)
      continue;
    draft->loops[i].name = free_name(draft, &names, &draft->loop_drafts[i]);
    orr_names_add(&names, draft->reader->arena, draft->loops[i].name, (int32_t)i);
  }
}
