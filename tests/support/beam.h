/* A cantilever beam of clamped-free modes on a hub that turns about z, and what it should do.
 *
 * The beam lies along x: lag bends it towards y, flap towards z. Its nodes stand at equal distances and
 * take the mass of half a segment on either side. orr_beam_make → change → orr_sample_free. The truths share nothing
 * with core but orr_eigen_generalized.
 */
#ifndef ORR_TESTS_SUPPORT_BEAM_H
#define ORR_TESTS_SUPPORT_BEAM_H

#include "tests/support/sample.h"

struct orr_beam {
  int flap, lag;                /* modes each way */
  int segments;                 /* between nodes, at most ORR_BEAM_SEGMENTS */
  double length, mass, bending; /* m, kg/m, EI in N m² */
  double hub;                   /* m, from the axis to the root */
  bool stiffening;
  enum orr_hinge_kind base; /* of the hub: revolute about z and driven, or free */
};

enum { ORR_BEAM_SEGMENTS = 64, ORR_BEAM_MODES = 24 };

/* Body 0 is the hub, body 1 the beam: its modes come first lag, then flap; node 0 is the root, the last the tip. */
struct orr_sample *orr_beam_make(const struct orr_beam *beam);

/* φ_k of a clamped-free beam of length 1 and mass 1, k from 1, its slope, and β_k (the frequency is β²). */
double orr_beam_shape(int k, double x, double *slope, double *beta);

/* The first `count` frequencies of the beam (unit length, mass and stiffness) on a hub that turns at `spin`: Rayleigh
 * and Ritz with 18 polynomials x² P_k(2x − 1). Flap or lag. */
enum { ORR_BEAM_RITZ = 18 };
void orr_beam_ritz(double hub, double spin, bool flap, int count, double *frequencies);

#endif
