#include "core/plant/bounds.h"

#include "core/math/eigen.h"
#include "core/math/elementary.h"

/* ω₁² is the smallest eigenvalue of K x = ω² mff x that is not zero. */
static double first_pace(const struct orr_modal *modal, double *scratch) {
  int n = modal->n;
  double *k = scratch, *m = scratch + n * n, *values = m + n * n, largest;
  for (int r = 0; r < n; r++)
    for (int s = 0; s < n; s++) {
      k[r * n + s] = modal->stiffness[r * modal->ld + s];
      m[r * n + s] = modal->mff[r * modal->ld + s];
    }
  if (!orr_eigen_generalized((size_t)n, k, m, values))
    return 0;
  largest = values[n - 1];
  for (int r = 0; r < n; r++)
    if (values[r] > 1e-12 * largest)
      return sqrt(values[r]);
  return 0;
}

static double slope_at(const struct orr_modal_node *node, int ld, int mode) {
  return v3_norm(v3(node->slope[mode], node->slope[ld + mode], node->slope[2 * ld + mode]));
}

static void fill(struct orr_bound *bound, const struct orr_model *m, int k, double *slopes, double *scratch) {
  const struct orr_limb *limb = &m->limbs[k];
  const struct orr_modal *modal = &m->modals[limb->flex];
  *bound = (struct orr_bound){.body = limb->body,
                              .limb = k,
                              .pace = limb->curved ? 0 : first_pace(modal, scratch),
                              .limit = limb->curved ? ORR_BOUND_CURVED : ORR_BOUND_SLOPE,
                              .slopes = slopes};
  for (int i = m->node_first[limb->body]; i < m->node_first[limb->body + 1]; i++)
    for (int r = 0; r < modal->n; r++)
      slopes[r] = orr_max(slopes[r], slope_at(&m->nodes[i].mass, modal->ld, r));
}

void orr_bounds_layout(struct orr_bounds *bounds, const struct orr_model *m, struct orr_block *block) {
  struct orr_bound *items = ORR_TAKE(block, struct orr_bound, m->flex_count);
  double *scratch = ORR_TAKE(block, double, m->mode_max *(2 * m->mode_max + 1));
  int count = 0;
  for (int k = 0; k < m->body_count; k++) {
    const struct orr_limb *limb = &m->limbs[k];
    if (limb->flex < 0)
      continue;
    double *slopes = ORR_TAKE(block, double, limb->mode_count);
    if (block->base)
      fill(&items[count], m, k, slopes, scratch);
    count++;
  }
  *bounds = (struct orr_bounds){count, items};
}

void orr_bounds_reset(struct orr_bounds *bounds) {
  for (int i = 0; i < bounds->count; i++) {
    struct orr_bound *b = &bounds->items[i];
    b->fast = b->bent = 0;
    b->fastest = b->steepest = 0;
  }
}

/* The largest slope of a node as it is: |Π_s η|. */
static double steepest(const struct orr_model *m, const struct orr_bound *b, const double *eta) {
  const struct orr_limb *limb = &m->limbs[b->limb];
  int ld = m->modals[limb->flex].ld;
  double most = 0;
  for (int i = m->node_first[b->body]; i < m->node_first[b->body + 1]; i++) {
    const double *slope = m->nodes[i].mass.slope;
    orr_vec3 sum = v3_zero();
    for (int r = 0; r < limb->mode_count; r++)
      sum = v3_madd(sum, eta[r], v3(slope[r], slope[ld + r], slope[2 * ld + r]));
    most = orr_max(most, v3_norm(sum));
  }
  return most;
}

void orr_bounds_look(struct orr_bounds *bounds, const struct orr_workspace *ws) {
  for (int i = 0; i < bounds->count; i++) {
    struct orr_bound *b = &bounds->items[i];
    const struct orr_limb *limb = &ws->model->limbs[b->limb];
    const double *eta = ws->flexes[limb->flex].eta;
    orr_vec3 omega = ws->flows[b->limb].omega;
    double spin = b->pace > 0 ? sqrt(v3_dot(omega, omega)) / b->pace : 0, most = 0;
    b->fastest = orr_max(b->fastest, spin);
    b->fast += spin > ORR_BOUND_SPIN;
    for (int r = 0; r < limb->mode_count; r++)
      most += fabs(eta[r]) * b->slopes[r];
    if (!(most > b->limit)) /* no node can be steeper */
      continue;
    double slope = steepest(ws->model, b, eta);
    b->bent += slope > b->limit;
    b->steepest = orr_max(b->steepest, slope);
  }
}
