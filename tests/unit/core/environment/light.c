/* core/environment/light: shadow, plates, and what a planet sends, against sums over surfaces. */
#include "core/environment/light.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/prng.h"

static const double pi = 3.14159265358979323846;

/* The part of the Sun's disc that is seen, by rays to rings of it. */
static double seen_by_rays(orr_vec3 body, double radius, orr_vec3 sun, double sun_radius) {
  enum { RINGS = 400, SECTORS = 800 };
  orr_vec3 s = v3_scale(1 / v3_norm(sun), sun), a = v3_cross(s, v3(0.3, 0.7, -0.2));
  a = v3_scale(1 / v3_norm(a), a);
  orr_vec3 b = v3_cross(s, a);
  double most = sun_radius / v3_norm(sun), count = 0; /* sine of the apparent radius */
  most = tan(asin(most));
  for (int i = 0; i < RINGS; i++)
    for (int j = 0; j < SECTORS; j++) {
      double r = most * sqrt((i + 0.5) / RINGS), t = 2 * pi * (j + 0.5) / SECTORS;
      orr_vec3 ray = v3_madd(v3_madd(s, r * cos(t), a), r * sin(t), b);
      double along = v3_dot(ray, body) / v3_dot(ray, ray);
      double miss = v3_norm(v3_madd(body, -along, ray));
      count += along > 0 && miss < radius ? 0 : 1;
    }
  return count / RINGS / SECTORS;
}

static void shadow_agrees_with_rays(void **state) {
  (void)state;
  struct orr_prng prng = {9};
  const double au = 149597870700.0, earth = 6378137;
  int partial = 0;
  for (int i = 0; i < 60; i++) {
    double r = i % 2 ? 7e6 : 42164e3, edge = asin(earth / r), width = ORR_SUN_RADIUS / au;
    double angle = edge + prng_between(&prng, -1.5, 1.5) * width;
    orr_vec3 body = v3_scale(r, v3(cos(angle), sin(angle), 0)), sun = v3(au, 0, 0);
    double got = orr_light_visible(body, earth, sun, ORR_SUN_RADIUS),
           want = seen_by_rays(body, earth, sun, ORR_SUN_RADIUS);
    partial += got > 0.01 && got < 0.99;
    /* the edge of a disc near by is straight to the formula but for its curvature on the sky, which it has as a circle
     * of angles: 1e-3 in low orbit */
    assert_true(fabs(got - want) < (i % 2 ? 4e-3 : 2e-3));
  }
  assert_true(partial > 20);
  /* an annular eclipse by a small body far away */
  double seen = orr_light_visible(v3(4e8, 0, 0), 1.2e6, v3(au, 0, 0), ORR_SUN_RADIUS);
  double part = asin(1.2e6 / 4e8) / asin(ORR_SUN_RADIUS / au);
  assert_true(fabs(seen - (1 - part * part)) < 1e-12);
  assert_true(orr_light_visible(v3(-7e6, 0, 0), earth, v3(au, 0, 0), ORR_SUN_RADIUS) == 1);
  assert_true(orr_light_visible(v3(7e6, 0, 0), earth, v3(au, 0, 0), ORR_SUN_RADIUS) == 0);
  assert_true(orr_light_visible(v3(6e6, 0, 0), earth, v3(au, 0, 0), ORR_SUN_RADIUS) == 0);
}

/* Plates that make a sphere: π R² E/c times 1 absorbing or specular, 1 + 4/9 diffuse; drag ½ ρ cD π R² v². */
static void plates_of_a_sphere_make_the_force_of_a_sphere(void **state) {
  (void)state;
  enum { RINGS = 300, SECTORS = 300 };
  const orr_vec3 from = {0.6, -0.48, 0.64}, v = {-4200, 5300, 3100};
  orr_vec3 light[3] = {{0}}, drag = {0};
  for (int i = 0; i < RINGS; i++)
    for (int j = 0; j < SECTORS; j++) {
      double z = -1 + 2 * (i + 0.5) / RINGS, t = 2 * pi * (j + 0.5) / SECTORS, s = sqrt(1 - z * z);
      struct orr_plate plate = {4 * pi / RINGS / SECTORS, v3(s * cos(t), s * sin(t), z), 0, 0, 2.2};
      drag = v3_add(drag, orr_plate_drag(&plate, 3e-12, v));
      for (int k = 0; k < 3; k++) {
        plate.specular = k == 1;
        plate.diffuse = k == 2;
        light[k] = v3_add(light[k], orr_plate_light(&plate, 1361, from));
      }
    }
  double push = pi * 1361 / ORR_LIGHT_SPEED;
  const double factor[3] = {1, 1, 1 + 4.0 / 9};
  for (int k = 0; k < 3; k++)
    assert_true(v3_norm(v3_madd(light[k], push * factor[k], from)) < 2e-4 * push);
  double want = 0.5 * 3e-12 * 2.2 * pi * v3_norm(v);
  assert_true(v3_norm(v3_madd(drag, want, v)) < 2e-4 * want * v3_norm(v));
}

/* A sphere's surface summed: each piece sends E α cos i cos e / (π d²) by Lambert's law. */
static double lambert(double radius, orr_vec3 at, orr_vec3 sun, double albedo) {
  enum { RINGS = 400, SECTORS = 800 };
  orr_vec3 s = v3_scale(1 / v3_norm(sun), sun);
  double sum = 0, flux = orr_light_irradiance(v3_norm(sun));
  for (int i = 0; i < RINGS; i++)
    for (int j = 0; j < SECTORS; j++) {
      double z = -1 + 2 * (i + 0.5) / RINGS, t = 2 * pi * (j + 0.5) / SECTORS, c = sqrt(1 - z * z);
      orr_vec3 n = v3(c * cos(t), c * sin(t), z), d = v3_madd(at, -radius, n);
      double in = v3_dot(n, s), out = v3_dot(n, d) / v3_norm(d);
      if (in > 0 && out > 0)
        sum += flux * albedo * in * out / (pi * v3_dot(d, d)) * 4 * pi * radius * radius / RINGS / SECTORS;
    }
  return sum;
}

static void reflected_light_of_a_far_planet_is_that_of_a_lambert_sphere(void **state) {
  (void)state;
  const struct orr_planet_light planet = {0.3, 237};
  const double radius = 6378137, far = 4e9;
  const orr_vec3 sun = {149597870700.0, 0, 0};
  for (int i = 0; i <= 8; i++) {
    double t = pi * i / 8;
    orr_vec3 at = v3_scale(far, v3(cos(t), 0, sin(t)));
    double got = orr_light_reflected(&planet, radius, at, sun), want = lambert(radius, at, sun, 0.3);
    assert_true(fabs(got - want) < 0.01 * want + 1e-4 * orr_light_reflected(&planet, radius, v3(far, 0, 0), sun));
  }
  assert_true(fabs(orr_light_irradiance(149597870700.0) - 1361) < 0.2);
  /* all that is emitted passes through every sphere around the planet */
  assert_true(fabs(orr_light_emitted(&planet, radius, far) * far * far / (237 * radius * radius) - 1) < 1e-14);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shadow_agrees_with_rays),
      cmocka_unit_test(plates_of_a_sphere_make_the_force_of_a_sphere),
      cmocka_unit_test(reflected_light_of_a_far_planet_is_that_of_a_lambert_sphere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
