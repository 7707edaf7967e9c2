#include "core/tree/kinematics.h"

#include "core/math/lanes.h"
#include "core/math/sincos.h"
#include "core/tree/revolute.h"
#include "core/tree/rows.h"
#include "core/tree/turning.h"

/* Σ_r m[c][r] x[r] for the three components c. */
static orr_vec3 combine(const double *m, const double *x, int ld) {
  orr_lanes sum[3] = {{0}};
  for (int r = 0; r < ld; r += ORR_LANES)
    for (int c = 0; c < 3; c++)
      sum[c] = lanes_madd(lanes_load(m + c * ld + r), lanes_load(x + r), sum[c]);
  orr_lanes all = lanes_sums(sum[0], sum[1], sum[2], sum[2]);
  return v3(all[0], all[1], all[2]);
}

/* Σ_s x_s G_sr and Σ_s y_s G_sr of modes r … r + 3. */
static inline void bend_block(const struct orr_node *n, const struct orr_modal *modal, const double *restrict x,
                              const double *restrict y, int r, orr_lanes bend[3], orr_lanes other[3]) {
  int count = modal->n;
  if (modal->line) {
    const double along[3] = {modal->along.x, modal->along.y, modal->along.z}, *row = n->mass.curve + r * count;
    orr_lanes a = {0}, b = {0};
    for (int s = 0; s < count; s++) {
      orr_lanes g = lanes_load(row + s * ORR_LANES);
      a += x[s] * g;
      b += y[s] * g;
    }
    for (int c = 0; c < 3; c++) {
      bend[c] = along[c] * a;
      other[c] = along[c] * b;
    }
    return;
  }
  const double *row = n->mass.curve + r * count * ORR_MODAL_CURVE;
  for (int c = 0; c < 3; c++)
    bend[c] = other[c] = (orr_lanes){0};
  for (int s = 0; s < count; s++)
    for (int c = 0; c < 3; c++) {
      orr_lanes g = lanes_load(row + (s * ORR_MODAL_CURVE + c) * ORR_LANES);
      bend[c] += x[s] * g;
      other[c] += y[s] * g;
    }
}

/* x u − y v of four modes. */
static inline orr_lanes lanes_difference(double x, orr_lanes u, double y, orr_lanes v) {
  return lanes_madd(lanes_all(x), u, -(lanes_all(y) * v));
}

/* Π' about the origin of S: [E Π_s; `last` + l × E Π_s], four modes at a time. Its last rows may be `last`. */
static void fill_pi(const struct orr_site_state *at, const double *slope, const double *last, int ld) {
  double *pi = at->pi;
  const orr_vec3 l = at->l;
  for (int r = 0; r < ld; r += ORR_LANES) {
    orr_lanes x = lanes_load(slope + r), y = lanes_load(slope + ld + r), z = lanes_load(slope + 2 * ld + r), w[3];
    orr_lanes a = lanes_load(last + r), b = lanes_load(last + ld + r), c = lanes_load(last + 2 * ld + r);
    for (int i = 0; i < 3; i++) {
      orr_lanes sum = lanes_madd(lanes_all(at->e.m[i][1]), y, lanes_all(at->e.m[i][0]) * x);
      w[i] = lanes_madd(lanes_all(at->e.m[i][2]), z, sum);
      lanes_store(pi + i * ld + r, lanes_all(0) + w[i]);
    }
    lanes_store(pi + 3 * ld + r, a + lanes_difference(l.y, w[2], l.z, w[1]));
    lanes_store(pi + 4 * ld + r, b + lanes_difference(l.z, w[0], l.x, w[2]));
    lanes_store(pi + 5 * ld + r, c + lanes_difference(l.x, w[1], l.y, w[0]));
  }
}

/* Second-order shapes: l = at + (Π_t + ½ H) η, l̇ = (Π_t + H) η̇ and η̇ᵀ G η̇, with H_r = Σ_s η_s G_sr. Π_t + H goes to
 * the last rows of Π', which are wanted about the origin of S. */
static void bend_place(const struct orr_node *n, const struct orr_flex_state *flex, struct orr_site_state *out) {
  int ld = flex->modal.ld;
  const double *shift = n->mass.shift;
  orr_lanes moved[3] = {{0}}, drift[3] = {{0}}, push[3] = {{0}};
  for (int r = 0; r < ld; r += ORR_LANES) {
    orr_lanes bend[3], bend_rate[3], eta = lanes_load(flex->eta + r), rate = lanes_load(flex->rate + r);
    bend_block(n, &flex->modal, flex->eta, flex->rate, r, bend, bend_rate);
    for (int c = 0; c < 3; c++) {
      orr_lanes pi = lanes_load(shift + c * ld + r);
      moved[c] += eta * (pi + 0.5 * bend[c]);
      pi += bend[c];
      drift[c] += rate * pi;
      push[c] += rate * bend_rate[c];
      if (out->pi)
        lanes_store(out->pi + (3 + c) * ld + r, pi);
    }
  }
  orr_lanes a = lanes_sums(moved[0], moved[1], moved[2], drift[0]);
  orr_lanes b = lanes_sums(drift[1], drift[2], push[0], push[1]);
  out->l = v3_add(n->at, v3(a[0], a[1], a[2]));
  out->u.v = v3(a[3], b[0], b[1]);
  out->push = v3(b[2], b[3], lanes_sum(push[2]));
  if (out->pi)
    fill_pi(out, n->mass.slope, out->pi + 3 * ld, ld);
}

/* Π η and Π η̇ of a node: what modes turn and move it by, and how fast. */
struct bending {
  orr_vec3 theta, theta_rate, moved, drift;
};

static inline struct bending bend_linear(const struct orr_node *n, const struct orr_flex_state *flex) {
  const int ld = flex->modal.ld;
  const double *slope = n->mass.slope, *shift = n->mass.shift;
  orr_lanes turned[3] = {{0}}, rate[3] = {{0}}, moved[3] = {{0}}, drift[3] = {{0}};
  for (int r = 0; r < ld; r += ORR_LANES) {
    const orr_lanes eta = lanes_load(flex->eta + r), eta_rate = lanes_load(flex->rate + r);
    for (int c = 0; c < 3; c++) {
      const orr_lanes s = lanes_load(slope + c * ld + r), t = lanes_load(shift + c * ld + r);
      turned[c] = lanes_madd(s, eta, turned[c]);
      rate[c] = lanes_madd(s, eta_rate, rate[c]);
      moved[c] = lanes_madd(t, eta, moved[c]);
      drift[c] = lanes_madd(t, eta_rate, drift[c]);
    }
  }
  orr_lanes a = lanes_sums(turned[0], turned[1], turned[2], rate[0]);
  orr_lanes b = lanes_sums(rate[1], rate[2], moved[0], moved[1]);
  orr_lanes c = lanes_sums(moved[2], drift[0], drift[1], drift[2]);
  return (struct bending){v3(a[0], a[1], a[2]), v3(a[3], b[0], b[1]), v3(b[2], b[3], c[0]), v3(c[1], c[2], c[3])};
}

static void place_undeformed(const struct orr_node *n, struct orr_site_state *out) {
  out->l = n->at;
  out->r = out->e = m3_identity();
  out->u = sp_zero();
  out->turn = v3_zero();
}

/* Places: l = at + Π_t η, exp(θ) with θ = Π_s η; their rates l̇ = Π_t η̇, w = E θ̇, and Ė θ̇. */
void orr_place_evaluate(const struct orr_model *model, const struct orr_workspace *ws, int node,
                        struct orr_site_state *out) {
  const struct orr_node *n = &model->nodes[node];
  const struct orr_limb *limb = &model->limbs[n->limb];
  if (limb->flex < 0) {
    place_undeformed(n, out);
    return;
  }
  const struct orr_flex_state *flex = &ws->flexes[limb->flex];
  const struct bending b = bend_linear(n, flex);
  orr_turn k = turn_coefficients(b.theta);
  out->e = turn_jacobian(k, b.theta);
  out->r = turn_exp(k, b.theta);
  out->u.w = m3_apply(out->e, b.theta_rate);
  out->turn = turn_rate(k, b.theta, b.theta_rate);
  if (limb->curved) {
    bend_place(n, flex, out);
    return;
  }
  out->l = v3_add(n->at, b.moved);
  out->u.v = b.drift;
  if (out->pi)
    fill_pi(out, n->mass.slope, n->mass.shift, flex->modal.ld);
}

/* Where a node is, as the last orr_state_set left it: at its site, or in `room` where it has none. */
static const struct orr_site_state *place_of(const struct orr_model *model, const struct orr_workspace *ws, int node,
                                             struct orr_site_state *room) {
  const struct orr_node *n = &model->nodes[node];
  if (n->site >= 0)
    return &ws->sites[n->site];
  room->pi = NULL;
  orr_place_evaluate(model, ws, node, room);
  return room;
}

/* Motion of the parent's side of a hinge, parent's S axes. */
struct base_motion {
  orr_vec3 omega, v, g; /* of the axes O+; gravity */
  orr_vec3 turn;        /* angular acceleration beyond the body's own and the modes' */
  orr_vec3 push;        /* the same for the acceleration of the point */
  orr_mat3 r;           /* O+ axes in the parent's S axes */
  orr_vec3 l;           /* the point, from the origin of the parent's S */
};

static struct base_motion parent_side(const struct orr_model *m, const struct orr_workspace *ws,
                                      const struct orr_limb *limb) {
  struct base_motion base = {.r = limb->r0, .l = limb->l0};
  if (limb->parent < 0) {
    base.g = m->gravity;
    return base;
  }
  const struct orr_limb_state *p = &ws->limbs[limb->parent];
  orr_vec3 drift = v3_zero();
  orr_vec3 omega = ws->flows[limb->parent].omega;
  base.omega = omega;
  base.g = p->g;
  if (limb->site_parent >= 0) {
    const struct orr_site_state *site = &ws->sites[limb->site_parent];
    base.l = site->l;
    base.r = m3_mul(site->r, limb->r0);
    base.omega = v3_add(omega, site->u.w);
    base.turn = v3_add(site->turn, v3_cross(omega, site->u.w));
    drift = site->u.v;
  }
  orr_vec3 spin = v3_cross(omega, base.l);
  base.v = v3_add(p->v, v3_add(spin, drift));
  base.push = v3_cross(omega, v3_madd(spin, 2, drift));
  return base;
}

/* What second-order shapes on either side of a hinge add to the bias: η̇ᵀ G η̇ of the parent's node, less that of the
 * own. By itself, so that the bits of linear shapes do not hang on it. */
static __attribute__((noinline)) void bend_bias(const struct orr_workspace *ws, const struct orr_limb *limb,
                                                struct orr_limb_state *state) {
  if (limb->site_parent >= 0 && ws->sites[limb->site_parent].curved)
    state->a.v = v3_add(state->a.v, m3_apply_t(state->r, ws->sites[limb->site_parent].push));
  if (limb->site_own >= 0 && ws->sites[limb->site_own].curved)
    state->a.v = v3_sub(state->a.v, ws->sites[limb->site_own].push);
}

/* The joint, then the child's own node: pose (r, l), H_F, motion and bias of S. Where `alike`, O axes are S axes. */
static inline __attribute__((always_inline)) void general_limb_axes(const struct orr_model *m, struct orr_workspace *ws,
                                                                    int k, bool alike) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_limb_state *state = &ws->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  struct base_motion base = parent_side(m, ws, limb);
  struct orr_joint joint;
  orr_joint_pose(limb->kind, limb->axes, ws->q + limb->hinge_q, &joint);
  orr_joint_motion(limb->kind, ws->u + limb->hinge_u, &joint);

  orr_mat3 o = m3_transpose(limb->c); /* O axes → S axes */
  orr_vec3 own = v3_zero(), drift = v3_zero(), turn = v3_zero(), spin = v3_zero();
  if (limb->site_own >= 0) {
    const struct orr_site_state *site = &ws->sites[limb->site_own];
    o = m3_mul(site->r, o);
    own = site->l;
    drift = site->u.v;
    turn = site->turn;
    spin = site->u.w;
  }
  orr_spatial vel = alike ? joint.vel : sp_rotate(o, joint.vel), bias = alike ? joint.bias : sp_rotate(o, joint.bias);
  orr_vec3 w_joint = vel.w, v_joint = vel.v; /* S axes */

  orr_mat3 r = m3_mul(base.r, alike ? joint.r : m3_mul(joint.r, m3_transpose(o)));
  orr_vec3 p = m3_apply(base.r, joint.p); /* O+ to O, the parent's S axes; so are base.… and `swing` */
  orr_vec3 w_carried = m3_apply_t(r, base.omega);
  state->r = r;
  state->l = v3_sub(v3_add(base.l, p), m3_apply(r, own));
  flow->omega = v3_sub(v3_add(w_carried, w_joint), spin);
  /* v_O = v+ + ω+ × p + v_J;  v = v_O − ω × l_d − l̇_d */
  orr_vec3 swing = v3_cross(base.omega, p);
  state->v = v3_add(m3_apply_t(r, v3_add(base.v, swing)), v_joint);
  state->v = v3_sub(v3_sub(state->v, v3_cross(flow->omega, own)), drift);
  state->g = m3_apply_t(r, base.g);

  /* O: ω̇ = turn+ + ζω + ω+ × ω_J;  a = push+ + turn+ × p + ω+ × (ω+ × p) + 2 ω+ × v_J + ζv */
  orr_vec3 ang = v3_add(m3_apply_t(r, base.turn), bias.w);
  ang = v3_add(ang, v3_cross(w_carried, w_joint));
  orr_vec3 lin = v3_add(base.push, v3_add(v3_cross(base.turn, p), v3_cross(base.omega, swing)));
  lin = v3_add(m3_apply_t(r, lin), bias.v);
  lin = v3_madd(lin, 2, v3_cross(w_carried, v_joint));
  /* S: ω̇ −= Ėθ̇ + ω × w;  a −= ω̇ × l_d + ω × (ω × l_d) + 2 ω × l̇_d + η̇ᵀ G η̇ */
  ang = v3_sub(ang, v3_add(turn, v3_cross(flow->omega, spin)));
  lin = v3_sub(lin, v3_cross(ang, own));
  lin = v3_sub(lin, v3_cross(flow->omega, v3_madd(v3_cross(flow->omega, own), 2, drift)));
  state->a = (orr_spatial){ang, lin};

  for (int i = 0; i < limb->dof; i++) {
    orr_spatial h = alike ? joint.h[i] : sp_rotate(o, joint.h[i]);
    state->h[i] = (orr_spatial){h.w, v3_sub(h.v, v3_cross(h.w, own))};
  }
}

static void general_limb(const struct orr_model *m, struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &m->limbs[k];
  if (limb->turning >= 0)
    turning_outward(m, ws, k);
  else if (limb->kernel == ORR_KERNEL_GENERAL && limb->site_own < 0)
    general_limb_axes(m, ws, k, true);
  else
    general_limb_axes(m, ws, k, false);
  if (limb->bends)
    bend_bias(ws, limb, &ws->limbs[k]);
}

/* A body with modes: its coordinates, its sites, its mass matrix; needs ω of S, which own-site rates enter, so sites
 * come before the limb and the mass matrix after it. */
static void set_modes(const struct orr_model *m, struct orr_workspace *ws, const struct orr_limb *limb) {
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  for (int r = 0; r < limb->mode_count; r++) {
    flex->eta[r] = ws->q[limb->q + r];
    flex->rate[r] = ws->u[limb->u + r];
  }
  for (int i = limb->site_first; i < limb->site_first + limb->site_count; i++)
    orr_place_evaluate(m, ws, m->sites[i].node, &ws->sites[i]);
}

static void general_body(const struct orr_model *m, struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_limb_state *state = &ws->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  if (limb->flex < 0) {
    struct rows_wrench bias = rows_bias(&ws->bodies[k], flow);
    state->b = (orr_spatial){rows_vec3(bias.w), rows_vec3(bias.v)};
    return;
  }
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  const struct orr_modal *modal = &flex->modal;
  orr_modal_evaluate(modal, flex->eta, flex->rate, flow->omega, state->v, &flex->mass);
  state->b = flex->mass.bias;
  if (modal->linearized) {
    /* gravity acts at the deformed places, which M_m(0) does not know: s1 η × g */
    orr_vec3 moved = combine(modal->s1, flex->eta, modal->ld);
    state->b.w = v3_sub(state->b.w, v3_cross(moved, state->g));
  }
}

/* sin q and cos q of all revolute, universal and gimbal limbs that have kernels of their own. */
static void take_angles(const struct orr_model *m, struct orr_workspace *ws) {
  for (int k = 0; k < m->body_count; k++) {
    const struct orr_limb *limb = &m->limbs[k];
    if (limb->kernel == ORR_KERNEL_REVOLUTE)
      ws->angles[limb->angle] = ws->q[limb->hinge_q];
    for (int i = 0; limb->turning >= 0 && i < limb->dof; i++)
      ws->angles[limb->angle + i] = ws->q[limb->hinge_q + i];
  }
  orr_sincos(ws->angles, ws->sines, ws->cosines, (m->angle_count + 3) / 4 * 4);
}

static void set_revolute(const struct orr_model *m, struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  flow->sin_q = ws->sines[limb->angle];
  flow->cos_q = ws->cosines[limb->angle];
  const struct orr_flow *parent = limb->parent >= 0 ? &ws->flows[limb->parent] : NULL;
  if (limb->site_parent < 0)
    rows_outward(limb, flow, parent, ws->u[limb->hinge_u]);
  else
    rows_outward_bent(limb, flow, &ws->bents[k], parent, &ws->sites[limb->site_parent], ws->u[limb->hinge_u]);
}

/* r, l and v of a revolute limb from its flow: all that poses and energies ask for. */
static void place_revolute(const struct orr_model *m, struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &m->limbs[k];
  const struct orr_flow *flow = &ws->flows[k];
  struct orr_limb_state *state = &ws->limbs[k];
  const struct orr_site_state *site = limb->site_parent >= 0 ? &ws->sites[limb->site_parent] : NULL;
  orr_vec3 x = turn_out(limb, spin_out(flow, v3(1, 0, 0)));
  orr_vec3 y = turn_out(limb, spin_out(flow, v3(0, 1, 0)));
  orr_vec3 z = turn_out(limb, v3(0, 0, 1));
  state->r = (orr_mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
  state->l = limb->l0;
  orr_vec3 drift = v3_zero();
  if (site) {
    state->r = m3_mul(site->r, state->r);
    state->l = site->l;
    drift = site->u.v;
  }
  state->v = v3_zero();
  if (limb->parent < 0)
    return;
  orr_vec3 carried = v3_add(drift, v3_cross(ws->flows[limb->parent].omega, state->l));
  state->v = m3_apply_t(state->r, v3_add(ws->limbs[limb->parent].v, carried));
}

/* The general form of a revolute limb beside its flow, which stays as its kernel made it: queries must not change
 * bits. */
static void complete_revolute(const struct orr_model *m, struct orr_workspace *ws, int k) {
  orr_vec3 omega = ws->flows[k].omega;
  general_limb(m, ws, k);
  place_revolute(m, ws, k);
  ws->flows[k].omega = omega;
  if (m->limbs[k].flex < 0)
    general_body(m, ws, k);
}

void orr_state_set(const struct orr_model *model, struct orr_workspace *ws, const double *q, const double *u) {
  memcpy(ws->q, q, sizeof *q * (size_t)model->q_count);
  memcpy(ws->u, u, sizeof *u * (size_t)model->u_count);
  ws->complete = model->needs_velocity;
  if (model->angle_count)
    take_angles(model, ws);
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    if (limb->flex >= 0)
      set_modes(model, ws, limb);
    if (limb->kernel == ORR_KERNEL_REVOLUTE) {
      set_revolute(model, ws, k);
      if (model->needs_velocity)
        complete_revolute(model, ws, k);
    } else {
      general_limb(model, ws, k);
    }
    if (limb->flex >= 0 || limb->kernel != ORR_KERNEL_REVOLUTE)
      general_body(model, ws, k);
  }
}

void orr_limbs_complete(const struct orr_model *model, struct orr_workspace *ws) {
  if (ws->complete)
    return;
  for (int k = 0; k < model->body_count; k++) {
    if (model->limbs[k].kernel == ORR_KERNEL_REVOLUTE)
      complete_revolute(model, ws, k);
    else
      general_limb(model, ws, k);
  }
  ws->complete = true;
}

void orr_poses_update(const struct orr_model *model, struct orr_workspace *ws) {
  for (int k = 0; k < model->body_count; k++) {
    if (!ws->complete) {
      if (model->limbs[k].kernel == ORR_KERNEL_REVOLUTE)
        place_revolute(model, ws, k);
      else if (model->limbs[k].on_revolute)
        general_limb(model, ws, k); /* for v, which its parents' were missing for */
    }
    struct orr_limb_state *state = &ws->limbs[k];
    int parent = model->limbs[k].parent;
    orr_mat3 r = parent < 0 ? m3_identity() : ws->limbs[parent].attitude;
    orr_vec3 p = parent < 0 ? v3_zero() : ws->limbs[parent].position;
    state->attitude = m3_mul(r, state->r);
    state->position = v3_add(p, m3_apply(r, state->l));
  }
}

void orr_force_clear(const struct orr_model *model, struct orr_workspace *ws) {
  memset(ws->external, 0, sizeof *ws->external * (size_t)model->body_count);
  for (int i = 0; i < model->flex_count; i++)
    memset(ws->external_modal[i], 0, sizeof(double) * (size_t)model->modals[i].ld);
}

/* Σ_s η_s f·G_sr of a node with second-order shapes. */
static void bend_force(const struct orr_node *n, const struct orr_flex_state *flex, orr_vec3 f, double *out) {
  int count = flex->modal.n;
  for (int r = 0; r < count; r++)
    for (int s = 0; s < count; s++)
      out[r] += flex->eta[s] * v3_dot(f, orr_node_bend(&flex->modal, &n->mass, s, r));
}

/* Virtual work of a wrench at a deformed place: on the body frame [N + l × F; F], on the modes (E Π_s)ᵀ N + Π_tᵀ F,
 * and of second-order shapes (η G)ᵀ F. */
void orr_force_add(const struct orr_model *model, struct orr_workspace *ws, int node, enum orr_axes axes,
                   orr_vec3 force, orr_vec3 moment) {
  const struct orr_node *n = &model->nodes[node];
  const struct orr_limb *limb = &model->limbs[n->limb];
  struct orr_site_state room;
  const struct orr_site_state *place = place_of(model, ws, node, &room);
  const orr_mat3 *from = axes == ORR_AXES_INERTIAL ? &ws->limbs[n->limb].attitude : &limb->c;
  orr_vec3 f = m3_apply_t(*from, force), t = m3_apply_t(*from, moment); /* S axes */
  if (axes == ORR_AXES_NODE) {
    f = m3_apply(place->r, f);
    t = m3_apply(place->r, t);
  }
  ws->external[n->limb] = sp_add(ws->external[n->limb], sp_force_shift(place->l, (orr_spatial){t, f}));
  if (limb->flex < 0)
    return;
  const struct orr_flex_state *flex = &ws->flexes[limb->flex];
  const double *slope = n->mass.slope, *shift = n->mass.shift;
  const int ld = flex->modal.ld;
  orr_vec3 turned = m3_apply_t(place->e, t);
  double *out = ws->external_modal[limb->flex];
  for (int r = 0; r < ld; r += ORR_LANES) {
    orr_lanes sum = lanes_load(out + r);
    sum = lanes_madd(lanes_all(turned.x), lanes_load(slope + r), sum);
    sum = lanes_madd(lanes_all(turned.y), lanes_load(slope + ld + r), sum);
    sum = lanes_madd(lanes_all(turned.z), lanes_load(slope + 2 * ld + r), sum);
    sum = lanes_madd(lanes_all(f.x), lanes_load(shift + r), sum);
    sum = lanes_madd(lanes_all(f.y), lanes_load(shift + ld + r), sum);
    lanes_store(out + r, lanes_madd(lanes_all(f.z), lanes_load(shift + 2 * ld + r), sum));
  }
  if (limb->curved)
    bend_force(n, flex, f, out);
}

void orr_node_query(const struct orr_model *model, const struct orr_workspace *ws, int node,
                    struct orr_node_state *out) {
  int k = model->nodes[node].limb;
  const struct orr_limb_state *state = &ws->limbs[k];
  const struct orr_flow *flow = &ws->flows[k];
  struct orr_site_state room;
  const struct orr_site_state *place = place_of(model, ws, node, &room);
  orr_vec3 v = v3_add(state->v, v3_add(v3_cross(flow->omega, place->l), place->u.v));
  out->position = v3_add(state->position, m3_apply(state->attitude, place->l));
  out->attitude = m3_mul(state->attitude, m3_mul(place->r, m3_transpose(model->limbs[k].c)));
  out->omega = m3_apply(state->attitude, v3_add(flow->omega, place->u.w));
  out->v = m3_apply(state->attitude, v);
}

/* Σ_s η_s Σ_r G_sr η̈_r */
static orr_vec3 bend_motion(const struct orr_node *n, const struct orr_flex_state *flex) {
  orr_lanes sum[3] = {{0}};
  for (int r = 0; r < flex->modal.ld; r += ORR_LANES) {
    orr_lanes accel = lanes_load(flex->accel + r), bend[3], unused[3];
    bend_block(n, &flex->modal, flex->eta, flex->eta, r, bend, unused);
    for (int c = 0; c < 3; c++)
      sum[c] += accel * bend[c];
  }
  return v3(lanes_sum(sum[0]), lanes_sum(sum[1]), lanes_sum(sum[2]));
}

orr_spatial orr_node_acceleration(const struct orr_model *model, const struct orr_workspace *ws, int node) {
  const struct orr_node *n = &model->nodes[node];
  const struct orr_limb *limb = &model->limbs[n->limb];
  const struct orr_flow *flow = &ws->flows[n->limb];
  struct orr_site_state room;
  const struct orr_site_state *place = place_of(model, ws, node, &room);
  orr_vec3 ang = v3_add(flow->alpha.w, v3_add(place->turn, v3_cross(flow->omega, place->u.w)));
  orr_vec3 lin = v3_add(flow->alpha.v, v3_cross(flow->alpha.w, place->l));
  lin = v3_add(lin, v3_cross(flow->omega, v3_madd(v3_cross(flow->omega, place->l), 2, place->u.v)));
  if (limb->flex >= 0) {
    const struct orr_flex_state *flex = &ws->flexes[limb->flex];
    int ld = flex->modal.ld;
    ang = v3_add(ang, m3_apply(place->e, combine(n->mass.slope, flex->accel, ld)));
    lin = v3_add(lin, combine(n->mass.shift, flex->accel, ld));
    if (limb->curved)
      lin = v3_add(lin, v3_add(place->push, bend_motion(n, flex)));
  }
  orr_mat3 to_node = m3_mul(limb->c, m3_transpose(place->r));
  return (orr_spatial){m3_apply(to_node, ang), m3_apply(to_node, lin)};
}

void orr_body_query(const struct orr_model *model, const struct orr_workspace *ws, int body,
                    struct orr_node_state *out) {
  int k = model->limb_of_body[body];
  const struct orr_limb *limb = &model->limbs[k];
  const struct orr_limb_state *state = &ws->limbs[k];
  const struct orr_flow *flow = &ws->flows[k];
  orr_vec3 back = v3_neg(m3_apply_t(limb->c, limb->at)); /* origin of F from that of S, S axes */
  out->attitude = m3_mul(state->attitude, m3_transpose(limb->c));
  out->position = v3_add(state->position, m3_apply(state->attitude, back));
  out->omega = m3_apply(state->attitude, flow->omega);
  out->v = m3_apply(state->attitude, v3_add(state->v, v3_cross(flow->omega, back)));
}
