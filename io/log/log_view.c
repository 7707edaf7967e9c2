#include "io/log/log_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool orr_view_open(struct orr_view *view, const char *path, char *message, size_t size) {
  struct stat file;
  *view = (struct orr_view){0};
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat(fd, &file) != 0) {
    snprintf(message, size, "%s", strerror(errno));
    if (fd >= 0)
      close(fd);
    return false;
  }
  bool good = S_ISREG(file.st_mode);
  if (!good)
    snprintf(message, size, "it is no file");
  if (good && file.st_size > 0) {
    view->bytes = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    view->size = (size_t)file.st_size;
    good = view->bytes != MAP_FAILED;
    if (!good) {
      snprintf(message, size, "%s", strerror(errno));
      *view = (struct orr_view){0};
    }
  }
  close(fd);
  return good;
}

void orr_view_close(struct orr_view *view) {
  if (view->size)
    munmap((void *)(uintptr_t)view->bytes, view->size);
  *view = (struct orr_view){0};
}

bool orr_walk_start(struct orr_walk *w, struct orr_walk_tables *tables, struct orr_unpacker *unpacker,
                    const struct orr_crc32 *crc, const uint8_t *bytes, size_t size) {
  *w = (struct orr_walk){.tables = tables, .unpacker = unpacker, .crc = crc, .to_ns = UINT64_MAX};
  memset(tables, 0, sizeof *tables);
  return orr_mcap_start(&w->file, bytes, size);
}

static bool is_known(const struct orr_walk *w, uint16_t channel) {
  return channel < ORR_WALK_IDS && w->tables->channels[channel].topic.text;
}

/* A chunk that is whole, and of the asked time. */
static bool enter(struct orr_walk *w, const struct orr_mcap_record *r) {
  struct orr_mcap_chunk_head head;
  if (!orr_mcap_read_chunk(r, &head)) {
    w->end = ORR_WALK_DAMAGED;
    return false;
  }
  w->chunks++;
  w->compressed_chunks += head.compression.size > 0;
  if (head.end_ns < w->from_ns || head.start_ns > w->to_ns)
    return true;
  struct orr_mcap_text records;
  enum orr_unpacked unpacked = orr_unpack(w->unpacker, &head, w->crc, &records);
  if (unpacked != ORR_UNPACKED) {
    w->end = unpacked == ORR_UNPACK_UNKNOWN ? ORR_WALK_COMPRESSED : ORR_WALK_DAMAGED;
    return false;
  }
  w->in_chunk = true;
  w->unpacked = head.compression.size > 0;
  orr_mcap_start_records(&w->chunk, (const uint8_t *)records.text, records.size);
  return true;
}

/* What was unpacked gives way to the next chunk: copies of it last. False where they are too many. */
static bool make_last(struct orr_walk *w, struct orr_mcap_text *const texts[3]) {
  for (int i = 0; w->unpacked && i < 3; i++)
    if (!orr_unpacker_keep(w->unpacker, texts[i])) {
      w->end = ORR_WALK_DAMAGED;
      return false;
    }
  return true;
}

/* One that comes again in another chunk is the same: the first copy stays. */
static void keep(struct orr_walk *w, const struct orr_mcap_record *r) {
  struct orr_mcap_schema schema;
  struct orr_mcap_channel channel;
  if (r->op == ORR_MCAP_SCHEMA && orr_mcap_read_schema(r, &schema) && schema.id < ORR_WALK_IDS &&
      !(w->unpacked && w->tables->schemas[schema.id].id) &&
      make_last(w, (struct orr_mcap_text *const[3]){&schema.name, &schema.encoding, &schema.data}))
    w->tables->schemas[schema.id] = schema;
  if (r->op == ORR_MCAP_CHANNEL && orr_mcap_read_channel(r, &channel) && channel.id < ORR_WALK_IDS &&
      !(w->unpacked && is_known(w, channel.id)) &&
      make_last(w, (struct orr_mcap_text *const[3]){&channel.topic, &channel.encoding, &channel.pairs}))
    w->tables->channels[channel.id] = channel;
}

/* Whether a record is something to give to the caller. */
static bool is_item(struct orr_walk *w, const struct orr_mcap_record *r, struct orr_walk_item *item) {
  bool whole = true;
  switch (r->op) {
  case ORR_MCAP_MESSAGE:
    item->kind = ORR_WALK_MESSAGE;
    return orr_mcap_read_message(r, &item->message) && is_known(w, item->message.channel) &&
           item->message.log_ns >= w->from_ns && item->message.log_ns <= w->to_ns;
  case ORR_MCAP_ATTACHMENT:
    item->kind = ORR_WALK_ATTACHMENT;
    if (!w->in_chunk && orr_mcap_read_attachment(r, w->crc, &item->attachment, &whole) && whole)
      return true;
    w->end = ORR_WALK_DAMAGED;
    return false;
  case ORR_MCAP_METADATA:
    item->kind = ORR_WALK_METADATA;
    return !w->in_chunk && orr_mcap_read_metadata(r, &item->metadata);
  default:
    keep(w, r);
    return false;
  }
}

static enum orr_mcap_next next_record(struct orr_walk *w, struct orr_mcap_record *r) {
  while (w->in_chunk) {
    enum orr_mcap_next next = orr_mcap_next(&w->chunk, r);
    if (next == ORR_MCAP_NEXT_RECORD)
      return next;
    w->in_chunk = w->unpacked = false;
    if (next == ORR_MCAP_NEXT_CUT)
      w->end = ORR_WALK_DAMAGED;
  }
  return w->end == ORR_WALK_GOES_ON ? orr_mcap_next(&w->file, r) : ORR_MCAP_NEXT_END;
}

bool orr_walk_next(struct orr_walk *w, struct orr_walk_item *item) {
  struct orr_mcap_record r;
  while (w->end == ORR_WALK_GOES_ON) {
    enum orr_mcap_next next = next_record(w, &r);
    if (w->end != ORR_WALK_GOES_ON)
      break;
    if (next != ORR_MCAP_NEXT_RECORD || r.op == 0) {
      w->end = next == ORR_MCAP_NEXT_RECORD ? ORR_WALK_DAMAGED : ORR_WALK_CUT;
    } else if (r.op == ORR_MCAP_DATA_END) {
      w->end = ORR_WALK_COMPLETE;
    } else if (r.op == ORR_MCAP_CHUNK) {
      if (w->in_chunk)
        w->end = ORR_WALK_DAMAGED;
      else
        enter(w, &r);
    } else if (is_item(w, &r, item)) {
      return true;
    }
  }
  return false;
}

static bool equals(struct orr_mcap_text text, const char *word) {
  return text.size == strlen(word) && memcmp(text.text, word, text.size) == 0;
}

struct orr_mcap_text orr_walk_find(struct orr_mcap_text pairs, const char *key) {
  struct orr_mcap_pair pair;
  while (orr_mcap_next_pair(&pairs, &pair))
    if (equals(pair.key, key))
      return pair.value;
  return (struct orr_mcap_text){NULL, 0};
}
