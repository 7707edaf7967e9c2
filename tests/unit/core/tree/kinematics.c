/* Poses, velocities and accelerations of nodes and bodies, and forces put on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "tests/support/dense.h"
#include "tests/support/trial.h"

/* a against b, measured against `scale` and b itself */
static void near_vector(orr_vec3 a, const double b[3], double scale, const char *what, uint64_t seed) {
  double have[3], size = scale;
  v3_to(have, a);
  for (int i = 0; i < 3; i++)
    size = fmax(size, fabs(b[i]));
  for (int i = 0; i < 3; i++)
    orr_expect_below(isfinite(have[i]) ? fabs(have[i] - b[i]) / size : HUGE_VAL, 1e-12, what, seed);
}

static void near_attitude(orr_mat3 a, const double *b, uint64_t seed) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      orr_expect_below(fabs(a.m[i][j] - b[3 * i + j]), 1e-12, "attitude", seed);
}

static void check_node(const struct orr_trial *trial, const struct orr_dense *dense, int body, int node,
                       uint64_t seed) {
  struct orr_dense_place want = orr_dense_place(dense, body, node);
  struct orr_node_state have;
  if (node < 0)
    orr_body_query(trial->model, trial->ws, body, &have);
  else
    orr_node_query(trial->model, trial->ws, orr_model_node(trial->model, body, node), &have);
  near_vector(have.position, want.position, 1, "position", seed);
  near_attitude(have.attitude, &want.attitude[0][0], seed);
  near_vector(have.omega, want.omega, 1, "angular velocity", seed);
  near_vector(have.v, want.v, 1, "velocity", seed);
  if (node < 0)
    return;
  orr_spatial felt = orr_node_acceleration(trial->model, trial->ws, orr_model_node(trial->model, body, node));
  double less[3];
  for (int i = 0; i < 3; i++)
    less[i] = want.accel[i] - trial->sample->description.gravity[i];
  near_vector(m3_apply(have.attitude, felt.w), want.alpha, 30, "angular acceleration", seed);
  near_vector(m3_apply(have.attitude, felt.v), less, 30, "acceleration", seed);
}

static void places_and_motions_agree_with_the_dense_reference(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 1 + (int)(seed % 12));
    if (seed % 3 == 2) {
      o.one_kind = true;
      o.kind = ORR_HINGE_REVOLUTE;
      o.massless = 0;
      o.flexible = seed % 2 ? 0 : 0.3;
    }
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial trial = orr_trial_make(s, 0);
    struct orr_dense *dense = orr_dense_make(s);
    double *accel = orr_vector_make(s->u_count), *rotor = orr_vector_make((int)s->description.rotor_count);
    assert_true(orr_dense_forward(dense, accel, rotor));
    assert_int_equal(orr_trial_forward(&trial), ORR_OK);
    for (int i = 0; i < o.bodies; i++)
      for (int j = -1; j < (int)s->bodies[i].node_count; j++)
        check_node(&trial, dense, i, j, seed);
    free(accel);
    free(rotor);
    orr_dense_free(dense);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

/* Another state first leaves nothing behind. */
static void a_new_state_replaces_the_old_one_whole(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(8, 12);
  struct orr_sample *a = orr_sample_make(&o);
  struct orr_trial used = orr_trial_make(a, 0), fresh = orr_trial_second(&used);
  double *zero = orr_vector_make(a->u_count), *q = orr_vector_make(a->q_count);
  memcpy(q, fresh.ws->q, sizeof(double) * (size_t)a->q_count); /* a fresh workspace stands at zero coordinates */
  orr_trial_load(&used);
  orr_state_set(used.model, used.ws, q, zero);
  orr_state_set(fresh.model, fresh.ws, q, zero);
  orr_poses_update(used.model, used.ws);
  orr_poses_update(fresh.model, fresh.ws);
  for (int i = 0; i < used.model->node_count; i++) {
    struct orr_node_state x, y;
    memset(&x, 0, sizeof x);
    memset(&y, 0, sizeof y);
    orr_node_query(used.model, used.ws, i, &x);
    orr_node_query(fresh.model, fresh.ws, i, &y);
    assert_memory_equal(&x, &y, sizeof x);
  }
  free(zero);
  free(q);
  orr_trial_free(&used);
  orr_trial_free(&fresh);
  orr_sample_free(a);
}

static void at_zero_coordinates_o_is_o_plus(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 8);
    o.flexible = 0.3;
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial trial = orr_trial_make(s, 0);
    double *zero = orr_vector_make(s->u_count), *q = orr_vector_make(s->q_count);
    memcpy(q, trial.ws->q, sizeof(double) * (size_t)s->q_count);
    orr_state_set(trial.model, trial.ws, q, zero);
    orr_poses_update(trial.model, trial.ws);
    for (int i = 0; i < o.bodies; i++) {
      const struct orr_hinge_desc *h = &s->bodies[i].hinge;
      struct orr_node_state own, on = {.attitude = m3_identity()};
      orr_node_query(trial.model, trial.ws, orr_model_node(trial.model, i, h->node), &own);
      if (h->parent >= 0)
        orr_node_query(trial.model, trial.ws, orr_model_node(trial.model, h->parent, h->parent_node), &on);
      orr_expect_below(v3_norm(v3_sub(own.position, on.position)), 1e-13, "place", seed);
      orr_mat3 plus = m3_mul(on.attitude, quat_matrix(h->rotation));
      near_attitude(own.attitude, &plus.m[0][0], seed);
    }
    free(zero);
    free(q);
    orr_trial_free(&trial);
    orr_sample_free(s);
  }
}

/* A push counts until it is cleared, adds up, and its opposite takes it away. */
static void pushes_add_up_until_cleared(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(6, 8);
  o.pushes = 0;
  struct orr_sample *s = orr_sample_make(&o);
  struct orr_trial t = orr_trial_make(s, 0);
  const orr_vec3 f = {3, 1, -2}, n = {0.4, 0.8, -0.1};
  double *none = orr_vector_make(s->u_count), *one = orr_vector_make(s->u_count), *two = orr_vector_make(s->u_count);
  int node = orr_model_node(t.model, 3, 0);
  orr_trial_load(&t);
  assert_int_equal(orr_forward(t.model, t.ws, s->force, s->given, none), ORR_OK);
  orr_force_add(t.model, t.ws, node, ORR_AXES_NODE, f, n);
  assert_int_equal(orr_forward(t.model, t.ws, s->force, s->given, one), ORR_OK);
  assert_true(orr_gap(one, none, s->u_count) > 1e-3);
  orr_force_add(t.model, t.ws, node, ORR_AXES_NODE, f, n);
  assert_int_equal(orr_forward(t.model, t.ws, s->force, s->given, two), ORR_OK);
  for (int i = 0; i < s->u_count; i++)
    two[i] = none[i] + 2 * (one[i] - none[i]) - two[i];
  for (int i = 0; i < s->u_count; i++)
    assert_true(fabs(two[i]) <= 1e-11 * fmax(1, fabs(one[i])));
  orr_force_add(t.model, t.ws, node, ORR_AXES_NODE, v3_scale(-2, f), v3_scale(-2, n));
  assert_int_equal(orr_forward(t.model, t.ws, s->force, s->given, two), ORR_OK);
  orr_expect_below(orr_gap(two, none, s->u_count), 1e-12, "taken away", o.seed);
  orr_force_add(t.model, t.ws, node, ORR_AXES_BODY, f, n);
  orr_force_clear(t.model, t.ws);
  assert_int_equal(orr_forward(t.model, t.ws, s->force, s->given, two), ORR_OK);
  assert_memory_equal(two, none, sizeof(double) * (size_t)s->u_count);
  free(none);
  free(one);
  free(two);
  orr_trial_free(&t);
  orr_sample_free(s);
}

static double state_gap(const struct orr_limb_state *a, const struct orr_limb_state *b, int dof) {
  double gap = orr_gap(&a->r.m[0][0], &b->r.m[0][0], 9) + orr_gap(&a->l.x, &b->l.x, 3) + orr_gap(&a->v.x, &b->v.x, 3);
  gap += orr_gap(&a->g.x, &b->g.x, 3) + orr_gap(&a->a.w.x, &b->a.w.x, 6) + orr_gap(&a->b.w.x, &b->b.w.x, 6);
  return gap + orr_gap(&a->h[0].w.x, &b->h[0].w.x, 6 * dof);
}

static void universal_and_gimbal_limbs_equal_their_plain_twin(void **state) {
  (void)state;
  int turning = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 12);
    o.one_kind = true; /* below a revolute hinge the axes of the solver would be others */
    o.kind = seed % 3 ? ORR_HINGE_UNIVERSAL : ORR_HINGE_GIMBAL;
    o.flexible = seed % 2 ? 0.4 : 0;
    o.massless = 0;
    struct orr_sample *s = orr_sample_make(&o);
    if (seed % 5 == 4)
      s->q[0] = 3e6; /* far-gone angles */
    struct orr_trial fast = orr_trial_make(s, ORR_MODEL_DEFAULT), plain = orr_trial_make(s, ORR_MODEL_PLAIN);
    assert_int_equal(plain.model->turning_count, 0);
    turning += fast.model->turning_count;
    assert_int_equal(orr_trial_forward(&fast), ORR_OK);
    assert_int_equal(orr_trial_forward(&plain), ORR_OK);
    orr_limbs_complete(fast.model, fast.ws);
    for (int k = 0; k < o.bodies; k++)
      if (fast.model->limbs[k].turning >= 0) {
        orr_expect_below(state_gap(&fast.ws->limbs[k], &plain.ws->limbs[k], fast.model->limbs[k].dof), 1e-11, "state",
                         seed);
        orr_expect_below(orr_gap(&fast.ws->flows[k].omega.x, &plain.ws->flows[k].omega.x, 3), 1e-11, "spin", seed);
      }
    orr_trial_free(&fast);
    orr_trial_free(&plain);
    orr_sample_free(s);
  }
  assert_true(turning > 300);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_and_motions_agree_with_the_dense_reference),
      cmocka_unit_test(a_new_state_replaces_the_old_one_whole),
      cmocka_unit_test(at_zero_coordinates_o_is_o_plus),
      cmocka_unit_test(pushes_add_up_until_cleared),
      cmocka_unit_test(universal_and_gimbal_limbs_equal_their_plain_twin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
