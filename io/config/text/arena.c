#include "io/config/text/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, CHUNK = 64 * 1024 };

struct chunk {
  struct chunk *next;
  size_t used, size;
  _Alignas(ALIGNMENT) unsigned char bytes[];
};

struct orr_arena {
  struct chunk *chunks; /* the one being filled first */
};

static void *must(void *memory) {
  if (!memory) {
    fputs("orrery: out of memory\n", stderr);
    abort();
  }
  return memory;
}

struct orr_arena *orr_arena_create(void) {
  return must(calloc(1, sizeof(struct orr_arena)));
}

void orr_arena_destroy(struct orr_arena *arena) {
  if (!arena)
    return;
  for (struct chunk *c = arena->chunks; c;) {
    struct chunk *next = c->next;
    free(c);
    c = next;
  }
  free(arena);
}

static struct chunk *new_chunk(size_t size) {
  struct chunk *c = must(calloc(1, sizeof *c + size));
  c->size = size;
  return c;
}

void *orr_arena_alloc(struct orr_arena *arena, size_t count, size_t size) {
  assert(size == 0 || count <= (SIZE_MAX / 2) / size);
  size_t bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  struct chunk *c = arena->chunks;
  if (c && c->size - c->used >= bytes) {
    void *piece = c->bytes + c->used;
    c->used += bytes;
    return piece;
  }
  struct chunk *fresh = new_chunk(bytes > CHUNK / 4 ? bytes : CHUNK);
  fresh->used = bytes;
  if (c && fresh->size == bytes) { /* a large piece has a chunk of its own, behind the one being filled */
    fresh->next = c->next;
    c->next = fresh;
  } else {
    fresh->next = c;
    arena->chunks = fresh;
  }
  return fresh->bytes;
}

void *orr_arena_grow(struct orr_arena *arena, const void *old, size_t old_count, size_t size, size_t *new_count) {
  size_t count = old_count ? 2 * old_count : 8;
  void *piece = orr_arena_alloc(arena, count, size);
  if (old_count)
    memcpy(piece, old, old_count * size);
  *new_count = count;
  return piece;
}

char *orr_arena_copy(struct orr_arena *arena, const char *text, size_t length) {
  char *copy = orr_arena_alloc(arena, length + 1, 1);
  if (length)
    memcpy(copy, text, length);
  return copy;
}

char *orr_arena_format(struct orr_arena *arena, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  assert(length >= 0);
  char *text = orr_arena_alloc(arena, (size_t)length + 1, 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}
