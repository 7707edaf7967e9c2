#!/bin/sh
# The date jumps by days, forward and back, at each look of the run and of its flight software: lockstep has the bits of
# batch, and in real time every frame is flown and answered. The date is that of a library in front of the C library's;
# that of a whole machine is set in the guest (tests/all/rt-kernel/features.sh).
. tests/support/script.sh
[ -z "$(nm -D "$ORRERY" 2>/dev/null | grep asan)" ] || exit 77 # the sanitizer wants to be the first library
cat >"$dir/jump.c" <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static _Atomic unsigned looks;
/* Up to a month off, another each time; a line for the test that it was asked at all. */
static long jump(void) {
  unsigned k = ++looks;
  if (k == 1 && getenv("JUMPS")) {
    FILE *f = fopen(getenv("JUMPS"), "ae");
    if (f) {
      fputs("asked\n", f);
      fclose(f);
    }
  }
  return (long)(k * 2654435761u % 5000000) - 2500000;
}
int clock_gettime(clockid_t clock, struct timespec *t) {
  long status = syscall(SYS_clock_gettime, clock, t);
  if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI))
    t->tv_sec += jump();
  return (int)status;
}
time_t time(time_t *to) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  if (to)
    *to = t.tv_sec;
  return t.tv_sec;
}
int gettimeofday(struct timeval *to, void *zone) {
  struct timespec t;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &t);
  to->tv_sec = t.tv_sec;
  to->tv_usec = t.tv_nsec / 1000;
  return 0;
}
C
cc -shared -fPIC -O1 -o "$dir/jump.so" "$dir/jump.c" || fail "the library does not build"
jumping() { JUMPS="$dir/jumps" LD_PRELOAD="$dir/jump.so" "$@"; }
# shows that it does jump: two dates of one second differ by days
a=$(jumping sh -c 'date +%s; exec date +%s')
[ "$(echo "$a" | head -n 1)" != "$(date +%s)" ] && [ -s "$dir/jumps" ] || fail "the date does not jump: $a"
rm "$dir/jumps"

"$ORRERY" run configs/cubesat.yaml --mode batch --duration 20s >"$dir/batch" 2>&1 || fail "batch: $(cat "$dir/batch")"
for transport in shm udp; do
  over $transport configs/cubesat.yaml >"$dir/$transport.yaml"
  for mode in lockstep realtime; do
    duration=20
    [ $mode = lockstep ] || duration=5
    jumping "$fsw" "$(url_of $transport)" cubesat >"$dir/peer" 2>&1 &
    peer=$!
    jumping "$ORRERY" run "$dir/$transport.yaml" --mode $mode --duration ${duration}s --set realtime.priority=0 >"$dir/out" 2>"$dir/err" ||
      fail "$mode over $transport: $(cat "$dir/out" "$dir/err" "$dir/peer")"
    wait $peer || fail "$mode over $transport: flight software: $(cat "$dir/peer")"
    grep -q ": $((duration * 10)) frames out" "$dir/out" || fail "$mode over $transport: not every frame: $(cat "$dir/out")"
    grep -q 'timed out' "$dir/out" && fail "$mode over $transport: silence by the date: $(cat "$dir/out")"
    [ $mode = realtime ] || grep -q ' 0 of them late, 0 missed; 1 peers' "$dir/out" || fail "lockstep over $transport: $(cat "$dir/out")"
    [ $mode = realtime ] || [ "$(hash_of "$dir/out")" = "$(hash_of "$dir/batch")" ] || fail "lockstep over $transport has other bits"
  done
done
[ -s "$dir/jumps" ] || fail "nobody looked at the date, so nothing was shown" # names of logs have it
exit 0
