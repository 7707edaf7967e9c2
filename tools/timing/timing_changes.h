/* Where in a series of measurements something changed for good.
 *
 * The place at which the ranks before and behind differ most, in units of their scatter (after A. N. Pettitt, "A
 * non-parametric approach to the change-point problem", Applied Statistics 28, 1979), taken for a change where fewer
 * than one in a hundred random orders of the same values have such a place, and the medians of both sides differ by a
 * hundredth or more; then the same on each side. Single outliers move no rank by much. Deterministic. [init]
 */
#ifndef ORR_TOOLS_TIMING_TIMING_CHANGES_H
#define ORR_TOOLS_TIMING_TIMING_CHANGES_H

#include <stddef.h>

enum { ORR_TIMING_CHANGES_MAX = 64, ORR_TIMING_CHANGE_SIDE = 4 };

struct orr_timing_change {
  size_t at;            /* the first value of what came then */
  double before, after; /* medians, up to the neighbouring changes */
};

/* Changes in their order; at least ORR_TIMING_CHANGE_SIDE values stand on either side of each. Values above 0. Returns
 * how many, at most `most`; 0 without memory. O(random orders · count²) at worst. */
size_t orr_timing_changes(const double *value, size_t count, struct orr_timing_change *changes, size_t most);

#endif
