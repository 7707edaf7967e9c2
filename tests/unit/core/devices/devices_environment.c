/* core/devices in an environment: each against the channel that tells the truth, with the spectrum of its noise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/plant/world.h"
#include "tests/support/fields.h"
#include "tests/support/flight.h"

/* A bus in low orbit over a dipole's field, turned, with the devices of `rest`. */
static struct orr_flight fly(const char *rest, const char *initial, const char *environment) {
  static char text[4096];
  snprintf(text, sizeof text,
           "orrery: 1\nspacecraft: {bodies: {bus: {mass: 10, inertia: [2, 3, 4, 0, 0, 0], hinge: {kind: free, to: "
           "inertial},\n"
           "  nodes: {n: {at: [0.1, 0, 0]}}}}}\n"
           "environment: {epoch: \"2025-03-20T12:00:00\", gravity: central, magnetic_field: {file: wmm.cof}, eclipse: "
           "conical%s}\n"
           "simulation: {step: 100 ms, duration: 6000 s, initial: {bus: {%s}}}\n%s",
           environment, initial, rest);
  return orr_flight_in_field(text, "*");
}

static const char turned[] = "attitude: [0.1, 0.2, 0.3, 0.927361849549570], "
                             "orbit: {elements: {semi_major_axis: 6878 km, inclination: 51.6 deg, anomaly: 20 deg}}";

/* Mean, deviation and the correlation of neighbours: white noise has a flat spectrum. */
struct noise {
  double sum, square, next, last;
  int count;
};

static void take(struct noise *n, double x) {
  n->sum += x;
  n->square += x * x;
  n->next += n->count ? x * n->last : 0;
  n->last = x;
  n->count++;
}

static void is_white(const struct noise *n, double sigma) {
  double error = 5 / sqrt(n->count);
  assert_true(fabs(n->sum / n->count) < error * sigma);
  assert_true(fabs(n->square / n->count / (sigma * sigma) - 1) < error * sqrt(2));
  assert_true(fabs(n->next / n->count) < error * sigma * sigma);
}

static void a_magnetometer_feels_the_field_with_white_noise(void **state) {
  (void)state;
  struct orr_flight f =
      fly("sensors: {mag: {kind: magnetometer, node: bus.n, rate: 10 Hz},\n"
          "  noisy: {kind: magnetometer, node: bus.n, rate: 10 Hz, noise: {density: 30 nT sqrt(s)}},\n"
          "  wrong: {kind: magnetometer, node: bus.n, rate: 10 Hz, bias: [1 uT, 0, 0], range: 1 uT}}\n",
          turned, "");
  struct noise n = {0};
  for (int i = 0; i < 3000; i++) {
    orr_vec3 truth = orr_flight_vector(&f, "environment.magnetic_field"), felt = orr_flight_vector(&f, "mag.field");
    assert_true(v3_norm(v3_sub(m3_apply(orr_flight_turn(&f, "bus.attitude"), felt), truth)) < 1e-11);
    take(&n, orr_flight_vector(&f, "noisy.field").y - felt.y);
    orr_flight_run(&f, 1);
  }
  is_white(&n, 30e-9 / sqrt(0.1));
  assert_true(fabs(orr_flight_vector(&f, "wrong.field").y) <= 1e-6 && orr_flight_value(&f, "wrong.saturated") == 1);
  orr_flight_free(&f);
}

static void sun_sensors_see_the_sun_until_the_eclipse(void **state) {
  (void)state;
  struct orr_flight f =
      fly("sensors: {fine: {kind: sun_sensor, node: bus.n, rate: 10 Hz, boresight: [1, 0, 0], view: 80 deg},\n"
          "  blind: {kind: sun_sensor, node: bus.n, rate: 10 Hz, boresight: [-1, 0, 0]},\n"
          "  noisy: {kind: sun_sensor, node: bus.n, rate: 10 Hz, boresight: [1, 0, 0], view: 80 deg, noise: 1 mrad},\n"
          "  cell: {kind: coarse_sun_sensor, node: bus.n, rate: 10 Hz, boresight: [0, 0, 1], scale: 2}}\n",
          turned, "");
  struct noise n = {0};
  int lit = 0, dark = 0;
  for (int i = 0; i < 5000; i++) {
    orr_vec3 truth = m3_apply_t(orr_flight_turn(&f, "bus.attitude"), orr_flight_vector(&f, "environment.sun")),
             seen = orr_flight_vector(&f, "fine.direction");
    double light = orr_flight_value(&f, "environment.sunlight");
    assert_true(fabs(orr_flight_value(&f, "cell.current") - 2 * light * fmax(0, truth.z)) < 1e-9);
    assert_true(orr_flight_value(&f, "blind.valid") == 0);
    if (light == 1) {
      assert_true(orr_flight_value(&f, "fine.valid") == 1 && v3_norm(v3_sub(seen, truth)) < 1e-9);
      orr_vec3 off = v3_cross(truth, orr_flight_vector(&f, "noisy.direction")), across = v3_cross(truth, v3(0, 0, 1));
      take(&n, v3_dot(off, across) / v3_norm(across));
      lit++;
    } else if (light == 0) {
      assert_true(orr_flight_value(&f, "fine.valid") == 0);
      dark++;
    }
    orr_flight_run(&f, i % 500 == 499 ? 3000 : 1);
  }
  assert_true(lit > 1000 && dark > 1000);
  is_white(&n, 1e-3);
  orr_flight_free(&f);
}

static void a_horizon_sensor_finds_the_way_down(void **state) {
  (void)state;
  struct orr_flight f =
      fly("sensors: {down: {kind: horizon_sensor, node: bus.n, rate: 10 Hz, boresight: [-1, 0, 0], view: 100 deg},\n"
          "  up: {kind: horizon_sensor, node: bus.n, rate: 10 Hz, boresight: [1, 0, 0]},\n"
          "  noisy: {kind: horizon_sensor, node: bus.n, rate: 10 Hz, boresight: [-1, 0, 0], view: 100 deg, noise: 2 "
          "mrad}}\n",
          turned, "");
  struct noise n = {0};
  for (int i = 0; i < 2000; i++) {
    orr_vec3 r = v3_add(orr_flight_vector(&f, "bus.orbit_position"),
                        m3_apply(orr_flight_turn(&f, "bus.attitude"), v3(0.1, 0, 0)));
    orr_vec3 truth = m3_apply_t(orr_flight_turn(&f, "bus.attitude"), v3_scale(-1 / v3_norm(r), r)),
             across = v3_cross(truth, v3(0, 0, 1));
    assert_true(orr_flight_value(&f, "down.valid") == 1 && orr_flight_value(&f, "up.valid") == 0);
    assert_true(v3_norm(v3_sub(orr_flight_vector(&f, "down.nadir"), truth)) < 1e-12);
    take(&n, v3_dot(v3_cross(truth, orr_flight_vector(&f, "noisy.nadir")), across) / v3_norm(across));
    orr_flight_run(&f, 1);
  }
  is_white(&n, 2e-3);
  orr_flight_free(&f);
}

/* Its velocity is the rate of its position, in axes that turn. */
static void a_receiver_knows_where_it_is_but_in_an_outage(void **state) {
  (void)state;
  struct orr_flight f =
      fly("sensors: {gps: {kind: gps_receiver, node: bus.n, rate: 10 Hz, outage: {from: 100 s, for: 20 s}},\n"
          "  noisy: {kind: gps_receiver, node: bus.n, rate: 10 Hz, dropout: 0.25, noise: {position: 5 m, velocity: 0.1 "
          "m/s, time: 50 ns}}}\n",
          turned, "");
  struct noise n = {0};
  int lost = 0, out = 0;
  orr_vec3 places[2] = {{0}}, speed = {0};
  for (int i = 0; i < 3000; i++) {
    orr_vec3 p = orr_flight_vector(&f, "gps.position"), v = orr_flight_vector(&f, "gps.velocity");
    double t = 0.1 * i;
    bool valid = orr_flight_value(&f, "gps.valid") == 1;
    assert_true(valid == !(t >= 99.99 && t < 119.99));
    out += !valid;
    if (valid) {
      assert_true(fabs(v3_norm(p) - v3_norm(orr_flight_vector(&f, "bus.orbit_position"))) < 0.11);
      assert_true(fabs(orr_flight_value(&f, "gps.time") - t) < 1e-9);
    }
    if (i > 1 && t < 99) /* differences over two samples are the speed at the one between */
      assert_true(v3_norm(v3_sub(v3_scale(5, v3_sub(p, places[0])), speed)) < 1e-3);
    places[0] = places[1];
    places[1] = p;
    speed = v;
    if (orr_flight_value(&f, "noisy.valid") == 1 && valid)
      take(&n, orr_flight_vector(&f, "noisy.position").z - p.z);
    lost += orr_flight_value(&f, "noisy.valid") == 0;
    orr_flight_run(&f, 1);
  }
  assert_int_equal(out, 200);
  assert_true(abs(lost - 750) < 5 * 24);
  is_white(&n, 5);
  orr_flight_free(&f);
}

/* I ω̇ = m × B at rest, and a command beyond the rod's limit counts as the limit. */
static void a_magnetorquer_turns_by_its_dipole_across_the_field(void **state) {
  (void)state;
  struct orr_flight f =
      fly("actuators: {rod: {kind: magnetorquer, node: bus.n, axis: [0, 1, 0], max_dipole: 0.5 A m^2}}\n",
          "orbit: {elements: {semi_major_axis: 42164 km, inclination: 0 deg}}", "");
  orr_vec3 field = orr_flight_vector(&f, "environment.magnetic_field"), torque = v3_cross(v3(0, 0.5, 0), field);
  for (int i = 0; i < 10; i++) {
    orr_flight_command(&f, "rod.dipole", 2);
    orr_flight_run(&f, 1);
  }
  orr_vec3 rate = orr_flight_vector(&f, "bus.rate");
  assert_true(fabs(rate.x / (torque.x / 2) - 1) < 1e-3 && fabs(rate.z / (torque.z / 4) - 1) < 1e-3);
  assert_true(fabs(rate.y) < 1e-3 * fabs(rate.x));
  orr_flight_free(&f);
}

/* A rod with a dipole that stays swings about the field like a compass: √(m B/I). */
static void a_dipole_swings_about_the_field_by_its_closed_form(void **state) {
  (void)state;
  struct orr_flight f =
      fly("actuators: {rod: {kind: magnetorquer, node: bus.n, axis: [0, 0, 1], residual: [0, 0, 4e6]}}\n",
          "orbit: {elements: {semi_major_axis: 42164 km, inclination: 0 deg}}", "");
  orr_vec3 b = orr_flight_vector(&f, "environment.magnetic_field"), axis = v3_cross(v3(0, 0, 1), b);
  double strength = v3_norm(b), swing = sqrt(4e6 * strength / 3), angle = atan2(v3_norm(axis), b.z), along[4], off[4],
         start[4];
  orr_flight_free(&f);
  /* z along the field, then 0.02 rad about y, of inertia 3 */
  quat_exp(v3_scale(angle / v3_norm(axis), axis), along);
  quat_exp(v3(0, 0.02, 0), off);
  quat_mul(along, off, start);
  char initial[256];
  snprintf(initial, sizeof initial,
           "attitude: [%.17g, %.17g, %.17g, %.17g], orbit: {elements: {semi_major_axis: 42164 km, inclination: 0 deg}}",
           start[0], start[1], start[2], start[3]);
  f = fly("actuators: {rod: {kind: magnetorquer, node: bus.n, axis: [0, 0, 1], residual: [0, 0, 4e6]}}\n", initial, "");
  double worst = 0;
  for (int i = 1; i <= 200; i++) {
    orr_flight_run(&f, 1);
    orr_mat3 r = m3_mul(m3_transpose(quat_matrix(along)), orr_flight_turn(&f, "bus.attitude"));
    worst = fmax(worst, fabs(atan2(r.m[0][2], r.m[2][2]) - 0.02 * cos(swing * 0.1 * i)));
  }
  print_message("compass of %.2f rad/s over 20 s: within %.1e rad of 0.02\n", swing, worst);
  assert_true(swing * 20 > 3 && worst < 4e-4);
  orr_flight_free(&f);
}

/* Rods that push against the change of the field as the body feels it, m = −G Ḃ/B², brake a body of the inertia I
 * across the field and leave what turns about it: with Ḃ = B × ω, I ω̇ = m × B = −G (ω − b (b·ω)), so that what is
 * across falls as exp(−G t/I). The field of a geostationary orbit stands still for so long, but for 3 mrad. */
static void rods_take_the_rate_across_the_field_by_its_closed_form(void **state) {
  (void)state;
  const double gain = 0.3, inertia = 3, dt = 0.005;
  static const char *const axes = "xyz";
  struct orr_flight f = orr_flight_in_field(
      "orrery: 1\nspacecraft: {bodies: {bus: {mass: 10, inertia: [3, 3, 3, 0, 0, 0], hinge: {kind: free, to: "
      "inertial},\n"
      "  nodes: {n: {at: [0, 0, 0]}}}}}\n"
      "environment: {epoch: \"2025-03-20T12:00:00\", gravity: central, magnetic_field: {file: wmm.cof}}\n"
      "actuators:\n"
      "  rod_x: {kind: magnetorquer, node: bus.n, axis: [1, 0, 0]}\n"
      "  rod_y: {kind: magnetorquer, node: bus.n, axis: [0, 1, 0]}\n"
      "  rod_z: {kind: magnetorquer, node: bus.n, axis: [0, 0, 1]}\n"
      "sensors: {mag: {kind: magnetometer, node: bus.n, rate: 200 Hz}}\n"
      "simulation: {step: 5 ms, duration: 60 s, initial: {bus: {rate: [0.2, -0.1, -0.05], attitude: [0.1, 0.2, 0.3, "
      "0.927361849549570], orbit: {elements: {semi_major_axis: 42164 km, inclination: 0 deg}}}}}\n",
      "*");
  orr_vec3 field = orr_flight_vector(&f, "environment.magnetic_field"), b = v3_scale(1 / v3_norm(field), field),
           start = m3_apply(orr_flight_turn(&f, "bus.attitude"), orr_flight_vector(&f, "bus.rate")),
           along = v3_scale(v3_dot(b, start), b), across = v3_sub(start, along), last = {0};
  double worst = 0;
  for (int i = 0; i <= 6000; i++) {
    orr_vec3 felt = orr_flight_vector(&f, "mag.field"),
             rate = m3_apply(orr_flight_turn(&f, "bus.attitude"), orr_flight_vector(&f, "bus.rate")),
             want = v3_madd(along, exp(-gain * dt * i / inertia), across);
    worst = fmax(worst, v3_norm(v3_sub(rate, want)));
    orr_vec3 m = i ? v3_scale(-gain / (dt * v3_dot(felt, felt)), v3_sub(felt, last)) : v3_zero();
    const double dipole[3] = {m.x, m.y, m.z};
    for (int k = 0; k < 3; k++) {
      char name[16];
      snprintf(name, sizeof name, "rod_%c.dipole", axes[k]);
      orr_flight_command(&f, name, dipole[k]);
    }
    last = felt;
    orr_flight_run(&f, 1);
  }
  print_message("rates of %.3f rad/s, %.3f of it across the field, over 30 s of rods: within %.1e rad/s\n",
                v3_norm(start), v3_norm(across), worst);
  assert_true(v3_norm(across) > 0.1 && v3_norm(along) > 0.1 && worst < 1e-3 * v3_norm(across));
  orr_flight_free(&f);
}

/* ---- star trackers that are blinded ------------------------------------------------------------------------------ */

static double between(orr_vec3 a, orr_vec3 b) {
  return acos(fmax(-1, fmin(1, v3_dot(a, b) / v3_norm(a) / v3_norm(b))));
}

/* 1 where it blinds, 0 where not, −1 too near to tell. */
static int should_blind(orr_vec3 boresight, orr_vec3 to, double radius, double exclusion) {
  double edge = between(boresight, to) - asin(radius / v3_norm(to));
  return fabs(edge - exclusion) < 1e-6 ? -1 : edge < exclusion;
}

static void sun_earth_and_moon_blind_a_star_tracker(void **state) {
  (void)state;
  static const char *const names[] = {"sun", "earth", "moon"};
  static const double angles[] = {75, 10, 60}, radii[] = {6.957e8, 6.3781e6, 1.7374e6};
  for (int k = 0; k < 3; k++) {
    char text[512];
    snprintf(text, sizeof text,
             "sensors: {st: {kind: star_tracker, node: bus.n, rate: 10 Hz, boresight: [0, 0.6, 0.8], exclusion: {%s: "
             "%g deg}}}\n",
             names[k], angles[k]);
    struct orr_flight f = fly(
        text, "rate: [0.05, 0.02, 0.003], orbit: {elements: {semi_major_axis: 6878 km, inclination: 51.6 deg}}", "");
    int blind = 0, sees = 0, dark = 0;
    for (int i = 0; i < 4000; i++) {
      orr_vec3 at = orr_flight_vector(&f, "bus.orbit_position"),
               boresight = m3_apply(orr_flight_turn(&f, "bus.attitude"), v3(0, 0.6, 0.8));
      const orr_vec3 to[] = {v3_scale(1.4895e11, orr_flight_vector(&f, "environment.sun")), v3_neg(at),
                             v3_sub(f.session->ws->world->now.sky.moon, at)};
      int should = should_blind(boresight, to[k], radii[k], angles[k] / 57.29577951308232);
      bool shadow = k == 0 && orr_flight_value(&f, "environment.sunlight") == 0;
      dark += shadow && should == 1;
      double said = orr_flight_value(&f, "st.blinded");
      assert_true(should < 0 || said == (should && !shadow));
      assert_true(orr_flight_value(&f, "st.valid") == 1 - said);
      blind += said == 1;
      sees += said == 0;
      orr_flight_run(&f, 13);
    }
    print_message("%s: blind in %d of 4000 frames\n", names[k], blind);
    assert_true(blind > 50 && sees > 50 && (k || dark > 10));
    orr_flight_free(&f);
  }
}

/* In a world an accelerometer is another kind, and breaks like any. */
static void an_accelerometer_in_orbit_takes_faults(void **state) {
  (void)state;
  struct orr_flight f = fly("sensors: {acc: {kind: accelerometer, node: bus.n, bias: [1, 0, 0]}}\n"
                            "faults: [{device: acc, at: 1 s, dead: true}]\n",
                            turned, "");
  assert_true(orr_flight_value(&f, "acc.acceleration.x") > 0.9); /* `fly` ends where a file is refused */
  orr_flight_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_magnetometer_feels_the_field_with_white_noise),
      cmocka_unit_test(sun_sensors_see_the_sun_until_the_eclipse),
      cmocka_unit_test(a_horizon_sensor_finds_the_way_down),
      cmocka_unit_test(a_receiver_knows_where_it_is_but_in_an_outage),
      cmocka_unit_test(a_magnetorquer_turns_by_its_dipole_across_the_field),
      cmocka_unit_test(a_dipole_swings_about_the_field_by_its_closed_form),
      cmocka_unit_test(rods_take_the_rate_across_the_field_by_its_closed_form),
      cmocka_unit_test(sun_earth_and_moon_blind_a_star_tracker),
      cmocka_unit_test(an_accelerometer_in_orbit_takes_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
