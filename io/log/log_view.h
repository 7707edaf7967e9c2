/* A file in memory to be read, and the records of a log in their order.
 *
 * orr_view_open → orr_walk_start over its bytes → orr_walk_next until it returns false → orr_view_close. The walk never
 * reads beyond the given bytes, whatever they are. It uses only the memory that it is given and that of the unpacker.
 */
#ifndef ORR_IO_LOG_LOG_VIEW_H
#define ORR_IO_LOG_LOG_VIEW_H

#include "io/log/mcap_read.h"

struct orr_view {
  const uint8_t *bytes;
  size_t size;
};

/* [init] False with what is wrong in `message`. The file may grow meanwhile, and must not shrink. */
bool orr_view_open(struct orr_view *view, const char *path, char *message, size_t size);
void orr_view_close(struct orr_view *view);

/* Schemas and channels by their ids; those with larger ids are skipped, with their messages. */
enum { ORR_WALK_IDS = 4096 };
struct orr_walk_tables {
  struct orr_mcap_schema schemas[ORR_WALK_IDS];   /* id 0: not there */
  struct orr_mcap_channel channels[ORR_WALK_IDS]; /* topic.text NULL: not there */
};

enum orr_walk_kind { ORR_WALK_MESSAGE, ORR_WALK_ATTACHMENT, ORR_WALK_METADATA };

struct orr_walk_item {
  enum orr_walk_kind kind;
  struct orr_mcap_message message;
  struct orr_mcap_attachment attachment;
  struct orr_mcap_metadata metadata;
};

enum orr_walk_end { ORR_WALK_GOES_ON, ORR_WALK_COMPLETE, ORR_WALK_CUT, ORR_WALK_DAMAGED, ORR_WALK_COMPRESSED };

struct orr_walk {
  struct orr_mcap_reader file, chunk;
  struct orr_walk_tables *tables;
  struct orr_unpacker *unpacker;
  const struct orr_crc32 *crc;
  bool in_chunk, unpacked; /* the bytes of the chunk are valid until the next chunk */
  uint64_t from_ns, to_ns; /* of messages: chunks and messages outside are passed over */
  uint64_t chunks, compressed_chunks;
  enum orr_walk_end end; /* why there is no next one */
};

/* [any] False when the bytes do not begin as an MCAP file. Tables are emptied. */
bool orr_walk_start(struct orr_walk *walk, struct orr_walk_tables *tables, struct orr_unpacker *unpacker,
                    const struct orr_crc32 *crc, const uint8_t *bytes, size_t size);
/* [any] The next message of a channel that is known, attachment or metadata; false at the end, which `end` explains.
 * All records before a cut or damage are given first. The data of a message lasts until the next call, the tables as
 * long as bytes and unpacker. Amortised O(size). */
bool orr_walk_next(struct orr_walk *walk, struct orr_walk_item *item);

/* [any] The value of a key among pairs; an empty text with a NULL pointer where there is none. O(pairs). */
struct orr_mcap_text orr_walk_find(struct orr_mcap_text pairs, const char *key);

#endif
