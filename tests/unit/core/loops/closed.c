/* Forward dynamics with closed loops: both methods against the equations themselves, each other and textbooks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/loops/loop_motion.h"
#include "core/tree/articulated.h"
#include "core/tree/compliance.h"
#include "core/tree/energy.h"
#include "tests/support/dense.h"
#include "tests/support/loops.h"
#include "tests/support/sanitized.h"

/* ---- random mechanisms ------------------------------------------------------------------------------------- */

/* A random sample with one to three random loops, assembled and moving; false if these do not fit together. */
struct random_case {
  struct orr_sample *sample;
  struct orr_loop_desc loops[8];
  struct orr_mechanism_trial t;
};

static bool make_case(struct random_case *c, uint64_t seed) {
  struct orr_sample_options o = orr_sample_default(seed, 3 + (int)(seed % 8));
  c->sample = orr_sample_make(&o);
  c->sample->description.loops = c->loops;
  c->sample->description.loop_count = orr_random_loops(c->sample, seed, 1 + seed % 3, c->loops);
  c->t = orr_mechanism_trial_make(c->sample);
  return orr_mechanism_trial_fit(&c->t);
}

static void free_case(struct random_case *c) {
  orr_mechanism_trial_free(&c->t);
  orr_sample_free(c->sample);
}

/* φ̈ as the rate of G u along the motion. */
static double tears_open(struct orr_mechanism_trial *t) {
  const struct orr_sample *s = t->trial.sample;
  struct orr_loops *l = t->loops;
  const double h = 1e-5;
  double *q = orr_vector_make(s->q_count), *u = orr_vector_make(s->u_count), *rate[2], most = 0;
  for (int i = 0; i < 2; i++) {
    rate[i] = orr_vector_make(l->row_count);
    orr_sample_along(s, t->accel, i ? -h : h, q, u);
    orr_loops_place(l, t->trial.ws, q);
    orr_loops_jacobian(l);
    orr_loops_velocity(l, u, rate[i]);
  }
  double scale = 1;
  for (int i = 0; i < s->u_count; i++)
    scale = fmax(scale, fabs(t->accel[i]));
  for (int r = 0; r < l->row_count; r++)
    most = fmax(most, fabs(rate[0][r] - rate[1][r]) / (2 * h * scale));
  orr_loops_place(l, t->trial.ws, s->q);
  orr_loops_jacobian(l);
  free(q), free(u), free(rate[0]), free(rate[1]);
  return most;
}

/* What inverse dynamics of the dense reference asks for, less what actuators and multipliers supply: free coordinates
 * only. */
static double unbalanced(struct orr_mechanism_trial *t) {
  const struct orr_sample *s = t->trial.sample;
  const struct orr_loops *l = t->loops;
  double *need = orr_vector_make(s->u_count), most = 0, scale = 1;
  struct orr_dense *dense = orr_dense_make(s);
  orr_dense_inverse(dense, t->accel, need);
  for (int i = 0; i < s->u_count; i++)
    scale = fmax(scale, fabs(need[i]));
  for (int i = 0; i < s->u_count; i++)
    need[i] -= s->force[i];
  for (int r = 0; r < l->row_count; r++)
    for (int c = 0; c < l->column_count; c++)
      need[l->column_u[c]] -= t->closed->lambda[r] * l->g.a[r * l->g.width + c];
  for (int i = 0; i < (int)s->description.body_count; i++) {
    int from = s->u_at[i], hinge = orr_sample_hinge_u(s, i);
    int to = s->bodies[i].hinge.prescribed ? hinge : hinge + orr_sample_speeds(s->bodies[i].hinge.kind);
    for (int k = from; k < to; k++)
      most = fmax(most, isfinite(need[k]) ? fabs(need[k]) : HUGE_VAL);
  }
  orr_dense_free(dense);
  free(need);
  return most / scale;
}

/* Closing may bend a body with shapes of second order so far that its mass matrix is none; the dense one says so. */
static bool has_a_mass_matrix(const struct orr_sample *s) {
  double log_det;
  struct orr_dense *dense = orr_dense_make(s);
  bool has = orr_dense_log_det(dense, &log_det);
  orr_dense_free(dense);
  return has;
}

static void accelerations_and_multipliers_satisfy_the_equations(void **state) {
  (void)state;
  int solved = 0;
  for (uint64_t seed = 0; seed < ORR_SHARE(150); seed++) {
    struct random_case c;
    bool fits = make_case(&c, seed);
    for (int method = ORR_LOOP_EMBED; fits && method <= ORR_LOOP_AUGMENT; method++) {
      orr_mechanism_trial_solver(&c.t, (enum orr_loop_method)method);
      enum orr_status status = orr_mechanism_trial_forward(&c.t);
      if (status == ORR_ERROR_LOOP_CONFLICT || (status == ORR_ERROR_SINGULAR && !has_a_mass_matrix(c.sample)))
        continue;
      assert_int_equal(status, ORR_OK);
      solved++;
      orr_expect_below(tears_open(&c.t), 1e-6, "the rate of G u", seed);
      orr_expect_below(unbalanced(&c.t), 1e-9, "M u̇ + C − τ − Gᵀ λ", seed);
    }
    free_case(&c);
  }
  assert_in_range(solved, ORR_SHARE(120), ORR_SHARE(300));
}

/* Eight bars and points between any bodies of 30, so that rows have the bodies near the base in common. */
static bool make_web(struct random_case *c, uint64_t seed) {
  struct orr_sample_options o = orr_sample_default(seed, 30);
  o.reach = 0;
  o.prescribed = o.roots = 0;
  c->sample = orr_sample_make(&o);
  c->sample->description.loops = c->loops;
  c->sample->description.loop_count = orr_random_loops(c->sample, seed, 8, c->loops);
  for (size_t i = 0; i < c->sample->description.loop_count; i++)
    c->loops[i].kind = i % 4 ? ORR_LOOP_DISTANCE : ORR_LOOP_POINT;
  c->t = orr_mechanism_trial_make(c->sample);
  return orr_mechanism_trial_fit(&c->t);
}

static void webs_of_loops_satisfy_the_equations(void **state) {
  (void)state;
  int solved = 0, shared = 0, put_off = 0;
  for (uint64_t seed = 0; seed < ORR_SHARE(60); seed++) {
    struct random_case c;
    bool fits = make_web(&c, seed);
    if (fits)
      orr_mechanism_trial_solver(&c.t, ORR_LOOP_AUGMENT);
    if (fits && orr_mechanism_trial_forward(&c.t) == ORR_OK) {
      solved++;
      shared += c.t.closed->augment.y.common > 0;
      put_off += c.t.closed->augment.y.put_off > 0;
      orr_expect_below(tears_open(&c.t), 1e-6, "the rate of G u", seed);
      orr_expect_below(unbalanced(&c.t), 1e-9, "M u̇ + C − τ − Gᵀ λ", seed);
    }
    free_case(&c);
  }
  printf("# webs: %d solved, of which %d with common columns and %d with rows put off\n", solved, shared, put_off);
  assert_in_range(solved, ORR_SHARE(30), ORR_SHARE(60));
  assert_in_range(shared, ORR_SHARE(10), ORR_SHARE(60));
  assert_in_range(put_off, ORR_SANITIZED ? 1 : 3, ORR_SHARE(60));
}

/* Accelerations, hinge forces and efforts of the two methods; forces that redundancy leaves open are left out. */
static double method_gap(struct orr_mechanism_trial *a, struct orr_mechanism_trial *b) {
  const struct orr_sample *s = a->trial.sample;
  int n = (int)s->description.body_count, loops = a->loops->count;
  bool *open = calloc((size_t)(loops + 2 * n), sizeof *open);
  double gap = orr_gap_bodies(s, a->accel, b->accel), most[2] = {0, 0}, scale[2] = {1e-3, 1e-3};
  orr_loops_rank(a->loops, a->trial.ws, NULL, NULL);
  orr_loops_undetermined(a->loops, open, open + loops, open + loops + n);
  for (int i = 0; i < n; i++) {
    double f[2][6];
    sp_to(f[0], orr_hinge_force(a->trial.model, a->trial.ws, i));
    sp_to(f[1], orr_hinge_force(b->trial.model, b->trial.ws, i));
    for (int k = 0; k < 6 && !open[loops + i]; k++) {
      most[k / 3] = fmax(most[k / 3], fabs(f[0][k] - f[1][k]));
      scale[k / 3] = fmax(scale[k / 3], fabs(f[1][k]));
    }
  }
  free(open);
  return fmax(gap, fmax(most[0] / scale[0], most[1] / scale[1]));
}

static void copy_gears(struct orr_workspace *to, const struct orr_workspace *from) {
  size_t speeds = sizeof(double) * (size_t)from->model->u_count;
  memcpy(to->hinge_inertia, from->hinge_inertia, speeds);
  memcpy(to->hinge_spin, from->hinge_spin, speeds);
  memcpy(to->laden, from->laden, sizeof(bool) * (size_t)from->model->body_count);
  to->laden_count = from->laden_count;
}

/* The two methods on one sample whose state is t's; false when the posture has no solution. */
static bool methods_agree(struct orr_mechanism_trial *t, const char *what, uint64_t seed) {
  const struct orr_sample *s = t->trial.sample;
  struct orr_mechanism_trial other = orr_mechanism_trial_make(s);
  memcpy(other.q, t->q, sizeof *other.q * (size_t)s->q_count);
  memcpy(other.u, t->u, sizeof *other.u * (size_t)s->u_count);
  for (int i = 0; i < t->loops->count; i++)
    other.loops->loops[i].distance = t->loops->loops[i].distance;
  copy_gears(other.trial.ws, t->trial.ws);
  other.trial.ws->implicit_s = t->trial.ws->implicit_s;
  orr_mechanism_trial_solver(t, ORR_LOOP_EMBED);
  orr_mechanism_trial_solver(&other, ORR_LOOP_AUGMENT);
  bool solved = orr_mechanism_trial_forward(t) == ORR_OK && orr_mechanism_trial_forward(&other) == ORR_OK;
  if (solved)
    orr_expect_below(method_gap(t, &other), 1e-9, what, seed);
  orr_mechanism_trial_free(&other);
  return solved;
}

static void embedding_agrees_with_augmentation(void **state) {
  (void)state;
  int compared = 0;
  for (uint64_t seed = 0; seed < ORR_SHARE(150); seed++) {
    struct random_case c;
    if (make_case(&c, seed)) {
      if (seed % 3 == 1) /* geared rotors and an implicit step stand in D as well */
        for (int i = 0; i < (int)c.sample->description.body_count; i++)
          if (orr_sample_speeds(c.sample->bodies[i].hinge.kind) == 1)
            orr_rotor_gear(c.t.trial.ws, i, 0, 3, 0.1);
      c.t.trial.ws->implicit_s = seed % 3 == 2 ? 0.01 : 0;
      compared += methods_agree(&c.t, "embed against augment", seed);
    }
    free_case(&c);
  }
  assert_in_range(compared, ORR_SHARE(60), ORR_SHARE(150));
}

/* Loads of all kinds on a textbook mechanism, and speeds that fit. */
static bool load_mechanism(struct orr_mechanism_trial *t, uint64_t seed) {
  const struct orr_sample *s = t->trial.sample;
  for (int i = 0; i < s->u_count; i++) {
    s->force[i] = sin(3.0 * i + (double)seed);
    t->u[i] = cos(1.7 * i + (double)seed);
  }
  return orr_mechanism_trial_fit(t);
}

static void linkages_and_gear_trains_agree_by_both_methods(void **state) {
  (void)state;
  int compared[3] = {0, 0, 0};
  for (uint64_t seed = 0; seed < ORR_SHARE(40); seed++) {
    double x = sin((double)seed), y = cos(2.0 * (double)seed);
    struct orr_sample *s[3] = {
        orr_four_bar(0.4 + 0.05 * x, 1.1 + 0.1 * y, 0.8 + 0.1 * x, 1.2),
        orr_six_bar(0.4 + 0.05 * x, 1.1, 0.8 + 0.1 * y, 1.2, (const double[]){0.9 + 0.1 * x, 1.0 + 0.1 * y}),
        orr_panels(5, pow(10, 1 + (double)(seed % 4))),
    };
    for (int i = 0; i < 3; i++) {
      if (i < 2 && seed % 2) /* the ground body flies */
        s[i]->bodies[0].hinge.kind = ORR_HINGE_FREE;
      struct orr_sample *flown = orr_sample_of(s[i]->bodies, s[i]->description.body_count);
      flown->description.loops = s[i]->description.loops;
      flown->description.loop_count = s[i]->description.loop_count;
      struct orr_mechanism_trial t = orr_mechanism_trial_make(flown);
      if (load_mechanism(&t, seed))
        compared[i] += methods_agree(&t, i == 2 ? "gear train" : "linkage", seed);
      orr_mechanism_trial_free(&t);
      orr_sample_free(flown);
      orr_sample_free(s[i]);
    }
  }
  for (int i = 0; i < 3; i++)
    assert_in_range(compared[i], ORR_SHARE(36), ORR_SHARE(40));
}

static void expect_closed(struct orr_mechanism_trial *t, uint64_t seed) {
  double *rate = orr_vector_make(t->loops->row_count);
  orr_loops_place(t->loops, t->trial.ws, t->q);
  orr_loops_jacobian(t->loops);
  for (int i = 0; i < t->loops->count; i++) {
    struct orr_loop_gap gap = orr_loop_gap(t->loops, i);
    orr_expect_below(fmax(gap.metres / fmax(1, t->loops->size), gap.radians), 4e-12, "gap", seed);
  }
  orr_loops_velocity(t->loops, t->u, rate);
  for (int r = 0; r < t->loops->row_count; r++)
    orr_expect_below(fabs(rate[r]), 1e-9, "G u", seed);
  free(rate);
}

/* 80 bars that all move by one coordinate: choices that are told in another order than small ones. */
static void a_large_aggregate_satisfies_the_equations(void **state) {
  (void)state;
  for (int k = 0; k < 6; k++) {
    struct orr_sample *s = orr_tongs(k < 3 ? ORR_TONGS_MOST : 10, 0.3 + 0.2 * (k % 3));
    struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
    for (int i = 0; i < s->u_count; i++)
      s->force[i] = cos(3.0 * i);
    assert_true(orr_mechanism_trial_assemble(&t).closed);
    orr_mechanism_trial_solver(&t, ORR_LOOP_EMBED);
    t.u[0] = 0.7;
    assert_int_equal(orr_closed_close(t.closed, t.trial.ws, t.q, t.u), ORR_OK);
    const struct orr_aggregate *a = &t.closed->embed.aggregates[0];
    assert_int_equal(a->free_count, 1);
    assert_int_equal(a->rank, s->u_count - 1);
    memcpy(s->q, t.q, sizeof *s->q * (size_t)s->q_count);
    memcpy(s->u, t.u, sizeof *s->u * (size_t)s->u_count);
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
    orr_expect_below(tears_open(&t), 1e-6, "the rate of G u", (uint64_t)k);
    orr_expect_below(unbalanced(&t), 1e-9, "M u̇ + C − τ − Gᵀ λ", (uint64_t)k);
    for (int i = 0; i < 5; i++) { /* far from where it was chosen, and closed again */
      t.q[a->u[a->independent[0]]] += 0.02;
      assert_int_equal(orr_closed_project(t.closed, t.trial.ws, t.q, t.u), ORR_OK);
    }
    expect_closed(&t, (uint64_t)k);
    orr_mechanism_trial_free(&t);
    orr_sample_free(s);
  }
}

/* Coordinate `leads` is the independent one of all, whatever was chosen. */
static void let_lead(struct orr_aggregate *a, int leads) {
  a->independent[0] = leads;
  for (int i = 0, n = 0; i < a->count; i++) {
    a->depends_at[i] = i == leads ? -1 : n;
    if (i != leads)
      a->dependent[n++] = i;
  }
}

/* The choice of independent coordinates is made at the first posture and kept while the crank goes round: pivots change
 * places. */
static void a_choice_serves_far_from_where_it_was_made(void **state) {
  (void)state;
  struct orr_sample *s = orr_six_bar(0.4, 1.1, 0.8, 1.2, (const double[]){0.9, 1.0});
  struct orr_mechanism_trial t = orr_mechanism_trial_make(s), other = orr_mechanism_trial_make(s);
  int exchanged = 0;
  assert_true(load_mechanism(&t, 5));
  orr_mechanism_trial_solver(&t, ORR_LOOP_EMBED);
  memcpy(other.q, t.q, sizeof *t.q * (size_t)s->q_count);
  orr_mechanism_trial_solver(&other, ORR_LOOP_AUGMENT);
  assert_int_equal(orr_closed_close(t.closed, t.trial.ws, t.q, t.u), ORR_OK);
  struct orr_aggregate *a = &t.closed->embed.aggregates[0];
  for (int i = 0; i < a->count; i++)
    if (a->u[i] == 0)
      let_lead(a, i);
  for (int i = 0; i < 120; i++) {
    t.q[0] += 0.05;
    assert_int_equal(orr_closed_close(t.closed, t.trial.ws, t.q, t.u), ORR_OK);
    memcpy(other.q, t.q, sizeof *t.q * (size_t)s->q_count);
    memcpy(other.u, t.u, sizeof *t.u * (size_t)s->u_count);
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
    assert_int_equal(orr_mechanism_trial_forward(&other), ORR_OK);
    orr_expect_below(method_gap(&t, &other), 1e-9, "posture", (uint64_t)i);
    for (int r = 0; r < a->rank; r++) {
      exchanged += a->swap[r] != r;
      orr_expect_below(fabs(t.closed->lambda[a->rows[a->chosen[r]]] - other.closed->lambda[a->rows[a->chosen[r]]]),
                       1e-8, "multiplier", (uint64_t)i);
    }
  }
  assert_true(exchanged > 0);
  assert_int_equal(a->u[a->independent[0]], 0);
  orr_mechanism_trial_free(&other);
  orr_mechanism_trial_free(&t);
  orr_sample_free(s);
}

/* ---- textbooks --------------------------------------------------------------------------------------------- */

/* A rotor of inertia J on a gear of ratio n: the driven side feels I + n² J. Two fixed axes, one torque. */
static void a_geared_pair_has_the_inertia_of_the_textbook(void **state) {
  (void)state;
  const double ratio[] = {1, -3.5, 100, 1e4}, j = 2e-5, inertia = 3.0, torque = 0.7;
  for (size_t i = 0; i < sizeof ratio / sizeof *ratio; i++)
    for (int method = ORR_LOOP_EMBED; method <= ORR_LOOP_AUGMENT; method++) {
      struct orr_loop_desc gear = {.kind = ORR_LOOP_GEAR, .body = {0, 1}, .ratio = ratio[i], .offset = 0.1};
      struct orr_sample *s = orr_wheels(2, (const double[]){inertia, j});
      s->description.loops = &gear;
      s->description.loop_count = 1;
      s->q[1] = 0.1;
      s->force[0] = torque;
      struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
      orr_mechanism_trial_solver(&t, (enum orr_loop_method)method);
      assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
      double want = torque / (inertia + ratio[i] * ratio[i] * j);
      orr_expect_below(fabs(t.accel[0] / want - 1), 1e-13, "driving side", i);
      orr_expect_below(fabs(t.accel[1] / (ratio[i] * want) - 1), 1e-13, "driven side", i);
      orr_expect_below(fabs(t.closed->lambda[0] - j * ratio[i] * want), 1e-14 * torque, "the gear's torque", i);
      orr_mechanism_trial_free(&t);
      orr_sample_free(s);
    }
}

/* ω4/ω2 = a sin(θ3 − θ2) / (c sin(θ3 − θ4)), angles of crank (a), coupler and rocker (c) from the base line. */
static void the_four_bar_has_the_velocity_ratio_of_the_textbook(void **state) {
  (void)state;
  const double a = 0.4, c = 0.8;
  struct orr_sample *s = orr_four_bar(a, 1.1, c, 1.2);
  struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
  assert_true(orr_mechanism_trial_assemble(&t).closed);
  orr_mechanism_trial_solver(&t, ORR_LOOP_EMBED);
  orr_prescribe(t.trial.ws, 1, true); /* the crank leads */
  for (int i = 0; i < 200; i++) {
    t.q[0] += 0.05;
    t.u[0] = 1.3;
    assert_int_equal(orr_closed_close(t.closed, t.trial.ws, t.q, t.u), ORR_OK);
    double theta2 = t.q[0], theta3 = t.q[0] + t.q[1], theta4 = t.q[2];
    double want = t.u[0] * a * sin(theta3 - theta2) / (c * sin(theta3 - theta4));
    orr_expect_below(fabs(t.u[2] - want), 1e-12, "speed of the rocker", (uint64_t)i);
    orr_expect_below(orr_loop_gap(t.loops, 0).metres, 1e-14, "gap", (uint64_t)i);
  }
  orr_mechanism_trial_free(&t);
  orr_sample_free(s);
}

/* ---- what cannot be solved --------------------------------------------------------------------------------- */

static void a_singular_posture_is_a_status_that_names_the_loop(void **state) {
  (void)state;
  for (int method = ORR_LOOP_EMBED; method <= ORR_LOOP_AUGMENT; method++) {
    struct orr_sample *s = orr_four_bar(0.5, 1.0, 0.3, 1.2); /* at rest all bars lie on one line */
    struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
    orr_mechanism_trial_solver(&t, (enum orr_loop_method)method);
    assert_int_equal(orr_choice_rank(&t.closed->choice), 2);
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_ERROR_LOOP_SINGULAR);
    assert_int_equal(t.closed->failed_loop, 0);
    t.q[0] = 0.3; /* and a little way off it is not */
    assert_true(orr_mechanism_trial_assemble(&t).closed);
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
    orr_mechanism_trial_free(&t);
    orr_sample_free(s);
  }
}

/* Crank and rocker both driven: they may only be driven so that they fit. */
static void driven_hinges_that_tear_the_loop_are_a_status(void **state) {
  (void)state;
  for (int method = ORR_LOOP_EMBED; method <= ORR_LOOP_AUGMENT; method++) {
    struct orr_sample *s = orr_four_bar(0.4, 1.1, 0.8, 1.2);
    struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
    assert_true(orr_mechanism_trial_assemble(&t).closed);
    orr_mechanism_trial_solver(&t, (enum orr_loop_method)method);
    s->given[0] = 0.5;
    orr_prescribe(t.trial.ws, 1, true);
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
    double fits = t.accel[2];
    orr_prescribe(t.trial.ws, 3, true);
    orr_closed_reference(t.closed, t.trial.ws, t.q);
    s->given[2] = fits;
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
    s->given[2] = fits + 0.1;
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_ERROR_LOOP_CONFLICT);
    assert_int_equal(t.closed->failed_loop, 0);
    orr_mechanism_trial_free(&t);
    orr_sample_free(s);
  }
}

/* ---- multipliers and forces that are open ------------------------------------------------------------------ */

static void only_forces_that_redundancy_reaches_are_open(void **state) {
  (void)state;
  struct orr_sample *s = orr_four_bar(0.4, 1.1, 0.8, 1.2);
  struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
  bool multiplier, forces[4], efforts[4];
  assert_true(orr_mechanism_trial_assemble(&t).closed);
  orr_loops_rank(t.loops, t.trial.ws, NULL, NULL);
  orr_loops_undetermined(t.loops, &multiplier, forces, efforts);
  assert_true(multiplier);
  assert_false(forces[0]); /* the ground carries all of it */
  for (int i = 1; i < 4; i++) {
    assert_true(forces[i]);
    assert_false(efforts[i]); /* it pushes along the hinges' axes */
  }
  orr_mechanism_trial_free(&t);
  orr_sample_free(s);
}

/* ---- badly conditioned bodies ------------------------------------------------------------------------------- */

/* What the accelerations leave of φ̈ in the augmented equations that are solved. */
static double left_open(struct orr_mechanism_trial *t) {
  struct orr_closed *c = t->closed;
  double most = 0;
  orr_augment_acceleration(&c->augment, t->trial.ws, t->accel);
  for (int k = c->choice.embedded; k < c->choice.count; k++)
    most = fmax(most, fabs(c->augment.gamma[c->augment.place[c->choice.rows[k]]]));
  return most;
}

/* A four-bar, on its coupler a rod that turns about its own axis with the given inertia, and a free body welded to the
 * rod's end. */
static struct orr_sample *rod_on_a_four_bar(struct orr_loop_desc loops[2], double inertia) {
  struct orr_sample *s = orr_four_bar(0.4, 1.1, 0.8, 1.2);
  struct orr_body_desc bodies[6];
  struct orr_node_desc end[2] = {{.name = "origin"}, {.name = "end", .at = {0.3, 0.5, 0}}};
  memcpy(bodies, s->bodies, 4 * sizeof *bodies);
  bodies[4] = bodies[5] = bodies[1];
  bodies[4].name = "rod";
  bodies[4].nodes = bodies[5].nodes = end;
  bodies[4].hinge.parent = 2, bodies[4].hinge.parent_node = 1;
  bodies[4].hinge.axes[0][0] = 0, bodies[4].hinge.axes[0][1] = 1;
  bodies[4].inertia[1] = inertia;
  bodies[5].name = "flyer";
  bodies[5].hinge = (struct orr_hinge_desc){.kind = ORR_HINGE_FREE, .parent = ORR_INERTIAL, .rotation = {0, 0, 0, 1}};
  struct orr_sample *with_rod = orr_sample_of(bodies, 6);
  loops[0] = s->description.loops[0];
  loops[1] = (struct orr_loop_desc){.kind = ORR_LOOP_WELD, .body = {4, 5}, .node = {1, 0}};
  with_rod->description.loops = loops;
  with_rod->description.loop_count = 2;
  orr_sample_free(s);
  return with_rod;
}

/* The accelerations are those of embedding, and equations are solved as the conventions say, whatever the bodies: one
 * loop embedded and one augmented, and both augmented. */
static void a_thin_rod_leaves_no_loop_open(void **state) {
  (void)state;
  for (int i = 0; i < 16; i++) {
    struct orr_loop_desc loops[2];
    struct orr_sample *s = rod_on_a_four_bar(loops, (const double[]){1e-3, 1e-6, 5e-9, 1e-11}[i % 4]);
    struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
    double *embedded = orr_vector_make(s->u_count);
    assert_true(load_mechanism(&t, (uint64_t)i));
    orr_mechanism_trial_solver(&t, ORR_LOOP_EMBED);
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
    memcpy(embedded, t.accel, sizeof *embedded * (size_t)s->u_count);
    double force = v3_norm(orr_hinge_force(t.trial.model, t.trial.ws, 4).v), scale = 1;
    for (int k = 0; k < s->u_count; k++)
      scale = fmax(scale, fabs(embedded[k]));
    for (int method = 0; method < 2; method++) {
      t.loops->loops[1].method = ORR_LOOP_AUGMENT;
      orr_mechanism_trial_solver(&t, method ? ORR_LOOP_AUGMENT : ORR_LOOP_AUTO);
      assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
      assert_int_equal(t.closed->augment.row_count, method ? 9 : 6);
      orr_expect_below(left_open(&t), 1e-12 * scale, "what the loops are left open by", (uint64_t)i);
      for (int k = 0; k < s->u_count; k++)
        orr_expect_below(fabs(t.accel[k] - embedded[k]), 1e-10 * scale, "embed against augment", (uint64_t)i);
      orr_expect_below(fabs(v3_norm(orr_hinge_force(t.trial.model, t.trial.ws, 4).v) / force - 1), 1e-10, "hinge force",
                       (uint64_t)i);
    }
    free(embedded);
    orr_mechanism_trial_free(&t);
    orr_sample_free(s);
  }
}

/* ---- the compliance ---------------------------------------------------------------------------------------- */

/* Y Yᵀ = R_Aᵀ [−1 1] Λ [−1 1]ᵀ R_A of the two nodes' operational-space compliance Λ, an algorithm of its own. */
static void the_compliance_is_that_of_the_operational_space(void **state) {
  (void)state;
  int compared = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct random_case c;
    if (make_case(&c, seed) && c.loops[0].kind == ORR_LOOP_POINT && c.sample->description.loop_count == 1) {
      orr_mechanism_trial_solver(&c.t, ORR_LOOP_AUGMENT);
      struct orr_trial *trial = &c.t.trial;
      const struct orr_loop *loop = &c.t.loops->loops[0];
      const struct orr_pivot *y = &c.t.closed->augment.y.groups[0];
      if (orr_mechanism_trial_forward(&c.t) == ORR_OK && y->rank == 3) {
        double big[144], worst = 0, scale = 0;
        void *scratch = aligned_alloc(64, orr_compliance_size(trial->model, 2));
        struct orr_node_state a;
        assert_int_equal(orr_articulated_factor(trial->model, trial->ws), ORR_OK);
        orr_compliance(trial->model, trial->ws, loop->node, 2, scratch, big);
        orr_node_query(trial->model, trial->ws, loop->node[0], &a);
        orr_mat3 sum;
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++)
            sum.m[i][j] = big[12 * (3 + i) + 3 + j] + big[12 * (9 + i) + 9 + j] - big[12 * (3 + i) + 9 + j] -
                          big[12 * (9 + i) + 3 + j];
        sum = m3_mul(m3_mul(m3_transpose(a.attitude), sum), a.attitude);
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++) {
            double product = 0;
            for (int k = 0; k < 3; k++)
              product += y->r[3 * k + i] * y->r[3 * k + j];
            worst = fmax(worst, fabs(product - sum.m[i][j]));
            scale = fmax(scale, fabs(sum.m[i][j]));
          }
        orr_expect_below(worst / scale, 1e-11, "compliance", seed);
        compared++;
        free(scratch);
      }
    }
    free_case(&c);
  }
  assert_in_range(compared, 3, 60);
}

/* ---- projection -------------------------------------------------------------------------------------------- */

/* q and u a little off the loops. */
static void disturb(struct orr_mechanism_trial *t, double by_q, double by_u) {
  for (int i = 0; i < t->trial.sample->u_count; i++)
    t->u[i] += by_u * sin(i + 1.0);
  for (int k = 0; k < t->loops->column_count; k++)
    t->loops->step[k] = by_q * cos(3.0 * k);
  orr_loops_move(t->loops, t->loops->step, t->q);
}

static void projection_closes_places_and_speeds(void **state) {
  (void)state;
  int done = 0;
  for (uint64_t seed = 0; seed < ORR_SHARE(80); seed++) {
    struct random_case c;
    bool fits = make_case(&c, seed);
    for (int method = ORR_LOOP_EMBED; fits && method <= ORR_LOOP_AUGMENT; method++) {
      orr_mechanism_trial_solver(&c.t, (enum orr_loop_method)method);
      disturb(&c.t, 1e-5, 1e-3);
      fits = orr_closed_project(c.t.closed, c.t.trial.ws, c.t.q, c.t.u) == ORR_OK;
      if (fits)
        expect_closed(&c.t, seed);
      done += fits;
    }
    free_case(&c);
  }
  assert_in_range(done, ORR_SHARE(80), ORR_SHARE(160));
}

/* A four-bar on a free body: internal impulses close its speeds, so they leave momentum alone and cost energy. */
static void projection_of_speeds_keeps_momentum(void **state) {
  (void)state;
  struct orr_sample *s = orr_four_bar(0.4, 1.1, 0.8, 1.2);
  s->bodies[0].hinge.kind = ORR_HINGE_FREE;
  struct orr_sample *flyer = orr_sample_of(s->bodies, 4);
  flyer->description.loops = s->description.loops;
  flyer->description.loop_count = 1;
  struct orr_mechanism_trial t = orr_mechanism_trial_make(flyer);
  assert_true(orr_mechanism_trial_assemble(&t).closed);
  orr_mechanism_trial_solver(&t, ORR_LOOP_AUGMENT);
  for (int i = 0; i < flyer->u_count; i++)
    t.u[i] = cos(2.0 * i);
  struct orr_trial *trial = &t.trial;
  orr_spatial momentum[2];
  double energy[2];
  for (int i = 0; i < 2; i++) {
    orr_state_set(trial->model, trial->ws, t.q, t.u);
    orr_poses_update(trial->model, trial->ws);
    momentum[i] = orr_momentum(trial->model, trial->ws);
    energy[i] = orr_kinetic_energy(trial->model, trial->ws);
    if (i == 0)
      assert_int_equal(orr_closed_project(t.closed, trial->ws, t.q, t.u), ORR_OK);
  }
  expect_closed(&t, 0);
  orr_spatial lost = sp_sub(momentum[0], momentum[1]);
  orr_expect_below(v3_norm(lost.w) + v3_norm(lost.v), 1e-12 * v3_norm(momentum[0].v), "momentum", 0);
  assert_true(energy[1] < 0.999 * energy[0]);
  orr_mechanism_trial_free(&t);
  orr_sample_free(flyer);
  orr_sample_free(s);
}

/* Full turns of the crank, begun with the rocker in the lead, which only swings: the set has to change at the latest
 * where the rocker turns back, and no coordinate jumps when it does. */
static void the_choice_changes_without_a_jump(void **state) {
  (void)state;
  struct orr_sample *s = orr_four_bar(0.4, 1.1, 0.8, 1.2);
  struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
  int changes = 0, was = -1;
  assert_true(orr_mechanism_trial_assemble(&t).closed);
  double start = t.q[0];
  orr_mechanism_trial_solver(&t, ORR_LOOP_EMBED);
  struct orr_aggregate *a = &t.closed->embed.aggregates[0];
  assert_int_equal(orr_closed_close(t.closed, t.trial.ws, t.q, t.u), ORR_OK);
  for (int k = 0; k < 3; k++) /* coordinates stand in the order of limbs, level by level */
    if (a->u[k] == 2)
      let_lead(a, k);
  for (int i = 0; i < 1500; i++) { /* the crank by 0.01 a step, through whatever coordinate leads */
    double before[3], step = 0.01;
    memcpy(before, t.q, sizeof before);
    t.u[0] = 1, t.u[1] = 0, t.u[2] = 0;
    assert_int_equal(orr_closed_close(t.closed, t.trial.ws, t.q, t.u), ORR_OK);
    int leads = a->u[a->independent[0]];
    changes += was >= 0 && leads != was;
    was = leads;
    const double *x = a->x;
    for (int k = 0; k < 3; k++) /* columns of X: rates for a unit of the leading one */
      t.q[a->u[k]] += step * x[k] / x[0];
    assert_int_equal(orr_closed_project(t.closed, t.trial.ws, t.q, t.u), ORR_OK);
    for (int k = 0; k < 3; k++)
      orr_expect_below(fabs(t.q[k] - before[k]), 0.05, "one step's move", (uint64_t)i);
    orr_expect_below(orr_loop_gap(t.loops, 0).metres, 1e-13, "gap", (uint64_t)i);
  }
  orr_expect_below(fabs(t.q[0] - start - 15), 0.1, "two turns and more", 0);
  assert_in_range(changes, 1, 4); /* once, and then it stays */
  orr_mechanism_trial_free(&t);
  orr_sample_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accelerations_and_multipliers_satisfy_the_equations),
      cmocka_unit_test(webs_of_loops_satisfy_the_equations),
      cmocka_unit_test(embedding_agrees_with_augmentation),
      cmocka_unit_test(linkages_and_gear_trains_agree_by_both_methods),
      cmocka_unit_test(a_large_aggregate_satisfies_the_equations),
      cmocka_unit_test(a_choice_serves_far_from_where_it_was_made),
      cmocka_unit_test(a_geared_pair_has_the_inertia_of_the_textbook),
      cmocka_unit_test(the_four_bar_has_the_velocity_ratio_of_the_textbook),
      cmocka_unit_test(a_singular_posture_is_a_status_that_names_the_loop),
      cmocka_unit_test(driven_hinges_that_tear_the_loop_are_a_status),
      cmocka_unit_test(only_forces_that_redundancy_reaches_are_open),
      cmocka_unit_test(a_thin_rod_leaves_no_loop_open),
      cmocka_unit_test(the_compliance_is_that_of_the_operational_space),
      cmocka_unit_test(projection_closes_places_and_speeds),
      cmocka_unit_test(projection_of_speeds_keeps_momentum),
      cmocka_unit_test(the_choice_changes_without_a_jump),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
