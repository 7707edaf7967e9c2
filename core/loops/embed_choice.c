/* Independent coordinates of aggregates, X, and the closure of the dependent ones. */
#include "core/loops/embed.h"

#include "core/loops/loop_group.h"
#include "core/math/elementary.h"

/* Newton steps of one closure, and the last step's size that ends it: convergence is quadratic, so what is left is its
 * square. */
enum { MOST_STEPS = 12 };
static const double LAST_STEP = 1e-9;
/* What rows of a closed posture miss, over their gross size, is not more than this. */
static const double ROUNDING = 2e-15;
/* Where the smallest pivot is less than a tenth, both are that much smaller, for so much further is what is open from
 * closed; but not less than this part. */
static const double WEAK = 10, LEAST_PART = 0.02;
/* Another choice has to be so much better before the old one is given up. */
static const double HYSTERESIS = 0.5;
/* A mode depends on the others only where hinges are so much worse placed: what a step misses would bend it. */
static const double MODES_LAST = 1e-2;

/* G of a row (place in a->rows) and a coordinate, over the row's gross size. */
static double entry(const struct orr_aggregate *a, const struct orr_loops *l, int row, int coordinate) {
  int r = a->rows[row], c = a->column[coordinate];
  double gross = l->g.gross[r];
  return c < 0 || !(gross > 0) ? 0 : l->g.a[(size_t)r * (size_t)l->g.width + (size_t)c] / gross;
}

static bool is_held(const struct orr_aggregate *a, const struct orr_loops *l, const struct orr_workspace *ws,
                    int coordinate) {
  const struct orr_aggregate_limb *k = &a->limbs[a->limb_of[coordinate]];
  return ws->prescribed[k->limb] && coordinate >= k->column + l->model->limbs[k->limb].mode_count;
}

static void list_driven(struct orr_aggregate *a, const struct orr_loops *l, const struct orr_workspace *ws) {
  a->driven_count = 0;
  for (int c = 0; c < a->count; c++) {
    a->held[c] = is_held(a, l, ws, c);
    if (a->held[c])
      a->driven[a->driven_count++] = c;
  }
}

/* ---- choice ------------------------------------------------------------------------------------------------ */

static bool is_mode(const struct orr_aggregate *a, const struct orr_loops *l, int coordinate) {
  const struct orr_aggregate_limb *k = &a->limbs[a->limb_of[coordinate]];
  return coordinate < k->column + l->model->limbs[k->limb].mode_count;
}

/* The largest entry of a row of the matrix, with modes counted less. */
static void find_best(struct orr_aggregate *a, const struct orr_loops *l, int row) {
  const double *g = a->matrix + (size_t)row * (size_t)a->count;
  struct orr_best best = {.column = -1};
  for (int c = a->first[row]; c < a->past[row]; c++) {
    double part = fabs(g[c]);
    if (part <= ORR_LOOP_TOLERANCE)
      continue;
    double weighed = (is_mode(a, l, c) ? MODES_LAST : 1) * part;
    if (!(weighed <= best.weighed))
      best = (struct orr_best){.column = c, .size = part, .weighed = weighed};
  }
  a->best[row] = best;
}

/* The pivot to take next: its row, or −1 where none is above the tolerance. */
static int find_pivot(const struct orr_aggregate *a) {
  int row = -1;
  for (int r = 0; r < a->row_count; r++) {
    const struct orr_best *b = &a->best[r];
    if (b->column < 0)
      continue;
    if (row < 0 || b->weighed > a->best[row].weighed ||
        (b->weighed == a->best[row].weighed && b->column < a->best[row].column))
      row = r;
  }
  return row;
}

/* The rows of G over free coordinates, of all rows or those that are `kept`; what the last elimination left is
 * cleared. */
static void fill_matrix(struct orr_aggregate *a, const struct orr_loops *l, const bool *kept) {
  for (int r = 0; r < a->row_count; r++) {
    double *g = a->matrix + (size_t)r * (size_t)a->count;
    memset(g + a->first[r], 0, sizeof *g * (size_t)(a->past[r] - a->first[r]));
    a->first[r] = a->past[r] = 0;
    a->best[r].column = -1;
    if (a->pattern_past[r] == a->pattern_first[r] || (kept && !kept[r]))
      continue;
    a->first[r] = a->pattern[a->pattern_first[r]];
    a->past[r] = a->pattern[a->pattern_past[r] - 1] + 1;
    for (int i = a->pattern_first[r]; i < a->pattern_past[r]; i++)
      g[a->pattern[i]] = a->held[a->pattern[i]] ? 0 : entry(a, l, r, a->pattern[i]);
    find_best(a, l, r);
  }
}

/* Takes a pivot's column out of the other rows, and its row out of the matrix. */
static void take_pivot(struct orr_aggregate *a, const struct orr_loops *l, int row, int column) {
  size_t n = (size_t)a->count;
  double *pivot = a->matrix + (size_t)row * n;
  int first = a->first[row], past = a->past[row];
  for (int r = 0; r < a->row_count; r++) {
    double *g = a->matrix + (size_t)r * n;
    if (r == row || g[column] == 0)
      continue;
    double factor = g[column] / pivot[column];
    for (int c = first; c < past; c++)
      g[c] -= factor * pivot[c];
    g[column] = 0;
    a->first[r] = first < a->first[r] ? first : a->first[r];
    a->past[r] = past > a->past[r] ? past : a->past[r];
    find_best(a, l, r);
  }
  memset(pivot + first, 0, sizeof *pivot * (size_t)(past - first));
  a->best[row].column = -1;
}

/* In ascending order, in which what rows and coordinates share stays local. */
static void sort(int *list, int count) {
  for (int i = 1; i < count; i++) {
    int x = list[i], at = i;
    for (; at > 0 && list[at - 1] > x; at--)
      list[at] = list[at - 1];
    list[at] = x;
  }
}

/* Gaussian elimination with complete pivoting over free columns, to the rank that is known, of all rows or those that
 * are `kept`. Fills `dependent` and `chosen`, returns the smallest pivot taken; the rank in *rank. Loops have few
 * coordinates in common, so that most of the matrix stays zero and is not touched. A large choice is told in the order
 * of the aggregate, a small one in that of its pivots. */
static double eliminate(struct orr_aggregate *a, const struct orr_loops *l, const bool *kept, int *dependent,
                        int *chosen, int *rank) {
  int m = a->row_count, n = a->count, most = m < n ? m : n;
  double least = HUGE_VAL;
  fill_matrix(a, l, kept);
  if (a->known_rank >= 0 && a->known_rank < most)
    most = a->known_rank;
  for (*rank = 0; *rank < most; (*rank)++) {
    int row = find_pivot(a);
    if (row < 0)
      break;
    int column = a->best[row].column;
    chosen[*rank] = row;
    dependent[*rank] = column;
    least = orr_min(least, a->best[row].size);
    take_pivot(a, l, row, column);
  }
  if (*rank > ORR_EMBED_COORDINATES) {
    sort(chosen, *rank);
    sort(dependent, *rank);
  }
  return least;
}

static void list_independent(struct orr_aggregate *a) {
  a->free_count = 0;
  a->prepared = 0;
  for (int c = 0; c < a->count; c++)
    a->depends_at[c] = -1;
  for (int i = a->rank - 1; i >= 0; i--)
    a->depends_at[a->dependent[i]] = i;
  for (int c = 0; c < a->count; c++)
    if (!a->held[c] && a->depends_at[c] < 0)
      a->independent[a->free_count++] = c;
  a->made = true;
}

static void choose(struct orr_aggregate *a, const struct orr_loops *l, const struct orr_workspace *ws) {
  list_driven(a, l, ws);
  a->quality = eliminate(a, l, NULL, a->dependent, a->chosen, &a->rank);
  list_independent(a);
}

void orr_embed_learn(struct orr_embed *e, const struct orr_workspace *ws) {
  for (int i = 0; i < e->count; i++) {
    struct orr_aggregate *a = &e->aggregates[i];
    int known = a->known_rank;
    a->known_rank = -1;
    choose(a, e->loops, ws);
    a->known_rank = a->rank > known ? a->rank : known;
  }
}

static bool held_as_chosen(const struct orr_aggregate *a, const struct orr_loops *l, const struct orr_workspace *ws) {
  if (!a->made)
    return false;
  for (int c = 0; c < a->count; c++)
    if (a->held[c] != is_held(a, l, ws, c))
      return false;
  return true;
}

static void keep_chosen(struct orr_aggregate *a) {
  memset(a->kept, 0, sizeof *a->kept * (size_t)a->row_count);
  for (int r = 0; r < a->rank; r++)
    a->kept[a->chosen[r]] = true;
}

/* The other choice is the one from here on. */
static void take_other(struct orr_aggregate *a, int rank, double quality) {
  a->rank = rank;
  a->quality = quality;
  memcpy(a->dependent, a->other_dependent, sizeof *a->dependent * (size_t)rank);
  memcpy(a->chosen, a->other_chosen, sizeof *a->chosen * (size_t)rank);
  list_independent(a);
}

/* Other dependent coordinates by the same rows. False where the rows themselves are lost. */
static bool choose_by_same_rows(struct orr_aggregate *a, const struct orr_loops *l) {
  int rank;
  keep_chosen(a);
  double quality = eliminate(a, l, a->kept, a->other_dependent, a->other_chosen, &rank);
  if (rank < a->rank)
    return false;
  take_other(a, rank, quality);
  return true;
}

/* The rows that the other choice takes anew are closed as well as those it gives up. */
static bool may_take_other(struct orr_aggregate *a, const struct orr_loops *l, int rank, double least) {
  bool may = true;
  keep_chosen(a);
  for (int r = 0; r < rank; r++)
    may = may && (a->kept[a->other_chosen[r]] || orr_row_may_be_taken(l, a->rows[a->other_chosen[r]], least));
  return may;
}

/* ---- G_D --------------------------------------------------------------------------------------------------- */

/* G_D of the chosen rows over their gross size into lu; what the last factor left is cleared. */
static void fill_dependent(struct orr_aggregate *a, const struct orr_loops *l) {
  int n = a->rank;
  for (int i = 0; i < n; i++) {
    double *row = a->lu + (size_t)i * (size_t)n;
    int r = a->chosen[i], first = n, past = 0;
    memset(row, 0, sizeof *row * (size_t)n);
    for (int k = a->pattern_first[r]; k < a->pattern_past[r]; k++) {
      int j = a->depends_at[a->pattern[k]];
      if (j < 0)
        continue;
      row[j] = entry(a, l, r, a->pattern[k]);
      first = j < first ? j : first;
      past = j + 1 > past ? j + 1 : past;
    }
    a->lu_first[i] = first;
    a->lu_past[i] = past;
  }
}

static void exchange_ints(int *a, int *b) {
  int t = *a;
  *a = *b;
  *b = t;
}

static void exchange_rows(struct orr_aggregate *a, int i, int j) {
  double *x = a->lu + (size_t)i * (size_t)a->rank, *y = a->lu + (size_t)j * (size_t)a->rank;
  int first = a->lu_first[i] < a->lu_first[j] ? a->lu_first[i] : a->lu_first[j];
  int past = a->lu_past[i] > a->lu_past[j] ? a->lu_past[i] : a->lu_past[j];
  for (int c = first; c < past; c++) {
    double t = x[c];
    x[c] = y[c];
    y[c] = t;
  }
  exchange_ints(&a->lu_first[i], &a->lu_first[j]);
  exchange_ints(&a->lu_past[i], &a->lu_past[j]);
}

/* The column of the k-th pivot out of the rows below it. */
static void take_column(struct orr_aggregate *a, int k) {
  int n = a->rank, past = a->lu_past[k];
  double *lu = a->lu;
  for (int i = k + 1; i < n; i++) {
    if (a->lu_first[i] > k || lu[i * n + k] == 0)
      continue;
    double factor = lu[i * n + k] / lu[k * n + k];
    lu[i * n + k] = factor;
    for (int j = k + 1; j < past; j++)
      lu[i * n + j] -= factor * lu[k * n + j];
    a->lu_past[i] = past > a->lu_past[i] ? past : a->lu_past[i];
  }
}

/* P G_D = L U with row exchanges; false when a pivot is lost. */
static bool factor_dependent(struct orr_aggregate *a, const struct orr_loops *l) {
  int n = a->rank;
  double *lu = a->lu;
  a->quality = n ? HUGE_VAL : 1;
  fill_dependent(a, l);
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (a->lu_first[i] <= k && fabs(lu[i * n + k]) > fabs(lu[best * n + k]))
        best = i;
    a->swap[k] = best;
    if (best != k)
      exchange_rows(a, k, best);
    a->quality = orr_min(a->quality, fabs(lu[k * n + k]));
    if (!(fabs(lu[k * n + k]) > ORR_LOOP_TOLERANCE))
      return false;
    take_column(a, k);
  }
  return true;
}

static void exchange(const struct orr_aggregate *a, double *b, int k) {
  double t = b[k];
  b[k] = b[a->swap[k]];
  b[a->swap[k]] = t;
}

/* b = G_D⁻¹ b */
static void solve(const struct orr_aggregate *a, double *b) {
  int n = a->rank;
  for (int k = 0; k < n; k++)
    exchange(a, b, k); /* all of them first: L is stored in the final order */
  for (int i = 1; i < n; i++)
    for (int k = a->lu_first[i]; k < i; k++)
      b[i] -= a->lu[i * n + k] * b[k];
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < a->lu_past[i]; k++)
      b[i] -= a->lu[i * n + k] * b[k];
    b[i] /= a->lu[i * n + i];
  }
}

/* b = G_D⁻ᵀ b */
static void solve_transposed(const struct orr_aggregate *a, double *b) {
  int n = a->rank;
  for (int i = 0; i < n; i++) {
    b[i] /= a->lu[i * n + i];
    for (int k = i + 1; k < a->lu_past[i]; k++)
      b[k] -= a->lu[i * n + k] * b[i];
  }
  for (int i = n - 1; i >= 0; i--)
    for (int k = a->lu_first[i]; k < i; k++)
      b[k] -= a->lu[i * n + k] * b[i];
  for (int k = n - 1; k >= 0; k--)
    exchange(a, b, k);
}

/* X: u̇_D = −G_D⁻¹ G_I u̇_I */
static void fill_x(struct orr_aggregate *a, const struct orr_loops *l) {
  int n = a->count;
  for (int i = 0; i < a->free_count; i++) {
    double *x = a->x + (size_t)i * (size_t)n, *b = a->nu;
    memset(x, 0, sizeof *x * (size_t)n);
    x[a->independent[i]] = 1;
    if (a->column[a->independent[i]] < 0)
      continue;
    for (int r = 0; r < a->rank; r++)
      b[r] = -entry(a, l, a->chosen[r], a->independent[i]);
    solve(a, b);
    for (int r = 0; r < a->rank; r++)
      x[a->dependent[r]] = b[r];
  }
}

static int loop_of_row(const struct orr_aggregate *a, const struct orr_loops *l, int row) {
  return l->row_loop[a->rows[row]];
}

bool orr_embed_prepare(struct orr_embed *e, const struct orr_workspace *ws, int *failed) {
  for (int i = 0; i < e->count; i++) {
    struct orr_aggregate *a = &e->aggregates[i];
    bool held = held_as_chosen(a, e->loops, ws);
    if (held && a->prepared && a->prepared == e->loops->placed)
      continue;
    bool whole = held && a->rank >= a->known_rank, fits = whole && factor_dependent(a, e->loops);
    if (whole && !fits)
      fits = choose_by_same_rows(a, e->loops) && factor_dependent(a, e->loops);
    if (!whole) { /* a choice made where an equation was lost does not serve elsewhere */
      choose(a, e->loops, ws);
      fits = factor_dependent(a, e->loops) && a->rank >= a->known_rank;
    }
    if (!fits) {
      *failed = loop_of_row(a, e->loops, a->rank ? a->chosen[0] : 0);
      return false;
    }
    fill_x(a, e->loops);
    a->prepared = e->loops->placed;
  }
  return true;
}

/* The other choice is the one that there is, in the same order. */
static bool is_the_same(const struct orr_aggregate *a) {
  size_t bytes = sizeof *a->chosen * (size_t)a->rank;
  return memcmp(a->dependent, a->other_dependent, bytes) == 0 && memcmp(a->chosen, a->other_chosen, bytes) == 0;
}

/* Another choice for an aggregate that has one, if it is so much better. */
static bool reconsider(struct orr_aggregate *a, const struct orr_loops *l) {
  int rank;
  double best = eliminate(a, l, NULL, a->other_dependent, a->other_chosen, &rank);
  bool good = (a->prepared && a->prepared == l->placed) || factor_dependent(a, l);
  double now = good ? a->quality : 0;
  if (rank < a->rank || (rank == a->rank && (now >= HYSTERESIS * best || is_the_same(a))))
    return false; /* at a posture that loses rank no choice is better */
  if (!may_take_other(a, l, rank, best)) {
    best = eliminate(a, l, a->kept, a->other_dependent, a->other_chosen, &rank);
    if (rank < a->rank || now >= HYSTERESIS * best || is_the_same(a))
      return false;
  }
  take_other(a, rank, best);
  return true;
}

bool orr_embed_choose(struct orr_embed *e, const struct orr_workspace *ws) {
  bool changed = false;
  for (int i = 0; i < e->count; i++) {
    struct orr_aggregate *a = &e->aggregates[i];
    bool has = held_as_chosen(a, e->loops, ws);
    if (!has)
      choose(a, e->loops, ws);
    changed = !has || reconsider(a, e->loops) || changed;
  }
  return changed;
}

/* ---- closure ----------------------------------------------------------------------------------------------- */

/* What a row asks of c is met, also where it is not among the chosen ones. */
static bool row_is_met(const struct orr_aggregate *a, const struct orr_loops *l, int row) {
  double gross = l->g.gross[a->rows[row]], sum = gross > 0 ? a->right[row] / gross : 0, terms = 1 + fabs(sum);
  for (int i = a->pattern_first[row]; i < a->pattern_past[row]; i++) {
    int c = a->pattern[i];
    double part = entry(a, l, row, c) * a->c[c];
    sum += part;
    terms += fabs(part);
  }
  return fabs(sum) <= 1e-5 * terms;
}

int orr_aggregate_bias(struct orr_aggregate *a, const struct orr_loops *l) {
  double *b = a->nu;
  for (int r = 0; r < a->rank; r++) {
    double gross = l->g.gross[a->rows[a->chosen[r]]];
    b[r] = -a->right[a->chosen[r]] / gross;
    for (int i = 0; i < a->driven_count; i++)
      b[r] -= entry(a, l, a->chosen[r], a->driven[i]) * a->c[a->driven[i]];
  }
  solve(a, b);
  for (int i = 0; i < a->free_count; i++)
    a->c[a->independent[i]] = 0;
  for (int r = 0; r < a->rank; r++)
    a->c[a->dependent[r]] = b[r];
  for (int r = 0; r < a->row_count && a->rank < a->row_count && a->driven_count; r++)
    if (!row_is_met(a, l, r))
      return loop_of_row(a, l, r);
  return -1;
}

void orr_aggregate_multipliers(struct orr_aggregate *a, const struct orr_loops *l, const double *excess,
                               double *lambda) {
  double *b = a->nu;
  for (int r = 0; r < a->row_count; r++)
    lambda[a->rows[r]] = 0;
  for (int r = 0; r < a->rank; r++)
    b[r] = excess[a->dependent[r]];
  solve_transposed(a, b);
  for (int r = 0; r < a->rank; r++)
    lambda[a->rows[a->chosen[r]]] = b[r] / l->g.gross[a->rows[a->chosen[r]]];
}

/* The Newton step of one aggregate into `step` [column_count]; its largest part. */
static double newton_step(struct orr_aggregate *a, const struct orr_loops *l, double *step) {
  double *b = a->nu, largest = 0;
  for (int r = 0; r < a->rank; r++)
    b[r] = -l->residual[a->rows[a->chosen[r]]] / l->g.gross[a->rows[a->chosen[r]]];
  solve(a, b);
  for (int r = 0; r < a->rank; r++) {
    step[a->column[a->dependent[r]]] = b[r];
    largest = orr_max(largest, fabs(b[r]));
  }
  return largest;
}

/* What a driven row adds to G u, over the row's gross size. */
static double driven_rate(const struct orr_aggregate *a, const struct orr_loops *l, int row) {
  const struct orr_loop *loop = &l->loops[l->row_loop[a->rows[row]]];
  return a->rows[row] - loop->row == loop->driven ? loop->rate / l->g.gross[a->rows[row]] : 0;
}

/* The dependent coordinates of a row, as they are ordered, into a->few; their number. */
static int dependents(struct orr_aggregate *a, int row) {
  int count = 0;
  for (int i = a->pattern_first[row]; i < a->pattern_past[row]; i++) {
    int d = a->depends_at[a->pattern[i]], at = count;
    if (d < 0)
      continue;
    for (; at > 0 && a->few[at - 1] > d; at--)
      a->few[at] = a->few[at - 1];
    a->few[at] = d;
    count++;
  }
  return count;
}

/* u_D = −G_D⁻¹ (G_I u_I + G_P u_P + ∂φ/∂t) */
static void close_speeds(struct orr_aggregate *a, const struct orr_loops *l, double *u) {
  double *b = a->nu;
  for (int r = 0; r < a->rank; r++) {
    int row = a->chosen[r], count = dependents(a, row);
    b[r] = driven_rate(a, l, row);
    for (int i = a->pattern_first[row]; i < a->pattern_past[row]; i++)
      b[r] -= entry(a, l, row, a->pattern[i]) * u[a->u[a->pattern[i]]];
    for (int i = 0; i < count; i++) {
      int d = a->dependent[a->few[i]];
      b[r] += entry(a, l, row, d) * u[a->u[d]];
    }
  }
  solve(a, b);
  for (int r = 0; r < a->rank; r++)
    u[a->u[a->dependent[r]]] = b[r];
}

/* An embedded loop with a row that is open beyond the tolerance, or −1. Redundant rows are among them. */
static int open_loop(const struct orr_embed *e) {
  const struct orr_loops *l = e->loops;
  for (int i = 0; i < e->count; i++)
    for (int r = 0; r < e->aggregates[i].row_count; r++) {
      int row = e->aggregates[i].rows[r];
      if (!(fabs(l->residual[row]) <= ORR_LOOP_TOLERANCE * orr_max(1, l->size)))
        return l->row_loop[row];
    }
  return -1;
}

/* The smallest pivot of all aggregates. */
static double weakest(const struct orr_embed *e) {
  double least = 1;
  for (int i = 0; i < e->count; i++)
    least = orr_min(least, e->aggregates[i].quality);
  return least;
}

/* The most that a chosen row misses, over its gross size. */
static double missing(const struct orr_embed *e) {
  const struct orr_loops *l = e->loops;
  double most = 0;
  for (int i = 0; i < e->count; i++) {
    const struct orr_aggregate *a = &e->aggregates[i];
    for (int r = 0; r < a->rank; r++) {
      int row = a->rows[a->chosen[r]];
      double miss = fabs(l->residual[row]) / l->g.gross[row];
      most = miss >= 0 ? orr_max(most, miss) : HUGE_VAL;
    }
  }
  return most;
}

enum orr_status orr_embed_close(struct orr_embed *e, struct orr_workspace *ws, double *q, double *u, int *failed) {
  struct orr_loops *l = e->loops;
  double last = HUGE_VAL, before = HUGE_VAL;
  for (int i = 0; i <= MOST_STEPS; i++) {
    orr_loops_update(l, ws, q);
    if (!orr_embed_prepare(e, ws, failed))
      return ORR_ERROR_LOOP_SINGULAR;
    double closer = orr_min(1, WEAK * weakest(e)), open = missing(e);
    bool settled = open <= ROUNDING && open > 0.5 * before;
    if (settled || last <= closer * LAST_STEP || open <= orr_max(closer, LEAST_PART) * ROUNDING)
      break;
    before = open;
    memset(l->step, 0, sizeof *l->step * (size_t)l->g.width);
    last = 0;
    for (int k = 0; k < e->count; k++)
      last = orr_max(last, newton_step(&e->aggregates[k], l, l->step));
    orr_loops_move(l, l->step, q);
  }
  *failed = open_loop(e);
  if (*failed >= 0)
    return ORR_ERROR_LOOP_OPEN;
  for (int k = 0; k < e->count; k++)
    close_speeds(&e->aggregates[k], l, u);
  return ORR_OK;
}

/* ---- state ------------------------------------------------------------------------------------------------- */

static int most_rank(const struct orr_aggregate *a) { return a->row_count < a->count ? a->row_count : a->count; }

size_t orr_embed_state_words(const struct orr_embed *e) {
  size_t words = 0;
  for (int i = 0; i < e->count; i++)
    words += 1 + 2 * (size_t)most_rank(&e->aggregates[i]);
  return words;
}

void orr_embed_state_get(const struct orr_embed *e, uint64_t *words) {
  for (int i = 0; i < e->count; i++) {
    const struct orr_aggregate *a = &e->aggregates[i];
    int most = most_rank(a);
    *words++ = a->made ? (uint64_t)a->rank + 1 : 0;
    for (int r = 0; r < most; r++) {
      *words++ = a->made && r < a->rank ? (uint64_t)a->dependent[r] : 0;
      *words++ = a->made && r < a->rank ? (uint64_t)a->chosen[r] : 0;
    }
  }
}

void orr_embed_state_put(struct orr_embed *e, const struct orr_workspace *ws, const uint64_t *words) {
  for (int i = 0; i < e->count; i++) {
    struct orr_aggregate *a = &e->aggregates[i];
    int most = most_rank(a);
    a->made = *words > 0 && *words <= (uint64_t)most + 1;
    a->rank = a->made ? (int)*words - 1 : 0;
    words++;
    for (int r = 0; r < most; r++, words += 2) {
      a->dependent[r] = (int)(words[0] % (uint64_t)a->count);
      a->chosen[r] = (int)(words[1] % (uint64_t)a->row_count);
    }
    list_driven(a, e->loops, ws);
    if (a->made)
      list_independent(a);
  }
}
