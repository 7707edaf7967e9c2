#include "io/client/client_blake2b.h"

#include <string.h>

#include "io/wire/key.h"

enum { BLOCK = 128, ROUNDS = 12 };

/* RFC 7693, section 2.6: the fractional parts of the roots of the first eight primes. */
static const uint64_t initial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/* Section 2.7: which words of a block a round takes; rounds 10 and 11 are as 0 and 1. */
static const uint8_t order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static uint64_t rotated(uint64_t word, int right) { return word >> right | word << (64 - right); }

/* Section 3.1. */
static void mix(uint64_t *v, int a, int b, int c, int d, uint64_t x, uint64_t y) {
  v[a] += v[b] + x;
  v[d] = rotated(v[d] ^ v[a], 32);
  v[c] += v[d];
  v[b] = rotated(v[b] ^ v[c], 24);
  v[a] += v[b] + y;
  v[d] = rotated(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = rotated(v[b] ^ v[c], 63);
}

/* Section 3.2. Blocks are read as little-endian words, as everything on the wire. */
static void compress(uint64_t h[8], const uint8_t *block, uint64_t so_far, int last) {
  uint64_t v[16], m[16];
  memcpy(m, block, sizeof m);
  for (int i = 0; i < 8; i++) {
    v[i] = h[i];
    v[i + 8] = initial[i];
  }
  v[12] ^= so_far; /* the upper half of the count is 0: nobody hashes 2⁶⁴ bytes */
  v[14] ^= last ? UINT64_MAX : 0;
  for (int round = 0; round < ROUNDS; round++) {
    const uint8_t *s = order[round % 10];
    for (int i = 0; i < 4; i++) /* columns */
      mix(v, i, 4 + i, 8 + i, 12 + i, m[s[2 * i]], m[s[2 * i + 1]]);
    for (int i = 0; i < 4; i++) /* diagonals */
      mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
  }
  for (int i = 0; i < 8; i++)
    h[i] ^= v[i] ^ v[i + 8];
}

/* Section 3.3: a key is a block in front; the last block is filled up with zeros. */
void orr_client_blake2b(uint8_t *out, size_t size, const uint8_t *key, size_t key_size, const uint8_t *bytes,
                        size_t count) {
  uint64_t h[8], so_far = 0;
  uint8_t block[BLOCK] = {0};
  memcpy(h, initial, sizeof h);
  h[0] ^= 0x01010000 ^ (uint64_t)key_size << 8 ^ (uint64_t)size;
  if (key_size) {
    memcpy(block, key, key_size);
    so_far = BLOCK;
    compress(h, block, so_far, count == 0);
    memset(block, 0, sizeof block);
  }
  for (; count > BLOCK; bytes += BLOCK, count -= BLOCK)
    compress(h, bytes, so_far += BLOCK, 0);
  if (count > 0 || key_size == 0) {
    if (count > 0)
      memcpy(block, bytes, count);
    compress(h, block, so_far + count, 1);
  }
  memcpy(out, h, size);
  orr_wire_key_forget(block, sizeof block);
  orr_wire_key_forget(h, sizeof h);
}
