#include "tests/support/filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#define LOAD(field)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(value), 0, skip)
#define END(what)           BPF_STMT(BPF_RET | BPF_K, what)

bool orr_filter_allow_only_the_loop(void) {
  struct sock_filter code[] = {
      /*  0 */ LOAD(nr),
      /*  1 */ UNLESS(SYS_clock_nanosleep, 5),
      /*  2 */ LOAD(args[0]),
      /*  3 */ UNLESS(CLOCK_MONOTONIC, 14),
      /*  4 */ LOAD(args[1]),
      /*  5 */ UNLESS(TIMER_ABSTIME, 12),
      /*  6 */ END(SECCOMP_RET_ALLOW),
      /*  7 */ UNLESS(SYS_getrusage, 3),
      /*  8 */ LOAD(args[0]),
      /*  9 */ UNLESS(RUSAGE_THREAD, 8),
      /* 10 */ END(SECCOMP_RET_ALLOW),
      /* 11 */ UNLESS(SYS_clock_gettime, 4),
      /* 12 */ LOAD(args[0]),
      /* 13 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLOCK_MONOTONIC, 1, 0),
      /* 14 */ UNLESS(CLOCK_THREAD_CPUTIME_ID, 3),
      /* 15 */ END(SECCOMP_RET_ALLOW),
      /* 16 */ UNLESS(SYS_exit_group, 1),
      /* 17 */ END(SECCOMP_RET_ALLOW),
      /* 18 */ END(SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
