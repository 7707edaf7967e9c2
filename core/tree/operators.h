/* The mass matrix and its inverse as operators, from the articulated factors: nothing is formed.
 *
 *   M = (I + HΦK) D (I + HΦK)*,  M⁻¹ = (I − HΨK)* D⁻¹ (I − HΨK)     flexible-operators (54)-(56)
 *
 * Call order: orr_state_set → orr_articulated_factor → these. Prescribed hinges are held (but in orr_mass_apply): their
 * rows of x are not read and come back zero. Springs, speeds and gravity play no part. `out` may be `x` only where it
 * says so. Thread of the workspace; z, nu and the accelerations are overwritten.
 */
#ifndef ORR_CORE_TREE_OPERATORS_H
#define ORR_CORE_TREE_OPERATORS_H

#include "core/model/workspace.h"

/* out = M⁻¹ x, [u_count] each; all NaN where x is not finite. [rt] O(N + Σn²). */
void orr_inverse_mass_apply(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);

/* out = M x, [u_count], of the whole tree: prescribed hinges included. Needs no factor. [rt] O(N + Σn²). */
void orr_mass_apply(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);

/* y = (I − HΨK) x: the innovations, tips to base. out = (I − HΨK)* y, base to tips. And their inverses
 * (I + HΦK) x and (I + HΦK)* x. The first is all NaN where x is not finite. [rt] O(N + Σn²). */
void orr_innovate(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);
void orr_innovate_transposed(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);
void orr_colour(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);
void orr_colour_transposed(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);

/* out = D x, or D⁻¹ x; out may be x. [rt] O(N + Σn²). */
void orr_innovations_scale(const struct orr_model *model, struct orr_workspace *ws, bool inverse, const double *x,
                           double *out);

/* ln det M of the tree, the product of det D_f(k) det D_R(k); prescribed hinges are released for it, and the
 * articulated factor is left so. On failure ws->failed_body tells. [rt] O(N + Σ(n² + n³/6)). */
enum orr_status orr_log_det_mass(const struct orr_model *model, struct orr_workspace *ws, double *out);

#endif
