/* Why was this frame late? Judged from its record alone, so that the judgement can be tested with numbers.
 *
 * A frame is late when it ends after the next tick (it overran) or starts more than `late_start_ns` after its own. An
 * overrun has three possible parts: the late start, the time lost inside the frame, and what the stages took beyond
 * their usual time without being held up. The largest is the cause. The last part is the page faults' if they can have
 * taken that long, else the stage's that exceeded its usual time most.
 */
#ifndef ORR_RT_TICK_VERDICT_H
#define ORR_RT_TICK_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "rt/tick/record.h"

struct orr_verdict_limits {
  int64_t period_ns;
  int64_t late_start_ns;
};

/* No minor fault takes longer than this (clearing a page and entering the kernel takes about one; more under a
 * hypervisor): a fault is blamed for no more lateness than this many ns. */
enum { ORR_MINOR_FAULT_MAX_NS = 20000 };

/* [init] A quarter of the period, at most 1 ms. */
int64_t orr_verdict_default_late_start_ns(int64_t period_ns);

/* [rt] Fills cause, stage and overran of a measured record. `usual_ns`: mean time of each stage in frames on time.
 * O(stages). */
void orr_verdict(struct orr_frame_record *record, const struct orr_verdict_limits *limits, const int64_t *usual_ns,
                 size_t stage_count);

/* [any] Whether the cause is our own: computing or page faults. */
bool orr_cause_is_own(enum orr_cause cause);
/* [any] A short name: "wake-up", "previous overran", "stage", … */
const char *orr_cause_name(enum orr_cause cause);

#endif
