/* Compresses the chunks of a log, and decompresses them: zstd, by libzstd.
 *
 *   orr_packer_create → orr_pack for each chunk → orr_packer_destroy
 *   orr_unpack with an unpacker that begins as {0} → orr_unpacker_free
 *
 * The compressed bytes may be anything: orr_unpack writes no more than the chunk's size says, and no more than
 * ORR_UNPACK_MAX; nor is more than that kept. [init], or a thread of its own: takes heap.
 */
#ifndef ORR_IO_LOG_PACK_H
#define ORR_IO_LOG_PACK_H

#include "io/log/crc32.h"
#include "io/log/mcap.h"

enum { ORR_UNPACK_MAX = 1 << 28 };

struct orr_packer;

struct orr_packer *orr_packer_create(void);
void orr_packer_destroy(struct orr_packer *packer);
/* The bytes, compressed where that makes them smaller; valid until the next call. O(bytes). */
struct orr_mcap_text orr_pack(struct orr_packer *packer, const uint8_t *bytes, size_t size);

struct orr_unpacker {
  void *context;
  uint8_t *bytes; /* [room] of the chunk at hand */
  size_t room;
  void **kept; /* [kept_count] */
  size_t kept_count, kept_bytes;
};

enum orr_unpacked {
  ORR_UNPACKED,
  ORR_UNPACK_DAMAGED, /* its size or its sum is wrong */
  ORR_UNPACK_UNKNOWN  /* the compression is not known here */
};

/* The records of a chunk, in the chunk itself or in the unpacker (valid until the next call); their sum is right.
 * O(bytes).
 */
enum orr_unpacked orr_unpack(struct orr_unpacker *unpacker, const struct orr_mcap_chunk_head *chunk,
                             const struct orr_crc32 *crc, struct orr_mcap_text *records);
/* Puts a copy in its place, which lasts as long as the unpacker. False where that would be more than is kept. O(bytes).
 */
bool orr_unpacker_keep(struct orr_unpacker *unpacker, struct orr_mcap_text *text);
void orr_unpacker_free(struct orr_unpacker *unpacker);

#endif
