/* (Y Yᵀ) x = b where the rows of Y come in groups that have few columns in common, as the loops of one spacecraft have
 * its bus:
 *
 *   Y = [A | B],   A = diag(A_1 … A_m) the groups' own columns,   B the common ones
 *
 * With A_g = L_g Q_g and W = L⁻¹ B, the smallest x' with Y x' = b is found from the common part y of it alone, by
 *
 *   | L⁻¹ b − W y |² + | y |² = least
 *
 * which is a QR of [W; 1]; then x = L⁻ᵀ (L⁻¹ b − W y). Nothing is squared, so the condition is that of Y, and the cost
 * is that of the groups one by one and of the rows times the square of the common columns. A row whose own columns have
 * little that is new beside those of its group (a small part of the row) is put off: it becomes an equation between
 * what is left of its own columns and y, and all of these are solved together. If every row is put off, that is the
 * factor of Y as it stands.
 *
 * With one group, or none that share a column, it is orr_pivot_factor and orr_pivot_solve of the groups. No state;
 * thread of the block. [rt] unless said.
 */
#ifndef ORR_CORE_MATH_BORDERED_H
#define ORR_CORE_MATH_BORDERED_H

#include "core/math/pivot.h"

struct orr_bordered {
  int rows, group_count, common;
  struct orr_pivot *groups; /* [group_count] own columns, in fours, then the common ones; a: given, gross: given */
  int *group, *place;       /* [rows] which group a row is in, and where in it */
  int rank;
  struct orr_pivot normal; /* [W; 1]ᵀ */
  struct orr_pivot rest;   /* rows that are put off */
  int put_off, own;        /* how many, and how many columns of their groups' own */
  int *off;                /* [rows] those, by group */
  int *begin, *assigned;   /* [group_count] where a group's rows begin in `row`, and how many are there */
  int *row;                /* [rows] */
  double *v;               /* [rows + common] L⁻¹ b of the rows that are not put off, less W y; then −y */
  double *before;          /* [rows] L⁻¹ b */
  double *b, *x;           /* [rows] scratch */
  double *least;           /* [rest.width] scratch */
};

/* Takes the memory: a group has rows[g] rows and columns[g] columns of its own. [init] O(rows (rows + columns))
 * bytes. */
void orr_bordered_layout(struct orr_bordered *bordered, int groups, const int *rows, const int *columns, int common,
                         struct orr_block *block);

/* Says which group a row is in: once for every row. [init] O(1). */
void orr_bordered_assign(struct orr_bordered *bordered, int row, int group);

/* Everything zero, to be filled. O(rows · (columns of the group + common)). */
void orr_bordered_clear(struct orr_bordered *bordered);

/* Own columns of a row; the common ones; and where its gross size stands. A row without one is left out. */
double *orr_bordered_own(const struct orr_bordered *bordered, int row);
double *orr_bordered_common(const struct orr_bordered *bordered, int row);
double *orr_bordered_gross(const struct orr_bordered *bordered, int row);

/* Factors what has been filled in. `rank` becomes the number of rows that have more than `tolerance` of their gross
 * size left beside the others. O(Σ rows of a group² · width + rows · common²), and of the n rows put off n² · width. */
void orr_bordered_factor(struct orr_bordered *bordered, double tolerance);

/* x = (Y Yᵀ)⁻¹ from, over the rows of the factor, zero at the others. O(Σ rows of a group² + rows · common). */
void orr_bordered_solve(struct orr_bordered *b, const double *from, double *x);

#endif
