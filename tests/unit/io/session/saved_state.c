/* A state that is put into a session: it goes on with the same bits; one that no run can have come to is refused, and
 * whatever is taken flies on within its own memory (the sanitizers look). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/session/saved_state.h"

enum { SAVED_AT = 25, FURTHER = 20, FEW = 3 };

/* Samples wait on their way out, pulses in the thruster, an answer in the link; loops have equations chosen. */
static const char craft[] =
    "orrery: 1\n"
    "spacecraft:\n"
    "  bodies:\n"
    "    bus: {mass: 10, inertia: [2, 3, 4, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {a: {at: [1, 0, 0]}}}\n"
    "    crank: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.a, axis: [0, 0, 1]}}\n"
    "    follower: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.a, axis: [0, 0, 1]}}\n"
    "    second: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: bus.a, axis: [0, 0, 1]}}\n"
    "  loops: [{gear: {hinge: crank, drives: follower, ratio: -2}, method: embed},\n"
    "    {gear: {hinge: crank, drives: second, ratio: 3}, method: augment}]\n"
    "actuators:\n"
    "  jet: {kind: thruster, node: bus.origin, direction: [1, 0, 0], thrust: 1, valve_delay: 50 ms, isp: 200 s,\n"
    "    propellant: 1 kg}\n"
    "  wheel: {kind: reaction_wheel, node: bus.origin, axis: [0, 0, 1], inertia: 0.1, max_torque: 1, max_speed: 600}\n"
    "sensors:\n"
    "  gyro: {kind: rate_gyro, node: bus.origin, rate: 50 Hz, delay: 5, noise: {angle_random_walk: 0.01 "
    "deg/sqrt(h)}}\n"
    "  star: {kind: star_tracker, node: bus.origin, boresight: [1, 0, 0], noise: {across: 1 arcsec, about: 9 arcsec}}\n"
    "simulation: {step: 10 ms, duration: 10 s, initial: {bus: {rate: [0.1, 0.2, 0.3]}, crank: {speed: [0.5]},\n"
    "  follower: {speed: [-1]}, second: {speed: [1.5]}}}\n"
    "commands:\n"
    "  - {channel: jet.on_time, at: 0.2 s, value: 0.03}\n"
    "  - {channel: jet.on_time, at: 0.24 s, value: 0.5}\n"
    "links: {fsw: {transport: shm, name: /orrery.saved, rate: 100 Hz, telemetry: [gyro.rate],\n"
    "  commands: [wheel.torque]}}\n";

static void answer(const struct orr_answer *a) { a->commands[0] = -a->telemetry[2]; }

struct flight {
  struct orr_diagnostics *diagnostics;
  struct orr_session *session;
};

static void pulse(const struct orr_answer *a) { a->commands[0] = 50; }

static struct flight make_for(const char *text, orr_answer_fn *answers) {
  struct flight f = {orr_diagnostics_create(), NULL};
  const struct orr_text_file file = {"run.yaml", text, strlen(text)};
  const struct orr_config_options options = {.files = &file, .file_count = 1};
  const struct orr_run *run = orr_run_load("run.yaml", &options, f.diagnostics);
  if (!run)
    orr_diagnostics_print(f.diagnostics, 0, stderr, false);
  assert_non_null(run);
  f.session = orr_session_create(run, answers);
  assert_int_equal(orr_session_start(f.session), ORR_OK);
  return f;
}

static struct flight make(const char *text) { return make_for(text, answer); }

static void discard(struct flight *f) {
  orr_session_destroy(f->session);
  orr_diagnostics_destroy(f->diagnostics);
}

static void fly(struct orr_session *s, int frames) {
  for (int i = 0; i < frames; i++)
    if (orr_session_frame(s) != 0)
      return;
}

static struct orr_state_head head_of(const struct flight *f) { return orr_saved_state_head(f->session, "this build"); }

/* The caller frees. */
static uint64_t *take(const struct flight *f, size_t *words) {
  struct orr_state_head head = head_of(f);
  *words = orr_state_record_words(&head);
  uint64_t *record = calloc(*words, sizeof *record);
  assert_non_null(record);
  orr_saved_state_take(f->session, &head, record);
  return record;
}

static const char *put(struct flight *f, const uint64_t *record, size_t words) {
  struct orr_state_record opened;
  assert_int_equal(orr_state_record_open(record, 8 * words, &opened), ORR_STATE_GOOD);
  return orr_saved_state_put(f->session, &opened);
}

static void a_state_goes_on_with_the_same_bits(void **state) {
  (void)state;
  struct flight a = make(craft), b = make(craft);
  size_t words, again;
  fly(a.session, SAVED_AT);
  uint64_t *record = take(&a, &words);
  assert_null(put(&b, record, words));
  assert_int_equal(orr_plant_frame(b.session->plant), SAVED_AT);
  uint64_t *copy = take(&b, &again);
  assert_int_equal(again, words);
  assert_memory_equal(copy, record, 8 * words);
  fly(a.session, FURTHER);
  fly(b.session, FURTHER);
  assert_int_equal(orr_plant_frame(b.session->plant), SAVED_AT + FURTHER);
  assert_int_equal(orr_session_hash(a.session), orr_session_hash(b.session));
  free(copy);
  free(record);
  discard(&a);
  discard(&b);
}

/* A link is cut, and the pulses that it commanded end after more than a second: 101 boundaries, of which half are over
 * when the state is saved. */
static void a_silence_that_is_saved_ends_pulses_in_the_same_frame(void **state) {
  (void)state;
  enum { CUT = 50, CLOSES = CUT + 100 };
  static const char text[] =
      "orrery: 1\n"
      "spacecraft: {bodies: {bus: {mass: 10, inertia: [2, 3, 4, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
      "actuators: {jet: {kind: thruster, node: bus.origin, direction: [1, 0, 0], thrust: 1}}\n"
      "sensors: {gyro: {kind: rate_gyro, node: bus.origin}}\n"
      "simulation: {step: 10 ms, duration: 10 s}\n"
      "links: {fsw: {transport: shm, name: /orrery.saved, rate: 100 Hz, telemetry: [gyro.rate], commands: "
      "[jet.on_time]}}\n"
      "faults: [{link: fsw, frame: 50, cut: true}]\n";
  struct flight a = make_for(text, pulse), b = make_for(text, pulse);
  const struct orr_plant *plant = b.session->plant;
  const double *thrust = &plant->values[plant->table.channels[orr_channel_find(&plant->table, "jet.thrust")].offset];
  size_t words;
  fly(a.session, CLOSES - 50);
  uint64_t *record = take(&a, &words);
  assert_null(put(&b, record, words));
  fly(b.session, 50);
  assert_true(*thrust == 1);
  fly(b.session, 1);
  assert_true(*thrust == 0);
  fly(a.session, 51);
  assert_int_equal(orr_session_hash(a.session), orr_session_hash(b.session));
  free(record);
  discard(&a);
  discard(&b);
}

static void another_run_is_told_apart(void **state) {
  (void)state;
  static const struct {
    const char *was, *is, *said;
  } others[] = {{"step: 10 ms", "step: 5 ms ", "another step"},
                {"kind: rate_gyro", "kind: accelerometer", "other devices"},
                {", method: augment", ", method: embed  ", "closed loops"},
                {"commands: [wheel.torque]", "commands: []            ", "other links"}};
  struct flight f = make(craft);
  size_t words;
  uint64_t *record = take(&f, &words);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    char text[sizeof craft + 32];
    const char *at = strstr(craft, others[i].was);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - craft), craft, others[i].is, at + strlen(others[i].was));
    if (i == 1) { /* its noise has another name */
      char *noise = strstr(text, ", noise: {angle_random_walk: 0.01 deg/sqrt(h)}");
      assert_non_null(noise);
      memset(noise, ' ', strlen(", noise: {angle_random_walk: 0.01 deg/sqrt(h)}"));
      char *rate = strstr(text, "telemetry: [gyro.rate]");
      memcpy(rate, "telemetry: [star.*]   ", strlen("telemetry: [star.*]   "));
    }
    struct flight other = make(text);
    const char *wrong = put(&other, record, words);
    if (!wrong || !strstr(wrong, others[i].said))
      fail_msg("'%s' said of: %s", wrong ? wrong : "nothing", others[i].is);
    discard(&other);
  }
  free(record);
  discard(&f);
}

static void whatever_stands_in_a_word_harms_nothing(void **state) {
  (void)state;
  const double numbers[] = {(double)NAN, HUGE_VAL, -HUGE_VAL, 1e300, -1e19, 9.3e18, 1e-310};
  const uint64_t wholes[] = {0, 1, 2, 7, 64, SAVED_AT + 1, INT64_MAX, UINT64_MAX, UINT64_C(1) << 62, UINT64_C(1) << 63};
  enum { NUMBERS = sizeof numbers / sizeof *numbers, WHOLES = sizeof wholes / sizeof *wholes };
  struct flight f = make(craft);
  size_t words, taken = 0, refused = 0;
  fly(f.session, SAVED_AT);
  uint64_t *record = take(&f, &words), *mad = calloc(words, sizeof *mad);
  struct orr_state_head head = head_of(&f);
  assert_non_null(mad);
  for (size_t k = 0; k < head.plant_words + head.link_words + head.loop_words; k++)
    for (int i = 0; i < NUMBERS + WHOLES; i++) {
      uint64_t word = i < NUMBERS ? 0 : wholes[i - NUMBERS];
      if (i < NUMBERS)
        memcpy(&word, &numbers[i], sizeof word);
      memcpy(mad, record, 8 * words);
      mad[ORR_STATE_HEAD_WORDS + k] = word;
      orr_state_record_seal(mad, &head);
      const char *wrong = put(&f, mad, words);
      refused += wrong != NULL;
      taken += !wrong;
      if (!wrong)
        fly(f.session, FEW);
    }
  assert_true(taken > 0 && refused > 0);
  assert_null(put(&f, record, words));
  free(mad);
  free(record);
  discard(&f);
}

/* The numbers that lead to places in memory: each of them alone makes a state that is refused. */
static void indices_that_lead_elsewhere_are_refused(void **state) {
  (void)state;
  struct flight f = make(craft);
  size_t words, waiting = 0;
  fly(f.session, SAVED_AT);
  uint64_t *record = take(&f, &words);
  const struct orr_plant *p = f.session->plant;
  struct orr_state_head head = head_of(&f);
  size_t moving = (size_t)(p->model->q_count + p->model->u_count + p->model->rotor_count);
  for (int d = 0; d < p->device_count; d++) {
    if (p->devices[d].output_count == 0)
      continue;
    size_t at = ORR_STATE_HEAD_WORDS + moving + (size_t)((char *)p->queues[d].due - p->state) / 8;
    size_t room = (size_t)p->queues[d].room;
    waiting += record[at + room + 1];
    for (size_t k = 0; k < 2; k++) { /* the first one's index, and how many wait */
      uint64_t was = record[at + room + k];
      record[at + room + k] = room + 1;
      orr_state_record_seal(record, &head);
      assert_non_null(put(&f, record, words));
      record[at + room + k] = was;
    }
  }
  assert_true(waiting >= 2);
  const struct orr_device *jet = &p->devices[0];
  assert_string_equal(jet->name, "jet");
  /* pulses: openings, closings, how many */
  size_t at = ORR_STATE_HEAD_WORDS + moving + (size_t)((char *)jet->state - p->state) / 8;
  size_t count = (jet->kind->state_bytes / 8 - 4) / 2 * 2;
  assert_in_range(record[at + count], 1, count / 2);
  record[at + count] = count / 2 + 1;
  orr_state_record_seal(record, &head);
  assert_non_null(put(&f, record, words));
  free(record);
  discard(&f);
}

static void the_frame_must_be_that_of_the_head(void **state) {
  (void)state;
  struct flight f = make(craft);
  size_t words;
  fly(f.session, SAVED_AT);
  uint64_t *record = take(&f, &words);
  struct orr_state_head head = head_of(&f);
  head.frame++;
  orr_state_record_seal(record, &head);
  assert_non_null(put(&f, record, words));
  free(record);
  discard(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_state_goes_on_with_the_same_bits),
      cmocka_unit_test(a_silence_that_is_saved_ends_pulses_in_the_same_frame),
      cmocka_unit_test(another_run_is_told_apart),
      cmocka_unit_test(whatever_stands_in_a_word_harms_nothing),
      cmocka_unit_test(indices_that_lead_elsewhere_are_refused),
      cmocka_unit_test(the_frame_must_be_that_of_the_head),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
