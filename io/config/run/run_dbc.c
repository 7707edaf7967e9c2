/* `dbc` of a link on CAN: the frames of a CAN database become its layout. A message that has the signal of a channel is
 * a packet, the others are not looked at. */
#include <stdio.h>
#include <string.h>

#include "io/config/run/dbc.h"
#include "io/config/run/run_draft.h"
#include "io/config/text/unit.h"

enum { NAME = 200, MOST_NUMBERS = ORR_TELEGRAMS_MAX * 8 * ORR_RUN_CAN_FD_DATA };

/* A number of a channel of the link, and its signal. */
struct pair {
  int channel, element;
  bool command;
  struct orr_place place;
  const struct orr_dbc_message *message; /* NULL: none is known yet */
  const struct orr_dbc_signal *signal;
};

struct reading {
  struct orr_run_draft *d;
  const struct orr_thing *link;
  const struct orr_run_can_keys *keys;
  struct orr_run_link *out;
  struct orr_dbc dbc;
  struct pair *pairs;
  size_t count;
};

static const struct orr_channel *channel_of(const struct reading *r, const struct pair *p) {
  return &r->d->run->table.channels[p->channel];
}

void orr_run_signal_name(const struct orr_channel *c, int element, char *text, size_t size) {
  char name[NAME], last[24];
  size_t used = 0;
  snprintf(last, sizeof last, "%d", element);
  snprintf(name, sizeof name, c->count == 1 ? "%s" : "%s_%s", c->name, c->elements ? c->elements[element] : last);
  for (const char *p = name; *p && used + 1 < size; p++) {
    bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
    if (letter || (used > 0 && text[used - 1] != '_' && p[1]))
      text[used++] = letter ? *p : '_';
  }
  text[used] = 0;
}

/* ---- which signal is whose --------------------------------------------------------------------------------------- */

static void list_numbers(struct reading *r, const int *channels, int count, bool command) {
  for (int i = 0; i < count; i++)
    for (int k = 0; k < r->d->run->table.channels[channels[i]].count; k++)
      r->pairs[r->count++] =
          (struct pair){.channel = channels[i], .element = k, .command = command, .place = r->link->key};
}

static bool complain(const struct reading *r, struct orr_place place, const char *what, const char *name) {
  orr_read_error(r->d->reader, place, "dbc", "%s: '%.100s'", what, name);
  return false;
}

/* `MESSAGE.SIGNAL` or `SIGNAL`, which one message has. */
static bool find_signal(const struct reading *r, struct orr_place place, const char *text, struct pair *out) {
  const char *dot = strchr(text, '.'), *name = dot ? dot + 1 : text;
  for (size_t i = 0; i < r->dbc.message_count; i++) {
    const struct orr_dbc_message *m = &r->dbc.messages[i];
    if (dot && (strlen(m->name) != (size_t)(dot - text) || strncmp(m->name, text, (size_t)(dot - text)) != 0))
      continue;
    for (size_t k = 0; k < m->signal_count; k++) {
      if (strcmp(m->signals[k].name, name) != 0)
        continue;
      if (out->message)
        return complain(r, place, "several messages have that signal; say by 'signals' which, as MESSAGE.SIGNAL", name);
      out->message = m;
      out->signal = &m->signals[k];
    }
  }
  return out->message ||
         complain(r, place, "no message of the file has that signal; 'signals' gives a channel another one", text);
}

static struct pair *find_pair(const struct reading *r, int channel, int element) {
  for (size_t i = 0; i < r->count; i++)
    if (r->pairs[i].channel == channel && r->pairs[i].element == element)
      return &r->pairs[i];
  return NULL;
}

/* `signals: {gyro.rate.x: Rates.x}` */
static bool read_signals(struct reading *r) {
  struct orr_place list = r->keys->signals;
  if (!list.node)
    return true;
  if (!orr_expect_mapping(r->d->reader, list, "signals"))
    return false;
  for (size_t i = 0; i < orr_place_count(list); i++) {
    struct orr_place key = orr_place_key(r->d->reader->diagnostics, list, i),
                     value = orr_place_value(r->d->reader->diagnostics, list, i);
    const char *signal;
    int element, channel = orr_run_find_channel(r->d, key, key.node->text, &element);
    if (channel < 0 || !orr_read_text(r->d->reader, value, "signals", &signal))
      return false;
    bool one = element >= 0 || r->d->run->table.channels[channel].count == 1;
    struct pair *p = one ? find_pair(r, channel, element < 0 ? 0 : element) : NULL;
    if (!p)
      return complain(r, key, "a signal is of one number of a channel that the link names, such as gyro.rate.x",
                      key.node->text);
    if (!find_signal(r, value, signal, p))
      return false;
    p->place = value;
  }
  return true;
}

static bool find_others(struct reading *r) {
  bool good = true;
  for (size_t i = 0; i < r->count; i++) {
    char name[NAME];
    if (r->pairs[i].message)
      continue;
    orr_run_signal_name(channel_of(r, &r->pairs[i]), r->pairs[i].element, name, sizeof name);
    good = find_signal(r, r->pairs[i].place, name, &r->pairs[i]) && good;
  }
  return good;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

/* What the file's unit is: SI where it is not said. */
static bool read_unit(const struct reading *r, const struct pair *p, struct orr_unit *theirs) {
  const struct orr_channel *c = channel_of(r, p);
  struct orr_unit ours;
  const char *at;
  *theirs = (struct orr_unit){1, 1, {0}};
  if (!*p->signal->unit || orr_unit_parse(c->unit, &ours, &at) != ORR_QUANTITY_OK)
    return true;
  if (orr_unit_parse(p->signal->unit, theirs, &at) != ORR_QUANTITY_OK) {
    orr_read_warning(r->d->reader, p->place, "dbc",
                     "the unit '%.40s' of '%.80s' is not known: its numbers are taken as %s", p->signal->unit,
                     p->signal->name, *c->unit ? c->unit : "plain ones");
    *theirs = (struct orr_unit){1, 1, {0}};
    return true;
  }
  if (memcmp(theirs->dimension, ours.dimension, sizeof ours.dimension) != 0) {
    orr_read_error(r->d->reader, p->place, "dbc", "'%.80s' is in '%.40s', and '%.80s' in '%.40s'", p->signal->name,
                   p->signal->unit, c->name, c->unit);
    return false;
  }
  return true;
}

static bool make_field(const struct reading *r, const struct pair *p, struct orr_run_field *f) {
  const struct orr_dbc_signal *s = p->signal;
  const struct orr_channel *c = channel_of(r, p);
  struct orr_unit unit;
  if (s->by_turns)
    return complain(r, p->place, "signals that stand by turns (multiplexed) have no channels yet", s->name);
  if (!read_unit(r, p, &unit))
    return false;
  *f = (struct orr_run_field){.kind = ORR_FIELD_CHANNEL,
                              .name = s->name,
                              .number = s->number,
                              .width = s->width,
                              .little = s->little,
                              .bit = 8 * ORR_RUN_CAN_HEAD + s->bit,
                              .by = -1,
                              .set = -1,
                              .channel = p->channel,
                              .element = p->element,
                              .channel_name = c->name,
                              .lsb = s->factor * unit.numerator / unit.denominator,
                              .offset = s->offset * unit.numerator / unit.denominator};
  f->lsb_text = orr_arena_format(r->d->reader->arena, "%.9g%s%s", s->factor, *s->unit ? " " : "", s->unit);
  return true;
}

/* A bit of a frame is one channel's. */
static bool take_bits(const struct reading *r, const struct pair *p, const struct orr_run_field *f, uint8_t *map) {
  for (int i = 0; i < f->width; i++) {
    uint32_t at = f->bit - 8 * ORR_RUN_CAN_HEAD + (uint32_t)i;
    uint8_t bit = (uint8_t)(1 << (f->little ? at % 8 : 7 - at % 8));
    if (map[at / 8] & bit)
      return complain(r, p->place, "this signal stands on bits of another", p->signal->name);
    map[at / 8] |= bit;
  }
  return true;
}

/* The packet of a message: which of the pairs are of it. */
static bool make_packet(const struct reading *r, const struct orr_dbc_message *m, struct orr_run_telegram *out) {
  uint8_t map[ORR_RUN_CAN_FD_DATA] = {0};
  struct orr_run_field *fields = orr_arena_alloc(r->d->reader->arena, r->count + 1, sizeof *fields);
  int n = 0;
  *out = (struct orr_run_telegram){.name = m->name,
                                   .id = m->id,
                                   .head = ORR_RUN_CAN_HEAD,
                                   .every = 1,
                                   .request = -1,
                                   .bytes = ORR_RUN_CAN_HEAD + m->bytes,
                                   .fields = fields};
  fields[n++] = (struct orr_run_field){
      .kind = ORR_FIELD_CONSTANT, .width = 8 * ORR_RUN_CAN_HEAD, .by = -1, .set = -1, .raw = m->id};
  for (size_t i = 0; i < r->count; i++) {
    const struct pair *p = &r->pairs[i];
    if (p->message != m)
      continue;
    if (n > 1 && out->command != p->command)
      return complain(r, p->place, "one message has signals of telemetry and of commands, and one node sends it",
                      m->name);
    out->command = p->command;
    if (!make_field(r, p, &fields[n]) || !take_bits(r, p, &fields[n], map))
      return false;
    n++;
  }
  out->count = n;
  if (n == 1 || orr_run_can_room(m->bytes, r->out->can_fd) == m->bytes)
    return true;
  orr_read_error(r->d->reader, r->link->key, "dbc", "'%.100s' has %lu bytes, and a frame of CAN%s none such%s", m->name,
                 (unsigned long)m->bytes, r->out->can_fd ? " FD" : "", r->out->can_fd ? "" : ": say 'fd: on'");
  return false;
}

/* The frame that ends an answer: the one that is named, or that of the lowest priority, which comes last on a bus. */
static bool find_answer(const struct reading *r, struct orr_run_telegram *all, int count) {
  int last = -1;
  for (int i = 0; i < count; i++)
    if (all[i].command &&
        (r->keys->answers ? strcmp(all[i].name, r->keys->answers) == 0 : last < 0 || all[i].id > all[last].id))
      last = i;
  if (last >= 0)
    all[last].answers = true;
  return last >= 0 || !r->keys->answers ||
         complain(r, orr_read_member(r->d->reader, r->link, "answers"), "no message with a command has that name",
                  r->keys->answers);
}

static bool make_layout(struct reading *r) {
  struct orr_run_telegram *all = orr_arena_alloc(r->d->reader->arena, ORR_TELEGRAMS_MAX, sizeof *all);
  struct orr_run_layout *layout = orr_arena_alloc(r->d->reader->arena, 1, sizeof *layout);
  int n = 0;
  for (size_t i = 0; i < r->dbc.message_count; i++) {
    struct orr_run_telegram one;
    if (!make_packet(r, &r->dbc.messages[i], &one))
      return false;
    if (one.count == 1)
      continue;
    if (n == ORR_TELEGRAMS_MAX) {
      orr_read_error(r->d->reader, r->link->key, "dbc", "the channels of a link are in at most %d messages",
                     ORR_TELEGRAMS_MAX);
      return false;
    }
    all[n++] = one;
  }
  *layout = (struct orr_run_layout){.count = n, .telegrams = all};
  r->out->layout = layout;
  return find_answer(r, all, n);
}

static bool read_file(struct reading *r) {
  struct orr_place place = orr_read_member(r->d->reader, r->link, "dbc");
  struct orr_table_problem problem;
  struct orr_text text;
  if (!orr_config_text(r->d->config, r->keys->dbc, orr_place_source(r->d->reader->diagnostics, place), &text.bytes,
                       &text.length))
    return false;
  if (orr_dbc_read(text, r->d->reader->arena, &r->dbc, &problem))
    return true;
  char line[40] = "";
  if (problem.line)
    snprintf(line, sizeof line, ", line %zu", problem.line);
  orr_read_error(r->d->reader, place, "dbc", "%.100s%s: %s", r->keys->dbc, line, problem.text);
  return false;
}

bool orr_run_read_dbc(struct orr_run_draft *d, const struct orr_thing *link, const struct orr_run_can_keys *keys,
                      struct orr_run_link *out) {
  struct reading r = {.d = d, .link = link, .keys = keys, .out = out};
  const struct orr_channel_table *table = &d->run->table;
  int numbers = orr_run_payload(table, out->telemetry, out->telemetry_count).numbers +
                orr_run_payload(table, out->commands, out->command_count).numbers;
  if (numbers == 0 || numbers > MOST_NUMBERS) {
    orr_read_error(d->reader, link->key, "dbc", "a link on CAN has 1 to %d numbers, and this one %d", MOST_NUMBERS,
                   numbers);
    return false;
  }
  r.pairs = orr_arena_alloc(d->reader->arena, (size_t)numbers, sizeof *r.pairs);
  list_numbers(&r, out->telemetry, out->telemetry_count, false);
  list_numbers(&r, out->commands, out->command_count, true);
  return read_file(&r) && read_signals(&r) && find_others(&r) && make_layout(&r);
}
