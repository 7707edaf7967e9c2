/* Packets that somebody else defined (`layout` of a link, io/config/run/run_layout.h), written from native payloads and
 * read into them (io/links/terms/layout.h). Such a packet is called a telegram here.
 *
 * orr_telegrams_init, which measures → a block → orr_telegrams_init [init]; const from then on. What a write or a read
 * needs beside that is given to it, so both are functions of their arguments alone.
 *
 * Numbers. raw = (value − offset)/lsb, rounded to the nearest whole number, a tie to the even one. What does not fit
 * its bits becomes the nearest that does, and is counted; so is NaN for whole numbers, which becomes the field's
 * `nan`. A float of 32 bits is rounded in the same way, and what is beyond it becomes its largest finite number; NaN
 * stays NaN. Back, value = lsb raw + offset with one rounding. Counters and times wrap.
 */
#ifndef ORR_IO_LINKS_TELEGRAM_H
#define ORR_IO_LINKS_TELEGRAM_H

#include "core/math/block.h"
#include "io/config/run/run_layout.h"
#include "io/links/terms/layout.h"

/* A field, with its place in the native payload. */
struct orr_telegram_op {
  const struct orr_run_field *field;
  const struct orr_channel *channel; /* NULL: it has none */
  uint32_t at;                       /* in the payload */
};

struct orr_telegram {
  const struct orr_run_telegram *desc;
  struct orr_telegram_op *ops; /* [desc->count] in the file's order, but checksums last */
};

struct orr_telegrams {
  const struct orr_run_layout *desc;
  const struct orr_layout *layout;
  struct orr_telegram *all; /* [desc->count] */
};

/* When a telegram goes out: what its counters and times tell. */
struct orr_telegram_moment {
  uint64_t number; /* of the link's frame: 0, 1, … */
  uint64_t sent;   /* telegrams of its kind before it */
  int64_t time_ns; /* of the run */
};

/* Numbers that did not fit their bits, and the first of them. */
struct orr_telegram_clipped {
  uint64_t count;
  const struct orr_run_telegram *telegram;
  const struct orr_run_field *field;
  double value;
};

enum orr_telegram_verdict {
  ORR_TELEGRAM_GOOD,
  ORR_TELEGRAM_OTHER,  /* none of the link's: by its length, or by its constants */
  ORR_TELEGRAM_BROKEN, /* a checksum is wrong, a set or a state is none */
  ORR_TELEGRAM_PART,   /* of a stream: more bytes are needed to tell */
};

/* [init] Measures the bytes, or lays out. All arguments outlive it. O(fields · channels). */
void orr_telegrams_init(struct orr_telegrams *telegrams, const struct orr_run_layout *desc,
                        const struct orr_layout *layout, struct orr_block *block);

/* [any] Whether a telegram goes out by itself with the link's frame of that number. O(1). */
bool orr_telegram_is_due(const struct orr_run_telegram *telegram, uint64_t number);

/* [any] A native payload of telemetry → desc->bytes bytes. Returns how many. O(fields + bytes under checksums). */
size_t orr_telegram_write(const struct orr_telegrams *telegrams, int which, const struct orr_telegram_moment *moment,
                          const uint64_t *payload, uint8_t *to, struct orr_telegram_clipped *clipped);

/* [any] Which telegram of flight software these bytes are, exactly; *which is −1 where the answer is OTHER. The bytes
 * may be any. O(telegrams · fields + bytes under checksums). */
enum orr_telegram_verdict orr_telegram_judge(const struct orr_telegrams *telegrams, const uint8_t *bytes, size_t size,
                                             int *which);

/* [any] The same for bytes of a stream: which telegram begins with the first of them. OTHER: none does, go on by a
 * byte. PART: one may, when more have come. */
enum orr_telegram_verdict orr_telegram_begins(const struct orr_telegrams *telegrams, const uint8_t *bytes, size_t size,
                                              int *which);

/* [any] A telegram that was judged good → the numbers of its channels in a native payload of commands; the others stay
 * as they are, but for pulses, which become 0. O(fields + commands). */
void orr_telegram_read(const struct orr_telegrams *telegrams, int which, const uint8_t *bytes, uint64_t *payload);

/* [any] The same, where another one came for the same payload before: its pulses stay, too. */
void orr_telegram_add(const struct orr_telegrams *telegrams, int which, const uint8_t *bytes, uint64_t *payload);

/* [any] The payload that stands before the first telegram: each number 0, or as near to it as its range allows.
 * O(commands). */
void orr_telegram_rest(const struct orr_telegrams *telegrams, uint64_t *payload);

/* [any] The bits of a field. O(width). The checksum of a telegram as its field has it; its own bits count as 0. */
uint64_t orr_field_get(const struct orr_run_field *field, const uint8_t *bytes);
void orr_field_put(const struct orr_run_field *field, uint8_t *bytes, uint64_t raw);
uint64_t orr_field_checksum(const struct orr_run_field *field, const uint8_t *bytes);

#endif
