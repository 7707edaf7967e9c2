/* NRLMSISE-00: number densities, mass density and temperature of the Earth's air from the ground to the exosphere.
 *
 * Picone, Hedin, Drob and Aikin, "NRLMSISE-00 empirical model of the atmosphere", J. Geophys. Res. 107 (A12), 2002. All
 * of the model's variations are on; its own constants are kept (a radian of 57.29576 degrees, 1.66e-24 g), for the
 * published cases are its definition. Pure functions, of a model whose constants are made once. [any]
 */
#ifndef ORR_CORE_ENVIRONMENT_NRLMSISE_H
#define ORR_CORE_ENVIRONMENT_NRLMSISE_H

#include "core/math/lanes.h"

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

enum { ORR_NRLMSISE_WAVES = 18, ORR_NRLMSISE_FOURS = 3 };

/* The parameters of expansions, and cosine and sine of the phase of each of their waves: of four expansions of the
 * thermosphere side by side; of one of the lower atmosphere. */
struct orr_nrlmsise_four {
  orr_lanes p[150], cosine[ORR_NRLMSISE_WAVES], sine[ORR_NRLMSISE_WAVES];
};
struct orr_nrlmsise_low {
  const double *p;
  double cosine[ORR_NRLMSISE_WAVES], sine[ORR_NRLMSISE_WAVES];
};

/* Nothing changes it after orr_nrlmsise_init. */
struct orr_nrlmsise_model {
  struct orr_nrlmsise_four high[ORR_NRLMSISE_FOURS]; /* by the tables' names: pt, ps, pd[9] */
  struct orr_nrlmsise_low ptl[4], pma[10];
};

/* [init] */
void orr_nrlmsise_init(struct orr_nrlmsise_model *model);

/* The air at a point. About 1 µs; no failure: what is not finite comes back not finite. */
void orr_nrlmsise_evaluate(const struct orr_nrlmsise_model *model, const struct orr_nrlmsise_input *in,
                           struct orr_nrlmsise *out);

#endif
