#include "core/math/pivot.h"

#include <math.h>

void orr_pivot_layout(struct orr_pivot *p, int rows, int columns, struct orr_block *block) {
  p->rows = rows;
  p->inner = p->width = (columns + 3) / 4 * 4;
  p->rank = 0;
  p->a = ORR_TAKE(block, double, (size_t)rows *(size_t)p->width);
  p->gross = ORR_TAKE(block, double, rows);
  p->r = ORR_TAKE(block, double, (size_t)rows *(size_t)rows);
  p->order = ORR_TAKE(block, int, rows);
  p->y = ORR_TAKE(block, double, rows);
  p->first = ORR_TAKE(block, int, rows);
  p->past = ORR_TAKE(block, int, rows);
  p->place = ORR_TAKE(block, int, rows);
  p->left = ORR_TAKE(block, double, rows);
  p->mates = ORR_TAKE(block, int, rows);
  p->mates_first = ORR_TAKE(block, int, rows);
  p->mates_past = ORR_TAKE(block, int, rows);
  p->span_first = p->span_past = NULL;
  if (block->base)
    orr_pivot_shape(p, rows, columns);
}

void orr_pivot_shape(struct orr_pivot *p, int rows, int columns) {
  p->rows = rows;
  p->inner = p->width = (columns + 3) / 4 * 4;
  p->span_first = p->span_past = NULL;
  for (int r = 0; r < rows; r++) {
    p->mates[r] = r;
    p->mates_first[r] = 0;
    p->mates_past[r] = rows;
  }
}

void orr_pivot_span(struct orr_pivot *p, const int *first, const int *past) {
  int count = 0;
  p->span_first = first;
  p->span_past = past;
  for (int r = 0; r < p->rows; r++)
    p->mates_past[r] = 0;
  for (int r = 0; r < p->rows; r++) {
    if (p->mates_past[r])
      continue;
    int from = first[r], to = past[r], begin = count;
    p->mates[count++] = r;
    p->mates_past[r] = 1;
    for (bool grown = true; grown;) {
      grown = false;
      for (int other = r + 1; other < p->rows; other++) {
        if (p->mates_past[other] || first[other] >= to || past[other] <= from)
          continue;
        from = first[other] < from ? first[other] : from;
        to = past[other] > to ? past[other] : to;
        p->mates[count++] = other;
        p->mates_past[other] = 1;
        grown = true;
      }
    }
    for (int i = begin; i < count; i++) {
      p->mates_first[p->mates[i]] = begin;
      p->mates_past[p->mates[i]] = count;
    }
  }
}

static double dot(const double *restrict a, const double *restrict b, int first, int past) {
  double sum[4] = {0, 0, 0, 0};
  for (int c = first; c < past; c += 4)
    for (int i = 0; i < 4; i++)
      sum[i] += a[c + i] * b[c + i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double length(const struct orr_pivot *p, int row) {
  const double *a = p->a + (size_t)row * (size_t)p->width;
  return sqrt(dot(a, a, p->first[row], p->past[row]));
}

/* Of the rows from `k` on, the one that has most left against its gross size; that part in *left. */
static int largest(struct orr_pivot *p, int k, double *left) {
  int best = k;
  *left = -1;
  for (int i = k; i < p->rows; i++) {
    int row = p->order[i];
    if (p->left[row] < 0 && p->gross[row] > 0)
      p->left[row] = length(p, row);
    double size = p->gross[row] > 0 ? p->left[row] / p->gross[row] : 0;
    if (size > *left) {
      *left = size;
      best = i;
    }
  }
  return best;
}

/* q_k = a / |a|; r_ki = q_k · a_i, a_i −= r_ki q_k (modified Gram-Schmidt, so that R is as good as Householder's). The
 * row that stands at `at` in the order becomes the k-th; `size` is what is left of it. */
static void take(struct orr_pivot *p, int at, double size) {
  int m = p->rows, w = p->width, k = p->rank, row = p->order[at];
  p->order[at] = p->order[k];
  p->order[k] = row;
  p->place[p->order[at]] = at;
  p->place[row] = k;
  double *restrict q = p->a + (size_t)row * (size_t)w, *r = p->r + (size_t)k * (size_t)m;
  r[row] = size;
  double scale = size > 0 ? 1 / size : 0;
  int first = p->first[row], past = p->past[row];
  for (int c = first; c < past; c++)
    q[c] *= scale;
  for (int c = p->inner; c < w; c++)
    q[c] *= scale;
  for (int i = p->mates_first[row]; i < p->mates_past[row]; i++) {
    int other = p->mates[i], from = p->first[other], to = p->past[other];
    if (p->place[other] <= k || from >= past || to <= first)
      continue; /* nothing in common; r is zero already */
    double *restrict a = p->a + (size_t)other * (size_t)w;
    double along = dot(q, a, from > first ? from : first, to < past ? to : past);
    r[other] = along;
    if (along == 0)
      continue;
    p->left[other] = -1;
    for (int c = first; c < past; c++)
      a[c] -= along * q[c];
    for (int c = p->inner; c < w; c++)
      a[c] -= along * q[c];
    p->first[other] = from < first ? from : first;
    p->past[other] = to > past ? to : past;
  }
  p->rank = k + 1;
}

void orr_pivot_continue(struct orr_pivot *p, double tolerance, int most) {
  while (p->rank < p->rows && p->rank < most) {
    double left;
    int at = largest(p, p->rank, &left);
    if (!(left > tolerance))
      return;
    take(p, at, left * p->gross[p->order[at]]);
  }
}

/* Where a row has something in it, in fours: loops that have no coordinate in common do not meet. */
static void bound(struct orr_pivot *p, int row) {
  const double *a = p->a + (size_t)row * (size_t)p->width;
  int first = p->span_first ? p->span_first[row] : 0, past = p->span_past ? p->span_past[row] : p->inner;
  while (first < past && a[first] == 0)
    first++;
  while (past > first && a[past - 1] == 0)
    past--;
  p->first[row] = first / 4 * 4;
  p->past[row] = (past + 3) / 4 * 4;
}

static void begin(struct orr_pivot *p) {
  for (int i = 0; i < p->rows; i++)
    bound(p, i);
  memset(p->r, 0, sizeof *p->r * (size_t)p->rows * (size_t)p->rows);
  for (int i = 0; i < p->rows; i++)
    p->order[i] = p->place[i] = i, p->left[i] = -1;
  p->rank = 0;
}

void orr_pivot_factor(struct orr_pivot *p, double tolerance) {
  begin(p);
  orr_pivot_continue(p, tolerance, p->rows);
}

double orr_pivot_take(struct orr_pivot *p, const int *rows, int count, int *weakest) {
  double least = HUGE_VAL;
  begin(p);
  for (int k = 0; k < count; k++) {
    double size = length(p, rows[k]), part = p->gross[rows[k]] > 0 ? size / p->gross[rows[k]] : 0;
    take(p, p->place[rows[k]], size);
    if (part < least || !(part >= 0)) {
      least = part >= 0 ? part : 0;
      *weakest = rows[k];
    }
  }
  return least;
}

void orr_pivot_forward(struct orr_pivot *p, const double *b) {
  for (int k = 0; k < p->rank; k++) {
    int row = p->order[k];
    double sum = b[row];
    for (int l = 0; l < k; l++)
      sum -= p->r[(size_t)l * (size_t)p->rows + (size_t)row] * p->y[l];
    p->y[k] = sum / p->r[(size_t)k * (size_t)p->rows + (size_t)row];
  }
}

void orr_pivot_backward(const struct orr_pivot *p, const double *y, int stride, double *x) {
  for (int k = p->rank - 1; k >= 0; k--) {
    const double *r = p->r + (size_t)k * (size_t)p->rows;
    double sum = y[k * stride];
    for (int l = k + 1; l < p->rank; l++)
      sum -= r[p->order[l]] * x[p->order[l]];
    x[p->order[k]] = sum / r[p->order[k]];
  }
}

void orr_pivot_solve(struct orr_pivot *p, const double *b, double *x) {
  orr_pivot_forward(p, b);
  memset(x, 0, sizeof *x * (size_t)p->rows);
  orr_pivot_backward(p, p->y, 1, x);
}

void orr_pivot_smallest(struct orr_pivot *p, const double *b, double *x) {
  orr_pivot_forward(p, b);
  memset(x, 0, sizeof *x * (size_t)p->width);
  for (int k = 0; k < p->rank; k++) {
    const double *q = p->a + (size_t)p->order[k] * (size_t)p->width;
    for (int c = 0; c < p->inner; c++)
      x[c] += p->y[k] * q[c];
  }
}

void orr_pivot_null(const struct orr_pivot *p, int n, double *v) {
  int row = p->order[p->rank + n];
  memset(v, 0, sizeof *v * (size_t)p->rows);
  orr_pivot_backward(p, p->r + row, p->rows, v);
  for (int k = 0; k < p->rank; k++)
    v[p->order[k]] = -v[p->order[k]];
  v[row] = 1;
}
