/* What a model file becomes: the description, number by number. Mistakes are in tests/wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/config/spacecraft/config.h"

struct loaded {
  struct orr_diagnostics *diagnostics;
  const struct orr_config *config;
  const struct orr_description *d;
};

static struct loaded load_files(const struct orr_text_file *files, size_t count) {
  struct orr_config_options options = {.files = files, .file_count = count};
  struct loaded l = {.diagnostics = orr_diagnostics_create()};
  l.config = orr_config_load(files[0].name, &options, l.diagnostics);
  if (!l.config)
    orr_diagnostics_print(l.diagnostics, 0, stderr, false);
  assert_non_null(l.config);
  l.d = orr_config_description(l.config);
  return l;
}

static struct loaded load(const char *bodies) {
  static char text[8000];
  snprintf(text, sizeof text, "orrery: 1\nspacecraft:\n%s", bodies);
  const struct orr_text_file file = {"m.yaml", text, strlen(text)};
  return load_files(&file, 1);
}

static void unload(struct loaded *l) { orr_diagnostics_destroy(l->diagnostics); }

static void expect_numbers(const double *got, size_t n, const double *expected) {
  for (size_t i = 0; i < n; i++)
    if (fabs(got[i] - expected[i]) > 1e-15)
      fail_msg("element %zu is %.17g, not %.17g", i, got[i], expected[i]);
}

#define EXPECT(got, ...)                                                                                               \
  expect_numbers((got), sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})
#define RIGID "mass: 1, inertia: [1, 1, 1, 0, 0, 0]"

static void a_rigid_body_is_what_it_says(void **state) {
  (void)state;
  struct loaded l = load("  gravity: [0, 0, -9.81 m/s^2]\n"
                         "  bodies:\n"
                         "    bus:\n"
                         "      mass: 1.2 t\n"
                         "      com: [1 cm, 0, -2]\n"
                         "      inertia: [800, 900, 700, 1, 2, 3]\n"
                         "      hinge: {kind: free, to: inertial, rotation: [0, 0, 0.6, 0.8]}\n"
                         "      nodes: {tip: {at: [0, 110 mm, 0]}}\n");
  const struct orr_body_desc *b = &l.d->bodies[0];
  EXPECT(l.d->gravity, 0, 0, -9.81);
  assert_int_equal(l.d->body_count, 1);
  assert_string_equal(b->name, "bus");
  assert_false(b->flexible);
  EXPECT(&b->mass, 1200);
  EXPECT(b->com, 0.01, 0, -2);
  EXPECT(b->inertia, 800, 900, 700, 1, 2, 3);
  assert_int_equal(b->node_count, 2);
  assert_string_equal(b->nodes[0].name, "origin"); /* implied, and first */
  EXPECT(b->nodes[0].at, 0, 0, 0);
  EXPECT(b->nodes[1].at, 0, 0.11, 0);
  assert_int_equal(b->hinge.kind, ORR_HINGE_FREE);
  assert_int_equal(b->hinge.parent, ORR_INERTIAL);
  assert_int_equal(b->hinge.node, 0);
  EXPECT(b->hinge.rotation, 0, 0, 0.6, 0.8);
  unload(&l);
}

static void a_listed_origin_is_not_implied_again(void **state) {
  (void)state;
  struct loaded l =
      load("  bodies:\n    bus: {" RIGID
           ", hinge: {kind: fixed, to: inertial}, nodes: {a: {at: [1, 0, 0]}, origin: {at: [2, 0, 0]}}}\n");
  assert_int_equal(l.d->bodies[0].node_count, 2);
  assert_int_equal(l.d->bodies[0].hinge.node, 1);
  EXPECT(l.d->bodies[0].nodes[1].at, 2, 0, 0);
  unload(&l);
}

static void every_kind_of_hinge_is_read(void **state) {
  (void)state;
  struct loaded l =
      load("  bodies:\n"
           "    late: {" RIGID ", hinge: {kind: fixed, to: bus.origin}}\n"
           "    bus: {" RIGID ", hinge: {kind: free, to: inertial}, nodes: {n: {at: [1, 0, 0]}}}\n"
           "    rev: {" RIGID ", hinge: {kind: revolute, to: bus.n, axis: [0, 3, 4], stiffness: 18.5, damping: [2 N m "
           "s/rad], rest: 30 deg, prescribed: true}}\n"
           "    pri: {" RIGID ", hinge: {kind: prismatic, to: bus.n, axis: [0, 0, -2], stiffness: 3 N/mm}}\n"
           "    cyl: {" RIGID
           ", hinge: {kind: cylindrical, to: rev.origin, axis: [1, 0, 0], stiffness: [1 N m/rad, 2 N/m]}}\n"
           "    uni: {" RIGID ", hinge: {kind: universal, to: bus.n, axes: [[1, 0, 0], [0, 2, 0]]}}\n"
           "    gim: {" RIGID
           ", hinge: {kind: gimbal, to: bus.n, axes: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], damping: [1, 2, 3]}}\n"
           "    bal: {" RIGID ", hinge: {kind: ball, to: bus.n}}\n"
           "    pla: {" RIGID
           ", hinge: {kind: planar, to: bus.n, normal: [0, -1, 0], at: p}, nodes: {p: {at: [0, 0, 1]}}}\n");
  static const enum orr_hinge_kind kinds[] = {ORR_HINGE_FIXED,     ORR_HINGE_FREE,        ORR_HINGE_REVOLUTE,
                                              ORR_HINGE_PRISMATIC, ORR_HINGE_CYLINDRICAL, ORR_HINGE_UNIVERSAL,
                                              ORR_HINGE_GIMBAL,    ORR_HINGE_BALL,        ORR_HINGE_PLANAR};
  static const int parents[] = {1, ORR_INERTIAL, 1, 1, 2, 1, 1, 1, 1};
  assert_int_equal(l.d->body_count, 9);
  for (int i = 0; i < 9; i++) {
    assert_int_equal(l.d->bodies[i].hinge.kind, kinds[i]);
    assert_int_equal(l.d->bodies[i].hinge.parent, parents[i]);
  }
  const struct orr_body_desc *b = l.d->bodies;
  assert_int_equal(b[0].hinge.parent_node, 0);
  assert_int_equal(b[2].hinge.parent_node, 1);
  EXPECT(b[2].hinge.axes[0], 0, 0.6, 0.8);
  EXPECT(b[2].hinge.stiffness, 18.5);
  EXPECT(b[2].hinge.damping, 2);
  EXPECT(b[2].hinge.rest, 3.14159265358979323846 / 6);
  assert_true(b[2].hinge.prescribed);
  assert_false(b[3].hinge.prescribed);
  EXPECT(b[3].hinge.axes[0], 0, 0, -1);
  EXPECT(b[3].hinge.stiffness, 3000);
  EXPECT(b[4].hinge.stiffness, 1, 2);
  EXPECT(b[5].hinge.axes[1], 0, 1, 0);
  EXPECT(b[6].hinge.axes[2], 0, 0, 1);
  EXPECT(b[6].hinge.damping, 1, 2, 3);
  EXPECT(b[8].hinge.axes[0], 0, -1, 0);
  assert_int_equal(b[8].hinge.node, 1);
  unload(&l);
}

static void a_flexible_body_is_what_it_says(void **state) {
  (void)state;
  struct loaded l = load("  bodies:\n"
                         "    wing:\n"
                         "      hinge: {kind: fixed, to: inertial, at: root}\n"
                         "      deformation: linearized\n"
                         "      modes: [{frequency: 2 kHz, damping: 1 %}, {frequency: 3}]\n"
                         "      nodes:\n"
                         "        root: {at: [0, 0, 0], modes: [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}\n"
                         "        tip: {at: [0, 1, 0], mass: 2, com: [0, 0, 1], inertia: [1, 1, 1, 0, 0, 0], modes: "
                         "[[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 1]]}\n");
  const struct orr_body_desc *b = &l.d->bodies[0];
  assert_true(b->flexible);
  assert_int_equal(b->deformation, ORR_DEFORMATION_LINEARIZED);
  assert_int_equal(b->mode_count, 2);
  EXPECT(&b->modes[0].frequency_hz, 2000, 0.01);
  EXPECT(&b->modes[1].frequency_hz, 3, 0);
  assert_null(b->stiffness);
  assert_int_equal(b->node_count, 2); /* none is implied */
  EXPECT(&b->nodes[0].mass, 0);
  EXPECT(&b->nodes[1].mass, 2);
  EXPECT(b->nodes[1].com, 0, 0, 1);
  EXPECT(b->nodes[1].inertia, 1, 1, 1, 0, 0, 0);
  EXPECT(b->nodes[1].modes, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 1);
  unload(&l);
}

static void matrices_stand_in_place_of_modes(void **state) {
  (void)state;
  struct loaded l = load("  bodies:\n"
                         "    b:\n"
                         "      hinge: {kind: fixed, to: inertial}\n"
                         "      stiffness: [[2, 1], [1, 3]]\n"
                         "      damping_matrix: [[0.2, 0], [0, 0.3]]\n"
                         "      nodes:\n"
                         "        origin: {at: [0, 0, 0], mass: 1, modes: [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]]}\n"
                         "        tip: {at: [0, 1, 0], mass: 1, modes: [[0, 0, 0, 0, 0, 1], [0, 0, 0, 2, 0, 0]]}\n");
  const struct orr_body_desc *b = &l.d->bodies[0];
  assert_int_equal(b->mode_count, 2);
  assert_null(b->modes);
  assert_int_equal(b->deformation, ORR_DEFORMATION_FULL);
  EXPECT(b->stiffness, 2, 1, 1, 3);
  EXPECT(b->damping, 0.2, 0, 0, 0.3);
  unload(&l);
}

static void nodes_with_mass_alone_make_a_flexible_body_without_modes(void **state) {
  (void)state;
  struct loaded l = load("  bodies:\n    b:\n      hinge: {kind: free, to: inertial}\n      nodes: {origin: {at: [0, "
                         "0, 0], mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n");
  assert_true(l.d->bodies[0].flexible);
  assert_int_equal(l.d->bodies[0].mode_count, 0);
  assert_null(l.d->bodies[0].nodes[0].modes);
  unload(&l);
}

static void loops_and_gears_are_read(void **state) {
  (void)state;
  struct loaded l = load("  bodies:\n"
                         "    bus: {" RIGID ", hinge: {kind: fixed, to: inertial}, nodes: {n: {at: [0, 0, 1]}}}\n"
                         "    a: {" RIGID ", hinge: {kind: revolute, to: bus.n, axis: [0, 0, 1]}}\n"
                         "    b: {" RIGID ", hinge: {kind: prismatic, to: bus.n, axis: [0, 0, 1]}}\n"
                         "  loops:\n"
                         "    - {between: [a.origin, bus.n], kind: revolute, axis: [0, 0, 5]}\n"
                         "    - {gear: {hinge: a, drives: b, ratio: 2 m/rad, offset: 1 cm}, method: embed}\n");
  assert_int_equal(l.d->loop_count, 2);
  const struct orr_loop_desc *r = &l.d->loops[0], *g = &l.d->loops[1];
  assert_int_equal(r->kind, ORR_LOOP_REVOLUTE);
  assert_int_equal(r->method, ORR_LOOP_AUTO);
  assert_int_equal(r->body[0], 1);
  assert_int_equal(r->body[1], 0);
  assert_int_equal(r->node[1], 1);
  EXPECT(r->axis, 0, 0, 1);
  assert_int_equal(g->kind, ORR_LOOP_GEAR);
  assert_int_equal(g->method, ORR_LOOP_EMBED);
  assert_int_equal(g->body[0], 1);
  assert_int_equal(g->body[1], 2);
  EXPECT(&g->ratio, 2);
  EXPECT(&g->offset, 0.01);
  unload(&l);
}

static void a_part_is_read_with_its_prefix_where_it_hangs(void **state) {
  (void)state;
  static const char ship[] = "orrery: 1\nspacecraft:\n"
                             "  bodies:\n    bus: {" RIGID
                             ", hinge: {kind: free, to: inertial}, nodes: {l: {at: [1, 0, 0]}, r: {at: [-1, 0, 0]}}}\n"
                             "  parts:\n    left: {include: dir/wing.yaml, prefix: l_, to: bus.l}\n    right: "
                             "{include: dir/wing.yaml, prefix: r_, to: bus.r}\n"
                             "    spare: {include: dir/tip.yaml, to: l_panel.end}\n";
  static const char wing[] =
      "bodies:\n"
      "  panel: {" RIGID ", hinge: {kind: revolute, to: mount, axis: [0, 1, 0]}, nodes: {end: {at: [0, 1, 0]}}}\n"
      "parts:\n  outer: {include: tip.yaml, prefix: o_, to: panel.end}\n"
      "loops:\n  - {between: [panel.end, o_tip.origin], kind: distance}\n";
  static const char tip[] =
      "orrery: 1\nbodies:\n  tip: {" RIGID
      ", hinge: {kind: revolute, to: mount, axis: [0, 0, 1], at: q}, nodes: {q: {at: [0, 2, 0]}}}\n";
  const struct orr_text_file files[] = {
      {"ship.yaml", ship, strlen(ship)}, {"dir/wing.yaml", wing, strlen(wing)}, {"dir/tip.yaml", tip, strlen(tip)}};
  struct loaded l = load_files(files, 3);
  static const char *const names[] = {"bus", "l_panel", "l_o_tip", "r_panel", "r_o_tip", "tip"};
  static const int parents[] = {ORR_INERTIAL, 0, 1, 0, 3, 1}, nodes[] = {0, 1, 1, 2, 1, 1};
  assert_int_equal(l.d->body_count, 6);
  for (int i = 0; i < 6; i++) {
    assert_string_equal(l.d->bodies[i].name, names[i]);
    assert_int_equal(l.d->bodies[i].hinge.parent, parents[i]);
    assert_int_equal(l.d->bodies[i].hinge.parent_node, nodes[i]);
    assert_int_equal(orr_config_find_body(l.config, names[i]), i);
  }
  assert_int_equal(l.d->loop_count, 2);
  assert_int_equal(l.d->loops[1].body[0], 3);
  assert_int_equal(l.d->loops[1].body[1], 4);
  assert_int_equal(orr_config_find_body(l.config, "panel"), -1);
  assert_int_equal(orr_config_find_node(l.config, 0, "r"), 2);
  assert_int_equal(orr_config_find_node(l.config, 0, "x"), -1);
  unload(&l);
}

static void a_spacecraft_may_have_a_file_of_its_own(void **state) {
  (void)state;
  static const char run[] = "orrery: 1\nspacecraft: dir/ship.yaml\n";
  static const char ship[] = "orrery: 1\nspacecraft: {bodies: {bus: {" RIGID ", hinge: {kind: free, to: inertial}}}}\n";
  const struct orr_text_file files[] = {{"run.yaml", run, strlen(run)}, {"dir/ship.yaml", ship, strlen(ship)}};
  struct loaded l = load_files(files, 2);
  assert_int_equal(l.d->body_count, 1);
  unload(&l);
}

static void a_second_wing_is_three_lines(void **state) {
  (void)state;
  struct loaded l =
      load("  bodies:\n"
           "    bus: {" RIGID ", hinge: {kind: free, to: inertial}, nodes: {l: {at: [1, 0, 0]}, r: {at: [-1, 0, 0]}}}\n"
           "    left: &wing\n"
           "      mass: 3\n"
           "      inertia: [1, 1, 1, 0, 0, 0]\n"
           "      hinge: &hinge {kind: revolute, to: bus.l, axis: [0, 1, 0]}\n"
           "    right:\n"
           "      <<: *wing\n"
           "      hinge: {<<: *hinge, to: bus.r}\n");
  EXPECT(&l.d->bodies[2].mass, 3);
  assert_int_equal(l.d->bodies[2].hinge.kind, ORR_HINGE_REVOLUTE);
  assert_int_equal(l.d->bodies[1].hinge.parent_node, 1);
  assert_int_equal(l.d->bodies[2].hinge.parent_node, 2);
  unload(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rigid_body_is_what_it_says),
      cmocka_unit_test(a_listed_origin_is_not_implied_again),
      cmocka_unit_test(every_kind_of_hinge_is_read),
      cmocka_unit_test(a_flexible_body_is_what_it_says),
      cmocka_unit_test(matrices_stand_in_place_of_modes),
      cmocka_unit_test(nodes_with_mass_alone_make_a_flexible_body_without_modes),
      cmocka_unit_test(loops_and_gears_are_read),
      cmocka_unit_test(a_part_is_read_with_its_prefix_where_it_hangs),
      cmocka_unit_test(a_spacecraft_may_have_a_file_of_its_own),
      cmocka_unit_test(a_second_wing_is_three_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
