/* A driven four-bar through full turns, step after step: it stays closed, and its energy is what the torque has put in.
 *
 * 20,000 steps of 1 ms, or $ORR_STEPS (tests/soak/turns.sh: a million); prints its figures with $ORR_SAY. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/plant/integrate.h"
#include "core/tree/energy.h"
#include "tests/support/loops.h"

/* A constant torque on the crank, turned round now and then, so that its work is torque times angle. */
struct push {
  struct orr_drive drive; /* first */
  double torque;
};

static void apply(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                  double *force, double *given) {
  (void)ws, (void)point, (void)given;
  force[0] = ((struct push *)drive)->torque;
}

static double energy_of(struct orr_integration *i) {
  orr_integration_set(i);
  return orr_kinetic_energy(i->model, i->ws) + orr_potential_energy(i->model, i->ws);
}

static double gap_of(struct orr_mechanism_trial *t, const double *q) {
  orr_loops_place(t->loops, t->trial.ws, q);
  return orr_loop_gap(t->loops, 0).metres;
}

struct figures {
  double gap, energy, turns, most;
};

static struct figures turn(enum orr_loop_method method, int64_t steps) {
  struct orr_sample *s = orr_four_bar(0.4, 1.1, 0.8, 1.2);
  s->description.gravity[2] = -0.2;
  struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
  assert_true(orr_mechanism_trial_assemble(&t).closed);
  orr_mechanism_trial_solver(&t, method);
  t.u[0] = 12; /* and the others what fits best */
  assert_true(orr_mechanism_trial_fit(&t));
  size_t bytes = orr_integration_size(t.trial.model);
  void *block = aligned_alloc(ORR_ALIGNMENT, bytes);
  struct push push = {.drive = {.apply = apply}};
  struct orr_integration *i = orr_integration_init(block, bytes, t.trial.model, t.trial.ws, &push.drive);
  i->closed = t.closed;
  memcpy(i->q, t.q, sizeof *t.q * (size_t)s->q_count);
  memcpy(i->u, t.u, sizeof *t.u * (size_t)s->u_count);
  struct figures f = {0};
  double start = energy_of(i), work = 0;
  for (int64_t n = 0; n < steps; n++) {
    double angle = i->q[0];
    push.torque = n % 4000 < 2000 ? 0.4 : -0.4;
    assert_int_equal(orr_integration_step(i, n * 1000000, 1000000), ORR_OK);
    work += push.torque * (i->q[0] - angle);
    f.turns += (i->q[0] - angle) / 6.283185307179586;
    f.gap = fmax(f.gap, gap_of(&t, i->q));
    if (n % 100 == 0) {
      double energy = energy_of(i);
      f.most = fmax(f.most, energy);
      f.energy = fmax(f.energy, fabs(energy - start - work));
    }
  }
  free(block);
  orr_mechanism_trial_free(&t);
  orr_sample_free(s);
  if (getenv("ORR_SAY"))
    printf("%s: %lld steps, %.0f turns, gap at most %.3g m, energy within %.3g of up to %.3g J\n",
           method == ORR_LOOP_EMBED ? "embed" : "augment", (long long)steps, f.turns, f.gap, f.energy, f.most);
  return f;
}

static int64_t steps_wanted(void) {
  const char *steps = getenv("ORR_STEPS");
  return steps ? strtoll(steps, NULL, 10) : 20000;
}

static void turns_stay_closed(enum orr_loop_method method, double gap) {
  int64_t steps = steps_wanted();
  struct figures f = turn(method, steps);
  assert_true(f.turns > 1e-4 * (double)steps); /* it does go round */
  assert_true(f.gap < gap);
  assert_true(f.energy < 1e-5 * f.most);
}

/* The longest bar is 1.2 m. */
static void embedded_turns_stay_closed(void **state) {
  (void)state;
  turns_stay_closed(ORR_LOOP_EMBED, 1.2e-9);
}

static void augmented_turns_stay_closed(void **state) {
  (void)state;
  turns_stay_closed(ORR_LOOP_AUGMENT, 1.2e-7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(embedded_turns_stay_closed),
      cmocka_unit_test(augmented_turns_stay_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
