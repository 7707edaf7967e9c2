/* The section `record` of a run file: what a log of the run holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/run/run_draft.h"
#include "io/config/run/run_mappings.h"

struct record_keys {
  struct orr_place channels;
  double rate;
  int64_t checkpoint;
  int compression;
  const char *limit;
};

static const char *const compressions[] = {"none", "zstd", NULL};

static const struct orr_key record_table[] = {
    {.name = "channels",
     .doc = "the channels of devices and bodies that it holds",
     .type = ORR_KEY_PLACE,
     .absent = "all that devices and pointing tell and take, and truth that somebody else reads",
     .shape = &orr_shape_channels,
     .offset = offsetof(struct record_keys, channels)},
    {.name = "rate",
     .doc = "messages of each device and body in a second; it divides the base rate",
     .type = ORR_KEY_NUMBER,
     .unit = "Hz",
     .range = &orr_range_positive,
     .absent = "in every frame that has a new value",
     .offset = offsetof(struct record_keys, rate)},
    {.name = "checkpoint",
     .doc = "simulated time between two copies of the whole state, from which a replay may start",
     .type = ORR_KEY_TIME,
     .range = &orr_range_positive,
     .fallback = "10 s",
     .offset = offsetof(struct record_keys, checkpoint)},
    {.name = "compression",
     .doc = "of the chunks of the file",
     .type = ORR_KEY_CHOICE,
     .choices = compressions,
     .fallback = "none",
     .offset = offsetof(struct record_keys, compression)},
    {.name = "limit",
     .doc = "size at which the file is closed: a number with B, kB, MB, GB or TB",
     .type = ORR_KEY_TEXT,
     .fallback = "2 GB",
     .offset = offsetof(struct record_keys, limit)},
};

const struct orr_mapping orr_record_mapping = {
    .name = "record",
    .doc = "What the log of a run holds. Commands, what the links did and the timing of each frame are always in it. A "
           "run in real time or lockstep leaves a log, one in batch when it is asked to.",
    ORR_KEYS(record_table),
    .example = "record: {channels: [\"*\"], rate: 50 Hz, checkpoint: 5 s, limit: 500 MB}\n",
};

/* "2 GB"; 0 for what is no size. */
static uint64_t size_of(const char *text) {
  static const struct {
    const char *name;
    double bytes;
  } units[] = {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
  char *end;
  double number = strtod(text, &end);
  while (*end == ' ')
    end++;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(end, units[i].name) == 0 && number * units[i].bytes >= 1 && number * units[i].bytes < 1e18)
      return (uint64_t)(number * units[i].bytes);
  return 0;
}

static bool fits_any(struct orr_run_draft *d, const char *pattern, bool *chosen) {
  const struct orr_channel_table *table = &d->run->table;
  bool fits = false;
  for (int i = 0; i < table->count; i++)
    if (orr_channel_matches(pattern, table->channels[i].name))
      fits = chosen[i] = true;
  return fits;
}

static void read_channels(struct orr_run_draft *d, struct orr_place list, struct orr_run_record *out) {
  if (!list.node || !orr_expect_sequence(d->reader, list, "channels"))
    return;
  bool *chosen = orr_arena_alloc(d->reader->arena, (size_t)d->run->table.count + 1, sizeof *chosen);
  out->chosen = chosen;
  for (size_t i = 0; i < orr_place_count(list); i++) {
    struct orr_place item = orr_place_item(d->reader->diagnostics, list, i);
    const char *pattern;
    if (orr_read_text(d->reader, item, "channels", &pattern) && !fits_any(d, pattern, chosen) && !d->partial)
      orr_run_no_channel(d, item, pattern, -1);
  }
}

void orr_run_read_record(struct orr_run_draft *d) {
  struct orr_run_record *out = &d->run->record;
  const struct orr_thing thing = {.what = "record",
                                  .place = orr_config_section(d->config, ORR_SECTION_RECORD),
                                  .key = orr_config_section_key(d->config, ORR_SECTION_RECORD)};
  struct record_keys keys = {0};
  int64_t step_ns = d->run->plant.step_ns;
  uint64_t present = 0;
  orr_read_mapping(d->reader, &thing, &orr_record_mapping, &keys, &present);
  if (step_ns <= 0)
    return; /* that was reported */
  out->checkpoint_frames = (keys.checkpoint + step_ns - 1) / step_ns;
  out->zstd = keys.compression == 1;
  read_channels(d, keys.channels, out);
  if (keys.rate > 0)
    out->every = orr_run_divisor(d, orr_read_member(d->reader, &thing, "rate"), keys.rate);
  out->limit = size_of(keys.limit);
  if (out->limit == 0)
    orr_read_error(d->reader, orr_read_member(d->reader, &thing, "limit"), "size",
                   "'limit' is a size such as 2 GB (B, kB, MB, GB, TB), not '%.40s'", keys.limit);
}
