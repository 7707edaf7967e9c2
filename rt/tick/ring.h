/* A single-producer single-consumer ring of fixed slots, in memory the caller gives (and locks): how the rt thread
 * hands over to the io thread, and back, without entering the kernel.
 *
 * Order: orr_ring_size → memory, aligned to 64 → orr_ring_init; then one producer claims and commits, one consumer
 * peeks and releases. A full ring is a return value and a count, never a wait. A slot is filled and read in place.
 */
#ifndef ORR_RT_TICK_RING_H
#define ORR_RT_TICK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct orr_ring {
  /* fixed */
  unsigned char *slots; /* [slot_count][slot_bytes] */
  size_t slot_bytes;    /* rounded up to a multiple of 8 */
  uint64_t mask;        /* slot_count − 1 */
  /* the producer's line: indices only grow, and wrap through the mask */
  _Alignas(64) _Atomic uint64_t head; /* slots ever committed */
  uint64_t seen_tail;                 /* the producer's last look at tail */
  _Atomic uint64_t refused;           /* claims that found the ring full */
  /* the consumer's line */
  _Alignas(64) _Atomic uint64_t tail; /* slots ever released */
  uint64_t seen_head;
};

/* [init] Bytes of slot memory; 0 when slot_count is no power of two, or a size is zero or overflows. */
size_t orr_ring_size(size_t slot_count, size_t slot_bytes);

/* [init] Sets up a ring over `memory` of orr_ring_size bytes, and touches every page of it. False as orr_ring_size is
 * 0. */
bool orr_ring_init(struct orr_ring *ring, void *memory, size_t slot_count, size_t slot_bytes);

/* [rt] Producer: the slot to fill next, or NULL when the ring is full (counted). Wait-free, O(1). */
void *orr_ring_claim(struct orr_ring *ring);
/* [rt] Producer: hands the claimed slot over. Wait-free, O(1). */
void orr_ring_commit(struct orr_ring *ring);

/* [rt] Consumer: the oldest slot, or NULL when there is none. The producer finds it again as it was given back.
 * Wait-free, O(1). */
void *orr_ring_peek(struct orr_ring *ring);
/* [rt] Consumer: gives the peeked slot back. Wait-free, O(1). */
void orr_ring_release(struct orr_ring *ring);

/* [any] Slots in use, at the moment of looking. */
uint64_t orr_ring_used(const struct orr_ring *ring);
/* [any] Claims refused so far. */
uint64_t orr_ring_refused(const struct orr_ring *ring);

#endif
