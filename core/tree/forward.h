/* Forward dynamics: accelerations from forces, O(N) in bodies.
 *
 * Call order: orr_state_set → [orr_poses_update, orr_force_*] → orr_forward → queries. Thread of the workspace.
 */
#ifndef ORR_CORE_TREE_FORWARD_H
#define ORR_CORE_TREE_FORWARD_H

#include "core/model/workspace.h"

/* u̇ [u_count] from the actuators' generalised forces [u_count] (tau and modal; what stands at a prescribed hinge is
 * not read) and, for prescribed hinges, their β̇ at their places in `given` [u_count] (NULL: zero). Springs, dampers,
 * K, D, gravity, external forces and rotors come on top. On failure nothing is written to `accel` and ws->failed_body
 * tells the body. It leaves the accelerations of every limb for orr_hinge_force and orr_node_acceleration, and
 * ws->rotor_accel. [rt] O(N + Σ(n² + n³/6)): core/README.md says why elimination, and how much n³/6 is. */
enum orr_status orr_forward(const struct orr_model *model, struct orr_workspace *ws, const double *force,
                            const double *given, double *accel);

/* f(k) of the conventions for body `body` (file order): [N; F] that the parent exerts on it through its hinge, about O,
 * axes of the child's body frame. [rt] O(1), after orr_forward or orr_inverse. */
orr_spatial orr_hinge_force(const struct orr_model *model, const struct orr_workspace *ws, int body);

/* The part of a hinge force along an axis given in body axes: the moment about it through O, and the force along it.
 * [rt] O(1). */
struct orr_axis_force {
  double moment, force;
};
struct orr_axis_force orr_hinge_force_along(const struct orr_model *model, const struct orr_workspace *ws, int body,
                                            orr_vec3 axis);

/* What the actuator of a hinge supplies: H f less springs and dampers; out [dof]. For a prescribed hinge, that is the
 * generalised force which drives it. What a rotor geared to the hinge (hinge_inertia) takes comes on top. [rt] O(1),
 * after orr_forward or orr_inverse. */
void orr_hinge_effort(const struct orr_model *model, const struct orr_workspace *ws, int body, double *out);

/* Adds springs and dampers of a hinge, −k (q − rest) − c β, to out [dof]. [rt] O(1). */
void orr_hinge_springs_add(const struct orr_limb *limb, const double *q, const double *u, double *out);

/* Loads z, ζ and ε_f with the forces at the set state: gyroscopic, external and elastic forces, and rotors with their
 * torques. `force` NULL: no modal forces. Shared with inverse dynamics. [rt] O(N + Σn²). */
void orr_forward_load(const struct orr_model *model, struct orr_workspace *ws, const double *force);

/* Loads the modes' part of x [u_count] and the rotors' torques alone, as if nothing moved and no spring pulled. A
 * product M⁻¹ x starts from it; the sweep takes the hinges' part. [init] O(N + Σn). */
void orr_forward_load_still(const struct orr_model *model, struct orr_workspace *ws, const double *x);

/* ws->rotor_accel from the accelerations of the limbs: the last step of orr_forward. [rt] O(rotors n). */
void orr_rotors_accelerate(const struct orr_model *model, struct orr_workspace *ws);

#endif
