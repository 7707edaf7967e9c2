/* The wire: what an executive and its flight software agree on, in one place. Shared memory first, UDP packets below.
 *
 * Both sides include this file and nothing else of Orrery. Everything is little-endian but the CCSDS headers.
 *
 * A payload (either direction) holds the numbers of a link's channels: first all real ones (f64), then all whole ones (i64), then
 * all flags (u8, 0 or 1); within each the channels stand in the order of the table, and their numbers one after another.
 *
 * One segment per link:
 *
 *   header       written before the magic, never after
 *   run          the executive's words: what is published
 *   peer         the flight software's words: what is commanded
 *   directory    [channel_count] telemetry first, then commands; then the names and units
 *   out slots    [ORR_WIRE_SLOTS] telemetry frames: frame n of the run's count is in slot n mod ORR_WIRE_SLOTS
 *   in slots     [ORR_WIRE_SLOTS] commands, in the same way
 *
 * Two frames may be unanswered at a time: a frame goes out before the answer to the one before is waited for. So a peer takes frames in
 * turn, from `awaited` on; where it has fallen behind by more than the slots hold, it goes on with the oldest that is whole.
 *
 * Each area has one writer. A slot is a seqlock: a sequence (odd while it is written), then 8-byte words moved with relaxed atomics,
 * so that a torn copy is noticed and harmless. There is no lock, and no side waits for the other but by its own choice.
 */
#ifndef ORR_IO_WIRE_H
#define ORR_IO_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- shared memory ------------------------------------------------------------------------------------------------ */

#define ORR_WIRE_MAGIC UINT64_C(0x314b4e494c52524f) /* "ORRLINK1" */
enum {
  ORR_WIRE_BYTE_ORDER = 0x01020304,
  ORR_WIRE_VERSION = 1,
  ORR_WIRE_SLOTS =
      4, /* a power of two; more than one, so that an answer to the next frame leaves the one before to be read */
  ORR_WIRE_PAYLOAD_MAX = 1 << 16,
};

enum orr_wire_type { ORR_WIRE_REAL, ORR_WIRE_WHOLE, ORR_WIRE_FLAG }; /* f64, i64, u8 */
enum orr_wire_direction { ORR_WIRE_TELEMETRY, ORR_WIRE_COMMAND };
enum orr_wire_hold { ORR_WIRE_LEVEL, ORR_WIRE_PULSE };

struct orr_wire_header {
  uint64_t magic; /* written last */
  uint32_t byte_order, version;
  uint64_t layout_hash;   /* of the directory: names, units, types, counts, offsets */
  uint64_t segment_bytes; /* of all */
  int64_t step_ns;        /* of the simulation */
  uint32_t divisor;       /* frames of the simulation per frame of the link */
  uint32_t channel_count;
  uint32_t directory_at, names_at, names_bytes;          /* from the start of the segment */
  uint32_t telemetry_bytes, command_bytes;               /* of a payload */
  uint32_t out_at, out_slot_bytes, in_at, in_slot_bytes; /* of slot 0; from one slot to the next */
  uint32_t run_pid;
  uint64_t unused[5];
};

struct orr_wire_run {
  _Atomic uint32_t published; /* frames so far, modulo 2^32: a futex word */
  _Atomic uint32_t waits;     /* the executive sleeps on `commanded` */
  _Atomic uint32_t ended;     /* the run is over */
  _Atomic uint32_t
      awaited; /* the oldest frame, in the same count, whose answer is still wanted: where a new peer begins */
  uint32_t unused[12];
};

struct orr_wire_peer {
  _Atomic uint32_t commanded; /* commands so far, modulo 2^32: a futex word */
  _Atomic uint32_t waits;     /* the peer sleeps on `published` */
  _Atomic uint32_t pid;
  _Atomic uint32_t generation; /* one more for each peer that comes */
  _Atomic uint64_t heartbeat;
  uint64_t unused[5];
};

struct orr_wire_channel {
  uint32_t name_at, unit_at; /* in the names; each ends with a zero byte */
  uint32_t count;
  uint32_t offset; /* in the payload */
  uint8_t type, direction, hold, unused[5];
  double low, high; /* of a command: what is outside is refused, with the whole command */
};

_Static_assert(sizeof(struct orr_wire_header) == 128, "the same for every compiler");
_Static_assert(sizeof(struct orr_wire_run) == 64 && sizeof(struct orr_wire_peer) == 64, "a cache line for each writer");
_Static_assert(sizeof(struct orr_wire_channel) == 40, "the same for every compiler");

enum {
  ORR_WIRE_RUN_AT = sizeof(struct orr_wire_header),
  ORR_WIRE_PEER_AT = ORR_WIRE_RUN_AT + sizeof(struct orr_wire_run),
  ORR_WIRE_DIRECTORY_AT = ORR_WIRE_PEER_AT + sizeof(struct orr_wire_peer),
};

/* Words of a slot after its sequence, before its payload. */
enum { ORR_WIRE_OUT_FRAME, ORR_WIRE_OUT_TIME_NS, ORR_WIRE_OUT_ANSWERED, ORR_WIRE_OUT_FLAGS, ORR_WIRE_OUT_WORDS };
enum { ORR_WIRE_IN_ANSWERS, ORR_WIRE_IN_LAYOUT, ORR_WIRE_IN_GENERATION, ORR_WIRE_IN_FLAGS, ORR_WIRE_IN_WORDS };

/* No command has been applied yet: in place of the frame that the last one answered. */
#define ORR_WIRE_NONE UINT64_MAX

/* Flags of a frame out: no command came for so many frames that the link's policy rules; the last one applied came late. */
enum { ORR_WIRE_OUT_TIMED_OUT = 1, ORR_WIRE_OUT_LATE = 2 };
/* Flags of a command: the run shall end. */
enum { ORR_WIRE_IN_END = 1 };

/* [any] 8-byte words of a payload, and bytes of a slot. */
static inline size_t orr_wire_words(size_t bytes) { return (bytes + 7) / 8; }
static inline size_t orr_wire_slot_bytes(size_t head_words, size_t payload_bytes) {
  return (8 * (1 + head_words + orr_wire_words(payload_bytes)) + 63) / 64 * 64;
}

/* [rt] Writes a slot. One writer. Wait-free, O(words). (Boehm 2012: the release fence orders the odd sequence before the data.) */
static inline void orr_wire_slot_write(_Atomic uint64_t *slot, const uint64_t *head, size_t head_words,
                                       const uint64_t *payload, size_t payload_words) {
  uint64_t sequence = atomic_load_explicit(slot, memory_order_relaxed) | 1; /* odd already where a writer died */
  atomic_store_explicit(slot, sequence, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  for (size_t i = 0; i < head_words; i++)
    atomic_store_explicit(&slot[1 + i], head[i], memory_order_relaxed);
  for (size_t i = 0; i < payload_words; i++)
    atomic_store_explicit(&slot[1 + head_words + i], payload[i], memory_order_relaxed);
  atomic_store_explicit(slot, sequence + 1, memory_order_release);
}

/* [rt] Copies a slot; false when its writer was inside, or died there. Wait-free, O(words). */
static inline bool orr_wire_slot_read(const _Atomic uint64_t *slot, uint64_t *head, size_t head_words,
                                      uint64_t *payload, size_t payload_words) {
  uint64_t before = atomic_load_explicit(slot, memory_order_acquire);
  for (size_t i = 0; i < head_words; i++)
    head[i] = atomic_load_explicit(&slot[1 + i], memory_order_relaxed);
  for (size_t i = 0; i < payload_words; i++)
    payload[i] = atomic_load_explicit(&slot[1 + head_words + i], memory_order_relaxed);
  atomic_thread_fence(memory_order_acquire);
  return !(before & 1) && atomic_load_explicit(slot, memory_order_relaxed) == before;
}

#endif
