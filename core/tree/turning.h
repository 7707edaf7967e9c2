/* The kernel of universal and gimbal hinges whose own node does not bend: what kinematics.c computes base to tips for
 * any hinge, with the three numbers of a vector side by side.
 *
 * Such a hinge does not slide and its axes are those of the solver, so that nothing is left of p, of the child's own
 * place and of the turn from O to S. Sines and cosines are those of take_angles. The plain twin is general_limb_axes:
 * the same sums in the same order.
 *
 * For kinematics.c only. Thread of the workspace; [rt] O(1) each.
 */
#ifndef ORR_CORE_TREE_TURNING_H
#define ORR_CORE_TREE_TURNING_H

#include "core/tree/rows.h"

/* a × b */
ORR_ROWS_INLINE orr_lanes turning_cross(orr_lanes a, orr_lanes b) {
  return rows_yzx(rows_difference(a, rows_yzx(b), rows_yzx(a), b));
}

/* rᵀ v */
ORR_ROWS_INLINE orr_lanes turning_back(struct rows_block r, orr_lanes v) {
  return lanes_madd(lanes_all(v[2]), r.z, lanes_madd(lanes_all(v[1]), r.y, lanes_all(v[0]) * r.x));
}

/* a b, row by row */
ORR_ROWS_INLINE struct rows_block turning_product(struct rows_block a, struct rows_block b) {
  return (struct rows_block){turning_back(b, a.x), turning_back(b, a.y), turning_back(b, a.z)};
}

/* c 1 + (1 − c) u uᵀ + s ũ */
ORR_ROWS_INLINE struct rows_block turning_about(const struct orr_turn_axis *axis, double sine, double cosine) {
  const orr_lanes s = lanes_all(sine), c = lanes_all(cosine), k = lanes_all(1 - cosine);
  return (struct rows_block){lanes_madd(s, axis->skew[0], lanes_madd(k, axis->outer[0], c * (orr_lanes){1, 0, 0, 0})),
                             lanes_madd(s, axis->skew[1], lanes_madd(k, axis->outer[1], c * (orr_lanes){0, 1, 0, 0})),
                             lanes_madd(s, axis->skew[2], lanes_madd(k, axis->outer[2], c * (orr_lanes){0, 0, 1, 0}))};
}

/* The hinge at one instant, as struct orr_joint. */
struct turning_joint {
  struct rows_block r;
  orr_lanes h[3], vel, bias;
};

/* Pose and motion of orr_joint_pose and orr_joint_motion. `dof` is a constant where this is called. */
ORR_ROWS_INLINE struct turning_joint turning_joint(const struct orr_turning *turning, int dof, const double *sines,
                                                   const double *cosines, const double *rates) {
  struct turning_joint joint;
  const int last = dof - 1;
  struct rows_block r = turning_about(&turning->axes[last], sines[last], cosines[last]);
  orr_lanes later = lanes_all(rates[last]) * turning->axes[last].u, sum = {0};
  joint.h[last] = turning->axes[last].u;
  for (int i = last - 1; i >= 0; i--) {
    joint.h[i] = turning_back(r, turning->axes[i].u);
    orr_lanes turn = lanes_all(rates[i]) * joint.h[i];
    sum += turning_cross(turn, later);
    later += turn;
    r = turning_product(turning_about(&turning->axes[i], sines[i], cosines[i]), r);
  }
  joint.r = r;
  joint.vel = lanes_all(rates[0]) * joint.h[0];
  for (int i = 1; i < dof; i++)
    joint.vel = lanes_madd(lanes_all(rates[i]), joint.h[i], joint.vel);
  joint.bias = sum;
  return joint;
}

/* The parent's side of the hinge, in the axes of the parent's S: struct base_motion. */
struct turning_base {
  struct rows_block r;
  orr_lanes omega, v, g, turn, push, l;
};

ORR_ROWS_INLINE struct turning_base turning_parent(const struct orr_model *m, const struct orr_workspace *ws,
                                                   const struct orr_limb *limb) {
  const orr_lanes *r0 = m->turnings[limb->turning].r0, none = {0};
  struct turning_base base = {.r = {r0[0], r0[1], r0[2]},
                              .omega = none,
                              .v = none,
                              .turn = none,
                              .push = none,
                              .l = lanes_load_three(&limb->l0.x),
                              .g = lanes_load_three(&m->gravity.x)};
  if (limb->parent < 0)
    return base;
  const struct orr_limb_state *p = &ws->limbs[limb->parent];
  const orr_lanes omega = lanes_load(&ws->flows[limb->parent].omega.x);
  orr_lanes drift = none;
  base.omega = omega;
  base.g = lanes_load_three(&p->g.x);
  if (limb->site_parent >= 0) {
    const struct orr_site_state *site = &ws->sites[limb->site_parent];
    const orr_lanes swing = lanes_load_three(&site->u.w.x);
    const struct rows_block on = {lanes_load_three(site->r.m[0]), lanes_load_three(site->r.m[1]),
                                  lanes_load_three(site->r.m[2])};
    base.l = lanes_load_three(&site->l.x);
    base.r = turning_product(on, base.r);
    base.omega = omega + swing;
    base.turn = lanes_load_three(&site->turn.x) + turning_cross(omega, swing);
    drift = lanes_load_three(&site->u.v.x);
  }
  orr_lanes spin = turning_cross(omega, base.l);
  base.v = lanes_load_three(&p->v.x) + (spin + drift);
  base.push = turning_cross(omega, lanes_madd(lanes_all(2), drift, spin));
  return base;
}

ORR_ROWS_INLINE void turning_outward_of(const struct orr_model *m, struct orr_workspace *ws, int k, int dof) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_limb_state *state = &ws->limbs[k];
  const struct turning_base base = turning_parent(m, ws, limb);
  const struct turning_joint joint = turning_joint(&m->turnings[limb->turning], dof, ws->sines + limb->angle,
                                                   ws->cosines + limb->angle, ws->u + limb->hinge_u);
  const struct rows_block r = turning_product(base.r, joint.r);
  const orr_lanes carried = turning_back(r, base.omega);
  const orr_lanes turn = turning_back(r, base.turn) + joint.bias + turning_cross(carried, joint.vel);
  const orr_lanes rows[3] = {r.x, r.y, r.z};
  for (int i = 0; i < 3; i++)
    v3_to(state->r.m[i], rows_vec3(rows[i]));
  lanes_store(&ws->flows[k].omega.x, carried + joint.vel);
  state->l = rows_vec3(base.l);
  state->v = rows_vec3(turning_back(r, base.v));
  state->g = rows_vec3(turning_back(r, base.g));
  state->a = (orr_spatial){rows_vec3(turn), rows_vec3(turning_back(r, base.push))};
  for (int i = 0; i < dof; i++)
    state->h[i] = (orr_spatial){rows_vec3(joint.h[i]), v3_zero()};
}

static inline void turning_outward(const struct orr_model *m, struct orr_workspace *ws, int k) {
  if (m->limbs[k].kind == ORR_HINGE_UNIVERSAL)
    turning_outward_of(m, ws, k, 2);
  else
    turning_outward_of(m, ws, k, 3);
}

#endif
