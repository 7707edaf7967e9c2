/* The U.S. Standard Atmosphere 1976, 0 to 1000 km: NOAA-S/T 76-1562.
 *
 * Up to 86 km it is in closed form; above, species by species, the hydrostatic and diffusion equations are integrated
 * once [init] into a table of their logarithms at each kilometre, between which [rt] cubics run through values and
 * slopes (within 1e-7 of the integration, measured).
 */
#ifndef ORR_CORE_ENVIRONMENT_US76_H
#define ORR_CORE_ENVIRONMENT_US76_H

enum { ORR_US76_LOW = 86, ORR_US76_HIGH = 1000, ORR_US76_LEVELS = ORR_US76_HIGH - ORR_US76_LOW + 1 };

struct orr_us76 {
  double density[ORR_US76_LEVELS], slope[ORR_US76_LEVELS]; /* ln ρ, ρ in kg/m³; its slope a kilometre */
  double number[ORR_US76_LEVELS];                          /* all particles, 1/m³ */
};

struct orr_us76_air {
  double temperature, pressure, density; /* kinetic, K; Pa; kg/m³ */
};

/* [init] Some 30 ms. */
void orr_us76_init(struct orr_us76 *us76);

/* [rt] The density at a geometric height, m. Below the ground that of the ground; above 1000 km it falls on as it does
 * there. O(1). */
double orr_us76_density(const struct orr_us76 *us76, double height);

/* [any] All three at a height of 0 … 1000 km; between whole kilometres above 86 km the pressure is interpolated
 * linearly in its logarithm. */
struct orr_us76_air orr_us76_at(const struct orr_us76 *us76, double height);

#endif
