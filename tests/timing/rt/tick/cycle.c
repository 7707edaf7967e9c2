/* The cycle on the clock: order, grid, policies, and each cause of lateness provoked. Effects are tens of
 * milliseconds at a period of 10, far above what a busy machine adds, and a frame is judged by its own record. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/tick/calm.h"
#include "rt/tick/clock.h"
#include "tests/support/rig.h"

enum { MS = ORR_NS_PER_MS, PERIOD = 10 * MS, FAULT_FRAME = 5 };

static struct orr_stats stats;
static struct orr_live live;
static struct orr_rig rig;
static struct orr_frame_record record;

static struct orr_cycle_options options(uint64_t frames) {
  return (struct orr_cycle_options){
      .period_ns = PERIOD, .policy = ORR_OVERRUN_CATCH_UP, .catch_up_limit = 10, .frames = frames};
}

static const struct orr_frame_record *frame(uint64_t number) {
  const struct orr_frame_record *r = orr_rig_find(&stats, number, &record);
  if (!r)
    fail_msg("frame %lu is not among the worst", (unsigned long)number);
  return r;
}

static void assert_cause(uint64_t number, enum orr_cause cause) {
  const struct orr_frame_record *r = frame(number);
  if (r->cause == ORR_CAUSE_PREEMPTED && cause != ORR_CAUSE_PREEMPTED && !rig.real_time)
    skip(); /* an ordinary thread on a busy machine: the verdict is true, but another cause could not be shown */
  if (r->cause != (uint32_t)cause)
    fail_msg("frame %lu: %s, not %s (start %ld end %ld lost %ld gap %ld faults %u switches %u %u)",
             (unsigned long)number, orr_cause_name((enum orr_cause)r->cause), orr_cause_name(cause), (long)r->start_ns,
             (long)r->end_ns, (long)r->lost_ns, (long)r->gap_ns, r->minor_faults, r->involuntary, r->voluntary);
}

/* Flies with a fault in one frame that takes no core from anybody. Where another thread took the core in that frame,
 * or the machine stood still in it for as long as half the fault, they had a hand in its verdict: all is flown again,
 * twenty times at most. */
static void fly_undisturbed(const struct orr_rig *fault, const struct orr_cycle_options *o) {
  bool disturbed = true;
  for (int i = 0; disturbed && i < 20; i++) {
    rig = *fault;
    if (fault->fault == ORR_RIG_TOUCH) /* pages that were given back are fresh again */
      madvise(fault->fault_memory, fault->fault_pages * (size_t)sysconf(_SC_PAGESIZE), MADV_DONTNEED);
    orr_rig_run(&rig, o, &stats, &live);
    const struct orr_frame_record *r = frame(FAULT_FRAME);
    disturbed = r->involuntary > 0 || (fault->fault == ORR_RIG_BURN && r->gap_ns > fault->fault_ns / 2);
  }
}

static void stages_run_in_order_and_finish_once(void **state) {
  (void)state;
  rig = (struct orr_rig){0};
  struct orr_cycle_options o = options(20);
  o.period_ns = MS;
  orr_rig_run(&rig, &o, &stats, &live);
  assert_int_equal(rig.order_used, 20 * 4 + 1);
  for (uint64_t i = 0; i < 80; i++)
    assert_int_equal(rig.order[i], "plcd"[i % 4]);
  assert_int_equal(rig.order[80], 'f');
  assert_int_equal(rig.finished, 1);
  assert_int_equal(rig.result.end, ORR_CYCLE_FRAMES_DONE);
  assert_int_equal(live.frames, 20);
  assert_string_equal(stats.stage_name[2], "compute");
}

/* Also of what a policy did in the frames of the warm-up: the slow one is among them. */
static void a_warm_up_is_flown_and_leaves_nothing(void **state) {
  (void)state;
  struct orr_cycle_options o = options(30);
  o.period_ns = MS;
  o.policy = ORR_OVERRUN_SLIP;
  o.warm_up_frames = 20;
  rig = (struct orr_rig){.fault_frame = FAULT_FRAME, .fault = ORR_RIG_BURN, .fault_ns = 50 * MS};
  orr_rig_run(&rig, &o, &stats, &live);
  assert_int_equal(rig.order_used, 30 * 4 + 1);
  assert_int_equal(live.frames, 10);
  assert_int_equal(stats.histogram[ORR_HISTOGRAM_STAGE_0].total, 10);
  assert_int_equal(stats.histogram[ORR_HISTOGRAM_START].total, 10 + live.skipped_periods);
  struct orr_frame_record records[ORR_WORST_COUNT];
  size_t count = orr_worst_read(&stats.worst, records);
  assert_int_equal(count, 10);
  for (size_t i = 0; i < count; i++)
    assert_true(records[i].frame >= 20);
}

/* Thirty milliseconds of computing see the timer of the kernel; most of the short frames do not. */
static void frames_without_an_interrupt_are_told_from_others(void **state) {
  (void)state;
  if (!orr_calm_works())
    skip();
  struct orr_cycle_options o = options(100);
  o.watch = true;
  rig = (struct orr_rig){.fault_frame = FAULT_FRAME, .fault = ORR_RIG_BURN, .fault_ns = 60 * MS};
  orr_rig_run(&rig, &o, &stats, &live);
  assert_int_equal(live.frames, 100);
  assert_in_range(stats.calm.frames, 1, 99);
  for (int i = 0; i < 4; i++) {
    assert_true(stats.calm.min_ns[i] >= stats.histogram[ORR_HISTOGRAM_STAGE_0 + i].min_ns);
    assert_true(stats.calm.sum_ns[i] >= (int64_t)stats.calm.frames * stats.calm.min_ns[i]);
    assert_true(stats.calm.sum_ns[i] <= stats.histogram[ORR_HISTOGRAM_STAGE_0 + i].sum_ns);
  }
  assert_true(stats.calm.sum_ns[2] < 60 * MS); /* the long one is not among them */
  o.watch = false;
  rig = (struct orr_rig){0};
  orr_rig_run(&rig, &o, &stats, &live);
  assert_int_equal(stats.calm.frames, 0);
}

static void ticks_stay_on_the_grid_and_publish_never_comes_early(void **state) {
  (void)state;
  rig = (struct orr_rig){0};
  struct orr_cycle_options o = options(1000);
  o.period_ns = MS;
  o.phase_ns = 123456;
  o.catch_up_limit = 1000; /* whatever the machine steals, the grid must not move */
  orr_rig_run(&rig, &o, &stats, &live);
  assert_int_equal(rig.out_of_order, 0);
  assert_int_equal(rig.tick_ns[0] % MS, 123456);
  for (int n = 0; n < 1000; n++) {
    assert_int_equal(rig.tick_ns[n], rig.tick_ns[0] + (int64_t)n * MS);
    assert_true(rig.publish_ns[n] >= rig.tick_ns[n]);
  }
  assert_int_equal(stats.histogram[ORR_HISTOGRAM_START].total, 1000);
  assert_int_equal(live.skipped_periods, 0);
}

static void a_full_margin_never_sleeps_and_no_margin_never_spins(void **state) {
  (void)state;
  rig = (struct orr_rig){0};
  struct orr_cycle_options o = options(200);
  o.period_ns = MS;
  o.margin_ns = MS;
  orr_rig_run(&rig, &o, &stats, &live);
  /* the first ticks have a longer lead than the margin, and a slip may add one */
  assert_true(live.sleeps <= 2 + live.slips);
  o.margin_ns = 0;
  rig = (struct orr_rig){0};
  orr_rig_run(&rig, &o, &stats, &live);
  assert_int_equal(live.sleeps, stats.histogram[ORR_HISTOGRAM_WAKE_UP].total);
  assert_true(live.sleeps >= 200 - live.caught_up && live.sleeps > 100);
}

static void a_stage_that_burns_time_is_named_and_what_follows_is_not_its_fault(void **state) {
  (void)state;
  const struct orr_rig fault = {.fault = ORR_RIG_BURN, .fault_frame = FAULT_FRAME, .fault_ns = 35 * MS};
  struct orr_cycle_options o = options(20);
  fly_undisturbed(&fault, &o);
  assert_cause(FAULT_FRAME, ORR_CAUSE_STAGE);
  assert_string_equal(stats.stage_name[frame(FAULT_FRAME)->stage], "compute");
  assert_true(live.late_stage[2] >= 1);
  for (uint64_t n = FAULT_FRAME + 1; n <= FAULT_FRAME + 2; n++)
    assert_cause(n, ORR_CAUSE_PREVIOUS);
  assert_true(orr_live_own(&live) >= 1);
}

static void page_faults_in_a_stage_are_told_from_computing(void **state) {
  (void)state;
  enum { PAGES = 40000 };
  struct orr_rig fault = {.fault = ORR_RIG_TOUCH, .fault_frame = FAULT_FRAME, .fault_pages = PAGES};
  struct orr_cycle_options o = options(20);
  o.period_ns = 2 * MS; /* some 20 ms of faults */
  fault.fault_memory = orr_rig_fresh_memory(PAGES);
  fly_undisturbed(&fault, &o);
  assert_cause(FAULT_FRAME, ORR_CAUSE_PAGE_FAULT);
  assert_true(frame(FAULT_FRAME)->minor_faults >= PAGES);
  munmap(fault.fault_memory, (size_t)PAGES * (size_t)sysconf(_SC_PAGESIZE));
}

static void a_stage_that_blocks_is_told_from_computing(void **state) {
  (void)state;
  const struct orr_rig fault = {.fault = ORR_RIG_SLEEP, .fault_frame = FAULT_FRAME, .fault_ns = 35 * MS};
  struct orr_cycle_options o = options(20);
  fly_undisturbed(&fault, &o);
  assert_cause(FAULT_FRAME, ORR_CAUSE_BLOCKED);
  assert_true(frame(FAULT_FRAME)->lost_ns > 30 * MS);
}

static void a_gap_between_marks_with_no_switch_is_stolen(void **state) {
  (void)state;
  const struct orr_rig fault = {.fault = ORR_RIG_SILENT, .fault_frame = FAULT_FRAME, .fault_ns = 35 * MS};
  struct orr_cycle_options o = options(20);
  fly_undisturbed(&fault, &o);
  assert_true(frame(FAULT_FRAME)->gap_ns > 30 * MS);
  assert_cause(FAULT_FRAME, ORR_CAUSE_STOLEN);
}

/* Another real-time thread on the same core, that burns from a given time on. */
struct hog {
  pthread_t thread;
  _Atomic int64_t from_ns; /* 0: not yet */
  int64_t began_ns;        /* seen */
  int64_t burn_ns;
  int priority;
};

static void *hog_main(void *argument) {
  struct hog *hog = argument;
  while (hog->from_ns == 0)
    orr_clock_sleep_until(orr_clock_now_ns() + MS / 2);
  orr_clock_sleep_until(hog->from_ns);
  hog->began_ns = orr_clock_now_ns();
  orr_rig_burn(hog->burn_ns);
  return NULL;
}

static int become_fifo(pthread_t thread, int priority) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
  const struct sched_param param = {.sched_priority = priority};
  pthread_setaffinity_np(thread, sizeof set, &set);
  return pthread_setschedparam(thread, SCHED_FIFO, &param);
}

struct hogged {
  struct hog hog;
  struct orr_cycle_options options;
  int64_t hog_after_tick_ns; /* of FAULT_FRAME */
};

/* In the frame before: tells the hog when. */
static void arm(void *context, struct orr_frame *f) {
  struct hogged *h = context;
  if (f->number == FAULT_FRAME - 1)
    h->hog.from_ns = f->tick_ns + PERIOD + h->hog_after_tick_ns;
}

static void *hogged_main(void *argument) {
  struct hogged *h = argument;
  orr_rig_run(&rig, &h->options, &stats, &live);
  return NULL;
}

static void run_beside_hog(struct hogged *h, int priority) {
  pthread_t cycle;
  rig.every_frame = arm;
  rig.context = h;
  assert_int_equal(pthread_create(&h->hog.thread, NULL, hog_main, &h->hog), 0);
  if (become_fifo(h->hog.thread, h->hog.priority) != 0) {
    h->hog.from_ns = 1;
    pthread_join(h->hog.thread, NULL);
    skip(); /* needs the right to SCHED_FIFO */
  }
  assert_int_equal(pthread_create(&cycle, NULL, hogged_main, h), 0);
  assert_int_equal(become_fifo(cycle, priority), 0);
  pthread_join(cycle, NULL);
  pthread_join(h->hog.thread, NULL);
}

/* It has the core when the tick comes, and does not let go for an equal: the wake-up is late, nothing else. Where a
 * third real-time thread holds up the frame before, the hog comes behind the tick, and all is flown again. */
static void a_hog_of_equal_priority_makes_the_wake_up_late(void **state) {
  (void)state;
  struct hogged h;
  for (int i = 0; i == 0 || (i < 20 && h.hog.began_ns >= rig.tick_ns[FAULT_FRAME]); i++) {
    rig = (struct orr_rig){0};
    h = (struct hogged){
        .hog = {.burn_ns = 30 * MS, .priority = 50}, .options = options(20), .hog_after_tick_ns = -3 * MS};
    run_beside_hog(&h, 50);
  }
  assert_cause(FAULT_FRAME, ORR_CAUSE_WAKE_UP);
  assert_true(frame(FAULT_FRAME)->start_ns > 20 * MS);
}

/* It takes the core in the middle of the stage. Where a third real-time thread kept one waiting, all is flown again. */
static void a_hog_of_higher_priority_preempts(void **state) {
  (void)state;
  struct hogged h;
  int64_t after_ns = -1;
  for (int i = 0; i < 20 && (after_ns < 0 || after_ns > 5 * MS); i++) {
    rig = (struct orr_rig){.usual_ns = 5 * MS};
    h = (struct hogged){
        .hog = {.burn_ns = 30 * MS, .priority = 51}, .options = options(20), .hog_after_tick_ns = 2 * MS};
    run_beside_hog(&h, 50);
    after_ns = h.hog.began_ns - rig.publish_ns[FAULT_FRAME];
  }
  assert_cause(FAULT_FRAME, ORR_CAUSE_PREEMPTED);
  assert_true(frame(FAULT_FRAME)->involuntary >= 1);
  assert_true(frame(FAULT_FRAME)->lost_ns > 20 * MS);
}

/* What a child leaves for its parent. */
struct shared {
  struct orr_stats stats;
  struct orr_rig rig;
  _Atomic uint64_t frame;
};

static void tell(void *context, struct orr_frame *f) { ((struct shared *)context)->frame = f->number; }

static _Noreturn void fly_sixty(struct shared *s) {
  struct orr_cycle_options o = options(60);
  struct orr_live end;
  o.catch_up_limit = 3;
  s->rig.every_frame = tell;
  s->rig.context = s;
  orr_rig_run(&s->rig, &o, &s->stats, &end);
  _exit(0);
}

static void a_stopped_process_is_told_and_its_lost_periods_are_counted(void **state) {
  (void)state;
  struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(s != MAP_FAILED);
  pid_t child = 0;
  int status = 0;
  for (int i = 0; i < 20; i++) { /* flown again, where this process was held up until the flight was nearly over */
    memset(s, 0, sizeof *s);
    child = fork();
    if (child == 0)
      fly_sixty(s);
    while (s->frame < FAULT_FRAME)
      usleep(1000);
    kill(child, SIGSTOP);
    if (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && s->frame < 30)
      break;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
  usleep(200000);
  kill(child, SIGCONT);
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  assert_true(orr_stats_live(&s->stats, &live));
  assert_int_equal(live.frames, 60);
  assert_int_equal(s->rig.out_of_order, 0);
  assert_true(live.late[ORR_CAUSE_BLOCKED] >= 1);
  /* of 20 periods, one was late by itself and three were caught up */
  assert_true(live.skipped_periods >= 12);
  /* each of them a sample in the percentiles, late by what was left of the stop */
  assert_int_equal(s->stats.histogram[ORR_HISTOGRAM_START].total, 60 + live.skipped_periods);
  assert_true(orr_histogram_percentile_ns(&s->stats.histogram[ORR_HISTOGRAM_START], 0.9) > 50 * MS);
  munmap(s, sizeof *s);
}

static void catch_up_keeps_the_grid_while_it_can(void **state) {
  (void)state;
  rig = (struct orr_rig){.fault = ORR_RIG_BURN, .fault_frame = FAULT_FRAME, .fault_ns = 45 * MS};
  struct orr_cycle_options o = options(30);
  orr_rig_run(&rig, &o, &stats, &live);
  assert_true(live.caught_up >= 3);
  assert_int_equal(live.skipped_periods, 0);
  for (int n = 0; n < 30; n++)
    assert_int_equal(rig.tick_ns[n], rig.tick_ns[0] + (int64_t)n * PERIOD);
}

static void catch_up_gives_up_after_its_limit(void **state) {
  (void)state;
  /* every frame takes one and a half periods */
  rig = (struct orr_rig){.usual_ns = 15 * MS};
  struct orr_cycle_options o = options(12);
  o.catch_up_limit = 2;
  orr_rig_run(&rig, &o, &stats, &live);
  assert_int_equal(live.frames, 12);
  assert_int_equal(live.overran, 12);
  /* two caught up, then one slip, and so on */
  assert_int_equal(live.caught_up, 8);
  assert_int_equal(live.slips, 4);
  assert_true(live.sleeps >= 4); /* after each slip the core is given up */
  assert_int_equal(rig.out_of_order, 0);
}

static void slip_moves_the_grid_by_whole_periods_and_counts_them(void **state) {
  (void)state;
  rig = (struct orr_rig){.fault = ORR_RIG_BURN, .fault_frame = FAULT_FRAME, .fault_ns = 35 * MS};
  struct orr_cycle_options o = options(20);
  o.policy = ORR_OVERRUN_SLIP;
  o.phase_ns = 777;
  orr_rig_run(&rig, &o, &stats, &live);
  assert_true(live.slips >= 1 && live.skipped_periods >= 3);
  assert_int_equal(live.caught_up, 0);
  assert_int_equal(rig.out_of_order, 0);
  assert_int_equal(rig.tick_ns[19], rig.tick_ns[0] + (int64_t)(19 + live.skipped_periods) * PERIOD);
  assert_int_equal(rig.tick_ns[19] % PERIOD, 777);
  assert_int_equal(stats.histogram[ORR_HISTOGRAM_START].total, 20 + live.skipped_periods);
}

static void stop_ends_the_run_and_says_which_frame_and_why(void **state) {
  (void)state;
  rig = (struct orr_rig){.fault = ORR_RIG_BURN, .fault_frame = FAULT_FRAME, .fault_ns = 35 * MS};
  struct orr_cycle_options o = options(20);
  o.policy = ORR_OVERRUN_STOP;
  orr_rig_run(&rig, &o, &stats, &live);
  assert_int_equal(rig.finished, 1);
  assert_int_equal(rig.result.end, ORR_CYCLE_OVERRUN);
  assert_int_equal(rig.result.record.frame, FAULT_FRAME);
  assert_int_equal(rig.result.record.cause, ORR_CAUSE_STAGE);
  assert_int_equal(rig.result.record.stage, 2);
  assert_int_equal(live.frames, FAULT_FRAME + 1);
}

static void a_stage_that_fails_ends_the_run_with_its_code(void **state) {
  (void)state;
  rig = (struct orr_rig){.fault = ORR_RIG_FAIL, .fault_frame = FAULT_FRAME, .fault_code = 42};
  struct orr_cycle_options o = options(20);
  o.period_ns = MS;
  orr_rig_run(&rig, &o, &stats, &live);
  assert_int_equal(rig.result.end, ORR_CYCLE_STAGE);
  assert_int_equal(rig.result.code, 42);
  assert_int_equal(rig.result.stage, 2);
  assert_int_equal(rig.result.record.frame, FAULT_FRAME);
  assert_int_equal(rig.order[rig.order_used - 2], 'c'); /* no stage after it, then finish */
  assert_int_equal(rig.finished, 1);
}

static void bad_options_are_refused_with_a_reason(void **state) {
  (void)state;
  struct orr_cycle cycle;
  struct orr_cycle_options o = options(1);
  orr_stats_init(&stats, "bad", o.period_ns);
  assert_null(orr_cycle_init(&cycle, &o, &orr_rig_work, &rig, &stats));
  o.period_ns = ORR_PERIOD_MIN_NS - 1;
  assert_non_null(orr_cycle_init(&cycle, &o, &orr_rig_work, &rig, &stats));
  o = options(1);
  o.margin_ns = o.period_ns + 1;
  assert_non_null(orr_cycle_init(&cycle, &o, &orr_rig_work, &rig, &stats));
  o = options(1);
  o.catch_up_limit = 0;
  assert_non_null(orr_cycle_init(&cycle, &o, &orr_rig_work, &rig, &stats));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stages_run_in_order_and_finish_once),
      cmocka_unit_test(ticks_stay_on_the_grid_and_publish_never_comes_early),
      cmocka_unit_test(a_full_margin_never_sleeps_and_no_margin_never_spins),
      cmocka_unit_test(a_stage_that_burns_time_is_named_and_what_follows_is_not_its_fault),
      cmocka_unit_test(page_faults_in_a_stage_are_told_from_computing),
      cmocka_unit_test(a_stage_that_blocks_is_told_from_computing),
      cmocka_unit_test(a_gap_between_marks_with_no_switch_is_stolen),
      cmocka_unit_test(a_hog_of_equal_priority_makes_the_wake_up_late),
      cmocka_unit_test(a_hog_of_higher_priority_preempts),
      cmocka_unit_test(a_stopped_process_is_told_and_its_lost_periods_are_counted),
      cmocka_unit_test(catch_up_keeps_the_grid_while_it_can),
      cmocka_unit_test(catch_up_gives_up_after_its_limit),
      cmocka_unit_test(slip_moves_the_grid_by_whole_periods_and_counts_them),
      cmocka_unit_test(stop_ends_the_run_and_says_which_frame_and_why),
      cmocka_unit_test(a_stage_that_fails_ends_the_run_with_its_code),
      cmocka_unit_test(a_warm_up_is_flown_and_leaves_nothing),
      cmocka_unit_test(frames_without_an_interrupt_are_told_from_others),
      cmocka_unit_test(bad_options_are_refused_with_a_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
