/* The layout of a link's payloads, made from the table of channels: the place and form of each channel
 * (io/wire/wire.h).
 *
 * orr_layout_size → a block → orr_layout_init [init]; then const. Channels stand in the order of the table whatever the
 * order in which the run file names them.
 */
#ifndef ORR_IO_LINKS_LAYOUT_H
#define ORR_IO_LINKS_LAYOUT_H

#include "core/plant/channel.h"
#include "io/wire/wire.h"

struct orr_layout_entry {
  const struct orr_channel *channel;
  uint32_t at; /* in the payload */
};

/* One direction. */
struct orr_layout_side {
  struct orr_layout_entry *entries; /* [count] as they stand in the payload */
  int count, numbers;
  uint32_t bytes;
};

struct orr_layout {
  struct orr_layout_side telemetry, commands;
  uint64_t hash; /* of the directory that describes it */
};

/* A number of a payload. */
struct orr_layout_number {
  const struct orr_channel *channel; /* NULL: none */
  int element;
  double value; /* as it came */
};

/* Why a command is refused. */
enum orr_refusal {
  ORR_REFUSAL_NONE,
  ORR_REFUSAL_STALE,        /* older than the last applied, or overtaken by a newer one before it was due */
  ORR_REFUSAL_DUPLICATE,    /* answers a frame that is answered already */
  ORR_REFUSAL_MALFORMED,    /* answers a frame never published, stays torn, or has a wrong length or checksum */
  ORR_REFUSAL_VERSION,      /* of another version, or of no function that this link has */
  ORR_REFUSAL_LAYOUT,       /* of a peer with another layout (by its hash) */
  ORR_REFUSAL_NOT_FINITE,   /* NaN or infinite */
  ORR_REFUSAL_OUT_OF_RANGE, /* finite, but outside the range of its channel */
  ORR_REFUSAL_FOREIGN,      /* not from the peer: another sender, or a peer that was replaced */
  ORR_REFUSAL_DROPPED,      /* overwritten before it was read */
  ORR_REFUSAL_FORGED,       /* without a seal of the link's key */
  ORR_REFUSAL_REPLAYED,     /* sealed for another run, or seen before */
  ORR_REFUSAL_OTHER_ID,     /* a whole packet that is not the link's, by its message id, or length and constants */
  ORR_REFUSALS
};

/* [any] "stale", …, as in a summary's data; and the same for people: "older than what is applied already". */
const char *orr_refusal_name(enum orr_refusal refusal);
const char *orr_refusal_text(enum orr_refusal refusal);

/* [init] Bytes for a link of so many channels. */
size_t orr_layout_size(int telemetry_count, int command_count);
/* [init] Lays out; `block` aligned for pointers, of orr_layout_size bytes. The table outlives it. O(channels²). */
void orr_layout_init(struct orr_layout *layout, void *block, const struct orr_channel_table *table,
                     const int *telemetry, int telemetry_count, const int *commands, int command_count);

/* [rt] The frame's block → a payload of telemetry.bytes, padded with zeros to whole words. O(numbers). */
void orr_layout_pack(const struct orr_layout_side *side, const double *values, uint64_t *payload);
/* [rt] ORR_REFUSAL_NONE where every number of a payload is a value of its channel; else the first refusal found. The
 * payload may be any bytes. O(numbers). */
enum orr_refusal orr_layout_judge(const struct orr_layout_side *side, const uint64_t *payload);
/* [rt] The first number of a payload that orr_layout_judge refuses, and its place; `channel` is NULL where it refuses
 * none. O(numbers). */
struct orr_layout_number orr_layout_refused(const struct orr_layout_side *side, const uint64_t *payload);
/* [rt] A payload that orr_layout_judge found good → the frame's block. A pulse of zero says nothing: one that stands in
 * the block stays. Returns the first pulse there that another one overruled. O(numbers). */
struct orr_layout_number orr_layout_unpack(const struct orr_layout_side *side, const uint64_t *payload, double *values);

#endif
