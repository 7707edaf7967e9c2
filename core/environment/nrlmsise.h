/* NRLMSISE-00: number densities, mass density and temperature of the Earth's air from the ground to the exosphere.
 *
 * Picone, Hedin, Drob and Aikin, "NRLMSISE-00 empirical model of the atmosphere", J. Geophys. Res. 107 (A12), 2002. All
 * of the model's variations are on; its own constants are kept (a radian of 57.29576 degrees, 1.66e-24 g), for the
 * published cases are its definition. Pure functions. [any]
 */
#ifndef ORR_CORE_ENVIRONMENT_NRLMSISE_H
#define ORR_CORE_ENVIRONMENT_NRLMSISE_H

struct orr_nrlmsise_input {
  double day_of_year; /* 1 at the start of 1 January; its fraction plays no part in the published cases */
  double seconds;     /* of universal time in the day */
  double altitude_km; /* geodetic */
  double latitude_deg, longitude_deg;
  double solar_time_h;       /* local apparent */
  double f107_average, f107; /* 10.7 cm flux: mean of 81 days, of the day before; 1e-22 W/(m² Hz) */
  double ap;                 /* magnetic index of the day */
  const double *ap_history;  /* [7] daily, then 3-hourly: now, 3, 6, 9 h ago, means of 12-33 and 36-57 h ago; NULL */
};

struct orr_nrlmsise {
  double he, o, n2, o2, ar, h, n, anomalous_o; /* 1/m³ */
  double density;                              /* kg/m³, without anomalous oxygen */
  double density_drag;                         /* kg/m³, with it */
  double exospheric_temperature, temperature;  /* K */
};

/* The air at a point. About 2 µs; no failure: what is not finite comes back not finite. */
void orr_nrlmsise_evaluate(const struct orr_nrlmsise_input *in, struct orr_nrlmsise *out);

#endif
