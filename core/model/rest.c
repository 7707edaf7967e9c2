#include "core/model/rest.h"

#include <math.h>

#include "core/math/elementary.h"
#include "core/math/spatial.h"
#include "core/model/hinge.h"
#include "core/model/hinge_kinds.h"
#include "core/model/massprops.h"

/* Pivots below this part of what they began as are rounding. */
static const double tolerance = 1e-11;

/* What a body passes to its parent, about the hinge's point, in the axes of the parent's body frame. */
struct passed {
  orr_inertia articulated; /* its modes and its hinge give way */
  orr_inertia locked;      /* they do not, though what is beyond it gives way: the scale of things */
  orr_inertia before;      /* of the body, before its own hinge gives way: what the sweep subtracts from */
};

/* The modes of the body at work. Motion is relative to its inboard node, which is held. */
struct modes {
  size_t count;
  double *ff;         /* [count][count] lower triangle */
  double *whole;      /* [count] the diagonal before elimination */
  orr_spatial *fo;    /* [count] force about the inboard node */
  orr_spatial *shape; /* [count] motion of the node at hand, per unit of η̇ */
};

struct orr_rest {
  struct passed *passed; /* [body_count] */
  struct modes modes;
};

struct orr_rest *orr_rest_layout(size_t body_count, size_t most, struct orr_block *block) {
  struct orr_rest *rest = ORR_TAKE(block, struct orr_rest, 1);
  struct orr_rest taken = {.passed = ORR_TAKE(block, struct passed, body_count)};
  taken.modes.ff = ORR_TAKE(block, double, most *most);
  taken.modes.whole = ORR_TAKE(block, double, most);
  taken.modes.fo = ORR_TAKE(block, orr_spatial, most);
  taken.modes.shape = ORR_TAKE(block, orr_spatial, most);
  if (rest)
    *rest = taken;
  return rest;
}

/* Motion of node j relative to the inboard node 0 in mode r: [S_j − S_0; T_j − T_0 − S_0 × (at_j − at_0)]. */
static void shapes_of(struct modes *m, const struct orr_node_desc *node, const struct orr_node_desc *inboard) {
  orr_vec3 l = v3_sub(v3_from(node->at), v3_from(inboard->at));
  for (size_t r = 0; r < m->count; r++) {
    orr_spatial held = sp_motion_shift(l, sp_from(inboard->modes + 6 * r));
    m->shape[r] = sp_sub(sp_from(node->modes + 6 * r), held);
  }
}

/* Adds an inertia that rides on a node at l from the inboard node: fo += φ P X, ff += Xᵀ P X. */
static void ride(struct modes *m, orr_vec3 l, const orr_inertia *p) {
  for (size_t r = 0; r < m->count; r++) {
    orr_spatial force = in_apply(*p, m->shape[r]);
    m->fo[r] = sp_add(m->fo[r], sp_force_shift(l, force));
    for (size_t s = 0; s <= r; s++)
      m->ff[r * m->count + s] += sp_dot(m->shape[s], force);
  }
}

static orr_inertia inertia_of_node(const struct orr_node_desc *node) {
  orr_vec3 c = v3_from(node->com);
  return in_rigid(node->mass, v3_scale(node->mass, c), s3_add(s3_from(node->inertia), s3_point(node->mass, c)));
}

static void own_modes(struct modes *m, const struct orr_body_desc *body) {
  const struct orr_node_desc *inboard = &body->nodes[body->hinge.node];
  m->count = body->mode_count;
  memset(m->ff, 0, m->count * m->count * sizeof *m->ff);
  for (size_t r = 0; r < m->count; r++)
    m->fo[r] = sp_zero();
  for (size_t j = 0; j < body->node_count && m->count; j++) {
    orr_inertia p = inertia_of_node(&body->nodes[j]);
    shapes_of(m, &body->nodes[j], inboard);
    ride(m, v3_sub(v3_from(body->nodes[j].at), v3_from(inboard->at)), &p);
  }
}

static void add_child(struct orr_rest *rest, const struct orr_body_desc *body, const struct orr_hinge_desc *hinge,
                      const struct passed *child, struct passed *sum) {
  const struct orr_node_desc *node = &body->nodes[hinge->parent_node], *inboard = &body->nodes[body->hinge.node];
  orr_vec3 l = v3_sub(v3_from(node->at), v3_from(inboard->at));
  if (rest->modes.count) {
    shapes_of(&rest->modes, node, inboard);
    ride(&rest->modes, l, &child->articulated);
  }
  sum->articulated = in_add(sum->articulated, in_shift(l, child->articulated));
  sum->locked = in_add(sum->locked, in_shift(l, child->locked));
}

/* P ← P − fo ff⁻¹ foᵀ, mode by mode. False at a mode whose inertia is gone. */
static bool eliminate_modes(struct modes *m, orr_inertia *p, size_t *at) {
  size_t n = m->count;
  for (size_t r = 0; r < n; r++)
    m->whole[r] = m->ff[r * n + r];
  for (size_t r = 0; r < n; r++) {
    double d = m->ff[r * n + r];
    if (!(d > tolerance * m->whole[r])) {
      *at = r;
      return false;
    }
    *p = in_rank1(*p, 1 / d, m->fo[r]);
    for (size_t s = r + 1; s < n; s++) {
      double factor = m->ff[s * n + r] / d;
      m->fo[s] = sp_madd(m->fo[s], -factor, m->fo[r]);
      for (size_t t = r + 1; t <= s; t++)
        m->ff[s * n + t] -= factor * m->ff[t * n + r];
    }
  }
  return true;
}

/* A gimbal whose outer axes are parallel at rest cannot turn three ways there; that says nothing of the masses. */
static bool repeats_own_axis(const struct orr_hinge_desc *h, size_t i) {
  return h->kind == ORR_HINGE_GIMBAL && i == 2 && v3_norm(v3_cross(v3_from(h->axes[0]), v3_from(h->axes[2]))) < 1e-3;
}

/* P ← P − P H (H* P H)⁻¹ H* P, speed by speed. */
static struct orr_rest_result eliminate_hinge(const struct orr_hinge_desc *h, struct passed *sum,
                                              const orr_inertia *hung) {
  size_t speeds = orr_hinge_kind_info(h->kind)->speed_count;
  const double q[ORR_HINGE_MAX_COORDINATES] = {0, 0, 0, h->kind == ORR_HINGE_BALL, 0, 0, 1};
  struct orr_joint joint;
  struct orr_rest_result result = {.heavy = -1};
  orr_joint_pose(h->kind, h->axes, q, &joint);
  orr_inertia locked = sum->locked;
  double turn = locked.a.xx + locked.a.yy + locked.a.zz, mass = locked.c.xx;
  for (size_t i = 0; i < speeds; i++) {
    orr_spatial column = joint.h[i];
    double whole = sp_dot(column, in_apply(locked, column));
    double scale = orr_hinge_kind_info(h->kind)->angles >> i & 1 ? turn : mass;
    if (repeats_own_axis(h, i))
      continue;
    if (!(whole > tolerance * scale))
      return (struct orr_rest_result){ORR_REST_HINGE_NOTHING, i, 0, -1};
    orr_spatial force = in_apply(sum->articulated, column);
    double d = sp_dot(column, force);
    if (!(d > tolerance * whole))
      return (struct orr_rest_result){ORR_REST_HINGE_REPEATS, i, 0, -1};
    result.ratio = orr_max(result.ratio, sp_dot(column, in_apply(*hung, column)) / d);
    sum->articulated = in_rank1(sum->articulated, 1 / d, force);
  }
  return result;
}

/* Modes first, then the hinge. What is found unsound stays locked in `sum`. */
static struct orr_rest_result eliminate(struct orr_rest *rest, const struct orr_hinge_desc *hinge, struct passed *sum,
                                        const orr_inertia *hung) {
  struct orr_rest_result result = {.heavy = -1};
  if (!eliminate_modes(&rest->modes, &sum->articulated, &result.index))
    result.fault = ORR_REST_MODES;
  sum->before = sum->articulated;
  if (result.fault == ORR_REST_SOUND && !hinge->prescribed)
    result = eliminate_hinge(hinge, sum, hung);
  return result;
}

/* Adding what is beyond never takes inertia away: a Schur complement of a sum of positive matrices is at least the sum
 * of theirs. So a body that is sound by itself needs no second look, and only of others the whole is judged; in a long
 * chain the whole is so much larger than the body that its rounding would hide it. */
struct orr_rest_result orr_rest_body(struct orr_rest *rest, const struct orr_description *description,
                                     const struct orr_topology *topology, int body) {
  const struct orr_body_desc *b = &description->bodies[body];
  orr_vec3 inboard = v3_from(b->nodes[b->hinge.node].at);
  orr_inertia own = in_shift(v3_neg(inboard), orr_body_inertia_at_rest(b));
  struct passed sum = {own, own, own}, alone = sum;
  struct orr_rest_result by_itself = {.heavy = -1};
  orr_inertia hung = in_zero();
  double most = 0;
  int heavy = -1;
  if (b->flexible || orr_body_is_massless(b)) { /* else its inertia is positive definite: judged before */
    own_modes(&rest->modes, b);
    by_itself = eliminate(rest, &b->hinge, &alone, &hung);
  }
  own_modes(&rest->modes, b);
  for (int c = topology->first_child[body + 1]; c >= 0; c = topology->next_sibling[c]) {
    const struct orr_hinge_desc *hinge = &description->bodies[c].hinge;
    const orr_inertia *before = &rest->passed[c].before;
    add_child(rest, b, hinge, &rest->passed[c], &sum);
    hung = in_add(hung, in_shift(v3_sub(v3_from(b->nodes[hinge->parent_node].at), inboard), *before));
    heavy = before->c.xx > most ? c : heavy;
    most = orr_max(most, before->c.xx);
  }
  struct orr_rest_result together = eliminate(rest, &b->hinge, &sum, &hung);
  together.heavy = heavy;
  orr_mat3 r = quat_matrix(b->hinge.rotation);
  rest->passed[body] =
      (struct passed){in_rotate(r, sum.articulated), in_rotate(r, sum.locked), in_rotate(r, sum.before)};
  if (by_itself.fault != ORR_REST_SOUND)
    return together;
  return together.fault == ORR_REST_SOUND ? together : by_itself;
}
