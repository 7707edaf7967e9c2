/* Truth: the ideal channels of every body, node and closed loop, and of the whole spacecraft.
 *
 *   <body>.position      m, inertial, of the body frame       <body>.<node>.position, .attitude, .rate, .velocity
 *   <body>.attitude      quaternion, body to inertial         <body>.<node>.acceleration   m/s², node axes, less g
 *   <body>.rate          rad/s, body axes, inertial motion    <body>.<node>.angular_acceleration   rad/s², node axes
 *   <body>.velocity      m/s, inertial                        <body>.load     [N; F] of the hinge, about O, body axes
 *   <body>.<node>.load   [N; F] of all that is attached there, about the node, node axes: plant_load.c
 *   <body>.q, .speed     of the hinge                         <body>.eta, .eta_rate        of the modes
 *   loops.<loop>.force, .moment   multipliers, as the conventions order them; `determined` says which of them count
 *   energy.kinetic, energy.potential, momentum.angular, momentum.linear   of all bodies, modes and rotors
 */
#include "core/loops/closed.h"
#include "core/plant/plant.h"
#include "core/tree/energy.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"

enum what {
  POSITION,
  ATTITUDE,
  RATE,
  VELOCITY,
  NODE_KINDS,
  ACCELERATION = NODE_KINDS,
  ANGULAR,
  NODE_LOAD,
  Q,
  SPEED,
  ETA,
  ETA_RATE,
  LOAD,
  LOOP_MOMENT,
  LOOP_FORCE,
  LOOP_DETERMINED,
  KINETIC,
  POTENTIAL,
  ANGULAR_MOMENTUM,
  LINEAR_MOMENTUM,
  WHAT_COUNT
};

static const struct orr_channel specs[] = {
    [POSITION] = {.name = "position",
                  .doc = "position, inertial axes; of a body, that of its body frame",
                  .unit = "m",
                  .count = 3,
                  .elements = orr_channel_xyz},
    [ATTITUDE] = {.name = "attitude",
                  .doc = "attitude against inertial axes, with the sign nearest to the last one",
                  .unit = "",
                  .count = 4,
                  .elements = orr_channel_xyzw},
    [RATE] = {.name = "rate",
              .doc = "angular velocity against inertial axes, in its own axes",
              .unit = "rad/s",
              .count = 3,
              .elements = orr_channel_xyz},
    [VELOCITY] =
        {.name = "velocity", .doc = "velocity, inertial axes", .unit = "m/s", .count = 3, .elements = orr_channel_xyz},
    [ACCELERATION] = {.name = "acceleration",
                      .doc = "acceleration less gravity, node axes",
                      .unit = "m/s^2",
                      .count = 3,
                      .elements = orr_channel_xyz},
    [ANGULAR] = {.name = "angular_acceleration",
                 .doc = "angular acceleration, node axes",
                 .unit = "rad/s^2",
                 .count = 3,
                 .elements = orr_channel_xyz},
    [NODE_LOAD] = {.name = "load",
                   .doc = "moment (N m) and force (N) on the body there, about the node, node axes: of the hinges, "
                          "loops, rotors and actuators that are attached to the node",
                   .unit = "",
                   .count = 6,
                   .elements = orr_channel_wrench},
    [Q] = {.name = "q", .doc = "coordinates of its hinge"},
    [SPEED] = {.name = "speed", .doc = "speeds of its hinge"},
    [ETA] = {.name = "eta", .doc = "amplitudes of its modes", .unit = ""},
    [ETA_RATE] = {.name = "eta_rate", .doc = "their rates", .unit = "1/s"},
    [LOAD] = {.name = "load",
              .doc = "moment (N m) and force (N) that the parent exerts through the hinge, about O, body axes",
              .unit = "",
              .count = 6,
              .elements = orr_channel_wrench},
    [LOOP_MOMENT] = {.name = "moment",
                     .doc = "moment that the loop exerts on its second node, axes of the first node's frame; of a "
                            "gear, its torque on the driven hinge",
                     .unit = "N m"},
    [LOOP_FORCE] = {.name = "force",
                    .doc = "force that the loop exerts on its second node, axes of the first node's frame; of a "
                           "distance along the line, positive apart",
                    .unit = "N"},
    [LOOP_DETERMINED] =
        {.name = "determined",
         .doc = "for each number of moment and force: it is determined; redundant equations leave others open",
         .unit = "",
         .type = ORR_CHANNEL_FLAG},
    [KINETIC] = {.name = "kinetic",
                 .doc = "kinetic energy of all bodies, modes and rotors; in an environment, of the motion against the "
                        "reference on its orbit",
                 .unit = "J",
                 .count = 1},
    [POTENTIAL] = {.name = "potential",
                   .doc = "potential energy of hinge springs, modes and uniform gravity (zero at the inertial origin)",
                   .unit = "J",
                   .count = 1},
    [ANGULAR_MOMENTUM] = {.name = "angular",
                          .doc = "angular momentum of all bodies, modes and rotors about the inertial origin, inertial "
                                 "axes",
                          .unit = "N m s",
                          .count = 3,
                          .elements = orr_channel_xyz},
    [LINEAR_MOMENTUM] = {.name = "linear",
                         .doc = "linear momentum, inertial axes",
                         .unit = "N s",
                         .count = 3,
                         .elements = orr_channel_xyz},
};

const struct orr_channel *orr_truth_channel(size_t index, const char **of) {
  enum { FIRST = WHAT_COUNT, ALL = FIRST + NODE_KINDS };
  bool node = index >= FIRST || (index >= ACCELERATION && index <= NODE_LOAD), loop = index >= LOOP_MOMENT && !node;
  bool whole = index >= KINETIC && !node;
  const char *of_whole = index >= ANGULAR_MOMENTUM ? "momentum" : "energy";
  *of = node ? "BODY.NODE" : whole ? of_whole : loop ? "loops.NAME" : "BODY";
  return index < FIRST ? &specs[index] : index < ALL ? &specs[index - FIRST] : NULL;
}

struct declaring {
  struct orr_channel_table *table;
  struct orr_truth *truths;
  int count;
};

static void add(struct declaring *d, const char *entity, enum what what, int numbers, const char *unit,
                struct orr_truth truth) {
  struct orr_channel spec = specs[what];
  if (numbers)
    spec.count = numbers;
  if (unit)
    spec.unit = unit;
  static const char *const ways[] = {"along", "across"};
  bool loop = truth.loop >= 0;
  if (loop && numbers == 2)
    spec.elements = ways;
  else if (loop && numbers > 1)
    spec.elements = numbers == 6              ? orr_channel_wrench
                    : what == LOOP_DETERMINED ? orr_channel_wrench + 3
                                              : orr_channel_xyz;
  truth.what = (int)what;
  truth.channel = orr_channel_declare(d->table, entity, &spec);
  if (d->truths)
    d->truths[d->count] = truth;
  d->count++;
}

/* What all coordinates of a hinge share; "" where they do not. */
static const char *shared_unit(enum orr_hinge_kind kind, const char *angle, const char *length) {
  const struct orr_hinge_kind_info *info = orr_hinge_kind_info(kind);
  unsigned all = (1u << info->speed_count) - 1;
  return info->angles == all ? angle : info->angles == 0 ? length : "";
}

/* `a.b`; names are at most 63 long, with the prefixes of 16 nested parts. */
static const char *joined(const char *first, const char *second, char out[ORR_TRUTH_ENTITY]) {
  size_t a = strlen(first), b = strlen(second);
  assert(a + b + 2 <= ORR_TRUTH_ENTITY);
  memcpy(out, first, a);
  out[a] = '.';
  memcpy(out + a + 1, second, b + 1);
  return out;
}

static void declare_node(struct declaring *d, const char *body, const char *node, struct orr_truth truth) {
  char entity[ORR_TRUTH_ENTITY];
  joined(body, node, entity);
  for (int what = POSITION; what <= NODE_LOAD; what++)
    add(d, entity, (enum what)what, 0, NULL, truth);
}

struct orr_loop_numbers orr_truth_loop_numbers(const struct orr_description *spacecraft, int loop) {
  const struct orr_loop_desc *l = &spacecraft->loops[loop];
  bool turns = l->kind == ORR_LOOP_GEAR && orr_hinge_kind_info(spacecraft->bodies[l->body[1]].hinge.kind)->angles & 1;
  return orr_loop_numbers(l->kind, turns);
}

const char *orr_truth_loop_entity(const struct orr_description *spacecraft, int loop, char out[ORR_TRUTH_ENTITY]) {
  return joined("loops", spacecraft->loops[loop].name, out);
}

static void declare_loop(struct declaring *d, const struct orr_description *spacecraft, int loop) {
  char entity[ORR_TRUTH_ENTITY];
  struct orr_loop_numbers n = orr_truth_loop_numbers(spacecraft, loop);
  struct orr_truth truth = {.body = -1, .node = -1, .loop = loop};
  if (!spacecraft->loops[loop].name)
    return;
  orr_truth_loop_entity(spacecraft, loop, entity);
  if (n.moments)
    add(d, entity, LOOP_MOMENT, n.moments, NULL, truth);
  if (n.forces)
    add(d, entity, LOOP_FORCE, n.forces, NULL, truth);
  add(d, entity, LOOP_DETERMINED, n.moments + n.forces, NULL, truth);
}

int orr_truth_declare(const struct orr_description *spacecraft, struct orr_channel_table *table,
                      struct orr_truth *truths) {
  struct declaring d = {table, truths, 0};
  for (int b = 0; b < (int)spacecraft->body_count; b++) {
    const struct orr_body_desc *body = &spacecraft->bodies[b];
    const struct orr_hinge_kind_info *hinge = orr_hinge_kind_info(body->hinge.kind);
    struct orr_truth truth = {.body = b, .node = -1, .loop = -1};
    for (int what = POSITION; what < NODE_KINDS; what++)
      add(&d, body->name, (enum what)what, 0, NULL, truth);
    if (hinge->speed_count) {
      const char *unit = hinge->scalar ? shared_unit(body->hinge.kind, "rad", "m") : "";
      add(&d, body->name, Q, (int)hinge->coordinate_count, unit, truth);
      unit = shared_unit(body->hinge.kind, "rad/s", "m/s");
      add(&d, body->name, SPEED, (int)hinge->speed_count, unit, truth);
    }
    if (body->mode_count) {
      add(&d, body->name, ETA, (int)body->mode_count, NULL, truth);
      add(&d, body->name, ETA_RATE, (int)body->mode_count, NULL, truth);
    }
    add(&d, body->name, LOAD, 0, NULL, truth);
    for (size_t j = 0; j < body->node_count; j++) {
      truth.node = (int)j;
      declare_node(&d, body->name, body->nodes[j].name, truth);
    }
  }
  for (int i = 0; i < (int)spacecraft->loop_count; i++)
    declare_loop(&d, spacecraft, i);
  const struct orr_truth whole = {.body = -1, .node = -1, .loop = -1};
  for (int what = KINETIC; what < WHAT_COUNT; what++)
    add(&d, what < ANGULAR_MOMENTUM ? "energy" : "momentum", (enum what)what, 0, NULL, whole);
  return d.count;
}

bool orr_truth_is_node_load(const struct orr_truth *truth) { return truth->what == NODE_LOAD; }

bool orr_truth_needs_acceleration(const struct orr_truth *truth) {
  return truth->what == ACCELERATION || truth->what == ANGULAR || truth->what == NODE_LOAD || truth->what == LOAD ||
         truth->what == LOOP_MOMENT || truth->what == LOOP_FORCE;
}

static void fill_attitude(orr_mat3 attitude, double *last, double *out) {
  double sign = 0;
  quat_from_matrix(attitude, out);
  for (int i = 0; i < 4; i++)
    sign += out[i] * last[i];
  for (int i = 0; i < 4; i++)
    last[i] = out[i] = sign < 0 ? -out[i] : out[i];
}

/* Of one loop, after orr_closed_forward. */
static void fill_loop(const struct orr_closed *closed, const struct orr_truth *truth, double *out) {
  double numbers[ORR_LOOP_MAX_ROWS];
  const struct orr_loop *loop = &closed->loops->loops[truth->loop];
  bool turns = loop->kind == ORR_LOOP_GEAR && closed->loops->model->limbs[loop->limb[1]].kind != ORR_HINGE_PRISMATIC;
  struct orr_loop_numbers n = orr_loop_numbers(loop->kind, turns);
  int count = orr_closed_determined(closed, truth->loop, numbers);
  if (truth->what == LOOP_MOMENT)
    memcpy(out, numbers, sizeof *out * (size_t)n.moments);
  else if (truth->what == LOOP_FORCE)
    memcpy(out, numbers + n.moments, sizeof *out * (size_t)n.forces);
  for (int i = 0; i < count && truth->what == LOOP_DETERMINED; i++)
    out[i] = closed->undetermined[truth->loop][i] ? 0 : 1;
}

/* Of the whole spacecraft. */
static void fill_whole(const struct orr_model *model, struct orr_workspace *ws, enum what what, double *out) {
  if (what == KINETIC)
    out[0] = orr_kinetic_energy(model, ws);
  else if (what == POTENTIAL)
    out[0] = orr_potential_energy(model, ws);
  else if (what == ANGULAR_MOMENTUM)
    v3_to(out, orr_momentum(model, ws).w);
  else
    v3_to(out, orr_momentum(model, ws).v);
}

void orr_truth_fill(const struct orr_model *model, struct orr_workspace *ws, const struct orr_closed *closed,
                    const struct orr_truth *truth, double *last, double *out) {
  if (truth->loop >= 0) {
    fill_loop(closed, truth, out);
    return;
  }
  if (truth->body < 0) {
    fill_whole(model, ws, (enum what)truth->what, out);
    return;
  }
  const struct orr_limb *limb = &model->limbs[model->limb_of_body[truth->body]];
  struct orr_node_state state;
  if (truth->what < NODE_KINDS && truth->node >= 0)
    orr_node_query(model, ws, truth->node, &state);
  else if (truth->what < NODE_KINDS)
    orr_body_query(model, ws, truth->body, &state);
  switch ((enum what)truth->what) {
  case POSITION:
    v3_to(out, state.position);
    break;
  case ATTITUDE:
    fill_attitude(state.attitude, last, out);
    break;
  case RATE:
    v3_to(out, m3_apply_t(state.attitude, state.omega));
    break;
  case VELOCITY:
    v3_to(out, state.v);
    break;
  case ACCELERATION:
    v3_to(out, orr_node_acceleration(model, ws, truth->node).v);
    break;
  case ANGULAR:
    v3_to(out, orr_node_acceleration(model, ws, truth->node).w);
    break;
  case Q:
    memcpy(out, ws->q + limb->hinge_q, sizeof(double) * (size_t)orr_hinge_coordinates(limb->kind));
    break;
  case SPEED:
    memcpy(out, ws->u + limb->hinge_u, sizeof(double) * (size_t)limb->dof);
    break;
  case ETA:
    memcpy(out, ws->q + limb->q, sizeof(double) * (size_t)limb->mode_count);
    break;
  case ETA_RATE:
    memcpy(out, ws->u + limb->u, sizeof(double) * (size_t)limb->mode_count);
    break;
  case LOAD:
    sp_to(out, orr_hinge_force(model, ws, truth->body));
    break;
  default: /* of a loop, of the whole, or a node's load */
    break;
  }
}
