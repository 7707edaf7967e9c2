/* Splines against what defines them: they pass through their rows, bend without a break, and rest at their ends. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/math/spline.h"

#define NEAR(a, b, eps) assert_true(fabs(1.0 * (a)-1.0 * (b)) <= (eps))

enum { ROWS = 9 };

static void it_passes_through_its_rows_without_a_break(void **state) {
  (void)state;
  uint64_t random = 7;
  for (int trial = 0; trial < 200; trial++) {
    double at[ROWS], x[ROWS], bends[ROWS], scratch[ROWS];
    size_t n = 2 + (size_t)trial % (ROWS - 1);
    double last = 0.3;
    for (size_t i = 0; i < n; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      last += 0.1 + (double)(random >> 40) / 16777216.0;
      at[i] = last;
      random = random * 6364136223846793005u + 1442695040888963407u;
      x[i] = (double)(random >> 40) / 8388608.0 - 1;
    }
    orr_spline_bend(n, at, x, bends, scratch);
    for (size_t i = 0; i < n; i++) {
      struct orr_motion_now before = orr_spline_at(n, at, x, bends, at[i], true);
      struct orr_motion_now after = orr_spline_at(n, at, x, bends, at[i], false);
      NEAR(before.x, x[i], 1e-13);
      NEAR(after.x, x[i], 1e-13);
      NEAR(before.v, after.v, 1e-11);
      if (i > 0 && i + 1 < n)
        NEAR(before.a, after.a, 1e-9);
      if (i == 0 || i + 1 == n)
        NEAR(after.v, 0, 1e-11);
    }
    /* v and a are derivatives of x: the rule of five points is exact for a cubic */
    for (int k = 0; k < 40; k++) {
      double t = at[0] + (at[n - 1] - at[0]) * (k + 0.5) / 40, h = 1e-3;
      struct orr_motion_now now = orr_spline_at(n, at, x, bends, t, false), p[4];
      bool inside = true;
      for (size_t i = 0; i < n; i++)
        inside = inside && fabs(at[i] - t) > 2 * h;
      for (int i = 0; i < 4 && inside; i++)
        p[i] = orr_spline_at(n, at, x, bends, t + (i < 2 ? i - 2 : i - 1) * h, false);
      if (!inside)
        continue;
      NEAR((p[0].x - 8 * p[1].x + 8 * p[2].x - p[3].x) / (12 * h), now.v, 1e-10 * (1 + fabs(now.v)));
      NEAR((p[2].v - p[1].v) / (2 * h), now.a, 1e-9 * (1 + fabs(now.a)));
    }
  }
}

/* Two rows: 3 s² − 2 s³; and beyond the ends nothing moves. */
static void two_rows_are_the_smooth_step(void **state) {
  (void)state;
  const double at[] = {1, 3}, x[] = {0.2, 0.7};
  double bends[2], scratch[2];
  orr_spline_bend(2, at, x, bends, scratch);
  for (int k = 0; k <= 20; k++) {
    double s = k / 20.0;
    struct orr_motion_now now = orr_spline_at(2, at, x, bends, 1 + 2 * s, k > 0);
    NEAR(now.x, 0.2 + 0.5 * s * s * (3 - 2 * s), 1e-15);
    NEAR(now.v, 0.5 * 6 * s * (1 - s) / 2, 1e-15);
    NEAR(now.a, 0.5 * 6 * (1 - 2 * s) / 4, 1e-15);
  }
  NEAR(orr_spline_at(2, at, x, bends, 0, false).x, 0.2, 0);
  NEAR(orr_spline_at(2, at, x, bends, 1, true).a, 0, 0);
  NEAR(orr_spline_at(2, at, x, bends, 3, false).a, 0, 0);
  NEAR(orr_spline_at(2, at, x, bends, 1e9, false).x, 0.7, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_passes_through_its_rows_without_a_break),
      cmocka_unit_test(two_rows_are_the_smooth_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
