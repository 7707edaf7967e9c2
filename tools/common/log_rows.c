#include "tools/common/log_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plant/channel.h"
#include "io/config/text/names.h"
#include "io/config/text/unit.h"
#include "tools/common/text.h"

bool orr_log_open(struct orr_log_open *log, const char *who, const char *path) {
  char message[256];
  *log = (struct orr_log_open){.who = who, .path = path};
  if (!orr_view_open(&log->view, path, message, sizeof message)) {
    fprintf(stderr, "%s: cannot read '%s': %s\n", who, path, message);
    return false;
  }
  log->tables = malloc(sizeof *log->tables);
  if (!log->tables)
    abort();
  orr_crc32_init(&log->crc);
  if (orr_walk_start(&log->walk, log->tables, &log->unpacker, &log->crc, log->view.bytes, log->view.size))
    return true;
  fprintf(stderr, "%s: '%s' is no MCAP file\n", who, path);
  orr_log_close(log);
  return false;
}

void orr_log_close(struct orr_log_open *log) {
  free(log->tables);
  orr_unpacker_free(&log->unpacker);
  orr_view_close(&log->view);
}

bool orr_log_ended(const struct orr_log_open *log) {
  static const char *const words[] = {
      [ORR_WALK_CUT] = "was cut: what follows its last whole chunk is lost; 'orrery log repair' writes its index",
      [ORR_WALK_DAMAGED] = "is damaged: nothing is read beyond that place",
      [ORR_WALK_COMPRESSED] = "has chunks that are compressed by something else than zstd, which is not read here"};
  enum orr_walk_end end = log->walk.end;
  if (end == ORR_WALK_COMPLETE || end == ORR_WALK_GOES_ON)
    return true;
  fprintf(stderr, "%s: %s: '%s' %s\n", log->who, end == ORR_WALK_CUT ? "warning" : "error", log->path, words[end]);
  return end == ORR_WALK_CUT;
}

enum { TEXT = 512 };

static void cut_text(char text[TEXT], const char *from, size_t size) {
  snprintf(text, TEXT, "%.*s", (int)(size < TEXT ? size : TEXT - 1), from);
}

/* The first of the patterns, which it goes on behind; false at their end. */
static bool cut_pattern(const char **patterns, char pattern[TEXT]) {
  size_t n = strcspn(*patterns, ",");
  if (!**patterns)
    return false;
  cut_text(pattern, *patterns, n);
  *patterns += n + ((*patterns)[n] == ',');
  return true;
}

bool orr_log_wants(const char *patterns, struct orr_mcap_text topic) {
  char name[TEXT], pattern[TEXT];
  if (!patterns)
    return true;
  cut_text(name, topic.text, topic.size);
  while (cut_pattern(&patterns, pattern))
    if (orr_channel_matches(pattern, name))
      return true;
  return false;
}

/* A slash may have been forgotten. */
static bool has_topic(const struct orr_log_open *log, const char *pattern) {
  char slashed[TEXT + 1], name[TEXT], best[TEXT] = "";
  struct orr_nearest nearest = {.wanted = slashed};
  snprintf(slashed, sizeof slashed, "%s%s", *pattern == '/' ? "" : "/", pattern);
  for (size_t id = 0; id < ORR_WALK_IDS; id++) {
    struct orr_mcap_text topic = log->tables->channels[id].topic;
    if (!topic.text)
      continue;
    cut_text(name, topic.text, topic.size);
    if (orr_channel_matches(pattern, name))
      return true;
    nearest.best = NULL;
    orr_nearest_offer(&nearest, name);
    if (orr_channel_matches(slashed, name))
      snprintf(best, sizeof best, "%.*s", TEXT - 1, slashed);
    else if (nearest.best)
      snprintf(best, sizeof best, "%s", name);
  }
  fprintf(stderr, "%s: no topic of '%s' fits '%s'", log->who, log->path, pattern);
  if (*best) {
    fputs(", did you mean '", stderr);
    orr_text_print(stderr, best, strlen(best));
    fputs("'?\n", stderr);
  } else {
    fputs("; 'orrery log info' lists them\n", stderr);
  }
  return false;
}

bool orr_log_has_topics(const struct orr_log_open *log, const char *patterns) {
  char pattern[TEXT];
  bool good = true;
  while (patterns && cut_pattern(&patterns, pattern))
    good = has_topic(log, pattern) && good;
  return good;
}

bool orr_log_time(const char *text, uint64_t *ns) {
  struct orr_quantity q;
  if (orr_quantity_parse(text, "s", &q) != ORR_QUANTITY_OK || !(q.value >= 0) || q.value > 9e9)
    return false;
  *ns = (uint64_t)(q.value * 1e9 + 0.5);
  return true;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Of the metadata so much; a log may have a million columns. */
enum { MOST_NAME = 200, MOST_ELEMENT = 64 };

/* What would end a column of a table, or steer a terminal, is a question mark. */
static char *joined(struct orr_mcap_text a, const char *b) {
  char text[MOST_NAME + MOST_ELEMENT], clean[sizeof text];
  snprintf(text, sizeof text, "%.*s%s", (int)(a.size < MOST_NAME ? a.size : MOST_NAME), a.text ? a.text : "", b);
  char *copy = strdup(orr_text_clean(text, ",\"", clean, sizeof clean));
  if (!copy)
    abort();
  return copy;
}

static void add(struct orr_log_rows *r, struct orr_mcap_text name, const char *element, struct orr_mcap_text unit) {
  if (r->count == r->room) {
    r->room = r->room ? 2 * r->room : 64;
    r->columns = realloc(r->columns, r->room * sizeof *r->columns);
    if (!r->columns)
      abort();
  }
  r->columns[r->count++] = (struct orr_log_column){.name = joined(name, element), .unit = joined(unit, "")};
}

static struct orr_mcap_text fact_of(const struct orr_mcap_channel *c, const struct orr_field *f, const char *what) {
  char key[256];
  snprintf(key, sizeof key, "%.*s.%s", (int)(f->name.size < 200 ? f->name.size : 200), f->name.text, what);
  return orr_walk_find(c->pairs, key);
}

/* As orr_channel_unit: a log has the unit of a channel alone. */
static struct orr_mcap_text unit_of(struct orr_mcap_text unit, const char *element) {
  for (int i = 0; i < 6 && unit.size == 0; i++)
    if (element[0] == '.' && strcmp(element + 1, orr_channel_wrench[i]) == 0)
      return (struct orr_mcap_text){i < 3 ? "N m" : "N", i < 3 ? 3 : 1};
  return unit;
}

/* By the metadata of the topic, else by the name of the field. */
static void add_field(struct orr_log_rows *r, const struct orr_mcap_channel *c, const struct orr_field *f) {
  char element[MOST_ELEMENT] = "";
  struct orr_mcap_text name = fact_of(c, f, "channel"), elements = fact_of(c, f, "elements"),
                       unit = fact_of(c, f, "unit");
  if (!name.text)
    name = f->name;
  for (uint32_t i = 0; i < f->count; i++) {
    if (f->array && elements.text) {
      size_t word = 0;
      while (word < elements.size && elements.text[word] != ' ')
        word++;
      snprintf(element, sizeof element, ".%.*s", (int)(word < MOST_ELEMENT - 2 ? word : MOST_ELEMENT - 2),
               elements.text);
      word += word < elements.size;
      elements.text += word;
      elements.size -= word;
    } else if (f->array) {
      snprintf(element, sizeof element, "[%u]", i);
    }
    add(r, name, element, unit_of(unit, element));
  }
}

enum { MOST_COLUMNS = 1 << 20 };

/* Numbers alone, and not of the run itself. */
static bool is_row_topic(const struct orr_log_rows *r, const struct orr_mcap_channel *c) {
  static const char own[] = "/orrery/";
  if (!c->topic.text || c->schema >= ORR_WALK_IDS || !orr_log_wants(r->patterns, c->topic) ||
      (c->topic.size >= sizeof own - 1 && memcmp(c->topic.text, own, sizeof own - 1) == 0))
    return false;
  struct orr_mcap_text schema = r->log.tables->schemas[c->schema].data;
  struct orr_field f;
  bool good = schema.text != NULL;
  size_t columns = r->count;
  while (good && orr_schema_next(&schema, &f, &good)) {
    columns += f.count;
    good = f.type == ORR_FIELD_FLOAT64 && !f.sequence && columns <= MOST_COLUMNS;
  }
  return good;
}

static void make_columns(struct orr_log_rows *r) {
  for (size_t id = 0; id < ORR_WALK_IDS; id++) {
    const struct orr_mcap_channel *c = &r->log.tables->channels[id];
    r->first[id] = SIZE_MAX;
    if (!is_row_topic(r, c))
      continue;
    struct orr_mcap_text schema = r->log.tables->schemas[c->schema].data;
    struct orr_field f;
    bool good;
    r->first[id] = r->count;
    while (orr_schema_next(&schema, &f, &good))
      add_field(r, c, &f);
    r->width[id] = r->count - r->first[id];
  }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool is_ahead(struct orr_log_rows *r) {
  while (!r->ahead && orr_walk_next(&r->log.walk, &r->item))
    r->ahead = r->item.kind == ORR_WALK_MESSAGE && r->first[r->item.message.channel] != SIZE_MAX;
  return r->ahead;
}

bool orr_log_rows_open(struct orr_log_rows *r, const char *who, const char *path, const char *patterns) {
  *r = (struct orr_log_rows){.patterns = patterns};
  if (!orr_log_open(&r->log, who, path))
    return false;
  /* schemas and channels stand before the first message */
  while (!r->ahead && orr_walk_next(&r->log.walk, &r->item))
    r->ahead = r->item.kind == ORR_WALK_MESSAGE;
  make_columns(r);
  r->ahead = r->ahead && r->first[r->item.message.channel] != SIZE_MAX;
  return true;
}

static bool take(struct orr_log_rows *r) {
  const struct orr_mcap_message *m = &r->item.message;
  const struct orr_field number = {.type = ORR_FIELD_FLOAT64, .count = 1};
  struct orr_value value;
  struct orr_cdr cdr;
  if (!orr_cdr_start(&cdr, m->data, m->size))
    return false;
  for (size_t i = r->first[m->channel], end = i + r->width[m->channel]; i < end; i++) {
    if (!orr_cdr_value(&cdr, &number, &value))
      return false;
    r->columns[i].value = value.real;
    r->columns[i].seen = r->columns[i].fresh = true;
  }
  return true;
}

bool orr_log_rows_next(struct orr_log_rows *r) {
  if (r->wrong || !is_ahead(r))
    return false;
  r->time_ns = r->item.message.log_ns;
  for (size_t i = 0; i < r->count; i++)
    r->columns[i].fresh = false;
  while (is_ahead(r) && r->item.message.log_ns == r->time_ns) {
    if (!take(r)) {
      fprintf(stderr, "%s: '%s': a message at %.9g s is not what its schema says\n", r->log.who, r->log.path,
              1e-9 * (double)r->time_ns);
      r->wrong = true;
      return false;
    }
    r->ahead = false;
  }
  return true;
}

void orr_log_rows_close(struct orr_log_rows *r) {
  for (size_t i = 0; i < r->count; i++) {
    free(r->columns[i].name);
    free(r->columns[i].unit);
  }
  free(r->columns);
  orr_log_close(&r->log);
}
