/* Scripted commands of a run. */
#include <string.h>

#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"
#include "io/config/text/unit.h"

struct entry_keys {
  const char *channel;
  struct orr_place channel_place, value, ramp, sine, table;
  int64_t at;
};

struct ramp_keys {
  struct orr_place from, to;
  int64_t over;
};

static const struct orr_key ramp_table[] = {
    {.name = "from",
     .doc = "where it begins",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
     .offset = offsetof(struct ramp_keys, from)},
    {.name = "to",
     .doc = "where it ends, and stays",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
     .offset = offsetof(struct ramp_keys, to)},
    {.name = "over",
     .doc = "how long it takes",
     .type = ORR_KEY_TIME,
     .required = true,
     .range = &orr_range_positive,
     .offset = offsetof(struct ramp_keys, over)},
};

static const struct orr_mapping ramp_mapping = {.name = "commands.ramp",
                                                .doc = "A straight line: from + (to - from) (t - at)/over, then `to`.",
                                                ORR_KEYS(ramp_table)};

struct sine_keys {
  struct orr_place amplitude, offset;
  double frequency, phase;
};

static const struct orr_key sine_table[] = {
    {.name = "amplitude",
     .doc = "its amplitude",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
     .offset = offsetof(struct sine_keys, amplitude)},
    {.name = "frequency",
     .doc = "cycles in a second",
     .type = ORR_KEY_NUMBER,
     .required = true,
     .unit = "Hz",
     .range = &orr_range_not_negative,
     .offset = offsetof(struct sine_keys, frequency)},
    {.name = "phase",
     .doc = "where in the cycle it begins",
     .type = ORR_KEY_NUMBER,
     .unit = "rad",
     .fallback = "0",
     .offset = offsetof(struct sine_keys, phase)},
    {.name = "offset",
     .doc = "its mean",
     .type = ORR_KEY_PLACE,
     .absent = "0",
     .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
     .offset = offsetof(struct sine_keys, offset)},
};

static const struct orr_mapping sine_mapping = {.name = "commands.sine",
                                                .doc =
                                                    "A sine: offset + amplitude sin(2 pi frequency (t - at) + phase).",
                                                ORR_KEYS(sine_table)};

static const struct orr_key entry_table[] = {
    {.name = "channel",
     .doc = "the command, or one number of it (shake.force.x)",
     .type = ORR_KEY_PLACE,
     .required = true,
     .shape = ORR_TEXT("a channel"),
     .offset = offsetof(struct entry_keys, channel_place)},
    {.name = "at",
     .doc = "from when on; the first frame at or after it",
     .type = ORR_KEY_TIME,
     .range = &orr_range_not_negative,
     .fallback = "0",
     .offset = offsetof(struct entry_keys, at)},
    {.name = "value",
     .doc = "a step to this value, a list where the channel has several numbers",
     .type = ORR_KEY_PLACE,
     .absent = "another form stands",
     .shape = ORR_EITHER(ORR_NUMBER(ORR_UNIT_OF_CHANNEL), ORR_NUMBERS(0, ORR_UNIT_OF_CHANNEL)),
     .offset = offsetof(struct entry_keys, value)},
    {.name = "ramp",
     .doc = "a ramp",
     .type = ORR_KEY_PLACE,
     .absent = "another form stands",
     .shape = ORR_MAPPING(ramp_mapping),
     .offset = offsetof(struct entry_keys, ramp)},
    {.name = "sine",
     .doc = "a sine",
     .type = ORR_KEY_PLACE,
     .absent = "another form stands",
     .shape = ORR_MAPPING(sine_mapping),
     .offset = offsetof(struct entry_keys, sine)},
    {.name = "table",
     .doc = "rows [time, value]; times count from `at` and grow; linear between rows, the last one stays",
     .type = ORR_KEY_PLACE,
     .absent = "another form stands",
     .shape = ORR_LIST(ORR_PAIR(ORR_SHAPE(.kind = ORR_SHAPE_TIME), ORR_NUMBER(ORR_UNIT_OF_CHANNEL))),
     .offset = offsetof(struct entry_keys, table)},
};

const struct orr_mapping orr_command_mapping = {
    .name = "commands",
    .doc = "A scripted command: a channel, a moment, and one of the forms `value`, `ramp`, `sine` and `table`. It "
           "rules its channel until another entry takes it up; of two at the same moment the last in the file. All "
           "forms but `value` are of one number that is held; a command that is applied once for each time, such as a "
           "thruster's on_time, takes `value`.",
    ORR_KEYS(entry_table),
    .example = "commands:\n"
               "  - {channel: motor.torque, at: 1 s, value: 5 mN m}\n"
               "  - {channel: motor.torque, at: 2 s, ramp: {from: 5 mN m, to: 0, over: 500 ms}}\n"
               "  - {channel: shake.force.x, at: 1 s, sine: {amplitude: 0.1 N, frequency: 2 Hz}}\n"
               "  - {channel: shake.torque.z, at: 1 s, table: [[0 s, 0], [500 ms, 2 mN m], [1 s, 0]]}\n"
               "  - {channel: jet.on_time, at: 3 s, value: 20 ms}\n",
};

struct reading {
  struct orr_run_draft *d;
  const struct orr_channel *channel;
  struct orr_script_entry *out;
};

static struct orr_diagnostics *diagnostics(const struct reading *r) { return r->d->reader->diagnostics; }

static struct orr_range channel_range(const struct reading *r) {
  return (struct orr_range){r->channel->low, r->channel->high, false};
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

enum { MOST_TOLD = 12 };

void orr_run_no_channel(struct orr_run_draft *d, struct orr_place place, const char *pattern, int direction) {
  static const char *const kinds[] = {[ORR_CHANNEL_OUTPUT] = "output", [ORR_CHANNEL_COMMAND] = "command"};
  const char *kind = direction < 0 ? "channel" : kinds[direction];
  struct orr_nearest nearest = {.wanted = pattern};
  for (int i = 0; i < d->run->table.count && orr_read_may_suggest(d->reader); i++)
    if (direction < 0 || (int)d->run->table.channels[i].direction == direction)
      orr_nearest_offer(&nearest, d->run->table.channels[i].name);
  if (nearest.best)
    orr_read_error(d->reader, place, "unknown-channel", "no %s fits '%.80s', did you mean '%s'?", kind, pattern,
                   nearest.best);
  else
    orr_read_error(d->reader, place, "unknown-channel", "no %s fits '%.80s'; %s", kind, pattern,
                   orr_channels_in_place_of(d->reader->arena, &d->run->table, pattern, direction, MOST_TOLD));
}

int orr_run_find_channel(struct orr_run_draft *d, struct orr_place place, const char *name, int *element) {
  const struct orr_channel_table *table = &d->run->table;
  int index = d->blind ? -1 : orr_channel_find_element(table, name, element);
  if (index >= 0 || d->partial)
    return index;
  if (strchr(name, '*')) {
    orr_read_error(d->reader, place, "unknown-channel", "one channel stands here, and '%.80s' is a pattern", name);
    return -1;
  }
  struct orr_nearest nearest = {.wanted = name};
  for (int i = 0; i < table->count && orr_read_may_suggest(d->reader); i++)
    orr_nearest_offer(&nearest, table->channels[i].name);
  if (nearest.best)
    orr_read_error(d->reader, place, "unknown-channel", "there is no channel '%.80s', did you mean '%s'?", name,
                   nearest.best);
  else
    orr_read_error(d->reader, place, "unknown-channel", "there is no channel '%.80s'; %s", name,
                   orr_channels_in_place_of(d->reader->arena, table, name, -1, MOST_TOLD));
  return -1;
}

static void find_channel(struct reading *r, struct orr_place place) {
  const char *name;
  if (!place.node || !orr_read_text(r->d->reader, place, "channel", &name))
    return;
  r->out->channel = orr_run_find_channel(r->d, place, name, &r->out->element);
  if (r->out->channel < 0)
    return;
  r->channel = &r->d->run->table.channels[r->out->channel];
  if (r->channel->direction == ORR_CHANNEL_COMMAND)
    return;
  r->channel = NULL;
  orr_read_error(r->d->reader, place, "not-a-command", "'%.80s' is an output; only commands can be scripted", name);
}

/* ---- forms ------------------------------------------------------------------------------------------------------- */

static bool accepted(struct reading *r, struct orr_place place, double value) {
  if (orr_channel_accepts(r->channel, value))
    return true;
  orr_read_error(r->d->reader, place, "not-accepted", "'%.80s' takes %s, not '%.60s'", r->channel->name,
                 r->channel->type == ORR_CHANNEL_FLAG ? "0 or 1" : "a whole number", place.node->text);
  return false;
}

static bool read_step(struct reading *r, struct orr_place place) {
  int count = r->out->element >= 0 ? 1 : r->channel->count;
  struct orr_range range = channel_range(r);
  double *values = orr_arena_alloc(r->d->reader->arena, (size_t)count, sizeof *values);
  r->out->form = ORR_SCRIPT_STEP;
  r->out->values = values;
  bool list = place.node->kind == ORR_YAML_SEQUENCE;
  if (list ? orr_place_count(place) != (size_t)count : count > 1) {
    orr_read_error(r->d->reader, place, "wrong-length", "'%.80s' takes %d numbers", r->channel->name, count);
    return false;
  }
  for (int i = 0; i < count; i++) {
    struct orr_place item = list ? orr_place_item(diagnostics(r), place, (size_t)i) : place;
    if (!orr_read_number(r->d->reader, item, "value", r->channel->unit, &range, &values[i]) ||
        !accepted(r, item, values[i]))
      return false;
  }
  return true;
}

/* A number in the unit of the channel. */
static bool read_channel_number(struct reading *r, struct orr_place place, const char *name,
                                const struct orr_range *range, double *out) {
  return orr_read_number(r->d->reader, place, name, r->channel->unit, range, out);
}

static bool read_ramp(struct reading *r, struct orr_place place) {
  struct orr_range range = channel_range(r);
  struct ramp_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "a ramp", .place = place};
  r->out->form = ORR_SCRIPT_RAMP;
  bool good = orr_read_mapping(r->d->reader, &thing, &ramp_mapping, &keys, &present);
  good &= !keys.from.node || read_channel_number(r, keys.from, "from", &range, &r->out->from);
  good &= !keys.to.node || read_channel_number(r, keys.to, "to", &range, &r->out->to);
  r->out->over_ns = keys.over;
  return good;
}

static bool read_sine(struct reading *r, struct orr_place place) {
  struct sine_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "a sine", .place = place};
  r->out->form = ORR_SCRIPT_SINE;
  bool good = orr_read_mapping(r->d->reader, &thing, &sine_mapping, &keys, &present);
  good &= !keys.amplitude.node || read_channel_number(r, keys.amplitude, "amplitude", NULL, &r->out->amplitude);
  good &= !keys.offset.node || read_channel_number(r, keys.offset, "offset", NULL, &r->out->offset);
  r->out->frequency_hz = keys.frequency;
  r->out->phase_rad = keys.phase;
  return good;
}

static bool read_row(struct reading *r, struct orr_place row, int64_t *ns, double *value) {
  struct orr_range range = channel_range(r);
  struct orr_quantity q;
  if (row.node->kind != ORR_YAML_SEQUENCE || orr_place_count(row) != 2) {
    orr_read_error(r->d->reader, row, "wrong-length", "a row of a table is [time, value]");
    return false;
  }
  struct orr_place time = orr_place_item(diagnostics(r), row, 0);
  if (time.node->kind != ORR_YAML_SCALAR || orr_quantity_parse_time(time.node->text, &q) != ORR_QUANTITY_OK) {
    orr_read_error(r->d->reader, time, "wrong-type", "a row of a table begins with a time such as 5 ms");
    return false;
  }
  *ns = q.ns;
  return orr_read_number(r->d->reader, orr_place_item(diagnostics(r), row, 1), "value", r->channel->unit, &range,
                         value);
}

static bool read_table(struct reading *r, struct orr_place place) {
  if (!orr_expect_sequence(r->d->reader, place, "table"))
    return false;
  size_t n = orr_place_count(place);
  int64_t *ns = orr_arena_alloc(r->d->reader->arena, n, sizeof *ns);
  double *values = orr_arena_alloc(r->d->reader->arena, n, sizeof *values);
  for (size_t i = 0; i < n; i++) {
    struct orr_place row = orr_place_item(diagnostics(r), place, i);
    if (!read_row(r, row, &ns[i], &values[i]))
      return false;
    if (i > 0 && ns[i] <= ns[i - 1]) {
      orr_read_error(r->d->reader, row, "order", "the times of a table grow from row to row");
      return false;
    }
  }
  if (n == 0)
    orr_read_error(r->d->reader, place, "wrong-length", "a table has at least one row [time, value]");
  r->out->form = ORR_SCRIPT_TABLE;
  r->out->row_count = n;
  r->out->row_ns = ns;
  r->out->row_values = values;
  return n > 0;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static bool read_form(struct reading *r, const struct entry_keys *keys, struct orr_place place) {
  const struct orr_place forms[] = {keys->value, keys->ramp, keys->sine, keys->table};
  bool (*const readers[])(struct reading *, struct orr_place) = {read_step, read_ramp, read_sine, read_table};
  int found = -1, given = 0;
  for (int i = 0; i < 4; i++)
    if (forms[i].node) {
      found = i;
      given++;
    }
  if (given != 1) {
    orr_read_error(r->d->reader, place, "script", "a command takes one of 'value', 'ramp', 'sine' and 'table'");
    return false;
  }
  if (!r->channel)
    return false;
  bool one = r->out->element >= 0 || r->channel->count == 1;
  if (found > 0 && (!one || r->channel->hold == ORR_CHANNEL_PULSE || r->channel->type != ORR_CHANNEL_REAL)) {
    orr_read_error(r->d->reader, place, "script", "'%.80s' %s, so it takes only 'value'", r->channel->name,
                   one ? "is applied once for each command" : "has several numbers (name one, as in name.x)");
    return false;
  }
  return readers[found](r, forms[found]);
}

/* An entry ends where a later one takes up a number of the same channel; of two at the same time the last in the
 * file. */
static void end_entries(struct orr_script_entry *entries, size_t count) {
  for (size_t i = 0; i < count; i++) {
    entries[i].until_ns = INT64_MAX;
    for (size_t k = 0; k < count; k++) {
      const struct orr_script_entry *e = &entries[k];
      bool later = e->at_ns > entries[i].at_ns || (e->at_ns == entries[i].at_ns && k > i);
      bool same = e->channel == entries[i].channel &&
                  (e->element < 0 || entries[i].element < 0 || e->element == entries[i].element);
      if (later && same && e->at_ns < entries[i].until_ns)
        entries[i].until_ns = e->at_ns;
    }
  }
}

void orr_run_read_script(struct orr_run_draft *d) {
  struct orr_place list = orr_config_section(d->config, ORR_SECTION_COMMANDS);
  if (!list.node || !orr_expect_sequence(d->reader, list, "commands"))
    return;
  size_t n = orr_place_count(list), good = 0;
  struct orr_script_entry *entries = orr_arena_alloc(d->reader->arena, n, sizeof *entries);
  for (size_t i = 0; i < n; i++) {
    struct orr_place place = orr_place_item(d->reader->diagnostics, list, i);
    struct reading r = {.d = d, .out = &entries[good]};
    struct entry_keys keys = {0};
    uint64_t present;
    const struct orr_thing thing = {.what = "a command", .place = place};
    *r.out = (struct orr_script_entry){0};
    bool right = orr_read_mapping(d->reader, &thing, &orr_command_mapping, &keys, &present);
    bool formed = keys.value.node || keys.ramp.node || keys.sine.node || keys.table.node;
    r.out->at_ns = keys.at;
    find_channel(&r, keys.channel_place);
    if (right || formed)
      right = read_form(&r, &keys, place) && right;
    good += right;
  }
  end_entries(entries, good);
  d->run->script = entries;
  d->run->script_count = good;
}
