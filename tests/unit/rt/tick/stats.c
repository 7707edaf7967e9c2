/* The statistics block: the worst frames, the live record, what a reader refuses; and denormals. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/machine/denormals.h"
#include "rt/tick/stats.h"
#include "rt/tick/worst.h"

/* Frame i takes i · step mod FRAMES, which runs through all values: upwards, downwards and in leaps. */
static void keep_the_worst(uint64_t step) {
  enum { FRAMES = 1009 }; /* prime */
  static struct orr_frame_record records[ORR_WORST_COUNT];
  struct orr_worst *worst = test_calloc(1, sizeof *worst);
  for (uint64_t i = 0; i < FRAMES; i++) {
    struct orr_frame_record r = {.frame = i, .end_ns = (int64_t)(i * step % FRAMES)};
    r.stage_ns[3] = r.end_ns * 2;
    orr_worst_add(worst, &r);
  }
  assert_int_equal(orr_worst_read(worst, records), ORR_WORST_COUNT);
  for (int k = 0; k < ORR_WORST_COUNT; k++) {
    assert_int_equal(records[k].end_ns, FRAMES - 1 - k);
    assert_int_equal(records[k].frame * step % FRAMES, records[k].end_ns);
    assert_int_equal(records[k].stage_ns[3], records[k].end_ns * 2);
  }
  test_free(worst);
}

static void the_worst_frames_are_kept_in_order_whatever_came_first(void **state) {
  (void)state;
  const uint64_t steps[] = {1, 1008, 337, 2, 500, 63, 945};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    keep_the_worst(steps[i]);
}

static void a_short_run_has_as_many_worst_frames_as_frames(void **state) {
  (void)state;
  static struct orr_worst worst;
  static struct orr_frame_record records[ORR_WORST_COUNT];
  assert_int_equal(orr_worst_read(&worst, records), 0);
  for (uint64_t i = 0; i < 5; i++)
    orr_worst_add(&worst, &(struct orr_frame_record){.frame = i, .end_ns = -(int64_t)i});
  assert_int_equal(orr_worst_read(&worst, records), 5);
  assert_int_equal(records[0].frame, 0);
}

static void a_name_is_cut_to_whole_letters(void **state) {
  (void)state;
  struct orr_stats *stats = aligned_alloc(64, sizeof *stats);
  char name[ORR_STATS_NAME_MAX + 8];
  for (size_t plain = ORR_STATS_NAME_MAX - 4; plain < ORR_STATS_NAME_MAX; plain++) {
    memset(name, 'x', plain);
    snprintf(name + plain, sizeof name - plain, "\xe2\x82\xac"); /* the sign of the euro */
    orr_stats_init(stats, name, 1000000);
    bool fits = plain + 3 < ORR_STATS_NAME_MAX;
    assert_int_equal(strlen(stats->name), fits ? plain + 3 : plain);
    assert_memory_equal(stats->name, name, strlen(stats->name));
  }
  free(stats);
}

static void names_with_letters_that_a_terminal_obeys_are_refused(void **state) {
  (void)state;
  struct orr_stats *stats = aligned_alloc(64, sizeof *stats);
  orr_stats_init(stats, "a\x1b[2Jb\x7f", 1000000);
  assert_string_equal(stats->name, "a?[2Jb?");
  orr_stats_say(stats, "step\n\tone", 3);
  assert_string_equal(stats->doing, "step??one");
  assert_true(orr_stats_valid(stats, sizeof *stats));
  char *const places[] = {stats->name, stats->doing, stats->stage_name[ORR_STAGES_MAX - 1]};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char before = places[i][0];
    places[i][0] = '\x1b';
    assert_false(orr_stats_valid(stats, sizeof *stats));
    places[i][0] = before;
  }
  assert_true(orr_stats_valid(stats, sizeof *stats));
  free(stats);
}

static void a_block_of_another_version_or_size_is_refused(void **state) {
  (void)state;
  struct orr_stats *stats = aligned_alloc(64, sizeof *stats);
  orr_stats_init(stats, "test", 1000000);
  assert_true(orr_stats_valid(stats, sizeof *stats));
  assert_false(orr_stats_valid(stats, sizeof *stats - 1));
  stats->version++;
  assert_false(orr_stats_valid(stats, sizeof *stats));
  stats->version--;
  stats->stage_count = ORR_STAGES_MAX + 1;
  assert_false(orr_stats_valid(stats, sizeof *stats));
  stats->stage_count = 0;
  stats->magic ^= 1;
  assert_false(orr_stats_valid(stats, sizeof *stats));
  free(stats);
}

static void the_live_record_comes_back_whole(void **state) {
  (void)state;
  struct orr_stats *stats = aligned_alloc(64, sizeof *stats);
  orr_stats_init(stats, "test", 1000000);
  struct orr_live in = {.frames = 12, .late = {1, 2, 3, 4, 5, 6, 7, 8}, .last = {.frame = 11, .end_ns = -5}}, out;
  orr_stats_put_live(stats, &in);
  assert_true(orr_stats_live(stats, &out));
  assert_memory_equal(&in, &out, sizeof in);
  assert_int_equal(orr_live_late(&out), 2 + 3 + 4 + 5 + 6 + 7 + 8);
  assert_int_equal(orr_live_own(&out), out.late[ORR_CAUSE_STAGE] + out.late[ORR_CAUSE_PAGE_FAULT]);
  free(stats);
}

static void denormals_are_zero_after_the_flush(void **state) {
  (void)state;
  volatile double tiny = DBL_MIN, half = 0.5, denormal = DBL_TRUE_MIN * 1000, huge = 1e300;
  assert_true(tiny * half != 0.0);
  assert_true(denormal * huge != 0.0);
  assert_true(orr_rt_flush_denormals());
  assert_true(tiny * half == 0.0);     /* results */
  assert_true(denormal * huge == 0.0); /* operands */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_worst_frames_are_kept_in_order_whatever_came_first),
      cmocka_unit_test(a_short_run_has_as_many_worst_frames_as_frames),
      cmocka_unit_test(a_name_is_cut_to_whole_letters),
      cmocka_unit_test(names_with_letters_that_a_terminal_obeys_are_refused),
      cmocka_unit_test(a_block_of_another_version_or_size_is_refused),
      cmocka_unit_test(the_live_record_comes_back_whole),
      cmocka_unit_test(denormals_are_zero_after_the_flush),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
