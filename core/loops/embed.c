#include "core/loops/embed.h"

#include "core/loops/loop_group.h"

struct count {
  int limbs, coordinates, rows, pattern;
};

/* Marks the limbs that the equations of a loop may depend on. */
static void mark_dependence(const struct orr_loops *l, const struct orr_loop *loop, bool *marks) {
  memset(marks, 0, sizeof *marks * (size_t)l->model->body_count);
  if (loop->meet >= 0 && l->limb_at[loop->meet] >= 0)
    marks[loop->meet] = true;
  for (int s = 0; s < 2; s++) {
    if (loop->kind == ORR_LOOP_GEAR)
      marks[loop->limb[s]] = true;
    for (int t = 0; t < loop->steps[s]; t++)
      marks[l->path[loop->path[s] + t]] = true;
  }
}

static bool is_in(const struct orr_loops *l, const struct orr_loop *loop, int index) {
  return loop->method == ORR_LOOP_EMBED && orr_loop_aggregate(l, loop) == index;
}

static struct count measure(const struct orr_loops *l, int index) {
  struct count n = {0};
  for (int k = 0; k < l->model->body_count; k++)
    if (l->aggregate_of[k] == index) {
      n.limbs++;
      n.coordinates += l->model->limbs[k].mode_count + l->model->limbs[k].dof;
    }
  for (int i = 0; i < l->count; i++) {
    if (!is_in(l, &l->loops[i], index))
      continue;
    n.rows += l->loops[i].rows;
    mark_dependence(l, &l->loops[i], l->marks);
    for (int k = 0; k < l->model->body_count; k++)
      n.pattern += l->marks[k] ? l->model->limbs[k].mode_count + l->model->limbs[k].dof : 0;
  }
  return n;
}

static struct orr_aggregate layout_one(struct orr_block *block, struct count n) {
  struct orr_aggregate a = {.limb_count = n.limbs, .count = n.coordinates, .row_count = n.rows};
  size_t c = (size_t)n.coordinates, r = (size_t)(n.rows < n.coordinates ? n.rows : n.coordinates);
  a.limbs = ORR_TAKE(block, struct orr_aggregate_limb, n.limbs);
  a.u = ORR_TAKE(block, int, c);
  a.column = ORR_TAKE(block, int, c);
  a.rows = ORR_TAKE(block, int, n.rows);
  a.limb_of = ORR_TAKE(block, int, c);
  a.pattern = ORR_TAKE(block, int, n.pattern);
  a.pattern_first = ORR_TAKE(block, int, n.rows);
  a.pattern_past = ORR_TAKE(block, int, n.rows);
  a.held = ORR_TAKE(block, bool, c);
  a.driven = ORR_TAKE(block, int, c);
  a.dependent = ORR_TAKE(block, int, r);
  a.independent = ORR_TAKE(block, int, c);
  a.depends_at = ORR_TAKE(block, int, c);
  a.chosen = ORR_TAKE(block, int, r);
  a.other_dependent = ORR_TAKE(block, int, r);
  a.other_chosen = ORR_TAKE(block, int, r);
  a.kept = ORR_TAKE(block, bool, a.row_count);
  a.lu = ORR_TAKE(block, double, r *r);
  a.lu_first = ORR_TAKE(block, int, r);
  a.lu_past = ORR_TAKE(block, int, r);
  a.swap = ORR_TAKE(block, int, r);
  a.x = ORR_TAKE(block, double, c *c);
  a.d = ORR_TAKE(block, double, c *c);
  a.w = ORR_TAKE(block, orr_spatial, c);
  a.c = ORR_TAKE(block, double, c);
  a.rate = ORR_TAKE(block, double, c);
  a.effort = ORR_TAKE(block, double, c);
  a.nu = ORR_TAKE(block, double, c);
  a.half = ORR_TAKE(block, double, c);
  a.right = ORR_TAKE(block, double, n.rows);
  a.matrix = ORR_TAKE(block, double, (size_t)n.rows *c);
  a.first = ORR_TAKE(block, int, n.rows);
  a.past = ORR_TAKE(block, int, n.rows);
  a.best = ORR_TAKE(block, struct orr_best, n.rows);
  a.few = ORR_TAKE(block, int, c);
  return a;
}

void orr_embed_layout(struct orr_embed *e, struct orr_loops *loops, struct orr_block *block) {
  const struct orr_model *m = loops->model;
  e->loops = loops;
  e->count = loops->aggregate_count;
  e->aggregates = ORR_TAKE(block, struct orr_aggregate, e->count);
  for (int i = 0; i < e->count; i++) {
    struct orr_aggregate a = layout_one(block, measure(loops, i));
    if (block->base)
      e->aggregates[i] = a;
  }
  int largest = 0;
  for (int i = 0; i < e->count; i++) {
    int limbs = measure(loops, i).limbs;
    largest = limbs > largest ? limbs : largest;
  }
  e->sums = ORR_TAKE(block, orr_inertia, largest);
  e->limb_place = ORR_TAKE(block, int, m->body_count);
  e->scratch = ORR_TAKE(block, double, (m->mode_max + 3) / 4 * 4);
  e->zero = ORR_TAKE(block, double, m->u_count);
}

static void fill_limbs(struct orr_embed *e, struct orr_aggregate *a, int index) {
  const struct orr_loops *l = e->loops;
  const struct orr_model *m = l->model;
  int filled = 0, column = 0;
  for (int k = 0; k < m->body_count; k++) {
    const struct orr_limb *limb = &m->limbs[k];
    if (l->aggregate_of[k] != index)
      continue;
    int inner = -1;
    for (int i = 0; i < filled; i++)
      if (a->limbs[i].limb == limb->parent)
        inner = i;
    if (inner < 0) {
      a->parent = limb->parent;
      a->site = limb->site_parent;
    }
    e->limb_place[k] = filled;
    a->limbs[filled++] = (struct orr_aggregate_limb){.limb = k, .inner = inner, .column = column};
    for (int c = 0; c < limb->mode_count + limb->dof; c++) {
      a->limb_of[column] = filled - 1;
      a->u[column] = limb->u + c;
      a->column[column++] = l->limb_at[k] < 0 ? -1 : l->limbs[l->limb_at[k]].column + c;
    }
  }
}

/* The coordinates that the rows of a loop may depend on, from `at` on; returns where they end. */
static int fill_pattern(struct orr_aggregate *a, const struct orr_loops *l, const struct orr_loop *loop, int at) {
  mark_dependence(l, loop, l->marks);
  for (int c = 0; c < a->count; c++)
    if (l->marks[a->limbs[a->limb_of[c]].limb] && a->column[c] >= 0)
      a->pattern[at++] = c;
  return at;
}

void orr_embed_fill(struct orr_embed *e) {
  const struct orr_loops *l = e->loops;
  for (int i = 0; i < e->count; i++) {
    struct orr_aggregate *a = &e->aggregates[i];
    int rows = 0, pattern = 0;
    fill_limbs(e, a, i);
    for (int j = 0; j < l->count; j++) {
      if (!is_in(l, &l->loops[j], i))
        continue;
      int past = fill_pattern(a, l, &l->loops[j], pattern);
      for (int r = 0; r < l->loops[j].rows; r++) {
        a->pattern_first[rows] = pattern;
        a->pattern_past[rows] = past;
        a->rows[rows++] = l->loops[j].row + r;
      }
      pattern = past;
    }
    a->made = false;
    a->known_rank = -1;
  }
}
