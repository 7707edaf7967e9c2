/* An ellipsoid of revolution: geodetic latitude, longitude and height, and local axes. [any] */
#ifndef ORR_CORE_ENVIRONMENT_ELLIPSOID_H
#define ORR_CORE_ENVIRONMENT_ELLIPSOID_H

#include "core/math/spatial.h"

struct orr_ellipsoid {
  double a, f; /* m, equatorial radius; flattening */
};

/* WGS 84. */
extern const struct orr_ellipsoid orr_wgs84;

struct orr_geodetic {
  double latitude, longitude; /* rad; east positive */
  double height;              /* m */
};

/* The point, m, in the body's axes. */
orr_vec3 orr_geodetic_place(const struct orr_ellipsoid *e, struct orr_geodetic g);

/* The latitude, longitude and height of a point: Bowring's start, then Newton's steps in a fixed number. Within 1e-14
 * rad and a nanometre of height above the poles and the equator and from 10 km below the surface to the Moon. O(1). */
struct orr_geodetic orr_geodetic_of(const struct orr_ellipsoid *e, orr_vec3 at);

/* North, east and down as rows: v_local = R v_body. */
orr_mat3 orr_geodetic_axes(struct orr_geodetic g);

#endif
