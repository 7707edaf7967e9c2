/* Makes the rows of a matrix orthonormal one after another, the largest first, and finds the rows that depend on
 * others.
 *
 *   A = Rᵀ Q,   Q Qᵀ = 1;   so  A Aᵀ = Rᵀ R, and the smallest x with A x = b is  Qᵀ R⁻ᵀ b
 *
 * Rows are measured against `gross`, what each would be if nothing in it cancelled: a row that is smaller than
 * `tolerance` of that, once the chosen ones are taken out, is redundant. Used for loop equations, whatever their
 * columns mean. No state; thread of the block. [rt] unless said.
 */
#ifndef ORR_CORE_MATH_PIVOT_H
#define ORR_CORE_MATH_PIVOT_H

#include <stdbool.h>

#include "core/math/block.h"

struct orr_pivot {
  int rows, width; /* width: columns, padded to a multiple of four with zeros */
  int inner; /* the first so many columns are A; what stands in those behind goes along with its row: R⁻ᵀ of it */
  int rank;
  double *a;         /* [rows][width] given; then the rows of Q in the places of the chosen ones */
  double *gross;     /* [rows] given; zero marks an empty row */
  double *r;         /* [rows][rows]: r[k][i], the part of row i along the k-th of Q */
  int *order;        /* [rows] the first `rank`: chosen, in order; then the redundant ones */
  double *y;         /* [rows] scratch */
  int *first, *past; /* [rows] the columns outside which a row is zero, since the last factoring, in fours */
  int *place;        /* [rows] where a row stands in `order` */
  double *left;      /* [rows] the length of a row that is not chosen yet; below zero: not known */
  /* Where a row that is given may have something, in fours, after orr_pivot_span; else NULL: anywhere. */
  const int *span_first, *span_past;     /* [rows] */
  int *mates, *mates_first, *mates_past; /* [rows] rows by columns that they share; where a row's begin and end */
};

/* Takes the memory; [init] O(rows (rows + columns)) bytes. */
void orr_pivot_layout(struct orr_pivot *pivot, int rows, int columns, struct orr_block *block);

/* Another shape, of no more rows and columns than the layout's, without spans. O(rows). */
void orr_pivot_shape(struct orr_pivot *pivot, int rows, int columns);

/* Says where rows may have something: columns from first to past [rows], which stay the caller's. Rows that share no
 * column, not even through other rows, are factored apart. [init] O(rows²). */
void orr_pivot_span(struct orr_pivot *pivot, const int *first, const int *past);

/* Factors what is in `a` and `gross`. O(rows² width), less where rows have no columns in common. */
void orr_pivot_factor(struct orr_pivot *pivot, double tolerance);

/* Goes on, to at most `most` rows, with the rows that were not chosen, after the caller has changed their gross sizes:
 * a row that was empty may count now. O(rows² width). */
void orr_pivot_continue(struct orr_pivot *pivot, double tolerance, int most);

/* Factors what is in `a` with the given rows as the chosen ones, in their order, however small. Returns the smallest
 * part of its gross size that one of them had left, and that row in *weakest; HUGE_VAL of none. O(count · rows ·
 * width). */
double orr_pivot_take(struct orr_pivot *pivot, const int *rows, int count, int *weakest);

/* Halves of what follows: y = R⁻ᵀ b [rank] into pivot->y; x = R⁻¹ y at the places of the chosen rows, other places left
 * as they are, y [rank] being `stride` apart. O(rank²). */
void orr_pivot_forward(struct orr_pivot *pivot, const double *b);
void orr_pivot_backward(const struct orr_pivot *pivot, const double *y, int stride, double *x);

/* x = (A Aᵀ)⁻¹ b over the chosen rows, zero at the others. O(rank²). */
void orr_pivot_solve(struct orr_pivot *pivot, const double *b, double *x);

/* x [width] = the smallest with A x = b over the chosen rows. O(rank (rank + width)). */
void orr_pivot_smallest(struct orr_pivot *pivot, const double *b, double *x);

/* v [rows]: the combination of rows that vanishes, with 1 at the n-th redundant one, n from 0. O(rank²). */
void orr_pivot_null(const struct orr_pivot *pivot, int n, double *v);

#endif
