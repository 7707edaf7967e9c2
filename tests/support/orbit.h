/* An orbit in quadruple precision, to hold the world's reference to: Gragg's rule, extrapolated to order 16. It
 * shares the sky and the description of a world, and none of its arithmetic. */
#ifndef ORR_TESTS_SUPPORT_ORBIT_H
#define ORR_TESTS_SUPPORT_ORBIT_H

#include <float.h>

#include "core/plant/world.h"
#include "tests/support/flight.h"

#if LDBL_MANT_DIG == 113
typedef long double orr_quad;
#else
__extension__ typedef __float128 orr_quad;
#endif

struct orr_orbit {
  const struct orr_world *world; /* whose sky and description are taken; its state is not */
  double mass;
};

/* From t to t + h; y is position and velocity of the mass centre, from the centre of the central body. The central
 * term, J2, Sun and Moon, and drag of an exponential atmosphere on plates whose attitude does not change. */
void orr_orbit_step(const struct orr_orbit *orbit, double t, double h, orr_quad y[6]);

/* Of a rigid body that is the first of a flight, `com` its mass centre in body axes: where that starts, and how far
 * it is from y, m. */
void orr_orbit_start(const struct orr_flight *flight, orr_vec3 com, orr_quad y[6]);
double orr_orbit_off(const struct orr_flight *flight, orr_vec3 com, const orr_quad y[6]);

#endif
