#include "core/tree/geared.h"

/* ω of the parent's side of the hinge, S axes: that of O less what the hinge's own speeds make. */
static orr_vec3 parent_side(const struct orr_model *m, const struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &m->limbs[k];
  orr_vec3 omega = ws->flows[k].omega;
  if (limb->site_own >= 0)
    omega = v3_add(omega, ws->sites[limb->site_own].u.w);
  for (int i = 0; i < limb->dof; i++)
    omega = v3_madd(omega, -ws->u[limb->hinge_u + i], ws->limbs[k].h[i].w);
  return omega;
}

/* Its bias: Ėθ̇ + ω × w of the node that the hinge hangs on. */
static orr_vec3 parent_bias(const struct orr_model *m, const struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &m->limbs[k];
  if (limb->site_parent < 0)
    return v3_zero();
  const struct orr_site_state *site = &ws->sites[limb->site_parent];
  orr_vec3 turn = v3_add(site->turn, v3_cross(ws->flows[limb->parent].omega, site->u.w));
  return m3_apply_t(ws->limbs[k].r, turn);
}

struct orr_geared orr_geared_take(const struct orr_model *m, const struct orr_workspace *ws, int k, orr_vec3 carried,
                                  const double *rate, bool moving) {
  const struct orr_limb *limb = &m->limbs[k];
  const orr_spatial *h = ws->limbs[k].h;
  struct orr_geared out = {.moment = v3_zero()};
  orr_vec3 omega = moving ? parent_side(m, ws, k) : v3_zero();
  if (moving)
    carried = v3_add(carried, parent_bias(m, ws, k));
  for (int i = 0; i < limb->dof; i++) {
    double spin = ws->hinge_spin[limb->hinge_u + i], beta = moving ? ws->u[limb->hinge_u + i] : 0;
    orr_vec3 axis = h[i].w;
    orr_vec3 turned = v3_scale(beta, v3_cross(omega, axis));
    orr_vec3 moment = v3_scale(spin, v3_madd(turned, rate ? rate[i] : 0, axis));
    out.effort[i] += spin * v3_dot(axis, carried);
    for (int j = 0; j < i; j++)
      out.effort[j] += v3_dot(h[j].w, moment);
    out.moment = v3_add(out.moment, moment);
    /* what carries the next axis */
    carried = v3_add(v3_madd(carried, rate ? rate[i] : 0, axis), turned);
    omega = v3_madd(omega, beta, axis);
  }
  return out;
}

double orr_geared_momentum(const struct orr_model *m, const struct orr_workspace *ws, int k, orr_vec3 *momentum) {
  const struct orr_limb *limb = &m->limbs[k];
  orr_vec3 omega = parent_side(m, ws, k);
  double energy = 0;
  *momentum = v3_zero();
  for (int i = 0; i < limb->dof; i++) {
    double beta = ws->u[limb->hinge_u + i];
    orr_vec3 axis = ws->limbs[k].h[i].w, spin = v3_scale(ws->hinge_spin[limb->hinge_u + i] * beta, axis);
    energy += 0.5 * ws->hinge_inertia[limb->hinge_u + i] * beta * beta + v3_dot(spin, omega);
    *momentum = v3_add(*momentum, spin);
    omega = v3_madd(omega, beta, axis);
  }
  return energy;
}
