#include "io/config/text/diagnostic.h"

#include <stdlib.h>
#include <string.h>

#include "io/config/text/names.h"
#include "io/config/text/utf8.h"

struct orr_diagnostics {
  struct orr_arena *arena;
  struct orr_sources *sources;
  struct orr_message *messages;
  size_t count, room;
  size_t errors, unkept;
  struct orr_names seen; /* of every message kept: "file:offset code" → its place, and "file:offset:text" */
  bool last_kept;
};

struct orr_diagnostics *orr_diagnostics_create(void) {
  struct orr_arena *arena = orr_arena_create();
  struct orr_diagnostics *d = orr_arena_alloc(arena, 1, sizeof *d);
  d->arena = arena;
  d->sources = orr_sources_create(arena);
  return d;
}

void orr_diagnostics_destroy(struct orr_diagnostics *d) {
  if (d)
    orr_arena_destroy(d->arena);
}

struct orr_sources *orr_diagnostics_sources(struct orr_diagnostics *d) {
  return d->sources;
}
struct orr_arena *orr_diagnostics_arena(struct orr_diagnostics *d) {
  return d->arena;
}

/* Whether the same mistake was reported before: the same text at the same spot, or the same kind of mistake there
 * reached by another way (a body merged ten times has its mistake once). */
static bool seen_before(struct orr_diagnostics *d, const struct orr_message *m) {
  struct orr_location l = orr_sources_get(d->sources, m->at);
  const char *kind = orr_arena_format(d->arena, "%u:%u %s", l.file, l.offset, m->code);
  int32_t first = orr_names_find(&d->seen, kind);
  if (first == ORR_NAME_NONE) {
    orr_names_add(&d->seen, d->arena, kind, (int32_t)m->at);
  } else {
    struct orr_location before = orr_sources_get(d->sources, orr_sources_get(d->sources, (orr_source)first).via);
    struct orr_location now = orr_sources_get(d->sources, l.via);
    if (before.file != now.file || before.offset != now.offset)
      return true;
  }
  const char *exact = orr_arena_format(d->arena, "%u:%u:%s", l.file, l.offset, m->text);
  if (orr_names_find(&d->seen, exact) != ORR_NAME_NONE)
    return true;
  orr_names_add(&d->seen, d->arena, exact, 0);
  return false;
}

/* A text from a file may hold anything, and names in it may have been cut within a character; a terminal must not obey
 * it, and JSON must be able to hold it. */
static void tame(char *text) {
  size_t left = strlen(text);
  while (left > 0) {
    size_t n = orr_utf8_length(text, left);
    if (n == 0 || orr_utf8_is_control(text)) {
      memset(text, '?', n ? n : 1);
      n = n ? n : 1;
    }
    text += n;
    left -= n;
  }
}

void orr_report(struct orr_diagnostics *d, enum orr_severity severity, orr_source at, const char *code,
                const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  orr_report_list(d, severity, at, code, format, arguments);
  va_end(arguments);
}

void orr_report_list(struct orr_diagnostics *d, enum orr_severity severity, orr_source at, const char *code,
                     const char *format, va_list arguments) {
  char text[600]; /* longer ones are cut: names in them are bounded by their writers' %.60s */
  vsnprintf(text, sizeof text, format, arguments);
  tame(text);
  struct orr_message m = {.severity = severity, .code = code, .text = text, .at = at};
  d->last_kept = false;
  d->errors += severity == ORR_ERROR; /* repeated ones too: what they are about is wrong */
  if (d->count >= ORR_MESSAGES_KEPT) {
    d->unkept++;
  } else if (seen_before(d, &m)) {
    return;
  } else {
    m.text = orr_arena_copy(d->arena, text, strlen(text));
    if (d->count == d->room)
      d->messages = orr_arena_grow(d->arena, d->messages, d->count, sizeof *d->messages, &d->room);
    d->messages[d->count++] = m;
    d->last_kept = true;
  }
}

void orr_report_related(struct orr_diagnostics *d, orr_source at, const char *text) {
  if (!d->last_kept)
    return;
  d->messages[d->count - 1].related = at;
  d->messages[d->count - 1].related_text = text;
}

/* By file, then by place; what was reported first of two at one place stays first. */
static bool comes_after(const struct orr_diagnostics *d, const struct orr_message *a, const struct orr_message *b) {
  struct orr_location x = orr_sources_get(d->sources, a->at), y = orr_sources_get(d->sources, b->at);
  return x.file != y.file ? x.file > y.file : x.offset > y.offset;
}

void orr_diagnostics_sort(struct orr_diagnostics *d, size_t first) {
  for (size_t i = first + 1; i < d->count; i++) { /* at most ORR_MESSAGES_KEPT, nearly in order */
    struct orr_message m = d->messages[i];
    size_t j = i;
    for (; j > first && comes_after(d, &d->messages[j - 1], &m); j--)
      d->messages[j] = d->messages[j - 1];
    d->messages[j] = m;
  }
  d->last_kept = false;
}

size_t orr_diagnostics_errors(const struct orr_diagnostics *d) { return d->errors; }
size_t orr_diagnostics_count(const struct orr_diagnostics *d) { return d->count; }
struct orr_message orr_diagnostics_get(const struct orr_diagnostics *d, size_t index) {
  return d->messages[index];
}

enum { BEFORE = 60, AFTER = 80 }; /* of a long line (JSON on one line), so many bytes around the place are shown */

struct colours {
  const char *bold, *red, *magenta, *green, *plain;
};

static bool continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* Bytes of the character at p, and the columns it takes: a byte that is none is shown as a question mark, as is what a
 * terminal would obey. */
struct shown {
  size_t bytes;
  int columns;
  bool plain;
};

static struct shown show(const char *p, size_t left) {
  size_t n = orr_utf8_length(p, left);
  if (*p == '\t')
    return (struct shown){1, 1, true};
  if (n == 0 || orr_utf8_is_control(p))
    return (struct shown){n ? n : 1, 1, false};
  return (struct shown){n, orr_utf8_columns(p), true};
}

/* How many bytes the thing at the place takes: a quoted text or a word. */
static size_t token_length(const char *text, size_t left) {
  if (left == 0)
    return 1;
  size_t n = 1;
  if (*text == '"' || *text == '\'') {
    while (n < left && text[n] != *text)
      n++;
    return n < left ? n + 1 : 1;
  }
  if (strchr("[]{},:#", *text))
    return 1;
  while (n < left && !strchr(" \t[]{},:#", text[n]))
    n++;
  return n;
}

static void print_excerpt(struct orr_line line, FILE *out, const struct colours *c) {
  size_t begin = line.byte > BEFORE ? line.byte - BEFORE : 0;
  size_t end = line.length - line.byte > AFTER ? line.byte + AFTER : line.length;
  while (begin < line.byte && continues(line.text[begin]))
    begin++;
  while (end < line.length && continues(line.text[end]))
    end++;
  fprintf(out, "%5zu | %s", line.number, begin > 0 ? "..." : "");
  for (size_t i = begin; i < end;) {
    struct shown one = show(line.text + i, end - i);
    fprintf(out, "%.*s", one.plain ? (int)one.bytes : 1, one.plain ? line.text + i : "?");
    i += one.bytes;
  }
  fprintf(out, "%s\n      | %s", end < line.length ? "..." : "", begin > 0 ? "   " : "");
  for (size_t i = begin; i < line.byte;) {
    struct shown one = show(line.text + i, line.byte - i);
    fprintf(out, "%*s", one.columns, line.text[i] == '\t' ? "\t" : one.columns ? " " : "");
    i += one.bytes;
  }
  size_t length = token_length(line.text + line.byte, end - line.byte);
  int columns = 0;
  for (size_t i = 0; i < length && line.byte + i < end;) {
    struct shown one = show(line.text + line.byte + i, end - line.byte - i);
    columns += one.columns;
    i += one.bytes;
  }
  fprintf(out, "%s^", c->green);
  for (int i = 1; i < columns; i++)
    fputc('~', out);
  fprintf(out, "%s\n", c->plain);
}

static void print_place(struct orr_diagnostics *d, orr_source at, const char *label, const char *colour,
                        const char *text, FILE *out, const struct colours *c) {
  struct orr_location l = orr_sources_get(d->sources, at);
  fputs(c->bold, out);
  if (l.file == 0) {
    fprintf(out, "orrery: %s%s%s: %s%s%s\n", colour, label, c->plain, c->bold, text, c->plain);
    return;
  }
  struct orr_line line = orr_sources_line(d->sources, l.file, l.offset);
  fprintf(out, "%s:%zu:%zu: %s%s:%s %s%s%s\n", orr_sources_file_name(d->sources, l.file), line.number, line.column,
          colour, label, c->plain, c->bold, text, c->plain);
  print_excerpt(line, out, c);
}

static const char *via_text(enum orr_via kind) {
  static const char *const texts[] = {"from here", "used here", "merged here", "included from here"};
  return texts[kind];
}

static void print_message(struct orr_diagnostics *d, const struct orr_message *m, FILE *out, const struct colours *c) {
  bool error = m->severity == ORR_ERROR;
  print_place(d, m->at, error ? "error" : "warning", error ? c->red : c->magenta, m->text, out, c);
  for (orr_source via = orr_sources_get(d->sources, m->at).via; via;) {
    struct orr_location l = orr_sources_get(d->sources, via);
    print_place(d, via, "note", "", via_text(l.kind), out, c);
    via = l.via;
  }
  if (m->related_text)
    print_place(d, m->related, "note", "", m->related_text, out, c);
}

void orr_diagnostics_print(struct orr_diagnostics *d, size_t first, FILE *out, bool colour) {
  static const struct colours none = {"", "", "", "", ""};
  static const struct colours ansi = {"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;32m", "\033[0m"};
  for (size_t i = first; i < d->count; i++)
    print_message(d, &d->messages[i], out, colour ? &ansi : &none);
  if (d->unkept)
    fprintf(out, "orrery: %zu more not shown\n", d->unkept);
}
