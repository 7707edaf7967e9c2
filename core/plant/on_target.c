#include "core/plant/on_target.h"

#include "core/math/elementary.h"
#include "core/plant/world.h"
#include "core/tree/kinematics.h"

/* What is pointed, and where its target stands in the block. */
struct pointed {
  const struct orr_pointing_desc *in_time; /* NULL: it moves */
  const struct orr_device *moving;         /* NULL: it is in time */
  int node;                                /* of the model */
  int value;
};

static struct pointed find(const struct orr_plant *p, int body) {
  struct pointed found = {.node = -1};
  for (int i = 0; i < p->pointing_count; i++)
    if (p->pointings[i].body == body)
      found = (struct pointed){&p->pointings[i], NULL, orr_model_node(p->model, body, p->pointings[i].node),
                               p->table.channels[p->pointing_channel[i]].offset};
  for (int i = 0; i < p->device_count; i++)
    if (p->devices[i].kind == &orr_world_pointing_kind && p->devices[i].body == body)
      found = (struct pointed){NULL, &p->devices[i], p->devices[i].node, p->devices[i].output};
  assert(found.node >= 0);
  return found;
}

static void inverse(const double *q, double *out) {
  for (int k = 0; k < 4; k++)
    out[k] = k < 3 ? -q[k] : q[3];
}

/* 2 log q over a time, the short way. */
static orr_vec3 rate_of(const double *turn, double time_s) {
  double sign = turn[3] < 0 ? -1 : 1, length = v3_norm(v3_from(turn));
  double angle = 2 * orr_atan2(length, sign * turn[3]);
  return length > 0 ? v3_scale(sign * angle / (length * time_s), v3_from(turn)) : v3_zero();
}

/* From frame 0 on, inertial axes. */
static orr_vec3 rate_in_time(const struct orr_pointing_desc *d, const double *target) {
  const struct orr_target *t = d->targets;
  size_t i = 0;
  while (i + 1 < d->target_count && t[i + 1].at_ns <= 0)
    i++;
  if (i + 1 == d->target_count || t[i].at_ns > 0)
    return v3_zero();
  double back[4], turn[4];
  inverse(t[i].attitude, back);
  quat_mul(back, t[i + 1].attitude, turn);
  return m3_apply(quat_matrix(target), rate_of(turn, 1e-9 * (double)(t[i + 1].at_ns - t[i].at_ns)));
}

/* The turn of the node that is left to be made, inertial axes. */
static double left_to_turn(const struct orr_plant *p, const struct pointed *f, double *turn) {
  struct orr_node_state node;
  double is[4], back[4];
  orr_node_query(p->model, p->ws, f->node, &node);
  quat_from_matrix(node.attitude, is);
  inverse(is, back);
  quat_mul(p->values + f->value, back, turn);
  quat_normalise(turn);
  return v3_norm(v3_from(turn));
}

static void turn_hinge(const double *fixed, const double *turn, double *q) {
  double back[4], a[4], b[4];
  inverse(fixed, back);
  quat_mul(fixed, q, a);
  quat_mul(turn, a, b);
  quat_mul(back, b, q);
  quat_normalise(q);
}

/* Adds to the hinge's rate what the node lacks: the hinge's axes are those of O, inertially F R(q). */
static void spin_hinge(const struct orr_plant *p, const struct pointed *f, const double *fixed, const double *q,
                       double *rate) {
  struct orr_node_state node;
  orr_node_query(p->model, p->ws, f->node, &node);
  orr_vec3 wanted = f->in_time ? rate_in_time(f->in_time, p->values + f->value) : orr_world_aim_rate(f->moving, p->ws);
  orr_vec3 lacks = m3_apply_t(quat_matrix(fixed), v3_sub(wanted, node.omega));
  v3_to(rate, v3_add(v3_from(rate), m3_apply_t(quat_matrix(q), lacks)));
}

enum orr_status orr_plant_begin_on_target(struct orr_plant *p, int body, unsigned what, double *q, double *u) {
  enum { ROUNDS = 20 };
  const struct orr_limb *limb = &p->model->limbs[p->model->limb_of_body[body]];
  const double *fixed = p->spacecraft->bodies[body].hinge.rotation;
  const struct pointed f = find(p, body);
  double *attitude = q + limb->hinge_q + (limb->kind == ORR_HINGE_FREE ? 3 : 0), turn[4];
  enum orr_status status = orr_plant_reset(p);
  double left = 1;
  for (int i = 0; i < ROUNDS && status == ORR_OK && left > 1e-16; i++) {
    left = what & ORR_ON_TARGET_ATTITUDE ? left_to_turn(p, &f, turn) : 0;
    if (left > 0)
      turn_hinge(fixed, turn, attitude);
    /* where the target goes may depend on how the node moves */
    if (left > 0)
      status = orr_plant_reset(p);
    if (status == ORR_OK && what & ORR_ON_TARGET_RATE) {
      spin_hinge(p, &f, fixed, attitude, u + limb->hinge_u);
      status = orr_plant_reset(p);
    }
  }
  return status;
}
