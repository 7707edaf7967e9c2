#include "core/plant/noise.h"

#include <math.h>
#include <string.h>

#include "core/math/elementary.h"
#include "core/math/hash.h"

uint64_t orr_noise_key(uint64_t seed, const char *name) {
  uint64_t hash = orr_hash_bytes(ORR_HASH_BEGIN, name, strlen(name));
  /* splitmix64's finaliser over both, so that neighbouring seeds are far apart */
  uint64_t z = hash + seed * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

void orr_noise_words(uint64_t key, uint64_t frame, uint64_t draw, uint32_t out[4]) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  uint32_t c0 = (uint32_t)frame, c1 = (uint32_t)(frame >> 32), c2 = (uint32_t)draw, c3 = (uint32_t)(draw >> 32);
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)c0 * UINT32_C(0xd2511f53), b = (uint64_t)c2 * UINT32_C(0xcd9e8d57);
    uint32_t n0 = (uint32_t)(b >> 32) ^ c1 ^ k0, n2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)b;
    c3 = (uint32_t)a;
    c0 = n0;
    c2 = n2;
    k0 += UINT32_C(0x9e3779b9);
    k1 += UINT32_C(0xbb67ae85);
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

/* 53 bits and a half: in (0, 1). */
static double unit(uint32_t high, uint32_t low) {
  uint64_t bits = ((uint64_t)high << 32 | low) >> 11;
  return ((double)bits + 0.5) * (1.0 / 9007199254740992.0);
}

double orr_noise_uniform(uint64_t key, uint64_t frame, uint64_t draw) {
  uint32_t words[4];
  orr_noise_words(key, frame, draw, words);
  return unit(words[0], words[1]);
}

double orr_noise_normal(uint64_t key, uint64_t frame, uint64_t draw) {
  uint32_t words[4];
  orr_noise_words(key, frame, draw, words);
  return sqrt(-2 * orr_log(unit(words[0], words[1]))) * orr_cos(6.283185307179586476925 * unit(words[2], words[3]));
}
