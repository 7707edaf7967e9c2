#include "rt/tick/seqlock.h"

#include <stdatomic.h>

/* Boehm, "Can seqlocks get along with programming language memory models?" (2012): the writer's release fence orders
 * the odd sequence before the data, the reader's acquire fence orders the data before the second look at the
 * sequence. */
void orr_seqlock_store(struct orr_seqlock *lock, _Atomic uint64_t *shared, const uint64_t *from, size_t words) {
  uint64_t sequence = atomic_load_explicit(&lock->sequence, memory_order_relaxed);
  atomic_store_explicit(&lock->sequence, sequence + 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  for (size_t i = 0; i < words; i++)
    atomic_store_explicit(&shared[i], from[i], memory_order_relaxed);
  atomic_store_explicit(&lock->sequence, sequence + 2, memory_order_release);
}

bool orr_seqlock_load(const struct orr_seqlock *lock, const _Atomic uint64_t *shared, uint64_t *to, size_t words,
                      int tries) {
  for (int t = 0; t < tries; t++) {
    uint64_t before = atomic_load_explicit(&lock->sequence, memory_order_acquire);
    if (before & 1)
      continue;
    for (size_t i = 0; i < words; i++)
      to[i] = atomic_load_explicit(&shared[i], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&lock->sequence, memory_order_relaxed) == before)
      return true;
  }
  return false;
}
