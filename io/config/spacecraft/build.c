#include "io/config/spacecraft/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/loops/loop_motion.h"
#include "core/model/hinge.h"
#include "core/model/motion.h"
#include "core/plant/on_target.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

size_t orr_aligned_bytes(size_t bytes) { return (bytes / ORR_ALIGNMENT + 1) * ORR_ALIGNMENT; }

void *orr_aligned_block(size_t bytes) {
  size_t whole = orr_aligned_bytes(bytes);
  void *block = aligned_alloc(ORR_ALIGNMENT, whole);
  if (!block) {
    fprintf(stderr, "orrery: no memory for %zu bytes\n", bytes);
    abort();
  }
  return memset(block, 0, whole);
}

static void *block_of(struct orr_build *b, enum orr_build_part part, size_t bytes) {
  free(b->blocks[part].base);
  b->blocks[part] = (struct orr_build_block){orr_aligned_block(bytes), bytes};
  return b->blocks[part].base;
}

/* ---- model, workspace, loops ------------------------------------------------------------------------------------- */

bool orr_build_try(struct orr_build *b, const struct orr_description *d, unsigned options) {
  enum orr_status status;
  int where;
  *b = (struct orr_build){.description = d};
  size_t bytes = orr_model_size(d, options);
  b->model = orr_model_init(block_of(b, ORR_BUILD_MODEL, bytes), bytes, d, options, &status, &where);
  if (!b->model) {
    orr_build_destroy(b);
    return false;
  }
  bytes = orr_workspace_size(b->model);
  b->ws = orr_workspace_init(block_of(b, ORR_BUILD_WORKSPACE, bytes), bytes, b->model);
  orr_motions_begin(d, b->model, b->ws->q, NULL, NULL);
  if (d->loop_count) {
    bytes = orr_loops_size(d, b->model);
    b->loops = orr_loops_init(block_of(b, ORR_BUILD_LOOPS, bytes), bytes, d, b->model);
  }
  return true;
}

void orr_build_create(struct orr_build *b, const struct orr_description *d, unsigned options) {
  bool compiles = orr_build_try(b, d, options);
  assert(compiles && "a description that the reader accepted compiles");
  (void)compiles;
}

void orr_build_destroy(struct orr_build *b) {
  for (int i = 0; i < ORR_BUILD_PARTS; i++)
    free(b->blocks[i].base);
  *b = (struct orr_build){0};
}

/* ---- closing ----------------------------------------------------------------------------------------------------- */

void orr_build_assemble(struct orr_build *b, double *q) {
  void *scratch = orr_aligned_block(orr_assembly_size(b->loops));
  b->assembly = orr_loops_assemble_first(b->loops, b->ws, scratch, q);
  free(scratch);
}

void orr_build_hold(struct orr_build *b, const double *q) {
  orr_loops_place(b->loops, b->ws, q);
  orr_loops_keep_distances(b->loops);
}

void orr_build_close(struct orr_build *b, double *q) {
  orr_build_hold(b, q);
  if (orr_loops_open(b->loops) >= 0)
    return;
  void *scratch = orr_aligned_block(orr_assembly_size(b->loops));
  (void)orr_loops_assemble(b->loops, b->ws, scratch, q);
  free(scratch);
}

void orr_build_solver(struct orr_build *b, const double *q) {
  b->reason = block_of(b, ORR_BUILD_REASONS, sizeof *b->reason * (size_t)b->loops->count);
  orr_loops_settle(b->loops, b->ws, b->reason);
  size_t bytes = orr_closed_size(b->loops);
  b->closed = orr_closed_init(block_of(b, ORR_BUILD_SOLVER, bytes), bytes, b->loops);
  if (q)
    orr_closed_reference(b->closed, b->ws, q);
}

/* ---- the plant --------------------------------------------------------------------------------------------------- */

static void initial_state(const struct orr_model *m, const struct orr_case_body *initial, double *q, double *u) {
  for (int b = 0; b < m->body_count; b++) {
    const struct orr_limb *limb = &m->limbs[m->limb_of_body[b]];
    const struct orr_case_body *from = &initial[b];
    memcpy(q + limb->q, from->eta, sizeof(double) * (size_t)limb->mode_count);
    memcpy(u + limb->u, from->eta_rate, sizeof(double) * (size_t)limb->mode_count);
    memcpy(q + limb->hinge_q, from->q, sizeof(double) * (size_t)orr_hinge_coordinates(limb->kind));
    memcpy(u + limb->hinge_u, from->speed, sizeof(double) * (size_t)limb->dof);
  }
}

/* Speeds of an initial state may miss by the tolerance of loops; that is taken away, more is a mistake. */
static void measure_rates(struct orr_build *b, const double *u) {
  const struct orr_loops *l = b->loops;
  double *rates = orr_aligned_block(sizeof *rates * (size_t)l->row_count), fastest = 1;
  orr_loops_velocity(l, u, rates);
  for (int c = 0; c < l->column_count; c++)
    fastest = fmax(fastest, fabs(u[l->column_u[c]]));
  for (int r = 0; r < l->row_count; r++) {
    b->open_rate = fmax(b->open_rate, fabs(rates[r]));
    b->opens = b->opens || !(fabs(rates[r]) <= ORR_LOOP_TOLERANCE * fastest * fmax(1, l->g.gross[r]));
  }
  free(rates);
}

void orr_build_fit_speeds(struct orr_build *b, const double *q, double *u) {
  struct orr_loops *l = b->loops;
  if (!orr_motions_count(b->description))
    return;
  enum orr_loop_method *methods = calloc((size_t)l->count, sizeof *methods);
  double *rates = orr_aligned_block(sizeof *rates * (size_t)l->row_count), fastest = 0;
  double *closed_q = orr_aligned_block(sizeof *q * (size_t)b->model->q_count);
  if (!methods)
    abort();
  orr_loops_velocity(l, u, rates);
  for (int r = 0; r < l->row_count; r++)
    fastest = fmax(fastest, fabs(rates[r]));
  for (int i = 0; i < l->count; i++) {
    methods[i] = l->loops[i].method;
    l->loops[i].method = ORR_LOOP_AUGMENT;
  }
  if (fastest > ORR_LOOP_CLOSED) {
    orr_loops_group(l);
    size_t bytes = orr_closed_size(l);
    void *block = orr_aligned_block(bytes);
    struct orr_closed *closed = orr_closed_init(block, bytes, l);
    memcpy(closed_q, q, sizeof *q * (size_t)b->model->q_count);
    orr_closed_reference(closed, b->ws, closed_q);
    (void)orr_closed_project(closed, b->ws, closed_q, u); /* what fails is told where the motion begins */
    free(block);
  }
  for (int i = 0; i < l->count; i++)
    l->loops[i].method = methods[i];
  orr_loops_group(l);
  orr_loops_place(l, b->ws, q);
  orr_loops_jacobian(l);
  free(methods), free(rates), free(closed_q);
}

/* Loops are closed where the plant starts, in the numbers that it starts from; driven hinges are known by then. */
static void close_loops(struct orr_build *b, double *q, double *u) {
  orr_build_assemble(b, q);
  if (!orr_motions_count(b->description)) /* with what is driven, the rest has to move as well */
    measure_rates(b, u);
  if (!b->assembly.closed || b->assembly.prescribed || b->opens)
    b->start = ORR_ERROR_LOOP_OPEN;
  if (b->start == ORR_OK)
    orr_build_fit_speeds(b, q, u);
  orr_build_solver(b, b->start == ORR_OK ? q : NULL);
  if (b->start == ORR_OK)
    b->start = orr_closed_project(b->closed, b->ws, q, u);
}

void orr_build_plant(struct orr_build *b, const struct orr_plant_desc *given, const struct orr_case_body *initial) {
  struct orr_plant_desc desc = *given;
  if (desc.world) {
    size_t bytes = orr_world_size(b->model, desc.world);
    orr_world_init(block_of(b, ORR_BUILD_WORLD, bytes), bytes, b->model, b->ws, desc.world);
  }
  size_t numbers = (size_t)b->model->q_count + (size_t)b->model->u_count, plant = orr_plant_size(b->model, &desc);
  plant = (plant + ORR_ALIGNMENT - 1) / ORR_ALIGNMENT * ORR_ALIGNMENT;
  char *block = block_of(b, ORR_BUILD_PLANT, plant + numbers * sizeof(double));
  double *q = (double *)(block + plant), *u = q + b->model->q_count;
  initial_state(b->model, initial, q, u);
  orr_motions_begin(desc.spacecraft, b->model, q, u, NULL);
  desc.q = q;
  desc.u = u;
  b->plant = orr_plant_init(block, plant, b->model, b->ws, &desc);
  if (b->loops) {
    b->plant->motions.loops = b->loops;
    close_loops(b, q, u);
    b->plant->integration->closed = b->closed;
  }
  for (int i = 0; i < b->model->body_count && b->start == ORR_OK; i++) {
    unsigned what = (initial[i].like_target[0].node ? ORR_ON_TARGET_ATTITUDE : 0u) |
                    (initial[i].like_target[1].node ? ORR_ON_TARGET_RATE : 0u);
    if (what)
      b->start = orr_plant_begin_on_target(b->plant, i, what, q, u);
  }
}
