/* The 64 bits of a double, and the double of 64 bits. [any] O(1). */
#ifndef ORR_CORE_MATH_BITS_H
#define ORR_CORE_MATH_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t orr_bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double orr_double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

#endif
