#include "io/control/control_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/text/names.h"
#include "io/config/text/unit.h"
#include "io/config/text/utf8.h"

/* One line on its way to a command. */
struct reading {
  const struct orr_control_scope *scope;
  struct orr_control_command *out;
  char *message;
  size_t size;
};

static bool wrong(const struct reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(const struct reading *r, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(r->message, r->size, format, list);
  va_end(list);
  return false;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static bool is_printable(const char *text) {
  for (size_t left = strlen(text), n; left; text += n, left -= n) {
    n = orr_utf8_length(text, left);
    if (n == 0 || orr_utf8_is_control(text))
      return false;
  }
  return true;
}

static char *trim(char *text) {
  text += strspn(text, " ");
  size_t n = strlen(text);
  while (n && text[n - 1] == ' ')
    n--;
  text[n] = '\0';
  return text;
}

/* The first word, which ends at the rest. */
static char *cut_word(char *text, char **rest) {
  size_t n = strcspn(text, " ");
  *rest = text[n] ? text + n + 1 : text + n;
  text[n] = '\0';
  *rest = trim(*rest);
  return text;
}

static void keep(struct reading *r, const char *text) {
  size_t n = strnlen(text, sizeof r->out->text - 1);
  memcpy(r->out->text, text, n);
  memset(r->out->text + n, 0, sizeof r->out->text - n);
}

/* ---- set --------------------------------------------------------------------------------------------------------- */

static bool read_value(struct reading *r, const struct orr_channel *c, const char *text, double *value) {
  struct orr_quantity q;
  switch (orr_quantity_parse(text, c->unit, &q)) {
  case ORR_QUANTITY_OK:
    break;
  case ORR_QUANTITY_UNKNOWN_UNIT:
  case ORR_QUANTITY_BAD_UNIT:
    return wrong(r, "'%.60s' has a unit that is not known; '%.80s' takes %s", text, c->name,
                 c->unit[0] ? c->unit : "a plain number");
  case ORR_QUANTITY_WRONG_UNIT:
    return wrong(r, "'%.80s' takes %s, not '%.60s'", c->name, c->unit[0] ? c->unit : "a plain number", text);
  default:
    return wrong(r, "'%.60s' is not a number, which '%.80s' takes", text, c->name);
  }
  if (q.value < c->low || q.value > c->high)
    return wrong(r, "'%.80s' takes %.9g to %.9g %s, not '%.60s'", c->name, c->low, c->high, c->unit, text);
  if (!orr_channel_accepts(c, q.value))
    return wrong(r, "'%.80s' takes %s, not '%.60s'", c->name, c->type == ORR_CHANNEL_FLAG ? "0 or 1" : "a whole number",
                 text);
  *value = q.value;
  return true;
}

static const struct orr_channel *find_command(const struct reading *r, const char *name, int *element) {
  const struct orr_channel_table *table = r->scope->table;
  struct orr_nearest nearest = {.wanted = name};
  int index = orr_channel_find_element(table, name, element);
  if (index >= 0 && table->channels[index].direction == ORR_CHANNEL_COMMAND)
    return &table->channels[index];
  for (int i = 0; i < table->count && index < 0; i++)
    if (table->channels[i].direction == ORR_CHANNEL_COMMAND)
      orr_nearest_offer(&nearest, table->channels[i].name);
  if (index >= 0)
    wrong(r, "'%.80s' is an output; set takes a command", name);
  else if (nearest.best)
    wrong(r, "there is no command '%.80s', did you mean '%.80s'?", name, nearest.best);
  else
    wrong(r, "there is no command '%.80s'; 'orrery help channels' tells how they are named", name);
  return NULL;
}

/* One value, or as many as the channel has: [1, 2, 3]. */
static bool read_values(struct reading *r, const struct orr_channel *c, char *text, int count) {
  size_t n = strlen(text);
  bool list = n >= 2 && text[0] == '[' && text[n - 1] == ']';
  int given = 0;
  if (list) {
    text[n - 1] = '\0';
    text++;
  }
  for (char *item = text, *next; item; item = next) {
    next = list ? strchr(item, ',') : NULL;
    if (next)
      *next++ = '\0';
    if (given == count || given == ORR_CONTROL_VALUES || (!list && count > 1))
      return wrong(r, "'%.80s' takes %d number%s", c->name, count, count == 1 ? "" : "s, as in [0, 0, 0]");
    if (!read_value(r, c, trim(item), &r->out->values[given++]))
      return false;
  }
  if (given != count)
    return wrong(r, "'%.80s' takes %d numbers, not %d", c->name, count, given);
  r->out->count = count;
  return true;
}

static bool read_set(struct reading *r, char *rest) {
  char *value;
  int element;
  keep(r, rest);
  const char *name = cut_word(rest, &value);
  if (!name[0] || !value[0])
    return wrong(r, "set takes a command and a value: set wheel_x.torque 1 mN m");
  const struct orr_channel *c = find_command(r, name, &element);
  if (!c)
    return false;
  r->out->first = c->offset + (element >= 0 ? element : 0);
  return read_values(r, c, value, element >= 0 ? 1 : c->count);
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

static bool read_fault(struct reading *r, const char *name) {
  struct orr_nearest nearest = {.wanted = name};
  bool clear = r->out->sort == ORR_CONTROL_CLEAR;
  r->out->fault = -1;
  if (clear && (!name[0] || strcmp(name, "all") == 0)) {
    keep(r, "all");
    return true;
  }
  for (size_t i = 0; i < r->scope->fault_count; i++) {
    if (strcmp(r->scope->faults[i].name, name) == 0)
      r->out->fault = (int)i;
    orr_nearest_offer(&nearest, r->scope->faults[i].name);
  }
  keep(r, name);
  if (r->out->fault >= 0)
    return strcmp(r->out->text, name) == 0 || wrong(r, "the name of the fault is too long");
  if (r->scope->fault_count == 0)
    return wrong(r, "the run has no faults to begin: name them under 'faults' in its file, without 'at' or 'when'");
  if (nearest.best)
    return wrong(r, "there is no fault '%.80s', did you mean '%.80s'?", name, nearest.best);
  return wrong(r, "there is no fault '%.80s'; its file names them under 'faults'", name);
}

static bool read_step(struct reading *r, const char *text) {
  char *end;
  long long frames = strtoll(text, &end, 10);
  if (!text[0] || *end || text[0] < '0' || text[0] > '9' || frames < 1 || frames > 1000000000000)
    return wrong(r, "step takes a number of frames, 1 or more, not '%.60s'", text);
  r->out->frames = frames;
  keep(r, text);
  return true;
}

/* Cuts the next one off. */
static bool next_pattern(const char **patterns, char pattern[ORR_CONTROL_TEXT]) {
  while (**patterns == ',' || **patterns == ' ')
    ++*patterns;
  size_t n = strcspn(*patterns, ", ");
  if (n == 0 || n >= ORR_CONTROL_TEXT)
    return false;
  memcpy(pattern, *patterns, n);
  pattern[n] = '\0';
  *patterns += n;
  return true;
}

/* The channel that comes `after` and fits a pattern, or is named by it with its element; −1: no more. */
static int next_fit(const struct orr_control_scope *scope, const char *pattern, int after, int *element) {
  int named = orr_channel_find_element(scope->table, pattern, element);
  if (named >= 0)
    return named > after && scope->known[named] ? named : -1;
  *element = -1;
  for (int i = after + 1; i < scope->table->count; i++)
    if (scope->known[i] && orr_channel_matches(pattern, scope->table->channels[i].name))
      return i;
  return -1;
}

static bool read_get(struct reading *r, const char *text) {
  char pattern[ORR_CONTROL_TEXT];
  const struct orr_control_scope *s = r->scope;
  int element;
  keep(r, text);
  if (!text[0] || strcmp(r->out->text, text) != 0)
    return wrong(r, "get takes channels, %d letters at most: get gyro.*,wheel_x.speed", ORR_CONTROL_TEXT - 1);
  while (next_pattern(&text, pattern)) {
    struct orr_nearest nearest = {.wanted = pattern};
    if (next_fit(s, pattern, -1, &element) >= 0)
      continue;
    if (orr_channel_find_element(s->table, pattern, &element) >= 0)
      return wrong(r, "'%.80s' is not computed in this run: record it, or let a link or an expectation read it",
                   pattern);
    for (int i = 0; i < s->table->count; i++)
      if (orr_channel_matches(pattern, s->table->channels[i].name))
        return wrong(r,
                     "'%.80s', which '%.80s' fits, is not computed in this run: record it, or let a link or an "
                     "expectation read it",
                     s->table->channels[i].name, pattern);
    for (int i = 0; i < s->table->count; i++)
      orr_nearest_offer(&nearest, s->table->channels[i].name);
    if (nearest.best)
      return wrong(r, "no channel fits '%.80s', did you mean '%.80s'?", pattern, nearest.best);
    return wrong(r, "no channel that this run computes fits '%.80s'", pattern);
  }
  return true;
}

static bool read_rest(struct reading *r, char *rest) {
  switch (r->out->sort) {
  case ORR_CONTROL_SET:
    return read_set(r, rest);
  case ORR_CONTROL_FAULT:
  case ORR_CONTROL_CLEAR:
    return read_fault(r, rest);
  case ORR_CONTROL_GET:
    return read_get(r, rest);
  case ORR_CONTROL_STEP:
    return read_step(r, rest);
  case ORR_CONTROL_MARK:
    keep(r, rest);
    if (!rest[0] || strcmp(r->out->text, rest) != 0)
      return wrong(r, "mark takes a text of at most %d bytes", ORR_CONTROL_TEXT - 1);
    return true;
  default:
    return !rest[0] || wrong(r, "%s stands alone, without '%.60s'", orr_control_verbs[r->out->sort], rest);
  }
}

bool orr_control_parse(const struct orr_control_scope *scope, const char *line, size_t length,
                       struct orr_control_command *out, char *message, size_t size) {
  char text[ORR_CONTROL_LINE + 1], *rest;
  struct reading r = {.scope = scope, .out = out, .message = message, .size = size};
  memset(out, 0, sizeof *out);
  out->sort = ORR_CONTROL_SORTS;
  if (length > ORR_CONTROL_LINE)
    return wrong(&r, "a line has at most %d bytes", ORR_CONTROL_LINE);
  memcpy(text, line, length);
  text[length] = '\0';
  if (strlen(text) != length || !is_printable(text))
    return wrong(&r, "a line is text in UTF-8, without control characters");
  const char *verb = cut_word(trim(text), &rest);
  struct orr_nearest nearest = {.wanted = verb};
  for (int i = 0; i < ORR_CONTROL_SORTS; i++) {
    if (strcmp(orr_control_verbs[i], verb) == 0)
      out->sort = (enum orr_control_sort)i;
    orr_nearest_offer(&nearest, orr_control_verbs[i]);
  }
  if (out->sort == ORR_CONTROL_SORTS && nearest.best)
    return wrong(&r, "there is no command '%.40s', did you mean '%s'?", verb, nearest.best);
  if (out->sort == ORR_CONTROL_SORTS)
    return wrong(&r, "say one of pause, step, go, set, fault, clear, mark, get, status and stop, not '%.40s'", verb);
  if (out->sort <= ORR_CONTROL_GO && !scope->may_pause)
    return wrong(&r, "a run in real time goes by the clock: pause, step and go are for lockstep and batch");
  return read_rest(&r, rest);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* As JSON has it; the texts are UTF-8, what a message has cut at its end apart. */
void orr_control_write_text(FILE *out, const char *text) {
  putc('"', out);
  for (size_t left = strlen(text), n; left; text += n, left -= n) {
    n = orr_utf8_length(text, left);
    if (n == 0) {
      n = 1;
      putc('?', out);
    } else if (*text == '"' || *text == '\\') {
      fprintf(out, "\\%c", *text);
    } else if (n == 1 && (unsigned char)*text < 0x20) {
      fprintf(out, "\\u%04x", (unsigned)*text);
    } else {
      fwrite(text, 1, n, out);
    }
  }
  putc('"', out);
}

/* The link that commands the channel of a number, and that channel; NULL: none does. */
static const struct orr_run_link *commanded_by(const struct orr_control_scope *scope, int number,
                                               const struct orr_channel **channel) {
  for (size_t i = 0; i < scope->link_count; i++) {
    const struct orr_run_link *link = &scope->links[i];
    struct orr_run_given given = orr_run_link_given(link, scope->inside || link->transport == ORR_TRANSPORT_LINKED);
    for (int k = 0; k < given.count; k++) {
      *channel = &scope->table->channels[given.channels[k]];
      if (number >= (*channel)->offset && number < (*channel)->offset + (*channel)->count)
        return link;
    }
  }
  return NULL;
}

void orr_control_write_commanded(FILE *out, const struct orr_control_scope *scope,
                                 const struct orr_control_command *command) {
  const struct orr_channel *c;
  const struct orr_run_link *link = commanded_by(scope, command->first, &c);
  char note[ORR_CONTROL_MESSAGE];
  if (!link)
    return;
  if (c->hold == ORR_CHANNEL_PULSE)
    snprintf(note, sizeof note, "link '%.60s' commands it too, every %.9g s: a pulse of the link takes its place",
             link->name, 1e-9 * (double)link->period_ns);
  else
    snprintf(note, sizeof note,
             "link '%.60s' commands it too, every %.9g s: what was set lasts until the link's next command", link->name,
             1e-9 * (double)link->period_ns);
  fputs(", \"commanded_by\": ", out);
  orr_control_write_text(out, link->name);
  fputs(", \"note\": ", out);
  orr_control_write_text(out, note);
}

void orr_control_write_error(FILE *out, const char *message) {
  fputs("{\"ok\": false, \"error\": ", out);
  orr_control_write_text(out, message);
  fputs("}\n", out);
}

static void write_number(FILE *out, double x) {
  if (isfinite(x))
    fprintf(out, "%.17g", x);
  else
    fputs("null", out);
}

static void write_value(FILE *out, const struct orr_channel *c, int element, const char *name, const double *values) {
  orr_control_write_text(out, name);
  fputs(": ", out);
  if (element >= 0 || c->count == 1) {
    write_number(out, values[c->offset + (element >= 0 ? element : 0)]);
    return;
  }
  for (int k = 0; k < c->count; k++) {
    fputs(k ? ", " : "[", out);
    write_number(out, values[c->offset + k]);
  }
  putc(']', out);
}

static void write_unit(FILE *out, const struct orr_channel *c, const char *name) {
  orr_control_write_text(out, name);
  fputs(": ", out);
  orr_control_write_text(out, c->unit);
}

void orr_control_write_values(FILE *out, const struct orr_control_scope *scope, const char *patterns,
                              const double *values) {
  char pattern[ORR_CONTROL_TEXT];
  const char *between = "";
  putc('{', out);
  while (next_pattern(&patterns, pattern)) {
    int element, i = -1;
    while ((i = next_fit(scope, pattern, i, &element)) >= 0) {
      const struct orr_channel *c = &scope->table->channels[i];
      fputs(between, out);
      const char *name = element >= 0 ? pattern : c->name;
      if (values)
        write_value(out, c, element, name, values);
      else
        write_unit(out, c, name);
      between = ", ";
    }
  }
  putc('}', out);
}
