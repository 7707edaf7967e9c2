/* `orrery log info`: what a log holds. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/commands.h"
#include "tools/common/text.h"
#include "tools/log/log_verbs.h"

struct topic {
  uint64_t messages, first_ns, last_ns;
};

/* Bytes that are shown; thousands of topics may have one schema. */
enum { MOST_KEY = 100, MOST_VALUE = 400, MOST_SCHEMA = 1 << 14 };

static struct orr_mcap_text cut(struct orr_mcap_text t, size_t most) {
  return (struct orr_mcap_text){t.text, t.size < most ? t.size : most};
}

static json_t *text(struct orr_mcap_text t) {
  char *copy = strndup(t.text ? t.text : "", t.size);
  json_t *json = copy ? orr_json_text(copy) : json_null();
  free(copy);
  return json;
}

static void set(json_t *to, struct orr_mcap_text key, json_t *value) {
  char *copy = strndup(key.text, key.size);
  if (!copy || json_object_set_new(to, copy, value) != 0)
    json_object_set_new(to, "?", json_null());
  free(copy);
}

static json_t *pairs_json(struct orr_mcap_text pairs) {
  struct orr_mcap_pair pair;
  json_t *object = json_object();
  while (orr_mcap_next_pair(&pairs, &pair))
    set(object, pair.key, text(pair.value));
  return object;
}

/* Up to `most` bytes, and blanks up to `width`. */
static void print_text(struct orr_mcap_text t, size_t most, int width) {
  t = cut(t, most);
  int printed = (int)orr_text_print(stdout, t.text, t.size);
  printf("%*s", printed < width ? width - printed : 0, "");
}

static void print_pairs(struct orr_mcap_text name, struct orr_mcap_text pairs) {
  struct orr_mcap_pair pair;
  print_text(name, MOST_KEY, 0);
  putchar('\n');
  while (orr_mcap_next_pair(&pairs, &pair)) {
    fputs("  ", stdout);
    print_text(pair.key, MOST_KEY, 22);
    putchar(' ');
    print_text(pair.value, MOST_VALUE, 0);
    putchar('\n');
  }
}

struct seen {
  struct topic *topics; /* [ORR_WALK_IDS] */
  uint64_t messages, first_ns, last_ns;
  json_t *metadata, *attachments;
  bool print;
};

static void see(struct seen *s, const struct orr_walk_item *item) {
  if (item->kind == ORR_WALK_MESSAGE) {
    struct topic *t = &s->topics[item->message.channel];
    uint64_t now = item->message.log_ns;
    t->first_ns = t->messages == 0 || now < t->first_ns ? now : t->first_ns;
    t->last_ns = now > t->last_ns ? now : t->last_ns;
    s->first_ns = s->messages == 0 || now < s->first_ns ? now : s->first_ns;
    s->last_ns = now > s->last_ns ? now : s->last_ns;
    t->messages++;
    s->messages++;
  } else if (item->kind == ORR_WALK_METADATA) {
    set(s->metadata, item->metadata.name, pairs_json(item->metadata.pairs));
    if (s->print)
      print_pairs(item->metadata.name, item->metadata.pairs);
  } else {
    json_t *a = json_object();
    json_object_set_new(a, "name", text(item->attachment.name));
    json_object_set_new(a, "media_type", text(item->attachment.media_type));
    json_object_set_new(a, "bytes", json_integer((json_int_t)item->attachment.data.size));
    json_array_append_new(s->attachments, a);
    if (s->print) {
      fputs("attachment  ", stdout);
      print_text(item->attachment.name, MOST_VALUE, 0);
      printf(", %zu bytes\n", item->attachment.data.size);
    }
  }
}

static void print_topics(const struct orr_log_open *t, const struct seen *s) {
  printf("topics\n");
  for (size_t i = 0; i < ORR_WALK_IDS; i++) {
    const struct orr_mcap_channel *c = &t->tables->channels[i];
    if (!c->topic.text)
      continue;
    fputs("  ", stdout);
    print_text(c->topic, MOST_VALUE, 28);
    printf(" %10" PRIu64 " messages", s->topics[i].messages);
    if (s->topics[i].messages)
      printf(", %.9g to %.9g s", 1e-9 * (double)s->topics[i].first_ns, 1e-9 * (double)s->topics[i].last_ns);
    putchar('\n');
  }
}

static json_t *topics_json(const struct orr_log_open *t, const struct seen *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < ORR_WALK_IDS; i++) {
    const struct orr_mcap_channel *c = &t->tables->channels[i];
    if (!c->topic.text)
      continue;
    json_t *one = json_object();
    json_object_set_new(one, "topic", text(c->topic));
    json_object_set_new(one, "messages", json_integer((json_int_t)s->topics[i].messages));
    struct orr_mcap_text schema = {NULL, 0};
    if (c->schema < ORR_WALK_IDS)
      schema = cut(t->tables->schemas[c->schema].data, MOST_SCHEMA);
    json_object_set_new(one, "schema", text(schema));
    json_object_set_new(one, "metadata", pairs_json(c->pairs));
    json_array_append_new(list, one);
  }
  return list;
}

static const char *state_of(const struct orr_log_open *t, const struct orr_mcap_extent *extent) {
  if (t->walk.end == ORR_WALK_COMPRESSED)
    return "compressed";
  return extent->complete ? "complete" : extent->damaged ? "damaged" : "cut";
}

static void tell(const struct orr_log_arguments *a, struct orr_log_open *t, struct seen *s) {
  struct orr_mcap_extent extent;
  orr_mcap_measure(t->view.bytes, t->view.size, &t->unpacker, &t->crc, &extent);
  if (!a->json) {
    print_topics(t, s);
    printf("log         %s, %.3g MB, %" PRIu64 " chunks%s, %" PRIu64 " messages, %.9g to %.9g s: %s\n", a->path,
           1e-6 * (double)t->view.size, t->walk.chunks, t->walk.compressed_chunks ? " (compressed)" : "", s->messages,
           1e-9 * (double)s->first_ns, 1e-9 * (double)s->last_ns, state_of(t, &extent));
    return;
  }
  json_t *root = json_object();
  json_object_set_new(root, "path", orr_json_text(a->path));
  json_object_set_new(root, "bytes", json_integer((json_int_t)t->view.size));
  json_object_set_new(root, "state", json_string(state_of(t, &extent)));
  json_object_set_new(root, "chunks", json_integer((json_int_t)t->walk.chunks));
  json_object_set_new(root, "compressed_chunks", json_integer((json_int_t)t->walk.compressed_chunks));
  json_object_set_new(root, "messages", json_integer((json_int_t)s->messages));
  json_object_set_new(root, "first_ns", json_integer((json_int_t)s->first_ns));
  json_object_set_new(root, "last_ns", json_integer((json_int_t)s->last_ns));
  json_object_set(root, "metadata", s->metadata);
  json_object_set(root, "attachments", s->attachments);
  json_object_set_new(root, "topics", topics_json(t, s));
  json_dumpf(root, stdout, JSON_INDENT(1));
  putchar('\n');
  json_decref(root);
}

int orr_log_info(const struct orr_log_arguments *a) {
  struct orr_log_open t;
  struct orr_walk_item item;
  struct seen s = {.metadata = json_object(), .attachments = json_array(), .print = !a->json};
  if (!orr_log_open(&t, "orrery log", a->path)) {
    json_decref(s.metadata);
    json_decref(s.attachments);
    return ORR_EXIT_BAD;
  }
  s.topics = calloc(ORR_WALK_IDS, sizeof *s.topics);
  if (!s.topics)
    abort();
  while (orr_walk_next(&t.walk, &item))
    see(&s, &item);
  tell(a, &t, &s);
  int status = orr_log_ended(&t) ? ORR_EXIT_OK : ORR_EXIT_BAD;
  free(s.topics);
  json_decref(s.metadata);
  json_decref(s.attachments);
  orr_log_close(&t);
  return status;
}
