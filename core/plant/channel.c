#include "core/plant/channel.h"

#include <math.h>
#include <string.h>

#include "core/math/hash.h"

const char *const orr_channel_xyz[3] = {"x", "y", "z"};
const char *const orr_channel_xyzw[4] = {"x", "y", "z", "w"};
const char *const orr_channel_wrench[6] = {"nx", "ny", "nz", "fx", "fy", "fz"};

const char *orr_channel_unit(const struct orr_channel *c, int element) {
  bool mixed = c->elements == orr_channel_wrench && element >= 0;
  return mixed ? (element < 3 ? "N m" : "N") : c->unit;
}

int orr_channel_declare(struct orr_channel_table *table, const char *entity, const struct orr_channel *spec) {
  size_t first = strlen(entity), second = strlen(spec->name), bytes = first + second + 2;
  int index = table->count++;
  assert(!table->sealed && spec->doc && spec->count >= 1 && spec->count <= ORR_CHANNEL_COUNT_MAX);
  if (table->channels) {
    assert(index < table->room && table->name_bytes + bytes <= table->name_room);
    char *name = table->names + table->name_bytes;
    memcpy(name, entity, first);
    name[first] = '.';
    memcpy(name + first + 1, spec->name, second + 1);
    struct orr_channel *channel = &table->channels[index];
    *channel = *spec;
    channel->name = name;
    channel->unit = spec->unit ? spec->unit : "";
    channel->divisor = spec->divisor > 0 ? spec->divisor : 1;
    if (spec->low == 0 && spec->high == 0) {
      channel->low = -HUGE_VAL;
      channel->high = HUGE_VAL;
    }
  }
  table->name_bytes += bytes;
  table->value_count += spec->count;
  return index;
}

void orr_channels_place(struct orr_channel_table *table, struct orr_block *block) {
  int count = table->count;
  size_t bytes = table->name_bytes;
  struct orr_channel *channels = ORR_TAKE(block, struct orr_channel, count + 1);
  char *names = ORR_TAKE(block, char, bytes + 1);
  if (block->base)
    *table = (struct orr_channel_table){.channels = channels, .room = count, .names = names, .name_room = bytes};
}

size_t orr_channels_size(const struct orr_channel_table *table) {
  struct orr_block block = {0};
  struct orr_channel_table counted = *table;
  orr_channels_place(&counted, &block);
  return block.used;
}

void orr_channels_seal(struct orr_channel_table *table) {
  assert(table->channels && table->count == table->room);
  table->value_count = 0;
  for (int pass = ORR_CHANNEL_OUTPUT; pass <= ORR_CHANNEL_COMMAND; pass++) {
    for (int i = 0; i < table->count; i++) {
      if ((int)table->channels[i].direction != pass)
        continue;
      table->channels[i].offset = table->value_count;
      table->value_count += table->channels[i].count;
    }
    if (pass == ORR_CHANNEL_OUTPUT)
      table->output_values = table->value_count;
  }
  table->sealed = true;
}

static int find(const struct orr_channel_table *table, const char *name, size_t length) {
  for (int i = 0; i < table->count; i++)
    if (strncmp(table->channels[i].name, name, length) == 0 && !table->channels[i].name[length])
      return i;
  return -1;
}

int orr_channel_find(const struct orr_channel_table *table, const char *name) {
  return find(table, name, strlen(name));
}

/* `[12]` to the end of the text; -1 for anything else. */
static int bracketed(const char *text) {
  int value = 0, digits = 0;
  for (text++; *text >= '0' && *text <= '9' && digits < 5; text++, digits++)
    value = 10 * value + (*text - '0');
  return digits && text[0] == ']' && !text[1] ? value : -1;
}

static int element_named(const struct orr_channel *channel, const char *name) {
  for (int i = 0; channel->elements && i < channel->count; i++)
    if (strcmp(channel->elements[i], name) == 0)
      return i;
  return -1;
}

int orr_channel_find_element(const struct orr_channel_table *table, const char *name, int *element) {
  *element = -1;
  int whole = orr_channel_find(table, name);
  if (whole >= 0)
    return whole;
  const char *bracket = strchr(name, '['), *dot = strrchr(name, '.');
  const char *end = bracket ? bracket : dot;
  int index = end ? find(table, name, (size_t)(end - name)) : -1;
  if (index < 0)
    return -1;
  *element = bracket ? bracketed(bracket) : element_named(&table->channels[index], dot + 1);
  return *element >= 0 && *element < table->channels[index].count ? index : -1;
}

bool orr_channel_matches(const char *pattern, const char *name) {
  const char *star = NULL, *after = NULL; /* the last `*`, and how far it reaches */
  while (*name) {
    if (*pattern == '*') {
      star = pattern++;
      after = name;
    } else if (*pattern == *name) {
      pattern++;
      name++;
    } else if (star) {
      pattern = star + 1;
      name = ++after;
    } else {
      return false;
    }
  }
  while (*pattern == '*')
    pattern++;
  return !*pattern;
}

bool orr_channel_accepts(const struct orr_channel *channel, double value) {
  if (!isfinite(value) || value < channel->low || value > channel->high)
    return false;
  if (channel->type == ORR_CHANNEL_FLAG)
    return value == 0 || value == 1;
  return channel->type != ORR_CHANNEL_WHOLE || (value == floor(value) && fabs(value) <= 9007199254740992.0);
}

uint64_t orr_channels_hash(const struct orr_channel_table *table) {
  uint64_t hash = ORR_HASH_BEGIN;
  for (int i = 0; i < table->count; i++) {
    const struct orr_channel *c = &table->channels[i];
    const char facts[6] = {(char)c->type,          (char)c->direction,          (char)c->hold,
                           (char)(c->count & 255), (char)(c->count >> 8 & 255), 0};
    hash = orr_hash_bytes(hash, c->name, strlen(c->name) + 1);
    hash = orr_hash_bytes(hash, c->unit, strlen(c->unit) + 1);
    hash = orr_hash_bytes(hash, facts, sizeof facts);
  }
  return hash;
}
