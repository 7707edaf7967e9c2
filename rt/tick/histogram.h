/* Log-linear histogram of durations in ns: fixed memory, every value below ORR_HISTOGRAM_LIMIT_NS known to 1 %.
 *
 * Values below 128 have a bucket each; above, every octave [2^k, 2^(k+1)) has 128 equal buckets, so a bucket is at most
 * 1/128 of its value wide. Larger values go to `overflow`, negative ones to `underflow`; both count as samples in
 * percentiles. One writer; readers in other threads or processes may read at any time: each count is atomic and only
 * grows. Order: zero the memory, then any.
 */
#ifndef ORR_RT_TICK_HISTOGRAM_H
#define ORR_RT_TICK_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
  ORR_HISTOGRAM_SUB_BITS = 7,
  ORR_HISTOGRAM_TOP_BIT = 36, /* limit 2^36 ns = 68.7 s */
  ORR_HISTOGRAM_BUCKETS = (ORR_HISTOGRAM_TOP_BIT - ORR_HISTOGRAM_SUB_BITS + 1) << ORR_HISTOGRAM_SUB_BITS,
};
#define ORR_HISTOGRAM_LIMIT_NS (INT64_C(1) << ORR_HISTOGRAM_TOP_BIT)

struct orr_histogram {
  _Atomic uint64_t underflow; /* samples < 0 */
  _Atomic uint64_t overflow;  /* samples ≥ the limit */
  _Atomic uint64_t total;     /* all samples */
  _Atomic int64_t sum_ns;     /* of all samples, whatever their bucket */
  _Atomic int64_t min_ns;     /* valid when total > 0 */
  _Atomic int64_t max_ns;
  _Atomic uint64_t bucket[ORR_HISTOGRAM_BUCKETS];
};

/* [rt] Counts one sample. O(1), wait-free. */
void orr_histogram_add(struct orr_histogram *h, int64_t value_ns);

/* [rt] Counts the samples top, top − step, … (count of them): what the ticks of skipped periods would have measured.
 * O(count) or O(buckets), whichever is less. step > 0. */
void orr_histogram_add_ramp(struct orr_histogram *h, int64_t top_ns, int64_t step_ns, uint64_t count);

/* [any] The value that `fraction` (0…1) of the samples do not exceed: the upper end of its bucket, within [min, max]; 0
 * when empty. O(buckets). */
int64_t orr_histogram_percentile_ns(const struct orr_histogram *h, double fraction);

/* [any] 0 when empty. */
double orr_histogram_mean_ns(const struct orr_histogram *h);

/* [any] Bucket of a value in [0, limit), and the least value of a bucket. Public so that a test shows that no value
 * falls between two buckets. */
size_t orr_histogram_index(int64_t value_ns);
int64_t orr_histogram_floor_ns(size_t index);

#endif
