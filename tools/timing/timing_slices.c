#include "tools/timing/timing_slices.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = ORR_HISTOGRAM_BUCKETS + 2 };

int orr_timing_find(const struct orr_timing_set *set, const char *name) {
  for (size_t i = 0; i < set->name_count; i++)
    if (strcmp(set->name[i], name) == 0)
      return (int)i;
  return -1;
}

/* ---- bins -------------------------------------------------------------------------------------------------------- */

/* Of counts by place: underflow, buckets, overflow. */
static bool gather(const uint64_t count[PLACES], struct orr_timing_bins *bins) {
  size_t used = 0;
  for (int i = 0; i < PLACES; i++)
    used += count[i] > 0;
  bins->at = malloc((used + 1) * sizeof *bins->at);
  bins->times = malloc((used + 1) * sizeof *bins->times);
  bins->used = 0;
  if (!bins->at || !bins->times) {
    orr_timing_bins_free(bins);
    return false;
  }
  for (int i = 0; i < PLACES; i++)
    if (count[i] > 0) {
      bins->at[bins->used] = i - 1;
      bins->times[bins->used++] = count[i];
    }
  return true;
}

bool orr_timing_bins_of(const struct orr_histogram *h, struct orr_timing_bins *bins) {
  uint64_t *count = calloc(PLACES, sizeof *count);
  *bins = (struct orr_timing_bins){.count = h->total, .sum_ns = h->sum_ns, .min_ns = h->min_ns, .max_ns = h->max_ns};
  if (!count)
    return false;
  count[0] = h->underflow;
  for (size_t i = 0; i < ORR_HISTOGRAM_BUCKETS; i++)
    count[i + 1] = atomic_load_explicit(&h->bucket[i], memory_order_relaxed);
  count[PLACES - 1] = h->overflow;
  bool good = gather(count, bins);
  free(count);
  return good;
}

void orr_timing_bins_free(struct orr_timing_bins *bins) {
  free(bins->at);
  free(bins->times);
  bins->at = NULL;
  bins->times = NULL;
  bins->used = 0;
}

void orr_timing_set_free(struct orr_timing_set *set) {
  for (size_t s = 0; s < set->slice_count; s++)
    for (size_t i = 0; i < ORR_TIMING_NAMES_MAX; i++)
      orr_timing_bins_free(&set->slice[s].of[i]);
  free(set->slice);
  *set = (struct orr_timing_set){.slice = NULL};
}

double orr_timing_bin_low_ns(const struct orr_timing_bins *bins, size_t i) {
  if (bins->at[i] < 0)
    return (double)bins->min_ns;
  return (double)(bins->at[i] < ORR_HISTOGRAM_BUCKETS ? orr_histogram_floor_ns((size_t)bins->at[i])
                                                      : ORR_HISTOGRAM_LIMIT_NS);
}

double orr_timing_bin_high_ns(const struct orr_timing_bins *bins, size_t i) {
  if (bins->at[i] < 0)
    return 0;
  return bins->at[i] < ORR_HISTOGRAM_BUCKETS ? (double)orr_histogram_floor_ns((size_t)bins->at[i] + 1)
                                             : (double)bins->max_ns;
}

/* ---- all slices -------------------------------------------------------------------------------------------------- */

uint64_t orr_timing_count(const struct orr_timing_set *set, int name) {
  uint64_t count = 0;
  for (size_t s = 0; s < set->slice_count; s++)
    count += set->slice[s].of[name].count;
  return count;
}

int64_t orr_timing_least_ns(const struct orr_timing_set *set, int name) {
  int64_t least = INT64_MAX;
  for (size_t s = 0; s < set->slice_count; s++) {
    const struct orr_timing_bins *b = &set->slice[s].of[name];
    least = b->count > 0 && b->min_ns < least ? b->min_ns : least;
  }
  return least == INT64_MAX ? 0 : least;
}

int64_t orr_timing_most_ns(const struct orr_timing_set *set, int name) {
  int64_t most = INT64_MIN;
  for (size_t s = 0; s < set->slice_count; s++) {
    const struct orr_timing_bins *b = &set->slice[s].of[name];
    most = b->count > 0 && b->max_ns > most ? b->max_ns : most;
  }
  return most == INT64_MIN ? 0 : most;
}

bool orr_timing_pool(const struct orr_timing_set *set, int name, struct orr_timing_bins *pool) {
  uint64_t *count = calloc(PLACES, sizeof *count);
  *pool = (struct orr_timing_bins){.min_ns = orr_timing_least_ns(set, name), .max_ns = orr_timing_most_ns(set, name)};
  if (!count)
    return false;
  for (size_t s = 0; s < set->slice_count; s++) {
    const struct orr_timing_bins *b = &set->slice[s].of[name];
    pool->count += b->count;
    pool->sum_ns += b->sum_ns;
    for (size_t i = 0; i < b->used; i++)
      count[b->at[i] + 1] += b->times[i];
  }
  bool good = gather(count, pool);
  free(count);
  return good;
}

double orr_timing_percentile_ns(const struct orr_timing_set *set, int name, double fraction) {
  struct orr_timing_bins pool;
  double value = 0, below = 0;
  if (!orr_timing_pool(set, name, &pool))
    return 0;
  double rank = fraction * (double)pool.count;
  for (size_t i = 0; i < pool.used; i++) {
    double here = (double)pool.times[i], low = orr_timing_bin_low_ns(&pool, i);
    value = low + (orr_timing_bin_high_ns(&pool, i) - low) * fmin(1, fmax(0, rank - below) / here);
    below += here;
    if (below >= rank)
      break;
  }
  orr_timing_bins_free(&pool);
  return pool.count > 0 ? fmin(fmax(value, (double)pool.min_ns), (double)pool.max_ns) : 0;
}

const char *orr_timing_fraction_text(double fraction, char text[16]) {
  snprintf(text, 16, "p%.6g", 100 * fraction);
  return text;
}

uint64_t orr_timing_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

size_t orr_timing_below(uint64_t *state, size_t bound) { return (size_t)(orr_timing_random(state) % bound); }
