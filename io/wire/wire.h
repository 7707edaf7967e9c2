/* The wire: what an executive and its flight software agree on, in one place. Shared memory first, UDP packets below.
 *
 * Both sides include this file and nothing else of Orrery. Everything is little-endian but the CCSDS headers.
 *
 * A payload (either direction) holds the numbers of a link's channels: first all real ones (f64), then all whole ones
 * (i64), then all flags (u8, 0 or 1); within each the channels stand in the order of the table, and their numbers one
 * after another.
 *
 * Shared memory has one segment per link:
 *
 *   header       written before the magic, never after
 *   run          the executive's words: what is published
 *   peer         the flight software's words: what is commanded
 *   directory    [channel_count] telemetry first, then commands; then the names and units
 *   out slots    [ORR_WIRE_SLOTS] telemetry frames: frame n of the run's count is in slot n mod ORR_WIRE_SLOTS
 *   in slots     [ORR_WIRE_SLOTS] commands, in the same way
 *
 * Two frames may be unanswered at a time: a frame goes out before the run waits for the answer to the one before. So a
 * peer reads frames in order, from `awaited` on. If it falls behind by more than the slots hold, it goes on with the
 * oldest frame that is still whole. The number of slots covers the stalls of a machine without isolation: Linux takes
 * the core from a real-time thread that spins, for 50 ms of every second.
 *
 * Each area has one writer. A slot is a seqlock: a sequence (odd while it is written), then 8-byte words moved with
 * relaxed atomics, so that a reader notices a torn copy and drops it. There is no lock: a side waits for the other only
 * if it chooses to.
 *
 * Telemetry always has one writer: a run holds the lock on its segment, and one thread of it publishes. Commands may
 * have two writers for a moment: a peer that is replaced while it writes finishes its slot, and the new peer may write
 * the same slot. Then the sequence is even and the words are mixed. Therefore a command carries a sum of its words;
 * telemetry needs none.
 */
#ifndef ORR_IO_WIRE_WIRE_H
#define ORR_IO_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words that both sides read and write. C++17 names these types differently; the aliases are those of the <stdatomic.h>
 * of C++23. */
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<uint32_t> orr_wire_u32;
typedef std::atomic<uint64_t> orr_wire_u64;
typedef std::atomic<bool> orr_wire_bool;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
#else
#include <stdatomic.h>
typedef _Atomic uint32_t orr_wire_u32;
typedef _Atomic uint64_t orr_wire_u64;
typedef atomic_bool orr_wire_bool;
#define static_assert _Static_assert
#endif

/* ---- shared memory ----------------------------------------------------------------------------------------------- */

#define ORR_WIRE_MAGIC      UINT64_C(0x314b4e494c52524f) /* "ORRLINK1" */
#define ORR_WIRE_SUM_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* odd: nothing is lost by it */
enum {
  ORR_WIRE_BYTE_ORDER = 0x01020304,
  ORR_WIRE_VERSION = 5,
  ORR_WIRE_SLOTS = 128, /* a power of two: at 1 kHz an eighth of a second may pass before a frame is lost */
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
  uint16_t telemetry_id, command_id; /* UDP: message ids of the first piece */
  uint32_t packet_max;               /* UDP: bytes of the longest packet */
  uint64_t run; /* a number that differs from run to run, so that a peer can tell a new run from this one */
  uint64_t unused[3];
};

struct orr_wire_run {
  orr_wire_u32 published; /* frames so far, modulo 2^32: a futex word */
  orr_wire_u32 waits;     /* 1: the executive sleeps on `commanded` */
  orr_wire_u32 ended;     /* the run is over */
  orr_wire_u32 awaited;   /* the oldest frame, in the same count, that needs an answer: a new peer begins there */
  orr_wire_u32 last;      /* once `ended` is set: the last frame, in the same count; `published` then is one more */
  uint32_t unused[11];
};

struct orr_wire_peer {
  orr_wire_u32 commanded; /* commands so far, modulo 2^32: a futex word */
  orr_wire_u32 waits;     /* the generation that sleeps on `published`; 0: nobody */
  orr_wire_u32 pid;
  orr_wire_u32 generation; /* one more for each peer that comes */
  orr_wire_u64 heartbeat;
  uint64_t unused[5];
};

struct orr_wire_channel {
  uint32_t name_at, unit_at; /* in the names; each ends with a zero byte */
  uint32_t count;
  uint32_t offset; /* in the payload */
  uint8_t type, direction, hold, unused[5];
  double low, high; /* of a command: what is outside is refused, with the whole command */
};

static_assert(sizeof(struct orr_wire_header) == 128, "the same for every compiler");
static_assert(sizeof(struct orr_wire_run) == 64 && sizeof(struct orr_wire_peer) == 64, "a cache line for each writer");
static_assert(sizeof(struct orr_wire_channel) == 40, "the same for every compiler");

enum {
  ORR_WIRE_RUN_AT = sizeof(struct orr_wire_header),
  ORR_WIRE_PEER_AT = ORR_WIRE_RUN_AT + sizeof(struct orr_wire_run),
  ORR_WIRE_DIRECTORY_AT = ORR_WIRE_PEER_AT + sizeof(struct orr_wire_peer),
};

/* Words of a slot after its sequence, before its payload. */
enum { ORR_WIRE_OUT_FRAME, ORR_WIRE_OUT_TIME_NS, ORR_WIRE_OUT_ANSWERED, ORR_WIRE_OUT_FLAGS, ORR_WIRE_OUT_WORDS };
enum { ORR_WIRE_IN_ANSWERS, ORR_WIRE_IN_LAYOUT, ORR_WIRE_IN_PEER, ORR_WIRE_IN_SUM, ORR_WIRE_IN_WORDS };

/* No command has been applied yet: in place of the frame that the last one answered. */
#define ORR_WIRE_NONE UINT64_MAX

/* Flags of a frame out. */
enum {
  ORR_WIRE_OUT_TIMED_OUT = 1, /* no command came for so many frames that the link's policy applies */
  ORR_WIRE_OUT_LATE = 2,      /* the last one applied came late */
  ORR_WIRE_OUT_ENDED = 4,     /* UDP, with the description's id: the run is over */
  ORR_WIRE_OUT_RESTORED = 8,  /* the run did not begin at frame 0: it goes on from a saved state. In all its frames */
  ORR_WIRE_OUT_LOCKSTEP = 16, /* the run waits for the answer to each frame: none may be left out */
  ORR_WIRE_OUT_TAKEN = 64,    /* UDP, with the description's id: another peer commands; see below */
  ORR_WIRE_OUT_KEYED = 128,   /* UDP, with the description's id: packets need a seal, of another key than that had */
  ORR_WIRE_OUT_AWAITED = 32, /* UDP, a frame sent again: the run waits for its answer, and for none to an older frame */
};
/* Flags of a command: the run shall end. */
enum { ORR_WIRE_IN_END = 1 };
/* [any] The word PEER of a command: 32 bits of generation, 16 of flags, 16 of version. One word more in a slot would
 * cost a round trip more than the sum does. */
static inline uint64_t orr_wire_command_peer(uint32_t generation, uint64_t flags, uint64_t version) {
  return version << 48 | (flags & 0xffff) << 32 | generation;
}
static inline uint32_t orr_wire_peer_generation(uint64_t word) { return (uint32_t)word; }
static inline uint64_t orr_wire_peer_flags(uint64_t word) { return word >> 32 & 0xffff; }
static inline uint64_t orr_wire_peer_version(uint64_t word) { return word >> 48; }

/* [rt] For a loop that spins: gives way to the other thread of the core, where the processor has an instruction for
 * it. */
static inline void orr_wire_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* [any] Bytes of a number of a type in a payload. */
static inline uint32_t orr_wire_number_bytes(unsigned type) { return type == ORR_WIRE_FLAG ? 1 : 8; }
/* [any] 8-byte words of a payload, and bytes of a slot. */
static inline size_t orr_wire_words(size_t bytes) { return (bytes + 7) / 8; }
static inline size_t orr_wire_slot_bytes(size_t head_words, size_t payload_bytes) {
  return (8 * (1 + head_words + orr_wire_words(payload_bytes)) + 63) / 64 * 64;
}

/* [rt] Writes a slot. One writer. Wait-free, O(words). (Boehm 2012: the release fence orders the odd sequence before
 * the data.) */
static inline void orr_wire_slot_write(orr_wire_u64 *slot, const uint64_t *head, size_t head_words,
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

/* [any] Prefetches the cache lines of a slot that is about to be read. It changes nothing but the time. O(words). */
static inline void orr_wire_slot_fetch(const orr_wire_u64 *slot, size_t head_words, size_t payload_words) {
  for (size_t i = 0; i < 1 + head_words + payload_words; i += 8)
    __builtin_prefetch(slot + i, 0);
}

/* [rt] Copies a slot; false when its writer was writing it, died while it wrote, or never wrote it. Wait-free,
 * O(words). */
static inline bool orr_wire_slot_read(const orr_wire_u64 *slot, uint64_t *head, size_t head_words, uint64_t *payload,
                                      size_t payload_words) {
  uint64_t before = atomic_load_explicit(slot, memory_order_acquire);
  for (size_t i = 0; i < head_words; i++)
    head[i] = atomic_load_explicit(&slot[1 + i], memory_order_relaxed);
  for (size_t i = 0; i < payload_words; i++)
    payload[i] = atomic_load_explicit(&slot[1 + head_words + i], memory_order_relaxed);
  atomic_thread_fence(memory_order_acquire);
  return before && !(before & 1) && atomic_load_explicit(slot, memory_order_relaxed) == before;
}

/* A product carries upwards only. Without the shift a second number that changes its sign would undo the first. */
static inline uint64_t orr_wire_mix(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * ORR_WIRE_SUM_FACTOR;
  return sum ^ sum >> 32;
}

/* [rt] The sum of a command: head, with 0 in place of the sum, and payload are one list of words, of which word i is
 * mixed into lane i mod 4, each from MAGIC on; the sum is a + 3b + 9c + 27d. There are four lanes because one chain of
 * multiplications takes two or three times as long. Each lane is a variable: gcc turns an array into vectors, which
 * multiply such words more slowly. The lanes have weights because a changed sign in the last word of a lane changes it
 * by 2^63 and 2^31, and two of those must not cancel. A change of one word always changes the sum; a change of more
 * words goes unnoticed in one case of about 2^64. There is no secret in it: it finds accidents, not attacks.
 * O(words). */
static inline uint64_t orr_wire_command_sum(const uint64_t head[ORR_WIRE_IN_WORDS], const uint64_t *payload,
                                            size_t payload_words) {
  uint64_t a = orr_wire_mix(ORR_WIRE_MAGIC, head[0]), b = orr_wire_mix(ORR_WIRE_MAGIC, head[1]);
  uint64_t c = orr_wire_mix(ORR_WIRE_MAGIC, head[2]), d = orr_wire_mix(ORR_WIRE_MAGIC, 0);
  size_t i = 0;
  for (; i + 4 <= payload_words; i += 4) {
    a = orr_wire_mix(a, payload[i]);
    b = orr_wire_mix(b, payload[i + 1]);
    c = orr_wire_mix(c, payload[i + 2]);
    d = orr_wire_mix(d, payload[i + 3]);
  }
  if (i < payload_words)
    a = orr_wire_mix(a, payload[i]);
  if (i + 1 < payload_words)
    b = orr_wire_mix(b, payload[i + 1]);
  if (i + 2 < payload_words)
    c = orr_wire_mix(c, payload[i + 2]);
  return a + 3 * (b + 3 * (c + 3 * d));
}

/* ---- UDP: CCSDS space packets ---------------------------------------------------------------------------------
 *
 * One packet per datagram: cFE's default headers, then a block of Orrery's:
 *
 *   0   primary header, big-endian: message id (version 3 bits = 0, type 1 = command, secondary header flag = 1, APID
 *       11 bits), sequence flags (2 bits = 3) and count (14 bits, per message id), length of the packet − 7
 *   6   telemetry: u32 seconds, u16 subseconds in 2⁻¹⁶ s of simulated time, then cFE's spare bytes: u16 the message id
 *       again, u16 flags (ORR_WIRE_OUT_…), big-endian
 *       command: u8 function code, u8 checksum (the XOR of all bytes of the packet and 0xFF is 0)
 *   16  the block of a telemetry packet, 8 that of a command, little-endian: u64 frame, i64 simulated time in ns, u64
 *       answered frame, a piece of the payload, u32 CRC-32C up to there: of the block, in telemetry from byte 12 on
 *
 * So all that a receiver acts on is under a sum: of a telemetry packet the id is there twice, its time stands in the
 * block, and its length is that of the datagram. Sequence and time of the headers are under none, for cFE's tools write
 * them anew; nobody here reads them.
 *
 * A payload that does not fit a packet is cut into pieces of equal size (the last may be shorter), one packet each,
 * with consecutive message ids; the size is a multiple of 8, so no number is cut. In a command `frame` is the sender's
 * generation (upper 32 bits), the tag of its layout (16; 0: not given) and its count (16). `answered` is the frame that
 * it answers.
 *
 * A generation belongs to the address and port that it first came from: packets of the same generation from elsewhere
 * are refused. Only the peer can end the run. A later generation replaces the peer when the peer has left (function
 * code LEAVE) or was silent for ORR_WIRE_SILENCE_MS. Until then the run answers the newcomer with TAKEN, as it answers
 * a peer that was replaced: a packet like that of a description, with the flag, the sender's generation in `answered`
 * and, in place of the time, the low half of the run's number above the peer's generation. The run sends its farewell
 * again and again until the peer leaves.
 *
 * Function code DESCRIBE asks for what a segment begins with: header, directory, names. `frame` is the number of the
 * piece. The answer has the message id DESCRIPTION_ID, the number of the piece in `frame` and the bytes of all pieces
 * in `answered`. In place of the time it has the generation of the newest peer (0: none came), with the lower half of
 * the header's `run` in the upper half. A newcomer takes a later generation than that, whatever its clock says, and not
 * just the next number, because two may ask at the same time. A peer that flies already sees by `run` that the run is
 * still the same.
 *
 * What has DESCRIPTION_ID has the sum of the block alone and 0 in place of the second id, in every version: a client of
 * another version shall read the description, and with it the version. Its flags are 0 in a piece of the description;
 * in a word of the run (ENDED, TAKEN, KEYED) `frame` is their complement. So flags that were changed on the way are
 * neither.
 *
 * Where the run file names a `key_file`, a seal stands behind each packet in its datagram, in both directions,
 * little-endian:
 *
 *   0   u64 run: a random number of the run, another for each; 0 in a DESCRIBE, which does not know it
 *   8   u64 peer: a random number of the client, another for each that opens; the run seals with that of whom it tells
 *   16  u64 counter: 1 and on; each side counts all packets that it seals for that run and that peer
 *   24  16 bytes of BLAKE2b (RFC 7693) with the key of 32 bytes, over the packet and the 24 bytes before
 *
 * The packet itself is as without a key: its own length does not count the seal. What has no seal of the key is forged.
 * The client's number comes back in the answer to its DESCRIBE, so that answer is new, and tells the number of a run
 * that lives now. From then on either side takes a packet of both numbers once (struct orr_wire_seen); what is of
 * another run, or was seen, is replayed. A DESCRIBE without such a seal gets KEYED without one, a word to people alone.
 */
enum {
  ORR_WIRE_PRIMARY_BYTES = 6,
  ORR_WIRE_TELEMETRY_AT = 16, /* the block */
  ORR_WIRE_COMMAND_AT = 8,
  ORR_WIRE_SPARE_AT = 12,   /* the message id again, and the flags */
  ORR_WIRE_BLOCK_HEAD = 24, /* frame, time, answered */
  ORR_WIRE_CRC_BYTES = 4,
  ORR_WIRE_PACKET_MAX = 8192,
  ORR_WIRE_PIECES_MAX = 64,
  ORR_WIRE_ID_COMMAND = 0x1000,   /* type */
  ORR_WIRE_ID_SECONDARY = 0x0800, /* secondary header flag */
  ORR_WIRE_DESCRIPTION_ID = 0x0fff - 1,
  ORR_WIRE_SILENCE_MS = 500, /* a peer sends a sign of life ten times a second */
  ORR_WIRE_KEY_BYTES = 32,
  ORR_WIRE_MAC_BYTES = 16,
  ORR_WIRE_SEAL_BYTES = 24 + ORR_WIRE_MAC_BYTES,
  ORR_WIRE_SEEN = 1024, /* counters; a power of two: more packets than may overtake one another */
};

enum orr_wire_function {
  ORR_WIRE_COMMANDS,
  ORR_WIRE_END, /* of the run, with the answer to `answered` */
  ORR_WIRE_BEAT,
  ORR_WIRE_DESCRIBE,
  ORR_WIRE_AGAIN, /* lockstep: a frame is missing; asks for the frames without an answer again */
  ORR_WIRE_LEAVE, /* it closes the link */
  ORR_WIRE_FUNCTIONS
};

/* [any] 16 bits of a layout's hash, never 0. */
static inline uint16_t orr_wire_layout_tag(uint64_t hash) {
  uint16_t tag = (uint16_t)(hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48);
  return tag ? tag : 1;
}
static inline uint64_t orr_wire_command_frame(uint32_t generation, uint16_t tag, uint32_t count) {
  return (uint64_t)generation << 32 | (uint32_t)tag << 16 | (count & 0xffffu);
}

/* The heads of a packet as numbers. */
struct orr_wire_packet {
  uint16_t id, count; /* message id, sequence count */
  uint8_t function;   /* command */
  uint32_t flags;     /* telemetry */
  uint64_t frame, answered;
  int64_t time_ns;
};

/* [any] CRC-32C (Castagnoli), as iSCSI has it. O(bytes). */
static inline uint32_t orr_wire_crc(const uint8_t *bytes, size_t count) {
  uint32_t crc = 0xffffffff;
  size_t i = 0;
#ifdef __SSE4_2__
  for (uint64_t word; i + 8 <= count; i += 8) {
    __builtin_memcpy(&word, bytes + i, 8);
    crc = (uint32_t)__builtin_ia32_crc32di(crc, word);
  }
#endif
  for (; i < count; i++) {
    crc ^= bytes[i];
    for (int k = 0; k < 8; k++)
      crc = crc >> 1 ^ (0x82f63b78 & (0u - (crc & 1)));
  }
  return ~crc;
}

/* [any] Where the block begins, and all bytes of a packet that carries `piece_bytes`. */
static inline size_t orr_wire_block_at(uint16_t id) {
  return id & ORR_WIRE_ID_COMMAND ? ORR_WIRE_COMMAND_AT : ORR_WIRE_TELEMETRY_AT;
}
/* [any] Where what the CRC covers begins. */
static inline size_t orr_wire_summed_at(uint16_t id) {
  bool whole = id & ORR_WIRE_ID_COMMAND || id == ORR_WIRE_DESCRIPTION_ID;
  return whole ? orr_wire_block_at(id) : (size_t)ORR_WIRE_SPARE_AT;
}
static inline size_t orr_wire_packet_bytes(uint16_t id, size_t piece_bytes) {
  return orr_wire_block_at(id) + ORR_WIRE_BLOCK_HEAD + piece_bytes + ORR_WIRE_CRC_BYTES;
}

/* [any] What stands in cFE's spare bytes, before the flags. */
static inline uint16_t orr_wire_id_again(uint16_t id) { return id == ORR_WIRE_DESCRIPTION_ID ? 0 : id; }
/* [any] The `frame` of a word of the run. */
static inline uint64_t orr_wire_word_frame(uint32_t flags) { return ~(uint64_t)flags; }

static inline void orr_wire_put_big(uint8_t *to, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; i--, value >>= 8)
    to[i] = (uint8_t)value;
}
static inline uint64_t orr_wire_get_big(const uint8_t *from, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++)
    value = value << 8 | from[i];
  return value;
}

static inline uint8_t orr_wire_xor(const uint8_t *bytes, size_t count) {
  uint8_t sum = 0xff;
  for (size_t i = 0; i < count; i++)
    sum ^= bytes[i];
  return sum;
}

/* [rt] Writes a packet of orr_wire_packet_bytes, which it returns. O(bytes). */
static inline size_t orr_wire_packet_write(uint8_t *to, const struct orr_wire_packet *p, const void *piece,
                                           size_t piece_bytes) {
  size_t all = orr_wire_packet_bytes(p->id, piece_bytes), at = orr_wire_block_at(p->id);
  size_t summed_at = orr_wire_summed_at(p->id);
  orr_wire_put_big(to, p->id, 2);
  orr_wire_put_big(to + 2, 0xc000u | (p->count & 0x3fffu), 2);
  orr_wire_put_big(to + 4, all - 7, 2);
  if (p->id & ORR_WIRE_ID_COMMAND) {
    to[6] = p->function;
    to[7] = 0;
  } else {
    uint64_t time_ns = (uint64_t)p->time_ns;
    orr_wire_put_big(to + 6, time_ns / 1000000000, 4);
    orr_wire_put_big(to + 10, (time_ns % 1000000000 << 16) / 1000000000, 2);
    orr_wire_put_big(to + ORR_WIRE_SPARE_AT, orr_wire_id_again(p->id), 2);
    orr_wire_put_big(to + ORR_WIRE_SPARE_AT + 2, p->flags, 2);
  }
  __builtin_memcpy(to + at, &p->frame, 8);
  __builtin_memcpy(to + at + 8, &p->time_ns, 8);
  __builtin_memcpy(to + at + 16, &p->answered, 8);
  if (piece_bytes)
    __builtin_memcpy(to + at + ORR_WIRE_BLOCK_HEAD, piece, piece_bytes);
  uint32_t crc = orr_wire_crc(to + summed_at, all - ORR_WIRE_CRC_BYTES - summed_at);
  __builtin_memcpy(to + all - ORR_WIRE_CRC_BYTES, &crc, ORR_WIRE_CRC_BYTES);
  if (p->id & ORR_WIRE_ID_COMMAND)
    to[7] = orr_wire_xor(to, all);
  return all;
}

/* [any] Reads a packet of any bytes: whether lengths, headers and sums are right. The piece is at *piece, in `from`.
 * O(bytes). */
static inline bool orr_wire_packet_read(const uint8_t *from, size_t bytes, struct orr_wire_packet *p,
                                        const uint8_t **piece, size_t *piece_bytes) {
  if (bytes < ORR_WIRE_COMMAND_AT + ORR_WIRE_BLOCK_HEAD + ORR_WIRE_CRC_BYTES || bytes > ORR_WIRE_PACKET_MAX)
    return false;
  p->id = (uint16_t)orr_wire_get_big(from, 2);
  size_t at = orr_wire_block_at(p->id);
  if (p->id >> 13 || !(p->id & ORR_WIRE_ID_SECONDARY) || from[2] >> 6 != 3 ||
      orr_wire_get_big(from + 4, 2) + 7 != bytes || bytes < at + ORR_WIRE_BLOCK_HEAD + ORR_WIRE_CRC_BYTES)
    return false;
  if (p->id & ORR_WIRE_ID_COMMAND && orr_wire_xor(from, bytes) != 0)
    return false;
  if (!(p->id & ORR_WIRE_ID_COMMAND) && orr_wire_get_big(from + ORR_WIRE_SPARE_AT, 2) != orr_wire_id_again(p->id))
    return false;
  const size_t summed_at = orr_wire_summed_at(p->id);
  uint32_t crc;
  *piece = from + at + ORR_WIRE_BLOCK_HEAD;
  *piece_bytes = bytes - at - ORR_WIRE_BLOCK_HEAD - ORR_WIRE_CRC_BYTES;
  __builtin_memcpy(&crc, from + bytes - ORR_WIRE_CRC_BYTES, ORR_WIRE_CRC_BYTES);
  if (crc != orr_wire_crc(from + summed_at, bytes - ORR_WIRE_CRC_BYTES - summed_at))
    return false;
  p->count = (uint16_t)(orr_wire_get_big(from + 2, 2) & 0x3fff);
  p->function = p->id & ORR_WIRE_ID_COMMAND ? from[6] : 0;
  p->flags = p->id & ORR_WIRE_ID_COMMAND ? 0 : (uint32_t)orr_wire_get_big(from + ORR_WIRE_SPARE_AT + 2, 2);
  __builtin_memcpy(&p->frame, from + at, 8);
  __builtin_memcpy(&p->time_ns, from + at + 8, 8);
  __builtin_memcpy(&p->answered, from + at + 16, 8);
  if (p->id == ORR_WIRE_DESCRIPTION_ID && p->flags && p->frame != orr_wire_word_frame(p->flags))
    return false;
  return true;
}

/* [any] How a payload is cut: the bytes of a whole piece for packets of at most `packet_max` bytes, and how many pieces
 * (at least one). */
static inline size_t orr_wire_piece_bytes(uint16_t id, size_t payload_bytes, size_t packet_max) {
  size_t most = (packet_max - orr_wire_packet_bytes(id, 0)) / 8 * 8;
  return payload_bytes < most ? payload_bytes : most;
}
static inline uint32_t orr_wire_pieces(size_t payload_bytes, size_t piece_bytes) {
  return payload_bytes && piece_bytes ? (uint32_t)((payload_bytes + piece_bytes - 1) / piece_bytes) : 1;
}

/* [any] Both, for the payload that begins with message id `id`. */
struct orr_wire_cut {
  size_t piece;    /* bytes of a whole piece */
  uint32_t pieces; /* packets of a payload */
};
static inline struct orr_wire_cut orr_wire_cut(uint16_t id, size_t payload_bytes, size_t packet_max) {
  size_t piece = orr_wire_piece_bytes(id, payload_bytes, packet_max);
  struct orr_wire_cut cut = {piece, orr_wire_pieces(payload_bytes, piece)};
  return cut;
}

/* A payload that comes in pieces. */
struct orr_wire_gather {
  uint64_t key;  /* what the pieces that are here belong to */
  uint64_t seen; /* bit i: piece i is here */
};

/* [any] Adds piece `i` of `pieces`; `payload` has room for payload_bytes. Returns 1 when the payload is whole, 0 when
 * it is not yet, −1 when the piece has not the length it should. A piece of another key begins anew. O(bytes). */
static inline int orr_wire_gather_add(struct orr_wire_gather *g, uint64_t key, uint32_t i, const uint8_t *piece,
                                      size_t bytes, uint8_t *payload, size_t payload_bytes, size_t piece_bytes) {
  uint32_t pieces = orr_wire_pieces(payload_bytes, piece_bytes);
  size_t at = i * piece_bytes;
  if (i >= pieces || bytes != (i + 1 < pieces ? piece_bytes : payload_bytes - at))
    return -1;
  if (g->key != key) {
    g->key = key;
    g->seen = 0;
  }
  if (bytes)
    __builtin_memcpy(payload + at, piece, bytes);
  g->seen |= UINT64_C(1) << i;
  uint64_t all = pieces == ORR_WIRE_PIECES_MAX ? UINT64_MAX : (UINT64_C(1) << pieces) - 1;
  if (g->seen != all)
    return 0;
  g->key = ~key;
  g->seen = 0;
  return 1;
}

/* ---- UDP with a key ---------------------------------------------------------------------------------------------- */

struct orr_wire_seal {
  uint64_t run, peer, counter;
};

/* [any] The seal's numbers behind a packet of `bytes`: to be covered, with it, by the sum that follows. O(1). */
static inline void orr_wire_seal_write(uint8_t *packet, size_t bytes, const struct orr_wire_seal *seal) {
  __builtin_memcpy(packet + bytes, seal, sizeof *seal);
}
/* [any] Those of a datagram of any bytes, and the bytes of the packet before; false when it is too short, or goes the
 * other way than `commands`: what was sealed by one side is not sent back to it. O(1). */
static inline bool orr_wire_seal_read(const uint8_t *datagram, size_t bytes, bool commands, struct orr_wire_seal *seal,
                                      size_t *packet_bytes) {
  if (bytes < ORR_WIRE_SEAL_BYTES || bytes > ORR_WIRE_PACKET_MAX ||
      commands != !!(orr_wire_get_big(datagram, 2) & ORR_WIRE_ID_COMMAND))
    return false;
  *packet_bytes = bytes - ORR_WIRE_SEAL_BYTES;
  __builtin_memcpy(seal, datagram + *packet_bytes, sizeof *seal);
  return true;
}

/* Which counters came; those that are older than it reaches count as seen. All zero: none did. */
struct orr_wire_seen {
  uint64_t newest;
  uint64_t bits[ORR_WIRE_SEEN / 64]; /* counter i is bit i mod ORR_WIRE_SEEN */
};

/* [any] O(1). */
static inline bool orr_wire_seen_has(const struct orr_wire_seen *s, uint64_t counter) {
  if (counter > s->newest)
    return false;
  return counter == 0 || s->newest - counter >= ORR_WIRE_SEEN ||
         (s->bits[counter / 64 % (ORR_WIRE_SEEN / 64)] >> counter % 64 & 1);
}
/* [any] Notes one that it has not. O(1), and O(gap) after a gap, ORR_WIRE_SEEN at most. */
static inline void orr_wire_seen_add(struct orr_wire_seen *s, uint64_t counter) {
  uint64_t gap = counter > s->newest ? counter - s->newest : 0;
  for (uint64_t i = 1; i <= gap && i <= ORR_WIRE_SEEN; i++)
    s->bits[(s->newest + i) / 64 % (ORR_WIRE_SEEN / 64)] &= ~(UINT64_C(1) << (s->newest + i) % 64);
  s->newest += gap;
  s->bits[counter / 64 % (ORR_WIRE_SEEN / 64)] |= UINT64_C(1) << counter % 64;
}

#endif
