/* An entry of `fields` of a packet in `layout`: its keys, and what they mean together. */
#include "io/config/run/run_field.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/run/run_mappings.h"
#include "io/config/text/unit.h"

struct field_keys {
  const char *name, *channel, *constant, *fill, *type, *nan, *start, *modulo, *poly, *init, *xorout;
  struct orr_place sets, by, lsb, offset, states, over;
  int counter, time, length, checksum, byte_order;
  int64_t at, bit, zeros;
  bool reflect_in, reflect_out;
};

enum {
  NAME,
  CHANNEL, /* a field has one of these … */
  CONSTANT,
  FILL,
  COUNTER,
  TIME,
  LENGTH,
  CHECKSUM,
  SETS, /* … up to here */
  TYPE,
  ORDER,
  AT,
  BIT,
  LSB,
  OFFSET,
  STATES,
  NAN_RAW,
  START,
  MODULO,
  OVER,
  POLY,
  INIT,
  REFLECT_IN,
  REFLECT_OUT,
  XOROUT,
  ZEROS,
  BY,
  FIELD_KEYS
};

static const char *const counters[] = {"frames", "packets", NULL}, *const times[] = {"run", NULL},
                         *const lengths[] = {"bytes", NULL},
                         *const sums[] = {"xor", "sum", "twos_complement", "ones_complement", "crc", NULL};
static const struct orr_range at_range = {0, ORR_TELEGRAM_BYTES_MAX - 1, false}, bit_range = {0, 7, false},
                              zeros_range = {0, 64, false};

#define TEXT(field)  .type = ORR_KEY_TEXT, .offset = offsetof(struct field_keys, field)
#define PLACE(field) .type = ORR_KEY_PLACE, .offset = offsetof(struct field_keys, field)
#define WORDS(field, list)                                                                                             \
  .type = ORR_KEY_CHOICE, .choices = (list), .absent = "the field is something else",                                  \
  .offset = offsetof(struct field_keys, field)

static const struct orr_key field_table[FIELD_KEYS] = {
    [NAME] = {.name = "name", .doc = "for `over` and `by` of other fields", .absent = "it has none", TEXT(name)},
    [CHANNEL] = {.name = "channel",
                 .doc =
                     "a channel of the link, or one number of it; of several numbers each is a field, one behind the "
                     "other",
                 .absent = "the field is something else",
                 TEXT(channel)},
    [CONSTANT] = {.name = "constant",
                  .doc =
                      "a number, 0x for hexadecimal: a sync word, an identifier; a packet that comes with another is "
                      "not this one",
                  .absent = "the field is something else",
                  TEXT(constant)},
    [FILL] = {.name = "fill",
              .doc = "a number that is sent, and not looked at when it comes",
              .absent = "the field is something else",
              TEXT(fill)},
    [COUNTER] = {.name = "counter",
                 .doc = "counts the link's frames, or packets of its kind that went out; it wraps",
                 WORDS(counter, counters)},
    [TIME] = {.name = "time", .doc = "simulated time of the frame in counts of `lsb`; it wraps", WORDS(time, times)},
    [LENGTH] = {.name = "length", .doc = "how many bytes are in `over`, with `offset` added", WORDS(length, lengths)},
    [CHECKSUM] = {.name = "checksum",
                  .doc =
                      "of the bytes in `over`, its own bits taken as 0: all XORed, added, what makes their sum 0, the "
                      "sum inverted, or a CRC",
                  WORDS(checksum, sums)},
    [SETS] = {.name = "sets",
              .doc = "a list of lists of fields that stand here by turns; the counter named by `by` says which",
              .absent = "the field is something else",
              .shape = ORR_LIST(ORR_LIST(ORR_MAPPING(orr_field_mapping))),
              PLACE(sets)},
    [TYPE] = {.name = "type",
              .doc =
                  "u (unsigned), i (signed, two's complement) or f (IEEE 754) and its bits: u1 to u64, i1 to i64, f32, "
                  "f64",
              .absent = "for `sets` alone, which has none",
              TEXT(type)},
    [ORDER] = {.name = "byte_order",
               .doc = "of this field",
               .type = ORR_KEY_CHOICE,
               .choices = orr_byte_orders,
               .absent = "that of the packet",
               .offset = offsetof(struct field_keys, byte_order)},
    [AT] = {.name = "at",
            .doc = "its first byte, from 0",
            .type = ORR_KEY_WHOLE,
            .range = &at_range,
            .absent = "behind the field before",
            .offset = offsetof(struct field_keys, at)},
    [BIT] = {.name = "bit",
             .doc =
                 "its first bit in that byte: big-endian 0 is the highest, and the field's highest bit stands there; "
                 "little-endian 0 is the lowest, and its lowest bit",
             .type = ORR_KEY_WHOLE,
             .range = &bit_range,
             .fallback = "0",
             .offset = offsetof(struct field_keys, bit)},
    [LSB] = {.name = "lsb",
             .doc = "what one count is, such as 0.001 deg/s; of floats what 1.0 is; of `time` at least 2^-32 s",
             .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
             .absent = "one of the channel's SI unit; `time` must say it",
             PLACE(lsb)},
    [OFFSET] = {.name = "offset",
                .doc = "what a raw 0 is; of `time` a time that is added to it, of `length` bytes",
                .shape = ORR_NUMBER(ORR_UNIT_OF_CHANNEL),
                .absent = "0",
                PLACE(offset)},
    [STATES] = {.name = "states",
                .doc =
                    "for flags and states: names of values of the channel, each with the value and its number in the "
                    "packet; what is none of them is sent as the first, and refused when it comes",
                .shape = ORR_NAMED("state", ORR_NUMBERS(2, "")),
                .absent = "the value is a number",
                PLACE(states)},
    [NAN_RAW] = {.name = "nan",
                 .doc = "what whole numbers send for a value that is none (NaN)",
                 .fallback = "0",
                 TEXT(nan)},
    [START] = {.name = "start", .doc = "of a counter: its first number", .fallback = "0", TEXT(start)},
    [MODULO] = {.name = "modulo",
                .doc = "of a counter: it is less than that",
                .absent = "as many as its bits hold, or as there are `sets`",
                TEXT(modulo)},
    [OVER] = {.name = "over",
              .doc = "the first and the last of these bytes: numbers from 0, names of fields, or `end`",
              .shape = ORR_PAIR(ORR_TEXT("a byte or a field"), ORR_TEXT("a byte, a field or end")),
              .absent = "of `length` the whole packet, of `checksum` all before it",
              PLACE(over)},
    [POLY] = {.name = "poly",
              .doc = "of a CRC: its polynomial without the highest power, highest bit first, such as 0x1021",
              .absent = "a CRC must say it",
              TEXT(poly)},
    [INIT] = {.name = "init", .doc = "of a CRC: what its register begins with", .fallback = "0", TEXT(init)},
    [REFLECT_IN] = {.name = "reflect_in",
                    .doc = "of a CRC: takes the lowest bit of each byte first",
                    .type = ORR_KEY_FLAG,
                    .fallback = "false",
                    .offset = offsetof(struct field_keys, reflect_in)},
    [REFLECT_OUT] = {.name = "reflect_out",
                     .doc = "of a CRC: the register is turned end to end",
                     .type = ORR_KEY_FLAG,
                     .fallback = "false",
                     .offset = offsetof(struct field_keys, reflect_out)},
    [XOROUT] = {.name = "xorout", .doc = "of a CRC: XORed at its end", .fallback = "0", TEXT(xorout)},
    [ZEROS] = {.name = "zeros",
               .doc = "of a checksum: so many bytes of 0 are taken behind its range, which are not sent",
               .type = ORR_KEY_WHOLE,
               .range = &zeros_range,
               .fallback = "0",
               .offset = offsetof(struct field_keys, zeros)},
    [BY] = {.name = "by",
            .doc = "with `sets`: the counter before them that says which of them stands here",
            .shape = ORR_TEXT("the name of a counter"),
            .absent = "right without `sets`",
            PLACE(by)},
};

const struct orr_mapping orr_field_mapping = {
    .name = "links.layout.fields",
    .doc = "A field of a packet: bits that hold a number of a channel, or one of the other things. It has one of "
           "`channel`, `constant`, `fill`, `counter`, `time`, `length`, `checksum` and `sets`. A raw number is "
           "(value - offset)/lsb, rounded to the nearest, ties to even; what its bits do not hold becomes the nearest "
           "that "
           "they do, and is counted in the summary.",
    ORR_KEYS(field_table)};

/* Which keys a kind takes beside those of all: from CHANNEL on. */
#define BIT_OF(key) (UINT64_C(1) << (key))
static const uint64_t everywhere = BIT_OF(NAME) | BIT_OF(TYPE) | BIT_OF(ORDER) | BIT_OF(AT) | BIT_OF(BIT);
static const uint64_t taken[] = {
    [CHANNEL] = BIT_OF(LSB) | BIT_OF(OFFSET) | BIT_OF(STATES) | BIT_OF(NAN_RAW),
    [COUNTER] = BIT_OF(START) | BIT_OF(MODULO),
    [TIME] = BIT_OF(LSB) | BIT_OF(OFFSET),
    [LENGTH] = BIT_OF(OVER) | BIT_OF(OFFSET),
    [CHECKSUM] = BIT_OF(OVER) | BIT_OF(POLY) | BIT_OF(INIT) | BIT_OF(REFLECT_IN) | BIT_OF(REFLECT_OUT) |
                 BIT_OF(XOROUT) | BIT_OF(ZEROS),
    [SETS] = BIT_OF(BY),
};

struct reading {
  struct orr_run_draft *d;
  const struct orr_thing *thing;
  const struct orr_run_link *link;
  bool command;
  const struct field_keys *keys;
  uint64_t present;
  struct orr_field_draft *out;
};

static struct orr_place at_key(const struct reading *r, int key) {
  return orr_read_member(r->d->reader, r->thing, field_table[key].name);
}

static bool complain(const struct reading *r, int key, const char *text) {
  orr_read_error(r->d->reader, key < 0 ? r->out->place : at_key(r, key), "layout", "%s", text);
  return false;
}

/* ---- numbers of bits --------------------------------------------------------------------------------------------- */

static uint64_t ones(int width) { return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1; }

/* A whole number that the field's bits hold: decimal or 0x…; with a sign where `sign` is, for a signed field. */
static bool parse_raw(const char *text, int width, bool sign, uint64_t *out) {
  bool minus = text[0] == '-';
  const char *digits = text + minus;
  char *end;
  if (digits[0] < '0' || digits[0] > '9')
    return false;
  errno = 0;
  unsigned long long number = strtoull(digits, &end, digits[0] == '0' && (digits[1] | 32) == 'x' ? 16 : 10);
  if (*end || errno || number > (minus ? UINT64_C(1) << (width - 1) : ones(width)) || (minus && !sign))
    return false;
  *out = (minus ? 0 - (uint64_t)number : (uint64_t)number) & ones(width);
  return true;
}

static bool read_raw(const struct reading *r, int key, const char *text, uint64_t *out) {
  const struct orr_run_field *f = &r->out->field;
  bool sign = f->number == ORR_FIELD_SIGNED && key != MODULO;
  if (parse_raw(text, f->width, sign, out))
    return true;
  orr_read_error(r->d->reader, at_key(r, key), "layout", "'%s' is a whole number of %d bits%s such as %s, not '%.40s'",
                 field_table[key].name, f->width, sign ? " with a sign," : "", f->width > 7 ? "0x5A or 90" : "1", text);
  return false;
}

/* u12, i24, f32 */
static bool read_type(const struct reading *r) {
  struct orr_run_field *f = &r->out->field;
  const char *text = r->keys->type;
  unsigned width = 0;
  if (!text)
    return complain(r, -1, "a field has a 'type' such as u16, i24, u1 or f32");
  size_t digits = strspn(text + (*text != 0), "0123456789");
  if (*text && digits > 0 && digits < 3 && !text[1 + digits] && text[1] != '0')
    width = (unsigned)strtoul(text + 1, NULL, 10);
  f->number = *text == 'f' ? ORR_FIELD_FLOAT : *text == 'i' ? ORR_FIELD_SIGNED : ORR_FIELD_UNSIGNED;
  f->width = (int)width;
  if ((*text == 'u' || *text == 'i') && width >= 1 && width <= 64)
    return true;
  if (*text == 'f' && (width == 32 || width == 64))
    return true;
  orr_read_error(r->d->reader, at_key(r, TYPE), "layout", "a 'type' is u1 to u64, i1 to i64, f32 or f64, not '%.40s'",
                 text);
  return false;
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

static bool is_of_link(const struct reading *r, int channel) {
  const int *all = r->command ? r->link->commands : r->link->telemetry;
  int count = r->command ? r->link->command_count : r->link->telemetry_count;
  for (int i = 0; i < count; i++)
    if (all[i] == channel)
      return true;
  const struct orr_channel *c = &r->d->run->table.channels[channel];
  if ((c->direction == ORR_CHANNEL_COMMAND) != r->command)
    orr_read_error(r->d->reader, at_key(r, CHANNEL), "layout", "'%.80s' is %s, and this packet is one of %s", c->name,
                   r->command ? "an output" : "a command", r->command ? "commands" : "telemetry");
  else
    orr_read_error(r->d->reader, at_key(r, CHANNEL), "layout", "'%.80s' is not in the link's '%s': name it there, too",
                   c->name, r->command ? "commands" : "telemetry");
  return false;
}

/* `off: [0, 0x55]`: a value of the channel, and its number in the packet. */
static bool read_state(const struct reading *r, struct orr_place key, struct orr_place value,
                       struct orr_field_state *out) {
  struct orr_diagnostics *all = r->d->reader->diagnostics;
  const char *raw;
  *out = (struct orr_field_state){.name = key.node->text};
  if (!orr_read_name(r->d->reader, key, "state") || !orr_expect_sequence(r->d->reader, value, "states"))
    return false;
  if (orr_place_count(value) != 2) {
    orr_read_error(r->d->reader, value, "layout",
                   "a state is the value of the channel and its number in the packet, such as [1, 0xAA]");
    return false;
  }
  if (!orr_read_number(r->d->reader, orr_place_item(all, value, 0), "states",
                       r->d->run->table.channels[r->out->field.channel].unit, NULL, &out->value) ||
      !orr_read_text(r->d->reader, orr_place_item(all, value, 1), "states", &raw))
    return false;
  if (parse_raw(raw, r->out->field.width, r->out->field.number == ORR_FIELD_SIGNED, &out->raw))
    return true;
  orr_read_error(r->d->reader, orr_place_item(all, value, 1), "layout", "a whole number of %d bits stands here",
                 r->out->field.width);
  return false;
}

static bool read_states(const struct reading *r) {
  struct orr_place place = r->keys->states;
  struct orr_run_field *f = &r->out->field;
  size_t n = orr_place_count(place);
  if (!orr_expect_mapping(r->d->reader, place, "states"))
    return false;
  if (n == 0 || n > ORR_FIELD_STATES_MAX || f->number == ORR_FIELD_FLOAT || r->present & (BIT_OF(LSB) | BIT_OF(OFFSET)))
    return complain(r, STATES, "'states' are 1 to 64, of a whole number without 'lsb' and 'offset'");
  struct orr_field_state *states = orr_arena_alloc(r->d->reader->arena, n, sizeof *states);
  for (size_t i = 0; i < n; i++) {
    struct orr_place value = orr_place_value(r->d->reader->diagnostics, place, i);
    if (!read_state(r, orr_place_key(r->d->reader->diagnostics, place, i), value, &states[i]))
      return false;
    for (size_t k = 0; k < i; k++)
      if (states[k].value == states[i].value || states[k].raw == states[i].raw) {
        orr_read_error(r->d->reader, value, "layout", "the state '%.60s' has this value or this number already",
                       states[k].name);
        return false;
      }
  }
  f->states = states;
  f->state_count = (int)n;
  return true;
}

static bool read_channel(const struct reading *r) {
  struct orr_run_field *f = &r->out->field;
  f->channel = orr_run_find_channel(r->d, at_key(r, CHANNEL), r->keys->channel, &f->element);
  if (f->channel < 0 || !is_of_link(r, f->channel))
    return false;
  const struct orr_channel *c = &r->d->run->table.channels[f->channel];
  f->channel_name = c->name;
  r->out->numbers = f->element < 0 ? c->count : 1;
  f->element = f->element < 0 ? 0 : f->element;
  f->lsb = 1;
  if (r->keys->lsb.node && !orr_read_number(r->d->reader, r->keys->lsb, "lsb", c->unit, NULL, &f->lsb))
    return false;
  if (f->lsb == 0)
    return complain(r, LSB, "an 'lsb' of 0 holds no number");
  f->lsb_text = r->keys->lsb.node ? r->keys->lsb.node->text : NULL;
  if (r->keys->offset.node && !orr_read_number(r->d->reader, r->keys->offset, "offset", c->unit, NULL, &f->offset))
    return false;
  return read_raw(r, NAN_RAW, r->keys->nan, &f->nan) && (!r->keys->states.node || read_states(r));
}

/* ---- what is no channel ------------------------------------------------------------------------------------------ */

static bool read_counter(const struct reading *r) {
  struct orr_run_field *f = &r->out->field;
  f->counts = r->keys->counter == 0 ? ORR_COUNTS_FRAMES : ORR_COUNTS_PACKETS;
  if (f->number == ORR_FIELD_FLOAT)
    return complain(r, TYPE, "a counter is a whole number");
  return read_raw(r, START, r->keys->start, &f->start) &&
         (!r->keys->modulo || read_raw(r, MODULO, r->keys->modulo, &f->modulo));
}

static bool read_run_time(const struct reading *r) {
  static const struct orr_range range = {0x1p-32, 1e9, false};
  struct orr_run_field *f = &r->out->field;
  double lsb;
  if (f->number == ORR_FIELD_FLOAT)
    return complain(r, TYPE, "a time is a whole number of counts");
  if (!r->keys->lsb.node)
    return complain(r, TIME, "a time says by 'lsb' what one count is, such as 1 ms");
  if (!orr_read_number(r->d->reader, r->keys->lsb, "lsb", "s", &range, &lsb))
    return false;
  f->lsb_ns = lsb * 1e9;
  if (fabs(f->lsb_ns - round(f->lsb_ns)) < 1e-9 * f->lsb_ns)
    f->lsb_ns = round(f->lsb_ns);
  f->lsb_text = r->keys->lsb.node->text;
  return !r->keys->offset.node || orr_read_time(r->d->reader, r->keys->offset, "offset", NULL, &f->offset_ns);
}

static bool read_length(const struct reading *r) {
  static const struct orr_range range = {-ORR_TELEGRAM_BYTES_MAX, ORR_TELEGRAM_BYTES_MAX, false};
  double plus = 0;
  if (r->out->field.number == ORR_FIELD_FLOAT)
    return complain(r, TYPE, "a length is a whole number");
  if (r->keys->offset.node && !orr_read_number(r->d->reader, r->keys->offset, "offset", "", &range, &plus))
    return false;
  r->out->plus = (int64_t)plus;
  return plus == floor(plus) || complain(r, OFFSET, "the 'offset' of a length is a whole number of bytes");
}

static bool read_checksum(const struct reading *r) {
  static const uint64_t of_crc =
      BIT_OF(POLY) | BIT_OF(INIT) | BIT_OF(REFLECT_IN) | BIT_OF(REFLECT_OUT) | BIT_OF(XOROUT);
  struct orr_run_field *f = &r->out->field;
  f->sum = (enum orr_field_sum)r->keys->checksum;
  f->zeros = (uint32_t)r->keys->zeros;
  if (f->number != ORR_FIELD_UNSIGNED)
    return complain(r, TYPE, "a checksum is an unsigned number: u8, u16, u32, …");
  if (f->sum == ORR_SUM_XOR && f->width != 8)
    return complain(r, TYPE, "the XOR of bytes is a u8");
  if (f->sum != ORR_SUM_CRC)
    return !(r->present & of_crc) || complain(r, CHECKSUM, "'poly' and the like are for 'checksum: crc'");
  if (!r->keys->poly)
    return complain(r, CHECKSUM, "a CRC has a 'poly', such as 0x1021");
  f->crc.reflect_in = r->keys->reflect_in;
  f->crc.reflect_out = r->keys->reflect_out;
  return read_raw(r, POLY, r->keys->poly, &f->crc.poly) && read_raw(r, INIT, r->keys->init, &f->crc.init) &&
         read_raw(r, XOROUT, r->keys->xorout, &f->crc.xorout);
}

static bool read_fixed(const struct reading *r, int key, const char *text) {
  if (r->out->field.number == ORR_FIELD_FLOAT)
    return complain(r, TYPE, "what is fixed is a whole number: u or i");
  return read_raw(r, key, text, &r->out->field.raw);
}

/* ---- one entry --------------------------------------------------------------------------------------------------- */

/* Which of the keys that say what it is; −1 after reporting that there is none, or another, too. */
static int judge_kind(const struct reading *r) {
  int kind = -1;
  for (int key = CHANNEL; key <= SETS; key++)
    if (r->present & BIT_OF(key)) {
      if (kind >= 0) {
        orr_read_error(r->d->reader, at_key(r, key), "layout", "a field is one thing, and this one is a '%s' already",
                       field_table[kind].name);
        return -1;
      }
      kind = key;
    }
  if (kind < 0) {
    complain(r, -1,
             "a field has one of 'channel', 'constant', 'fill', 'counter', 'time', 'length', 'checksum' and 'sets'");
    return -1;
  }
  uint64_t foreign = r->present & ~(everywhere | BIT_OF(kind) | taken[kind]);
  if (kind == SETS)
    foreign |= r->present & (BIT_OF(TYPE) | BIT_OF(ORDER));
  for (int key = 0; key < FIELD_KEYS; key++)
    if (foreign & BIT_OF(key)) {
      orr_read_error(r->d->reader, at_key(r, key), "layout", "'%s' means nothing for a '%s'", field_table[key].name,
                     field_table[kind].name);
      return -1;
    }
  return kind;
}

static bool read_kind(const struct reading *r, int kind) {
  static const enum orr_field_kind kinds[] = {
      [CHANNEL] = ORR_FIELD_CHANNEL,  [CONSTANT] = ORR_FIELD_CONSTANT, [FILL] = ORR_FIELD_FILL,
      [COUNTER] = ORR_FIELD_COUNTER,  [TIME] = ORR_FIELD_TIME,         [LENGTH] = ORR_FIELD_LENGTH,
      [CHECKSUM] = ORR_FIELD_CHECKSUM};
  r->out->field.kind = kinds[kind];
  switch (kind) {
  case CHANNEL:
    return read_channel(r);
  case CONSTANT:
    return read_fixed(r, CONSTANT, r->keys->constant);
  case FILL:
    return read_fixed(r, FILL, r->keys->fill);
  case COUNTER:
    return read_counter(r);
  case TIME:
    return read_run_time(r);
  case LENGTH:
    return read_length(r);
  default:
    return read_checksum(r);
  }
}

bool orr_run_read_field(struct orr_run_draft *d, struct orr_place place, const struct orr_run_link *link, bool command,
                        bool little, struct orr_field_draft *out) {
  struct field_keys keys = {0};
  uint64_t present;
  const struct orr_thing thing = {.what = "field", .place = place, .key = place};
  *out = (struct orr_field_draft){.field = {.by = -1, .set = -1}, .numbers = 1, .place = place};
  if (!orr_read_mapping(d->reader, &thing, &orr_field_mapping, &keys, &present))
    return false;
  const struct reading r = {
      .d = d, .thing = &thing, .link = link, .command = command, .keys = &keys, .present = present, .out = out};
  int kind = judge_kind(&r);
  if (kind < 0)
    return false;
  out->field.name = keys.name;
  out->field.little = present & BIT_OF(ORDER) ? keys.byte_order == 1 : little;
  out->placed = present & BIT_OF(AT);
  out->field.bit = (uint32_t)(8 * keys.at + keys.bit);
  out->over = keys.over;
  out->sets = keys.sets;
  out->by = keys.by;
  if (keys.name && !orr_read_name(d->reader, at_key(&r, NAME), "field"))
    return false;
  if (present & BIT_OF(BIT) && !out->placed)
    return complain(&r, BIT, "'bit' counts within the byte that 'at' names");
  if (kind != SETS)
    return read_type(&r) && read_kind(&r, kind);
  return keys.by.node || complain(&r, SETS, "'sets' has a 'by': the counter that says which of them stands here");
}
