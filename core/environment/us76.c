/* Equations and constants by the numbers of the report. Heights in km, as there. */
#include "core/environment/us76.h"

#include <math.h>
#include <string.h>

#include "core/math/elementary.h"

static const double g0 = 9.80665, r0 = 6356.766, gas = 8314.32, m0 = 28.9644, avogadro = 6.022169e26;
static const double boltzmann = 1.380622e-23, t_inf = 1000, t10 = 360, lambda = 0.01875;

/* ---- up to 86 km ------------------------------------------------------------------------------------------------- */

/* Geopotential height, molecular-scale temperature and its lapse at the foot of each layer: table 4. */
static const double layer_h[8] = {0, 11, 20, 32, 47, 51, 71, 84.852};
static const double lapse[7] = {-6.5, 0, 1, 2.8, 0, -2.8, -2};

/* M/M0 between 80 and 86 km: table 8, at each half kilometre. */
static const double lighter[13] = {1.0,      0.999996, 0.999989, 0.999971, 0.999941, 0.999909, 0.999870,
                                   0.999829, 0.999786, 0.999741, 0.999694, 0.999641, 0.999579};

static struct orr_us76_air low_air(double z) {
  double h = r0 * z / (r0 + z), t = 288.15, p = 101325; /* (18) */
  for (int b = 0; b < 7 && h > layer_h[b]; b++) {
    double rise = orr_min(h, b < 6 ? layer_h[b + 1] : h) - layer_h[b], top = t + lapse[b] * rise;
    if (lapse[b] != 0)
      p *= orr_pow(t / top, g0 * m0 * 1000 / (gas * lapse[b])); /* (33a) */
    else
      p *= orr_exp(-g0 * m0 * 1000 * rise / (gas * t)); /* (33b) */
    t = top;
  }
  struct orr_us76_air air = {.temperature = t, .pressure = p, .density = p * m0 / (gas * t)}; /* (42) */
  if (z > 80) {
    int i = (int)orr_min(11, (z - 80) / 0.5);
    double part = (z - 80) / 0.5 - i;
    air.temperature *= lighter[i] + part * (lighter[i + 1] - lighter[i]); /* (22) */
  }
  return air;
}

/* ---- from 86 km -------------------------------------------------------------------------------------------------- */

/* T and dT/dZ: (25), (27), (29), (31). The ellipse's constants come from what it joins (appendix B), not rounded. */
static double high_temperature(double z, double *slope) {
  const double t7 = 186.8673, t9 = 240, rise = 12 * 19.0;
  if (z <= 91) {
    *slope = 0;
    return t7;
  }
  if (z < 110) {
    double tc = (rise * t9 + t7 * t7 - t9 * t9) / (rise + 2 * t7 - 2 * t9), a = t7 - tc;
    double wide = 19 * a / sqrt(a * a - (t9 - tc) * (t9 - tc)), s = (z - 91) / wide, root = sqrt(1 - s * s);
    *slope = -a / wide * s / root;
    return tc + a * root;
  }
  if (z < 120) {
    *slope = 12;
    return t9 + 12 * (z - 110);
  }
  double part = (r0 + 120) / (r0 + z), xi = (z - 120) * part, fall = orr_exp(-lambda * xi);
  *slope = lambda * (t_inf - t10) * part * part * fall;
  return t_inf - (t_inf - t10) * fall;
}

static double gravity(double z) {
  double part = r0 / (r0 + z);
  return g0 * part * part;
}

/* Eddy diffusion, m²/s: (7a) to (7c). */
static double eddy(double z) {
  if (z < 95)
    return 120;
  return z < 115 ? 120 * orr_exp(1 - 400 / (400 - (z - 95) * (z - 95))) : 0;
}

enum { N2, O, O2, AR, HE, H, SPECIES };

/* Tables 5, 6 and 7. */
static const struct {
  double mass, alpha, a, b, q, u, w; /* kg/kmol; thermal diffusion; of D; of the flux */
} list[SPECIES] = {
    [N2] = {28.0134, 0, 0, 0, 0, 0, 0},
    [O] = {15.9994, 0, 6.986e20, 0.75, -5.809644e-4, 56.90311, 2.706240e-5},
    [O2] = {31.9988, 0, 4.863e20, 0.75, 1.366212e-4, 86, 8.333333e-5},
    [AR] = {39.948, 0, 4.487e20, 0.87, 9.434079e-5, 86, 8.333333e-5},
    [HE] = {4.0026, -0.40, 1.7e21, 0.691, -2.457369e-4, 86, 6.666667e-4},
    [H] = {1.00797, -0.25, 3.305e21, 0.5, 0, 0, 0},
};

/* d ln n/dZ of the species but hydrogen, a kilometre: (32) as it stands for nitrogen, (36) with (37a), (37b) for the
 * others: O and O2 in nitrogen, Ar and He in all three, whose mean mass counts
 * above 100 km. */
static void slopes(double z, const double *ln, double *out) {
  double dt, t = high_temperature(z, &dt), g = gravity(z), k = eddy(z), background = orr_exp(ln[N2]);
  double mean = z <= 100 ? m0 : list[N2].mass;
  out[N2] = -dt / t - 1000 * g * mean / (gas * t);
  for (int i = O; i <= HE; i++) {
    if (i == AR) {
      double o = orr_exp(ln[O]), o2 = orr_exp(ln[O2]), all = background + o + o2;
      if (z > 100)
        mean = (list[N2].mass * background + list[O].mass * o + list[O2].mass * o2) / all;
      background = all;
    }
    double d = list[i].a / background * orr_pow(t / 273.15, list[i].b), up = z - list[i].u;
    double flux = list[i].q * up * up * orr_exp(-list[i].w * up * up * up);
    if (i == O && z < 97)
      flux += -3.416248e-3 * (97 - z) * (97 - z) * orr_exp(-5.008765e-4 * (97 - z) * (97 - z) * (97 - z));
    double force = list[i].mass + mean * k / d + list[i].alpha * gas / (1000 * g) * dt;
    out[i] = -dt / t - 1000 * g / (gas * t) * (d / (d + k)) * force - flux;
  }
}

/* dn/dZ of hydrogen, whose flux is 7.2e11 1/(m² s) up to 500 km: (38), (39). */
static double hydrogen_slope(double z, double others, double n) {
  double dt, t = high_temperature(z, &dt), d = list[H].a / others * orr_pow(t / 273.15, list[H].b);
  double flux = z <= 500 ? 7.2e11 / d * 1000 : 0;
  return -flux - n * (1000 * gravity(z) * list[H].mass / (gas * t) + (1 + list[H].alpha) * dt / t);
}

enum { PARTS = 20 }; /* steps a kilometre */

static void advance(double z, double h, double *ln) {
  double k[4][SPECIES], at[SPECIES];
  static const double part[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i <= HE; i++)
      at[i] = ln[i] + (s ? part[s] * h * k[s - 1][i] : 0);
    slopes(z + part[s] * h, at, k[s]);
  }
  for (int s = 0; s < 4; s++)
    for (int i = 0; i <= HE; i++)
      ln[i] += h * weight[s] * k[s][i];
}

static double sum_of(const double *ln) {
  double sum = 0;
  for (int i = N2; i <= HE; i++)
    sum += orr_exp(ln[i]);
  return sum;
}

/* A kilometre of hydrogen up or down, the others interpolated between its ends in their logarithms. */
static double hydrogen_step(double z, double to, const double *others, double n) {
  int from_level = (int)z - ORR_US76_LOW, to_level = (int)to - ORR_US76_LOW;
  double a = orr_log(others[from_level]), b = orr_log(others[to_level]), h = (to - z) / PARTS;
  for (int i = 0; i < PARTS; i++) {
    double x = (double)i / PARTS, mid = x + 0.5 / PARTS;
    double k1 = hydrogen_slope(z + i * h, orr_exp(a + x * (b - a)), n);
    double k2 = hydrogen_slope(z + (i + 0.5) * h, orr_exp(a + mid * (b - a)), n + 0.5 * h * k1);
    n += h * k2;
  }
  return n;
}

void orr_us76_init(struct orr_us76 *us76) {
  double ln[SPECIES], mass[ORR_US76_LEVELS], slope[SPECIES];
  static const double start[5] = {1.129794e20, 8.6e16, 3.030898e19, 1.3514e18, 7.5817e14}; /* table 9 */
  double hydrogen[ORR_US76_LEVELS];
  for (int i = N2; i <= HE; i++)
    ln[i] = orr_log(start[i]);
  for (int level = 0; level < ORR_US76_LEVELS; level++) {
    double falling = 0;
    us76->number[level] = sum_of(ln);
    mass[level] = 0;
    slopes(ORR_US76_LOW + level, ln, slope);
    for (int i = N2; i <= HE; i++) {
      mass[level] += list[i].mass * orr_exp(ln[i]);
      falling += list[i].mass * orr_exp(ln[i]) * slope[i];
    }
    us76->slope[level] = falling;
    for (int i = 0; i < PARTS; i++)
      advance(ORR_US76_LOW + level + (double)i / PARTS, 1.0 / PARTS, ln);
  }
  memset(hydrogen, 0, sizeof hydrogen);
  hydrogen[500 - ORR_US76_LOW] = 8e10;
  for (int z = 500; z > 150; z--)
    hydrogen[z - 1 - ORR_US76_LOW] = hydrogen_step(z, z - 1, us76->number, hydrogen[z - ORR_US76_LOW]);
  for (int z = 500; z < ORR_US76_HIGH; z++)
    hydrogen[z + 1 - ORR_US76_LOW] = hydrogen_step(z, z + 1, us76->number, hydrogen[z - ORR_US76_LOW]);
  for (int level = 0; level < ORR_US76_LEVELS; level++) {
    double z = ORR_US76_LOW + level, n = hydrogen[level];
    double all = mass[level] + list[H].mass * n;
    if (n > 0)
      us76->slope[level] += list[H].mass * hydrogen_slope(z, us76->number[level], n);
    us76->slope[level] /= all;
    us76->density[level] = orr_log(all / avogadro);
    us76->number[level] += n;
  }
}

double orr_us76_density(const struct orr_us76 *us76, double height) {
  double z = 1e-3 * height;
  if (z < ORR_US76_LOW)
    return low_air(orr_max(0, z)).density;
  int i = z < ORR_US76_HIGH ? (int)(z - ORR_US76_LOW) : ORR_US76_LEVELS - 1;
  double x = z - ORR_US76_LOW - i;
  if (i == ORR_US76_LEVELS - 1)
    return orr_exp(us76->density[i] + x * us76->slope[i]);
  double a = us76->density[i], b = us76->density[i + 1], da = us76->slope[i], db = us76->slope[i + 1];
  double bend = 3 * (b - a) - 2 * da - db, twist = da + db - 2 * (b - a);
  return orr_exp(a + x * (da + x * (bend + x * twist)));
}

struct orr_us76_air orr_us76_at(const struct orr_us76 *us76, double height) {
  double z = 1e-3 * height, slope;
  if (z < ORR_US76_LOW)
    return low_air(orr_max(0, z));
  int i = (int)orr_min(ORR_US76_LEVELS - 2, z - ORR_US76_LOW);
  double t = high_temperature(z, &slope), x = z - ORR_US76_LOW - i;
  double number = orr_exp(orr_log(us76->number[i]) + x * orr_log(us76->number[i + 1] / us76->number[i]));
  return (struct orr_us76_air){t, number * boltzmann * t, orr_us76_density(us76, height)};
}
