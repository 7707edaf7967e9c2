/* Devices of a run: each kind's const table of parameters turned into keys of the reader. */
#include <math.h>
#include <string.h>

#include "core/devices/devices.h"
#include "core/model/massprops.h"
#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"
#include "io/config/text/unit.h"

/* What every device has beside the parameters of its kind. */
struct common {
  struct orr_place kind, node, hinge, phase, delay;
  double rate;
  int64_t coordinate;
};

enum { MOST_KEYS = 48, MOST_DELAY = 100000 };

static const struct orr_range phase_range = {0, MOST_DELAY, false};

static const struct orr_key common_table[] = {
    {.name = "kind",
     .doc = "what it is",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_TEXT("a kind"),
     .offset = offsetof(struct common, kind)},
    {.name = "node",
     .doc = "where it sits; its axes are those of the node, which turns with the deformation",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = &orr_shape_node,
     .offset = offsetof(struct common, node)},
    {.name = "hinge",
     .doc = "the body whose inboard hinge it sits on",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_TEXT("a body"),
     .offset = offsetof(struct common, hinge)},
    {.name = "coordinate",
     .doc = "which coordinate of the hinge; one of several must be named",
     .type = ORR_KEY_WHOLE,
     .fallback = "0",
     .offset = offsetof(struct common, coordinate)},
    {.name = "rate",
     .doc = "samples in a second; it divides the base rate",
     .type = ORR_KEY_NUMBER,
     .unit = "Hz",
     .range = &orr_range_positive,
     .absent = "in every frame",
     .offset = offsetof(struct common, rate)},
    {.name = "phase",
     .doc = "frame of its first sample, or the time of it; less than from one sample to the next",
     .type = ORR_KEY_PLACE,
     .absent = "0",
     .shape = &orr_shape_frames,
     .offset = offsetof(struct common, phase)},
    {.name = "delay",
     .doc = "frames, or the time, from a sample to its output",
     .type = ORR_KEY_PLACE,
     .absent = "0",
     .shape = &orr_shape_frames,
     .offset = offsetof(struct common, delay)},
};

const struct orr_mapping orr_device_mapping = {
    .name = "device", .doc = "What every device has beside the parameters of its kind.", ORR_KEYS(common_table)};

bool orr_device_takes(const struct orr_device_kind *kind, const struct orr_key *key) {
  bool on_node = kind->host == ORR_ON_NODE;
  if (strcmp(key->name, "node") == 0)
    return on_node;
  if (strcmp(key->name, "hinge") == 0)
    return !on_node;
  if (strcmp(key->name, "coordinate") == 0)
    return kind->host == ORR_ON_COORDINATE;
  return kind->role == ORR_SENSOR || strcmp(key->name, "kind") == 0;
}

struct reading {
  struct orr_run_draft *d;
  const struct orr_device_kind *kind;
  struct orr_thing thing;
  struct orr_key keys[MOST_KEYS];
  size_t key_count;
  bool linear; /* it sits on a coordinate that is a distance: of units `angular|linear` the second counts */
  /* Everything that the keys fill: the common part, places of axes and groups, and the kind's parameters. */
  struct target {
    struct common common;
    struct orr_place places[MOST_KEYS];
  } * target;
  char *params;
};

static size_t params_offset(const struct reading *r) { return (size_t)(r->params - (char *)r->target); }

static const struct orr_range *range_of(struct reading *r, const struct orr_param *p) {
  if (p->low == 0 && p->high == 0)
    return NULL;
  struct orr_range *range = orr_arena_alloc(r->d->reader->arena, 1, sizeof *range);
  *range = (struct orr_range){p->low, p->high, p->open};
  return range;
}

/* "N m|N" is the unit of a torque on an angle and of a force on a distance. */
static const char *unit_of(struct reading *r, const struct orr_param *p) {
  const char *bar = p->unit ? strchr(p->unit, '|') : NULL;
  if (!bar || r->kind->host != ORR_ON_COORDINATE || r->d->blind)
    return p->unit; /* either will do where the hinge is not known */
  return r->linear ? bar + 1 : orr_arena_copy(r->d->reader->arena, p->unit, (size_t)(bar - p->unit));
}

/* The key of a parameter; `name` is its own within its group. */
static struct orr_key key_of(struct reading *r, const struct orr_param *p, const char *name, size_t index) {
  static const char filled[] = "its default"; /* fill_fallbacks put it there */
  struct orr_key key = {.name = name,
                        .doc = p->doc,
                        .required = p->required,
                        .absent = filled,
                        .unit = unit_of(r, p),
                        .range = range_of(r, p)};
  key.offset = params_offset(r) + p->offset;
  switch (p->type) {
  case ORR_PARAM_NUMBER:
    key.type = ORR_KEY_NUMBER;
    break;
  case ORR_PARAM_VECTOR:
    key.type = ORR_KEY_NUMBERS;
    key.count = 3;
    key.form = "[x, y, z]";
    break;
  case ORR_PARAM_AXIS:
    key.type = ORR_KEY_PLACE;
    key.shape = &orr_shape_direction;
    key.offset = offsetof(struct target, places) + index * sizeof(struct orr_place);
    break;
  case ORR_PARAM_CHOICE:
    key.type = ORR_KEY_CHOICE;
    key.choices = p->choices;
    break;
  case ORR_PARAM_NAME:
    key.type = ORR_KEY_TEXT;
    break;
  }
  return key;
}

static size_t group_length(const struct orr_param *p) {
  const char *dot = strchr(p->name, '.');
  return dot ? (size_t)(dot - p->name) : 0;
}

static bool same_group(const struct orr_param *a, const struct orr_param *b) {
  size_t n = group_length(a);
  return n && n == group_length(b) && strncmp(a->name, b->name, n) == 0;
}

static void add_key(struct reading *r, struct orr_key key) {
  assert(r->key_count < MOST_KEYS);
  r->keys[r->key_count++] = key;
}

static void common_keys(struct reading *r) {
  for (size_t i = 0; i < orr_device_mapping.key_count; i++)
    if (orr_device_takes(r->kind, &common_table[i]))
      add_key(r, common_table[i]);
}

/* Keys of the mapping: parameters without a group, and one for each group. */
static void own_keys(struct reading *r) {
  for (size_t i = 0; i < r->kind->param_count; i++) {
    const struct orr_param *p = &r->kind->params[i];
    size_t n = group_length(p);
    if (!n) {
      add_key(r, key_of(r, p, p->name, i));
      continue;
    }
    bool seen = false;
    for (size_t k = 0; k < i; k++)
      seen |= same_group(p, &r->kind->params[k]);
    if (!seen)
      add_key(r, (struct orr_key){.name = orr_arena_copy(r->d->reader->arena, p->name, n),
                                  .doc = "a group of parameters",
                                  .type = ORR_KEY_PLACE,
                                  .absent = "their defaults",
                                  .shape = ORR_TEXT("a group of parameters"),
                                  .offset = offsetof(struct target, places) + i * sizeof(struct orr_place)});
  }
}

static bool read_axes(struct reading *r) {
  bool good = true;
  for (size_t i = 0; i < r->kind->param_count; i++) {
    const struct orr_param *p = &r->kind->params[i];
    struct orr_place place = r->target->places[i];
    if (p->type == ORR_PARAM_AXIS && place.node) {
      double axis[3];
      good &= orr_read_direction(r->d->reader, place, p->name, axis);
      if (good)
        memcpy(r->params + p->offset, axis, sizeof axis);
    }
  }
  return good;
}

/* Each group is a mapping of its own. Axes never stand in one. */
static bool read_groups(struct reading *r) {
  bool good = true;
  for (size_t i = 0; i < r->kind->param_count; i++) {
    const struct orr_param *p = &r->kind->params[i];
    size_t n = group_length(p), count = 0;
    struct orr_key keys[MOST_KEYS];
    if (!n || !r->target->places[i].node)
      continue;
    for (size_t k = i; k < r->kind->param_count; k++)
      if (same_group(p, &r->kind->params[k]))
        keys[count++] = key_of(r, &r->kind->params[k], r->kind->params[k].name + n + 1, k);
    uint64_t present;
    const char *group = orr_arena_copy(r->d->reader->arena, p->name, n);
    const struct orr_thing thing = {.what = orr_arena_format(r->d->reader->arena, "'%s' of %s", group, r->kind->name),
                                    .name = r->thing.name,
                                    .place = r->target->places[i],
                                    .key = r->thing.key};
    const struct orr_mapping mapping = {.name = group, .keys = keys, .key_count = count};
    good &= orr_read_mapping(r->d->reader, &thing, &mapping, r->target, &present);
  }
  return good;
}

static void fill_fallbacks(struct reading *r) {
  for (size_t i = 0; i < r->kind->param_count; i++) {
    const struct orr_param *p = &r->kind->params[i];
    void *at = r->params + p->offset;
    double numbers[3] = {p->fallback, p->fallback, p->fallback};
    if (p->type == ORR_PARAM_NAME)
      *(const char **)at = NULL;
    else if (p->type == ORR_PARAM_CHOICE)
      *(int *)at = (int)p->fallback;
    else
      memcpy(at, numbers, sizeof *numbers * (p->type == ORR_PARAM_NUMBER ? 1 : 3));
  }
}

/* ---- where it sits ----------------------------------------------------------------------------------------------- */

static bool find_coordinate(struct reading *r, struct orr_device_desc *out) {
  const struct orr_body_desc *body = &orr_config_description(r->d->config)->bodies[out->body];
  const struct orr_hinge_kind_info *hinge = orr_hinge_kind_info(body->hinge.kind);
  size_t given = orr_yaml_find(r->thing.place.node, "coordinate");
  bool is_given = given < orr_place_count(r->thing.place);
  if (!hinge->scalar || hinge->speed_count == 0) {
    orr_read_error(r->d->reader, r->target->common.hinge, "no-coordinate",
                   "the %s hinge of '%.60s' has no coordinate that %s '%.60s' could sit on", hinge->name, body->name,
                   r->kind->name, r->thing.name);
    return false;
  }
  if (hinge->speed_count > 1 && !is_given) {
    orr_read_error(r->d->reader, r->target->common.hinge, "missing-key",
                   "the %s hinge of '%.60s' has %zu coordinates: say which by 'coordinate: 0' to %zu", hinge->name,
                   body->name, hinge->speed_count, hinge->speed_count - 1);
    return false;
  }
  int64_t i = r->target->common.coordinate;
  if (i < 0 || i >= (int64_t)hinge->speed_count) {
    orr_read_error(r->d->reader, orr_place_value(r->d->reader->diagnostics, r->thing.place, given), "out-of-range",
                   "the %s hinge of '%.60s' has the coordinates 0 to %zu", hinge->name, body->name,
                   hinge->speed_count - 1);
    return false;
  }
  out->coordinate = (int)i;
  return true;
}

static bool find_host(struct reading *r, struct orr_device_desc *out) {
  struct orr_draft *draft = r->d->draft;
  const struct common *c = &r->target->common;
  if (r->d->blind)
    return true;
  if (r->kind->host == ORR_ON_NODE) {
    if (!c->node.node || !orr_draft_read_reference(draft, &draft->own, c->node, "node", &out->body, &out->node))
      return false;
    if (r->kind->rotor && orr_body_is_massless(&orr_config_description(r->d->config)->bodies[out->body])) {
      orr_read_error(
          r->d->reader, c->node, "massless",
          "%s '%.60s' has a rotor, and its body has no inertia: a body's mass and inertia include the rotors "
          "on it; give it some",
          r->kind->name, r->thing.name);
      return false;
    }
    if (!r->kind->flexible_host || orr_config_description(r->d->config)->bodies[out->body].mode_count)
      return true;
    orr_read_error(r->d->reader, c->node, "no-modes", "%s '%.60s' needs a body with modes, and this one has none",
                   r->kind->name, r->thing.name);
    return false;
  }
  const char *name;
  if (!c->hinge.node || !orr_read_text(r->d->reader, c->hinge, "hinge", &name))
    return false;
  out->body = orr_draft_find_body(draft, &draft->own, c->hinge, name);
  if (out->body < 0)
    return false;
  return r->kind->host != ORR_ON_COORDINATE || find_coordinate(r, out);
}

static const struct orr_shape a_time = {.kind = ORR_SHAPE_TIME};
static const struct orr_shape a_count = {.kind = ORR_SHAPE_NUMBER, .unit = ""};
const struct orr_shape orr_shape_frames = {.kind = ORR_SHAPE_EITHER, .of = &a_count, .other = &a_time};

/* A text with a unit is a time. */
static bool is_time(const struct orr_yaml *node) {
  struct orr_quantity q;
  return node->kind == ORR_YAML_SCALAR && orr_quantity_parse(node->text, "s", &q) == ORR_QUANTITY_OK && q.has_unit;
}

bool orr_run_read_frames(struct orr_run_draft *d, struct orr_place place, const char *key, int64_t frame_ns,
                         const struct orr_range *range, int *out) {
  double frames;
  int64_t time_ns;
  bool time = is_time(place.node);
  if (!time && !orr_read_number(d->reader, place, key, "", range, &frames))
    return false;
  if (!time && frames != rint(frames)) {
    orr_read_error(d->reader, place, "wrong-type", "'%s' takes a whole number of frames, or a time such as '100 ms'",
                   key);
    return false;
  }
  if (time && !orr_read_time(d->reader, place, key, &orr_range_not_negative, &time_ns))
    return false;
  if (time && frame_ns <= 0)
    return true; /* the step is wrong and was reported */
  double count = time ? (double)time_ns / (double)frame_ns : frames;
  if (time && (time_ns % frame_ns || count < range->low || count > range->high)) {
    orr_read_error(d->reader, place, "whole-frames",
                   "'%s' is a whole number of frames of %.9g ms, %.9g to %.9g of them, and '%.40s' is none", key,
                   1e-6 * (double)frame_ns, range->low, range->high, place.node->text);
    return false;
  }
  if (!time && strcmp(key, "delay") == 0 && frames > 1 && frames * (double)frame_ns > 1e9)
    orr_read_warning(d->reader, place, "bare-number",
                     "'delay' is %.9g frames, which is %.9g s; if it is meant as a time, say it: '%.9g ms'", frames,
                     1e-9 * frames * (double)frame_ns, frames);
  *out = (int)count;
  return true;
}

int orr_run_divisor(struct orr_run_draft *d, struct orr_place place, double rate_hz) {
  double step = 1e-9 * (double)d->run->plant.step_ns, exact = 1 / (rate_hz * step), whole = rint(exact);
  if (d->run->plant.step_ns <= 0)
    return 1; /* the step is wrong and was reported */
  if (whole >= 1 && whole <= 1e9 && fabs(exact - whole) <= 1e-9 * whole)
    return (int)whole;
  orr_read_error(d->reader, place, "rate",
                 "a rate of %.10g Hz does not divide the base rate of %.10g Hz; %.10g Hz would", rate_hz, 1 / step,
                 1 / (step * fmax(1, whole)));
  return 0;
}

static bool read_timing(struct reading *r, struct orr_device_desc *out) {
  struct orr_place mapping = r->thing.place;
  size_t rate = orr_yaml_find(mapping.node, "rate"), phase = orr_yaml_find(mapping.node, "phase");
  out->divisor = 1;
  if (rate < orr_place_count(mapping) && r->target->common.rate > 0)
    out->divisor =
        orr_run_divisor(r->d, orr_place_value(r->d->reader->diagnostics, mapping, rate), r->target->common.rate);
  if (!out->divisor)
    return false;
  const struct common *c = &r->target->common;
  int64_t step_ns = r->d->run->plant.step_ns;
  if ((c->phase.node && !orr_run_read_frames(r->d, c->phase, "phase", step_ns, &phase_range, &out->phase)) ||
      (c->delay.node && !orr_run_read_frames(r->d, c->delay, "delay", step_ns, &phase_range, &out->delay)))
    return false;
  if (out->phase < out->divisor || r->d->run->plant.step_ns <= 0)
    return true;
  orr_read_error(r->d->reader, orr_place_value(r->d->reader->diagnostics, mapping, phase), "out-of-range",
                 "'phase' counts frames within the %d between two samples, so it is at most %d", out->divisor,
                 out->divisor - 1);
  return false;
}

/* A look ahead at the coordinate, which decides about units; what is wrong with it is reported later. */
static bool on_distance(const struct reading *r) {
  const struct orr_yaml *mapping = r->thing.place.node;
  size_t hinge = orr_yaml_find(mapping, "hinge"), at = orr_yaml_find(mapping, "coordinate");
  if (r->kind->host != ORR_ON_COORDINATE || hinge == mapping->count ||
      mapping->entries[hinge].value->kind != ORR_YAML_SCALAR)
    return false;
  int body = orr_config_find_body(r->d->config, mapping->entries[hinge].value->text);
  if (body < 0)
    return false;
  const struct orr_hinge_kind_info *info =
      orr_hinge_kind_info(orr_config_description(r->d->config)->bodies[body].hinge.kind);
  bool given = at < mapping->count && mapping->entries[at].value->kind == ORR_YAML_SCALAR;
  unsigned i = given ? (unsigned)mapping->entries[at].value->text[0] - '0' : 0;
  return info->speed_count && i < info->speed_count && !(info->angles >> i & 1);
}

/* ---- one device -------------------------------------------------------------------------------------------------- */

static const char *kinds_of(struct orr_run_draft *d, enum orr_device_role role) {
  const char *all = "";
  for (const struct orr_device_kind *const *k = orr_device_kinds; *k; k++)
    if ((*k)->role == role)
      all = orr_arena_format(d->reader->arena, "%s%s%s", all, *all ? ", " : "", (*k)->name);
  return all;
}

static const struct orr_device_kind *find_kind(struct orr_run_draft *d, struct orr_thing thing,
                                               enum orr_device_role role) {
  size_t at = orr_yaml_find(thing.place.node, "kind");
  const char *name;
  if (at == orr_place_count(thing.place)) {
    orr_read_error(d->reader, thing.key, "missing-key", "%s '%.60s' has no 'kind', which it needs", thing.what,
                   thing.name);
    return NULL;
  }
  struct orr_place place = orr_place_value(d->reader->diagnostics, thing.place, at);
  if (!orr_read_text(d->reader, place, "kind", &name))
    return NULL;
  const struct orr_device_kind *kind = orr_device_kind_find(name);
  if (kind && kind->role == role)
    return kind;
  struct orr_nearest nearest = {.wanted = name};
  for (const struct orr_device_kind *const *k = orr_device_kinds; *k; k++)
    if ((*k)->role == role)
      orr_nearest_offer(&nearest, (*k)->name);
  if (kind)
    orr_read_error(d->reader, place, "device-kind", "a %s is %s; put it under '%s'", name,
                   kind->role == ORR_SENSOR ? "a sensor" : "an actuator",
                   kind->role == ORR_SENSOR ? "sensors" : "actuators");
  else if (nearest.best)
    orr_read_error(d->reader, place, "device-kind", "unknown kind '%.60s', did you mean '%s'?", name, nearest.best);
  else
    orr_read_error(d->reader, place, "device-kind", "there is no kind of %s '%.60s'; there are %s", thing.what, name,
                   kinds_of(d, role));
  return NULL;
}

static bool take_name(struct orr_run_draft *d, struct orr_thing thing) {
  if (!orr_read_name(d->reader, thing.key, thing.what))
    return false;
  const char *reserved = orr_name_reserved_for(thing.name);
  if (reserved) {
    orr_read_error(d->reader, thing.key, "reserved-name", "'%s' begins the channels %s and cannot name a device",
                   thing.name, reserved);
    return false;
  }
  int body = orr_config_find_body(d->config, thing.name), device = orr_names_find(&d->names, thing.name);
  if (body < 0 && device < 0) {
    orr_names_add(&d->names, d->reader->arena, thing.name, 0);
    return true;
  }
  orr_read_error(d->reader, thing.key, "duplicate-name", "'%.60s' is the name of %s already", thing.name,
                 body >= 0 ? "a body" : "another device");
  return false;
}

struct orr_device_desc *orr_run_new_device(struct orr_run_draft *d) {
  if (d->device_count == d->device_room)
    d->devices = orr_arena_grow(d->reader->arena, d->devices, d->device_count, sizeof *d->devices, &d->device_room);
  return &d->devices[d->device_count++];
}

static const struct orr_device_kind *varied(struct orr_run_draft *d, const struct orr_device_kind *kind,
                                            const void *params) {
  struct orr_device_kind *copy = orr_arena_alloc(d->reader->arena, 1, sizeof *copy);
  *copy = *kind;
  return kind->vary(params, copy) ? copy : kind;
}

/* Where the rotor of a gear with backlash turns: about an axis that the parent carries, and with its inertia. */
static bool mesh_has_place(struct reading *r, const struct orr_device_desc *device) {
  const struct orr_body_desc *bodies = orr_config_description(r->d->config)->bodies;
  if (r->d->blind || !device->kind->mesh)
    return true;
  const struct orr_hinge_desc *hinge = &bodies[device->body].hinge;
  if (!(orr_hinge_kind_info(hinge->kind)->angles >> device->coordinate & 1))
    return true;
  if (device->coordinate > 0)
    orr_read_error(r->d->reader, r->target->common.hinge, "no-coordinate",
                   "a gear with backlash sits on coordinate 0 of a %s hinge: the axis of coordinate %d is turned by "
                   "those before it, and the parent does not carry it",
                   orr_hinge_kind_info(hinge->kind)->name, device->coordinate);
  else if (hinge->parent >= 0 && orr_body_is_massless(&bodies[hinge->parent]))
    orr_read_error(r->d->reader, r->target->common.hinge, "massless",
                   "the rotor of a gear with backlash turns on '%.60s', which has no inertia: a body's mass and "
                   "inertia include the rotors on it; give it some",
                   bodies[hinge->parent].name);
  else
    return true;
  return false;
}

static void read_device(struct orr_run_draft *d, struct orr_thing thing, enum orr_device_role role) {
  struct reading r = {.d = d, .thing = thing};
  bool named = take_name(d, thing);
  if (!orr_expect_mapping(d->reader, thing.place, thing.name))
    return;
  r.kind = find_kind(d, thing, role);
  if (!r.kind)
    return;
  size_t head = (sizeof *r.target + 63) / 64 * 64;
  r.target = orr_arena_alloc(d->reader->arena, 1, head + r.kind->param_bytes);
  r.params = (char *)r.target + head;
  fill_fallbacks(&r);
  r.linear = on_distance(&r);
  common_keys(&r);
  own_keys(&r);
  uint64_t present;
  struct orr_device_desc device = {.name = thing.name, .kind = r.kind, .params = r.params};
  r.thing.what = r.kind->name;
  const struct orr_mapping mapping = {.name = r.kind->name, .keys = r.keys, .key_count = r.key_count};
  bool good = orr_read_mapping(d->reader, &r.thing, &mapping, r.target, &present);
  good &= read_axes(&r);
  good &= read_groups(&r);
  good &= find_host(&r, &device);
  good = read_timing(&r, &device) && good;
  const char *wrong = good && r.kind->judge ? r.kind->judge(r.params) : NULL;
  if (wrong)
    orr_read_error(d->reader, thing.key, "device", "%s '%.60s': %s", r.kind->name, thing.name, wrong);
  if (good && !wrong && r.kind->vary)
    device.kind = varied(d, r.kind, r.params);
  good = good && !wrong && mesh_has_place(&r, &device);
  device.source = orr_place_entity(d->reader->diagnostics, thing.key, thing.place);
  if (named && good && !d->blind)
    *orr_run_new_device(d) = device;
}

void orr_run_read_devices(struct orr_run_draft *d, enum orr_section section, enum orr_device_role role) {
  struct orr_place place = orr_config_section(d->config, section);
  const char *what = role == ORR_SENSOR ? "sensor" : "actuator";
  if (!place.node || !orr_expect_mapping(d->reader, place, role == ORR_SENSOR ? "sensors" : "actuators"))
    return;
  for (size_t i = 0; i < orr_place_count(place); i++) {
    struct orr_thing thing = {.what = what,
                              .place = orr_place_value(d->reader->diagnostics, place, i),
                              .key = orr_place_key(d->reader->diagnostics, place, i)};
    thing.name = thing.key.node->text;
    read_device(d, thing, role);
  }
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static bool drives(const struct orr_device_desc *d) { return d->kind->prescribes && d->kind->prescribes(d->params); }

static bool acts_on_hinge(const struct orr_device_desc *d) {
  return d->kind->role == ORR_ACTUATOR && d->kind->host == ORR_ON_COORDINATE;
}

static void check_drives(struct orr_run_draft *d, const struct orr_device_desc *device) {
  const struct orr_body_desc *body = &orr_config_description(d->config)->bodies[device->body];
  if (orr_hinge_kind_info(body->hinge.kind)->speed_count > 1)
    orr_report(
        d->reader->diagnostics, ORR_ERROR, device->source, "two-drives",
        "'%.60s' drives its hinge at a given rate, which needs a hinge of one coordinate; that of '%.60s' has more",
        device->name, body->name);
  if (body->hinge.motion)
    orr_report(d->reader->diagnostics, ORR_ERROR, device->source, "two-drives",
               "'%.60s' drives the hinge of '%.60s', whose 'motion' is given already", device->name, body->name);
  for (size_t i = 0; i < d->device_count; i++) {
    if (&d->devices[i] == device || d->devices[i].body != device->body || !acts_on_hinge(&d->devices[i]))
      continue;
    orr_report(d->reader->diagnostics, ORR_ERROR, d->devices[i].source, "two-drives",
               "'%.60s' acts on the hinge of '%.60s', whose motion '%.60s' already gives", d->devices[i].name,
               body->name, device->name);
    orr_report_related(d->reader->diagnostics, device->source, "the drive");
  }
}

/* A torque on a hinge whose motion is given would do nothing. */
static void check_free(struct orr_run_draft *d, const struct orr_device_desc *device) {
  const struct orr_body_desc *body = &orr_config_description(d->config)->bodies[device->body];
  if (body->hinge.prescribed)
    orr_report(d->reader->diagnostics, ORR_ERROR, device->source, "two-drives",
               "'%.60s' gives a torque to the hinge of '%.60s', which is prescribed and would not feel it",
               device->name, body->name);
}

/* What a device can take from the body that it sits on. */
static double leaves(const struct orr_device_desc *d) {
  return d->kind->stock ? d->kind->stock(d->params, NULL).most : d->kind->propellant(d->params);
}

static void check_propellant(struct orr_run_draft *d, size_t index) {
  const struct orr_device_desc *device = &d->devices[index];
  const struct orr_body_desc *body = &orr_config_description(d->config)->bodies[device->body];
  double mass = body->flexible ? body->nodes[device->node].mass : body->mass;
  double taken = leaves(device);
  for (size_t i = 0; i < index; i++) {
    const struct orr_device_desc *other = &d->devices[i];
    if (other->kind->propellant && other->body == device->body && (!body->flexible || other->node == device->node))
      taken += leaves(other);
  }
  if (taken > 0 && taken >= mass)
    orr_report(
        d->reader->diagnostics, ORR_ERROR, device->source, "propellant",
        "the thrusters and tanks of '%.60s' up to this one hold %.6g kg of propellant, and it weighs %.6g kg with it",
        body->name, taken, mass);
}

/* Of samples that wait: all that a device tells. */
static void check_delay(struct orr_run_draft *d, const struct orr_device_desc *device) {
  const struct orr_body_desc *body = &orr_config_description(d->config)->bodies[device->body];
  int64_t width = 1;
  for (size_t i = 0; i < device->kind->channel_count; i++) {
    const struct orr_device_channel *c = &device->kind->channels[i];
    if (c->direction == ORR_CHANNEL_OUTPUT && (!c->present || c->present(device->params)))
      width += c->count                      ? c->count
               : device->kind->flexible_host ? (int64_t)body->mode_count
                                             : orr_hinge_speeds(body->hinge.kind);
  }
  if (device->delay > 0)
    orr_run_count_delayed(d, device->source, device->delay / device->divisor, width);
}

void orr_run_check_devices(struct orr_run_draft *d) {
  for (size_t i = 0; i < d->device_count; i++) {
    check_delay(d, &d->devices[i]);
    if (drives(&d->devices[i]))
      check_drives(d, &d->devices[i]);
    else if (acts_on_hinge(&d->devices[i]))
      check_free(d, &d->devices[i]);
    if (d->devices[i].kind->propellant)
      check_propellant(d, i);
    orr_run_check_tank(d, &d->devices[i]);
  }
}
