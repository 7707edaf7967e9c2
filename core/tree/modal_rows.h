/* The modal block of a body with few modes on a revolute hinge: what core/tree/modal_sweep.h computes, four numbers
 * side by side, for rows.h.
 *
 * A row belongs to a mode s: [Π'_w 0] and [Π'_v 0] of a site, [μ_w ε] and [μ_v 0] of the body. So a product Γ Π' is
 * gathered row by row, and Π'ᵀ Γ Π' is a dot product of two rows, four of which are summed at once. D_f itself is
 * factored number by number, D_f = L diag Lᵀ, and its rows [μ ε] with it. The number of modes is known where a kernel
 * is compiled, so nothing is padded and loops are gone. modal_sweep.c is the plain twin.
 *
 * For forward.c only. Thread of the workspace.
 */
#ifndef ORR_CORE_TREE_MODAL_ROWS_H
#define ORR_CORE_TREE_MODAL_ROWS_H

#include "core/model/workspace.h"

/* P_R and z_R of lean limb k, which has modes, from its own mass matrix, what its children have added and `force`
 * [u_count] (actuators'); leaves D_f⁻¹ [μ ε_f] in flexes[].w. A status other than ORR_OK as of orr_modes_inward.
 * [rt] O(n³), n at most ORR_FEW_MODES. */
enum orr_status orr_modal_rows_inward(const struct orr_model *model, struct orr_workspace *ws, int k,
                                      const double *force, struct orr_rows *p);

/* η̈ = D_f⁻¹ ε_f − D_f⁻¹ μᵀ α after that, into flexes[].accel and `accel` [u_count], and Π' η̈ of the sites into
 * hung[]. [rt] O(n). */
void orr_modal_rows_outward(const struct orr_model *model, struct orr_workspace *ws, int k, double *accel);

#endif
