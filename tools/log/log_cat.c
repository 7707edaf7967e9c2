/* `orrery log cat`: every message, a line each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/text/utf8.h"
#include "io/links/terms/layout.h"
#include "tools/common/commands.h"
#include "tools/common/text.h"
#include "tools/log/log_verbs.h"

static void print_text(struct orr_mcap_text t) { orr_text_print(stdout, t.text, t.size); }

/* A string as JSON has it. A byte that is no character is told by its number. */
static void print_string(struct orr_mcap_text t) {
  putchar('"');
  while (t.size) {
    unsigned char c = (unsigned char)*t.text;
    size_t n = orr_utf8_length(t.text, t.size);
    bool good = n > 0 && !orr_utf8_is_control(t.text);
    if (c == '"' || c == '\\')
      printf("\\%c", c);
    else if (good)
      fwrite(t.text, 1, n, stdout);
    else
      printf("\\u%04x", c);
    n = good ? n : 1;
    t = (struct orr_mcap_text){t.text + n, t.size - n};
  }
  putchar('"');
}

static void print_value(const struct orr_field *f, const struct orr_value *v, bool json) {
  char text[40];
  if (f->type == ORR_FIELD_STRING) {
    print_string(v->string);
  } else if (f->type == ORR_FIELD_FLOAT64 || f->type == ORR_FIELD_FLOAT32) {
    snprintf(text, sizeof text, "%.17g", v->real);
    bool finite = v->real - v->real == 0;
    printf(json && !finite ? "\"%s\"" : "%s", text); /* JSON has no word for NaN */
  } else if (f->type == ORR_FIELD_UINT64) {
    printf("%" PRIu64, v->bits);
  } else {
    printf("%" PRId64, v->whole);
  }
}

/* Whether a field counts refused commands by their causes: people get the names of those that there were. */
static bool is_by_cause(struct orr_mcap_text topic, const struct orr_field *f) {
  static const char refused[] = "refused", link[] = "/orrery/link";
  return f->name.size == sizeof refused - 1 && memcmp(f->name.text, refused, sizeof refused - 1) == 0 &&
         topic.size >= sizeof link - 1 && memcmp(topic.text, link, sizeof link - 1) == 0;
}

/* What the metadata of a topic say of a field, for people. */
static struct orr_mcap_text fact(const struct orr_mcap_channel *c, const struct orr_field *f, const char *what) {
  char key[256];
  snprintf(key, sizeof key, "%.*s.%s", (int)(f->name.size < 200 ? f->name.size : 200), f->name.text, what);
  return orr_walk_find(c->pairs, key);
}

/* The next one of a list parted by commas. */
static struct orr_mcap_text next_of(struct orr_mcap_text *list) {
  const char *comma = list->size ? memchr(list->text, ',', list->size) : NULL;
  struct orr_mcap_text one = {list->text, comma ? (size_t)(comma - list->text) : list->size};
  size_t used = one.size + (comma != NULL);
  *list = (struct orr_mcap_text){list->text + used, list->size - used};
  return one;
}

static void print_unit(struct orr_mcap_text unit) {
  if (unit.size) {
    putchar(' ');
    print_text(unit);
  }
}

/* All commands, each by its name and with its unit. */
static bool print_commands(struct orr_cdr *cdr, const struct orr_field *f, struct orr_mcap_text channels,
                           struct orr_mcap_text units) {
  uint32_t count;
  struct orr_value value;
  if (!orr_cdr_count(cdr, f, &count))
    return false;
  for (uint32_t i = 0; i < count; i++) {
    struct orr_mcap_text name = next_of(&channels);
    if (!orr_cdr_value(cdr, f, &value))
      return false;
    putchar(' ');
    print_text(name);
    putchar('=');
    print_value(f, &value, false);
    print_unit(next_of(&units));
  }
  return true;
}

static bool print_field(struct orr_cdr *cdr, const struct orr_field *f, const struct orr_mcap_channel *c, bool json) {
  struct orr_mcap_text topic = c->topic, channels = fact(c, f, "channels");
  if (!json && channels.text)
    return print_commands(cdr, f, channels, fact(c, f, "units"));
  bool named = !json && is_by_cause(topic, f);
  uint32_t count;
  struct orr_value value;
  if (!orr_cdr_count(cdr, f, &count))
    return false;
  printf(json ? ",\"%.*s\":" : " %.*s=", (int)f->name.size, f->name.text);
  if (f->array || f->sequence)
    putchar('[');
  for (uint32_t i = 0, shown = 0; i < count; i++) {
    if (!orr_cdr_value(cdr, f, &value))
      return false;
    if (named && value.bits == 0)
      continue;
    if (shown++)
      putchar(',');
    if (named)
      printf("%s=", orr_refusal_name((enum orr_refusal)i));
    print_value(f, &value, json);
  }
  if (f->array || f->sequence)
    putchar(']');
  if (!json)
    print_unit(fact(c, f, "unit"));
  return true;
}

/* False where the message is not what its schema says. */
static bool print_message(const struct orr_log_open *t, const struct orr_mcap_message *m, bool json) {
  const struct orr_mcap_channel *c = &t->tables->channels[m->channel];
  struct orr_mcap_text schema =
      c->schema < ORR_WALK_IDS ? t->tables->schemas[c->schema].data : (struct orr_mcap_text){NULL, 0};
  struct orr_field field;
  struct orr_cdr cdr;
  bool good = orr_cdr_start(&cdr, m->data, m->size);
  if (!good)
    return false;
  if (json) {
    printf("{\"time_ns\":%" PRIu64 ",\"topic\":", m->log_ns);
    print_string(c->topic);
  } else {
    printf("%.9f ", 1e-9 * (double)m->log_ns);
    print_text(c->topic);
  }
  while (schema.text && orr_schema_next(&schema, &field, &good))
    if (!print_field(&cdr, &field, c, json))
      return false;
  puts(json ? "}" : "");
  return good;
}

int orr_log_cat(const struct orr_log_arguments *a) {
  struct orr_log_open t;
  struct orr_walk_item item;
  if (!orr_log_open(&t, "orrery log", a->path))
    return ORR_EXIT_BAD;
  t.walk.from_ns = a->from_ns;
  t.walk.to_ns = a->to_ns;
  bool good = true;
  while (good && orr_walk_next(&t.walk, &item)) {
    if (item.kind != ORR_WALK_MESSAGE || !orr_log_wants(a->topics, t.tables->channels[item.message.channel].topic))
      continue;
    good = print_message(&t, &item.message, a->json);
    if (!good)
      fprintf(stderr, "\norrery log: a message at %.9g s is not what its schema says\n",
              1e-9 * (double)item.message.log_ns);
  }
  good = orr_log_ended(&t) && good;
  good = orr_log_has_topics(&t, a->topics) && good;
  orr_log_close(&t);
  return good ? ORR_EXIT_OK : ORR_EXIT_BAD;
}
