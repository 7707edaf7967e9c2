/* Divides a torque among actuators: any wheels, and any thrusters.
 *
 *   wheels      min |r|²  with  A r = t,  r = Aᵀ (A Aᵀ)⁻¹ t                      A: axes of the rotors, as columns
 *   few wheels  min |A r − t|², by coordinate descent, where they do not span the axes
 *   thrusters   min |B x − b|² + w² |F x|²  with  x ≥ 0, by coordinate descent   B, F: torques and forces while on
 *
 * [rt] Pure functions. */
#ifndef ORR_TOOLS_FSW_ALLOCATE_H
#define ORR_TOOLS_FSW_ALLOCATE_H

/* torque [3] on all rotors together → torque of each of `count` wheels. A matrix A Aᵀ without an inverse gives zeros.
 * O(count). */
void orr_allocate_wheels(int count, const double (*axis)[3], const double torque[3], double *out);

/* The same of wheels that do not span the axes: what they leave of the torque stands in torque [3] afterwards.
 * O(count). */
void orr_allocate_few_wheels(int count, const double (*axis)[3], double torque[3], double *out);

enum { ORR_ALLOCATE_THRUSTERS = 64 };

/* impulse [3] of torque on the body (N m s) → on-times (s) of `count` thrusters, at most ORR_ALLOCATE_THRUSTERS; none
 * longer than `most`: if one would be, all are scaled down alike. Couples, which do not push, are preferred.
 * O(count). */
void orr_allocate_thrusters(int count, const double (*torque)[3], const double (*force)[3], const double impulse[3],
                            double most, double *on_time);

#endif
