/* One writer, any number of readers, no lock: a record that is replaced as a whole.
 *
 * The writer never waits. A reader copies, and knows whether its copy is whole; it tries a bounded number of times.
 * Data are 8-byte words moved with relaxed atomics, so a torn copy is possible and harmless, and never undefined
 * behaviour. The pair may live in a shared mapping: there is no pointer in it and the reader writes nothing. Order:
 * zero the memory, then the two functions, in any threads.
 */
#ifndef ORR_RT_TICK_SEQLOCK_H
#define ORR_RT_TICK_SEQLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct orr_seqlock {
  _Atomic uint64_t sequence; /* odd while the writer is inside */
};

/* [rt] Replaces `words` words of `shared`. One writer only. Wait-free, O(words). */
void orr_seqlock_store(struct orr_seqlock *lock, _Atomic uint64_t *shared, const uint64_t *from, size_t words);

/* [any] Copies `words` words; false when the writer was inside at each of `tries` attempts (or died there). O(words ·
 * tries). */
bool orr_seqlock_load(const struct orr_seqlock *lock, const _Atomic uint64_t *shared, uint64_t *to, size_t words,
                      int tries);

#endif
