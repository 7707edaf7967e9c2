/* Aggregates in the sweeps of the articulated bodies. */
#include <float.h>

#include "core/loops/embed.h"
#include "core/loops/loop_motion.h"
#include "core/tree/articulated.h"
#include "core/tree/forward.h"
#include "core/tree/geared.h"
#include "core/tree/inverse.h"

/* A pivot of D that is not above this part of its diagonal is singular, as in articulated.c. */
static const double PIVOT_FLOOR = 1e-14;

static bool is_first(const struct orr_aggregate *a, int k) { return a->limbs[0].limb == k; }

/* ---- two sweeps inside ------------------------------------------------------------------------------------- */

/* α of every limb, base to tips, from u̇_S = `rate` and the motion `base` of the outer parent's node about the parent's
 * origin. Modal accelerations are left in flexes[].accel. */
static void outward(struct orr_aggregate *a, struct orr_workspace *ws, orr_spatial base, const double *rate,
                    bool moving) {
  for (int i = 0; i < a->limb_count; i++) {
    struct orr_aggregate_limb *k = &a->limbs[i];
    const struct orr_limb *limb = &ws->model->limbs[k->limb];
    const struct orr_limb_state *state = &ws->limbs[k->limb];
    orr_spatial on = base;
    if (k->inner >= 0) {
      on = a->limbs[k->inner].alpha;
      if (limb->site_parent >= 0) {
        const struct orr_flex_state *flex = &ws->flexes[ws->model->limbs[limb->parent].flex];
        on = sp_add(on, orr_site_motion(&ws->sites[limb->site_parent], flex->accel, flex->modal.ld));
      }
    }
    orr_spatial alpha = sp_rotate_t(state->r, sp_motion_shift(state->l, on));
    k->carried = alpha.w;
    if (moving)
      alpha = sp_add(alpha, state->a);
    const double *hinge = rate + k->column + limb->mode_count;
    for (int d = 0; d < limb->dof; d++)
      alpha = sp_madd(alpha, hinge[d], state->h[d]);
    k->alpha_r = k->alpha = alpha;
    if (limb->flex < 0)
      continue;
    struct orr_flex_state *flex = &ws->flexes[limb->flex];
    memcpy(flex->accel, rate + k->column, sizeof(double) * (size_t)limb->mode_count);
    if (limb->site_own >= 0)
      k->alpha = sp_sub(alpha, orr_site_motion(&ws->sites[limb->site_own], flex->accel, flex->modal.ld));
  }
}

/* D_f η̈ + μ α_R of a limb's modes into `effort`, and μᵀ η̈ to its force: the rows [D_f | μ] stand in w, upper
 * triangle. */
static orr_spatial modal_inertia(const struct orr_flex_state *flex, orr_spatial alpha_r, double *effort) {
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  orr_spatial f = sp_zero();
  for (int r = 0; r < n; r++) {
    const double *row = flex->w + r * ldw;
    orr_spatial mu = sp_from(row + ld);
    f = sp_madd(f, flex->accel[r], mu);
    effort[r] += sp_dot(mu, alpha_r) + row[r] * flex->accel[r];
    for (int s = r + 1; s < n; s++) {
      effort[r] += row[s] * flex->accel[s];
      effort[s] += row[s] * flex->accel[r];
    }
  }
  return f;
}

/* What acts on a limb's modes beside inertia: elastic and given forces, and what outside bodies hang on its nodes; as
 * what it takes to hold them. z of the limb acts through the own node. */
static void modal_load(struct orr_workspace *ws, const struct orr_limb *limb, orr_spatial z, double *scratch,
                       double *effort) {
  const struct orr_flex_state *flex = &ws->flexes[limb->flex];
  int ld = flex->modal.ld;
  memcpy(scratch, flex->force, sizeof(double) * (size_t)ld);
  for (int i = limb->site_first; i < limb->site_first + limb->site_count; i++)
    orr_site_force(&ws->sites[i], ws->sites[i].zeta, -1, scratch, ld);
  if (limb->site_own >= 0)
    orr_site_force(&ws->sites[limb->site_own], z, 1, scratch, ld);
  for (int r = 0; r < limb->mode_count; r++)
    effort[r] -= scratch[r];
}

/* A force of a child inside, about the origin of its parent's S, on that parent: on its body frame, and on the modes by
 * the node it hangs on less the own node. */
static void hang(struct orr_aggregate *a, struct orr_workspace *ws, const struct orr_limb *child, int inner,
                 orr_spatial f, double *scratch) {
  struct orr_aggregate_limb *parent = &a->limbs[inner];
  const struct orr_limb *limb = &ws->model->limbs[parent->limb];
  parent->f = sp_add(parent->f, f);
  if (limb->flex < 0)
    return;
  int ld = ws->flexes[limb->flex].modal.ld;
  memset(scratch, 0, sizeof(double) * (size_t)ld);
  if (child->site_parent >= 0)
    orr_site_force(&ws->sites[child->site_parent], f, 1, scratch, ld);
  if (limb->site_own >= 0)
    orr_site_force(&ws->sites[limb->site_own], f, -1, scratch, ld);
  for (int r = 0; r < limb->mode_count; r++)
    a->effort[parent->column + r] += scratch[r];
}

/* What stands on the diagonal of the mass matrix beside the bodies': geared rotors, and s c + s² k of an implicit
 * step. */
static double hinge_extra(const struct orr_workspace *ws, const struct orr_limb *limb, int d) {
  double s = ws->implicit_s;
  return ws->hinge_inertia[limb->hinge_u + d] + s * (limb->damping[d] + s * limb->stiffness[d]);
}

/* What the rotors geared to a limb's hinge take (core/tree/geared.h): of its effort, and the moment on its parent. */
static orr_vec3 gear_rotors(struct orr_aggregate *a, const struct orr_workspace *ws, const struct orr_aggregate_limb *k,
                            const double *rate, bool moving) {
  const struct orr_limb *limb = &ws->model->limbs[k->limb];
  int column = k->column + limb->mode_count;
  struct orr_geared geared = orr_geared_take(ws->model, ws, k->limb, k->carried, rate + column, moving);
  for (int d = 0; d < limb->dof; d++)
    a->effort[column + d] += geared.effort[d];
  return geared.moment;
}

/* f = P α_R + μᵀ η̈ [+ z] + what the children inside pull, tips to base; effort = H f and the modes' share. Returns the
 * force on the outer parent, about its origin in its axes. */
static orr_spatial inward(struct orr_aggregate *a, struct orr_workspace *ws, const double *rate, bool loaded,
                          bool moving, double *scratch) {
  orr_spatial outer = sp_zero();
  memset(a->effort, 0, sizeof(double) * (size_t)a->count);
  for (int i = 0; i < a->limb_count; i++)
    a->limbs[i].f = sp_zero();
  for (int i = a->limb_count - 1; i >= 0; i--) {
    struct orr_aggregate_limb *k = &a->limbs[i];
    const struct orr_limb *limb = &ws->model->limbs[k->limb];
    const struct orr_limb_state *state = &ws->limbs[k->limb];
    const struct orr_flow *flow = &ws->flows[k->limb];
    k->f = sp_add(k->f, in_apply(flow->p, k->alpha_r));
    if (limb->flex >= 0) {
      k->f = sp_add(k->f, modal_inertia(&ws->flexes[limb->flex], k->alpha_r, a->effort + k->column));
      if (loaded)
        modal_load(ws, limb, flow->z, scratch, a->effort + k->column);
    }
    if (loaded)
      k->f = sp_add(k->f, flow->z);
    for (int d = 0, c = k->column + limb->mode_count; d < limb->dof; d++, c++)
      a->effort[c] = sp_dot(state->h[d], k->f) + hinge_extra(ws, limb, d) * rate[c];
    orr_spatial f = k->f;
    if (ws->laden[k->limb])
      f.w = v3_add(f.w, gear_rotors(a, ws, k, rate, moving));
    f = sp_force_shift(state->l, sp_rotate(state->r, f));
    if (k->inner >= 0)
      hang(a, ws, limb, k->inner, f, scratch);
    else
      outer = sp_add(outer, f);
  }
  return outer;
}

/* ---- factor ------------------------------------------------------------------------------------------------ */

/* E φ P φ* E*: everything frozen, seen from the outer parent. */
static orr_inertia frozen(struct orr_aggregate *a, const struct orr_workspace *ws, orr_inertia *sums) {
  orr_inertia outer = in_zero();
  for (int i = 0; i < a->limb_count; i++)
    sums[i] = ws->flows[a->limbs[i].limb].p;
  for (int i = a->limb_count - 1; i >= 0; i--) {
    const struct orr_aggregate_limb *k = &a->limbs[i];
    const struct orr_limb_state *state = &ws->limbs[k->limb];
    orr_inertia seen = in_shift(state->l, in_rotate(state->r, sums[i]));
    if (k->inner >= 0)
      sums[k->inner] = in_add(sums[k->inner], seen);
    else
      outer = in_add(outer, seen);
  }
  return outer;
}

/* D = X* M X and W, a column of X at a time. */
static void fill_d(struct orr_embed *e, struct orr_aggregate *a, struct orr_workspace *ws) {
  int n = a->count, free = a->free_count;
  for (int i = 0; i < free; i++) {
    const double *x = a->x + (size_t)i * (size_t)n;
    outward(a, ws, sp_zero(), x, false);
    a->w[i] = inward(a, ws, x, false, false, e->scratch);
    for (int j = 0; j <= i; j++) {
      const double *y = a->x + (size_t)j * (size_t)n;
      double sum = 0;
      for (int c = 0; c < n; c++)
        sum += y[c] * a->effort[c];
      a->d[i * free + j] = sum;
    }
  }
}

/* D = L L* in place. */
static enum orr_status factor_d(struct orr_aggregate *a) {
  int n = a->free_count;
  double *d = a->d;
  for (int j = 0; j < n; j++) {
    double whole = d[j * n + j], pivot = whole;
    for (int k = 0; k < j; k++)
      pivot -= d[j * n + k] * d[j * n + k];
    if (!(fabs(pivot) <= DBL_MAX))
      return ORR_ERROR_NOT_FINITE;
    if (!(pivot > PIVOT_FLOOR * whole))
      return ORR_ERROR_SINGULAR;
    d[j * n + j] = sqrt(pivot);
    for (int i = j + 1; i < n; i++) {
      double sum = d[i * n + j];
      for (int k = 0; k < j; k++)
        sum -= d[i * n + k] * d[j * n + k];
      d[i * n + j] = sum / d[j * n + j];
    }
  }
  return ORR_OK;
}

static void add_to_parent(const struct orr_aggregate *a, struct orr_workspace *ws, orr_inertia p) {
  if (a->parent < 0)
    return;
  ws->flows[a->parent].p = in_add(ws->flows[a->parent].p, p);
  if (a->site < 0)
    return;
  struct orr_site_state *site = &ws->sites[a->site];
  site->gamma = site->loaded ? in_add(site->gamma, p) : p;
  site->loaded = true;
}

static enum orr_status factor_aggregate(struct orr_embed *e, struct orr_aggregate *a, struct orr_workspace *ws) {
  for (int i = 0; i < a->limb_count; i++)
    if (ws->model->limbs[a->limbs[i].limb].flex >= 0)
      orr_modes_assemble(ws->model, ws, a->limbs[i].limb);
  orr_inertia p = frozen(a, ws, e->sums);
  fill_d(e, a, ws);
  enum orr_status status = factor_d(a);
  if (status != ORR_OK) {
    ws->failed_body = ws->model->limbs[a->limbs[0].limb].body;
    return status;
  }
  int n = a->free_count;
  for (int i = 0; i < n; i++) { /* W ← W L⁻*, so that W D⁻¹ W* is the sum of its squares */
    for (int k = 0; k < i; k++)
      a->w[i] = sp_madd(a->w[i], -a->d[i * n + k], a->w[k]);
    double scale = 1 / a->d[i * n + i];
    a->w[i] = sp_madd(sp_zero(), scale, a->w[i]);
    p = in_rank1(p, 1, a->w[i]);
  }
  add_to_parent(a, ws, p);
  return ORR_OK;
}

enum orr_status orr_embed_factor_limb(struct orr_embed *e, struct orr_workspace *ws, int k) {
  struct orr_aggregate *a = orr_embed_aggregate(e, k);
  if (!a)
    return orr_articulated_factor_limb(ws->model, ws, k);
  return is_first(a, k) ? factor_aggregate(e, a, ws) : ORR_OK;
}

/* ---- forces ------------------------------------------------------------------------------------------------ */

/* c: what u̇_S is when u̇_I = 0. Driven hinges as given; the rest from φ̈ with the outer parent at rest, which φ̈ does
 * not depend on. False when driven hinges tear a loop open. */
static bool fill_c(struct orr_embed *e, struct orr_aggregate *a, struct orr_workspace *ws, const double *given,
                   bool moving) {
  for (int c = 0; c < a->count; c++) {
    a->c[c] = a->held[c] && given ? given[a->u[c]] : 0;
    a->rate[c] = 0;
  }
  memset(a->right, 0, sizeof(double) * (size_t)a->row_count);
  if (moving && a->row_count) {
    outward(a, ws, sp_zero(), a->rate, true);
    for (int i = 0; i < a->limb_count; i++)
      ws->flows[a->limbs[i].limb].alpha = a->limbs[i].alpha;
    if (a->parent >= 0) { /* a sweep outwards writes it before it is read */
      ws->flows[a->parent].alpha = sp_zero();
      if (ws->model->limbs[a->parent].flex >= 0)
        memset(ws->flexes[ws->model->limbs[a->parent].flex].accel, 0,
               sizeof(double) * (size_t)ws->flexes[ws->model->limbs[a->parent].flex].modal.ld);
    }
    for (int r = 0; r < a->row_count;) {
      int loop = e->loops->row_loop[a->rows[r]];
      orr_loop_acceleration(e->loops, ws, loop, e->zero, a->right + r);
      r += e->loops->loops[loop].rows;
    }
  }
  e->failed_loop = orr_aggregate_bias(a, e->loops);
  return e->failed_loop < 0;
}

static enum orr_status forces_aggregate(struct orr_embed *e, struct orr_aggregate *a, struct orr_workspace *ws,
                                        const double *tau, const double *given, bool moving) {
  int n = a->count, free = a->free_count;
  if (!fill_c(e, a, ws, given, moving))
    return ORR_ERROR_LOOP_CONFLICT;
  outward(a, ws, sp_zero(), a->c, moving);
  orr_spatial z = inward(a, ws, a->c, true, moving, e->scratch);
  for (int k = 0; k < a->limb_count; k++) { /* what is to be supplied: τ − effort */
    const struct orr_limb *limb = &ws->model->limbs[a->limbs[k].limb];
    for (int d = 0; d < limb->dof; d++)
      a->effort[a->limbs[k].column + limb->mode_count + d] -= tau[limb->hinge_u + d];
  }
  for (int i = 0; i < free; i++) {
    const double *x = a->x + (size_t)i * (size_t)n;
    double sum = 0;
    for (int c = 0; c < n; c++)
      sum -= x[c] * a->effort[c];
    for (int k = 0; k < i; k++)
      sum -= a->d[i * free + k] * a->half[k];
    a->half[i] = sum / a->d[i * free + i];
    z = sp_madd(z, a->half[i], a->w[i]); /* w holds W L⁻* */
  }
  if (!(fabs(sp_dot(z, z)) <= DBL_MAX)) {
    ws->failed_body = ws->model->limbs[a->limbs[0].limb].body;
    return ORR_ERROR_NOT_FINITE;
  }
  if (a->parent < 0)
    return ORR_OK;
  ws->flows[a->parent].z = sp_add(ws->flows[a->parent].z, z);
  if (a->site >= 0)
    ws->sites[a->site].zeta = sp_add(ws->sites[a->site].zeta, z);
  return ORR_OK;
}

enum orr_status orr_embed_forces_limb(struct orr_embed *e, struct orr_workspace *ws, int k, const double *tau,
                                      const double *given, bool moving) {
  struct orr_aggregate *a = orr_embed_aggregate(e, k);
  int at = ws->model->limbs[k].hinge_u;
  if (!a)
    return orr_articulated_forces_limb(ws->model, ws, k, tau + at, given ? given + at : NULL, moving);
  return is_first(a, k) ? forces_aggregate(e, a, ws, tau, given, moving) : ORR_OK;
}

/* ---- accelerations ----------------------------------------------------------------------------------------- */

/* The motion of the outer parent's node, about the parent's origin. */
static orr_spatial carried(const struct orr_aggregate *a, const struct orr_workspace *ws, orr_vec3 base) {
  if (a->parent < 0)
    return (orr_spatial){v3_zero(), base};
  orr_spatial on = ws->flows[a->parent].alpha;
  if (a->site < 0)
    return on;
  const struct orr_flex_state *flex = &ws->flexes[ws->model->limbs[a->parent].flex];
  return sp_add(on, orr_site_motion(&ws->sites[a->site], flex->accel, flex->modal.ld));
}

/* What u̇_S = `rate` makes of the limbs. */
static void move_limbs(struct orr_aggregate *a, struct orr_workspace *ws, orr_spatial on, bool moving) {
  outward(a, ws, on, a->rate, moving);
  for (int i = 0; i < a->limb_count; i++) {
    ws->flows[a->limbs[i].limb].alpha = a->limbs[i].alpha;
    ws->limbs[a->limbs[i].limb].alpha_r = a->limbs[i].alpha_r;
  }
}

/* u̇_I = L⁻* (L⁻¹ ε − (W L⁻*)* α), u̇_S = X u̇_I + c. */
static void accelerate_aggregate(struct orr_aggregate *a, struct orr_workspace *ws, orr_vec3 base, bool moving,
                                 double *accel) {
  int n = a->count, free = a->free_count;
  orr_spatial on = carried(a, ws, base);
  memcpy(a->rate, a->c, sizeof(double) * (size_t)n);
  for (int i = free - 1; i >= 0; i--) {
    const double *x = a->x + (size_t)i * (size_t)n;
    double sum = a->half[i] - sp_dot(a->w[i], on);
    for (int k = i + 1; k < free; k++)
      sum -= a->d[k * free + i] * a->nu[k];
    a->nu[i] = sum / a->d[i * free + i];
    for (int c = 0; c < n; c++)
      a->rate[c] += a->nu[i] * x[c];
  }
  move_limbs(a, ws, on, moving);
  for (int c = 0; c < n; c++)
    accel[a->u[c]] = a->rate[c];
}

void orr_embed_accelerate_limb(struct orr_embed *e, struct orr_workspace *ws, int k, orr_vec3 base, bool moving,
                               double *accel) {
  struct orr_aggregate *a = orr_embed_aggregate(e, k);
  if (!a)
    orr_articulated_accelerate_limb(ws->model, ws, k, base, moving, accel);
  else if (is_first(a, k))
    accelerate_aggregate(a, ws, base, moving, accel);
}

void orr_embed_move_limb(struct orr_embed *e, struct orr_workspace *ws, int k, orr_vec3 base, const double *accel) {
  struct orr_aggregate *a = orr_embed_aggregate(e, k);
  if (!a) {
    orr_inverse_accelerate_limb(ws->model, ws, k, base, accel, true);
  } else if (is_first(a, k)) {
    for (int c = 0; c < a->count; c++)
      a->rate[c] = accel[a->u[c]];
    move_limbs(a, ws, carried(a, ws, base), true);
  }
}

/* ---- hinge forces ------------------------------------------------------------------------------------------ */

/* f ← f − Σ λ (the wrench that a row carries to the limb): what the cuts bring does not come through the hinge. */
static void take_cuts(const struct orr_embed *e, struct orr_aggregate *a, const double *lambda) {
  const struct orr_loops *l = e->loops;
  for (int r = 0; r < a->row_count; r++) {
    int row = a->rows[r];
    const struct orr_loop *loop = &l->loops[l->row_loop[row]];
    for (int s = 0; s < 2; s++)
      for (int t = 0; t < loop->steps[s]; t++) {
        int k = l->path[loop->path[s] + t];
        if (orr_embed_aggregate(e, k) != a)
          continue;
        struct orr_aggregate_limb *limb = &a->limbs[e->limb_place[k]];
        limb->f = sp_madd(limb->f, -lambda[row], l->carried[loop->carried[s] + (row - loop->row) * loop->steps[s] + t]);
      }
  }
}

void orr_embed_gather(struct orr_embed *e, struct orr_workspace *ws, const double *tau, double *lambda) {
  for (int i = 0; i < e->count; i++) {
    struct orr_aggregate *a = &e->aggregates[i];
    inward(a, ws, a->rate, true, true, e->scratch);
    for (int k = 0; k < a->limb_count; k++) {
      const struct orr_limb *limb = &ws->model->limbs[a->limbs[k].limb];
      for (int d = 0; d < limb->dof; d++)
        a->effort[a->limbs[k].column + limb->mode_count + d] -= tau[limb->hinge_u + d];
    }
    orr_aggregate_multipliers(a, e->loops, a->effort, lambda);
    take_cuts(e, a, lambda);
    for (int k = 0; k < a->limb_count; k++)
      ws->limbs[a->limbs[k].limb].f = a->limbs[k].f;
  }
}
