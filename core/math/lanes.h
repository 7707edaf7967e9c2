/* Four numbers side by side, for sums over modes: the compiler's vector type, on any target. [any] */
#ifndef ORR_CORE_MATH_LANES_H
#define ORR_CORE_MATH_LANES_H

#include <math.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

typedef double orr_lanes __attribute__((vector_size(32)));

enum { ORR_LANES = 4 };

/* Four numbers from 32-byte aligned memory, and back. */
static inline orr_lanes lanes_load(const double *p) { return *(const orr_lanes *)(const void *)p; }
static inline void lanes_store(double *p, orr_lanes a) { *(orr_lanes *)(void *)p = a; }

/* *p = [x y z 0], for constants */
static inline void lanes_put(orr_lanes *p, double x, double y, double z) {
  (*p)[0] = x;
  (*p)[1] = y;
  (*p)[2] = z;
  (*p)[3] = 0;
}

/* Three numbers from anywhere, and zero. */
static inline orr_lanes lanes_load_three(const double *p) {
#ifdef __AVX__
  return (orr_lanes)_mm256_maskload_pd(p, _mm256_setr_epi64x(-1, -1, -1, 0));
#else
  return (orr_lanes){p[0], p[1], p[2], 0};
#endif
}

/* a b + c, rounded once */
static inline orr_lanes lanes_madd(orr_lanes a, orr_lanes b, orr_lanes c) {
#ifdef __FMA__
  return (orr_lanes)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  for (int i = 0; i < ORR_LANES; i++)
    c[i] = fma(a[i], b[i], c[i]);
  return c;
#endif
}
/* c − a b, and a b − c, rounded once */
static inline orr_lanes lanes_less(orr_lanes a, orr_lanes b, orr_lanes c) {
#ifdef __FMA__
  return (orr_lanes)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return lanes_madd(-a, b, c);
#endif
}
static inline orr_lanes lanes_over(orr_lanes a, orr_lanes b, orr_lanes c) {
#ifdef __FMA__
  return (orr_lanes)_mm256_fmsub_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return lanes_madd(a, b, -c);
#endif
}
static inline orr_lanes lanes_all(double a) { return (orr_lanes){a, a, a, a}; }

/* [Σa, Σb, Σc, Σd] */
static inline orr_lanes lanes_sums(orr_lanes a, orr_lanes b, orr_lanes c, orr_lanes d) {
  orr_lanes ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  orr_lanes cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

static inline double lanes_sum(orr_lanes a) { return (a[0] + a[1]) + (a[2] + a[3]); }

#endif
