#include "core/loops/augment.h"

#include "core/loops/loop_motion.h"
#include "core/math/elementary.h"
#include "core/tree/articulated.h"

/* Rows that are independent by G are so by Y; what is smaller than this part of a row is rounding all the same. */
static const double PIVOT_FLOOR = 1e-13;

/* ---- compiling --------------------------------------------------------------------------------------------- */

/* Marks the limbs of a climb: the loop's two bodies, all before them to the base, and with a limb its whole aggregate,
 * whose parents are in it too but for the one that the climb goes on to. */
static int mark_climb(const struct orr_loops *l, const struct orr_loop *loop, bool *marks) {
  const struct orr_model *m = l->model;
  int count = 0;
  memset(marks, 0, sizeof *marks * (size_t)m->body_count);
  for (int s = 0; s < 2; s++)
    marks[loop->limb[s]] = true;
  for (int k = m->body_count - 1; k >= 0; k--) {
    if (!marks[k])
      continue;
    for (int j = 0; j < m->body_count && l->aggregate_of[k] >= 0; j++)
      marks[j] = marks[j] || l->aggregate_of[j] == l->aggregate_of[k];
    if (m->limbs[k].parent >= 0)
      marks[m->limbs[k].parent] = true;
  }
  for (int k = 0; k < m->body_count; k++)
    count += marks[k];
  return count;
}

static bool is_ours(const struct orr_loop *loop) { return loop->method == ORR_LOOP_AUGMENT; }

/* Columns of Y that stand at a limb: its modes and its hinge, or, at the first limb of an aggregate, all of the
 * aggregate's, for if one of its limbs is marked, all are. */
static int columns_at(const struct orr_loops *l, int k) {
  const struct orr_model *m = l->model;
  int aggregate = l->aggregate_of[k], columns = 0;
  if (aggregate < 0)
    return m->limbs[k].mode_count + m->limbs[k].dof;
  for (int j = 0; j < m->body_count; j++) {
    if (l->aggregate_of[j] != aggregate)
      continue;
    if (j < k)
      return 0;
    columns += m->limbs[j].mode_count + m->limbs[j].dof;
  }
  return columns;
}

/* ---- groups of loops --------------------------------------------------------------------------------------- */

enum { NOBODY = -1, SHARED = -2 };

/* Loops in groups, for bordered.h, in scratch of the loops. */
struct grouping {
  int groups, rows, common;
  int *of;                   /* [loops] the group of an augmented loop, else NOBODY */
  int *rows_of, *columns_of; /* [groups] */
  int *uses;                 /* [body_count] how many loops climb over a limb */
  int *owner;                /* [body_count] the group that alone climbs over a limb, NOBODY or SHARED */
  double work;               /* multiplications of one factor, roughly */
};

static struct grouping scratch(const struct orr_loops *l) {
  int *t = l->tally, n = l->count;
  return (struct grouping){
      .of = t, .rows_of = t + n, .columns_of = t + 2 * n, .uses = t + 3 * n, .owner = t + 3 * n + l->model->body_count};
}

static void count_uses(const struct orr_loops *l, struct grouping *g) {
  int bodies = l->model->body_count;
  memset(g->uses, 0, sizeof *g->uses * (size_t)bodies);
  for (int i = 0; i < l->count; i++) {
    if (!is_ours(&l->loops[i]))
      continue;
    mark_climb(l, &l->loops[i], l->marks);
    for (int k = 0; k < bodies; k++)
      g->uses[k] += l->marks[k];
  }
}

/* The group that was called `old` becomes one with that called `name`. */
static void rename_group(const struct orr_loops *l, struct grouping *g, int old, int name) {
  for (int j = 0; j < l->count && old != name; j++)
    g->of[j] = g->of[j] == old ? name : g->of[j];
}

/* Loops become one group that climb over a limb which no more than `most` loops climb over. */
static void unite(const struct orr_loops *l, struct grouping *g, int most) {
  int bodies = l->model->body_count;
  for (int k = 0; k < bodies; k++)
    g->owner[k] = NOBODY;
  for (int i = 0; i < l->count; i++)
    g->of[i] = is_ours(&l->loops[i]) ? i : NOBODY;
  for (int i = 0; i < l->count; i++) {
    if (g->of[i] == NOBODY)
      continue;
    mark_climb(l, &l->loops[i], l->marks);
    for (int k = 0; k < bodies; k++) {
      if (!l->marks[k] || g->uses[k] > most)
        continue;
      if (g->owner[k] != NOBODY)
        rename_group(l, g, g->of[g->owner[k]], g->of[i]);
      g->owner[k] = i;
    }
  }
}

/* Numbers the groups from 0. */
static void number_groups(const struct orr_loops *l, struct grouping *g) {
  int *number = g->columns_of;
  g->groups = 0;
  for (int i = 0; i < l->count; i++)
    number[i] = NOBODY;
  for (int i = 0; i < l->count; i++) {
    if (g->of[i] == NOBODY)
      continue;
    if (number[g->of[i]] == NOBODY)
      number[g->of[i]] = g->groups++;
    g->of[i] = number[g->of[i]];
  }
}

static void find_owners(const struct orr_loops *l, struct grouping *g) {
  int bodies = l->model->body_count;
  for (int k = 0; k < bodies; k++)
    g->owner[k] = NOBODY;
  for (int i = 0; i < l->count; i++) {
    if (g->of[i] == NOBODY)
      continue;
    mark_climb(l, &l->loops[i], l->marks);
    for (int k = 0; k < bodies; k++)
      if (l->marks[k])
        g->owner[k] = g->owner[k] == NOBODY || g->owner[k] == g->of[i] ? g->of[i] : SHARED;
  }
}

static void measure(const struct orr_loops *l, struct grouping *g) {
  g->rows = g->common = 0;
  for (int i = 0; i < g->groups; i++)
    g->rows_of[i] = g->columns_of[i] = 0;
  for (int i = 0; i < l->count; i++) {
    if (g->of[i] == NOBODY)
      continue;
    g->rows += l->loops[i].rows;
    g->rows_of[g->of[i]] += l->loops[i].rows;
  }
  for (int k = 0; k < l->model->body_count; k++)
    if (g->owner[k] != NOBODY)
      *(g->owner[k] == SHARED ? &g->common : &g->columns_of[g->owner[k]]) += columns_at(l, k);
  g->work = (double)g->common * g->common * (g->rows + g->common);
  for (int i = 0; i < g->groups; i++)
    g->work += (double)g->rows_of[i] * g->rows_of[i] * (g->columns_of[i] + g->common);
}

static struct grouping group_by(const struct orr_loops *l, int most) {
  struct grouping g = scratch(l);
  unite(l, &g, most);
  number_groups(l, &g);
  find_owners(l, &g);
  measure(l, &g);
  return g;
}

/* The grouping that costs least: loops that share a limb are one group, or only where not many share it. One that
 * leaves columns in common must be much cheaper. */
static struct grouping group(const struct orr_loops *l) {
  static const double CHEAPER = 0.7;
  struct grouping g = scratch(l);
  count_uses(l, &g);
  int best = l->count;
  double least = CHEAPER * group_by(l, best).work;
  for (int most = 1; most < l->count; most *= 2) {
    double work = group_by(l, most).work;
    if (work >= least)
      continue;
    least = work;
    best = most;
  }
  return group_by(l, best);
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

void orr_augment_layout(struct orr_augment *a, struct orr_loops *loops, struct orr_block *block) {
  struct grouping g = group(loops);
  int climb = 0;
  for (int i = 0; i < loops->count; i++)
    climb += is_ours(&loops->loops[i]) ? mark_climb(loops, &loops->loops[i], loops->marks) : 0;
  a->loops = loops;
  a->row_count = g.rows;
  a->rows = ORR_TAKE(block, int, g.rows);
  a->climb_first = ORR_TAKE(block, int, loops->count + 1);
  a->climb = ORR_TAKE(block, int, climb);
  a->column = ORR_TAKE(block, int, loops->model->body_count);
  a->common = ORR_TAKE(block, bool, loops->model->body_count);
  orr_bordered_layout(&a->y, g.groups, g.rows_of, g.columns_of, g.common, block);
  a->gamma = ORR_TAKE(block, double, g.rows);
  a->solution = ORR_TAKE(block, double, g.rows);
  a->lambda = ORR_TAKE(block, double, loops->row_count);
  a->tau = ORR_TAKE(block, double, loops->model->u_count);
  a->place = ORR_TAKE(block, int, loops->row_count);
}

static void fill_climbs(struct orr_augment *a) {
  const struct orr_loops *l = a->loops;
  int row = 0, at = 0;
  for (int i = 0; i < l->count; i++) {
    a->climb_first[i] = at;
    for (int r = 0; r < l->loops[i].rows; r++)
      a->place[l->loops[i].row + r] = -1;
    if (!is_ours(&l->loops[i]))
      continue;
    for (int r = 0; r < l->loops[i].rows; r++) {
      a->place[l->loops[i].row + r] = row;
      a->rows[row++] = l->loops[i].row + r;
    }
    mark_climb(l, &l->loops[i], l->marks);
    for (int k = l->model->body_count - 1; k >= 0; k--)
      if (l->marks[k])
        a->climb[at++] = k;
  }
  a->climb_first[l->count] = at;
}

void orr_augment_fill(struct orr_augment *a) {
  const struct orr_loops *l = a->loops;
  fill_climbs(a);
  struct grouping g = group(l);
  int *next = g.columns_of, common = 0;
  for (int i = 0; i < g.groups; i++)
    next[i] = 0;
  for (int k = 0; k < l->model->body_count; k++) {
    int columns = g.owner[k] == NOBODY ? 0 : columns_at(l, k);
    a->common[k] = g.owner[k] == SHARED;
    a->column[k] = -1;
    if (columns == 0)
      continue;
    int *at = a->common[k] ? &common : &next[g.owner[k]];
    a->column[k] = *at;
    *at += columns;
  }
  for (int i = 0; i < a->row_count; i++)
    orr_bordered_assign(&a->y, i, g.of[l->row_loop[a->rows[i]]]);
}

/* ---- Y ----------------------------------------------------------------------------------------------------- */

/* What the row does to the two ends, times `factor`, added to the loads of a sweep. */
static void load_row(const struct orr_loops *l, struct orr_workspace *ws, int row, double factor, double *tau) {
  const struct orr_loop *loop = &l->loops[l->row_loop[row]];
  const struct orr_model *m = l->model;
  if (loop->kind == ORR_LOOP_GEAR) {
    tau[m->limbs[loop->limb[1]].hinge_u] += factor;
    tau[m->limbs[loop->limb[0]].hinge_u] -= factor * loop->ratio;
    return;
  }
  for (int s = 0; s < 2; s++) {
    int k = loop->limb[s];
    ws->flows[k].z = sp_madd(ws->flows[k].z, -factor, l->rows[row].wrench[s]);
    const double *modal = l->rows[row].modal[s];
    for (int r = 0; modal && r < m->limbs[k].mode_count; r++)
      ws->flexes[m->limbs[k].flex].force[r] += factor * modal[r];
  }
}

static void clear_climb(const struct orr_model *m, struct orr_workspace *ws, const int *climb, int count) {
  for (int i = 0; i < count; i++) {
    const struct orr_limb *limb = &m->limbs[climb[i]];
    ws->flows[climb[i]].z = sp_zero();
    for (int s = limb->site_first; s < limb->site_first + limb->site_count; s++)
      ws->sites[s].zeta = sp_zero();
    if (limb->flex >= 0)
      memset(ws->flexes[limb->flex].force, 0, sizeof(double) * (size_t)ws->flexes[limb->flex].modal.ld);
  }
}

/* ---- innovations ------------------------------------------------------------------------------------------- */

/* D^-½ ε of a limb from ν = D⁻¹ ε and D = L diag L*: diag^½ L* ν; and of its modes, ε forward-substituted already. */
static void limb_innovations(const struct orr_limb *limb, const struct orr_workspace *ws, int k, double *y) {
  const struct orr_limb_state *state = &ws->limbs[k];
  for (int r = 0; r < limb->mode_count; r++) {
    const struct orr_flex_state *flex = &ws->flexes[limb->flex];
    *y++ = flex->force[r] * sqrt(flex->inverse[r]);
  }
  for (int i = 0; i < limb->dof && !ws->prescribed[k]; i++) {
    double sum = state->nu[i];
    for (int j = i + 1; j < limb->dof; j++)
      sum += state->d[j][i] * state->nu[j];
    y[i] = sum / sqrt(state->d[i][i]);
  }
}

static void fill_row(struct orr_augment *a, struct orr_embed *e, struct orr_workspace *ws, int i) {
  const struct orr_loops *l = a->loops;
  const struct orr_model *m = l->model;
  int row = a->rows[i], loop = l->row_loop[row];
  const int *climb = a->climb + a->climb_first[loop];
  int count = a->climb_first[loop + 1] - a->climb_first[loop];
  double *own = orr_bordered_own(&a->y, i), *common = orr_bordered_common(&a->y, i), sum = 0;
  clear_climb(m, ws, climb, count);
  load_row(l, ws, row, 1, a->tau);
  for (int c = 0; c < count; c++) {
    int k = climb[c];
    const struct orr_aggregate *g = orr_embed_aggregate(e, k);
    double *y = (a->common[k] ? common : own) + a->column[k];
    (void)orr_embed_forces_limb(e, ws, k, a->tau, NULL, false); /* what is not finite shows in Y */
    if (!g)
      limb_innovations(&m->limbs[k], ws, k, y);
    else if (g->limbs[0].limb == k)
      memcpy(y, g->half, sizeof *y * (size_t)g->free_count);
  }
  for (int c = 0; own + c < common; c++)
    sum += own[c] * own[c];
  for (int c = 0; c < a->y.common; c++)
    sum += common[c] * common[c];
  *orr_bordered_gross(&a->y, i) = sqrt(sum);
  if (l->loops[loop].kind == ORR_LOOP_GEAR) {
    a->tau[m->limbs[l->loops[loop].limb[0]].hinge_u] = 0;
    a->tau[m->limbs[l->loops[loop].limb[1]].hinge_u] = 0;
  }
}

bool orr_augment_factor(struct orr_augment *a, struct orr_embed *e, struct orr_workspace *ws, const int *rows,
                        int count) {
  orr_bordered_clear(&a->y);
  for (int k = 0; k < count; k++)
    fill_row(a, e, ws, a->place[rows[k]]);
  orr_bordered_factor(&a->y, PIVOT_FLOOR);
  return a->y.rank == count;
}

/* ---- multipliers ------------------------------------------------------------------------------------------- */

void orr_augment_acceleration(struct orr_augment *a, const struct orr_workspace *ws, const double *accel) {
  const struct orr_loops *l = a->loops;
  double phi[ORR_LOOP_MAX_ROWS];
  for (int i = 0; i < a->row_count;) {
    int loop = l->row_loop[a->rows[i]];
    orr_loop_acceleration(l, ws, loop, accel, phi);
    for (int r = 0; r < l->loops[loop].rows; r++)
      a->gamma[i++] = phi[r];
  }
}

void orr_augment_multiply(struct orr_augment *a) {
  memset(a->lambda, 0, sizeof *a->lambda * (size_t)a->loops->row_count);
  orr_bordered_solve(&a->y, a->gamma, a->solution);
  for (int i = 0; i < a->row_count; i++)
    a->lambda[a->rows[i]] = -a->solution[i];
}

/* A driven hinge among those that the loops depend on. */
static bool is_driven(const struct orr_loops *l, const struct orr_workspace *ws) {
  for (int i = 0; i < l->limb_count; i++)
    if (ws->prescribed[l->limbs[i].limb])
      return true;
  return false;
}

int orr_augment_conflict(struct orr_augment *a, const struct orr_workspace *ws) {
  const struct orr_loops *l = a->loops;
  double open = 0;
  if (!is_driven(l, ws))
    return -1;
  for (int r = 0; r < l->row_count; r++)
    open = orr_max(open, fabs(l->residual[r]));
  double *v = l->judge.y;
  for (int n = 0; n < l->row_count - l->judge.rank; n++) {
    double sum = 0, terms = 0;
    orr_pivot_null(&l->judge, n, v);
    for (int r = 0; r < l->row_count; r++)
      terms += fabs(v[r]);
    for (int i = 0; i < a->row_count;
         i++) { /* φ̈ of embedded rows is zero; of what repeats only them there is rounding here */
      sum += v[a->rows[i]] * a->gamma[i];
      terms += fabs(v[a->rows[i]] * a->gamma[i]);
    }
    if (!(fabs(sum) <= (1e-5 + 100 * open) * terms)) /* at a stage that is open by so much, so much is not known */
      return l->row_loop[l->judge.order[l->judge.rank + n]];
  }
  return -1;
}

double orr_augment_rounding(const struct orr_augment *a, const struct orr_workspace *ws) {
  static const double PART = 1e-13;
  const struct orr_loops *l = a->loops;
  double most = 1, size = orr_max(1, l->size);
  for (int i = 0; i < l->count; i++) {
    for (int s = 0; s < 2 && is_ours(&l->loops[i]); s++) {
      const struct orr_flow *flow = &ws->flows[l->loops[i].limb[s]];
      double turn = v3_norm(flow->alpha.w) + v3_dot(flow->omega, flow->omega);
      most = orr_max(most, v3_norm(flow->alpha.v) + turn * size);
    }
  }
  return PART * most;
}

void orr_augment_load(const struct orr_augment *a, struct orr_workspace *ws, double *tau) {
  for (int i = 0; i < a->row_count; i++)
    load_row(a->loops, ws, a->rows[i], a->lambda[a->rows[i]], tau);
}
