#!/bin/sh
# What the counted guest of tests/all/rt-vm.sh is worth:
#   padded   boot images that are 1, 3 and 7 MB longer are not reported
#   caught   50 instructions more in each stage of each of three spacecraft, a lowered priority, a page fault a second,
#            and a lock that is shared with a housekeeping thread, each reported by its name; 49 instructions, and
#            nothing at all before and behind, are not
#   boots    BOOTS=40 at a host load of LOAD=6 give one checksum, or the rate is told
# With JOBS="padded caught" only these. With KEEP=FOLDER consoles and results stay there.
set -u
export "ORRERY=${ORRERY:-$PWD/build/release/orrery}"
dir=${KEEP:-$(mktemp -d)}
mkdir -p "$dir"
. tests/support/guest.sh
burners=
cleanup() {
  guest_end
  # shellcheck disable=SC2086
  [ -z "$burners" ] || kill $burners 2>/dev/null
  [ -n "${KEEP:-}" ] || rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
guest_needs python3 chrt
guest_kernel "${RT_KERNEL:-}"
guest_files "$ORRERY" "$(dirname "$ORRERY")/fsw" "$(command -v chrt)"
status=0
failed() {
  echo "FAIL: $1"
  status=1
}
wanted() { case " ${JOBS:-padded caught boots} " in *" $1 "*) ;; *) return 1 ;; esac }

if wanted padded; then
  guest_pack "$dir/initrd"
  guest_counted 0 counted
  for more in 1 3 7; do
    head -c ${more}000000 /dev/urandom >"$root/padding"
    guest_pack "$dir/initrd.$more"
    guest_counted $more counted "$dir/initrd.$more"
    figures beside "$dir/0.figures" "$dir/$more.figures"
    figures judge "$dir/0.figures" "$dir/$more.figures" || failed "an image that is $more MB longer is reported"
  done
  rm -f "$root/padding"
fi

# A program that is linked from what was built, with a seam where the executive takes its stages: the product has none.
seam() {
  cat >"$dir/seam.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "rt/executive.h"

/* So many instructions in front of a stage, and not one besides: the last of them goes on to the stage itself. */
orr_stage_fn *orr_seam_next;
int orr_seam_49(void *user, struct orr_frame *frame);
int orr_seam_50(void *user, struct orr_frame *frame);
__asm__(".globl orr_seam_49\norr_seam_49:\n.rept 48\nnop\n.endr\njmp *orr_seam_next(%rip)\n"
        ".globl orr_seam_50\norr_seam_50:\n.rept 49\nnop\n.endr\njmp *orr_seam_next(%rip)\n");

/* A page is given back once a second of flight, and touched. */
static char *page;
static int fault(void *user, struct orr_frame *frame) {
  if (frame->number % 500 == 250) {
    munlock(page, 4096);
    madvise(page, 4096, MADV_DONTNEED);
    page[0] = 1;
  }
  return orr_seam_next(user, frame);
}

/* Housekeeping works for a quarter of a millisecond with the lock in its hands, and rests for less: no whole number of turns makes a frame of 2 ms, so the two meet. */
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static void *housekeep(void *none) {
  for (;;) {
    struct timespec now, end;
    pthread_mutex_lock(&shared);
    clock_gettime(CLOCK_MONOTONIC, &end);
    do
      clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec - end.tv_nsec < 250000);
    pthread_mutex_unlock(&shared);
    nanosleep(&(struct timespec){0, 170000}, NULL);
  }
  return none;
}
static int lock(void *user, struct orr_frame *frame) {
  pthread_mutex_lock(&shared);
  pthread_mutex_unlock(&shared);
  return orr_seam_next(user, frame);
}

const char *__real_orr_executive_prepare(struct orr_executive *e, const struct orr_executive_options *o, const struct orr_work *work, void *user);
const char *__wrap_orr_executive_prepare(struct orr_executive *e, const struct orr_executive_options *o, const struct orr_work *work, void *user) {
  static struct orr_work mine;
  struct orr_executive_options options = *o;
  char word[32];
  int number;
  pthread_t thread;
  if (sscanf(getenv("SEAM"), "%31[a-z].%d", word, &number) != 2)
    return "SEAM is WORD.NUMBER";
  mine = *work;
  struct orr_stage *stage = NULL;
  for (size_t i = 0; i < mine.stage_count; i++)
    if (strcmp(mine.stages[i].name, word) == 0 || ((strcmp(word, "fault") == 0 || strcmp(word, "lock") == 0) && strcmp(mine.stages[i].name, "record") == 0))
      stage = &mine.stages[i];
  if (strcmp(word, "priority") == 0)
    options.priority = number;
  else if (!stage && strcmp(word, "none") != 0)
    return "SEAM names no stage";
  if (stage) {
    orr_seam_next = stage->run;
    stage->run = strcmp(word, "fault") == 0 ? fault : strcmp(word, "lock") == 0 ? lock : number == 49 ? orr_seam_49 : orr_seam_50;
  }
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (strcmp(word, "lock") == 0 && pthread_create(&thread, NULL, housekeep, NULL) != 0)
    return "no thread for housekeeping";
  return __real_orr_executive_prepare(e, &options, &mine, user);
}
END
  built=$(dirname "$(readlink -f "$ORRERY")")
  # shellcheck disable=SC2046
  ${CC:-gcc} -std=c17 -O2 -D_GNU_SOURCE -pthread -fPIE -pie -I. "$dir/seam.c" "$built/tools/main.o" "$built/libtools.a" "$built/libclient.a" "$built/libio.a" \
    "$built/librt.a" "$built/libcore.a" -Wl,--wrap=orr_executive_prepare -Wl,--as-needed $(pkg-config --libs libfyaml jansson liburing erfa libzstd libsodium) -lm \
    -o "$dir/orrery-seam" >"$dir/seam.said" 2>&1 || {
    cat "$dir/seam.said"
    failed 'the program with a seam cannot be linked'
    exit 1
  }
  strip "$dir/orrery-seam"
}
of() { # WHAT: its figures, as those of $spacecraft idle
  grep "^$spacecraft $1 " "$dir/caught.figures" | sed "s/^$spacecraft $1 /$spacecraft idle /"
}
reported() { # WHAT [WORDS]: beside a flight as it is, FAIL with these words; or nothing, without words
  of "$1" >"$dir/now"
  figures judge "$dir/base" "$dir/now" >"$dir/said"
  case $? in 0) caught= ;; *) caught=yes ;; esac
  if [ -z "${2:-}" ] && [ -z "$caught" ]; then
    echo "ok: $spacecraft $1 is not reported"
  elif [ -n "${2:-}" ] && grep -q "^FAIL: $spacecraft idle: $2" "$dir/said"; then
    echo "ok: $1: $(grep "$2" "$dir/said")"
  else
    failed "$spacecraft $1: $(cat "$dir/said" "$dir/now")"
  fi
}
if wanted caught; then
  seam
  put "$dir/orrery-seam"
  guest_pack "$dir/initrd.caught"
  guest_counted caught caught "$dir/initrd.caught"
  longer() { # each stage of $spacecraft, 50 instructions longer
    for stage in publish latch record integrate sensors; do
      reported $stage.50 "stage $stage has 50 instructions more than its [0-9]*$"
      [ "$(grep -c '^FAIL' "$dir/said")" -eq 1 ] || failed "$spacecraft $stage.50 is more than one: $(cat "$dir/said")"
    done
  }
  for spacecraft in reference cassini; do
    of none.0 >"$dir/base"
    longer
    reported none.2
  done
  spacecraft=cubesat
  of none.0 >"$dir/base"
  reported none.1
  reported publish.49
  longer
  reported priority.40 'the priority of the executive is 40, not 80$'
  reported fault.1 '[1-9][0-9]* page faults in frames, not 0$'
  reported lock.1 '[1-9][0-9]* voluntary switches in frames'
  reported none.2
  rm -f "$root/bin/orrery-seam"
fi

if wanted boots; then
  for _ in $(seq "${LOAD:-6}"); do
    sh -c 'while :; do :; done' &
    burners="$burners $!"
  done
  KEEP='' GUEST_NICE=0 JOBS=counted BOOTS=${BOOTS:-40} tests/all/rt-vm.sh || status=1
fi
exit $status
