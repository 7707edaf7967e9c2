/* One block of memory, handed out front to back and never given back.
 *
 * The same layout function runs twice: once on an arena without a block, to learn the size, and once on the
 * real one, so the ledger and the layout cannot disagree. Every piece is zeroed and starts at a multiple of 64 bytes.
 */
#ifndef ORR_CORE_BLOCK_H
#define ORR_CORE_BLOCK_H

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { ORR_ALIGNMENT = 64 };

struct orr_block {
  char *base;  /* NULL: only measure */
  size_t used; /* bytes */
  size_t size; /* bytes; ignored while measuring */
};

/* The next `bytes`, zeroed, or NULL while measuring. [init] O(bytes). A request beyond the measured size is our
 * own mistake (assert). */
static inline void *orr_block_take(struct orr_block *arena, size_t bytes) {
  size_t at = arena->used;
  arena->used += (bytes + ORR_ALIGNMENT - 1) / ORR_ALIGNMENT * ORR_ALIGNMENT;
  if (!arena->base)
    return NULL;
  assert(arena->used <= arena->size);
  return memset(arena->base + at, 0, bytes);
}

#define ORR_TAKE(arena, type, count) ((type *)orr_block_take((arena), sizeof(type) * (size_t)(count)))

#endif
