#include "core/math/spline.h"

/* With h_i = at_i+1 − at_i and s_i = (x_i+1 − x_i)/h_i, b the bends:
 *   h_i−1 b_i−1 + 2 (h_i−1 + h_i) b_i + h_i b_i+1 = 6 (s_i − s_i−1)
 * and at the ends 2 h_0 b_0 + h_0 b_1 = 6 s_0, h b_n−1 + 2 h b_n = −6 s: the rates there are zero. The matrix is
 * diagonally dominant, so that no rows are exchanged. */
void orr_spline_bend(size_t count, const double *at, const double *x, double *bends, double *scratch) {
  double last_slope = 0, last_step = 0;
  for (size_t i = 0; i < count; i++) {
    bool end = i + 1 == count;
    double step = end ? 0 : at[i + 1] - at[i], slope = end ? 0 : (x[i + 1] - x[i]) / step;
    double below = i ? scratch[i - 1] : 0, diagonal = 2 * (last_step + step) - last_step * below;
    bends[i] = (6 * (slope - last_slope) - (i ? last_step * bends[i - 1] : 0)) / diagonal;
    scratch[i] = step / diagonal;
    last_slope = slope;
    last_step = step;
  }
  for (size_t i = count - 1; i-- > 0;)
    bends[i] -= scratch[i] * bends[i + 1];
}

struct orr_motion_now orr_spline_at(size_t count, const double *at, const double *x, const double *bends, double t,
                                    bool before) {
  size_t low = 0, high = count - 1;
  if (before ? t <= at[0] : t < at[0])
    return (struct orr_motion_now){x[0], 0, 0};
  if (before ? t > at[high] : t >= at[high])
    return (struct orr_motion_now){x[high], 0, 0};
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    *(t < at[middle] ? &high : &low) = middle;
  }
  double h = at[high] - at[low], b = (t - at[low]) / h, a = 1 - b;
  double p = bends[low], q = bends[high];
  return (struct orr_motion_now){
      .x = a * x[low] + b * x[high] + h * h / 6 * ((a * a * a - a) * p + (b * b * b - b) * q),
      .v = (x[high] - x[low]) / h + h / 6 * ((3 * b * b - 1) * q - (3 * a * a - 1) * p),
      .a = a * p + b * q,
  };
}
