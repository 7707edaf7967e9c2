/* Motor rotors geared to hinges: what they add to the sweeps, to energy and to momentum.
 *
 * The rotor of a motor on coordinate i of a hinge turns about that coordinate's axis h_i, n times as far as the hinge,
 * in bearings on what carries the axis: the parent's node, turned by the coordinates before i. With ω_i the angular
 * velocity of that carrier, and the carrier's mass properties holding the rotor locked,
 *
 *   T = ½ J (h_i·ω_i + n β_i)² − ½ J (h_i·ω_i)² = ½ n² J β_i² + n J β_i h_i·ω_i,   ω_i = ω_P + Σ_{j<i} h_j β_j
 *
 * n² J stands on the diagonal of D (ws->hinge_inertia). The coupling, with s_i = n J (ws->hinge_spin), gives
 *
 *   on the hinge    s_i h_i·ω̇_i,   ω̇_i = ω̇_P + Σ_{j<i} (h_j β̇_j + ω_j × h_j β_j)
 *   on the carrier  the moment s_i (β̇_i h_i + β_i ω_i × h_i), to be supplied; what turns it by h_j, j < i, feels its
 *                   part h_j·moment
 *
 * Seen from the parent's acceleration x, the gain over the hinge is then P H* + [s_i h_i; 0] in place of P H*, in D⁻¹
 * as in P+ and in β̇ = ν − D⁻¹ gain* x, so the sweep stays what it is. A coordinate that is a distance has an h_i
 * without a turn: its rotor is n² J on the diagonal alone, since nothing says about which axis it turns.
 */
#ifndef ORR_CORE_TREE_GEARED_H
#define ORR_CORE_TREE_GEARED_H

#include "core/model/workspace.h"

/* What it takes beside n² J β̇: generalised forces on the hinge, and a moment on the parent's side, S axes. */
struct orr_geared {
  double effort[6];
  orr_vec3 moment;
};

/* For limb k, which has a rotor (ws->laden): with `carried` the angular acceleration of the parent's side less its
 * bias, S axes, and β̇ in `rate` [dof] (NULL: zero). The terms of speeds count when `moving`. After orr_limbs_complete.
 * [rt] O(1). */
struct orr_geared orr_geared_take(const struct orr_model *model, const struct orr_workspace *ws, int k,
                                  orr_vec3 carried, const double *rate, bool moving);

/* Adds h_i·h_j of rotors beyond j to D, below its diagonal: sum of element i, j < i. [rt] O(1). */
static inline double orr_geared_between(const struct orr_limb *limb, const struct orr_workspace *ws,
                                        const struct orr_limb_state *state, int i, int j) {
  return ws->hinge_spin[limb->hinge_u + i] * v3_dot(state->h[i].w, state->h[j].w);
}

/* Of limb k: kinetic energy, and angular momentum in S axes. After orr_limbs_complete. [rt] O(1). */
double orr_geared_momentum(const struct orr_model *model, const struct orr_workspace *ws, int k, orr_vec3 *momentum);

#endif
