/* Slices of timing: what a result holds of each, as numbers, and what many of them say together.
 *
 * A slice is one flight of a case in a process of its own. Its distributions are histograms of rt/tick, of which only
 * the places that have samples are kept. Pure functions; nothing here reads a file or a clock. [init]
 */
#ifndef ORR_TOOLS_TIMING_TIMING_SLICES_H
#define ORR_TOOLS_TIMING_TIMING_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt/tick/histogram.h"

enum { ORR_TIMING_NAME = 40, ORR_TIMING_NAMES_MAX = 32 };

/* What one slice saw of one thing. Bin −1 holds samples below 0, bin ORR_HISTOGRAM_BUCKETS those beyond the last. */
struct orr_timing_bins {
  uint64_t count;
  int64_t sum_ns, min_ns, max_ns;
  size_t used;
  int32_t *at;     /* [used], ascending */
  uint64_t *times; /* [used], none 0 */
};

struct orr_timing_slice {
  struct orr_timing_bins of[ORR_TIMING_NAMES_MAX]; /* by name; count 0: not seen in this slice */
  uint64_t calm_frames;                            /* frames that nothing came into */
  bool calm[ORR_TIMING_NAMES_MAX];                 /* a stage, of which the next two are known */
  int64_t calm_sum_ns[ORR_TIMING_NAMES_MAX], calm_min_ns[ORR_TIMING_NAMES_MAX];
};

struct orr_timing_set {
  size_t name_count, slice_count;
  char name[ORR_TIMING_NAMES_MAX][ORR_TIMING_NAME];
  struct orr_timing_slice *slice; /* [slice_count] */
};

/* The index of a name, or −1. */
int orr_timing_find(const struct orr_timing_set *set, const char *name);

/* The bins of a histogram of rt. False: no memory. Given back by orr_timing_bins_free. */
bool orr_timing_bins_of(const struct orr_histogram *h, struct orr_timing_bins *bins);
void orr_timing_bins_free(struct orr_timing_bins *bins);
void orr_timing_set_free(struct orr_timing_set *set);

/* Of all slices together: how many samples, the largest, and the value that `fraction` of them do not exceed, spread
 * evenly within a bin; 0 when there are none. O(slices · bins). */
uint64_t orr_timing_count(const struct orr_timing_set *set, int name);
int64_t orr_timing_least_ns(const struct orr_timing_set *set, int name);
int64_t orr_timing_most_ns(const struct orr_timing_set *set, int name);
double orr_timing_percentile_ns(const struct orr_timing_set *set, int name, double fraction);

/* The bins of all slices together; false: no memory. */
bool orr_timing_pool(const struct orr_timing_set *set, int name, struct orr_timing_bins *pool);

/* Where in ns a bin begins, and where it ends; of the outer two, at the extremes that were seen. */
double orr_timing_bin_low_ns(const struct orr_timing_bins *bins, size_t i);
double orr_timing_bin_high_ns(const struct orr_timing_bins *bins, size_t i);

/* "p99.9": of a fraction. */
const char *orr_timing_fraction_text(double fraction, char text[16]);

/* A generator with 64 bits of state (splitmix64; Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
 * 2014): the same numbers everywhere. */
uint64_t orr_timing_random(uint64_t *state);
/* A whole number below `bound` > 0. */
size_t orr_timing_below(uint64_t *state, size_t bound);

#endif
