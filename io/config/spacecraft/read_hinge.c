/* Hinges, and the names of nodes that they and loops refer to. */
#include <math.h>
#include <string.h>

#include "core/model/hinge_kinds.h"
#include "io/config/spacecraft/draft.h"
#include "io/config/spacecraft/mappings.h"

/* --- references ------------------------------------------------------------------------------------------------ */

/* `hangs`: it is what a hinge hangs on, which has two names that are no bodies. */
/* "bus.imu" for "imu", where exactly one body has that node; or NULL. */
static const char *only_node(const struct orr_draft *draft, const struct orr_scope *scope, const char *name) {
  const size_t prefix = strlen(scope->prefix);
  int found = -1, count = 0;
  for (size_t i = 0; i < draft->body_count; i++)
    if (strncmp(draft->bodies[i].name, scope->prefix, prefix) == 0 && orr_draft_find_node(draft, (int)i, name) >= 0) {
      found = (int)i;
      count++;
    }
  return count == 1 ? orr_arena_format(draft->reader->arena, "%s.%s", draft->bodies[found].name + prefix, name) : NULL;
}

static void report_unknown_body(struct orr_draft *draft, const struct orr_scope *scope, struct orr_place place,
                                const char *name, bool hangs, bool of_node) {
  struct orr_nearest nearest = {.wanted = name};
  bool suggest = orr_read_may_suggest(draft->reader);
  for (size_t i = 0; i < draft->body_count && suggest; i++)
    if (draft->drafts[i].scope == scope)
      orr_nearest_offer(&nearest, draft->drafts[i].local);
  for (size_t i = 0; i < draft->body_count && suggest; i++)
    if (strncmp(draft->bodies[i].name, scope->prefix, strlen(scope->prefix)) == 0)
      orr_nearest_offer(&nearest, draft->bodies[i].name + strlen(scope->prefix));
  if (hangs)
    orr_nearest_offer(&nearest, "inertial");
  if (hangs && scope->outer)
    orr_nearest_offer(&nearest, "mount");
  const char *node = of_node && suggest ? only_node(draft, scope, name) : NULL;
  nearest.best = node ? node : nearest.best;
  const char *where = scope->outer ? " in this part" : "";
  if (nearest.best)
    orr_read_error(draft->reader, place, "unknown-body", "no body '%.60s'%s, did you mean '%s'?", name, where,
                   nearest.best);
  else
    orr_read_error(draft->reader, place, "unknown-body", "no body '%.60s'%s", name, where);
}

static int find_body(struct orr_draft *draft, const struct orr_scope *scope, struct orr_place place, const char *name,
                     bool hangs, bool of_node) {
  const char *full = *scope->prefix ? orr_arena_format(draft->reader->arena, "%s%s", scope->prefix, name) : name;
  int32_t body = orr_names_find(&draft->names, full);
  if (body == ORR_NAME_NONE)
    report_unknown_body(draft, scope, place, name, hangs, of_node);
  return body;
}

int orr_draft_find_body(struct orr_draft *draft, const struct orr_scope *scope, struct orr_place place,
                        const char *name) {
  return find_body(draft, scope, place, name, false, false);
}

int orr_draft_find_node(const struct orr_draft *draft, int body, const char *name) {
  const struct orr_draft_body *home = &draft->drafts[body];
  if (home->node_names.used)
    return orr_names_find(&home->node_names, name);
  for (size_t i = 0; i < draft->bodies[body].node_count; i++)
    if (strcmp(draft->bodies[body].nodes[i].name, name) == 0)
      return (int)i;
  return -1;
}

static int find_node(struct orr_draft *draft, struct orr_place place, int body, const char *name) {
  int found = orr_draft_find_node(draft, body, name);
  if (found >= 0)
    return found;
  const struct orr_body_desc *b = &draft->bodies[body];
  struct orr_nearest nearest = {.wanted = name};
  for (size_t i = 0; i < b->node_count && orr_read_may_suggest(draft->reader); i++)
    orr_nearest_offer(&nearest, b->nodes[i].name);
  if (nearest.best)
    orr_read_error(draft->reader, place, "unknown-node", "body '%.60s' has no node '%.60s', did you mean '%s'?",
                   b->name, name, nearest.best);
  else if (strcmp(name, "origin") == 0)
    orr_read_error(draft->reader, place, "unknown-node",
                   "body '%.60s' is flexible and lists no node 'origin'; name one of its nodes", b->name);
  else
    orr_read_error(draft->reader, place, "unknown-node", "body '%.60s' has no node '%.60s'", b->name, name);
  return -1;
}

bool orr_draft_read_reference(struct orr_draft *draft, const struct orr_scope *scope, struct orr_place place,
                              const char *key, int *body, int *node) {
  const char *text;
  if (!orr_read_text(draft->reader, place, key, &text))
    return false;
  const char *dot = strchr(text, '.');
  const char *name = dot ? orr_arena_copy(draft->reader->arena, text, (size_t)(dot - text)) : text;
  if (!dot && strcmp(name, "inertial") == 0) {
    orr_read_error(draft->reader, place, "not-a-node", "'%s' takes a node of a body here, not 'inertial'", key);
    return false;
  }
  *body = find_body(draft, scope, place, name, !dot && strcmp(key, "to") == 0, !dot);
  if (*body < 0)
    return false;
  if (!dot) {
    orr_read_error(draft->reader, place, "not-a-node",
                   "'%.60s' is a body; name one of its nodes, such as '%.60s.%.60s'", name, name,
                   draft->bodies[*body].node_count ? draft->bodies[*body].nodes[0].name : "origin");
    return false;
  }
  *node = find_node(draft, place, *body, dot + 1);
  return *node >= 0;
}

/* --- the hinge ------------------------------------------------------------------------------------------------- */

struct hinge_keys {
  int kind;
  const char *at;
  bool prescribed;
  struct orr_place to, axis, axes, normal, rotation, motion, stiffness, damping, rest;
};

enum hinge_key { KIND, TO, AT, AXIS, AXES, NORMAL, ROTATION, PRESCRIBED, MOTION, STIFFNESS, DAMPING, REST, HINGE_KEYS };

static const char *const kinds[] = {"fixed",  "revolute", "prismatic", "cylindrical", "universal",
                                    "gimbal", "ball",     "planar",    "free",        NULL};

#define PLACE(field) .type = ORR_KEY_PLACE, .offset = offsetof(struct hinge_keys, field)

/* One number for a hinge of one coordinate, else a list; the unit follows from what the coordinate is. */
#define PER_COORDINATE(si) ORR_EITHER(ORR_NUMBER(si), ORR_NUMBERS(0, si))

static const struct orr_key hinge_table[HINGE_KEYS] = {
    [KIND] = {.name = "kind",
              .doc = "what it lets move; `orrery help run-file hinge` has what each takes",
              .type = ORR_KEY_CHOICE,
              .required = true,
              .choices = kinds,
              .offset = offsetof(struct hinge_keys, kind)},
    [TO] = {.name = "to",
            .doc = "what the body hangs on: a node of its parent, `inertial`, or in a part's file `mount`",
            .required = true,
            .shape = ORR_TEXT("body.node, inertial or mount"),
            PLACE(to)},
    [AT] = {.name = "at",
            .doc = "the body's own node at which it hangs",
            .type = ORR_KEY_TEXT,
            .fallback = "origin",
            .offset = offsetof(struct hinge_keys, at)},
    [AXIS] = {.name = "axis",
              .doc = "the axis of a revolute, prismatic or cylindrical hinge, axes of the hinge",
              .absent = "the kind takes none",
              .shape = &orr_shape_direction,
              PLACE(axis)},
    [AXES] = {.name = "axes",
              .doc = "the axes of a universal (2) or gimbal (3) hinge, in the order of their angles",
              .absent = "the kind takes none",
              .shape = ORR_LIST(&orr_shape_direction),
              PLACE(axes)},
    [NORMAL] = {.name = "normal",
                .doc = "the normal of a planar hinge, one of the coordinate axes",
                .absent = "the kind takes none",
                .shape = &orr_shape_direction,
                PLACE(normal)},
    [ROTATION] = {.name = "rotation",
                  .doc = "a fixed turn of the hinge's frame against the parent's node",
                  .absent = "none",
                  .shape = &orr_shape_quaternion,
                  PLACE(rotation)},
    [PRESCRIBED] = {.name = "prescribed",
                    .doc = "its motion is given, by the channel BODY.acceleration in a run, and its force is found",
                    .type = ORR_KEY_FLAG,
                    .fallback = "false",
                    .offset = offsetof(struct hinge_keys, prescribed)},
    [MOTION] = {.name = "motion",
                .doc = "its motion is given: of its coordinate, or a list with one for each; it is prescribed by that",
                .absent = "nothing drives it, or BODY.acceleration does where it is prescribed",
                .shape = ORR_EITHER(ORR_MAPPING(orr_motion_mapping), ORR_LIST(ORR_MAPPING(orr_motion_mapping))),
                PLACE(motion)},
    [STIFFNESS] = {.name = "stiffness",
                   .doc = "spring of each scalar coordinate",
                   .absent = "no spring",
                   .shape = PER_COORDINATE("N m/rad|N m|N/m"),
                   PLACE(stiffness)},
    [DAMPING] = {.name = "damping",
                 .doc = "damper of each scalar coordinate",
                 .absent = "no damper",
                 .shape = PER_COORDINATE("N m s/rad|N m s|N s/m"),
                 PLACE(damping)},
    [REST] = {.name = "rest",
              .doc = "where the springs are at rest",
              .absent = "0",
              .shape = PER_COORDINATE("rad|m"),
              PLACE(rest)},
};

const struct orr_mapping orr_hinge_mapping = {
    .name = "bodies.hinge",
    .doc = "What joins a body to its parent. The kinds and their coordinates q: fixed, none; revolute (`axis`), an "
           "angle; prismatic (`axis`), a distance; cylindrical (`axis`), an angle and a distance; universal (two "
           "`axes`), two angles; gimbal (three `axes`), three angles; ball, a quaternion; planar (`normal`), an angle "
           "and two distances; free, a position and a quaternion. Springs and dampers act on scalar coordinates: -k (q "
           "- rest) - c dq/dt.",
    ORR_KEYS(hinge_table),
};

struct reading {
  struct orr_draft *draft;
  struct orr_reader *reader;
  size_t index;
  const struct orr_draft_body *home;
  struct orr_hinge_desc *hinge;
  const struct orr_hinge_kind_info *kind;
  struct hinge_keys keys;
  uint64_t present;
  const struct orr_scope *turned; /* the part that hangs by it; NULL: none */
};

static void break_body(struct reading *r) { r->draft->broken[r->index] = 1; }

static struct orr_place key_place(struct reading *r, enum hinge_key key) {
  return orr_place_key(r->reader->diagnostics, r->home->hinge,
                       orr_yaml_find(r->home->hinge.node, hinge_table[key].name));
}

/* Which of axis, axes and normal a kind takes. */
static enum hinge_key axis_key(enum orr_hinge_kind kind) {
  return kind == ORR_HINGE_PLANAR ? NORMAL : kind == ORR_HINGE_UNIVERSAL || kind == ORR_HINGE_GIMBAL ? AXES : AXIS;
}

static void refuse_key(struct reading *r, enum hinge_key key, const char *why) {
  orr_read_error(r->reader, key_place(r, key), "hinge-key", "a %s hinge takes no '%s'%s", r->kind->name,
                 hinge_table[key].name, why);
  break_body(r);
}

static bool parallel(const double *a, const double *b) {
  return fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) > 1 - 1e-9;
}

/* Neighbouring axes must differ, or the hinge can never turn about as many axes as it says. */
static bool axes_differ(struct reading *r) {
  for (size_t i = 0; i + 1 < r->kind->axis_count; i++)
    if (parallel(r->hinge->axes[i], r->hinge->axes[i + 1])) {
      orr_read_error(r->reader, r->keys.axes, "parallel-axes",
                     "axes %zu and %zu are parallel; neighbouring axes must not be", i + 1, i + 2);
      return false;
    }
  if (r->kind->axis_count == 3 && parallel(r->hinge->axes[0], r->hinge->axes[2]))
    orr_read_warning(r->reader, r->keys.axes, "singular-at-rest",
                     "axes 1 and 3 are parallel at rest: there the gimbal is singular");
  return true;
}

static bool read_axes(struct reading *r) {
  size_t n = r->kind->axis_count;
  if (!orr_expect_sequence(r->reader, r->keys.axes, "axes"))
    return false;
  if (orr_place_count(r->keys.axes) != n) {
    orr_read_error(r->reader, r->keys.axes, "wrong-length", "a %s hinge takes %zu axes and here %s %zu", r->kind->name,
                   n, orr_place_count(r->keys.axes) == 1 ? "is" : "are", orr_place_count(r->keys.axes));
    return false;
  }
  bool good = true;
  for (size_t i = 0; i < n; i++)
    good &= orr_read_direction(r->reader, orr_place_item(r->reader->diagnostics, r->keys.axes, i), "axes",
                               r->hinge->axes[i]);
  return good && axes_differ(r);
}

static bool read_direction_of_kind(struct reading *r) {
  enum hinge_key wanted = axis_key(r->hinge->kind);
  for (enum hinge_key k = AXIS; k <= NORMAL; k++)
    if (r->present >> k & 1 && (k != wanted || r->kind->axis_count == 0)) {
      const char *instead = r->kind->axis_count == 0 ? ""
                            : wanted == AXIS         ? "; it has an 'axis'"
                            : wanted == AXES         ? "; it has a list of 'axes'"
                                                     : "; it has a 'normal'";
      refuse_key(r, k, instead);
    }
  if (r->kind->axis_count == 0)
    return true;
  if (!(r->present >> wanted & 1)) {
    orr_read_error(r->reader, r->home->hinge_key, "missing-key", "the %s hinge of '%.60s' has no '%s', which it needs",
                   r->kind->name, r->draft->bodies[r->index].name, hinge_table[wanted].name);
    return false;
  }
  return wanted == AXES ? read_axes(r)
                        : orr_read_direction(r->reader, wanted == AXIS ? r->keys.axis : r->keys.normal,
                                             hinge_table[wanted].name, r->hinge->axes[0]);
}

/* Springs and dampers: one number per coordinate, in a list; without a list where there is one coordinate. */
static bool read_per_coordinate(struct reading *r, enum hinge_key key, struct orr_place place, const char *angular,
                                const char *linear, const struct orr_range *range, double *out) {
  size_t n = r->kind->speed_count;
  const char *name = hinge_table[key].name;
  if (place.node->kind != ORR_YAML_SEQUENCE && n == 1)
    return orr_read_number(r->reader, place, name, r->kind->angles & 1 ? angular : linear, range, out);
  if (place.node->kind != ORR_YAML_SEQUENCE || place.node->count != n) {
    orr_read_error(r->reader, place, "wrong-length",
                   "'%s' takes a list of %zu number%s, one for each coordinate of a %s hinge", name, n,
                   n == 1 ? "" : "s", r->kind->name);
    return false;
  }
  bool good = true;
  for (size_t i = 0; i < n; i++)
    good &= orr_read_number(r->reader, orr_place_item(r->reader->diagnostics, place, i), name,
                            r->kind->angles >> i & 1 ? angular : linear, range, &out[i]);
  return good;
}

static void read_springs(struct reading *r) {
  struct spring {
    enum hinge_key key;
    struct orr_place place;
    const char *angular, *linear;
    const struct orr_range *range;
    double *out;
  } springs[] = {
      {STIFFNESS, r->keys.stiffness, "N m/rad|N m", "N/m", &orr_range_not_negative, r->hinge->stiffness},
      {DAMPING, r->keys.damping, "N m s/rad|N m s", "N s/m", &orr_range_not_negative, r->hinge->damping},
      {REST, r->keys.rest, "rad", "m", NULL, r->hinge->rest},
  };
  for (size_t i = 0; i < sizeof springs / sizeof *springs; i++) {
    const struct spring *s = &springs[i];
    if (!(r->present >> s->key & 1))
      continue;
    if (!r->kind->scalar || r->kind->speed_count == 0)
      refuse_key(r, s->key, r->kind->scalar ? ": it does not move" : ": springs and dampers act on scalar coordinates");
    else if (!read_per_coordinate(r, s->key, s->place, s->angular, s->linear, s->range, s->out))
      break_body(r);
  }
}

/* --- motion ---------------------------------------------------------------------------------------------------- */

static bool read_motion_of(struct reading *r, size_t i, struct orr_place place, struct orr_motion_desc *out) {
  if (!orr_draft_read_motion(r->reader, place, key_place(r, MOTION), r->kind->angles >> i & 1 ? "rad" : "m", false,
                             out))
    return false;
  if (r->kind->speed_count == 1 || (!out->waits && out->form != ORR_MOTION_COMMAND))
    return true;
  orr_read_error(r->reader, place, "motion", "a motion by command is for hinges of one coordinate");
  return false;
}

static bool read_motions(struct reading *r) {
  size_t n = r->kind->speed_count;
  struct orr_place place = r->keys.motion;
  if (!r->kind->scalar || n == 0) {
    refuse_key(r, MOTION, n ? ": a motion is given for scalar coordinates" : ": it does not move");
    return false;
  }
  if (r->present >> PRESCRIBED & 1 && !r->keys.prescribed) {
    orr_read_error(r->reader, key_place(r, PRESCRIBED), "motion", "a hinge with a 'motion' is prescribed");
    return false;
  }
  struct orr_motion_desc *motion = orr_arena_alloc(r->reader->arena, n, sizeof *motion);
  bool list = place.node->kind == ORR_YAML_SEQUENCE, good = true;
  if (list ? place.node->count != n : n > 1) {
    orr_read_error(r->reader, place, "wrong-length",
                   "'motion' takes a list of %zu motions, one for each coordinate of a %s hinge", n, r->kind->name);
    return false;
  }
  for (size_t i = 0; i < n; i++)
    good &= read_motion_of(r, i, list ? orr_place_item(r->reader->diagnostics, place, i) : place, &motion[i]);
  r->hinge->prescribed = true;
  r->hinge->motion = motion;
  return good;
}

/* --- to what and where ----------------------------------------------------------------------------------------- */

static bool read_parent(struct reading *r) {
  const struct orr_scope *scope = r->home->scope;
  struct orr_place place = r->keys.to;
  const char *text;
  if (!orr_read_text(r->reader, place, "to", &text))
    return false;
  if (strcmp(text, "mount") == 0 && scope->outer) {
    r->home->scope->mounted++;
    if (!scope->mount.node) /* the part has no `to`, which was reported */
      return false;
    r->turned = scope;
    place = scope->mount;
    text = place.node->text;
    scope = scope->outer;
  }
  r->hinge->parent = ORR_INERTIAL;
  r->hinge->parent_node = 0;
  if (strcmp(text, "inertial") == 0)
    return true;
  int body, node;
  if (!orr_draft_read_reference(r->draft, scope, place, "to", &body, &node))
    return false;
  if (body == (int)r->index) {
    orr_read_error(r->reader, place, "own-parent", "body '%.60s' hangs on itself", r->draft->bodies[r->index].name);
    return false;
  }
  r->hinge->parent = body;
  r->hinge->parent_node = node;
  return true;
}

static bool read_at(struct reading *r) {
  const char *name = r->keys.at;
  bool given = r->present >> AT & 1;
  struct orr_place place = r->home->hinge_key;
  if (given)
    place = orr_place_value(r->reader->diagnostics, r->home->hinge, orr_yaml_find(r->home->hinge.node, "at"));
  int found = orr_draft_find_node(r->draft, (int)r->index, name);
  r->hinge->node = found < 0 ? 0 : found;
  if (found >= 0)
    return true;
  if (given)
    return find_node(r->draft, place, (int)r->index, name) >= 0;
  orr_read_error(r->reader, place, "no-origin",
                 "flexible body '%.60s' has no node 'origin', so its hinge needs 'at', one of its nodes",
                 r->draft->bodies[r->index].name);
  return false;
}

void orr_draft_read_hinge(struct orr_draft *draft, size_t index) {
  struct reading r = {.draft = draft,
                      .reader = draft->reader,
                      .index = index,
                      .home = &draft->drafts[index],
                      .hinge = &draft->bodies[index].hinge};
  *r.hinge = (struct orr_hinge_desc){.parent = ORR_INERTIAL, .rotation = {0, 0, 0, 1}};
  if (!r.home->hinge.node) { /* reported as a missing key */
    r.home->scope->doubtful = true;
    break_body(&r);
    return;
  }
  r.hinge->source = orr_place_entity(draft->reader->diagnostics, r.home->hinge_key, r.home->hinge);
  const char *name = orr_arena_format(draft->reader->arena, "hinge of '%.60s'", draft->bodies[index].name);
  const struct orr_thing thing = {.what = name, .place = r.home->hinge, .key = r.home->hinge_key};
  if (!orr_read_mapping(draft->reader, &thing, &orr_hinge_mapping, &r.keys, &r.present))
    break_body(&r);
  bool good = !r.keys.to.node || read_parent(&r);
  if (!good || !r.keys.to.node)
    r.home->scope->doubtful = true;
  good = read_at(&r) && good;
  if (r.keys.rotation.node)
    good = orr_read_quaternion(r.reader, r.keys.rotation, "rotation", r.hinge->rotation) && good;
  r.hinge->prescribed = r.keys.prescribed;
  if (r.present >> KIND & 1) {
    r.hinge->kind = (enum orr_hinge_kind)r.keys.kind;
    r.kind = orr_hinge_kind_info(r.hinge->kind);
    good = read_direction_of_kind(&r) && good;
    read_springs(&r);
    if (r.keys.motion.node)
      good = read_motions(&r) && good;
  }
  if (orr_scope_is_mirrored(r.home->scope))
    orr_mirror_hinge(draft, r.hinge, r.home->scope->mirror);
  if (r.turned)
    orr_turn_hinge(r.hinge, r.turned->turn);
  if (!good)
    break_body(&r);
}
