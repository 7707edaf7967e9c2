#include "core/loops/assemble.h"

#include <float.h>

#include "core/math/elementary.h"
#include "core/model/hinge_kinds.h"

enum { MOST_STARTS = 32, MOST_STEPS = 100, FEW_STEPS = 20, SHORT_STEPS = 8 };
static const double MOST_WORK = 3e8; /* multiplications over all starts; then no step follows a descent's first few */
static const double MOVED = 1e-9;    /* what is not beyond it is not told as a move */

/* Which coordinates may move, in the order in which they are tried. */
enum freedom { HINGES, AND_MODES, AND_PRESCRIBED, FREEDOMS };

struct search {
  struct orr_loops *loops;
  struct orr_workspace *ws;
  double size;             /* m */
  double *start, *trial;   /* [q_count] */
  double *best;            /* [q_count] the nearest to closed so far */
  double *step;            /* [width] */
  double *scale;           /* [column_count] unit of a column; 0: held */
  double *measure;         /* [row_count] 1 over the unit of a row */
  double *phi;             /* [row_count] */
  struct orr_pivot damped; /* [G | √μ] */
  uint64_t random;
  double work;   /* multiplications so far, roughly */
  bool released; /* distances do not count, and become what they are where the other loops close */
};

static void layout(struct search *s, struct orr_block *block) {
  const struct orr_loops *l = s->loops;
  s->start = ORR_TAKE(block, double, l->model->q_count);
  s->trial = ORR_TAKE(block, double, l->model->q_count);
  s->best = ORR_TAKE(block, double, l->model->q_count);
  s->scale = ORR_TAKE(block, double, l->column_count);
  s->measure = ORR_TAKE(block, double, l->row_count);
  s->phi = ORR_TAKE(block, double, l->row_count);
  orr_pivot_layout(&s->damped, l->row_count, l->column_count + l->row_count, block);
  s->step = ORR_TAKE(block, double, s->damped.width);
}

size_t orr_assembly_size(const struct orr_loops *loops) {
  struct search s = {.loops = (struct orr_loops *)loops};
  struct orr_block block = {0};
  layout(&s, &block);
  return block.used;
}

/* ---- measures ---------------------------------------------------------------------------------------------- */

static bool row_turns(const struct orr_loops *l, int row) {
  const struct orr_loop *loop = &l->loops[l->row_loop[row]];
  if (loop->kind == ORR_LOOP_GEAR)
    return l->model->limbs[loop->limb[1]].kind != ORR_HINGE_PRISMATIC;
  return row - loop->row < loop->rows - 3 && loop->kind != ORR_LOOP_DISTANCE;
}

static bool is_distance(const struct orr_loops *l, int row) {
  const struct orr_loop *loop = &l->loops[l->row_loop[row]];
  return loop->kind == ORR_LOOP_DISTANCE && loop->driven < 0;
}

/* Wheels roll wherever they are; a distance that is released is what it becomes. */
static bool counts(const struct search *s, int row) {
  const struct orr_loops *l = s->loops;
  return l->loops[l->row_loop[row]].kind != ORR_LOOP_ROLLING && !(s->released && is_distance(l, row));
}

static void set_units(struct search *s, enum freedom freedom) {
  const struct orr_loops *l = s->loops;
  for (int r = 0; r < l->row_count; r++)
    s->measure[r] = counts(s, r) ? row_turns(l, r) ? 1 : 1 / s->size : 0;
  for (int i = 0; i < l->limb_count; i++) {
    const struct orr_loop_limb *k = &l->limbs[i];
    const struct orr_limb *limb = &l->model->limbs[k->limb];
    unsigned angles = orr_hinge_kind_info(limb->kind)->angles;
    bool held = s->ws->prescribed[k->limb] && freedom < AND_PRESCRIBED;
    for (int c = 0; c < k->modes; c++)
      s->scale[k->column + c] = freedom >= AND_MODES ? 1 : 0;
    for (int c = 0; c < limb->dof; c++)
      s->scale[k->column + k->modes + c] = held ? 0 : angles >> c & 1 ? 1 : s->size;
  }
}

/* |φ|² in measure, with φ kept. */
static double place(struct search *s, const double *q) {
  double sum = 0;
  orr_loops_place(s->loops, s->ws, q);
  for (int r = 0; r < s->loops->row_count; r++) {
    s->phi[r] = s->loops->residual[r] * s->measure[r];
    sum += s->phi[r] * s->phi[r];
  }
  return sum;
}

/* ---- descent ----------------------------------------------------------------------------------------------- */

/* (G Gᵀ + μ) y = φ, step −Gᵀ y: for no more equations than columns. What is left of an equation below the tolerance is
 * not met. */
static void step_by_rows(struct search *s, double damping, double tolerance) {
  const struct orr_loops *l = s->loops;
  struct orr_pivot *d = &s->damped;
  memset(d->a, 0, sizeof(double) * (size_t)d->rows * (size_t)d->width);
  for (int r = 0; r < d->rows; r++) {
    double *row = d->a + (size_t)r * (size_t)d->width;
    for (int c = 0; c < l->column_count; c++)
      row[c] = l->g.a[(size_t)r * (size_t)l->g.width + (size_t)c] * s->scale[c] * s->measure[r];
    row[l->column_count + r] = sqrt(damping);
    d->gross[r] = 1;
  }
  orr_pivot_factor(d, tolerance);
  orr_pivot_smallest(d, s->phi, s->step);
  for (int c = 0; c < l->column_count; c++)
    s->step[c] *= -s->scale[c];
}

/* N = L L* in place, N s = b; the diagonal is large enough never to vanish. */
static void solve_normal(double *n, double *b, int count) {
  for (int j = 0; j < count; j++) {
    for (int k = 0; k < j; k++)
      n[j * count + j] -= n[j * count + k] * n[j * count + k];
    n[j * count + j] = sqrt(orr_max(n[j * count + j], DBL_MIN));
    for (int i = j + 1; i < count; i++) {
      for (int k = 0; k < j; k++)
        n[i * count + j] -= n[i * count + k] * n[j * count + k];
      n[i * count + j] /= n[j * count + j];
    }
  }
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < i; k++)
      b[i] -= n[i * count + k] * b[k];
    b[i] /= n[i * count + i];
  }
  for (int i = count - 1; i >= 0; i--) {
    for (int k = i + 1; k < count; k++)
      b[i] -= n[k * count + i] * b[k];
    b[i] /= n[i * count + i];
  }
}

/* (Gᵀ G + μ) step = −Gᵀ φ, the same step: for more equations than columns. */
static void step_by_columns(struct search *s, double damping) {
  const struct orr_loops *l = s->loops;
  int n = l->column_count;
  double *normal = s->damped.a, trace = 0; /* [n][n], with n < rows: it fits */
  memset(normal, 0, sizeof *normal * (size_t)n * (size_t)n);
  for (int c = 0; c < n; c++)
    s->step[c] = 0;
  for (int r = 0; r < l->row_count; r++) {
    const double *g = l->g.a + (size_t)r * (size_t)l->g.width;
    double m = s->measure[r];
    for (int i = 0; i < n; i++) {
      double left = g[i] * s->scale[i] * m;
      s->step[i] -= left * s->phi[r];
      for (int k = 0; k <= i && left != 0; k++)
        normal[i * n + k] += left * g[k] * s->scale[k] * m;
    }
  }
  for (int i = 0; i < n; i++)
    trace += normal[i * n + i];
  for (int i = 0; i < n; i++)
    normal[i * n + i] += damping + 1e-14 * trace + DBL_MIN;
  solve_normal(normal, s->step, n);
  for (int c = 0; c < n; c++)
    s->step[c] *= s->scale[c];
}

/* The damped step from the placed q. */
static void find_step(struct search *s, double damping) {
  const struct orr_loops *l = s->loops;
  double rows = l->row_count, columns = l->column_count;
  orr_loops_jacobian(s->loops);
  if (rows <= columns)
    step_by_rows(s, damping, 1e-12);
  else
    step_by_columns(s, damping);
  s->work += (rows <= columns ? rows * rows * (rows + columns) : columns * columns * (rows + columns)) +
             500.0 * l->limb_count + 200 * rows;
}

/* The step is no turn beyond a radian at once, no slide beyond the size; beyond that only where one such step after the
 * other leads downhill, as along a gear or a slide that goes far. Returns the step's length before. */
static double shorten(struct search *s, int shortened) {
  double largest = 0, most = 1;
  for (int i = SHORT_STEPS; i < shortened; i++)
    most *= 2;
  for (int c = 0; c < s->loops->column_count; c++)
    if (s->scale[c] > 0)
      largest = orr_max(largest, fabs(s->step[c]) / s->scale[c]);
  for (int c = 0; c < s->loops->column_count && largest > most; c++)
    s->step[c] *= most / largest;
  return largest;
}

/* Equations that follow from others only within the tolerance, as with nearly parallel axes. */
static bool nearly_follow(struct search *s) {
  const struct orr_pivot *j = &s->loops->judge;
  orr_loops_jacobian(s->loops);
  orr_loops_rank(s->loops, s->ws, NULL, NULL);
  for (int k = j->rank; k < j->rows; k++) {
    const double *left = j->a + (size_t)j->order[k] * (size_t)j->width;
    for (int c = 0; c < j->width; c++)
      if (fabs(left[c]) > 1e-13 * s->loops->g.gross[j->order[k]])
        return true;
  }
  return false;
}

/* At a posture that is closed within the tolerance the equations that count are closed to rounding, with the least
 * motion; what follows from them within the tolerance is left, for nearly parallel axes would have to move far to meet
 * it. False where that does not lead to a closed posture; q is then as it was. */
static bool finish(struct search *s, double *q) {
  enum { STEPS = 8 };
  double most = HUGE_VAL;
  memcpy(s->trial, q, sizeof *q * (size_t)s->loops->model->q_count);
  for (int i = 0; i < STEPS && most > 1e-13; i++) {
    orr_loops_jacobian(s->loops);
    step_by_rows(s, 0, ORR_LOOP_TOLERANCE);
    most = 0;
    for (int c = 0; c < s->loops->column_count; c++)
      most = s->scale[c] > 0 ? orr_max(most, fabs(s->step[c]) / s->scale[c]) : most;
    orr_loops_move(s->loops, s->step, s->trial);
    place(s, s->trial);
  }
  bool good = most < 1e-9 && orr_loops_open(s->loops) < 0;
  if (good)
    memcpy(q, s->trial, sizeof *q * (size_t)s->loops->model->q_count);
  else
    place(s, q);
  return good;
}

/* From q downhill; returns the end's |φ|², with q there. */
static double descend(struct search *s, double *q) {
  size_t bytes = sizeof *q * (size_t)s->loops->model->q_count;
  double cost = place(s, q), damping = 1e-3;
  int shortened = 0; /* steps in a row */
  for (int i = 0; i < MOST_STEPS && (i < FEW_STEPS || s->work < MOST_WORK); i++) {
    if (!s->released && orr_loops_open(s->loops) < 0 && nearly_follow(s) && finish(s, q))
      break;
    find_step(s, damping);
    double largest = shorten(s, shortened);
    memcpy(s->trial, q, bytes);
    orr_loops_move(s->loops, s->step, s->trial);
    double next = place(s, s->trial);
    bool better = next < cost;
    shortened = better && largest > 1 ? shortened + 1 : 0;
    if (better) {
      double gain = cost - next;
      memcpy(q, s->trial, bytes);
      damping *= 0.1;
      cost = next;
      if (cost < 1e-24 || gain < 1e-13 * cost)
        break;
    } else {
      place(s, q);
      if (largest < 1e-15 || damping > 1e12)
        break;
      damping = orr_max(8 * damping, 1e-12);
    }
  }
  return place(s, q);
}

/* ---- starts ------------------------------------------------------------------------------------------------ */

/* Even in −1 … 1, by a fixed sequence. */
static double chance(struct search *s) {
  s->random = s->random * 6364136223846793005u + 1442695040888963407u;
  return (double)(s->random >> 11) / 4503599627370496.0 - 1;
}

static void scatter(struct search *s, double *q) {
  const struct orr_loops *l = s->loops;
  for (int c = 0; c < l->column_count; c++)
    s->step[c] = 0;
  for (int i = 0; i < l->limb_count; i++) {
    const struct orr_loop_limb *k = &l->limbs[i];
    int dof = l->model->limbs[k->limb].dof;
    for (int c = k->column + k->modes; c < k->column + k->modes + dof; c++)
      s->step[c] = 3 * s->scale[c] * chance(s);
  }
  orr_loops_move(l, s->step, q);
}

static void measure_moves(struct search *s, const double *q, struct orr_assembly *out) {
  const struct orr_loops *l = s->loops;
  out->turned = out->slid = -1;
  for (int i = 0; i < l->limb_count; i++) {
    const struct orr_limb *limb = &l->model->limbs[l->limbs[i].limb];
    struct orr_joint was, is;
    orr_joint_pose(limb->kind, limb->axes, s->start + limb->hinge_q, &was);
    orr_joint_pose(limb->kind, limb->axes, q + limb->hinge_q, &is);
    double turn[4];
    quat_from_matrix(m3_mul(m3_transpose(was.r), is.r), turn);
    double radians = 2 * orr_atan2(v3_norm(v3_from(turn)), turn[3]), metres = v3_norm(v3_sub(is.p, was.p));
    if (radians > out->radians) {
      out->radians = radians;
      out->turned = limb->body;
    }
    if (metres > out->metres) {
      out->metres = metres;
      out->slid = limb->body;
    }
    for (int r = 0; r < limb->mode_count; r++)
      out->modes = out->modes || fabs(q[limb->q + r] - s->start[limb->q + r]) > MOVED;
    out->prescribed = out->prescribed || (s->ws->prescribed[l->limbs[i].limb] && (radians > MOVED || metres > MOVED));
  }
}

/* Something moves with this freedom that did not with the one before. */
static bool adds(const struct search *s, enum freedom freedom) {
  const struct orr_loops *l = s->loops;
  bool modes = false, prescribed = false;
  for (int i = 0; i < l->limb_count; i++) {
    modes = modes || l->limbs[i].modes > 0;
    prescribed = prescribed || s->ws->prescribed[l->limbs[i].limb];
  }
  return freedom == HINGES || (freedom == AND_MODES ? modes : prescribed);
}

static void try_starts(struct search *s, double *q, struct orr_assembly *out) {
  size_t bytes = sizeof *q * (size_t)s->loops->model->q_count;
  double least = DBL_MAX;
  s->work = 0;
  for (int start = 0; start < MOST_STARTS && !out->closed && s->work < MOST_WORK; start++) {
    for (int f = HINGES; f < FREEDOMS && !out->closed; f++) {
      if (!adds(s, (enum freedom)f))
        continue;
      set_units(s, (enum freedom)f);
      if (f == HINGES) {
        memcpy(q, s->start, bytes);
        if (start)
          scatter(s, q);
      }
      double cost = descend(s, q);
      if (s->released)
        orr_loops_keep_distances(s->loops);
      out->closed = orr_loops_open(s->loops) < 0;
      if (cost < least || out->closed) {
        least = cost;
        memcpy(s->best, q, bytes);
      }
    }
  }
  memcpy(q, s->best, bytes);
  orr_loops_place(s->loops, s->ws, q);
}

static struct orr_assembly assemble(struct orr_loops *loops, struct orr_workspace *ws, void *memory, double *q,
                                    bool may_release) {
  struct orr_block block = {.base = memory, .size = orr_assembly_size(loops)};
  struct search s = {.loops = loops, .ws = ws, .size = loops->size};
  struct orr_assembly out = {.size = s.size};
  layout(&s, &block);
  memcpy(s.start, q, sizeof *q * (size_t)loops->model->q_count);
  try_starts(&s, q, &out);
  for (int r = 0; r < loops->row_count && may_release; r++)
    s.released = s.released || is_distance(loops, r);
  if (s.released && !out.closed) {
    try_starts(&s, q, &out);
    orr_loops_keep_distances(loops);
  }
  measure_moves(&s, q, &out);
  orr_loops_jacobian(loops);
  out.rank = orr_loops_rank(loops, ws, NULL, NULL);
  return out;
}

struct orr_assembly orr_loops_assemble(struct orr_loops *loops, struct orr_workspace *ws, void *memory, double *q) {
  return assemble(loops, ws, memory, q, false);
}

struct orr_assembly orr_loops_assemble_first(struct orr_loops *loops, struct orr_workspace *ws, void *memory,
                                             double *q) {
  orr_loops_place(loops, ws, q);
  orr_loops_keep_distances(loops);
  return assemble(loops, ws, memory, q, true);
}
