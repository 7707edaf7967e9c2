#include "io/links/forms/telegram.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- bits -------------------------------------------------------------------------------------------------------- */

static uint64_t ones(int width) { return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1; }

/* The bits of a byte that a field takes from its bit `at` on, at most `left`: how many, and from which up. */
static int piece(const struct orr_run_field *f, uint32_t at, int left, int *shift) {
  int begin = (int)(at % 8), n = 8 - begin < left ? 8 - begin : left;
  *shift = f->little ? begin : 8 - begin - n;
  return n;
}

uint64_t orr_field_get(const struct orr_run_field *f, const uint8_t *bytes) {
  uint64_t raw = 0;
  for (int done = 0, n; done < f->width; done += n) {
    int shift;
    uint32_t at = f->bit + (uint32_t)done;
    n = piece(f, at, f->width - done, &shift);
    uint64_t bits = (uint64_t)bytes[at / 8] >> shift & ones(n);
    raw = f->little ? raw | bits << done : raw << n | bits;
  }
  return raw;
}

void orr_field_put(const struct orr_run_field *f, uint8_t *bytes, uint64_t raw) {
  for (int done = 0, n; done < f->width; done += n) {
    int shift;
    uint32_t at = f->bit + (uint32_t)done;
    n = piece(f, at, f->width - done, &shift);
    uint64_t mask = ones(n), bits = raw >> (f->little ? done : f->width - done - n) & mask;
    bytes[at / 8] = (uint8_t)((bytes[at / 8] & ~(mask << shift)) | bits << shift);
  }
}

/* ---- checksums --------------------------------------------------------------------------------------------------- */

/* The byte without the field's own bits. */
static uint8_t byte_without(const struct orr_run_field *f, const uint8_t *bytes, uint32_t at) {
  uint32_t first = f->bit / 8, last = (f->bit + (uint32_t)f->width - 1) / 8;
  if (at < first || at > last)
    return bytes[at];
  uint32_t begin = at == first ? f->bit : at * 8;
  int shift, n = piece(f, begin, (int)(f->bit + (uint32_t)f->width - begin), &shift);
  return (uint8_t)(bytes[at] & ~(ones(n) << shift));
}

static uint64_t reflected(uint64_t raw, int width) {
  uint64_t out = 0;
  for (int i = 0; i < width; i++)
    out |= (raw >> i & 1) << (width - 1 - i);
  return out;
}

/* The remainder of the message times x^width by the polynomial, bit by bit, its highest first (Williams, "A painless
 * guide to CRC error detection algorithms"). */
static uint64_t crc_byte(const struct orr_run_field *f, uint64_t crc, uint8_t byte) {
  uint64_t bits = f->crc.reflect_in ? reflected(byte, 8) : byte;
  for (int i = 7; i >= 0; i--) {
    uint64_t out = (crc >> (f->width - 1) & 1) ^ (bits >> i & 1);
    crc = (crc << 1 & ones(f->width)) ^ (out ? f->crc.poly : 0);
  }
  return crc;
}

uint64_t orr_field_checksum(const struct orr_run_field *f, const uint8_t *bytes) {
  uint64_t sum = f->sum == ORR_SUM_CRC ? f->crc.init : 0;
  for (uint32_t at = f->from; at < f->to + f->zeros; at++) {
    uint8_t byte = at < f->to ? byte_without(f, bytes, at) : 0;
    sum = f->sum == ORR_SUM_CRC ? crc_byte(f, sum, byte) : f->sum == ORR_SUM_XOR ? sum ^ byte : sum + byte;
  }
  switch (f->sum) {
  case ORR_SUM_TWOS:
    sum = 0 - sum;
    break;
  case ORR_SUM_ONES:
    sum = ~sum;
    break;
  case ORR_SUM_CRC:
    sum = (f->crc.reflect_out ? reflected(sum, f->width) : sum) ^ f->crc.xorout;
    break;
  default:
    break;
  }
  return sum & ones(f->width);
}

/* ---- set up ------------------------------------------------------------------------------------------------------ */

/* By name: a plant has a table of its own. */
static void find_entry(const struct orr_layout_side *side, const struct orr_run_field *f, struct orr_telegram_op *op) {
  for (int i = 0; i < side->count; i++)
    if (strcmp(side->entries[i].channel->name, f->channel_name) == 0) {
      const struct orr_channel *c = side->entries[i].channel;
      op->channel = c;
      op->at = side->entries[i].at + orr_wire_number_bytes(c->type) * (uint32_t)f->element;
    }
}

static void fill(struct orr_telegrams *t, struct orr_telegram *out, const struct orr_run_telegram *desc) {
  int n = 0;
  out->desc = desc;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < desc->count; i++) {
      const struct orr_run_field *f = &desc->fields[i];
      if ((f->kind == ORR_FIELD_CHECKSUM) != (pass == 1))
        continue;
      out->ops[n] = (struct orr_telegram_op){.field = f};
      if (f->kind == ORR_FIELD_CHANNEL)
        find_entry(desc->command ? &t->layout->commands : &t->layout->telemetry, f, &out->ops[n]);
      n++;
    }
}

void orr_telegrams_init(struct orr_telegrams *t, const struct orr_run_layout *desc, const struct orr_layout *layout,
                        struct orr_block *block) {
  struct orr_telegram *all = ORR_TAKE(block, struct orr_telegram, desc->count);
  if (block->base)
    *t = (struct orr_telegrams){.desc = desc, .layout = layout, .all = all};
  for (int i = 0; i < desc->count; i++) {
    struct orr_telegram_op *ops = ORR_TAKE(block, struct orr_telegram_op, desc->telegrams[i].count);
    if (!block->base)
      continue;
    all[i].ops = ops;
    fill(t, &all[i], &desc->telegrams[i]);
  }
}

/* ---- write ------------------------------------------------------------------------------------------------------- */

bool orr_telegram_is_due(const struct orr_run_telegram *d, uint64_t number) {
  return !d->command && d->request < 0 && number % (uint64_t)d->every == (uint64_t)d->phase;
}

/* Whether a field stands in this telegram, by the counter of its sets. */
static bool stands(const struct orr_telegram *t, const struct orr_run_field *f, const uint8_t *bytes) {
  return f->by < 0 || orr_field_get(&t->desc->fields[f->by], bytes) == (uint64_t)f->set;
}

static double native_number(const struct orr_telegram_op *op, const uint64_t *payload) {
  const unsigned char *from = (const unsigned char *)payload + op->at;
  double real;
  int64_t whole;
  switch (op->channel->type) {
  case ORR_CHANNEL_REAL:
    memcpy(&real, from, sizeof real);
    return real;
  case ORR_CHANNEL_WHOLE:
    memcpy(&whole, from, sizeof whole);
    return (double)whole;
  default:
    return *from;
  }
}

static uint64_t float_raw(int width, double x, bool *fits) {
  double most = width == 32 ? (double)FLT_MAX : DBL_MAX;
  *fits = !(fabs(x) > most);
  if (!*fits)
    x = copysign(most, x);
  uint64_t raw = 0;
  if (width == 32) {
    float single = (float)x;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    raw = bits;
  } else
    memcpy(&raw, &x, sizeof raw);
  return raw;
}

/* The nearest whole number of so many bits. */
static uint64_t whole_raw(const struct orr_run_field *f, double x, bool *fits) {
  bool has_sign = f->number == ORR_FIELD_SIGNED;
  double above = ldexp(1, f->width - has_sign), below = has_sign ? -above : 0;
  *fits = false;
  if (isnan(x))
    return f->nan & ones(f->width);
  x = rint(x);
  if (x >= above)
    return ones(f->width - has_sign);
  if (x < below)
    return has_sign ? UINT64_C(1) << (f->width - 1) : 0;
  *fits = true;
  return (x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x) & ones(f->width);
}

static uint64_t channel_raw(const struct orr_run_field *f, double value, bool *fits) {
  for (int i = 0; i < f->state_count; i++)
    if (f->states[i].value == value) {
      *fits = true;
      return f->states[i].raw;
    }
  *fits = false;
  if (f->state_count)
    return f->states[0].raw;
  double x = (value - f->offset) / f->lsb;
  return f->number == ORR_FIELD_FLOAT ? float_raw(f->width, x, fits) : whole_raw(f, x, fits);
}

/* Counts that are over, whatever the bits hold: they wrap. */
static uint64_t time_raw(const struct orr_run_field *f, int64_t time_ns) {
  double counts = floor(((double)time_ns + (double)f->offset_ns) / f->lsb_ns), all = ldexp(1, f->width);
  double left = counts - all * floor(counts / all);
  return left < all ? (uint64_t)left : 0;
}

static uint64_t counter_raw(const struct orr_run_field *f, const struct orr_telegram_moment *m) {
  uint64_t n = f->start + (f->counts == ORR_COUNTS_FRAMES ? m->number : m->sent);
  return f->modulo ? n % f->modulo : n;
}

size_t orr_telegram_write(const struct orr_telegrams *telegrams, int which, const struct orr_telegram_moment *m,
                          const uint64_t *payload, uint8_t *to, struct orr_telegram_clipped *clipped) {
  const struct orr_telegram *t = &telegrams->all[which];
  memset(to, 0, t->desc->bytes);
  for (int i = 0; i < t->desc->count; i++) {
    const struct orr_telegram_op *op = &t->ops[i];
    const struct orr_run_field *f = op->field;
    uint64_t raw = f->raw;
    bool fits = true;
    if (!stands(t, f, to))
      continue;
    if (f->kind == ORR_FIELD_CHANNEL) {
      double value = native_number(op, payload);
      raw = channel_raw(f, value, &fits);
      if (!fits && clipped->count++ == 0)
        *clipped = (struct orr_telegram_clipped){1, t->desc, f, value};
    } else if (f->kind == ORR_FIELD_COUNTER)
      raw = counter_raw(f, m);
    else if (f->kind == ORR_FIELD_TIME)
      raw = time_raw(f, m->time_ns);
    else if (f->kind == ORR_FIELD_CHECKSUM)
      raw = orr_field_checksum(f, to);
    orr_field_put(f, to, raw);
  }
  return t->desc->bytes;
}

/* ---- judge ------------------------------------------------------------------------------------------------------- */

static bool is_fixed(const struct orr_run_field *f) {
  return f->kind == ORR_FIELD_CONSTANT || f->kind == ORR_FIELD_LENGTH;
}

static const struct orr_field_state *state_of(const struct orr_run_field *f, uint64_t raw) {
  for (int i = 0; i < f->state_count; i++)
    if (f->states[i].raw == raw)
      return &f->states[i];
  return NULL;
}

/* The constants that stand in every telegram of the kind, as far as there are bytes. */
static bool looks_like(const struct orr_telegram *t, const uint8_t *bytes, size_t size) {
  for (int i = 0; i < t->desc->count; i++) {
    const struct orr_run_field *f = t->ops[i].field;
    if (is_fixed(f) && f->by < 0 && (f->bit + (uint32_t)f->width + 7) / 8 <= size && orr_field_get(f, bytes) != f->raw)
      return false;
  }
  return true;
}

static bool is_whole(const struct orr_telegram *t, const uint8_t *bytes) {
  for (int i = 0; i < t->desc->count; i++) {
    const struct orr_run_field *f = t->ops[i].field;
    if (!stands(t, f, bytes))
      continue;
    uint64_t raw = orr_field_get(f, bytes);
    if ((f->of_sets && raw >= (uint64_t)f->of_sets) || (is_fixed(f) && raw != f->raw) ||
        (f->state_count && !state_of(f, raw)) || (f->kind == ORR_FIELD_CHECKSUM && raw != orr_field_checksum(f, bytes)))
      return false;
  }
  return true;
}

enum orr_telegram_verdict orr_telegram_judge(const struct orr_telegrams *t, const uint8_t *bytes, size_t size,
                                             int *which) {
  *which = -1;
  for (int i = 0; i < t->desc->count; i++) {
    const struct orr_telegram *one = &t->all[i];
    if (!one->desc->command || one->desc->bytes != size || !looks_like(one, bytes, size))
      continue;
    *which = i;
    return is_whole(one, bytes) ? ORR_TELEGRAM_GOOD : ORR_TELEGRAM_BROKEN;
  }
  return ORR_TELEGRAM_OTHER;
}

enum orr_telegram_verdict orr_telegram_begins(const struct orr_telegrams *t, const uint8_t *bytes, size_t size,
                                              int *which) {
  enum orr_telegram_verdict verdict = ORR_TELEGRAM_OTHER;
  *which = -1;
  for (int i = 0; i < t->desc->count && verdict != ORR_TELEGRAM_GOOD; i++) {
    const struct orr_telegram *one = &t->all[i];
    if (!one->desc->command || !looks_like(one, bytes, size))
      continue;
    if (one->desc->bytes > size) {
      verdict = ORR_TELEGRAM_PART;
      continue;
    }
    bool good = is_whole(one, bytes);
    if (good || verdict == ORR_TELEGRAM_OTHER) {
      verdict = good ? ORR_TELEGRAM_GOOD : ORR_TELEGRAM_BROKEN;
      *which = i;
    }
  }
  return verdict;
}

/* ---- read -------------------------------------------------------------------------------------------------------- */

static double field_value(const struct orr_run_field *f, uint64_t raw) {
  const struct orr_field_state *state = f->state_count ? state_of(f, raw) : NULL;
  double x;
  if (state)
    return state->value;
  if (f->number == ORR_FIELD_FLOAT && f->width == 32) {
    uint32_t bits = (uint32_t)raw;
    float single;
    memcpy(&single, &bits, sizeof single);
    x = (double)single;
  } else if (f->number == ORR_FIELD_FLOAT)
    memcpy(&x, &raw, sizeof x);
  else if (f->number == ORR_FIELD_SIGNED && raw >> (f->width - 1) & 1)
    x = (double)(int64_t)(raw | ~ones(f->width));
  else
    x = (double)raw;
  return f->offset == 0 ? x * f->lsb : fma(x, f->lsb, f->offset); /* a zero keeps its sign */
}

/* A whole number, or one that no channel takes. */
static int64_t as_whole(double x) { return fabs(x) <= 9007199254740992.0 ? (int64_t)rint(x) : INT64_MAX; }

static void put_number(const struct orr_telegram_op *op, double x, uint64_t *payload) {
  unsigned char *to = (unsigned char *)payload + op->at;
  int64_t whole = as_whole(x);
  if (op->channel->type == ORR_CHANNEL_REAL)
    memcpy(to, &x, sizeof x);
  else if (op->channel->type == ORR_CHANNEL_WHOLE)
    memcpy(to, &whole, sizeof whole);
  else
    *to = whole >= 0 && whole < UINT8_MAX ? (unsigned char)whole : UINT8_MAX;
}

/* Every number of the commands, or those of pulses alone, as it is when nobody says anything. */
static void put_rest(const struct orr_telegrams *t, bool pulses, uint64_t *payload) {
  const struct orr_layout_side *side = &t->layout->commands;
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    struct orr_telegram_op op = {.channel = c, .at = side->entries[i].at};
    double rest = c->hold == ORR_CHANNEL_PULSE ? 0 : c->low > 0 ? c->low : c->high < 0 ? c->high : 0;
    for (int k = 0; k < c->count && (!pulses || c->hold == ORR_CHANNEL_PULSE); k++) {
      put_number(&op, rest, payload);
      op.at += orr_wire_number_bytes(c->type);
    }
  }
}

void orr_telegram_rest(const struct orr_telegrams *t, uint64_t *payload) { put_rest(t, false, payload); }

void orr_telegram_read(const struct orr_telegrams *telegrams, int which, const uint8_t *bytes, uint64_t *payload) {
  put_rest(telegrams, true, payload);
  orr_telegram_add(telegrams, which, bytes, payload);
}

void orr_telegram_add(const struct orr_telegrams *telegrams, int which, const uint8_t *bytes, uint64_t *payload) {
  const struct orr_telegram *t = &telegrams->all[which];
  for (int i = 0; i < t->desc->count; i++) {
    const struct orr_telegram_op *op = &t->ops[i];
    if (op->channel && stands(t, op->field, bytes))
      put_number(op, field_value(op->field, orr_field_get(op->field, bytes)), payload);
  }
}
