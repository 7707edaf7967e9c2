#include "orrery_law.h"

/* Of configs/cubesat.yaml: N m/rad, N m s/rad, and what a wheel can do, N m. */
static const double STIFFNESS[3] = {0.004, 0.004, 0.0015};
static const double DAMPING[3] = {0.02, 0.02, 0.006};
static const double MOST = 1e-3;

/* The rotation from target to attitude in the body's axes, the short way, for small angles: φ = 2 vec(t* ∘ q).
 * torque on the body = −(K φ + D ω); the rotors get the opposite. */
void orrery_law(const double rate[3], const double q[4], const double t[4], double torque[3]) {
  const double w = t[3] * q[3] + t[0] * q[0] + t[1] * q[1] + t[2] * q[2];
  const double side = w < 0 ? -2 : 2;
  double phi[3];

  phi[0] = side * (t[3] * q[0] - t[0] * q[3] - t[1] * q[2] + t[2] * q[1]);
  phi[1] = side * (t[3] * q[1] - t[1] * q[3] - t[2] * q[0] + t[0] * q[2]);
  phi[2] = side * (t[3] * q[2] - t[2] * q[3] - t[0] * q[1] + t[1] * q[0]);
  for (int i = 0; i < 3; i++) {
    torque[i] = STIFFNESS[i] * phi[i] + DAMPING[i] * rate[i];
    if (torque[i] > MOST)
      torque[i] = MOST;
    if (torque[i] < -MOST)
      torque[i] = -MOST;
  }
}
