/* The one clock of the executive: CLOCK_MONOTONIC as integer nanoseconds.
 *
 * Nothing else in rt reads a clock, so that "the executive never reads the wall clock" is a property of one file.
 * Any thread.
 */
#ifndef ORR_RT_TICK_CLOCK_H
#define ORR_RT_TICK_CLOCK_H

#include <stdint.h>

enum { ORR_NS_PER_US = 1000, ORR_NS_PER_MS = 1000000 };
#define ORR_NS_PER_S INT64_C(1000000000)

/* [rt] Now, ns since an arbitrary origin; never goes back. Some 25 ns through the vDSO when the clock source is the
 * TSC; a system call otherwise (`orrery doctor` says so). Cannot fail. */
int64_t orr_clock_now_ns(void);

/* [rt] CPU time of the calling thread, ns: what the kernel says it ran, without the time it stood in a queue, and
 * without time stolen by a hypervisor where the kernel accounts for it. A system call, about half a microsecond. */
int64_t orr_clock_thread_cpu_ns(void);

/* [rt] Sleeps until `at_ns` on CLOCK_MONOTONIC, absolute. Returns 0, or EINTR when a signal was handled. */
int orr_clock_sleep_until(int64_t at_ns);

#endif
