/* Putting a mechanism together: coordinates at which every loop is closed, as near to given ones as the way leads
 * there.
 *
 * Damped Gauss-Newton over the coordinates that the loops depend on: with G and φ in one measure (a length over the
 * size of the mechanism counts as an angle), the step is the smallest s with (G Gᵀ + μ) y = φ, s = −Gᵀ y; μ follows the
 * success. First free hinges alone, then modes as well, then prescribed hinges too; and where that ends in a posture
 * that is nearest and not closed, from other postures, chosen by a fixed sequence, so that the same file always gives
 * the same answer.
 *
 * Call order: orr_assembly_size → a block → orr_loops_assemble_first, or orr_loops_assemble. [init]; thread of the
 * loops.
 */
#ifndef ORR_CORE_LOOPS_ASSEMBLE_H
#define ORR_CORE_LOOPS_ASSEMBLE_H

#include "core/loops/loop.h"

struct orr_assembly {
  bool closed;            /* every gap is below the tolerance: 1e-9 rad, 1e-9 of the size */
  double size;            /* m, of the mechanism */
  bool modes, prescribed; /* these had to move */
  double radians, metres; /* the largest move of a hinge */
  int turned, slid;       /* bodies (file order) of those hinges, or −1 */
  int rank;               /* of all equations at the posture reached, free coordinates and modes */
};

/* The most equations that a model's loops may have together: what is done with them grows as their cube. */
enum { ORR_MOST_LOOP_ROWS = 600 };

/* [init] O(rows (rows + columns)). */
size_t orr_assembly_size(const struct orr_loops *loops);

/* Moves q. Where the loops do not close, q is the nearest to that, placed: orr_loop_gap tells what remains. Bounded: at
 * most 32 starts of 100 steps each, fewer when a step is costly. [init] O(rows · columns · the smaller) a step. */
struct orr_assembly orr_loops_assemble(struct orr_loops *loops, struct orr_workspace *ws, void *block, double *q);

/* The same for a posture that decides the distances, too: each `distance` loop is to keep that of the given q, or,
 * where the other loops do not close with it, that of the posture in which they do. [init] Twice as long at most. */
struct orr_assembly orr_loops_assemble_first(struct orr_loops *loops, struct orr_workspace *ws, void *block, double *q);

#endif
