/* Reads records of MCAP from memory that may hold anything. No heap, no file, and no read beyond the given bytes. A
 * length inside a record is checked against the record's own length.
 *
 *   orr_mcap_start → orr_mcap_next until it returns no ORR_MCAP_NEXT_RECORD; each record by the function of its kind
 *
 * Texts and data point into the given memory. [any]; O(1) but where said. A function of a kind returns false where the
 * record is shorter than its fields.
 */
#ifndef ORR_IO_LOG_MCAP_READ_H
#define ORR_IO_LOG_MCAP_READ_H

#include "io/log/crc32.h"
#include "io/log/mcap.h"
#include "io/log/pack.h"

struct orr_mcap_record {
  uint8_t op;
  const uint8_t *content;
  size_t size; /* of the content */
  size_t at;   /* of its head, from where the reader started */
};

struct orr_mcap_reader {
  const uint8_t *bytes;
  size_t size, at; /* `at`: of the next record */
};

enum orr_mcap_next {
  ORR_MCAP_NEXT_RECORD,
  ORR_MCAP_NEXT_END, /* no byte is left, or, of a file, the magic behind the footer stood there */
  ORR_MCAP_NEXT_CUT, /* a record begins and the bytes end before it does */
};

/* A file: false unless it begins with the magic. And the records of a chunk. */
bool orr_mcap_start(struct orr_mcap_reader *reader, const uint8_t *bytes, size_t size);
void orr_mcap_start_records(struct orr_mcap_reader *reader, const uint8_t *bytes, size_t size);

enum orr_mcap_next orr_mcap_next(struct orr_mcap_reader *reader, struct orr_mcap_record *record);

/* A record at a place that an index names; false where none can be. */
bool orr_mcap_at(const struct orr_mcap_reader *reader, uint64_t at, struct orr_mcap_record *record);

bool orr_mcap_read_header(const struct orr_mcap_record *r, struct orr_mcap_text *profile,
                          struct orr_mcap_text *library);
bool orr_mcap_read_schema(const struct orr_mcap_record *r, struct orr_mcap_schema *out);
bool orr_mcap_read_channel(const struct orr_mcap_record *r, struct orr_mcap_channel *out);
bool orr_mcap_read_message(const struct orr_mcap_record *r, struct orr_mcap_message *out);
bool orr_mcap_read_chunk(const struct orr_mcap_record *r, struct orr_mcap_chunk_head *out);
bool orr_mcap_read_chunk_index(const struct orr_mcap_record *r, struct orr_mcap_chunk_index *out);
bool orr_mcap_read_metadata(const struct orr_mcap_record *r, struct orr_mcap_metadata *out);
bool orr_mcap_read_statistics(const struct orr_mcap_record *r, struct orr_mcap_statistics *out);
bool orr_mcap_read_footer(const struct orr_mcap_record *r, struct orr_mcap_footer *out);
/* *whole: its checksum is right, or it has none. O(size). */
bool orr_mcap_read_attachment(const struct orr_mcap_record *r, const struct orr_crc32 *crc,
                              struct orr_mcap_attachment *out, bool *whole);

/* Removes the next key and value from the front of `pairs`; false at the end, or where they are cut. */
bool orr_mcap_next_pair(struct orr_mcap_text *pairs, struct orr_mcap_pair *pair);

/* How far a file that may be cut can be read. */
struct orr_mcap_extent {
  size_t end;    /* of the data: behind the last chunk whose sum is right, or record that is no chunk; message indexes
                         behind that chunk are not counted */
  size_t chunks; /* whole ones up to there */
  size_t last_chunk; /* where the last one of them stands; 0: there is none */
  bool complete;     /* it goes on with a data end and ends with a footer and the magic */
  bool damaged;      /* the bytes at `end` are not a cut record but nonsense, or a chunk with a wrong sum */
};

/* False when not even the header is there. A chunk with an unknown compression is not checked. O(size): it sums every
 * chunk. It is the only function here that uses the heap, through the unpacker. */
bool orr_mcap_measure(const uint8_t *bytes, size_t size, struct orr_unpacker *unpacker, const struct orr_crc32 *crc,
                      struct orr_mcap_extent *out);

#endif
