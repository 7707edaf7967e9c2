/* Commands from outside: what a line says, in which frame it acts, what is refused and why; a full ring. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/control/control_text.h"
#include "tests/support/flight.h"

#define SECTIONS                                                                                                       \
  "faults:\n"                                                                                                          \
  "  - {name: cut, device: gyro, dead: true}\n"                                                                        \
  "  - {name: weak, channel: wheel.torque, scale: 0.5}\n"                                                              \
  "sequence: [{wait: 100 ms}, {mark: there}, {until: time at least 5 s}]\n"

struct commanded {
  struct orr_flight flight;
  struct orr_control *control;
  struct orr_control_scope scope;
  bool known[64];
};

static void begin(struct commanded *c, const char *sections, bool may_pause) {
  char text[4000];
  snprintf(text, sizeof text, "%s%s", ORR_FLIGHT_CRAFT, sections);
  *c = (struct commanded){.flight = orr_flight_make(text, NULL)};
  const struct orr_run *run = c->flight.run;
  orr_session_take_control(c->flight.session, may_pause, false, NULL);
  c->control = c->flight.session->control;
  assert_true(run->table.count <= 64);
  for (int i = 0; i < run->table.count; i++) /* as this test has it: all but the truth of the body */
    c->known[i] = strncmp(run->table.channels[i].name, "bus.", 4) != 0;
  c->scope = (struct orr_control_scope){.table = &c->flight.plant->table,
                                        .known = c->known,
                                        .faults = run->faults,
                                        .fault_count = run->fault_count,
                                        .may_pause = may_pause};
}

/* Hands a line over; the number of the command. */
static uint64_t say(struct commanded *c, const char *line) {
  char message[ORR_CONTROL_MESSAGE] = "";
  struct orr_control_slot *slot = orr_control_claim(c->control);
  assert_non_null(slot);
  if (!orr_control_parse(&c->scope, line, strlen(line), &slot->command, message, sizeof message))
    fail_msg("'%s': %s", line, message);
  uint64_t number = atomic_load(&c->control->head);
  orr_control_commit(c->control);
  return number;
}

static double value(const struct commanded *c, const char *name) { return orr_flight_value(&c->flight, name); }

static void commands_act_in_the_frame_they_tell(void **state) {
  (void)state;
  struct commanded c;
  begin(&c, SECTIONS, false);
  orr_flight_run(&c.flight, 10);
  uint64_t set = say(&c, "set wheel.torque 20 mN m"), jet = say(&c, "  set jet.on_time 5 ms ");
  assert_null(orr_control_done(c.control, set));
  orr_flight_run(&c.flight, 1); /* frame 10 */
  assert_int_equal(orr_control_done(c.control, set)->frame, 10);
  assert_int_equal(orr_control_done(c.control, jet)->frame, 10);
  assert_true(value(&c, "wheel.torque") == 0.02);
  double speed = value(&c, "wheel.speed");
  orr_flight_run(&c.flight, 1);
  assert_true(value(&c, "wheel.torque") == 0.02); /* a level stays */
  assert_true(value(&c, "wheel.speed") > speed);
  uint64_t cut = say(&c, "fault cut");
  assert_true(value(&c, "gyro.rate.z") != 0);
  orr_flight_run(&c.flight, 1); /* frame 12 */
  assert_int_equal(orr_control_done(c.control, cut)->frame, 12);
  assert_int_equal(orr_fault_phase(c.flight.session->procedure->faults, 0), ORR_FAULT_ACTS);
  uint64_t clear = say(&c, "clear"), again = say(&c, "clear cut");
  orr_flight_run(&c.flight, 1);
  assert_int_equal(orr_control_done(c.control, clear)->changed, 1);
  assert_int_equal(orr_control_done(c.control, again)->changed, 0);
  assert_int_equal(orr_fault_phase(c.flight.session->procedure->faults, 0), ORR_FAULT_OVER);
  assert_true(value(&c, "gyro.rate.z") != 0);
  orr_flight_free(&c.flight);
}

/* A fault of a command works on what was set, and what was told stands behind it. */
static void a_command_goes_through_the_faults_of_its_channel(void **state) {
  (void)state;
  struct commanded c;
  begin(&c, SECTIONS, false);
  orr_flight_run(&c.flight, 3);
  say(&c, "fault weak");
  say(&c, "set wheel.torque 0.04");
  orr_flight_run(&c.flight, 2);
  assert_true(value(&c, "wheel.torque") == 0.02);
  say(&c, "clear weak");
  orr_flight_run(&c.flight, 1);
  assert_true(value(&c, "wheel.torque") == 0.04);
  orr_flight_free(&c.flight);
}

static void a_snapshot_is_of_the_top_of_its_frame(void **state) {
  (void)state;
  struct commanded c;
  char text[4000] = "";
  begin(&c, SECTIONS, false);
  say(&c, "set wheel.torque 10 mN m");
  orr_flight_run(&c.flight, 7);
  double rate = value(&c, "gyro.rate.z");
  uint64_t get = say(&c, "get gyro.rate.z,wheel.*");
  orr_flight_run(&c.flight, 1);
  assert_int_equal(orr_control_done(c.control, get)->frame, 7);
  orr_flight_run(&c.flight, 5); /* and stays */
  assert_true(value(&c, "gyro.rate.z") != rate);
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  orr_control_write_values(out, &c.scope, orr_control_done(c.control, get)->command.text, c.control->snapshot);
  fclose(out);
  const char *at = strstr(text, "\"gyro.rate.z\": ");
  assert_non_null(at);
  assert_true(strtod(at + strlen("\"gyro.rate.z\": "), NULL) == rate);
  assert_non_null(strstr(text, "\"wheel.torque\": 0.01"));
  assert_null(strstr(text, "jet"));
  orr_flight_free(&c.flight);
}

static int asked;
static bool asks_three_times(void) { return ++asked > 3; }

static void a_run_stands_where_it_shall(void **state) {
  (void)state;
  struct commanded c;
  int64_t since;
  begin(&c, SECTIONS, true);
  c.control->interrupted = asks_three_times;
  asked = 0;
  say(&c, "step 25");
  while (orr_session_frame(c.flight.session) == 0)
    ;
  assert_int_equal(orr_plant_frame(c.flight.plant), 25);
  assert_int_equal(c.flight.session->end, ORR_PORT_INTERRUPTED);
  assert_int_equal(asked, 4);
  assert_true(atomic_load(&c.control->pausing));
  const struct orr_run_step *step = orr_control_step(c.control, &since);
  assert_string_equal(step->name, "3 until");
  assert_int_equal(since, 10);
  c.flight.session->end = ORR_PORT_GOES_ON;
  say(&c, "go");
  say(&c, "mark here");
  uint64_t stop = say(&c, "stop"), late = say(&c, "mark never");
  assert_int_not_equal(orr_session_frame(c.flight.session), 0);
  assert_int_equal(c.flight.session->end, ORR_PORT_STOPPED);
  assert_int_equal(orr_control_done(c.control, stop)->frame, 25);
  assert_null(orr_control_done(c.control, late)); /* what comes behind the end is not done */
  assert_int_equal(c.control->event_count, 4);
  assert_string_equal(c.control->events[2].text, "here");
  orr_flight_free(&c.flight);
}

/* What stops a run between publish and the end of its frame leaves outputs with their faults once. */
static void a_frame_that_is_cut_has_its_faults_once(void **state) {
  (void)state;
  struct commanded c;
  begin(&c, "faults: [{channel: gyro.rate, at: 30 ms, bias: 1}]\n", false);
  orr_flight_run(&c.flight, 5);
  assert_int_equal(orr_session_stage_run(&orr_session_stages[0], c.flight.session), 0);
  double once = value(&c, "gyro.rate.z");
  assert_true(once > 1 && once < 2);
  orr_session_record_last(c.flight.session);
  assert_true(value(&c, "gyro.rate.z") == once);
  orr_flight_free(&c.flight);
}

/* All of a full ring in one frame; no more before that. */
static void a_ring_is_full_and_empties_in_a_frame(void **state) {
  (void)state;
  struct commanded c;
  char line[80];
  begin(&c, "", false);
  for (int i = 0; i < ORR_CONTROL_SLOTS; i++) {
    snprintf(line, sizeof line, "set wheel.torque %d mN m", i);
    say(&c, line);
  }
  assert_null(orr_control_claim(c.control));
  orr_flight_run(&c.flight, 1);
  assert_true(value(&c, "wheel.torque") == (ORR_CONTROL_SLOTS - 1) * 1e-3);
  for (uint64_t i = 0; i < ORR_CONTROL_SLOTS; i++)
    assert_int_equal(orr_control_done(c.control, i)->frame, 0);
  assert_non_null(orr_control_claim(c.control));
  assert_int_equal(c.control->event_count, ORR_CONTROL_SLOTS);
  orr_flight_free(&c.flight);
}

static void what_is_wrong_is_said(void **state) {
  (void)state;
  static const struct {
    const char *line, *says;
  } wrong[] = {
      {"", "say one of pause, step, go, set, fault, clear, mark, get, status and stop, not ''"},
      {"pauze", "did you mean 'pause'?"},
      {"destroy all", "say one of"},
      {"pause now", "pause stands alone, without 'now'"},
      {"stop 3", "stop stands alone"},
      {"step", "step takes a number of frames"},
      {"step 0", "1 or more, not '0'"},
      {"step -3", "not '-3'"},
      {"step 3 4", "not '3 4'"},
      {"step 99999999999999999999", "1 or more"},
      {"set", "set takes a command and a value"},
      {"set wheel.torque", "set takes a command and a value"},
      {"set wheel.torqe 1", "did you mean 'wheel.torque'?"},
      {"set rudder 1", "there is no command 'rudder'"},
      {"set gyro.rate.x 1", "'gyro.rate.x' is an output; set takes a command"},
      {"set wheel.torque fast", "'fast' is not a number, which 'wheel.torque' takes"},
      {"set wheel.torque 1 deg", "'wheel.torque' takes N m, not '1 deg'"},
      {"set wheel.torque 1 parsnip", "has a unit that is not known; 'wheel.torque' takes N m"},
      {"set wheel.torque .nan", "'.nan' is not a number"},
      {"set wheel.torque 1e999", "is not a number"},
      {"set wheel.torque [1 mN m, 2 mN m]", "takes 1 number"},
      {"set jet.on_time -1 s", "'jet.on_time' takes 0 to"},
      {"fault", "there is no fault ''"},
      {"fault cat", "there is no fault 'cat', did you mean 'cut'?"},
      {"fault weakness", "there is no fault 'weakness'; its file names them under 'faults'"},
      {"clear everything", "there is no fault 'everything'"},
      {"mark", "mark takes a text of at most 199 bytes"},
      {"get", "get takes channels"},
      {"get gyro.rat", "no channel fits 'gyro.rat', did you mean 'gyro.rate'?"},
      {"get moon.*", "no channel that this run computes fits 'moon.*'"},
      {"get gyro.rate,bus.rate", "'bus.rate' is not computed in this run"},
      {"status please", "status stands alone"},
      {"mark a\tb", "without control characters"},
      {"mark \xff\xfe", "a line is text in UTF-8"},
      {"mark \x1b[2J", "without control characters"},
  };
  struct commanded c;
  struct orr_control_command command;
  char message[ORR_CONTROL_MESSAGE], long_line[ORR_CONTROL_LINE + 8];
  begin(&c, SECTIONS, true);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    memset(message, 0, sizeof message);
    if (orr_control_parse(&c.scope, wrong[i].line, strlen(wrong[i].line), &command, message, sizeof message))
      fail_msg("'%s' passes", wrong[i].line);
    if (!strstr(message, wrong[i].says))
      fail_msg("'%s': '%s', not '%s'", wrong[i].line, message, wrong[i].says);
  }
  assert_false(orr_control_parse(&c.scope, "stop\0now", 8, &command, message, sizeof message));
  memset(long_line, 'x', sizeof long_line);
  memcpy(long_line, "mark ", 5);
  assert_false(orr_control_parse(&c.scope, long_line, ORR_CONTROL_LINE + 1, &command, message, sizeof message));
  assert_false(orr_control_parse(&c.scope, long_line, 5 + ORR_CONTROL_TEXT, &command, message, sizeof message));
  assert_true(orr_control_parse(&c.scope, long_line, 5 + ORR_CONTROL_TEXT - 1, &command, message, sizeof message));
  c.scope.may_pause = false;
  for (int i = 0; i < 3; i++) {
    const char *line = (const char *[]){"pause", "step 3", "go"}[i];
    assert_false(orr_control_parse(&c.scope, line, strlen(line), &command, message, sizeof message));
    assert_non_null(strstr(message, "a run in real time goes by the clock"));
  }
  orr_flight_free(&c.flight);
}

static void answers_are_json(void **state) {
  (void)state;
  static const struct {
    const char *text, *json;
  } texts[] = {{"a \"b\" \\ c", "\"a \\\"b\\\" \\\\ c\""},
               {"\x01\n", "\"\\u0001\\u000a\""},
               {"\xc3\xa4", "\"\xc3\xa4\""},
               {"cut \xc3", "\"cut ?\""}};
  char out[200];
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    memset(out, 0, sizeof out);
    FILE *to = fmemopen(out, sizeof out - 1, "w");
    orr_control_write_text(to, texts[i].text);
    fclose(to);
    assert_string_equal(out, texts[i].json);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commands_act_in_the_frame_they_tell),
      cmocka_unit_test(a_command_goes_through_the_faults_of_its_channel),
      cmocka_unit_test(a_snapshot_is_of_the_top_of_its_frame),
      cmocka_unit_test(a_run_stands_where_it_shall),
      cmocka_unit_test(a_frame_that_is_cut_has_its_faults_once),
      cmocka_unit_test(a_ring_is_full_and_empties_in_a_frame),
      cmocka_unit_test(what_is_wrong_is_said),
      cmocka_unit_test(answers_are_json),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
