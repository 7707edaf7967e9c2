#include "io/log/mcap_write.h"

#include <assert.h>
#include <string.h>

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static uint8_t *put(uint8_t *at, const void *bytes, size_t size) {
  if (size)
    memcpy(at, bytes, size);
  return at + size;
}

static uint8_t *put16(uint8_t *at, uint16_t number) { return put(at, &number, sizeof number); }

static uint8_t *put32(uint8_t *at, uint32_t number) { return put(at, &number, sizeof number); }

static uint8_t *put64(uint8_t *at, uint64_t number) { return put(at, &number, sizeof number); }

static uint8_t *put_text(uint8_t *at, struct orr_mcap_text text) {
  return put(put32(at, (uint32_t)text.size), text.text, text.size);
}

static uint8_t *put_head(uint8_t *at, enum orr_mcap_op op, size_t content) {
  *at = (uint8_t)op;
  return put64(at + 1, content);
}

/* The next `size` bytes, or NULL. */
static uint8_t *take(struct orr_mcap_bytes *out, size_t size) {
  if (out->full || size > out->room - out->used) {
    out->full = true;
    return NULL;
  }
  uint8_t *at = out->bytes + out->used;
  out->used += size;
  return at;
}

/* A record with its head, or NULL. */
static uint8_t *begin(struct orr_mcap_bytes *out, enum orr_mcap_op op, size_t content) {
  uint8_t *at = take(out, ORR_MCAP_HEAD_BYTES + content);
  return at ? put_head(at, op, content) : NULL;
}

static uint64_t place(const struct orr_mcap_bytes *out) { return out->at + out->used; }

static size_t pairs_size(const struct orr_mcap_pair *pairs, size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; i++)
    size += 8 + pairs[i].key.size + pairs[i].value.size;
  return size;
}

static uint8_t *put_pairs(uint8_t *at, const struct orr_mcap_pair *pairs, size_t count) {
  at = put32(at, (uint32_t)pairs_size(pairs, count));
  for (size_t i = 0; i < count; i++)
    at = put_text(put_text(at, pairs[i].key), pairs[i].value);
  return at;
}

struct orr_mcap_text orr_mcap_text(const char *text) {
  return (struct orr_mcap_text){text, strlen(text)};
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

static void put_magic(struct orr_mcap_bytes *out) {
  uint8_t *at = take(out, ORR_MCAP_MAGIC_BYTES);
  if (at)
    memcpy(at, ORR_MCAP_MAGIC, ORR_MCAP_MAGIC_BYTES);
}

void orr_mcap_begin(struct orr_mcap_bytes *out, const char *profile, const char *library) {
  struct orr_mcap_text a = orr_mcap_text(profile), b = orr_mcap_text(library);
  put_magic(out);
  uint8_t *at = begin(out, ORR_MCAP_HEADER, 8 + a.size + b.size);
  if (at)
    put_text(put_text(at, a), b);
}

void orr_mcap_index_copy(struct orr_mcap_index *index, enum orr_mcap_list list, const uint8_t *record, size_t size) {
  uint8_t *copy = take(&index->lists[list], size);
  if (!copy)
    return;
  memcpy(copy, record, size);
  if (list == ORR_MCAP_LIST_SCHEMAS)
    index->statistics.schemas++;
  else
    index->statistics.channels++;
}

void orr_mcap_write_schema(struct orr_mcap_bytes *out, struct orr_mcap_index *index, const struct orr_mcap_schema *s) {
  size_t content = 14 + s->name.size + s->encoding.size + s->data.size;
  uint8_t *record = begin(out, ORR_MCAP_SCHEMA, content);
  if (!record)
    return;
  put_text(put_text(put_text(put16(record, s->id), s->name), s->encoding), s->data);
  orr_mcap_index_copy(index, ORR_MCAP_LIST_SCHEMAS, record - ORR_MCAP_HEAD_BYTES, ORR_MCAP_HEAD_BYTES + content);
}

void orr_mcap_write_channel(struct orr_mcap_bytes *out, struct orr_mcap_index *index, const struct orr_mcap_channel *c,
                            const struct orr_mcap_pair *pairs, size_t count) {
  assert(c->id < ORR_MCAP_CHANNELS_MAX);
  size_t content = 16 + c->topic.size + c->encoding.size + pairs_size(pairs, count);
  uint8_t *record = begin(out, ORR_MCAP_CHANNEL, content);
  if (!record)
    return;
  put_pairs(put_text(put_text(put16(put16(record, c->id), c->schema), c->topic), c->encoding), pairs, count);
  orr_mcap_index_copy(index, ORR_MCAP_LIST_CHANNELS, record - ORR_MCAP_HEAD_BYTES, ORR_MCAP_HEAD_BYTES + content);
}

void orr_mcap_index_metadata(struct orr_mcap_index *index, uint64_t at, uint64_t size, struct orr_mcap_text name) {
  uint8_t *to = begin(&index->lists[ORR_MCAP_LIST_METADATA], ORR_MCAP_METADATA_INDEX, 20 + name.size);
  if (!to)
    return;
  put_text(put64(put64(to, at), size), name);
  index->statistics.metadata++;
}

void orr_mcap_write_metadata(struct orr_mcap_bytes *out, struct orr_mcap_index *index, const char *name,
                             const struct orr_mcap_pair *pairs, size_t count) {
  struct orr_mcap_text text = orr_mcap_text(name);
  size_t content = 8 + text.size + pairs_size(pairs, count);
  uint64_t at = place(out);
  uint8_t *record = begin(out, ORR_MCAP_METADATA, content);
  if (!record)
    return;
  put_pairs(put_text(record, text), pairs, count);
  orr_mcap_index_metadata(index, at, ORR_MCAP_HEAD_BYTES + content, text);
}

size_t orr_mcap_attachment_size(const struct orr_mcap_attachment *a) {
  return ORR_MCAP_HEAD_BYTES + 36 + a->name.size + a->media_type.size + a->data.size;
}

void orr_mcap_index_attachment(struct orr_mcap_index *index, uint64_t at, uint64_t size,
                               const struct orr_mcap_attachment *a) {
  uint8_t *to = begin(&index->lists[ORR_MCAP_LIST_ATTACHMENTS], ORR_MCAP_ATTACHMENT_INDEX,
                      48 + a->name.size + a->media_type.size);
  if (!to)
    return;
  to = put64(put64(put64(put64(put64(to, at), size), a->log_ns), a->create_ns), a->data.size);
  put_text(put_text(to, a->name), a->media_type);
  index->statistics.attachments++;
}

void orr_mcap_write_attachment(struct orr_mcap_bytes *out, struct orr_mcap_index *index, const struct orr_crc32 *crc,
                               const struct orr_mcap_attachment *a) {
  uint64_t at = place(out);
  size_t size = orr_mcap_attachment_size(a);
  uint8_t *record = begin(out, ORR_MCAP_ATTACHMENT, size - ORR_MCAP_HEAD_BYTES);
  if (!record)
    return;
  uint8_t *to = put_text(put_text(put64(put64(record, a->log_ns), a->create_ns), a->name), a->media_type);
  to = put(put64(to, a->data.size), a->data.text, a->data.size);
  put32(to, orr_crc32(crc, 0, record, (size_t)(to - record)));
  orr_mcap_index_attachment(index, at, size, a);
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

enum { MESSAGE_HEAD = 22 };

uint8_t *orr_mcap_chunk_message(struct orr_mcap_chunk *chunk, const struct orr_mcap_message *m) {
  assert(m->channel < ORR_MCAP_CHANNELS_MAX);
  size_t content = MESSAGE_HEAD + m->size;
  if (chunk->entry_count == chunk->entry_room ||
      ORR_MCAP_HEAD_BYTES + content > chunk->records.room - chunk->records.used)
    return NULL;
  struct orr_mcap_entry *entry = &chunk->entries[chunk->entry_count];
  *entry = (struct orr_mcap_entry){.log_ns = m->log_ns, .at = chunk->records.used, .channel = m->channel};
  uint8_t *to = begin(&chunk->records, ORR_MCAP_MESSAGE, content);
  if (chunk->entry_count == 0 || m->log_ns < chunk->start_ns)
    chunk->start_ns = m->log_ns;
  if (chunk->entry_count == 0 || m->log_ns > chunk->end_ns)
    chunk->end_ns = m->log_ns;
  chunk->entry_count++;
  return put64(put64(put32(put16(to, m->channel), m->sequence), m->log_ns), m->publish_ns);
}

/* How often each channel comes, and how many do. */
struct tally {
  uint32_t count[ORR_MCAP_CHANNELS_MAX];
  uint32_t cursor[ORR_MCAP_CHANNELS_MAX]; /* in the bytes of the indexes */
  size_t channels, size;
};

enum { INDEX_HEAD = ORR_MCAP_HEAD_BYTES + 6, INDEX_ENTRY = 16 };

static void tally_up(struct tally *t, const struct orr_mcap_entry *entries, size_t count) {
  memset(t, 0, sizeof *t);
  for (size_t i = 0; i < count; i++)
    t->count[entries[i].channel]++;
  for (size_t c = 0; c < ORR_MCAP_CHANNELS_MAX; c++) {
    if (!t->count[c])
      continue;
    t->cursor[c] = (uint32_t)t->size;
    t->size += INDEX_HEAD + INDEX_ENTRY * (size_t)t->count[c];
    t->channels++;
  }
}

static size_t chunk_index_content(const struct tally *t, size_t compression) {
  return 64 + 10 * t->channels + compression;
}

static size_t chunk_content(size_t compression, size_t stored) { return 40 + compression + stored; }

static void write_indexes(uint8_t *to, struct tally *t, const struct orr_mcap_entry *entries, size_t count) {
  for (size_t c = 0; c < ORR_MCAP_CHANNELS_MAX; c++) {
    if (!t->count[c])
      continue;
    size_t list = INDEX_ENTRY * (size_t)t->count[c];
    put32(put16(put_head(to + t->cursor[c], ORR_MCAP_MESSAGE_INDEX, 6 + list), (uint16_t)c), (uint32_t)list);
    t->cursor[c] += INDEX_HEAD;
  }
  for (size_t i = 0; i < count; i++) {
    put64(put64(to + t->cursor[entries[i].channel], entries[i].log_ns), entries[i].at);
    t->cursor[entries[i].channel] += INDEX_ENTRY;
  }
}

static void count_messages(struct orr_mcap_index *index, const struct tally *t, const struct orr_mcap_chunk_index *c,
                           size_t messages) {
  struct orr_mcap_statistics *s = &index->statistics;
  for (size_t i = 0; i < ORR_MCAP_CHANNELS_MAX; i++)
    index->messages[i] += t->count[i];
  if (messages && (s->messages == 0 || c->start_ns < s->start_ns))
    s->start_ns = c->start_ns;
  if (messages && (s->messages == 0 || c->end_ns > s->end_ns))
    s->end_ns = c->end_ns;
  s->messages += messages;
  s->chunks++;
}

bool orr_mcap_index_chunk(struct orr_mcap_bytes *out, struct orr_mcap_index *index,
                          const struct orr_mcap_chunk_index *c, const struct orr_mcap_entry *entries, size_t count) {
  struct tally t;
  tally_up(&t, entries, count);
  struct orr_mcap_bytes *list = &index->lists[ORR_MCAP_LIST_CHUNKS];
  size_t content = chunk_index_content(&t, c->compression.size);
  uint64_t at = place(out);
  if (t.size > out->room - out->used || ORR_MCAP_HEAD_BYTES + content > list->room - list->used) {
    list->full = list->full || ORR_MCAP_HEAD_BYTES + content > list->room - list->used;
    return false;
  }
  uint8_t *entry = begin(list, ORR_MCAP_CHUNK_INDEX, content);
  uint8_t *indexes = take(out, t.size);
  if (!entry || !indexes)
    return false;
  entry = put64(put64(put64(put64(entry, c->start_ns), c->end_ns), c->at), c->size);
  entry = put32(entry, (uint32_t)(10 * t.channels));
  for (size_t i = 0; i < ORR_MCAP_CHANNELS_MAX; i++)
    if (t.count[i])
      entry = put64(put16(entry, (uint16_t)i), at + t.cursor[i]);
  put64(put64(put_text(put64(entry, t.size), c->compression), c->compressed_size), c->uncompressed_size);
  count_messages(index, &t, c, count);
  write_indexes(indexes, &t, entries, count);
  return true;
}

size_t orr_mcap_chunk_size(const struct orr_mcap_chunk *chunk, size_t stored) {
  struct tally t;
  tally_up(&t, chunk->entries, chunk->entry_count);
  return ORR_MCAP_HEAD_BYTES + chunk_content(8, stored) + t.size;
}

static void empty(struct orr_mcap_chunk *chunk) {
  chunk->records.used = chunk->entry_count = 0;
  chunk->start_ns = chunk->end_ns = 0;
}

bool orr_mcap_chunk_close(struct orr_mcap_chunk *chunk, struct orr_mcap_bytes *out, struct orr_mcap_index *index,
                          const struct orr_crc32 *crc, const char *compression, const struct orr_mcap_text *stored) {
  struct orr_mcap_text how = orr_mcap_text(compression);
  struct orr_mcap_text records = {(const char *)chunk->records.bytes, chunk->records.used};
  if (stored)
    records = *stored;
  struct orr_mcap_bytes before = *out;
  size_t content = chunk_content(how.size, records.size);
  uint8_t *to = begin(out, ORR_MCAP_CHUNK, content);
  const struct orr_mcap_chunk_index index_entry = {.start_ns = chunk->start_ns,
                                                   .end_ns = chunk->end_ns,
                                                   .at = place(&before),
                                                   .size = ORR_MCAP_HEAD_BYTES + content,
                                                   .compressed_size = records.size,
                                                   .uncompressed_size = chunk->records.used,
                                                   .compression = how};
  if (!to || !orr_mcap_index_chunk(out, index, &index_entry, chunk->entries, chunk->entry_count)) {
    *out = before;
    return false;
  }
  to = put64(put64(put64(to, chunk->start_ns), chunk->end_ns), chunk->records.used);
  to = put_text(put32(to, orr_crc32(crc, 0, chunk->records.bytes, chunk->records.used)), how);
  put(put64(to, records.size), records.text, records.size);
  empty(chunk);
  return true;
}

/* ---- summary ----------------------------------------------------------------------------------------------------- */

bool orr_mcap_index_full(const struct orr_mcap_index *index, enum orr_mcap_list *list) {
  for (int i = 0; i < ORR_MCAP_LISTS; i++)
    if (index->lists[i].full) {
      *list = (enum orr_mcap_list)i;
      return true;
    }
  return false;
}

static size_t counted_channels(const struct orr_mcap_index *index) {
  size_t n = 0;
  for (size_t i = 0; i < ORR_MCAP_CHANNELS_MAX; i++)
    n += index->messages[i] > 0;
  return n;
}

enum { DATA_END_CONTENT = 4, STATISTICS_CONTENT = 46, OFFSET_CONTENT = 17, FOOTER_CONTENT = 20 };

static void put_statistics(struct orr_mcap_bytes *out, const struct orr_mcap_index *index) {
  const struct orr_mcap_statistics *s = &index->statistics;
  size_t map = 10 * counted_channels(index);
  uint8_t *to = begin(out, ORR_MCAP_STATISTICS, STATISTICS_CONTENT + map);
  if (!to)
    return;
  to = put32(put32(put16(put64(to, s->messages), s->schemas), s->channels), s->attachments);
  to = put64(put64(put32(put32(to, s->metadata), s->chunks), s->start_ns), s->end_ns);
  to = put32(to, (uint32_t)map);
  for (size_t i = 0; i < ORR_MCAP_CHANNELS_MAX; i++)
    if (index->messages[i])
      to = put64(put16(to, (uint16_t)i), index->messages[i]);
}

/* In the order of the summary, the statistics behind the channels. */
static const enum orr_mcap_op list_op[ORR_MCAP_LISTS] = {
    [ORR_MCAP_LIST_SCHEMAS] = ORR_MCAP_SCHEMA,          [ORR_MCAP_LIST_CHANNELS] = ORR_MCAP_CHANNEL,
    [ORR_MCAP_LIST_CHUNKS] = ORR_MCAP_CHUNK_INDEX,      [ORR_MCAP_LIST_ATTACHMENTS] = ORR_MCAP_ATTACHMENT_INDEX,
    [ORR_MCAP_LIST_METADATA] = ORR_MCAP_METADATA_INDEX,
};

size_t orr_mcap_finish_size(const struct orr_mcap_index *index) {
  size_t size = ORR_MCAP_HEAD_BYTES + DATA_END_CONTENT;
  for (int i = 0; i < ORR_MCAP_LISTS; i++)
    size += index->lists[i].used;
  size += ORR_MCAP_HEAD_BYTES + STATISTICS_CONTENT + 10 * counted_channels(index);
  size += (ORR_MCAP_LISTS + 1) * (ORR_MCAP_HEAD_BYTES + OFFSET_CONTENT);
  return size + ORR_MCAP_HEAD_BYTES + FOOTER_CONTENT + ORR_MCAP_MAGIC_BYTES;
}

struct group {
  enum orr_mcap_op op;
  uint64_t at, size;
};

static size_t put_groups(struct orr_mcap_bytes *out, const struct orr_mcap_index *index,
                         struct group groups[ORR_MCAP_LISTS + 1]) {
  size_t n = 0;
  for (int i = 0; i < ORR_MCAP_LISTS; i++) {
    const struct orr_mcap_bytes *list = &index->lists[i];
    uint64_t at = place(out);
    uint8_t *to = list->used ? take(out, list->used) : NULL;
    if (to) {
      memcpy(to, list->bytes, list->used);
      groups[n++] = (struct group){list_op[i], at, list->used};
    }
    if (i != ORR_MCAP_LIST_CHANNELS)
      continue;
    at = place(out);
    put_statistics(out, index);
    groups[n++] = (struct group){ORR_MCAP_STATISTICS, at, place(out) - at};
  }
  return n;
}

void orr_mcap_finish(struct orr_mcap_bytes *out, const struct orr_mcap_index *index, const struct orr_crc32 *crc) {
  struct group groups[ORR_MCAP_LISTS + 1];
  uint8_t *end = begin(out, ORR_MCAP_DATA_END, DATA_END_CONTENT);
  if (end)
    put32(end, 0); /* chunks and attachments have sums of their own */
  size_t first = out->used;
  uint64_t summary_at = place(out);
  size_t n = put_groups(out, index, groups);
  uint64_t offsets_at = place(out);
  for (size_t i = 0; i < n; i++) {
    uint8_t *to = begin(out, ORR_MCAP_SUMMARY_OFFSET, OFFSET_CONTENT);
    if (!to)
      continue;
    *to = (uint8_t)groups[i].op;
    put64(put64(to + 1, groups[i].at), groups[i].size);
  }
  uint8_t *footer = begin(out, ORR_MCAP_FOOTER, FOOTER_CONTENT);
  if (footer) {
    footer = put64(put64(footer, summary_at), offsets_at);
    put32(footer, orr_crc32(crc, 0, out->bytes + first, (size_t)(footer - (out->bytes + first))));
  }
  put_magic(out);
}
