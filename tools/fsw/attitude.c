/* Quaternion feedback with rate damping, onto three wheels:
 *
 *   δ = q_target⁻¹ ∘ q,  torque on the body = −K 2 δ_v sign(δ_w) − D ω,  torque on each rotor = its opposite
 */
#include "tools/fsw/attitude.h"

/* p* ∘ q */
static void quaternion_between(const double *p, const double *q, double *out) {
  out[0] = p[3] * q[0] - p[0] * q[3] - p[1] * q[2] + p[2] * q[1];
  out[1] = p[3] * q[1] + p[0] * q[2] - p[1] * q[3] - p[2] * q[0];
  out[2] = p[3] * q[2] - p[0] * q[1] + p[1] * q[0] - p[2] * q[3];
  out[3] = p[3] * q[3] + p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
}

void orr_attitude_control(const double rate[3], const double attitude[4], const double target[4],
                          const double stiffness[3], const double damping[3], double torque[3]) {
  double off[4];
  quaternion_between(target, attitude, off);
  double sign = off[3] < 0 ? -1 : 1;
  for (int i = 0; i < 3; i++)
    torque[i] = stiffness[i] * 2 * sign * off[i] + damping[i] * rate[i];
}
