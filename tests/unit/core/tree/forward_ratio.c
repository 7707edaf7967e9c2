/* core/tree/forward: the digits that a mass ratio costs are those that a file is warned of. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/model/rest.h"
#include "core/model/topology.h"
#include "core/tree/forward.h"
#include "tests/support/dense.h"
#include "tests/support/trial.h"

/* The largest ratio of a description. */
static double ratio_of(const struct orr_description *d) {
  void *tree = malloc(orr_topology_size(d->body_count));
  struct orr_topology t = orr_topology_find(d, tree);
  struct orr_block block = {0};
  orr_rest_layout(d->body_count, 0, &block);
  size_t bytes = block.used + 64;
  void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  block = (struct orr_block){.base = memory, .size = bytes};
  struct orr_rest *rest = orr_rest_layout(d->body_count, 0, &block);
  double most = 0;
  for (size_t k = t.count; k-- > 0;)
    most = fmax(most, orr_rest_body(rest, d, &t, t.order[k]).ratio);
  free(memory);
  free(tree);
  return most;
}

/* How far the accelerations are off where links near the base weigh so much of what hangs on them: the worst of some
 * chains, beside what their largest ratio foretells. */
static double worst_gap(double ratio, int kind, double *foretold) {
  double worst = *foretold = 0;
  for (uint64_t seed = 0; seed < 30; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 4);
    o.one_kind = true;
    o.kind = kind ? ORR_HINGE_BALL : ORR_HINGE_REVOLUTE;
    o.reach = 1;
    o.flexible = o.massless = o.prescribed = o.rotors = o.roots = o.springs = 0;
    struct orr_sample *s = orr_sample_make(&o);
    for (int i = 0; i < 4; i++) {
      int depth = 0;
      for (int k = s->bodies[i].hinge.parent; k >= 0; k = s->bodies[k].hinge.parent)
        depth++;
      double scale = depth == 1 || depth == 2 ? ratio : 1;
      s->bodies[i].mass *= scale;
      for (int k = 0; k < 6; k++)
        s->bodies[i].inertia[k] *= scale;
    }
    struct orr_trial trial = orr_trial_make(s, ORR_MODEL_DEFAULT);
    struct orr_dense *dense = orr_dense_make(s);
    double *want = orr_vector_make(s->u_count), none;
    if (orr_dense_forward(dense, want, &none) && orr_trial_forward(&trial) == ORR_OK)
      worst = fmax(worst, orr_gap(trial.accel, want, s->u_count));
    else
      worst = HUGE_VAL;
    *foretold = fmax(*foretold, ratio_of(&s->description));
    free(want);
    orr_dense_free(dense);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
  return worst;
}

static void a_ratio_costs_its_decades(void **state) {
  (void)state;
  for (int k = 0; k <= 10; k += 2)
    for (int ball = 0; ball < 2; ball++) {
      double ratio, gap = worst_gap(pow(10, -k), ball, &ratio);
      printf("# inner bodies of 1e-%d, %s: ratio %.1e, accelerations off by %.1e\n", k, ball ? "ball" : "revolute",
             ratio, gap);
      assert_true(gap < 1e-15 * fmax(20, ratio));         /* no more digits are lost than is said */
      assert_true(!ball || k < 4 || gap > 1e-18 * ratio); /* nor is it said for nothing */
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_ratio_costs_its_decades)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
