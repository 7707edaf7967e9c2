/* Assembles a mechanism: finds coordinates near the given ones at which every loop is closed.
 *
 * The method is damped Gauss-Newton over the coordinates that the loops depend on. G and φ are put into one measure: a
 * length over the size of the mechanism counts as an angle. A step is s = −Gᵀ y with (G Gᵀ + μ) y = φ. μ falls after a
 * step that helps and grows after one that does not. A posture within the tolerance of loops is closed: from there the
 * equations that count are met to rounding, and those that follow from them within the tolerance are left. At first
 * only free hinges move, then modes as well, then prescribed hinges. Where the descent ends at a posture that is not
 * closed, it starts again from other postures. These come from a fixed sequence, so that the same file always gives the
 * same answer.
 *
 * Call order: orr_assembly_size → a block → orr_loops_assemble_first, or orr_loops_assemble. [init]; thread of the
 * loops.
 */
#ifndef ORR_CORE_LOOPS_ASSEMBLE_H
#define ORR_CORE_LOOPS_ASSEMBLE_H

#include "core/loops/loop.h"

struct orr_assembly {
  bool closed;            /* every gap is within the tolerance of loops */
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

/* Moves q. Where the loops do not close, q becomes the posture that came nearest, and the loops are placed there:
 * orr_loop_gap tells what remains open. At most 32 starts of 100 steps each, fewer when a step is costly. [init] O(rows
 * · columns · the smaller) a step. */
struct orr_assembly orr_loops_assemble(struct orr_loops *loops, struct orr_workspace *ws, void *block, double *q);

/* The same, and sets the distances: each `distance` loop keeps the distance of the given q or, where the other loops do
 * not close with that, the distance at the posture where they close. [init] Twice as long at most. */
struct orr_assembly orr_loops_assemble_first(struct orr_loops *loops, struct orr_workspace *ws, void *block, double *q);

#endif
