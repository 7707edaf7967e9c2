/* Earth: IAU 2006/2000A precession and nutation as X, Y, s of the pole, the Earth rotation angle, polar motion:
 * v_itrs = W R3(ERA) C(X, Y, s) v_gcrs. Sun: VSOP 2000 as fitted in eraEpv00. Moon: Meeus' shortening of ELP 2000-82 as
 * in eraMoon98, with terms that it leaves out. Mars: Simon et al. 1994 as in eraPlan94. Moon and Mars turn about poles
 * and by angles of the IAU working group's report of 2015 (Archinal et al. 2018), the Moon's with its thirteen terms.
 */
#include "core/environment/sky.h"

#include <erfa.h>

#include "core/math/block.h"
#include "core/math/elementary.h"

const char *const orr_central_names[ORR_CENTRAL_COUNT + 1] = {"earth", "moon", "mars", NULL};

static const double au = 149597870700.0, degree = 0.017453292519943295, hour = 3600;

/* ---- time -------------------------------------------------------------------------------------------------------- */

bool orr_sky_epoch(const struct orr_utc *utc, struct orr_moment *out) {
  double a, b;
  if (eraDtf2d("UTC", utc->year, utc->month, utc->day, utc->hour, utc->minute, utc->second, &a, &b) < 0 ||
      utc->second < 0)
    return false;
  return eraUtctai(a, b, &out->tai1, &out->tai2) >= 0;
}

struct orr_moment orr_moment_add(struct orr_moment at, double t) {
  at.tai2 += t / 86400;
  return at;
}

/* TT and UT1 of a moment, UT1 by its difference from TAI. */
static void tt_of(struct orr_moment at, double *tt1, double *tt2) { eraTaitt(at.tai1, at.tai2, tt1, tt2); }

double orr_moment_year(struct orr_moment at) {
  double utc1, utc2, fraction, start, start1, next1;
  int year, month, day;
  eraTaiutc(at.tai1, at.tai2, &utc1, &utc2);
  eraJd2cal(utc1, utc2, &year, &month, &day, &fraction);
  eraCal2jd(year, 1, 1, &start, &start1);
  eraCal2jd(year + 1, 1, 1, &start, &next1);
  return year + (utc1 - start + (utc2 - start1)) / (next1 - start1);
}

double orr_moment_day_of_year(struct orr_moment at, double *seconds) {
  double utc1, utc2, fraction, start, start1, day1;
  int year, month, day;
  eraTaiutc(at.tai1, at.tai2, &utc1, &utc2);
  eraJd2cal(utc1, utc2, &year, &month, &day, &fraction);
  eraCal2jd(year, 1, 1, &start, &start1);
  eraCal2jd(year, month, day, &start, &day1);
  *seconds = 86400 * fraction;
  return day1 - start1 + 1 + fraction;
}

/* ---- a node ------------------------------------------------------------------------------------------------------ */

/* What a node holds. */
enum { SUN = 0, MOON = 3, MARS = 3, POLE_X = 6, POLE_Y, LOCATOR, WOBBLE_X, WOBBLE_Y, UT1_TAI };

/* UT1 − TAI and the pole at a moment, days interpolated linearly; before the first day and after the last theirs. */
static void orientation(const struct orr_sky_desc *desc, struct orr_moment at, double *node) {
  double utc1, utc2, tai_utc = 0;
  eraTaiutc(at.tai1, at.tai2, &utc1, &utc2);
  tai_utc = 86400 * ((at.tai1 - utc1) + (at.tai2 - utc2));
  node[UT1_TAI] = -tai_utc;
  if (!desc->eop_count)
    return;
  double mjd = (utc1 - 2400000.5) + utc2;
  size_t i = 0;
  while (i + 1 < desc->eop_count && desc->eop[i + 1].mjd <= mjd)
    i++;
  const struct orr_eop *a = &desc->eop[i], *b = i + 1 < desc->eop_count ? a + 1 : a;
  double part = b->mjd > a->mjd ? orr_max(0, orr_min(1, (mjd - a->mjd) / (b->mjd - a->mjd))) : 0;
  double step = rint(b->ut1_utc - a->ut1_utc); /* a leap second between the two days */
  node[WOBBLE_X] = a->x + part * (b->x - a->x);
  node[WOBBLE_Y] = a->y + part * (b->y - a->y);
  node[UT1_TAI] = a->ut1_utc + part * (b->ut1_utc - step - a->ut1_utc) - tai_utc;
}

/* What eraMoon98 leaves out: the largest terms of the Moon's ecliptic longitude, Σ A sin(argument) in arcsec, by
 * multiples of D, M, M', F, of Venus less Earth, and of Earth less Jupiter. They were found in its distance from DE405
 * over 1960 to 2060. The arguments are those of ELP's main problem and of two planets; none needs a cosine, and both
 * halves of the century give the same coefficients within 0.03. The perigee is 13 arcsec off besides: Δλ = x cos M' and
 * Δr/r = ½ x sin M', which are the changes of 2 e sin M' and −e cos M'. With all that the Moon is within 21 km of
 * DE405, and within 32 without it (tests/all/de405.sh). */
static const double omitted[15][7] = {
    {-2, 0, 4, 0, 0, 0, -0.949}, {2, 0, 1, 2, 0, 0, -0.990},  {2, -2, 1, 0, 0, 0, 0.753},  {0, -1, 3, 0, 0, 0, 0.671},
    {4, 1, -1, 0, 0, 0, -0.634}, {1, 0, 2, 0, 0, 0, -0.586},  {1, -1, 0, 0, 0, 0, -0.553}, {0, 1, 3, 0, 0, 0, -0.547},
    {-2, 0, 2, 2, 0, 0, 0.558},  {-1, 0, 0, 2, 0, 0, 0.585},  {0, 0, 0, 0, 1, 0, -0.821},  {0, 0, 0, 0, 0, 1, 0.644},
    {6, 0, -2, 0, 0, 0, 0.573},  {2, 0, -2, 2, 0, 0, -0.540}, {2, -1, -3, 0, 0, 0, 0.480},
};

static void correct_moon(double tt1, double tt2, double *moon) {
  const double t = ((tt1 - 2451545.0) + tt2) / 36525, arcsec = degree / 3600;
  const double earth = eraFae03(t), argument[6] = {eraFad03(t), eraFalp03(t),         eraFal03(t),
                                                   eraFaf03(t), eraFave03(t) - earth, earth - eraFaju03(t)};
  double perigee = 1.461 - 1.970 * t, along = perigee * orr_cos(argument[2]);
  for (int i = 0; i < 15; i++) {
    double angle = 0;
    for (int k = 0; k < 6; k++)
      angle += omitted[i][k] * argument[k];
    along += omitted[i][6] * orr_sin(angle);
  }
  static const double pole[3] = {0, -0.397776969112606, 0.9174821430652418}; /* of the ecliptic of J2000 */
  orr_vec3 at = v3_from(moon), ahead = v3_cross(v3_from(pole), at);
  double out = 0.5 * perigee * arcsec * orr_sin(argument[2]);
  at = v3_add(at, v3_madd(v3_scale(along * arcsec, ahead), out, at));
  moon[0] = at.x;
  moon[1] = at.y;
  moon[2] = at.z;
}

static void series(const struct orr_sky_desc *desc, double t, double *node) {
  struct orr_moment at = orr_moment_add(desc->epoch, t);
  double tt1, tt2, heliocentric[2][3], barycentric[2][3], moon[2][3];
  tt_of(at, &tt1, &tt2);
  memset(node, 0, sizeof(double) * ORR_SKY_NUMBERS);
  eraEpv00(tt1, tt2, heliocentric, barycentric);
  if (desc->central == ORR_MARS) {
    double mars[2][3];
    eraPlan94(tt1, tt2, 4, mars);
    for (int k = 0; k < 3; k++) {
      node[SUN + k] = -au * mars[0][k];
      node[MARS + k] = au * (heliocentric[0][k] - mars[0][k]); /* the Earth from Mars */
    }
    return;
  }
  eraMoon98(tt1, tt2, moon);
  correct_moon(tt1, tt2, moon[0]);
  for (int k = 0; k < 3; k++) {
    node[SUN + k] = -au * heliocentric[0][k];
    node[MOON + k] = au * moon[0][k];
  }
  eraXys06a(tt1, tt2, &node[POLE_X], &node[POLE_Y], &node[LOCATOR]);
  orientation(desc, at, node);
}

/* The last bits of ERFA's series depend on the C library and the processor; those of a run shall not. So a node holds
 * multiples of these: 1024 m of the Sun and Mars, 16 m of the Moon, 1e-12 rad of the pole, 1e-9 s of UT1. All are far
 * below what the series are worth (12 km, 20 km). Two results that differ by rounding, 5e-5 m of the Sun, may still
 * fall on both sides of a half, but seldom: with multiples a thousand times finer, 58 of 45,000 numbers of Moon and
 * Mars did so between Debian's builds for x86-64 and AArch64, 8 of 45,000 of the Sun, none of pole and clock. */
static double rounded(int number, enum orr_central central, double value) {
  static const double far = 0x1p-10, near = 0x1p-4, pole = 0x1p40, clock = 0x1p30;
  double grid = number < MOON || (number < POLE_X && central == ORR_MARS) ? far
                : number < POLE_X                                         ? near
                : number < UT1_TAI                                        ? pole
                                                                          : clock;
  return rint(value * grid) / grid;
}

static void fill_node(const struct orr_sky_desc *desc, double t, double *node) {
  series(desc, t, node);
  for (int k = 0; k < ORR_SKY_NUMBERS; k++)
    node[k] = rounded(k, desc->central, node[k]);
}

static int node_count(double duration) { return (int)-floor(-orr_max(0, duration) / hour) + 4; }

static struct orr_sky *layout(struct orr_block *block, double duration, struct orr_sky *sky) {
  struct orr_sky *self = ORR_TAKE(block, struct orr_sky, 1);
  sky->count = node_count(duration);
  sky->nodes = (double(*)[ORR_SKY_NUMBERS])(void *)ORR_TAKE(block, double, sky->count *ORR_SKY_NUMBERS);
  return self;
}

size_t orr_sky_size(double duration) {
  struct orr_block block = {0};
  struct orr_sky sky = {0};
  layout(&block, duration, &sky);
  return block.used;
}

struct orr_sky *orr_sky_init(void *block, size_t bytes, const struct orr_sky_desc *desc) {
  if (!block || bytes < orr_sky_size(desc->duration))
    return NULL;
  struct orr_block b = {.base = block, .size = bytes};
  struct orr_sky sky = {.epoch = desc->epoch, .central = desc->central};
  struct orr_sky *self = layout(&b, desc->duration, &sky);
  *self = sky;
  for (int i = 0; i < sky.count; i++)
    fill_node(desc, (i - 1) * hour, self->nodes[i]);
  return self;
}

/* ---- at a moment ------------------------------------------------------------------------------------------------- */

/* Lagrange's cubic through four nodes, x = 0 … 1 between the middle two. */
static void interpolate(const struct orr_sky *sky, double t, double *out) {
  double at = t / hour;
  int i = (int)orr_max(0, orr_min(sky->count - 4, floor(at)));
  double x = at - i, a = x + 1, b = x - 1, c = x - 2;
  const double w[4] = {-x * b * c / 6, a * b * c / 2, -a * x * c / 2, a * x * b / 6};
  for (int k = 0; k < ORR_SKY_NUMBERS; k++)
    out[k] = w[0] * sky->nodes[i][k] + w[1] * sky->nodes[i + 1][k] + w[2] * sky->nodes[i + 2][k] +
             w[3] * sky->nodes[i + 3][k];
}

/* Components in axes that are turned by an angle about the x, y or z axis: R1, R2, R3. */
static orr_mat3 turned(int axis, double angle) {
  double c = orr_cos(angle), s = orr_sin(angle);
  orr_mat3 r = m3_identity();
  int j = (axis + 1) % 3, k = (axis + 2) % 3;
  r.m[j][j] = r.m[k][k] = c;
  r.m[j][k] = s;
  r.m[k][j] = -s;
  return r;
}

/* Axes whose z is the pole (α0, δ0) and whose x stands by W beyond the node of the equator on that of the ICRF. */
static orr_mat3 from_pole(double alpha, double delta, double w) {
  orr_mat3 pole = m3_mul(turned(0, (90 - delta) * degree), turned(2, (alpha + 90) * degree));
  return m3_mul(turned(2, orr_wrapped(w, 360) * degree), pole);
}

/* Report of the IAU working group, table 2: E1 … E13 as start and rate a day, then what they add to α0, δ0 and W. */
static const double moon_terms[13][5] = {{125.045, -0.0529921, -3.8787, 1.5419, 3.5610},
                                         {250.089, -0.1059842, -0.1204, 0.0239, 0.1208},
                                         {260.008, 13.0120009, 0.0700, -0.0278, -0.0642},
                                         {176.625, 13.3407154, -0.0172, 0.0068, 0.0158},
                                         {357.529, 0.9856003, 0, 0, 0.0252},
                                         {311.589, 26.4057084, 0.0072, -0.0029, -0.0066},
                                         {134.963, 13.0649930, 0, 0.0009, -0.0047},
                                         {276.617, 0.3287146, 0, 0, -0.0046},
                                         {34.226, 1.7484877, 0, 0, 0.0028},
                                         {15.134, -0.1589763, -0.0052, 0.0008, 0.0052},
                                         {119.743, 0.0036096, 0, 0, 0.0040},
                                         {239.961, 0.1643573, 0, 0, 0.0019},
                                         {25.053, 12.9590088, 0.0043, -0.0009, -0.0044}};

static orr_mat3 moon_axes(double d) {
  double alpha = 269.9949 + 0.0031 * d / 36525, delta = 66.5392 + 0.0130 * d / 36525;
  double w = 38.3213 + 13.17635815 * d - 1.4e-12 * d * d;
  for (int i = 0; i < 13; i++) {
    const double *k = moon_terms[i];
    double e = orr_wrapped(k[0] + k[1] * d, 360) * degree;
    alpha += k[2] * orr_sin(e);
    delta += k[3] * orr_cos(e);
    w += k[4] * orr_sin(e);
  }
  return from_pole(alpha, delta, w);
}

/* The same, table 1, as given for the reports before 2015 and kept by most gravity fields: α0, δ0, W of Mars. */
static orr_mat3 mars_axes(double d) {
  double t = d / 36525;
  return from_pole(317.68143 - 0.1061 * t, 52.88650 - 0.0609 * t, 176.630 + 350.89198226 * d);
}

/* IERS Conventions (2010): of the pole's place (X, Y) the rotation of (5.10), s the place of the origin on its equator;
 * the Earth rotation angle of (5.15); W of (5.3) with s' of (5.13). */
static orr_mat3 earth_axes(const struct orr_sky *sky, double t, const double *now) {
  double x = now[POLE_X], y = now[POLE_Y], z = sqrt(1 - fma(x, x, y * y)), a = 1 / (1 + z), tt1, tt2;
  orr_mat3 pole = {{{fma(-a * x, x, 1), -a * x * y, -x}, {-a * x * y, fma(-a * y, y, 1), -y}, {x, y, z}}};
  struct orr_moment at = orr_moment_add(sky->epoch, t);
  double ut1 = at.tai2 + now[UT1_TAI] / 86400, days = (at.tai1 - 2451545.0) + ut1;
  double part = (at.tai1 - floor(at.tai1)) + (ut1 - floor(ut1));
  double turns = fma(0.00273781191135448, days, part + 0.7790572732640);
  double era = 6.283185307179586476925 * (turns - floor(turns));
  tt_of(at, &tt1, &tt2);
  double centuries = ((tt1 - 2451545.0) + tt2) / 36525, along = -47e-6 * centuries * (degree / 3600);
  orr_mat3 wobble = m3_mul(turned(0, -now[WOBBLE_Y]), m3_mul(turned(1, -now[WOBBLE_X]), turned(2, along)));
  return m3_mul(wobble, m3_mul(turned(2, era - now[LOCATOR]), pole));
}

void orr_sky_at(const struct orr_sky *sky, double t, struct orr_sky_now *out) {
  static const double spin[ORR_CENTRAL_COUNT] = {7.292115146706979e-5, 2.6616995e-6, 7.0882181e-5};
  double now[ORR_SKY_NUMBERS], tt1, tt2;
  interpolate(sky, t, now);
  tt_of(orr_moment_add(sky->epoch, t), &tt1, &tt2);
  double d = (tt1 - 2451545.0) + tt2;
  orr_vec3 sun = v3_from(now + SUN), moon = v3_from(now + MOON);
  *out = (struct orr_sky_now){.sun = sun};
  switch (sky->central) {
  case ORR_MOON:
    out->fixed = moon_axes(d);
    out->sun = v3_sub(sun, moon);
    out->earth = v3_neg(moon);
    break;
  case ORR_MARS:
    out->fixed = mars_axes(d);
    out->earth = v3_from(now + MARS);
    break;
  default:
    out->fixed = earth_axes(sky, t, now);
    out->moon = moon;
    break;
  }
  out->spin = v3_scale(spin[sky->central], m3_row(out->fixed, 2));
}
