#include "core/tree/articulated.h"

#include "core/math/lanes.h"
#include "core/tree/geared.h"
#include "core/tree/kinematics.h"

#include <float.h>

/* ---- factor: the hinge block ------------------------------------------------------------------------------- */

static double larger(double a, double b) { return a > b ? a : b; }

/* What stands on the diagonal of D beside H P H*: geared rotors, and s c + s² k of an implicit step. */
static double hinge_extra(const struct orr_limb *limb, const struct orr_workspace *ws, int i) {
  double s = ws->implicit_s;
  return ws->hinge_inertia[limb->hinge_u + i] + s * (limb->damping[i] + s * limb->stiffness[i]);
}

/* gain = P H* and D = H P H* = L diag L*, column by column; `whole` is L diag. Rotors geared to the hinge add to both
 * (geared.h); where nothing is added (`more` is false) nothing is spent on it. A pivot is measured against the largest
 * diagonal of P's block that the column of H acts on. */
static inline enum orr_status factor_hinge(const struct orr_limb *limb, const struct orr_workspace *ws,
                                           struct orr_limb_state *state, const orr_inertia *p, bool more) {
  int n = limb->dof;
  double whole[6][6];
  double turn = larger(fabs(p->a.xx), larger(fabs(p->a.yy), fabs(p->a.zz)));
  double push = larger(fabs(p->c.xx), larger(fabs(p->c.yy), fabs(p->c.zz)));
  for (int j = 0; j < n; j++) {
    orr_spatial h = state->h[j];
    state->gain[j] = in_apply(*p, h);
    for (int i = j; i < n; i++) {
      double sum = sp_dot(state->h[i], state->gain[j]);
      if (more)
        sum += i == j ? hinge_extra(limb, ws, j) : orr_geared_between(limb, ws, state, i, j);
      for (int k = 0; k < j; k++)
        sum -= state->d[i][k] * whole[j][k];
      whole[i][j] = sum;
    }
    enum orr_status status = orr_pivot_status(whole[j][j], turn * v3_dot(h.w, h.w) + push * v3_dot(h.v, h.v));
    if (status != ORR_OK)
      return status;
    state->d[j][j] = 1 / whole[j][j];
    for (int i = j + 1; i < n; i++)
      state->d[i][j] = whole[i][j] * state->d[j][j];
  }
  for (int j = 0; more && j < n; j++)
    state->gain[j].w = v3_madd(state->gain[j].w, ws->hinge_spin[limb->hinge_u + j], state->h[j].w);
  return ORR_OK;
}

/* x = D⁻¹ x */
void orr_hinge_solve(const struct orr_limb *limb, const struct orr_limb_state *state, double *x) {
  int n = limb->dof;
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
static orr_inertia hinge_project(const struct orr_limb *limb, const struct orr_limb_state *state, orr_inertia p) {
  orr_spatial y[6];
  for (int i = 0; i < limb->dof; i++) {
    y[i] = state->gain[i];
    for (int k = 0; k < i; k++)
      y[i] = sp_madd(y[i], -state->d[i][k], y[k]);
    p = in_rank1(p, state->d[i][i], y[i]);
  }
  return p;
}

/* Three rows of three numbers. */
struct rows {
  orr_lanes x, y, z;
};

static inline struct rows rows_load(const orr_mat3 *m) {
  return (struct rows){lanes_load_three(m->m[0]), lanes_load_three(m->m[1]), lanes_load_three(m->m[2])};
}

static inline struct rows rows_full(const orr_sym3 *s) {
  orr_lanes diagonal = lanes_load_three((const double *)s), beside = lanes_load_three((const double *)s + 3);
  return (struct rows){
      __builtin_shufflevector(diagonal, beside, 0, 4, 5, 3),
      __builtin_shufflevector(__builtin_shufflevector(beside, diagonal, 0, 5, 2, 3), diagonal, 0, 1, 2, 7),
      __builtin_shufflevector(beside, diagonal, 1, 2, 6, 3)};
}

static inline orr_lanes rows_combine(orr_lanes x, orr_lanes y, orr_lanes z, struct rows of) {
  return lanes_madd(z, of.z, lanes_madd(y, of.y, x * of.x));
}

/* r m rᵀ; `back` is rᵀ. As m3_mul, in its order. */
static inline struct rows rows_rotate(const orr_mat3 *r, struct rows back, struct rows m) {
  orr_lanes t[3];
  for (int i = 0; i < 3; i++) {
    orr_lanes row = rows_combine(lanes_all(r->m[i][0]), lanes_all(r->m[i][1]), lanes_all(r->m[i][2]), m);
    t[i] = rows_combine(lanes_all(row[0]), lanes_all(row[1]), lanes_all(row[2]), back);
  }
  return (struct rows){t[0], t[1], t[2]};
}

static inline orr_sym3 rows_part(struct rows m) { return (orr_sym3){m.x[0], m.y[1], m.z[2], m.x[1], m.x[2], m.y[2]}; }

/* in_rotate, with its bits, four numbers side by side. */
static inline orr_inertia rotated(const orr_mat3 *r, const orr_inertia *p) {
  struct rows m = rows_load(r);
  orr_lanes even = __builtin_shufflevector(m.x, m.y, 0, 4, 2, 6), odd = __builtin_shufflevector(m.x, m.y, 1, 5, 3, 7);
  const struct rows back = {__builtin_shufflevector(even, m.z, 0, 1, 4, 7),
                            __builtin_shufflevector(odd, m.z, 0, 1, 5, 7),
                            __builtin_shufflevector(even, m.z, 2, 3, 6, 7)};
  struct rows a = rows_rotate(r, back, rows_full(&p->a)), b = rows_rotate(r, back, rows_load(&p->b));
  struct rows c = rows_rotate(r, back, rows_full(&p->c));
  return (orr_inertia){
      rows_part(a), {{{b.x[0], b.x[1], b.x[2]}, {b.y[0], b.y[1], b.y[2]}, {b.z[0], b.z[1], b.z[2]}}}, rows_part(c)};
}

/* Number by number: what has just been written is not read in larger pieces. */
static inline void sym_onto(orr_sym3 *to, const orr_sym3 *x) {
  to->xx += x->xx;
  to->yy += x->yy;
  to->zz += x->zz;
  to->xy += x->xy;
  to->xz += x->xz;
  to->yz += x->yz;
}

static inline void inertia_onto(orr_inertia *to, const orr_inertia *x) {
  sym_onto(&to->a, &x->a);
  for (int i = 0; i < 3; i++) {
    to->b.m[i][0] += x->b.m[i][0];
    to->b.m[i][1] += x->b.m[i][1];
    to->b.m[i][2] += x->b.m[i][2];
  }
  sym_onto(&to->c, &x->c);
}

void orr_articulated_hang(const struct orr_model *model, struct orr_workspace *ws, int k, const orr_inertia *turned) {
  const struct orr_limb *limb = &model->limbs[k];
  orr_inertia gamma = in_shift(ws->limbs[k].l, *turned);
  inertia_onto(&ws->flows[limb->parent].p, &gamma);
  if (limb->site_parent < 0)
    return;
  struct orr_site_state *site = &ws->sites[limb->site_parent];
  if (site->loaded)
    inertia_onto(&site->gamma, &gamma);
  else
    site->gamma = gamma;
  site->loaded = true;
}

void orr_articulated_to_parent(const struct orr_model *model, struct orr_workspace *ws, int k, orr_inertia plus) {
  if (model->limbs[k].parent < 0)
    return;
  orr_inertia turned = rotated(&ws->limbs[k].r, &plus);
  orr_articulated_hang(model, ws, k, &turned);
}

/* A free rotor takes its spin inertia away from its body about the axis. */
static void rotors_inertia(const struct orr_model *m, struct orr_workspace *ws) {
  for (int i = 0; i < m->rotor_count; i++) {
    const struct orr_rotor *rotor = &m->rotors[i];
    struct orr_site_state *site = rotor->site >= 0 ? &ws->sites[rotor->site] : NULL;
    orr_vec3 u = site ? m3_apply(site->r, rotor->axis) : rotor->axis;
    orr_spatial a = {u, v3_zero()};
    struct orr_flow *flow = &ws->flows[rotor->limb];
    flow->p = in_rank1(flow->p, rotor->inertia, a);
    if (!site)
      continue;
    site->gamma = in_rank1(site->loaded ? site->gamma : in_zero(), rotor->inertia, a);
    site->loaded = true;
  }
}

enum orr_status orr_articulated_factor_limb(const struct orr_model *model, struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &model->limbs[k];
  struct orr_limb_state *state = &ws->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  enum orr_status status = orr_modes_factor(model, ws, k);
  bool held = ws->prescribed[k];
  if (status == ORR_OK && !held)
    status = ws->laden[k] || ws->implicit_s != 0 ? factor_hinge(limb, ws, state, &flow->p, true)
                                                 : factor_hinge(limb, ws, state, &flow->p, false);
  if (status != ORR_OK) {
    ws->failed_body = limb->body;
    return status;
  }
  if (limb->parent >= 0)
    orr_articulated_to_parent(model, ws, k, held ? flow->p : hinge_project(limb, state, flow->p));
  return ORR_OK;
}

void orr_articulated_inertia(const struct orr_model *model, struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &model->limbs[k];
  const struct orr_rigid *rigid = &ws->rigids[k];
  if (limb->flex < 0) {
    ws->flows[k].p = in_rigid(rigid->mass, rigid->s, rigid->i);
    return;
  }
  const struct orr_flex_state *flex = &ws->flexes[limb->flex];
  ws->flows[k].p = in_rigid(flex->modal.mass, flex->mass.s, flex->mass.inertia);
}

void orr_articulated_sites(const struct orr_model *model, struct orr_workspace *ws) {
  for (int i = 0; i < model->site_count; i++)
    ws->sites[i].loaded = false;
  rotors_inertia(model, ws);
}

void orr_articulated_inertias(const struct orr_model *model, struct orr_workspace *ws) {
  for (int k = 0; k < model->body_count; k++)
    orr_articulated_inertia(model, ws, k);
  orr_articulated_sites(model, ws);
}

enum orr_status orr_articulated_factor(const struct orr_model *model, struct orr_workspace *ws) {
  orr_limbs_complete(model, ws);
  orr_articulated_inertias(model, ws);
  for (int k = model->body_count - 1; k >= 0; k--) {
    enum orr_status status = orr_articulated_factor_limb(model, ws, k);
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

/* What the rotors geared to hinge k leave of τ, and the moment that they need on its parent's side. */
static const double *take_rotors(const struct orr_model *model, const struct orr_workspace *ws, int k,
                                 const double *tau, const double *given, bool moving, double left[6],
                                 orr_vec3 *moment) {
  bool held = ws->prescribed[k];
  struct orr_geared geared = orr_geared_take(model, ws, k, v3_zero(), held ? given : NULL, moving);
  *moment = geared.moment;
  for (int i = 0; i < model->limbs[k].dof && !held; i++)
    left[i] = tau[i] - geared.effort[i];
  return left;
}

/* `laden` says whether rotors are geared to the hinge; where none are nothing is spent on them. */
static inline enum orr_status forces_limb(const struct orr_model *model, struct orr_workspace *ws, int k,
                                          const double *tau, const double *given, bool moving, bool laden) {
  const struct orr_limb *limb = &model->limbs[k];
  struct orr_limb_state *state = &ws->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  double left[6];
  orr_vec3 moment = v3_zero();
  orr_modes_forces(model, ws, k);
  orr_spatial z = flow->z;
  if (moving)
    z = sp_add(z, in_apply(flow->p, state->a));
  if (laden)
    tau = take_rotors(model, ws, k, tau, given, moving, left, &moment);
  if (ws->prescribed[k]) {
    orr_spatial driven = sp_zero();
    for (int i = 0; i < limb->dof; i++) {
      state->nu[i] = given ? given[i] : 0;
      driven = sp_madd(driven, state->nu[i], state->h[i]);
    }
    z = sp_add(z, in_apply(flow->p, driven));
  } else {
    for (int i = 0; i < limb->dof; i++)
      state->nu[i] = tau[i] - sp_dot(state->h[i], z);
    orr_hinge_solve(limb, state, state->nu);
    for (int i = 0; i < limb->dof; i++)
      z = sp_madd(z, state->nu[i], state->gain[i]);
  }
  if (laden)
    z.w = v3_add(z.w, moment);
  if (!(fabs(sp_dot(z, z)) <= DBL_MAX)) {
    ws->failed_body = limb->body;
    return ORR_ERROR_NOT_FINITE;
  }
  if (limb->parent < 0)
    return ORR_OK;
  orr_spatial zeta = sp_force_shift(state->l, sp_rotate(state->r, z));
  ws->flows[limb->parent].z = sp_add(ws->flows[limb->parent].z, zeta);
  if (limb->site_parent >= 0)
    ws->sites[limb->site_parent].zeta = sp_add(ws->sites[limb->site_parent].zeta, zeta);
  return ORR_OK;
}

enum orr_status orr_articulated_forces_limb(const struct orr_model *model, struct orr_workspace *ws, int k,
                                            const double *tau, const double *given, bool moving) {
  return ws->laden[k] ? forces_limb(model, ws, k, tau, given, moving, true)
                      : forces_limb(model, ws, k, tau, given, moving, false);
}

enum orr_status orr_articulated_forces(const struct orr_model *model, struct orr_workspace *ws, const double *tau,
                                       const double *given, bool moving) {
  for (int k = model->body_count - 1; k >= 0; k--) {
    int at = model->limbs[k].hinge_u;
    enum orr_status status = orr_articulated_forces_limb(model, ws, k, tau + at, given ? given + at : NULL, moving);
    if (status != ORR_OK)
      return status;
  }
  return ORR_OK;
}

/* ---- accelerations ----------------------------------------------------------------------------------------- */

orr_spatial orr_articulated_carried(const struct orr_model *model, const struct orr_workspace *ws, int k,
                                    orr_vec3 base) {
  const struct orr_limb *limb = &model->limbs[k];
  if (limb->parent < 0)
    return (orr_spatial){v3_zero(), base};
  orr_spatial on = ws->flows[limb->parent].alpha;
  if (limb->site_parent < 0)
    return on;
  const struct orr_flex_state *flex = &ws->flexes[model->limbs[limb->parent].flex];
  return sp_add(on, orr_site_motion(&ws->sites[limb->site_parent], flex->accel, flex->modal.ld));
}

void orr_articulated_accelerate_limb(const struct orr_model *model, struct orr_workspace *ws, int k, orr_vec3 base,
                                     bool moving, double *accel) {
  const struct orr_limb *limb = &model->limbs[k];
  struct orr_limb_state *state = &ws->limbs[k];
  struct orr_flow *flow = &ws->flows[k];
  orr_spatial on = orr_articulated_carried(model, ws, k, base);
  orr_spatial alpha = sp_rotate_t(state->r, sp_motion_shift(state->l, on));
  double beta[6], y[6];
  for (int i = 0; i < limb->dof; i++)
    y[i] = sp_dot(state->gain[i], alpha);
  if (!ws->prescribed[k])
    orr_hinge_solve(limb, state, y);
  for (int i = 0; i < limb->dof; i++) {
    beta[i] = ws->prescribed[k] ? state->nu[i] : state->nu[i] - y[i];
    accel[limb->hinge_u + i] = beta[i];
  }
  if (moving)
    alpha = sp_add(alpha, state->a);
  for (int i = 0; i < limb->dof; i++)
    alpha = sp_madd(alpha, beta[i], state->h[i]);
  state->alpha_r = flow->alpha = alpha;
  orr_modes_accelerations(model, ws, k, alpha, accel);
  if (limb->site_own < 0)
    return;
  const struct orr_flex_state *flex = &ws->flexes[limb->flex];
  flow->alpha = sp_sub(alpha, orr_site_motion(&ws->sites[limb->site_own], flex->accel, flex->modal.ld));
}

void orr_articulated_accelerations(const struct orr_model *model, struct orr_workspace *ws, orr_vec3 base, bool moving,
                                   double *accel) {
  for (int k = 0; k < model->body_count; k++)
    orr_articulated_accelerate_limb(model, ws, k, base, moving, accel);
}
