/* The modal block of one body in the articulated sweeps: D_f, μ and ε_f assembled, eliminated, solved.
 *
 *   D_f η̈ + μᵀ α_R = ε_f,   P_R = P_rr − μ D_f⁻¹ μᵀ,   z_R = z_r + μ D_f⁻¹ ε_f     flexible-operators (62), (63)
 *   D_f = P_ff − Π_d'ᵀ μ − P_fr Π_d',   μ = P_rf − P_rr Π_d',   ε_f = T_f − z_f + Π_d'ᵀ z_r
 *
 * There are two ways through it. The first factors once and takes any number of right-hand sides: orr_modes_factor,
 * then orr_modes_forces and orr_modes_accelerations for each. The second does all at once for the equations of motion:
 * orr_modes_inward, which carries ε_f along as one more column, then orr_modes_outward. Functions that take a limb do
 * nothing for a body without modes. The sweeps of articulated.h and forward.h call them. Thread of the workspace.
 */
#ifndef ORR_CORE_TREE_MODAL_SWEEP_H
#define ORR_CORE_TREE_MODAL_SWEEP_H

#include "core/model/workspace.h"

/* ORR_OK for a pivot that is finite and above the rounding errors of numbers as large as `scale`; otherwise
 * ORR_ERROR_NOT_FINITE or ORR_ERROR_SINGULAR. [rt] O(1). */
enum orr_status orr_pivot_status(double pivot, double scale);

/* Π' x of a site: the motion that the modal rates x [ld] give the node, about the origin of S. [rt] O(n). */
orr_spatial orr_site_motion(const struct orr_site_state *site, const double *x, int ld);

/* out[r] += sign (Π'ᵀ f)_r of a site, out [ld], 32-byte aligned. [rt] O(n). */
void orr_site_force(const struct orr_site_state *site, orr_spatial f, double sign, double *out, int ld);

/* The rows [D_f | μ] of flexes[].w of limb k, which has modes, from flows[k].p and the sites. [rt] O(n²). */
void orr_modes_assemble(const struct orr_model *model, struct orr_workspace *ws, int k);

/* Assembles and eliminates: flows[k].p becomes P_R. [rt] O(n²) + n³/6. */
enum orr_status orr_modes_factor(const struct orr_model *model, struct orr_workspace *ws, int k);

/* From T_f less own forces in flexes[].force, and flows[k].z: flows[k].z becomes z_R. [rt] O(n²). */
void orr_modes_forces(const struct orr_model *model, struct orr_workspace *ws, int k);

/* η̈ from α_R, into flexes[].accel and the user's vector `accel`. [rt] O(n²). */
void orr_modes_accelerations(const struct orr_model *model, struct orr_workspace *ws, int k, orr_spatial alpha_r,
                             double *accel);

/* orr_modes_factor and orr_modes_forces in one, leaving D_f⁻¹ [μ ε_f]. [rt] O(n²) + n³/6. */
enum orr_status orr_modes_inward(const struct orr_model *model, struct orr_workspace *ws, int k);

/* η̈ = D_f⁻¹ ε_f − D_f⁻¹ μᵀ α_R after orr_modes_inward. [rt] O(n). */
void orr_modes_outward(const struct orr_model *model, struct orr_workspace *ws, int k, orr_spatial alpha_r,
                       double *accel);

#endif
