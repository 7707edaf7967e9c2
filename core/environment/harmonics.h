/* A potential in spherical harmonics outside a body: V, its gradient and its second derivatives at a point.
 *
 *   V = μ/r Σ (R/r)ⁿ P̄nm(sin φ) (C̄nm cos mλ + S̄nm sin mλ),   n ≤ degree, m ≤ min(n, order)
 *
 * with fully normalised functions and coefficients (the mean square of each over the sphere is 1). Axes and position
 * are those of the body's own equator and prime meridian; nothing is singular at the poles.
 *
 * Call order: orr_harmonics_size → a block → orr_harmonics_init [init], then orr_harmonics_set for each pair, then the
 * evaluations [rt]. Several threads may evaluate one set.
 */
#ifndef ORR_CORE_ENVIRONMENT_HARMONICS_H
#define ORR_CORE_ENVIRONMENT_HARMONICS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/math/spatial.h"

enum { ORR_HARMONICS_DEGREE = 128 }; /* the largest */

/* A pair of coefficients. */
struct orr_harmonic_term {
  int n, m;
  double c, s; /* fully normalised */
};

struct orr_harmonics {
  double mu, radius; /* m³/s² (or what V is measured in, times m²); m */
  double central;    /* C̄00 */
  int degree, order;
  int *first;    /* [order / 4 + 1] row of `table` where the four orders from 4k on begin, at n = 4k */
  double *table; /* rows of α, β, C̄, S̄: [4][4], a column for each of four orders */
  double *seed;  /* [order / 4 + 1][4] P̄mm without its cosines */
};

/* [init] Bytes of a set to this degree and order. */
size_t orr_harmonics_size(int degree, int order);

/* [init] All coefficients zero but C̄00 = 1. NULL if the block is too small; 1 ≤ order ≤ degree ≤
 * ORR_HARMONICS_DEGREE is the caller's to keep (assert). */
struct orr_harmonics *orr_harmonics_init(void *block, size_t bytes, double mu, double radius, int degree, int order);

/* [any] Sets a pair, or returns false where it is beyond degree and order. O(1). */
bool orr_harmonics_set(struct orr_harmonics *h, int n, int m, double c, double s);

/* [rt] ∇V at a point, m, in body axes. r > 0. O(degree · order). */
orr_vec3 orr_harmonics_gradient(const struct orr_harmonics *h, orr_vec3 at);

/* [rt] The same, and V's second derivatives; their trace is zero but for rounding. */
orr_vec3 orr_harmonics_hessian(const struct orr_harmonics *h, orr_vec3 at, orr_sym3 *second);

#endif
