/* The geometry of closed loops, their assembly, and the pivoted factor beneath both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/loops/assemble.h"
#include "core/loops/loop_motion.h"
#include "core/math/bordered.h"
#include "tests/support/loops.h"
#include "tests/support/prng.h"
#include "tests/support/trial.h"

/* ---- pivot ------------------------------------------------------------------------------------------------- */

/* Random rows of which the last `dependent` are combinations of those before. */
static struct orr_pivot random_rows(uint64_t seed, int rows, int columns, int dependent, void **memory, double *copy) {
  struct orr_block block = {0};
  struct orr_pivot p;
  orr_pivot_layout(&p, rows, columns, &block);
  *memory = aligned_alloc(ORR_ALIGNMENT, block.used);
  block = (struct orr_block){.base = *memory, .size = block.used};
  orr_pivot_layout(&p, rows, columns, &block);
  struct orr_prng rng = {seed};
  for (int r = 0; r < rows; r++) {
    double *row = p.a + r * p.width;
    for (int c = 0; c < columns && r < rows - dependent; c++)
      row[c] = prng_between(&rng, -1, 1);
    for (int b = 0; b < rows - dependent && r >= rows - dependent; b++) {
      double k = prng_between(&rng, -1, 1);
      for (int c = 0; c < columns; c++)
        row[c] += k * p.a[b * p.width + c];
    }
    p.gross[r] = sqrt((double)columns);
  }
  memcpy(copy, p.a, sizeof *copy * (size_t)rows * (size_t)p.width);
  return p;
}

static void pivot_finds_the_rank_and_what_vanishes(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    int rows = 3 + (int)(seed % 6), columns = rows + (int)(seed % 5), dependent = (int)(seed % 3);
    double a[9 * 16], v[9], x[16], b[9] = {0};
    void *memory;
    struct orr_pivot p = random_rows(seed, rows, columns, dependent, &memory, a);
    orr_pivot_factor(&p, 1e-8);
    assert_int_equal(p.rank, rows - dependent);
    for (int n = 0; n < dependent; n++) {
      double worst = 0;
      orr_pivot_null(&p, n, v);
      for (int c = 0; c < columns; c++) {
        double sum = 0;
        for (int r = 0; r < rows; r++)
          sum += v[r] * a[r * p.width + c];
        worst = fmax(worst, fabs(sum));
      }
      orr_expect_below(worst, 1e-13, "vanishing combination", seed);
    }
    for (int r = 0; r < rows; r++) /* a consistent right side */
      for (int c = 0; c < columns; c++)
        b[r] += a[r * p.width + c] * (c + 1);
    orr_pivot_smallest(&p, b, x);
    double worst = 0, size = 0, longest = 0;
    for (int r = 0; r < rows; r++) {
      double sum = -b[r];
      for (int c = 0; c < columns; c++)
        sum += a[r * p.width + c] * x[c];
      worst = fmax(worst, fabs(sum));
    }
    for (int c = 0; c < columns; c++) {
      size += x[c] * x[c];
      longest += (c + 1) * (c + 1);
    }
    orr_expect_below(worst, 1e-11, "A x = b", seed);
    assert_true(size <= longest * (1 + 1e-12));
    free(memory);
  }
}

static void pivot_solves_the_normal_equations(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    double a[6 * 12], b[6], x[6];
    void *memory;
    struct orr_pivot p = random_rows(seed, 6, 10, 0, &memory, a);
    for (int r = 0; r < 6; r++)
      b[r] = r + 1;
    orr_pivot_factor(&p, 1e-8);
    orr_pivot_solve(&p, b, x);
    double worst = 0;
    for (int r = 0; r < 6; r++) {
      double sum = -b[r];
      for (int s = 0; s < 6; s++)
        for (int c = 0; c < 10; c++)
          sum += a[r * p.width + c] * a[s * p.width + c] * x[s];
      worst = fmax(worst, fabs(sum));
    }
    orr_expect_below(worst, 1e-11, "A Aᵀ x = b", seed);
    free(memory);
  }
}

/* Groups of rows with columns of their own and `common` ones, which are `heavy` times as large; the same rows in y
 * [rows][width] as one matrix. Of some rows the own columns are nearly those of the group's first; one row may repeat
 * that altogether. */
struct groups {
  struct orr_bordered b;
  void *memory;
  double *y;
  int width;
  bool repeats;
};

static struct groups random_groups(uint64_t seed) {
  struct groups c = {.repeats = seed % 5 == 4};
  struct orr_prng rng = {seed};
  int rows[6], columns[6], groups = 2 + (int)(seed % 5), common = (int)(seed % 4) * 3;
  double heavy = pow(10, prng_between(&rng, -3, 3));
  c.width = common;
  for (int g = 0; g < groups; g++) {
    rows[g] = 2 + (int)((seed + (uint64_t)g) % 4);
    columns[g] = rows[g] + (int)((seed + 2 * (uint64_t)g) % 3);
    c.width += columns[g];
  }
  struct orr_block block = {0};
  orr_bordered_layout(&c.b, groups, rows, columns, common, &block);
  c.memory = aligned_alloc(ORR_ALIGNMENT, block.used);
  block = (struct orr_block){.base = c.memory, .size = block.used};
  orr_bordered_layout(&c.b, groups, rows, columns, common, &block);
  for (int r = c.b.rows - 1, g = 0; r >= 0; g = (g + 1) % groups) /* the groups' rows by turns */
    if (c.b.assigned[g] < rows[g])
      orr_bordered_assign(&c.b, r--, g);
  c.y = orr_vector_make(c.b.rows * c.width);
  orr_bordered_clear(&c.b);
  for (int g = 0, at = common; g < groups; at += columns[g++])
    for (int k = 0; k < rows[g]; k++) {
      int r = c.b.row[c.b.begin[g] + k], first = c.b.row[c.b.begin[g]];
      bool weak = common >= 2 * groups && k == rows[g] - 1, repeats = c.repeats && g == 0 && k == 1;
      double *y = c.y + r * c.width, size = 0;
      for (int i = 0; i < columns[g]; i++)
        y[at + i] = weak ? c.y[first * c.width + at + i] + prng_between(&rng, -1e-6, 1e-6) : prng_between(&rng, -1, 1);
      for (int i = 0; i < common; i++)
        y[i] = heavy * prng_between(&rng, -1, 1);
      if (repeats)
        memcpy(y, c.y + first * c.width, sizeof *y * (size_t)c.width);
      memcpy(orr_bordered_own(&c.b, r), y + at, sizeof *y * (size_t)columns[g]);
      memcpy(orr_bordered_common(&c.b, r), y, sizeof *y * (size_t)common);
      for (int i = 0; i < c.width; i++)
        size += y[i] * y[i];
      *orr_bordered_gross(&c.b, r) = sqrt(size);
    }
  return c;
}

/* What Y Yᵀ x misses of b, over the size of what is summed. */
static double misses(const struct groups *c, const double *b, const double *x) {
  double *at = orr_vector_make(c->width), *most = orr_vector_make(c->width), worst = 0;
  for (int r = 0; r < c->b.rows; r++)
    for (int i = 0; i < c->width; i++) {
      at[i] += c->y[r * c->width + i] * x[r];
      most[i] += fabs(c->y[r * c->width + i] * x[r]);
    }
  for (int r = 0; r < c->b.rows; r++) {
    double sum = -b[r], terms = fabs(b[r]);
    for (int i = 0; i < c->width; i++) {
      sum += c->y[r * c->width + i] * at[i];
      terms += fabs(c->y[r * c->width + i]) * most[i];
    }
    worst = fmax(worst, fabs(sum) / terms);
  }
  free(at), free(most);
  return worst;
}

static void groups_with_common_columns_are_solved_together(void **state) {
  (void)state;
  int put_off = 0;
  for (uint64_t seed = 0; seed < 120; seed++) {
    struct groups c = random_groups(seed);
    double *b = orr_vector_make(c.b.rows), *x = orr_vector_make(c.b.rows);
    for (int r = 0; r < c.b.rows; r++) /* a consistent right side */
      for (int i = 0; i < c.width; i++)
        b[r] += c.y[r * c.width + i] * sin(i + 1.0);
    orr_bordered_factor(&c.b, 1e-12);
    assert_int_equal(c.b.rank, c.b.rows - c.repeats);
    put_off += c.b.put_off > c.repeats;
    orr_bordered_solve(&c.b, b, x);
    orr_expect_below(misses(&c, b, x), 1e-12, "Y Yᵀ x = b", seed);
    free(b), free(x), free(c.y), free(c.memory);
  }
  assert_in_range(put_off, 20, 100);
}

/* ---- G ----------------------------------------------------------------------------------------------------- */

/* Central differences of φ about the placed q against G. */
static double jacobian_gap(struct orr_mechanism_trial *t) {
  struct orr_loops *l = t->loops;
  const double h = 1e-5;
  int m = l->row_count, n = l->column_count, count = t->trial.model->q_count;
  double *g = orr_vector_make(m * n), *q = orr_vector_make(count), *step = orr_vector_make(n + 4),
         *phi = orr_vector_make(m), worst = 0;
  orr_loops_jacobian(l);
  for (int r = 0; r < m; r++)
    memcpy(g + r * n, l->g.a + r * l->g.width, sizeof *g * (size_t)n);
  for (int c = 0; c < n; c++) {
    for (int side = 0; side < 2; side++) {
      memcpy(q, t->q, sizeof *q * (size_t)count);
      step[c] = side ? -h : h;
      orr_loops_move(l, step, q);
      orr_loops_place(l, t->trial.ws, q);
      if (side == 0)
        memcpy(phi, l->residual, sizeof *phi * (size_t)m);
    }
    step[c] = 0;
    for (int r = 0; r < m; r++)
      worst = fmax(worst, fabs((phi[r] - l->residual[r]) / (2 * h) - g[r * n + c]));
  }
  free(g);
  free(q);
  free(step);
  free(phi);
  return worst;
}

static void rows_are_the_derivative_of_closed_loops(void **state) {
  (void)state;
  int closed = 0;
  for (uint64_t seed = 0; seed < 120; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 3 + (int)(seed % 6));
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_loop_desc loops[2];
    s->description.loops = loops;
    s->description.loop_count = orr_random_loops(s, seed, 2, loops);
    struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
    if (orr_mechanism_trial_assemble(&t).closed) {
      closed++;
      orr_expect_below(jacobian_gap(&t), 1e-8, "G", seed);
      for (int c = 0; c < t.loops->column_count; c++) /* and of loops that are a little open */
        t.loops->step[c] = 1e-4 * sin(c + (double)seed);
      orr_loops_move(t.loops, t.loops->step, t.q);
      orr_loops_place(t.loops, t.trial.ws, t.q);
      orr_expect_below(jacobian_gap(&t), 1e-6, "G of an open loop", seed);
    }
    orr_mechanism_trial_free(&t);
    orr_sample_free(s);
  }
  assert_in_range(closed, 60, 120);
}

/* ---- φ̈ ----------------------------------------------------------------------------------------------------- */

/* φ̈ is the rate of G u along the motion, wherever the loops are; of angles far from closed G is that of a plain turn.
 */
static void accelerations_of_open_loops_are_rates_of_g_u(void **state) {
  (void)state;
  const double h = 1e-5;
  for (uint64_t seed = 0; seed < 80; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 3 + (int)(seed % 6));
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_loop_desc loops[2];
    s->description.loops = loops;
    s->description.loop_count = orr_random_loops(s, seed, 2, loops);
    static const enum orr_loop_kind kinds[] = {ORR_LOOP_POINT, ORR_LOOP_DISTANCE, ORR_LOOP_WELD, ORR_LOOP_REVOLUTE};
    for (size_t i = 0; i < s->description.loop_count; i++) {
      if (loops[i].kind != ORR_LOOP_GEAR)
        loops[i].kind = kinds[seed % 4];
      loops[i].axis[0] = loops[i].kind == ORR_LOOP_REVOLUTE, loops[i].axis[1] = loops[i].axis[2] = 0;
    }
    struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
    if (seed % 8 > 3 && orr_mechanism_trial_assemble(&t).closed) { /* angles a little open */
      memcpy(s->q, t.q, sizeof *t.q * (size_t)s->q_count);
      for (int i = 0; i < t.loops->column_count; i++)
        t.loops->step[i] = 1e-2 * sin(i + (double)seed);
      orr_loops_move(t.loops, t.loops->step, s->q);
      orr_mechanism_trial_free(&t);
      t = orr_mechanism_trial_make(s);
    }
    double *q = orr_vector_make(s->q_count), *u = orr_vector_make(s->u_count), *rate[2], phi[6];
    assert_int_equal(orr_trial_forward(&t.trial), ORR_OK);
    orr_limbs_complete(t.trial.model, t.trial.ws);
    for (int i = 0; i < 2; i++) {
      rate[i] = orr_vector_make(t.loops->row_count);
      orr_sample_along(s, t.trial.accel, i ? -h : h, q, u);
      orr_loops_place(t.loops, t.trial.ws, q);
      orr_loops_jacobian(t.loops);
      orr_loops_velocity(t.loops, u, rate[i]);
    }
    orr_loops_place(t.loops, t.trial.ws, s->q);
    for (int i = 0; i < t.loops->count; i++) {
      const struct orr_loop *loop = &t.loops->loops[i];
      orr_loop_acceleration(t.loops, t.trial.ws, i, t.trial.accel, phi);
      for (int r = 0; r < loop->rows; r++) {
        double want = (rate[0][loop->row + r] - rate[1][loop->row + r]) / (2 * h);
        orr_expect_below(fabs(phi[r] - want) / (1 + fabs(want)), 1e-6, "acceleration of an equation", seed);
      }
    }
    free(q), free(u), free(rate[0]), free(rate[1]);
    orr_mechanism_trial_free(&t);
    orr_sample_free(s);
  }
}

/* ---- assembly ---------------------------------------------------------------------------------------------- */

static void four_bar_closes_and_has_two_independent_equations(void **state) {
  (void)state;
  struct orr_sample *s = orr_four_bar(0.4, 1.1, 0.8, 1.2);
  struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
  struct orr_assembly a = orr_mechanism_trial_assemble(&t);
  int redundant;
  assert_true(a.closed);
  assert_false(a.modes || a.prescribed);
  assert_int_equal(orr_loops_rank(t.loops, t.trial.ws, NULL, &redundant), 2);
  assert_int_equal(redundant, 1);
  assert_true(orr_loop_gap(t.loops, 0).metres < 1e-12);
  orr_mechanism_trial_free(&t);
  orr_sample_free(s);
}

static void a_loop_that_cannot_reach_keeps_its_gap(void **state) {
  (void)state;
  struct orr_sample *s = orr_four_bar(0.4, 1.1, 3.8, 1.2);
  struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
  assert_false(orr_mechanism_trial_assemble(&t).closed);
  orr_expect_below(fabs(orr_loop_gap(t.loops, 0).metres - 1.1), 1e-6, "the rocker is 3.8 − 1.2 − 0.4 − 1.1 too long",
                   0);
  orr_mechanism_trial_free(&t);
  orr_sample_free(s);
}

/* With the crank held, two hinges have two equations; with the coupler's held too, one is left over. */
static void held_hinges_count_in_the_rank(void **state) {
  (void)state;
  struct orr_sample *s = orr_four_bar(0.4, 1.1, 0.8, 1.2);
  struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
  orr_mechanism_trial_assemble(&t);
  orr_prescribe(t.trial.ws, 1, true);
  assert_int_equal(orr_loops_rank(t.loops, t.trial.ws, NULL, NULL), 2);
  orr_prescribe(t.trial.ws, 2, true);
  assert_int_equal(orr_loops_rank(t.loops, t.trial.ws, NULL, NULL), 1);
  orr_mechanism_trial_free(&t);
  orr_sample_free(s);
}

/* Folded flat, all four bars on a line, the two equations say the same. */
static void a_flat_four_bar_loses_an_equation(void **state) {
  (void)state;
  struct orr_sample *s = orr_four_bar(0.5, 1.0, 0.3, 1.2); /* 0.5 + 1.0 = 1.2 + 0.3 */
  struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
  orr_loops_place(t.loops, t.trial.ws, t.q);
  orr_expect_below(orr_loop_gap(t.loops, 0).metres, 1e-15, "gap", 1);
  orr_loops_jacobian(t.loops);
  assert_int_equal(orr_loops_rank(t.loops, t.trial.ws, NULL, NULL), 1);
  orr_mechanism_trial_free(&t);
  orr_sample_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pivot_finds_the_rank_and_what_vanishes),
      cmocka_unit_test(pivot_solves_the_normal_equations),
      cmocka_unit_test(groups_with_common_columns_are_solved_together),
      cmocka_unit_test(rows_are_the_derivative_of_closed_loops),
      cmocka_unit_test(accelerations_of_open_loops_are_rates_of_g_u),
      cmocka_unit_test(four_bar_closes_and_has_two_independent_equations),
      cmocka_unit_test(a_loop_that_cannot_reach_keeps_its_gap),
      cmocka_unit_test(held_hinges_count_in_the_rank),
      cmocka_unit_test(a_flat_four_bar_loses_an_equation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
