/* Finds where the mass matrix of a description at rest is singular: hinges with nothing beyond them to move, modes and
 * hinges that move the same thing. It is one sweep from the tips to the base with the solver's equations
 * (flexible-operators (62), (63): modes first, then the hinge), written simply, and it looks at every pivot. No state;
 * any thread.
 */
#ifndef ORR_CORE_MODEL_REST_H
#define ORR_CORE_MODEL_REST_H

#include <stddef.h>

#include "core/math/block.h"
#include "core/model/description.h"
#include "core/model/topology.h"

enum orr_rest_fault {
  ORR_REST_SOUND,
  ORR_REST_MODES,         /* mode `index`, while the inboard node is held */
  ORR_REST_HINGE_NOTHING, /* speed `index`: no inertia beyond */
  ORR_REST_HINGE_REPEATS, /* speed `index`: what is beyond can move that way by itself */
};

struct orr_rest_result {
  enum orr_rest_fault fault;
  size_t index;
  double ratio; /* of what hangs on the body, its own hinges locked, to D(k): the accelerations lose its decades */
  int heavy;    /* the body hanging on it that has most of that; −1: none */
};

struct orr_rest; /* what the sweep carries from body to body */

/* [init] Takes the memory of a sweep from the block, or measures it, for so many bodies of at most so many modes. NULL
 * while measuring. */
struct orr_rest *orr_rest_layout(size_t body_count, size_t most_modes, struct orr_block *block);

/* [init] Takes body `index` into the sweep, children first (the reverse of the topology's order), and says whether its
 * modes and hinge can be accelerated. O(1 + nodes n² + n³). */
struct orr_rest_result orr_rest_body(struct orr_rest *rest, const struct orr_description *d,
                                     const struct orr_topology *topology, int index);

#endif
