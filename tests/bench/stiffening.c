/* What second-order shapes cost: one evaluation of the same spacecraft with `stiffening` and without, interleaved.
 *
 * A free hub carries a beam of 45 nodes, and the beam's tip a body, so that one node of it is followed by the sweeps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "io/config/spacecraft/build.h"
#include "tests/support/beam.h"
#include "tools/bench/bench.h"

enum { SAMPLES = 400, TIMES = 50 };

/* G of each pair of modes of each node as a file would give it, in three directions; its values do not matter here. */
static void give_curves(struct orr_body_desc *body, struct orr_node_desc *nodes, struct orr_curve_desc *curves) {
  size_t n = body->mode_count, pairs = n * (n + 1) / 2;
  memcpy(nodes, body->nodes, body->node_count * sizeof *nodes);
  body->nodes = nodes;
  for (size_t j = 1; j < body->node_count; j++) {
    struct orr_curve_desc *own = curves + j * pairs;
    nodes[j].curves = own;
    nodes[j].curve_count = pairs;
    for (size_t r = 0; r < n; r++)
      for (size_t s = r; s < n; s++)
        *own++ = (struct orr_curve_desc){.r = r, .s = s, .g = {-1e-3 * (double)j, 1e-5 * (double)r, 1e-5 * (double)s}};
  }
}

/* The beam, and a weight on a hinge at its tip. */
static struct orr_sample *loaded(const struct orr_beam *beam, bool weight, bool given) {
  static struct orr_node_desc nodes[45];
  static struct orr_curve_desc curves[45 * 210];
  struct orr_sample *plain = orr_beam_make(beam);
  const struct orr_node_desc origin = {.name = "origin"};
  struct orr_body_desc bodies[3] = {plain->bodies[0], plain->bodies[1]};
  bodies[2] = (struct orr_body_desc){
      .name = "weight", .mass = 0.3, .inertia = {0.01, 0.02, 0.02, 0, 0, 0}, .node_count = 1, .nodes = &origin};
  bodies[2].hinge = (struct orr_hinge_desc){.kind = ORR_HINGE_REVOLUTE,
                                            .parent = 1,
                                            .parent_node = beam->segments,
                                            .axes = {{0, 1, 0}},
                                            .rotation = {0, 0, 0, 1}};
  if (given)
    give_curves(&bodies[1], nodes, curves);
  struct orr_sample *s = orr_sample_of(bodies, weight ? 3 : 2);
  orr_sample_free(plain);
  for (int i = 0; i < s->u_count; i++)
    s->u[i] = 0.1 * (i % 3 - 1);
  for (size_t i = 0; i < s->bodies[1].mode_count; i++)
    s->q[s->q_at[1] + (int)i] = 0.01 * ((int)i % 3 - 1);
  return s;
}

struct craft {
  struct orr_sample *sample;
  struct orr_build build;
  double accel[40];
};

static double evaluate(struct craft *c) {
  double start = orr_bench_now_ns();
  for (int i = 0; i < TIMES; i++) {
    orr_state_set(c->build.model, c->build.ws, c->sample->q, c->sample->u);
    if (orr_forward(c->build.model, c->build.ws, c->sample->force, NULL, c->accel) != ORR_OK)
      abort();
  }
  return (orr_bench_now_ns() - start) / TIMES;
}

static double measure(int modes, bool weight, bool given) {
  struct orr_beam beam = {.lag = modes / 2, .flap = modes - modes / 2, .segments = 44, .length = 10, .mass = 1.2};
  struct craft crafts[2];
  double times[2][SAMPLES], min[2];
  beam.bending = 1.4e4;
  beam.base = ORR_HINGE_FREE;
  for (int on = 0; on < 2; on++) {
    beam.stiffening = on;
    crafts[on].sample = loaded(&beam, weight, on && given);
    orr_build_create(&crafts[on].build, &crafts[on].sample->description, ORR_MODEL_DEFAULT);
  }
  for (int i = 0; i < SAMPLES; i++)
    for (int on = 0; on < 2; on++)
      times[on][i] = evaluate(&crafts[on]);
  for (int on = 0; on < 2; on++)
    min[on] = orr_bench_stat(times[on], SAMPLES).min;
  printf("%5d %8s %5s %10.0f %10.0f %8.3f\n", modes, weight ? "yes" : "no", given ? "file" : "line", min[0], min[1],
         min[1] / min[0]);
  for (int on = 0; on < 2; on++) {
    orr_build_destroy(&crafts[on].build);
    orr_sample_free(crafts[on].sample);
  }
  return min[1] / min[0];
}

int main(void) {
  static const int modes[] = {2, 5, 10, 20};
  double worst = 0;
  puts("modes at a tip     G   plain ns  second ns    ratio");
  for (int kind = 0; kind < 4; kind++)
    for (int i = 0; i < 4; i++) {
      double ratio = measure(modes[i], kind & 1, kind & 2);
      worst = ratio > worst ? ratio : worst;
    }
  if (worst <= 1.15)
    return 0;
  puts("stiffening: more than 1.15 times the time of a body without");
  return 1;
}
