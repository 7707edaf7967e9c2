/* What a case becomes, number by number. Mistakes are in tests/wrong/case. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/config/spacecraft/case.h"

struct loaded {
  struct orr_diagnostics *diagnostics;
  const struct orr_description *d;
  struct orr_config *config;
  const struct orr_case *c;
};

/* The model of the wrong cases: bus, arm (revolute), head (ball), box (fixed), lift (prismatic, prescribed), bolt
 * (cylindrical), wing (revolute, one mode). */
static struct loaded load(const char *text, enum orr_case_kind kind) {
  char path[] = "/tmp/orrery-case-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  FILE *out = fdopen(fd, "w");
  assert_non_null(out);
  fputs(text, out);
  fclose(out);
  struct loaded l = {.diagnostics = orr_diagnostics_create()};
  l.config = orr_config_load("tests/wrong/case/model.yaml", NULL, l.diagnostics);
  assert_non_null(l.config);
  l.d = orr_config_description(l.config);
  l.c = orr_case_load(path, l.config, kind, NULL);
  remove(path);
  if (!l.c)
    orr_diagnostics_print(l.diagnostics, 0, stderr, false);
  assert_non_null(l.c);
  return l;
}

static void unload(struct loaded *l) { orr_diagnostics_destroy(l->diagnostics); }

static const struct orr_case_body *body(const struct loaded *l, const char *name) {
  int i = orr_config_find_body(l->config, name);
  assert_true(i >= 0);
  return &l->c->bodies[i];
}

static void expect_numbers(const double *got, size_t n, const double *expected) {
  for (size_t i = 0; i < n; i++)
    if (fabs(got[i] - expected[i]) > 1e-15)
      fail_msg("element %zu is %.17g, not %.17g", i, got[i], expected[i]);
}

#define EXPECT(got, ...)                                                                                               \
  expect_numbers((got), sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static void what_is_left_out_is_zero_and_attitudes_the_identity(void **state) {
  (void)state;
  struct loaded l = load("{}\n", ORR_CASE_FORWARD);
  EXPECT(body(&l, "bus")->q, 0, 0, 0, 0, 0, 0, 1);
  EXPECT(body(&l, "head")->q, 0, 0, 0, 1);
  EXPECT(body(&l, "arm")->q, 0);
  EXPECT(body(&l, "wing")->eta, 0);
  EXPECT(body(&l, "wing")->modal, 0);
  assert_true(body(&l, "lift")->prescribed);
  assert_false(body(&l, "arm")->prescribed);
  assert_int_equal(l.c->external_count, 0);
  unload(&l);
}

static void an_empty_list_says_that_there_is_nothing(void **state) {
  (void)state;
  struct loaded l = load("state: {box: {q: [], speed: []}, arm: {eta: [], eta_rate: []}}\n"
                         "forces: {box: {tau: []}, arm: {modal: []}}\n",
                         ORR_CASE_FORWARD);
  EXPECT(body(&l, "arm")->q, 0);
  unload(&l);
  l = load("accelerations: {box: {acceleration: []}, arm: {eta_acceleration: []}}\n", ORR_CASE_INVERSE);
  EXPECT(body(&l, "arm")->acceleration, 0);
  unload(&l);
}

static void a_state_is_what_it_says(void **state) {
  (void)state;
  struct loaded l =
      load("state:\n"
           "  bus: {position: [1, 2 km, 3], attitude: [0, 0, 0.6, 0.8], rate: [0, 0, 30 rpm], velocity: [4, 5, 6]}\n"
           "  head: {attitude: [0.6, 0, 0, -0.8], rate: [1, 2, 3]}\n"
           "  arm: {q: 180 deg, speed: [0.5]}\n"
           "  bolt: {q: [1 rad, 2 mm], speed: [3, 4]}\n"
           "  wing: {q: [0.1], eta: [0.2], eta_rate: [0.3]}\n",
           ORR_CASE_FORWARD);
  const double pi = 3.14159265358979323846;
  EXPECT(body(&l, "bus")->q, 1, 2000, 3, 0, 0, 0.6, 0.8);
  EXPECT(body(&l, "bus")->speed, 0, 0, pi, 4, 5, 6);
  EXPECT(body(&l, "head")->q, 0.6, 0, 0, -0.8);
  EXPECT(body(&l, "head")->speed, 1, 2, 3);
  EXPECT(body(&l, "arm")->q, pi);
  EXPECT(body(&l, "arm")->speed, 0.5);
  EXPECT(body(&l, "bolt")->q, 1, 0.002);
  EXPECT(body(&l, "bolt")->speed, 3, 4);
  EXPECT(body(&l, "wing")->q, 0.1);
  EXPECT(body(&l, "wing")->eta, 0.2);
  EXPECT(body(&l, "wing")->eta_rate, 0.3);
  unload(&l);
}

static void forces_and_prescribed_motion_are_read(void **state) {
  (void)state;
  struct loaded l = load("forces:\n"
                         "  bus: {tau: [1, 2, 3, 4, 5, 6 kN]}\n"
                         "  wing: {tau: 0.5, modal: [7]}\n"
                         "external:\n"
                         "  - {node: wing.tip, force: [1, 2, 3], frame: body}\n"
                         "  - {node: bus.n, moment: [0, 0, 1 N m]}\n"
                         "prescribed:\n"
                         "  arm: {acceleration: 2 deg/s^2}\n"
                         "  lift: {acceleration: [3]}\n"
                         "  bolt: {}\n",
                         ORR_CASE_FORWARD);
  EXPECT(body(&l, "bus")->tau, 1, 2, 3, 4, 5, 6000);
  EXPECT(body(&l, "wing")->tau, 0.5);
  EXPECT(body(&l, "wing")->modal, 7);
  assert_true(body(&l, "arm")->prescribed);
  assert_true(body(&l, "bolt")->prescribed);
  EXPECT(body(&l, "arm")->acceleration, 2 * 3.14159265358979323846 / 180);
  EXPECT(body(&l, "lift")->acceleration, 3);
  EXPECT(body(&l, "bolt")->acceleration, 0, 0);
  assert_int_equal(l.c->external_count, 2);
  const struct orr_case_external *x = l.c->externals;
  assert_string_equal(l.d->bodies[x[0].body].name, "wing");
  assert_int_equal(x[0].node, 1);
  assert_true(x[0].body_axes);
  EXPECT(x[0].force, 1, 2, 3);
  EXPECT(x[0].moment, 0, 0, 0);
  assert_false(x[1].body_axes);
  EXPECT(x[1].moment, 0, 0, 1);
  unload(&l);
}

static void an_inverse_case_gives_accelerations(void **state) {
  (void)state;
  struct loaded l = load(
      "accelerations:\n  bus: {acceleration: [1, 2, 3, 4, 5, 6]}\n  wing: {acceleration: 7, eta_acceleration: [8]}\n"
      "prescribed:\n  arm: {acceleration: 9}\n",
      ORR_CASE_INVERSE);
  EXPECT(body(&l, "bus")->acceleration, 1, 2, 3, 4, 5, 6);
  EXPECT(body(&l, "wing")->acceleration, 7);
  EXPECT(body(&l, "wing")->eta_acceleration, 8);
  EXPECT(body(&l, "arm")->acceleration, 9);
  assert_true(body(&l, "arm")->prescribed);
  unload(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_left_out_is_zero_and_attitudes_the_identity),
      cmocka_unit_test(an_empty_list_says_that_there_is_nothing),
      cmocka_unit_test(a_state_is_what_it_says),
      cmocka_unit_test(forces_and_prescribed_motion_are_read),
      cmocka_unit_test(an_inverse_case_gives_accelerations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
