#include "core/math/bordered.h"

/* A row is put off where its own columns have less than this part of it left: L is then good to two digits. */
static const double OWN = 0.1;

static int in_fours(int columns) { return (columns + 3) / 4 * 4; }

void orr_bordered_layout(struct orr_bordered *b, int groups, const int *rows, const int *columns, int common,
                         struct orr_block *block) {
  int own = 0;
  *b = (struct orr_bordered){.group_count = groups, .common = common};
  b->groups = ORR_TAKE(block, struct orr_pivot, groups);
  for (int g = 0; g < groups; g++) {
    struct orr_pivot p;
    orr_pivot_layout(&p, rows[g], in_fours(columns[g]) + common, block);
    p.inner = in_fours(columns[g]);
    if (block->base)
      b->groups[g] = p;
    b->rows += rows[g];
    own += p.inner;
  }
  int off = common ? b->rows : 0;
  b->group = ORR_TAKE(block, int, b->rows);
  b->place = ORR_TAKE(block, int, b->rows);
  b->begin = ORR_TAKE(block, int, groups);
  b->assigned = ORR_TAKE(block, int, groups);
  b->row = ORR_TAKE(block, int, b->rows);
  orr_pivot_layout(&b->normal, common, common ? b->rows + common : 0, block);
  orr_pivot_layout(&b->rest, off, common ? own + common : 0, block);
  b->off = ORR_TAKE(block, int, off);
  b->v = ORR_TAKE(block, double, b->rows + common);
  b->before = ORR_TAKE(block, double, b->rows);
  b->b = ORR_TAKE(block, double, b->rows);
  b->x = ORR_TAKE(block, double, b->rows);
  b->least = ORR_TAKE(block, double, b->rest.width);
  for (int g = 1; g < groups && block->base; g++)
    b->begin[g] = b->begin[g - 1] + rows[g - 1];
}

void orr_bordered_assign(struct orr_bordered *b, int row, int group) {
  b->group[row] = group;
  b->place[row] = b->assigned[group]++;
  b->row[b->begin[group] + b->place[row]] = row;
}

void orr_bordered_clear(struct orr_bordered *b) {
  for (int g = 0; g < b->group_count; g++) {
    struct orr_pivot *p = &b->groups[g];
    memset(p->a, 0, sizeof *p->a * (size_t)p->rows * (size_t)p->width);
    memset(p->gross, 0, sizeof *p->gross * (size_t)p->rows);
  }
}

double *orr_bordered_own(const struct orr_bordered *b, int row) {
  const struct orr_pivot *p = &b->groups[b->group[row]];
  return p->a + (size_t)b->place[row] * (size_t)p->width;
}

double *orr_bordered_common(const struct orr_bordered *b, int row) {
  return orr_bordered_own(b, row) + b->groups[b->group[row]].inner;
}

double *orr_bordered_gross(const struct orr_bordered *b, int row) {
  return &b->groups[b->group[row]].gross[b->place[row]];
}

/* ---- factor ------------------------------------------------------------------------------------------------ */

/* [W; 1] by its columns, made orthonormal. */
static bool factor_normal(struct orr_bordered *b) {
  struct orr_pivot *n = &b->normal;
  int at = 0;
  memset(n->a, 0, sizeof *n->a * (size_t)n->rows * (size_t)n->width);
  for (int g = 0; g < b->group_count; g++) {
    const struct orr_pivot *p = &b->groups[g];
    for (int k = 0; k < p->rank; k++, at++)
      for (int c = 0; c < b->common; c++)
        n->a[(size_t)c * (size_t)n->width + (size_t)at] =
            p->a[(size_t)p->order[k] * (size_t)p->width + (size_t)(p->inner + c)];
  }
  for (int c = 0; c < b->common; c++) {
    n->a[(size_t)c * (size_t)n->width + (size_t)(b->rows + c)] = 1;
    n->gross[c] = 1;
  }
  orr_pivot_factor(n, 0);
  return n->rank == b->common; /* always, but for what is not finite */
}

/* The rows that are put off into b->off, and how many columns of their own their groups have into b->own. */
static void find_rest(struct orr_bordered *b) {
  b->put_off = b->own = 0;
  for (int g = 0; g < b->group_count; g++) {
    const struct orr_pivot *p = &b->groups[g];
    int before = b->put_off;
    for (int k = p->rank; k < p->rows; k++)
      if (p->gross[p->order[k]] > 0)
        b->off[b->put_off++] = b->row[b->begin[g] + p->order[k]];
    b->own += b->put_off > before ? p->inner : 0;
  }
}

/* What the rows that are put off have left: of their own columns, and of the common ones in the measure of [W; 1]. */
static void factor_rest(struct orr_bordered *b, double tolerance) {
  struct orr_pivot *rest = &b->rest;
  find_rest(b);
  orr_pivot_shape(rest, b->put_off, b->own + b->common);
  memset(rest->a, 0, sizeof *rest->a * (size_t)rest->rows * (size_t)rest->width);
  for (int i = 0, at = 0; i < b->put_off; i++) {
    int r = b->off[i], inner = b->groups[b->group[r]].inner;
    double *to = rest->a + (size_t)i * (size_t)rest->width;
    memcpy(to + at, orr_bordered_own(b, r), sizeof *to * (size_t)inner);
    at += i + 1 < b->put_off && b->group[b->off[i + 1]] != b->group[r] ? inner : 0;
    orr_pivot_forward(&b->normal, orr_bordered_common(b, r));
    memcpy(to + b->own, b->normal.y, sizeof *to * (size_t)b->common);
    rest->gross[i] = *orr_bordered_gross(b, r);
  }
  orr_pivot_factor(rest, tolerance);
}

void orr_bordered_factor(struct orr_bordered *b, double tolerance) {
  b->rank = b->put_off = 0;
  for (int g = 0; g < b->group_count; g++) {
    orr_pivot_factor(&b->groups[g], b->common ? OWN : tolerance);
    b->rank += b->groups[g].rank;
  }
  if (b->common == 0)
    return;
  if (!factor_normal(b)) {
    b->rank = 0;
    return;
  }
  factor_rest(b, tolerance);
  b->rank += b->rest.rank;
}

/* ---- solve ------------------------------------------------------------------------------------------------- */

/* v −= the part `by` along the k-th of the columns made orthonormal. */
static void take_along(struct orr_bordered *b, int k, double by) {
  const double *q = b->normal.a + (size_t)b->normal.order[k] * (size_t)b->normal.width;
  for (int c = 0; c < b->rows + b->common; c++)
    b->v[c] -= by * q[c];
}

/* L⁻¹ b, group by group, into `before` and v. */
static void solve_own(struct orr_bordered *b, const double *from) {
  int at = 0;
  for (int g = 0; g < b->group_count; g++) {
    struct orr_pivot *p = &b->groups[g];
    for (int k = 0; k < p->rows; k++)
      b->b[k] = from[b->row[b->begin[g] + k]];
    orr_pivot_forward(p, b->b);
    memcpy(b->before + at, p->y, sizeof *b->v * (size_t)p->rank);
    at += p->rank;
  }
  memset(b->v, 0, sizeof *b->v * (size_t)(b->rows + b->common));
  memcpy(b->v, b->before, sizeof *b->v * (size_t)at);
}

/* v − W y and −y for the y that makes them least. */
static void solve_common(struct orr_bordered *b) {
  for (int k = 0; k < b->common; k++) {
    const double *q = b->normal.a + (size_t)b->normal.order[k] * (size_t)b->normal.width;
    double along = 0;
    for (int c = 0; c < b->rows + b->common; c++)
      along += q[c] * b->v[c];
    take_along(b, k, along);
  }
}

/* x of the rows that are put off, and what they add to y. */
static void solve_rest(struct orr_bordered *b, const double *from, double *x) {
  for (int i = 0, g = 0, at = 0; i < b->put_off; i++) {
    int r = b->off[i];
    for (; g < b->group[r]; g++)
      at += b->groups[g].rank;
    const struct orr_pivot *p = &b->groups[g];
    double sum = from[r];
    for (int k = 0; k < p->rank; k++)
      sum -= p->r[(size_t)k * (size_t)p->rows + (size_t)b->place[r]] * b->before[at + k];
    for (int c = 0; c < b->common; c++)
      sum += orr_bordered_common(b, r)[c] * b->v[b->rows + c];
    b->b[i] = sum;
  }
  orr_pivot_solve(&b->rest, b->b, b->x);
  orr_pivot_smallest(&b->rest, b->b, b->least);
  for (int i = 0; i < b->put_off; i++)
    x[b->off[i]] = b->x[i];
  for (int k = 0; k < b->common; k++)
    take_along(b, k, b->least[b->own + k]);
}

/* x of the other rows of a group from its part of v, which begins at `at`. */
static void solve_back(struct orr_bordered *b, int g, int at, double *x) {
  const struct orr_pivot *p = &b->groups[g];
  const int *row = b->row + b->begin[g];
  memset(b->x, 0, sizeof *x * (size_t)p->rows);
  for (int d = p->rank; d < p->rows && b->put_off > 0; d++) {
    int place = p->order[d];
    for (int k = 0; k < p->rank; k++)
      b->v[at + k] -= p->r[(size_t)k * (size_t)p->rows + (size_t)place] * x[row[place]];
  }
  orr_pivot_backward(p, b->v + at, 1, b->x);
  for (int k = 0; k < p->rank; k++)
    x[row[p->order[k]]] = b->x[p->order[k]];
}

void orr_bordered_solve(struct orr_bordered *b, const double *from, double *x) {
  memset(x, 0, sizeof *x * (size_t)b->rows);
  solve_own(b, from);
  solve_common(b);
  if (b->put_off > 0)
    solve_rest(b, from, x);
  for (int g = 0, at = 0; g < b->group_count; g++) {
    solve_back(b, g, at, x);
    at += b->groups[g].rank;
  }
}
