/* The absolute grid of ticks, in integer nanoseconds on CLOCK_MONOTONIC.
 *
 *   tick(n) = origin + n · period        origin ≡ phase (mod period)
 *
 * A tick is computed from its number, never from the one before, so nothing adds up and nothing drifts. When time is
 * lost (overrun policies) the origin moves by whole periods: the phase, which was chosen against the kernel's own tick,
 * stays. Order: orr_grid_init, then any. A grid belongs to one thread.
 */
#ifndef ORR_RT_TICK_GRID_H
#define ORR_RT_TICK_GRID_H

#include <stdbool.h>
#include <stdint.h>

/* 10 Hz to 20 kHz. */
#define ORR_PERIOD_MIN_NS INT64_C(50000)
#define ORR_PERIOD_MAX_NS INT64_C(100000000)

struct orr_grid {
  int64_t origin_ns; /* tick of frame 0, moved by every slip */
  int64_t period_ns;
  uint64_t skipped; /* periods the grid has moved by since the start */
};

/* [init] The first tick is the earliest one at or after `not_before_ns` with the phase `phase_ns` (taken modulo the
 * period). Returns false, and leaves the grid alone, when the period is outside the limits above. */
bool orr_grid_init(struct orr_grid *grid, int64_t period_ns, int64_t phase_ns, int64_t not_before_ns);

/* [rt] Tick of a frame, ns. */
int64_t orr_grid_tick_ns(const struct orr_grid *grid, uint64_t frame);

/* [rt] Moves the grid by the fewest whole periods that put the tick of `frame` at or after `now_ns`. Returns how
 * many. */
uint64_t orr_grid_slip(struct orr_grid *grid, uint64_t frame, int64_t now_ns);

#endif
