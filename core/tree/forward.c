#include "core/tree/forward.h"

#include <float.h>

#include "core/tree/articulated.h"
#include "core/tree/kinematics.h"
#include "core/tree/modal_rows.h"
#include "core/tree/revolute.h"
#include "core/tree/rows.h"
#include "core/tree/turning.h"

void orr_hinge_springs_add(const struct orr_limb *limb, const double *q, const double *u, double *out) {
  for (int i = 0; i < limb->dof; i++)
    out[i] -= limb->stiffness[i] * (q[limb->hinge_q + i] - limb->rest[i]) + limb->damping[i] * u[limb->hinge_u + i];
}

/* A rotor of speed Ω under the torque τ: J (Ω̇ + u·ω̇_n) = τ, and on its node −(J Ω̇ u + J Ω ω_n × u). With Ω̇ taken
 * out, that is −τ u + J u (u·ω̇_n) − J Ω ω_n × u; the middle term is in the factor but for its bias c = u·(Ė θ̇ + ω ×
 * w). */
static void rotors_load(const struct orr_model *m, struct orr_workspace *ws) {
  for (int i = 0; i < m->rotor_count; i++) {
    const struct orr_rotor *rotor = &m->rotors[i];
    struct orr_flow *flow = &ws->flows[rotor->limb];
    struct orr_site_state *site = rotor->site >= 0 ? &ws->sites[rotor->site] : NULL;
    orr_vec3 u = rotor->axis, omega = flow->omega;
    double bias = 0;
    if (site) {
      u = m3_apply(site->r, u);
      omega = v3_add(omega, site->u.w);
      bias = v3_dot(u, v3_add(site->turn, v3_cross(flow->omega, site->u.w)));
    }
    orr_vec3 n = v3_scale(ws->rotor_torque[i] - rotor->inertia * bias, u);
    n = v3_madd(n, rotor->inertia * ws->rotor_speed[i], v3_cross(omega, u));
    flow->z.w = v3_add(flow->z.w, n);
    if (site)
      site->zeta.w = v3_add(site->zeta.w, n);
  }
}

/* Ω̇ = τ/J − u·ω̇_n */
void orr_rotors_accelerate(const struct orr_model *m, struct orr_workspace *ws) {
  orr_spatial node = sp_zero(); /* of the rotor before: wheels often share one */
  for (int i = 0; i < m->rotor_count; i++) {
    const struct orr_rotor *rotor = &m->rotors[i];
    if (i == 0 || rotor->node != rotor[-1].node)
      node = orr_node_acceleration(m, ws, rotor->node);
    orr_vec3 u = m3_apply(m->limbs[rotor->limb].c, rotor->axis); /* node axes: undeformed body axes */
    ws->rotor_accel[i] = ws->rotor_torque[i] / rotor->inertia - v3_dot(u, node.w);
  }
}

/* z of limb k, from gyroscopic and external forces, and ε_f of its modes. */
static void load_limb(const struct orr_model *m, struct orr_workspace *ws, int k, const double *force) {
  const struct orr_limb *limb = &m->limbs[k];
  ws->flows[k].z = sp_sub(ws->limbs[k].b, ws->external[k]);
  if (limb->flex < 0)
    return;
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  const double *external = ws->external_modal[limb->flex];
  for (int r = 0; r < limb->mode_count; r++)
    flex->force[r] = (force ? force[limb->u + r] : 0) + external[r] - flex->mass.bias_f[r];
  orr_modal_elastic(&flex->modal, flex->eta, flex->rate, flex->force);
}

void orr_forward_load(const struct orr_model *model, struct orr_workspace *ws, const double *force) {
  orr_limbs_complete(model, ws);
  orr_articulated_clear(model, ws);
  for (int k = 0; k < model->body_count; k++)
    load_limb(model, ws, k, force);
  rotors_load(model, ws);
}

/* Lean are limbs of the revolute kernel that are rigid or have few modes, if all that hangs on them is lean. */
static void choose_lean(const struct orr_model *m, struct orr_workspace *ws) {
  for (int k = 0; k < m->body_count; k++) {
    const struct orr_limb *limb = &m->limbs[k];
    bool few = limb->mode_count <= ORR_FEW_MODES && ws->implicit_s == 0;
    enum orr_lean lean = limb->flex < 0 && limb->site_parent < 0 ? ORR_LEAN_PLAIN : ORR_LEAN_BENT;
    ws->lean[k] = ws->fast[k] && (limb->flex < 0 || few) ? lean : ORR_LEAN_NOT;
    ws->adds[k] = false;
  }
  for (int k = m->body_count - 1; k >= 0; k--)
    if (m->limbs[k].parent >= 0 && !ws->lean[k])
      ws->lean[m->limbs[k].parent] = ORR_LEAN_NOT;
  for (int k = 0; k < m->body_count; k++) {
    int parent = m->limbs[k].parent;
    if (parent >= 0 && ws->lean[k] && m->limbs[k].site_parent < 0)
      ws->adds[parent] |= !ws->lean[parent] || m->limbs[parent].flex >= 0;
  }
  for (int k = 0; k < m->body_count; k++) {
    int parent = m->limbs[k].parent;
    ws->puts[k] = parent >= 0 && m->limbs[k].last_child && !ws->adds[parent];
  }
}

/* A limb takes the revolute kernel unless its hinge is driven, carries inertia, or has springs to be taken implicitly:
 * in these cases P+ keeps a row for the hinge. Chosen anew where something of that has changed. True if some limb has
 * to leave the kernel. */
static bool choose_kernels(const struct orr_model *m, struct orr_workspace *ws) {
  bool implicit = ws->implicit_s != 0;
  size_t bytes = sizeof(bool) * (size_t)m->body_count;
  if (ws->chosen.valid && ws->chosen.implicit == implicit && ws->chosen.laden_count == ws->laden_count &&
      memcmp(ws->chosen.prescribed, ws->prescribed, bytes) == 0)
    return ws->chosen.left;
  ws->chosen.left = false;
  for (int k = 0; k < m->body_count; k++) {
    const struct orr_limb *limb = &m->limbs[k];
    if (limb->kernel != ORR_KERNEL_REVOLUTE)
      continue;
    bool alone = !ws->laden[k] && !(implicit && limb->springs);
    ws->fast[k] = alone && !ws->prescribed[k];
    ws->chosen.left |= !ws->fast[k];
  }
  choose_lean(m, ws);
  ws->chosen.valid = true;
  ws->chosen.implicit = implicit;
  ws->chosen.laden_count = ws->laden_count;
  memcpy(ws->chosen.prescribed, ws->prescribed, bytes);
  return ws->chosen.left;
}

/* ω × I ω; ω × (ω × s) less the external force of a revolute limb. */
static void load_revolute(const struct orr_workspace *ws, int k, struct orr_flow *flow) {
  const struct orr_rigid *body = &ws->rigids[k];
  orr_vec3 w = flow->omega;
  orr_spatial b = {v3_cross(w, s3_apply(body->i, w)), v3_cross(w, v3_cross(w, body->s))};
  flow->z = sp_sub(b, ws->external[k]);
}

void orr_forward_load_still(const struct orr_model *m, struct orr_workspace *ws, const double *x) {
  orr_articulated_clear(m, ws);
  for (int k = 0; k < m->body_count; k++) {
    const struct orr_limb *limb = &m->limbs[k];
    if (limb->flex >= 0)
      memcpy(ws->flexes[limb->flex].force, x + limb->u, sizeof *x * (size_t)limb->mode_count);
  }
  rotors_load(m, ws);
}

static void load_all(const struct orr_model *m, struct orr_workspace *ws, const double *force) {
  if (choose_kernels(m, ws))
    orr_limbs_complete(m, ws);
  for (int i = 0; i < m->site_count; i++)
    ws->sites[i].zeta = sp_zero();
  for (int k = 0; k < m->body_count; k++) {
    if (ws->adds[k])
      memset(&ws->flows[k].lean.added, 0, sizeof ws->flows[k].lean.added);
    if (ws->lean[k])
      continue;
    if (m->limbs[k].kernel == ORR_KERNEL_REVOLUTE && m->limbs[k].flex < 0)
      load_revolute(ws, k, &ws->flows[k]);
    else
      load_limb(m, ws, k, force);
    orr_articulated_inertia(m, ws, k);
  }
  rotors_load(m, ws);
  orr_articulated_sites(m, ws);
}

/* What lean children have added to a limb that is not. */
static void take_added(struct orr_flow *flow) {
  flow->p = in_add(flow->p, rows_inertia(&flow->lean.added));
  flow->z = sp_add(flow->z, rows_force(&flow->lean.added));
}

/* What a lean limb has handed to a limb that is not, at a site. */
static void take_hung(struct orr_flow *flow, struct orr_site_state *site, const struct orr_rows *handed) {
  orr_inertia p = rows_inertia(handed);
  orr_spatial z = rows_force(handed);
  flow->p = in_add(flow->p, p);
  flow->z = sp_add(flow->z, z);
  site->gamma = site->loaded ? in_add(site->gamma, p) : p;
  site->zeta = sp_add(site->zeta, z);
  site->loaded = true;
}

static enum orr_status lean_failure(struct orr_workspace *ws, int k, double d, double tau) {
  const struct orr_flow *flow = &ws->flows[k];
  bool finite = d <= DBL_MAX && fabs(flow->lean.w[2]) <= DBL_MAX && fabs(tau) <= DBL_MAX && fabs(flow->sin_q) <= 2;
  ws->failed_body = ws->model->limbs[k].body;
  return finite ? ORR_ERROR_SINGULAR : ORR_ERROR_NOT_FINITE;
}

/* A lean limb without modes, on a place that does not bend. */
static enum orr_status lean_limb(const struct orr_model *m, struct orr_workspace *ws, int k, double tau) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  struct orr_rows p = rows_body(flow, &ws->bodies[k], &ws->external[k]);
  struct orr_rows *added = limb->parent >= 0 ? &ws->flows[limb->parent].lean.added : NULL;
  if (rows_inward(limb, flow, p, added, ws->puts[k], tau))
    return ORR_OK;
  return lean_failure(ws, k, ws->bodies[k].p.d[0] + flow->lean.added.d[0], tau);
}

/* The hinge of a lean limb on a place that bends, of a limb that is not lean; p are P and z of the body. */
static __attribute__((noinline)) bool bent_on_general(struct orr_workspace *ws, int k, const struct orr_rows *p,
                                                      double tau) {
  const struct orr_limb *limb = &ws->model->limbs[k];
  struct orr_rows handed;
  if (!rows_inward_bent(&ws->bents[k], &ws->flows[k], *p, &handed, true, tau))
    return false;
  take_hung(&ws->flows[limb->parent], &ws->sites[limb->site_parent], &handed);
  return true;
}

/* A lean limb with modes, or on a place that bends. */
static __attribute__((noinline)) enum orr_status bent_limb(const struct orr_model *m, struct orr_workspace *ws, int k,
                                                           const double *force, double tau) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  struct orr_rows p;
  if (limb->flex < 0) {
    p = rows_body(flow, &ws->bodies[k], &ws->external[k]);
  } else {
    enum orr_status status = orr_modal_rows_inward(m, ws, k, force, &p);
    if (status != ORR_OK) {
      ws->failed_body = limb->body;
      return status;
    }
  }
  bool on_lean = limb->parent >= 0 && ws->lean[limb->parent], good;
  if (limb->site_parent < 0) {
    struct orr_rows *added = limb->parent >= 0 ? &ws->flows[limb->parent].lean.added : NULL;
    good = rows_inward(limb, flow, p, added, ws->puts[k], tau);
  } else {
    struct orr_site_state *site = &ws->sites[limb->site_parent];
    good = on_lean ? rows_inward_bent(&ws->bents[k], flow, p, &ws->hung[limb->site_parent].added, !site->loaded, tau)
                   : bent_on_general(ws, k, &p, tau);
    site->loaded = true;
  }
  return good ? ORR_OK : lean_failure(ws, k, p.d[0], tau);
}

/* One limb of the revolute kernel: its modes, then its hinge. */
static enum orr_status revolute_limb(const struct orr_model *m, struct orr_workspace *ws, int k, double tau) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  enum orr_status status = orr_modes_inward(m, ws, k);
  if (status == ORR_OK) {
    if (revolute_inward(limb, flow, limb->parent >= 0 ? &ws->flows[limb->parent] : NULL,
                        limb->site_parent >= 0 ? &ws->sites[limb->site_parent] : NULL, tau))
      return ORR_OK;
    bool finite =
        flow->p.a.zz <= DBL_MAX && fabs(flow->z.w.z) <= DBL_MAX && fabs(tau) <= DBL_MAX && fabs(flow->sin_q) <= 2;
    status = finite ? ORR_ERROR_SINGULAR : ORR_ERROR_NOT_FINITE;
  }
  ws->failed_body = limb->body;
  return status;
}

/* Tips to base: factor and forces of each limb. */
static enum orr_status sweep_inward(const struct orr_model *m, struct orr_workspace *ws, const double *force,
                                    const double *given) {
  for (int k = m->body_count - 1; k >= 0; k--) {
    const struct orr_limb *limb = &m->limbs[k];
    const double *tau = force + limb->hinge_u;
    double with_springs[6];
    if (limb->springs) {
      memcpy(with_springs, tau, sizeof(double) * (size_t)limb->dof);
      orr_hinge_springs_add(limb, ws->q, ws->u, with_springs);
      tau = with_springs;
    }
    enum orr_status status;
    if (ws->adds[k] && !ws->lean[k])
      take_added(&ws->flows[k]);
    if (ws->lean[k] == ORR_LEAN_PLAIN) {
      status = lean_limb(m, ws, k, tau[0]);
    } else if (ws->lean[k]) {
      status = bent_limb(m, ws, k, force, tau[0]);
    } else if (ws->fast[k]) {
      status = revolute_limb(m, ws, k, tau[0]);
    } else if (turning_sweeps(limb, ws, k)) {
      status = turning_inward(m, ws, k, tau);
    } else {
      status = orr_articulated_factor_limb(m, ws, k);
      if (status == ORR_OK)
        status = orr_articulated_forces_limb(m, ws, k, tau, given ? given + limb->hinge_u : NULL, true);
    }
    if (status != ORR_OK)
      return status;
  }
  return ORR_OK;
}

/* Acceleration of the parent of a lean limb. */
static inline void on_parent(const struct orr_limb *limb, const struct orr_workspace *ws, orr_vec3 base, orr_lanes *w,
                             orr_lanes *v) {
  *w = (orr_lanes){0}, *v = (orr_lanes){base.x, base.y, base.z, 0};
  if (limb->parent < 0)
    return;
  const struct orr_flow *parent = &ws->flows[limb->parent];
  bool lean = ws->lean[limb->parent];
  *w = lean ? parent->lean.alpha_w : lanes_load_three((const double *)&parent->alpha);
  *v = lean ? parent->lean.alpha_v : lanes_load_three((const double *)&parent->alpha + 3);
}

static double accelerate_lean(const struct orr_limb *limb, struct orr_workspace *ws, int k, orr_vec3 base) {
  orr_lanes w, v;
  on_parent(limb, ws, base, &w, &v);
  return rows_accelerate(limb, &ws->flows[k], w, v);
}

static __attribute__((noinline)) void accelerate_bent(const struct orr_model *m, struct orr_workspace *ws, int k,
                                                      orr_vec3 base, double *accel) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  orr_lanes w, v;
  on_parent(limb, ws, base, &w, &v);
  if (limb->site_parent < 0) {
    accel[limb->hinge_u] = rows_accelerate(limb, flow, w, v);
  } else if (ws->lean[limb->parent]) {
    const struct orr_site_rows *hung = &ws->hung[limb->site_parent];
    accel[limb->hinge_u] = rows_accelerate_bent(&ws->bents[k], flow, w + hung->motion_w, v + hung->motion_v);
  } else {
    orr_spatial on = orr_articulated_carried(m, ws, k, base);
    w = lanes_load_three((const double *)&on);
    v = lanes_load_three((const double *)&on + 3);
    accel[limb->hinge_u] = rows_accelerate_bent(&ws->bents[k], flow, w, v);
  }
  if (limb->flex >= 0)
    orr_modal_rows_outward(m, ws, k, accel);
}

static void sweep_outward(const struct orr_model *m, struct orr_workspace *ws, double *accel) {
  orr_vec3 base = v3_neg(m->gravity);
  for (int k = 0; k < m->body_count; k++) {
    const struct orr_limb *limb = &m->limbs[k];
    if (ws->lean[k] == ORR_LEAN_PLAIN) {
      accel[limb->hinge_u] = accelerate_lean(limb, ws, k, base);
      continue;
    }
    if (ws->lean[k]) {
      accelerate_bent(m, ws, k, base, accel);
      continue;
    }
    if (turning_sweeps(limb, ws, k)) {
      turning_accelerate(m, ws, k, base, accel);
      continue;
    }
    if (!ws->fast[k]) {
      orr_articulated_accelerate_limb(m, ws, k, base, true, accel);
      continue;
    }
    const struct orr_site_state *site = limb->site_parent >= 0 ? &ws->sites[limb->site_parent] : NULL;
    orr_spatial on = limb->parent >= 0 ? ws->flows[limb->parent].alpha : (orr_spatial){v3_zero(), base};
    if (site)
      on = orr_articulated_carried(m, ws, k, base);
    accel[limb->hinge_u] = revolute_accelerate(limb, &ws->flows[k], site, on);
    if (limb->flex >= 0)
      orr_modes_outward(m, ws, k, ws->flows[k].alpha, accel);
  }
}

enum orr_status orr_forward(const struct orr_model *model, struct orr_workspace *ws, const double *force,
                            const double *given, double *accel) {
  ws->forces_known = false;
  load_all(model, ws, force);
  enum orr_status status = sweep_inward(model, ws, force, given);
  if (status != ORR_OK)
    return status;
  sweep_outward(model, ws, accel);
  orr_rotors_accelerate(model, ws);
  return ORR_OK;
}

/* f = P_R α_R + z_R about the origin of S; that origin is O where the own node does not deform. */
static orr_spatial force_at_s(const struct orr_workspace *ws, int k) {
  const struct orr_limb_state *state = &ws->limbs[k];
  const struct orr_flow *flow = &ws->flows[k];
  if (ws->forces_known)
    return state->f;
  if (ws->lean[k]) {
    int flex = ws->model->limbs[k].flex;
    struct orr_rows p = flex < 0 ? rows_sum(&ws->bodies[k].p, &flow->lean.added) : ws->flexes[flex].reduced;
    orr_spatial z = {rows_vec3(flow->lean.w), rows_vec3(flow->lean.v)};
    return sp_add(in_apply(rows_inertia(&p), flow->alpha), z);
  }
  if (ws->fast[k])
    return sp_add(in_apply(flow->p, flow->alpha), flow->z);
  return sp_add(in_apply(flow->p, state->alpha_r), flow->z);
}

orr_spatial orr_hinge_force(const struct orr_model *model, const struct orr_workspace *ws, int body) {
  int k = model->limb_of_body[body];
  const struct orr_limb *limb = &model->limbs[k];
  orr_spatial f = force_at_s(ws, k);
  if (limb->site_own >= 0)
    f = sp_force_shift(v3_neg(ws->sites[limb->site_own].l), f);
  return sp_rotate(limb->c, f);
}

struct orr_axis_force orr_hinge_force_along(const struct orr_model *model, const struct orr_workspace *ws, int body,
                                            orr_vec3 axis) {
  orr_spatial f = orr_hinge_force(model, ws, body);
  return (struct orr_axis_force){v3_dot(axis, f.w), v3_dot(axis, f.v)};
}

void orr_hinge_effort(const struct orr_model *model, const struct orr_workspace *ws, int body, double *out) {
  int k = model->limb_of_body[body];
  const struct orr_limb *limb = &model->limbs[k];
  orr_spatial f = force_at_s(ws, k);
  double springs[6] = {0};
  if (limb->springs)
    orr_hinge_springs_add(limb, ws->q, ws->u, springs);
  for (int i = 0; i < limb->dof; i++)
    out[i] = (limb->kernel == ORR_KERNEL_REVOLUTE ? f.w.z : sp_dot(ws->limbs[k].h[i], f)) - springs[i];
}
