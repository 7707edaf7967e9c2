#include "core/tree/compliance.h"

#include "core/tree/articulated.h"
#include "core/tree/kinematics.h"

/* 6 x 6, full. */
struct square {
  double m[6][6];
};

/* Motion of a node about its body's origin, S axes: y = t α_R + q ν_f; g = U⁻ᵀ-solved q, so that q D_f⁻¹ qᵀ = Σ g g /
 * U_jj. */
struct pick {
  struct square t;
  double *g; /* [6][ld]; NULL on a body without modes */
};

/* Scratch: Υ_R of every limb, and a pick for every limb's node on its parent and for every chosen node. */
struct recursion {
  struct square *upsilon; /* [body_count] */
  struct pick *of_limb, *of_node;
};

static struct recursion layout(struct orr_block *ledger, const struct orr_model *m, int nodes) {
  struct recursion r;
  size_t ld = (size_t)(m->mode_max + 3) / 4 * 4;
  r.upsilon = ORR_TAKE(ledger, struct square, m->body_count);
  r.of_limb = ORR_TAKE(ledger, struct pick, m->body_count);
  r.of_node = ORR_TAKE(ledger, struct pick, nodes);
  for (int i = 0; ld && i < m->body_count + nodes; i++) {
    double *g = ORR_TAKE(ledger, double, 6 * ld);
    if (ledger->base)
      (i < m->body_count ? &r.of_limb[i] : &r.of_node[i - m->body_count])->g = g;
  }
  return r;
}

size_t orr_compliance_size(const struct orr_model *model, int nodes) {
  struct orr_block ledger = {0};
  layout(&ledger, model, nodes);
  return ledger.used;
}

static struct square square_identity(void) {
  struct square s = {{{0}}};
  for (int i = 0; i < 6; i++)
    s.m[i][i] = 1;
  return s;
}

static struct square square_mul(const struct square *a, const struct square *b, bool transposed) {
  struct square c;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      c.m[i][j] = 0;
      for (int k = 0; k < 6; k++)
        c.m[i][j] += a->m[i][k] * (transposed ? b->m[j][k] : b->m[k][j]);
    }
  return c;
}

/* The matrix of x → rᵀ (x shifted by l): motion from a parent's origin to the child's. */
static struct square motion_matrix(orr_mat3 r, orr_vec3 l) {
  struct square s;
  for (int j = 0; j < 6; j++) {
    double e[6] = {0}, column[6];
    e[j] = 1;
    sp_to(column, sp_rotate_t(r, sp_motion_shift(l, sp_from(e))));
    for (int i = 0; i < 6; i++)
      s.m[i][j] = column[i];
  }
  return s;
}

/* t and g of a node that moves by Π' (site arrays; NULL: not at all) relative to the origin of limb k. */
static void make_pick(const struct orr_model *m, const struct orr_workspace *ws, int k, const double *pi,
                      struct pick *pick) {
  const struct orr_limb *limb = &m->limbs[k];
  pick->t = square_identity();
  if (limb->flex < 0) {
    pick->g = NULL;
    return;
  }
  const struct orr_flex_state *flex = &ws->flexes[limb->flex];
  int n = flex->modal.n, ld = flex->modal.ld, ldw = flex->ldw;
  const double *own = limb->site_own >= 0 ? ws->sites[limb->site_own].pi : NULL;
  for (int c = 0; c < 6; c++) {
    double *g = pick->g + c * ld;
    for (int r = 0; r < n; r++)
      g[r] = (pi ? pi[c * ld + r] : 0) - (own ? own[c * ld + r] : 0);
    for (int j = 0; j < n; j++) {
      double k_j = g[j] * flex->inverse[j];
      const double *row = flex->w + j * ldw;
      for (int r = j + 1; r < n; r++)
        g[r] -= k_j * row[r];
      for (int i = 0; i < 6; i++)
        pick->t.m[c][i] -= k_j * row[ld + i];
    }
  }
}

/* cov(y_i, y_j) of two nodes of limb k. */
static struct square same_body(const struct orr_model *m, const struct orr_workspace *ws, const struct recursion *r,
                               int k, const struct pick *a, const struct pick *b) {
  struct square half = square_mul(&a->t, &r->upsilon[k], false);
  struct square sum = square_mul(&half, &b->t, true);
  if (m->limbs[k].flex < 0)
    return sum;
  const struct orr_flex_state *flex = &ws->flexes[m->limbs[k].flex];
  int ld = flex->modal.ld;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int s = 0; s < flex->modal.n; s++)
        sum.m[i][j] += a->g[i * ld + s] * b->g[j * ld + s] * flex->inverse[s];
  return sum;
}

/* τ̄* X: from the motion of the parent's node to α_R of limb k, the hinge yielding. */
static struct square across_hinge(const struct orr_model *m, const struct orr_workspace *ws, int k) {
  const struct orr_limb *limb = &m->limbs[k];
  const struct orr_limb_state *state = &ws->limbs[k];
  struct square x = motion_matrix(state->r, state->l);
  if (ws->prescribed[k])
    return x;
  for (int j = 0; j < 6; j++) {
    double column[6], y[6];
    for (int i = 0; i < 6; i++)
      column[i] = x.m[i][j];
    orr_spatial motion = sp_from(column);
    for (int i = 0; i < limb->dof; i++)
      y[i] = sp_dot(state->gain[i], motion);
    orr_hinge_solve(limb, state, y);
    for (int i = 0; i < limb->dof; i++)
      motion = sp_madd(motion, -y[i], state->h[i]);
    sp_to(column, motion);
    for (int i = 0; i < 6; i++)
      x.m[i][j] = column[i];
  }
  return x;
}

/* Υ_R(k) = τ̄* X cov(y) Xᵀ τ̄ + H* D_R⁻¹ H */
static void advance(const struct orr_model *m, const struct orr_workspace *ws, struct recursion *r, int k) {
  const struct orr_limb *limb = &m->limbs[k];
  const struct orr_limb_state *state = &ws->limbs[k];
  struct square sum = {{{0}}};
  if (limb->parent >= 0) {
    const double *pi = limb->site_parent >= 0 ? ws->sites[limb->site_parent].pi : NULL;
    make_pick(m, ws, limb->parent, pi, &r->of_limb[k]);
    struct square x = across_hinge(m, ws, k);
    struct square node = same_body(m, ws, r, limb->parent, &r->of_limb[k], &r->of_limb[k]);
    struct square half = square_mul(&x, &node, false);
    sum = square_mul(&half, &x, true);
  }
  for (int j = 0; !ws->prescribed[k] && j < limb->dof; j++) {
    double e[6] = {0}, h[6], g[6];
    e[j] = 1;
    orr_hinge_solve(limb, state, e);
    orr_spatial yielded = sp_zero();
    for (int i = 0; i < limb->dof; i++)
      yielded = sp_madd(yielded, e[i], state->h[i]);
    sp_to(h, state->h[j]);
    sp_to(g, yielded);
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < 6; b++)
        sum.m[a][b] += g[a] * h[b];
  }
  r->upsilon[k] = sum;
}

/* From a chosen node inwards to limb `to`: the matrix that carries what the node on `to` does out to the chosen one. */
static struct square carry(const struct orr_model *m, const struct orr_workspace *ws, const struct recursion *r,
                           const struct pick *node, int from, int to, const struct pick **last) {
  struct square c = square_identity();
  *last = node;
  for (int k = from; k != to; k = m->limbs[k].parent) {
    struct square x = across_hinge(m, ws, k), step = square_mul(&c, &(*last)->t, false);
    c = square_mul(&step, &x, false);
    *last = &r->of_limb[k];
  }
  return c;
}

/* The chosen node's own place: motion about the origin of S → at the node, inertial axes. */
static struct square to_node(const struct orr_model *m, const struct orr_workspace *ws, int node) {
  struct orr_site_state place = {0};
  orr_place_evaluate(m, ws, node, &place);
  return motion_matrix(m3_transpose(ws->limbs[m->nodes[node].limb].attitude), place.l);
}

/* Π' of a chosen node, which need not be a site. */
static void pick_node(const struct orr_model *m, struct orr_workspace *ws, int node, struct pick *pick) {
  int k = m->nodes[node].limb;
  struct orr_site_state place = {.pi = ws->scratch};
  orr_place_evaluate(m, ws, node, &place);
  make_pick(m, ws, k, place.pi, pick);
}

void orr_compliance(const struct orr_model *model, struct orr_workspace *ws, const int *nodes, int count, void *scratch,
                    double *out) {
  struct orr_block ledger = {.base = scratch, .size = orr_compliance_size(model, count)};
  struct recursion r = layout(&ledger, model, count);
  for (int k = 0; k < model->body_count; k++)
    advance(model, ws, &r, k);
  for (int i = 0; i < count; i++)
    pick_node(model, ws, nodes[i], &r.of_node[i]);
  for (int i = 0; i < count; i++) {
    for (int j = 0; j <= i; j++) {
      int a = model->nodes[nodes[i]].limb, b = model->nodes[nodes[j]].limb, meet = orr_common_ancestor(model, a, b);
      struct square block = {{{0}}};
      if (meet >= 0) {
        const struct pick *pa, *pb;
        struct square ca = carry(model, ws, &r, &r.of_node[i], a, meet, &pa);
        struct square cb = carry(model, ws, &r, &r.of_node[j], b, meet, &pb);
        struct square ta = to_node(model, ws, nodes[i]), tb = to_node(model, ws, nodes[j]);
        struct square both = same_body(model, ws, &r, meet, pa, pb);
        ca = square_mul(&ta, &ca, false);
        cb = square_mul(&tb, &cb, false);
        struct square half = square_mul(&ca, &both, false);
        block = square_mul(&half, &cb, true);
      }
      for (int x = 0; x < 6; x++)
        for (int y = 0; y < 6; y++) {
          out[(6 * i + x) * 6 * count + 6 * j + y] = block.m[x][y];
          out[(6 * j + y) * 6 * count + 6 * i + x] = block.m[x][y];
        }
    }
  }
}
