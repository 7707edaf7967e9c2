#include "io/config/spacecraft/case.h"

#include <string.h>

#include "core/model/hinge_kinds.h"
#include "io/config/spacecraft/draft.h"
#include "io/config/spacecraft/mappings.h"
#include "io/config/text/files.h"

/* --- what a case may say ------------------------------------------------------------------------------------------ */

struct state_keys {
  struct orr_place position, attitude, rate, velocity, q, speed, eta, eta_rate, orbit;
};

enum state_key { POSITION, ATTITUDE, RATE, VELOCITY, Q, SPEED, ETA, ETA_RATE, ORBIT, STATE_KEYS };

static const char *const target_words[] = {"target", NULL};

#define PLACE(field) .type = ORR_KEY_PLACE, .absent = "0", .offset = offsetof(struct state_keys, field)

static const struct orr_key state_table[STATE_KEYS] = {
    [POSITION] = {.name = "position",
                  .doc = "position of a free hinge, axes of what it hangs on",
                  .shape = ORR_NUMBERS(3, "m"),
                  PLACE(position)},
    [ATTITUDE] = {.name = "attitude",
                  .doc =
                      "attitude of a free or ball hinge against what it hangs on; `target`, in a run, turns it so that "
                      "the body's `pointing` begins on its target",
                  .type = ORR_KEY_PLACE,
                  .absent = "no turn",
                  .shape = ORR_EITHER(&orr_shape_quaternion, ORR_WORD(target_words)),
                  .offset = offsetof(struct state_keys, attitude)},
    [RATE] = {.name = "rate",
              .doc =
                  "angular velocity of a free or ball hinge, body axes; `target`, in a run, is that of the pointing's "
                  "target",
              .shape = ORR_EITHER(ORR_NUMBERS(3, "rad/s"), ORR_WORD(target_words)),
              PLACE(rate)},
    [VELOCITY] = {.name = "velocity",
                  .doc = "velocity of a free hinge, body axes",
                  .shape = ORR_NUMBERS(3, "m/s"),
                  PLACE(velocity)},
    [Q] = {.name = "q",
           .doc = "coordinates of any other hinge: angles and distances",
           .shape = ORR_EITHER(ORR_NUMBER("rad|m"), ORR_NUMBERS(0, "rad|m")),
           PLACE(q)},
    [SPEED] = {.name = "speed",
               .doc = "their rates",
               .shape = ORR_EITHER(ORR_NUMBER("rad/s|m/s"), ORR_NUMBERS(0, "rad/s|m/s")),
               PLACE(speed)},
    [ETA] = {.name = "eta", .doc = "amplitudes of the modes", .shape = ORR_NUMBERS(0, NULL), PLACE(eta)},
    [ETA_RATE] = {.name = "eta_rate", .doc = "their rates, per second", .shape = ORR_NUMBERS(0, NULL), PLACE(eta_rate)},
    [ORBIT] = {.name = "orbit",
               .doc = "the orbit of a run with an environment, of one free body",
               .type = ORR_KEY_PLACE,
               .absent = "there is no environment, or another body has it",
               .shape = ORR_LATER("orbit"),
               .offset = offsetof(struct state_keys, orbit)},
};

const struct orr_mapping orr_state_mapping = {
    .name = "state",
    .doc = "The state of a body's hinge and modes. Which keys it takes follows from the kind of its hinge.",
    ORR_KEYS(state_table)};

struct pair_keys {
  struct orr_place hinge, modal;
};

#define PER_SPEED(si) ORR_EITHER(ORR_NUMBER(si), ORR_NUMBERS(0, si))

static const struct orr_key force_table[] = {
    {.name = "tau",
     .doc = "force of each coordinate of the hinge",
     .type = ORR_KEY_PLACE,
     .absent = "0",
     .shape = PER_SPEED("N m|N"),
     .offset = offsetof(struct pair_keys, hinge)},
    {.name = "modal",
     .doc = "force of each mode",
     .type = ORR_KEY_PLACE,
     .absent = "0",
     .shape = ORR_NUMBERS(0, NULL),
     .offset = offsetof(struct pair_keys, modal)},
};

static const struct orr_key acceleration_table[] = {
    {.name = "acceleration",
     .doc = "of each coordinate of the hinge",
     .type = ORR_KEY_PLACE,
     .absent = "0",
     .shape = PER_SPEED("rad/s^2|m/s^2"),
     .offset = offsetof(struct pair_keys, hinge)},
    {.name = "eta_acceleration",
     .doc = "of each mode, per second squared",
     .type = ORR_KEY_PLACE,
     .absent = "0",
     .shape = ORR_NUMBERS(0, NULL),
     .offset = offsetof(struct pair_keys, modal)},
};

static const struct orr_mapping force_mapping = {
    .name = "case.forces",
    .doc = "Generalised forces that an actuator would supply; springs and dampers come on top.",
    ORR_KEYS(force_table)};
static const struct orr_mapping acceleration_mapping = {
    .name = "case.accelerations", .doc = "Accelerations, for `--inverse`.", ORR_KEYS(acceleration_table)};
static const struct orr_mapping prescribed_mapping = {
    .name = "case.prescribed", .doc = "The given motion of a hinge.", .keys = acceleration_table, .key_count = 1};

struct external_keys {
  struct orr_place node;
  double force[3], moment[3];
  int frame;
};

static const char *const frames[] = {"inertial", "body", NULL};

static const struct orr_key external_table[] = {
    {.name = "node",
     .doc = "where it acts, on the deformed body",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = &orr_shape_node,
     .offset = offsetof(struct external_keys, node)},
    {.name = "force",
     .doc = "the force",
     .type = ORR_KEY_NUMBERS,
     .unit = "N",
     .count = 3,
     .form = "[x, y, z]",
     .fallback = "0",
     .offset = offsetof(struct external_keys, force)},
    {.name = "moment",
     .doc = "the moment",
     .type = ORR_KEY_NUMBERS,
     .unit = "N m",
     .count = 3,
     .form = "[x, y, z]",
     .fallback = "0",
     .offset = offsetof(struct external_keys, moment)},
    {.name = "frame",
     .doc = "the axes of both: inertial, or those of the body frame",
     .type = ORR_KEY_CHOICE,
     .choices = frames,
     .fallback = "inertial",
     .offset = offsetof(struct external_keys, frame)},
};

static const struct orr_mapping external_mapping = {
    .name = "case.external", .doc = "A force on a node.", ORR_KEYS(external_table)};

struct case_keys {
  struct orr_place state, forces, external, prescribed, accelerations;
};

enum case_key { STATE, FORCES, EXTERNAL, PRESCRIBED, ACCELERATIONS, CASE_KEYS };

static const struct orr_key case_table[CASE_KEYS] = {
    [STATE] = {.name = "state",
               .doc = "the state, by body",
               .type = ORR_KEY_PLACE,
               .absent = "zero",
               .shape = ORR_NAMED("body", ORR_MAPPING(orr_state_mapping)),
               .offset = offsetof(struct case_keys, state)},
    [FORCES] = {.name = "forces",
                .doc = "generalised forces, by body",
                .type = ORR_KEY_PLACE,
                .absent = "none",
                .shape = ORR_NAMED("body", ORR_MAPPING(force_mapping)),
                .offset = offsetof(struct case_keys, forces)},
    [EXTERNAL] = {.name = "external",
                  .doc = "forces on nodes",
                  .type = ORR_KEY_PLACE,
                  .absent = "none",
                  .shape = ORR_LIST(ORR_MAPPING(external_mapping)),
                  .offset = offsetof(struct case_keys, external)},
    [PRESCRIBED] = {.name = "prescribed",
                    .doc = "hinges whose motion is given, by body",
                    .type = ORR_KEY_PLACE,
                    .absent = "those of the model",
                    .shape = ORR_NAMED("body", ORR_MAPPING(prescribed_mapping)),
                    .offset = offsetof(struct case_keys, prescribed)},
    [ACCELERATIONS] = {.name = "accelerations",
                       .doc = "accelerations by body, in place of `forces`, for `--inverse`",
                       .type = ORR_KEY_PLACE,
                       .absent = "they are what is asked for",
                       .shape = ORR_NAMED("body", ORR_MAPPING(acceleration_mapping)),
                       .offset = offsetof(struct case_keys, accelerations)},
};

const struct orr_mapping orr_case_mapping = {
    .name = "case",
    .doc = "A case of `orrery eval`: a state of the model, and what acts on it.",
    ORR_KEYS(case_table),
    .example = "state:\n"
               "  bus: {position: [0, 0, 0], attitude: [0, 0, 0, 1], rate: [0, 0, 0.1], velocity: [0, 0, 0]}\n"
               "  wing: {q: 0.3, speed: [0.01], eta: [0.002], eta_rate: [0]}\n"
               "forces: {wing: {tau: [0.5], modal: [0.1]}}\n"
               "external: [{node: wing.tip, force: [0, 0, 1], frame: inertial}]\n",
};

struct reading {
  struct orr_reader reader;
  struct orr_draft *draft;
  const struct orr_description *description;
  enum orr_case_kind kind;
  struct orr_case *out;
  struct orr_place root;
  struct case_keys keys;
};

/* A body's entry in one of the sections. */
struct entry {
  struct reading *r;
  struct orr_place key, value;
  const struct orr_body_desc *body;
  const struct orr_hinge_kind_info *kind;
  struct orr_case_body *out;
};

static struct orr_place section_key(struct reading *r, enum case_key key) {
  return orr_place_key(r->reader.diagnostics, r->root, orr_yaml_find(r->root.node, case_table[key].name));
}

/* --- numbers per coordinate, numbers per mode ------------------------------------------------------------------- */

/* What a program writes where there is nothing to give. */
static bool is_empty_list(struct orr_place place) {
  return place.node->kind == ORR_YAML_SEQUENCE && place.node->count == 0;
}

static const char *speed_unit(enum orr_hinge_kind kind, const char *angular, const char *linear, size_t i) {
  return orr_hinge_kind_info(kind)->angles >> i & 1 ? angular : linear;
}

/* A list with a number for each speed of the hinge; one coordinate needs no list. */
static bool read_per_speed(struct entry *e, struct orr_place place, const char *name, const char *angular,
                           const char *linear, double *out) {
  struct orr_reader *reader = &e->r->reader;
  size_t n = e->kind->speed_count;
  if (place.node->kind == ORR_YAML_SCALAR && n == 1)
    return orr_read_number(reader, place, name, speed_unit(e->body->hinge.kind, angular, linear, 0), NULL, out);
  if (place.node->kind != ORR_YAML_SEQUENCE || place.node->count != n) {
    orr_read_error(reader, place, "wrong-length", "'%s' of '%.60s' takes a list of %zu number%s: its hinge is %s", name,
                   e->body->name, n, n == 1 ? "" : "s", e->kind->name);
    return false;
  }
  bool good = true;
  for (size_t i = 0; i < n; i++)
    good &= orr_read_number(reader, orr_place_item(reader->diagnostics, place, i), name,
                            speed_unit(e->body->hinge.kind, angular, linear, i), NULL, &out[i]);
  return good;
}

static bool read_per_mode(struct entry *e, struct orr_place place, const char *name, const double **out) {
  struct orr_reader *reader = &e->r->reader;
  size_t n = e->body->mode_count;
  if (n == 0 && is_empty_list(place))
    return true; /* out stays the zeros of prepare */
  if (n == 0) {
    orr_read_error(reader, place, "no-modes", "'%.60s' has no modes, so it takes no '%s'", e->body->name, name);
    return false;
  }
  if (place.node->kind != ORR_YAML_SEQUENCE || place.node->count != n) {
    orr_read_error(reader, place, "wrong-length", "'%s' of '%.60s' takes a list of %zu number%s, one for each mode",
                   name, e->body->name, n, n == 1 ? "" : "s");
    return false;
  }
  double *values = orr_arena_alloc(reader->arena, n, sizeof *values);
  bool good = true;
  for (size_t i = 0; i < n; i++)
    good &= orr_read_number(reader, orr_place_item(reader->diagnostics, place, i), name, NULL, NULL, &values[i]);
  *out = values;
  return good;
}

/* --- state ------------------------------------------------------------------------------------------------------ */

/* Which of the keys a hinge takes. */
static unsigned state_keys_of(enum orr_hinge_kind kind) {
  unsigned modal = 1u << ETA | 1u << ETA_RATE;
  if (kind == ORR_HINGE_FREE)
    return modal | 1u << POSITION | 1u << ATTITUDE | 1u << RATE | 1u << VELOCITY | 1u << ORBIT;
  if (kind == ORR_HINGE_BALL)
    return modal | 1u << ATTITUDE | 1u << RATE;
  return kind == ORR_HINGE_FIXED ? modal : modal | 1u << Q | 1u << SPEED;
}

/* `q: []` or `speed: []` of a hinge without coordinates says what is so. */
static bool says_nothing(const struct entry *e, size_t key) {
  size_t at = orr_yaml_find(e->value.node, state_table[key].name);
  return e->kind->speed_count == 0 && (key == Q || key == SPEED) &&
         is_empty_list(orr_place_value(e->r->reader.diagnostics, e->value, at));
}

static void check_state_keys(struct entry *e, uint64_t *present) {
  static const char *const instead[] = {[ORR_HINGE_FIXED] = "no coordinates",
                                        [ORR_HINGE_BALL] = "'attitude' and 'rate'",
                                        [ORR_HINGE_FREE] = "'position', 'attitude', 'rate' and 'velocity'"};
  enum orr_hinge_kind kind = e->body->hinge.kind;
  unsigned taken = state_keys_of(kind);
  for (size_t k = 0; k < STATE_KEYS; k++) {
    if (!(*present >> k & 1) || taken >> k & 1 || says_nothing(e, k))
      continue;
    const char *has = kind <= ORR_HINGE_FREE && instead[kind] ? instead[kind] : "'q' and 'speed'";
    orr_read_error(&e->r->reader,
                   orr_place_key(e->r->reader.diagnostics, e->value, orr_yaml_find(e->value.node, state_table[k].name)),
                   "state-key", "the %s hinge of '%.60s' has no '%s'; it has %s", e->kind->name, e->body->name,
                   state_table[k].name, has);
    *present &= ~(UINT64_C(1) << k);
  }
}

/* What a motion gives, no state can. */
static void refuse_driven(struct entry *e, struct orr_place place, const char *name) {
  if (!e->body->hinge.motion || (strcmp(name, "q") == 0 && e->body->hinge.motion->form == ORR_MOTION_COMMAND))
    return;
  orr_read_error(&e->r->reader, place, "motion", "the motion of '%.60s' is given, so it takes no '%s'", e->body->name,
                 name);
}

/* `target` in place of numbers: what that is, a run knows. */
static bool is_target(struct entry *e, struct orr_place place, int which) {
  if (place.node->kind != ORR_YAML_SCALAR || strcmp(place.node->text, target_words[0]) != 0)
    return false;
  e->out->like_target[which] = place;
  return true;
}

static void read_state(struct entry *e) {
  static const struct orr_key position = {.name = "position", .unit = "m", .count = 3, .form = "[x, y, z]"};
  static const struct orr_key rate = {.name = "rate", .unit = "rad/s", .count = 3, .form = "[x, y, z]"};
  static const struct orr_key velocity = {.name = "velocity", .unit = "m/s", .count = 3, .form = "[x, y, z]"};
  struct orr_reader *r = &e->r->reader;
  struct state_keys keys = {0};
  uint64_t there;
  const struct orr_thing thing = {.what = "state of", .name = e->body->name, .place = e->value, .key = e->key};
  orr_read_mapping(r, &thing, &orr_state_mapping, &keys, &there);
  check_state_keys(e, &there);
  double *attitude = e->body->hinge.kind == ORR_HINGE_FREE ? e->out->q + 3 : e->out->q;
  if (there >> POSITION & 1)
    orr_read_numbers(r, keys.position, &position, e->out->q);
  if ((there >> ATTITUDE & 1) && !is_target(e, keys.attitude, 0))
    orr_read_quaternion(r, keys.attitude, "attitude", attitude);
  if ((there >> RATE & 1) && !is_target(e, keys.rate, 1))
    orr_read_numbers(r, keys.rate, &rate, e->out->speed);
  if (there >> VELOCITY & 1)
    orr_read_numbers(r, keys.velocity, &velocity, e->out->speed + 3);
  if (there >> Q & 1)
    refuse_driven(e, keys.q, "q");
  if (there >> SPEED & 1)
    refuse_driven(e, keys.speed, "speed");
  if (there >> Q & 1)
    read_per_speed(e, keys.q, "q", "rad", "m", e->out->q);
  if (there >> SPEED & 1)
    read_per_speed(e, keys.speed, "speed", "rad/s", "m/s", e->out->speed);
  if (there >> ETA & 1)
    read_per_mode(e, keys.eta, "eta", &e->out->eta);
  if (there >> ETA_RATE & 1)
    read_per_mode(e, keys.eta_rate, "eta_rate", &e->out->eta_rate);
  if ((there >> ORBIT & 1) && orr_expect_mapping(r, keys.orbit, "orbit"))
    e->out->orbit = keys.orbit;
}

/* --- forces, prescribed, accelerations --------------------------------------------------------------------------- */

static void read_forces(struct entry *e) {
  struct pair_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "forces on", .name = e->body->name, .place = e->value, .key = e->key};
  orr_read_mapping(&e->r->reader, &thing, &force_mapping, &keys, &present);
  if (keys.hinge.node && e->out->prescribed)
    orr_read_error(&e->r->reader,
                   orr_place_key(e->r->reader.diagnostics, e->value, orr_yaml_find(e->value.node, "tau")),
                   "tau-prescribed", "the hinge of '%.60s' is prescribed: its 'tau' is an output and cannot be given",
                   e->body->name);
  else if (keys.hinge.node)
    read_per_speed(e, keys.hinge, "tau", "N m", "N", e->out->tau);
  if (keys.modal.node)
    read_per_mode(e, keys.modal, "modal", &e->out->modal);
}

static void read_prescribed(struct entry *e) {
  struct pair_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {
      .what = "prescribed motion of", .name = e->body->name, .place = e->value, .key = e->key};
  e->out->prescribed = e->out->driven = true;
  orr_read_mapping(&e->r->reader, &thing, &prescribed_mapping, &keys, &present);
  if (e->kind->speed_count == 0)
    orr_read_error(&e->r->reader, e->key, "not-moving",
                   "the hinge of '%.60s' is fixed; there is no motion to prescribe", e->body->name);
  else if (e->body->hinge.motion)
    orr_read_error(&e->r->reader, e->key, "motion", "the motion of '%.60s' is given by the model", e->body->name);
  else if (keys.hinge.node)
    read_per_speed(e, keys.hinge, "acceleration", "rad/s^2", "m/s^2", e->out->acceleration);
}

static void read_accelerations(struct entry *e) {
  struct pair_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "accelerations of", .name = e->body->name, .place = e->value, .key = e->key};
  orr_read_mapping(&e->r->reader, &thing, &acceleration_mapping, &keys, &present);
  if (keys.hinge.node && e->out->driven)
    orr_read_error(
        &e->r->reader, orr_place_key(e->r->reader.diagnostics, e->value, orr_yaml_find(e->value.node, "acceleration")),
        "case-kind", "the acceleration of '%.60s' is given under 'prescribed'; keep one of the two", e->body->name);
  else if (keys.hinge.node)
    read_per_speed(e, keys.hinge, "acceleration", "rad/s^2", "m/s^2", e->out->acceleration);
  if (keys.modal.node)
    read_per_mode(e, keys.modal, "eta_acceleration", &e->out->eta_acceleration);
}

static int find_body(struct reading *r, struct orr_place key) {
  const char *name = key.node->text;
  int body = orr_names_find(&r->draft->names, name);
  if (body >= 0)
    return body;
  struct orr_nearest nearest = {.wanted = name};
  for (size_t i = 0; i < r->description->body_count && orr_read_may_suggest(&r->reader); i++)
    orr_nearest_offer(&nearest, r->description->bodies[i].name);
  if (nearest.best)
    orr_read_error(&r->reader, key, "unknown-body", "the model has no body '%.60s', did you mean '%s'?", name,
                   nearest.best);
  else
    orr_read_error(&r->reader, key, "unknown-body", "the model has no body '%.60s'", name);
  return -1;
}

static void read_section(struct reading *r, struct orr_place section, enum case_key key, void (*read)(struct entry *)) {
  if (!section.node || !orr_expect_mapping(&r->reader, section, case_table[key].name))
    return;
  for (size_t i = 0; i < orr_place_count(section); i++) {
    struct entry e = {.r = r,
                      .key = orr_place_key(r->reader.diagnostics, section, i),
                      .value = orr_place_value(r->reader.diagnostics, section, i)};
    int body = find_body(r, e.key);
    if (body < 0 || !orr_expect_mapping(&r->reader, e.value, e.key.node->text))
      continue;
    e.body = &r->description->bodies[body];
    e.kind = orr_hinge_kind_info(e.body->hinge.kind);
    e.out = &r->out->bodies[body];
    read(&e);
  }
}

/* --- external forces --------------------------------------------------------------------------------------------- */

static void read_external(struct reading *r) {
  struct orr_place list = r->keys.external;
  if (!list.node || !orr_expect_sequence(&r->reader, list, "external"))
    return;
  size_t n = orr_place_count(list);
  struct orr_case_external *externals = orr_arena_alloc(r->reader.arena, n, sizeof *externals);
  for (size_t i = 0; i < n; i++) {
    struct external_keys keys = {0};
    uint64_t present;
    const struct orr_thing thing = {.what = "an external force",
                                    .place = orr_place_item(r->reader.diagnostics, list, i)};
    orr_read_mapping(&r->reader, &thing, &external_mapping, &keys, &present);
    struct orr_case_external *x = &externals[i];
    memcpy(x->force, keys.force, sizeof x->force);
    memcpy(x->moment, keys.moment, sizeof x->moment);
    x->body_axes = keys.frame == 1;
    if (keys.node.node)
      orr_draft_read_reference(r->draft, &r->draft->own, keys.node, "node", &x->body, &x->node);
  }
  r->out->externals = externals;
  r->out->external_count = n;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static void prepare(struct reading *r) {
  const struct orr_description *d = r->description;
  size_t most = 0;
  for (size_t i = 0; i < d->body_count; i++)
    most = d->bodies[i].mode_count > most ? d->bodies[i].mode_count : most;
  const double *zeros = orr_arena_alloc(r->reader.arena, most, sizeof *zeros);
  r->out->bodies = orr_arena_alloc(r->reader.arena, d->body_count, sizeof *r->out->bodies);
  for (size_t i = 0; i < d->body_count; i++) {
    struct orr_case_body *b = &r->out->bodies[i];
    enum orr_hinge_kind kind = d->bodies[i].hinge.kind;
    b->eta = b->eta_rate = b->modal = b->eta_acceleration = zeros;
    b->prescribed = d->bodies[i].hinge.prescribed;
    if (kind == ORR_HINGE_BALL || kind == ORR_HINGE_FREE)
      b->q[kind == ORR_HINGE_FREE ? 6 : 3] = 1;
  }
}

const struct orr_case_body *orr_case_read_state(struct orr_config *config, struct orr_place state) {
  struct orr_draft *draft = orr_config_draft(config);
  struct reading r = {.reader = *draft->reader, .draft = draft, .description = orr_config_description(config)};
  r.out = orr_arena_alloc(r.reader.arena, 1, sizeof *r.out);
  prepare(&r);
  read_section(&r, state, STATE, read_state);
  return r.out->bodies;
}

/* What belongs to the other kind of case is reported and not looked at. */
static void refuse_section(struct reading *r, enum case_key key, struct orr_place *section, const char *what) {
  if (!section->node)
    return;
  orr_read_error(&r->reader, section_key(r, key), "case-kind", "%s", what);
  section->node = NULL;
}

static void check_kind(struct reading *r) {
  if (r->kind == ORR_CASE_INVERSE) {
    refuse_section(r, FORCES, &r->keys.forces,
                   "with --inverse the forces are the answer: give 'accelerations' in place of 'forces'");
  } else {
    refuse_section(r, ACCELERATIONS, &r->keys.accelerations,
                   "'accelerations' are the answer; they are given only with --inverse");
  }
}

const struct orr_case *orr_case_load(const char *path, struct orr_config *config, enum orr_case_kind kind,
                                     const struct orr_config_options *options) {
  struct orr_draft *draft = orr_config_draft(config);
  struct reading r = {
      .reader = *draft->reader, .draft = draft, .description = orr_config_description(config), .kind = kind};
  size_t errors = orr_diagnostics_errors(r.reader.diagnostics), first = orr_diagnostics_count(r.reader.diagnostics);
  struct orr_files files = {.reader = &r.reader};
  if (options && options->file_count) {
    files.memory = options->files;
    files.memory_count = options->file_count;
  }
  r.out = orr_arena_alloc(r.reader.arena, 1, sizeof *r.out);
  r.root.node = orr_files_open(&files, path, NULL, 0)->root;
  if (!r.root.node)
    return NULL;
  const struct orr_thing thing = {.what = "a case", .place = r.root};
  uint64_t present;
  orr_read_mapping(&r.reader, &thing, &orr_case_mapping, &r.keys, &present);
  prepare(&r);
  check_kind(&r);
  read_section(&r, r.keys.prescribed, PRESCRIBED, read_prescribed); /* first: they decide whether a tau is an error */
  read_section(&r, r.keys.state, STATE, read_state);
  read_section(&r, r.keys.forces, FORCES, read_forces);
  read_section(&r, r.keys.accelerations, ACCELERATIONS, read_accelerations);
  read_external(&r);
  for (size_t b = 0; b < r.description->body_count; b++) {
    const struct orr_case_body *body = &r.out->bodies[b];
    if (body->orbit.node)
      orr_read_error(&r.reader, body->orbit, "orbit", "an orbit belongs to a run, not to a case");
    for (int i = 0; i < 2; i++)
      if (body->like_target[i].node)
        orr_read_error(&r.reader, body->like_target[i], "target", "a target belongs to a run, not to a case");
  }
  orr_diagnostics_sort(r.reader.diagnostics, first);
  return orr_diagnostics_errors(r.reader.diagnostics) > errors ? NULL : r.out;
}
