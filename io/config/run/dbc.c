#include "io/config/run/dbc.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 16 << 20, MOST_MESSAGES = 4096, MOST_SIGNALS = 512, MOST_NAME = 128, MOST_NUMBER = 40 };

enum kind { END, WORD, NUMBER, STRING, SIGN };

struct token {
  enum kind kind;
  const char *at;
  size_t length; /* of a string without its quotes */
  size_t line;
};

struct reading {
  const char *at, *end;
  size_t line;
  struct token now;
  struct orr_arena *arena;
  struct orr_dbc *out;
  size_t room, signal_room;
  struct orr_table_problem *problem;
};

static bool complain(struct reading *r, const char *format, ...) {
  va_list all;
  va_start(all, format);
  r->problem->line = r->now.line;
  vsnprintf(r->problem->text, sizeof r->problem->text, format, all);
  va_end(all);
  return false;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip_blanks(struct reading *r) {
  for (; r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n'); r->at++)
    r->line += *r->at == '\n';
}

static size_t string_length(struct reading *r) {
  const char *begin = r->at;
  for (; r->at < r->end && *r->at != '"'; r->at++)
    r->line += *r->at == '\n';
  size_t length = (size_t)(r->at - begin);
  r->at += r->at < r->end;
  return length;
}

/* A number has its sign and its exponent: 1, -0.5, 1E-05. */
static size_t number_length(const struct reading *r) {
  const char *p = r->at;
  p += *p == '-' || *p == '+';
  while (p < r->end && (is_digit(*p) || *p == '.'))
    p++;
  if (p < r->end && (*p | 32) == 'e') {
    const char *digits = p + 1 + (p + 1 < r->end && (p[1] == '-' || p[1] == '+'));
    for (; digits < r->end && is_digit(*digits); digits++)
      p = digits + 1;
  }
  return (size_t)(p - r->at);
}

static void next(struct reading *r) {
  skip_blanks(r);
  r->now = (struct token){END, r->at, 0, r->line};
  if (r->at == r->end)
    return;
  char c = *r->at;
  bool number =
      is_digit(c) || ((c == '-' || c == '+') && r->at + 1 < r->end && (is_digit(r->at[1]) || r->at[1] == '.'));
  if (c == '"') {
    r->at++;
    r->now.kind = STRING;
    r->now.at = r->at;
    r->now.length = string_length(r);
    return;
  }
  r->now.kind = is_letter(c) ? WORD : number ? NUMBER : SIGN;
  r->now.length = number ? number_length(r) : 1;
  while (r->now.kind == WORD && r->at + r->now.length < r->end &&
         (is_letter(r->at[r->now.length]) || is_digit(r->at[r->now.length])))
    r->now.length++;
  r->at += r->now.length;
}

static bool is(const struct reading *r, const char *word) {
  return r->now.kind != STRING && r->now.length == strlen(word) && memcmp(r->now.at, word, r->now.length) == 0;
}

static bool take_sign(struct reading *r, const char *sign) {
  if (!is(r, sign))
    return complain(r, "'%s' is missing", sign);
  next(r);
  return true;
}

static bool take_text(struct reading *r, enum kind kind, const char *what, const char **out) {
  if (r->now.kind != kind || r->now.length > MOST_NAME)
    return complain(r, "%s is missing, or longer than %d letters", what, MOST_NAME);
  if (memchr(r->now.at, 0, r->now.length))
    return complain(r, "a zero stands in %s", what);
  *out = orr_arena_copy(r->arena, r->now.at, r->now.length);
  next(r);
  return true;
}

static bool take_number(struct reading *r, const char *what, double *out) {
  char text[MOST_NUMBER + 1], *end;
  if (r->now.kind != NUMBER || r->now.length > MOST_NUMBER)
    return complain(r, "the %s is no number", what);
  memcpy(text, r->now.at, r->now.length);
  text[r->now.length] = 0;
  *out = strtod(text, &end);
  if (*end || !isfinite(*out))
    return complain(r, "the %s '%s' is no number", what, text);
  next(r);
  return true;
}

static bool take_whole(struct reading *r, const char *what, uint32_t most, uint32_t *out) {
  double number = 0;
  if (!take_number(r, what, &number))
    return false;
  if (!(number >= 0 && number <= most) || number != floor(number))
    return complain(r, "the %s is a whole number of 0 to %lu, not %.9g", what, (unsigned long)most, number);
  *out = (uint32_t)number;
  return true;
}

/* The rest of a line. */
static void skip_line(struct reading *r, size_t line) {
  while (r->now.kind != END && r->now.line == line)
    next(r);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Where signals stand that no frame has. */
#define NO_FRAME UINT32_C(0xc0000000)

static bool take_id(struct reading *r, uint32_t *out) {
  if (!take_whole(r, "identifier", UINT32_MAX, out))
    return false;
  uint32_t most = *out & ORR_RUN_CAN_EXTENDED ? 0x1fffffff : 0x7ff;
  if (*out != NO_FRAME && (*out & ~ORR_RUN_CAN_EXTENDED) > most)
    return complain(r, "%lu is no identifier: those of 29 bits have bit 31 beside them", (unsigned long)*out);
  return true;
}

static struct orr_dbc_message *find_message(const struct orr_dbc *d, uint32_t id) {
  for (size_t i = 0; i < d->message_count; i++)
    if (d->messages[i].id == id)
      return &d->messages[i];
  return NULL;
}

/* `BO_ 256 Rates: 8 Bus` */
static bool read_message(struct reading *r) {
  struct orr_dbc_message m = {0};
  next(r);
  if (!take_id(r, &m.id) || !take_text(r, WORD, "the name of a message", &m.name) || !take_sign(r, ":") ||
      !take_whole(r, "number of bytes", m.id == NO_FRAME ? UINT32_MAX : ORR_RUN_CAN_FD_DATA, &m.bytes))
    return false;
  if (find_message(r->out, m.id))
    return complain(r, "another message has the identifier of '%s' already", m.name);
  if (r->out->message_count == MOST_MESSAGES)
    return complain(r, "there are more than %d messages", MOST_MESSAGES);
  if (r->out->message_count == r->room)
    r->out->messages =
        orr_arena_grow(r->arena, r->out->messages, r->out->message_count, sizeof *r->out->messages, &r->room);
  r->out->messages[r->out->message_count++] = m;
  r->signal_room = 0;
  if (r->now.kind == WORD && !is(r, "SG_") && !is(r, "BO_"))
    next(r); /* who sends it */
  return true;
}

/* ---- signals ----------------------------------------------------------------------------------------------------- */

/* `M`, `m3`, `m3M`: by turns. */
static void read_turns(struct reading *r, struct orr_dbc_signal *s) {
  s->by_turns = r->now.kind == WORD;
  if (s->by_turns)
    next(r);
}

/* `: 7|16@0-`: a big-endian signal names its highest bit, and bits are counted from the lowest of each byte. */
static bool read_bits(struct reading *r, const struct orr_dbc_message *m, struct orr_dbc_signal *s) {
  uint32_t start = 0, width = 0;
  if (!take_sign(r, ":") || !take_whole(r, "start bit", 8 * ORR_RUN_CAN_FD_DATA - 1, &start) || !take_sign(r, "|") ||
      !take_whole(r, "number of bits", 64, &width) || !take_sign(r, "@"))
    return false;
  /* `@1+` and `@0-`: the sign is no number's */
  const char *order = r->now.at;
  if (r->now.kind != NUMBER || r->now.length != 1 || (*order != '0' && *order != '1') || order + 1 >= r->end ||
      (order[1] != '+' && order[1] != '-'))
    return complain(r, "'%s' says its byte order and sign by one of 0+ 0- 1+ 1-", s->name);
  s->little = *order == '1';
  s->number = order[1] == '-' ? ORR_FIELD_SIGNED : ORR_FIELD_UNSIGNED;
  s->width = (int)width;
  s->bit = s->little ? start : start / 8 * 8 + 7 - start % 8;
  r->at = order + 2;
  next(r);
  if (width == 0 || (m->id != NO_FRAME && s->bit + width > 8 * m->bytes))
    return complain(r, "'%s' has no bits, or some beyond the %lu bytes of '%s'", s->name, (unsigned long)m->bytes,
                    m->name);
  return true;
}

/* `(0.1,-40) [0|100] "deg/s" Node1,Node2` */
static bool read_scale(struct reading *r, struct orr_dbc_signal *s) {
  double low = 0, high = 0;
  size_t line = r->now.line;
  if (!take_sign(r, "(") || !take_number(r, "factor", &s->factor) || !take_sign(r, ",") ||
      !take_number(r, "offset", &s->offset) || !take_sign(r, ")") || !take_sign(r, "[") ||
      !take_number(r, "least value", &low) || !take_sign(r, "|") || !take_number(r, "largest value", &high) ||
      !take_sign(r, "]") || !take_text(r, STRING, "the unit", &s->unit))
    return false;
  if (s->factor == 0) {
    r->now.line = line;
    return complain(r, "'%s' has the factor 0", s->name);
  }
  skip_line(r, line); /* who gets it */
  return true;
}

static bool read_signal(struct reading *r) {
  struct orr_dbc_signal s = {.name = ""};
  if (r->out->message_count == 0)
    return complain(r, "a signal stands before any message");
  struct orr_dbc_message *m = &r->out->messages[r->out->message_count - 1];
  next(r);
  if (!take_text(r, WORD, "the name of a signal", &s.name))
    return false;
  read_turns(r, &s);
  if (!read_bits(r, m, &s) || !read_scale(r, &s))
    return false;
  for (size_t i = 0; i < m->signal_count; i++)
    if (strcmp(m->signals[i].name, s.name) == 0)
      return complain(r, "'%s' has another signal '%s' already", m->name, s.name);
  if (m->signal_count == MOST_SIGNALS)
    return complain(r, "'%s' has more than %d signals", m->name, MOST_SIGNALS);
  if (m->signal_count == r->signal_room)
    m->signals = orr_arena_grow(r->arena, m->signals, m->signal_count, sizeof *m->signals, &r->signal_room);
  m->signals[m->signal_count++] = s;
  return true;
}

/* `SIG_VALTYPE_ 256 rate_x : 2;` 1: a float, 2: a double. */
static bool read_type(struct reading *r) {
  uint32_t id = 0, type = 0;
  const char *name = "";
  next(r);
  if (!take_id(r, &id) || !take_text(r, WORD, "the name of a signal", &name))
    return false;
  if (is(r, ":"))
    next(r);
  if (!take_whole(r, "type", 3, &type))
    return false;
  const struct orr_dbc_message *m = find_message(r->out, id);
  for (size_t i = 0; m && i < m->signal_count; i++) {
    struct orr_dbc_signal *s = &m->signals[i];
    if (strcmp(s->name, name) != 0 || type == 0)
      continue;
    if (type == 3 || s->width != (type == 1 ? 32 : 64))
      return complain(r, "'%s' is a float of 32 bits or a double of 64, and has %d", name, s->width);
    s->number = ORR_FIELD_FLOAT;
  }
  return true;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Names of statements end with an underscore. */
static bool is_statement(const struct reading *r) { return r->now.at[r->now.length - 1] == '_'; }

static bool read_statement(struct reading *r) {
  static const char *const of_a_line[] = {"VERSION", "BS_", "BU_"};
  if (is(r, "BO_"))
    return read_message(r);
  if (is(r, "SG_"))
    return read_signal(r);
  if (is(r, "SIG_VALTYPE_"))
    return read_type(r);
  for (size_t i = 0; i < sizeof of_a_line / sizeof *of_a_line; i++)
    if (is(r, of_a_line[i])) {
      skip_line(r, r->now.line);
      return true;
    }
  /* a list of words up to the next section, a statement up to its semicolon, or a word that says nothing */
  const char *const end = is(r, "NS_") ? "BS_" : ";";
  bool whole = r->now.kind == WORD && (*end != ';' || is_statement(r));
  do
    next(r);
  while (whole && r->now.kind != END && !is(r, end));
  return true;
}

bool orr_dbc_read(struct orr_text text, struct orr_arena *arena, struct orr_dbc *out,
                  struct orr_table_problem *problem) {
  struct reading r = {
      .at = text.bytes, .end = text.bytes + text.length, .line = 1, .arena = arena, .out = out, .problem = problem};
  *out = (struct orr_dbc){0};
  if (text.length > MOST_BYTES)
    return complain(&r, "a file of more than %d MB", MOST_BYTES >> 20);
  next(&r);
  while (r.now.kind != END)
    if (!read_statement(&r))
      return false;
  if (out->message_count == 0) {
    r.now.line = 0;
    return complain(&r, "there is no message (BO_) in it");
  }
  return true;
}
