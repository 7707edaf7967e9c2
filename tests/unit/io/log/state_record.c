/* The record of a saved state: what was put in comes out; nothing that was changed, cut or is something else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/math/hash.h"
#include "io/log/state_record.h"
#include "tests/support/prng.h"

enum { PLANT = 11, LINKS = 5, LOOPS = 3, STATE = PLANT + LINKS + LOOPS, WORDS = ORR_STATE_HEAD_WORDS + STATE + 1 };

static const struct orr_state_head head = {.frame = 1234,
                                           .step_ns = 1000000,
                                           .layout = 77,
                                           .plant_words = PLANT,
                                           .link_words = LINKS,
                                           .loop_words = LOOPS,
                                           .build = "0.1.0 abcdef, cc 12, flags 1"};

static void make(uint64_t record[WORDS]) {
  struct orr_prng prng = {3};
  assert_int_equal(orr_state_record_words(&head), WORDS);
  for (int i = 0; i < STATE; i++)
    record[ORR_STATE_HEAD_WORDS + i] = prng_next(&prng);
  orr_state_record_seal(record, &head);
}

static void what_is_put_in_comes_out(void **state) {
  (void)state;
  uint64_t record[WORDS];
  unsigned char at[8 * WORDS + 1];
  struct orr_state_record out;
  make(record);
  memcpy(at + 1, record, sizeof record); /* it need not be aligned */
  assert_int_equal(orr_state_record_open(at + 1, sizeof record, &out), ORR_STATE_GOOD);
  assert_int_equal(out.head.frame, 1234);
  assert_int_equal(out.head.step_ns, 1000000);
  assert_int_equal(out.head.layout, 77);
  assert_int_equal(out.head.plant_words, PLANT);
  assert_int_equal(out.head.link_words, LINKS);
  assert_int_equal(out.head.loop_words, LOOPS);
  assert_string_equal(out.head.build, head.build);
  assert_int_equal(out.state_words, STATE);
  assert_memory_equal(out.state, record + ORR_STATE_HEAD_WORDS, 8 * STATE);
}

static void a_flipped_bit_anywhere_is_noticed(void **state) {
  (void)state;
  uint64_t record[WORDS];
  struct orr_state_record out;
  make(record);
  for (size_t bit = 0; bit < 64 * (size_t)WORDS; bit++) {
    record[bit / 64] ^= UINT64_C(1) << bit % 64;
    assert_int_not_equal(orr_state_record_open(record, sizeof record, &out), ORR_STATE_GOOD);
    record[bit / 64] ^= UINT64_C(1) << bit % 64;
  }
  assert_int_equal(orr_state_record_open(record, sizeof record, &out), ORR_STATE_GOOD);
}

static void another_number_in_one_word_is_noticed(void **state) {
  (void)state;
  uint64_t record[WORDS];
  struct orr_state_record out;
  struct orr_prng prng = {5};
  make(record);
  for (int i = 0; i < 100000; i++) {
    size_t k = prng_next(&prng) % WORDS;
    uint64_t was = record[k];
    record[k] = prng_next(&prng) >> prng_next(&prng) % 64;
    if (record[k] != was)
      assert_int_not_equal(orr_state_record_open(record, sizeof record, &out), ORR_STATE_GOOD);
    record[k] = was;
  }
}

static void a_cut_or_longer_record_is_refused(void **state) {
  (void)state;
  uint64_t record[WORDS + 2] = {0};
  struct orr_state_record out;
  make(record);
  for (size_t size = 0; size <= sizeof record; size++)
    if (size != 8 * WORDS)
      assert_int_equal(orr_state_record_open(record, size, &out), size < 8 ? ORR_STATE_ALIEN : ORR_STATE_CUT);
}

static void other_forms_and_files_are_told_apart(void **state) {
  (void)state;
  static const char old[] = "{\n \"orrery_state\": 1,\n \"time_s\": 17.34", alien[] = "orrery: 1\nspacecraft: {}\n";
  uint64_t record[WORDS];
  struct orr_state_record out;
  assert_int_equal(orr_state_record_open(old, sizeof old - 1, &out), ORR_STATE_OLD);
  assert_int_equal(orr_state_record_open(alien, sizeof alien - 1, &out), ORR_STATE_ALIEN);
  assert_int_equal(orr_state_record_open("", 0, &out), ORR_STATE_ALIEN);
  make(record);
  record[1] = ORR_STATE_FORM + 1;
  assert_int_equal(orr_state_record_open(record, sizeof record, &out), ORR_STATE_OLD);
}

/* A sum that fits is no proof: counts that reach beyond the record are refused all the same. */
static void counts_that_are_made_up_are_refused(void **state) {
  (void)state;
  const uint64_t wrong[] = {0, PLANT + 1, STATE + 1, INT64_MAX, UINT64_MAX, UINT64_C(1) << 63};
  uint64_t record[WORDS];
  struct orr_state_record out;
  for (size_t at = 6; at < 9; at++)
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      make(record);
      record[at] = wrong[i];
      record[WORDS - 1] = orr_hash_words(ORR_HASH_BEGIN, record, 8 * (WORDS - 1));
      assert_int_equal(orr_state_record_open(record, sizeof record, &out), ORR_STATE_DAMAGED);
    }
}

static void a_long_name_of_a_build_is_cut(void **state) {
  (void)state;
  uint64_t record[WORDS];
  struct orr_state_record out;
  struct orr_state_head long_head = head;
  memset(long_head.build, 'x', sizeof long_head.build - 1);
  make(record);
  orr_state_record_seal(record, &long_head);
  memset((char *)record + 72, 'y', ORR_STATE_BUILD); /* without an end */
  record[WORDS - 1] = orr_hash_words(ORR_HASH_BEGIN, record, 8 * (WORDS - 1));
  assert_int_equal(orr_state_record_open(record, sizeof record, &out), ORR_STATE_GOOD);
  assert_int_equal(strlen(out.head.build), ORR_STATE_BUILD - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_put_in_comes_out),
      cmocka_unit_test(a_flipped_bit_anywhere_is_noticed),
      cmocka_unit_test(another_number_in_one_word_is_noticed),
      cmocka_unit_test(a_cut_or_longer_record_is_refused),
      cmocka_unit_test(other_forms_and_files_are_told_apart),
      cmocka_unit_test(counts_that_are_made_up_are_refused),
      cmocka_unit_test(a_long_name_of_a_build_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
