#include "core/forward.h"

#include "core/articulated.h"
#include "core/kinematics.h"

void orr_hinge_springs(const struct orr_link *link, const double *q, const double *u, double *out) {
  for (int i = 0; i < link->dof; i++) {
    out[i] = 0;
    if (link->springs)
      out[i] = -link->stiffness[i] * (q[link->hinge_q + i] - link->rest[i]) - link->damping[i] * u[link->hinge_u + i];
  }
}

/* A rotor of speed Ω under the torque τ: J (Ω̇ + u·ω̇_n) = τ, and on its node −(J Ω̇ u + J Ω ω_n × u). With Ω̇ taken out,
 * that is −τ u + J u (u·ω̇_n) − J Ω ω_n × u; the middle term is in the factor but for its bias c = u·(Ė θ̇ + ω × w). */
static void rotors_load(const struct orr_model *m, struct orr_workspace *ws) {
  for (int i = 0; i < m->rotor_count; i++) {
    const struct orr_rotor *rotor = &m->rotors[i];
    struct orr_link_state *state = &ws->links[rotor->link];
    struct orr_site_state *site = rotor->site >= 0 ? &ws->sites[rotor->site] : NULL;
    orr_vec3 u = rotor->axis, omega = state->omega;
    double bias = 0;
    if (site) {
      u = m3_apply(site->r, u);
      omega = v3_add(omega, site->u.w);
      bias = v3_dot(u, v3_add(site->turn, v3_cross(state->omega, site->u.w)));
    }
    orr_vec3 n = v3_scale(ws->rotor_torque[i] - rotor->inertia * bias, u);
    n = v3_madd(n, rotor->inertia * ws->rotor_speed[i], v3_cross(omega, u));
    state->z.w = v3_add(state->z.w, n);
    if (site)
      site->zeta.w = v3_add(site->zeta.w, n);
  }
}

/* Ω̇ = τ/J − u·ω̇_n */
static void rotors_accelerate(const struct orr_model *m, struct orr_workspace *ws) {
  for (int i = 0; i < m->rotor_count; i++) {
    const struct orr_rotor *rotor = &m->rotors[i];
    orr_spatial node = orr_node_acceleration(m, ws, rotor->node);
    orr_vec3 u = m3_apply(m->links[rotor->link].c, rotor->axis); /* node axes: undeformed body axes */
    ws->rotor_accel[i] = ws->rotor_torque[i] / rotor->inertia - v3_dot(u, node.w);
  }
}

void orr_forward_load(const struct orr_model *model, struct orr_workspace *ws, const double *force) {
  orr_articulated_clear(model, ws);
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_link *link = &model->links[k];
    struct orr_link_state *state = &ws->links[k];
    state->z = sp_sub(state->b, ws->external[k]);
    if (link->flex < 0)
      continue;
    struct orr_flex_state *flex = &ws->flexes[link->flex];
    const double *external = ws->external_modal[link->flex];
    for (int r = 0; r < link->mode_count; r++)
      flex->force[r] = (force ? force[link->u + r] : 0) + external[r] - flex->mass.bias_f[r];
    orr_modal_elastic(&flex->modal, flex->eta, flex->rate, flex->force);
  }
  rotors_load(model, ws);
}

enum orr_status orr_forward(const struct orr_model *model, struct orr_workspace *ws, const double *force,
                            const double *given, double *accel) {
  enum orr_status status = orr_articulated_factor(model, ws);
  if (status != ORR_OK)
    return status;
  ws->forces_known = false;
  orr_forward_load(model, ws, force);
  double *tau = ws->effort;
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_link *link = &model->links[k];
    orr_hinge_springs(link, ws->q, ws->u, tau + link->hinge_u);
    for (int i = 0; i < link->dof; i++)
      tau[link->hinge_u + i] += force[link->hinge_u + i];
  }
  status = orr_articulated_forces(model, ws, tau, given, true);
  if (status != ORR_OK)
    return status;
  orr_articulated_accelerations(model, ws, v3_neg(model->gravity), true, accel);
  rotors_accelerate(model, ws);
  return ORR_OK;
}

/* f = P_R α_R + z_R about the origin of S; that origin is O where the own node does not deform. */
static orr_spatial force_at_s(const struct orr_workspace *ws, int k) {
  const struct orr_link_state *state = &ws->links[k];
  if (ws->forces_known)
    return state->f;
  return sp_add(in_apply(state->p, state->alpha_r), state->z);
}

orr_spatial orr_hinge_force(const struct orr_model *model, const struct orr_workspace *ws, int body) {
  int k = model->link_of_body[body];
  const struct orr_link *link = &model->links[k];
  orr_spatial f = force_at_s(ws, k);
  if (link->site_own >= 0)
    f = sp_force_shift(v3_neg(ws->sites[link->site_own].l), f);
  return sp_rotate(link->c, f);
}

struct orr_axis_force orr_hinge_force_along(const struct orr_model *model, const struct orr_workspace *ws, int body,
                                            orr_vec3 axis) {
  orr_spatial f = orr_hinge_force(model, ws, body);
  return (struct orr_axis_force){v3_dot(axis, f.w), v3_dot(axis, f.v)};
}

void orr_hinge_effort(const struct orr_model *model, const struct orr_workspace *ws, int body, double *out) {
  int k = model->link_of_body[body];
  const struct orr_link *link = &model->links[k];
  orr_spatial f = force_at_s(ws, k);
  double springs[6];
  orr_hinge_springs(link, ws->q, ws->u, springs);
  for (int i = 0; i < link->dof; i++)
    out[i] = sp_dot(ws->links[k].h[i], f) - springs[i];
}
