#include "core/loops/loop_choice.h"

#include "core/math/elementary.h"
#include "core/model/hinge_kinds.h"

/* Another choice has to be so much better before the old one is given up. */
static const double HYSTERESIS = 0.2;
/* How far rows should turn at most in a part of a step, rad, and by which part of itself what the
 * smallest has left should change. */
static const double TURN = 0.008, CHANGE = 0.05;
/* Less where the smallest has less than this left, but not beyond a third: errors grow by its inverse. */
static const double NEAR = 0.3, STRICT = 3;
/* A step that would miss that is divided as if the mechanism moved by so many radians in it, if it moves by less: then
 * the parts are as many for any step, and what an integrator misses goes on falling with the step as it should. Parts
 * are a quarter of the step, or a quarter of that, and so on. */
static const double MOVED = 0.01;
enum { QUARTERINGS = 5 };
/* rad: the most that a row may turn in a part; and in one that should have been divided further. */
static const double MOST_TURN = 0.4, MOST_TURN_UNDIVIDED = 0.03;

static bool is_augmented(const struct orr_loops *l, int row) {
  return l->loops[l->row_loop[row]].method == ORR_LOOP_AUGMENT;
}

static bool any_augmented(const struct orr_loops *l) {
  for (int i = 0; i < l->count; i++)
    if (l->loops[i].method == ORR_LOOP_AUGMENT)
      return true;
  return false;
}

void orr_choice_layout(struct orr_choice *c, struct orr_embed *embed, struct orr_block *block) {
  const struct orr_loops *l = embed->loops;
  c->embed = embed;
  c->augment_rank = -1;
  c->rows = ORR_TAKE(block, int, l->row_count);
  c->followed = ORR_TAKE(block, int, l->row_count);
  c->basis_first = ORR_TAKE(block, int, l->row_count);
  c->basis_past = ORR_TAKE(block, int, l->row_count);
  c->ahead = ORR_TAKE(block, double, l->model->q_count);
  c->basis = ORR_TAKE(block, double, (size_t)l->row_count *(size_t)l->g.width);
}

/* ---- choosing ---------------------------------------------------------------------------------------------- */

/* The rows of embedded loops, as the aggregates have them, to the front of `rows`; those of augmented ones behind. */
static void take_embedded(struct orr_choice *c) {
  const struct orr_embed *e = c->embed;
  int embedded = 0, augmented = c->count - c->embedded;
  for (int i = 0; i < e->count; i++)
    embedded += e->aggregates[i].made ? e->aggregates[i].rank : 0;
  memmove(c->rows + embedded, c->rows + c->embedded, sizeof *c->rows * (size_t)augmented);
  c->embedded = embedded;
  c->count = embedded + augmented;
  for (int i = 0, at = 0; i < e->count; i++)
    for (int r = 0; e->aggregates[i].made && r < e->aggregates[i].rank; r++)
      c->rows[at++] = e->aggregates[i].rows[e->aggregates[i].chosen[r]];
}

static double take_chosen(struct orr_choice *c, const struct orr_workspace *ws, int *weakest) {
  struct orr_loops *l = c->embed->loops;
  take_embedded(c);
  orr_loops_judge_free(l, ws);
  return orr_pivot_take(&l->judge, c->rows, c->count, weakest);
}

/* The judge: embedded rows as chosen, then the augmented ones, the largest first, `most` of them. */
static int rank_augmented(struct orr_choice *c, const struct orr_workspace *ws, int most) {
  struct orr_loops *l = c->embed->loops;
  struct orr_pivot *j = &l->judge;
  int weakest, augmented = c->count - c->embedded;
  take_embedded(c);
  c->count -= augmented;
  orr_loops_judge_free(l, ws);
  (void)orr_pivot_take(j, c->rows, c->embedded, &weakest);
  c->count += augmented;
  for (int r = 0; r < l->row_count; r++)
    j->gross[r] = is_augmented(l, r) ? l->g.gross[r] : 0;
  orr_pivot_continue(j, ORR_LOOP_TOLERANCE, most < 0 ? l->row_count : c->embedded + most);
  return j->rank - c->embedded;
}

void orr_choice_learn(struct orr_choice *c, const struct orr_workspace *ws) {
  struct orr_loops *l = c->embed->loops;
  orr_embed_learn(c->embed, ws);
  int rank = any_augmented(l) ? rank_augmented(c, ws, -1) : 0;
  c->augment_rank = rank > c->augment_rank ? rank : c->augment_rank;
}

int orr_choice_rank(const struct orr_choice *c) {
  int rank = c->augment_rank > 0 ? c->augment_rank : 0;
  for (int i = 0; i < c->embed->count; i++)
    rank += c->embed->aggregates[i].known_rank;
  return rank;
}

bool orr_choice_choose(struct orr_choice *c, const struct orr_workspace *ws, int *loop) {
  struct orr_loops *l = c->embed->loops;
  int rank = rank_augmented(c, ws, c->augment_rank);
  c->count = c->embedded + rank;
  memcpy(c->rows + c->embedded, l->judge.order + c->embedded, sizeof *c->rows * (size_t)rank);
  if (rank >= c->augment_rank)
    return true;
  for (int k = l->judge.rank; k < l->row_count; k++)
    if (is_augmented(l, l->judge.order[k])) {
      *loop = l->row_loop[l->judge.order[k]];
      break;
    }
  return false;
}

void orr_choice_start(struct orr_choice *c, const struct orr_workspace *ws) {
  int loop, weakest;
  (void)orr_choice_choose(c, ws, &loop); /* a singular start is told by what is asked of it first */
  c->least = take_chosen(c, ws, &weakest);
}

bool orr_choice_judge(struct orr_choice *c, const struct orr_workspace *ws, int *loop) {
  int weakest, flat = orr_loops_flat_wheel(c->embed->loops);
  if (flat >= 0) {
    *loop = flat;
    return false;
  }
  if (c->augment_rank < 0 || c->count - c->embedded < c->augment_rank)
    return orr_choice_choose(c, ws, loop);
  if (take_chosen(c, ws, &weakest) > ORR_LOOP_TOLERANCE)
    return true;
  *loop = c->embed->loops->row_loop[weakest];
  return false;
}

/* ---- following --------------------------------------------------------------------------------------------- */

/* How far the furthest of the rows followed has turned: |q − q'| of those made orthonormal; 0 where none is followed.
 * In *changed by which part of itself what the smallest has left has changed, and in *least what that is. The judge is
 * theirs afterwards. */
static double turned(struct orr_choice *c, const struct orr_workspace *ws, int *loop, double *changed, double *least,
                     int *weakest) {
  struct orr_loops *l = c->embed->loops;
  size_t width = (size_t)l->g.width;
  double most = 0;
  *changed = 0;
  if (c->followed_count <= 0)
    return 0;
  orr_loops_judge_free(l, ws);
  *least = orr_pivot_take(&l->judge, c->followed, c->followed_count, weakest);
  if (c->least > 0 && c->least < HUGE_VAL)
    *changed = fabs(*least - c->least) / orr_min(*least, c->least);
  for (int k = 0; k < c->followed_count; k++) {
    int row = c->followed[k], first = l->judge.first[row], past = l->judge.past[row];
    const double *now = l->judge.a + (size_t)row * width, *was = c->basis + (size_t)k * width;
    double sum = 0;
    first = first < c->basis_first[k] ? first : c->basis_first[k];
    past = past > c->basis_past[k] ? past : c->basis_past[k];
    for (int i = first; i < past; i++)
      sum += (now[i] - was[i]) * (now[i] - was[i]);
    if (sum <= most)
      continue;
    most = sum;
    *loop = l->row_loop[c->followed[k]];
  }
  return sqrt(most);
}

static void remember(struct orr_choice *c) {
  const struct orr_loops *l = c->embed->loops;
  size_t width = (size_t)l->g.width;
  c->followed_count = c->count;
  memcpy(c->followed, c->rows, sizeof *c->rows * (size_t)c->count);
  for (int k = 0; k < c->count; k++) {
    double *to = c->basis + (size_t)k * width;
    int row = c->rows[k], first = l->judge.first[row], past = l->judge.past[row];
    memset(to + c->basis_first[k], 0, sizeof *to * (size_t)(c->basis_past[k] - c->basis_first[k]));
    memcpy(to + first, l->judge.a + (size_t)row * width + first, sizeof *to * (size_t)(past - first));
    c->basis_first[k] = first;
    c->basis_past[k] = past;
  }
}

/* The smallest part that the judge's rows of augmented loops have left. */
static double least_augmented(const struct orr_choice *c) {
  const struct orr_loops *l = c->embed->loops;
  double least = HUGE_VAL;
  for (int k = c->embedded; k < l->judge.rank; k++) {
    int row = l->judge.order[k];
    least = orr_min(least, l->judge.r[(size_t)k * (size_t)l->row_count + (size_t)row] / l->g.gross[row]);
  }
  return least;
}

/* What the weakest row or the weakest pivot of dependent coordinates has left. */
static double weakest_part(const struct orr_choice *c) {
  double least = c->least;
  for (int i = 0; i < c->embed->count; i++)
    least = orr_min(least, c->embed->aggregates[i].quality);
  return orr_max(least, ORR_LOOP_TOLERANCE);
}

/* How fast rows turn from here on, for it may go on growing as it did, and how fast the smallest
 * changes. */
static void measure(struct orr_choice *c, double turn, double changed, double seconds) {
  if (!(seconds > 0))
    return;
  double rate = turn / seconds, growth = c->rate > 0 ? rate - c->rate : 0;
  c->rate = rate;
  c->wanted = orr_max((rate + orr_max(0, growth)) / TURN, changed / seconds / CHANGE);
  c->wanted *= orr_min(STRICT, orr_max(1, NEAR / weakest_part(c)));
}

/* Whether the judge's rows, which are another choice, are closed as well as those they would replace. */
static bool may_take_augmented(const struct orr_choice *c, double least) {
  const struct orr_loops *l = c->embed->loops;
  for (int k = c->embedded; k < l->judge.rank; k++) {
    int row = l->judge.order[k];
    bool has = false;
    for (int i = c->embedded; i < c->count && !has; i++)
      has = c->rows[i] == row;
    if (!has && !orr_row_may_be_taken(l, row, least))
      return false;
  }
  return true;
}

/* Another choice where it serves much better from here on. True where the choice is not the one followed any more. */
static bool reconsider(struct orr_choice *c, const struct orr_workspace *ws) {
  double now = least_augmented(c);
  int loop;
  bool changed = orr_embed_choose(c->embed, ws);
  bool whole = c->augment_rank > 0 && rank_augmented(c, ws, c->augment_rank) == c->augment_rank;
  double best = whole ? least_augmented(c) : 0;
  if (whole && now < HYSTERESIS * best && may_take_augmented(c, best))
    changed = orr_choice_choose(c, ws, &loop) || changed;
  return changed || c->augment_rank > 0; /* the judge is another by now */
}

bool orr_choice_follow(struct orr_choice *c, const struct orr_workspace *ws, int *loop) {
  struct orr_loops *l = c->embed->loops;
  int weakest = 0;
  double changed, least = HUGE_VAL, turn = turned(c, ws, loop, &changed, &least, &weakest);
  if (!(turn <= (c->undivided ? MOST_TURN_UNDIVIDED : MOST_TURN)))
    return false;
  measure(c, turn, changed, c->part_s);
  take_embedded(c);
  if (c->followed_count != c->count || memcmp(c->followed, c->rows, sizeof *c->rows * (size_t)c->count) != 0)
    least = take_chosen(c, ws, &weakest);
  if (!(least > ORR_LOOP_TOLERANCE)) {
    *loop = l->row_loop[weakest];
    return false;
  }
  if (reconsider(c, ws))
    least = take_chosen(c, ws, &weakest);
  c->least = least;
  remember(c);
  return true;
}

/* rad/s, of the coordinates that the loops depend on; sliding ones in the size of the mechanism. */
static double speed_of(const struct orr_loops *l, const double *u) {
  double sum = 0;
  for (int i = 0; i < l->limb_count; i++) {
    const struct orr_limb *limb = &l->model->limbs[l->limbs[i].limb];
    unsigned angles = orr_hinge_kind_info(limb->kind)->angles;
    for (int d = 0; d < limb->dof; d++) {
      double speed = u[limb->hinge_u + d] / (angles >> d & 1 ? 1 : l->size);
      sum += speed * speed;
    }
  }
  return sqrt(sum);
}

void orr_choice_begin(struct orr_choice *c, struct orr_workspace *ws, const double *q, const double *u) {
  static const double AHEAD_S = 1e-6;
  struct orr_loops *l = c->embed->loops;
  double changed, least;
  int weakest, loop;
  if (c->followed_count >= 0 && c->wanted >= 0)
    return;
  orr_loops_update(l, ws, q);
  c->least = take_chosen(c, ws, &weakest);
  remember(c);
  if (c->wanted >= 0)
    return;
  c->wanted = 0;
  memcpy(c->ahead, q, sizeof *q * (size_t)l->model->q_count);
  for (int k = 0; k < l->column_count; k++)
    l->step[k] = AHEAD_S * u[l->column_u[k]];
  orr_loops_move(l, l->step, c->ahead);
  orr_loops_update(l, ws, c->ahead);
  double turn = turned(c, ws, &loop, &changed, &least, &weakest);
  measure(c, turn, changed, AHEAD_S);
  orr_loops_update(l, ws, q);
}

int64_t orr_choice_part(struct orr_choice *c, const double *u, int64_t step_ns, int64_t left_ns) {
  int64_t part_ns = step_ns;
  int quarterings = 0;
  double moved = 1e-9 * (double)step_ns * speed_of(c->embed->loops, u),
         times = moved > 0 ? orr_max(1, MOVED / moved) : 1;
  if (!(1e-9 * (double)step_ns * c->wanted > 1))
    times = 0;
  while (1e-9 * (double)part_ns * c->wanted * times > 1 && quarterings < QUARTERINGS && part_ns > 3) {
    part_ns /= 4;
    quarterings++;
  }
  c->undivided = 1e-9 * (double)part_ns * c->wanted > 1;
  if (part_ns > left_ns || left_ns - part_ns < 4)
    part_ns = left_ns;
  c->part_s = 1e-9 * (double)part_ns;
  return part_ns;
}

/* ---- state ------------------------------------------------------------------------------------------------- */

static size_t most_words(const struct orr_loops *l) {
  size_t rows = 0;
  for (int i = 0; i < l->count; i++)
    rows += l->loops[i].method == ORR_LOOP_AUGMENT ? (size_t)l->loops[i].rows : 0;
  return rows;
}

size_t orr_choice_words(const struct orr_choice *c) { return most_words(c->embed->loops); }

size_t orr_choice_state_words(const struct orr_choice *c) { return most_words(c->embed->loops) + 2; }

void orr_choice_state_get(const struct orr_choice *c, uint64_t *words) {
  size_t most = most_words(c->embed->loops), count = (size_t)(c->count - c->embedded);
  memcpy(words + most, &c->rate, sizeof c->rate);
  memcpy(words + most + 1, &c->wanted, sizeof c->wanted);
  for (size_t k = 0; k < most; k++)
    words[k] = k < count ? (uint64_t)c->rows[(size_t)c->embedded + k] + 1 : 0;
}

void orr_choice_state_put(struct orr_choice *c, const uint64_t *words) {
  const struct orr_loops *l = c->embed->loops;
  size_t most = most_words(l);
  memcpy(&c->rate, words + most, sizeof c->rate);
  memcpy(&c->wanted, words + most + 1, sizeof c->wanted);
  c->count = c->embedded;
  for (size_t k = 0; k < most && words[k] > 0 && words[k] <= (uint64_t)l->row_count; k++) {
    int row = (int)words[k] - 1;
    bool there = !is_augmented(l, row);
    for (int i = c->embedded; i < c->count && !there; i++)
      there = c->rows[i] == row;
    if (!there)
      c->rows[c->count++] = row;
  }
  c->followed_count = -1;
}
