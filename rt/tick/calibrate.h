/* `phase: auto` and `spin: auto`: measured at start, on the thread and core that will run, within a bounded time.
 *
 * Phase: the kernel's own tick wakes at multiples of its period, and a deadline that meets it waits behind it.
 * Candidates over one period (over 1 ms when the period is whole milliseconds: kernel ticks are too) take turns, so
 * that noise is shared; each is scored by the 90th percentile of its start latency, and the score is smoothed around
 * the circle, so that the middle of a quiet stretch wins. Margin: from the tail of the wake-up latency at that phase; a
 * margin beyond half the period means that sleep does not pay, and becomes the full period (half of it where the kernel
 * would throttle that: see rt/executive.c). Order: phase, then margin, on the prepared rt thread.
 */
#ifndef ORR_RT_TICK_CALIBRATE_H
#define ORR_RT_TICK_CALIBRATE_H

#include <stddef.h>
#include <stdint.h>

enum { ORR_PHASES = 8, ORR_CALIBRATE_SAMPLES_MAX = 512 };

struct orr_calibration {
  int64_t phase_ns;
  int64_t margin_ns;
  int64_t score_ns[ORR_PHASES]; /* of phase i/ORR_PHASES of the fold: its 90th percentile */
  int64_t wake_up_p99_ns;       /* what the margin comes from */
  uint32_t phase_samples;       /* per candidate */
  uint32_t margin_samples;
};

/* [init] Measures for at most `budget_ns` and sets phase_ns, with `margin_ns` of spin before each tick (0 when it is to
 * be found). Blocks; on the thread that will run. */
void orr_calibrate_phase(struct orr_calibration *c, int64_t period_ns, int64_t margin_ns, int64_t budget_ns);

/* [init] Measures at c->phase_ns for at most `budget_ns` and sets margin_ns. */
void orr_calibrate_margin(struct orr_calibration *c, int64_t period_ns, int64_t budget_ns);

/* [any] The two decisions alone, public so that tests judge them without a clock. The phase with the lowest smoothed
 * score, as an index: */
size_t orr_calibrate_best_phase(const int64_t score_ns[ORR_PHASES]);
/* The margin for a 99th percentile of wake-up latency: */
int64_t orr_calibrate_margin_for(int64_t wake_up_p99_ns, int64_t period_ns);

#endif
