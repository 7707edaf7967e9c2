/* The model has three parts.
 *
 *   G(L)     an expansion in latitude, longitude, local time, day, solar flux and magnetic index, each parameter's own
 *            (`vary`; `vary_low` in the lower atmosphere): A22-A24 of Hedin 1987, with the later terms
 *   profile  above za a Bates temperature T = T∞ − (T∞ − T_lb) exp(−σ ζ), below it 1/T as a cubic spline in
 *            geopotential height; a species' density follows by hydrostatic diffusion,
 *            n ∝ T^−(1+α) exp(−∫ m g/(R T) dζ)
 *   species  diffusive and fully mixed densities joined at the turbopause (`net`), and corrected for chemistry and for
 *            the ratios at the ground
 */
#include "core/environment/nrlmsise.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/environment/nrlmsise_tables.h"
#include "core/math/elementary.h"
#include "core/math/sincos.h"

#define PT    orr_nrlmsise_pt
#define PD    orr_nrlmsise_pd
#define PS    orr_nrlmsise_ps
#define PDL   orr_nrlmsise_pdl
#define PTM   orr_nrlmsise_ptm
#define PDM   orr_nrlmsise_pdm
#define PTL   orr_nrlmsise_ptl
#define PMA   orr_nrlmsise_pma
#define PAVGM orr_nrlmsise_pavgm

static const double gas = 831.4; /* the model's gas constant */
static const double degree = 1.74533e-2, day = 1.72142e-2, hour = 0.2618, second = 7.2722e-5;

/* ---- waves ------------------------------------------------------------------------------------------------------- */

/* The angles by which the expansions rise and fall: the last is universal time with twice the longitude. */
enum angle { DAY, DAY_TWICE, LOCAL, EAST, UNIVERSAL, UNIVERSAL_EAST, ANGLES };

/* W31 is cos(angle − phase) whose phase is parameter 31, in days, hours, degrees or seconds. The phases are constants,
 * so that cos angle cos phase + sin angle sin phase costs a point the sines of its six angles alone. */
enum wave { W13, W17, W31, W38, W58, W63, W71, W75, W79, W81, W84, W86, W88, W97, W118, W124, W131, W136, WAVES };
static const struct {
  int parameter;
  enum angle angle;
} wave_list[WAVES] = {
    [W13] = {13, DAY},       [W17] = {17, DAY_TWICE}, [W31] = {31, DAY},
    [W38] = {38, DAY_TWICE}, [W58] = {58, UNIVERSAL}, [W63] = {63, EAST},
    [W71] = {71, UNIVERSAL}, [W75] = {75, UNIVERSAL}, [W79] = {79, UNIVERSAL_EAST},
    [W81] = {81, DAY},       [W84] = {84, DAY},       [W86] = {86, DAY_TWICE},
    [W88] = {88, DAY_TWICE}, [W97] = {97, EAST},      [W118] = {118, EAST},
    [W124] = {124, LOCAL},   [W131] = {131, LOCAL},   [W136] = {136, EAST},
};
_Static_assert((int)WAVES == (int)ORR_NRLMSISE_WAVES, "room for each wave");

static void phase(enum wave w, const double *p, int parameters, double *sine, double *cosine) {
  const double unit[ANGLES] = {day, 2 * day, hour, degree, second, second};
  double at = wave_list[w].parameter < parameters ? p[wave_list[w].parameter] : 0;
  orr_sincos_one(unit[wave_list[w].angle] * at, sine, cosine);
}

/* The expansions of the thermosphere; PD0 is the first of nine. */
enum { T_INF, SLOPE, PD0, HIGH_COUNT = PD0 + 9 };
_Static_assert((int)HIGH_COUNT <= ORR_LANES * (int)ORR_NRLMSISE_FOURS, "room for each expansion");

static void set_low(struct orr_nrlmsise_low *e, const double *p) {
  e->p = p;
  for (enum wave w = 0; w < WAVES; w++)
    phase(w, p, 100, &e->sine[w], &e->cosine[w]);
}

void orr_nrlmsise_init(struct orr_nrlmsise_model *model) {
  for (int k = 0; k < ORR_LANES * ORR_NRLMSISE_FOURS; k++) {
    const double *p = k == T_INF ? PT : k == SLOPE ? PS : PD[k < HIGH_COUNT ? k - PD0 : 8];
    struct orr_nrlmsise_four *four = &model->high[k / ORR_LANES];
    for (int i = 0; i < 150; i++)
      four->p[i][k % ORR_LANES] = p[i];
    for (enum wave w = 0; w < WAVES; w++) {
      double sine, cosine;
      phase(w, p, 150, &sine, &cosine);
      four->sine[w][k % ORR_LANES] = sine;
      four->cosine[w][k % ORR_LANES] = cosine;
    }
  }
  for (int k = 0; k < 4; k++)
    set_low(&model->ptl[k], PTL[k]);
  for (int k = 0; k < 10; k++)
    set_low(&model->pma[k], PMA[k]);
}

/* What all expansions share at a point, and what those of the thermosphere are. */
struct place {
  const struct orr_nrlmsise_model *model;
  const struct orr_nrlmsise_input *in;
  double cosine[ANGLES], sine[ANGLES];
  double p[4][9];                                               /* Legendre functions of latitude: [order][degree] */
  double cos_lt[4], sin_lt[4];                                  /* of multiples of local time */
  double df, dfa;                                               /* flux less its mean; mean less 150 */
  _Alignas(32) double varied[ORR_LANES * ORR_NRLMSISE_FOURS];   /* G(L) */
  _Alignas(32) double magnetic[ORR_LANES * ORR_NRLMSISE_FOURS]; /* the index as each sees it */
  double gravity, radius;                                       /* at the surface, cm/s²; km */
};

static orr_lanes wave(const struct place *at, const struct orr_nrlmsise_four *e, enum wave w) {
  enum angle angle = wave_list[w].angle;
  return at->cosine[angle] * e->cosine[w] + at->sine[angle] * e->sine[w];
}
static double wave_low(const struct place *at, const struct orr_nrlmsise_low *e, enum wave w) {
  enum angle angle = wave_list[w].angle;
  return at->cosine[angle] * e->cosine[w] + at->sine[angle] * e->sine[w];
}

/* ---- expansions -------------------------------------------------------------------------------------------------- */

static void set_legendre(struct place *at) {
  double c, s;
  orr_sincos_one(at->in->latitude_deg * degree, &c, &s);
  double(*p)[9] = at->p;
  double power = 1;
  static const double part[9] = {0, 1, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6, 1.0 / 7, 1.0 / 8};
  for (int m = 0; m < 4; m++) {
    p[m][m] = power;
    p[m][m + 1] = (2 * m + 1) * c * power;
    for (int n = m + 2; n < 9; n++)
      p[m][n] = ((2 * n - 1) * c * p[m][n - 1] - (n + m - 1) * p[m][n - 2]) * part[n - m];
    power *= (2 * m + 1) * s;
  }
}

static void set_place(struct place *at, const struct orr_nrlmsise_model *model, const struct orr_nrlmsise_input *in) {
  const double east = degree * in->longitude_deg, universal = second * in->seconds, today = day * in->day_of_year;
  const double angles[ANGLES] = {today, 2 * today, hour * in->solar_time_h, east, universal, universal + 2 * east};
  at->model = model;
  at->in = in;
  set_legendre(at);
  for (int k = 0; k < ANGLES; k++)
    orr_sincos_one(angles[k], &at->sine[k], &at->cosine[k]);
  for (int k = 1; k < 4; k++)
    orr_sincos_one(k * angles[LOCAL], &at->sin_lt[k], &at->cos_lt[k]);
  at->df = in->f107 - in->f107_average;
  at->dfa = in->f107_average - 150;
  double c2 = orr_cos(2 * degree * in->latitude_deg);
  at->gravity = 980.616 * (1 - 0.0026373 * c2);
  at->radius = 2 * at->gravity / (3.085462e-6 + 2.27e-9 * c2) * 1e-5;
}

/* Three functions of one order, weighed. */
static orr_lanes three(const double *p, orr_lanes a, orr_lanes b, orr_lanes c, int first) {
  return a * p[first] + b * p[first + 2] + c * p[first + 4];
}
static double three_low(const double *p, double a, double b, double c, int first) {
  return a * p[first] + b * p[first + 2] + c * p[first + 4];
}

/* A24d: how an index acts, above a quiet 4; A24a, A24c: the 3-hour indices of the last 57 hours, older ones fading. */
static double index_effect(double above, double rate, double share) {
  return above + (share - 1) * (above + (orr_exp(-rate * above) - 1) / rate);
}

static double history_effect(double x, double rate, double share, const double *ap) {
  double x2 = x * x, x3 = x2 * x, x4 = x2 * x2, x8 = x4 * x4, x12 = x8 * x4, x19 = x12 * x4 * x3, effect[7];
  for (int k = 1; k < 7; k++)
    effect[k] = index_effect(ap[k] - 4, rate, share);
  double sum = effect[1] + effect[2] * x + effect[3] * x2 + effect[4] * x3;
  sum += (effect[5] * x4 + effect[6] * x12) * (1 - x8) / (1 - x);
  return sum / (1 + (1 - x19) / (1 - x) * sqrt(x));
}

/* Nothing for an expansion that does not fade. */
static orr_lanes set_history(struct place *at, const struct orr_nrlmsise_four *e, double *magnetic) {
  const struct orr_nrlmsise_input *in = at->in;
  const orr_lanes *p = e->p;
  for (int k = 0; k < ORR_LANES; k++) {
    double x = orr_exp(-10800 * fabs(p[51][k]) / (1 + p[138][k] * (45 - fabs(in->latitude_deg))));
    double rate = orr_max(fabs(p[24][k]), 1e-4);
    magnetic[k] = p[51][k] == 0 ? 0 : history_effect(orr_min(x, 0.99999), rate, p[25][k], in->ap_history);
  }
  return lanes_load(magnetic);
}

static orr_lanes from_history(struct place *at, const struct orr_nrlmsise_four *e, double *magnetic, orr_lanes cd14) {
  const orr_lanes *p = e->p;
  double(*l)[9] = at->p;
  orr_lanes t = p[50] + p[96] * l[0][2] + p[54] * l[0][4] + three(l[0], p[125], p[126], p[127], 1) * cd14;
  t += three(l[1], p[128], p[129], p[130], 1) * wave(at, e, W131);
  t += (1 + p[132] * l[0][1]) * three(l[1], p[52], p[98], p[67], 2) * wave(at, e, W97);
  t += three(l[1], p[133], p[134], p[135], 1) * cd14 * wave(at, e, W136);
  t += three(l[0], p[55], p[56], p[57], 1) * wave(at, e, W58);
  return set_history(at, e, magnetic) * t;
}

/* Rate and share are the same for most. */
static orr_lanes set_daily(struct place *at, const struct orr_nrlmsise_four *e, double *magnetic) {
  const orr_lanes *p = e->p;
  for (int k = 0; k < ORR_LANES; k++) {
    bool again = k > 0 && p[43][k] == p[43][k - 1] && p[44][k] == p[44][k - 1];
    magnetic[k] = again ? magnetic[k - 1] : index_effect(at->in->ap - 4, p[43][k] < 0 ? 1e-5 : p[43][k], p[44][k]);
  }
  return lanes_load(magnetic);
}

static orr_lanes from_daily(struct place *at, const struct orr_nrlmsise_four *e, double *magnetic, orr_lanes cd14) {
  const orr_lanes *p = e->p;
  double(*l)[9] = at->p;
  orr_lanes t = p[32] + p[45] * l[0][2] + p[34] * l[0][4] + three(l[0], p[100], p[101], p[102], 1) * cd14;
  t += three(l[1], p[121], p[122], p[123], 1) * wave(at, e, W124);
  t += (1 + p[120] * l[0][1]) * three(l[1], p[60], p[61], p[62], 2) * wave(at, e, W63);
  t += three(l[1], p[115], p[116], p[117], 1) * cd14 * wave(at, e, W118);
  t += three(l[0], p[83], p[84], p[85], 1) * wave(at, e, W75);
  return set_daily(at, e, magnetic) * t;
}

/* Longitude, universal time, and both. */
static orr_lanes from_longitude(const struct place *at, const struct orr_nrlmsise_four *e, orr_lanes cd14) {
  const orr_lanes *p = e->p;
  const double(*l)[9] = at->p;
  orr_lanes east = three(l[1], p[64], p[65], p[66], 2) + three(l[1], p[103], p[104], p[105], 1);
  orr_lanes north = three(l[1], p[90], p[91], p[92], 2) + three(l[1], p[106], p[107], p[108], 1);
  east += three(l[1], p[109], p[110], p[111], 1) * cd14;
  north += three(l[1], p[112], p[113], p[114], 1) * cd14;
  orr_lanes t = (1 + p[80] * at->dfa) * (east * at->cosine[EAST] + north * at->sine[EAST]);
  orr_lanes ut = (1 + p[95] * l[0][1]) * (1 + p[81] * at->dfa) * (1 + p[119] * l[0][1] * cd14);
  t += ut * three(l[0], p[68], p[69], p[70], 1) * wave(at, e, W71);
  orr_lanes both = wave(at, e, W79) * (1 + p[137] * at->dfa);
  return t + three(l[2], p[76], p[77], p[78], 3) * both;
}

/* G(L) of four expansions of the thermosphere. */
static orr_lanes vary(struct place *at, const struct orr_nrlmsise_four *e, double *magnetic) {
  const orr_lanes *p = e->p;
  double(*l)[9] = at->p;
  orr_lanes cd32 = wave(at, e, W31), cd18 = wave(at, e, W17), cd14 = wave(at, e, W13), cd39 = wave(at, e, W38);
  double df = at->df, dfa = at->dfa;
  orr_lanes flux = p[19] * df + p[20] * df * df;
  orr_lanes f1 = 1 + p[47] * dfa + flux, f2 = 1 + p[49] * dfa + flux;
  orr_lanes t = p[30] + p[19] * df * (1 + p[59] * dfa) + p[20] * df * df + p[21] * dfa + p[29] * dfa * dfa;
  t += three(l[0], p[1], p[2], p[22], 2) + p[14] * l[0][2] * dfa + p[26] * l[0][1];
  t += p[18] * cd32 + (p[15] + p[16] * l[0][2]) * cd18;
  t += f1 * (p[9] * l[0][1] + p[10] * l[0][3]) * cd14 + p[37] * l[0][1] * cd39;
  orr_lanes day_cos = three(l[1], p[3], p[4], p[27], 1) + p[11] * l[1][2] * cd14;
  orr_lanes day_sin = three(l[1], p[6], p[7], p[28], 1) + p[12] * l[1][2] * cd14;
  orr_lanes half_cos = p[5] * l[2][2] + p[41] * l[2][4] + (p[23] * l[2][3] + p[35] * l[2][5]) * cd14;
  orr_lanes half_sin = p[8] * l[2][2] + p[42] * l[2][4] + (p[33] * l[2][3] + p[36] * l[2][5]) * cd14;
  orr_lanes third_sin = p[39] * l[3][3] + (p[93] * l[3][4] + p[46] * l[3][6]) * cd14;
  orr_lanes third_cos = p[40] * l[3][3] + (p[94] * l[3][4] + p[48] * l[3][6]) * cd14;
  t += f2 * (day_cos * at->cos_lt[1] + day_sin * at->sin_lt[1] + half_cos * at->cos_lt[2] + half_sin * at->sin_lt[2] +
             third_sin * at->sin_lt[3] + third_cos * at->cos_lt[3]);
  t += at->in->ap_history ? from_history(at, e, magnetic, cd14) : from_daily(at, e, magnetic, cd14);
  return t + from_longitude(at, e, cd14);
}

static void vary_all(struct place *at) {
  for (int k = 0; k < ORR_NRLMSISE_FOURS; k++)
    lanes_store(at->varied + ORR_LANES * k, vary(at, &at->model->high[k], at->magnetic + ORR_LANES * k));
}

/* G(L) of the lower atmosphere. */
static double vary_low(const struct place *at, const struct orr_nrlmsise_low *e, double magnetic) {
  const double *p = e->p;
  const double(*l)[9] = at->p;
  double cd32 = wave_low(at, e, W31), cd18 = wave_low(at, e, W17), cd14 = wave_low(at, e, W13),
         cd39 = wave_low(at, e, W38);
  double t = p[21] * at->dfa + three_low(l[0], p[1], p[2], p[22], 2) + three_low(l[0], p[26], p[14], p[59], 1);
  t += (p[18] + p[47] * l[0][2] + p[29] * l[0][4]) * cd32 + (p[15] + p[16] * l[0][2] + p[30] * l[0][4]) * cd18;
  t += three_low(l[0], p[9], p[10], p[20], 1) * cd14 + p[37] * l[0][1] * cd39;
  t += (p[3] * l[1][1] + p[4] * l[1][3] + p[11] * l[1][2] * cd14) * at->cos_lt[1];
  t += (p[6] * l[1][1] + p[7] * l[1][3] + p[12] * l[1][2] * cd14) * at->sin_lt[1];
  t += (p[5] * l[2][2] + p[41] * l[2][4] + (p[23] * l[2][3] + p[35] * l[2][5]) * cd14) * at->cos_lt[2];
  t += (p[8] * l[2][2] + p[42] * l[2][4] + (p[33] * l[2][3] + p[36] * l[2][5]) * cd14) * at->sin_lt[2];
  t += p[39] * l[3][3] * at->sin_lt[3] + p[40] * l[3][3] * at->cos_lt[3];
  t += at->in->ap_history ? magnetic * (p[50] + p[96] * l[0][2]) : magnetic * (p[32] + p[45] * l[0][2]);
  double season = 1 + l[0][1] * (p[80] * wave_low(at, e, W81) + p[85] * wave_low(at, e, W86));
  season += p[83] * wave_low(at, e, W84) + p[87] * wave_low(at, e, W88);
  double east = three_low(l[1], p[64], p[65], p[66], 2) + three_low(l[1], p[74], p[75], p[76], 1);
  double north = three_low(l[1], p[90], p[91], p[92], 2) + three_low(l[1], p[77], p[78], p[79], 1);
  return t + season * (east * at->cosine[EAST] + north * at->sine[EAST]);
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

/* 1/T through nodes in altitude, as a cubic spline in x = ζ(z)/ζ(last), whose slopes at the ends come from dT/dz. */
struct spline {
  int n;
  double x[5], y[5], bend[5]; /* bend: the second derivative */
  double base, span;          /* altitude of the first node; geopotential difference to the last */
  double t0;                  /* T at the first node */
};

/* Geopotential height above `base`. */
static double above(const struct place *at, double z, double base) {
  return (z - base) * (at->radius + base) / (at->radius + z);
}

/* (1 + z/r)², by which gravity falls. */
static double spread(const struct place *at, double z) {
  double s = 1 + z / at->radius;
  return s * s;
}

static void spline_set(struct spline *s, const struct place *at, int n, const double *z, const double *t,
                       const double *slope) {
  double u[5], h[4] = {0}, rise[4] = {0};
  s->n = n;
  s->base = z[0];
  s->t0 = t[0];
  s->span = above(at, z[n - 1], z[0]);
  for (int k = 0; k < n; k++) {
    s->x[k] = above(at, z[k], z[0]) / s->span;
    s->y[k] = 1 / t[k];
  }
  for (int k = 0; k < n - 1; k++) {
    h[k] = s->x[k + 1] - s->x[k];
    rise[k] = (s->y[k + 1] - s->y[k]) / h[k];
  }
  double start = -slope[0] / (t[0] * t[0]) * s->span;
  double end = -slope[1] / (t[n - 1] * t[n - 1]) * s->span * spread(at, z[n - 1]) / spread(at, z[0]);
  s->bend[0] = -0.5;
  u[0] = 3 / h[0] * (rise[0] - start);
  for (int i = 1; i < n - 1; i++) {
    double both = 1 / (h[i - 1] + h[i]), part = h[i - 1] * both, pivot = 1 / (part * s->bend[i - 1] + 2);
    s->bend[i] = (part - 1) * pivot;
    u[i] = (6 * (rise[i] - rise[i - 1]) * both - part * u[i - 1]) * pivot;
  }
  double top = 3 / h[n - 2] * (end - rise[n - 2]);
  s->bend[n - 1] = (top - 0.5 * u[n - 2]) / (0.5 * s->bend[n - 2] + 1);
  for (int k = n - 2; k >= 0; k--)
    s->bend[k] = s->bend[k] * s->bend[k + 1] + u[k];
}

static double spline_at(const struct spline *s, double x) {
  int k = 0;
  while (k < s->n - 2 && s->x[k + 1] <= x)
    k++;
  double h = s->x[k + 1] - s->x[k], a = (s->x[k + 1] - x) / h, b = (x - s->x[k]) / h;
  return a * s->y[k] + b * s->y[k + 1] + ((a * a * a - a) * s->bend[k] + (b * b * b - b) * s->bend[k + 1]) * h * h / 6;
}

/* ∫ from the first node to x. */
static double spline_area(const struct spline *s, double x) {
  double sum = 0;
  for (int k = 0; k < s->n - 1 && x > s->x[k]; k++) {
    double to = k < s->n - 2 ? orr_min(x, s->x[k + 1]) : x, h = s->x[k + 1] - s->x[k];
    double a = (s->x[k + 1] - to) / h, b = (to - s->x[k]) / h, a2 = a * a, b2 = b * b;
    double bent = (a2 / 2 - (1 + a2 * a2) / 4) * s->bend[k] + (b2 * b2 / 4 - b2 / 2) * s->bend[k + 1];
    sum += ((1 - a2) * s->y[k] / 2 + b2 * s->y[k + 1] / 2 + bent * h * h / 6) * h;
  }
  return sum;
}

/* Hydrostatic exponent of mass 1 from the first node to z. */
static double spline_weight(const struct spline *s, const struct place *at, double z) {
  double weight = at->gravity / spread(at, s->base) * s->span / gas;
  return weight * spline_area(s, above(at, z, s->base) / s->span);
}

/* What the density of every species takes from an altitude. */
struct level {
  double z;
  double fall, cooling;         /* above za: σ ζ, log(T_lb/T) */
  double weight, cooling_below; /* from za down to z: exponent of mass 1, log(T_za/T); 0 above za */
  double t;
};

/* The thermosphere: Bates above za, the spline of the lower thermosphere below. */
struct thermosphere {
  const struct place *at;
  double t_inf, t_lb, z_lb, sigma, za;
  double gamma;                    /* of mass 1 */
  double nodes[5], t[5], slope[2]; /* of the spline */
  struct spline low;
};

static double bates(const struct thermosphere *th, double fall) {
  return th->t_inf - (th->t_inf - th->t_lb) * orr_exp(-fall);
}

/* z from 72.5 km on */
static struct level level_at(const struct thermosphere *th, double z) {
  struct level l = {.z = z, .fall = th->sigma * above(th->at, orr_max(z, th->za), th->z_lb)};
  l.t = bates(th, l.fall);
  l.cooling = orr_log(th->t_lb / l.t);
  if (z < th->za) {
    l.t = 1 / spline_at(&th->low, above(th->at, z, th->za) / th->low.span);
    l.cooling_below = orr_log(th->low.t0 / l.t);
    l.weight = spline_weight(&th->low, th->at, z);
  }
  return l;
}

/* Density at a level of a species of mass m and thermal diffusion α that is n at z_lb; not a number where there is no
 * temperature. No exponent of weight goes beyond what makes a factor of 50, or of exp(−50) below za. */
static double diffuse(const struct thermosphere *th, const struct level *l, double n, double m, double alpha) {
  static const double log_50 = 3.912023005428146;
  double gamma = m * th->gamma;
  double exponent = (1 + alpha + gamma) * l->cooling + orr_min(log_50, -gamma * l->fall);
  return n * orr_exp(exponent + (1 + alpha) * l->cooling_below - orr_min(50, m * l->weight));
}

/* ---- species ----------------------------------------------------------------------------------------------------- */

/* Diffusive and mixed densities joined around the turbopause. */
static double net(double diffusive, double mixed, double scale, double mixed_mass, double mass) {
  double a = scale / (mixed_mass - mass), y = a * orr_log(mixed / diffusive);
  if (y < -10)
    return diffusive;
  return y > 10 ? mixed : diffusive * orr_pow(1 + orr_exp(y), 1 / a);
}

/* exp(r) far below zh, 1 far above it; two transition scales, equal in the simple case. */
static double correction(double z, double r, double scale, double zh, double second_scale) {
  double a = (z - zh) / scale, b = (z - zh) / second_scale;
  if (a > 70 || b > 70)
    return 1;
  if (a < -70 && b < -70)
    return orr_exp(r);
  return orr_exp(r / (1 + 0.5 * (orr_exp(a) + orr_exp(b))));
}

enum { HE, O, N2, O2, AR, H, N, SPECIES };

/* By species: mass, α, the altitude above which only diffusion counts, rows of pd and of pdm; then which numbers of
 * pdl, counted through both its rows, scale pdm: for the ratio at the ground its [5] and [4] and the ratio itself, for
 * chemistry its [7], [6] and [3], and [7] again for a second scale. −1: none. */
static const struct species {
  double mass, alpha, mixed_below;
  int pd, pdm, hc, zc, ratio, hcc, zcc, rc, second;
} list[SPECIES] = {
    [HE] = {4, -0.38, 200, 0, 0, 26, 25, -1, -1, -1, -1, -1}, [O] = {16, 0, 300, 1, 1, 28, 27, 41, 38, 37, 39, -1},
    [N2] = {28, 0, 160, 2, 2, -1, -1, -1, -1, -1, -1, -1},    [O2] = {32, 0, 250, 4, 3, 32, 31, -1, 47, 46, 48, 22},
    [AR] = {40, 0.17, 240, 5, 4, 34, 33, -1, -1, -1, -1, -1}, [H] = {1, -0.38, 320, 6, 5, 36, 35, 42, 44, 43, 45, -1},
    [N] = {14, 0, 450, 7, 6, 1, 0, 2, 4, 3, 5, -1},
};

/* What the species share, and what nitrogen, the first, leaves for the others. */
struct mixture {
  struct level here;  /* where the air is asked for */
  struct level below; /* from where the species before was mixed */
  double mixed_n2;    /* at z_lb */
  double scale;       /* of the turbopause */
  double dm28;        /* nitrogen's mixed density here, as far as it is known */
};

static double of_pdl(int i) { return PDL[i / 25][i % 25]; }

/* The ratio at the ground, or, for oxygen, how much of it is left there. */
static double to_ground(const struct species *s, const struct place *at, const struct mixture *mix, double b) {
  const double *pdm = PDM[s->pdm];
  double hc = pdm[5] * of_pdl(s->hc), zc = pdm[4] * of_pdl(s->zc);
  if (s == &list[O]) {
    double r = pdm[1] * of_pdl(s->ratio) * (1 + PDL[0][23] * at->dfa);
    return correction(mix->here.z, r, hc, zc, pdm[5] * PDL[1][4]);
  }
  double ratio = s == &list[H] || s == &list[N] ? fabs(of_pdl(s->ratio)) : 1;
  return correction(mix->here.z, orr_log(mix->mixed_n2 * pdm[1] * ratio / b), hc, zc, hc);
}

static double chemistry(const struct species *s, const struct place *at, double z) {
  const double *pdm = PDM[s->pdm];
  double r = pdm[3] * of_pdl(s->rc), hcc = pdm[7] * of_pdl(s->hcc), zcc = pdm[6] * of_pdl(s->zcc);
  if (s->second >= 0)
    return correction(z, r * (1 + PDL[0][23] * at->dfa), hcc, zcc, pdm[7] * of_pdl(s->second));
  return correction(z, r, hcc, zcc, hcc);
}

/* 1/cm³ */
static double density_of(const struct species *s, struct place *at, const struct thermosphere *th,
                         struct mixture *mix) {
  const double *pdm = PDM[s->pdm], mean = PDM[2][4];
  double z = mix->here.z, lb = pdm[0] * orr_exp(at->varied[PD0 + s->pd]) * PD[s->pd][0];
  double n = diffuse(th, &mix->here, lb, s->mass, s->alpha);
  bool nitrogen = s == &list[N2], mixes = z <= s->mixed_below;
  if (nitrogen || mixes) {
    double zh = pdm[2];
    if (nitrogen)
      zh *= PDL[1][24] * (1 + PDL[0][24] * at->p[0][1] * wave(at, &at->model->high[0], W13)[T_INF]);
    if (mix->below.z != zh)
      mix->below = level_at(th, zh);
    double b = diffuse(th, &mix->below, lb, s->mass - mean, s->alpha - 1);
    if (nitrogen)
      mix->mixed_n2 = b;
    if (mixes) {
      double mixed = diffuse(th, &mix->here, b, mean, 0);
      if (nitrogen)
        mix->dm28 = mixed;
      n = net(n, mixed, mix->scale, mean, s->mass);
      if (s->hc >= 0)
        n *= to_ground(s, at, mix, b);
    }
  }
  if (s->rc >= 0 && (mixes || s->second >= 0))
    n *= chemistry(s, at, z);
  return n;
}

/* It has a temperature of its own at and above za; below, the spline starts from there. */
static double anomalous_oxygen(struct place *at, const struct thermosphere *th, double z) {
  const double *pdm = PDM[7];
  double t = pdm[9] * PDL[0][6], lb = pdm[0] * orr_exp(at->varied[PD0 + 8]) * PD[8][0];
  struct thermosphere own = *th;
  own.gamma *= own.t_inf / t;
  own.t_inf = own.t_lb = own.t[0] = t;
  own.slope[0] = 0;
  if (z < th->za)
    spline_set(&own.low, at, 5, own.nodes, own.t, own.slope);
  struct level here = level_at(&own, z);
  double n = diffuse(&own, &here, lb, 16, 0);
  double scale = gas * t / (at->gravity / spread(at, pdm[4]) * 16);
  return n * orr_exp(-pdm[5] / scale * (orr_exp(-(z - pdm[4]) / pdm[5]) - 1));
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* 1/(1 − G), or 1 where the altitude makes the variation unimportant. */
static double low_factor(const struct place *at, const struct orr_nrlmsise_low *e, double magnetic, bool varies) {
  return e->p[0] / (1 - (varies ? vary_low(at, e, magnetic) : 0));
}

static void set_thermosphere(struct thermosphere *th, struct place *at, double z) {
  const struct orr_nrlmsise_model *model = at->model;
  th->at = at;
  th->za = PDL[1][15];
  th->z_lb = PTM[5];
  th->t_inf = PTM[0] * PT[0] * (z > th->za ? 1 + at->varied[T_INF] : 1);
  double g0 = PTM[3] * PS[0] * (z > 72.5 ? 1 + at->varied[SLOPE] : 1);
  th->t_lb = PTM[1] * (1 + at->varied[PD0 + 3]) * PD[3][0];
  th->sigma = g0 / (th->t_inf - th->t_lb);
  th->gamma = at->gravity / spread(at, th->z_lb) / (th->sigma * gas * th->t_inf);
  bool varies = z < 300;
  double magnetic = at->magnetic[PD0 + 3]; /* as in the published code, that of the expansion before */
  double ta = bates(th, th->sigma * above(at, th->za, th->z_lb)), mid = PTM[4] * PTL[3][0];
  static const double below[4] = {110, 100, 90, 72.5};
  th->nodes[0] = th->za;
  memcpy(th->nodes + 1, below, sizeof below);
  th->t[0] = ta;
  th->t[1] = PTM[6] * low_factor(at, &model->ptl[0], magnetic, varies);
  th->t[2] = PTM[2] * low_factor(at, &model->ptl[1], magnetic, varies);
  th->t[3] = PTM[7] * low_factor(at, &model->ptl[2], magnetic, varies);
  th->t[4] = PTM[4] * low_factor(at, &model->ptl[3], magnetic, varies);
  th->slope[0] = (th->t_inf - ta) * th->sigma * spread(at, th->z_lb) / spread(at, th->za);
  th->slope[1] = PTM[8] * PMA[8][0] * (1 + (varies ? vary_low(at, &model->pma[8], magnetic) : 0)) * th->t[4] *
                 th->t[4] / (mid * mid);
  spline_set(&th->low, at, 5, th->nodes, th->t, th->slope);
}

/* Below 72.5 km the air is mixed: nitrogen falls by the mean mass, the others keep their ratio to it. Returns T. */
static double lower(struct place *at, const struct thermosphere *th, double dm28, double *n) {
  double z = at->in->altitude_km, mean = PDM[2][4], magnetic = at->magnetic[PD0 + 7];
  static const double z2[4] = {72.5, 55, 45, 32.5}, z3[5] = {32.5, 20, 15, 10, 0};
  double t2[4] = {th->t[4]}, t3[5], slope2[2] = {th->slope[1]}, slope3[2], scale = PMA[2][0] * PAVGM[2];
  for (int k = 1; k < 4; k++)
    t2[k] = PAVGM[k - 1] * low_factor(at, &at->model->pma[k - 1], magnetic, true);
  slope2[1] = PAVGM[8] * PMA[9][0] * (1 + vary_low(at, &at->model->pma[9], magnetic)) * t2[3] * t2[3] / (scale * scale);
  struct spline upper, low;
  spline_set(&upper, at, 4, z2, t2, slope2);
  double high = orr_max(z, 32.5), t = 1 / spline_at(&upper, above(at, high, 72.5) / upper.span);
  double mixed = dm28 * (t2[0] / t) * orr_exp(-orr_min(50, mean * spline_weight(&upper, at, high)));
  if (z <= 32.5) {
    t3[0] = t2[3];
    for (int k = 1; k < 5; k++)
      t3[k] = PAVGM[k + 2] * low_factor(at, &at->model->pma[k + 2], magnetic, true);
    scale = PMA[6][0] * PAVGM[6];
    slope3[0] = slope2[1];
    slope3[1] =
        PMA[7][0] * PAVGM[7] * (1 + vary_low(at, &at->model->pma[7], magnetic)) * t3[4] * t3[4] / (scale * scale);
    spline_set(&low, at, 5, z3, t3, slope3);
    t = 1 / spline_at(&low, above(at, z, 32.5) / low.span);
    mixed *= t3[0] / t * orr_exp(-orr_min(50, mean * spline_weight(&low, at, z)));
  }
  double left = z > 62.5 ? 1 - (72.5 - z) / (72.5 - 62.5) : 0, n28 = n[N2];
  n[N2] = mixed * (1 + (n28 / dm28 - 1) * left);
  n[HE] = n[N2] * PDM[0][1] * (1 + (n[HE] / (n28 * PDM[0][1]) - 1) * left);
  n[O2] = n[N2] * PDM[3][1] * (1 + (n[O2] / (n28 * PDM[3][1]) - 1) * left);
  n[AR] = n[N2] * PDM[4][1] * (1 + (n[AR] / (n28 * PDM[4][1]) - 1) * left);
  n[O] = n[H] = n[N] = 0;
  return t;
}

void orr_nrlmsise_evaluate(const struct orr_nrlmsise_model *model, const struct orr_nrlmsise_input *in,
                           struct orr_nrlmsise *out) {
  static const int order[SPECIES] = {N2, HE, O, O2, AR, H, N};
  struct place at;
  struct thermosphere th = {.at = &at};
  set_place(&at, model, in);
  vary_all(&at);
  double z = orr_max(in->altitude_km, 72.5), n[SPECIES];
  set_thermosphere(&th, &at, z);
  struct mixture mix = {.here = level_at(&th, z), .scale = PDM[2][3] * PDL[1][5]};
  for (int i = 0; i < SPECIES; i++)
    n[order[i]] = density_of(&list[order[i]], &at, &th, &mix);
  double anomalous = anomalous_oxygen(&at, &th, z);
  out->exospheric_temperature = th.t_inf;
  out->temperature = mix.here.t;
  if (in->altitude_km < 72.5) {
    out->temperature = lower(&at, &th, mix.dm28, n);
    anomalous = 0;
  }
  double mass = 0;
  for (int i = 0; i < SPECIES; i++)
    mass += list[i].mass * n[i];
  const double per_m3 = 1e6, to_kg = 1.66e-24 * 1e3;
  out->density = to_kg * mass;
  out->density_drag = to_kg * (mass + 16 * anomalous);
  out->he = per_m3 * n[HE];
  out->o = per_m3 * n[O];
  out->n2 = per_m3 * n[N2];
  out->o2 = per_m3 * n[O2];
  out->ar = per_m3 * n[AR];
  out->h = per_m3 * n[H];
  out->n = per_m3 * n[N];
  out->anomalous_o = per_m3 * anomalous;
}
