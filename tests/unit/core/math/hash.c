/* The hash, against values that others have published. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/math/hash.h"

/* Test vectors of the authors of FNV (Fowler, Noll, Vo), 64 bits, 1a. */
static void bytes_have_the_published_hash(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t hash;
  } cases[] = {{"", UINT64_C(0xcbf29ce484222325)},
               {"a", UINT64_C(0xaf63dc4c8601ec8c)},
               {"b", UINT64_C(0xaf63df4c8601f1a5)},
               {"foobar", UINT64_C(0x85944171f73967e8)}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(orr_hash_bytes(ORR_HASH_BEGIN, cases[i].text, strlen(cases[i].text)), cases[i].hash);
}

/* With FNV-1a alone the upper half of a word would never reach the lower half of the hash. */
static void each_bit_of_a_word_reaches_both_halves_of_the_hash(void **state) {
  (void)state;
  for (int bit = 0; bit < 64; bit++) {
    const uint64_t zero[2] = {0}, one[2] = {UINT64_C(1) << bit, 0};
    uint64_t change =
        orr_hash_words(ORR_HASH_BEGIN, zero, sizeof zero) ^ orr_hash_words(ORR_HASH_BEGIN, one, sizeof one);
    assert_int_not_equal((uint32_t)change, 0);
    assert_int_not_equal(change >> 32, 0);
  }
}

static void the_order_of_words_counts(void **state) {
  (void)state;
  const uint64_t words[2] = {3, 5}, turned[2] = {5, 3};
  assert_int_not_equal(orr_hash_words(ORR_HASH_BEGIN, words, sizeof words),
                       orr_hash_words(ORR_HASH_BEGIN, turned, sizeof turned));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_have_the_published_hash),
      cmocka_unit_test(each_bit_of_a_word_reaches_both_halves_of_the_hash),
      cmocka_unit_test(the_order_of_words_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
