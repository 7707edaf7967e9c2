/* A system call filter for the executive's thread: whatever else is called kills the process with SIGSYS. */
#ifndef ORR_TESTS_SUPPORT_FILTER_H
#define ORR_TESTS_SUPPORT_FILTER_H

#include <stdbool.h>

/* Lets through from now on: clock_nanosleep to an absolute time on CLOCK_MONOTONIC, getrusage of the thread, the
 * thread's CPU clock (and CLOCK_MONOTONIC, which is a system call where the vDSO cannot serve it), and the end of the
 * process. False where the kernel refuses filters. */
bool orr_filter_allow_only_the_loop(void);

#endif
