/* Energies, momentum and mass properties; and that their rates are the power and the force put in, by the accelerations
 * alone.
 *
 * Rates are taken along a path whose tangent is the state's own rate: q̇ from the speeds, u̇ from core's forward
 * dynamics. Energy and momentum on that path come from the dense reference in 80 bits, differenced with seven points at
 * 1/1024 s: its truncation is h⁶/140 times a seventh derivative, and the state is rounded to doubles, 1e-16/h; together
 * they stay at 1e-11.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/energy.h"
#include "core/tree/forward.h"
#include "tests/support/dense.h"
#include "tests/support/prng.h"
#include "tests/support/trial.h"

static void energies_and_momentum_agree_with_the_dense_reference(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 80; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, seed == 79 ? 200 : 1 + (int)(seed % 12));
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial trial = orr_trial_make(s, 0);
    orr_trial_load(&trial);
    struct orr_dense_totals want = orr_dense_totals(s, s->q, s->u, s->rotor_speed);
    double scale = (double)(fabsl(want.kinetic) + fabsl(want.potential)), have[6], momentum[6];
    orr_expect_below(fabs(orr_kinetic_energy(trial.model, trial.ws) - (double)want.kinetic) / scale, 1e-13, "kinetic",
                     seed);
    orr_expect_below(fabs(orr_potential_energy(trial.model, trial.ws) - (double)want.potential) / scale, 1e-13,
                     "potential", seed);
    sp_to(have, orr_momentum(trial.model, trial.ws));
    for (int i = 0; i < 6; i++)
      momentum[i] = (double)want.momentum[i];
    if (s->u_count) {
      orr_expect_below(orr_gap(have, momentum, 3), 1e-12, "angular momentum", seed);
      orr_expect_below(orr_gap(have + 3, momentum + 3, 3), 1e-12, "linear momentum", seed);
    }
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

/* d/dt of energy [0] and momentum [1 … 6] along the tangent of the sample's state. */
static void rates(const struct orr_sample *s, const double *accel, const double *rotor_accel, long double out[7]) {
  static const long double weight[7] = {-1 / 60.0L, 9 / 60.0L, -45 / 60.0L, 0, 45 / 60.0L, -9 / 60.0L, 1 / 60.0L};
  const double step = 1.0 / 1024;
  int rotors = (int)s->description.rotor_count;
  double *q = orr_vector_make(s->q_count), *u = orr_vector_make(s->u_count), *spin = orr_vector_make(rotors);
  memset(out, 0, 7 * sizeof *out);
  for (int k = 0; k < 7; k++) {
    double t = (k - 3) * step;
    orr_sample_along(s, accel, t, q, u);
    for (int i = 0; i < rotors; i++)
      spin[i] = s->rotor_speed[i] + t * rotor_accel[i];
    struct orr_dense_totals at = orr_dense_totals(s, q, u, spin);
    out[0] += weight[k] * (at.kinetic + at.potential) / (long double)step;
    for (int i = 0; i < 6; i++)
      out[1 + i] += weight[k] * at.momentum[i] / (long double)step;
  }
  free(q);
  free(u);
  free(spin);
}

static void cross_add(double out[3], const double a[3], const double b[3]) {
  out[0] += a[1] * b[2] - a[2] * b[1];
  out[1] += a[2] * b[0] - a[0] * b[2];
  out[2] += a[0] * b[1] - a[1] * b[0];
}

/* A wrench [N; F] acts at a place: its power there and its moment about the inertial origin. */
static void account(const double moment[3], const double force[3], const double at[3], const double omega[3],
                    const double v[3], double *power, double total[6]) {
  for (int i = 0; i < 3; i++) {
    *power += moment[i] * omega[i] + force[i] * v[i];
    total[i] += moment[i];
    total[3 + i] += force[i];
  }
  cross_add(total, at, force);
}

/* Components in inertial axes, by core's node query. */
static void account_pushes(const struct orr_trial *trial, double *power, double total[6]) {
  const struct orr_sample *s = trial->sample;
  for (int i = 0; i < s->push_count; i++) {
    const struct orr_push *push = &s->pushes[i];
    struct orr_node_state node, body;
    double moment[3], force[3], at[3], omega[3], v[3];
    orr_node_query(trial->model, trial->ws, orr_model_node(trial->model, push->body, push->node), &node);
    orr_body_query(trial->model, trial->ws, push->body, &body);
    orr_mat3 axes = push->axes == ORR_PUSH_INERTIAL ? m3_identity()
                    : push->axes == ORR_PUSH_BODY   ? body.attitude
                                                    : node.attitude;
    v3_to(moment, m3_apply(axes, v3_from(push->moment)));
    v3_to(force, m3_apply(axes, v3_from(push->force)));
    v3_to(at, node.position);
    v3_to(omega, node.omega);
    v3_to(v, node.v);
    account(moment, force, at, omega, v, power, total);
  }
}

/* What inertial space exerts through the hinges of the roots. */
static void account_roots(const struct orr_trial *trial, double total[6]) {
  const struct orr_sample *s = trial->sample;
  for (int i = 0; i < (int)s->description.body_count; i++) {
    if (s->bodies[i].hinge.parent >= 0)
      continue;
    struct orr_node_state node, body;
    orr_node_query(trial->model, trial->ws, orr_model_node(trial->model, i, s->bodies[i].hinge.node), &node);
    orr_body_query(trial->model, trial->ws, i, &body);
    orr_spatial f = sp_rotate(body.attitude, orr_hinge_force(trial->model, trial->ws, i));
    double moment[3], force[3], at[3], unused = 0;
    const double still[3] = {0, 0, 0};
    v3_to(moment, f.w);
    v3_to(force, f.v);
    v3_to(at, node.position);
    account(moment, force, at, still, still, &unused, total);
  }
}

/* Actuators, driven hinges, dampers of hinges and modes, rotor motors. */
static double internal_power(const struct orr_trial *trial) {
  const struct orr_sample *s = trial->sample;
  double power = 0;
  for (int i = 0; i < (int)s->description.body_count; i++) {
    const struct orr_body_desc *b = &s->bodies[i];
    int n = (int)b->mode_count, hinge = orr_sample_hinge_u(s, i);
    double mass[14 * 14], effort[6];
    const double *rate = s->u + s->u_at[i];
    orr_hinge_effort(trial->model, trial->ws, i, effort);
    for (int k = 0; k < orr_sample_speeds(b->hinge.kind); k++) {
      double tau = b->hinge.prescribed ? effort[k] : s->force[hinge + k];
      power += s->u[hinge + k] * (tau - b->hinge.damping[k] * s->u[hinge + k]);
    }
    if (n) /* the modal mass: the η̇ block is constant */
      orr_dense_body_mass(b, s->q + s->q_at[i], mass);
    for (int r = 0; r < n; r++) {
      power += s->force[s->u_at[i] + r] * rate[r];
      if (b->modes)
        power -= 4 * 3.141592653589793238 * b->modes[r].damping * b->modes[r].frequency_hz * mass[r * (n + 6) + r] *
                 rate[r] * rate[r];
      for (int k = 0; k < n && b->damping; k++)
        power -= rate[r] * b->damping[r * n + k] * rate[k];
    }
  }
  for (size_t i = 0; i < s->description.rotor_count; i++)
    power += s->rotor_torque[i] * s->rotor_speed[i];
  return power;
}

static void check_rates(const struct orr_sample *s, double limit, uint64_t seed) {
  struct orr_trial trial = orr_trial_make(s, 0);
  long double rate[7];
  double total[6] = {0}, scale = 1, weight[3];
  assert_int_equal(orr_trial_forward(&trial), ORR_OK);
  rates(s, trial.accel, trial.ws->rotor_accel, rate);
  double power = internal_power(&trial);
  account_pushes(&trial, &power, total);
  account_roots(&trial, total);
  double mass = 0, com[3] = {0};
  /* weight, at the mass centre of the deformed places: −∂/∂g of the potential energy */
  struct orr_sample *one = orr_sample_copy(s);
  for (int i = 0; i < 3; i++) {
    double zero[3] = {0, 0, 0};
    memcpy(one->description.gravity, zero, sizeof zero);
    long double none = orr_dense_totals(one, s->q, s->u, s->rotor_speed).potential;
    one->description.gravity[i] = 1;
    com[i] = (double)(none - orr_dense_totals(one, s->q, s->u, s->rotor_speed).potential); /* Σ m x_i */
  }
  for (int i = 0; i < (int)s->description.body_count; i++) {
    const struct orr_body_desc *b = &s->bodies[i];
    mass += b->flexible ? 0 : b->mass;
    for (size_t j = 0; j < b->node_count && b->flexible; j++)
      mass += b->nodes[j].mass;
  }
  for (int i = 0; i < 3; i++) {
    weight[i] = s->description.gravity[i];
    total[3 + i] += mass * weight[i];
  }
  cross_add(total, com, weight);
  for (int i = 0; i < 6; i++)
    scale = fmax(scale, fabs(total[i]));
  orr_expect_below(fabs((double)rate[0] - power) / fmax(scale, fabs(power)), limit, "energy", seed);
  for (int i = 0; i < 6; i++)
    orr_expect_below(fabs((double)rate[1 + i] - total[i]) / scale, limit, "momentum", seed);
  orr_sample_free(one);
  orr_trial_free(&trial);
}

static void energy_grows_by_the_power_and_momentum_by_the_force(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 100; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 1 + (int)(seed % 12));
    o.rotors = 0.4;
    o.prescribed = seed % 2 ? 0.3 : 0;
    o.linearized = (double)(seed % 3) / 2;
    if (seed % 5 == 4) {
      o.one_kind = true;
      o.kind = ORR_HINGE_REVOLUTE;
      o.flexible = 0.2;
      o.massless = 0;
    }
    struct orr_sample *s = orr_sample_make(&o);
    check_rates(s, 1e-10, seed);
    orr_sample_free(s);
  }
}

static void a_free_system_keeps_energy_and_momentum(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 2 + (int)(seed % 9));
    o.roots = o.prescribed = o.springs = o.gravity = 0;
    o.pushes = 0;
    o.rotors = 0.3;
    o.linearized = 0.5;
    struct orr_sample *s = orr_sample_make(&o);
    for (int i = 0; i < o.bodies; i++) {
      if (s->bodies[i].hinge.parent < 0 && s->bodies[i].hinge.kind != ORR_HINGE_FREE)
        goto next; /* only models whose one root flies */
      for (size_t r = 0; r < s->bodies[i].mode_count && s->bodies[i].modes; r++)
        ((struct orr_mode_desc *)s->bodies[i].modes)[r].damping = 0;
      s->bodies[i].damping = NULL;
    }
    memset(s->force, 0, sizeof(double) * (size_t)s->u_count);
    for (size_t i = 0; i < s->description.rotor_count; i++)
      s->rotor_torque[i] = 0;
    struct orr_trial trial = orr_trial_make(s, 0);
    long double rate[7];
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    rates(s, trial.accel, trial.ws->rotor_accel, rate);
    for (int i = 0; i < 7; i++)
      orr_expect_below((double)fabsl(rate[i]), 1e-10, "rate", seed);
    orr_trial_free(&trial);
  next:
    orr_sample_free(s);
  }
}

/* A one-tree model that flies freely. */
static struct orr_sample *flyer(uint64_t seed, double linearized) {
  struct orr_sample_options o = orr_sample_default(seed, 7);
  o.roots = 0;
  o.linearized = linearized;
  o.prescribed = 0;
  for (;; o.seed += 1000) {
    struct orr_sample *s = orr_sample_make(&o);
    for (int i = 0; i < o.bodies; i++)
      if (s->bodies[i].hinge.parent < 0 && s->bodies[i].hinge.kind == ORR_HINGE_FREE)
        return s;
    orr_sample_free(s);
  }
}

static int root_of(const struct orr_sample *s) {
  int i = 0;
  while (s->bodies[i].hinge.parent >= 0)
    i++;
  return i;
}

/* All of it moves by V more: T + P·V + ½MV², P + MV; the same forces, so the same acceleration in inertial axes. */
static void a_uniform_velocity_changes_nothing_but_its_own_energy(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 30; seed++) {
    struct orr_sample *s = flyer(seed, 0);
    struct orr_trial trial = orr_trial_make(s, 0);
    int root = root_of(s), at = orr_sample_hinge_u(s, root);
    const orr_vec3 extra = {3, -2, 1};
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    double *before = orr_vector_make(s->u_count), energy = orr_kinetic_energy(trial.model, trial.ws);
    memcpy(before, trial.accel, sizeof(double) * (size_t)s->u_count);
    orr_vec3 p = orr_momentum(trial.model, trial.ws).v;
    double mass = orr_mass_properties(trial.model, trial.ws).mass;
    struct orr_node_state node;
    orr_node_query(trial.model, trial.ws, orr_model_node(trial.model, root, s->bodies[root].hinge.node), &node);
    orr_vec3 local = m3_apply_t(node.attitude, extra);
    orr_vec3 omega = v3_from(s->u + at);
    s->u[at + 3] += local.x;
    s->u[at + 4] += local.y;
    s->u[at + 5] += local.z;
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    /* β̇ of components in the turning frame O: v̇ = Rᵀa − ω × v */
    orr_vec3 change = v3_neg(v3_cross(omega, local));
    before[at + 3] += change.x;
    before[at + 4] += change.y;
    before[at + 5] += change.z;
    orr_expect_below(orr_gap_bodies(s, trial.accel, before), 1e-11, "acceleration", seed);
    double want = energy + v3_dot(p, extra) + 0.5 * mass * v3_dot(extra, extra);
    orr_expect_below(fabs(orr_kinetic_energy(trial.model, trial.ws) - want) / want, 1e-13, "energy", seed);
    orr_vec3 gain = v3_sub(orr_momentum(trial.model, trial.ws).v, v3_madd(p, mass, extra));
    orr_expect_below(v3_norm(gain) / mass, 1e-13, "momentum", seed);
    free(before);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

/* The rows of M for a flying root are the whole system's: [I about O, m c̃; m]. */
static void mass_properties_are_the_roots_block_of_the_mass_matrix(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 30; seed++) {
    struct orr_sample *s = flyer(seed, 0.5);
    s->description.rotor_count = 0; /* free rotors do not turn with the rest */
    struct orr_trial trial = orr_trial_make(s, 0);
    struct orr_dense *dense = orr_dense_make(s);
    int root = root_of(s), at = orr_sample_hinge_u(s, root), n = s->u_count;
    double *m = orr_vector_make(n * n);
    orr_dense_mass(dense, m);
    orr_trial_load(&trial);
    struct orr_mass_properties all = orr_mass_properties(trial.model, trial.ws);
    struct orr_node_state node;
    orr_node_query(trial.model, trial.ws, orr_model_node(trial.model, root, s->bodies[root].hinge.node), &node);
    orr_vec3 c = m3_apply_t(node.attitude, v3_sub(v3_from(all.com), node.position));
    orr_sym3 about_o = s3_add(s3_rotate(m3_transpose(node.attitude), s3_from(all.inertia)), s3_point(all.mass, c));
    orr_inertia whole = in_rigid(all.mass, v3_scale(all.mass, c), about_o);
    double want[36], have[36];
    for (int i = 0; i < 6; i++) {
      double unit[6] = {0}, column[6];
      unit[i] = 1;
      sp_to(column, in_apply(whole, sp_from(unit)));
      for (int k = 0; k < 6; k++) {
        have[k * 6 + i] = column[k];
        want[k * 6 + i] = m[(at + k) * n + at + i];
      }
    }
    orr_expect_below(orr_gap_matrix(have, want, 6), 1e-12, "mass properties", seed);
    free(m);
    orr_dense_free(dense);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energies_and_momentum_agree_with_the_dense_reference),
      cmocka_unit_test(energy_grows_by_the_power_and_momentum_by_the_force),
      cmocka_unit_test(a_free_system_keeps_energy_and_momentum),
      cmocka_unit_test(a_uniform_velocity_changes_nothing_but_its_own_energy),
      cmocka_unit_test(mass_properties_are_the_roots_block_of_the_mass_matrix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
