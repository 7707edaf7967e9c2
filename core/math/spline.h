/* Cubic splines through a table, at rest at both ends: the value, its rate and its acceleration are continuous between
 * the first row and the last, and the rate is zero at these. No state. */
#ifndef ORR_CORE_MATH_SPLINE_H
#define ORR_CORE_MATH_SPLINE_H

#include <stdbool.h>
#include <stddef.h>

/* A value at a moment, with its first and second derivative. */
struct orr_motion_now {
  double x, v, a;
};

/* bends [count] becomes x'' at the rows; at [count] rises, count ≥ 2; scratch [count]. [init] O(count). */
void orr_spline_bend(size_t count, const double *at, const double *x, double *bends, double *scratch);

/* The spline at t; beyond its ends it rests. At a row where the acceleration jumps (the first and the last), `before`
 * takes what held until then. [rt] O(log count). */
struct orr_motion_now orr_spline_at(size_t count, const double *at, const double *x, const double *bends, double t,
                                    bool before);

#endif
