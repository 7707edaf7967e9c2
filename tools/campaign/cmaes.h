/* The evolution strategy with covariance matrix adaptation: N. Hansen, The CMA evolution strategy: a tutorial,
 * arXiv:1604.00772. It minimises a function of the unit cube of which it knows values alone.
 *
 *   orr_cmaes_init → again and again: orr_cmaes_ask for a generation, the values of its points, orr_cmaes_tell
 *
 * Random numbers come from orr_draw_bits: the same seed is the same search. [init]; O(dimensions³) a generation. */
#ifndef ORR_TOOLS_CAMPAIGN_CMAES_H
#define ORR_TOOLS_CAMPAIGN_CMAES_H

#include <stdint.h>

enum { ORR_CMAES_DIMENSIONS = 60, ORR_CMAES_POINTS = 32 };

struct orr_cmaes {
  int n, lambda, mu;
  uint64_t seed, drawn;
  int64_t generation;
  double sigma, weights[ORR_CMAES_POINTS], mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi;
  double mean[ORR_CMAES_DIMENSIONS], p_sigma[ORR_CMAES_DIMENSIONS], p_c[ORR_CMAES_DIMENSIONS];
  double c[ORR_CMAES_DIMENSIONS][ORR_CMAES_DIMENSIONS];                                        /* covariance */
  double b[ORR_CMAES_DIMENSIONS][ORR_CMAES_DIMENSIONS], d[ORR_CMAES_DIMENSIONS];               /* C = B D² Bᵀ */
  double y[ORR_CMAES_POINTS][ORR_CMAES_DIMENSIONS], x[ORR_CMAES_POINTS][ORR_CMAES_DIMENSIONS]; /* steps, points */
};

/* From the middle of the cube, with a third of it as the first step. At most ORR_CMAES_DIMENSIONS dimensions. */
void orr_cmaes_init(struct orr_cmaes *search, int dimensions, uint64_t seed);

/* Fills x[lambda]: points in the cube; what a step would leave is put on its side. */
void orr_cmaes_ask(struct orr_cmaes *search);

/* The values of these points, NaN for the worst there is. */
void orr_cmaes_tell(struct orr_cmaes *search, const double *values);

#endif
