/* The augmented tree: multipliers on top of a tree solution. interbody-forces (43)-(46).
 *
 *   u̇ = u̇_f + M⁻¹ Gᵀ λ,   (G M⁻¹ Gᵀ) λ = −γ,   γ = φ̈ of the free accelerations u̇_f
 *
 * The compliance G M⁻¹ Gᵀ comes from the factors of M⁻¹ = (I − HΨK)* D⁻¹ (I − HΨK). Row i of G is a pair of wrenches.
 * It goes once from its two bodies to the base through the articulated inertias, and leaves its innovations ε_i = (I −
 * HΨK) G_iᵀ at every hinge and mode on the way. With Y_i = D^-½ ε_i the compliance is Y Yᵀ. Y itself is factored
 * (pivot.h), since its condition is the square root of that of Y Yᵀ. No mass matrix is formed, and only limbs on the
 * two paths are visited. loop_choice.h judges beforehand which rows count. It looks at G, which masses do not enter.
 *
 * The tree may hold aggregates of embedded loops; their innovations are those of the independent coordinates.
 *
 * Order, as core/loops/closed.c has it: loads, factor, forces, accelerations of the tree alone →
 * orr_augment_acceleration, orr_augment_factor, orr_augment_multiply → loads again, orr_augment_load, forces and
 * accelerations, on the same articulated inertias. Thread of the workspace.
 */
#ifndef ORR_CORE_LOOPS_AUGMENT_H
#define ORR_CORE_LOOPS_AUGMENT_H

#include "core/loops/embed.h"
#include "core/loops/loop.h"
#include "core/math/bordered.h"

struct orr_augment {
  struct orr_loops *loops;
  int row_count;    /* of the loops that are solved this way */
  int *rows;        /* [row_count] indices of orr_loops.rows */
  int *place;       /* [orr_loops.row_count] where a row stands in `rows`, or −1 */
  int *climb_first; /* [loops + 1] where a loop's climb starts in `climb` */
  int *climb;       /* limbs from the loop's bodies to the base, tips first */
  int *column;      /* [body_count] first column of Y of a limb or, at its first limb, of an aggregate */
  bool *common;     /* [body_count] it is one of the columns that groups of loops have in common */
  struct orr_bordered y;
  double *gamma;    /* [row_count] */
  double *solution; /* [row_count] */
  double *lambda;   /* [orr_loops.row_count] multipliers; zero for redundant rows and for other loops */
  double *tau;      /* [u_count] zeros, except for a gear's while its row is at work */
};

/* For the loops whose method is ORR_LOOP_AUGMENT now. [init] O(loops · N). */
void orr_augment_layout(struct orr_augment *augment, struct orr_loops *loops, struct orr_block *block);
void orr_augment_fill(struct orr_augment *augment);

/* γ from the accelerations that the workspace and accel [u_count] hold. [rt] O(loops n). */
void orr_augment_acceleration(struct orr_augment *augment, const struct orr_workspace *ws, const double *accel);

/* Y of the chosen rows `rows` [count] of augmented loops, factored; the loops are placed, the articulated inertias
 * factored. False when masses differ so much that a row is lost in rounding. z, ν and the modes' forces of the climbs
 * are overwritten. [rt] O(rows · depth + rows² · columns). */
bool orr_augment_factor(struct orr_augment *augment, struct orr_embed *embed, struct orr_workspace *ws, const int *rows,
                        int count);

/* λ from γ. [rt] O(rows²). */
void orr_augment_multiply(struct orr_augment *augment);

/* A loop whose redundant equations ask for another acceleration than those they follow from, or −1. That only driven
 * hinges can bring about; loops->judge is factored. [rt] O(rows²). */
int orr_augment_conflict(struct orr_augment *augment, const struct orr_workspace *ws);

/* What of φ̈ is rounding at these accelerations, roughly: a small part of the largest of them that its sums hold.
 * [rt] O(loops). */
double orr_augment_rounding(const struct orr_augment *augment, const struct orr_workspace *ws);

/* Adds Gᵀ λ to the loads of a sweep: wrenches to z of the limbs, the rest to the modes' forces and tau [u_count].
 * [rt] O(rows n). */
void orr_augment_load(const struct orr_augment *augment, struct orr_workspace *ws, double *tau);

#endif
