/* Which bodies an embedded loop takes into its aggregate. interbody-forces 5.1, constraint-embedding.
 *
 * The subgraph of a loop is the two paths to the nearest common ancestor, without that ancestor. For a gear it is the
 * two paths to the nearest common ancestor of the parents. An ancestor belongs to the subgraph, too, if its modes move
 * the two attachments differently. Subgraphs that share a limb become one aggregate. So each aggregate has one parent
 * outside. Limbs are numbered parents first, so that parent has a lower number than the aggregate's first limb, and all
 * that hangs on the aggregate a higher one.
 */
#ifndef ORR_CORE_LOOPS_LOOP_GROUP_H
#define ORR_CORE_LOOPS_LOOP_GROUP_H

#include "core/loops/loop.h"

/* Fills aggregate_of and aggregate_count for the loops whose method is ORR_LOOP_EMBED. [init] O(loops · (loops +
 * N)). */
void orr_loops_group(struct orr_loops *loops);

/* The aggregate that an embedded loop is in. A node may stand on the outer limb, which is not in it; then the other
 * side is. [any] */
int orr_loop_aggregate(const struct orr_loops *loops, const struct orr_loop *loop);

/* Why a loop whose file names no method got the one it has. */
enum orr_loop_reason {
  ORR_LOOP_ASKED,    /* the file says so */
  ORR_LOOP_SMALL,    /* embed: a small aggregate, well away from losing an equation at the posture */
  ORR_LOOP_LARGE,    /* augment: the aggregate would have more coordinates than pays */
  ORR_LOOP_RANKLESS, /* augment: the equations are near to losing rank at the posture */
};

/* The most coordinates of an aggregate that is embedded where the file names no method. The cost of D grows with their
 * cube, that of augmentation with their number. */
enum { ORR_EMBED_COORDINATES = 24 };

/* Settles the method of loops that are ORR_LOOP_AUTO, at the placed posture, and groups; reason [count].
 * [init] O(loops² N). */
void orr_loops_settle(struct orr_loops *loops, const struct orr_workspace *ws, enum orr_loop_reason *reason);

#endif
