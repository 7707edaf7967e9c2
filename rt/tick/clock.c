#include "rt/tick/clock.h"

#include <time.h>

static int64_t read_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * ORR_NS_PER_S + t.tv_nsec;
}

int64_t orr_clock_now_ns(void) { return read_ns(CLOCK_MONOTONIC); }

int64_t orr_clock_thread_cpu_ns(void) { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

int orr_clock_sleep_until(int64_t at_ns) {
  const struct timespec t = {.tv_sec = at_ns / ORR_NS_PER_S, .tv_nsec = at_ns % ORR_NS_PER_S};
  return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}
