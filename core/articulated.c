#include "core/articulated.h"

#include "core/kinematics.h"

#include <float.h>

/* A pivot that is not above this part of the largest it is measured against is singular: sixteen digits less what
 * cancels in a sweep. */
static const double PIVOT_FLOOR = 1e-14;

static enum orr_status pivot_status(double pivot, double scale) {
  if (!(fabs(pivot) <= DBL_MAX) || !(scale <= DBL_MAX))
    return ORR_ERROR_NOT_FINITE;
  return pivot > PIVOT_FLOOR * scale ? ORR_OK : ORR_ERROR_SINGULAR;
}

/* ---- factor: the modal block ------------------------------------------------------------------------------- */

/* Six rows of n: out = P x for x = [6][ld]. */
static void inertia_rows(const orr_inertia *p, const double *restrict x, double *restrict out, int ld) {
  for (int r = 0; r < ld; r++) {
    orr_spatial y = in_apply(
        *p, (orr_spatial){v3(x[r], x[ld + r], x[2 * ld + r]), v3(x[3 * ld + r], x[4 * ld + r], x[5 * ld + r])});
    out[r] = y.w.x, out[ld + r] = y.w.y, out[2 * ld + r] = y.w.z;
    out[3 * ld + r] = y.v.x, out[4 * ld + r] = y.v.y, out[5 * ld + r] = y.v.z;
  }
}

/* Upper triangle of W += Σ_c xᵀ_c y_c over six rows; the start of each row is rounded down to a whole vector. */
static void add_products(double *restrict w, int ldw, int n, int ld, const double *restrict x, const double *restrict y,
                         double sign) {
  for (int s = 0; s < n; s++) {
    double k[6];
    for (int c = 0; c < 6; c++)
      k[c] = sign * x[c * ld + s];
    double *restrict row = w + s * ldw;
    for (int r = s / 4 * 4; r < ld; r++)
      row[r] += k[0] * y[r] + k[1] * y[ld + r] + k[2] * y[2 * ld + r] + k[3] * y[3 * ld + r] + k[4] * y[4 * ld + r] +
                k[5] * y[5 * ld + r];
  }
}

/* W += s D + s² K: the modal block of a step that takes elastic forces where it ends. */
static void add_elastic(const struct orr_modal *modal, double step, double *restrict w, int ldw) {
  for (int s = 0; s < modal->n; s++)
    for (int r = 0; r < modal->n; r++)
      w[s * ldw + r] += step * (modal->damping[s * modal->ld + r] + step * modal->stiffness[s * modal->ld + r]);
}

/* P_ff, P_rf from the mass matrix and the sites, then D_f and μ = P_rf − P_rr Π_d'. */
void orr_articulated_modes(const struct orr_model *model, struct orr_workspace *ws, int k) {
  const struct orr_link *link = &model->links[k];
  double *y = ws->scratch; /* [6][ld] */
  struct orr_flex_state *flex = &ws->flexes[link->flex];
  const struct orr_modal *modal = &flex->modal;
  int n = modal->n, ld = modal->ld, ldw = flex->ldw;
  double *restrict coupling = flex->coupling, *restrict w = flex->w;
  memcpy(coupling, flex->mass.l, sizeof(double) * 3 * (size_t)ld);
  memcpy(coupling + 3 * ld, modal->s1, sizeof(double) * 3 * (size_t)ld);
  for (int s = 0; s < n; s++)
    memcpy(w + s * ldw, modal->mff + s * ld, sizeof(double) * (size_t)ld);
  if (ws->implicit_s != 0)
    add_elastic(modal, ws->implicit_s, w, ldw);
  for (int i = link->site_first; i < link->site_first + link->site_count; i++) {
    const struct orr_site_state *site = &ws->sites[i];
    if (!site->loaded)
      continue;
    inertia_rows(&site->gamma, site->pi, y, ld);
    add_products(w, ldw, n, ld, site->pi, y, 1);
    for (int r = 0; r < 6 * ld; r++)
      coupling[r] += y[r];
  }
  if (link->site_own >= 0) {
    /* D_f = P_ff − Π_d'ᵀ μ − P_frΠ_d' */
    const double *pi = ws->sites[link->site_own].pi;
    inertia_rows(&ws->flows[k].p, pi, y, ld);
    add_products(w, ldw, n, ld, coupling, pi, -1);
    for (int r = 0; r < 6 * ld; r++)
      coupling[r] -= y[r];
    add_products(w, ldw, n, ld, pi, coupling, -1);
  }
  for (int s = 0; s < n; s++)
    for (int c = 0; c < 6; c++)
      w[s * ldw + ld + c] = coupling[c * ld + s];
}

/* [D_f μ; μᵀ P] by Gaussian elimination of the first n rows, from the top, each row whole: U stays in W, P becomes P_R. */
static enum orr_status eliminate_modes(struct orr_flex_state *flex, orr_inertia *p) {
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  double *restrict w = flex->w;
  for (int j = 0; j < n; j++) {
    const double *restrict row = w + j * ldw;
    double own = flex->modal.mff[j * ld + j];
    enum orr_status status = pivot_status(row[j], own);
    if (status != ORR_OK)
      return status;
    double inverse = 1 / row[j];
    flex->inverse[j] = inverse;
    for (int i = j + 1; i < n; i++) {
      double k = row[i] * inverse;
      double *restrict under = w + i * ldw;
      for (int r = i / 4 * 4; r < ldw; r++)
        under[r] -= k * row[r];
    }
    *p = in_rank1(*p, inverse, sp_from(row + ld));
  }
  return ORR_OK;
}

/* ---- factor: the hinge block ------------------------------------------------------------------------------- */

/* Largest diagonal of P's block that a column of H acts on. */
static double pivot_scale(const orr_inertia *p, orr_spatial h) {
  double turn = fmax(fabs(p->a.xx), fmax(fabs(p->a.yy), fabs(p->a.zz)));
  double push = fmax(fabs(p->c.xx), fmax(fabs(p->c.yy), fabs(p->c.zz)));
  return turn * v3_dot(h.w, h.w) + push * v3_dot(h.v, h.v);
}

/* What stands on the diagonal of D beside H P H*: geared rotors, and s c + s² k of an implicit step. */
static double hinge_extra(const struct orr_link *link, const struct orr_workspace *ws, int i) {
  double s = ws->implicit_s;
  return ws->hinge_inertia[link->hinge_u + i] + s * (link->damping[i] + s * link->stiffness[i]);
}

/* D = H P H* = L diag L*, and gain = P H*. */
static enum orr_status factor_hinge(const struct orr_link *link, const struct orr_workspace *ws,
                                    struct orr_link_state *state, const orr_inertia *p) {
  int n = link->dof;
  for (int j = 0; j < n; j++)
    state->gain[j] = in_apply(*p, state->h[j]);
  for (int j = 0; j < n; j++) {
    double pivot = sp_dot(state->h[j], state->gain[j]) + hinge_extra(link, ws, j);
    for (int k = 0; k < j; k++)
      pivot -= state->d[j][k] * state->d[j][k] / state->d[k][k];
    enum orr_status status = pivot_status(pivot, pivot_scale(p, state->h[j]));
    if (status != ORR_OK)
      return status;
    state->d[j][j] = 1 / pivot;
    for (int i = j + 1; i < n; i++) {
      double sum = sp_dot(state->h[i], state->gain[j]);
      for (int k = 0; k < j; k++)
        sum -= state->d[i][k] * state->d[j][k] / state->d[k][k];
      state->d[i][j] = sum * state->d[j][j];
    }
  }
  return ORR_OK;
}

/* x = D⁻¹ x */
void orr_hinge_solve(const struct orr_link *link, const struct orr_link_state *state, double *x) {
  int n = link->dof;
  for (int i = 1; i < n; i++)
    for (int k = 0; k < i; k++)
      x[i] -= state->d[i][k] * x[k];
  for (int i = 0; i < n; i++)
    x[i] *= state->d[i][i];
  for (int i = n - 2; i >= 0; i--)
    for (int k = i + 1; k < n; k++)
      x[i] -= state->d[k][i] * x[k];
}

/* P+ = P − P H* D⁻¹ H P, one rank at a time with y = L⁻¹ (H P): a prescribed hinge passes P whole. */
static orr_inertia hinge_project(const struct orr_link *link, const struct orr_link_state *state, orr_inertia p) {
  orr_spatial y[6];
  for (int i = 0; i < link->dof; i++) {
    y[i] = state->gain[i];
    for (int k = 0; k < i; k++)
      y[i] = sp_madd(y[i], -state->d[i][k], y[k]);
    p = in_rank1(p, state->d[i][i], y[i]);
  }
  return p;
}

/* P+ of link k, seen from its parent's origin, onto the parent's body or the site where it hangs. */
void orr_articulated_to_parent(const struct orr_model *model, struct orr_workspace *ws, int k, orr_inertia plus) {
  const struct orr_link *link = &model->links[k];
  const struct orr_link_state *state = &ws->links[k];
  if (link->parent < 0)
    return;
  orr_inertia gamma = in_shift(state->l, in_rotate(state->r, plus));
  struct orr_flow *parent = &ws->flows[link->parent];
  parent->p = in_add(parent->p, gamma);
  if (link->site_parent < 0)
    return;
  struct orr_site_state *site = &ws->sites[link->site_parent];
  site->gamma = site->loaded ? in_add(site->gamma, gamma) : gamma;
  site->loaded = true;
}

/* A free rotor takes its spin inertia away from its body about the axis. */
static void rotors_inertia(const struct orr_model *m, struct orr_workspace *ws) {
  for (int i = 0; i < m->rotor_count; i++) {
    const struct orr_rotor *rotor = &m->rotors[i];
    struct orr_site_state *site = rotor->site >= 0 ? &ws->sites[rotor->site] : NULL;
    orr_vec3 u = site ? m3_apply(site->r, rotor->axis) : rotor->axis;
    orr_spatial a = {u, v3_zero()};
    struct orr_flow *flow = &ws->flows[rotor->link];
    flow->p = in_rank1(flow->p, rotor->inertia, a);
    if (!site)
      continue;
    site->gamma = in_rank1(site->loaded ? site->gamma : in_zero(), rotor->inertia, a);
    site->loaded = true;
  }
}

enum orr_status orr_articulated_factor_link(const struct orr_model *model, struct orr_workspace *ws, int k) {
  const struct orr_link *link = &model->links[k];
  struct orr_link_state *state = &ws->links[k];
  struct orr_flow *flow = &ws->flows[k];
  enum orr_status status = ORR_OK;
  if (link->flex >= 0) {
    orr_articulated_modes(model, ws, k);
    status = eliminate_modes(&ws->flexes[link->flex], &flow->p);
  }
  bool held = ws->prescribed[k];
  if (status == ORR_OK && !held)
    status = factor_hinge(link, ws, state, &flow->p);
  if (status != ORR_OK) {
    ws->failed_body = link->body;
    return status;
  }
  orr_articulated_to_parent(model, ws, k, held ? flow->p : hinge_project(link, state, flow->p));
  return ORR_OK;
}

void orr_articulated_inertias(const struct orr_model *model, struct orr_workspace *ws) {
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_link *link = &model->links[k];
    const struct orr_rigid *rigid = &ws->rigids[k];
    if (link->flex < 0) {
      ws->flows[k].p = in_rigid(rigid->mass, rigid->s, rigid->i);
    } else {
      const struct orr_flex_state *flex = &ws->flexes[link->flex];
      ws->flows[k].p = in_rigid(flex->modal.mass, flex->mass.s, flex->mass.inertia);
    }
  }
  for (int i = 0; i < model->site_count; i++)
    ws->sites[i].loaded = false;
  rotors_inertia(model, ws);
}

enum orr_status orr_articulated_factor(const struct orr_model *model, struct orr_workspace *ws) {
  orr_links_complete(model, ws);
  orr_articulated_inertias(model, ws);
  for (int k = model->body_count - 1; k >= 0; k--) {
    enum orr_status status = orr_articulated_factor_link(model, ws, k);
    if (status != ORR_OK)
      return status;
  }
  return ORR_OK;
}

/* ---- forces ------------------------------------------------------------------------------------------------ */

void orr_articulated_clear(const struct orr_model *model, struct orr_workspace *ws) {
  for (int k = 0; k < model->body_count; k++)
    ws->flows[k].z = sp_zero();
  for (int i = 0; i < model->site_count; i++)
    ws->sites[i].zeta = sp_zero();
  for (int i = 0; i < model->flex_count; i++)
    memset(ws->flexes[i].force, 0, sizeof(double) * (size_t)ws->flexes[i].modal.ld);
}

void orr_site_force(const struct orr_site_state *site, orr_spatial f, double sign, double *restrict out, int ld) {
  const double *restrict x = site->pi;
  double k[6];
  sp_to(k, f);
  for (int r = 0; r < ld; r++)
    out[r] += sign * (k[0] * x[r] + k[1] * x[ld + r] + k[2] * x[2 * ld + r] + k[3] * x[3 * ld + r] +
                      k[4] * x[4 * ld + r] + k[5] * x[5 * ld + r]);
}

/* ε_f = T_f − z_f + Π_d'ᵀ z_r; L⁻¹ ε_f; z_R = z_r + μᵀ D_f⁻¹ ε_f */
static void modal_forces(const struct orr_link *link, struct orr_workspace *ws, struct orr_flow *flow) {
  struct orr_flex_state *flex = &ws->flexes[link->flex];
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  double *restrict e = flex->force;
  for (int i = link->site_first; i < link->site_first + link->site_count; i++)
    orr_site_force(&ws->sites[i], ws->sites[i].zeta, -1, e, ld);
  if (link->site_own >= 0)
    orr_site_force(&ws->sites[link->site_own], flow->z, 1, e, ld);
  for (int j = 0; j < n; j++) {
    const double *restrict row = flex->w + j * ldw;
    double k = e[j] * flex->inverse[j];
    for (int r = j + 1; r < n; r++)
      e[r] -= k * row[r];
    flow->z = sp_madd(flow->z, k, sp_from(row + ld));
  }
}

enum orr_status orr_articulated_forces_link(const struct orr_model *model, struct orr_workspace *ws, int k,
                                            const double *tau, const double *given, bool moving) {
  const struct orr_link *link = &model->links[k];
  struct orr_link_state *state = &ws->links[k];
  struct orr_flow *flow = &ws->flows[k];
  if (link->flex >= 0)
    modal_forces(link, ws, flow);
  orr_spatial z = flow->z;
  if (moving)
    z = sp_add(z, in_apply(flow->p, state->a));
  if (ws->prescribed[k]) {
    orr_spatial driven = sp_zero();
    for (int i = 0; i < link->dof; i++) {
      state->nu[i] = given ? given[i] : 0;
      driven = sp_madd(driven, state->nu[i], state->h[i]);
    }
    z = sp_add(z, in_apply(flow->p, driven));
  } else {
    for (int i = 0; i < link->dof; i++)
      state->nu[i] = tau[i] - sp_dot(state->h[i], z);
    orr_hinge_solve(link, state, state->nu);
    for (int i = 0; i < link->dof; i++)
      z = sp_madd(z, state->nu[i], state->gain[i]);
  }
  if (!(fabs(sp_dot(z, z)) <= DBL_MAX)) {
    ws->failed_body = link->body;
    return ORR_ERROR_NOT_FINITE;
  }
  if (link->parent < 0)
    return ORR_OK;
  orr_spatial zeta = sp_force_shift(state->l, sp_rotate(state->r, z));
  ws->flows[link->parent].z = sp_add(ws->flows[link->parent].z, zeta);
  if (link->site_parent >= 0)
    ws->sites[link->site_parent].zeta = sp_add(ws->sites[link->site_parent].zeta, zeta);
  return ORR_OK;
}

enum orr_status orr_articulated_forces(const struct orr_model *model, struct orr_workspace *ws, const double *tau,
                                       const double *given, bool moving) {
  for (int k = model->body_count - 1; k >= 0; k--) {
    int at = model->links[k].hinge_u;
    enum orr_status status = orr_articulated_forces_link(model, ws, k, tau + at, given ? given + at : NULL, moving);
    if (status != ORR_OK)
      return status;
  }
  return ORR_OK;
}

/* ---- accelerations ----------------------------------------------------------------------------------------- */

orr_spatial orr_site_motion(const struct orr_site_state *site, const double *restrict x, int ld) {
  double sum[6];
  for (int c = 0; c < 6; c++) {
    double part[4] = {0, 0, 0, 0};
    for (int r = 0; r < ld; r += 4)
      for (int i = 0; i < 4; i++)
        part[i] += site->pi[c * ld + r + i] * x[r + i];
    sum[c] = (part[0] + part[1]) + (part[2] + part[3]);
  }
  return sp_from(sum);
}

/* D_f η̈ = ε_f − μᵀ α_R, backwards through U. */
static void modal_accelerations(struct orr_flex_state *flex, orr_spatial alpha_r) {
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  double *restrict x = flex->accel;
  for (int j = n - 1; j >= 0; j--) {
    const double *restrict row = flex->w + j * ldw;
    double sum = flex->force[j] - sp_dot(sp_from(row + ld), alpha_r);
    for (int r = j + 1; r < n; r++)
      sum -= row[r] * x[r];
    x[j] = sum * flex->inverse[j];
  }
}

void orr_articulated_accelerate_link(const struct orr_model *model, struct orr_workspace *ws, int k, orr_vec3 base,
                                     bool moving, double *accel) {
  const struct orr_link *link = &model->links[k];
  struct orr_link_state *state = &ws->links[k];
  struct orr_flow *flow = &ws->flows[k];
  orr_spatial on = {v3_zero(), base};
  if (link->parent >= 0)
    on = ws->flows[link->parent].alpha;
  if (link->site_parent >= 0) {
    const struct orr_flex_state *flex = &ws->flexes[model->links[link->parent].flex];
    on = sp_add(on, orr_site_motion(&ws->sites[link->site_parent], flex->accel, flex->modal.ld));
  }
  orr_spatial alpha = sp_rotate_t(state->r, sp_motion_shift(state->l, on));
  double beta[6], y[6];
  for (int i = 0; i < link->dof; i++)
    y[i] = sp_dot(state->gain[i], alpha);
  if (!ws->prescribed[k])
    orr_hinge_solve(link, state, y);
  for (int i = 0; i < link->dof; i++) {
    beta[i] = ws->prescribed[k] ? state->nu[i] : state->nu[i] - y[i];
    accel[link->hinge_u + i] = beta[i];
  }
  if (moving)
    alpha = sp_add(alpha, state->a);
  for (int i = 0; i < link->dof; i++)
    alpha = sp_madd(alpha, beta[i], state->h[i]);
  state->alpha_r = flow->alpha = alpha;
  if (link->flex < 0)
    return;
  struct orr_flex_state *flex = &ws->flexes[link->flex];
  modal_accelerations(flex, alpha);
  for (int r = 0; r < link->mode_count; r++)
    accel[link->u + r] = flex->accel[r];
  if (link->site_own < 0)
    return;
  flow->alpha = sp_sub(alpha, orr_site_motion(&ws->sites[link->site_own], flex->accel, flex->modal.ld));
}

void orr_articulated_accelerations(const struct orr_model *model, struct orr_workspace *ws, orr_vec3 base, bool moving,
                                   double *accel) {
  for (int k = 0; k < model->body_count; k++)
    orr_articulated_accelerate_link(model, ws, k, base, moving, accel);
}
