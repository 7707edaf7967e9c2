/* From a state to places, velocities and forces on them: the sweep from the base to the tips.
 *
 * Call order for one evaluation:
 *   orr_state_set → [orr_poses_update] → [orr_force_clear, orr_force_*] → orr_forward or orr_inverse → queries
 * orr_force_* with inertial components and all queries of places need orr_poses_update. Thread of the workspace.
 */
#ifndef ORR_CORE_TREE_KINEMATICS_H
#define ORR_CORE_TREE_KINEMATICS_H

#include "core/model/workspace.h"

/* Takes q and u (user order, quaternions unit) and computes what depends on them alone: poses across hinges, places of
 * sites, mass matrices of flexible bodies, angular velocities and biases. It does not change external forces.
 * [rt] O(N + Σn²). */
void orr_state_set(const struct orr_model *model, struct orr_workspace *ws, const double *q, const double *u);

/* Fills limbs[] of the revolute kernel, too, and v and g of every limb. Only orr_forward does without. Whatever needs
 * it calls it; a second call does nothing. It does not change flows[]. [rt] O(N). */
void orr_limbs_complete(const struct orr_model *model, struct orr_workspace *ws);

/* Attitude and position of every limb, and its velocity, from the last orr_state_set. [rt] O(N). */
void orr_poses_update(const struct orr_model *model, struct orr_workspace *ws);

/* Forgets the external forces. [rt] O(N + Σn). */
void orr_force_clear(const struct orr_model *model, struct orr_workspace *ws);

/* A force and a moment on a node (index of orr_model_node) at its deformed place. Components in inertial axes, in
 * those of the body frame, or in those of the node. They add up until cleared. [rt] O(n). */
enum orr_axes { ORR_AXES_INERTIAL, ORR_AXES_BODY, ORR_AXES_NODE };
void orr_force_add(const struct orr_model *model, struct orr_workspace *ws, int node, enum orr_axes axes,
                   orr_vec3 force, orr_vec3 moment);

/* A node's place and motion. */
struct orr_node_state {
  orr_vec3 position; /* m, inertial */
  orr_mat3 attitude; /* v_inertial = attitude v_node */
  orr_vec3 omega, v; /* rad/s, m/s: inertial motion in inertial axes */
};

/* [rt] O(n), after orr_poses_update. */
void orr_node_query(const struct orr_model *model, const struct orr_workspace *ws, int node,
                    struct orr_node_state *out);

/* The node's angular acceleration and its acceleration less gravity (what an accelerometer feels), node axes.
 * [rt] O(n), after orr_forward. */
orr_spatial orr_node_acceleration(const struct orr_model *model, const struct orr_workspace *ws, int node);

/* Position and attitude of a body frame F (file order). [rt] O(1), after orr_poses_update. */
void orr_body_query(const struct orr_model *model, const struct orr_workspace *ws, int body,
                    struct orr_node_state *out);

/* A node's place relative to its body: S axes. `pi` may be NULL; else [6][ld], Π' about the origin of S. [rt] O(n). */
void orr_place_evaluate(const struct orr_model *model, const struct orr_workspace *ws, int node,
                        struct orr_site_state *out);

#endif
