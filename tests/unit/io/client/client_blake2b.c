/* Our BLAKE2b beside the published vectors, and beside libsodium's. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/client/client_blake2b.h"

static void assert_hex(const uint8_t *bytes, size_t count, const char *hex) {
  char text[2 * ORR_BLAKE2B_MOST + 1];
  for (size_t i = 0; i < count; i++)
    snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  assert_string_equal(text, hex);
}

static void count_up(uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    bytes[i] = (uint8_t)i;
}

/* blake2b-kat.txt of the reference implementation: bytes 0, 1, 2, … under a key of 64 such bytes; RFC 7693, appendix A
 * for "abc" without a key. */
static void the_published_vectors(void **state) {
  (void)state;
  static const struct {
    size_t count;
    const char *hash;
  } keyed[] = {
      {0, "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
          "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568"},
      {1, "961f6dd1e4dd30f63901690c512e78e4b45e4742ed197c3c5e45c549fd25f2e4"
          "187b0bc9fe30492b16b0d0bc4ef9b0f34c7003fac09a5ef1532e69430234cebd"},
      {128, "72065ee4dd91c2d8509fa1fc28a37c7fc9fa7d5b3f8ad3d0d7a25626b57b1b44"
            "788d4caf806290425f9890a3a2a35a905ab4b37acfd0da6e4517b2525c9651e4"},
      {255, "142709d62e28fcccd0af97fad0f8465b971e82201dc51070faa0372aa43e9248"
            "4be1c1e73ba10906d5d1853db6a4106e0a7bf9800d373d6dee2d46d62ef2a461"},
  };
  uint8_t key[64], text[256], hash[64];
  count_up(key, sizeof key);
  count_up(text, sizeof text);
  for (size_t i = 0; i < sizeof keyed / sizeof *keyed; i++) {
    orr_client_blake2b(hash, 64, key, 64, text, keyed[i].count);
    assert_hex(hash, 64, keyed[i].hash);
  }
  orr_client_blake2b(hash, 64, NULL, 0, (const uint8_t *)"abc", 3);
  assert_hex(hash, 64,
             "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
             "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
}

/* RFC 7693, appendix E: a hash over the hashes of many lengths, with and without a key. */
static void fibonacci(uint8_t *out, uint32_t count, uint32_t seed) {
  uint32_t a = 0xDEAD4BAD * seed, b = 1;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t t = a + b;
    a = b;
    b = t;
    out[i] = (uint8_t)(t >> 24);
  }
}

static void the_self_test_of_rfc_7693(void **state) {
  (void)state;
  static const uint32_t sizes[] = {20, 32, 48, 64}, counts[] = {0, 3, 128, 129, 255, 1024};
  uint8_t text[1024], key[64], all[4 * 64 * 12];
  size_t used = 0;
  for (size_t i = 0; i < 4; i++)
    for (size_t k = 0; k < 6; k++) {
      fibonacci(text, counts[k], counts[k]);
      orr_client_blake2b(all + used, sizes[i], NULL, 0, text, counts[k]);
      used += sizes[i];
      fibonacci(key, sizes[i], sizes[i]);
      orr_client_blake2b(all + used, sizes[i], key, sizes[i], text, counts[k]);
      used += sizes[i];
    }
  uint8_t hash[32];
  orr_client_blake2b(hash, 32, NULL, 0, all, used);
  assert_hex(hash, 32, "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475");
}

static void libsodium_has_the_same(void **state) {
  (void)state;
  uint8_t text[700], key[32], ours[16], theirs[16];
  for (size_t count = 0; count <= sizeof text; count++) {
    fibonacci(text, (uint32_t)count, 7);
    fibonacci(key, sizeof key, (uint32_t)count);
    orr_client_blake2b(ours, sizeof ours, key, sizeof key, text, count);
    assert_int_equal(crypto_generichash_blake2b(theirs, sizeof theirs, text, count, key, sizeof key), 0);
    assert_memory_equal(ours, theirs, sizeof ours);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_published_vectors),
      cmocka_unit_test(the_self_test_of_rfc_7693),
      cmocka_unit_test(libsodium_has_the_same),
  };
  return sodium_init() < 0 || cmocka_run_group_tests(tests, NULL, NULL);
}
