/* Compiling: order, numbering, what is refused; and descriptions that say the same thing in other words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/model/model.h"
#include "core/tree/forward.h"
#include "tests/support/prng.h"
#include "tests/support/trial.h"

static void limbs_are_parents_first_whatever_the_order_of_the_file(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 30; seed++) {
    struct orr_sample_options o = orr_sample_default(seed, 60);
    o.roots = 0.1;
    o.reach = (int)(seed % 5);
    struct orr_sample *s = orr_sample_make(&o);
    struct orr_trial t = orr_trial_make(s, 0);
    bool seen[60] = {false};
    assert_int_equal(t.model->body_count, 60);
    for (int k = 0; k < 60; k++) {
      const struct orr_limb *limb = &t.model->limbs[k];
      int parent = s->bodies[limb->body].hinge.parent;
      assert_false(seen[limb->body]);
      seen[limb->body] = true;
      assert_int_equal(t.model->limb_of_body[limb->body], k);
      assert_true(limb->parent < k);
      assert_int_equal(limb->parent, parent < 0 ? -1 : t.model->limb_of_body[parent]);
    }
    orr_trial_free(&t);
    orr_sample_free(s);
  }
}

/* An axis near one of its parent's is not taken for it: the solver's z is the axis of the file. */
static void axes_near_those_of_the_parent_stay_their_own(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (int decade = -12; decade < -3; decade++) {
      double tilt = pow(10, decade);
      struct orr_sample_options o = orr_sample_default(1, 2);
      o.reach = 1, o.one_kind = true, o.kind = ORR_HINGE_REVOLUTE, o.flexible = o.roots = 0;
      struct orr_sample *s = orr_sample_make(&o);
      for (int i = 0; i < 2; i++) {
        struct orr_hinge_desc *h = &s->bodies[i].hinge;
        memset(h->axes[0], 0, sizeof h->axes[0]);
        memset(h->rotation, 0, sizeof h->rotation);
        h->axes[0][k] = h->rotation[3] = 1;
        h->axes[0][(k + 1) % 3] = i ? tilt : 0;
      }
      struct orr_trial t = orr_trial_make(s, 0);
      const struct orr_limb *limb = &t.model->limbs[1], *parent = &t.model->limbs[0];
      orr_vec3 axis = v3_from(s->bodies[limb->body].hinge.axes[0]);
      assert_true(v3_norm(v3_sub(m3_col(limb->c, 2), axis)) < 1e-15);
      assert_true(v3_norm(v3_sub(m3_col(limb->r0c, 2), m3_apply_t(parent->c, axis))) < 1e-15);
      orr_trial_free(&t);
      orr_sample_free(s);
    }
}

static void states_are_numbered_in_the_order_of_the_file(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(5, 30);
  struct orr_sample *s = orr_sample_make(&o);
  struct orr_trial t = orr_trial_make(s, 0);
  int node = 0;
  assert_int_equal(t.model->q_count, s->q_count);
  assert_int_equal(t.model->u_count, s->u_count);
  for (int i = 0; i < o.bodies; i++) {
    const struct orr_limb *limb = &t.model->limbs[t.model->limb_of_body[i]];
    assert_int_equal(limb->q, s->q_at[i]);
    assert_int_equal(limb->u, s->u_at[i]);
    assert_int_equal(limb->hinge_q, orr_sample_hinge_q(s, i));
    assert_int_equal(limb->hinge_u, orr_sample_hinge_u(s, i));
    assert_int_equal(limb->dof, orr_sample_speeds(s->bodies[i].hinge.kind));
    assert_int_equal(limb->mode_count, (int)s->bodies[i].mode_count);
    for (int j = 0; j < (int)s->bodies[i].node_count; j++)
      assert_int_equal(orr_model_node(t.model, i, j), node++);
  }
  assert_int_equal(t.model->node_count, node);
  orr_trial_free(&t);
  orr_sample_free(s);
}

static void a_cycle_is_refused_with_one_of_its_bodies(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(2, 8);
  o.roots = 0;
  o.reach = 1;
  struct orr_sample *s = orr_sample_make(&o);
  int tip = 0, middle = 0, steps = 0;
  for (int i = 0; i < o.bodies; i++) { /* the body that nobody hangs on */
    bool parent = false;
    for (int j = 0; j < o.bodies; j++)
      parent = parent || s->bodies[j].hinge.parent == i;
    if (!parent)
      tip = i;
  }
  for (middle = tip; steps < 3; steps++)
    middle = s->bodies[middle].hinge.parent;
  s->bodies[middle].hinge.parent = tip;
  s->bodies[middle].hinge.parent_node = 0;
  size_t bytes = orr_model_size(&s->description, 0);
  void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
  assert_non_null(block);
  enum orr_status status = ORR_OK;
  int where = -1;
  assert_null(orr_model_init(block, bytes, &s->description, 0, &status, &where));
  assert_int_equal(status, ORR_ERROR_CYCLE);
  bool found = false;
  for (int i = middle, k = 0; k < 4; k++, i = s->bodies[i].hinge.parent)
    found = found || i == where;
  assert_true(found);
  free(block);
  orr_sample_free(s);
}

/* The description may go when the model is there: names are copied, and so are modes and matrices. */
static void a_model_needs_its_description_no_more(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(6, 10);
  struct orr_sample *s = orr_sample_make(&o), *gone = orr_sample_copy(s);
  char name[8] = "mirror";
  gone->bodies[4].name = name;
  struct orr_trial a = orr_trial_make(s, 0), b = orr_trial_make(gone, 0);
  name[0] = 'X';
  assert_string_equal(b.model->limbs[b.model->limb_of_body[4]].name, "mirror");
  orr_sample_free(gone);
  b.sample = s;
  assert_int_equal(orr_trial_forward(&a), ORR_OK);
  assert_int_equal(orr_trial_forward(&b), ORR_OK);
  assert_memory_equal(a.accel, b.accel, sizeof(double) * (size_t)s->u_count);
  orr_trial_free(&a);
  orr_trial_free(&b);
  orr_sample_free(s);
}

static void rigid_trees_of_revolute_hinges_take_the_fast_kernel(void **state) {
  (void)state;
  struct orr_sample_options o = orr_sample_default(1, 20);
  o.one_kind = true;
  o.kind = ORR_HINGE_REVOLUTE;
  o.flexible = o.massless = o.rotors = 0;
  struct orr_sample *s = orr_sample_make(&o);
  struct orr_trial fast = orr_trial_make(s, 0), plain = orr_trial_make(s, ORR_MODEL_PLAIN);
  assert_int_equal(fast.model->revolute_count, 20);
  assert_int_equal(plain.model->revolute_count, 0);
  orr_trial_free(&fast);
  orr_trial_free(&plain);
  orr_sample_free(s);
}

/* ---- the same thing in other words ------------------------------------------------------------------------------- */

static const struct orr_node_desc BARE = {.name = "origin"};

static struct orr_body_desc piece(struct orr_prng *p, enum orr_hinge_kind kind, int parent) {
  struct orr_body_desc b = {.name = "b", .mass = prng_scale(p, 0.5, 4), .node_count = 1, .nodes = &BARE};
  prng_vector(p, 0.3, b.com, 3);
  for (int k = 0; k < 3; k++)
    b.inertia[k] = b.mass * prng_between(p, 0.2, 0.3);
  prng_vector(p, 0.02 * b.mass, b.inertia + 3, 3);
  b.hinge = (struct orr_hinge_desc){.kind = kind, .parent = parent, .rotation = {0, 0, 0, 1}};
  prng_direction(p, b.hinge.rotation, 4);
  prng_direction(p, b.hinge.axes[0], 3);
  return b;
}

static struct orr_body_desc nothing_between(enum orr_hinge_kind kind, int parent, const double axis[3]) {
  struct orr_body_desc b = {.name = "b", .node_count = 1, .nodes = &BARE};
  b.hinge = (struct orr_hinge_desc){.kind = kind, .parent = parent, .rotation = {0, 0, 0, 1}};
  memcpy(b.hinge.axes[0], axis, sizeof b.hinge.axes[0]);
  return b;
}

/* One hinge of several speeds is a chain of simple ones with nothing between; `speed[i]` is the hinge's i-th in the
 * chain. */
static void check_split(struct orr_prng *p, enum orr_hinge_kind kind, const enum orr_hinge_kind *kinds,
                        double (*axes)[3], const int *speed, int parts, double (*own)[3]) {
  struct orr_body_desc whole[3], split[5];
  whole[0] = split[0] = piece(p, ORR_HINGE_FREE, ORR_INERTIAL);
  whole[1] = piece(p, kind, 0);
  memcpy(whole[1].hinge.axes, own, sizeof whole[1].hinge.axes);
  whole[2] = piece(p, ORR_HINGE_BALL, 1);
  for (int i = 0; i < parts; i++)
    split[1 + i] = nothing_between(kinds[i], i, axes[i]);
  struct orr_body_desc last = whole[1];
  last.hinge = split[parts].hinge;
  split[parts] = last;
  memcpy(split[1].hinge.rotation, whole[1].hinge.rotation, sizeof split[1].hinge.rotation);
  split[1 + parts] = whole[2];
  split[1 + parts].hinge.parent = parts;
  struct orr_sample *a = orr_sample_of(whole, 3), *b = orr_sample_of(split, (size_t)parts + 2);
  prng_direction(p, a->q + 3, 4);
  prng_vector(p, 1, a->q + 7, parts);
  prng_direction(p, a->q + 7 + parts, 4);
  prng_vector(p, 1, a->u, a->u_count);
  prng_vector(p, 1, a->force, a->u_count);
  memcpy(b->q, a->q, sizeof(double) * (size_t)a->q_count);
  memcpy(b->u, a->u, sizeof(double) * (size_t)a->u_count);
  memcpy(b->force, a->force, sizeof(double) * (size_t)a->u_count);
  for (int i = 0; i < parts; i++) {
    b->q[7 + speed[i]] = a->q[7 + i];
    b->u[6 + speed[i]] = a->u[6 + i];
    b->force[6 + speed[i]] = a->force[6 + i];
  }
  struct orr_trial one = orr_trial_make(a, 0), many = orr_trial_make(b, 0);
  assert_int_equal(orr_trial_forward(&one), ORR_OK);
  assert_int_equal(orr_trial_forward(&many), ORR_OK);
  double *back = orr_vector_make(a->u_count);
  memcpy(back, many.accel, sizeof(double) * (size_t)a->u_count);
  for (int i = 0; i < parts; i++)
    back[6 + i] = many.accel[6 + speed[i]];
  orr_expect_below(orr_gap_bodies(a, back, one.accel), 1e-11, "acceleration", (uint64_t)kind);
  free(back);
  orr_trial_free(&one);
  orr_trial_free(&many);
  orr_sample_free(a);
  orr_sample_free(b);
}

static void hinges_of_several_speeds_are_chains_of_simple_ones(void **state) {
  (void)state;
  struct orr_prng p = {99};
  const enum orr_hinge_kind turns[3] = {ORR_HINGE_REVOLUTE, ORR_HINGE_REVOLUTE, ORR_HINGE_REVOLUTE};
  const enum orr_hinge_kind screw[2] = {ORR_HINGE_REVOLUTE, ORR_HINGE_PRISMATIC};
  const enum orr_hinge_kind table[3] = {ORR_HINGE_PRISMATIC, ORR_HINGE_PRISMATIC, ORR_HINGE_REVOLUTE};
  const int same[3] = {0, 1, 2}, turn_last[3] = {2, 0, 1};
  for (int round = 0; round < 10; round++) {
    double u[3][3] = {{0}};
    for (int i = 0; i < 3; i++)
      prng_direction(&p, u[i], 3);
    for (int k = 0; k < 3; k++)
      u[2][k] = u[0][k] * 0.28 + u[2][k]; /* anything but parallel to the one before */
    double size = sqrt(u[2][0] * u[2][0] + u[2][1] * u[2][1] + u[2][2] * u[2][2]);
    for (int k = 0; k < 3; k++)
      u[2][k] /= size;
    double along[2][3] = {{u[0][0], u[0][1], u[0][2]}, {u[0][0], u[0][1], u[0][2]}};
    double flat[3][3] = {{0}}, normal[3][3] = {{0}};
    int n = round % 3;
    normal[0][n] = flat[2][n] = 1;
    flat[0][(n + 1) % 3] = flat[1][(n + 2) % 3] = 1;
    check_split(&p, ORR_HINGE_UNIVERSAL, turns, u, same, 2, u);
    check_split(&p, ORR_HINGE_GIMBAL, turns, u, same, 3, u);
    check_split(&p, ORR_HINGE_CYLINDRICAL, screw, along, same, 2, u);
    check_split(&p, ORR_HINGE_PLANAR, table, flat, turn_last, 3, normal);
  }
}

/* What a point x of the fixed body is in its parent's frame: at + R (x − own). */
static void moved(const double q[4], const double at[3], const double own[3], const double x[3], double out[3]) {
  double d[3];
  for (int k = 0; k < 3; k++)
    d[k] = x[k] - own[k];
  v3_to(out, v3_add(v3_from(at), m3_apply(quat_matrix(q), v3_from(d))));
}

/* The union of a and of b fixed on it at `place` (all in a's frame). */
static void merge(struct orr_body_desc *a, const struct orr_body_desc *b, const double place[3], const double own[3]) {
  double mass = a->mass + b->mass, c[3], com[3];
  moved(b->hinge.rotation, place, own, b->com, c);
  for (int k = 0; k < 3; k++)
    com[k] = (a->mass * a->com[k] + b->mass * c[k]) / mass;
  orr_sym3 i = s3_add(s3_from(a->inertia), s3_rotate(quat_matrix(b->hinge.rotation), s3_from(b->inertia)));
  i = s3_add(i, s3_point(a->mass, v3_sub(v3_from(a->com), v3_from(com))));
  i = s3_add(i, s3_point(b->mass, v3_sub(v3_from(c), v3_from(com))));
  const double out[6] = {i.xx, i.yy, i.zz, i.xy, i.xz, i.yz};
  a->mass = mass;
  memcpy(a->com, com, sizeof com);
  memcpy(a->inertia, out, sizeof out);
}

static void merging_two_rigid_bodies_joined_by_a_fixed_hinge_changes_nothing(void **state) {
  (void)state;
  static const enum orr_hinge_kind kinds[] = {ORR_HINGE_FREE, ORR_HINGE_REVOLUTE, ORR_HINGE_BALL, ORR_HINGE_GIMBAL};
  for (uint64_t seed = 0; seed < 40; seed++) {
    struct orr_prng p = {seed};
    struct orr_node_desc a_nodes[2] = {BARE, BARE}, b_nodes[2] = {BARE, BARE}, both[2] = {BARE, BARE};
    struct orr_body_desc three[3], two[2];
    prng_vector(&p, 0.5, a_nodes[1].at, 3);
    prng_vector(&p, 0.5, b_nodes[0].at, 3);
    prng_vector(&p, 0.5, b_nodes[1].at, 3);
    three[0] = piece(&p, kinds[seed % 4], ORR_INERTIAL);
    prng_direction(&p, three[0].hinge.axes[1], 3);
    prng_direction(&p, three[0].hinge.axes[2], 3);
    three[1] = piece(&p, ORR_HINGE_FIXED, 0);
    three[1].hinge.parent_node = 1;
    three[2] = piece(&p, kinds[1 + seed / 4 % 2], 1);
    three[2].hinge.parent_node = 1;
    three[0].nodes = a_nodes;
    three[1].nodes = b_nodes;
    three[0].node_count = three[1].node_count = 2;
    two[0] = three[0];
    two[0].nodes = both;
    merge(&two[0], &three[1], a_nodes[1].at, b_nodes[0].at);
    moved(three[1].hinge.rotation, a_nodes[1].at, b_nodes[0].at, b_nodes[1].at, both[1].at);
    two[1] = three[2];
    two[1].hinge.parent = 0;
    quat_mul(three[1].hinge.rotation, three[2].hinge.rotation, two[1].hinge.rotation);
    struct orr_sample *a = orr_sample_of(three, 3), *b = orr_sample_of(two, 2);
    a->description.gravity[1] = b->description.gravity[1] = -9.81;
    int root = orr_sample_quaternion(three[0].hinge.kind), tip = orr_sample_quaternion(three[2].hinge.kind);
    prng_vector(&p, 1, a->q, a->q_count);
    if (root >= 0)
      prng_direction(&p, a->q + root, 4);
    if (tip >= 0)
      prng_direction(&p, a->q + orr_sample_hinge_q(a, 2) + tip, 4);
    prng_vector(&p, 1, a->u, a->u_count);
    prng_vector(&p, 1, a->force, a->u_count);
    memcpy(b->q, a->q, sizeof(double) * (size_t)a->q_count);
    memcpy(b->u, a->u, sizeof(double) * (size_t)a->u_count);
    memcpy(b->force, a->force, sizeof(double) * (size_t)a->u_count);
    struct orr_trial x = orr_trial_make(a, 0), y = orr_trial_make(b, 0);
    assert_int_equal(orr_trial_forward(&x), ORR_OK);
    assert_int_equal(orr_trial_forward(&y), ORR_OK);
    orr_expect_below(orr_gap(y.accel, x.accel, a->u_count), 1e-11, "acceleration", seed);
    double f[6], g[6];
    sp_to(f, orr_hinge_force(x.model, x.ws, 2));
    sp_to(g, orr_hinge_force(y.model, y.ws, 1));
    orr_expect_below(orr_gap(g, f, 6), 1e-11, "hinge force", seed);
    orr_trial_free(&x);
    orr_trial_free(&y);
    orr_sample_free(a);
    orr_sample_free(b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limbs_are_parents_first_whatever_the_order_of_the_file),
      cmocka_unit_test(axes_near_those_of_the_parent_stay_their_own),
      cmocka_unit_test(states_are_numbered_in_the_order_of_the_file),
      cmocka_unit_test(a_cycle_is_refused_with_one_of_its_bodies),
      cmocka_unit_test(a_model_needs_its_description_no_more),
      cmocka_unit_test(rigid_trees_of_revolute_hinges_take_the_fast_kernel),
      cmocka_unit_test(hinges_of_several_speeds_are_chains_of_simple_ones),
      cmocka_unit_test(merging_two_rigid_bodies_joined_by_a_fixed_hinge_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
