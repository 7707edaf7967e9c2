/* The attitude control law of the sample flight software, and of the controller that can be linked into a run: one law,
 * the same bits. */
#ifndef ORR_TOOLS_FSW_ATTITUDE_H
#define ORR_TOOLS_FSW_ATTITUDE_H

/* [rt] Body rate (rad/s), attitude and target (quaternions x y z w), gains about the body's axes (N m/rad, N m s/rad) →
 * torque on three wheels' rotors (N m). A pure function. O(1). */
void orr_attitude_control(const double rate[3], const double attitude[4], const double target[4],
                          const double stiffness[3], const double damping[3], double torque[3]);

#endif
