/* A small random generator of our own, so that a seed means the same model everywhere. splitmix64. [any] */
#ifndef ORR_TESTS_SUPPORT_PRNG_H
#define ORR_TESTS_SUPPORT_PRNG_H

#include <math.h>
#include <stdint.h>

#include "tests/support/draw_power.h"

struct orr_prng {
  uint64_t state;
};

static inline uint64_t prng_next(struct orr_prng *p) {
  uint64_t z = p->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}
/* [0, 1) */
static inline double prng_unit(struct orr_prng *p) { return (double)(prng_next(p) >> 11) * 0x1p-53; }
/* [low, high) */
static inline double prng_between(struct orr_prng *p, double low, double high) {
  return low + (high - low) * prng_unit(p);
}
/* low … high, even in the logarithm */
static inline double prng_scale(struct orr_prng *p, double low, double high) {
  return low * orr_draw_power(high / low, prng_unit(p));
}
/* 0 … count − 1 */
static inline int prng_pick(struct orr_prng *p, int count) { return (int)(prng_next(p) % (uint64_t)count); }
static inline int prng_chance(struct orr_prng *p, double share) { return prng_unit(p) < share; }

static inline void prng_vector(struct orr_prng *p, double size, double *out, int count) {
  for (int i = 0; i < count; i++)
    out[i] = prng_between(p, -size, size);
}
/* A unit vector of `count` ≤ 4 numbers; four of them are an attitude. */
static inline void prng_direction(struct orr_prng *p, double *out, int count) {
  double x[4] = {0}, norm = 0;
  while (norm < 0.1 || norm > 1) {
    norm = 0;
    for (int i = 0; i < count && i < 4; i++) {
      x[i] = prng_between(p, -1, 1);
      norm += x[i] * x[i];
    }
  }
  for (int i = 0; i < count && i < 4; i++)
    out[i] = x[i] / sqrt(norm);
}

#endif
