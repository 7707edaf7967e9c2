#include "rt/tick/stats.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rt/tick/verdict.h"

enum { READ_TRIES = 1000 };

void orr_stats_init(struct orr_stats *stats, const char *name, int64_t period_ns) {
  memset(stats, 0, sizeof *stats);
  stats->version = ORR_STATS_VERSION;
  stats->size = sizeof *stats;
  stats->live_offset = offsetof(struct orr_stats, live_lock);
  stats->worst_offset = offsetof(struct orr_stats, worst);
  stats->histogram_offset = offsetof(struct orr_stats, histogram);
  stats->histogram_bytes = sizeof(struct orr_histogram);
  stats->pid = getpid();
  stats->period_ns = period_ns;
  stats->core = -1;
  size_t length = (size_t)snprintf(stats->name, sizeof stats->name, "%s", name);
  if (length >= sizeof stats->name) { /* not within a letter of UTF-8 */
    length = sizeof stats->name - 1;
    while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
      length--;
    stats->name[length] = '\0';
  }
  stats->magic = ORR_STATS_MAGIC;
}

void orr_stats_put_live(struct orr_stats *stats, const struct orr_live *live) {
  uint64_t words[ORR_LIVE_WORDS];
  memcpy(words, live, sizeof words);
  orr_seqlock_store(&stats->live_lock, stats->live, words, ORR_LIVE_WORDS);
}

bool orr_stats_live(const struct orr_stats *stats, struct orr_live *live) {
  uint64_t words[ORR_LIVE_WORDS];
  if (!orr_seqlock_load(&stats->live_lock, stats->live, words, ORR_LIVE_WORDS, READ_TRIES))
    return false;
  memcpy(live, words, sizeof words);
  return true;
}

bool orr_stats_valid(const struct orr_stats *stats, size_t size) {
  return size == sizeof *stats && stats->magic == ORR_STATS_MAGIC && stats->version == ORR_STATS_VERSION &&
         stats->size == sizeof *stats && stats->stage_count <= ORR_STAGES_MAX && stats->period_ns > 0 &&
         stats->histogram_offset == offsetof(struct orr_stats, histogram) &&
         stats->histogram_bytes == sizeof(struct orr_histogram);
}

uint64_t orr_live_own(const struct orr_live *live) {
  uint64_t own = 0;
  for (unsigned cause = 0; cause < ORR_CAUSE_COUNT; cause++)
    if (orr_cause_is_own((enum orr_cause)cause))
      own += live->late[cause];
  return own;
}

uint64_t orr_live_late(const struct orr_live *live) {
  uint64_t late = 0;
  for (unsigned cause = ORR_CAUSE_NONE + 1; cause < ORR_CAUSE_COUNT; cause++)
    late += live->late[cause];
  return late;
}
