/* The magnetic field of a planet from Gauss coefficients (IGRF, WMM): B = −∇V, V in spherical harmonics.
 *
 * Coefficients are Schmidt semi-normalised, in nT, each with its rate a year from an epoch; what a file gives at two
 * epochs is a value and a rate, too. Call order as in harmonics.h; orr_magnetic_set_year moves the set to a date.
 */
#ifndef ORR_CORE_ENVIRONMENT_MAGNETIC_H
#define ORR_CORE_ENVIRONMENT_MAGNETIC_H

#include "core/environment/harmonics.h"

enum { ORR_MAGNETIC_DEGREE = 20 };

/* Pairs (n, m) are numbered n (n + 1)/2 + m, from n = 0, which is not used. */
struct orr_gauss {
  double g, h;           /* nT */
  double g_rate, h_rate; /* nT a year */
};

struct orr_magnetic_desc {
  double epoch;  /* decimal year of the values */
  double radius; /* m */
  int degree;
  const struct orr_gauss *gauss;
};

struct orr_magnetic {
  struct orr_magnetic_desc desc;
  struct orr_harmonics *field;
};

/* [any] The number of a pair. */
static inline int orr_gauss_index(int n, int m) { return n * (n + 1) / 2 + m; }

/* [init] Bytes. */
size_t orr_magnetic_size(int degree);

/* [init] At its epoch; the coefficients are kept by the caller. NULL if the block is too small. */
struct orr_magnetic *orr_magnetic_init(void *block, size_t bytes, const struct orr_magnetic_desc *desc);

/* [rt] The field of a decimal year. O(degree²). */
void orr_magnetic_set_year(struct orr_magnetic *magnetic, double year);

/* [rt] B, T, in the planet's axes at a point, m. O(degree²). */
orr_vec3 orr_magnetic_field(const struct orr_magnetic *magnetic, orr_vec3 at);

#endif
