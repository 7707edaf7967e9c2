#include "core/model/hinge.h"

#include "core/math/sincos.h"

/* exp(u angle) for a unit u: c 1 + (1−c) u uᵀ + s ũ */
static orr_mat3 rotation_about(orr_vec3 u, double angle) {
  double s, c;
  orr_sincos_one(angle, &s, &c);
  orr_mat3 r = m3_skew(u);
  const double e[3] = {u.x, u.y, u.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      r.m[i][j] = fma(s, r.m[i][j], fma(1 - c, e[i] * e[j], i == j ? c : 0));
  return r;
}

void orr_turn_axis_put(struct orr_turn_axis *axis, orr_vec3 u) {
  const double e[3] = {u.x, u.y, u.z};
  const orr_mat3 skew = m3_skew(u);
  lanes_put(&axis->u, u.x, u.y, u.z);
  for (int i = 0; i < 3; i++) {
    lanes_put(&axis->outer[i], e[i] * u.x, e[i] * u.y, e[i] * u.z);
    lanes_put(&axis->skew[i], skew.m[i][0], skew.m[i][1], skew.m[i][2]);
  }
}

static orr_spatial turning(orr_vec3 u) { return (orr_spatial){u, v3_zero()}; }
static orr_spatial sliding(orr_vec3 u) { return (orr_spatial){v3_zero(), u}; }

/* e1, e2 of a planar hinge: the two axes after the normal in cyclic order. */
static void planar_axes(orr_vec3 u, orr_vec3 *e1, orr_vec3 *e2) {
  const double a[3] = {fabs(u.x), fabs(u.y), fabs(u.z)};
  int n = a[0] > 0.5 ? 0 : a[1] > 0.5 ? 1 : 2;
  double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  *e1 = v3_from(e[(n + 1) % 3]);
  *e2 = v3_from(e[(n + 2) % 3]);
}

static void universal_pose(orr_vec3 u1, orr_vec3 u2, const double *q, struct orr_joint *joint) {
  orr_mat3 r2 = rotation_about(u2, q[1]);
  joint->r = m3_mul(rotation_about(u1, q[0]), r2);
  joint->h[0] = turning(m3_apply_t(r2, u1));
  joint->h[1] = turning(u2);
}

static void gimbal_pose(const double axes[3][3], const double *q, struct orr_joint *joint) {
  orr_vec3 u1 = v3_from(axes[0]), u2 = v3_from(axes[1]), u3 = v3_from(axes[2]);
  orr_mat3 r3 = rotation_about(u3, q[2]), r23 = m3_mul(rotation_about(u2, q[1]), r3);
  joint->r = m3_mul(rotation_about(u1, q[0]), r23);
  joint->h[0] = turning(m3_apply_t(r23, u1));
  joint->h[1] = turning(m3_apply_t(r3, u2));
  joint->h[2] = turning(u3);
}

static void planar_pose(orr_vec3 u, const double *q, struct orr_joint *joint) {
  orr_vec3 e1, e2;
  planar_axes(u, &e1, &e2);
  joint->r = rotation_about(u, q[0]);
  joint->p = v3_madd(v3_scale(q[1], e1), q[2], e2);
  joint->h[0] = turning(u);
  joint->h[1] = sliding(m3_apply_t(joint->r, e1));
  joint->h[2] = sliding(m3_apply_t(joint->r, e2));
}

void orr_joint_pose(enum orr_hinge_kind kind, const double axes[3][3], const double *q, struct orr_joint *joint) {
  static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  orr_vec3 u = v3_from(axes[0]);
  joint->r = m3_identity();
  joint->p = v3_zero();
  switch (kind) {
  case ORR_HINGE_REVOLUTE:
    joint->r = rotation_about(u, q[0]);
    joint->h[0] = turning(u);
    break;
  case ORR_HINGE_PRISMATIC:
    joint->p = v3_scale(q[0], u);
    joint->h[0] = sliding(u);
    break;
  case ORR_HINGE_CYLINDRICAL:
    joint->r = rotation_about(u, q[0]);
    joint->p = v3_scale(q[1], u);
    joint->h[0] = turning(u);
    joint->h[1] = sliding(u);
    break;
  case ORR_HINGE_UNIVERSAL:
    universal_pose(u, v3_from(axes[1]), q, joint);
    break;
  case ORR_HINGE_GIMBAL:
    gimbal_pose(axes, q, joint);
    break;
  case ORR_HINGE_PLANAR:
    planar_pose(u, q, joint);
    break;
  case ORR_HINGE_BALL:
    joint->r = quat_matrix(q);
    for (int i = 0; i < 3; i++)
      joint->h[i] = turning(v3_from(unit[i]));
    break;
  case ORR_HINGE_FREE:
    joint->p = v3_from(q);
    joint->r = quat_matrix(q + 3);
    for (int i = 0; i < 3; i++) {
      joint->h[i] = turning(v3_from(unit[i]));
      joint->h[3 + i] = sliding(v3_from(unit[i]));
    }
    break;
  case ORR_HINGE_FIXED:
  case ORR_HINGE_KIND_COUNT:
    break;
  }
}

void orr_joint_motion(enum orr_hinge_kind kind, const double *speeds, struct orr_joint *joint) {
  int dof = orr_hinge_speeds(kind);
  orr_spatial vel = sp_zero();
  for (int i = 0; i < dof; i++)
    vel = sp_madd(vel, speeds[i], joint->h[i]);
  joint->vel = vel;
  joint->bias = sp_zero();
  if (kind == ORR_HINGE_UNIVERSAL || kind == ORR_HINGE_GIMBAL) {
    /* column i is fixed before the turns after it: ḣ_i = −(Σ_{j>i} h_j β_j) × h_i */
    orr_vec3 later = v3_zero(), sum = v3_zero();
    for (int i = dof - 1; i >= 0; i--) {
      orr_vec3 turn = v3_scale(speeds[i], joint->h[i].w);
      sum = v3_add(sum, v3_cross(turn, later));
      later = v3_add(later, turn);
    }
    joint->bias.w = sum;
  }
  /* planar: H_v turns back with the hinge, so d/dt(H_v) β = −ω_J × v_J and nothing is left */
  if (kind == ORR_HINGE_FREE)
    joint->bias.v = v3_cross(vel.w, vel.v);
}
