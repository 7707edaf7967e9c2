/* Jams of hinges in closed loops and of hinges that have a motion: against the closed form of a four-bar, against
 * momentum, against a flight that begins at rest where the jam held, and against x(t) itself. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/flight.h"

enum { TEXT = 6000 };

static const char *const methods[] = {"augment", "embed"};
enum { METHODS = sizeof methods / sizeof *methods };

/* ---- a four-bar ---------------------------------------------------------------------------------------------- */

/* Crank, coupler, rocker, and the ground between their pivots, m; angles from y to z. */
static const double CRANK = 0.4, COUPLER = 1.1, ROCKER = 0.8, GROUND = 1.2;

/* The triangle of coupler, rocker and the line from the rocker's pivot to the crank's end. */
static double rocker_of(double crank) {
  double y = CRANK * cos(crank) - GROUND, z = CRANK * sin(crank), d = hypot(y, z);
  return atan2(z, y) - acos((ROCKER * ROCKER + d * d - COUPLER * COUPLER) / (2 * ROCKER * d));
}

static double coupler_of(double crank) {
  double rocker = rocker_of(crank);
  double y = GROUND + ROCKER * cos(rocker) - CRANK * cos(crank), z = ROCKER * sin(rocker) - CRANK * sin(crank);
  return remainder(atan2(z, y) - crank, 2 * acos(-1));
}

/* The crank of a rocker's angle, near `guess`: by bisection of the closed form above, which rises there. */
static double crank_of(double rocker, double guess) {
  double low = guess - 0.3, high = guess + 0.3, sign = rocker_of(high) > rocker_of(low) ? 1 : -1;
  for (int i = 0; i < 100; i++) {
    double middle = 0.5 * (low + high);
    *(sign * (rocker_of(middle) - rocker) < 0 ? &low : &high) = middle;
  }
  return 0.5 * (low + high);
}

/* How fast an angle turns with the crank's. */
static double slope(double (*of)(double), double crank) { return (of(crank + 1e-5) - of(crank - 1e-5)) / 2e-5; }

/* The crank stands at 1 rad, and turns at `speed`; `more` are sections. */
static struct orr_flight four_bar(const char *method, bool flies, const char *gravity, double crank, double speed,
                                  const char *crank_hinge, const char *more) {
  char text[TEXT], start[300];
  snprintf(start, sizeof start, "crank: {q: [%.17g], speed: [%.17g]}, ", crank, speed);
  snprintf(text, sizeof text,
           "orrery: 1\n"
           "spacecraft:\n"
           "  gravity: %s\n"
           "  bodies:\n"
           "    ground: {mass: 10, inertia: [2, 3, 4, 0, 0, 0], hinge: {kind: %s, to: inertial},\n"
           "             nodes: {pivot: {at: [0, 1.2, 0]}}}\n"
           "    crank: {mass: 1.5, com: [0, 0.2, 0], inertia: [0.03, 0.001, 0.03, 0, 0, 0], nodes: {end: {at: [0, 0.4, "
           "0]}},\n"
           "            hinge: {kind: revolute, to: ground.origin, axis: [1, 0, 0]%s}}\n"
           "    coupler: {mass: 2, com: [0, 0.55, 0.05], inertia: [0.2, 0.001, 0.2, 0, 0, 0],\n"
           "              hinge: {kind: revolute, to: crank.end, axis: [1, 0, 0]}, nodes: {end: {at: [0, 1.1, 0]}}}\n"
           "    rocker: {mass: 1.2, com: [0, 0.4, 0], inertia: [0.07, 0.001, 0.07, 0, 0, 0],\n"
           "             hinge: {kind: revolute, to: ground.pivot, axis: [1, 0, 0]}, nodes: {end: {at: [0, 0.8, 0]}}}\n"
           "  loops: [{between: [coupler.end, rocker.end], kind: point, method: %s}]\n"
           "sensors: {crank_at: {kind: hinge_encoder, hinge: crank}, rocker_at: {kind: hinge_encoder, hinge: rocker}}\n"
           "simulation: {step: 5 ms, duration: 10 s, initial: {%scoupler: {q: [%.17g], speed: [%.17g]},\n"
           "  rocker: {q: [%.17g], speed: [%.17g]}}}\n%s\n",
           gravity, flies ? "free" : "fixed", crank_hinge, method, *crank_hinge ? "" : start, coupler_of(crank),
           speed * slope(coupler_of, crank), rocker_of(crank), speed * slope(rocker_of, crank), more);
  return orr_flight_make(text, NULL);
}

static double crank_at(const struct orr_flight *f) { return orr_flight_value(f, "crank_at.position"); }
static double rocker_at(const struct orr_flight *f) { return orr_flight_value(f, "rocker_at.position"); }

/* The rocker slows evenly from the speed that it has: x + v s − ½ v s²/T; the crank goes with it by the closed form. */
static void a_jam_stops_a_four_bar_evenly(void **state) {
  (void)state;
  for (int m = 0; m < METHODS; m++) {
    struct orr_flight f = four_bar(methods[m], false, "[0, 0, 0]", 1, 1, "",
                                   "faults: [{hinge: rocker, at: 500 ms, for: 1 s, jammed: 400 ms}]");
    double rockers[2];
    orr_flight_run(&f, 99);
    rockers[0] = rocker_at(&f);
    orr_flight_run(&f, 1);
    rockers[1] = rocker_at(&f);
    double guess = crank_at(&f), speed = (rockers[1] - rockers[0]) / 0.005;
    assert_true(fabs(speed) > 0.1);
    double travel = 0;
    for (int k = 1; k <= 200; k++) {
      orr_flight_run(&f, 1);
      double s = fmin(0.4, 0.005 * k), way = s - 0.5 * s * s / 0.4;
      double off = rocker_at(&f) - rockers[1];
      if (k == 80)
        travel = off / way;
      guess = crank_of(rocker_at(&f), guess);
      assert_true(fabs(crank_at(&f) - guess) < 1e-9);
      if (travel != 0)
        assert_true(fabs(off - travel * way) < 1e-10); /* held */
      else
        assert_true(fabs(off - speed * way) < 0.02 * fabs(speed) * way);
    }
    /* released, it stays where nothing pulls */
    double held = rocker_at(&f);
    orr_flight_run(&f, 200);
    assert_true(fabs(rocker_at(&f) - held) < 1e-9);
    orr_flight_free(&f);
  }
}

/* After the release gravity takes it from rest, as in a flight that begins there. */
static void released_it_falls_as_from_rest(void **state) {
  (void)state;
  double ends[METHODS];
  for (int m = 0; m < METHODS; m++) {
    struct orr_flight f = four_bar(methods[m], false, "[0, 0, -9.81]", 1, 1, "",
                                   "faults: [{hinge: coupler, at: 100 ms, for: 900 ms, jammed: true}]");
    orr_flight_run(&f, 200);
    double held = crank_at(&f);
    struct orr_flight other = four_bar(methods[1 - m], false, "[0, 0, -9.81]", held, 0, "", "");
    for (int k = 0; k < 200; k++) {
      assert_true(fabs(crank_at(&f) - crank_at(&other)) < 1e-7);
      orr_flight_run(&f, 1);
      orr_flight_run(&other, 1);
    }
    assert_true(fabs(crank_at(&f) - held) > 0.1);
    ends[m] = crank_at(&f);
    orr_flight_free(&f);
    orr_flight_free(&other);
  }
  assert_true(fabs(ends[0] - ends[1]) < 1e-7);
}

static double lost_in_flight(const char *method, const char *hinge, int frames, const char *faults) {
  struct orr_flight f = four_bar(method, true, "[0, 0, 0]", 1, 1, hinge, faults);
  orr_spatial before = orr_flight_momentum(&f);
  orr_flight_run(&f, frames);
  orr_spatial after = orr_flight_momentum(&f);
  assert_true(fabs(before.w.x) > 0.01);
  orr_flight_free(&f);
  return v3_norm(v3_sub(after.w, before.w)) + v3_norm(v3_sub(after.v, before.v));
}

static void jams_in_loops_keep_momentum(void **state) {
  (void)state;
  for (int m = 0; m < METHODS; m++) {
    double lost = lost_in_flight(methods[m], "", 600,
                                 "faults: [{hinge: rocker, at: 500 ms, for: 1 s, jammed: 200 ms},\n"
                                 "         {hinge: crank, at: 1 s, for: 1 s, jammed: 200 ms}]");
    double soft = lost_in_flight(methods[m], "", 600, "");
    if (lost > 1e-8 || soft > 1e-8)
      fail_msg("%s: %g lost with the jam, %g without", methods[m], lost, soft);
  }
}

/* Two jams of a mechanism with one freedom: the first at rest holds, and when it lets go the other one. */
static void a_second_jam_holds_when_the_first_lets_go(void **state) {
  (void)state;
  double ends[METHODS];
  for (int m = 0; m < METHODS; m++) {
    struct orr_flight f = four_bar(methods[m], false, "[0, 0, -9.81]", 1, 1, "",
                                   "faults:\n"
                                   "  - {hinge: rocker, at: 200 ms, for: 1800 ms, jammed: 300 ms}\n"
                                   "  - {hinge: crank, at: 300 ms, for: 700 ms, jammed: true}\n");
    orr_flight_run(&f, 61);
    double held = crank_at(&f);
    for (int k = 0; k < 300; k++) {
      orr_flight_run(&f, 1);
      assert_true(fabs(crank_at(&f) - held) < 1e-9);
    }
    orr_flight_run(&f, 140);
    assert_true(fabs(crank_at(&f) - held) > 0.1);
    ends[m] = crank_at(&f);
    orr_flight_free(&f);
  }
  assert_true(fabs(ends[0] - ends[1]) < 1e-7);
}

/* A crank that must turn and a rocker that cannot: the solver says so in the first frame of the jam. */
static void what_does_not_fit_a_motion_ends_the_run(void **state) {
  (void)state;
  for (int m = 0; m < METHODS; m++) {
    struct orr_flight f = four_bar(methods[m], false, "[0, 0, 0]", 1, 1, ", motion: {polynomial: [1, 1]}",
                                   "faults: [{hinge: rocker, at: 500 ms, jammed: true}]");
    orr_flight_run(&f, 100);
    for (const struct orr_session_stage *stage = orr_session_stages; stage->name; stage++)
      if (orr_session_stage_run(stage, f.session) != 0)
        break;
    assert_true(f.session->status == ORR_ERROR_LOOP_CONFLICT || f.session->status == ORR_ERROR_LOOP_OPEN);
    orr_flight_free(&f);
  }
}

/* What turns the other way by a gear stops with it. */
static void a_jam_stops_what_is_geared_to_it(void **state) {
  (void)state;
  for (int m = 0; m < METHODS; m++) {
    char text[TEXT];
    snprintf(
        text, sizeof text,
        "orrery: 1\n"
        "spacecraft:\n"
        "  bodies:\n"
        "    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
        "    arm: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: bus.origin}}\n"
        "    leg: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: bus.origin}}\n"
        "  loops: [{gear: {hinge: arm, drives: leg, ratio: -2}, method: %s}]\n"
        "sensors: {arm_at: {kind: hinge_encoder, hinge: arm}, leg_at: {kind: hinge_encoder, hinge: leg}}\n"
        "simulation: {step: 10 ms, duration: 10 s, initial: {arm: {speed: [0.3]}, leg: {speed: [-0.6]}}}\n"
        "faults: [{hinge: leg, at: 1 s, jammed: 500 ms}]\n",
        methods[m]);
    struct orr_flight f = orr_flight_make(text, NULL);
    orr_flight_run(&f, 300);
    assert_true(fabs(orr_flight_value(&f, "arm_at.position") - 0.3 * 1.25) < 1e-9);
    assert_true(fabs(orr_flight_value(&f, "leg_at.position") + 0.6 * 1.25) < 1e-9);
    orr_flight_free(&f);
  }
}

/* ---- motions ------------------------------------------------------------------------------------------------- */

static struct orr_flight driven(const char *motion, const char *more) {
  char text[TEXT];
  snprintf(text, sizeof text,
           "orrery: 1\n"
           "spacecraft: {bodies: {\n"
           "  bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}, nodes: {n: {at: [0.3, 0, "
           "0]}}},\n"
           "  arm: {mass: 3, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0],\n"
           "    hinge: {kind: revolute, to: bus.n, axis: [0, 0, 1], motion: %s}}}}\n"
           "sensors: {arm_at: {kind: hinge_encoder, hinge: arm}}\n"
           "simulation: {step: 10 ms, duration: 10 s, initial: {bus: {rate: [0, 0, 0.1]}}}\n%s\n",
           motion, more);
  return orr_flight_make(text, NULL);
}

/* What the clock of the motion shows at t, jammed at `from`, stopped within `over`, released at `to`: time, then the
 * parabola, then what stood, then the parabola back, then time again less what it was jammed. */
static double shown(double t, double from, double over, double to) {
  double s = fmin(fmax(t - from, 0), over), back = fmin(fmax(t - to, 0), over);
  return fmin(t, from) + s - 0.5 * s * s / over + 0.5 * back * back / over + fmax(t - to - over, 0);
}

/* x(c(t)), at each frame; and the sum of all momentum, which knows the arm's speed and acceleration, stays. */
static void a_jam_stops_the_clock_of_a_motion(void **state) {
  (void)state;
  static const struct {
    const char *jammed;
    double over;
  } jams[] = {{"true", 0.01}, {"700 ms", 0.7}};
  for (int j = 0; j < 2; j++) {
    char faults[200];
    snprintf(faults, sizeof faults, "faults: [{hinge: arm, at: 1300 ms, for: 2 s, jammed: %s}]", jams[j].jammed);
    struct orr_flight f = driven("{sine: {amplitude: 0.8 rad, frequency: 0.25 Hz}}", faults);
    orr_spatial before = orr_flight_momentum(&f);
    for (int k = 1; k <= 700; k++) {
      orr_flight_run(&f, 1);
      double wanted = 0.8 * sin(0.5 * acos(-1) * shown(0.01 * k, 1.3, jams[j].over, 3.3));
      if (fabs(orr_flight_value(&f, "arm_at.position") - wanted) > 1e-12)
        fail_msg("frame %d: %.17g, not %.17g", k, orr_flight_value(&f, "arm_at.position"), wanted);
    }
    orr_spatial after = orr_flight_momentum(&f);
    double lost = v3_norm(v3_sub(after.w, before.w)) + v3_norm(v3_sub(after.v, before.v));
    if (lost > (j ? 1e-7 : 1e-5)) /* within one step all of the speed goes: that is the integrator's */
      fail_msg("%s: momentum goes by %g", jams[j].jammed, lost);
    orr_flight_free(&f);
  }
}

/* ---- a gear with backlash --------------------------------------------------------------------------------------- */

/* A shaft of inertia n² J between the two sides of a tooth that stands: free flight across the gap at 1 rad/s, and half
 * waves of sqrt(k/(n² J)) in the teeth. Where it is, from the middle of the gap, t seconds after it was there. */
static double shaft_at(double t) {
  static const double HALF = 0.01, WAVE = 50; /* rad; rad/s: sqrt(625/0.25) */
  double contact = acos(-1) / WAVE, way = 1, until = HALF, from = 0;
  while (t > until + contact) {
    t -= until + contact;
    from = way * HALF;
    way = -way;
    until = 2 * HALF;
  }
  return t <= until ? from + way * t : way * (HALF + sin(WAVE * (t - until)) / WAVE);
}

/* The arm turns at 1 rad/s with its shaft, jams, and stands; the shaft goes on between the teeth and loses nothing. */
static void a_jam_leaves_the_rotor_free_in_its_teeth(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft:\n"
      "  bodies:\n"
      "    arm: {mass: 1, inertia: [0.5, 0.5, 0.5, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: inertial}}\n"
      "actuators: {d: {kind: hinge_motor, hinge: arm, mode: torque,\n"
      "                gear: {ratio: 50, rotor_inertia: 1e-4, backlash: 20 mrad, stiffness: 625}}}\n"
      "simulation: {step: 1 ms, duration: 3 s, initial: {arm: {speed: 1}}}\n"
      "faults: [{hinge: arm, at: 100 ms, for: 1900 ms, jammed: true}]\n",
      "arm.*");
  orr_flight_run(&f, 101);
  double held = orr_flight_value(&f, "arm.q"), lead = orr_flight_value(&f, "d.play");
  assert_true(fabs(held - 0.1005) < 1e-9 && fabs(lead - 5e-4) < 1e-9); /* to rest within a frame of 1 ms */
  for (int k = 0; k <= 1898; k++) {
    assert_true(orr_flight_value(&f, "arm.q") == held);
    if (!(fabs(orr_flight_value(&f, "d.play") - shaft_at(lead + 1e-3 * k)) < 2e-7))
      fail_msg("frame %d: %.9g, not %.9g", k, orr_flight_value(&f, "d.play"), shaft_at(lead + 1e-3 * k));
    orr_flight_run(&f, 1);
  }
  orr_flight_run(&f, 200);
  assert_true(fabs(orr_flight_value(&f, "arm.q") - held) > 1e-3); /* the teeth push it on */
  orr_flight_free(&f);
}

/* A command that changes while the hinge is jammed is followed from there after the release. */
static void a_command_waits_for_the_release(void **state) {
  (void)state;
  static const char more[] = "faults: [{hinge: arm, at: 1 s, for: 2 s, jammed: true}]\n"
                             "commands: [{channel: arm.motion, at: 2 s, value: 0.5}]";
  struct orr_flight f = driven("{command: {over: 1 s}}", more),
                    free_one =
                        driven("{command: {over: 1 s}}", "commands: [{channel: arm.motion, at: 2 s, value: 0.5}]");
  orr_flight_run(&f, 300);
  assert_true(orr_flight_value(&f, "arm_at.position") == 0);
  /* half a frame of its clock passed while it stopped, another half when it was released: at 3.01 s it shows 1.01 s */
  orr_flight_run(&free_one, 200);
  for (int k = 0; k < 150; k++) {
    double s = fmin(1, 0.01 * fmax(0, k - 0.5)), wanted = 0.5 * s * s * s * (10 + s * (6 * s - 15));
    if (k > 0 && fabs(orr_flight_value(&f, "arm_at.position") - wanted) > 1e-12)
      fail_msg("%d frames on: %.17g, not %.17g", k, orr_flight_value(&f, "arm_at.position"), wanted);
    orr_flight_run(&f, 1);
    orr_flight_run(&free_one, 1);
  }
  assert_true(orr_flight_value(&f, "arm_at.position") == 0.5);
  assert_true(orr_flight_value(&free_one, "arm_at.position") == 0.5);
  orr_flight_free(&f);
  orr_flight_free(&free_one);
}

/* ---- saved states -------------------------------------------------------------------------------------------- */

static void goes_on_with_the_same_bits(struct orr_flight whole, struct orr_flight later, int cut, int frames) {
  orr_flight_run(&whole, cut);
  size_t words = orr_session_state_words(whole.session);
  uint64_t *saved = calloc(words, sizeof *saved);
  assert_non_null(saved);
  orr_session_state_get(whole.session, saved);
  orr_flight_run(&later, 3); /* somewhere else */
  assert_int_equal(orr_session_state_put(later.session, saved), ORR_OK);
  orr_flight_run(&whole, frames - cut);
  orr_flight_run(&later, frames - cut);
  assert_true(orr_session_hash(whole.session) == orr_session_hash(later.session));
  free(saved);
  orr_flight_free(&whole);
  orr_flight_free(&later);
}

static void a_saved_state_goes_on_with_the_same_bits(void **state) {
  (void)state;
  static const char loops[] = "faults:\n"
                              "  - {hinge: rocker, at: 200 ms, for: 1 s, jammed: 300 ms}\n"
                              "  - {hinge: crank, at: 300 ms, for: 500 ms, jammed: true}\n"
                              "  - {hinge: coupler, at: 1500 ms, for: 200 ms, jammed: 100 ms}\n";
  static const char motion[] = "faults: [{hinge: arm, at: 500 ms, for: 1 s, jammed: 700 ms}]";
  static const char sine[] = "{sine: {amplitude: 0.8 rad, frequency: 0.25 Hz}}";
  for (int m = 0; m < METHODS; m++)
    for (int cut = 10; cut < 400; cut += 35)
      goes_on_with_the_same_bits(four_bar(methods[m], true, "[0, 0, 0]", 1, 1, "", loops),
                                 four_bar(methods[m], true, "[0, 0, 0]", 1, 1, "", loops), cut, 400);
  for (int cut = 10; cut < 300; cut += 35)
    goes_on_with_the_same_bits(driven(sine, motion), driven(sine, motion), cut, 300);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_jam_stops_a_four_bar_evenly),
      cmocka_unit_test(released_it_falls_as_from_rest),
      cmocka_unit_test(jams_in_loops_keep_momentum),
      cmocka_unit_test(a_second_jam_holds_when_the_first_lets_go),
      cmocka_unit_test(what_does_not_fit_a_motion_ends_the_run),
      cmocka_unit_test(a_jam_stops_what_is_geared_to_it),
      cmocka_unit_test(a_jam_leaves_the_rotor_free_in_its_teeth),
      cmocka_unit_test(a_jam_stops_the_clock_of_a_motion),
      cmocka_unit_test(a_command_waits_for_the_release),
      cmocka_unit_test(a_saved_state_goes_on_with_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
