#include "core/tree/energy.h"

#include "core/tree/geared.h"
#include "core/tree/kinematics.h"

/* A body's mass matrix at the set state, without modes. */
static struct orr_rigid rigid_part(const struct orr_model *m, const struct orr_workspace *ws, int k) {
  int flex = m->limbs[k].flex;
  if (flex < 0)
    return ws->rigids[k];
  const struct orr_flex_state *state = &ws->flexes[flex];
  return (struct orr_rigid){state->modal.mass, state->mass.s, state->mass.inertia};
}

/* [L; S] η̇ and ½ η̇ᵀ mff η̇. */
static orr_spatial modal_momentum(const struct orr_flex_state *flex, double *energy) {
  const struct orr_modal *modal = &flex->modal;
  int n = modal->n, ld = modal->ld;
  double h[6] = {0};
  *energy = 0;
  for (int r = 0; r < n; r++) {
    double sum = 0;
    for (int s = 0; s < n; s++)
      sum += modal->mff[r * ld + s] * flex->rate[s];
    *energy += 0.5 * flex->rate[r] * sum;
    for (int c = 0; c < 3; c++) {
      h[c] += flex->mass.l[c * ld + r] * flex->rate[r];
      h[3 + c] += flex->mass.s1[c * ld + r] * flex->rate[r];
    }
  }
  return sp_from(h);
}

/* h = M_rr V + M_rf η̇ of limb k about the origin of S, S axes; its kinetic energy. Rotors not included. */
static orr_spatial limb_momentum(const struct orr_model *m, const struct orr_workspace *ws, int k, double *energy) {
  const struct orr_limb_state *state = &ws->limbs[k];
  const struct orr_flow *flow = &ws->flows[k];
  struct orr_rigid body = rigid_part(m, ws, k);
  orr_spatial v = {flow->omega, state->v};
  orr_spatial h = in_apply(in_rigid(body.mass, body.s, body.i), v);
  *energy = 0.5 * sp_dot(h, v);
  if (m->limbs[k].flex < 0)
    return h;
  double modal;
  orr_spatial coupled = modal_momentum(&ws->flexes[m->limbs[k].flex], &modal);
  *energy += sp_dot(coupled, v) + modal;
  return sp_add(h, coupled);
}

/* The axis of a rotor and the angular velocity of its node, S axes. */
static orr_vec3 rotor_axis(const struct orr_workspace *ws, const struct orr_rotor *rotor, orr_vec3 *omega) {
  *omega = ws->flows[rotor->limb].omega;
  if (rotor->site < 0)
    return rotor->axis;
  const struct orr_site_state *site = &ws->sites[rotor->site];
  *omega = v3_add(*omega, site->u.w);
  return m3_apply(site->r, rotor->axis);
}

double orr_kinetic_energy(const struct orr_model *model, struct orr_workspace *ws) {
  double sum = 0;
  for (int k = 0; k < model->body_count; k++) {
    double energy;
    limb_momentum(model, ws, k, &energy);
    sum += energy;
  }
  for (int i = 0; i < model->rotor_count; i++) {
    orr_vec3 omega, u = rotor_axis(ws, &model->rotors[i], &omega);
    double spin = ws->rotor_speed[i];
    sum += model->rotors[i].inertia * spin * (0.5 * spin + v3_dot(u, omega));
  }
  if (ws->laden_count)
    orr_limbs_complete(model, ws);
  for (int k = 0; ws->laden_count && k < model->body_count; k++) {
    orr_vec3 unused;
    if (ws->laden[k])
      sum += orr_geared_momentum(model, ws, k, &unused);
  }
  return sum;
}

/* First moment about the origin of S at the deformed places, for full and linearized bodies alike. */
static orr_vec3 deformed_moment(const struct orr_model *m, const struct orr_workspace *ws, int k, double *mass) {
  int index = m->limbs[k].flex;
  *mass = ws->rigids[k].mass;
  if (index < 0)
    return ws->rigids[k].s;
  const struct orr_flex_state *flex = &ws->flexes[index];
  int ld = flex->modal.ld;
  orr_vec3 s = flex->modal.s0;
  *mass = flex->modal.mass;
  if (flex->modal.curved)
    return flex->mass.s;
  for (int r = 0; r < flex->modal.n; r++)
    s = v3_madd(s, flex->eta[r], v3(flex->modal.s1[r], flex->modal.s1[ld + r], flex->modal.s1[2 * ld + r]));
  return s;
}

static double elastic_energy(const struct orr_flex_state *flex) {
  double sum = 0;
  int n = flex->modal.n, ld = flex->modal.ld;
  for (int r = 0; r < n; r++)
    for (int s = 0; s < n; s++)
      sum += 0.5 * flex->eta[r] * flex->modal.stiffness[r * ld + s] * flex->eta[s];
  return sum;
}

double orr_potential_energy(const struct orr_model *model, struct orr_workspace *ws) {
  double sum = 0;
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    const struct orr_limb_state *state = &ws->limbs[k];
    double mass;
    orr_vec3 s = m3_apply(state->attitude, deformed_moment(model, ws, k, &mass));
    sum -= v3_dot(model->gravity, v3_madd(s, mass, state->position));
    if (limb->flex >= 0)
      sum += elastic_energy(&ws->flexes[limb->flex]);
    for (int i = 0; limb->springs && i < limb->dof; i++) {
      double stretch = ws->q[limb->hinge_q + i] - limb->rest[i];
      sum += 0.5 * limb->stiffness[i] * stretch * stretch;
    }
  }
  return sum;
}

orr_spatial orr_momentum(const struct orr_model *model, struct orr_workspace *ws) {
  orr_spatial sum = sp_zero();
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb_state *state = &ws->limbs[k];
    double energy;
    orr_spatial h = sp_rotate(state->attitude, limb_momentum(model, ws, k, &energy));
    sum = sp_add(sum, sp_force_shift(state->position, h));
  }
  for (int i = 0; i < model->rotor_count; i++) {
    const struct orr_rotor *rotor = &model->rotors[i];
    orr_vec3 omega, u = rotor_axis(ws, rotor, &omega);
    sum.w = v3_madd(sum.w, rotor->inertia * ws->rotor_speed[i], m3_apply(ws->limbs[rotor->limb].attitude, u));
  }
  if (ws->laden_count)
    orr_limbs_complete(model, ws);
  for (int k = 0; ws->laden_count && k < model->body_count; k++) {
    orr_vec3 spin;
    if (!ws->laden[k])
      continue;
    orr_geared_momentum(model, ws, k, &spin);
    sum.w = v3_add(sum.w, m3_apply(ws->limbs[k].attitude, spin));
  }
  return sum;
}

struct orr_mass_properties orr_mass_properties(const struct orr_model *model, struct orr_workspace *ws) {
  double mass = 0;
  orr_vec3 moment = v3_zero(), com = v3_zero();
  orr_sym3 about_origin = s3_zero();
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb_state *state = &ws->limbs[k];
    struct orr_rigid body = rigid_part(model, ws, k);
    orr_inertia own = in_rotate(state->attitude, in_rigid(body.mass, body.s, body.i));
    about_origin = s3_add(about_origin, in_shift(state->position, own).a);
    mass += body.mass;
    moment = v3_add(moment, v3_madd(m3_apply(state->attitude, body.s), body.mass, state->position));
  }
  if (mass > 0)
    com = v3_scale(1 / mass, moment);
  orr_sym3 i = s3_add(about_origin, s3_point(-mass, com));
  return (struct orr_mass_properties){
      .mass = mass, .com = {com.x, com.y, com.z}, .inertia = {i.xx, i.yy, i.zz, i.xy, i.xz, i.yz}};
}
