/* Inverse dynamics: the generalised forces that given accelerations need. sko-models algorithm 3.1 with modes. */
#ifndef ORR_CORE_TREE_INVERSE_H
#define ORR_CORE_TREE_INVERSE_H

#include "core/model/workspace.h"

/* force [u_count] = what actuators supply (tau and modal; springs, dampers, K, D, gravity and external forces come on
 * top) for the accelerations accel [u_count] of every hinge, prescribed or not, at the set state. Rotors: with the
 * torques of ws->rotor_torque. Leaves the accelerations of every limb and the hinge forces, as orr_forward does. It
 * never fails: numbers that are not finite give results that are not finite. [rt] O(N + Σn²). */
void orr_inverse(const struct orr_model *model, struct orr_workspace *ws, const double *accel, double *force);

/* The two sweeps alone, on what z, the sites' ζ and flexes[].force hold already: accelerations out from `base`
 * (inertial axes), forces back. `force` is what hinges and modes carry, springs included. Biases of the limbs count
 * when `moving`. [rt] O(N + Σn²). */
void orr_inverse_sweep(const struct orr_model *model, struct orr_workspace *ws, orr_vec3 base, const double *accel,
                       bool moving, double *force);

/* One limb's turn in the sweep outwards: its acceleration, and its modes', from its parent's. [rt] O(1 + n). */
void orr_inverse_accelerate_limb(const struct orr_model *model, struct orr_workspace *ws, int k, orr_vec3 base,
                                 const double *accel, bool moving);

#endif
