#include "io/links/terms/layout.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/math/hash.h"

const char *orr_refusal_name(enum orr_refusal refusal) {
  static const char *const names[ORR_REFUSALS] = {
      "none",         "stale",   "duplicate", "malformed", "wrong_version", "wrong_layout", "not_finite",
      "out_of_range", "foreign", "dropped",   "forged",    "replayed",      "other_id"};
  return refusal < ORR_REFUSALS ? names[refusal] : "?";
}

const char *orr_refusal_text(enum orr_refusal refusal) {
  static const char *const texts[ORR_REFUSALS] = {
      [ORR_REFUSAL_NONE] = "none",
      [ORR_REFUSAL_STALE] = "older than what is applied, or overtaken before it was due",
      [ORR_REFUSAL_DUPLICATE] = "answers a frame that is answered already",
      [ORR_REFUSAL_MALFORMED] = "length, checksum or frame number make no sense",
      [ORR_REFUSAL_VERSION] = "another version of the wire than the run's, or a function that this link has not",
      [ORR_REFUSAL_LAYOUT] = "made for another layout of the channels",
      [ORR_REFUSAL_NOT_FINITE] = "holds NaN or an infinity",
      [ORR_REFUSAL_OUT_OF_RANGE] = "a number is outside its channel's range",
      [ORR_REFUSAL_FOREIGN] = "not from the peer, or from one that was replaced",
      [ORR_REFUSAL_DROPPED] = "came too fast: overwritten, or no room for it, before it was read",
      [ORR_REFUSAL_FORGED] = "no seal of the link's key behind it",
      [ORR_REFUSAL_REPLAYED] = "sealed for another run, or seen before",
      [ORR_REFUSAL_OTHER_ID] = "not this link's, by its message id, or length and constants: 'message_ids' sets them",
  };
  return refusal < ORR_REFUSALS ? texts[refusal] : "?";
}

size_t orr_layout_size(int telemetry_count, int command_count) {
  return ((size_t)telemetry_count + (size_t)command_count + 1) * sizeof(struct orr_layout_entry);
}

static bool listed(const int *channels, int count, int channel) {
  for (int i = 0; i < count; i++)
    if (channels[i] == channel)
      return true;
  return false;
}

/* By type, then in the order of the table. */
static void layout_side(struct orr_layout_side *side, const struct orr_channel_table *table, const int *channels,
                        int count) {
  for (int type = ORR_CHANNEL_REAL; type <= ORR_CHANNEL_FLAG; type++)
    for (int i = 0; i < table->count; i++) {
      const struct orr_channel *c = &table->channels[i];
      if ((int)c->type != type || !listed(channels, count, i))
        continue;
      side->entries[side->count++] = (struct orr_layout_entry){c, side->bytes};
      side->bytes += orr_wire_number_bytes(c->type) * (uint32_t)c->count;
      side->numbers += c->count;
    }
}

static uint64_t mix_text(uint64_t hash, const char *text) { return orr_hash_bytes(hash, text, strlen(text) + 1); }

static uint64_t mix_number(uint64_t hash, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8)
    hash = orr_hash_mix(hash, number >> shift & 255);
  return hash;
}

static uint64_t mix_side(uint64_t hash, const struct orr_layout_side *side) {
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    hash = mix_text(mix_text(hash, c->name), c->unit);
    hash = mix_number(mix_number(hash, (uint32_t)c->type), (uint32_t)c->direction);
    hash = mix_number(mix_number(hash, (uint32_t)c->hold), (uint32_t)c->count);
    hash = mix_number(hash, side->entries[i].at);
  }
  return hash;
}

void orr_layout_init(struct orr_layout *layout, void *block, const struct orr_channel_table *table,
                     const int *telemetry, int telemetry_count, const int *commands, int command_count) {
  struct orr_layout_entry *entries = block;
  *layout = (struct orr_layout){.telemetry.entries = entries, .commands.entries = entries + telemetry_count};
  layout_side(&layout->telemetry, table, telemetry, telemetry_count);
  layout_side(&layout->commands, table, commands, command_count);
  layout->hash = mix_side(mix_side(ORR_HASH_BEGIN, &layout->telemetry), &layout->commands);
}

void orr_layout_pack(const struct orr_layout_side *side, const double *values, uint64_t *payload) {
  unsigned char *to = (unsigned char *)payload;
  if (side->bytes % 8)
    payload[side->bytes / 8] = 0;
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    const double *from = values + c->offset;
    uint32_t at = side->entries[i].at;
    if (c->type == ORR_CHANNEL_REAL) {
      memcpy(to + at, from, 8 * (size_t)c->count);
      continue;
    }
    for (int k = 0; k < c->count; k++) {
      int64_t whole = (int64_t)from[k];
      if (c->type == ORR_CHANNEL_WHOLE)
        memcpy(to + at + 8 * (uint32_t)k, &whole, 8);
      else
        to[at + (uint32_t)k] = from[k] != 0;
    }
  }
}

static double number_at(const unsigned char *from, enum orr_channel_type type, int k) {
  double real;
  int64_t whole;
  switch (type) {
  case ORR_CHANNEL_REAL:
    memcpy(&real, from + 8 * k, 8);
    return real;
  case ORR_CHANNEL_WHOLE:
    memcpy(&whole, from + 8 * k, 8);
    /* beyond 2^53 a conversion would round to what is accepted */
    return whole > INT64_C(9007199254740992) || whole < -INT64_C(9007199254740992) ? HUGE_VAL : (double)whole;
  default:
    return from[k];
  }
}

/* What nearly all are: one test a number, which NaN fails too. An infinity may lie within a range without a bound. */
static bool accepts_reals(const struct orr_channel *c, const unsigned char *from) {
  double low = c->low > -DBL_MAX ? c->low : -DBL_MAX, high = c->high < DBL_MAX ? c->high : DBL_MAX, real;
  bool good = true;
  for (int k = 0; k < c->count; k++) {
    memcpy(&real, from + 8 * (size_t)k, 8);
    good &= real >= low && real <= high;
  }
  return good;
}

static enum orr_refusal judge_numbers(const struct orr_channel *c, const unsigned char *from) {
  for (int k = 0; k < c->count; k++) {
    double number = number_at(from, c->type, k);
    if (c->type == ORR_CHANNEL_REAL && !isfinite(number))
      return ORR_REFUSAL_NOT_FINITE;
    if (!orr_channel_accepts(c, number))
      return ORR_REFUSAL_OUT_OF_RANGE;
  }
  return ORR_REFUSAL_NONE;
}

enum orr_refusal orr_layout_judge(const struct orr_layout_side *side, const uint64_t *payload) {
  const unsigned char *bytes = (const unsigned char *)payload;
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    const unsigned char *from = bytes + side->entries[i].at;
    if (c->type == ORR_CHANNEL_REAL && accepts_reals(c, from))
      continue;
    enum orr_refusal refusal = judge_numbers(c, from);
    if (refusal != ORR_REFUSAL_NONE)
      return refusal;
  }
  return ORR_REFUSAL_NONE;
}

struct orr_layout_number orr_layout_refused(const struct orr_layout_side *side, const uint64_t *payload) {
  const unsigned char *bytes = (const unsigned char *)payload;
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    for (int k = 0; k < c->count; k++) {
      double number = number_at(bytes + side->entries[i].at, c->type, k);
      if (!orr_channel_accepts(c, number))
        return (struct orr_layout_number){c, k, number};
    }
  }
  return (struct orr_layout_number){0};
}

/* What stands there was set for this frame: a block has no pulses of the frame before. */
static void unpack_pulses(const struct orr_channel *c, const unsigned char *from, double *values,
                          struct orr_layout_number *overruled) {
  for (int k = 0; k < c->count; k++) {
    double number = number_at(from, c->type, k), *to = &values[c->offset + k];
    if (number == 0 && *to > 0)
      continue;
    if (*to > 0 && !overruled->channel)
      *overruled = (struct orr_layout_number){c, k, *to};
    *to = number;
  }
}

struct orr_layout_number orr_layout_unpack(const struct orr_layout_side *side, const uint64_t *payload,
                                           double *values) {
  const unsigned char *bytes = (const unsigned char *)payload;
  struct orr_layout_number overruled = {0};
  for (int i = 0; i < side->count; i++) {
    const struct orr_channel *c = side->entries[i].channel;
    const unsigned char *from = bytes + side->entries[i].at;
    if (c->hold == ORR_CHANNEL_PULSE && c->direction == ORR_CHANNEL_COMMAND)
      unpack_pulses(c, from, values, &overruled);
    else if (c->type == ORR_CHANNEL_REAL)
      memcpy(values + c->offset, from, 8 * (size_t)c->count);
    else
      for (int k = 0; k < c->count; k++)
        values[c->offset + k] = number_at(from, c->type, k);
  }
  return overruled;
}
