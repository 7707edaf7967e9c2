/* Writes records of MCAP into memory that the caller gives: no file, no heap, no clock.
 *
 * To make a file, write out `struct orr_mcap_bytes` again and again; `at` counts the bytes that went out. A record
 * without room is left out whole, and `full` is set.
 *
 *   orr_mcap_begin → orr_mcap_write_schema, _channel, _metadata, _attachment, in any order
 *   → per message orr_mcap_chunk_message; per chunk orr_mcap_chunk_close → orr_mcap_finish
 *
 * One thread at a time; nothing here is for the rt thread.
 */
#ifndef ORR_IO_LOG_MCAP_WRITE_H
#define ORR_IO_LOG_MCAP_WRITE_H

#include "io/log/crc32.h"
#include "io/log/mcap.h"

struct orr_mcap_bytes {
  uint8_t *bytes; /* [room] */
  size_t room, used;
  uint64_t at; /* of bytes[0] in its file */
  bool full;
};

enum { ORR_MCAP_CHANNELS_MAX = 4096 };

/* The contents of the summary: finished records, one list for each kind, and counts. The caller gives each list its
 * memory, and may give more when one is `full` (orr_mcap_index_full). */
enum orr_mcap_list {
  ORR_MCAP_LIST_SCHEMAS,
  ORR_MCAP_LIST_CHANNELS,
  ORR_MCAP_LIST_CHUNKS,
  ORR_MCAP_LIST_ATTACHMENTS,
  ORR_MCAP_LIST_METADATA,
  ORR_MCAP_LISTS
};
struct orr_mcap_index {
  struct orr_mcap_bytes lists[ORR_MCAP_LISTS];
  struct orr_mcap_statistics statistics;
  uint64_t messages[ORR_MCAP_CHANNELS_MAX]; /* of each channel, by id */
};

/* Where a message of a chunk stands. */
struct orr_mcap_entry {
  uint64_t log_ns, at; /* in the records */
  uint16_t channel;
};

/* A chunk being filled, in memory of the caller. */
struct orr_mcap_chunk {
  struct orr_mcap_bytes records;
  struct orr_mcap_entry *entries; /* [entry_room] */
  size_t entry_room, entry_count;
  uint64_t start_ns, end_ns; /* of its messages */
};

/* [any] The text of a string that is ended by a NUL. */
struct orr_mcap_text orr_mcap_text(const char *text);

/* [any] The magic and the header. */
void orr_mcap_begin(struct orr_mcap_bytes *out, const char *profile, const char *library);

/* [any] Each writes one record, and adds it to the summary. Write a schema or channel once. Ids of channels are below
 * ORR_MCAP_CHANNELS_MAX. O(size). */
void orr_mcap_write_schema(struct orr_mcap_bytes *out, struct orr_mcap_index *index,
                           const struct orr_mcap_schema *schema);
void orr_mcap_write_channel(struct orr_mcap_bytes *out, struct orr_mcap_index *index,
                            const struct orr_mcap_channel *channel, const struct orr_mcap_pair *pairs, size_t count);
void orr_mcap_write_metadata(struct orr_mcap_bytes *out, struct orr_mcap_index *index, const char *name,
                             const struct orr_mcap_pair *pairs, size_t count);
void orr_mcap_write_attachment(struct orr_mcap_bytes *out, struct orr_mcap_index *index, const struct orr_crc32 *crc,
                               const struct orr_mcap_attachment *attachment);

/* [any] Bytes that such an attachment takes. */
size_t orr_mcap_attachment_size(const struct orr_mcap_attachment *attachment);

/* [any] Room for the data of one more message, to be filled before the next call; NULL when the chunk has none left,
 * and the message is then not in it. `message->data` is not used. O(1). */
uint8_t *orr_mcap_chunk_message(struct orr_mcap_chunk *chunk, const struct orr_mcap_message *message);

/* [any] Bytes that the chunk takes in the file, with its message indexes, when its records take `stored`. */
size_t orr_mcap_chunk_size(const struct orr_mcap_chunk *chunk, size_t stored);

/* [any] The chunk with its message indexes into `out`, and into the index; the chunk is then empty. `stored` are its
 * records as `compression` left them ("" and NULL: as they are). False, and nothing written, where `out` lacks room or
 * the index is full. O(size + channels). */
bool orr_mcap_chunk_close(struct orr_mcap_chunk *chunk, struct orr_mcap_bytes *out, struct orr_mcap_index *index,
                          const struct orr_crc32 *crc, const char *compression, const struct orr_mcap_text *stored);

/* [any] For a file that was cut: adds records that are in the file to the summary. */
void orr_mcap_index_copy(struct orr_mcap_index *index, enum orr_mcap_list list, const uint8_t *record, size_t size);
void orr_mcap_index_attachment(struct orr_mcap_index *index, uint64_t at, uint64_t size,
                               const struct orr_mcap_attachment *attachment);
void orr_mcap_index_metadata(struct orr_mcap_index *index, uint64_t at, uint64_t size, struct orr_mcap_text name);

/* [any] Writes the message indexes of the chunk at `chunk->at` behind it, and adds the chunk to the summary. `entries`
 * in the order of the messages. False as orr_mcap_chunk_close. */
bool orr_mcap_index_chunk(struct orr_mcap_bytes *out, struct orr_mcap_index *index,
                          const struct orr_mcap_chunk_index *chunk, const struct orr_mcap_entry *entries, size_t count);

/* [any] Whether a list had no room, and which. */
bool orr_mcap_index_full(const struct orr_mcap_index *index, enum orr_mcap_list *list);

/* [any] Bytes that the end of the file takes. */
size_t orr_mcap_finish_size(const struct orr_mcap_index *index);

/* [any] The end of the file: data end, summary, summary offsets, footer, magic. */
void orr_mcap_finish(struct orr_mcap_bytes *out, const struct orr_mcap_index *index, const struct orr_crc32 *crc);

#endif
