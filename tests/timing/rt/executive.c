/* The executive around its cycle: thread, core, priority, calibration, the shared block, and what happens when
 * rights are missing. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/executive.h"
#include "rt/tick/clock.h"
#include "rt/tick/wait.h"
#include "tests/support/rig.h"

enum { MS = ORR_NS_PER_MS };

static struct orr_executive executive;
static struct orr_rig rig;

static struct orr_executive_options options(uint64_t frames) {
  return (struct orr_executive_options){
      .cycle = {.period_ns = MS, .policy = ORR_OVERRUN_CATCH_UP, .catch_up_limit = 3, .frames = frames},
      .name = "test run",
      .core = ORR_CORE_AUTO,
      .priority = 60,
  };
}

static void start(const struct orr_executive_options *o) {
  const char *wrong = orr_executive_start(&executive, o, &orr_rig_work, &rig);
  if (wrong)
    fail_msg("%s", wrong);
}

static bool lacks(enum orr_lack lack) {
  for (unsigned i = 0; i < executive.lacks.count; i++)
    if (executive.lacks.entry[i].lack == lack)
      return true;
  return false;
}

struct placement {
  int core, policy, priority;
  sigset_t blocked;
};

static void look_around(void *context, struct orr_frame *frame) {
  struct placement *p = context;
  struct sched_param param;
  (void)frame;
  p->core = sched_getcpu();
  pthread_getschedparam(pthread_self(), &p->policy, &param);
  p->priority = param.sched_priority;
  pthread_sigmask(SIG_SETMASK, NULL, &p->blocked);
}

static void the_loop_has_its_core_its_priority_and_no_signals(void **state) {
  (void)state;
  struct placement p = {0};
  cpu_set_t before, during, after;
  rig = (struct orr_rig){.every_frame = look_around, .context = &p};
  struct orr_executive_options o = options(50);
  sched_getaffinity(0, sizeof before, &before);
  start(&o);
  sched_getaffinity(0, sizeof during, &during);
  orr_executive_join(&executive);
  if (lacks(ORR_LACK_AFFINITY) || lacks(ORR_LACK_PRIORITY)) {
    orr_executive_close(&executive);
    skip();
  }
  assert_int_equal(p.core, executive.core);
  assert_int_equal(p.policy, SCHED_FIFO);
  assert_int_equal(p.priority, 60);
  assert_true(sigismember(&p.blocked, SIGTERM));
  assert_false(CPU_ISSET((size_t)executive.core, &during));
  orr_executive_close(&executive);
  sched_getaffinity(0, sizeof after, &after);
  assert_true(CPU_EQUAL(&before, &after));
}

static void readers_see_a_running_block_and_disturb_nothing(void **state) {
  (void)state;
  struct orr_board reader;
  struct orr_live first, later;
  rig = (struct orr_rig){0};
  struct orr_executive_options o = options(0);
  start(&o);
  assert_int_equal(orr_board_open(&reader, executive.board.name), 0);
  assert_true(orr_board_alive(&reader));
  assert_string_equal(reader.stats->name, "test run");
  assert_int_equal(reader.stats->pid, getpid());
  do {
    usleep(1000);
    orr_executive_show(&executive);
    assert_true(orr_board_look(&reader));
  } while (orr_stats_live(reader.stats, &first) && first.frames == 0);
  for (int i = 0; i < 2000; i++) {
    struct orr_frame_record records[ORR_WORST_COUNT];
    orr_executive_show(&executive);
    assert_true(orr_board_look(&reader));
    assert_true(orr_stats_live(reader.stats, &later));
    assert_true(later.frames >= first.frames);
    assert_int_equal(later.last.frame + 1, later.frames); /* whole records only */
    orr_worst_read(&reader.stats->worst, records);
    usleep(50);
  }
  assert_true(later.frames > first.frames);
  assert_false(later.ended);
  orr_executive_stop(&executive);
  orr_executive_join(&executive);
  assert_true(orr_executive_ended(&executive));
  assert_int_equal(executive.cycle.result.end, ORR_CYCLE_STOPPED);
  assert_true(orr_board_look(&reader) && orr_stats_live(reader.stats, &later) && later.ended);
  orr_executive_close(&executive);
  assert_false(orr_board_alive(&reader));
  orr_board_close(&reader);
}

static void a_block_left_by_a_killed_process_is_swept_by_the_next_start(void **state) {
  (void)state;
  char left[ORR_BOARD_NAME_MAX], names[64][ORR_BOARD_NAME_MAX], shown;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    struct orr_board board;
    if (orr_board_create(&board) != 0)
      _exit(1);
    orr_stats_init(board.stats, "left", MS);
    orr_board_show(&board);
    if (write(ends[1], "", 1) == 1)
      pause();
    _exit(2);
  }
  /* opened while it lives: any run of the machine may sweep it from then on */
  close(ends[1]);
  assert_int_equal(read(ends[0], &shown, 1), 1);
  close(ends[0]);
  snprintf(left, sizeof left, ORR_BOARD_PREFIX "%ld", (long)child);
  struct orr_board reader;
  assert_int_equal(orr_board_open(&reader, left), 0);
  assert_true(orr_board_alive(&reader));
  int status;
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  assert_true(WIFSIGNALED(status));
  assert_false(orr_board_alive(&reader));
  orr_board_close(&reader);
  rig = (struct orr_rig){0};
  struct orr_executive_options o = options(5);
  start(&o);
  size_t count = orr_board_list(names, 64);
  bool own = false;
  for (size_t i = 0; i < count; i++) {
    assert_string_not_equal(names[i], left);
    own = own || strcmp(names[i], executive.board.name) == 0;
  }
  assert_true(own);
  orr_executive_close(&executive);
}

static void a_file_that_is_no_block_is_refused(void **state) {
  (void)state;
  char path[ORR_BOARD_NAME_MAX + 16], name[ORR_BOARD_NAME_MAX];
  struct orr_board reader;
  snprintf(name, sizeof name, "orrery.notrt.%ld", (long)getpid());
  snprintf(path, sizeof path, "/dev/shm/%s", name);
  assert_int_equal(orr_board_open(&reader, name), ENOENT);
  int fd = open(path, O_CREAT | O_RDWR, 0600);
  assert_true(fd >= 0);
  assert_int_equal(orr_board_open(&reader, name), EPROTO);
  assert_int_equal(ftruncate(fd, (off_t)sizeof(struct orr_stats)), 0); /* the right size, full of zeros */
  assert_int_equal(orr_board_open(&reader, name), EPROTO);
  close(fd);
  unlink(path);
}

static void a_stop_during_calibration_is_not_lost(void **state) {
  (void)state;
  rig = (struct orr_rig){0};
  struct orr_executive_options o = options(0);
  o.cycle.phase_ns = o.cycle.margin_ns = ORR_AUTO_NS;
  o.calibrate_ns = 300 * MS;
  /* the stop comes from a child, through a signal, while start is blocked */
  pid_t child = fork();
  if (child == 0) { /* statistics are shown when all is prepared, before the calibration */
    char name[ORR_BOARD_NAME_MAX];
    struct orr_board shown;
    snprintf(name, sizeof name, ORR_BOARD_PREFIX "%ld", (long)getppid());
    for (int i = 0; i < 60000 && orr_board_open(&shown, name) != 0; i++)
      usleep(1000);
    usleep(150000);
    kill(getppid(), SIGUSR1);
    _exit(0);
  }
  start(&o);
  waitpid(child, NULL, 0);
  orr_executive_join(&executive);
  assert_int_equal(executive.cycle.result.end, ORR_CYCLE_STOPPED);
  assert_int_equal(rig.finished, 1);
  orr_executive_close(&executive);
}

static void stop_on_signal(int signal) {
  (void)signal;
  orr_executive_stop(&executive);
}

static void calibration_is_bounded_and_within_its_ranges(void **state) {
  (void)state;
  const int64_t periods_ns[] = {50000, 200000, MS, 3333333, 100 * MS};
  for (size_t i = 0; i < sizeof periods_ns / sizeof *periods_ns; i++) {
    rig = (struct orr_rig){0};
    struct orr_executive_options o = options(2);
    o.cycle.period_ns = periods_ns[i];
    o.cycle.phase_ns = o.cycle.margin_ns = ORR_AUTO_NS;
    o.calibrate_ns = 100 * MS;
    start(&o);
    orr_executive_join(&executive);
    const struct orr_calibration *c = &executive.calibration;
    /* A sample rests for a period, for 2 ms at most: so many fit into the budget and one begins in time. A busy machine
     * has fewer. */
    int64_t most = o.calibrate_ns / (periods_ns[i] < 2 * MS ? periods_ns[i] : 2 * MS) + 1;
    assert_in_range(c->phase_samples, 1, most / ORR_PHASES + 1);
    assert_in_range(c->margin_samples, 1, most);
    assert_true(c->phase_ns >= 0 && c->phase_ns < periods_ns[i]);
    assert_true(c->margin_ns > 0 && c->margin_ns <= periods_ns[i]);
    assert_int_equal(executive.board.stats->margin_ns, c->margin_ns);
    assert_false(orr_setup_throttles(periods_ns[i], c->margin_ns, o.priority));
    assert_int_equal((rig.tick_ns[0] - c->phase_ns) % periods_ns[i], 0);
    orr_executive_close(&executive);
  }
}

/* In a child without any right: what the test of the same name expects, as an exit status. */
static int run_without_rights(bool strict) {
  const struct rlimit nothing = {0, 0};
  setrlimit(RLIMIT_MEMLOCK, &nothing);
  setrlimit(RLIMIT_RTPRIO, &nothing);
  if (setgid(65534) != 0 || setuid(65534) != 0)
    return 77;
  struct orr_executive_options o = options(20);
  o.strict = strict;
  rig = (struct orr_rig){0};
  const char *wrong = orr_executive_start(&executive, &o, &orr_rig_work, &rig);
  orr_executive_join(&executive);
  bool expected = lacks(ORR_LACK_PRIORITY) && lacks(ORR_LACK_MEMORY_LOCK) && lacks(ORR_LACK_DMA_LATENCY);
  expected = expected && (strict ? wrong != NULL && rig.next_frame == 0 : wrong == NULL && rig.next_frame == 20);
  orr_executive_close(&executive);
  return expected ? 0 : 1;
}

static void in_child(bool strict) {
  pid_t child = fork();
  if (child == 0)
    _exit(run_without_rights(strict));
  int status;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77)
    skip();
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void without_rights_it_runs_and_says_what_is_missing(void **state) {
  (void)state;
  in_child(false);
}

static void without_rights_strict_refuses_to_start(void **state) {
  (void)state;
  in_child(true);
}

static void one_that_was_prepared_flies_from_go_on_and_not_at_all_without(void **state) {
  (void)state;
  struct orr_executive_options o = options(20);
  o.cycle.phase_ns = o.cycle.margin_ns = ORR_AUTO_NS;
  o.calibrate_ns = 50 * MS;
  for (int go = 0; go < 2; go++) {
    rig = (struct orr_rig){0};
    assert_null(orr_executive_prepare(&executive, &o, &orr_rig_work, &rig));
    assert_true(executive.calibration.margin_ns >= 0 && executive.cycle.options.margin_ns >= 0);
    int64_t ready_ns = orr_clock_now_ns();
    const struct timespec nap = {.tv_nsec = 30 * MS};
    nanosleep(&nap, NULL);
    assert_int_equal(rig.next_frame, 0);
    assert_int_equal(executive.board.stats->first_tick_ns, 0);
    if (go)
      orr_executive_go(&executive);
    orr_executive_join(&executive);
    assert_int_equal(rig.next_frame, go ? 20 : 0);
    assert_true(!go || executive.board.stats->first_tick_ns > ready_ns + 30 * MS);
    orr_executive_close(&executive);
  }
}

static void every_lack_says_what_follows_and_what_to_do(void **state) {
  (void)state;
  for (unsigned i = 0; i < ORR_LACK_COUNT; i++) {
    assert_non_null(orr_lack_what((enum orr_lack)i));
    assert_non_null(orr_lack_consequence((enum orr_lack)i));
    assert_non_null(orr_lack_remedy((enum orr_lack)i));
  }
}

/* Waiting, on the clock. */
static void a_wait_ends_at_its_tick_and_not_before(void **state) {
  (void)state;
  const int64_t margins_ns[] = {0, MS / 2, 3 * MS};
  for (size_t i = 0; i < 3; i++) {
    struct orr_wait wait;
    int64_t tick_ns = orr_clock_now_ns() + 3 * MS;
    orr_wait_until(tick_ns, margins_ns[i], &wait);
    assert_true(orr_clock_now_ns() >= tick_ns && wait.start_ns >= tick_ns);
    assert_int_equal(wait.slept, margins_ns[i] < 3 * MS);
    assert_true(wait.woke_ns >= wait.asked_ns);
  }
}

static void a_tick_in_the_past_does_not_wait(void **state) {
  (void)state;
  struct orr_wait wait;
  int64_t now_ns = orr_clock_now_ns();
  orr_wait_until(now_ns - MS, 0, &wait);
  assert_false(wait.slept);
  assert_true(wait.start_ns >= now_ns);
}

static void do_nothing(int signal) { (void)signal; }

static void a_signal_does_not_end_a_wait_early(void **state) {
  (void)state;
  struct orr_wait wait;
  const struct sigaction act = {.sa_handler = do_nothing};
  sigaction(SIGUSR2, &act, NULL);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 5; i++) {
      usleep(5000);
      kill(getppid(), SIGUSR2);
    }
    _exit(0);
  }
  int64_t tick_ns = orr_clock_now_ns() + 50 * MS, cpu_ns = orr_clock_thread_cpu_ns();
  orr_wait_until(tick_ns, 0, &wait);
  assert_true(wait.start_ns >= tick_ns);
  assert_true(orr_clock_thread_cpu_ns() - cpu_ns < 10 * MS); /* it slept on, it did not spin the rest */
  waitpid(child, NULL, 0);
}

int main(void) {
  const struct sigaction act = {.sa_handler = stop_on_signal};
  sigaction(SIGUSR1, &act, NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wait_ends_at_its_tick_and_not_before),
      cmocka_unit_test(a_tick_in_the_past_does_not_wait),
      cmocka_unit_test(a_signal_does_not_end_a_wait_early),
      cmocka_unit_test(the_loop_has_its_core_its_priority_and_no_signals),
      cmocka_unit_test(readers_see_a_running_block_and_disturb_nothing),
      cmocka_unit_test(a_block_left_by_a_killed_process_is_swept_by_the_next_start),
      cmocka_unit_test(a_file_that_is_no_block_is_refused),
      cmocka_unit_test(a_stop_during_calibration_is_not_lost),
      cmocka_unit_test(calibration_is_bounded_and_within_its_ranges),
      cmocka_unit_test(without_rights_it_runs_and_says_what_is_missing),
      cmocka_unit_test(without_rights_strict_refuses_to_start),
      cmocka_unit_test(one_that_was_prepared_flies_from_go_on_and_not_at_all_without),
      cmocka_unit_test(every_lack_says_what_follows_and_what_to_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
