/* Waiting for a tick: sleep until a margin before it, then spin with pause.
 *
 * Margin 0 sleeps to the tick and takes the wake-up latency as it comes; a margin above that latency hides it; a margin
 * of a full period never sleeps. Only the rt thread waits.
 */
#ifndef ORR_RT_TICK_WAIT_H
#define ORR_RT_TICK_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct orr_wait {
  bool slept;          /* the thread gave up its core at least once */
  int64_t asked_ns;    /* end of the sleep that was asked for: tick − margin */
  int64_t asleep_ns;   /* time-stamp before the sleep; equals entry when there was none */
  int64_t woke_ns;     /* time-stamp after the sleep */
  int64_t start_ns;    /* time-stamp at the end of the wait: at or after the tick */
  int64_t spin_gap_ns; /* longest stretch between two looks at the clock while spinning */
};

/* [rt] Waits for `tick_ns`, spinning for the last `margin_ns` (≥ 0) of it. A tick in the past returns at once. Two
 * system calls at most per signal handled, one when there is none; the spin is bounded by the margin. Cannot fail. */
void orr_wait_until(int64_t tick_ns, int64_t margin_ns, struct orr_wait *wait);

#endif
