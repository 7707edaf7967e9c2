#include "rt/tick/stats.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rt/tick/verdict.h"

enum { READ_TRIES = 1000 };

/* Terminals obey such letters, and whoever watches may have more rights than whoever wrote them. */
static bool is_control(char c) { return (unsigned char)c < ' ' || c == 127; }

static void replace_controls(char *text) {
  for (; *text; text++)
    *text = is_control(*text) ? '?' : *text;
}

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
  replace_controls(stats->name);
  stats->magic = ORR_STATS_MAGIC;
}

void orr_stats_put_live(struct orr_stats *stats, const struct orr_live *live) {
  uint64_t words[ORR_LIVE_WORDS];
  memcpy(words, live, sizeof words);
  orr_seqlock_store(&stats->live_lock, stats->live, words, ORR_LIVE_WORDS);
}

static int64_t get_ns(const _Atomic int64_t *value) { return atomic_load_explicit(value, memory_order_relaxed); }
static void put_ns(_Atomic int64_t *value, int64_t to) { atomic_store_explicit(value, to, memory_order_relaxed); }

void orr_stats_add_calm(struct orr_stats *stats, const int64_t stage_ns[ORR_STAGES_MAX]) {
  struct orr_calm *calm = &stats->calm;
  uint64_t frames = atomic_load_explicit(&calm->frames, memory_order_relaxed);
  for (uint32_t i = 0; i < stats->stage_count; i++) {
    put_ns(&calm->sum_ns[i], get_ns(&calm->sum_ns[i]) + stage_ns[i]);
    if (frames == 0 || stage_ns[i] < get_ns(&calm->min_ns[i]))
      put_ns(&calm->min_ns[i], stage_ns[i]);
  }
  atomic_store_explicit(&calm->frames, frames + 1, memory_order_release);
}

bool orr_stats_live(const struct orr_stats *stats, struct orr_live *live) {
  uint64_t words[ORR_LIVE_WORDS];
  if (!orr_seqlock_load(&stats->live_lock, stats->live, words, ORR_LIVE_WORDS, READ_TRIES))
    return false;
  memcpy(live, words, sizeof words);
  return true;
}

static void copy_words(const _Atomic uint64_t *from, _Atomic uint64_t *to, size_t words) {
  for (size_t i = 0; i < words; i++)
    atomic_store_explicit(&to[i], atomic_load_explicit(&from[i], memory_order_relaxed), memory_order_relaxed);
}

static void copy_histogram(const struct orr_histogram *from, struct orr_histogram *to) {
  /* the total first: min and max that belong to it are there by then */
  atomic_store_explicit(&to->total, atomic_load_explicit(&from->total, memory_order_acquire), memory_order_relaxed);
  copy_words(&from->underflow, &to->underflow, 1);
  copy_words(&from->overflow, &to->overflow, 1);
  atomic_store_explicit(&to->sum_ns, atomic_load_explicit(&from->sum_ns, memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(&to->min_ns, atomic_load_explicit(&from->min_ns, memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(&to->max_ns, atomic_load_explicit(&from->max_ns, memory_order_relaxed), memory_order_relaxed);
  copy_words(from->bucket, to->bucket, ORR_HISTOGRAM_BUCKETS);
}

static void copy_calm(const struct orr_calm *from, struct orr_calm *to) {
  atomic_store_explicit(&to->frames, atomic_load_explicit(&from->frames, memory_order_acquire), memory_order_relaxed);
  for (size_t i = 0; i < ORR_STAGES_MAX; i++) {
    put_ns(&to->sum_ns[i], get_ns(&from->sum_ns[i]));
    put_ns(&to->min_ns[i], get_ns(&from->min_ns[i]));
  }
}

void orr_stats_copy(const struct orr_stats *stats, struct orr_stats *to) {
  struct orr_live live;
  memcpy(to, stats, offsetof(struct orr_stats, live_lock));
  if (orr_stats_live(stats, &live))
    orr_stats_put_live(to, &live);
  orr_worst_copy(&stats->worst, &to->worst);
  for (unsigned i = 0; i < ORR_HISTOGRAM_COUNT; i++)
    copy_histogram(&stats->histogram[i], &to->histogram[i]);
  copy_calm(&stats->calm, &to->calm);
}

void orr_stats_say(struct orr_stats *stats, const char *doing, int64_t since) {
  size_t n = strnlen(doing, sizeof stats->doing - 1);
  memcpy(stats->doing, doing, n);
  memset(stats->doing + n, 0, sizeof stats->doing - n);
  replace_controls(stats->doing);
  stats->doing_since = since;
}

/* It ends within its room, and no letter before that is one that a terminal obeys. */
static bool is_text(const char *text, size_t room) {
  size_t plain = 0;
  while (plain < room && !is_control(text[plain]))
    plain++;
  return plain < room && text[plain] == '\0';
}

static bool names_sound(const struct orr_stats *stats) {
  bool all = is_text(stats->name, sizeof stats->name) && is_text(stats->doing, sizeof stats->doing);
  for (unsigned i = 0; i < ORR_STAGES_MAX; i++)
    all = all && is_text(stats->stage_name[i], sizeof stats->stage_name[i]);
  return all;
}

bool orr_stats_valid(const struct orr_stats *stats, size_t size) {
  return size == sizeof *stats && stats->magic == ORR_STATS_MAGIC && stats->version == ORR_STATS_VERSION &&
         stats->size == sizeof *stats && stats->stage_count <= ORR_STAGES_MAX && stats->period_ns > 0 &&
         stats->histogram_offset == offsetof(struct orr_stats, histogram) &&
         stats->histogram_bytes == sizeof(struct orr_histogram) && names_sound(stats);
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
