/* Truth: the ideal channels of every body and node.
 *
 *   <body>.position      m, inertial, of the body frame       <body>.<node>.position, .attitude, .rate, .velocity
 *   <body>.attitude      quaternion, body to inertial         <body>.<node>.acceleration   m/s², node axes, less g
 *   <body>.rate          rad/s, body axes, inertial motion    <body>.<node>.angular_acceleration   rad/s², node axes
 *   <body>.velocity      m/s, inertial                        <body>.load     [N; F] of the hinge, about O, body axes
 *   <body>.q, .speed     of the hinge                         <body>.eta, .eta_rate        of the modes
 */
#include "core/plant/plant.h"
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
  Q,
  SPEED,
  ETA,
  ETA_RATE,
  LOAD
};

static const struct orr_channel specs[] = {
    [POSITION] = {.name = "position", .unit = "m", .count = 3, .elements = orr_channel_xyz},
    [ATTITUDE] = {.name = "attitude", .unit = "", .count = 4, .elements = orr_channel_xyzw},
    [RATE] = {.name = "rate", .unit = "rad/s", .count = 3, .elements = orr_channel_xyz},
    [VELOCITY] = {.name = "velocity", .unit = "m/s", .count = 3, .elements = orr_channel_xyz},
    [ACCELERATION] = {.name = "acceleration", .unit = "m/s^2", .count = 3, .elements = orr_channel_xyz},
    [ANGULAR] = {.name = "angular_acceleration", .unit = "rad/s^2", .count = 3, .elements = orr_channel_xyz},
    [Q] = {.name = "q"},
    [SPEED] = {.name = "speed"},
    [ETA] = {.name = "eta", .unit = ""},
    [ETA_RATE] = {.name = "eta_rate", .unit = "1/s"},
    [LOAD] = {.name = "load", .unit = "", .count = 6, .elements = orr_channel_wrench},
};

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

static void declare_node(struct declaring *d, const char *body, const char *node, struct orr_truth truth) {
  char entity[2048]; /* names are at most 63 long, with the prefixes of 16 nested parts */
  size_t a = strlen(body), b = strlen(node);
  assert(a + b + 2 <= sizeof entity);
  memcpy(entity, body, a);
  entity[a] = '.';
  memcpy(entity + a + 1, node, b + 1);
  for (int what = POSITION; what <= ANGULAR; what++)
    add(d, entity, (enum what)what, 0, NULL, truth);
}

int orr_truth_declare(const struct orr_description *spacecraft, struct orr_channel_table *table,
                      struct orr_truth *truths) {
  struct declaring d = {table, truths, 0};
  for (int b = 0; b < (int)spacecraft->body_count; b++) {
    const struct orr_body_desc *body = &spacecraft->bodies[b];
    const struct orr_hinge_kind_info *hinge = orr_hinge_kind_info(body->hinge.kind);
    struct orr_truth truth = {.body = b, .node = -1};
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
  return d.count;
}

bool orr_truth_needs_acceleration(const struct orr_truth *truth) {
  return truth->what == ACCELERATION || truth->what == ANGULAR || truth->what == LOAD;
}

static void fill_attitude(orr_mat3 attitude, double *last, double *out) {
  double sign = 0;
  quat_from_matrix(attitude, out);
  for (int i = 0; i < 4; i++)
    sign += out[i] * last[i];
  for (int i = 0; i < 4; i++)
    last[i] = out[i] = sign < 0 ? -out[i] : out[i];
}

void orr_truth_fill(const struct orr_model *model, const struct orr_workspace *ws, const struct orr_truth *truth,
                    double *last, double *out) {
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
  }
}
