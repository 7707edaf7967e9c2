/* core/environment/sky: what is interpolated against what ERFA says at that moment, and ERFA's own published answers.
 * */
#include "core/environment/sky.h"

#include <erfa.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/prng.h"

static const double au = 149597870700.0;

static struct orr_sky *make(struct orr_sky_desc desc, void **block) {
  size_t bytes = orr_sky_size(desc.duration);
  *block = aligned_alloc(64, bytes);
  assert_null(orr_sky_init(*block, bytes - 1, &desc));
  return orr_sky_init(*block, bytes, &desc);
}

/* The answers of ERFA's own test program, to the digits that it asks for. */
static void the_library_gives_its_published_answers(void **state) {
  (void)state;
  double x, y, s, moon[2][3], sun[2][3], earth[2][3], c[3][3];
  assert_true(fabs(eraEra00(2400000.5, 54388.0) - 0.4022837240028158102) < 1e-12);
  eraXys06a(2400000.5, 53736.0, &x, &y, &s);
  assert_true(fabs(x - 0.5791308482835292617e-3) < 1e-14);
  assert_true(fabs(y - 0.4020580099454020310e-4) < 1e-15);
  assert_true(fabs(s + 0.1220032294164579896e-7) < 1e-18);
  eraMoon98(2400000.5, 43999.9, moon);
  assert_true(fabs(moon[0][0] + 0.2601295959971044180e-2) < 1e-11);
  assert_true(fabs(moon[0][1] - 0.6139750944302742189e-3) < 1e-11);
  assert_true(fabs(moon[0][2] - 0.2640794528229828909e-3) < 1e-11);
  eraEpv00(2400000.5, 53411.52501161, sun, earth);
  assert_true(fabs(sun[0][0] + 0.7757238809297706813) < 1e-14);
  assert_true(fabs(sun[0][1] - 0.5598052241363340596) < 1e-14);
  assert_true(fabs(sun[0][2] - 0.2426998466481686993) < 1e-14);
  eraC2t06a(2400000.5, 53736.0, 2400000.5, 53736.0, 2.55060238e-7, 1.860359247e-6, c);
  assert_true(fabs(c[0][0] + 0.1810332128305897282) < 1e-12);
  assert_true(fabs(c[0][1] - 0.9834769806938592296) < 1e-12);
  assert_true(fabs(c[2][2] - 0.9999998325501747785) < 1e-12);
}

static void sky_agrees_with_erfa_at_any_moment(void **state) {
  (void)state;
  struct orr_sky_desc desc = {.duration = 40 * 86400.0, .central = ORR_EARTH};
  const struct orr_eop eop[3] = {{60000, 1e-6, 2e-6, -0.02}, {60030, 1.5e-6, 1.8e-6, -0.01}, {60080, 1e-6, 1e-6, 0.01}};
  desc.eop = eop;
  desc.eop_count = 3;
  assert_true(orr_sky_epoch(&(struct orr_utc){2023, 2, 26, 3, 4, 5.5}, &desc.epoch)); /* MJD 60001 */
  void *block;
  struct orr_sky *sky = make(desc, &block);
  struct orr_prng prng = {8};
  double moon = 0, added = 0, sun = 0, turn = 0;
  for (int i = 0; i < 300; i++) {
    double t = i == 0 ? 0 : i == 1 ? desc.duration : prng_between(&prng, 0, desc.duration);
    struct orr_sky_now now;
    orr_sky_at(sky, t, &now);
    struct orr_moment at = orr_moment_add(desc.epoch, t);
    double tt1, tt2, utc1, utc2, h[2][3], b[2][3], m[2][3], c[3][3], ut11, ut12;
    eraTaitt(at.tai1, at.tai2, &tt1, &tt2);
    eraTaiutc(at.tai1, at.tai2, &utc1, &utc2);
    double mjd = utc1 - 2400000.5 + utc2;
    const struct orr_eop *e = mjd < 60030 ? eop : eop + 1;
    double part = (mjd - e->mjd) / (e[1].mjd - e->mjd);
    eraUtcut1(utc1, utc2, e->ut1_utc + part * (e[1].ut1_utc - e->ut1_utc), &ut11, &ut12);
    eraC2t06a(tt1, tt2, ut11, ut12, e->x + part * (e[1].x - e->x), e->y + part * (e[1].y - e->y), c);
    eraEpv00(tt1, tt2, h, b);
    eraMoon98(tt1, tt2, m);
    for (int r = 0; r < 3; r++)
      for (int k = 0; k < 3; k++)
        turn = fmax(turn, fabs(now.fixed.m[r][k] - c[r][k]));
    struct orr_sky_desc there = {.epoch = at, .duration = 0, .central = ORR_EARTH}; /* with a node at that moment */
    void *other;
    struct orr_sky_now node;
    orr_sky_at(make(there, &other), 0, &node);
    free(other);
    moon = fmax(moon, v3_norm(v3_sub(now.moon, node.moon)));
    added = fmax(added, v3_norm(v3_madd(node.moon, -au, v3_from(m[0]))));
    sun = fmax(sun, v3_norm(v3_madd(now.sun, au, v3_from(h[0]))));
  }
  print_message("interpolated: Moon %.2g m, Sun %.2g m, axes %.1e; terms beyond ERFA's Moon %.2g km\n", moon, sun, turn,
                1e-3 * added);
  /* a node is off by half a grid in each of three coordinates, what is between them by 1.25 of that; 0.2 m the cubic */
  assert_true(moon < sqrt(3) * 8 * 2.25 + 0.2 && sun < sqrt(3) * 512 * 2.25);
  assert_true(added > 2e3 && added < 20e3); /* what they are worth: tests/all/de405.sh */
  assert_true(turn < 2e-10); /* where two days of orientation meet within an hour there is a kink; else 1e-14 */
  free(block);
}

/* The spin is the angular velocity of the axes. */
static void axes_turn_with_their_spin(void **state) {
  (void)state;
  for (int central = ORR_EARTH; central < ORR_CENTRAL_COUNT; central++) {
    struct orr_sky_desc desc = {.duration = 86400, .central = (enum orr_central)central};
    assert_true(orr_sky_epoch(&(struct orr_utc){2025, 6, 1, 0, 0, 0}, &desc.epoch));
    void *block;
    struct orr_sky *sky = make(desc, &block);
    struct orr_sky_now a, b, mid;
    orr_sky_at(sky, 30000, &a);
    orr_sky_at(sky, 30020, &b);
    orr_sky_at(sky, 30010, &mid);
    /* v_fixed = F v: Ḟ = −ω̃ F in fixed axes, Ḟ Fᵀ = −(Fω)~ */
    orr_mat3 rate = m3_mul(m3_add(b.fixed, (orr_mat3){{{-a.fixed.m[0][0], -a.fixed.m[0][1], -a.fixed.m[0][2]},
                                                       {-a.fixed.m[1][0], -a.fixed.m[1][1], -a.fixed.m[1][2]},
                                                       {-a.fixed.m[2][0], -a.fixed.m[2][1], -a.fixed.m[2][2]}}}),
                           m3_transpose(mid.fixed));
    double spin = rate.m[0][1] / 20;
    assert_true(fabs(spin - v3_norm(mid.spin)) < 1e-4 * spin);
    assert_true(v3_norm(v3_cross(mid.spin, m3_row(mid.fixed, 2))) < 1e-12 * spin);
    free(block);
  }
}

/* The Moon turns one face to the Earth: its prime meridian points there within its librations. */
static void moon_shows_the_earth_its_face(void **state) {
  (void)state;
  struct orr_sky_desc desc = {.duration = 28 * 86400.0, .central = ORR_MOON};
  assert_true(orr_sky_epoch(&(struct orr_utc){2024, 3, 1, 0, 0, 0}, &desc.epoch));
  void *block;
  struct orr_sky *sky = make(desc, &block);
  for (int i = 0; i <= 28; i++) {
    struct orr_sky_now now;
    orr_sky_at(sky, 86400.0 * i, &now);
    orr_vec3 earth = m3_apply(now.fixed, now.earth);
    assert_true(v3_norm(earth) > 3.5e8 && v3_norm(earth) < 4.1e8);
    assert_true(fabs(atan2(earth.y, earth.x)) < 8.2 / 57.3 && fabs(earth.z / v3_norm(earth)) < 6.9 / 57.3);
    assert_true(v3_norm(now.sun) > 1.46e11 && v3_norm(now.moon) == 0);
  }
  free(block);
}

/* Opposition of 16 January 2025: Mars stood 96.08 million km from the Earth on the 12th. */
static void mars_is_where_it_was_at_its_opposition(void **state) {
  (void)state;
  struct orr_sky_desc desc = {.duration = 3600, .central = ORR_MARS};
  assert_true(orr_sky_epoch(&(struct orr_utc){2025, 1, 12, 13, 37, 0}, &desc.epoch));
  void *block;
  struct orr_sky *sky = make(desc, &block);
  struct orr_sky_now now;
  orr_sky_at(sky, 0, &now);
  assert_true(fabs(v3_norm(now.earth) - 96.08e9) < 0.02e9);
  free(block);
}

static void dates_are_judged_and_counted(void **state) {
  (void)state;
  struct orr_moment m;
  assert_false(orr_sky_epoch(&(struct orr_utc){2025, 2, 29, 0, 0, 0}, &m));
  assert_false(orr_sky_epoch(&(struct orr_utc){2025, 13, 1, 0, 0, 0}, &m));
  assert_false(orr_sky_epoch(&(struct orr_utc){2025, 1, 1, 24, 0, 0}, &m));
  assert_false(orr_sky_epoch(&(struct orr_utc){2025, 1, 1, 0, 0, -1}, &m));
  assert_true(orr_sky_epoch(&(struct orr_utc){2016, 12, 31, 23, 59, 60.5}, &m)); /* a leap second */
  assert_true(orr_sky_epoch(&(struct orr_utc){2024, 7, 2, 0, 0, 0}, &m));
  double seconds, day = orr_moment_day_of_year(m, &seconds);
  assert_true(fabs(day - 184) < 1e-9 && (seconds < 1e-3 || seconds > 86399.999));
  assert_true(fabs(orr_moment_year(m) - 2024.5) < 1e-9); /* half of a leap year */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_library_gives_its_published_answers),
      cmocka_unit_test(sky_agrees_with_erfa_at_any_moment),
      cmocka_unit_test(axes_turn_with_their_spin),
      cmocka_unit_test(moon_shows_the_earth_its_face),
      cmocka_unit_test(mars_is_where_it_was_at_its_opposition),
      cmocka_unit_test(dates_are_judged_and_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
