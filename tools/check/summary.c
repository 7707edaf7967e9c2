#include "tools/check/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/math/eigen.h"
#include "core/model/hinge_kinds.h"
#include "io/config/spacecraft/build.h"

enum { MOST_COUPLED = 120 }; /* modes of a body whose eigenvalues are computed: O(n³) */

static const double two_pi = 6.283185307179586476925286766559;

/* K of the conventions: given, or (2πf)² M_rr on the diagonal. */
static void stiffness_of(const struct orr_body_desc *body, const double *mff, double *k) {
  size_t n = body->mode_count;
  memset(k, 0, n * n * sizeof *k);
  if (body->stiffness) {
    memcpy(k, body->stiffness, n * n * sizeof *k);
    return;
  }
  for (size_t r = 0; r < n && body->modes; r++) {
    double omega = two_pi * body->modes[r].frequency_hz;
    k[r * n + r] = omega * omega * mff[r * n + r];
  }
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool coupled_differs(const struct orr_body_modes *m) {
  if (!m->given_hz)
    return false;
  double *sorted = orr_aligned_block(m->count * sizeof *sorted);
  memcpy(sorted, m->given_hz, m->count * sizeof *sorted);
  qsort(sorted, m->count, sizeof *sorted, ascending);
  bool differ = false;
  for (size_t r = 0; r < m->count; r++)
    differ |= fabs(sorted[r] - m->coupled_hz[r]) > 1e-6 * sorted[m->count - 1];
  free(sorted);
  return differ;
}

static void summarise_modes(const struct orr_body_desc *body, struct orr_body_modes *m) {
  size_t n = m->count = body->mode_count;
  if (n == 0)
    return;
  if (body->modes) {
    m->given_hz = orr_aligned_block(n * sizeof *m->given_hz);
    for (size_t r = 0; r < n; r++)
      m->given_hz[r] = body->modes[r].frequency_hz;
  }
  if (n > MOST_COUPLED)
    return;
  double *mff = orr_aligned_block(2 * n * n * sizeof *mff), *k = mff + n * n;
  m->coupled_hz = orr_aligned_block(n * sizeof *m->coupled_hz);
  orr_body_modal_mass(body, mff);
  stiffness_of(body, mff, k);
  orr_eigen_generalized(n, k, mff, m->coupled_hz);
  double largest = fmax(fabs(m->coupled_hz[0]), fabs(m->coupled_hz[n - 1]));
  for (size_t r = 0; r < n; r++) {
    double value = fabs(m->coupled_hz[r]) < 1e-13 * largest ? 0 : m->coupled_hz[r]; /* rounding of a zero */
    m->coupled_hz[r] = copysign(sqrt(fabs(value)), value) / two_pi;
  }
  m->differ = coupled_differs(m);
  free(mff);
}

static void count_freedoms(struct orr_summary *s) {
  const struct orr_description *d = s->description;
  for (size_t i = 0; i < d->body_count; i++) {
    const struct orr_hinge_desc *h = &d->bodies[i].hinge;
    size_t speeds = orr_hinge_kind_info(h->kind)->speed_count;
    s->trees += h->parent == ORR_INERTIAL;
    s->freedoms += speeds;
    s->prescribed += h->prescribed ? speeds : 0;
    s->modes += d->bodies[i].mode_count;
  }
}

static void summarise_loops(struct orr_summary *s, struct orr_build *b) {
  size_t count = s->description->loop_count;
  double *q = orr_aligned_block(sizeof *q * (size_t)b->model->q_count);
  memcpy(q, b->ws->q, sizeof *q * (size_t)b->model->q_count);
  orr_build_assemble(b, q);
  s->loops.redundant = orr_aligned_block(count * sizeof *s->loops.redundant);
  orr_loops_rank(b->loops, b->ws, NULL, s->loops.redundant);
  orr_build_solver(b, q);
  s->loops.assembly = b->assembly;
  s->loops.equations = b->loops->row_count;
  s->loops.bytes = b->blocks[ORR_BUILD_LOOPS].bytes + b->blocks[ORR_BUILD_SOLVER].bytes;
  s->loops.method = orr_aligned_block(count * sizeof *s->loops.method);
  s->loops.reason = orr_aligned_block(count * sizeof *s->loops.reason);
  s->loops.undetermined = orr_aligned_block(count * sizeof *s->loops.undetermined);
  memcpy(s->loops.undetermined, b->closed->undetermined, count * sizeof *s->loops.undetermined);
  s->loops.numbers = orr_aligned_block(count * sizeof *s->loops.numbers);
  for (size_t i = 0; i < count; i++) {
    s->loops.numbers[i] = orr_truth_loop_numbers(s->description, (int)i);
    s->loops.method[i] = b->loops->loops[i].method;
    s->loops.reason[i] = b->reason[i];
  }
  free(q);
}

void orr_summary_create(struct orr_summary *s, const struct orr_description *d) {
  *s = (struct orr_summary){.description = d};
  s->memory = orr_aligned_block(orr_topology_size(d->body_count));
  s->topology = orr_topology_find(d, s->memory);
  void *scratch = orr_aligned_block(orr_mass_properties_scratch_size(d));
  s->rest = orr_mass_properties_at_rest(d, scratch);
  free(scratch);
  count_freedoms(s);
  s->bodies = orr_aligned_block(d->body_count * sizeof *s->bodies);
  for (size_t i = 0; i < d->body_count; i++)
    summarise_modes(&d->bodies[i], &s->bodies[i]);
  struct orr_build build;
  orr_build_create(&build, d, ORR_MODEL_DEFAULT);
  s->model_bytes = build.blocks[ORR_BUILD_MODEL].bytes;
  s->workspace_bytes = build.blocks[ORR_BUILD_WORKSPACE].bytes;
  if (d->loop_count)
    summarise_loops(s, &build);
  orr_build_destroy(&build);
}

void orr_summary_destroy(struct orr_summary *s) {
  for (size_t i = 0; i < s->description->body_count; i++) {
    free(s->bodies[i].given_hz);
    free(s->bodies[i].coupled_hz);
  }
  free(s->bodies);
  free(s->loops.redundant);
  free(s->loops.undetermined);
  free(s->loops.numbers);
  free(s->loops.method);
  free(s->loops.reason);
  free(s->memory);
  *s = (struct orr_summary){0};
}
