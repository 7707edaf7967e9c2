/* One block of memory, handed out front to back and never given back.
 *
 * The same layout function runs twice: first on a ledger without a block, to learn the size, then on the block itself.
 * So the size and the layout cannot disagree. Every piece is zeroed and starts at a multiple of 64 bytes.
 *
 * Each header says by one of three words when a function may be called. A word in the head of a header holds for all
 * that is in it.
 *   [init]  Not in a frame: before the first tick, after the last, or on a thread that flies none. May allocate, lock,
 *           use files and sockets, and wait.
 *   [rt]    In a frame, on the thread that flies, or at [init]. Does not allocate, lock, fault a page, use a file or a
 *           socket, or wait; the bound of its loops is known before the run.
 *   [any]   In a frame or not, and on any thread while nobody changes what it reads. Does no more than [rt] may, unless
 *           its comment says so ("a system call", "sleeps"): such a function must not be called in a frame of a
 *           run in real time.
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

/* The next `bytes`, zeroed, or NULL while measuring. [init] O(bytes). A request beyond the measured size is a
 * mistake in our own code (assert). */
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
