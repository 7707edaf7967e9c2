/* A slow reference for the solver: the conventions written out literally, dense, in 80-bit arithmetic.
 *
 * It shares no formula with core (and includes nothing of core but description.h):
 *   positions and attitudes  from the base outwards, as Taylor series in time (jet.h); velocities and accelerations are
 *                            their derivatives
 *   kinetic energy T         node by node as the conventions print it
 *   momenta, mass matrix     T is quadratic in the speeds, so polarisation is exact: ∂T/∂V_i = (T(V+e_i) − T(V−e_i))/2
 *   ∂T/∂η                    T is quadratic in η: the central difference is exact
 *   d/dt of the momenta      along η + hη̇, V + hV̇ they are cubic in h: the five-point rule is exact
 *   equations of motion      Lagrange for the modes, Newton-Euler for the frames, projected with the velocity Jacobian
 *   hinge forces             balance of each body, from the tips to the base
 * Nothing is truncated, so its errors are those of rounding: about 1e-16 of the largest number in a sum, and for
 * accelerations times the condition of the mass matrix, which orr_dense_condition estimates.
 *
 * orr_dense_make → orr_dense_forward or orr_dense_inverse → orr_dense_hinge_force, orr_dense_place → orr_dense_free.
 * The sample must outlive it. One thread per object.
 */
#ifndef ORR_TESTS_SUPPORT_DENSE_H
#define ORR_TESTS_SUPPORT_DENSE_H

#include "tests/support/sample.h"

struct orr_dense;

/* Poses, Jacobians, mass matrix at the sample's state. O(bodies · speeds² ). */
struct orr_dense *orr_dense_make(const struct orr_sample *sample);
void orr_dense_free(struct orr_dense *dense);

/* [u_count][u_count], rotors free to spin. */
void orr_dense_mass(const struct orr_dense *dense, double *out);
/* Of the same, prescribed hinges included. False if it is not positive definite. */
bool orr_dense_log_det(struct orr_dense *dense, double *out);
/* Ratio of the extreme pivots of the scaled mass matrix of the free speeds: a lower bound of its condition. */
double orr_dense_condition(struct orr_dense *dense);

/* u̇ from the sample's forces, given accelerations, pushes and rotor torques. False if M is not positive definite. */
bool orr_dense_forward(struct orr_dense *dense, double *accel, double *rotor_accel);
/* What actuators supply for u̇. */
void orr_dense_inverse(struct orr_dense *dense, const double *accel, double *force);
/* After one of the two: f(k) about O in the axes of the body's frame. */
void orr_dense_hinge_force(const struct orr_dense *dense, int body, double out[6]);

/* A node's place and motion, inertial axes; node −1: the body frame. Accelerations after forward or inverse. */
struct orr_dense_place {
  double position[3], attitude[3][3], omega[3], v[3], alpha[3], accel[3];
};
struct orr_dense_place orr_dense_place(const struct orr_dense *dense, int body, int node);

/* B M⁻¹ Bᵀ of nodes {body, node}, [angular; linear] each, inertial axes, prescribed hinges held. [6 count][6 count]. */
bool orr_dense_compliance(struct orr_dense *dense, int (*nodes)[2], int count, double *out);

/* Energies and momentum at any state; the potential is zero at the inertial origin. Momentum [angular; linear],
 * inertial. */
struct orr_dense_totals {
  long double kinetic, potential;
  long double momentum[6];
};
struct orr_dense_totals orr_dense_totals(const struct orr_sample *sample, const double *q, const double *u,
                                         const double *rotor_speed);

/* The terms of a body's T as the tests of core/model/modal need them: ∂²T/∂V² [n + 6][n + 6] at η, V = [η̇; ω; v] of
 * the body frame, and the inertial force d/dt ∂T/∂V − ∂T/∂[η; 0] + ω × … for given V and V̇. */
void orr_dense_body_mass(const struct orr_body_desc *body, const double *eta, double *out);
void orr_dense_body_force(const struct orr_body_desc *body, const double *eta, const double *v, const double *v_dot,
                          double *out);

#endif
