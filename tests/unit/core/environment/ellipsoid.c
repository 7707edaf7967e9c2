/* core/environment/ellipsoid: there and back. */
#include "core/environment/ellipsoid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/prng.h"

static void geodetic_coordinates_go_there_and_back(void **state) {
  (void)state;
  struct orr_prng prng = {1};
  const double half = 1.57079632679489661923;
  for (int i = 0; i < 2000; i++) {
    struct orr_geodetic g = {prng_between(&prng, -half, half), prng_between(&prng, -3.14159, 3.14159),
                             i % 2 ? prng_between(&prng, -1e4, 1e6) : prng_scale(&prng, 1e6, 4e8)};
    if (i < 6)
      g.latitude = (double[]){half, -half, 0, 1e-9, half - 1e-9, 1e-9 - half}[i];
    orr_vec3 x = orr_geodetic_place(&orr_wgs84, g);
    struct orr_geodetic back = orr_geodetic_of(&orr_wgs84, x);
    orr_vec3 again = orr_geodetic_place(&orr_wgs84, back);
    assert_true(v3_norm(v3_sub(x, again)) < 1e-15 * (1e7 + 3 * v3_norm(x)));
    assert_true(fabs(back.latitude - g.latitude) < 1e-14);
    assert_true(fabs(back.height - g.height) < 4e-9 + 6e-16 * g.height);
  }
}

/* The normal of the ellipsoid is the way down's opposite: the gradient of x²/a² + y²/a² + z²/b². */
static void down_is_normal_to_the_ellipsoid(void **state) {
  (void)state;
  const double b = orr_wgs84.a * (1 - orr_wgs84.f);
  for (int i = -8; i <= 8; i++) {
    struct orr_geodetic g = {0.19 * i, 0.37 * i, 0};
    orr_vec3 x = orr_geodetic_place(&orr_wgs84, g), n = v3(x.x, x.y, x.z * orr_wgs84.a * orr_wgs84.a / (b * b));
    orr_mat3 axes = orr_geodetic_axes(g);
    assert_true(v3_norm(v3_madd(m3_row(axes, 2), 1 / v3_norm(n), n)) < 1e-15);
    assert_true(v3_norm(v3_sub(v3_cross(m3_row(axes, 0), m3_row(axes, 1)), m3_row(axes, 2))) < 1e-15);
    assert_true(m3_row(axes, 0).z >= 0 && fabs(m3_row(axes, 1).z) == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(geodetic_coordinates_go_there_and_back),
      cmocka_unit_test(down_is_normal_to_the_ellipsoid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
