#include "tools/campaign/sobol.h"

#include <assert.h>

/* Degree s and inner coefficients a of the primitive polynomial, and the first direction numbers m, of dimensions 2 to
 * 40: S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional projections, SIAM J. Sci. Comput.
 * 30, 2635 (2008), the table new-joe-kuo-6. */
enum { DEGREE = 8, BITS = 32 };
static const struct {
  uint8_t s, a, m[DEGREE];
} table[ORR_SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
    {7, 50, {1, 3, 1, 3, 5, 53, 69}},
    {7, 55, {1, 1, 5, 5, 23, 33, 13}},
    {7, 56, {1, 1, 7, 7, 1, 61, 123}},
    {7, 59, {1, 1, 7, 9, 13, 61, 49}},
    {7, 62, {1, 3, 3, 5, 3, 55, 33}},
    {8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
    {8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
    {8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
};

/* v_k = m_k / 2^k; m_k = 2 a_1 m_(k−1) ⊕ 2² a_2 m_(k−2) ⊕ … ⊕ 2^s m_(k−s) ⊕ m_(k−s) (Joe and Kuo (2)). */
static void directions(int dimension, uint32_t v[BITS]) {
  if (dimension == 0) {
    for (int k = 0; k < BITS; k++)
      v[k] = UINT32_C(1) << (BITS - 1 - k);
    return;
  }
  int s = table[dimension - 1].s;
  for (int k = 0; k < BITS; k++) {
    if (k < s) {
      v[k] = (uint32_t)table[dimension - 1].m[k] << (BITS - 1 - k);
      continue;
    }
    v[k] = v[k - s] ^ (v[k - s] >> s);
    for (int i = 1; i < s; i++)
      if (table[dimension - 1].a >> (s - 1 - i) & 1)
        v[k] ^= v[k - i];
  }
}

/* In the order of the Gray code, as Antonov and Saleev have it. */
uint32_t orr_sobol(int dimension, uint32_t index) {
  uint32_t v[BITS] = {0}, x = 0, gray = index ^ index >> 1;
  assert(dimension >= 0 && dimension < ORR_SOBOL_DIMENSIONS);
  directions(dimension, v);
  for (int k = 0; gray; k++, gray >>= 1)
    if (gray & 1)
      x ^= v[k];
  return x;
}
