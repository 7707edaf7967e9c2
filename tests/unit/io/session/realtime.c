/* A session as the executive's work: what a run file asks of real time, what a rehearsal may not change, where the
 * marks are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/session/realtime.h"
#include "rt/tick/clock.h"
#include "tests/support/flight.h"

static const char spacecraft[] =
    "orrery: 1\n"
    "spacecraft: {bodies: {bus: {mass: 4, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: "
    "{at: [0, 0, 0]}}},\n"
    "  arm: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0],\n"
    "    hinge: {kind: revolute, to: bus.n, axis: [0, 0, 1], stiffness: 5, damping: 0.1}}}}\n"
    "actuators: {w: {kind: reaction_wheel, node: bus.n, axis: [1, 0, 0], inertia: 0.1, max_torque: 1, max_speed: "
    "100}}\n"
    "sensors: {g: {kind: rate_gyro, node: bus.n, rate: 100 Hz, phase: 3, noise: {angle_random_walk: 1 deg/sqrt(h)}}}\n"
    "commands: [{channel: w.torque, at: 0 s, value: 0.5}]\n"
    "simulation: {step: 1 ms, duration: 1 s, initial: {bus: {rate: [0.1, 0.2, 0.3]}, arm: {q: [0.4]}}}\n";

static struct orr_flight make(const char *realtime) {
  char text[2000];
  snprintf(text, sizeof text, "%s%s", spacecraft, realtime);
  return orr_flight_make(text, "*");
}

static void a_rehearsal_leaves_state_and_outputs_as_they_were(void **state) {
  (void)state;
  struct orr_flight f = make("");
  struct orr_realtime r;
  orr_flight_run(&f, 7); /* with a torque held, and the next sample still to come */
  size_t words = orr_session_state_words(f.session), numbers = (size_t)f.plant->table.value_count;
  uint64_t *before = calloc(words, sizeof *before), *after = calloc(words, sizeof *after);
  double *values = calloc(numbers, sizeof *values);
  assert_true(before && after && values);
  orr_session_state_get(f.session, before);
  memcpy(values, f.plant->values, numbers * sizeof *values);
  uint64_t hash = orr_session_hash(f.session);
  orr_realtime_init(&r, f.session);
  orr_session_state_get(f.session, after);
  assert_memory_equal(before, after, words * sizeof *before);
  assert_memory_equal(values, f.plant->values, numbers * sizeof *values);
  assert_int_equal(orr_session_hash(f.session), hash);
  assert_true(r.rehearsal.frames >= 2);
  assert_true(r.rehearsal.typical_ns > 0 && r.rehearsal.typical_ns <= r.rehearsal.longest_ns);
  assert_true(r.rehearsal.evaluation_ns > 0 && r.rehearsal.evaluation_ns < r.rehearsal.longest_ns);
  orr_realtime_close(&r);
  free(before);
  free(after);
  free(values);
  orr_flight_free(&f);
}

/* The stage of that name, or a failure. */
static const struct orr_stage *stage_of(const struct orr_work *work, const char *name) {
  for (size_t i = 0; i < work->stage_count; i++)
    if (strcmp(work->stages[i].name, name) == 0)
      return &work->stages[i];
  fail_msg("no stage %s", name);
  return NULL;
}

/* Handing over to flight software outside is a fixed amount of work; a controller inside computes for us. */
static void handing_over_declares_what_it_takes_and_a_linked_controller_nothing(void **state) {
  (void)state;
  static const char text[] =
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 4, inertia: [2, 2.5, 3, 0.1, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
      "actuators: {w_x: &w {kind: reaction_wheel, node: bus.origin, axis: [1, 0, 0], inertia: 0.01},\n"
      "            w_y: {<<: *w, axis: [0, 1, 0]}, w_z: {<<: *w, axis: [0, 0, 1]}}\n"
      "sensors: {g: {kind: rate_gyro, node: bus.origin}, s: {kind: star_tracker, node: bus.origin, boresight: [0, 0, "
      "1]}}\n"
      "pointing: {bus: {node: bus.origin, target: [0, 0, 0, 1]}}\n"
      "simulation: {step: 1 ms, duration: 1 s}\n"
      "links: {fsw: {transport: %s, rate: 100 Hz, telemetry: [g.rate, s.attitude, bus.target], commands: "
      "[w_*.torque], stiffness: [1, 1, 1], damping: [1, 1, 1]}}\n";
  for (int outside = 0; outside < 2; outside++) {
    char run[2000];
    snprintf(run, sizeof run, text, outside ? "shm, name: /orrery.unit" : "linked");
    struct orr_flight f = orr_flight_make(run, "*");
    struct orr_realtime r;
    orr_realtime_init(&r, f.session);
    assert_int_equal(stage_of(&r.work, "publish")->mark_gap_ns > 0, outside);
    assert_int_equal(stage_of(&r.work, "latch")->mark_gap_ns > 0, outside);
    orr_realtime_close(&r);
    orr_flight_free(&f);
  }
}

static void every_evaluation_marks_the_frame_until_close(void **state) {
  (void)state;
  struct orr_flight f = make(""), plain = make("");
  struct orr_realtime r;
  orr_realtime_init(&r, f.session);
  const struct orr_stage *integrate = stage_of(&r.work, "integrate"), *sensors = stage_of(&r.work, "sensors");
  assert_true(integrate->mark_gap_ns > r.rehearsal.evaluation_ns && sensors->mark_gap_ns > r.rehearsal.sensors_ns);
  for (int i = 0; i < 20; i++) {
    int64_t begin_ns = orr_clock_now_ns();
    struct orr_frame frame = {.number = (uint64_t)i, .mark_ns = begin_ns, .which = integrate->which, .gap_limit_ns = 1};
    orr_session_publish(f.session);
    orr_session_latch(f.session);
    assert_int_equal(integrate->run(&r, &frame), 0);
    assert_true(frame.mark_ns > begin_ns && frame.gap_ns > 0); /* marked on the way */
    frame.which = sensors->which;
    assert_int_equal(sensors->run(&r, &frame), 0);
  }
  orr_flight_run(&plain, 20);
  assert_int_equal(orr_session_hash(f.session), orr_session_hash(plain.session));
  orr_realtime_close(&r);
  assert_null(f.plant->integration->hook);
  orr_flight_free(&f);
  orr_flight_free(&plain);
}

static struct orr_executive_options options_of(const char *realtime) {
  struct orr_flight f = make(realtime);
  struct orr_realtime r;
  orr_realtime_init(&r, f.session);
  struct orr_executive_options o = orr_realtime_options(&r, "", 1000);
  assert_true(o.region_count > f.session->region_count);
  assert_int_equal(o.cycle.period_ns, 1000000);
  assert_int_equal(o.cycle.frames, 1000);
  orr_realtime_close(&r);
  orr_flight_free(&f);
  return o;
}

static void the_run_file_says_what_is_asked_of_the_executive(void **state) {
  (void)state;
  struct orr_executive_options o = options_of("");
  assert_int_equal(o.core, ORR_CORE_AUTO);
  assert_int_equal(o.priority, 80);
  assert_true(o.cycle.margin_ns == ORR_AUTO_NS && o.cycle.phase_ns == ORR_AUTO_NS);
  assert_true(o.cycle.policy == ORR_OVERRUN_CATCH_UP && o.cycle.catch_up_limit == 3);
  assert_false(o.strict);
  o = options_of(
      "realtime: {core: 5, priority: 33, spin: 12 us, phase: 250 us, overrun: {policy: slip}, strict: true}\n");
  assert_int_equal(o.core, 5);
  assert_int_equal(o.priority, 33);
  assert_true(o.cycle.margin_ns == 12000 && o.cycle.phase_ns == 250000);
  assert_int_equal(o.cycle.policy, ORR_OVERRUN_SLIP);
  assert_true(o.strict);
  o = options_of("realtime: {core: any, spin: 0 s, phase: auto, overrun: {limit: 7}}\n");
  assert_int_equal(o.core, ORR_CORE_ANY);
  assert_true(o.cycle.margin_ns == 0 && o.cycle.phase_ns == ORR_AUTO_NS);
  assert_true(o.cycle.policy == ORR_OVERRUN_CATCH_UP && o.cycle.catch_up_limit == 7);
  o = options_of("realtime: {core: auto, overrun: {policy: stop}}\n");
  assert_int_equal(o.core, ORR_CORE_AUTO);
  assert_int_equal(o.cycle.policy, ORR_OVERRUN_STOP);
}

static void what_the_doctor_flies_goes_on_after_a_failure(void **state) {
  (void)state;
  static const char stiff[] =
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}},\n"
      "  arm: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0],\n"
      "    hinge: {kind: revolute, to: bus.origin, axis: [0, 0, 1], stiffness: 1e7}}}}\n"
      "simulation: {step: 1 ms, duration: 1 s, initial: {arm: {q: [0.01]}}}\n";
  struct orr_flight f = orr_flight_make(stiff, NULL);
  struct orr_realtime r;
  orr_realtime_init(&r, f.session);
  struct orr_work work = orr_realtime_computing(&r);
  assert_int_equal(work.stage_count, 2); /* nothing goes out, comes in or is recorded */
  const struct orr_stage *fails = stage_of(&r.work, "integrate"), *goes_on = stage_of(&work, "integrate");
  struct orr_frame frame = {.mark_ns = orr_clock_now_ns(), .which = goes_on->which};
  stage_of(&work, "sensors");
  int failed = 0;
  for (int i = 0; i < 100; i++) {
    assert_int_equal(goes_on->run(&r, &frame), 0);
    failed += f.session->status != ORR_OK;
  }
  assert_true(failed > 10);
  assert_int_not_equal(fails->run(&r, &frame), 0);
  orr_realtime_close(&r);
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rehearsal_leaves_state_and_outputs_as_they_were),
      cmocka_unit_test(every_evaluation_marks_the_frame_until_close),
      cmocka_unit_test(handing_over_declares_what_it_takes_and_a_linked_controller_nothing),
      cmocka_unit_test(the_run_file_says_what_is_asked_of_the_executive),
      cmocka_unit_test(what_the_doctor_flies_goes_on_after_a_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
