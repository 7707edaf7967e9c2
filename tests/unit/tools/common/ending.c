/* The judgement of a run's end, by the words of configs/conventions.md. */
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/common/ending.h"

static const struct orr_ending whole = {.frames_asked = 3000, .frames_flown = 3000, .met = 2};

/* ---- what a run can be, one thing at a time ---------------------------------------------------------------------- */

static void diverged(struct orr_ending *e) { e->diverged = true; }
static void not_met(struct orr_ending *e) { e->not_met = 1; }
static void unwritten(struct orr_ending *e) { e->unwritten = true; }
static void cut_short(struct orr_ending *e) { e->frames_flown = 41; }
static void out_of_reach(struct orr_ending *e) { e->out_of_reach = 1; }
static void uncommanded(struct orr_ending *e) { e->uncommanded = 1; }
static void not_measured(struct orr_ending *e) { e->not_judged += 3; }
static void told(struct orr_ending *e) { e->told_to_end = true; }
static void none_met(struct orr_ending *e) { e->met = 0; }

/* In the order in which they decide: the first that a run has says its exit status. */
static const struct {
  void (*make)(struct orr_ending *e);
  int exit;
  enum orr_reason reason; /* ORR_REASONS: none of its own */
} things[] = {
    {diverged, 1, ORR_REASON_DIVERGED},
    {not_met, 1, ORR_REASON_NOT_MET},
    {unwritten, 1, ORR_REASON_UNWRITTEN},
    {cut_short, 3, ORR_REASON_ENDED_EARLY},
    {out_of_reach, 3, ORR_REASON_OUT_OF_REACH},
    {uncommanded, 3, ORR_REASON_UNCOMMANDED},
    {not_measured, 0, ORR_REASONS},
    {told, 0, ORR_REASONS},
    {none_met, 0, ORR_REASONS},
};
enum { THINGS = sizeof things / sizeof *things };

static void every_combination_is_judged_by_its_worst(void **state) {
  (void)state;
  static const char *const words[] = {"passed", "failed", "never", "incomplete"};
  int seen[4] = {0};
  for (unsigned set = 0; set < 1u << THINGS; set++) {
    struct orr_ending e = whole;
    bool reasons[ORR_REASONS + 1] = {false};
    int exit = 0;
    for (size_t i = THINGS; i-- > 0;)
      if (set >> i & 1) {
        things[i].make(&e);
        reasons[things[i].reason] = true;
        exit = things[i].exit ? things[i].exit : exit;
      }
    if (e.diverged) /* that the run is short then needs no reason of its own */
      reasons[ORR_REASON_ENDED_EARLY] = false;
    const struct orr_judgement j = orr_ending_judge(&e);
    if ((int)j.exit != exit || strcmp(j.verdict, words[exit]) != 0)
      fail_msg("set %#x: exit %d, '%s', not %d, '%s'", set, (int)j.exit, j.verdict, exit, words[exit]);
    for (int r = 0; r < ORR_REASONS; r++)
      if (j.reason[r] != reasons[r])
        fail_msg("set %#x: reason %s is %d", set, orr_reason_name((enum orr_reason)r), (int)j.reason[r]);
    seen[exit]++;
  }
  assert_int_equal(seen[1], 448); /* 7 of 8 subsets of three */
  assert_int_equal(seen[3], 56);  /* 7 of 8 of the others */
  assert_int_equal(seen[0], 8);
}

/* ---- the duration in force --------------------------------------------------------------------------------------- */

static void a_run_is_as_long_as_its_duration(void **state) {
  (void)state;
  static const struct {
    int64_t asked, flown;
    bool told;
    int exit;
  } rows[] =
      {
          {3000, 3000, false, 0}, {3000, 3000, true, 0}, {3000, 2999, false, 3}, {3000, 2999, true, 3},
          {3000, 41, true, 3},    {3000, 0, true, 3},    {3000, 0, false, 3},    {1, 1, false, 0},
          {0, 41, true, 0},  /* no duration: told to end, that is its end */
          {0, 41, false, 3}, /* nobody told it to: silence, an overrun, a failure of a link */
          {0, 0, true, 3},   /* it never began */
          {0, 0, false, 3},
      };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct orr_ending e = {
        .frames_asked = rows[i].asked, .frames_flown = rows[i].flown, .told_to_end = rows[i].told};
    const struct orr_judgement j = orr_ending_judge(&e);
    if ((int)j.exit != rows[i].exit || j.reason[ORR_REASON_ENDED_EARLY] != (rows[i].exit == 3))
      fail_msg("%d of %d frames, told %d: exit %d, not %d", (int)rows[i].flown, (int)rows[i].asked, (int)rows[i].told,
               (int)j.exit, rows[i].exit);
  }
}

/* ---- statuses ---------------------------------------------------------------------------------------------------- */

static void statuses_outrank_each_other_in_one_order(void **state) {
  (void)state;
  static const enum orr_exit order[] = {0, 3, 1, 2};
  for (size_t i = 0; i < 4; i++)
    for (size_t k = 0; k < 4; k++)
      assert_int_equal(orr_exit_outranking(order[i], order[k]), order[i > k ? i : k]);
}

static void each_reason_has_a_name_of_its_own(void **state) {
  (void)state;
  for (int a = 0; a < ORR_REASONS; a++) {
    assert_true(orr_reason_name((enum orr_reason)a)[0] != '\0');
    for (int b = 0; b < a; b++)
      assert_string_not_equal(orr_reason_name((enum orr_reason)a), orr_reason_name((enum orr_reason)b));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_combination_is_judged_by_its_worst),
      cmocka_unit_test(a_run_is_as_long_as_its_duration),
      cmocka_unit_test(statuses_outrank_each_other_in_one_order),
      cmocka_unit_test(each_reason_has_a_name_of_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
