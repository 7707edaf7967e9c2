#include "tools/campaign/draw.h"

#include <math.h>

#include "tools/campaign/sobol.h"

/* J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC11 (2011): Philox 2x64-10. */
uint64_t orr_draw_bits(uint64_t key, uint64_t counter, uint64_t stream) {
  __extension__ typedef unsigned __int128 wide;
  uint64_t left = counter, right = stream;
  for (int round = 0; round < 10; round++) {
    wide product = (wide)UINT64_C(0xD2B74407B1CE6E93) * left;
    left = (uint64_t)(product >> 64) ^ key ^ right;
    right = (uint64_t)product;
    key += UINT64_C(0x9E3779B97F4A7C15);
  }
  return left;
}

double orr_draw_unit(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

/* A Feistel network of four rounds permutes the numbers of 2 h bits; what falls outside walks on. */
uint64_t orr_draw_place(uint64_t key, uint64_t stream, uint64_t index, uint64_t count) {
  int half = 1;
  while (half < 31 && (UINT64_C(1) << 2 * half) < count)
    half++;
  uint64_t mask = (UINT64_C(1) << half) - 1, place = index;
  do {
    uint64_t left = place >> half, right = place & mask;
    for (uint64_t round = 0; round < 4; round++) {
      uint64_t mixed = left ^ (orr_draw_bits(key, right, stream * 4 + round) & mask);
      left = right;
      right = mixed;
    }
    place = left << half | right;
  } while (place >= count);
  return place;
}

double orr_draw_normal_below(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* Halley's steps on erfc from where the tail's asymptote puts it: a fixed number, so that there is one answer. The half
 * below the middle is solved, where the probability has all its digits. */
double orr_draw_normal_quantile(double p) {
  double q = p < 0.5 ? p : 1 - p, t = sqrt(-2 * log(q)), x = -t + log(t + 1.0) / (t + 0.5) + 0.2;
  if (q >= 0.5)
    return 0;
  for (int i = 0; i < 8; i++) {
    double density = exp(-0.5 * x * x) / sqrt(2 * acos(-1)), step = (orr_draw_normal_below(x) - q) / density;
    x -= step / (1 + 0.5 * x * step);
  }
  return p < 0.5 ? x : -x;
}

/* ---- the cube ---------------------------------------------------------------------------------------------------- */

/* Of the grid the last path is the fastest. */
static void grid_cube(const struct orr_campaign *c, int64_t flight, double *cube) {
  for (int i = c->vary_count - 1; i >= 0; i--) {
    const struct orr_campaign_vary *v = &c->varies[i];
    if (v->law != ORR_LAW_ONE_OF)
      continue;
    cube[v->dimension] = ((double)(flight % v->text_count) + 0.5) / v->text_count;
    flight /= v->text_count;
  }
}

static double sobol_unit(const struct orr_campaign *c, int64_t flight, int dimension) {
  uint32_t shift = (uint32_t)orr_draw_bits(c->seed, 0, UINT64_C(1) << 40 | (uint64_t)dimension);
  return ((double)(orr_sobol(dimension, (uint32_t)flight) ^ shift) + 0.5) * 0x1p-32;
}

void orr_draw_cube(const struct orr_campaign *c, int64_t flight, double *cube) {
  if (c->sampling == ORR_SAMPLING_GRID) {
    grid_cube(c, flight, cube);
    return;
  }
  for (int d = 0; d < c->dimensions; d++) {
    uint64_t i = (uint64_t)flight, n = (uint64_t)c->flights, stream = (uint64_t)d;
    double unit = orr_draw_unit(orr_draw_bits(c->seed, i, stream));
    if (c->sampling == ORR_SAMPLING_SOBOL)
      unit = sobol_unit(c, flight, d);
    else if (c->sampling == ORR_SAMPLING_LATIN_HYPERCUBE)
      unit = ((double)orr_draw_place(c->seed, UINT64_C(1) << 41 | stream, i, n) + unit) / (double)n;
    else if (c->sampling == ORR_SAMPLING_LIST)
      unit = ((double)flight + 0.5) / (double)c->varies[c->vary_count - 1].text_count;
    cube[d] = fmin(unit, 1 - 0x1p-53);
  }
}

/* ---- laws -------------------------------------------------------------------------------------------------------- */

/* Below the middle from the lower tail and above it from the upper one, where each has its digits. */
static double cut_normal(const struct orr_campaign_vary *v, double u) {
  double a = (v->low - v->number[0]) / v->number[1], b = (v->high - v->number[0]) / v->number[1], x;
  bool mirrored = a > 0;
  double low = mirrored ? -b : a, high = mirrored ? -a : b, at = mirrored ? 1 - u : u;
  double from = orr_draw_normal_below(low), to = orr_draw_normal_below(high), p = from + at * (to - from);
  x = orr_draw_normal_quantile(fmin(fmax(p, 0x1p-1000), 1 - 0x1p-53));
  x = v->number[0] + v->number[1] * (mirrored ? -x : x);
  return fmin(fmax(x, v->low), v->high);
}

static double triangular(const double n[3], double u) {
  double width = n[2] - n[0], turn = (n[1] - n[0]) / width;
  return u < turn ? n[0] + sqrt(u * width * (n[1] - n[0])) : n[2] - sqrt((1 - u) * width * (n[2] - n[1]));
}

static double value_of(const struct orr_campaign *c, const struct orr_campaign_vary *v, int64_t flight,
                       const double *cube) {
  double u = v->dimension >= 0 ? cube[v->dimension] : 0, sum = v->number[0];
  switch (v->law) {
  case ORR_LAW_EACH:
    return (double)(orr_draw_bits(c->seed, (uint64_t)flight, UINT64_C(1) << 42 | (uint64_t)(v - c->varies)) >> 11);
  case ORR_LAW_NORMAL:
    return cut_normal(v, u);
  case ORR_LAW_UNIFORM:
    return v->number[0] + u * (v->number[1] - v->number[0]);
  case ORR_LAW_LOG_UNIFORM:
    return fmin(fmax(v->number[0] * exp(u * log(v->number[1] / v->number[0])), v->number[0]), v->number[1]);
  case ORR_LAW_TRIANGULAR:
    return triangular(v->number, u);
  case ORR_LAW_ONE_OF:
    return fmin(floor(u * v->text_count), v->text_count - 1);
  case ORR_LAW_JOINT: /* mean + L z */
    for (int k = 0; k <= v->dimension - v->joint_first; k++)
      sum += v->factor[k] * orr_draw_normal_quantile(cube[v->joint_first + k]);
    return sum;
  }
  return 0;
}

void orr_draw_values(const struct orr_campaign *c, int64_t flight, const double *cube, double *values) {
  for (int i = 0; i < c->vary_count; i++) {
    values[i] = value_of(c, &c->varies[i], flight, cube);
    if (c->varies[i].is_time)
      values[i] = 1e-9 * rint(1e9 * values[i]);
  }
}

void orr_draw_flight(const struct orr_campaign *c, int64_t flight, double *values) {
  double cube[ORR_CAMPAIGN_VARIED] = {0};
  orr_draw_cube(c, flight, cube);
  orr_draw_values(c, flight, cube, values);
}
