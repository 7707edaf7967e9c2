/* The fields of a packet in `layout`: where each stands, which of them stand by turns, what they refer to. */
#include <stdlib.h>
#include <string.h>

#include "io/config/run/run_field.h"
#include "io/config/run/run_mappings.h"

enum { MOST = ORR_TELEGRAM_FIELDS_MAX, MOST_BITS = 8 * ORR_TELEGRAM_BYTES_MAX, MOST_SETS = 256 };

/* An entry of the file: the fields that it became. */
struct entry {
  struct orr_field_draft draft;
  int first, count;
};

struct packet {
  struct orr_run_draft *d;
  const struct orr_run_link *link;
  struct orr_run_telegram *out;
  bool little;
  struct orr_run_field *fields; /* [MOST] */
  struct entry *entries;        /* [MOST] */
  int count, entry_count;
  uint32_t bit;     /* where the next field stands */
  bool bits_little; /* and in which order it is counted */
  uint32_t bits;    /* of all */
  int by, set;      /* of the sets that are being read, or −1 */
};

static bool complain(const struct packet *p, struct orr_place place, const char *text) {
  orr_read_error(p->d->reader, place, "layout", "%s", text);
  return false;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static bool place_entry(struct packet *p, struct entry *e) {
  struct orr_run_field *f = &e->draft.field;
  if (!e->draft.placed) {
    if (p->bit % 8 && p->bits_little != f->little)
      return complain(p, e->draft.place,
                      "the field before ends within a byte, and bits are counted otherwise there: give this one 'at' "
                      "and 'bit'");
    f->bit = p->bit;
  } else {
    f->bit += 8 * p->out->head;
  }
  if ((uint64_t)f->bit + (uint64_t)f->width * (uint64_t)e->draft.numbers > MOST_BITS) {
    orr_read_error(p->d->reader, e->draft.place, "layout", "a packet has at most %d bytes, and this ends beyond",
                   ORR_TELEGRAM_BYTES_MAX);
    return false;
  }
  p->bit = f->bit + (uint32_t)(f->width * e->draft.numbers);
  p->bits_little = f->little;
  p->bits = p->bit > p->bits ? p->bit : p->bits;
  return true;
}

static bool add_entry(struct packet *p, const struct orr_field_draft *draft) {
  if (p->count + draft->numbers > MOST || p->entry_count == MOST) {
    orr_read_error(p->d->reader, draft->place, "layout", "a packet has at most %d fields", MOST);
    return false;
  }
  struct entry *e = &p->entries[p->entry_count++];
  *e = (struct entry){.draft = *draft, .first = p->count, .count = draft->numbers};
  e->draft.field.by = p->by;
  e->draft.field.set = p->set;
  if (!place_entry(p, e))
    return false;
  for (int i = 0; i < draft->numbers; i++) {
    struct orr_run_field *f = &p->fields[p->count++];
    *f = e->draft.field;
    f->element += i;
    f->bit += (uint32_t)(i * f->width);
  }
  return true;
}

static struct entry *find_entry(const struct packet *p, const char *name) {
  for (int i = 0; i < p->entry_count; i++)
    if (p->entries[i].draft.field.name && strcmp(p->entries[i].draft.field.name, name) == 0)
      return &p->entries[i];
  return NULL;
}

static bool read_entry(struct packet *p, struct orr_place item, struct orr_field_draft *draft) {
  if (!orr_run_read_field(p->d, item, p->link, p->out->command, p->little, draft))
    return false;
  if (!draft->field.name || !find_entry(p, draft->field.name))
    return true;
  orr_read_error(p->d->reader, item, "layout", "another field of this packet has the name '%.60s' already",
                 draft->field.name);
  return false;
}

/* ---- by turns ---------------------------------------------------------------------------------------------------- */

/* The counter that says which set stands: it counts through them. */
static struct entry *find_counter(struct packet *p, struct orr_place by, size_t sets) {
  const char *name;
  if (!orr_read_text(p->d->reader, by, "by", &name))
    return NULL;
  struct entry *e = find_entry(p, name);
  if (!e || e->draft.field.kind != ORR_FIELD_COUNTER || e->draft.field.by >= 0) {
    orr_read_error(p->d->reader, by, "layout", "'%.60s' is no counter before these sets: give one that name", name);
    return NULL;
  }
  struct orr_run_field *f = &p->fields[e->first];
  bool fits = f->width >= 32 || sets <= (size_t)1 << f->width;
  if (!fits || (f->modulo && f->modulo != sets) || f->start >= sets || (f->of_sets && f->of_sets != (int)sets)) {
    orr_read_error(p->d->reader, by, "layout",
                   "the counter '%.60s' counts through %zu sets: its bits hold that many, its 'modulo' is left out or "
                   "the same, its 'start' is less, and all sets by it are as many",
                   name, sets);
    return NULL;
  }
  f->modulo = sets;
  f->of_sets = (int)sets;
  return e;
}

static bool read_set(struct packet *p, struct orr_place list) {
  if (!orr_expect_sequence(p->d->reader, list, "sets"))
    return false;
  for (size_t i = 0; i < orr_place_count(list); i++) {
    struct orr_place item = orr_place_item(p->d->reader->diagnostics, list, i);
    struct orr_field_draft draft;
    if (!read_entry(p, item, &draft))
      return false;
    if (draft.sets.node || draft.field.kind == ORR_FIELD_LENGTH || draft.field.kind == ORR_FIELD_CHECKSUM)
      return complain(p, item, "'sets', lengths and checksums stand in a packet itself, and in no set");
    if (!add_entry(p, &draft))
      return false;
  }
  return true;
}

/* Each set begins where they begin; what follows stands behind the longest. */
static bool read_sets(struct packet *p, const struct orr_field_draft *draft) {
  if (!orr_expect_sequence(p->d->reader, draft->sets, "sets"))
    return false;
  size_t n = orr_place_count(draft->sets);
  if (n == 0 || n > MOST_SETS)
    return complain(p, draft->sets, "there are 1 to 256 sets");
  const struct entry *counter = find_counter(p, draft->by, n);
  if (!counter)
    return false;
  uint32_t begin = draft->placed ? draft->field.bit + 8 * p->out->head : p->bit, end = begin;
  bool little = draft->placed ? p->little : p->bits_little, end_little = little;
  for (size_t i = 0; i < n; i++) {
    p->bit = begin;
    p->bits_little = little;
    p->by = counter->first;
    p->set = (int)i;
    bool good = read_set(p, orr_place_item(p->d->reader->diagnostics, draft->sets, i));
    p->by = p->set = -1;
    if (!good)
      return false;
    if (p->bit > end) {
      end = p->bit;
      end_little = p->bits_little;
    }
  }
  p->bit = end;
  p->bits_little = end_little;
  return true;
}

/* ---- what refers to others --------------------------------------------------------------------------------------- */

/* A byte by its number, by a field that begins or ends there, or `end`. */
static bool read_end(const struct packet *p, struct orr_place place, bool last, uint32_t *out) {
  const char *text;
  char *rest;
  if (!orr_read_text(p->d->reader, place, "over", &text))
    return false;
  unsigned long number = strtoul(text, &rest, 10);
  const uint32_t bytes = p->out->bytes - p->out->head;
  const struct entry *e = find_entry(p, text);
  if (e) {
    const struct orr_run_field *f = &p->fields[e->first];
    *out = last ? (f->bit + (uint32_t)(f->width * e->count) + 7) / 8 : f->bit / 8;
  } else if (last && strcmp(text, "end") == 0) {
    *out = p->out->bytes;
  } else if (text[0] >= '0' && text[0] <= '9' && !*rest && number < bytes) {
    *out = p->out->head + (uint32_t)number + last;
  } else {
    orr_read_error(p->d->reader, place, "layout",
                   "'%.60s' is no byte of this packet, which has %u, and no field that has a name", text, bytes);
    return false;
  }
  return true;
}

static bool read_over(const struct packet *p, const struct entry *e) {
  struct orr_run_field *f = &p->fields[e->first];
  const struct orr_place over = e->draft.over;
  struct orr_diagnostics *all = p->d->reader->diagnostics;
  f->from = p->out->head;
  f->to = f->kind == ORR_FIELD_LENGTH ? p->out->bytes : f->bit / 8;
  if (over.node) {
    if (!orr_expect_sequence(p->d->reader, over, "over"))
      return false;
    if (orr_place_count(over) != 2)
      return complain(p, over, "'over' takes the first and the last byte, such as [0, end], or fields by name");
    if (!read_end(p, orr_place_item(all, over, 0), false, &f->from) ||
        !read_end(p, orr_place_item(all, over, 1), true, &f->to))
      return false;
  }
  if (f->from > f->to)
    return complain(p, over.node ? over : e->draft.place, "'over' ends before it begins");
  if (f->kind != ORR_FIELD_LENGTH)
    return true;
  int64_t length = (int64_t)f->to - f->from + e->draft.plus;
  f->raw = (uint64_t)length;
  if (length >= 0 && (f->width >= 32 || f->raw >> f->width == 0))
    return true;
  orr_read_error(p->d->reader, e->draft.place, "layout", "the length %lld does not fit %d bits", (long long)length,
                 f->width);
  return false;
}

/* ---- what stands on another -------------------------------------------------------------------------------------- */

struct map {
  uint8_t bits[ORR_TELEGRAM_BYTES_MAX];
};

/* Whether all were free, in both maps; they are taken in the first. */
static bool take_bits(const struct orr_run_field *f, struct map *map, const struct map *other) {
  bool free = true;
  for (int i = 0; i < f->width; i++) {
    uint32_t at = f->bit + (uint32_t)i;
    uint8_t bit = (uint8_t)(1 << (f->little ? at % 8 : 7 - at % 8));
    free &= !((map->bits[at / 8] | other->bits[at / 8]) & bit);
    map->bits[at / 8] |= bit;
  }
  return free;
}

static bool judge_overlap(const struct packet *p) {
  struct map common = {0}, own = {0};
  int by = -1, set = -1;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < p->entry_count; i++) {
      const struct entry *e = &p->entries[i];
      const struct orr_run_field *f = &p->fields[e->first];
      if ((f->by >= 0) != (pass == 1))
        continue;
      if (f->by != by || f->set != set)
        own = (struct map){0};
      by = f->by;
      set = f->set;
      for (int k = 0; k < e->count; k++)
        if (!take_bits(f + k, pass ? &own : &common, pass ? &common : &own))
          return complain(p, e->draft.place, "this field stands on bits of another");
    }
  return true;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool read_list(struct packet *p, struct orr_place list) {
  bool good = true;
  if (!orr_expect_sequence(p->d->reader, list, "fields"))
    return false;
  for (size_t i = 0; i < orr_place_count(list); i++) {
    struct orr_field_draft draft;
    bool right = read_entry(p, orr_place_item(p->d->reader->diagnostics, list, i), &draft);
    good &= right;
    if (good && !(draft.sets.node ? read_sets(p, &draft) : add_entry(p, &draft)))
      return false;
  }
  return good;
}

static bool finish(struct packet *p, struct orr_place list) {
  uint32_t bytes = (p->bits + 7) / 8;
  if (p->count == 0)
    return complain(p, list, "a packet has at least one field");
  if (p->out->bytes && p->out->bytes < bytes) {
    orr_read_error(p->d->reader, list, "layout", "the fields take %u bytes, and 'bytes' says %u", bytes - p->out->head,
                   p->out->bytes - p->out->head);
    return false;
  }
  p->out->bytes = p->out->bytes ? p->out->bytes : bytes;
  for (int i = 0; i < p->entry_count; i++) {
    enum orr_field_kind kind = p->entries[i].draft.field.kind;
    if ((kind == ORR_FIELD_LENGTH || kind == ORR_FIELD_CHECKSUM) && !read_over(p, &p->entries[i]))
      return false;
  }
  return judge_overlap(p);
}

/* What stands before the fields. */
static void put_head(struct packet *p) {
  const struct orr_run_telegram *t = p->out;
  if (t->head == 0)
    return;
  struct entry *e = &p->entries[p->entry_count++];
  *e = (struct entry){.draft.numbers = 1, .first = p->count, .count = 1};
  e->draft.field =
      (struct orr_run_field){.kind = ORR_FIELD_CONSTANT, .width = 8 * (int)t->head, .by = -1, .set = -1, .raw = t->id};
  p->fields[p->count++] = e->draft.field;
  p->bit = p->bits = 8 * t->head;
  p->out->bytes += t->bytes ? t->head : 0;
}

bool orr_run_read_fields(struct orr_run_draft *d, struct orr_place list, const struct orr_run_link *link, bool little,
                         struct orr_run_telegram *out) {
  struct packet p = {.d = d,
                     .link = link,
                     .out = out,
                     .little = little,
                     .bits_little = little,
                     .fields = calloc(MOST, sizeof *p.fields),
                     .entries = calloc(MOST, sizeof *p.entries),
                     .by = -1,
                     .set = -1};
  if (!p.fields || !p.entries)
    abort();
  put_head(&p);
  bool good = read_list(&p, list) && finish(&p, list);
  if (good) {
    struct orr_run_field *kept = orr_arena_alloc(d->reader->arena, (size_t)p.count, sizeof *kept);
    memcpy(kept, p.fields, (size_t)p.count * sizeof *kept);
    out->fields = kept;
    out->count = p.count;
  }
  free(p.fields);
  free(p.entries);
  return good;
}
