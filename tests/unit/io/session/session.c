/* The stages of a frame, seen by what each of them does: in batch, in lockstep with flight software in another thread,
 * in real time under the executive's cycle, and in the frames that `orrery doctor` flies.
 *
 * A body turns about z under a torque that flight software commands, 0.02 (k + 1) N m in answer to frame k, so that all
 * its numbers are known beforehand:
 *   torque(n) = 0.02 n N m,   rate(n) = 0.1 + Σ_{j<n} torque(j) h / I rad/s */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/client/client.h"
#include "io/session/realtime.h"

enum { FRAMES = 40, PATIENCE_MS = 10000 };

static const double STEP_S = 0.01, INERTIA = 2, SLOPE = 0.02, RATE = 0.1;

static const char craft[] =
    "orrery: 1\n"
    "spacecraft: {bodies: {bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
    "actuators: {push: {kind: wrench, node: bus.origin}}\n"
    "sensors: {gyro: {kind: rate_gyro, node: bus.origin}}\n"
    "simulation: {step: 10 ms, duration: 10 s, initial: {bus: {rate: [0, 0, 0.1]}}}\n"
    "links: {fsw: {%s, rate: 100 Hz, telemetry: [gyro.rate], commands: [push.torque],\n"
    "  lockstep: {timeout: 60 s, policy: stop}}}\n";

static double torque_of(int frame) { return SLOPE * frame; }

static double rate_of(int frame) { return RATE + SLOPE * frame * (frame - 1) / 2 * STEP_S / INERTIA; }

/* What flight software was shown, in this order. */
struct shown {
  int frames;
  double rate[FRAMES];
};

static struct shown shown;

static void show(double rate) {
  if (shown.frames < FRAMES)
    shown.rate[shown.frames++] = rate;
}

/* What was recorded. */
struct tape {
  struct orr_recorder recorder; /* first: the session calls back with it */
  int frames;
  double torque[FRAMES], rate[FRAMES];
};

static double value(const struct orr_session *s, const char *name) {
  int element, channel = orr_channel_find_element(&s->plant->table, name, &element);
  assert_true(channel >= 0);
  return s->plant->values[s->plant->table.channels[channel].offset + element];
}

static void record(struct orr_recorder *recorder, const struct orr_session *s) {
  struct tape *t = (struct tape *)recorder;
  assert_true(t->frames < FRAMES);
  t->torque[t->frames] = value(s, "push.torque.z");
  t->rate[t->frames++] = value(s, "gyro.rate.z");
}

/* The controller inside, where the link is not opened. */
static void answer(const struct orr_answer *a) {
  show(a->telemetry[2]);
  a->commands[2] = torque_of((int)(a->time_ns / 10000000) + 1);
}

struct flight {
  struct orr_diagnostics *diagnostics;
  struct orr_session *session;
  struct tape tape;
  char url[64];
};

static struct flight make(void) {
  struct flight f = {.diagnostics = orr_diagnostics_create(), .tape.recorder.frame = record};
  char text[2000], link[100], name[50];
  snprintf(name, sizeof name, "/orrery.session.%d", (int)getpid());
  snprintf(f.url, sizeof f.url, "shm:%s", name);
  snprintf(link, sizeof link, "transport: shm, name: %s", name);
  snprintf(text, sizeof text, craft, link);
  const struct orr_text_file file = {"run.yaml", text, strlen(text)};
  const struct orr_config_options options = {.files = &file, .file_count = 1};
  const struct orr_run *run = orr_run_load("run.yaml", &options, f.diagnostics);
  if (!run)
    orr_diagnostics_print(f.diagnostics, 0, stderr, false);
  assert_non_null(run);
  f.session = orr_session_create(run, answer);
  assert_int_equal(orr_session_start(f.session), ORR_OK);
  memset(&shown, 0, sizeof shown);
  return f;
}

static void discard(struct flight *f) {
  orr_session_destroy(f->session);
  orr_diagnostics_destroy(f->diagnostics);
}

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-12)

static void expect_computed(const struct orr_session *s, double rate) {
  assert_int_equal(orr_plant_frame(s->plant), FRAMES);
  NEAR(s->plant->integration->u[2], rate); /* advanced */
  NEAR(value(s, "gyro.rate.z"), rate);     /* and sensed */
}

static void expect_all(const struct flight *f) {
  assert_int_equal(shown.frames, FRAMES);
  assert_int_equal(f->tape.frames, FRAMES);
  for (int i = 0; i < FRAMES; i++) {
    NEAR(shown.rate[i], rate_of(i));       /* published before the frame was computed */
    NEAR(f->tape.torque[i], torque_of(i)); /* latched before it was recorded */
    NEAR(f->tape.rate[i], rate_of(i));     /* recorded before it was computed */
  }
  expect_computed(f->session, rate_of(FRAMES));
}

static void walk(struct flight *f) {
  orr_session_tell(f->session, &f->tape.recorder);
  for (int i = 0; i < FRAMES; i++)
    assert_int_equal(orr_session_frame(f->session), 0);
}

static void batch_flies_every_stage(void **state) {
  (void)state;
  struct flight f = make();
  walk(&f);
  expect_all(&f);
  discard(&f);
}

/* ---- lockstep ---------------------------------------------------------------------------------------------------- */

static void *fly_outside(void *url) {
  struct orr_client link;
  if (orr_client_open(&link, url, PATIENCE_MS) != 0)
    return NULL;
  struct orr_signal rate = orr_client_find(&link, "gyro.rate"), torque = orr_client_find(&link, "push.torque");
  for (int k = 0; k < FRAMES && orr_client_wait(&link, ORR_CLIENT_FUTEX, PATIENCE_MS) > 0; k++) {
    show(orr_client_get(&link, rate, 2));
    orr_client_set(&link, torque, 2, torque_of(k + 1));
    orr_client_send(&link);
  }
  orr_client_close(&link);
  return NULL;
}

static void lockstep_flies_every_stage(void **state) {
  (void)state;
  struct flight f = make();
  char message[200];
  pthread_t peer;
  if (!orr_session_open_links(f.session, true, NULL, message, sizeof message))
    fail_msg("%s", message);
  assert_int_equal(pthread_create(&peer, NULL, fly_outside, f.url), 0);
  assert_true(orr_session_wait_for_peers(f.session));
  walk(&f);
  pthread_join(peer, NULL);
  expect_all(&f);
  discard(&f);
}

/* ---- real time --------------------------------------------------------------------------------------------------- */

/* On this thread. However late its frames are, all of them are flown. */
static void fly_cycle(const struct orr_work *work, struct orr_realtime *realtime) {
  struct orr_stats *stats = aligned_alloc(64, sizeof *stats);
  struct orr_cycle *cycle = calloc(1, sizeof *cycle);
  assert_true(stats && cycle);
  struct orr_cycle_options options = orr_realtime_options(realtime, "", FRAMES).cycle;
  options.phase_ns = options.margin_ns = 0;
  orr_stats_init(stats, "session", options.period_ns);
  const char *wrong = orr_cycle_init(cycle, &options, work, realtime, stats);
  if (wrong)
    fail_msg("%s", wrong);
  orr_cycle_run(cycle);
  assert_int_equal(cycle->result.end, ORR_CYCLE_FRAMES_DONE);
  free(cycle);
  free(stats);
}

static void real_time_flies_every_stage(void **state) {
  (void)state;
  struct flight f = make();
  struct orr_realtime r;
  orr_realtime_init(&r, f.session);
  orr_session_tell(f.session, &f.tape.recorder);
  fly_cycle(&r.work, &r);
  expect_all(&f);
  orr_realtime_close(&r);
  discard(&f);
}

/* With a torque that is held. */
static void the_doctor_computes_and_tells_nobody(void **state) {
  (void)state;
  struct flight f = make();
  struct orr_realtime r;
  int element, torque = orr_channel_find_element(&f.session->plant->table, "push.torque.z", &element);
  f.session->plant->values[f.session->plant->table.channels[torque].offset + element] = 0.4;
  orr_session_tell(f.session, &f.tape.recorder);
  orr_realtime_init(&r, f.session);
  assert_true(r.rehearsal.frames > 0 && r.rehearsal.evaluation_ns > 0 && r.rehearsal.sensors_ns > 0);
  struct orr_work work = orr_realtime_computing(&r);
  fly_cycle(&work, &r);
  assert_int_equal(shown.frames, 0);
  assert_int_equal(f.tape.frames, 0);
  expect_computed(f.session, RATE + 0.4 * STEP_S / INERTIA * FRAMES);
  orr_realtime_close(&r);
  discard(&f);
}

/* ---- the walk itself --------------------------------------------------------------------------------------------- */

static void a_frame_ends_at_the_stage_that_ends_the_run(void **state) {
  (void)state;
  struct flight f = make();
  orr_session_tell(f.session, &f.tape.recorder);
  f.session->end = ORR_PORT_BROKEN; /* as a link would have it */
  assert_int_equal(orr_session_frame(f.session), ORR_PORT_BROKEN);
  assert_int_equal(shown.frames, 1);
  assert_int_equal(f.tape.frames, 0);
  assert_int_equal(orr_plant_frame(f.session->plant), 0);
  discard(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batch_flies_every_stage),
      cmocka_unit_test(lockstep_flies_every_stage),
      cmocka_unit_test(real_time_flies_every_stage),
      cmocka_unit_test(the_doctor_computes_and_tells_nobody),
      cmocka_unit_test(a_frame_ends_at_the_stage_that_ends_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
