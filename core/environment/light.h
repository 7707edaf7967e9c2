/* Sunlight and what is left of it: the conical shadow of a body, pressure and drag on plates, light and heat of the
 * central body. [any]
 */
#ifndef ORR_CORE_ENVIRONMENT_LIGHT_H
#define ORR_CORE_ENVIRONMENT_LIGHT_H

#include "core/math/spatial.h"

#define ORR_SUN_RADIUS  6.957e8     /* m, nominal (IAU 2015 B3) */
#define ORR_SUN_POWER   3.828e26    /* W, nominal (IAU 2015 B3) */
#define ORR_LIGHT_SPEED 299792458.0 /* m/s */

/* The part of the Sun's disc that a body of `radius` does not cover, 0 … 1: two discs on the sky. `body` and `sun` are
 * the centres as seen from the observer, m. Inside the body: 0. O(1). */
double orr_light_visible(orr_vec3 body, double radius, orr_vec3 sun, double sun_radius);

/* The Sun's irradiance at a distance, W/m²: 1361 at one astronomical unit. */
double orr_light_irradiance(double distance);

/* One side of a flat plate. */
struct orr_plate {
  double area;              /* m² */
  orr_vec3 normal;          /* unit, outwards */
  double specular, diffuse; /* parts of the light that are reflected; what is left is absorbed */
  double drag;              /* drag coefficient */
};

/* The force, N, of light of `irradiance`, W/m², that comes from the unit direction `from`. */
orr_vec3 orr_plate_light(const struct orr_plate *plate, double irradiance, orr_vec3 from);

/* The force, N, of air of a density, kg/m³, through which the plate moves with v, m/s. */
orr_vec3 orr_plate_drag(const struct orr_plate *plate, double density, orr_vec3 v);

/* What the central body sends: reflected sunlight and its own heat, both as if from its centre, W/m². */
struct orr_planet_light {
  double albedo;   /* Bond albedo, Earth 0.3 */
  double emission; /* W/m² at its surface, Earth 237 */
};
double orr_light_reflected(const struct orr_planet_light *planet, double radius, orr_vec3 at, orr_vec3 sun);
double orr_light_emitted(const struct orr_planet_light *planet, double radius, double distance);

#endif
