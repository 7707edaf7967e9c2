#include "core/loops/loop_group.h"

/* The site on `outer` that a path from limb `from` arrives at; −2 when it stands on the outer limb itself, where any
 * node may be. */
static int arrival(const struct orr_model *m, int from, int outer) {
  if (from == outer)
    return -2;
  int k = from;
  while (m->limbs[k].parent != outer)
    k = m->limbs[k].parent;
  return m->limbs[k].site_parent;
}

/* The outer limb of a subgraph, before modes are thought of. */
static int outer_limb(const struct orr_loops *l, const struct orr_loop *loop) {
  const struct orr_model *m = l->model;
  if (loop->kind == ORR_LOOP_GEAR)
    return orr_common_ancestor(m, m->limbs[loop->limb[0]].parent, m->limbs[loop->limb[1]].parent);
  return loop->meet;
}

/* Modes of the outer limb move the attachments against each other, unless both are one hinge's node. */
static bool takes_outer(const struct orr_loops *l, const struct orr_loop *loop, int outer) {
  if (outer < 0 || l->model->limbs[outer].flex < 0)
    return false;
  int a = arrival(l->model, loop->limb[0], outer), b = arrival(l->model, loop->limb[1], outer);
  return a != b || a == -2;
}

/* The limbs of loop i's subgraph by themselves, in marks [body_count]. */
static void mark_subgraph(const struct orr_loops *l, int i, bool *marks) {
  const struct orr_model *m = l->model;
  const struct orr_loop *loop = &l->loops[i];
  int outer = outer_limb(l, loop);
  memset(marks, 0, sizeof *marks * (size_t)m->body_count);
  for (int s = 0; s < 2; s++)
    for (int k = loop->limb[s]; k != outer; k = m->limbs[k].parent)
      marks[k] = true;
  if (takes_outer(l, loop, outer))
    marks[outer] = true;
}

/* Every aggregate that meets the marked limbs becomes one with them, called `name`. */
static void unite(struct orr_loops *l, const bool *marks, int name) {
  int n = l->model->body_count, *of = l->aggregate_of;
  for (int k = 0; k < n; k++) {
    int old = of[k];
    if (!marks[k] || old == name)
      continue;
    for (int j = 0; j < n && old >= 0; j++)
      if (of[j] == old)
        of[j] = name;
    of[k] = name;
  }
}

void orr_loops_group(struct orr_loops *l) {
  int n = l->model->body_count, *of = l->aggregate_of;
  for (int k = 0; k < n; k++)
    of[k] = -1;
  for (int i = 0; i < l->count; i++) {
    if (l->loops[i].method != ORR_LOOP_EMBED)
      continue;
    mark_subgraph(l, i, l->marks);
    unite(l, l->marks, n + i);
  }
  l->aggregate_count = 0;
  for (int k = 0; k < n; k++) {
    int old = of[k];
    if (old < n)
      continue;
    for (int j = k; j < n; j++)
      if (of[j] == old)
        of[j] = l->aggregate_count;
    l->aggregate_count++;
  }
}

int orr_loop_aggregate(const struct orr_loops *l, const struct orr_loop *loop) {
  for (int s = 0; s < 2; s++)
    if (loop->kind == ORR_LOOP_GEAR || loop->steps[s] > 0)
      return l->aggregate_of[loop->limb[s]];
  return l->aggregate_of[loop->meet];
}

/* Coordinates of the aggregate that loop i is in. */
static int aggregate_size(const struct orr_loops *l, int i) {
  int aggregate = orr_loop_aggregate(l, &l->loops[i]), size = 0;
  for (int k = 0; k < l->model->body_count; k++)
    if (l->aggregate_of[k] == aggregate)
      size += l->model->limbs[k].mode_count + l->model->limbs[k].dof;
  return size;
}

void orr_loops_settle(struct orr_loops *l, const struct orr_workspace *ws, enum orr_loop_reason *reason) {
  for (int i = 0; i < l->count; i++) {
    bool asked = l->loops[i].method != ORR_LOOP_AUTO;
    reason[i] = asked ? ORR_LOOP_ASKED : ORR_LOOP_SMALL;
    if (!asked)
      l->loops[i].method = ORR_LOOP_EMBED;
  }
  orr_loops_jacobian(l);
  orr_loops_rank(l, ws, NULL, NULL);
  for (int k = 0; k < l->judge.rank; k++) {
    int row = l->judge.order[k], i = l->row_loop[row];
    if (reason[i] != ORR_LOOP_SMALL ||
        l->judge.r[(size_t)k * (size_t)l->row_count + (size_t)row] >= 1e-3 * l->g.gross[row])
      continue;
    reason[i] = ORR_LOOP_RANKLESS;
    l->loops[i].method = ORR_LOOP_AUGMENT;
  }
  for (bool changed = true; changed;) { /* ends: a loop changes once */
    changed = false;
    orr_loops_group(l);
    for (int i = 0; i < l->count; i++) {
      if (reason[i] != ORR_LOOP_SMALL || aggregate_size(l, i) <= ORR_EMBED_COORDINATES)
        continue;
      reason[i] = ORR_LOOP_LARGE;
      l->loops[i].method = ORR_LOOP_AUGMENT;
      changed = true;
      break;
    }
  }
}
