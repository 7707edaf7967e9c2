#include "io/log/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

/* Numbers of a flight get hardly smaller at higher levels, and the time belongs to others. */
enum { LEVEL = 1 };

struct orr_packer {
  ZSTD_CCtx *context;
  uint8_t *bytes;
  size_t room;
};

static void *need(void *memory) {
  if (memory)
    return memory;
  fputs("orrery: no memory to make chunks of a log smaller\n", stderr);
  abort();
}

static void make_room(uint8_t **bytes, size_t *room, size_t size) {
  if (*room >= size)
    return;
  free(*bytes);
  *bytes = need(malloc(size));
  *room = size;
}

struct orr_packer *orr_packer_create(void) {
  struct orr_packer *p = need(calloc(1, sizeof *p));
  p->context = need(ZSTD_createCCtx());
  return p;
}

void orr_packer_destroy(struct orr_packer *p) {
  if (!p)
    return;
  ZSTD_freeCCtx(p->context);
  free(p->bytes);
  free(p);
}

struct orr_mcap_text orr_pack(struct orr_packer *p, const uint8_t *bytes, size_t size) {
  make_room(&p->bytes, &p->room, ZSTD_compressBound(size));
  size_t used = ZSTD_compressCCtx(p->context, p->bytes, p->room, bytes, size, LEVEL);
  if (ZSTD_isError(used))
    need(NULL); /* the room is enough for anything, so it is memory */
  return (struct orr_mcap_text){(const char *)p->bytes, used};
}

static bool is(struct orr_mcap_text text, const char *word) {
  return text.size == strlen(word) && (text.size == 0 || memcmp(text.text, word, text.size) == 0);
}

static bool decompress(struct orr_unpacker *u, const struct orr_mcap_chunk_head *c) {
  if (c->uncompressed_size > ORR_UNPACK_MAX)
    return false;
  if (!u->context)
    u->context = need(ZSTD_createDCtx());
  make_room(&u->bytes, &u->room, (size_t)c->uncompressed_size + 1);
  size_t used =
      ZSTD_decompressDCtx(u->context, u->bytes, (size_t)c->uncompressed_size, c->records.text, c->records.size);
  return !ZSTD_isError(used) && used == c->uncompressed_size;
}

enum orr_unpacked orr_unpack(struct orr_unpacker *u, const struct orr_mcap_chunk_head *c, const struct orr_crc32 *crc,
                             struct orr_mcap_text *records) {
  *records = c->records;
  if (is(c->compression, "zstd")) {
    if (!decompress(u, c))
      return ORR_UNPACK_DAMAGED;
    *records = (struct orr_mcap_text){(const char *)u->bytes, (size_t)c->uncompressed_size};
  } else if (c->compression.size) {
    return ORR_UNPACK_UNKNOWN;
  }
  bool good = c->uncompressed_size == records->size &&
              (c->crc == 0 || c->crc == orr_crc32(crc, 0, records->text, records->size));
  return good ? ORR_UNPACKED : ORR_UNPACK_DAMAGED;
}

bool orr_unpacker_keep(struct orr_unpacker *u, struct orr_mcap_text *text) {
  enum { OVERHEAD = 64 }; /* of an allocation */
  if (text->size > ORR_UNPACK_MAX || u->kept_bytes + text->size + OVERHEAD > ORR_UNPACK_MAX)
    return false;
  if (text->size == 0) {
    *text = (struct orr_mcap_text){"", 0};
    return true;
  }
  void *copy = need(malloc(text->size));
  u->kept = need(realloc(u->kept, (u->kept_count + 1) * sizeof *u->kept));
  u->kept[u->kept_count++] = copy;
  u->kept_bytes += text->size + OVERHEAD;
  text->text = memcpy(copy, text->text, text->size);
  return true;
}

void orr_unpacker_free(struct orr_unpacker *u) {
  for (size_t i = 0; i < u->kept_count; i++)
    free(u->kept[i]);
  free(u->kept);
  ZSTD_freeDCtx(u->context);
  free(u->bytes);
  *u = (struct orr_unpacker){0};
}
