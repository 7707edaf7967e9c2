/* The blocks of the spatial operators of one body, as dense matrices in its body frame: what a reader of the papers
 * multiplies out by hand.
 *
 *   H(k)      flexible-operators (15)   V_m(k) = Φ*(p, k) V_m(p) + H*(k) χ(k),   χ(k) = [η̇; β]
 *   Φ(p, k)   flexible-operators (14)   p is the parent of k
 *   M_m(k)    flexible-operators (25)   kinetic energy = ½ Σ_k V_mᵀ M_m V_m
 *
 * V_m = [η̇; ω; v]: modal rates, and the inertial motion of the body frame at its origin, in the axes of the body
 * frame. The sweeps never form these matrices. They are for looking at and for tests; `orrery eval --factors` prints
 * them.
 *
 * Matrices are row-major. n is the number of modes of a body, dof the number of its hinge's speeds. Bodies are numbered
 * as in the file. Call order: orr_state_set → orr_limbs_complete → these. Thread of the workspace; it is not changed.
 */
#ifndef ORR_CORE_TREE_BODY_OPERATORS_H
#define ORR_CORE_TREE_BODY_OPERATORS_H

#include "core/model/workspace.h"

/* The body's parent in file order, or −1 for a body on inertial. [any] O(1). */
int orr_body_parent(const struct orr_model *model, int body);

/* H(k), out [n + dof][n + 6]. A prescribed hinge counts as any other. [rt] O((n + dof)(n + 6)). */
void orr_operator_joint_map(const struct orr_model *model, const struct orr_workspace *ws, int body, double *out);

/* Φ(p, k) of a body that has a parent, out [n_p + 6][n_k + 6]. [rt] O((n_p + 6)(n_k + 6)). */
void orr_operator_transform(const struct orr_model *model, const struct orr_workspace *ws, int body, double *out);

/* M_m(k), out [n + 6][n + 6], rotors of the body free to spin. [rt] O((n + 6)² rotors). */
void orr_operator_mass(const struct orr_model *model, const struct orr_workspace *ws, int body, double *out);

#endif
