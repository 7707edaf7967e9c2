/* The law of the app: wheels that turn a small spacecraft to its target. It knows nothing of cFE. */
#ifndef ORRERY_LAW_H
#define ORRERY_LAW_H

/* Rates in rad/s about the body's axes, attitudes as quaternions x y z w, torques on the rotors in N m. */
void orrery_law(const double rate[3], const double attitude[4], const double target[4], double torque[3]);

#endif
