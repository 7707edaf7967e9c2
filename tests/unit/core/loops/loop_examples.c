/* The papers' examples that are no linkages: a differential, and wheels that roll, with and without sliding across
 * their way. The truth is Lagrange's equations with multipliers, dense, from the mass matrix and the forces of the
 * dense reference and constraints written out by hand:
 *
 *   M u̇ − Aᵀ λ = τ − C,   A u̇ = −Ȧ u */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/loops/loop_motion.h"
#include "tests/support/dense.h"
#include "tests/support/flight.h"
#include "tests/support/loops.h"

enum { MOST = 24 };

#define NEAR(a, b, eps) assert_true(fabs(1.0 * (a)-1.0 * (b)) <= (eps))

/* Gauss with row exchanges, x for b. */
static void solve(long double *a, long double *b, int n) {
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k; i < n; i++)
      best = fabsl(a[i * n + k]) > fabsl(a[best * n + k]) ? i : best;
    for (int j = 0; j < n; j++) {
      long double t = a[k * n + j];
      a[k * n + j] = a[best * n + j];
      a[best * n + j] = t;
    }
    long double t = b[k];
    b[k] = b[best];
    b[best] = t;
    assert_true(fabsl(a[k * n + k]) > 1e-14L);
    for (int i = k + 1; i < n; i++) {
      long double factor = a[i * n + k] / a[k * n + k];
      for (int j = k; j < n; j++)
        a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++)
      b[i] -= a[i * n + j] * b[j];
    b[i] /= a[i * n + i];
  }
}

/* Constraints [rows][u_count], and −Ȧ u. */
struct constraints {
  int rows;
  double a[MOST][MOST], right[MOST];
};

static void lagrange(const struct orr_sample *s, const struct constraints *c, double *accel, double *lambda) {
  int n = s->u_count, all = n + c->rows;
  double *mass = orr_vector_make(n * n), *bias = orr_vector_make(n), *none = orr_vector_make(n);
  long double *matrix = calloc((size_t)(all * all), sizeof *matrix), *x = calloc((size_t)all, sizeof *x);
  struct orr_dense *dense = orr_dense_make(s);
  orr_dense_mass(dense, mass);
  orr_dense_inverse(dense, none, bias);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      matrix[i * all + j] = (long double)mass[i * n + j];
    for (int r = 0; r < c->rows; r++) {
      matrix[i * all + n + r] = -(long double)c->a[r][i];
      matrix[(n + r) * all + i] = (long double)c->a[r][i];
    }
    x[i] = (long double)s->force[i] - (long double)bias[i];
  }
  for (int r = 0; r < c->rows; r++)
    x[n + r] = (long double)c->right[r];
  solve(matrix, x, all);
  for (int i = 0; i < n; i++)
    accel[i] = (double)x[i];
  for (int r = 0; r < c->rows; r++)
    lambda[r] = (double)x[n + r];
  orr_dense_free(dense);
  free(mass), free(bias), free(none), free(matrix), free(x);
}

static struct orr_body_desc body(const char *name, const struct orr_node_desc *nodes, size_t count, double mass,
                                 const double inertia[3], struct orr_hinge_desc hinge) {
  struct orr_body_desc b = {.name = name, .mass = mass, .node_count = count, .nodes = nodes, .hinge = hinge};
  memcpy(b.inertia, inertia, 3 * sizeof *inertia);
  b.hinge.rotation[3] = 1;
  return b;
}

/* ---- a differential ---------------------------------------------------------------------------------------------- */

/* A carrier on a body that floats turns about x; its pinion about y of the carrier, with the mass centre off that axis;
 * the half shafts on the carrier about x, geared to the pinion by 1.5 and −1.5. */
static struct orr_sample *differential(enum orr_loop_method method) {
  static const struct orr_node_desc at[] = {{.name = "origin"}, {.name = "pin", .at = {0.1, 0.2, 0}}};
  static struct orr_loop_desc gears[2];
  const struct orr_hinge_desc shaft = {.kind = ORR_HINGE_REVOLUTE, .parent = 1, .axes = {{1, 0, 0}}};
  const struct orr_body_desc bodies[] = {
      body("box", at, 2, 30, (double[]){4, 3, 5}, (struct orr_hinge_desc){.kind = ORR_HINGE_FREE, .parent = -1}),
      body("carrier", at, 2, 3, (double[]){0.4, 0.3, 0.3},
           (struct orr_hinge_desc){.kind = ORR_HINGE_REVOLUTE, .parent_node = 1, .axes = {{1, 0, 0}}}),
      body("pinion", at, 2, 1, (double[]){0.1, 0.2, 0.15},
           (struct orr_hinge_desc){.kind = ORR_HINGE_REVOLUTE, .parent = 1, .parent_node = 1, .axes = {{0, 1, 0}}}),
      body("left", at, 2, 2, (double[]){0.2, 0.3, 0.3}, shaft),
      body("right", at, 2, 2, (double[]){0.5, 0.3, 0.3}, shaft),
  };
  struct orr_sample *s = orr_sample_of(bodies, 5);
  s->bodies[2].com[0] = 0.05;
  for (int i = 0; i < 2; i++)
    gears[i] =
        (struct orr_loop_desc){.kind = ORR_LOOP_GEAR, .method = method, .body = {2, 3 + i}, .ratio = i ? -1.5 : 1.5};
  s->description.loops = gears;
  s->description.loop_count = 2;
  return s;
}

static void a_differential_obeys_lagrange(void **state) {
  (void)state;
  for (int method = ORR_LOOP_EMBED; method <= ORR_LOOP_AUGMENT; method++) {
    struct orr_sample *s = differential((enum orr_loop_method)method);
    const double spin = 3, pinion = -2;
    double accel[MOST], lambda[MOST], force[6];
    const int carrier = orr_sample_hinge_u(s, 1), p = orr_sample_hinge_u(s, 2), left = p + 1, right = p + 2;
    const double speeds[] = {0.3, -0.2, 0.5, 0.1, 0.2, -0.3, spin, pinion, 1.5 * pinion, -1.5 * pinion};
    memcpy(s->u, speeds, sizeof speeds);
    s->q[orr_sample_hinge_q(s, 1)] = 0.4;
    s->q[orr_sample_hinge_q(s, 2)] = 0.7;
    s->q[orr_sample_hinge_q(s, 3)] = 1.05;
    s->q[orr_sample_hinge_q(s, 4)] = -1.05;
    s->force[carrier] = 12;
    s->force[left] = -3;
    s->force[right] = -7;
    struct constraints c = {.rows = 2};
    c.a[0][left] = c.a[1][right] = 1;
    c.a[0][p] = -1.5;
    c.a[1][p] = 1.5;
    lagrange(s, &c, accel, lambda);
    struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
    orr_mechanism_trial_solver(&t, (enum orr_loop_method)method);
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
    double gap = orr_gap(t.accel, accel, s->u_count), multipliers = 0;
    for (int i = 0; i < 2; i++) {
      orr_closed_determined(t.closed, i, force);
      multipliers = fmax(multipliers, fabs(force[0] - lambda[i]));
    }
    printf("# differential, %s: accelerations within %.1e, forces within %.1e N m\n",
           method == ORR_LOOP_EMBED ? "embed" : "augment", gap, multipliers);
    assert_true(gap < 1e-12 && multipliers < 1e-12);
    orr_mechanism_trial_free(&t);
    orr_sample_free(s);
  }
}

/* ---- wheels ------------------------------------------------------------------------------------------------------ */

static const double radius = 0.3, places[4][2] = {{0.6, 0.5}, {0.6, -0.5}, {-0.7, 0.5}, {-0.7, -0.5}};

/* A rover on the ground's plane, four wheels about y at its corners, its mass centre off the middle. Front wheels may
 * hold across their way. */
static struct orr_sample *rover(int held) {
  static struct orr_node_desc nodes[6] = {{.name = "origin"}};
  static const struct orr_node_desc origin = {.name = "origin"};
  static struct orr_loop_desc wheels[4];
  struct orr_body_desc bodies[6];
  for (int i = 0; i < 4; i++)
    nodes[1 + i] = (struct orr_node_desc){.name = "corner", .at = {places[i][0], places[i][1], radius}};
  bodies[0] = body("ground", &origin, 1, 1, (double[]){1, 1, 1},
                   (struct orr_hinge_desc){.kind = ORR_HINGE_FIXED, .parent = -1});
  bodies[1] = body("rover", nodes, 5, 80, (double[]){9, 12, 15},
                   (struct orr_hinge_desc){.kind = ORR_HINGE_PLANAR, .axes = {{0, 0, 1}}});
  bodies[1].com[0] = 0.15;
  bodies[1].com[1] = -0.05;
  for (int i = 0; i < 4; i++) {
    bodies[2 + i] = body(
        "wheel", &origin, 1, 4, (double[]){0.1, 0.18, 0.1},
        (struct orr_hinge_desc){.kind = ORR_HINGE_REVOLUTE, .parent = 1, .parent_node = 1 + i, .axes = {{0, 1, 0}}});
    wheels[i] = (struct orr_loop_desc){.kind = ORR_LOOP_ROLLING,
                                       .body = {0, 2 + i},
                                       .axis = {0, 1, 0},
                                       .normal = {0, 0, 1},
                                       .radius = radius,
                                       .slides = i >= held};
  }
  struct orr_sample *s = orr_sample_of(bodies, 6);
  s->description.loops = wheels;
  s->description.loop_count = 4;
  return s;
}

/* Of the rover at a heading θ, with u = [θ̇, ẋ, ẏ, Ω₁ … Ω₄], x and y of the ground:
 *   along wheel i    ẋ cos θ + ẏ sin θ − y_i θ̇ − r Ω_i = 0
 *   across it       −ẋ sin θ + ẏ cos θ + x_i θ̇ = 0 */
static struct constraints rolling(double theta, const double *u, int held) {
  struct constraints c = {.rows = 0};
  double cosine = cos(theta), sine = sin(theta);
  for (int i = 0; i < 4; i++) {
    double *a = c.a[c.rows];
    a[0] = -places[i][1];
    a[1] = cosine;
    a[2] = sine;
    a[3 + i] = -radius;
    c.right[c.rows++] = u[0] * (sine * u[1] - cosine * u[2]);
    if (i >= held)
      continue;
    a = c.a[c.rows];
    a[0] = places[i][0];
    a[1] = -sine;
    a[2] = cosine;
    c.right[c.rows++] = u[0] * (cosine * u[1] + sine * u[2]);
  }
  return c;
}

/* Skid-steered, every wheel slides; steered by one front wheel that holds, too. */
static void a_rover_on_wheels_obeys_lagrange(void **state) {
  (void)state;
  for (int held = 0; held <= 1; held++) {
    struct orr_sample *s = rover(held);
    const double theta = 0.8, turn = 0.9, ahead = 1.4;
    double accel[MOST], lambda[MOST], force[6], multipliers = 0;
    double aside = held ? -places[0][0] * turn : 0.35; /* what holds moves along its way only */
    s->q[0] = theta;
    s->u[0] = turn;
    s->u[1] = ahead * cos(theta) - aside * sin(theta);
    s->u[2] = ahead * sin(theta) + aside * cos(theta);
    for (int i = 0; i < 4; i++) {
      s->u[3 + i] = (ahead - places[i][1] * turn) / radius;
      s->q[3 + i] = 0.3 * i;
      s->force[3 + i] = i % 2 ? 5 : -2;
    }
    struct constraints c = rolling(theta, s->u, held);
    lagrange(s, &c, accel, lambda);
    struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
    orr_mechanism_trial_solver(&t, ORR_LOOP_AUTO);
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
    double gap = orr_gap(t.accel, accel, s->u_count);
    for (int i = 0, row = 0; i < 4; i++) {
      assert_int_equal(orr_closed_determined(t.closed, i, force), 2);
      multipliers = fmax(multipliers, fabs(force[0] - lambda[row++]));
      multipliers = fmax(multipliers, fabs(force[1] - (i < held ? lambda[row++] : 0)));
    }
    printf("# rover, %d wheels hold: accelerations within %.1e, forces within %.1e N\n", held, gap, multipliers);
    assert_true(gap < 1e-12 && multipliers < 1e-11);
    orr_mechanism_trial_free(&t);
    orr_sample_free(s);
  }
}

/* φ̈ = 0 as solved is the rate of G u along the motion, for a tilted wheel and a ground that both tumble. */
static void a_tilted_wheel_on_tumbling_ground_keeps_its_equations(void **state) {
  (void)state;
  static const struct orr_node_desc nodes[] = {{.name = "origin"}, {.name = "hub", .at = {0.1, -0.3, 0.2}}};
  const struct orr_hinge_desc hinge = {.kind = ORR_HINGE_FREE, .parent = -1};
  const struct orr_body_desc bodies[] = {body("ground", nodes, 2, 7, (double[]){3, 2, 4}, hinge),
                                         body("wheel", nodes, 2, 2, (double[]){0.3, 0.5, 0.4}, hinge)};
  double worst = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    struct orr_sample *s = orr_sample_of(bodies, 2);
    struct orr_loop_desc loop = {.kind = ORR_LOOP_ROLLING, .body = {0, 1}, .node = {0, 1}, .radius = 0.4};
    const double h = 1e-5, third = 0.57735026918962573;
    double q[14], u[12], rate[2][2];
    loop.axis[0] = loop.normal[1] = 1;
    for (int i = 0; i < 3; i++)
      loop.normal[i] = seed % 2 ? loop.normal[i] : third;
    for (int i = 0; i < 12; i++)
      s->u[i] = sin((double)seed * (i + 1));
    for (int b = 0; b < 2; b++) {
      double *quaternion = s->q + orr_sample_hinge_q(s, b) + 3, norm = 0;
      for (int i = 0; i < 4; i++) {
        quaternion[i] = cos((double)seed * (i + 2) + 3 * b);
        norm += quaternion[i] * quaternion[i];
      }
      for (int i = 0; i < 4; i++)
        quaternion[i] /= sqrt(norm);
      for (int i = 0; i < 3; i++)
        quaternion[i - 3] = 0.5 * sin((double)seed + i + 2 * b);
    }
    s->description.loops = &loop;
    s->description.loop_count = 1;
    struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
    orr_mechanism_trial_solver(&t, ORR_LOOP_AUTO);
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
    for (int i = 0; i < 2; i++) {
      orr_sample_along(s, t.accel, i ? -h : h, q, u);
      orr_loops_place(t.loops, t.trial.ws, q);
      orr_loops_jacobian(t.loops);
      orr_loops_velocity(t.loops, u, rate[i]);
    }
    for (int r = 0; r < 2; r++)
      worst = fmax(worst, fabs(rate[0][r] - rate[1][r]) / (2 * h));
    orr_mechanism_trial_free(&t);
    orr_sample_free(s);
  }
  printf("# tilted wheels on tumbling ground: the rate of G u within %.1e m/s² of zero\n", worst);
  assert_true(worst < 1e-7);
}

/* Two wheels of one axle that hold across share what nobody can divide; along each, all is known. */
static void two_wheels_of_an_axle_share_what_nobody_knows(void **state) {
  (void)state;
  struct orr_sample *s = rover(2);
  struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
  orr_mechanism_trial_solver(&t, ORR_LOOP_AUTO);
  assert_int_equal(orr_mechanism_trial_forward(&t), ORR_OK);
  for (int i = 0; i < 4; i++) {
    assert_false(t.closed->undetermined[i][0]);
    assert_true(t.closed->undetermined[i][1] == (i < 2));
  }
  orr_mechanism_trial_free(&t);
  orr_sample_free(s);
}

/* ---- motion ------------------------------------------------------------------------------------------------------ */

/* A wheel of 4 kg, 0.3 m and 0.18 kg m² rolls down a slope of 30 degrees with its fork of 2 kg: a = 6 g/2 /(6 + J/r²),
 * and the ground drags it by J a/r². */
static void a_wheel_rolls_down_a_slope(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft:\n"
      "  gravity: [4.905, 0, -8.4957]\n"
      "  bodies:\n"
      "    ground: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: fixed, to: inertial}}\n"
      "    fork: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, to: inertial, axis: [1, 0, 0]}, "
      "nodes: "
      "{axle: {at: [0, 0, 0.3]}}}\n"
      "    wheel: {mass: 4, inertia: [0.1, 0.18, 0.1, 0, 0, 0], hinge: {kind: revolute, to: fork.axle, axis: [0, 1, "
      "0]}}\n"
      "  loops: [{name: tyre, between: [ground.origin, wheel.origin], kind: rolling, axis: [0, 1, 0], normal: [0, 0, "
      "1], radius: 0.3 m, slides: true}]\n"
      "simulation: {step: 10 ms}\n",
      "*");
  orr_flight_run(&f, 200);
  double a = 6 * 4.905 / (6 + 0.18 / 0.09);
  NEAR(orr_flight_value(&f, "fork.speed"), a * 2, 1e-10);
  NEAR(orr_flight_value(&f, "fork.q"), a * 2, 1e-10);
  NEAR(orr_flight_value(&f, "wheel.speed"), a * 2 / 0.3, 1e-10);
  NEAR(orr_flight_value(&f, "loops.tyre.force.along"), -0.18 * a / 0.09, 1e-11);
  NEAR(orr_flight_value(&f, "loops.tyre.force.across"), 0, 0);
  orr_flight_free(&f);
}

/* A disk rolls upright on its edge without slip, free in space but for the plane: steered by nothing it keeps its turn
 * and its speed, and runs a circle (an upright coin, Appell). */
static void an_upright_coin_runs_a_circle(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft:\n"
      "  bodies:\n"
      "    ground: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: fixed, to: inertial}}\n"
      "    fork: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: planar, to: inertial, normal: [0, 0, 1]}, "
      "nodes: {axle: {at: [0, 0, 0.5]}}}\n"
      "    coin: {mass: 4, inertia: [0.3, 0.5, 0.3, 0, 0, 0], hinge: {kind: revolute, to: fork.axle, axis: [0, 1, "
      "0]}}\n"
      "  loops: [{name: edge, between: [ground.origin, coin.origin], kind: rolling, axis: [0, 1, 0], normal: [0, 0, "
      "1], radius: 0.5 m}]\n"
      "simulation: {step: 5 ms, initial: {fork: {speed: [2, 1.5, 0]}, coin: {speed: [3]}}}\n",
      "*");
  double energy = orr_flight_energy(&f), worst = 0;
  for (int n = 1; n <= 1000; n++) {
    orr_flight_run(&f, 1);
    double t = 0.005 * n, circle = 1.5 / 2;
    worst = fmax(worst, fabs(orr_flight_value(&f, "fork.position.x") - circle * sin(2 * t)));
    worst = fmax(worst, fabs(orr_flight_value(&f, "fork.position.y") - circle * (1 - cos(2 * t))));
  }
  printf("# coin: within %.1e m of its circle over 5 s, energy within %.1e J\n", worst,
         fabs(orr_flight_energy(&f) - energy));
  assert_true(worst < 1e-8 && fabs(orr_flight_energy(&f) - energy) < 1e-9);
  NEAR(orr_flight_value(&f, "loops.edge.force.across"), 5 * 1.5 * 2, 1e-8); /* m v ω, to the middle of the circle */
  NEAR(orr_flight_value(&f, "loops.edge.force.along"), 0, 1e-8);
  orr_flight_free(&f);
}

/* A wheel that lies flat has no way along which it rolls, also where it can never stand up: on a planar hinge. */
static void a_wheel_that_lies_flat_is_singular(void **state) {
  (void)state;
  static const struct orr_node_desc nodes[] = {{.name = "origin"}};
  const enum orr_hinge_kind kinds[] = {ORR_HINGE_FREE, ORR_HINGE_PLANAR};
  for (int i = 0; i < 2; i++) {
    const struct orr_hinge_desc fixed = {.kind = ORR_HINGE_FIXED, .parent = -1, .rotation = {0, 0, 0, 1}};
    const struct orr_hinge_desc hinge = {.kind = kinds[i], .parent = -1, .axes = {{0, 0, 1}}, .rotation = {0, 0, 0, 1}};
    const struct orr_body_desc bodies[] = {body("ground", nodes, 1, 7, (double[]){3, 2, 4}, fixed),
                                           body("wheel", nodes, 1, 2, (double[]){0.3, 0.5, 0.4}, hinge)};
    struct orr_loop_desc loop = {
        .kind = ORR_LOOP_ROLLING, .body = {0, 1}, .axis = {0, 0, 1}, .normal = {0, 0, 1}, .radius = 0.4};
    struct orr_sample *s = orr_sample_of(bodies, 2);
    s->description.loops = &loop;
    s->description.loop_count = 1;
    struct orr_mechanism_trial t = orr_mechanism_trial_make(s);
    orr_mechanism_trial_solver(&t, ORR_LOOP_AUTO);
    assert_int_equal(orr_mechanism_trial_forward(&t), ORR_ERROR_LOOP_SINGULAR);
    assert_int_equal(t.closed->failed_loop, 0);
    orr_mechanism_trial_free(&t);
    orr_sample_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_differential_obeys_lagrange),
      cmocka_unit_test(a_rover_on_wheels_obeys_lagrange),
      cmocka_unit_test(a_tilted_wheel_on_tumbling_ground_keeps_its_equations),
      cmocka_unit_test(two_wheels_of_an_axle_share_what_nobody_knows),
      cmocka_unit_test(a_wheel_rolls_down_a_slope),
      cmocka_unit_test(an_upright_coin_runs_a_circle),
      cmocka_unit_test(a_wheel_that_lies_flat_is_singular),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
