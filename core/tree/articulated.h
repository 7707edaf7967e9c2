/* The articulated-body sweeps, limb by limb in solver order: factor, forces, accelerations.
 *
 *   factor   tips to base   P(k), modal block D_f first, hinge block D_R after it    flexible-operators (62)
 *   forces   tips to base   z(k), ε_f, ε_R, ν                                        flexible-operators (63)
 *   accelerations  base to tips   α_R, β̇, η̈, α                                      flexible-operators (63)
 *
 * forward.h runs them for the equations of motion, operators.h for products with the factors of the mass matrix.
 * orr_state_set and orr_limbs_complete come before (kinematics.h). Thread of the workspace.
 */
#ifndef ORR_CORE_TREE_ARTICULATED_H
#define ORR_CORE_TREE_ARTICULATED_H

#include "core/model/workspace.h"
#include "core/tree/modal_sweep.h"

/* P, D and the gains of every limb, with prescribed hinges rigid. On failure ws->failed_body tells whose D(k).
 * [rt] O(N + Σn³/6). core/README.md says why it is not the O(n²) variant. */
enum orr_status orr_articulated_factor(const struct orr_model *model, struct orr_workspace *ws);

/* Puts every limb's own inertia into flows[].p, less the spin inertia of its rotors, and empties the sites. It is the
 * first step of the factor and of composite inertias. [rt] O(N). */
void orr_articulated_inertias(const struct orr_model *model, struct orr_workspace *ws);

/* The same in parts: the inertia of one limb, then the sites and rotors of all. [rt] O(1), O(sites + rotors). */
void orr_articulated_inertia(const struct orr_model *model, struct orr_workspace *ws, int k);
void orr_articulated_sites(const struct orr_model *model, struct orr_workspace *ws);

/* Adds `plus`, an inertia of limb k about its origin, to its parent and to the site where k hangs. [rt] O(1). */
void orr_articulated_to_parent(const struct orr_model *model, struct orr_workspace *ws, int k, orr_inertia plus);

/* The same of an inertia that is in the parent's axes already; k has a parent. [rt] O(1). */
void orr_articulated_hang(const struct orr_model *model, struct orr_workspace *ws, int k, const orr_inertia *turned);

/* x = D_R⁻¹ x of limb k, after its factor; not for a prescribed hinge. [rt] O(1). */
void orr_hinge_solve(const struct orr_limb *limb, const struct orr_limb_state *state, double *x);

/* Sets every z to zero. Callers then add to flows[].z, sites[].zeta and flexes[].force. [rt] O(N + Σn). */
void orr_articulated_clear(const struct orr_model *model, struct orr_workspace *ws);

/* α of the parent of limb k and what its modes add at the node where k hangs, about the parent's origin; `base` under
 * inertial. [rt] O(n). */
orr_spatial orr_articulated_carried(const struct orr_model *model, const struct orr_workspace *ws, int k,
                                    orr_vec3 base);

/* The steps of the three sweeps for one limb; `tau` and `given` are of its own hinge, `accel` is the whole vector. On
 * failure ws->failed_body tells. [rt] O(n² + n³/6) the factor, O(n²) the others. */
enum orr_status orr_articulated_factor_limb(const struct orr_model *model, struct orr_workspace *ws, int k);
enum orr_status orr_articulated_forces_limb(const struct orr_model *model, struct orr_workspace *ws, int k,
                                            const double *tau, const double *given, bool moving);
void orr_articulated_accelerate_limb(const struct orr_model *model, struct orr_workspace *ws, int k, orr_vec3 base,
                                     bool moving, double *accel);

/* From z of every limb, ε_f in flexes[].force (T_f less the modes' own z_f) and the hinge forces `tau` [u_count], the ν
 * of every limb. `given` [u_count] holds β̇ of prescribed hinges (NULL: zero). Biases a of the limbs count when
 * `moving`. [rt] O(N + Σn²). */
enum orr_status orr_articulated_forces(const struct orr_model *model, struct orr_workspace *ws, const double *tau,
                                       const double *given, bool moving);

/* Accelerations of every limb from `base`, the acceleration of the inertial origin (inertial axes), outwards:
 * flows[].alpha, and u̇ into accel [u_count]. [rt] O(N + Σn²). */
void orr_articulated_accelerations(const struct orr_model *model, struct orr_workspace *ws, orr_vec3 base, bool moving,
                                   double *accel);

#endif
