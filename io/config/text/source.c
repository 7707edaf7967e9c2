#include "io/config/text/source.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST_CHAIN = 8 };

struct file {
  const char *name, *text;
  size_t length;
  uint32_t *starts; /* [line_count], built when first asked for */
  size_t line_count;
};

struct orr_sources {
  struct orr_arena *arena;
  struct file *files; /* file 0 has no name and no text */
  size_t file_count, file_room;
  struct orr_location *locations; /* place 0 is nowhere */
  size_t location_count, location_room;
  size_t value_count; /* in all files */
};

struct orr_sources *orr_sources_create(struct orr_arena *arena) {
  struct orr_sources *s = orr_arena_alloc(arena, 1, sizeof *s);
  s->arena = arena;
  orr_sources_add_file(s, "", "", 0);
  orr_sources_add(s, (struct orr_location){0});
  return s;
}

uint32_t orr_sources_add_file(struct orr_sources *s, const char *name, const char *text, size_t length) {
  if (s->file_count == s->file_room)
    s->files = orr_arena_grow(s->arena, s->files, s->file_count, sizeof *s->files, &s->file_room);
  s->files[s->file_count] = (struct file){.name = name, .text = text, .length = length};
  return (uint32_t)s->file_count++;
}

const char *orr_sources_file_name(const struct orr_sources *s, uint32_t file) { return s->files[file].name; }

size_t orr_sources_file_count(const struct orr_sources *s) { return s->file_count - 1; }

struct orr_text_file orr_sources_file(const struct orr_sources *s, size_t index) {
  const struct file *f = &s->files[index + 1];
  return (struct orr_text_file){f->name, f->text, f->length};
}

size_t orr_sources_count_value(struct orr_sources *s) { return ++s->value_count; }

orr_source orr_sources_add(struct orr_sources *s, struct orr_location location) {
  if (s->location_count == s->location_room)
    s->locations = orr_arena_grow(s->arena, s->locations, s->location_count, sizeof *s->locations, &s->location_room);
  s->locations[s->location_count] = location;
  return (orr_source)s->location_count++;
}

struct orr_location orr_sources_get(const struct orr_sources *s, orr_source source) {
  return s->locations[source];
}

orr_source orr_sources_join(struct orr_sources *s, orr_source inner, orr_source outer) {
  if (inner == 0 || outer == 0)
    return inner ? inner : outer;
  orr_source chain[LONGEST_CHAIN];
  size_t n = 0;
  for (orr_source at = inner; at && n < LONGEST_CHAIN; at = s->locations[at].via)
    chain[n++] = at;
  orr_source joined = outer;
  while (n > 0) {
    struct orr_location link = s->locations[chain[--n]];
    link.via = joined;
    joined = orr_sources_add(s, link);
  }
  return joined;
}

/* LF, CR LF or a CR alone, as YAML has it. */
static bool ends_line(const struct file *f, size_t i) {
  return f->text[i] == '\n' || (f->text[i] == '\r' && (i + 1 == f->length || f->text[i + 1] != '\n'));
}

static bool has_mark(const struct file *f) { return f->length >= 3 && memcmp(f->text, "\xEF\xBB\xBF", 3) == 0; }

/* A byte order mark stands before the first line. */
static void find_lines(struct orr_sources *s, struct file *f) {
  size_t count = 1;
  for (size_t i = 0; i < f->length; i++)
    count += ends_line(f, i);
  f->starts = orr_arena_alloc(s->arena, count, sizeof *f->starts);
  f->starts[0] = has_mark(f) ? 3 : 0;
  f->line_count = 1;
  for (size_t i = 0; i < f->length; i++)
    if (ends_line(f, i))
      f->starts[f->line_count++] = (uint32_t)(i + 1);
}

static struct file *with_lines(struct orr_sources *s, uint32_t file) {
  struct file *f = &s->files[file];
  if (!f->starts)
    find_lines(s, f);
  return f;
}

static size_t line_end(const struct file *f, size_t line) {
  size_t end = line + 1 < f->line_count ? f->starts[line + 1] - 1u : f->length;
  return end > f->starts[line] && f->text[end - 1] == '\r' ? end - 1 : end;
}

static bool begins_character(char c) { return ((unsigned char)c & 0xC0) != 0x80; } /* no continuation of UTF-8 */

struct orr_line orr_sources_line(struct orr_sources *s, uint32_t file, uint32_t offset) {
  const struct file *f = with_lines(s, file);
  size_t low = 0, high = f->line_count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    *(f->starts[middle] <= offset ? &low : &high) = middle;
  }
  struct orr_line line = {.text = f->text + f->starts[low], .number = low + 1, .column = 1};
  offset = offset > f->starts[low] ? offset : f->starts[low];
  line.length = line_end(f, low) - f->starts[low];
  line.byte = offset - f->starts[low] < line.length ? offset - f->starts[low] : line.length;
  for (size_t i = 0; i < line.byte; i++)
    line.column += begins_character(line.text[i]);
  return line;
}

uint32_t orr_sources_offset(struct orr_sources *s, uint32_t file, size_t line, size_t column) {
  const struct file *f = with_lines(s, file);
  if (line == 0)
    return 0;
  if (line > f->line_count)
    return (uint32_t)f->length;
  size_t offset = f->starts[line - 1], end = line_end(f, line - 1);
  for (size_t at = 1; offset < end && at < column; at++)
    do
      offset++;
    while (offset < end && !begins_character(f->text[offset]));
  return (uint32_t)offset;
}
