/* A part that is used mirrored, or turned.
 *
 * A mirror that is normal to an axis of the part's mount maps its points by T = diag(±1). Each of its bodies takes the
 * frame T R T for R, which is right-handed again, so the same T acts in the axes of every body. A vector v (a place, a
 * translation, a normal force) becomes T v; an axial one (a rotation, a slope, a moment, the vector part of a
 * quaternion) det(T) T v; an inertia T J T. A coordinate keeps its sign where that is a mirrored posture: then axes of
 * rotation are axial and directions of sliding are not. Two kinds have an axis for both, and there a coordinate
 * changes its sign: cylindrical its distance, planar what its normal and e1, e2 say. */
#include <string.h>

#include "core/math/spatial.h"
#include "core/model/hinge_kinds.h"
#include "io/config/spacecraft/draft.h"

static double det(const double t[3]) { return t[0] * t[1] * t[2]; }

static void polar(const double t[3], double *v) {
  for (int i = 0; i < 3; i++)
    v[i] = t[i] * v[i] + 0.0; /* no −0 */
}

static void axial(const double t[3], double *v) {
  for (int i = 0; i < 3; i++)
    v[i] = det(t) * t[i] * v[i] + 0.0;
}

/* xx yy zz xy xz yz */
static void inertia(const double t[3], double *j) {
  j[3] = t[0] * t[1] * j[3] + 0.0;
  j[4] = t[0] * t[2] * j[4] + 0.0;
  j[5] = t[1] * t[2] * j[5] + 0.0;
}

bool orr_scope_is_mirrored(const struct orr_scope *scope) {
  return scope->mirror[0] < 0 || scope->mirror[1] < 0 || scope->mirror[2] < 0;
}

void orr_mirror_body(struct orr_draft *draft, struct orr_body_desc *body, struct orr_node_desc *nodes,
                     const double t[3]) {
  polar(t, body->com);
  inertia(t, body->inertia);
  for (size_t i = 0; i < body->node_count; i++) {
    struct orr_node_desc *node = &nodes[i];
    polar(t, node->at);
    polar(t, node->com);
    inertia(t, node->inertia);
    if (node->curves) {
      struct orr_curve_desc *curves = orr_arena_alloc(draft->reader->arena, node->curve_count + 1, sizeof *curves);
      memcpy(curves, node->curves, node->curve_count * sizeof *curves);
      for (size_t k = 0; k < node->curve_count; k++)
        polar(t, curves[k].g);
      node->curves = curves;
    }
    if (!node->modes)
      continue;
    double *rows = orr_arena_alloc(draft->reader->arena, body->mode_count, 6 * sizeof *rows);
    memcpy(rows, node->modes, body->mode_count * 6 * sizeof *rows);
    for (size_t r = 0; r < body->mode_count; r++) {
      axial(t, rows + 6 * r);
      polar(t, rows + 6 * r + 3);
    }
    node->modes = rows;
  }
}

/* A coordinate goes the other way. */
static void turn_round(struct orr_draft *draft, struct orr_hinge_desc *hinge, int coordinate) {
  hinge->rest[coordinate] *= -1;
  if (!hinge->motion)
    return;
  size_t n = orr_hinge_kind_info(hinge->kind)->speed_count;
  struct orr_motion_desc *all = orr_arena_alloc(draft->reader->arena, n, sizeof *all), *m = &all[coordinate];
  memcpy(all, hinge->motion, n * sizeof *all);
  double *numbers = orr_arena_alloc(draft->reader->arena, 2 * m->count, sizeof *numbers);
  for (size_t i = 0; i < m->count; i++) {
    numbers[i] = -m->values[i];
    numbers[m->count + i] = m->bends ? -m->bends[i] : 0;
  }
  m->values = numbers;
  m->bends = m->bends ? numbers + m->count : NULL;
  m->amplitude *= -1;
  m->offset *= -1;
  hinge->motion = all;
}

void orr_mirror_hinge(struct orr_draft *draft, struct orr_hinge_desc *hinge, const double t[3]) {
  axial(t, hinge->rotation);
  switch (hinge->kind) {
  case ORR_HINGE_PRISMATIC:
    polar(t, hinge->axes[0]);
    break;
  case ORR_HINGE_PLANAR: { /* the normal stays a coordinate axis: what changes is the sign of coordinates */
    int normal = 0;
    while (normal < 2 && hinge->axes[0][normal] == 0)
      normal++;
    const double signs[] = {det(t) * t[normal], t[(normal + 1) % 3], t[(normal + 2) % 3]};
    for (int i = 0; i < 3; i++)
      if (signs[i] < 0)
        turn_round(draft, hinge, i);
    break;
  }
  case ORR_HINGE_CYLINDRICAL:
    if (det(t) < 0)
      turn_round(draft, hinge, 1);
    axial(t, hinge->axes[0]);
    break;
  default:
    for (int i = 0; i < 3; i++)
      axial(t, hinge->axes[i]);
  }
}

void orr_mirror_loop(struct orr_loop_desc *loop, const double t[3]) {
  axial(t, loop->axis);
  polar(t, loop->normal);
}

/* R_turn R_hinge: the mount is turned first, as seen from the node that the part hangs on. */
void orr_turn_hinge(struct orr_hinge_desc *hinge, const double turn[4]) {
  double product[4];
  if (turn[0] == 0 && turn[1] == 0 && turn[2] == 0)
    return; /* to the bit */
  quat_mul(turn, hinge->rotation, product);
  memcpy(hinge->rotation, product, sizeof product);
}
