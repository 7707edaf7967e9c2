/* The closed loops of a compiled description, put together from rest.
 *
 * orr_compiled_create → orr_mechanism_create → use → destroy. [init]
 */
#ifndef ORR_TOOLS_MECHANISM_H
#define ORR_TOOLS_MECHANISM_H

#include "core/assemble.h"
#include "tools/compiled.h"

struct orr_mechanism {
  struct orr_loops *loops;
  struct orr_assembly assembly; /* at rest */
  int *redundant;               /* [loops->count] equations that follow from others */
  double *q;                    /* [q_count] the assembled posture */
  size_t bytes;                 /* of the loops' block */
  void *block;
};

/* The description has passed the reader, so its loops close. Places the workspace's sites. */
void orr_mechanism_create(struct orr_mechanism *mechanism, struct orr_compiled *compiled,
                          const struct orr_description *description);
void orr_mechanism_destroy(struct orr_mechanism *mechanism);

#endif
