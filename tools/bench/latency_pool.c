#include "tools/bench/latency_pool.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 1000 };

void orr_pool_add(struct orr_pool *pool, int64_t latency_us, uint64_t times) {
  int64_t place = latency_us < 0 ? 0 : latency_us > ORR_POOL_LIMIT_US ? ORR_POOL_LIMIT_US : latency_us;
  pool->count[place] += times;
  if (times > 0 && latency_us > pool->max_us)
    pool->max_us = latency_us;
}

void orr_pool_add_skipped(struct orr_pool *pool, int64_t period_us) {
  /* upwards: what is added lies below, where we have been, and adds nothing itself */
  for (int64_t late = period_us + 1; late <= ORR_POOL_LIMIT_US; late++) {
    uint64_t times = pool->count[late];
    for (int64_t left = late - period_us; times > 0 && left > 0; left -= period_us)
      pool->count[left] += times;
  }
}

void orr_pool_merge(struct orr_pool *into, const struct orr_pool *from) {
  for (size_t i = 0; i <= ORR_POOL_LIMIT_US; i++)
    into->count[i] += from->count[i];
  if (from->max_us > into->max_us)
    into->max_us = from->max_us;
}

double orr_pool_percentile_us(const struct orr_pool *pool, double fraction) {
  uint64_t total = 0, below = 0;
  for (size_t i = 0; i <= ORR_POOL_LIMIT_US; i++)
    total += pool->count[i];
  double rank = fraction * (double)total;
  for (size_t i = 0; i < ORR_POOL_LIMIT_US; i++) {
    uint64_t here = pool->count[i];
    if (here > 0 && (double)(below + here) >= rank)
      return (double)i + (rank > (double)below ? (rank - (double)below) / (double)here : 0.0);
    below += here;
  }
  return total ? (double)pool->max_us : 0.0;
}

static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

/* The ratio over the slices named by `pick`. */
static double ratio_of(const struct orr_pool *ours, const struct orr_pool *theirs, const size_t *pick, size_t slices,
                       double fraction, struct orr_pool *scratch) {
  memset(scratch, 0, 2 * sizeof *scratch);
  for (size_t s = 0; s < slices; s++) {
    orr_pool_merge(&scratch[0], &ours[pick[s]]);
    orr_pool_merge(&scratch[1], &theirs[pick[s]]);
  }
  double denominator = orr_pool_percentile_us(&scratch[1], fraction);
  return denominator > 0 ? orr_pool_percentile_us(&scratch[0], fraction) / denominator : 0.0;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

const char *orr_ratio_verdict(const struct orr_ratio *r, size_t slices, double slice_s) {
  if (slices < ORR_SLICES_ENOUGH || slice_s < ORR_SLICE_SECONDS_ENOUGH)
    return "no verdict: that takes 20 slices of 10 s";
  if (!(r->value > 0) || r->high - r->low > 0.5 * r->value)
    return "interval wider than +-25 %: no verdict";
  return r->low <= 1.1 ? "met" : "not met";
}

struct orr_ratio orr_pool_ratio(const struct orr_pool *ours, const struct orr_pool *theirs, size_t slices,
                                double fraction, struct orr_pool *scratch) {
  double ratio[RESAMPLES];
  uint64_t seed = 88172645463325252u;
  struct orr_ratio result = {0, 0, 0};
  size_t *pick = calloc(slices, sizeof *pick);
  if (!pick)
    return result;
  for (size_t s = 0; s < slices; s++)
    pick[s] = s;
  result.value = ratio_of(ours, theirs, pick, slices, fraction, scratch);
  for (size_t r = 0; r < RESAMPLES; r++) {
    for (size_t s = 0; s < slices; s++)
      pick[s] = next_random(&seed) % slices;
    ratio[r] = ratio_of(ours, theirs, pick, slices, fraction, scratch);
  }
  free(pick);
  qsort(ratio, RESAMPLES, sizeof *ratio, ascending);
  result.low = ratio[RESAMPLES * 25 / 1000];
  result.high = ratio[RESAMPLES * 975 / 1000 - 1];
  return result;
}

/* ---- histograms in ns -------------------------------------------------------------------------------------------- */

static uint64_t count_at(const struct orr_histogram *const *slices, const uint32_t *weight, size_t count,
                         size_t bucket) {
  uint64_t sum = 0;
  for (size_t s = 0; s < count; s++)
    sum += weight[s] * atomic_load_explicit(&slices[s]->bucket[bucket], memory_order_relaxed);
  return sum;
}

/* A clock counts in steps, so the samples of a bucket are taken as spread since the one before that has any. */
static double weighted_percentile_ns(const struct orr_histogram *const *slices, const uint32_t *weight, size_t count,
                                     double fraction) {
  double total = 0, below = 0;
  for (size_t s = 0; s < count; s++)
    total += (double)weight[s] * (double)atomic_load_explicit(&slices[s]->total, memory_order_relaxed);
  double rank = fraction * total, last = -1;
  for (size_t i = 0; i < ORR_HISTOGRAM_BUCKETS; i++) {
    double here = (double)count_at(slices, weight, count, i), at = (double)orr_histogram_floor_ns(i);
    if (here > 0 && below + here >= rank)
      return last < 0 ? at : last + (at - last) * fmax(0, rank - below) / here;
    below += here;
    last = here > 0 ? at : last;
  }
  return fmax(last, 0);
}

double orr_slices_percentile_ns(const struct orr_histogram *const *slices, size_t count, double fraction) {
  uint32_t *weight = calloc(count + 1, sizeof *weight);
  if (!weight)
    return 0;
  for (size_t s = 0; s < count; s++)
    weight[s] = 1;
  double percentile = weighted_percentile_ns(slices, weight, count, fraction);
  free(weight);
  return percentile;
}

struct orr_ratio orr_slices_ratio(const struct orr_histogram *const *ours, const struct orr_histogram *const *theirs,
                                  size_t count, double fraction) {
  double ratio[RESAMPLES];
  uint64_t seed = 88172645463325252u;
  struct orr_ratio result = {0, 0, 0};
  uint32_t *weight = calloc(count + 1, sizeof *weight);
  double below = orr_slices_percentile_ns(theirs, count, fraction);
  if (!weight || count == 0 || !(below > 0)) {
    free(weight);
    return result;
  }
  result.value = orr_slices_percentile_ns(ours, count, fraction) / below;
  for (size_t r = 0; r < RESAMPLES; r++) {
    memset(weight, 0, count * sizeof *weight);
    for (size_t s = 0; s < count; s++)
      weight[next_random(&seed) % count]++;
    below = weighted_percentile_ns(theirs, weight, count, fraction);
    ratio[r] = below > 0 ? weighted_percentile_ns(ours, weight, count, fraction) / below : 0;
  }
  free(weight);
  qsort(ratio, RESAMPLES, sizeof *ratio, ascending);
  result.low = ratio[RESAMPLES * 25 / 1000];
  result.high = ratio[RESAMPLES * 975 / 1000 - 1];
  return result;
}
