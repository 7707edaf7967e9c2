/* The closed loops of a compiled description, for a command that runs once.
 *
 * orr_compiled_create → orr_mechanism_create → orr_mechanism_assemble (what check tells) or orr_mechanism_solver (what
 * eval and runs solve with) → use → destroy. [init]
 */
#ifndef ORR_TOOLS_COMMON_MECHANISM_H
#define ORR_TOOLS_COMMON_MECHANISM_H

#include "core/loops/assemble.h"
#include "core/loops/closed.h"
#include "tools/common/compiled.h"

struct orr_mechanism {
  struct orr_loops *loops;
  size_t bytes; /* of all blocks */
  void *block;
  /* orr_mechanism_assemble: */
  struct orr_assembly assembly; /* at rest */
  int *redundant;               /* [loops->count] equations that follow from others */
  double *q;                    /* [q_count] the assembled posture */
  /* orr_mechanism_solver: */
  enum orr_loop_reason *reason; /* [loops->count] why each has its method */
  struct orr_closed *closed;
  void *closed_block;
};

/* The description has passed the reader, so its loops close. */
void orr_mechanism_create(struct orr_mechanism *mechanism, struct orr_compiled *compiled,
                          const struct orr_description *description);
void orr_mechanism_destroy(struct orr_mechanism *mechanism);

/* Assembles from rest. Distances are those at zero coordinates. */
void orr_mechanism_assemble(struct orr_mechanism *mechanism, struct orr_compiled *compiled);

/* Methods settled and the solver made for motion that starts at q, whose distances are kept; hinges prescribed as they
 * are in the workspace. Leaves the loops placed at q. */
void orr_mechanism_solver(struct orr_mechanism *mechanism, struct orr_compiled *compiled, const double *q);

#endif
