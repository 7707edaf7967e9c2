#include "core/tree/inverse.h"

#include "core/tree/articulated.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"

/* α_R = X (α + Π' η̈ of the parent) + H* β̇ + a;  α = α_R − Π_d' η̈ */
void orr_inverse_accelerate_limb(const struct orr_model *m, struct orr_workspace *ws, int k, orr_vec3 base,
                                 const double *accel, bool moving) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_limb_state *state = &ws->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  orr_spatial on = orr_articulated_carried(m, ws, k, base);
  orr_spatial alpha = sp_rotate_t(state->r, sp_motion_shift(state->l, on));
  if (moving)
    alpha = sp_add(alpha, state->a);
  for (int i = 0; i < limb->dof; i++)
    alpha = sp_madd(alpha, accel[limb->hinge_u + i], state->h[i]);
  state->alpha_r = flow->alpha = alpha;
  if (limb->flex < 0)
    return;
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  for (int r = 0; r < limb->mode_count; r++)
    flex->accel[r] = accel[limb->u + r];
  if (limb->site_own >= 0)
    flow->alpha = sp_sub(alpha, orr_site_motion(&ws->sites[limb->site_own], flex->accel, flex->modal.ld));
}

/* z += [L; S] η̈;  ε_f −= mff η̈ + [L; S]ᵀ α */
static void load_modes(const struct orr_limb *limb, struct orr_workspace *ws, struct orr_flow *flow) {
  struct orr_flex_state *flex = &ws->flexes[limb->flex];
  const struct orr_modal *modal = &flex->modal;
  int n = modal->n, ld = modal->ld;
  double z[6] = {0}, alpha[6];
  sp_to(alpha, flow->alpha);
  for (int c = 0; c < 6; c++) {
    const double *row = c < 3 ? flex->mass.l + c * ld : flex->mass.s1 + (c - 3) * ld;
    for (int r = 0; r < n; r++) {
      z[c] += row[r] * flex->accel[r];
      flex->force[r] -= row[r] * alpha[c];
    }
  }
  flow->z = sp_add(flow->z, sp_from(z));
  for (int r = 0; r < n; r++)
    for (int s = 0; s < n; s++)
      flex->force[r] -= modal->mff[r * ld + s] * flex->accel[s];
}

/* A free rotor: its spin inertia does not turn with the body. −J u (u·ω̇_n) less bias, which orr_forward_load has. */
static void load_rotors(const struct orr_model *m, struct orr_workspace *ws) {
  for (int i = 0; i < m->rotor_count; i++) {
    const struct orr_rotor *rotor = &m->rotors[i];
    struct orr_flow *flow = &ws->flows[rotor->limb];
    orr_vec3 u = rotor->axis, turn = flow->alpha.w;
    if (rotor->site >= 0) {
      const struct orr_flex_state *flex = &ws->flexes[m->limbs[rotor->limb].flex];
      u = m3_apply(ws->sites[rotor->site].r, u);
      turn = v3_add(turn, orr_site_motion(&ws->sites[rotor->site], flex->accel, flex->modal.ld).w);
    }
    orr_vec3 n = v3_scale(-rotor->inertia * v3_dot(u, turn), u);
    flow->z.w = v3_add(flow->z.w, n);
    if (rotor->site >= 0)
      ws->sites[rotor->site].zeta.w = v3_add(ws->sites[rotor->site].zeta.w, n);
  }
}

/* f = M α + z + Σ f of the children; its components along the modes and along the hinge. */
static void force_limb(const struct orr_model *m, struct orr_workspace *ws, int k, double *force) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_limb_state *state = &ws->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  if (limb->flex >= 0) {
    struct orr_flex_state *flex = &ws->flexes[limb->flex];
    int ld = flex->modal.ld;
    for (int i = limb->site_first; i < limb->site_first + limb->site_count; i++)
      orr_site_force(&ws->sites[i], ws->sites[i].zeta, -1, flex->force, ld);
    if (limb->site_own >= 0)
      orr_site_force(&ws->sites[limb->site_own], flow->z, 1, flex->force, ld);
    for (int r = 0; r < limb->mode_count; r++)
      force[limb->u + r] = -flex->force[r];
  }
  state->f = flow->z;
  for (int i = 0; i < limb->dof; i++)
    force[limb->hinge_u + i] = sp_dot(state->h[i], state->f);
  if (limb->parent < 0)
    return;
  orr_spatial zeta = sp_force_shift(state->l, sp_rotate(state->r, state->f));
  ws->flows[limb->parent].z = sp_add(ws->flows[limb->parent].z, zeta);
  if (limb->site_parent >= 0)
    ws->sites[limb->site_parent].zeta = sp_add(ws->sites[limb->site_parent].zeta, zeta);
}

void orr_inverse_sweep(const struct orr_model *model, struct orr_workspace *ws, orr_vec3 base, const double *accel,
                       bool moving, double *force) {
  orr_limbs_complete(model, ws);
  for (int k = 0; k < model->body_count; k++)
    orr_inverse_accelerate_limb(model, ws, k, base, accel, moving);
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    struct orr_flow *flow = &ws->flows[k];
    const struct orr_rigid *rigid = &ws->rigids[k];
    orr_inertia own;
    if (limb->flex < 0) {
      own = in_rigid(rigid->mass, rigid->s, rigid->i);
    } else {
      const struct orr_flex_state *flex = &ws->flexes[limb->flex];
      own = in_rigid(flex->modal.mass, flex->mass.s, flex->mass.inertia);
      load_modes(limb, ws, flow);
    }
    flow->z = sp_add(flow->z, in_apply(own, flow->alpha));
  }
  load_rotors(model, ws);
  for (int k = model->body_count - 1; k >= 0; k--)
    force_limb(model, ws, k, force);
  ws->forces_known = true;
}

void orr_inverse(const struct orr_model *model, struct orr_workspace *ws, const double *accel, double *force) {
  orr_forward_load(model, ws, NULL);
  orr_inverse_sweep(model, ws, v3_neg(model->gravity), accel, true, force);
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    double springs[6] = {0};
    if (limb->springs)
      orr_hinge_springs_add(limb, ws->q, ws->u, springs);
    for (int i = 0; i < limb->dof; i++)
      force[limb->hinge_u + i] -= springs[i];
  }
}
