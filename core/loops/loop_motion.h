/* How closed loops move: φ̇ and φ̈ from a set state and its accelerations.
 *
 *   φ̇ = G u + ∂φ/∂t,   φ̈ = G u̇ + Ġ u + ∂²φ/∂t²
 *
 * It is computed from the motions of the two nodes, so Ġ is never formed. For equations in the first node's axes, with
 * ω the angular velocity of these, and d and its rates relative to inertial space:
 *
 *   φ̇ = ḋ − ω × d,   φ̈ = d̈ − ω̇ × d − 2 ω × ḋ + ω × (ω × d)
 *
 * Call order: orr_state_set, orr_limbs_complete, orr_loops_place and, for φ̇, orr_loops_jacobian → these. Thread of the
 * workspace.
 */
#ifndef ORR_CORE_LOOPS_LOOP_MOTION_H
#define ORR_CORE_LOOPS_LOOP_MOTION_H

#include "core/loops/loop.h"

/* φ̈ of loop i, out [rows], from the accelerations of the limbs (flows, flexes) and of hinges, `accel` [u_count]. [rt]
 * O(n). */
void orr_loop_acceleration(const struct orr_loops *loops, const struct orr_workspace *ws, int i, const double *accel,
                           double *out);

/* φ̇ of every row: G u, less the rate of what is driven. [rt] O(rows · columns). */
void orr_loops_velocity(const struct orr_loops *loops, const double *u, double *out);

#endif
