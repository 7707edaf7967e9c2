#include "core/model/massprops.h"

#include <string.h>

#include "core/model/topology.h"

orr_inertia orr_body_inertia_at_rest(const struct orr_body_desc *body) {
  if (!body->flexible) {
    orr_vec3 c = v3_from(body->com);
    return in_rigid(body->mass, v3_scale(body->mass, c), s3_add(s3_from(body->inertia), s3_point(body->mass, c)));
  }
  orr_inertia sum = in_zero();
  for (size_t j = 0; j < body->node_count; j++) {
    const struct orr_node_desc *node = &body->nodes[j];
    orr_vec3 c = v3_add(v3_from(node->at), v3_from(node->com));
    sum = in_add(
        sum, in_rigid(node->mass, v3_scale(node->mass, c), s3_add(s3_from(node->inertia), s3_point(node->mass, c))));
  }
  return sum;
}

void orr_body_modal_mass(const struct orr_body_desc *body, double *mff) {
  size_t n = body->mode_count;
  memset(mff, 0, n * n * sizeof *mff);
  for (size_t j = 0; j < body->node_count; j++) {
    const struct orr_node_desc *node = &body->nodes[j];
    orr_vec3 p = v3_from(node->com);
    orr_sym3 inertia = s3_from(node->inertia);
    for (size_t r = 0; r < n; r++) {
      orr_spatial x = sp_from(node->modes + 6 * r);
      orr_vec3 force = v3_scale(node->mass, v3_add(x.v, v3_cross(x.w, p))), moment = s3_apply(inertia, x.w);
      for (size_t s = 0; s < n; s++) {
        orr_spatial y = sp_from(node->modes + 6 * s);
        mff[r * n + s] += v3_dot(force, v3_add(y.v, v3_cross(y.w, p))) + v3_dot(moment, y.w);
      }
    }
  }
}

struct pose {
  orr_mat3 r; /* components in the body frame → inertial */
  orr_vec3 p; /* m, origin of the body frame */
};

static size_t poses_size(size_t n) { return n * sizeof(struct pose); }

size_t orr_mass_properties_scratch_size(const struct orr_description *d) {
  return poses_size(d->body_count) + orr_topology_size(d->body_count);
}

/* At rest O = O+, and the node frames are parallel to the body frames. */
static struct pose place(const struct orr_description *d, const struct pose *poses, int body) {
  const struct orr_hinge_desc *h = &d->bodies[body].hinge;
  struct pose parent = {m3_identity(), v3_zero()};
  orr_vec3 node = v3_zero();
  if (h->parent >= 0) {
    parent = poses[h->parent];
    node = v3_from(d->bodies[h->parent].nodes[h->parent_node].at);
  }
  struct pose own = {.r = m3_mul(parent.r, quat_matrix(h->rotation))};
  orr_vec3 o = v3_add(parent.p, m3_apply(parent.r, node));
  own.p = v3_sub(o, m3_apply(own.r, v3_from(d->bodies[body].nodes[h->node].at)));
  return own;
}

struct orr_mass_properties orr_mass_properties_at_rest(const struct orr_description *d, void *scratch) {
  struct pose *poses = scratch;
  struct orr_topology t = orr_topology_find(d, (char *)scratch + poses_size(d->body_count));
  orr_inertia sum = in_zero();
  for (size_t k = 0; k < t.count; k++) {
    int body = t.order[k];
    poses[body] = place(d, poses, body);
    orr_inertia own = in_rotate(poses[body].r, orr_body_inertia_at_rest(&d->bodies[body]));
    sum = in_add(sum, in_shift(poses[body].p, own));
  }
  struct orr_mass_properties out = {.mass = sum.c.xx};
  orr_vec3 c = v3_zero(); /* in_rigid: b = m c̃ */
  if (out.mass > 0)
    c = v3_scale(1 / out.mass, v3(sum.b.m[2][1], sum.b.m[0][2], sum.b.m[1][0]));
  v3_to(out.com, c);
  orr_sym3 about = s3_add(sum.a, s3_scale(-1, s3_point(out.mass, c)));
  const double inertia[6] = {about.xx, about.yy, about.zz, about.xy, about.xz, about.yz};
  memcpy(out.inertia, inertia, sizeof inertia);
  return out;
}
