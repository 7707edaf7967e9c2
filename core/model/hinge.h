/* Hinges: coordinates, speeds, joint maps and the pose across a hinge, for every kind of the conventions.
 *
 * O+ are the axes on the parent's side of the hinge, O those on the child's (conventions, "Bodies, nodes, hinges").
 * Everything here is in these two.
 * Call from any thread; no state, no allocation.  [any]
 */
#ifndef ORR_CORE_MODEL_HINGE_H
#define ORR_CORE_MODEL_HINGE_H

#include "core/math/lanes.h"
#include "core/math/spatial.h"
#include "core/model/description.h"
#include "core/model/hinge_kinds.h"

enum { ORR_HINGE_MAX_SPEEDS = 6, ORR_HINGE_MAX_COORDINATES = 7 };

/* A hinge at one instant. */
struct orr_joint {
  orr_mat3 r;       /* components in O+ = r · components in O */
  orr_vec3 p;       /* m, O from O+, O+ axes */
  orr_spatial h[6]; /* columns of the joint map H*, O axes */
  orr_spatial vel;  /* H* β: [ω_J; v_J], O axes */
  orr_spatial bias; /* [d/dt(H_ω) β; d/dt(H_v) β + ω_J × v_J], O axes: what is left of O's acceleration relative to
                       O+ when β̇ = 0 */
};

/* Number of coordinates q (quaternions count 4) and of speeds β: core/model/hinge_kinds.h as int. [any] O(1). */
static inline int orr_hinge_coordinates(enum orr_hinge_kind kind) {
  return (int)orr_hinge_kind_info(kind)->coordinate_count;
}
static inline int orr_hinge_speeds(enum orr_hinge_kind kind) { return (int)orr_hinge_kind_info(kind)->speed_count; }

/* Index of the first of the four numbers of the quaternion among the hinge's q, or -1. [any] */
static inline int orr_hinge_quaternion(enum orr_hinge_kind kind) {
  return kind == ORR_HINGE_BALL ? 0 : kind == ORR_HINGE_FREE ? 3 : -1;
}

/* r, p, h for q (quaternions must be unit). [rt] O(1). */
void orr_joint_pose(enum orr_hinge_kind kind, const double axes[3][3], const double *q, struct orr_joint *joint);

/* vel, bias for β, after orr_joint_pose. [rt] O(1). */
void orr_joint_motion(enum orr_hinge_kind kind, const double *speeds, struct orr_joint *joint);

/* A unit axis to turn about, in lanes: u, and u uᵀ and ũ by rows. */
struct orr_turn_axis {
  orr_lanes u, outer[3], skew[3];
};

/* [init] O(1). */
void orr_turn_axis_put(struct orr_turn_axis *axis, orr_vec3 u);

#endif
