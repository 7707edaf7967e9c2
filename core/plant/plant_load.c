/* What a node carries: the wrench on its body of all that is attached there, inertial axes, about the node.
 *
 *   a child's hinge    −f(k), and of a rotor geared to it −s (β̇ h + β ω × h)          core/tree/geared.h
 *   a rotor            −(J Ω̇ u + J Ω ω × u): the body's inertia holds it locked       core/tree/forward.c
 *   a loop             Σ λ (the wrench of each of its rows)                            core/loops/loop.h
 *   an actuator        what it pushes, asked once more
 *
 * The node's own mass is the body's, and so is what gravity, air and light do to it.
 */
#include "core/loops/closed.h"
#include "core/plant/plant.h"
#include "core/tree/forward.h"
#include "core/tree/geared.h"
#include "core/tree/kinematics.h"

/* A wrench at a point, about another. */
static orr_spatial carried(orr_vec3 point, orr_vec3 to, orr_spatial f) { return sp_force_shift(v3_sub(point, to), f); }

/* Of limb k, about the origin of S in its axes. */
static orr_spatial of_limb(const struct orr_workspace *ws, int k, orr_vec3 at, orr_spatial f) {
  return carried(ws->limbs[k].position, at, sp_rotate(ws->limbs[k].attitude, f));
}

/* What hangs on the hinge of `body`. */
static orr_spatial hinge_load(const struct orr_plant *p, int body, orr_vec3 at) {
  struct orr_node_state own, frame;
  int k = p->model->limb_of_body[body], node = p->spacecraft->bodies[body].hinge.node;
  orr_node_query(p->model, p->ws, orr_model_node(p->model, body, node), &own);
  orr_body_query(p->model, p->ws, body, &frame);
  orr_spatial f = sp_rotate(frame.attitude, orr_hinge_force(p->model, p->ws, body));
  f = sp_sub(sp_zero(), carried(own.position, at, f));
  if (!p->ws->laden[k])
    return f;
  const double *accel = p->integration->ku[0] + p->model->limbs[k].hinge_u;
  struct orr_geared geared = orr_geared_take(p->model, p->ws, k, v3_zero(), accel, true);
  f.w = v3_sub(f.w, m3_apply(p->ws->limbs[k].attitude, geared.moment));
  return f;
}

static orr_vec3 rotor_load(const struct orr_plant *p, int i, const struct orr_node_state *at) {
  const struct orr_rotor *rotor = &p->model->rotors[i];
  orr_vec3 u = m3_apply(at->attitude, m3_apply(p->model->limbs[rotor->limb].c, rotor->axis));
  orr_vec3 turned = v3_scale(p->ws->rotor_speed[i], v3_cross(at->omega, u));
  return v3_scale(-rotor->inertia, v3_madd(turned, p->ws->rotor_accel[i], u));
}

static orr_spatial loop_load(const struct orr_plant *p, const struct orr_loop *loop, int side, orr_vec3 at) {
  const struct orr_closed *closed = p->integration->closed;
  orr_spatial sum = sp_zero();
  for (int row = loop->row; row < loop->row + loop->rows; row++)
    sum = sp_madd(sum, closed->lambda[row], closed->loops->rows[row].wrench[side]);
  return of_limb(p->ws, loop->limb[side], at, sum);
}

static orr_spatial device_load(struct orr_plant *p, const struct orr_device *device, int k, orr_vec3 at) {
  const struct orr_evaluation_point point = {.start_ns = orr_plant_time_ns(p), .index = -1};
  struct orr_acting now = p->acting;
  now.point = &point;
  now.force = p->integration->force;
  now.given = p->integration->given;
  now.taken = NULL;
  orr_force_clear(p->model, p->ws);
  device->kind->apply(device, &now);
  return of_limb(p->ws, k, at, p->ws->external[k]);
}

void orr_plant_node_load(struct orr_plant *p, const struct orr_truth *truth, double out[6]) {
  struct orr_node_state at;
  const struct orr_loops *loops = p->integration->closed ? p->integration->closed->loops : NULL;
  int index = truth->node - p->model->node_first[truth->body], k = p->model->limb_of_body[truth->body];
  orr_spatial sum = sp_zero();
  orr_node_query(p->model, p->ws, truth->node, &at);
  for (int b = 0; b < p->model->body_count; b++) {
    const struct orr_hinge_desc *hinge = &p->spacecraft->bodies[b].hinge;
    if (hinge->parent == truth->body && hinge->parent_node == index)
      sum = sp_add(sum, hinge_load(p, b, at.position));
  }
  for (int i = 0; i < p->model->rotor_count; i++)
    if (p->model->rotors[i].node == truth->node)
      sum.w = v3_add(sum.w, rotor_load(p, i, &at));
  for (int i = 0; loops && i < loops->count; i++)
    for (int side = 0; side < 2; side++)
      if (loops->loops[i].node[side] == truth->node)
        sum = sp_add(sum, loop_load(p, &loops->loops[i], side, at.position));
  for (int i = 0; i < p->device_count; i++)
    if (p->devices[i].node == truth->node && p->devices[i].kind->apply)
      sum = sp_add(sum, device_load(p, &p->devices[i], k, at.position));
  sp_to(out, (orr_spatial){m3_apply_t(at.attitude, sum.w), m3_apply_t(at.attitude, sum.v)});
}
