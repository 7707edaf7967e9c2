/* The kernel of universal and gimbal hinges whose own node does not bend: what kinematics.c and articulated.c compute
 * for any hinge, with the three numbers of a vector side by side. The sweeps of accelerations take it for rigid bodies
 * on hinges that are free and carry no inertia.
 *
 * Such a hinge does not slide and its axes are those of the solver, so that nothing is left of p, of the child's own
 * place and of the turn from O to S. Sines and cosines are those of take_angles. The plain twins are general_limb_axes
 * and articulated.c.
 *
 * For kinematics.c and forward.c only. Thread of the workspace; [rt] O(1) each.
 */
#ifndef ORR_CORE_TREE_TURNING_H
#define ORR_CORE_TREE_TURNING_H

#include <float.h>

#include "core/tree/articulated.h"
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
                              .l = rows_from(&limb->l0),
                              .g = rows_from(&m->gravity)};
  if (limb->parent < 0)
    return base;
  const struct orr_limb_state *p = &ws->limbs[limb->parent];
  const orr_lanes omega = lanes_load(&ws->flows[limb->parent].omega.x);
  orr_lanes drift = none;
  base.omega = omega;
  base.g = rows_from(&p->g);
  if (limb->site_parent >= 0) {
    const struct orr_site_state *site = &ws->sites[limb->site_parent];
    const orr_lanes swing = rows_from(&site->u.w);
    const struct rows_block on = {lanes_load_three(site->r.m[0]), lanes_load_three(site->r.m[1]),
                                  lanes_load_three(site->r.m[2])};
    base.l = rows_from(&site->l);
    base.r = turning_product(on, base.r);
    base.omega = omega + swing;
    base.turn = rows_from(&site->turn) + turning_cross(omega, swing);
    drift = rows_from(&site->u.v);
  }
  orr_lanes spin = turning_cross(omega, base.l);
  base.v = rows_from(&p->v) + (spin + drift);
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

/* ---- tips to base: inertias and forces ---------------------------------------------------------------------- */

/* Whether the sweeps of accelerations take this kernel for limb k. */
static inline bool turning_sweeps(const struct orr_limb *limb, const struct orr_workspace *ws, int k) {
  return limb->turning >= 0 && limb->flex < 0 && !ws->prescribed[k] && !ws->laden[k] && ws->implicit_s == 0;
}

ORR_ROWS_INLINE struct rows_block turning_load(const orr_mat3 *m) {
  return (struct rows_block){lanes_load_three(m->m[0]), lanes_load_three(m->m[1]), lanes_load_three(m->m[2])};
}

ORR_ROWS_INLINE struct rows_block turning_full(const orr_sym3 *s) {
  orr_lanes diagonal = lanes_load_three((const double *)s), beside = lanes_load_three((const double *)s + 3),
            none = {0};
  orr_lanes x = __builtin_shufflevector(diagonal, beside, 0, 4, 5, 7);
  orr_lanes y = __builtin_shufflevector(beside, diagonal, 0, 5, 2, 7),
            z = __builtin_shufflevector(beside, none, 1, 2, 4, 5);
  return (struct rows_block){x, y, __builtin_shufflevector(z, diagonal, 0, 1, 6, 7)};
}

/* Columns in place of rows */
ORR_ROWS_INLINE struct rows_block turning_transposed(struct rows_block m) {
  orr_lanes even = __builtin_shufflevector(m.x, m.y, 0, 4, 2, 6), odd = __builtin_shufflevector(m.x, m.y, 1, 5, 3, 7);
  return (struct rows_block){__builtin_shufflevector(even, m.z, 0, 1, 4, 7),
                             __builtin_shufflevector(odd, m.z, 0, 1, 5, 7),
                             __builtin_shufflevector(even, m.z, 2, 3, 6, 7)};
}

/* m v, by rows */
ORR_ROWS_INLINE orr_lanes turning_apply(struct rows_block m, orr_lanes v) {
  const orr_lanes none = {0};
  return lanes_sums(m.x * v, m.y * v, m.z * v, none);
}

/* m − (d u) vᵀ */
ORR_ROWS_INLINE struct rows_block turning_less(struct rows_block m, orr_lanes scaled, orr_lanes v) {
  return (struct rows_block){lanes_less(lanes_all(scaled[0]), v, m.x), lanes_less(lanes_all(scaled[1]), v, m.y),
                             lanes_less(lanes_all(scaled[2]), v, m.z)};
}

/* x = D⁻¹ x, as orr_hinge_solve */
ORR_ROWS_INLINE void turning_solve(int dof, const struct orr_limb_state *state, double *x) {
  for (int i = 1; i < dof; i++)
    for (int k = 0; k < i; k++)
      x[i] -= state->d[i][k] * x[k];
  for (int i = 0; i < dof; i++)
    x[i] *= state->d[i][i];
  for (int i = dof - 2; i >= 0; i--)
    for (int k = i + 1; k < dof; k++)
      x[i] -= state->d[k][i] * x[k];
}

/* P in rows, and P H* of the hinge: H* has no linear part. */
struct turning_inertia {
  struct rows_block a, b, c;
  orr_lanes w[3], v[3];
};

/* D = H P H* = L diag L*, as factor_hinge. `most` is the largest diagonal of A. */
ORR_ROWS_INLINE enum orr_status turning_factor(int dof, struct orr_limb_state *state, const struct turning_inertia *p,
                                               double most) {
  double whole[3][3];
  for (int j = 0; j < dof; j++) {
    state->gain[j] = (orr_spatial){rows_vec3(p->w[j]), rows_vec3(p->v[j])};
    for (int i = j; i < dof; i++) {
      double sum = lanes_sum(rows_from(&state->h[i].w) * p->w[j]);
      for (int k = 0; k < j; k++)
        sum -= state->d[i][k] * whole[j][k];
      whole[i][j] = sum;
    }
    enum orr_status status = orr_pivot_status(whole[j][j], most);
    if (status != ORR_OK)
      return status;
    state->d[j][j] = 1 / whole[j][j];
    for (int i = j + 1; i < dof; i++)
      state->d[i][j] = whole[i][j] * state->d[j][j];
  }
  return ORR_OK;
}

/* r m rᵀ; `back` is rᵀ */
ORR_ROWS_INLINE struct rows_block turning_rotate(const orr_mat3 *r, struct rows_block back, struct rows_block m) {
  orr_lanes t[3];
  for (int i = 0; i < 3; i++) {
    t[i] = lanes_madd(lanes_all(r->m[i][1]), m.y, lanes_all(r->m[i][0]) * m.x);
    t[i] = turning_back(back, lanes_madd(lanes_all(r->m[i][2]), m.z, t[i]));
  }
  return (struct rows_block){t[0], t[1], t[2]};
}

/* P+ = P − P H* D⁻¹ H P, in the parent's axes, handed to the parent. */
ORR_ROWS_INLINE void turning_hand_over(const struct orr_model *m, struct orr_workspace *ws, int k, int dof,
                                       struct rows_block back, struct turning_inertia *p) {
  const struct orr_limb_state *state = &ws->limbs[k];
  for (int i = 0; i < dof; i++) {
    for (int j = 0; j < i; j++) {
      p->w[i] = lanes_less(lanes_all(state->d[i][j]), p->w[j], p->w[i]);
      p->v[i] = lanes_less(lanes_all(state->d[i][j]), p->v[j], p->v[i]);
    }
    orr_lanes inverse = lanes_all(state->d[i][i]), w = inverse * p->w[i];
    p->a = turning_less(p->a, w, p->w[i]);
    p->b = turning_less(p->b, w, p->v[i]);
    p->c = turning_less(p->c, inverse * p->v[i], p->v[i]);
  }
  p->a = turning_rotate(&state->r, back, p->a);
  p->b = turning_rotate(&state->r, back, p->b);
  p->c = turning_rotate(&state->r, back, p->c);
  const orr_inertia turned = {
      {p->a.x[0], p->a.y[1], p->a.z[2], p->a.x[1], p->a.x[2], p->a.y[2]},
      {{{p->b.x[0], p->b.x[1], p->b.x[2]}, {p->b.y[0], p->b.y[1], p->b.y[2]}, {p->b.z[0], p->b.z[1], p->b.z[2]}}},
      {p->c.x[0], p->c.y[1], p->c.z[2], p->c.x[1], p->c.x[2], p->c.y[2]}};
  orr_articulated_hang(m, ws, k, &turned);
}

ORR_ROWS_INLINE void turning_add(orr_spatial *to, orr_lanes w, orr_lanes v) {
  *to = sp_add(*to, (orr_spatial){rows_vec3(w), rows_vec3(v)});
}

ORR_ROWS_INLINE enum orr_status turning_inward_of(const struct orr_model *m, struct orr_workspace *ws, int k, int dof,
                                                  const double *tau) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_limb_state *state = &ws->limbs[k];
  const struct orr_flow *flow = &ws->flows[k];
  const orr_inertia *own = &flow->p;
  struct turning_inertia p;
  p.a = turning_full(&own->a);
  p.b = turning_load(&own->b);
  p.c = turning_full(&own->c);
  for (int i = 0; i < dof; i++) {
    p.w[i] = turning_back(p.a, rows_from(&state->h[i].w));
    p.v[i] = turning_back(p.b, rows_from(&state->h[i].w));
  }
  double most = orr_max(fabs(own->a.xx), orr_max(fabs(own->a.yy), fabs(own->a.zz)));
  enum orr_status status = turning_factor(dof, state, &p, most);
  ws->failed_body = limb->body;
  if (status != ORR_OK)
    return status;
  /* z + P a + P H* D⁻¹ (τ − H (z + P a)) */
  const orr_lanes turn = rows_from(&state->a.w), push = rows_from(&state->a.v);
  orr_lanes w = rows_from(&flow->z.w) + (turning_back(p.a, turn) + turning_apply(p.b, push));
  orr_lanes v = rows_from(&flow->z.v) + (turning_back(p.b, turn) + turning_back(p.c, push));
  for (int i = 0; i < dof; i++)
    state->nu[i] = tau[i] - lanes_sum(rows_from(&state->h[i].w) * w);
  turning_solve(dof, state, state->nu);
  for (int i = 0; i < dof; i++) {
    w = lanes_madd(lanes_all(state->nu[i]), p.w[i], w);
    v = lanes_madd(lanes_all(state->nu[i]), p.v[i], v);
  }
  if (!(lanes_sum(lanes_madd(w, w, v * v)) <= DBL_MAX))
    return ORR_ERROR_NOT_FINITE;
  if (limb->parent < 0)
    return ORR_OK;
  const struct rows_block back = turning_transposed(turning_load(&state->r));
  w = turning_back(back, w);
  v = turning_back(back, v);
  w += turning_cross(rows_from(&state->l), v);
  turning_add(&ws->flows[limb->parent].z, w, v);
  if (limb->site_parent >= 0)
    turning_add(&ws->sites[limb->site_parent].zeta, w, v);
  turning_hand_over(m, ws, k, dof, back, &p);
  return ORR_OK;
}

/* Factor and forces of limb k, as orr_articulated_factor_limb and orr_articulated_forces_limb. */
static inline enum orr_status turning_inward(const struct orr_model *m, struct orr_workspace *ws, int k,
                                             const double *tau) {
  return m->limbs[k].kind == ORR_HINGE_UNIVERSAL ? turning_inward_of(m, ws, k, 2, tau)
                                                 : turning_inward_of(m, ws, k, 3, tau);
}

/* ---- base to tips: accelerations ---------------------------------------------------------------------------- */

struct turning_motion {
  orr_lanes w, v;
};

/* orr_articulated_carried of a limb that is not a root. */
ORR_ROWS_INLINE struct turning_motion turning_carried(const struct orr_model *m, const struct orr_workspace *ws,
                                                      const struct orr_limb *limb) {
  const orr_lanes none = {0};
  const orr_spatial *on = &ws->flows[limb->parent].alpha;
  struct turning_motion motion = {rows_from(&on->w), rows_from(&on->v)};
  if (limb->site_parent < 0)
    return motion;
  const struct orr_flex_state *flex = &ws->flexes[m->limbs[limb->parent].flex];
  const double *pi = ws->sites[limb->site_parent].pi;
  const int ld = flex->modal.ld;
  orr_lanes sum[6] = {none, none, none, none, none, none};
  for (int r = 0; r < ld; r += ORR_LANES) {
    const orr_lanes accel = lanes_load(flex->accel + r);
    for (int c = 0; c < 6; c++)
      sum[c] = lanes_madd(lanes_load(pi + c * ld + r), accel, sum[c]);
  }
  motion.w += lanes_sums(sum[0], sum[1], sum[2], none);
  motion.v += lanes_sums(sum[3], sum[4], sum[5], none);
  return motion;
}

ORR_ROWS_INLINE void turning_accelerate_of(const struct orr_model *m, struct orr_workspace *ws, int k, int dof,
                                           orr_vec3 base, double *accel) {
  struct orr_limb_state *state = &ws->limbs[k];
  struct turning_motion on = {{0}, {base.x, base.y, base.z, 0}};
  if (m->limbs[k].parent >= 0)
    on = turning_carried(m, ws, &m->limbs[k]);
  const struct rows_block r = turning_load(&state->r);
  orr_lanes v = turning_back(r, on.v + turning_cross(on.w, rows_from(&state->l)));
  orr_lanes w = turning_back(r, on.w);
  double y[3];
  for (int i = 0; i < dof; i++)
    y[i] = lanes_sum(lanes_madd(rows_from(&state->gain[i].v), v, rows_from(&state->gain[i].w) * w));
  turning_solve(dof, state, y);
  w += rows_from(&state->a.w);
  v += rows_from(&state->a.v);
  for (int i = 0; i < dof; i++) {
    double beta = state->nu[i] - y[i];
    accel[m->limbs[k].hinge_u + i] = beta;
    w = lanes_madd(lanes_all(beta), rows_from(&state->h[i].w), w);
  }
  state->alpha_r = ws->flows[k].alpha = (orr_spatial){rows_vec3(w), rows_vec3(v)};
}

/* As orr_articulated_accelerate_limb. */
static inline void turning_accelerate(const struct orr_model *m, struct orr_workspace *ws, int k, orr_vec3 base,
                                      double *accel) {
  if (m->limbs[k].kind == ORR_HINGE_UNIVERSAL)
    turning_accelerate_of(m, ws, k, 2, base, accel);
  else
    turning_accelerate_of(m, ws, k, 3, base, accel);
}

#endif
