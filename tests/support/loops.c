#include "tests/support/loops.h"

#include <assert.h>
#include <stdlib.h>

#include "core/loop_motion.h"
#include "tests/support/prng.h"

static void *block_of(size_t bytes) {
  void *block = aligned_alloc(ORR_ALIGNMENT, (bytes + ORR_ALIGNMENT) / ORR_ALIGNMENT * ORR_ALIGNMENT);
  assert(block);
  return block;
}

struct orr_mechanism_trial orr_mechanism_trial_make(const struct orr_sample *sample) {
  struct orr_mechanism_trial t = {.trial = orr_trial_make(sample, ORR_MODEL_DEFAULT)};
  size_t bytes = orr_loops_size(&sample->description, t.trial.model);
  t.loops_block = block_of(bytes);
  t.loops = orr_loops_init(t.loops_block, bytes, &sample->description, t.trial.model);
  assert(t.loops);
  t.q = orr_vector_make(sample->q_count);
  t.u = orr_vector_make(sample->u_count);
  t.accel = orr_vector_make(sample->u_count);
  memcpy(t.q, sample->q, sizeof *t.q * (size_t)sample->q_count);
  memcpy(t.u, sample->u, sizeof *t.u * (size_t)sample->u_count);
  orr_loops_place(t.loops, t.trial.ws, t.q);
  orr_loops_keep_distances(t.loops);
  return t;
}

void orr_mechanism_trial_free(struct orr_mechanism_trial *t) {
  free(t->q);
  free(t->u);
  free(t->accel);
  free(t->loops_block);
  free(t->closed_block);
  orr_trial_free(&t->trial);
}

struct orr_assembly orr_mechanism_trial_assemble(struct orr_mechanism_trial *t) {
  void *scratch = block_of(orr_assembly_size(t->loops));
  struct orr_assembly a = orr_loops_assemble(t->loops, t->trial.ws, scratch, t->q);
  free(scratch);
  return a;
}

bool orr_mechanism_trial_fit(struct orr_mechanism_trial *t) {
  struct orr_loops *l = t->loops;
  if (!orr_mechanism_trial_assemble(t).closed)
    return false;
  double *rate = orr_vector_make(l->row_count), *change = orr_vector_make(l->g.width), most = 0;
  orr_loops_velocity(l, t->u, rate);
  orr_loops_rank(l, t->trial.ws, NULL, NULL);
  orr_pivot_smallest(&l->judge, rate, change);
  for (int c = 0; c < l->column_count; c++)
    t->u[l->column_u[c]] -= change[c];
  orr_loops_velocity(l, t->u, rate);
  for (int r = 0; r < l->row_count; r++)
    most = fmax(most, fabs(rate[r]));
  free(rate);
  free(change);
  return most < 1e-12;
}

void orr_mechanism_trial_solver(struct orr_mechanism_trial *t, enum orr_loop_method method) {
  enum orr_loop_reason reasons[64];
  struct orr_loops *l = t->loops;
  assert(l->count <= 64);
  for (int i = 0; i < l->count && method != ORR_LOOP_AUTO; i++)
    l->loops[i].method = method;
  orr_loops_place(l, t->trial.ws, t->q);
  orr_loops_settle(l, t->trial.ws, reasons);
  size_t bytes = orr_closed_size(l);
  free(t->closed_block);
  t->closed_block = block_of(bytes);
  t->closed = orr_closed_init(t->closed_block, bytes, l);
  orr_closed_reference(t->closed, t->trial.ws, t->q);
}

enum orr_status orr_mechanism_trial_forward(struct orr_mechanism_trial *t) {
  const struct orr_sample *s = t->trial.sample;
  memcpy(s->q, t->q, sizeof *t->q * (size_t)s->q_count);
  memcpy(s->u, t->u, sizeof *t->u * (size_t)s->u_count);
  orr_trial_load(&t->trial);
  return orr_closed_forward(t->closed, t->trial.ws, s->force, s->given, t->accel);
}

size_t orr_random_loops(const struct orr_sample *sample, uint64_t seed, size_t count, struct orr_loop_desc *loops) {
  struct orr_prng rng = {seed * 7 + 1};
  int bodies = (int)sample->description.body_count;
  size_t made = 0;
  for (int tries = 0; tries < 200 && made < count; tries++) {
    struct orr_loop_desc loop = {.kind = (enum orr_loop_kind)prng_pick(&rng, 5)};
    for (int s = 0; s < 2; s++) {
      loop.body[s] = prng_pick(&rng, bodies);
      loop.node[s] = prng_pick(&rng, (int)sample->bodies[loop.body[s]].node_count);
    }
    if (loop.body[0] == loop.body[1])
      continue;
    bool scalar = orr_sample_speeds(sample->bodies[loop.body[0]].hinge.kind) == 1 &&
                  orr_sample_speeds(sample->bodies[loop.body[1]].hinge.kind) == 1;
    if (loop.kind == ORR_LOOP_GEAR && !scalar)
      continue;
    prng_direction(&rng, loop.axis, 3);
    loop.ratio = prng_between(&rng, 0.5, 3) * (prng_chance(&rng, 0.5) ? 1 : -1);
    loop.offset = prng_between(&rng, -0.2, 0.2);
    loops[made++] = loop;
  }
  return made;
}

/* ---- the four-bar ------------------------------------------------------------------------------------------ */

static const struct orr_loop_desc four_bar_loop = {.kind = ORR_LOOP_POINT, .body = {2, 3}, .node = {1, 1}};

static struct orr_body_desc bar(const char *name, const struct orr_node_desc nodes[2], int parent, int node,
                                double length) {
  struct orr_body_desc b = {.name = name, .mass = 1 + length, .node_count = 2, .nodes = nodes};
  b.com[1] = 0.5 * length;
  b.inertia[0] = b.inertia[2] = b.mass * length * length / 12 + 1e-3;
  b.inertia[1] = 1e-3;
  b.hinge = (struct orr_hinge_desc){
      .kind = ORR_HINGE_REVOLUTE, .parent = parent, .parent_node = node, .axes = {{1, 0, 0}}, .rotation = {0, 0, 0, 1}};
  return b;
}

struct orr_sample *orr_four_bar(double crank, double coupler, double rocker, double base) {
  const double length[4] = {base, crank, coupler, rocker};
  struct orr_node_desc nodes[4][2];
  for (int i = 0; i < 4; i++) {
    nodes[i][0] = (struct orr_node_desc){.name = "origin"};
    nodes[i][1] = (struct orr_node_desc){.name = "end", .at = {0, length[i], 0}};
  }
  struct orr_body_desc bodies[4] = {bar("ground", nodes[0], ORR_INERTIAL, 0, base), bar("crank", nodes[1], 0, 0, crank),
                                    bar("coupler", nodes[2], 1, 1, coupler), bar("rocker", nodes[3], 0, 1, rocker)};
  bodies[0].hinge.kind = ORR_HINGE_FIXED;
  struct orr_sample *s = orr_sample_of(bodies, 4);
  s->description.loops = &four_bar_loop;
  s->description.loop_count = 1;
  return s;
}

struct orr_sample *orr_wheels(size_t count, const double *inertia) {
  static const struct orr_node_desc origin = {.name = "origin"};
  struct orr_body_desc bodies[16] = {0};
  assert(count <= 16);
  for (size_t i = 0; i < count; i++) {
    bodies[i] = (struct orr_body_desc){.name = "wheel", .mass = 1, .node_count = 1, .nodes = &origin};
    bodies[i].inertia[0] = bodies[i].inertia[1] = 0.6 * inertia[i];
    bodies[i].inertia[2] = inertia[i];
    bodies[i].hinge = (struct orr_hinge_desc){
        .kind = ORR_HINGE_REVOLUTE, .parent = ORR_INERTIAL, .axes = {{0, 0, 1}}, .rotation = {0, 0, 0, 1}};
  }
  return orr_sample_of(bodies, count);
}
