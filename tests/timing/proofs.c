/* What the loop may not do, proved from outside it: the kernel's counters, an allocator and a clock that count, and a system call filter
 * that kills. The wall clock is watched here too, because it is read without a system call: this program's own clock_gettime,
 * gettimeofday and time stand before libc's. */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/clock.h"
#include "rt/executive.h"
#include "tests/support/rig.h"

/* --- counting stand-ins, in force on a thread that watches ------------------------------------------------------------ */
static _Thread_local struct {
  int on;
  long allocations, wall_clock, monotonic;
} watch;

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name): libc's names, not ours to choose */
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

/* --- runs ------------------------------------------------------------------------------------------------------------- */
/* What a run leaves: read by the test's own hand from the kernel at the first and the last frame. */
struct evidence {
  struct rusage first, last;
  uint64_t last_frame;
  long allocations, wall_clock, monotonic;
  int spoil; /* what to do wrong at frame 3: 'm' malloc, 't' time(), 's' a system call, 'r' clock_gettime(CLOCK_REALTIME) by call */
  _Atomic int finished;
};

static void spoil(int how) {
  struct timespec t;
  void *volatile block = NULL;
  switch (how) {
  case 'm':
    block = malloc(100);
    free(block);
    break;
  case 't':
    time(NULL);
    break;
  case 's':
    syscall(SYS_getppid);
    break;
  case 'r':
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
    break;
  default:
    break;
  }
}

static int observe(void *user, struct orr_frame *frame) {
  struct evidence *e = user;
  if (frame->number == 0) {
    getrusage(RUSAGE_THREAD, &e->first);
    watch.on = 1;
  }
  if (frame->number == 3)
    spoil(e->spoil);
  if (frame->number == e->last_frame)
    getrusage(RUSAGE_THREAD, &e->last);
  return 0;
}

static int burn_a_little(void *user, struct orr_frame *frame) {
  (void)user;
  for (int i = 0; i < 20; i++)
    orr_frame_mark(frame);
  return 0;
}

static void conclude(void *user, const struct orr_rt_loop_result *result) {
  struct evidence *e = user;
  (void)result;
  watch.on = 0;
  e->allocations = watch.allocations;
  e->wall_clock = watch.wall_clock;
  e->monotonic = watch.monotonic;
  e->finished = 1;
}

static const struct orr_work observed = {
    .publish = {.name = "publish", .run = observe},
    .compute = {{.name = "compute", .run = burn_a_little, .mark_gap_ns = 1000000}},
    .compute_count = 1,
    .finish = conclude,
};

static struct orr_executive executive;

static void run(struct evidence *e, int64_t period_ns, uint64_t frames) {
  const struct orr_executive_options o = {
      .loop = {.period_ns = period_ns, .policy = ORR_OVERRUN_CATCH_UP, .catch_up_limit = 100, .frames = frames},
      .name = "proof",
      .core = ORR_CORE_AUTO,
      .priority = 60,
  };
  e->last_frame = frames - 1;
  const char *wrong = orr_executive_start(&executive, &o, &observed, e);
  if (wrong)
    fail_msg("%s", wrong);
  orr_executive_join(&executive);
  assert_int_equal(e->finished, 1);
}

static void assert_quiet(int64_t period_ns, uint64_t frames) {
  struct evidence e = {0};
  struct orr_live live;
  run(&e, period_ns, frames);
  assert_true(orr_stats_live(executive.segment.stats, &live));
  bool locked = true;
  for (unsigned i = 0; i < executive.lacks.count; i++)
    locked = locked && executive.lacks.entry[i].lack != ORR_LACK_MEMORY_LOCK;
  orr_executive_close(&executive);
  if (!locked)
    skip(); /* without the right to lock memory nobody can promise */
  assert_int_equal(e.last.ru_minflt - e.first.ru_minflt, 0);
  assert_int_equal(e.last.ru_majflt - e.first.ru_majflt, 0);
  assert_true(e.last.ru_nvcsw - e.first.ru_nvcsw <= (long)frames - 1);
  /* and the loop's own account says the same */
  assert_int_equal(live.minor_faults + live.major_faults, 0);
  assert_int_equal(live.voluntary, 0);
  assert_int_equal(live.frames, frames);
  assert_true(live.sleeps <= frames);
}

static void three_seconds_at_1_khz_take_no_fault_and_one_switch_a_frame(void **state) {
  (void)state;
  assert_quiet(1000000, 3000);
}

static void two_seconds_at_5_khz_take_no_fault_and_one_switch_a_frame(void **state) {
  (void)state;
  assert_quiet(200000, 10000);
}

static void the_loop_neither_allocates_nor_reads_the_wall_clock(void **state) {
  (void)state;
  struct evidence e = {0};
  run(&e, 1000000, 1000);
  orr_executive_close(&executive);
  assert_int_equal(e.allocations, 0);
  assert_int_equal(e.wall_clock, 0);
  assert_true(e.monotonic > 3000); /* the stand-in was in force */
}

static void the_watch_sees_an_allocation_and_a_wall_clock(void **state) {
  (void)state;
  struct evidence e = {.spoil = 'm'};
  run(&e, 1000000, 10);
  orr_executive_close(&executive);
  assert_int_equal(e.allocations, 2);
  e = (struct evidence){.spoil = 't'};
  run(&e, 1000000, 10);
  orr_executive_close(&executive);
  assert_int_equal(e.wall_clock, 1);
}

/* --- the filter ------------------------------------------------------------------------------------------------------- */
#define LOAD(field)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(value), 0, skip)
#define END(what)           BPF_STMT(BPF_RET | BPF_K, what)

/* Lets through: clock_nanosleep to an absolute time on CLOCK_MONOTONIC, getrusage of the thread, the thread's CPU clock (and
 * CLOCK_MONOTONIC, which is a system call where the vDSO cannot serve it), and the end of the process. */
static bool allow_only_the_loop(void) {
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

enum { NO_FILTER = 3 };

static int install(void *user, struct orr_frame *frame) {
  const struct evidence *e = user;
  if (frame->number == 0 && !allow_only_the_loop())
    _exit(NO_FILTER);
  if (frame->number == 3)
    spoil(e->spoil);
  return 0;
}

static void leave(void *user, const struct orr_rt_loop_result *result) {
  (void)user;
  (void)result;
  _exit(0); /* nothing else is allowed any more */
}

static const struct orr_work filtered = {
    .publish = {.name = "publish", .run = install},
    .compute = {{.name = "compute", .run = burn_a_little, .mark_gap_ns = 1000000}},
    .compute_count = 1,
    .finish = leave,
};

/* The wait status of a child whose loop runs behind the filter. */
static int run_filtered(int spoil_how) {
  static struct orr_stats stats;
  static struct orr_rt_loop loop;
  struct evidence e = {.spoil = spoil_how};
  const struct orr_rt_loop_options o = {
      .period_ns = 1000000, .margin_ns = 100000, .policy = ORR_OVERRUN_CATCH_UP, .catch_up_limit = 3, .frames = 500};
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    orr_stats_init(&stats, "filtered", o.period_ns);
    if (orr_rt_loop_init(&loop, &o, &filtered, &e, &stats))
      _exit(4);
    orr_rt_loop_run(&loop);
    _exit(5); /* finish does not return */
  }
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTER)
    skip();
  return status;
}

static void the_loop_makes_no_system_call_but_its_three(void **state) {
  (void)state;
  int status = run_filtered(0);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_filter_kills_at_any_other_call_and_at_the_wall_clock(void **state) {
  (void)state;
  for (const char *how = "sr"; *how; how++) {
    int status = run_filtered(*how);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSYS);
  }
}

int main(void) {
  void *found = dlsym(RTLD_NEXT, "clock_gettime");
  memcpy(&libc_clock_gettime, &found, sizeof found);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_seconds_at_1_khz_take_no_fault_and_one_switch_a_frame),
      cmocka_unit_test(two_seconds_at_5_khz_take_no_fault_and_one_switch_a_frame),
      cmocka_unit_test(the_loop_neither_allocates_nor_reads_the_wall_clock),
      cmocka_unit_test(the_watch_sees_an_allocation_and_a_wall_clock),
      cmocka_unit_test(the_loop_makes_no_system_call_but_its_three),
      cmocka_unit_test(the_filter_kills_at_any_other_call_and_at_the_wall_clock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
