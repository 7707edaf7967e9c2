/* Foreshortened lines: shapes that are cubic along the line, for which the spline is exact, against closed forms and
 * the dense reference. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/model/foreshorten.h"
#include "tests/support/dense.h"
#include "tests/support/prng.h"
#include "tests/support/trial.h"

enum { NODES = 9, MODES = 4 };

/* A body along e: mode r moves x by Σ_k c[r][k] x^k across e (two directions), and by a number along it. */
struct rod {
  struct orr_node_desc nodes[NODES];
  struct orr_curve_desc curves[NODES][MODES * MODES];
  double rows[NODES][6 * MODES], x[NODES], c[MODES][2][4];
  double e[3], across[2][3], stiffness[MODES * MODES];
  struct orr_body_desc body;
};

static void basis(struct orr_prng *p, struct rod *rod) {
  double other[3];
  prng_direction(p, rod->e, 3);
  prng_direction(p, other, 3);
  for (int k = 0; k < 2; k++) {
    const double *a = rod->e, *b = k ? rod->across[0] : other;
    double *out = rod->across[k], size = 0;
    for (int i = 0; i < 3; i++) {
      out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
      size += out[i] * out[i];
    }
    for (int i = 0; i < 3; i++)
      out[i] /= sqrt(size);
  }
}

/* ∫ from x0 to x1 of Σ over both directions of φ_r' φ_s', term by term. */
static double shortening(const struct rod *rod, int r, int s, double x0, double x1) {
  double sum = 0;
  for (int d = 0; d < 2; d++)
    for (int i = 1; i < 4; i++)
      for (int k = 1; k < 4; k++)
        sum += rod->c[r][d][i] * rod->c[s][d][k] * i * k / (i + k - 1) * (pow(x1, i + k - 1) - pow(x0, i + k - 1));
  return sum;
}

static void make_rod(uint64_t seed, int at, bool offsets, bool backwards, struct rod *rod) {
  struct orr_prng p = {seed};
  memset(rod, 0, sizeof *rod);
  basis(&p, rod);
  prng_vector(&p, 0.4, rod->c[0][0], 8 * MODES);
  for (int j = 0; j < NODES; j++) {
    struct orr_node_desc *node = &rod->nodes[j];
    double x = rod->x[j] = (backwards ? -1 : 1) * (0.2 * j + prng_between(&p, 0, 0.1));
    if (j == NODES - 1) /* a second node at the same place */
      x = rod->x[j] = rod->x[j - 1];
    *node = (struct orr_node_desc){.name = "n", .mass = 0.2 + 0.1 * j, .inertia = {0.02, 0.02, 0.02, 0, 0, 0}};
    node->modes = rod->rows[j];
    if (offsets)
      prng_vector(&p, 0.1, node->com, 3);
    for (int i = 0; i < 3; i++)
      node->at[i] = 0.3 + x * rod->e[i];
    for (int r = 0; r < MODES; r++) {
      prng_vector(&p, 0.3, rod->rows[j] + 6 * r, 3);
      for (int i = 0; i < 3; i++) {
        rod->rows[j][6 * r + 3 + i] = 0.05 * x * rod->e[i];
        for (int d = 0; d < 2; d++)
          for (int k = 0; k < 4; k++)
            rod->rows[j][6 * r + 3 + i] += rod->c[r][d][k] * pow(x, k) * rod->across[d][i];
      }
    }
  }
  for (int i = 0; i < MODES; i++)
    rod->stiffness[i * MODES + i] = 20;
  rod->body = (struct orr_body_desc){.name = "rod",
                                     .flexible = true,
                                     .stiffening = true,
                                     .mode_count = MODES,
                                     .stiffness = rod->stiffness,
                                     .node_count = NODES,
                                     .nodes = rod->nodes};
  rod->body.hinge.node = at;
}

/* The same, with its second-order shapes from the closed form. */
static void write_out(struct rod *rod) {
  for (int j = 0; j < NODES; j++) {
    size_t count = 0;
    for (size_t r = 0; r < MODES; r++)
      for (size_t s = 0; s <= r; s++, count++) {
        struct orr_curve_desc *c = &rod->curves[j][count];
        *c = (struct orr_curve_desc){.r = r, .s = s};
        /* towards the hinge's node, on whichever side of it */
        double h = shortening(rod, (int)r, (int)s, rod->x[rod->body.hinge.node], rod->x[j]);
        for (int i = 0; i < 3; i++)
          c->g[i] = -h * rod->e[i];
      }
    rod->nodes[j].curves = rod->curves[j];
    rod->nodes[j].curve_count = count;
  }
}

/* A hub on a free hinge, the rod on a revolute one, and a weight at a node of the rod. */
static struct orr_sample *craft(const struct rod *rod, uint64_t seed) {
  static const struct orr_node_desc origin = {.name = "origin"};
  struct orr_prng p = {seed};
  struct orr_body_desc bodies[3] = {
      {.name = "hub", .mass = 3, .inertia = {1, 2, 2, 0, 0, 0}, .node_count = 1, .nodes = &origin},
      rod->body,
      {.name = "weight", .mass = 0.5, .inertia = {0.1, 0.1, 0.1, 0, 0, 0}, .node_count = 1, .nodes = &origin}};
  bodies[0].hinge = (struct orr_hinge_desc){.kind = ORR_HINGE_FREE, .parent = ORR_INERTIAL, .rotation = {0, 0, 0, 1}};
  for (int i = 1; i < 3; i++) {
    struct orr_hinge_desc *h = &bodies[i].hinge;
    *h = (struct orr_hinge_desc){
        .kind = ORR_HINGE_REVOLUTE, .parent = i - 1, .node = h->node, .rotation = {0.6, 0, 0, 0.8}};
    prng_direction(&p, h->axes[0], 3);
  }
  bodies[2].hinge.parent_node = (int)(seed % NODES);
  struct orr_sample *s = orr_sample_of(bodies, 3);
  prng_vector(&p, 1, s->u, s->u_count);
  prng_vector(&p, 1, s->force, s->u_count);
  prng_vector(&p, 0.02, s->q + s->q_at[1], MODES);
  s->q[6] = 1;
  return s;
}

static void a_line_is_shortened_as_the_closed_form_says(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct rod rod;
    double have[NODES * MODES * MODES], largest = 0, gap = 0;
    int at = (int)(seed % NODES);
    make_rod(seed, at, false, seed % 2, &rod);
    struct orr_spine line = orr_spine_find(&rod.body);
    assert_int_equal(line.fault, ORR_SPINE_OK);
    struct orr_block ledger = {0};
    orr_foreshorten_layout(&rod.body, &ledger);
    void *memory = aligned_alloc(64, ledger.used);
    assert_non_null(memory);
    ledger = (struct orr_block){.base = memory, .size = ledger.used};
    struct orr_foreshorten scratch = orr_foreshorten_layout(&rod.body, &ledger);
    orr_foreshorten(&rod.body, &line, &scratch, have);
    double sign = v3_dot(line.along, v3_from(rod.e)) > 0 ? 1 : -1; /* along the order of the nodes */
    for (int j = 0; j < NODES; j++)
      for (int r = 0; r < MODES; r++)
        for (int s = 0; s < MODES; s++) {
          double want = sign * shortening(&rod, r, s, rod.x[at], rod.x[j]);
          largest = fmax(largest, fabs(want));
          gap = fmax(gap, fabs(have[(j * MODES + r) * MODES + s] - want));
        }
    orr_expect_below(gap / largest, 1e-12, "h", seed);
    free(memory);
  }
}

static void a_line_moves_as_the_dense_reference_with_its_shapes_written_out(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct rod rod;
    make_rod(seed, (int)(seed / 4 % NODES), seed % 3 == 1, seed % 2, &rod);
    struct orr_sample *line = craft(&rod, seed);
    write_out(&rod);
    struct orr_sample *written = craft(&rod, seed);
    struct orr_trial trial = orr_trial_make(line, 0);
    struct orr_dense *dense = orr_dense_make(written);
    double want[16];
    assert_true(trial.model->modals[0].line && trial.model->modals[0].straight == (seed % 3 != 1));
    assert_true(orr_dense_forward(dense, want, NULL));
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    orr_expect_below(orr_gap_bodies(line, trial.accel, want), 1e-11, "acceleration", seed);
    orr_dense_free(dense);
    orr_trial_free(&trial);
    orr_sample_free(line);
    orr_sample_free(written);
  }
}

static void few_nodes_take_a_chord_or_a_parabola(void **state) {
  (void)state;
  for (int count = 2; count <= 3; count++) {
    struct rod rod;
    make_rod(7, 0, false, false, &rod);
    for (int d = 0; d < 2; d++)
      for (int r = 0; r < MODES; r++)
        rod.c[r][d][3] = rod.c[r][d][2] = 0;
    rod.body.node_count = (size_t)count;
    for (int j = 0; j < count; j++)
      for (int r = 0; r < MODES; r++)
        for (int i = 0; i < 3; i++) {
          rod.rows[j][6 * r + 3 + i] = 0;
          for (int d = 0; d < 2; d++)
            rod.rows[j][6 * r + 3 + i] += rod.c[r][d][1] * rod.x[j] * rod.across[d][i];
        }
    double have[NODES * MODES * MODES], memory[2048];
    struct orr_block ledger = {.base = (char *)memory, .size = sizeof memory};
    struct orr_foreshorten scratch = orr_foreshorten_layout(&rod.body, &ledger);
    struct orr_spine line = orr_spine_find(&rod.body);
    orr_foreshorten(&rod.body, &line, &scratch, have);
    for (int j = 0; j < count; j++)
      orr_expect_below(fabs(have[(j * MODES + 1) * MODES + 2] - shortening(&rod, 1, 2, rod.x[0], rod.x[j])), 1e-14, "h",
                       (uint64_t)count);
  }
}

static void what_is_no_line_is_told(void **state) {
  (void)state;
  struct rod rod;
  make_rod(3, 0, false, false, &rod);
  for (int i = 0; i < 3; i++)
    rod.nodes[4].at[i] += 0.01 * rod.across[0][i];
  struct orr_spine line = orr_spine_find(&rod.body);
  assert_int_equal(line.fault, ORR_SPINE_OFF);
  assert_int_equal(line.node, 4);
  assert_true(fabs(line.off - 0.01) < 1e-12);
  make_rod(3, 0, false, false, &rod);
  struct orr_node_desc swapped = rod.nodes[3];
  rod.nodes[3] = rod.nodes[4];
  rod.nodes[4] = swapped;
  line = orr_spine_find(&rod.body);
  assert_int_equal(line.fault, ORR_SPINE_ORDER);
  assert_int_equal(line.node, 4);
  make_rod(3, 0, false, false, &rod);
  rod.rows[NODES - 1][3] += 0.01, rod.rows[NODES - 1][4] += 0.01, rod.rows[NODES - 1][5] -= 0.02;
  line = orr_spine_find(&rod.body);
  assert_int_equal(line.fault, ORR_SPINE_TWICE);
  assert_int_equal(line.node, NODES - 1);
  for (int j = 0; j < NODES; j++)
    memset(rod.nodes[j].at, 0, sizeof rod.nodes[j].at);
  assert_int_equal(orr_spine_find(&rod.body).fault, ORR_SPINE_POINT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_is_shortened_as_the_closed_form_says),
      cmocka_unit_test(a_line_moves_as_the_dense_reference_with_its_shapes_written_out),
      cmocka_unit_test(few_nodes_take_a_chord_or_a_parabola),
      cmocka_unit_test(what_is_no_line_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
