#include "tests/support/loops.h"

#include <assert.h>
#include <stdlib.h>

#include "core/loops/loop_motion.h"
#include "tests/support/prng.h"

struct orr_mechanism_trial orr_mechanism_trial_make(const struct orr_sample *sample) {
  struct orr_mechanism_trial t = {.trial = orr_trial_make(sample, ORR_MODEL_DEFAULT)};
  t.loops = t.trial.build.loops;
  assert(t.loops);
  t.q = orr_vector_make(sample->q_count);
  t.u = orr_vector_make(sample->u_count);
  t.accel = orr_vector_make(sample->u_count);
  memcpy(t.q, sample->q, sizeof *t.q * (size_t)sample->q_count);
  memcpy(t.u, sample->u, sizeof *t.u * (size_t)sample->u_count);
  orr_build_hold(&t.trial.build, t.q);
  return t;
}

void orr_mechanism_trial_free(struct orr_mechanism_trial *t) {
  free(t->q);
  free(t->u);
  free(t->accel);
  orr_trial_free(&t->trial);
}

struct orr_assembly orr_mechanism_trial_assemble(struct orr_mechanism_trial *t) {
  void *scratch = orr_aligned_block(orr_assembly_size(t->loops));
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
  struct orr_loops *l = t->loops;
  for (int i = 0; i < l->count && method != ORR_LOOP_AUTO; i++)
    l->loops[i].method = method;
  orr_loops_place(l, t->trial.ws, t->q);
  orr_build_solver(&t->trial.build, t->q);
  t->closed = t->trial.build.closed;
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

static const struct orr_loop_desc six_bar_loops[2] = {{.kind = ORR_LOOP_POINT, .body = {2, 3}, .node = {1, 1}},
                                                      {.kind = ORR_LOOP_POINT, .body = {4, 5}, .node = {1, 1}}};

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

/* ground, crank, coupler, rocker and, of `count` 6, the second coupler and rocker. */
static struct orr_sample *linkage(const double length[6], size_t count) {
  static const int parent[6] = {ORR_INERTIAL, 0, 1, 0, 3, 0}, node[6] = {0, 0, 1, 1, 1, 0};
  static const char *const names[6] = {"ground", "crank", "coupler", "rocker", "coupler2", "rocker2"};
  struct orr_node_desc nodes[6][2];
  struct orr_body_desc bodies[6];
  for (size_t i = 0; i < count; i++) {
    nodes[i][0] = (struct orr_node_desc){.name = "origin"};
    nodes[i][1] = (struct orr_node_desc){.name = "end", .at = {0, length[i], 0}};
    bodies[i] = bar(names[i], nodes[i], parent[i], node[i], length[i]);
  }
  bodies[0].hinge.kind = ORR_HINGE_FIXED;
  return orr_sample_of(bodies, count);
}

struct orr_sample *orr_four_bar(double crank, double coupler, double rocker, double base) {
  struct orr_sample *s = linkage((const double[]){base, crank, coupler, rocker, 0, 0}, 4);
  s->description.loops = &four_bar_loop;
  s->description.loop_count = 1;
  return s;
}

struct orr_sample *orr_six_bar(double crank, double coupler, double rocker, double base, const double lengths[2]) {
  struct orr_sample *s = linkage((const double[]){base, crank, coupler, rocker, lengths[0], lengths[1]}, 6);
  s->description.loops = six_bar_loops;
  s->description.loop_count = 2;
  return s;
}

/* ---- lazy tongs -------------------------------------------------------------------------------------------- */

struct orr_sample *orr_tongs(size_t pairs, double open) {
  static const double pi = 3.14159265358979323846;
  static struct orr_loop_desc loops[ORR_TONGS_MOST];
  struct orr_node_desc nodes[2 * ORR_TONGS_MOST][3];
  struct orr_body_desc bodies[2 * ORR_TONGS_MOST] = {0};
  assert(pairs > 0 && pairs <= ORR_TONGS_MOST);
  loops[0] = (struct orr_loop_desc){.kind = ORR_LOOP_GEAR, .body = {0, 1}, .ratio = -2, .offset = pi};
  for (int i = 0; i < 2 * (int)pairs; i++) {
    bool crosses = i % 2; /* hung by its middle on the bar before */
    nodes[i][0] = (struct orr_node_desc){.name = "hinge"};
    nodes[i][1] = (struct orr_node_desc){.name = "end", .at = {0, crosses ? 0.5 : 1, 0}};
    nodes[i][2] = (struct orr_node_desc){.name = "other", .at = {0, crosses ? -0.5 : 0.5, 0}};
    bodies[i] = bar("bar", nodes[i], i ? i - 1 : ORR_INERTIAL, crosses ? 2 : i ? 1 : 0, 1);
    bodies[i].mass += 0.1 * (i % 3);
    bodies[i].com[1] = crosses ? 0.1 : 0.5;
    bodies[i].node_count = 3;
    if (i > 1 && crosses)
      loops[i / 2] = (struct orr_loop_desc){.kind = ORR_LOOP_POINT, .body = {i - 3, i}, .node = {1, 2}};
  }
  struct orr_sample *s = orr_sample_of(bodies, 2 * pairs);
  for (int i = 0; i < 2 * (int)pairs; i++)
    s->q[i] = i == 0 ? open : i % 2 ? pi - 2 * open : 2 * open - pi;
  s->description.loops = loops;
  s->description.loop_count = pairs;
  return s;
}

/* ---- gears ------------------------------------------------------------------------------------------------- */

struct orr_sample *orr_panels(size_t count, double ratio) {
  static struct orr_loop_desc gears[8];
  struct orr_node_desc nodes[2] = {{.name = "origin"}, {.name = "end", .at = {0, 1, 0}}};
  struct orr_body_desc bodies[10];
  assert(count >= 1 && count <= 8);
  bodies[0] = bar("bus", nodes, ORR_INERTIAL, 0, 3);
  bodies[0].hinge.kind = ORR_HINGE_FREE;
  bodies[1] = bar("wheel", nodes, 0, 0, 0.01);
  bodies[1].inertia[0] = bodies[1].inertia[1] = bodies[1].inertia[2] = 2e-5;
  for (size_t i = 0; i < count; i++) {
    bodies[2 + i] = bar("panel", nodes, i ? (int)i + 1 : 0, 1, 1);
    gears[i] =
        (struct orr_loop_desc){.kind = ORR_LOOP_GEAR, .body = {(int)i + 1, (int)i + 2}, .ratio = i ? -1 : 1 / ratio};
  }
  struct orr_sample *s = orr_sample_of(bodies, count + 2);
  s->description.loops = gears;
  s->description.loop_count = count;
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
