#include "io/log/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/log/log_file.h"
#include "io/log/log_view.h"

/* The messages of a chunk, for the index. False where its records make no sense. */
struct entries {
  struct orr_mcap_entry *list;
  size_t count, room;
};

static bool gather(struct orr_mcap_text records, struct entries *e) {
  struct orr_mcap_reader reader;
  struct orr_mcap_record r;
  struct orr_mcap_message m;
  enum orr_mcap_next next;
  e->count = 0;
  orr_mcap_start_records(&reader, (const uint8_t *)records.text, records.size);
  while ((next = orr_mcap_next(&reader, &r)) == ORR_MCAP_NEXT_RECORD) {
    if (r.op != ORR_MCAP_MESSAGE)
      continue;
    if (!orr_mcap_read_message(&r, &m) || m.channel >= ORR_MCAP_CHANNELS_MAX)
      return false;
    if (e->count == e->room) {
      e->room = e->room ? 2 * e->room : 4096;
      e->list = realloc(e->list, e->room * sizeof *e->list);
      if (!e->list)
        abort();
    }
    e->list[e->count++] = (struct orr_mcap_entry){.log_ns = m.log_ns, .at = r.at, .channel = m.channel};
  }
  return next == ORR_MCAP_NEXT_END;
}

/* Message indexes are made once more from the messages, and stand where this program puts them: behind their chunk,
 * in the order of channels. Another's may not. */
static bool is_ours(const uint8_t *bytes, size_t size) {
  static const char name[] = "orrery";
  struct orr_mcap_reader reader;
  struct orr_mcap_record r;
  struct orr_mcap_text profile, library;
  return orr_mcap_start(&reader, bytes, size) && orr_mcap_next(&reader, &r) == ORR_MCAP_NEXT_RECORD &&
         orr_mcap_read_header(&r, &profile, &library) && library.size >= sizeof name - 1 &&
         memcmp(library.text, name, sizeof name - 1) == 0;
}

/* Indexes behind a chunk that are not the last one's stand where they belong; they are made once more, in memory
 * only. */
static bool index_chunk(struct orr_log_file *f, struct orr_unpacker *unpacker, const struct orr_mcap_record *r,
                        struct entries *e, bool last) {
  struct orr_mcap_chunk_head head;
  struct orr_mcap_text records;
  if (!orr_mcap_read_chunk(r, &head) || orr_unpack(unpacker, &head, &f->crc, &records) != ORR_UNPACKED ||
      !gather(records, e))
    return false;
  const struct orr_mcap_chunk_index chunk = {.start_ns = head.start_ns,
                                             .end_ns = head.end_ns,
                                             .at = r->at,
                                             .size = ORR_MCAP_HEAD_BYTES + r->size,
                                             .compressed_size = head.records.size,
                                             .uncompressed_size = head.uncompressed_size,
                                             .compression = head.compression};
  f->out.at = r->at + chunk.size;
  size_t room = 32 * e->count + 32 * ORR_MCAP_CHANNELS_MAX;
  f->out.used = 0;
  if (f->out.room < room) {
    free(f->out.bytes);
    f->out.bytes = malloc(room);
    f->out.room = room;
    if (!f->out.bytes)
      abort();
  }
  while (!orr_mcap_index_chunk(&f->out, f->index, &chunk, e->list, e->count))
    orr_log_index_grow(f->index);
  return !last || orr_log_file_flush(f);
}

static void index_record(struct orr_log_file *f, const struct orr_mcap_record *r, const uint8_t *bytes) {
  struct orr_mcap_attachment a;
  struct orr_mcap_metadata m;
  bool whole;
  size_t size = ORR_MCAP_HEAD_BYTES + r->size;
  enum orr_mcap_list full;
  do {
    orr_log_index_grow(f->index);
    if (r->op == ORR_MCAP_SCHEMA)
      orr_mcap_index_copy(f->index, ORR_MCAP_LIST_SCHEMAS, bytes + r->at, size);
    else if (r->op == ORR_MCAP_CHANNEL)
      orr_mcap_index_copy(f->index, ORR_MCAP_LIST_CHANNELS, bytes + r->at, size);
    else if (r->op == ORR_MCAP_ATTACHMENT && orr_mcap_read_attachment(r, &f->crc, &a, &whole))
      orr_mcap_index_attachment(f->index, r->at, size, &a);
    else if (r->op == ORR_MCAP_METADATA && orr_mcap_read_metadata(r, &m))
      orr_mcap_index_metadata(f->index, r->at, size, m.name);
  } while (orr_mcap_index_full(f->index, &full));
}

static bool rebuild(struct orr_log_file *f, const struct orr_view *view, const struct orr_mcap_extent *extent) {
  struct orr_unpacker unpacker = {0};
  struct orr_mcap_reader reader;
  struct orr_mcap_record r;
  struct entries e = {0};
  bool good = orr_mcap_start(&reader, view->bytes, extent->end);
  while (good && orr_mcap_next(&reader, &r) == ORR_MCAP_NEXT_RECORD) {
    if (r.op == ORR_MCAP_CHUNK)
      good = index_chunk(f, &unpacker, &r, &e, r.at == extent->last_chunk);
    else
      index_record(f, &r, view->bytes);
  }
  free(e.list);
  orr_unpacker_free(&unpacker);
  return good;
}

/* What lies behind the last chunk, a metadata record perhaps, keeps its place; only where it is the chunk itself do its
 * indexes follow. */
static bool rewrite(int fd, const struct orr_view *view, struct orr_repair *out) {
  struct orr_log_file f;
  orr_log_file_over(&f, fd, out->extent.end, 0);
  bool good = ftruncate(fd, (off_t)out->extent.end) == 0 && rebuild(&f, view, &out->extent);
  if (good) {
    f.out.used = 0;
    f.out.at = f.whole > out->extent.end ? f.whole : out->extent.end;
    f.whole = f.out.at;
    good = orr_log_file_finish(&f);
  }
  out->bytes_after = f.out.at;
  out->messages = f.index->statistics.messages;
  int error = f.error;
  f.fd = -1; /* the caller's */
  orr_log_file_close(&f);
  errno = error;
  return good;
}

bool orr_log_repair(const char *path, struct orr_repair *out, char *message, size_t size) {
  struct orr_view view;
  struct orr_crc32 crc;
  struct orr_unpacker unpacker = {0};
  *out = (struct orr_repair){0};
  if (!orr_view_open(&view, path, message, size))
    return false;
  orr_crc32_init(&crc);
  bool good = orr_mcap_measure(view.bytes, view.size, &unpacker, &crc, &out->extent);
  orr_unpacker_free(&unpacker);
  out->bytes_before = out->bytes_after = view.size;
  out->was_complete = out->extent.complete;
  if (!good) {
    snprintf(message, size, "it does not begin as an MCAP file");
  } else if (!out->was_complete && !is_ours(view.bytes, view.size)) {
    good = false;
    snprintf(message, size, "it was cut, and another program wrote it: its own tools can repair it");
  } else if (!out->was_complete) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    good = fd >= 0 && rewrite(fd, &view, out);
    if (!good)
      snprintf(message, size, "cannot write its index: %s", errno ? strerror(errno) : "a chunk makes no sense");
    if (fd >= 0)
      close(fd);
  }
  orr_view_close(&view);
  return good;
}
