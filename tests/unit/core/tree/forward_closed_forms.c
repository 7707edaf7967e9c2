/* Closed forms: the two worked examples of newton-euler-trees, and a mode on a hub that is free to turn.
 *
 * The hub: inertia J about the hinge's axis, a mass m at distance L whose mode moves it across; M_ff = m, M_fr = mL,
 * M_rr = J + mL². Held, the mode has its own frequency f; with the hub free, f √(M_ff / (M_ff − M_fr²/M_rr)).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/forward.h"
#include "tests/support/trial.h"

static const double PI = 3.14159265358979323846;

static const struct orr_node_desc ORIGIN = {.name = "origin"};

static struct orr_body_desc body_on(enum orr_hinge_kind kind, int parent, int axis) {
  struct orr_body_desc b = {.name = "b", .node_count = 1, .nodes = &ORIGIN};
  b.hinge = (struct orr_hinge_desc){.kind = kind, .parent = parent, .rotation = {0, 0, 0, 1}};
  b.hinge.axes[0][axis] = 1;
  return b;
}

static void close_to(double have, double want, double scale) {
  orr_expect_below(fabs(have - want) / scale, 1e-14, "closed form", 0);
}

/* (I + mL²) θ̈ = τ − m g L sin θ   (M4); f = m r̈ + m g e_y through the hinge */
static void simple_pendulum(void **state) {
  (void)state;
  const double m = 2.5, length = 1.3, izz = 0.4, g = 9.81;
  struct orr_body_desc b = body_on(ORR_HINGE_REVOLUTE, ORR_INERTIAL, 2);
  b.mass = m;
  b.com[1] = -length;
  b.inertia[0] = 0.3, b.inertia[1] = 0.2, b.inertia[2] = izz;
  for (unsigned options = 0; options <= ORR_MODEL_PLAIN; options++)
    for (int k = 0; k < 20; k++) {
      struct orr_sample *s = orr_sample_of(&b, 1);
      s->description.gravity[1] = -g;
      double theta = s->q[0] = 0.37 * k - 3, rate = s->u[0] = 0.21 * k - 2, tau = s->force[0] = 0.5 * k - 4;
      struct orr_trial t = orr_trial_make(s, options);
      assert_int_equal(orr_trial_forward(&t), ORR_OK);
      double want = (tau - m * g * length * sin(theta)) / (izz + m * length * length);
      close_to(t.accel[0], want, 10);
      /* body axes: r̈ = [L θ̈; L θ̇²; 0] with the arm along −y, weight turned back */
      orr_spatial f = orr_hinge_force(t.model, t.ws, 0);
      close_to(f.v.x, m * (length * want + g * sin(theta)), 50);
      close_to(f.v.y, m * (length * rate * rate + g * cos(theta)), 50);
      close_to(f.v.z, 0, 50);
      close_to(f.w.x, 0, 50);
      close_to(f.w.y, 0, 50);
      close_to(f.w.z, tau, 50);
      orr_trial_free(&t);
      orr_sample_free(s);
    }
}

/* [m1 + m2, m2 L cos θ; m2 L cos θ, I + m2 L²] [ẍ; θ̈] = [f + m2 L sin θ θ̇²; −m2 g L sin θ]   (N4), with a torque
 * too */
static void pendulum_with_a_moving_base(void **state) {
  (void)state;
  const double m1 = 3, m2 = 2, length = 0.8, izz = 0.5, g = 9.81;
  struct orr_body_desc b[2] = {body_on(ORR_HINGE_PRISMATIC, ORR_INERTIAL, 0), body_on(ORR_HINGE_REVOLUTE, 0, 2)};
  b[0].mass = m1;
  b[1].mass = m2;
  for (int i = 0; i < 3; i++)
    b[0].inertia[i] = 1, b[1].inertia[i] = izz;
  b[1].com[1] = -length;
  for (int k = 0; k < 20; k++) {
    struct orr_sample *s = orr_sample_of(b, 2);
    s->description.gravity[1] = -g;
    s->q[0] = 0.3 * k;
    s->u[0] = 1 - 0.2 * k;
    double theta = s->q[1] = 0.4 * k - 4, rate = s->u[1] = 0.3 * k - 3;
    double push = s->force[0] = 0.7 * k - 5, tau = s->force[1] = 2 - 0.3 * k;
    struct orr_trial t = orr_trial_make(s, 0);
    assert_int_equal(orr_trial_forward(&t), ORR_OK);
    double a = m1 + m2, c = m2 * length * cos(theta), d = izz + m2 * length * length;
    double p = push + m2 * length * sin(theta) * rate * rate, r = tau - m2 * g * length * sin(theta);
    double det = a * d - c * c, x = (d * p - c * r) / det, turn = (a * r - c * p) / det;
    close_to(t.accel[0], x, 20);
    close_to(t.accel[1], turn, 20);
    /* the rail carries both weights and what the bob pulls */
    double up = (m1 + m2) * g + m2 * length * (turn * sin(theta) + rate * rate * cos(theta));
    struct orr_axis_force along = orr_hinge_force_along(t.model, t.ws, 0, (orr_vec3){0, 1, 0});
    close_to(along.force, up, 200);
    close_to(orr_hinge_force_along(t.model, t.ws, 0, (orr_vec3){1, 0, 0}).force, push, 200);
    orr_trial_free(&t);
    orr_sample_free(s);
  }
}

/* √(−∂η̈/∂η)/2π of a body's one mode, at rest, from forward dynamics on both sides of zero. */
static double frequency_hz(const struct orr_sample *s, int body, bool held) {
  const double step = 1e-6;
  struct orr_trial t = orr_trial_make(s, 0);
  double slope = 0;
  orr_prescribe(t.ws, 0, held);
  for (int side = -1; side <= 1; side += 2) {
    s->q[s->q_at[body]] = side * step;
    assert_int_equal(orr_trial_forward(&t), ORR_OK);
    slope += side * t.accel[s->u_at[body]] / (2 * step);
  }
  s->q[s->q_at[body]] = 0;
  orr_trial_free(&t);
  return sqrt(-slope) / (2 * PI);
}

enum { MASS = 2, ARM = 3 };

/* J so that a mode of 1 Hz comes out at `coupled_hz` */
static double hub_inertia(double coupled_hz) {
  double ratio = 1 - 1 / (coupled_hz * coupled_hz); /* M_fr²/(M_ff M_rr) */
  return MASS * ARM * ARM * (1 / ratio - 1);
}

static void expect_frequency(double have, double want) {
  orr_expect_below(fabs(have / want - 1), 1e-10, "frequency", 0);
}

static const double COUPLED_HZ = 1.0204, COUNTED_TWICE_HZ = 1.0416;

/* Hub and mass are nodes of one body; the mode is zero at the hinge. */
static void a_cantilever_mode_on_a_free_hub_has_the_coupled_frequency(void **state) {
  (void)state;
  for (int linearized = 0; linearized < 2; linearized++) {
    const double still[6] = {0}, across[6] = {0, 0, 0, 0, 1, 0};
    const struct orr_mode_desc mode = {.frequency_hz = 1};
    struct orr_node_desc nodes[2] = {{.name = "origin", .modes = still},
                                     {.name = "tip", .at = {ARM, 0, 0}, .mass = MASS, .modes = across}};
    nodes[0].mass = 100;
    for (int i = 0; i < 3; i++)
      nodes[0].inertia[i] = hub_inertia(COUPLED_HZ);
    struct orr_body_desc b = body_on(ORR_HINGE_REVOLUTE, ORR_INERTIAL, 2);
    b.flexible = true;
    b.deformation = linearized ? ORR_DEFORMATION_LINEARIZED : ORR_DEFORMATION_FULL;
    b.mode_count = 1;
    b.modes = &mode;
    b.node_count = 2;
    b.nodes = nodes;
    struct orr_sample *s = orr_sample_of(&b, 1);
    expect_frequency(frequency_hz(s, 0, true), 1);
    expect_frequency(frequency_hz(s, 0, false), COUPLED_HZ);
    assert_true(fabs(frequency_hz(s, 0, false) - COUNTED_TWICE_HZ) > 0.02);
    orr_sample_free(s);
  }
}

/* The hub is a rigid body of its own, the boom is fixed on it. */
static void a_cantilever_boom_on_a_rigid_hub_has_the_coupled_frequency(void **state) {
  (void)state;
  const double still[6] = {0}, across[6] = {0, 0, 0, 0, 1, 0};
  const struct orr_mode_desc mode = {.frequency_hz = 1};
  const struct orr_node_desc nodes[2] = {{.name = "origin", .modes = still},
                                         {.name = "tip", .at = {ARM, 0, 0}, .mass = MASS, .modes = across}};
  struct orr_body_desc b[2] = {body_on(ORR_HINGE_REVOLUTE, ORR_INERTIAL, 2), body_on(ORR_HINGE_FIXED, 0, 2)};
  b[0].mass = 100;
  for (int i = 0; i < 3; i++)
    b[0].inertia[i] = hub_inertia(COUPLED_HZ);
  b[1].flexible = true;
  b[1].mode_count = 1;
  b[1].modes = &mode;
  b[1].node_count = 2;
  b[1].nodes = nodes;
  struct orr_sample *s = orr_sample_of(b, 2);
  expect_frequency(frequency_hz(s, 1, true), 1);
  expect_frequency(frequency_hz(s, 1, false), COUPLED_HZ);
  orr_sample_free(s);
}

/* The same structure by its free-free mode: the cantilever shape less the turn that takes its angular momentum away, a
 * = −M_fr/M_rr, of modal mass M_ff − M_fr²/M_rr and frequency 1.0204 Hz. Now the hinge's own node turns with the mode;
 * held there, the structure has the cantilever's 1 Hz, and free again 1.0204 Hz. */
static void a_free_free_mode_has_the_same_frequencies(void **state) {
  (void)state;
  double inertia = hub_inertia(COUPLED_HZ), turn = -MASS * ARM / (inertia + MASS * ARM * ARM);
  const double at_hub[6] = {0, 0, turn, 0, 0, 0}, at_tip[6] = {0, 0, turn, 0, 1 + turn * ARM, 0};
  const struct orr_mode_desc mode = {.frequency_hz = COUPLED_HZ};
  struct orr_node_desc nodes[2] = {{.name = "origin", .mass = 100, .modes = at_hub},
                                   {.name = "tip", .at = {ARM, 0, 0}, .mass = MASS, .modes = at_tip}};
  for (int i = 0; i < 3; i++)
    nodes[0].inertia[i] = inertia;
  struct orr_body_desc b = body_on(ORR_HINGE_REVOLUTE, ORR_INERTIAL, 2);
  b.flexible = true;
  b.mode_count = 1;
  b.modes = &mode;
  b.node_count = 2;
  b.nodes = nodes;
  struct orr_sample *s = orr_sample_of(&b, 1);
  expect_frequency(frequency_hz(s, 0, true), 1);
  expect_frequency(frequency_hz(s, 0, false), COUPLED_HZ);
  orr_sample_free(s);
}

/* A flying hub with two like booms in balance, both modes of 1 Hz: together they shake the hub, against each other they
 * turn it. */
static void symmetric_booms_split_into_a_turning_and_a_shaking_frequency(void **state) {
  (void)state;
  const double still[6] = {0}, across[6] = {0, 0, 0, 0, 1, 0}, hub_mass = 10, hub = 7;
  const struct orr_mode_desc mode = {.frequency_hz = 1};
  struct orr_body_desc b[3] = {body_on(ORR_HINGE_FREE, ORR_INERTIAL, 2), body_on(ORR_HINGE_FIXED, 0, 2),
                               body_on(ORR_HINGE_FIXED, 0, 2)};
  struct orr_node_desc nodes[2][2];
  for (int i = 0; i < 2; i++) {
    nodes[i][0] = (struct orr_node_desc){.name = "origin", .modes = still};
    nodes[i][1] = (struct orr_node_desc){.name = "tip", .at = {i ? -ARM : ARM, 0, 0}, .mass = MASS, .modes = across};
    b[1 + i].flexible = true;
    b[1 + i].mode_count = 1;
    b[1 + i].modes = &mode;
    b[1 + i].node_count = 2;
    b[1 + i].nodes = nodes[i];
  }
  b[0].mass = hub_mass;
  for (int i = 0; i < 3; i++)
    b[0].inertia[i] = hub;
  struct orr_sample *s = orr_sample_of(b, 3);
  struct orr_trial t = orr_trial_make(s, 0);
  int first = s->q_at[1], second = s->q_at[2];
  const double step = 1e-6;
  for (int sign = -1; sign <= 1; sign += 2) { /* −1: tips on opposite sides move oppositely, which turns the hub */
    s->q[first] = step, s->q[second] = sign * step;
    assert_int_equal(orr_trial_forward(&t), ORR_OK);
    double have = sqrt(-t.accel[s->u_at[1]] / step) / (2 * PI);
    double ratio = sign < 0 ? 2.0 * MASS * ARM * ARM / (hub + 2 * MASS * ARM * ARM) : 2 * MASS / (hub_mass + 2 * MASS);
    orr_expect_below(fabs(have * sqrt(1 - ratio) - 1), 1e-5, "frequency", 0);
    orr_expect_below(fabs(t.accel[s->u_at[1]] / t.accel[s->u_at[2]] - sign), 1e-5, "symmetry", 0);
  }
  orr_trial_free(&t);
  orr_sample_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(simple_pendulum),
      cmocka_unit_test(pendulum_with_a_moving_base),
      cmocka_unit_test(a_cantilever_mode_on_a_free_hub_has_the_coupled_frequency),
      cmocka_unit_test(a_cantilever_boom_on_a_rigid_hub_has_the_coupled_frequency),
      cmocka_unit_test(a_free_free_mode_has_the_same_frequencies),
      cmocka_unit_test(symmetric_booms_split_into_a_turning_and_a_shaking_frequency),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
