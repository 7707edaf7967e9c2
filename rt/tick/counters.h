/* What the kernel counts about the calling thread: faults, switches, CPU time.
 *
 * The executive reads them once a frame, after the work and before the sleep, in time it would have slept anyway; a
 * frame is judged from the difference of two readings. Two system calls, about 1 µs together; neither takes a file, a
 * socket or a lock of ours.
 */
#ifndef ORR_RT_TICK_COUNTERS_H
#define ORR_RT_TICK_COUNTERS_H

#include <stdint.h>

struct orr_counters {
  uint64_t minor_faults;
  uint64_t major_faults;
  uint64_t voluntary;
  uint64_t involuntary;
  int64_t cpu_ns;
  int64_t wall_ns; /* CLOCK_MONOTONIC, read next to cpu_ns */
};

/* [rt] Reads the calling thread's counters. Cannot fail. */
void orr_counters_read(struct orr_counters *counters);

#endif
