/* `orrery log export --hdf5`: a group for each topic, in it a dataset for each field and the times; units as
 * attributes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/commands.h"
#include "tools/common/hdf5.h"
#include "tools/log/log_verbs.h"

enum { ROWS = 4096, BLOCK = 1 << 22, NAME = 256 }; /* rows, and about how many bytes, that are written at a time */

/* One field of a topic; the times are one, too. */
struct set {
  orr_hid id, type;
  size_t bytes; /* of a row; of text, a pointer */
  uint32_t count;
  bool text, array;
  size_t room;   /* rows */
  uint8_t *rows; /* [room][bytes] */
};

struct group {
  struct set *sets; /* [count] times, then the fields */
  size_t count;
  uint64_t written;
  size_t waiting, room; /* rows */
};

struct export {
  const struct orr_log_arguments *a;
  struct orr_hdf5 h5;
  struct orr_log_open log;
  orr_hid file, text, parents;       /* type of texts; links whose groups are made on the way */
  struct group groups[ORR_WALK_IDS]; /* count 0: not asked for, or not met yet */
  bool refused[ORR_WALK_IDS];
  bool bad;
};

static void *need(void *memory) {
  if (memory)
    return memory;
  fputs("orrery log: no memory\n", stderr);
  abort();
}

static const char *name_of(char name[NAME], struct orr_mcap_text text) {
  snprintf(name, NAME, "%.*s", (int)(text.size < NAME ? text.size : NAME - 1), text.text ? text.text : "");
  return name;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static void attribute(struct export *e, orr_hid to, const char *name, struct orr_mcap_text value) {
  char *copy = need(strndup(value.text ? value.text : "", value.size));
  orr_hid space = e->h5.H5Screate(ORR_H5S_SCALAR);
  orr_hid id = e->h5.H5Acreate2(to, name, e->text, space, 0, 0);
  e->bad = e->bad || id < 0 || e->h5.H5Awrite(id, e->text, (const void *)&copy) < 0;
  if (id >= 0)
    e->h5.H5Aclose(id);
  e->h5.H5Sclose(space);
  free(copy);
}

static void attribute_of(struct export *e, orr_hid to, const struct orr_mcap_channel *c, struct orr_mcap_text field,
                         const char *what) {
  char key[NAME + 16], name[NAME];
  snprintf(key, sizeof key, "%s.%s", name_of(name, field), what);
  struct orr_mcap_text value = orr_walk_find(c->pairs, key);
  if (value.text)
    attribute(e, to, what, value);
}

/* The metadata of the log as attributes of a group. */
static void put_metadata(struct export *e, const struct orr_mcap_metadata *m) {
  char name[NAME], path[NAME + 16];
  struct orr_mcap_text pairs = m->pairs;
  struct orr_mcap_pair pair;
  snprintf(path, sizeof path, "/metadata/%s", name_of(name, m->name));
  orr_hid group = e->h5.H5Gcreate2(e->file, path, e->parents, 0, 0);
  if (group < 0)
    return; /* one of that name is there */
  while (orr_mcap_next_pair(&pairs, &pair))
    attribute(e, group, name_of(name, pair.key), pair.value);
  e->h5.H5Gclose(group);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static orr_hid type_of(const struct export *e, enum orr_field_type type, size_t *bytes) {
  const struct orr_hdf5 *h = &e->h5;
  const struct {
    orr_hid id;
    size_t bytes;
  } types[ORR_FIELD_TYPES] = {
      [ORR_FIELD_FLOAT64] = {h->float64, 8}, [ORR_FIELD_FLOAT32] = {h->float32, 4},
      [ORR_FIELD_INT64] = {h->int64, 8},     [ORR_FIELD_UINT64] = {h->uint64, 8},
      [ORR_FIELD_INT32] = {h->int32, 4},     [ORR_FIELD_UINT32] = {h->uint32, 4},
      [ORR_FIELD_INT16] = {h->int16, 2},     [ORR_FIELD_UINT16] = {h->uint16, 2},
      [ORR_FIELD_INT8] = {h->int8, 1},       [ORR_FIELD_UINT8] = {h->uint8, 1},
      [ORR_FIELD_BOOL] = {h->uint8, 1},      [ORR_FIELD_STRING] = {e->text, sizeof(char *)},
  };
  *bytes = types[type].bytes;
  return types[type].id;
}

static orr_hid create(struct export *e, const char *path, const struct set *s) {
  const uint64_t none[2] = {0, s->count}, most[2] = {ORR_H5S_UNLIMITED, s->count},
                 chunk[2] = {s->room / 4 + 1, s->count};
  int rank = s->array ? 2 : 1;
  orr_hid space = e->h5.H5Screate_simple(rank, none, most), list = e->h5.H5Pcreate(e->h5.dataset_create);
  e->h5.H5Pset_chunk(list, rank, chunk);
  orr_hid id = e->h5.H5Dcreate2(e->file, path, s->type, space, e->parents, list, 0);
  e->h5.H5Pclose(list);
  e->h5.H5Sclose(space);
  return id;
}

static void add_set(struct export *e, struct group *g, const char *topic, const struct orr_mcap_channel *c,
                    const struct orr_field *f) {
  char name[NAME], path[2 * NAME + 2];
  g->sets = need(realloc(g->sets, (g->count + 1) * sizeof *g->sets));
  struct set *s = &g->sets[g->count++];
  *s = (struct set){.count = f->count, .text = f->type == ORR_FIELD_STRING, .array = f->array};
  s->type = type_of(e, f->type, &s->bytes);
  s->bytes *= f->count;
  s->room = g->room;
  s->rows = need(calloc(s->room, s->bytes));
  snprintf(path, sizeof path, "%s/%s", topic, name_of(name, f->name));
  s->id = create(e, path, s);
  e->bad = e->bad || s->id < 0;
  if (s->id < 0)
    return;
  if (!c) {
    attribute(e, s->id, "unit", (struct orr_mcap_text){"s", 1});
    return;
  }
  attribute_of(e, s->id, c, f->name, "channel");
  attribute_of(e, s->id, c, f->name, "unit");
  attribute_of(e, s->id, c, f->name, "elements");
}

/* The numbers of a row; 0 for a topic with a field of any length, which has no table: of ours, checkpoints alone. */
static uint64_t numbers_of(struct orr_mcap_text schema) {
  struct orr_field f;
  bool good = schema.text != NULL;
  uint64_t numbers = 0;
  while (good && orr_schema_next(&schema, &f, &good)) {
    numbers += f.count;
    good = !f.sequence && f.count > 0 && numbers <= 1 << 20;
  }
  return good ? numbers + 1 : 0; /* the time is one */
}

/* A later record of the channel may name another than the first. */
static struct orr_mcap_text schema_of(const struct export *e, uint16_t channel) {
  uint16_t id = e->log.tables->channels[channel].schema;
  return id < ORR_WALK_IDS ? e->log.tables->schemas[id].data : (struct orr_mcap_text){NULL, 0};
}

static void begin(struct export *e, uint16_t channel) {
  const struct orr_mcap_channel *c = &e->log.tables->channels[channel];
  const struct orr_field times = {.name = {"time", 4}, .type = ORR_FIELD_FLOAT64, .count = 1};
  struct orr_mcap_text schema = schema_of(e, channel);
  char topic[NAME];
  struct orr_field f;
  bool good;
  uint64_t numbers = orr_log_wants(e->a->topics, c->topic) ? numbers_of(schema) : 0;
  e->refused[channel] = numbers == 0;
  if (e->refused[channel])
    return;
  size_t room = BLOCK / (8 * numbers) + 1;
  e->groups[channel].room = room < ROWS ? room : ROWS;
  name_of(topic, c->topic);
  add_set(e, &e->groups[channel], topic, NULL, &times);
  while (orr_schema_next(&schema, &f, &good))
    add_set(e, &e->groups[channel], topic, c, &f);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void empty(struct set *s) {
  char *text;
  for (size_t i = 0; s->text && i < s->room * s->count; i++) {
    memcpy(&text, s->rows + i * sizeof text, sizeof text);
    free(text);
  }
  memset(s->rows, 0, s->room * s->bytes);
}

static void flush_set(struct export *e, const struct group *g, struct set *s) {
  const uint64_t size[2] = {g->written + g->waiting, s->count}, start[2] = {g->written, 0};
  const uint64_t count[2] = {g->waiting, s->count};
  bool good = s->id >= 0 && e->h5.H5Dset_extent(s->id, size) >= 0;
  orr_hid memory = e->h5.H5Screate_simple(s->array ? 2 : 1, count, NULL), file = good ? e->h5.H5Dget_space(s->id) : -1;
  good = good && file >= 0 && e->h5.H5Sselect_hyperslab(file, ORR_H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
         e->h5.H5Dwrite(s->id, s->type, memory, file, 0, s->rows) >= 0;
  e->h5.H5Sclose(memory);
  if (file >= 0)
    e->h5.H5Sclose(file);
  e->bad = e->bad || !good;
  empty(s);
}

static void flush(struct export *e, struct group *g) {
  for (size_t i = 0; g->waiting && i < g->count; i++)
    flush_set(e, g, &g->sets[i]);
  g->written += g->waiting;
  g->waiting = 0;
}

/* False where the message is not what its schema says. */
static bool take_field(struct set *s, size_t row, const struct orr_field *f, struct orr_cdr *cdr) {
  struct orr_value value;
  size_t size = s->bytes / s->count;
  uint8_t *to = s->rows + row * s->bytes;
  for (uint32_t i = 0; i < s->count; i++, to += size) {
    if (!orr_cdr_value(cdr, f, &value))
      return false;
    char *text = s->text ? need(strndup(value.string.text, value.string.size)) : NULL;
    if (s->text)
      memcpy(to, &text, sizeof text);
    else
      memcpy(to, &value.bits, size); /* little-endian: the low bytes */
  }
  return true;
}

static bool take(struct export *e, const struct orr_mcap_message *m) {
  struct group *g = &e->groups[m->channel];
  if (!g->count && !e->refused[m->channel])
    begin(e, m->channel);
  if (!g->count)
    return true;
  struct orr_mcap_text schema = schema_of(e, m->channel);
  double time_s = 1e-9 * (double)m->log_ns;
  struct orr_field f;
  struct orr_cdr cdr;
  bool good = orr_cdr_start(&cdr, m->data, m->size), known;
  memcpy(g->sets[0].rows + g->waiting * g->sets[0].bytes, &time_s, sizeof time_s);
  for (size_t i = 1; good && i < g->count && orr_schema_next(&schema, &f, &known); i++)
    good = take_field(&g->sets[i], g->waiting, &f, &cdr);
  if (!good)
    fprintf(stderr, "orrery log: '%s': a message at %.9g s is not what its schema says\n", e->log.path, time_s);
  else if (++g->waiting == g->room)
    flush(e, g);
  return good;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool open_file(struct export *e) {
  char message[200];
  if (!orr_hdf5_load(&e->h5, message, sizeof message)) {
    fprintf(stderr, "orrery log: cannot write '%s': %s\n", e->a->hdf5, message);
    return false;
  }
  e->file = e->h5.H5Fcreate(e->a->hdf5, ORR_H5F_TRUNC, 0, 0);
  if (e->file < 0) {
    fprintf(stderr, "orrery log: cannot write '%s': libhdf5 cannot make that file\n", e->a->hdf5);
    return false;
  }
  e->text = e->h5.H5Tcopy(e->h5.string);
  e->h5.H5Tset_size(e->text, ORR_H5T_VARIABLE);
  e->h5.H5Tset_cset(e->text, ORR_H5T_CSET_UTF8);
  e->parents = e->h5.H5Pcreate(e->h5.link_create);
  e->h5.H5Pset_create_intermediate_group(e->parents, 1);
  return true;
}

static void free_group(struct export *e, struct group *g) {
  for (size_t i = 0; i < g->count; i++) {
    if (g->sets[i].id >= 0)
      e->h5.H5Dclose(g->sets[i].id);
    empty(&g->sets[i]);
    free(g->sets[i].rows);
  }
  free(g->sets);
}

static bool write_all(struct export *e) {
  struct orr_walk_item item;
  bool good = true;
  while (good && !e->bad && orr_walk_next(&e->log.walk, &item)) {
    if (item.kind == ORR_WALK_METADATA)
      put_metadata(e, &item.metadata);
    else if (item.kind == ORR_WALK_MESSAGE && item.message.log_ns >= e->a->from_ns &&
             item.message.log_ns <= e->a->to_ns)
      good = take(e, &item.message);
  }
  for (size_t i = 0; i < ORR_WALK_IDS; i++) {
    flush(e, &e->groups[i]);
    free_group(e, &e->groups[i]);
  }
  e->h5.H5Tclose(e->text);
  e->h5.H5Pclose(e->parents);
  if (e->h5.H5Fclose(e->file) < 0 || e->bad) {
    fprintf(stderr, "orrery log: cannot write all of '%s'\n", e->a->hdf5);
    good = false;
  }
  return good;
}

/* Whether each pattern fits a topic: looked at before there is a file. */
static bool topics_are_there(const struct orr_log_arguments *a) {
  struct orr_log_open log;
  struct orr_walk_item item;
  if (!a->topics)
    return true;
  if (!orr_log_open(&log, "orrery log", a->path))
    return false;
  while (orr_walk_next(&log.walk, &item)) {
  }
  bool good = orr_log_has_topics(&log, a->topics);
  orr_log_close(&log);
  return good;
}

int orr_log_hdf5(const struct orr_log_arguments *a) {
  if (!topics_are_there(a))
    return ORR_EXIT_BAD;
  struct export *e = need(calloc(1, sizeof *e));
  e->a = a;
  bool good = orr_log_open(&e->log, "orrery log", a->path);
  if (good) {
    good = open_file(e) && write_all(e);
    good = orr_log_ended(&e->log) && good;
    orr_log_close(&e->log);
  }
  free(e);
  return good ? ORR_EXIT_OK : ORR_EXIT_BAD;
}
