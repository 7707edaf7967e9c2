/* The mass matrix and its inverse as operators on vectors. No matrix is formed.
 *
 *   M = (I + HΦK) D (I + HΦK)*,  M⁻¹ = (I − HΨK)* D⁻¹ (I − HΨK)     flexible-operators (54)-(56)
 *
 * The factors are those of the sweeps. A body's modes and its hinge count as two bodies, one after the other (61), so
 * D of a body is diag(D_f, D_R). tools/eval/factors.c joins the two to the D(k) of (51).
 *
 * Call order: orr_state_set → orr_articulated_factor → these. Prescribed hinges are held, except in orr_mass_apply: the
 * functions do not read their rows of x, and write zero there. Springs, speeds and gravity play no part. D and M⁻¹ have
 * what rotors geared to hinges add (ws->hinge_inertia) and what an implicit step adds (ws->implicit_s);
 * orr_mass_apply has neither. `out` may be `x` only where it says so. Thread of the workspace. z, ν and the
 * accelerations in the workspace are overwritten.
 */
#ifndef ORR_CORE_TREE_OPERATORS_H
#define ORR_CORE_TREE_OPERATORS_H

#include "core/model/workspace.h"

/* out = M⁻¹ x, [u_count] each; all NaN where x is not finite. [rt] O(N + Σn²). */
void orr_inverse_mass_apply(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);

/* out = M x, [u_count], of the whole tree: prescribed hinges included. Needs no factor. [rt] O(N + Σn²). */
void orr_mass_apply(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);

/* The triangular factor's inverse and the factor itself, [u_count] each. All NaN where x is not finite, from
 * orr_innovate. [rt] O(N + Σn²).
 *   orr_innovate   out = (I − HΨK) x, the innovations of the forces x, tips to base
 *   orr_colour     out = (I + HΦK) x, its inverse */
void orr_innovate(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);
void orr_colour(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);

/* Their transposes, base to tips: out = (I − HΨK)* x and out = (I + HΦK)* x. No command calls them. The library offers
 * them because the identities above need both sides: tests multiply all factors out, and speeds drawn with the
 * covariance M⁻¹ are (I − HΨK)* D^-½ of white noise. [rt] O(N + Σn²). */
void orr_innovate_transposed(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);
void orr_colour_transposed(const struct orr_model *model, struct orr_workspace *ws, const double *x, double *out);

/* out = D x, or D⁻¹ x; out may be x. [rt] O(N + Σn²). */
void orr_innovations_scale(const struct orr_model *model, struct orr_workspace *ws, bool inverse, const double *x,
                           double *out);

/* ln det M of the tree, the product of det D_f(k) det D_R(k); prescribed hinges are released for it, and the
 * articulated factor is left so. On failure ws->failed_body tells. [rt] O(N + Σ(n² + n³/6)). */
enum orr_status orr_log_det_mass(const struct orr_model *model, struct orr_workspace *ws, double *out);

#endif
