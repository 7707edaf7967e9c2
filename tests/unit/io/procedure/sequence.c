/* The sequence: what each step does in which frame, what is judged, a saved state that goes on with the same bits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/flight.h"

enum { FRAMES = 400, TEXT = 4000 };

/* The wheel's torque and the fault `cut` of the gyro, in every frame. */
struct taken {
  struct orr_recorder recorder;
  struct orr_flight flight;
  double torque[FRAMES], on_time[FRAMES], rate[FRAMES];
  int count;
};

static void take(struct orr_recorder *recorder, const struct orr_session *session) {
  struct taken *t = (struct taken *)recorder;
  (void)session;
  if (t->count >= FRAMES)
    return;
  t->torque[t->count] = orr_flight_value(&t->flight, "wheel.torque");
  t->on_time[t->count] = orr_flight_value(&t->flight, "jet.on_time");
  t->rate[t->count++] = orr_flight_value(&t->flight, "gyro.rate.z");
}

static void begin(struct taken *t, const char *sections) {
  char text[2 * TEXT];
  snprintf(text, sizeof text, "%s%s", ORR_FLIGHT_CRAFT, sections);
  memset(t, 0, sizeof *t);
  t->flight = orr_flight_make(text, NULL);
  t->recorder.frame = take;
  orr_session_tell(t->flight.session, &t->recorder);
}

static void fly(struct taken *t, const char *sections) {
  begin(t, sections);
  orr_flight_run(&t->flight, FRAMES);
}

/* What is judged by the step that comes i-th among those that judge. */
static struct orr_assess_result judged(const struct taken *t, int i) {
  return orr_assess_result(t->flight.session->procedure->assess, (size_t)(t->flight.run->sequence.first_expect + i));
}

static void steps_act_in_their_frames(void **state) {
  (void)state;
  struct taken t;
  fly(&t, "faults: [{name: cut, device: gyro, dead: true}]\n"
          "sequence:\n"
          "  - set: {wheel.torque: 10 mN m}\n" /* in frame 0 */
          "  - wait: 500 ms\n"
          "  - set: {wheel.torque: 20 mN m, jet.on_time: 5 ms}\n" /* 50 */
          "  - fault: cut\n"
          "  - wait: 250 ms\n"
          "  - clear: cut\n" /* 75 */
          "  - ramp: {channel: wheel.torque, to: -20 mN m, over: 400 ms}\n"
          "  - set: {wheel.torque: 0}\n" /* 115 */
          "  - until: time at least 2 s for 100 ms\n"
          "  - set: {wheel.torque: 5 mN m}\n");
  for (int k = 0; k < FRAMES; k++) {
    double torque = k < 50    ? 0.01
                    : k < 75  ? 0.02
                    : k < 115 ? 0.02 - 0.04 * (k - 75) / 40.0
                    : k < 212 ? 0 /* first at 2.00 s, for 100 ms at 2.10, and acts in the frame after */
                              : 0.005;
    if (k == 211) /* it held in frame 210 */
      torque = 0.005;
    if (fabs(t.torque[k] - torque) > 1e-15)
      fail_msg("frame %d: %.17g, not %.17g", k, t.torque[k], torque);
    assert_true(t.on_time[k] == (k == 50 ? 0.005 : 0));
    assert_true((t.rate[k] == 0) == (k >= 50 && k < 75));
  }
  int64_t since;
  assert_int_equal(orr_sequence_at(t.flight.session->procedure->sequence, &since)->sort, ORR_STEP_END);
  orr_flight_free(&t.flight);
}

static void steps_repeat_and_choose(void **state) {
  (void)state;
  struct taken t;
  fly(&t, "sequence:\n"
          "  - repeat: 3\n"
          "    steps:\n"
          "      - repeat: 2\n"
          "        steps: [{set: {wheel.torque: 10 mN m}}, {wait: 50 ms}, {set: {wheel.torque: 0}}, {wait: 50 ms}]\n"
          "      - {wait: 100 ms}\n"
          "  - if: time above 0.5 s\n"
          "    then: [{set: {wheel.torque: 1 mN m}}, {wait: 10 ms}]\n"
          "    else: [{set: {wheel.torque: 2 mN m}}, {wait: 10 ms}]\n"
          "  - if: time above 50 s\n"
          "    then: [{set: {wheel.torque: 3 mN m}}]\n"
          "    else: [{set: {wheel.torque: 4 mN m}}]\n");
  for (int k = 0; k < FRAMES; k++) {
    int in = k % 30;
    double torque = k < 90 ? (in < 20 && in % 10 < 5 ? 0.01 : 0) : k == 90 ? 0.001 : 0.004;
    if (t.torque[k] != torque)
      fail_msg("frame %d: %.17g, not %.17g", k, t.torque[k], torque);
  }
  orr_flight_free(&t.flight);
}

static void what_does_not_come_times_out(void **state) {
  (void)state;
  static const char steps[] = "sequence:\n"
                              "  - {until: time above 100 s, timeout: 300 ms%s}\n"
                              "  - set: {wheel.torque: 10 mN m}\n";
  static const struct {
    const char *otherwise;
    bool goes_on, judged;
  } cases[] = {{"", false, true}, {", otherwise: go_on", true, false}, {", otherwise: end", false, false}};
  for (int i = 0; i < 3; i++) {
    struct taken t;
    char text[TEXT];
    snprintf(text, sizeof text, steps, cases[i].otherwise);
    fly(&t, text);
    for (int k = 0; k < FRAMES; k++)
      assert_true(t.torque[k] == (cases[i].goes_on && k >= 30 ? 0.01 : 0));
    assert_int_equal(t.flight.run->expect_count, cases[i].judged);
    if (cases[i].judged) {
      assert_true(judged(&t, 0).value == 0);
      assert_int_equal(judged(&t, 0).at_ns, 300000000);
    }
    orr_flight_free(&t.flight);
  }
}

static void steps_judge_the_moment(void **state) {
  (void)state;
  struct taken t;
  fly(&t, "expect: [{channel: gyro.rate, below: 9}]\n"
          "sequence:\n"
          "  - {until: time above 1 s, timeout: 2 s}\n"
          "  - {expect: time below 1.1 s}\n"
          "  - repeat: 3\n"
          "    steps: [{wait: 100 ms}, {expect: time below 1.25 s}]\n"
          "  - {until: time above 90 s}\n"
          "  - {expect: time above 0}\n");
  assert_int_equal(t.flight.run->expect_count, 6);
  assert_true(judged(&t, 0).value == 1);
  assert_int_equal(judged(&t, 0).at_ns, 1020000000); /* above at 1.01 s, and acts in the frame after */
  assert_true(judged(&t, 1).value == 1);
  assert_true(judged(&t, 2).value == 0);
  assert_int_equal(judged(&t, 2).at_ns, 1320000000); /* the third time */
  assert_true(isnan(judged(&t, 3).value));           /* it may still come */
  assert_true(isnan(judged(&t, 4).value));
  orr_flight_free(&t.flight);
}

static void a_loop_without_time_takes_its_steps_from_frame_to_frame(void **state) {
  (void)state;
  struct taken t;
  fly(&t, "sequence:\n"
          "  - {repeat: 1000, steps: [{set: {wheel.torque: 0}}]}\n"
          "  - set: {wheel.torque: 10 mN m}\n");
  int first = 0;
  while (first < FRAMES && t.torque[first] == 0)
    first++;
  assert_in_range(first, 2000 / ORR_SEQUENCE_STEPS - 1, 2000 / ORR_SEQUENCE_STEPS + 1);
  orr_flight_free(&t.flight);
}

static void a_saved_state_goes_on_with_the_same_bits(void **state) {
  (void)state;
  static const char sections[] =
      "faults: [{name: cut, device: gyro, dead: true}, {name: late, channel: wheel.torque, delay: 100 ms}]\n"
      "sequence:\n"
      "  - fault: late\n"
      "  - repeat: 3\n"
      "    steps:\n"
      "      - ramp: {channel: wheel.torque, to: 20 mN m, over: 300 ms}\n"
      "      - {until: wheel.torque above 10 mN m for 150 ms, timeout: 1 s, otherwise: go_on}\n"
      "      - fault: cut\n"
      "      - wait: 170 ms\n"
      "      - clear: cut\n"
      "      - ramp: {channel: wheel.torque, to: -20 mN m, over: 200 ms}\n";
  for (int cut = 7; cut < FRAMES; cut += 31) {
    struct taken whole, later;
    begin(&whole, sections);
    begin(&later, sections);
    orr_flight_run(&whole.flight, cut);
    size_t words = orr_session_state_words(whole.flight.session);
    uint64_t *saved = calloc(words, sizeof *saved);
    assert_non_null(saved);
    orr_session_state_get(whole.flight.session, saved);
    orr_flight_run(&later.flight, 3);
    later.count = cut;
    assert_true(orr_session_procedure_is_sound(later.flight.session, saved, cut));
    assert_int_equal(orr_session_state_put(later.flight.session, saved), ORR_OK);
    orr_flight_run(&whole.flight, FRAMES - cut);
    orr_flight_run(&later.flight, FRAMES - cut);
    size_t bytes = sizeof(double) * (size_t)(FRAMES - cut);
    assert_memory_equal(whole.torque + cut, later.torque + cut, bytes);
    assert_memory_equal(whole.rate + cut, later.rate + cut, bytes);
    assert_true(orr_session_hash(whole.flight.session) == orr_session_hash(later.flight.session));
    free(saved);
    orr_flight_free(&whole.flight);
    orr_flight_free(&later.flight);
  }
}

/* Words of any origin are refused where they would lead out of the sequence or of time. */
static void a_state_of_another_origin_is_refused(void **state) {
  (void)state;
  struct taken t;
  begin(&t, "sequence: [{until: wheel.torque above 1 for 1 s}, {repeat: 2, steps: [{wait: 1 s}]}]\n"
            "faults: [{device: gyro, when: time above 1 s for 1 s, dead: true}]\n");
  orr_flight_run(&t.flight, 50);
  size_t words = orr_session_state_words(t.flight.session);
  size_t own = orr_procedure_state_words(t.flight.session->procedure);
  uint64_t *saved = calloc(words, sizeof *saved);
  assert_non_null(saved);
  orr_session_state_get(t.flight.session, saved);
  assert_true(orr_session_procedure_is_sound(t.flight.session, saved, 50));
  uint64_t *of_sequence = saved + words - own;
  static const struct {
    int word;
    uint64_t value;
  } wrong[] = {{0, 2}, {1, 99}, {1, UINT64_MAX}, {2, INT64_MAX}, {2, UINT64_C(1) << 63}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    uint64_t was = of_sequence[wrong[i].word];
    of_sequence[wrong[i].word] = wrong[i].value;
    assert_false(orr_session_procedure_is_sound(t.flight.session, saved, 50));
    of_sequence[wrong[i].word] = was;
  }
  size_t fault = words - own + t.flight.session->procedure->sequence->replayed; /* its phase, since when */
  saved[fault] = 77;
  assert_false(orr_session_procedure_is_sound(t.flight.session, saved, 50));
  saved[fault] = 0;
  saved[fault + 1] = UINT64_MAX;
  assert_false(orr_session_procedure_is_sound(t.flight.session, saved, 50));
  free(saved);
  orr_flight_free(&t.flight);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_act_in_their_frames),
      cmocka_unit_test(steps_repeat_and_choose),
      cmocka_unit_test(what_does_not_come_times_out),
      cmocka_unit_test(steps_judge_the_moment),
      cmocka_unit_test(a_loop_without_time_takes_its_steps_from_frame_to_frame),
      cmocka_unit_test(a_saved_state_goes_on_with_the_same_bits),
      cmocka_unit_test(a_state_of_another_origin_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
