/* How many axes, coordinates and speeds each kind of hinge has: the table of conventions, "Bodies, nodes, hinges".
 *
 * Constant data, for all who read, judge or compile a description; any thread, any time.
 */
#ifndef ORR_CORE_MODEL_HINGE_KINDS_H
#define ORR_CORE_MODEL_HINGE_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/model/description.h"

struct orr_hinge_kind_info {
  const char *name;        /* as a model file writes it */
  size_t axis_count;       /* axes or normal it takes: 0 to 3 */
  size_t coordinate_count; /* numbers in q: 0 to 7 (a quaternion is 4) */
  size_t speed_count;      /* numbers in β, its degrees of freedom: 0 to 6 */
  bool scalar;             /* every coordinate is one number whose rate is its speed */
  unsigned angles;         /* bit i: speed i is angular */
};

/* [any] O(1). */
const struct orr_hinge_kind_info *orr_hinge_kind_info(enum orr_hinge_kind kind);

#endif
