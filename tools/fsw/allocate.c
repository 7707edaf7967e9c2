#include "tools/fsw/allocate.h"

#include <math.h>
#include <stdbool.h>

/* Σ a_i b_i over what is not zero: three wheels along the axes give the numbers that they are given, to the bit. */
static double dot(const double a[3], const double b[3]) {
  double sum = 0;
  bool any = false;
  for (int i = 0; i < 3; i++)
    if (a[i] != 0) {
      sum = any ? sum + a[i] * b[i] : a[i] * b[i];
      any = true;
    }
  return sum;
}

/* By cofactors. False where it has none. */
static bool invert(double g[3][3], double out[3][3]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
      out[i][j] = g[a][c] * g[b][d] - g[a][d] * g[b][c];
    }
  double det = g[0][0] * out[0][0] + g[0][1] * out[1][0] + g[0][2] * out[2][0];
  if (!(fabs(det) > 0))
    return false;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[i][j] /= det;
  return true;
}

void orr_allocate_wheels(int count, const double (*axis)[3], const double torque[3], double *out) {
  double gram[3][3] = {{0}}, inverse[3][3], y[3];
  for (int k = 0; k < count; k++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        gram[i][j] += axis[k][i] * axis[k][j];
  bool good = invert(gram, inverse);
  for (int i = 0; i < 3; i++)
    y[i] = good ? dot(inverse[i], torque) : 0;
  for (int k = 0; k < count; k++)
    out[k] = dot(axis[k], y);
}

enum { SWEEPS = 60 };

void orr_allocate_few_wheels(int count, const double (*axis)[3], double torque[3], double *out) {
  for (int k = 0; k < count; k++)
    out[k] = 0;
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (int k = 0; k < count; k++) {
      double size = dot(axis[k], axis[k]), by = size > 0 ? dot(axis[k], torque) / size : 0;
      for (int i = 0; i < 3; i++)
        torque[i] -= by * axis[k][i];
      out[k] += by;
    }
}

void orr_allocate_thrusters(int count, const double (*torque)[3], const double (*force)[3], const double impulse[3],
                            double most, double *on_time) {
  double left[6] = {impulse[0], impulse[1], impulse[2]}, strong = 0, push = 0, longest = 0;
  for (int k = 0; k < count; k++) {
    strong = fmax(strong, sqrt(dot(torque[k], torque[k])));
    push = fmax(push, sqrt(dot(force[k], force[k])));
    on_time[k] = 0;
  }
  double weight = push > 0 ? 0.03 * strong / push : 0; /* m: a force is a thirtieth of a torque as bad */
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (int k = 0; k < count; k++) {
      double along = 0, size = 0;
      for (int i = 0; i < 6; i++) {
        double b = i < 3 ? torque[k][i] : weight * force[k][i - 3];
        along += b * left[i];
        size += b * b;
      }
      double at = size > 0 ? on_time[k] + along / size : 0;
      double to = at >= 0 ? at : 0, by = to - on_time[k]; /* fmax does not say which zero it returns */
      for (int i = 0; i < 6; i++)
        left[i] -= by * (i < 3 ? torque[k][i] : weight * force[k][i - 3]);
      on_time[k] = to;
    }
  for (int k = 0; k < count; k++)
    longest = fmax(longest, on_time[k]);
  for (int k = 0; k < count && longest > most; k++)
    on_time[k] *= most / longest;
}
