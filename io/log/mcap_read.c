#include "io/log/mcap_read.h"

#include <string.h>

/* ---- fields ------------------------------------------------------------------------------------------------------ */

/* What is left of a record's content. */
struct rest {
  const uint8_t *at;
  size_t size;
  bool good;
};

static struct rest rest_of(const struct orr_mcap_record *r) { return (struct rest){r->content, r->size, true}; }

static const uint8_t *take(struct rest *rest, uint64_t size) {
  if (!rest->good || size > rest->size) {
    rest->good = false;
    return NULL;
  }
  const uint8_t *at = rest->at;
  rest->at += size;
  rest->size -= (size_t)size;
  return at;
}

static uint64_t number(struct rest *rest, size_t bytes) {
  uint64_t value = 0;
  const uint8_t *at = take(rest, bytes);
  if (at)
    memcpy(&value, at, bytes);
  return value;
}

static uint16_t number16(struct rest *rest) { return (uint16_t)number(rest, 2); }

static uint32_t number32(struct rest *rest) { return (uint32_t)number(rest, 4); }

static uint64_t number64(struct rest *rest) { return number(rest, 8); }

static struct orr_mcap_text text_of(struct rest *rest, uint64_t size) {
  const uint8_t *at = take(rest, size);
  return at ? (struct orr_mcap_text){(const char *)at, (size_t)size} : (struct orr_mcap_text){"", 0};
}

static struct orr_mcap_text text(struct rest *rest) { return text_of(rest, number32(rest)); }

static struct orr_mcap_text long_text(struct rest *rest) { return text_of(rest, number64(rest)); }

/* ---- records ----------------------------------------------------------------------------------------------------- */

void orr_mcap_start_records(struct orr_mcap_reader *reader, const uint8_t *bytes, size_t size) {
  *reader = (struct orr_mcap_reader){.bytes = bytes, .size = size};
}

bool orr_mcap_start(struct orr_mcap_reader *reader, const uint8_t *bytes, size_t size) {
  orr_mcap_start_records(reader, bytes, size);
  reader->at = ORR_MCAP_MAGIC_BYTES;
  return size >= ORR_MCAP_MAGIC_BYTES && memcmp(bytes, ORR_MCAP_MAGIC, ORR_MCAP_MAGIC_BYTES) == 0;
}

bool orr_mcap_at(const struct orr_mcap_reader *reader, uint64_t at, struct orr_mcap_record *record) {
  uint64_t size;
  if (at > reader->size || reader->size - at < ORR_MCAP_HEAD_BYTES)
    return false;
  memcpy(&size, reader->bytes + at + 1, sizeof size);
  if (size > reader->size - at - ORR_MCAP_HEAD_BYTES)
    return false;
  *record =
      (struct orr_mcap_record){reader->bytes[at], reader->bytes + at + ORR_MCAP_HEAD_BYTES, (size_t)size, (size_t)at};
  return true;
}

enum orr_mcap_next orr_mcap_next(struct orr_mcap_reader *reader, struct orr_mcap_record *record) {
  const uint8_t *at = reader->bytes + reader->at;
  size_t left = reader->size - reader->at;
  if (left == 0 || (left == ORR_MCAP_MAGIC_BYTES && memcmp(at, ORR_MCAP_MAGIC, ORR_MCAP_MAGIC_BYTES) == 0))
    return ORR_MCAP_NEXT_END;
  if (!orr_mcap_at(reader, reader->at, record))
    return ORR_MCAP_NEXT_CUT;
  reader->at += ORR_MCAP_HEAD_BYTES + record->size;
  return ORR_MCAP_NEXT_RECORD;
}

bool orr_mcap_read_header(const struct orr_mcap_record *r, struct orr_mcap_text *profile,
                          struct orr_mcap_text *library) {
  struct rest rest = rest_of(r);
  *profile = text(&rest);
  *library = text(&rest);
  return rest.good;
}

bool orr_mcap_read_schema(const struct orr_mcap_record *r, struct orr_mcap_schema *out) {
  struct rest rest = rest_of(r);
  out->id = number16(&rest);
  out->name = text(&rest);
  out->encoding = text(&rest);
  out->data = text(&rest);
  return rest.good && out->id != 0;
}

bool orr_mcap_read_channel(const struct orr_mcap_record *r, struct orr_mcap_channel *out) {
  struct rest rest = rest_of(r);
  out->id = number16(&rest);
  out->schema = number16(&rest);
  out->topic = text(&rest);
  out->encoding = text(&rest);
  out->pairs = text(&rest);
  return rest.good;
}

bool orr_mcap_read_message(const struct orr_mcap_record *r, struct orr_mcap_message *out) {
  struct rest rest = rest_of(r);
  out->channel = number16(&rest);
  out->sequence = number32(&rest);
  out->log_ns = number64(&rest);
  out->publish_ns = number64(&rest);
  out->data = rest.at;
  out->size = rest.size;
  return rest.good;
}

bool orr_mcap_read_chunk(const struct orr_mcap_record *r, struct orr_mcap_chunk_head *out) {
  struct rest rest = rest_of(r);
  out->start_ns = number64(&rest);
  out->end_ns = number64(&rest);
  out->uncompressed_size = number64(&rest);
  out->crc = number32(&rest);
  out->compression = text(&rest);
  out->records = long_text(&rest);
  return rest.good;
}

bool orr_mcap_read_chunk_index(const struct orr_mcap_record *r, struct orr_mcap_chunk_index *out) {
  struct rest rest = rest_of(r);
  out->start_ns = number64(&rest);
  out->end_ns = number64(&rest);
  out->at = number64(&rest);
  out->size = number64(&rest);
  text(&rest); /* where the message indexes stand */
  out->index_size = number64(&rest);
  out->compression = text(&rest);
  out->compressed_size = number64(&rest);
  out->uncompressed_size = number64(&rest);
  return rest.good;
}

bool orr_mcap_read_metadata(const struct orr_mcap_record *r, struct orr_mcap_metadata *out) {
  struct rest rest = rest_of(r);
  out->name = text(&rest);
  out->pairs = text(&rest);
  return rest.good;
}

bool orr_mcap_read_statistics(const struct orr_mcap_record *r, struct orr_mcap_statistics *out) {
  struct rest rest = rest_of(r);
  out->messages = number64(&rest);
  out->schemas = number16(&rest);
  out->channels = number32(&rest);
  out->attachments = number32(&rest);
  out->metadata = number32(&rest);
  out->chunks = number32(&rest);
  out->start_ns = number64(&rest);
  out->end_ns = number64(&rest);
  return rest.good;
}

bool orr_mcap_read_footer(const struct orr_mcap_record *r, struct orr_mcap_footer *out) {
  struct rest rest = rest_of(r);
  out->summary_at = number64(&rest);
  out->offsets_at = number64(&rest);
  out->crc = number32(&rest);
  return rest.good;
}

bool orr_mcap_read_attachment(const struct orr_mcap_record *r, const struct orr_crc32 *crc,
                              struct orr_mcap_attachment *out, bool *whole) {
  struct rest rest = rest_of(r);
  out->log_ns = number64(&rest);
  out->create_ns = number64(&rest);
  out->name = text(&rest);
  out->media_type = text(&rest);
  out->data = long_text(&rest);
  size_t summed = (size_t)(rest.at - r->content);
  uint32_t sum = number32(&rest);
  if (!rest.good)
    return false;
  *whole = sum == 0 || sum == orr_crc32(crc, 0, r->content, summed);
  return true;
}

bool orr_mcap_next_pair(struct orr_mcap_text *pairs, struct orr_mcap_pair *pair) {
  struct rest rest = {(const uint8_t *)pairs->text, pairs->size, true};
  pair->key = text(&rest);
  pair->value = text(&rest);
  *pairs = (struct orr_mcap_text){(const char *)rest.at, rest.good ? rest.size : 0};
  return rest.good;
}

/* ---- whole files ------------------------------------------------------------------------------------------------- */

/* Behind the data end. */
static bool ends(struct orr_mcap_reader *reader) {
  struct orr_mcap_record r;
  while (orr_mcap_next(reader, &r) == ORR_MCAP_NEXT_RECORD)
    if (r.op == ORR_MCAP_FOOTER)
      return reader->size - reader->at == ORR_MCAP_MAGIC_BYTES &&
             memcmp(reader->bytes + reader->at, ORR_MCAP_MAGIC, ORR_MCAP_MAGIC_BYTES) == 0;
  return false;
}

/* Whether a record may stand among the data and is sound as far as sums tell. */
static bool is_sound(const struct orr_mcap_record *r, struct orr_unpacker *unpacker, const struct orr_crc32 *crc) {
  struct orr_mcap_chunk_head chunk;
  struct orr_mcap_text records;
  struct orr_mcap_attachment attachment;
  struct orr_mcap_schema schema;
  struct orr_mcap_channel channel;
  struct orr_mcap_metadata metadata;
  bool whole;
  switch (r->op) {
  case ORR_MCAP_CHUNK:
    return orr_mcap_read_chunk(r, &chunk) && orr_unpack(unpacker, &chunk, crc, &records) != ORR_UNPACK_DAMAGED;
  case ORR_MCAP_ATTACHMENT:
    return orr_mcap_read_attachment(r, crc, &attachment, &whole) && whole;
  case ORR_MCAP_SCHEMA:
    return orr_mcap_read_schema(r, &schema);
  case ORR_MCAP_CHANNEL:
    return orr_mcap_read_channel(r, &channel);
  case ORR_MCAP_METADATA:
    return orr_mcap_read_metadata(r, &metadata);
  default:
    return r->op == ORR_MCAP_HEADER || r->op == ORR_MCAP_MESSAGE || r->op == ORR_MCAP_MESSAGE_INDEX || r->op >= 0x80;
  }
}

bool orr_mcap_measure(const uint8_t *bytes, size_t size, struct orr_unpacker *unpacker, const struct orr_crc32 *crc,
                      struct orr_mcap_extent *out) {
  struct orr_mcap_reader reader;
  struct orr_mcap_record r;
  *out = (struct orr_mcap_extent){0};
  if (!orr_mcap_start(&reader, bytes, size) || orr_mcap_next(&reader, &r) != ORR_MCAP_NEXT_RECORD ||
      r.op != ORR_MCAP_HEADER)
    return false;
  out->end = reader.at;
  while (orr_mcap_next(&reader, &r) == ORR_MCAP_NEXT_RECORD) {
    if (r.op == ORR_MCAP_DATA_END) {
      out->complete = ends(&reader);
      return true;
    }
    if (!is_sound(&r, unpacker, crc)) {
      out->damaged = true;
      return true;
    }
    if (r.op != ORR_MCAP_MESSAGE_INDEX)
      out->end = reader.at;
    if (r.op == ORR_MCAP_CHUNK) {
      out->chunks++;
      out->last_chunk = r.at;
    }
  }
  return true;
}
