/* One block of memory, handed out front to back and never given back.
 *
 * The same layout function runs twice: once on a ledger without a block, to learn the size, and once on the
 * real one, so the ledger and the layout cannot disagree. Every piece is zeroed and starts at a multiple of 64 bytes.
 */
#ifndef ORR_CORE_MATH_BLOCK_H
#define ORR_CORE_MATH_BLOCK_H

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
static inline void *orr_block_take(struct orr_block *ledger, size_t bytes) {
  size_t at = ledger->used;
  ledger->used += (bytes + ORR_ALIGNMENT - 1) / ORR_ALIGNMENT * ORR_ALIGNMENT;
  if (!ledger->base)
    return NULL;
  assert(ledger->used <= ledger->size);
  return memset(ledger->base + at, 0, bytes);
}

#define ORR_TAKE(ledger, type, count) ((type *)orr_block_take((ledger), sizeof(type) * (size_t)(count)))

#endif
