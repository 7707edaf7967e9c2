/* io/log/crc32: the published check value, and every length and place against a plain bit by bit sum. */
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/log/crc32.h"
#include "tests/support/prng.h"

/* Long division by the polynomial, a bit at a time. */
static uint32_t plain(const uint8_t *bytes, size_t size) {
  uint32_t rest = UINT32_MAX;
  for (size_t i = 0; i < 8 * size; i++) {
    uint32_t bit = (bytes[i / 8] >> i % 8 & 1) ^ (rest & 1);
    rest = rest >> 1 ^ (bit ? UINT32_C(0xedb88320) : 0);
  }
  return ~rest;
}

static void has_the_published_check_value(void **state) {
  (void)state;
  struct orr_crc32 crc;
  orr_crc32_init(&crc);
  assert_int_equal(orr_crc32(&crc, 0, "123456789", 9), 0xcbf43926);
  assert_int_equal(orr_crc32(&crc, 0, "", 0), 0);
}

static void sums_any_bytes_as_long_division_does(void **state) {
  (void)state;
  struct orr_crc32 crc;
  struct orr_prng prng = {17};
  uint8_t bytes[300];
  orr_crc32_init(&crc);
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)prng_next(&prng);
  for (size_t at = 0; at < 9; at++)
    for (size_t size = 0; at + size <= sizeof bytes; size++) {
      uint32_t sum = plain(bytes + at, size);
      assert_int_equal(orr_crc32(&crc, 0, bytes + at, size), sum);
      size_t cut = size / 3;
      assert_int_equal(orr_crc32(&crc, orr_crc32(&crc, 0, bytes + at, cut), bytes + at + cut, size - cut), sum);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(has_the_published_check_value),
      cmocka_unit_test(sums_any_bytes_as_long_division_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
