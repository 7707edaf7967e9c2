/* What the executive may not do, proved from outside it: the kernel's counters, an allocator and a clock that count,
 * and a system call filter that kills. The wall clock is watched here too, because it is read without a system call:
 * this program's own clock_gettime, gettimeofday and time stand before libc's. */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

#include "io/session/realtime.h"
#include "rt/executive.h"
#include "rt/machine/denormals.h"
#include "rt/tick/clock.h"
#include "tests/support/filter.h"
#include "tests/support/rig.h"
#include "tests/timing/counting.h"
#include "tools/run/controller.h"

/* --- runs --------------------------------------------------------------------------------------------------------- */
/* What a run leaves: read by the test's own hand from the kernel at the first and the last frame. */
struct evidence {
  struct rusage first, last;
  uint64_t last_frame;
  long allocations, wall_clock, monotonic;
  /* wrong at frame 3: 'm' malloc, 't' time(), 's' a system call, 'r' clock_gettime(CLOCK_REALTIME) by call */
  int spoil;
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

static void conclude(void *user, const struct orr_cycle_result *result) {
  struct evidence *e = user;
  (void)result;
  watch.on = 0;
  e->allocations = watch.allocations;
  e->wall_clock = watch.wall_clock;
  e->monotonic = watch.monotonic;
  e->finished = 1;
}

static const struct orr_work observed = {
    .stages = {{.name = "publish", .run = observe}, {.name = "compute", .run = burn_a_little, .mark_gap_ns = 1000000}},
    .stage_count = 2,
    .finish = conclude,
};

static struct orr_executive executive;

static void run(struct evidence *e, int64_t period_ns, uint64_t frames) {
  const struct orr_executive_options o = {
      .cycle = {.period_ns = period_ns, .policy = ORR_OVERRUN_CATCH_UP, .catch_up_limit = 100, .frames = frames},
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
  assert_true(orr_stats_live(executive.board.stats, &live));
  bool locked = true;
  for (unsigned i = 0; i < executive.lacks.count; i++)
    locked = locked && executive.lacks.entry[i].lack != ORR_LACK_MEMORY_LOCK;
  orr_executive_close(&executive);
  if (!locked)
    skip(); /* without the right to lock memory nobody can promise */
  assert_int_equal(e.last.ru_minflt - e.first.ru_minflt, 0);
  assert_int_equal(e.last.ru_majflt - e.first.ru_majflt, 0);
  assert_true(e.last.ru_nvcsw - e.first.ru_nvcsw <= (long)frames - 1);
  /* and the executive's own account says the same */
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

/* --- the filter --------------------------------------------------------------------------------------------------- */
enum { NO_FILTER = 3 };

static int install(void *user, struct orr_frame *frame) {
  const struct evidence *e = user;
  if (frame->number == 0 && !orr_filter_allow_only_the_loop())
    _exit(NO_FILTER);
  if (frame->number == 3)
    spoil(e->spoil);
  return 0;
}

static void leave(void *user, const struct orr_cycle_result *result) {
  (void)user;
  (void)result;
  _exit(0); /* nothing else is allowed any more */
}

static const struct orr_work filtered = {
    .stages = {{.name = "publish", .run = install}, {.name = "compute", .run = burn_a_little, .mark_gap_ns = 1000000}},
    .stage_count = 2,
    .finish = leave,
};

/* In a child: its finish leaves. */
static void loop_here(const struct orr_cycle_options *o, const struct orr_work *work, void *context) {
  static struct orr_stats stats;
  static struct orr_cycle cycle;
  orr_stats_init(&stats, "filtered", o->period_ns);
  if (orr_cycle_init(&cycle, o, work, context, &stats))
    _exit(4);
  orr_cycle_run(&cycle);
  _exit(5);
}

/* The wait status of a child whose cycle runs behind the filter. */
static int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTER)
    skip();
  return status;
}

static int run_filtered(int spoil_how) {
  struct evidence e = {.spoil = spoil_how};
  const struct orr_cycle_options o = {
      .period_ns = 1000000, .margin_ns = 100000, .policy = ORR_OVERRUN_CATCH_UP, .catch_up_limit = 3, .frames = 500};
  pid_t child = fork();
  if (child == 0)
    loop_here(&o, &filtered, &e);
  return status_of(child);
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

/* --- a spacecraft in place of the small frame --------------------------------------------------------------------- */
struct flight {
  struct orr_realtime realtime; /* first: its stages are called with this struct */
  struct evidence evidence;
  struct orr_diagnostics *diagnostics;
  struct orr_session *session;
  struct orr_work work, inner;
  bool filtered;
  struct orr_recording recording;
  struct orr_logger_result result;
  char log[64]; /* path; empty: none */
};

/* Where this program writes a log: a write waits while the executive is in these frames. */
static struct {
  _Atomic uint64_t frame;
  uint64_t stalled_from, stalled_to;
} disk;

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  const struct timespec moment = {.tv_nsec = 1000000};
  while (disk.frame >= disk.stalled_from && disk.frame < disk.stalled_to)
    nanosleep(&moment, NULL);
  return syscall(SYS_pwrite64, fd, bytes, size, at);
}

static struct flight flight;

static int observe_and_publish(void *user, struct orr_frame *frame) {
  struct flight *f = user;
  disk.frame = frame->number;
  if (f->filtered)
    install(&f->evidence, frame);
  else
    observe(&f->evidence, frame);
  return f->inner.stages[0].run(user, frame);
}

static void conclude_flight(void *user, const struct orr_cycle_result *result) {
  struct flight *f = user;
  if (f->filtered)
    _exit(result->end == ORR_CYCLE_FRAMES_DONE ? 0 : 6);
  conclude(&f->evidence, result);
}

/* Into a log of everything, as `orrery run` has it. */
static void log_flight(void) {
  char message[200] = "";
  const struct orr_recording_request request = {.path = flight.log, .library = "orrery test"};
  if (!orr_recording_start(&flight.recording, &request, message, sizeof message))
    fail_msg("%s: %s", flight.log, message);
  orr_realtime_log(&flight.realtime, &flight.recording, &executive.cycle.live);
}

static void take_off(const char *path, const char *const *settings, size_t count, bool logged) {
  const struct orr_config_options options = {.settings = settings, .setting_count = count};
  memset(&flight, 0, sizeof flight);
  if (logged)
    snprintf(flight.log, sizeof flight.log, "/tmp/orrery-proof.%d.mcap", (int)getpid());
  flight.diagnostics = orr_diagnostics_create();
  struct orr_config *config = orr_config_load(path, &options, flight.diagnostics);
  const struct orr_run *file = config ? orr_run_read(config) : NULL;
  orr_diagnostics_print(flight.diagnostics, 0, stderr, false);
  assert_non_null(file);
  orr_rt_flush_denormals();
  flight.session = orr_session_create(file, orr_controller_answer);
  if (logged)
    orr_recording_choose(&flight.recording, flight.session);
  assert_int_equal(orr_session_start(flight.session), ORR_OK);
  orr_realtime_init(&flight.realtime, flight.session);
  if (logged)
    log_flight();
  assert_true(flight.realtime.rehearsal.frames > 0);
  flight.inner = flight.work = flight.realtime.work;
  flight.work.stages[0].run = observe_and_publish;
  flight.work.finish = conclude_flight;
}

static void land(void) {
  if (flight.log[0]) {
    flight.result = *orr_recording_stop(&flight.recording, NULL, 0);
    orr_recording_free(&flight.recording);
    unlink(flight.log);
  }
  orr_realtime_close(&flight.realtime);
  orr_session_destroy(flight.session);
  orr_diagnostics_destroy(flight.diagnostics);
}

/* Flies under the executive as the run file says; true when memory was locked. */
static bool fly(uint64_t frames, struct orr_live *live) {
  struct orr_executive_options o = orr_realtime_options(&flight.realtime, "flight", frames);
  flight.evidence.last_frame = frames - 1;
  const char *wrong = orr_executive_start(&executive, &o, &flight.work, &flight);
  if (wrong)
    fail_msg("%s", wrong);
  orr_executive_join(&executive);
  assert_int_equal(flight.evidence.finished, 1);
  assert_int_equal(executive.cycle.result.end, ORR_CYCLE_FRAMES_DONE);
  assert_true(orr_stats_live(executive.board.stats, live));
  bool locked = true;
  for (unsigned i = 0; i < executive.lacks.count; i++)
    locked = locked && executive.lacks.entry[i].lack != ORR_LACK_MEMORY_LOCK;
  orr_executive_close(&executive);
  return locked;
}

/* No page fault, no allocation, no wall clock, and no switch of its own but the sleeps: by the kernel's counters, read
 * by the test's own hand, from the first tick to the last. */
static void assert_undisturbed(const char *path, const char *step, uint64_t frames, const char *record) {
  const char *const settings[] = {step, "links={}", record};
  const struct evidence *e = &flight.evidence;
  struct orr_live live;
  take_off(path, settings, record ? 3 : 2, record != NULL);
  bool locked = fly(frames, &live);
  land();
  assert_int_equal(live.frames, frames);
  assert_int_equal(e->allocations, 0);
  assert_int_equal(e->wall_clock, 0);
  assert_true(e->monotonic > 5 * (long)frames); /* the stand-in was in force, and the evaluations marked */
  if (!locked)
    skip(); /* without the right to lock memory nobody can promise */
  assert_int_equal(e->last.ru_minflt - e->first.ru_minflt, 0);
  assert_int_equal(e->last.ru_majflt - e->first.ru_majflt, 0);
  assert_true(e->last.ru_nvcsw - e->first.ru_nvcsw <= (long)frames - 1);
  assert_int_equal(live.minor_faults + live.major_faults, 0);
  assert_int_equal(live.voluntary, 0);
}

/* Every frame shows the same: four; the soak says sixty. */
static uint64_t seconds(void) {
  const char *asked = getenv("PROOF_SECONDS");
  return asked ? strtoull(asked, NULL, 10) : 4;
}

static void seconds_of_the_reference_spacecraft_at_1_khz_are_undisturbed(void **state) {
  (void)state;
  assert_undisturbed("configs/reference.yaml", "simulation.step=1ms", seconds() * 1000, NULL);
}

static void seconds_of_the_reference_spacecraft_at_5_khz_are_undisturbed(void **state) {
  (void)state;
  assert_undisturbed("configs/reference.yaml", "simulation.step=200us", seconds() * 5000, NULL);
}

static void closed_loops_are_flown_undisturbed(void **state) {
  (void)state;
  assert_undisturbed("configs/deployment.yaml", "simulation.substeps=1", 500, NULL);
}

/* With a log of every channel there is, and checkpoints in between: nothing is lost. */
static void a_log_of_everything_leaves_the_loop_undisturbed(void **state) {
  (void)state;
  static const char everything[] = "record={channels: ['*'], checkpoint: 700 ms}";
  uint64_t frames = seconds() * 1000;
  assert_undisturbed("configs/reference.yaml", "simulation.step=1ms", frames, everything);
  assert_true(flight.result.complete);
  assert_int_equal(flight.result.frames, frames); /* from the first to the one before the last, which nobody recorded */
  assert_true(flight.result.bytes > frames * 3000);
}

/* A disk that takes nothing for three seconds, of which the ring holds one: frames are lost and counted, the executive
 * does not notice. */
static void a_stalled_disk_costs_frames_of_the_log_and_nothing_else(void **state) {
  (void)state;
  static const char everything[] = "record={channels: ['*'], checkpoint: 700 ms}";
  disk.frame = 0;
  disk.stalled_from = 1000;
  disk.stalled_to = 7000;
  assert_undisturbed("configs/reference.yaml", "simulation.step=500us", 10000, everything);
  disk.stalled_from = disk.stalled_to = 0;
  const struct orr_logger_result *r = &flight.result;
  assert_true(r->stop == ORR_LOG_GOES_ON && r->lost_ring > 0 && r->lost_file == 0);
  assert_int_equal(r->frames + r->lost_ring, 10000);
  /* Of 6000 frames the ring holds 2000. A machine that keeps the writer from its core before or after loses more, and
   * then the first and the last lie further apart. */
  assert_true(r->lost_ring >= 3900 && r->lost_last - r->lost_first + 1 >= (int64_t)r->lost_ring);
}

/* The same of a child that flies, with the controller linked in. */
static int fly_filtered(const char *path, const char *setting, int spoil_how) {
  pid_t child = fork();
  if (child == 0) {
    take_off(path, &setting, 1, false);
    flight.filtered = true;
    flight.evidence.spoil = spoil_how;
    struct orr_executive_options o = orr_realtime_options(&flight.realtime, "filtered", 500);
    o.cycle.phase_ns = 0;
    o.cycle.margin_ns = 50000;
    loop_here(&o.cycle, &flight.work, &flight);
  }
  return status_of(child);
}

static void flying_a_spacecraft_adds_no_system_call_to_the_loop(void **state) {
  (void)state;
  static const char controller[] =
      "links={fsw: {transport: linked, rate: 10 Hz, telemetry: [gyro.rate, star.attitude, bus.target], "
      "commands: [wheel_*.torque], stiffness: [1e-3, 1e-3, 1e-3], damping: [1e-2, 1e-2, 1e-2]}}";
  static const char *const flights[][2] = {{"configs/cubesat.yaml", controller},
                                           {"configs/reference.yaml", "simulation.step=1ms"},
                                           {"configs/deployment.yaml", "simulation.substeps=1"}};
  for (size_t i = 0; i < sizeof flights / sizeof *flights; i++) {
    int status = fly_filtered(flights[i][0], flights[i][1], 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
  int status = fly_filtered(flights[0][0], flights[0][1], 's');
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGSYS);
}

int main(void) {
  find_libc_clock();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_seconds_at_1_khz_take_no_fault_and_one_switch_a_frame),
      cmocka_unit_test(two_seconds_at_5_khz_take_no_fault_and_one_switch_a_frame),
      cmocka_unit_test(the_loop_neither_allocates_nor_reads_the_wall_clock),
      cmocka_unit_test(the_watch_sees_an_allocation_and_a_wall_clock),
      cmocka_unit_test(the_loop_makes_no_system_call_but_its_three),
      cmocka_unit_test(the_filter_kills_at_any_other_call_and_at_the_wall_clock),
      cmocka_unit_test(seconds_of_the_reference_spacecraft_at_1_khz_are_undisturbed),
      cmocka_unit_test(seconds_of_the_reference_spacecraft_at_5_khz_are_undisturbed),
      cmocka_unit_test(closed_loops_are_flown_undisturbed),
      cmocka_unit_test(a_log_of_everything_leaves_the_loop_undisturbed),
      cmocka_unit_test(a_stalled_disk_costs_frames_of_the_log_and_nothing_else),
      cmocka_unit_test(flying_a_spacecraft_adds_no_system_call_to_the_loop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
