#include "core/loops/closed.h"

#include <float.h>

#include "core/loops/assemble.h"
#include "core/loops/loop_motion.h"
#include "core/math/elementary.h"
#include "core/tree/articulated.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"

/* ---- memory ------------------------------------------------------------------------------------------------ */

/* At least orr_closed_state_words, known before there are aggregates. */
static size_t most_words(const struct orr_loops *loops) {
  return 2 + (size_t)loops->count + 3 * (size_t)loops->row_count;
}

static struct orr_closed layout(struct orr_block *block, struct orr_loops *loops, struct orr_closed **self) {
  struct orr_closed c = {.loops = loops, .failed_loop = -1};
  const struct orr_model *m = loops->model;
  *self = ORR_TAKE(block, struct orr_closed, 1);
  orr_embed_layout(&c.embed, loops, block);
  orr_augment_layout(&c.augment, loops, block);
  orr_choice_layout(&c.choice, &c.embed, block);
  c.undetermined = orr_block_take(block, sizeof *c.undetermined * (size_t)loops->count);
  c.first_undetermined = orr_block_take(block, sizeof *c.undetermined * (size_t)loops->count);
  c.lambda = ORR_TAKE(block, double, loops->row_count);
  c.tau = ORR_TAKE(block, double, m->u_count);
  c.move = ORR_TAKE(block, double, m->u_count);
  c.speed = ORR_TAKE(block, double, loops->row_count);
  c.other_q = ORR_TAKE(block, double, m->q_count);
  c.assembly = orr_block_take(block, orr_assembly_size(loops));
  c.kept = ORR_TAKE(block, uint64_t, most_words(loops));
  return c;
}

size_t orr_closed_size(struct orr_loops *loops) {
  struct orr_block block = {0};
  struct orr_closed *self;
  layout(&block, loops, &self);
  return block.used;
}

struct orr_closed *orr_closed_init(void *memory, size_t bytes, struct orr_loops *loops) {
  if (!memory || bytes < orr_closed_size(loops))
    return NULL;
  struct orr_block block = {.base = memory, .size = bytes};
  struct orr_closed *self, c = layout(&block, loops, &self);
  *self = c;
  orr_embed_fill(&self->embed);
  orr_augment_fill(&self->augment);
  self->choice.embed = &self->embed;
  return self;
}

/* ---- rank -------------------------------------------------------------------------------------------------- */

/* Which multipliers are undetermined, at the placed posture as at those before: at some postures of a linkage a number
 * may happen to be determined that is not elsewhere. */
static void learn_undetermined(struct orr_closed *c, const struct orr_workspace *ws) {
  orr_loops_rank(c->loops, ws, NULL, NULL);
  orr_loops_undetermined_numbers(c->loops, c->undetermined);
}

/* Learns at q, of which nothing is known yet. */
static void learn(struct orr_closed *c, struct orr_workspace *ws, const double *q) {
  c->choice.augment_rank = c->choice.followed_count = -1;
  c->choice.rate = c->choice.part_s = 0;
  c->choice.wanted = -1;
  c->choice.least = HUGE_VAL;
  for (int i = 0; i < c->embed.count; i++)
    c->embed.aggregates[i].known_rank = -1;
  memset(c->undetermined, 0, sizeof *c->undetermined * (size_t)c->loops->count);
  orr_loops_update(c->loops, ws, q);
  orr_choice_learn(&c->choice, ws);
  learn_undetermined(c, ws);
}

/* Chooses at the placed posture. */
static void start(struct orr_closed *c, struct orr_workspace *ws) {
  int loop;
  (void)orr_embed_prepare(&c->embed, ws, &loop);
  orr_choice_start(&c->choice, ws);
}

static void remember_first(struct orr_closed *c) {
  c->first_augment_rank = c->choice.augment_rank;
  for (int i = 0; i < c->embed.count; i++)
    c->embed.aggregates[i].first_rank = c->embed.aggregates[i].known_rank;
  memcpy(c->first_undetermined, c->undetermined, sizeof *c->undetermined * (size_t)c->loops->count);
}

static void recall_first(struct orr_closed *c) {
  c->choice.augment_rank = c->first_augment_rank;
  for (int i = 0; i < c->embed.count; i++)
    c->embed.aggregates[i].known_rank = c->embed.aggregates[i].first_rank;
  memcpy(c->undetermined, c->first_undetermined, sizeof *c->undetermined * (size_t)c->loops->count);
}

void orr_closed_reference(struct orr_closed *c, struct orr_workspace *ws, const double *q) {
  enum { TRIES = 4 };
  struct orr_loops *l = c->loops;
  size_t bytes = sizeof *q * (size_t)l->model->q_count;
  uint64_t random = 1;
  learn(c, ws, q);
  for (int i = 0; i < TRIES && l->count; i++) {
    memcpy(c->other_q, q, bytes);
    for (int k = 0; k < l->column_count; k++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      l->step[k] = 0.05 * ((double)(random >> 11) / 4503599627370496.0 - 1);
    }
    orr_loops_move(l, l->step, c->other_q);
    if (orr_loops_assemble(l, ws, c->assembly, c->other_q).closed) {
      orr_loops_update(l, ws, c->other_q);
      orr_choice_learn(&c->choice, ws);
      learn_undetermined(c, ws);
    }
  }
  remember_first(c);
  orr_loops_update(l, ws, q);
  start(c, ws);
}

void orr_closed_learn_here(struct orr_closed *c, struct orr_workspace *ws, const double *q, bool as_at_first) {
  learn(c, ws, q);
  if (as_at_first)
    recall_first(c);
  start(c, ws);
}

/* ---- forward ----------------------------------------------------------------------------------------------- */

static enum orr_status fail(struct orr_closed *c, enum orr_status status, int loop) {
  c->failed_loop = loop;
  return status;
}

static enum orr_status sweep_factor(struct orr_closed *c, struct orr_workspace *ws) {
  orr_articulated_inertias(ws->model, ws);
  for (int k = ws->model->body_count - 1; k >= 0; k--) {
    enum orr_status status = orr_embed_factor_limb(&c->embed, ws, k);
    if (status != ORR_OK)
      return status;
  }
  return ORR_OK;
}

/* Forces tips to base, on what is loaded. */
static enum orr_status sweep_forces(struct orr_closed *c, struct orr_workspace *ws, const double *tau,
                                    const double *given, bool moving) {
  for (int k = ws->model->body_count - 1; k >= 0; k--) {
    enum orr_status status = orr_embed_forces_limb(&c->embed, ws, k, tau, given, moving);
    if (status != ORR_OK)
      return fail(c, status, c->embed.failed_loop);
  }
  return ORR_OK;
}

static void sweep_accelerations(struct orr_closed *c, struct orr_workspace *ws, orr_vec3 base, bool moving,
                                double *accel) {
  for (int k = 0; k < ws->model->body_count; k++)
    orr_embed_accelerate_limb(&c->embed, ws, k, base, moving, accel);
}

static enum orr_status sweep(struct orr_closed *c, struct orr_workspace *ws, const double *tau, const double *given,
                             orr_vec3 base, bool moving, double *accel) {
  enum orr_status status = sweep_forces(c, ws, tau, given, moving);
  if (status == ORR_OK)
    sweep_accelerations(c, ws, base, moving, accel);
  return status;
}

static void hinge_forces(struct orr_closed *c, const struct orr_workspace *ws, const double *force) {
  for (int k = 0; k < ws->model->body_count; k++) {
    const struct orr_limb *limb = &ws->model->limbs[k];
    memcpy(c->tau + limb->hinge_u, force + limb->hinge_u, sizeof *force * (size_t)limb->dof);
    if (limb->springs)
      orr_hinge_springs_add(limb, ws->q, ws->u, c->tau + limb->hinge_u);
  }
}

/* Loops placed at the set state, X and the factor. */
static enum orr_status prepare(struct orr_closed *c, struct orr_workspace *ws) {
  int loop;
  orr_limbs_complete(ws->model, ws);
  memset(ws->fast, 0, sizeof *ws->fast * (size_t)ws->model->body_count);
  memset(ws->lean, 0, sizeof *ws->lean * (size_t)ws->model->body_count);
  ws->chosen.valid = false;
  ws->forces_known = false;
  orr_loops_update(c->loops, ws, ws->q);
  if (!orr_embed_prepare(&c->embed, ws, &loop))
    return fail(c, ORR_ERROR_LOOP_SINGULAR, loop);
  return sweep_factor(c, ws);
}

/* Y of the chosen rows at the placed loops. */
static enum orr_status factor_augment(struct orr_closed *c, struct orr_workspace *ws) {
  struct orr_choice *choice = &c->choice;
  int loop = -1;
  if (!orr_choice_judge(choice, ws, &loop))
    return fail(c, ORR_ERROR_LOOP_SINGULAR, loop);
  int count = choice->count - choice->embedded;
  if (orr_augment_factor(&c->augment, &c->embed, ws, choice->rows + choice->embedded, count))
    return ORR_OK;
  return fail(c, ORR_ERROR_LOOP_SINGULAR, c->loops->row_loop[choice->rows[choice->embedded]]);
}

/* The most that an equation that is solved misses. */
static double largest(const struct orr_closed *c, const double *gamma) {
  double most = 0;
  for (int k = c->choice.embedded; k < c->choice.count; k++) {
    double miss = gamma[c->augment.place[c->choice.rows[k]]];
    most = isfinite(miss) ? orr_max(most, fabs(miss)) : HUGE_VAL;
  }
  return most;
}

/* out = −M⁻¹ Gᵀ (G M⁻¹ Gᵀ)⁻¹ gamma, Y being factored: the smallest change, in the measure of the masses, that takes
 * gamma away. */
static enum orr_status correction(struct orr_closed *c, struct orr_workspace *ws, double *out) {
  const struct orr_model *m = ws->model;
  orr_augment_multiply(&c->augment);
  orr_articulated_clear(m, ws);
  memset(c->tau, 0, sizeof *c->tau * (size_t)m->u_count);
  orr_augment_load(&c->augment, ws, c->tau);
  return sweep(c, ws, c->tau, NULL, v3_zero(), false, out);
}

/* Loads with Gᵀ λ, and their sweep from tips to base. */
static enum orr_status load_multipliers(struct orr_closed *c, struct orr_workspace *ws, const double *force,
                                        const double *given) {
  orr_forward_load(ws->model, ws, force);
  hinge_forces(c, ws, force);
  orr_augment_load(&c->augment, ws, c->tau);
  return sweep_forces(c, ws, c->tau, given, true);
}

/* One correction of the accelerations and of λ, and the motion of every limb that goes with them. */
static enum orr_status refine_once(struct orr_closed *c, struct orr_workspace *ws, const double *force,
                                   const double *given, double *accel) {
  const struct orr_model *m = ws->model;
  double *lambda = c->augment.lambda;
  memcpy(c->lambda, lambda, sizeof *lambda * (size_t)c->loops->row_count);
  enum orr_status status = correction(c, ws, c->move);
  for (int i = 0; i < m->u_count; i++)
    accel[i] += c->move[i];
  for (int r = 0; r < c->loops->row_count; r++)
    lambda[r] += c->lambda[r];
  if (status == ORR_OK)
    status = load_multipliers(c, ws, force, given);
  for (int k = 0; k < m->body_count && status == ORR_OK; k++)
    orr_embed_move_limb(&c->embed, ws, k, v3_neg(m->gravity), accel);
  return status;
}

/* Where a light body carries what is large, its acceleration is lost in the rounding of its load, and the loop stays
 * open by that: a step of iterative refinement takes it away, as long as it helps. */
static enum orr_status refine(struct orr_closed *c, struct orr_workspace *ws, const double *force, const double *given,
                              double *accel) {
  enum { ROUNDS = 3 };
  double gap = HUGE_VAL;
  for (int i = 0; i < ROUNDS; i++) {
    double before = gap;
    orr_augment_acceleration(&c->augment, ws, accel);
    gap = largest(c, c->augment.gamma);
    if (gap <= orr_augment_rounding(&c->augment, ws) || !(gap < before / 2))
      return ORR_OK;
    enum orr_status status = refine_once(c, ws, force, given, accel);
    if (status != ORR_OK)
      return status;
  }
  return ORR_OK;
}

/* f of every limb into limbs[].f, which aggregates and cuts need. */
static void gather(struct orr_closed *c, struct orr_workspace *ws) {
  for (int k = 0; k < ws->model->body_count; k++)
    if (!orr_embed_aggregate(&c->embed, k))
      ws->limbs[k].f = sp_add(in_apply(ws->flows[k].p, ws->limbs[k].alpha_r), ws->flows[k].z);
  memcpy(c->lambda, c->augment.lambda, sizeof *c->lambda * (size_t)c->loops->row_count);
  orr_embed_gather(&c->embed, ws, c->tau, c->lambda);
  ws->forces_known = true;
}

/* λ from the accelerations of the tree alone, and the accelerations with it. */
static enum orr_status add_multipliers(struct orr_closed *c, struct orr_workspace *ws, const double *force,
                                       const double *given, double *accel) {
  orr_augment_acceleration(&c->augment, ws, accel);
  enum orr_status status = factor_augment(c, ws);
  if (status != ORR_OK)
    return status;
  int loop = orr_augment_conflict(&c->augment, ws);
  if (loop >= 0)
    return fail(c, ORR_ERROR_LOOP_CONFLICT, loop);
  orr_augment_multiply(&c->augment);
  status = load_multipliers(c, ws, force, given);
  if (status != ORR_OK)
    return status;
  sweep_accelerations(c, ws, v3_neg(ws->model->gravity), true, accel);
  return refine(c, ws, force, given, accel);
}

enum orr_status orr_closed_forward(struct orr_closed *c, struct orr_workspace *ws, const double *force,
                                   const double *given, double *accel) {
  const struct orr_model *m = ws->model;
  enum orr_status status = prepare(c, ws);
  if (status != ORR_OK)
    return status;
  orr_forward_load(m, ws, force);
  hinge_forces(c, ws, force);
  status = sweep(c, ws, c->tau, given, v3_neg(m->gravity), true, accel);
  if (status == ORR_OK && c->augment.row_count)
    status = add_multipliers(c, ws, force, given, accel);
  if (status != ORR_OK)
    return status;
  gather(c, ws);
  orr_rotors_accelerate(m, ws);
  return ORR_OK;
}

/* ---- M⁻¹ on what the loops allow ------------------------------------------------------------------------------- */

enum orr_status orr_closed_factor(struct orr_closed *c, struct orr_workspace *ws) {
  for (int i = 0; i < c->loops->count; i++)
    c->loops->loops[i].rate = c->loops->loops[i].accel = 0; /* what is driven stands; who moves on drives it again */
  enum orr_status status = prepare(c, ws);
  return status == ORR_OK && c->augment.row_count ? factor_augment(c, ws) : status;
}

static void load_product(struct orr_closed *c, struct orr_workspace *ws, const double *x) {
  orr_forward_load_still(ws->model, ws, x);
  memcpy(c->tau, x, sizeof *x * (size_t)ws->model->u_count);
}

enum orr_status orr_closed_inverse_mass_apply(struct orr_closed *c, struct orr_workspace *ws, const double *x,
                                              double *out) {
  load_product(c, ws, x);
  enum orr_status status = sweep(c, ws, c->tau, NULL, v3_zero(), false, out);
  if (status == ORR_OK && c->augment.row_count) {
    orr_augment_acceleration(&c->augment, ws, out);
    orr_augment_multiply(&c->augment);
    load_product(c, ws, x);
    orr_augment_load(&c->augment, ws, c->tau);
    status = sweep(c, ws, c->tau, NULL, v3_zero(), false, out);
  }
  if (status == ORR_OK)
    orr_rotors_accelerate(ws->model, ws);
  return status;
}

/* ---- answers ----------------------------------------------------------------------------------------------- */

void orr_closed_effort(const struct orr_closed *c, const struct orr_workspace *ws, int body, double *out) {
  const struct orr_loops *l = c->loops;
  int k = l->model->limb_of_body[body];
  orr_hinge_effort(l->model, ws, body, out);
  for (int i = 0; i < l->count; i++) {
    const struct orr_loop *loop = &l->loops[i];
    if (loop->kind != ORR_LOOP_GEAR)
      continue;
    if (loop->limb[1] == k)
      out[0] -= c->lambda[loop->row];
    if (loop->limb[0] == k)
      out[0] += c->lambda[loop->row] * loop->ratio;
  }
}

int orr_closed_multipliers(const struct orr_closed *c, int i, double *out) {
  const struct orr_loop *loop = &c->loops->loops[i];
  return orr_loop_multipliers(loop, c->lambda + loop->row, out);
}

int orr_closed_determined(const struct orr_closed *c, int i, double *out) {
  int count = orr_closed_multipliers(c, i, out);
  for (int k = 0; k < count; k++)
    out[k] = c->undetermined[i][k] ? 0 : out[k];
  return count;
}

/* ---- closing ----------------------------------------------------------------------------------------------- */

enum orr_status orr_closed_close(struct orr_closed *c, struct orr_workspace *ws, double *q, double *u) {
  int loop;
  if (c->embed.count == 0)
    return ORR_OK;
  enum orr_status status = orr_embed_close(&c->embed, ws, q, u, &loop);
  return status == ORR_OK ? status : fail(c, status, loop);
}

/* γ of the augmented rows from what all rows have. */
static void take_rows(struct orr_closed *c, const double *all) {
  for (int i = 0; i < c->augment.row_count; i++)
    c->augment.gamma[i] = all[c->augment.rows[i]];
}

/* The loop whose equation misses most. */
static int widest(const struct orr_closed *c) {
  int row = 0;
  for (int i = 1; i < c->augment.row_count; i++)
    if (!(fabs(c->augment.gamma[i]) <= fabs(c->augment.gamma[row])))
      row = i;
  return c->loops->row_loop[c->augment.rows[row]];
}

/* One round for q; *gap is what the augmented loops miss at it, and q moves unless that is within `enough`. */
static enum orr_status project_position(struct orr_closed *c, struct orr_workspace *ws, double *q, double *u,
                                        double enough, double *gap) {
  enum orr_status status = orr_closed_close(c, ws, q, u);
  if (status != ORR_OK)
    return status;
  orr_state_set(ws->model, ws, q, u);
  status = prepare(c, ws);
  if (status != ORR_OK)
    return status;
  status = factor_augment(c, ws);
  if (status != ORR_OK)
    return status;
  take_rows(c, c->loops->residual);
  *gap = largest(c, c->augment.gamma);
  if (*gap <= enough)
    return ORR_OK;
  status = correction(c, ws, c->move);
  for (int k = 0; k < ws->model->body_count && status == ORR_OK; k++)
    orr_limb_move(&ws->model->limbs[k], c->move + ws->model->limbs[k].u, q);
  return status;
}

/* u −= M⁻¹ Gᵀ (G M⁻¹ Gᵀ)⁻¹ G u at the state that is set and factored. */
static enum orr_status project_speeds(struct orr_closed *c, struct orr_workspace *ws, double *u) {
  orr_loops_velocity(c->loops, u, c->speed);
  take_rows(c, c->speed);
  enum orr_status status = correction(c, ws, c->move);
  for (int i = 0; i < ws->model->u_count && status == ORR_OK; i++)
    u[i] += c->move[i];
  return status;
}

/* Coordinates that have gone far, angles after a thousand turns, have fewer digits after the point: nothing closes
 * better than so. */
static double attainable(const struct orr_closed *c, const double *q) {
  const struct orr_loops *l = c->loops;
  double most = 1;
  for (int i = 0; i < l->limb_count; i++) {
    const struct orr_limb *limb = &l->model->limbs[l->limbs[i].limb];
    for (int k = 0; k < orr_hinge_coordinates(limb->kind); k++)
      most = orr_max(most, fabs(q[limb->hinge_q + k]));
  }
  return (ORR_LOOP_CLOSED + 8 * DBL_EPSILON * most) * orr_max(1, l->size);
}

/* Where an equation is weak, what is open is far from closed, so there a closer fit is tried for, to rounding. */
static enum orr_status project_augmented(struct orr_closed *c, struct orr_workspace *ws, double *q, double *u) {
  enum { ROUNDS = 6 };
  double enough = attainable(c, q), gap = HUGE_VAL, wish = enough * orr_max(4e-4, orr_min(1, 10 * c->choice.least));
  for (int i = 0; i < ROUNDS && gap > wish; i++) {
    enum orr_status status = project_position(c, ws, q, u, wish, &gap);
    if (status != ORR_OK)
      return status;
  }
  return gap <= enough ? project_speeds(c, ws, u) : fail(c, ORR_ERROR_LOOP_OPEN, widest(c));
}

/* Closed, equations that follow from others included, and followed from the last step. */
static enum orr_status follow(struct orr_closed *c, struct orr_workspace *ws, const double *q) {
  orr_loops_update(c->loops, ws, q);
  int loop = orr_loops_open(c->loops);
  if (loop >= 0)
    return fail(c, ORR_ERROR_LOOP_OPEN, loop);
  return orr_choice_follow(&c->choice, ws, &loop) ? ORR_OK : fail(c, ORR_ERROR_LOOP_SINGULAR, loop);
}

enum orr_status orr_closed_project(struct orr_closed *c, struct orr_workspace *ws, double *q, double *u) {
  enum orr_status status = c->augment.row_count ? project_augmented(c, ws, q, u) : ORR_OK;
  if (status == ORR_OK)
    status = orr_closed_close(c, ws, q, u);
  return status == ORR_OK ? follow(c, ws, q) : status;
}

int64_t orr_closed_part(struct orr_closed *c, struct orr_workspace *ws, const double *q, const double *u,
                        int64_t step_ns, int64_t left_ns) {
  orr_choice_begin(&c->choice, ws, q, u);
  return orr_choice_part(&c->choice, u, step_ns, left_ns);
}

/* ---- state ------------------------------------------------------------------------------------------------- */

size_t orr_closed_hash_words(const struct orr_closed *c) {
  return orr_embed_state_words(&c->embed) + orr_choice_words(&c->choice);
}

size_t orr_closed_state_words(const struct orr_closed *c) {
  return orr_embed_state_words(&c->embed) + orr_choice_state_words(&c->choice);
}

void orr_closed_state_get(const struct orr_closed *c, uint64_t *words) {
  orr_embed_state_get(&c->embed, words);
  orr_choice_state_get(&c->choice, words + orr_embed_state_words(&c->embed));
}

void orr_closed_state_put(struct orr_closed *c, const struct orr_workspace *ws, const uint64_t *words) {
  orr_embed_state_put(&c->embed, ws, words);
  orr_choice_state_put(&c->choice, words + orr_embed_state_words(&c->embed));
}

void orr_closed_keep(struct orr_closed *c) {
  assert(orr_closed_state_words(c) <= most_words(c->loops));
  orr_closed_state_get(c, c->kept);
}

void orr_closed_go_back(struct orr_closed *c, const struct orr_workspace *ws) { orr_closed_state_put(c, ws, c->kept); }
