/* MCAP, the container format of a log (mcap.dev/spec, version 0): what writer and reader share.
 *
 *   magic, header, data: schemas, channels, metadata, attachments, chunks (each with its message indexes), data end,
 *   summary: copies of schemas and channels, statistics, indexes of chunks, attachments and metadata,
 *   summary offsets, footer, magic
 *
 * A record is one byte of opcode, eight of length, then so many bytes. Numbers are little-endian; a text is four
 * bytes of length and its bytes.
 */
#ifndef ORR_IO_LOG_MCAP_H
#define ORR_IO_LOG_MCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers of a file are copied as they stand in memory");

enum { ORR_MCAP_MAGIC_BYTES = 8, ORR_MCAP_HEAD_BYTES = 9 };
#define ORR_MCAP_MAGIC "\x89MCAP0\r\n"

enum orr_mcap_op {
  ORR_MCAP_HEADER = 1,
  ORR_MCAP_FOOTER,
  ORR_MCAP_SCHEMA,
  ORR_MCAP_CHANNEL,
  ORR_MCAP_MESSAGE,
  ORR_MCAP_CHUNK,
  ORR_MCAP_MESSAGE_INDEX,
  ORR_MCAP_CHUNK_INDEX,
  ORR_MCAP_ATTACHMENT,
  ORR_MCAP_ATTACHMENT_INDEX,
  ORR_MCAP_STATISTICS,
  ORR_MCAP_METADATA,
  ORR_MCAP_METADATA_INDEX,
  ORR_MCAP_SUMMARY_OFFSET,
  ORR_MCAP_DATA_END
};

/* A text or bytes in the caller's memory, not ended by a NUL. */
struct orr_mcap_text {
  const char *text;
  size_t size;
};

/* The description of messages: `data`, in the language `encoding`. */
struct orr_mcap_schema {
  uint16_t id; /* not 0 */
  struct orr_mcap_text name, encoding, data;
};

/* A key with its value. */
struct orr_mcap_pair {
  struct orr_mcap_text key, value;
};

/* A stream of messages. Read, `pairs` are bytes that orr_mcap_next_pair takes apart. */
struct orr_mcap_channel {
  uint16_t id, schema;
  struct orr_mcap_text topic, encoding, pairs;
};

struct orr_mcap_message {
  uint16_t channel;
  uint32_t sequence;
  uint64_t log_ns, publish_ns;
  const uint8_t *data;
  size_t size;
};

struct orr_mcap_attachment {
  uint64_t log_ns, create_ns;
  struct orr_mcap_text name, media_type, data;
};

struct orr_mcap_metadata {
  struct orr_mcap_text name, pairs;
};

struct orr_mcap_chunk_head {
  uint64_t start_ns, end_ns, uncompressed_size;
  uint32_t crc; /* of the uncompressed records; 0: none */
  struct orr_mcap_text compression, records;
};

/* Where a chunk stands in its file. */
struct orr_mcap_chunk_index {
  uint64_t start_ns, end_ns, at, size, index_size, compressed_size, uncompressed_size;
  struct orr_mcap_text compression;
};

struct orr_mcap_statistics {
  uint64_t messages;
  uint16_t schemas;
  uint32_t channels, attachments, metadata, chunks;
  uint64_t start_ns, end_ns;
};

struct orr_mcap_footer {
  uint64_t summary_at, offsets_at; /* 0: there is none */
  uint32_t crc;                    /* of the summary and the footer before it; 0: none */
};

#endif
