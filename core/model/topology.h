/* The tree of a description: parents before children, whatever the order of the file. No state; any thread. */
#ifndef ORR_CORE_MODEL_TOPOLOGY_H
#define ORR_CORE_MODEL_TOPOLOGY_H

#include <stddef.h>

#include "core/model/description.h"

struct orr_topology {
  int *order;        /* [body_count]: `count` bodies, parents first */
  size_t count;      /* fewer than body_count when there are cycles */
  int *first_child;  /* [body_count + 1]: of body i at i + 1, of inertial at 0; −1 ends */
  int *next_sibling; /* [body_count] */
};

/* [init] Bytes for the arrays of a topology. O(1). */
size_t orr_topology_size(size_t body_count);

/* [init] Orders the bodies that hang, however indirectly, on inertial; the memory is aligned to an int. Every parent
 * index is within the description. O(N), no recursion. */
struct orr_topology orr_topology_find(const struct orr_description *description, void *memory);

#endif
