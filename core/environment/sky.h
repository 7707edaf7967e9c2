/* Time scales, the Earth's attitude, Sun and Moon, by ERFA (the IAU's standard models).
 *
 * ERFA's series are long, so they are summed once [init] at every hour of a run; in between [rt] cubics run through
 * four neighbours: within 0.2 m of the Moon, 1 m of the Sun and 2e-10 rad of the axes (measured in the test). Nodes are
 * rounded to a grid (sky.c), so that ERFA's last bits, which depend on the machine, do not reach a run.
 * Positions are geometric, in the axes of the GCRS, from the centre of the central body.
 *
 * Call order: orr_sky_epoch, orr_sky_size → a block → orr_sky_init [init], then orr_sky_at [rt].
 */
#ifndef ORR_CORE_ENVIRONMENT_SKY_H
#define ORR_CORE_ENVIRONMENT_SKY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/math/spatial.h"

enum orr_central { ORR_EARTH, ORR_MOON, ORR_MARS, ORR_CENTRAL_COUNT };

/* As run files write them; ends with NULL. */
extern const char *const orr_central_names[ORR_CENTRAL_COUNT + 1];

/* A date and time of UTC. */
struct orr_utc {
  int year, month, day, hour, minute;
  double second;
};

/* A moment: TAI as a Julian date in two parts. */
struct orr_moment {
  double tai1, tai2;
};

/* [init] False if there is no such date or time. Dates outside those of known leap seconds (1972 to five years after
 * the library's release) are taken with the nearest known number. */
bool orr_sky_epoch(const struct orr_utc *utc, struct orr_moment *out);

/* [any] The moment t seconds later. */
struct orr_moment orr_moment_add(struct orr_moment at, double t);

/* [any] Decimal year, by the length of its own year (magnetic models count so); day of the year from 1, with its
 * fraction, and seconds of the day, both of UTC without leap seconds in the day (atmospheres count so). */
double orr_moment_year(struct orr_moment at);
double orr_moment_day_of_year(struct orr_moment at, double *seconds);

/* Earth orientation on a day: IERS finals. */
struct orr_eop {
  double mjd;     /* UTC */
  double x, y;    /* rad, of the pole */
  double ut1_utc; /* s */
};

struct orr_sky_desc {
  struct orr_moment epoch;
  double duration; /* s */
  enum orr_central central;
  size_t eop_count;          /* 0: UT1 = UTC and the pole in its place */
  const struct orr_eop *eop; /* by day, rising */
};

enum { ORR_SKY_NUMBERS = 12 };

struct orr_sky {
  struct orr_moment epoch;
  enum orr_central central;
  int count;                        /* nodes, the first an hour before the epoch */
  double (*nodes)[ORR_SKY_NUMBERS]; /* Sun, Moon from the Earth, central body from the Earth or zero …; see sky.c */
};

struct orr_sky_now {
  orr_mat3 fixed;            /* v_fixed = fixed v_gcrs: axes that turn with the central body */
  orr_vec3 spin;             /* rad/s, its angular velocity, GCRS */
  orr_vec3 sun, moon, earth; /* m, from the central body's centre; that of the central body itself is zero */
};

/* [init] Bytes for a run of so many seconds. */
size_t orr_sky_size(double duration);

/* [init] Some 0.2 ms an hour of the run. NULL if the block is too small. The tables of the description are not kept. */
struct orr_sky *orr_sky_init(void *block, size_t bytes, const struct orr_sky_desc *desc);

/* [rt] The sky t seconds after the epoch; beyond the ends of the run by at most an hour. O(1). */
void orr_sky_at(const struct orr_sky *sky, double t, struct orr_sky_now *out);

#endif
