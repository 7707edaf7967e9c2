/* Messages of a log: CDR, little-endian, laid out by a schema in the language ros2msg. Writing uses memory of the
 * caller. Reading never goes beyond the given bytes, whatever they are. No heap. [any]; O(1) but where said.
 *
 * A message is four bytes (0 1 0 0: CDR, little-endian) and the fields in their order, each number at a multiple of
 * its own size counted from behind these four. A fixed array is its numbers alone, a sequence has their count before
 * it (four bytes), a string the count of its letters with a NUL behind them.
 */
#ifndef ORR_IO_LOG_MESSAGE_H
#define ORR_IO_LOG_MESSAGE_H

#include "io/log/mcap.h"

enum { ORR_CDR_HEAD_BYTES = 4 };

enum orr_field_type {
  ORR_FIELD_FLOAT64,
  ORR_FIELD_FLOAT32,
  ORR_FIELD_INT64,
  ORR_FIELD_UINT64,
  ORR_FIELD_INT32,
  ORR_FIELD_UINT32,
  ORR_FIELD_INT16,
  ORR_FIELD_UINT16,
  ORR_FIELD_INT8,
  ORR_FIELD_UINT8,
  ORR_FIELD_BOOL,
  ORR_FIELD_STRING,
  ORR_FIELD_TYPES
};

struct orr_field {
  struct orr_mcap_text name;
  enum orr_field_type type;
  bool array, sequence; /* fixed array of `count`; or as many as the message says */
  uint32_t count;       /* 1 for a single one */
};

/* [any] Removes the next field from the front of a schema; comments and constants are skipped. False at the end, or at
 * something unknown: then *good is false. O(line). */
bool orr_schema_next(struct orr_mcap_text *schema, struct orr_field *field, bool *good);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Where the next field goes; the caller has made room for all of them. */
struct orr_cdr_out {
  uint8_t *bytes;
  size_t used;
};

/* [any] The four bytes. `bytes` NULL: only measures. */
void orr_cdr_begin(struct orr_cdr_out *out, uint8_t *bytes);
/* [any] Fixed arrays of numbers of 8 bytes and of 4; with `sequence` their count first. O(count). */
void orr_cdr_put64(struct orr_cdr_out *out, const void *numbers, size_t count, bool sequence);
void orr_cdr_put32(struct orr_cdr_out *out, const void *numbers, size_t count);
void orr_cdr_put_string(struct orr_cdr_out *out, const char *text);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

struct orr_cdr {
  const uint8_t *bytes; /* behind the four */
  size_t size, at;
};

/* One number or string; of a number the first three, as far as its type allows. */
struct orr_value {
  double real;
  int64_t whole; /* of the integer types and bool, uint64 by its bits */
  uint64_t bits; /* as it stands in the message */
  struct orr_mcap_text string;
};

/* [any] False where the message is no CDR in little-endian order. */
bool orr_cdr_start(struct orr_cdr *cdr, const uint8_t *message, size_t size);
/* [any] Reads how many values the field has; false where the message is too short for them. */
bool orr_cdr_count(struct orr_cdr *cdr, const struct orr_field *field, uint32_t *count);
/* [any] The next of them; false where the message is too short. */
bool orr_cdr_value(struct orr_cdr *cdr, const struct orr_field *field, struct orr_value *value);

#endif
