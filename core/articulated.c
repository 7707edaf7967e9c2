#include "core/articulated.h"

#include "core/kinematics.h"
#include "core/lanes.h"

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
  double full[6][6];
  in_full(p, full);
  for (int r = 0; r < ld; r += ORR_LANES) {
    orr_lanes y[6];
    for (int c = 0; c < 6; c++)
      y[c] = lanes_load(x + c * ld + r);
    for (int i = 0; i < 6; i++) {
      orr_lanes sum = full[i][0] * y[0];
      for (int c = 1; c < 6; c++)
        sum += full[i][c] * y[c];
      lanes_store(out + i * ld + r, sum);
    }
  }
}

/* Upper triangle of W += sign Σ_c xᵀ_c y_c over six rows; the start of each row is rounded down to a whole vector. */
static void add_products(double *restrict w, int ldw, int n, int ld, const double *restrict x, const double *restrict y,
                         double sign) {
  for (int r = 0; r < ld; r += ORR_LANES) {
    orr_lanes column[6];
    for (int c = 0; c < 6; c++)
      column[c] = sign * lanes_load(y + c * ld + r);
    int rows = r + ORR_LANES < n ? r + ORR_LANES : n;
    for (int s = 0; s < rows; s++) {
      orr_lanes sum = lanes_load(w + s * ldw + r);
      for (int c = 0; c < 6; c++)
        sum += x[c * ld + s] * column[c];
      lanes_store(w + s * ldw + r, sum);
    }
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
  for (int r = 0; r < 3 * ld; r += ORR_LANES) {
    lanes_store(coupling + r, lanes_load(flex->mass.l + r));
    lanes_store(coupling + 3 * ld + r, lanes_load(modal->s1 + r));
  }
  for (int s = 0; s < n; s++)
    for (int r = s / ORR_LANES * ORR_LANES; r < ld; r += ORR_LANES)
      lanes_store(w + s * ldw + r, lanes_load(modal->mff + s * ld + r));
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

/* P −= Σ_j μ_jᵀ μ_j / U_jj over the eliminated rows. */
static void subtract_modes(const struct orr_flex_state *flex, orr_inertia *p) {
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  orr_lanes sum[6][2] = {{{0}}};
  for (int j = 0; j < n; j++) {
    const double *row = flex->w + j * ldw + ld;
    orr_lanes a = lanes_load(row), b = lanes_load(row + ORR_LANES);
    for (int c = 0; c < 6; c++) {
      double k = row[c] * flex->inverse[j];
      sum[c][0] += k * a;
      sum[c][1] += k * b;
    }
  }
  p->a = s3_add(p->a,
                (orr_sym3){-sum[0][0][0], -sum[1][0][1], -sum[2][0][2], -sum[0][0][1], -sum[0][0][2], -sum[1][0][2]});
  for (int i = 0; i < 3; i++) {
    p->b.m[i][0] -= sum[i][0][3];
    p->b.m[i][1] -= sum[i][1][0];
    p->b.m[i][2] -= sum[i][1][1];
  }
  p->c = s3_add(p->c,
                (orr_sym3){-sum[3][0][3], -sum[4][1][0], -sum[5][1][1], -sum[3][1][0], -sum[3][1][1], -sum[4][1][1]});
}

/* [D_f μ; μᵀ P] by Gaussian elimination of the first n rows, from the top, each row whole: U stays in W, P becomes P_R. */
static enum orr_status eliminate_modes(struct orr_flex_state *flex, orr_inertia *p) {
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  for (int j = 0; j < n; j++) {
    const double *row = flex->w + j * ldw;
    enum orr_status status = pivot_status(row[j], flex->modal.mff[j * ld + j]);
    if (status != ORR_OK)
      return status;
    double inverse = 1 / row[j];
    flex->inverse[j] = inverse;
    for (int i = j + 1; i < n; i++) {
      double k = row[i] * inverse;
      double *under = flex->w + i * ldw;
      for (int r = i / ORR_LANES * ORR_LANES; r < ldw; r += ORR_LANES)
        lanes_store(under + r, lanes_load(under + r) - k * lanes_load(row + r));
    }
  }
  subtract_modes(flex, p);
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

enum orr_status orr_articulated_eliminate(const struct orr_model *model, struct orr_workspace *ws, int k) {
  int flex = model->links[k].flex;
  if (flex < 0)
    return ORR_OK;
  orr_articulated_modes(model, ws, k);
  return eliminate_modes(&ws->flexes[flex], &ws->flows[k].p);
}

enum orr_status orr_articulated_factor_link(const struct orr_model *model, struct orr_workspace *ws, int k) {
  const struct orr_link *link = &model->links[k];
  struct orr_link_state *state = &ws->links[k];
  struct orr_flow *flow = &ws->flows[k];
  enum orr_status status = orr_articulated_eliminate(model, ws, k);
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

void orr_site_force(const struct orr_site_state *site, orr_spatial f, double sign, double *out, int ld) {
  double k[6];
  sp_to(k, f);
  for (int r = 0; r < ld; r += ORR_LANES) {
    orr_lanes sum = k[0] * lanes_load(site->pi + r);
    for (int c = 1; c < 6; c++)
      sum += k[c] * lanes_load(site->pi + c * ld + r);
    lanes_store(out + r, lanes_load(out + r) + sign * sum);
  }
}

/* ε_f = T_f − z_f + Π_d'ᵀ z_r; L⁻¹ ε_f; z_R = z_r + μᵀ D_f⁻¹ ε_f */
void orr_articulated_modal_forces(const struct orr_model *model, struct orr_workspace *ws, int k) {
  const struct orr_link *link = &model->links[k];
  if (link->flex < 0)
    return;
  struct orr_flow *flow = &ws->flows[k];
  struct orr_flex_state *flex = &ws->flexes[link->flex];
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  double *restrict e = flex->force;
  for (int i = link->site_first; i < link->site_first + link->site_count; i++)
    orr_site_force(&ws->sites[i], ws->sites[i].zeta, -1, e, ld);
  if (link->site_own >= 0)
    orr_site_force(&ws->sites[link->site_own], flow->z, 1, e, ld);
  orr_lanes a = {0}, b = {0};
  for (int j = 0; j < n; j++) {
    const double *restrict row = flex->w + j * ldw;
    double pull = e[j] * flex->inverse[j];
    int whole = (j / ORR_LANES + 1) * ORR_LANES;
    for (int r = j + 1; r < whole; r++)
      e[r] -= pull * row[r];
    for (int r = whole; r < ld; r += ORR_LANES)
      lanes_store(e + r, lanes_load(e + r) - pull * lanes_load(row + r));
    a += pull * lanes_load(row + ld);
    b += pull * lanes_load(row + ld + ORR_LANES);
  }
  flow->z = sp_add(flow->z, (orr_spatial){v3(a[0], a[1], a[2]), v3(a[3], b[0], b[1])});
}

enum orr_status orr_articulated_forces_link(const struct orr_model *model, struct orr_workspace *ws, int k,
                                            const double *tau, const double *given, bool moving) {
  const struct orr_link *link = &model->links[k];
  struct orr_link_state *state = &ws->links[k];
  struct orr_flow *flow = &ws->flows[k];
  orr_articulated_modal_forces(model, ws, k);
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

orr_spatial orr_site_motion(const struct orr_site_state *site, const double *x, int ld) {
  orr_lanes sum[6] = {{0}};
  for (int r = 0; r < ld; r += ORR_LANES)
    for (int c = 0; c < 6; c++)
      sum[c] += lanes_load(site->pi + c * ld + r) * lanes_load(x + r);
  orr_lanes a = lanes_sums(sum[0], sum[1], sum[2], sum[3]), b = lanes_sums(sum[4], sum[5], sum[4], sum[5]);
  return (orr_spatial){v3(a[0], a[1], a[2]), v3(a[3], b[0], b[1])};
}

orr_spatial orr_articulated_carried(const struct orr_model *model, const struct orr_workspace *ws, int k,
                                    orr_vec3 base) {
  const struct orr_link *link = &model->links[k];
  if (link->parent < 0)
    return (orr_spatial){v3_zero(), base};
  orr_spatial on = ws->flows[link->parent].alpha;
  if (link->site_parent < 0)
    return on;
  const struct orr_flex_state *flex = &ws->flexes[model->links[link->parent].flex];
  return sp_add(on, orr_site_motion(&ws->sites[link->site_parent], flex->accel, flex->modal.ld));
}

/* D_f η̈ = ε_f − μᵀ α_R, backwards through U. */
static void modal_accelerations(struct orr_flex_state *flex, orr_spatial alpha_r) {
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  double *x = flex->accel;
  for (int j = n - 1; j >= 0; j--) {
    const double *row = flex->w + j * ldw;
    double sum = flex->force[j] - sp_dot(sp_from(row + ld), alpha_r);
    int whole = (j / ORR_LANES + 1) * ORR_LANES;
    for (int r = j + 1; r < whole && r < n; r++)
      sum -= row[r] * x[r];
    if (whole < ld) {
      orr_lanes rest = {0};
      for (int r = whole; r < ld; r += ORR_LANES)
        rest += lanes_load(row + r) * lanes_load(x + r);
      sum -= lanes_sum(rest);
    }
    x[j] = sum * flex->inverse[j];
  }
}

void orr_articulated_modal_accelerate(const struct orr_model *model, struct orr_workspace *ws, int k,
                                      orr_spatial alpha_r, double *accel) {
  const struct orr_link *link = &model->links[k];
  if (link->flex < 0)
    return;
  struct orr_flex_state *flex = &ws->flexes[link->flex];
  modal_accelerations(flex, alpha_r);
  for (int r = 0; r < link->mode_count; r++)
    accel[link->u + r] = flex->accel[r];
}

void orr_articulated_accelerate_link(const struct orr_model *model, struct orr_workspace *ws, int k, orr_vec3 base,
                                     bool moving, double *accel) {
  const struct orr_link *link = &model->links[k];
  struct orr_link_state *state = &ws->links[k];
  struct orr_flow *flow = &ws->flows[k];
  orr_spatial on = orr_articulated_carried(model, ws, k, base);
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
  orr_articulated_modal_accelerate(model, ws, k, alpha, accel);
  if (link->site_own < 0)
    return;
  const struct orr_flex_state *flex = &ws->flexes[link->flex];
  flow->alpha = sp_sub(alpha, orr_site_motion(&ws->sites[link->site_own], flex->accel, flex->modal.ld));
}

void orr_articulated_accelerations(const struct orr_model *model, struct orr_workspace *ws, orr_vec3 base, bool moving,
                                   double *accel) {
  for (int k = 0; k < model->body_count; k++)
    orr_articulated_accelerate_link(model, ws, k, base, moving, accel);
}
