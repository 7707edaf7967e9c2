/* Latencies in whole microseconds, as cyclictest counts them, pooled over slices of a run, and the ratio of two such
 * pools with an interval from resampling slices. The same for histograms in ns, a pointer per slice. */
#ifndef ORR_TOOLS_BENCH_LATENCY_POOL_H
#define ORR_TOOLS_BENCH_LATENCY_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "rt/tick/histogram.h"

enum { ORR_POOL_LIMIT_US = 20000 };

/* One slice: samples of floor(latency) = i µs in count[i]; the last place counts everything from the limit on. */
struct orr_pool {
  uint64_t count[ORR_POOL_LIMIT_US + 1];
  int64_t max_us;
};

/* Counts `times` samples of a latency; negative ones as 0. O(1). */
void orr_pool_add(struct orr_pool *pool, int64_t latency_us, uint64_t times);

/* Adds the samples that a program left out which skips the periods it missed: for each latency L beyond the period P
 * the ticks after it would have seen L − P, L − 2P, … O(limit · limit / P). */
void orr_pool_add_skipped(struct orr_pool *pool, int64_t period_us);

void orr_pool_merge(struct orr_pool *into, const struct orr_pool *from);

/* Value that `fraction` of the samples lie below, in µs, interpolated within its microsecond; 0 when empty. */
double orr_pool_percentile_us(const struct orr_pool *pool, double fraction);

struct orr_ratio {
  double value, low, high; /* of the pools; 2.5 % and 97.5 % of the resampled ratios */
};

/* Fewer slices, resampled, do not show how much slices differ: one has an interval of no width. */
enum { ORR_SLICES_ENOUGH = 20, ORR_SLICE_SECONDS_ENOUGH = 10 };

/* Of a ratio of tails, in words: met when its interval reaches 1.1 or below; no verdict when it is wider than ±25 %, or
 * of less than is enough. */
const char *orr_ratio_verdict(const struct orr_ratio *ratio, size_t slices, double slice_s);

/* percentile(ours) / percentile(theirs), both over all slices; slices are resampled in pairs. Deterministic. `scratch`:
 * two pools. */
struct orr_ratio orr_pool_ratio(const struct orr_pool *ours, const struct orr_pool *theirs, size_t slices,
                                double fraction, struct orr_pool *scratch);

/* Value that `fraction` of the samples of all slices lie below; 0 when empty. Samples are known to 1 %
 * (rt/tick/histogram.h). */
double orr_slices_percentile_ns(const struct orr_histogram *const *slices, size_t count, double fraction);
/* As orr_pool_ratio. 0 when there are no samples. */
struct orr_ratio orr_slices_ratio(const struct orr_histogram *const *ours, const struct orr_histogram *const *theirs,
                                  size_t count, double fraction);

#endif
