#include "rt/tick/histogram.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>

enum { SUB = 1 << ORR_HISTOGRAM_SUB_BITS };

size_t orr_histogram_index(int64_t value_ns) {
  assert(value_ns >= 0 && value_ns < ORR_HISTOGRAM_LIMIT_NS);
  if (value_ns < SUB)
    return (size_t)value_ns;
  int octave = 63 - __builtin_clzll((unsigned long long)value_ns);
  int shift = octave - ORR_HISTOGRAM_SUB_BITS;
  return ((size_t)(shift + 1) << ORR_HISTOGRAM_SUB_BITS) + (size_t)((value_ns >> shift) - SUB);
}

int64_t orr_histogram_floor_ns(size_t index) {
  if (index < SUB)
    return (int64_t)index;
  size_t shift = (index >> ORR_HISTOGRAM_SUB_BITS) - 1;
  return (int64_t)(SUB + (index & (SUB - 1))) << shift;
}

/* A single writer needs no read-modify-write, which would cost a locked instruction for each count. */
static void grow(_Atomic uint64_t *count, uint64_t by) {
  atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *count) { return atomic_load_explicit(count, memory_order_relaxed); }
static int64_t get_ns(const _Atomic int64_t *value) { return atomic_load_explicit(value, memory_order_relaxed); }
static void put_ns(_Atomic int64_t *value, int64_t to) { atomic_store_explicit(value, to, memory_order_relaxed); }

static void count_range(struct orr_histogram *h, int64_t least_ns, int64_t most_ns, int64_t sum_ns, uint64_t samples) {
  uint64_t before = get(&h->total);
  if (before == 0 || least_ns < get_ns(&h->min_ns))
    put_ns(&h->min_ns, least_ns);
  if (before == 0 || most_ns > get_ns(&h->max_ns))
    put_ns(&h->max_ns, most_ns);
  put_ns(&h->sum_ns, get_ns(&h->sum_ns) + sum_ns);
  /* last, and released: who sees the total sees min and max that belong to it */
  atomic_store_explicit(&h->total, before + samples, memory_order_release);
}

static _Atomic uint64_t *place(struct orr_histogram *h, int64_t value_ns) {
  if (value_ns < 0)
    return &h->underflow;
  return value_ns < ORR_HISTOGRAM_LIMIT_NS ? &h->bucket[orr_histogram_index(value_ns)] : &h->overflow;
}

/* Least value that is counted in the same place as `value_ns`. */
static int64_t place_floor_ns(int64_t value_ns) {
  if (value_ns < 0)
    return INT64_MIN;
  return value_ns < ORR_HISTOGRAM_LIMIT_NS ? orr_histogram_floor_ns(orr_histogram_index(value_ns))
                                           : ORR_HISTOGRAM_LIMIT_NS;
}

void orr_histogram_add(struct orr_histogram *h, int64_t value_ns) {
  grow(place(h, value_ns), 1);
  count_range(h, value_ns, value_ns, value_ns, 1);
}

void orr_histogram_add_ramp(struct orr_histogram *h, int64_t top_ns, int64_t step_ns, uint64_t count) {
  assert(step_ns > 0);
  if (count == 0)
    return;
  int64_t last_ns = top_ns - (int64_t)(count - 1) * step_ns;
  int64_t sum_ns = (int64_t)count * last_ns + (int64_t)(count * (count - 1) / 2) * step_ns;
  for (int64_t value_ns = top_ns; value_ns >= last_ns;) {
    int64_t least_ns = place_floor_ns(value_ns) > last_ns ? place_floor_ns(value_ns) : last_ns;
    int64_t here = (value_ns - least_ns) / step_ns + 1;
    grow(place(h, value_ns), (uint64_t)here);
    value_ns -= here * step_ns;
  }
  count_range(h, last_ns, top_ns, sum_ns, count);
}

static int64_t clamp_ns(int64_t value_ns, int64_t low_ns, int64_t high_ns) {
  return value_ns < low_ns ? low_ns : value_ns > high_ns ? high_ns : value_ns;
}

int64_t orr_histogram_percentile_ns(const struct orr_histogram *h, double fraction) {
  uint64_t total = atomic_load_explicit(&h->total, memory_order_acquire);
  if (total == 0)
    return 0;
  int64_t min_ns = get_ns(&h->min_ns), max_ns = get_ns(&h->max_ns);
  uint64_t rank = (uint64_t)ceil(fraction * (double)total);
  uint64_t seen = get(&h->underflow);
  if (rank <= (seen ? seen : 1))
    return min_ns;
  for (size_t i = 0; i < ORR_HISTOGRAM_BUCKETS; i++) {
    seen += get(&h->bucket[i]);
    if (seen >= rank)
      return clamp_ns(orr_histogram_floor_ns(i + 1) - 1, min_ns, max_ns);
  }
  return max_ns;
}

double orr_histogram_mean_ns(const struct orr_histogram *h) {
  uint64_t total = atomic_load_explicit(&h->total, memory_order_acquire);
  return total ? (double)get_ns(&h->sum_ns) / (double)total : 0.0;
}
