/* `orrery log cat`: every message, a line each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/links/layout.h"
#include "tools/common/commands.h"
#include "tools/log/log_verbs.h"

/* A string as JSON has it. */
static void print_string(struct orr_mcap_text t) {
  putchar('"');
  for (size_t i = 0; i < t.size; i++) {
    unsigned char c = (unsigned char)t.text[i];
    if (c == '"' || c == '\\')
      printf("\\%c", c);
    else if (c < ' ' || c >= 127)
      printf("\\u%04x", c);
    else
      putchar(c);
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

static bool print_field(struct orr_cdr *cdr, const struct orr_field *f, struct orr_mcap_text topic, bool json) {
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
    printf("%.9f %.*s", 1e-9 * (double)m->log_ns, (int)c->topic.size, c->topic.text);
  }
  while (schema.text && orr_schema_next(&schema, &field, &good))
    if (!print_field(&cdr, &field, c->topic, json))
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
