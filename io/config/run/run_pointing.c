/* The section `pointing`: where a body should look, by moments of its own or by what moves around it. */
#include <math.h>
#include <string.h>

#include "core/environment/ellipsoid.h"
#include "core/plant/world.h"
#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"
#include "io/config/spacecraft/mappings.h"

struct target_keys {
  int64_t at;
  struct orr_place attitude;
};

static const struct orr_key target_table[] = {
    {.name = "at",
     .doc = "when the target is there; the moments grow",
     .type = ORR_KEY_TIME,
     .required = true,
     .range = &orr_range_not_negative,
     .offset = offsetof(struct target_keys, at)},
    {.name = "attitude",
     .doc = "the attitude of the node against inertial axes",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = &orr_shape_quaternion,
     .offset = offsetof(struct target_keys, attitude)},
};

static const struct orr_mapping target_mapping = {
    .name = "pointing.target",
    .doc = "A moment of the target. Between two moments it turns along the shortest way at a constant rate; before the "
           "first and after the last it stands still.",
    ORR_KEYS(target_table)};

struct aim_keys {
  int aim;
  struct orr_place offset, of;
  double latitude, longitude, altitude;
};

enum { AIM_LATITUDE = 2, AIM_LONGITUDE, AIM_ALTITUDE, AIM_OF }; /* lines of the table */

static const struct orr_range latitude_range = {-1.5707963267948966, 1.5707963267948966, false},
                              longitude_range = {-6.283185307179586, 6.283185307179586, false},
                              altitude_range = {-20e3, 1e9, false};

static const struct orr_key aim_table[] = {
    {.name = "aim",
     .doc = "lvlh and nadir: z down, y against the orbit's normal, x ahead; velocity: x along it, y against the "
            "normal; sun, earth, moon, ground (a place on the central body) and node: z to it, y as far against the "
            "normal as goes",
     .type = ORR_KEY_CHOICE,
     .required = true,
     .choices = orr_aim_names,
     .offset = offsetof(struct aim_keys, aim)},
    {.name = "offset",
     .doc = "a turn of the node against those axes",
     .type = ORR_KEY_PLACE,
     .absent = "none",
     .shape = &orr_shape_quaternion,
     .offset = offsetof(struct aim_keys, offset)},
    {.name = "latitude",
     .doc = "of `ground`, geodetic",
     .type = ORR_KEY_NUMBER,
     .unit = "rad",
     .range = &latitude_range,
     .absent = "another aim",
     .offset = offsetof(struct aim_keys, latitude)},
    {.name = "longitude",
     .doc = "of `ground`, to the east",
     .type = ORR_KEY_NUMBER,
     .unit = "rad",
     .range = &longitude_range,
     .absent = "another aim",
     .offset = offsetof(struct aim_keys, longitude)},
    {.name = "altitude",
     .doc = "of `ground`, above the ellipsoid",
     .type = ORR_KEY_NUMBER,
     .unit = "m",
     .range = &altitude_range,
     .fallback = "0",
     .offset = offsetof(struct aim_keys, altitude)},
    {.name = "of",
     .doc = "the node that `node` looks at, of any body",
     .type = ORR_KEY_PLACE,
     .absent = "another aim",
     .shape = &orr_shape_node,
     .offset = offsetof(struct aim_keys, of)},
};

static const struct orr_mapping aim_mapping = {
    .name = "pointing.aim",
    .doc = "A target that moves; the run needs an environment. One of the words alone stands for {aim: WORD}; `ground` "
           "and `node` need more.",
    ORR_KEYS(aim_table),
    .example = "pointing: {bus: {node: bus.imu, target: {aim: lvlh, offset: [0, 0, 0, 1]}}}\n"};

struct pointing_keys {
  struct orr_place node, target;
};

static const struct orr_key pointing_table[] = {
    {.name = "node",
     .doc = "what is pointed: a node of that body",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = &orr_shape_node,
     .offset = offsetof(struct pointing_keys, node)},
    {.name = "target",
     .doc = "the attitude it should have: a list of moments, one attitude for all time, or a target that moves",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape =
         ORR_EITHER(ORR_LIST(ORR_MAPPING(target_mapping)),
                    ORR_EITHER(&orr_shape_quaternion, ORR_EITHER(ORR_WORD(orr_aim_names), ORR_MAPPING(aim_mapping)))),
     .offset = offsetof(struct pointing_keys, target)},
};

const struct orr_mapping orr_pointing_mapping = {
    .name = "pointing",
    .doc = "Where a body should look, under the name of the body. It gives the channels BODY.target (a quaternion) and "
           "BODY.pointing_error (rad, between the node's attitude and the target of the moment).",
    ORR_KEYS(pointing_table),
    .example = "pointing:\n"
               "  bus:\n"
               "    node: bus.imu\n"
               "    target:\n"
               "      - {at: 0 s, attitude: [0, 0, 0, 1]}\n"
               "      - {at: 20 s, attitude: [0, 0, 0.017452406, 0.999847695]}\n",
};

/* A list of moments, or one attitude for all time. */
static bool read_targets(struct orr_run_draft *d, struct orr_place place, struct orr_pointing_desc *out) {
  if (!orr_expect_sequence(d->reader, place, "target"))
    return false;
  size_t n = orr_place_count(place);
  struct orr_target *targets = orr_arena_alloc(d->reader->arena, n + 1, sizeof *targets);
  out->targets = targets;
  out->target_count = n;
  if (n == 0 || orr_place_item(d->reader->diagnostics, place, 0).node->kind == ORR_YAML_SCALAR) {
    out->target_count = 1;
    return orr_read_quaternion(d->reader, place, "target", targets[0].attitude);
  }
  bool good = true;
  for (size_t i = 0; i < n; i++) {
    struct target_keys keys = {0};
    uint64_t present;
    struct orr_place item = orr_place_item(d->reader->diagnostics, place, i);
    const struct orr_thing thing = {.what = "a target", .place = item};
    good &= orr_read_mapping(d->reader, &thing, &target_mapping, &keys, &present);
    targets[i].at_ns = keys.at;
    if (keys.attitude.node)
      good &= orr_read_quaternion(d->reader, keys.attitude, "attitude", targets[i].attitude);
    if (good && i > 0 && targets[i].at_ns <= targets[i - 1].at_ns) {
      orr_read_error(d->reader, item, "order", "targets stand in the order of their times");
      good = false;
    }
    if (good && d->ends_by_file && targets[i].at_ns > d->run->duration_ns &&
        (i == 0 || targets[i - 1].at_ns <= d->run->duration_ns))
      orr_read_warning(d->reader, item, "after-the-end",
                       "this target is at %.9g s, and the run ends at %.9g s: it is never reached",
                       1e-9 * (double)targets[i].at_ns, 1e-9 * (double)d->run->duration_ns);
  }
  return good;
}

static bool find_pointed(struct orr_run_draft *d, struct orr_place key, struct orr_place node,
                         struct orr_pointing_desc *out) {
  if (d->blind)
    return false;
  int body = orr_draft_find_body(d->draft, &d->draft->own, key, key.node->text);
  if (!node.node || !orr_draft_read_reference(d->draft, &d->draft->own, node, "node", &out->body, &out->node) ||
      body < 0)
    return false;
  if (out->body == body)
    return true;
  orr_read_error(d->reader, node, "pointing", "the node must be one of '%.60s', whose pointing this is",
                 key.node->text);
  return false;
}

/* Reports keys of a target that are of another one, and those it has not. `ground` and `node` have some of their
 * own. */
static bool judge_aim_keys(struct orr_run_draft *d, const struct orr_thing *thing, int aim, uint64_t present) {
  bool good = true;
  for (int i = AIM_LATITUDE; i <= AIM_OF; i++) {
    const char *key = aim_table[i].name;
    int owner = i == AIM_OF ? ORR_AIM_NODE : ORR_AIM_GROUND;
    bool given = present >> i & 1, needed = aim == owner && i != AIM_ALTITUDE;
    if (given && aim != owner)
      orr_read_error(d->reader, orr_read_member(d->reader, thing, key), "target",
                     "'%s' is of the target '%s', and this one is '%s'", key, orr_aim_names[owner], orr_aim_names[aim]);
    if (!given && needed)
      orr_read_error(d->reader, thing->place, "missing-key", "the target '%s' has no '%s', which it needs",
                     orr_aim_names[aim], key);
    good = good && given == (given ? aim == owner : needed);
  }
  return good;
}

/* What is looked at, where the word alone does not say it. `at` is NULL where the pointed node is wrong. */
static bool read_aimed(struct orr_run_draft *d, const struct orr_thing *thing, const struct aim_keys *keys,
                       const struct orr_pointing_desc *at, struct orr_world_pointing *p) {
  const struct orr_world_desc *w = d->run->world;
  if (p->aim == ORR_AIM_MOON && w->sky.central == ORR_MARS) {
    orr_read_error(d->reader, thing->place, "target", "around Mars the place of the Earth's Moon is not known");
    return false;
  }
  if (p->aim == ORR_AIM_GROUND) {
    const struct orr_ellipsoid shape = w->sky.central == ORR_EARTH ? orr_wgs84 : (struct orr_ellipsoid){w->radius, 0};
    const struct orr_geodetic ground = {keys->latitude, keys->longitude, keys->altitude};
    v3_to(p->ground, orr_geodetic_place(&shape, ground));
  }
  if (p->aim != ORR_AIM_NODE || d->blind)
    return true;
  if (!orr_draft_read_reference(d->draft, &d->draft->own, keys->of, "of", &p->body, &p->node))
    return false;
  if (!at || p->body != at->body || p->node != at->node)
    return true;
  orr_read_error(d->reader, keys->of, "target", "a node cannot look at itself; name another one");
  return false;
}

static bool read_word(struct orr_run_draft *d, struct orr_place place, int *aim) {
  for (*aim = 0; orr_aim_names[*aim]; (*aim)++)
    if (strcmp(orr_aim_names[*aim], place.node->text) == 0)
      return true;
  orr_read_error(
      d->reader, place, "target",
      "a target is a list of moments, an attitude, or one of lvlh, nadir, velocity, sun, earth, moon, ground "
      "and node, not '%.40s'",
      place.node->text);
  return false;
}

/* A target that moves: `lvlh`, or `{aim: lvlh, offset: quaternion}`; a device of the world tells it. `at` is NULL where
 * the node is wrong. */
static bool read_aim(struct orr_run_draft *d, struct orr_place key, struct orr_place place,
                     const struct orr_pointing_desc *at) {
  const struct orr_thing thing = {.what = "a target", .place = place, .key = key};
  struct orr_world_pointing *p = orr_arena_alloc(d->reader->arena, 1, sizeof *p);
  struct aim_keys keys = {0};
  uint64_t present = 0;
  p->offset[3] = 1;
  if (place.node->kind != ORR_YAML_SCALAR) {
    if (!orr_read_mapping(d->reader, &thing, &aim_mapping, &keys, &present) ||
        (keys.offset.node && !orr_read_quaternion(d->reader, keys.offset, "offset", p->offset)))
      return false;
  } else if (!read_word(d, place, &keys.aim)) {
    return false;
  }
  p->aim = keys.aim;
  if (!judge_aim_keys(d, &thing, p->aim, present))
    return false;
  if (!d->run->world) {
    orr_read_error(d->reader, place, "needs-environment",
                   "a target that moves needs an environment with an 'epoch' and an orbit");
    return false;
  }
  if (!read_aimed(d, &thing, &keys, at, p) || !at)
    return false;
  *orr_run_new_device(d) = (struct orr_device_desc){.name = key.node->text,
                                                    .kind = &orr_world_pointing_kind,
                                                    .params = p,
                                                    .body = at->body,
                                                    .node = at->node,
                                                    .divisor = 1,
                                                    .source = orr_place_source(d->reader->diagnostics, key)};
  return true;
}

/* False where it is wrong, and where it is not the plant's own but the world's. */
static bool read_pointing(struct orr_run_draft *d, struct orr_place key, struct orr_place value,
                          struct orr_pointing_desc *out) {
  struct pointing_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "pointing of", .name = key.node->text, .place = value, .key = key};
  bool good = orr_read_mapping(d->reader, &thing, &orr_pointing_mapping, &keys, &present);
  good = find_pointed(d, key, keys.node, out) && good;
  if (keys.target.node && keys.target.node->kind != ORR_YAML_SEQUENCE) {
    read_aim(d, key, keys.target, good ? out : NULL);
    return false;
  }
  return (!keys.target.node || read_targets(d, keys.target, out)) && good;
}

/* Who begins on a target has one, and a hinge that turns each way. */
void orr_run_judge_starts(struct orr_run_draft *d) {
  struct orr_place section = orr_config_section(d->config, ORR_SECTION_POINTING);
  const struct orr_description *craft = orr_config_description(d->config);
  for (size_t b = 0; !d->blind && d->run->initial && b < craft->body_count; b++) {
    const struct orr_hinge_desc *hinge = &craft->bodies[b].hinge;
    const char *name = craft->bodies[b].name;
    bool pointed = section.node && section.node->kind == ORR_YAML_MAPPING &&
                   orr_yaml_find(section.node, name) < section.node->count;
    for (int i = 0; i < 2; i++) {
      struct orr_place like = d->run->initial[b].like_target[i];
      if (like.node && !pointed)
        orr_read_error(d->reader, like, "target", "'%.60s' has no 'pointing', so it has no target to begin on", name);
      else if (like.node && hinge->parent != ORR_INERTIAL)
        orr_read_error(d->reader, like, "target",
                       "'%.60s' hangs on another body; who begins on a target hangs on inertial", name);
    }
  }
}

void orr_run_read_pointings(struct orr_run_draft *d) {
  struct orr_place place = orr_config_section(d->config, ORR_SECTION_POINTING);
  if (!place.node || !orr_expect_mapping(d->reader, place, "pointing"))
    return;
  size_t n = orr_place_count(place);
  struct orr_pointing_desc *list = orr_arena_alloc(d->reader->arena, n, sizeof *list);
  for (size_t i = 0; i < n; i++)
    if (read_pointing(d, orr_place_key(d->reader->diagnostics, place, i),
                      orr_place_value(d->reader->diagnostics, place, i), &list[d->run->plant.pointing_count]))
      d->run->plant.pointing_count++;
  d->run->plant.pointings = list;
}
