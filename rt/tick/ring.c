#include "rt/tick/ring.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

static size_t padded(size_t bytes) { return (bytes + 7) & ~(size_t)7; }

size_t orr_ring_size(size_t slot_count, size_t slot_bytes) {
  if (slot_count == 0 || (slot_count & (slot_count - 1)) != 0 || slot_bytes == 0 || slot_bytes > SIZE_MAX - 7)
    return 0;
  if (padded(slot_bytes) > SIZE_MAX / slot_count)
    return 0;
  return slot_count * padded(slot_bytes);
}

bool orr_ring_init(struct orr_ring *ring, void *memory, size_t slot_count, size_t slot_bytes) {
  size_t size = orr_ring_size(slot_count, slot_bytes);
  if (size == 0)
    return false;
  memset(memory, 0, size);
  *ring = (struct orr_ring){.slots = memory, .slot_bytes = padded(slot_bytes), .mask = slot_count - 1};
  return true;
}

static unsigned char *slot(const struct orr_ring *ring, uint64_t index) {
  return ring->slots + (index & ring->mask) * ring->slot_bytes;
}

void *orr_ring_claim(struct orr_ring *ring) {
  uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
  if (head - ring->seen_tail > ring->mask) {
    ring->seen_tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    if (head - ring->seen_tail > ring->mask) {
      atomic_fetch_add_explicit(&ring->refused, 1, memory_order_relaxed);
      return NULL;
    }
  }
  return slot(ring, head);
}

void orr_ring_commit(struct orr_ring *ring) {
  uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
  assert(head - ring->seen_tail <= ring->mask);
  atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

void *orr_ring_peek(struct orr_ring *ring) {
  uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
  if (tail == ring->seen_head) {
    ring->seen_head = atomic_load_explicit(&ring->head, memory_order_acquire);
    if (tail == ring->seen_head)
      return NULL;
  }
  return slot(ring, tail);
}

void orr_ring_release(struct orr_ring *ring) {
  uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
  assert(tail != ring->seen_head);
  atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

uint64_t orr_ring_used(const struct orr_ring *ring) {
  uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
  return atomic_load_explicit(&ring->head, memory_order_acquire) - tail;
}

uint64_t orr_ring_refused(const struct orr_ring *ring) {
  return atomic_load_explicit(&ring->refused, memory_order_relaxed);
}
