/* Operational-space compliance: how chosen nodes accelerate under unit wrenches on each other, B M⁻¹ B*, by recursion
 * from the base and without the mass matrix. sko-models (59)-(60), algorithm 4.3.
 *
 *   α_R(k) = τ̄* X y + H* ν_R,      y = T α_R + Q ν_f the motion of a node of the body before,
 *   T = 1 − Q D_f⁻¹ μᵀ,  Q = Π'_t − Π'_d,   cov ν_R = D_R⁻¹, cov ν_f = D_f⁻¹,   τ̄* = 1 − H* D_R⁻¹ H P_R
 *
 * So the 6 x 6 covariance Υ_R(k) of α_R(k) goes from base to tips. The covariance of two nodes of one body is
 * T_i Υ_R T_jᵀ + Q_i D_f⁻¹ Q_jᵀ. That of nodes of different bodies goes by their nearest common ancestor. Rigid bodies
 * have T = 1, Q = 0.
 *
 * Call order: orr_state_set, orr_poses_update → orr_articulated_factor → orr_compliance. Thread of the workspace.
 */
#ifndef ORR_CORE_TREE_COMPLIANCE_H
#define ORR_CORE_TREE_COMPLIANCE_H

#include "core/model/workspace.h"

/* Bytes of scratch that orr_compliance needs for `nodes` nodes. [init] O(1). */
size_t orr_compliance_size(const struct orr_model *model, int nodes);

/* out [6 count][6 count] for nodes (indices of orr_model_node), [angular; linear] per node, inertial axes. Prescribed
 * hinges are held. `scratch` is 64-byte aligned. [rt] O(N + Σn² + count² depth n²). */
void orr_compliance(const struct orr_model *model, struct orr_workspace *ws, const int *nodes, int count, void *scratch,
                    double *out);

#endif
