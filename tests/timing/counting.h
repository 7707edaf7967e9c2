/* Stand-ins for libc's allocator and clocks that count what the calling thread does while it watches. Defined here: for
 * one file of a program. They stand before libc's in the whole program; find_libc_clock comes first in main. */
#ifndef ORR_TESTS_TIMING_COUNTING_H
#define ORR_TESTS_TIMING_COUNTING_H

#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Thread_local struct {
  int on;
  long allocations, wall_clock, monotonic;
} watch;

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name): libc's names, not ours
 * to choose */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);

void *malloc(size_t bytes) {
  watch.allocations += watch.on;
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  watch.allocations += watch.on;
  return __libc_calloc(count, bytes);
}
void *realloc(void *block, size_t bytes) {
  watch.allocations += watch.on;
  return __libc_realloc(block, bytes);
}
void free(void *block) {
  watch.allocations += watch.on;
  __libc_free(block);
}

typedef int clock_gettime_fn(clockid_t, struct timespec *);
static clock_gettime_fn *libc_clock_gettime;

int clock_gettime(clockid_t clock, struct timespec *t) {
  if (watch.on && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI))
    watch.wall_clock++;
  if (watch.on && clock == CLOCK_MONOTONIC)
    watch.monotonic++;
  return libc_clock_gettime ? libc_clock_gettime(clock, t) : (int)syscall(SYS_clock_gettime, clock, t);
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  (void)zone;
  watch.wall_clock += watch.on;
  return (int)syscall(SYS_gettimeofday, t, NULL);
}

time_t time(time_t *t) {
  watch.wall_clock += watch.on;
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  if (t)
    *t = now.tv_sec;
  return now.tv_sec;
}

/* NOLINTEND(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name) */

static void find_libc_clock(void) {
  void *found = dlsym(RTLD_NEXT, "clock_gettime");
  memcpy(&libc_clock_gettime, &found, sizeof found);
}

#endif
