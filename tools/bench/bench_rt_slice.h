/* One slice of wake-up measurement by our own executive or by cyclictest, under the same conditions. */
#ifndef ORR_TOOLS_BENCH_BENCH_RT_SLICE_H
#define ORR_TOOLS_BENCH_BENCH_RT_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/bench/latency_pool.h"

struct orr_slice_conditions {
  int core, priority;
  int64_t period_us;
  int64_t phase_us; /* of the grid on CLOCK_MONOTONIC */
  uint64_t frames;
};

/* Where the two choices of our executive ended up. */
struct orr_slice_outcome {
  int64_t phase_ns, margin_ns;
  bool real_time; /* had its core and its priority */
};

/* Runs the empty executive. `auto_phase` and `auto_spin` let it calibrate; otherwise it takes the phase given and does
 * not spin. Returns NULL, or what is wrong. */
const char *orr_slice_ours(const struct orr_slice_conditions *conditions, bool auto_phase, bool auto_spin,
                           struct orr_pool *pool, struct orr_slice_outcome *outcome);

/* Runs cyclictest, and puts back the samples of the periods it skips. Returns NULL, or what is wrong. */
const char *orr_slice_cyclictest(const struct orr_slice_conditions *conditions, struct orr_pool *pool);

#endif
