/* The verdict on a late frame, from records written by hand: period 1 ms, late start beyond 250 us, three stages that
 * usually take 10, 10 and 300 us. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/tick/verdict.h"

enum { US = 1000, MS = 1000000 };
static const int64_t usual_ns[] = {10 * US, 10 * US, 300 * US};

/* A frame that slept, woke on time and took its usual time. */
static struct orr_frame_record usual(void) {
  return (struct orr_frame_record){.slept = 1,
                                   .entry_ns = -600 * US,
                                   .woke_ns = 20 * US,
                                   .start_ns = 20 * US,
                                   .previous_end_ns = -600 * US,
                                   .stage_ns = {10 * US, 10 * US, 300 * US},
                                   .end_ns = 340 * US};
}

static enum orr_cause judge(struct orr_frame_record *r) {
  const struct orr_verdict_limits limits = {.period_ns = MS, .late_start_ns = 250 * US};
  orr_verdict(r, &limits, usual_ns, 3);
  return (enum orr_cause)r->cause;
}

static void a_usual_frame_is_on_time(void **state) {
  (void)state;
  struct orr_frame_record r = usual();
  assert_int_equal(judge(&r), ORR_CAUSE_NONE);
  assert_int_equal(r.overran, 0);
  r.minor_faults = r.involuntary = r.voluntary = 3; /* harmless when nothing was late */
  assert_int_equal(judge(&r), ORR_CAUSE_NONE);
}

static void a_late_wake_up_is_blamed_whether_or_not_it_overran(void **state) {
  (void)state;
  struct orr_frame_record r = usual();
  r.woke_ns = r.start_ns = 251 * US;
  r.end_ns = 571 * US;
  assert_int_equal(judge(&r), ORR_CAUSE_WAKE_UP);
  assert_int_equal(r.overran, 0);
  r.woke_ns = r.start_ns = 900 * US;
  r.end_ns = 1220 * US;
  assert_int_equal(judge(&r), ORR_CAUSE_WAKE_UP);
  assert_int_equal(r.overran, 1);
}

static void a_start_behind_the_frame_before_is_told_apart(void **state) {
  (void)state;
  struct orr_frame_record r = usual();
  r.slept = 0;
  r.previous_end_ns = 400 * US;
  r.entry_ns = r.woke_ns = r.start_ns = 402 * US;
  r.end_ns = 722 * US;
  assert_int_equal(judge(&r), ORR_CAUSE_PREVIOUS);
}

static void the_stage_beyond_its_usual_time_is_named_not_the_longest(void **state) {
  (void)state;
  struct orr_frame_record r = usual();
  r.stage_ns[1] = 290 * US;
  r.stage_ns[2] = 700 * US;
  r.end_ns = 1020 * US;
  assert_int_equal(judge(&r), ORR_CAUSE_STAGE);
  assert_int_equal(r.stage, 2);
  r.stage_ns[1] = 700 * US;
  r.stage_ns[2] = 290 * US;
  assert_int_equal(judge(&r), ORR_CAUSE_STAGE);
  assert_int_equal(r.stage, 1);
}

static void lost_time_is_named_by_the_switch_that_took_it(void **state) {
  (void)state;
  struct orr_frame_record r = usual();
  r.stage_ns[2] = 1300 * US;
  r.end_ns = 1340 * US;
  r.lost_ns = 1000 * US;
  assert_int_equal(judge(&r), ORR_CAUSE_STOLEN);
  r.voluntary = 1;
  assert_int_equal(judge(&r), ORR_CAUSE_BLOCKED);
  r.involuntary = 1;
  assert_int_equal(judge(&r), ORR_CAUSE_PREEMPTED);
}

static void a_gap_between_marks_is_stolen_time(void **state) {
  (void)state;
  struct orr_frame_record r = usual();
  r.stage_ns[2] = 1300 * US;
  r.end_ns = 1340 * US;
  r.gap_ns = 990 * US;
  assert_int_equal(judge(&r), ORR_CAUSE_STOLEN);
}

static void a_short_loss_does_not_excuse_a_long_computation(void **state) {
  (void)state;
  struct orr_frame_record r = usual();
  r.stage_ns[2] = 1300 * US;
  r.end_ns = 1340 * US;
  r.lost_ns = 50 * US;
  r.involuntary = 1;
  assert_int_equal(judge(&r), ORR_CAUSE_STAGE);
  assert_true(orr_cause_is_own((enum orr_cause)r.cause));
}

static void page_faults_are_blamed_for_what_they_can_take_and_no_more(void **state) {
  (void)state;
  struct orr_frame_record r = usual();
  r.stage_ns[2] = 1300 * US;
  r.end_ns = 1340 * US;
  r.minor_faults = 1; /* 20 us at most, 320 to explain */
  assert_int_equal(judge(&r), ORR_CAUSE_STAGE);
  r.minor_faults = 200;
  assert_int_equal(judge(&r), ORR_CAUSE_PAGE_FAULT);
  assert_true(orr_cause_is_own(ORR_CAUSE_PAGE_FAULT));
  r.minor_faults = 0;
  r.major_faults = 1;
  r.voluntary = 1; /* waiting for the disk */
  r.lost_ns = 1000 * US;
  assert_int_equal(judge(&r), ORR_CAUSE_PAGE_FAULT);
}

static void a_spin_that_was_interrupted_is_no_late_wake_up(void **state) {
  (void)state;
  struct orr_frame_record r = usual();
  r.woke_ns = -200 * US;
  r.start_ns = 400 * US;
  r.end_ns = 720 * US;
  assert_int_equal(judge(&r), ORR_CAUSE_STOLEN);
  r.involuntary = 1;
  assert_int_equal(judge(&r), ORR_CAUSE_PREEMPTED);
}

static void a_process_stopped_in_its_sleep_is_not_blamed_on_the_wake_up(void **state) {
  (void)state;
  struct orr_frame_record r = usual();
  r.woke_ns = r.start_ns = 50 * MS;
  r.end_ns = 51 * MS;
  r.voluntary = 1;
  assert_int_equal(judge(&r), ORR_CAUSE_BLOCKED);
}

static void every_cause_has_a_name_of_its_own(void **state) {
  (void)state;
  for (unsigned a = 0; a < ORR_CAUSE_COUNT; a++)
    for (unsigned b = 0; b < a; b++)
      assert_string_not_equal(orr_cause_name((enum orr_cause)a), orr_cause_name((enum orr_cause)b));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_usual_frame_is_on_time),
      cmocka_unit_test(a_late_wake_up_is_blamed_whether_or_not_it_overran),
      cmocka_unit_test(a_start_behind_the_frame_before_is_told_apart),
      cmocka_unit_test(the_stage_beyond_its_usual_time_is_named_not_the_longest),
      cmocka_unit_test(lost_time_is_named_by_the_switch_that_took_it),
      cmocka_unit_test(a_gap_between_marks_is_stolen_time),
      cmocka_unit_test(a_short_loss_does_not_excuse_a_long_computation),
      cmocka_unit_test(page_faults_are_blamed_for_what_they_can_take_and_no_more),
      cmocka_unit_test(a_spin_that_was_interrupted_is_no_late_wake_up),
      cmocka_unit_test(a_process_stopped_in_its_sleep_is_not_blamed_on_the_wake_up),
      cmocka_unit_test(every_cause_has_a_name_of_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
