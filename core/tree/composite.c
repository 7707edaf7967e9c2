#include "core/tree/composite.h"

#include <float.h>

#include "core/math/lanes.h"
#include "core/tree/articulated.h"
#include "core/tree/inverse.h"
#include "core/tree/kinematics.h"

/* Speeds of a limb and of all limbs on its way to the base, numbered so that a body's speeds follow each other. */
static struct orr_composite layout(struct orr_block *ledger, const struct orr_model *m, struct orr_composite **self) {
  struct orr_composite c = {.count = m->u_count};
  *self = ORR_TAKE(ledger, struct orr_composite, 1);
  c.user = ORR_TAKE(ledger, int, c.count);
  c.parent = ORR_TAKE(ledger, int, c.count);
  c.depth = ORR_TAKE(ledger, int, c.count);
  c.limb = ORR_TAKE(ledger, int, c.count);
  c.first = ORR_TAKE(ledger, int, m->body_count);
  c.above = ORR_TAKE(ledger, int, m->body_count);
  c.row = ORR_TAKE(ledger, double *, c.count);
  c.held = ORR_TAKE(ledger, bool, c.count);
  c.diagonal = ORR_TAKE(ledger, double, c.count);
  c.x = ORR_TAKE(ledger, double, c.count);
  c.bias = ORR_TAKE(ledger, double, c.count);
  return c;
}

/* Number of speeds above limb k on its way to the base. */
static int speeds_above(const struct orr_model *m, int k) {
  int sum = 0;
  for (int p = m->limbs[k].parent; p >= 0; p = m->limbs[p].parent)
    sum += m->limbs[p].mode_count + m->limbs[p].dof;
  return sum;
}

static void layout_rows(struct orr_block *ledger, const struct orr_model *m, struct orr_composite *c) {
  int speed = 0;
  for (int k = 0; k < m->body_count; k++) {
    const struct orr_limb *limb = &m->limbs[k];
    int depth = speeds_above(m, k), own = limb->mode_count + limb->dof;
    for (int i = 0; i < own; i++, depth++, speed++) {
      double *row = ORR_TAKE(ledger, double, (depth + 4) / 4 * 4);
      if (!ledger->base)
        continue;
      c->row[speed] = row;
      c->depth[speed] = depth;
      c->user[speed] = limb->u + i;
      c->limb[speed] = k;
    }
  }
}

size_t orr_composite_size(const struct orr_model *model) {
  struct orr_block ledger = {0};
  struct orr_composite *self, c = layout(&ledger, model, &self);
  layout_rows(&ledger, model, &c);
  return ledger.used;
}

struct orr_composite *orr_composite_init(void *block, size_t bytes, const struct orr_model *model) {
  if (!block || bytes < orr_composite_size(model))
    return NULL;
  struct orr_block ledger = {.base = block, .size = bytes};
  struct orr_composite *self, c = layout(&ledger, model, &self);
  layout_rows(&ledger, model, &c);
  int speed = 0;
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    int own = limb->mode_count + limb->dof, p = limb->parent;
    int above = p < 0 ? -1 : c.above[p];
    if (p >= 0 && model->limbs[p].mode_count + model->limbs[p].dof > 0)
      above = c.first[p] + model->limbs[p].mode_count + model->limbs[p].dof - 1;
    c.first[k] = speed;
    c.above[k] = above;
    for (int i = 0; i < own; i++, speed++)
      c.parent[speed] = i ? speed - 1 : above;
  }
  *self = c;
  return self;
}

/* ---- the matrix -------------------------------------------------------------------------------------------- */

/* R(k) of flexible-operators (47), tips to base: flows[].p, and [D_f | μ] of the bodies with modes. */
static void composite_inertias(const struct orr_model *m, struct orr_workspace *ws) {
  orr_limbs_complete(m, ws);
  orr_articulated_inertias(m, ws);
  for (int k = m->body_count - 1; k >= 0; k--) {
    if (m->limbs[k].flex >= 0)
      orr_modes_assemble(m, ws, k);
    orr_articulated_to_parent(m, ws, k, ws->flows[k].p);
  }
}

/* What a force f at the origin of limb k, hanging at its node `site`, does on the limb's own speeds: modes (Π'_t −
 * Π'_d)ᵀ f, hinge H f. Written by depth into `row`. */
static void project(const struct orr_model *m, const struct orr_workspace *ws, const struct orr_composite *c, int k,
                    orr_spatial f, int site, double *row) {
  const struct orr_limb *limb = &m->limbs[k];
  double *at = row + c->depth[c->first[k]], *modal = ws->scratch;
  if (limb->flex >= 0) {
    int ld = ws->flexes[limb->flex].modal.ld;
    memset(modal, 0, sizeof(double) * (size_t)ld);
    if (site >= 0)
      orr_site_force(&ws->sites[site], f, 1, modal, ld);
    if (limb->site_own >= 0)
      orr_site_force(&ws->sites[limb->site_own], f, -1, modal, ld);
    memcpy(at, modal, sizeof(double) * (size_t)limb->mode_count);
  }
  for (int i = 0; i < limb->dof; i++)
    at[limb->mode_count + i] = sp_dot(ws->limbs[k].h[i], f);
}

/* M(·, speed) for all ancestors outside limb k. */
static void project_up(const struct orr_model *m, const struct orr_workspace *ws, const struct orr_composite *c, int k,
                       orr_spatial f, double *row) {
  for (int child = k, p = m->limbs[k].parent; p >= 0; child = p, p = m->limbs[p].parent) {
    const struct orr_limb_state *state = &ws->limbs[child];
    f = sp_force_shift(state->l, sp_rotate(state->r, f));
    if (m->limbs[p].mode_count + m->limbs[p].dof > 0)
      project(m, ws, c, p, f, m->limbs[child].site_parent, row);
  }
}

void orr_composite_matrix(const struct orr_model *model, struct orr_workspace *ws, struct orr_composite *composite) {
  composite_inertias(model, ws);
  for (int k = 0; k < model->body_count; k++) {
    const struct orr_limb *limb = &model->limbs[k];
    const struct orr_limb_state *state = &ws->limbs[k];
    const struct orr_flow *flow = &ws->flows[k];
    const struct orr_flex_state *flex = limb->flex >= 0 ? &ws->flexes[limb->flex] : NULL;
    int n = limb->mode_count, speed = composite->first[k];
    for (int s = 0; s < n; s++, speed++) {
      /* a mode: the force μ_s at the origin; D_f among the modes (its upper triangle is in w) */
      double *row = composite->row[speed], *own = row + composite->depth[composite->first[k]];
      for (int r = 0; r <= s; r++)
        own[r] = flex->w[r * flex->ldw + s];
      project_up(model, ws, composite, k, sp_from(flex->w + s * flex->ldw + flex->modal.ld), row);
    }
    for (int j = 0; j < limb->dof; j++, speed++) {
      double *row = composite->row[speed], *own = row + composite->depth[composite->first[k]];
      orr_spatial f = in_apply(flow->p, state->h[j]);
      for (int r = 0; r < n; r++)
        own[r] = sp_dot(sp_from(flex->w + r * flex->ldw + flex->modal.ld), state->h[j]);
      for (int i = 0; i <= j; i++)
        own[n + i] = sp_dot(state->h[i], f);
      project_up(model, ws, composite, k, f, row);
    }
  }
}

void orr_composite_dense(const struct orr_composite *composite, double *out) {
  const struct orr_composite *c = composite;
  memset(out, 0, sizeof(double) * (size_t)c->count * (size_t)c->count);
  for (int k = 0; k < c->count; k++)
    for (int i = k, d = c->depth[k]; i >= 0; i = c->parent[i], d--)
      out[c->user[k] * c->count + c->user[i]] = out[c->user[i] * c->count + c->user[k]] = c->row[k][d];
}

/* ---- the solution ------------------------------------------------------------------------------------------ */

/* above −= Σ_g a_g rows_g over the first `count` numbers, rounded up to whole vectors: rows are padded. */
static void subtract_rows(double *above, double *const *rows, const double *a, int group, int count) {
  for (int j = 0; j < count; j += ORR_LANES) {
    orr_lanes sum = lanes_load(above + j);
    for (int g = 0; g < group; g++)
      sum = lanes_madd(lanes_all(-a[g]), lanes_load(rows[g] + j), sum);
    lanes_store(above + j, sum);
  }
}

/* The pivot of row k, and its rule. */
static enum orr_status take_pivot(struct orr_composite *c, int k, int *where) {
  double pivot = c->row[k][c->depth[k]], before = c->diagonal[k];
  *where = c->limb[k];
  if (!(fabs(pivot) <= DBL_MAX))
    return ORR_ERROR_NOT_FINITE;
  if (!(pivot > 1e-14 * before))
    return ORR_ERROR_SINGULAR;
  c->diagonal[k] = 1 / pivot;
  return ORR_OK;
}

/* How many speeds from k inwards are each other's neighbours on the way to the base, at most ORR_COMPOSITE_GROUP: their
 * rows go over the ancestors beyond together, which then are read and written once. */
static int group_at(const struct orr_composite *c, int k) {
  int group = 1;
  while (group < ORR_COMPOSITE_GROUP && c->parent[k - group + 1] == k - group && k >= group && !c->held[k - group])
    group++;
  return group;
}

/* For k from the tips: row_i −= (M_ki / D_k) row_k for every ancestor i, over the ancestors of i. */
static enum orr_status factor_group(struct orr_composite *c, int k, int group, int *where) {
  double *rows[ORR_COMPOSITE_GROUP], a[ORR_COMPOSITE_GROUP];
  for (int g = 0; g < group; g++) {
    enum orr_status status = take_pivot(c, k - g, where);
    if (status != ORR_OK)
      return status;
    rows[g] = c->row[k - g];
    for (int i = k - g - 1; i > k - group; i--) {
      a[0] = rows[g][c->depth[i]] * c->diagonal[k - g];
      subtract_rows(c->row[i], &rows[g], a, 1, c->depth[i] + 1);
    }
  }
  int last = k - group + 1;
  for (int i = c->parent[last], d = c->depth[last] - 1; i >= 0; i = c->parent[i], d--) {
    for (int g = 0; g < group; g++)
      a[g] = rows[g][d] * c->diagonal[k - g];
    if (group == ORR_COMPOSITE_GROUP)
      subtract_rows(c->row[i], rows, a, ORR_COMPOSITE_GROUP, d + 1);
    else
      subtract_rows(c->row[i], rows, a, group, d + 1);
  }
  for (int g = 0; g < group; g++)
    for (int j = 0; j < c->depth[k - g]; j++)
      rows[g][j] *= c->diagonal[k - g];
  return ORR_OK;
}

enum orr_status orr_composite_factor(struct orr_composite *composite, int *where) {
  struct orr_composite *c = composite;
  for (int k = 0; k < c->count; k++)
    c->diagonal[k] = c->row[k][c->depth[k]];
  for (int k = c->count - 1; k >= 0;) {
    if (c->held[k]) {
      k--;
      continue;
    }
    int group = group_at(c, k);
    enum orr_status status = factor_group(c, k, group, where);
    if (status != ORR_OK)
      return status;
    k -= group;
  }
  return ORR_OK;
}

/* L* D L x = b, in place, over the speeds that are not held. */
static void solve(const struct orr_composite *c, double *x) {
  for (int k = c->count - 1; k >= 0; k--) {
    if (c->held[k])
      continue;
    for (int i = c->parent[k], d = c->depth[k] - 1; i >= 0; i = c->parent[i], d--)
      x[i] -= c->row[k][d] * x[k];
  }
  for (int k = 0; k < c->count; k++) {
    if (c->held[k])
      continue;
    double sum = x[k] * c->diagonal[k];
    for (int i = c->parent[k], d = c->depth[k] - 1; i >= 0; i = c->parent[i], d--)
      if (!c->held[i])
        sum -= c->row[k][d] * x[i];
    x[k] = sum;
  }
}

static void mark_held(const struct orr_model *m, const struct orr_workspace *ws, struct orr_composite *c) {
  for (int k = 0; k < m->body_count; k++)
    for (int i = 0; i < m->limbs[k].mode_count + m->limbs[k].dof; i++)
      c->held[c->first[k] + i] = ws->prescribed[k] && i >= m->limbs[k].mode_count;
}

/* One step of refinement, M δ = T − inverse(u̇): the matrix of a deep tree loses digits that the sweeps keep (error
 * with 130 bodies in a row: 2e-9 before, 6e-13 after). Leaves the hinge forces. */
static void refine(const struct orr_model *m, struct orr_workspace *ws, struct orr_composite *c, const double *force,
                   double *accel) {
  orr_inverse(m, ws, accel, c->bias);
  for (int k = 0; k < c->count; k++)
    c->x[k] = c->held[k] ? 0 : force[c->user[k]] - c->bias[c->user[k]];
  solve(c, c->x);
  for (int k = 0; k < c->count; k++)
    if (!c->held[k])
      accel[c->user[k]] += c->x[k];
  orr_inverse(m, ws, accel, c->bias);
}

enum orr_status orr_composite_solve(const struct orr_model *model, struct orr_workspace *ws,
                                    struct orr_composite *composite, const double *force, const double *given,
                                    double *accel) {
  struct orr_composite *c = composite;
  int where = 0;
  mark_held(model, ws, c);
  /* C: what the given accelerations alone need; then M x = T − C over the free speeds */
  for (int k = 0; k < c->count; k++)
    c->x[c->user[k]] = c->held[k] && given ? given[c->user[k]] : 0;
  orr_inverse(model, ws, c->x, c->bias);
  orr_composite_matrix(model, ws, c);
  enum orr_status status = orr_composite_factor(c, &where);
  if (status != ORR_OK) {
    ws->failed_body = model->limbs[where].body;
    return status;
  }
  for (int k = 0; k < c->count; k++)
    c->x[k] = c->held[k] ? 0 : force[c->user[k]] - c->bias[c->user[k]];
  solve(c, c->x);
  for (int k = 0; k < c->count; k++) {
    if (fabs(c->x[k]) <= DBL_MAX)
      continue;
    ws->failed_body = model->limbs[c->limb[k]].body;
    return ORR_ERROR_NOT_FINITE;
  }
  for (int k = 0; k < c->count; k++)
    accel[c->user[k]] = !c->held[k] ? c->x[k] : given ? given[c->user[k]] : 0;
  return ORR_OK;
}

enum orr_status orr_composite_forward(const struct orr_model *model, struct orr_workspace *ws,
                                      struct orr_composite *composite, const double *force, const double *given,
                                      double *accel) {
  enum orr_status status = orr_composite_solve(model, ws, composite, force, given, accel);
  if (status == ORR_OK)
    refine(model, ws, composite, force, accel);
  return status;
}
