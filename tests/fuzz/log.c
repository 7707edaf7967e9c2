/* Any bytes as a log: every reader of io/log in turn (mcap_read, log_view, message). What is read lies in the given
 * bytes, each way of reading agrees with the others, and nothing takes longer than the bytes are long.
 *
 * With the first byte odd the sums of chunks and attachments are set right before, so that what lies behind is reached.
 * Fuzz with: -max_len=4096
 */
#include <stdlib.h>
#include <string.h>

#include "io/log/log_view.h"
#include "io/log/message.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The fields of a chunk or attachment that hold its sum, or NULL. */
static void set_right(uint8_t *bytes, size_t size, const struct orr_crc32 *crc) {
  struct orr_mcap_reader reader;
  struct orr_mcap_record r;
  struct orr_mcap_chunk_head chunk;
  struct orr_mcap_attachment attachment;
  bool whole, good = orr_mcap_start(&reader, bytes, size);
  while (good && orr_mcap_next(&reader, &r) == ORR_MCAP_NEXT_RECORD) {
    uint8_t *content = bytes + r.at + ORR_MCAP_HEAD_BYTES;
    if (r.op == ORR_MCAP_CHUNK && orr_mcap_read_chunk(&r, &chunk) && chunk.compression.size == 0) {
      uint32_t sum = orr_crc32(crc, 0, chunk.records.text, chunk.records.size);
      uint64_t length = chunk.records.size;
      memcpy(content + 16, &length, 8);
      memcpy(content + 24, &sum, 4);
    } else if (r.op == ORR_MCAP_ATTACHMENT && orr_mcap_read_attachment(&r, crc, &attachment, &whole)) {
      size_t summed = (size_t)((const uint8_t *)attachment.data.text + attachment.data.size - content);
      uint32_t sum = orr_crc32(crc, 0, content, summed);
      if (attachment.data.size)
        memcpy(content + summed, &sum, 4);
    }
  }
}

static void touch(struct orr_mcap_text text, const uint8_t *bytes, size_t size) {
  if (text.size == 0)
    return;
  orr_must((const uint8_t *)text.text >= bytes && (const uint8_t *)text.text + text.size <= bytes + size);
}

static void visit_message(const struct orr_walk *w, const struct orr_mcap_message *m) {
  uint16_t id = w->tables->channels[m->channel].schema;
  struct orr_mcap_text schema = id < ORR_WALK_IDS ? w->tables->schemas[id].data : (struct orr_mcap_text){"", 0};
  struct orr_field field;
  struct orr_value value;
  struct orr_cdr cdr;
  uint32_t count;
  bool good, goes_on = orr_cdr_start(&cdr, m->data, m->size);
  while (goes_on && orr_schema_next(&schema, &field, &good)) {
    goes_on = orr_cdr_count(&cdr, &field, &count);
    for (uint32_t i = 0; goes_on && i < count; i++)
      goes_on = orr_cdr_value(&cdr, &field, &value);
    orr_must(cdr.at <= cdr.size);
  }
}

/* Where a message stands: in the bytes, or in what was unpacked of them. */
static void touch_message(const struct orr_walk *w, const struct orr_mcap_message *m, const uint8_t *bytes,
                          size_t size) {
  const struct orr_mcap_text data = {(const char *)m->data, m->size};
  if (w->unpacked)
    touch(data, w->unpacker->bytes, w->unpacker->room);
  else
    touch(data, bytes, size);
}

/* A chunk may hold more than the bytes are long; so much is enough of it. */
enum { MOST_ITEMS = 1 << 16 };

static void visit(struct orr_walk *w, const uint8_t *bytes, size_t size) {
  struct orr_walk_item item;
  size_t items = 0;
  while (items < MOST_ITEMS && orr_walk_next(w, &item)) {
    items++;
    orr_must(items <= size || w->unpacker->room > 0);
    if (item.kind == ORR_WALK_MESSAGE) {
      touch_message(w, &item.message, bytes, size);
      visit_message(w, &item.message);
    } else if (item.kind == ORR_WALK_ATTACHMENT) {
      touch(item.attachment.data, bytes, size);
    } else {
      touch(item.metadata.pairs, bytes, size);
      (void)orr_walk_find(item.metadata.pairs, "mode");
    }
  }
}

static void visit_summary(const uint8_t *bytes, size_t size) {
  struct orr_mcap_reader reader;
  struct orr_mcap_record r;
  struct orr_mcap_chunk_index index;
  struct orr_mcap_statistics statistics;
  struct orr_mcap_footer footer;
  struct orr_mcap_text a, b;
  bool good = orr_mcap_start(&reader, bytes, size);
  while (good && orr_mcap_next(&reader, &r) == ORR_MCAP_NEXT_RECORD) {
    (void)orr_mcap_read_statistics(&r, &statistics);
    (void)orr_mcap_read_header(&r, &a, &b);
    if (orr_mcap_read_chunk_index(&r, &index))
      (void)orr_mcap_at(&reader, index.at, &r);
    else if (orr_mcap_read_footer(&r, &footer))
      (void)orr_mcap_at(&reader, footer.summary_at, &r);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct orr_walk_tables walked; /* large: to make one for each execution would take longer than all else */
  static struct orr_crc32 sums;
  static bool begun;
  struct orr_walk_tables *tables = &walked;
  struct orr_crc32 *crc = &sums;
  size_t length = size ? size - 1 : 0;
  uint8_t *bytes = malloc(length ? length : 1); /* just so many, so that the sanitizer sees a byte beyond */
  struct orr_mcap_extent extent;
  struct orr_walk walk;
  struct orr_unpacker unpacker = {0};
  orr_must(bytes != NULL);
  if (!begun)
    orr_crc32_init(crc);
  begun = true;
  if (length)
    memcpy(bytes, data + 1, length);
  if (size && data[0] & 1)
    set_right(bytes, length, crc);
  if (orr_mcap_measure(bytes, length, &unpacker, crc, &extent)) {
    struct orr_mcap_extent again;
    orr_must(extent.end <= length && (!extent.complete || !extent.damaged));
    /* cut there, nothing is missing and nothing is wrong */
    orr_must(orr_mcap_measure(bytes, extent.end, &unpacker, crc, &again));
    orr_must(again.end == extent.end && again.chunks == extent.chunks && !again.damaged);
  }
  if (orr_walk_start(&walk, tables, &unpacker, crc, bytes, length))
    visit(&walk, bytes, length);
  visit_summary(bytes, length);
  orr_unpacker_free(&unpacker);
  free(bytes);
  return 0;
}
