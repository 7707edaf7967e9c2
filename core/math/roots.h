/* Roots and vectors of small quadratic eigenproblems, (s² 1 + s c + k) x = 0: how a damped system moves, for reports
 * at init.
 *
 *   orr_quadratic_roots → a root → orr_quadratic_vector. No state; any thread.
 */
#ifndef ORR_CORE_MATH_ROOTS_H
#define ORR_CORE_MATH_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

enum { ORR_QUADRATIC_MOST = 40 }; /* n */

struct orr_complex {
  double re, im;
};

/* [init] The 2n roots for c, k [n][n], in no order, to about 1e-15 of the largest; of a multiple root to the
 * square root of that. `work` [4n²]. False when the iteration does not converge, or where a number is not finite.
 * O(n³), some hundreds of n³. */
bool orr_quadratic_roots(size_t n, const double *c, const double *k, struct orr_complex *work,
                         struct orr_complex *roots);

/* [init] x [n] of unit length for a root that is known. `work` [n²]. O(n³). */
void orr_quadratic_vector(size_t n, const double *c, const double *k, struct orr_complex root, struct orr_complex *work,
                          struct orr_complex *x);

#endif
