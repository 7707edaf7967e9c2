/* The statistics of a run as `orrery top` finds them, with words of any value (rt/tick/stats,
 * tools/common/timing_report): what is judged to be a block of this build is shown as a table, as worst frames, and as
 * JSON, and copied. What is shown has no letter that a terminal obeys.
 *
 * Four bytes say which word, how it changes and how often, then come eight of a word. How: 0 to 3 the word is these; 4
 * a bit flips; 5 a few are added; 6 zero; 7 the bytes are text. How often: so many words in a row.
 * Fuzz with: -max_len=512
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/steps.h"
#include "tools/common/timing_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EACH = 12, WORDS = sizeof(struct orr_stats) / 8, STAGES = 3, SHOWN = 1 << 15 };

union block {
  struct orr_stats stats;
  uint64_t words[WORDS];
};

/* The same block for all: what was changed is what is set right again. */
static struct {
  union block *good, *tried, *copy;
  char shown[SHOWN];
} rig;

static void *room(void) {
  void *memory = aligned_alloc(64, (sizeof(union block) + 63) / 64 * 64);
  orr_must(memory != NULL);
  memset(memory, 0, sizeof(union block));
  return memory;
}

static void set_up(void) {
  struct orr_live live = {.frames = 9, .late = {4, 3, 2}, .ended = 1};
  struct orr_frame_record record = {.frame = 3, .end_ns = 5000, .stage_ns = {1000, 2000}};
  rig.good = room();
  rig.tried = room();
  rig.copy = room();
  struct orr_stats *s = &rig.good->stats;
  orr_stats_init(s, "fuzz", 1000000);
  s->stage_count = STAGES;
  for (int i = 0; i < STAGES; i++)
    s->stage_name[i][0] = (char)('a' + i);
  orr_stats_say(s, "step", 4);
  orr_stats_put_live(s, &live);
  for (int i = 0; i < 3; i++, record.frame++)
    orr_worst_add(&s->worst, &record);
  for (int64_t i = 0; i < ORR_HISTOGRAM_STAGE_0 + STAGES; i++)
    orr_histogram_add(&s->histogram[i], 1000 * (i - 1));
  memcpy(rig.tried, rig.good, sizeof *rig.good);
  orr_must(orr_stats_valid(s, sizeof *s));
}

/* The words before the histograms, and the first of each histogram: what lies between are counts like these. */
static size_t place(const uint8_t *data) {
  const size_t head = offsetof(struct orr_stats, histogram) / 8, each = sizeof(struct orr_histogram) / 8;
  size_t at = (size_t)(data[0] | data[1] << 8);
  return at < head ? at : (head + (at - head) % ORR_HISTOGRAM_COUNT * each + (at - head) / ORR_HISTOGRAM_COUNT) % WORDS;
}

static void change(const uint8_t *data, bool back) {
  size_t first = place(data), count = 1 + (size_t)(data[3] & 7);
  uint64_t word;
  memcpy(&word, data + 4, 8);
  for (size_t i = first; i < first + count && i < WORDS; i++) {
    uint64_t *to = &rig.tried->words[i];
    switch (back ? 8 : data[2] % 8) {
    case 4:
      *to ^= UINT64_C(1) << word % 64;
      break;
    case 5:
      *to += (uint64_t)(int64_t)(int8_t)word;
      break;
    case 6:
      *to = 0;
      break;
    case 7:
      *to = (word | 0x2020202020202020) & 0x7f7f7f7f7f7f7f7f;
      break;
    case 8:
      *to = rig.good->words[i];
      break;
    default:
      *to = word;
    }
  }
}

static void show(const struct orr_stats *s) {
  struct orr_live live;
  if (!orr_stats_live(s, &live))
    return;
  FILE *out = fmemopen(rig.shown, sizeof rig.shown, "w");
  orr_must(out != NULL);
  fprintf(out, "%s %s\n", s->name, s->doing);
  orr_timing_print(out, s, &live);
  orr_timing_print_worst(out, s, ORR_WORST_COUNT);
  orr_must(!ferror(out) && fclose(out) == 0);
  for (const char *c = rig.shown; *c; c++)
    orr_must((unsigned char)*c >= ' ' || *c == '\n');
  json_t *all = orr_timing_json(s, &live);
  orr_must(all != NULL);
  char *text = json_dumps(all, 0);
  orr_must(text != NULL);
  free(text);
  json_decref(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!rig.good)
    set_up();
  for (size_t at = 0; at + EACH <= size; at += EACH)
    change(data + at, false);
  if (orr_stats_valid(&rig.tried->stats, sizeof rig.tried->stats)) {
    show(&rig.tried->stats);
    if (size % EACH == 1) /* a large block: not each time */
      orr_stats_copy(&rig.tried->stats, &rig.copy->stats);
  }
  for (size_t at = 0; at + EACH <= size; at += EACH)
    change(data + at, true);
  return 0;
}
