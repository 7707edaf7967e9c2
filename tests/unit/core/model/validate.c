/* Judgements on hand-made descriptions, and mass properties against sums by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/math/block.h"
#include "core/model/massprops.h"
#include "core/model/validate.h"

static const double shape[] = {0, 0, 0, 0, 0, 1}, no_shape[6];

/* A bus on inertial and an arm on it; tests change what they are about. */
struct model {
  struct orr_node_desc bus_nodes[2], arm_nodes[2];
  struct orr_mode_desc modes[1];
  struct orr_body_desc bodies[2];
  struct orr_loop_desc loops[1];
  struct orr_description d;
};

static void make(struct model *m) {
  *m = (struct model){.bus_nodes = {{.name = "origin"}, {.name = "n", .at = {1, 0, 0}}},
                      .arm_nodes = {{.name = "origin"}, {.name = "tip", .at = {0, 1, 0}}}};
  m->bodies[0] =
      (struct orr_body_desc){.name = "bus",
                             .mass = 10,
                             .inertia = {2, 2, 2, 0, 0, 0},
                             .node_count = 2,
                             .nodes = m->bus_nodes,
                             .hinge = {.kind = ORR_HINGE_FREE, .parent = ORR_INERTIAL, .rotation = {0, 0, 0, 1}}};
  m->bodies[1] = (struct orr_body_desc){
      .name = "arm",
      .mass = 1,
      .inertia = {1, 1, 1, 0, 0, 0},
      .node_count = 2,
      .nodes = m->arm_nodes,
      .hinge = {
          .kind = ORR_HINGE_REVOLUTE, .parent = 0, .parent_node = 1, .rotation = {0, 0, 0, 1}, .axes = {{0, 0, 1}}}};
  m->d = (struct orr_description){.body_count = 2, .bodies = m->bodies};
}

/* The arm becomes flexible: 1 kg at its origin, 2 kg at its tip, one mode that moves the tip along z. */
static void bend(struct model *m) {
  m->modes[0] = (struct orr_mode_desc){.frequency_hz = 1};
  m->bodies[1].flexible = true;
  m->bodies[1].mode_count = 1;
  m->bodies[1].modes = m->modes;
  m->arm_nodes[0].mass = 1;
  m->arm_nodes[0].modes = no_shape;
  m->arm_nodes[1].mass = 2;
  m->arm_nodes[1].modes = shape;
}

enum { MOST = 8 };

static size_t judge(const struct orr_description *d, const unsigned char *skip, struct orr_problem *problems) {
  size_t size = orr_validate_scratch_size(d);
  void *scratch = aligned_alloc(ORR_ALIGNMENT, size); /* exactly: the sanitizer sees one byte more */
  assert_non_null(scratch);
  size_t count = orr_validate(d, skip, scratch, problems, MOST);
  free(scratch);
  return count;
}

static void expect_sound(const struct model *m) {
  struct orr_problem p[MOST];
  if (judge(&m->d, NULL, p) != 0)
    fail_msg("problem %d of body %zu", p[0].code, p[0].body);
}

static struct orr_problem expect_one(const struct model *m, enum orr_problem_code code) {
  struct orr_problem p[MOST];
  size_t count = judge(&m->d, NULL, p);
  if (count != 1 || p[0].code != code)
    fail_msg("%zu problems, the first %d, not %d", count, count ? (int)p[0].code : -1, code);
  return p[0];
}

static void sound_models_have_no_problem(void **state) {
  (void)state;
  struct model m = {0};
  make(&m);
  expect_sound(&m);
  bend(&m);
  expect_sound(&m);
}

static void every_number_must_be_finite(void **state) {
  (void)state;
  struct model m = {0};
  double *numbers[] = {&m.d.gravity[1],
                       &m.bodies[0].mass,
                       &m.bodies[0].com[2],
                       &m.bodies[0].inertia[4],
                       &m.bus_nodes[1].at[0],
                       &m.bodies[1].hinge.stiffness[0],
                       &m.bodies[1].hinge.damping[0],
                       &m.bodies[1].hinge.rest[0]};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    make(&m);
    *numbers[i] = (double)NAN;
    expect_one(&m, ORR_PROBLEM_NOT_FINITE);
    *numbers[i] = (double)-INFINITY;
    expect_one(&m, ORR_PROBLEM_NOT_FINITE);
    *numbers[i] = 1e30;
    expect_one(&m, ORR_PROBLEM_ABSURD);
  }
  make(&m);
  m.bodies[1].hinge.axes[0][2] = (double)NAN;
  expect_one(&m, ORR_PROBLEM_AXIS);
  make(&m);
  m.bodies[1].hinge.rotation[2] = (double)NAN;
  expect_one(&m, ORR_PROBLEM_ROTATION);
  make(&m);
  bend(&m);
  m.modes[0].damping = (double)NAN;
  expect_one(&m, ORR_PROBLEM_NOT_FINITE);
}

static void loose_ends_are_found(void **state) {
  (void)state;
  struct model m = {0};
  make(&m);
  int *ends[] = {&m.bodies[1].hinge.parent, &m.bodies[1].hinge.parent_node, &m.bodies[1].hinge.node};
  for (size_t i = 0; i < 3; i++)
    for (int value = -2; value <= 2; value += 4) {
      make(&m);
      *ends[i] = value;
      expect_one(&m, ORR_PROBLEM_INDEX);
    }
  make(&m);
  bend(&m);
  m.arm_nodes[1].modes = NULL;
  expect_one(&m, ORR_PROBLEM_INDEX);
  make(&m);
  bend(&m);
  m.bodies[1].modes = NULL;
  expect_one(&m, ORR_PROBLEM_INDEX);
  make(&m);
  m.bodies[1].hinge.kind = ORR_HINGE_KIND_COUNT;
  expect_one(&m, ORR_PROBLEM_INDEX);
  make(&m);
  m.loops[0] = (struct orr_loop_desc){.kind = ORR_LOOP_POINT, .body = {0, 1}, .node = {0, 7}};
  m.d.loops = m.loops;
  m.d.loop_count = 1;
  expect_one(&m, ORR_PROBLEM_INDEX);
}

static void axes_and_rotations_must_be_unit(void **state) {
  (void)state;
  struct model m = {0};
  make(&m);
  m.bodies[1].hinge.axes[0][2] = 2;
  assert_true(expect_one(&m, ORR_PROBLEM_AXIS).value[0] == 2);
  make(&m);
  m.bodies[1].hinge.rotation[3] = 0.5;
  assert_true(expect_one(&m, ORR_PROBLEM_ROTATION).value[0] == 0.5);
  make(&m);
  m.loops[0] = (struct orr_loop_desc){.kind = ORR_LOOP_REVOLUTE, .body = {0, 1}, .node = {1, 0}};
  m.d.loops = m.loops;
  m.d.loop_count = 1;
  assert_int_equal(expect_one(&m, ORR_PROBLEM_AXIS).entity, ORR_ENTITY_LOOP);
}

static void negative_modes_are_refused(void **state) {
  (void)state;
  struct model m = {0};
  make(&m);
  bend(&m);
  m.modes[0].frequency_hz = -1;
  assert_int_equal(expect_one(&m, ORR_PROBLEM_NEGATIVE).entity, ORR_ENTITY_MODE);
  m.modes[0].frequency_hz = 1;
  m.modes[0].damping = -1;
  assert_string_equal(expect_one(&m, ORR_PROBLEM_NEGATIVE).field, "damping");
}

static void skipped_bodies_are_not_judged(void **state) {
  (void)state;
  struct model m = {0};
  struct orr_problem p[MOST];
  make(&m);
  m.bodies[1].mass = -1;
  const unsigned char skip[] = {0, 1};
  assert_int_equal(judge(&m.d, skip, p), 0);
  assert_int_equal(judge(&m.d, NULL, p), 1);
}

static void problems_beyond_the_capacity_are_counted(void **state) {
  (void)state;
  struct orr_body_desc bodies[20];
  struct orr_node_desc node = {.name = "origin"};
  for (size_t i = 0; i < 20; i++)
    bodies[i] =
        (struct orr_body_desc){.name = "b",
                               .mass = -1,
                               .inertia = {1, 1, 1, 0, 0, 0},
                               .nodes = &node,
                               .node_count = 1,
                               .hinge = {.kind = ORR_HINGE_FREE, .parent = ORR_INERTIAL, .rotation = {0, 0, 0, 1}}};
  const struct orr_description d = {.body_count = 20, .bodies = bodies};
  struct orr_problem p[MOST];
  assert_int_equal(judge(&d, NULL, p), 20);
}

static void long_chains_are_sound_and_their_cycles_are_found(void **state) {
  (void)state;
  enum { N = 20000 };
  struct orr_body_desc *bodies = calloc(N, sizeof *bodies);
  struct orr_node_desc nodes[] = {{.name = "origin"}, {.name = "end", .at = {1, 2, 3}}};
  assert_non_null(bodies);
  for (int i = 0; i < N; i++)
    bodies[i] = (struct orr_body_desc){.name = "b",
                                       .mass = 5,
                                       .com = {0.1, -0.2, -0.1},
                                       .inertia = {0.6, 0.8, 0.7, 0, 0.01, 0.02},
                                       .nodes = nodes,
                                       .node_count = 2,
                                       .hinge = {.kind = ORR_HINGE_REVOLUTE,
                                                 .parent = i - 1,
                                                 .parent_node = 1,
                                                 .rotation = {0, 0, 0, 1},
                                                 .axes = {{0, 0, 1}}}};
  bodies[0].hinge.parent_node = 0;
  struct orr_description d = {.body_count = N, .bodies = bodies};
  struct orr_problem p[MOST];
  assert_int_equal(judge(&d, NULL, p), 0);
  bodies[N / 2].hinge.parent = N / 2 + 2; /* N/2, N/2+1, N/2+2 hang on each other, all behind on them */
  assert_int_equal(judge(&d, NULL, p), 1);
  assert_int_equal(p[0].code, ORR_PROBLEM_CYCLE);
  assert_int_equal(p[0].body, N / 2);
  assert_true(p[0].value[0] == 3);
  bodies[1].hinge.parent = 1; /* a second one, and before it a body that leads into it */
  bodies[0].hinge.parent = 1;
  assert_int_equal(judge(&d, NULL, p), 3); /* and no root */
  free(bodies);
}

static void mass_at_rest_is_the_sum_of_the_bodies(void **state) {
  (void)state;
  struct model m = {0};
  make(&m);
  bend(&m);
  m.bodies[0].com[2] = 0.5;
  m.bodies[1].hinge.rotation[2] = m.bodies[1].hinge.rotation[3] = sqrt(0.5); /* the arm's y is the bus's −x */
  size_t size = orr_mass_properties_scratch_size(&m.d);
  void *scratch = aligned_alloc(ORR_ALIGNMENT, (size / ORR_ALIGNMENT + 1) * ORR_ALIGNMENT);
  assert_non_null(scratch);
  struct orr_mass_properties p = orr_mass_properties_at_rest(&m.d, scratch);
  free(scratch);
  /* 10 kg at (0 0 0.5) with 2 about each axis, 1 kg at (1 0 0), 2 kg at (0 0 0) */
  assert_true(fabs(p.mass - (13)) <= 1e-12);
  assert_true(fabs(p.com[0] - (1.0 / 13)) <= 1e-12);
  assert_true(fabs(p.com[1] - (0)) <= 1e-12);
  assert_true(fabs(p.com[2] - (5.0 / 13)) <= 1e-12);
  double x = 1.0 / 13, z = 5.0 / 13;
  assert_true(fabs(p.inertia[0] - (2 + 2.5 - 13 * z * z)) <= 1e-12);
  assert_true(fabs(p.inertia[1] - (2 + 2.5 + 1 - 13 * (x * x + z * z))) <= 1e-12);
  assert_true(fabs(p.inertia[2] - (2 + 1 - 13 * x * x)) <= 1e-12);
  assert_true(fabs(p.inertia[3] - (0)) <= 1e-12);
  assert_true(fabs(p.inertia[4] - (13 * x * z)) <= 1e-12);
}

static void modal_mass_includes_offsets_and_slopes(void **state) {
  (void)state;
  static const double rows[] = {0, 0, 0.5, 0.2, 0, 0}; /* slope about z, translation along x */
  struct orr_node_desc node = {.name = "n", .mass = 3, .com = {0, 2, 0}, .inertia = {1, 1, 4, 0, 0, 0}, .modes = rows};
  struct orr_body_desc body = {.flexible = true, .mode_count = 1, .node_count = 1, .nodes = &node};
  double mff;
  orr_body_modal_mass(&body, &mff);
  /* Γ = (0.2, 0, 0) + (0 0 0.5) × (0 2 0) = (−0.8, 0, 0) */
  assert_true(fabs(mff - (3 * 0.64 + 4 * 0.25)) <= 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sound_models_have_no_problem),
      cmocka_unit_test(every_number_must_be_finite),
      cmocka_unit_test(loose_ends_are_found),
      cmocka_unit_test(axes_and_rotations_must_be_unit),
      cmocka_unit_test(negative_modes_are_refused),
      cmocka_unit_test(skipped_bodies_are_not_judged),
      cmocka_unit_test(problems_beyond_the_capacity_are_counted),
      cmocka_unit_test(long_chains_are_sound_and_their_cycles_are_found),
      cmocka_unit_test(mass_at_rest_is_the_sum_of_the_bodies),
      cmocka_unit_test(modal_mass_includes_offsets_and_slopes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
