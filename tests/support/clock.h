/* Waiting, and the time that it took, in tests of what runs beside them. */
#ifndef ORR_TESTS_SUPPORT_CLOCK_H
#define ORR_TESTS_SUPPORT_CLOCK_H

#include <time.h>

static inline void nap_ms(long ms) {
  const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

static inline double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
