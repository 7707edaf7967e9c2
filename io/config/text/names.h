/* Names to numbers, and the nearest name to a misspelt one.
 *
 * A table holds texts that it does not own. [init]; one thread at a time.
 */
#ifndef ORR_IO_CONFIG_TEXT_NAMES_H
#define ORR_IO_CONFIG_TEXT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "io/config/text/arena.h"

enum { ORR_NAME_NONE = -1 };

struct orr_name_slot {
  const char *name; /* NULL: free */
  uint32_t hash;
  int32_t value;
};

struct orr_names {
  struct orr_name_slot *slots; /* [slot_count], open addressing */
  size_t slot_count, used;
};

/* [init] The value of a name or ORR_NAME_NONE; O(length). A zeroed table is an empty one. */
int32_t orr_names_find(const struct orr_names *names, const char *name);

/* [init] Adds a name that is not in the table; amortised O(length). */
void orr_names_add(struct orr_names *names, struct orr_arena *arena, const char *name, int32_t value);

/* [init] What a search for the nearest name has found. Zero it, set `wanted`, offer every candidate, take `best`. */
struct orr_nearest {
  const char *wanted;
  const char *best; /* NULL when nothing is near enough: one slip in four letters, transposed neighbours one slip */
  size_t distance;
};

/* [init] O(length²) for a candidate of similar length, O(1) for others. */
void orr_nearest_offer(struct orr_nearest *nearest, const char *candidate);

#endif
