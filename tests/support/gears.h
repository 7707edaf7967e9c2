/* Geared rotors written out: a sample in which each rotor that a motor gears to a hinge is a body of its own.
 *
 * The rotor is a massless body with the inertia J u uᵀ on a revolute hinge of the carrier, beside a body fixed to the
 * carrier with −J u uᵀ, since the carrier's own inertia holds the rotor locked. Universal and gimbal hinges are written
 * as rings without mass. The gear is the constant matrix X, u_explicit = X u, so Lagrange's equations are
 *   Xᵀ M X u̇ + Xᵀ c = τ     with M and c of the dense reference.
 *
 * orr_gears_make → orr_gears_… → orr_gears_free. The sample must outlive it. One thread per object.
 */
#ifndef ORR_TESTS_SUPPORT_GEARS_H
#define ORR_TESTS_SUPPORT_GEARS_H

#include "tests/support/dense.h"

/* A rotor of spin inertia J on coordinate `coordinate`, an angle, of the hinge of body `body`; not of balls and free
 * hinges. */
struct orr_gear_desc {
  int body, coordinate;
  double ratio, inertia;
};

struct orr_gears {
  const struct orr_sample *sample;
  struct orr_sample *explicit_sample;
  struct orr_dense *dense;
  double *x;    /* [explicit speeds][speeds] */
  double *mass; /* [speeds][speeds] Xᵀ M X */
  double *bias; /* [speeds] Xᵀ c */
};

struct orr_gears *orr_gears_make(const struct orr_sample *sample, const struct orr_gear_desc *gears, int count);
void orr_gears_free(struct orr_gears *gears);

/* u̇ from the sample's forces and given accelerations. Then the dense reference holds it, for hinge forces. */
void orr_gears_forward(struct orr_gears *gears, double *accel);

/* x = M⁻¹ b over the speeds that are not driven; b zero at the others. */
void orr_gears_solve(const struct orr_gears *gears, const double *b, double *x);

/* ln det of Xᵀ M X, driven hinges released. */
double orr_gears_log_det(const struct orr_gears *gears);

/* Energies and momentum at the sample's state. */
struct orr_dense_totals orr_gears_totals(const struct orr_gears *gears);

#endif
