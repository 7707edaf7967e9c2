/* core/tree/forward, massless bodies: D(k) is what hangs on them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/forward.h"
#include "tests/support/dense.h"
#include "tests/support/flight.h"
#include "tests/support/trial.h"

/* Chains of revolute hinges about random axes, in which two bodies of three have no mass. */
static void chains_agree_with_the_dense_reference(void **state) {
  (void)state;
  double worst = 0;
  int solved = 0;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 9);
    o.one_kind = true;
    o.kind = ORR_HINGE_REVOLUTE;
    o.reach = 1;
    o.flexible = o.massless = o.prescribed = o.rotors = o.roots = 0;
    struct orr_sample *s = orr_sample_make(&o);
    for (int i = 0; i < 9; i++) {
      int depth = 0; /* the file has them in any order */
      for (int k = s->bodies[i].hinge.parent; k >= 0; k = s->bodies[k].hinge.parent)
        depth++;
      if (depth % 3 == 2)
        continue;
      s->bodies[i].mass = 0;
      memset(s->bodies[i].inertia, 0, sizeof s->bodies[i].inertia);
    }
    struct orr_trial trial = orr_trial_make(s, seed % 2 ? ORR_MODEL_DEFAULT : ORR_MODEL_PLAIN);
    struct orr_dense *dense = orr_dense_make(s);
    double *want = orr_vector_make(s->u_count), none;
    if (orr_dense_condition(dense) < 1e9) {
      assert_true(orr_dense_forward(dense, want, &none));
      assert_int_equal(orr_trial_forward(&trial), ORR_OK);
      worst = fmax(worst, orr_gap(trial.accel, want, s->u_count));
      solved++;
    }
    free(want);
    orr_dense_free(dense);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
  printf("# %d chains with massless bodies, off the dense reference by %.2g at most\n", solved, worst);
  assert_true(solved >= 20);
  assert_true(worst < 1e-9);
}

/* A rotor in three rings on a free bus, whose rings weigh so much; without rings, a gimbal hinge. Where it points after
 * two seconds, and how the bus turns. */
static void gimbals(double ring, bool hinge, double *out) {
  char text[4096], mass[100];
  snprintf(mass, sizeof mass, "mass: %g, inertia: [%g, %g, %g, 0, 0, 0]", ring, ring, ring, ring);
  if (ring == 0)
    snprintf(mass, sizeof mass, "mass: 0");
  int n = snprintf(text, sizeof text,
                   "orrery: 1\n"
                   "spacecraft:\n"
                   "  bodies:\n"
                   "    bus: {mass: 50, com: [0.1, 0, 0], inertia: [5, 6, 7, 0.1, 0, 0], hinge: {kind: free, to: "
                   "inertial}, nodes: {n: {at: [0, 0, 0.5]}}}\n");
  const char *top = "mass: 4, com: [0.02, 0.1, 0.05], inertia: [0.2, 0.3, 0.4, 0, 0, 0.01]";
  if (hinge)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "    top: {%s, hinge: {kind: gimbal, axes: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], to: bus.n}}\n", top);
  else
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "    outer: {%s, hinge: {kind: revolute, axis: [1, 0, 0], to: bus.n}}\n"
                  "    inner: {%s, hinge: {kind: revolute, axis: [0, 1, 0], to: outer.origin}}\n"
                  "    top: {%s, hinge: {kind: revolute, axis: [0, 0, 1], to: inner.origin}}\n",
                  mass, mass, top);
  snprintf(text + n, sizeof text - (size_t)n, "simulation: {step: 1 ms, initial: {bus: {rate: [0.1, 0.2, 0.3]}, %s}}\n",
           hinge ? "top: {q: [0.2, 0.3, 0.4], speed: [0.5, -0.6, 5]}"
                 : "outer: {q: 0.2, speed: 0.5}, inner: {q: 0.3, speed: -0.6}, top: {q: 0.4, speed: 5}");
  struct orr_flight f = orr_flight_make(text, "*");
  double energy = orr_flight_energy(&f);
  orr_flight_run(&f, 2000);
  assert_true(fabs(orr_flight_energy(&f) - energy) < 1e-9 * energy);
  static const char *const names[] = {"top.attitude.x", "top.attitude.y", "top.attitude.z", "bus.rate.x",
                                      "bus.rate.y",     "bus.rate.z",     "top.rate.x",     "top.rate.y"};
  for (int i = 0; i < 8; i++)
    out[i] = orr_flight_value(&f, names[i]);
  orr_flight_free(&f);
}

static double apart(const double *a, const double *b) {
  double most = 0;
  for (int i = 0; i < 8; i++)
    most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

static void massless_rings_are_a_gimbal_and_the_limit_of_light_ones(void **state) {
  (void)state;
  double none[8], hinge[8], light[8], lighter[8];
  gimbals(0, false, none);
  gimbals(0, true, hinge);
  gimbals(1e-4, false, light);
  gimbals(1e-5, false, lighter);
  printf(
      "# after 2 s, massless rings are off a gimbal hinge by %.2g, off rings of 1e-4 kg by %.2g, of 1e-5 kg by %.2g\n",
      apart(none, hinge), apart(none, light), apart(none, lighter));
  assert_true(apart(none, hinge) < 1e-10);
  assert_true(apart(none, light) > 1e-7);
  double ratio = apart(none, light) / apart(none, lighter);
  assert_true(ratio > 9 && ratio < 11);
}

/* Two rings whose axes come to lie on each other: the solver names the ring that nothing holds. */
static void a_ring_that_loses_its_inertia_is_named(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft:\n"
      "  bodies:\n"
      "    base: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: fixed, to: inertial}}\n"
      "    outer: {mass: 0, hinge: {kind: revolute, axis: [1, 0, 0], to: base.origin}}\n"
      "    inner: {mass: 0, hinge: {kind: revolute, axis: [0, 1, 0], to: outer.origin}}\n"
      "    top: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: inner.origin}}\n"
      "simulation: {step: 1 ms}\n",
      "*");
  struct orr_plant *p = f.plant;
  double q[3] = {0.1, 1.5707963267948966, 0.2}, u[3] = {0}, force[3] = {1, 0, 0}, given[3] = {0}, accel[3];
  orr_state_set(p->model, p->ws, q, u);
  assert_int_equal(orr_forward(p->model, p->ws, force, given, accel), ORR_ERROR_SINGULAR);
  assert_int_equal(p->ws->failed_body, 1);
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_agree_with_the_dense_reference),
      cmocka_unit_test(massless_rings_are_a_gimbal_and_the_limit_of_light_ones),
      cmocka_unit_test(a_ring_that_loses_its_inertia_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
