/* Links do not disturb the executive, and lose nothing: frames at 1 kHz with the echo peer (io/client/echo.c, a process
 * of its own) over each transport. By the kernel's counters and a counting allocator on the rt thread, and by what both
 * ends counted.
 *
 * PROOF_SECONDS=60 for a minute each, as `make soak` does. How many answers were late is told and not judged: a machine
 * that gives the peer no core for a millisecond makes one late. A frame is lost after an eighth of a second of that.
 * Where one was lost and the machine shows that it took that long from us, the run is flown again, at most twice.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/session/realtime.h"
#include "rt/executive.h"
#include "rt/machine/denormals.h"
#include "tests/support/port.h"
#include "tests/timing/counting.h"
#include "tools/run/controller.h"

enum { TRIES = 3, PEER_PRIORITY = 70, LOST_AFTER_MS = 100 };

struct flight {
  struct orr_realtime realtime; /* first: its stages are called with this struct */
  struct orr_diagnostics *diagnostics;
  struct orr_session *session;
  struct orr_work work, inner;
  struct rusage first, last;
  uint64_t frames;
  long allocations;
  struct orr_live live;
  bool locked;
};

static struct flight flight;
static struct orr_executive executive;

/* What the peer said at its end. */
struct peer {
  pid_t pid;
  int out;        /* its standard output */
  bool real_time; /* it has a priority: only what takes cores from everybody takes its */
  uint64_t first, last, seen, lost, answered, unsent;
  int status;
};

/* ---- the peer ---------------------------------------------------------------------------------------------------- */

/* Off the core of the executive, and before what else runs on the others, where that may be had. */
static void settle_down(int ready) {
  int core = orr_setup_choose_core();
  cpu_set_t set;
  const struct sched_param param = {.sched_priority = PEER_PRIORITY};
  if (core >= 0 && sched_getaffinity(0, sizeof set, &set) == 0) {
    CPU_CLR((size_t)core, &set);
    sched_setaffinity(0, sizeof set, &set);
  }
  char priority = sched_setscheduler(0, SCHED_FIFO, &param) == 0;
  if (write(ready, &priority, 1) != 1)
    _exit(127);
}

static struct peer start_peer(const char *how, const char *url) {
  char program[4096] = "", priority = 0;
  struct peer peer = {0};
  int out[2], ready[2];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 20);
  assert_true(length > 0);
  for (int up = 0; up < 6; up++) /* build/release/tests/timing/io/links/packets/relay_links */
    *strrchr(program, '/') = 0;
  memcpy(program + strlen(program), "/echo", sizeof "/echo");
  assert_int_equal(pipe(out), 0);
  assert_int_equal(pipe(ready), 0);
  peer.pid = fork();
  if (peer.pid == 0) {
    settle_down(ready[1]);
    dup2(out[1], STDOUT_FILENO);
    for (int i = 3; i < 64; i++)
      close(i);
    execl(program, "echo", how, url, (char *)NULL);
    _exit(127);
  }
  close(out[1]);
  assert_int_equal(read(ready[0], &priority, 1), 1);
  close(ready[0]);
  close(ready[1]);
  peer.out = out[0];
  peer.real_time = priority;
  return peer;
}

static void end_peer(struct peer *peer) {
  char said[300] = "";
  size_t at = 0;
  for (ssize_t got; at < sizeof said - 1 && (got = read(peer->out, said + at, sizeof said - 1 - at)) > 0;)
    at += (size_t)got;
  close(peer->out);
  waitpid(peer->pid, &peer->status, 0);
  if (sscanf(said,
             "echo: frames %" SCNu64 " to %" SCNu64 ": %" SCNu64 " seen, %" SCNu64 " lost, %" SCNu64
             " answered, %" SCNu64,
             &peer->first, &peer->last, &peer->seen, &peer->lost, &peer->answered, &peer->unsent) != 6)
    fail_msg("the echo peer said '%s' and ended with %#x", said, (unsigned)peer->status);
}

/* Every frame shows the same: four; the soak says sixty. */
static uint64_t seconds(void) {
  const char *asked = getenv("PROOF_SECONDS");
  return asked ? strtoull(asked, NULL, 10) : 4;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static int observe_and_publish(void *user, struct orr_frame *frame) {
  struct flight *f = user;
  if (frame->number == 0) {
    getrusage(RUSAGE_THREAD, &f->first);
    watch.allocations = 0;
    watch.on = 1;
  }
  if (frame->number == f->frames - 1)
    getrusage(RUSAGE_THREAD, &f->last);
  return f->inner.stages[0].run(user, frame);
}

static void conclude(void *user, const struct orr_cycle_result *result) {
  struct flight *f = user;
  (void)result;
  watch.on = 0;
  f->allocations = watch.allocations;
}

static void make(const char *links) {
  const char *const settings[] = {"simulation.step=1ms", links};
  const struct orr_config_options options = {.settings = settings, .setting_count = 2};
  memset(&flight, 0, sizeof flight);
  flight.diagnostics = orr_diagnostics_create();
  struct orr_config *config = orr_config_load("configs/cubesat.yaml", &options, flight.diagnostics);
  const struct orr_run *file = config ? orr_run_read(config) : NULL;
  orr_diagnostics_print(flight.diagnostics, 0, stderr, false);
  assert_non_null(file);
  orr_rt_flush_denormals();
  flight.session = orr_session_create(file, orr_controller_answer);
  assert_int_equal(orr_session_start(flight.session), ORR_OK);
}

static void fly(uint64_t frames) {
  orr_realtime_init(&flight.realtime, flight.session);
  flight.inner = flight.work = flight.realtime.work;
  flight.work.stages[0].run = observe_and_publish;
  flight.work.finish = conclude;
  flight.frames = frames;
  struct orr_executive_options o = orr_realtime_options(&flight.realtime, "links", frames);
  const char *wrong = orr_executive_start(&executive, &o, &flight.work, &flight);
  if (wrong)
    fail_msg("%s", wrong);
  orr_executive_join(&executive);
  assert_int_equal(executive.cycle.result.end, ORR_CYCLE_FRAMES_DONE);
  assert_true(orr_stats_live(executive.board.stats, &flight.live));
  flight.locked = true;
  for (unsigned i = 0; i < executive.lacks.count; i++)
    flight.locked = flight.locked && executive.lacks.entry[i].lack != ORR_LACK_MEMORY_LOCK;
  orr_executive_close(&executive);
  orr_session_settle(flight.session);
}

static void done(void) {
  orr_realtime_close(&flight.realtime);
  orr_session_destroy(flight.session);
  orr_diagnostics_destroy(flight.diagnostics);
}

/* The same with and without links: nothing. */
static void assert_undisturbed(void) {
  const struct flight *f = &flight;
  assert_int_equal(f->live.frames, f->frames);
  assert_int_equal(f->allocations, 0);
  assert_true(f->last.ru_nvcsw - f->first.ru_nvcsw <= (long)f->frames - 1); /* the sleep of each frame */
  assert_int_equal(f->live.voluntary, 0);
  if (!f->locked)
    return; /* without the right to lock memory nobody can promise */
  assert_int_equal(f->last.ru_minflt - f->first.ru_minflt, 0);
  assert_int_equal(f->last.ru_majflt - f->first.ru_majflt, 0);
  assert_int_equal(f->live.minor_faults + f->live.major_faults, 0);
}

/* ---- what came of it --------------------------------------------------------------------------------------------- */

/* What both ends counted, kept when the session is gone. */
struct outcome {
  struct orr_link_counts counts;
  struct orr_answers answers;
  struct orr_link_losses losses;
  struct peer peer;
  int64_t stolen_ms; /* by the host, from all cores, in the time of the run */
};

static int64_t stolen_ms(void) {
  long long ticks = 0;
  FILE *f = fopen("/proc/stat", "re");
  if (!f || fscanf(f, "cpu %*s %*s %*s %*s %*s %*s %*s %lld", &ticks) != 1)
    ticks = 0;
  if (f)
    fclose(f);
  return ticks * 1000 / sysconf(_SC_CLK_TCK);
}

static uint64_t lost(const struct outcome *o) {
  return o->peer.lost + o->answers.unanswered + o->losses.not_relayed + o->losses.full + o->losses.unsent +
         o->losses.not_received;
}

static struct outcome fly_with_echo(const char *how, const char *links, const char *url) {
  struct outcome o = {0};
  char message[200];
  make(links);
  if (!orr_session_open_links(flight.session, false, NULL, message, sizeof message))
    fail_msg("%s", message);
  const struct orr_port *port = flight.session->links[0].outside;
  const struct orr_relay *relay = &flight.session->relay;
  o.peer = start_peer(how, url);
  assert_true(orr_session_wait_for_peers(flight.session));
  assert_true(relay->count == 0 || relay->priority_error ||
              relay->priority == flight.session->run->realtime.priority - 1);
  o.stolen_ms = -stolen_ms();
  fly(seconds() * 1000);
  o.stolen_ms += stolen_ms();
  o.counts = orr_port_counts(port);
  o.answers = orr_rules_answers(&port->rules);
  o.losses = orr_port_losses(port);
  done();
  end_peer(&o.peer);
  return o;
}

static void assert_all_answered(const struct outcome *o) {
  assert_int_equal(o->counts.published, flight.frames);
  assert_int_equal(o->peer.first, 0);
  assert_int_equal(o->peer.last, flight.frames - 1);
  assert_int_equal(o->peer.seen, flight.frames);
  assert_int_equal(o->peer.answered, flight.frames);
  assert_int_equal(lost(o), 0);
  assert_int_equal(o->answers.on_time + o->answers.late + o->answers.superseded + o->answers.waiting, flight.frames);
  for (int i = 0; i < ORR_REFUSALS; i++)
    assert_int_equal(o->counts.refused[i], i == ORR_REFUSAL_STALE ? o->answers.superseded : 0);
  assert_int_equal(o->counts.peers, 1);
  assert_true(WIFEXITED(o->peer.status));
  assert_int_equal(WEXITSTATUS(o->peer.status), 0);
}

static void assert_nothing_lost(const char *transport, const char *how, const char *links, const char *url) {
  for (int try = 1;; try++) {
    const struct outcome o = fly_with_echo(how, links, url);
    bool machine = o.stolen_ms >= LOST_AFTER_MS || !o.peer.real_time;
    printf("%s, the peer waits by %s%s: %" PRIu64 " frames, %" PRIu64 " lost; answers %" PRIu64 " on time, %" PRIu64
           " late, %" PRIu64 " superseded, %" PRIu64 " waiting; %" PRIu64
           " frames of the executive started or ended late; the host took %lld ms\n",
           transport, how, o.peer.real_time ? "" : " without a priority", flight.frames, lost(&o), o.answers.on_time,
           o.answers.late, o.answers.superseded, o.answers.waiting, orr_live_late(&flight.live),
           (long long)o.stolen_ms);
    assert_undisturbed();
    if (lost(&o) == 0 || !machine || try == TRIES) {
      assert_all_answered(&o);
      return;
    }
    printf("%s: once more, for the machine took a core for longer than an eighth of a second can hide\n", transport);
  }
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void without_links_nothing_disturbs_the_loop(void **state) {
  (void)state;
  make("links={}");
  fly(seconds() * 500);
  assert_undisturbed();
  done();
}

static const char link_text[] =
    "links={fsw: {%s, rate: 1 kHz, wait: 10 s, telemetry: [gyro.rate, star.attitude, bus.target], "
    "commands: [wheel_*.torque]}}";

static void over_shared_memory_every_frame_is_answered_and_none_lost(void **state) {
  (void)state;
  char name[64], links[300], url[80];
  snprintf(name, sizeof name, "transport: shm, name: /orrery.links.%d", (int)getpid());
  snprintf(links, sizeof links, link_text, name);
  snprintf(url, sizeof url, "shm:/orrery.links.%d", (int)getpid());
  assert_nothing_lost("shm", "futex", links, url);
}

static void over_udp_every_frame_is_answered_and_none_lost(void **state) {
  (void)state;
  char name[120], links[400], url[80];
  int port = orr_port_free();
  snprintf(name, sizeof name, "transport: udp, listen: '127.0.0.1:%d', allow: [127.0.0.1]", port);
  snprintf(links, sizeof links, link_text, name);
  snprintf(url, sizeof url, "udp:127.0.0.1:%d", port);
  assert_nothing_lost("udp", "futex", links, url);
}

int main(void) {
  find_libc_clock();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_links_nothing_disturbs_the_loop),
      cmocka_unit_test(over_shared_memory_every_frame_is_answered_and_none_lost),
      cmocka_unit_test(over_udp_every_frame_is_answered_and_none_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
