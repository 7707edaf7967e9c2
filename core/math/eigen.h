/* Eigenvalues of small symmetric matrices, for reports and checks at init. No state; any thread. */
#ifndef ORR_CORE_MATH_EIGEN_H
#define ORR_CORE_MATH_EIGEN_H

#include <stdbool.h>
#include <stddef.h>

/* [init] Eigenvalues of the symmetric a [n][n], ascending; a is destroyed. Jacobi rotations: accurate to about 1e-15 of
 * the largest. O(n³) a few times over. Never fails on finite numbers. */
void orr_eigen_symmetric(size_t n, double *a, double *values);

/* [init] a = l lᵀ, in place: l below and on the diagonal. False at a pivot not above `tolerance` times the diagonal
 * element it came from: `at` (may be NULL) is its index. O(n³). */
bool orr_cholesky(size_t n, double *a, double tolerance, size_t *at);

/* [init] Eigenvalues of k x = λ m x, ascending, for symmetric k and positive definite m; both are destroyed. False when
 * m is not positive definite. O(n³). */
bool orr_eigen_generalized(size_t n, double *k, double *m, double *values);

#endif
