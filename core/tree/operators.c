#include "core/tree/operators.h"

#include "core/math/elementary.h"
#include "core/tree/articulated.h"
#include "core/tree/inverse.h"
#include "core/tree/kinematics.h"

/* ---- products ---------------------------------------------------------------------------------------------- */

/* Modal entries of a user vector into flexes[].force. */
static void take_modal(const struct orr_model *m, struct orr_workspace *ws, const double *x) {
  for (int k = 0; k < m->body_count; k++) {
    const struct orr_limb *limb = &m->limbs[k];
    for (int r = 0; r < limb->mode_count; r++)
      ws->flexes[limb->flex].force[r] = x[limb->u + r];
  }
}

/* z and ν for x; where x is not finite, false and all of out is NaN. */
static bool take_forces(const struct orr_model *m, struct orr_workspace *ws, const double *x, double *out) {
  orr_articulated_clear(m, ws);
  take_modal(m, ws, x);
  if (orr_articulated_forces(m, ws, x, NULL, false) == ORR_OK)
    return true;
  for (int i = 0; i < m->u_count; i++)
    out[i] = (double)NAN;
  return false;
}

void orr_inverse_mass_apply(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out) {
  if (take_forces(model, ws, x, out))
    orr_articulated_accelerations(model, ws, v3_zero(), false, out);
}

void orr_mass_apply(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out) {
  orr_articulated_clear(model, ws);
  orr_inverse_sweep(model, ws, v3_zero(), x, false, out);
  ws->forces_known = false;
}

/* ---- the two factors D_f = L diag L* of a body's modes, with U = diag L* in w ------------------------------- */

/* x = L x */
static void modes_fold(const struct orr_flex_state *flex, double *x) {
  for (int i = flex->modal.n - 1; i >= 0; i--)
    for (int j = 0; j < i; j++)
      x[i] += flex->w[j * flex->ldw + i] * flex->inverse[j] * x[j];
}
/* x = L⁻¹ x */
static void modes_unfold(const struct orr_flex_state *flex, double *x) {
  for (int j = 0; j < flex->modal.n; j++)
    for (int i = j + 1; i < flex->modal.n; i++)
      x[i] -= flex->w[j * flex->ldw + i] * flex->inverse[j] * x[j];
}
/* x = U x */
static void modes_upper(const struct orr_flex_state *flex, double *x) {
  for (int j = 0; j < flex->modal.n; j++) {
    double sum = 0;
    for (int r = j; r < flex->modal.n; r++)
      sum += flex->w[j * flex->ldw + r] * x[r];
    x[j] = sum;
  }
}
/* x = U⁻¹ x */
static void modes_back(const struct orr_flex_state *flex, double *x) {
  for (int j = flex->modal.n - 1; j >= 0; j--) {
    for (int r = j + 1; r < flex->modal.n; r++)
      x[j] -= flex->w[j * flex->ldw + r] * x[r];
    x[j] *= flex->inverse[j];
  }
}
/* (L⁻¹ μᵀ)ᵀ x: what stands beside U in w. */
static orr_spatial modes_mu(const struct orr_flex_state *flex, const double *x, bool scaled) {
  orr_spatial sum = sp_zero();
  for (int j = 0; j < flex->modal.n; j++)
    sum = sp_madd(sum, scaled ? x[j] * flex->inverse[j] : x[j], sp_from(flex->w + j * flex->ldw + flex->modal.ld));
  return sum;
}

/* x = D_R x */
static void hinge_scale(const struct orr_limb *limb, const struct orr_limb_state *state, double *x) {
  int n = limb->dof;
  for (int i = 0; i < n; i++)
    for (int k = i + 1; k < n; k++)
      x[i] += state->d[k][i] * x[k];
  for (int i = 0; i < n; i++)
    x[i] /= state->d[i][i];
  for (int i = n - 1; i > 0; i--)
    for (int k = 0; k < i; k++)
      x[i] += state->d[i][k] * x[k];
}

/* ---- factors ----------------------------------------------------------------------------------------------- */

void orr_innovations_scale(const struct orr_model *model, struct orr_workspace *ws, bool inverse, const double *x,
                           double *out) {
  memmove(out, x, sizeof(double) * (size_t)model->u_count);
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    double *hinge = out + limb->hinge_u;
    if (ws->prescribed[k])
      memset(hinge, 0, sizeof(double) * (size_t)limb->dof);
    else if (inverse)
      orr_hinge_solve(limb, &ws->limbs[k], hinge);
    else
      hinge_scale(limb, &ws->limbs[k], hinge);
    if (limb->flex < 0)
      continue;
    struct orr_flex_state *flex = &ws->flexes[limb->flex];
    if (inverse) {
      modes_unfold(flex, out + limb->u);
      modes_back(flex, out + limb->u);
    } else {
      modes_upper(flex, out + limb->u);
      modes_fold(flex, out + limb->u);
    }
  }
}

void orr_innovate(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out) {
  if (!take_forces(model, ws, x, out))
    return;
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    for (int i = 0; i < limb->dof; i++)
      out[limb->hinge_u + i] = ws->limbs[k].nu[i];
    if (!ws->prescribed[k])
      hinge_scale(limb, &ws->limbs[k], out + limb->hinge_u);
    if (limb->flex < 0)
      continue;
    memcpy(out + limb->u, ws->flexes[limb->flex].force, sizeof(double) * (size_t)limb->mode_count);
    modes_fold(&ws->flexes[limb->flex], out + limb->u);
  }
}

void orr_innovate_transposed(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out) {
  take_modal(model, ws, x);
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    for (int i = 0; i < limb->dof; i++)
      ws->limbs[k].nu[i] = ws->prescribed[k] ? 0 : x[limb->hinge_u + i];
    if (limb->flex >= 0)
      modes_upper(&ws->flexes[limb->flex], ws->flexes[limb->flex].force);
  }
  orr_articulated_accelerations(model, ws, v3_zero(), false, out);
}

/* T = ε + H z, z+ = z + G ε, tips to base: modes first, then hinge. */
static void colour_limb(const struct orr_model *m, struct orr_workspace *ws, int k, const double *x, double *out) {
  const struct orr_limb *limb = &m->limbs[k];
  struct orr_limb_state *state = &ws->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  if (limb->flex >= 0) {
    struct orr_flex_state *flex = &ws->flexes[limb->flex];
    int ld = flex->modal.ld;
    double *e = flex->force;
    memset(e, 0, sizeof(double) * (size_t)ld);
    for (int i = limb->site_first; i < limb->site_first + limb->site_count; i++)
      orr_site_force(&ws->sites[i], ws->sites[i].zeta, 1, e, ld);
    if (limb->site_own >= 0)
      orr_site_force(&ws->sites[limb->site_own], flow->z, -1, e, ld);
    for (int r = 0; r < limb->mode_count; r++) {
      out[limb->u + r] = x[limb->u + r] + e[r];
      e[r] = x[limb->u + r];
    }
    modes_unfold(flex, e);
    flow->z = sp_add(flow->z, modes_mu(flex, e, true));
  }
  double nu[6];
  for (int i = 0; i < limb->dof; i++) {
    nu[i] = ws->prescribed[k] ? 0 : x[limb->hinge_u + i];
    out[limb->hinge_u + i] = ws->prescribed[k] ? 0 : nu[i] + sp_dot(state->h[i], flow->z);
  }
  orr_spatial z = flow->z;
  if (!ws->prescribed[k]) {
    orr_hinge_solve(limb, state, nu);
    for (int i = 0; i < limb->dof; i++)
      z = sp_madd(z, nu[i], state->gain[i]);
  }
  if (limb->parent < 0)
    return;
  orr_spatial zeta = sp_force_shift(state->l, sp_rotate(state->r, z));
  ws->flows[limb->parent].z = sp_add(ws->flows[limb->parent].z, zeta);
  if (limb->site_parent >= 0)
    ws->sites[limb->site_parent].zeta = sp_add(ws->sites[limb->site_parent].zeta, zeta);
}

void orr_colour(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out) {
  orr_articulated_clear(model, ws);
  for (int k = model->body_count - 1; k >= 0; k--)
    colour_limb(model, ws, k, x, out);
}

/* ν = u̇ + G* α', α = X α' + H* u̇, base to tips. */
void orr_colour_transposed(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out) {
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    struct orr_limb_state *state = &ws->limbs[k];
    struct orr_flow *flow = &ws->flows[k];
    orr_spatial alpha = sp_zero();
    if (limb->parent >= 0)
      alpha = ws->flows[limb->parent].alpha;
    if (limb->site_parent >= 0) {
      const struct orr_flex_state *on = &ws->flexes[model->limbs[limb->parent].flex];
      alpha = sp_add(alpha, orr_site_motion(&ws->sites[limb->site_parent], on->accel, on->modal.ld));
    }
    alpha = sp_rotate_t(state->r, sp_motion_shift(state->l, alpha));
    double y[6];
    for (int i = 0; i < limb->dof; i++)
      y[i] = sp_dot(state->gain[i], alpha);
    if (!ws->prescribed[k])
      orr_hinge_solve(limb, state, y);
    for (int i = 0; i < limb->dof; i++) {
      double rate = ws->prescribed[k] ? 0 : x[limb->hinge_u + i];
      out[limb->hinge_u + i] = ws->prescribed[k] ? 0 : rate + y[i];
      alpha = sp_madd(alpha, rate, state->h[i]);
    }
    flow->alpha = alpha;
    if (limb->flex < 0)
      continue;
    struct orr_flex_state *flex = &ws->flexes[limb->flex];
    double *gain = flex->force; /* D_f⁻¹ μᵀ α_R */
    for (int r = 0; r < limb->mode_count; r++) {
      flex->accel[r] = x[limb->u + r];
      gain[r] = sp_dot(sp_from(flex->w + r * flex->ldw + flex->modal.ld), alpha);
    }
    modes_back(flex, gain);
    for (int r = 0; r < limb->mode_count; r++)
      out[limb->u + r] = flex->accel[r] + gain[r];
    if (limb->site_own >= 0)
      flow->alpha = sp_sub(alpha, orr_site_motion(&ws->sites[limb->site_own], flex->accel, flex->modal.ld));
  }
}

enum orr_status orr_log_det_mass(const struct orr_model *model, struct orr_workspace *ws, double *out) {
  bool *kept = ws->kept;
  memcpy(kept, ws->prescribed, sizeof(bool) * (size_t)model->body_count);
  memset(ws->prescribed, 0, sizeof(bool) * (size_t)model->body_count);
  enum orr_status status = orr_articulated_factor(model, ws);
  memcpy(ws->prescribed, kept, sizeof(bool) * (size_t)model->body_count);
  if (status != ORR_OK)
    return status;
  double sum = 0;
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    for (int i = 0; i < limb->dof; i++)
      sum -= orr_log(ws->limbs[k].d[i][i]);
    for (int r = 0; r < limb->mode_count; r++)
      sum -= orr_log(ws->flexes[limb->flex].inverse[r]);
  }
  *out = sum;
  return ORR_OK;
}
