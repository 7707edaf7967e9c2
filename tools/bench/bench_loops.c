/* `orrery bench --loops`: what closed loops cost, by their number and by their size, beside the tree alone.
 *
 * A loop is two chains of revolute bodies about z, x, y in turn on a free bus, their tips kept together by a point.
 * First so many loops of six bodies, then one loop of so many bodies, then a lazy tongs of so many bars, which all move
 * by one coordinate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/loops/assemble.h"
#include "core/loops/closed.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "io/config/spacecraft/build.h"
#include "tools/bench/bench.h"
#include "tools/common/commands.h"
#include "tools/common/progress.h"

enum { MOST_BODIES = 257, MOST_LOOPS = 64, MANY_LOOPS = 32, SAMPLES = 40, BATCH = 20 };

struct model {
  struct orr_description description;
  struct orr_body_desc bodies[MOST_BODIES];
  struct orr_node_desc nodes[MOST_BODIES][2 + 2 * MOST_LOOPS];
  struct orr_loop_desc loops[MOST_LOOPS];
  double angle[MOST_BODIES]; /* rad, of a hinge, from which the loops are assembled */
};

static struct orr_body_desc *add_body(struct model *m, int parent, int node, int axis, const double *tip) {
  int i = (int)m->description.body_count++;
  double mass = 1 + 0.1 * (i % 7);
  struct orr_body_desc *b = &m->bodies[i];
  m->nodes[i][0] = (struct orr_node_desc){.name = "origin"};
  m->nodes[i][1] = (struct orr_node_desc){.name = "tip", .at = {tip[0], tip[1], tip[2]}};
  *b = (struct orr_body_desc){.name = "link", .mass = mass, .node_count = 2, .nodes = m->nodes[i]};
  for (int k = 0; k < 3; k++) {
    b->com[k] = 0.5 * tip[k];
    b->inertia[k] = (0.04 + 0.01 * k) * mass;
  }
  b->hinge = (struct orr_hinge_desc){
      .kind = ORR_HINGE_REVOLUTE, .parent = parent, .parent_node = node, .rotation = {0, 0, 0, 1}};
  b->hinge.axes[0][axis] = 1;
  m->angle[i] = 0.3 * sin(i + 1.0);
  return b;
}

/* A free bus with a node for every root: `count` of them. */
static struct model *begin(int roots) {
  static const double tip[3] = {0, 0, 0};
  struct model *m = calloc(1, sizeof *m);
  if (!m)
    abort();
  m->description.bodies = m->bodies;
  m->description.loops = m->loops;
  struct orr_body_desc *bus = add_body(m, ORR_INERTIAL, 0, 2, tip);
  bus->mass = 1000;
  bus->inertia[0] = 400, bus->inertia[1] = 500, bus->inertia[2] = 300;
  bus->hinge.kind = ORR_HINGE_FREE;
  bus->node_count = 1 + (size_t)roots;
  for (int i = 0; i < roots; i++) {
    int pair = i / 2, side = i % 2;
    m->nodes[0][1 + i] =
        (struct orr_node_desc){.name = "root", .at = {cos(0.4 * pair), sin(0.4 * pair) + 0.5 * side, 0.1 * i}};
  }
  return m;
}

/* A chain of `count` bodies; the last one's index. */
static int add_chain(struct model *m, int root, int count) {
  int parent = 0, node = root;
  for (int i = 0; i < count; i++) {
    const double tip[3] = {0.5, 0.1 * ((i % 3) - 1), 0.1};
    add_body(m, parent, node, (2 + i) % 3, tip);
    parent = (int)m->description.body_count - 1;
    node = 1;
  }
  return parent;
}

/* `loops` loops of two chains of `half` bodies each. */
static struct model *build(int loops, int half) {
  struct model *m = begin(2 * loops);
  for (int i = 0; i < loops; i++) {
    int a = add_chain(m, 1 + 2 * i, half), b = add_chain(m, 2 + 2 * i, half);
    m->loops[i] = (struct orr_loop_desc){.kind = ORR_LOOP_POINT, .body = {a, b}, .node = {1, 1}};
  }
  m->description.loop_count = (size_t)loops;
  return m;
}

/* A bar about z with its tip and another node so far from its hinge. */
static void add_bar(struct model *m, int parent, int node, double tip, double other, double angle) {
  const double end[3] = {tip, 0, 0};
  int i = (int)m->description.body_count;
  struct orr_body_desc *b = add_body(m, parent, node, 2, end);
  b->node_count = 3;
  b->com[0] = 0.5 * (tip + fmin(0, other));
  m->nodes[i][2] = (struct orr_node_desc){.name = "other", .at = {other, 0, 0}};
  m->angle[i] = angle;
}

/* Lazy tongs: pairs of bars that cross in their middles, each pair on the ends of the one before; a gear keeps the
 * first pair symmetric, so that one angle moves all. */
static struct model *build_tongs(int bars) {
  static const double open = 0.6, pi = 3.14159265358979323846;
  struct model *m = begin(1);
  size_t loops = 0;
  m->loops[loops++] = (struct orr_loop_desc){.kind = ORR_LOOP_GEAR, .body = {1, 2}, .ratio = -2, .offset = pi};
  for (int i = 0; i < bars / 2; i++) {
    int a = 1 + 2 * i;
    add_bar(m, i ? a - 1 : 0, 1, 1, 0.5, i ? 2 * open - pi : open);
    add_bar(m, a, 2, 0.5, -0.5, pi - 2 * open);
    if (i)
      m->loops[loops++] = (struct orr_loop_desc){.kind = ORR_LOOP_POINT, .body = {a - 2, a + 1}, .node = {1, 2}};
  }
  m->description.loop_count = loops;
  return m;
}

struct rig {
  struct orr_build build;
  double *q, *u, *q1, *u1, *force, *accel;
};

static double *numbers(int count) { return orr_aligned_block(sizeof(double) * (size_t)count); }

static bool make(struct rig *r, const struct model *m, enum orr_loop_method method) {
  *r = (struct rig){0};
  orr_build_create(&r->build, &m->description, ORR_MODEL_DEFAULT);
  const struct orr_model *model = r->build.model;
  double **const arrays[] = {&r->q, &r->u, &r->q1, &r->u1, &r->force, &r->accel};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    *arrays[i] = numbers(model->q_count);
  memcpy(r->q, r->build.ws->q, sizeof(double) * (size_t)model->q_count);
  for (int i = 0; i < model->body_count; i++)
    if (model->limbs[i].dof == 1)
      r->q[model->limbs[i].hinge_q] = m->angle[model->limbs[i].body];
  for (int i = 0; i < model->u_count; i++)
    r->force[i] = 0.1 * sin(2.3 * i + 0.5);
  for (int i = 0; i < r->build.loops->count; i++)
    r->build.loops->loops[i].method = method;
  orr_build_assemble(&r->build, r->q);
  orr_build_solver(&r->build, NULL);
  return r->build.assembly.closed;
}

static void destroy(struct rig *r) {
  double *const arrays[] = {r->q, r->u, r->q1, r->u1, r->force, r->accel};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    free(arrays[i]);
  orr_build_destroy(&r->build);
}

enum what { TREE, CLOSED, CLOSURE };

static void once(struct rig *r, enum what what) {
  const struct orr_model *m = r->build.model;
  struct orr_workspace *ws = r->build.ws;
  if (what == CLOSURE) { /* of a posture as far off as a step of 1 ms leaves it */
    memcpy(r->q1, r->q, sizeof(double) * (size_t)m->q_count);
    memcpy(r->u1, r->u, sizeof(double) * (size_t)m->u_count);
    r->q1[m->limbs[m->body_count - 1].hinge_q] += 1e-7;
    orr_closed_project(r->build.closed, ws, r->q1, r->u1);
    return;
  }
  orr_state_set(m, ws, r->q, r->u);
  if (what == TREE)
    orr_forward(m, ws, r->force, NULL, r->accel);
  else
    orr_closed_forward(r->build.closed, ws, r->force, NULL, r->accel);
}

/* Microseconds of one, the least of many samples. */
static double time_of(struct rig *r, enum what what, int samples) {
  double took[SAMPLES];
  for (int s = 0; s < samples; s++) {
    double start = orr_bench_now_ns();
    for (int i = 0; i < BATCH; i++)
      once(r, what);
    took[s] = (orr_bench_now_ns() - start) / (1000.0 * BATCH);
  }
  return orr_bench_stat(took, samples).min;
}

/* One line, of `m`, which is freed, with `loops` loops of `each` bodies. */
static bool row(struct model *m, int loops, int each, int samples, struct orr_progress *progress, json_t *list) {
  double us[5];
  bool good = true;
  for (int method = ORR_LOOP_EMBED; method <= ORR_LOOP_AUGMENT; method++) {
    struct rig r;
    good = make(&r, m, (enum orr_loop_method)method) && good;
    us[0] = time_of(&r, TREE, samples);
    us[2 * method - 1] = time_of(&r, CLOSED, samples);
    us[2 * method] = time_of(&r, CLOSURE, samples);
    destroy(&r);
  }
  int bodies = (int)m->description.body_count;
  free(m);
  orr_progress_wipe(progress);
  if (!good)
    fprintf(stderr, "orrery bench: %d loops of %d bodies do not close\n", loops, each);
  if (!list) {
    printf("%5d %6d %6d %9.2f %9.2f %9.2f %11.2f %9.2f\n", loops, each, bodies, us[0], us[1], us[2], us[3], us[4]);
    return good;
  }
  json_t *o = json_object();
  static const char *const names[] = {"tree_us", "embed_us", "embed_close_us", "augment_us", "augment_project_us"};
  json_object_set_new(o, "loops", json_integer(loops));
  json_object_set_new(o, "loop_bodies", json_integer(each));
  json_object_set_new(o, "bodies", json_integer(bodies));
  for (int i = 0; i < 5; i++)
    json_object_set_new(o, names[i], json_real(us[i]));
  json_array_append_new(list, o);
  return good;
}

static int run(int argc, char **argv, json_t *json) {
  int samples = SAMPLES;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") != 0) {
      fprintf(stderr, "orrery bench --loops takes only --quick and --json, not '%s'\n", argv[i]);
      return ORR_EXIT_USAGE;
    }
    samples = 5;
  }
  json_t *list = json ? json_array() : NULL;
  bool good = true;
  if (!list)
    printf("one evaluation, and closing after a step; us, the least of %d samples\n"
           "loops   each bodies      tree     embed   closing     augment   closing\n",
           samples);
  struct orr_progress progress;
  orr_progress_begin(&progress, 0);
  int done = 0, all = 3 * (2 * MANY_LOOPS - 1) + 62 + 240; /* bodies, in pairs */
  for (int loops = 1; loops <= MANY_LOOPS; loops *= 2) {
    good = row(build(loops, 3), loops, 6, samples, &progress, list) && good;
    orr_progress_show(&progress, (double)(done += 3 * loops) / all);
  }
  for (int half = 2; half <= 32; half *= 2) {
    good = row(build(1, half), 1, 2 * half, samples, &progress, list) && good;
    orr_progress_show(&progress, (double)(done += half) / all);
  }
  if (!list)
    printf("one aggregate with one independent coordinate: lazy tongs\n");
  for (int bars = 16; bars <= 128; bars *= 2) {
    good = row(build_tongs(bars), bars / 2, bars, samples, &progress, list) && good;
    orr_progress_show(&progress, (double)(done += bars) / all);
  }
  orr_progress_wipe(&progress);
  if (list)
    json_object_set_new(json, "loops", list);
  return good ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

const struct orr_bench orr_bench_loops = {
    .name = "loops",
    .summary = "closed loops by both methods, by number and size",
    .run = run,
};
