/* Given motions of hinges and loops against closed forms: by every integrator, by both methods, by command, from saved
 * states. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/plant/integrate.h"
#include "tests/support/flight.h"

#define NEAR(a, b, eps) assert_true(fabs(1.0 * (a)-1.0 * (b)) <= (eps))

enum { TEXT = 4000 };

static const double TAU = 6.283185307179586476925;
static const char *const methods[] = {"embed", "augment"};

/* ---- hinges ------------------------------------------------------------------------------------------------------ */

/* A wheel of 3 kg m² driven by a sine on a body of 5 kg m² that floats, or with semi_implicit, which takes none that
 * do, turns on a bearing: q is the sine, and what the wheel turns, the body turns back by 3/8. */
static void a_driven_hinge_is_exact_and_its_base_turns_back(void **state) {
  (void)state;
  for (int rule = 0; rule < ORR_INTEGRATOR_COUNT; rule++) {
    char text[TEXT];
    snprintf(
        text, sizeof text,
        "orrery: 1\n"
        "spacecraft:\n"
        "  bodies:\n"
        "    bus: {mass: 5, inertia: [5, 5, 5, 0, 0, 0], hinge: {%s, to: inertial}}\n"
        "    arm: {mass: 1, inertia: [3, 3, 3, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [0, 0, 1],\n"
        "      motion: {sine: {amplitude: 20 deg, frequency: 0.5 Hz, phase: 90 deg, offset: 5 deg}}}}\n"
        "simulation: {step: 1 ms, integrator: %s}\n",
        rule == ORR_SEMI_IMPLICIT ? "kind: revolute, axis: [0, 0, 1]" : "kind: free", orr_integrator_names[rule]);
    struct orr_flight f = orr_flight_make(text, "*");
    double w = TAU / 2, amplitude = 20 * TAU / 360, offset = 5 * TAU / 360, worst = 0, exact = 0;
    for (int n = 0; n <= 3000; n++) {
      double t = 0.001 * n, angle = w * t + TAU / 4;
      exact = fmax(exact, fabs(orr_flight_value(&f, "arm.q") - (offset + amplitude * sin(angle))));
      exact = fmax(exact, fabs(orr_flight_value(&f, "arm.speed") - w * amplitude * cos(angle)));
      worst = fmax(worst, fabs(orr_flight_value(&f, "bus.rate.z") + 3.0 / 8 * w * amplitude * cos(angle)));
      orr_flight_run(&f, 1);
    }
    printf("# driven arm, %s: q and its rate within %.1e, the body's rate within %.1e rad/s of the closed form\n",
           orr_integrator_names[rule], exact, worst);
    assert_true(exact < 1e-15 * 10);
    assert_true(worst < (rule == ORR_RK4 ? 1e-13 : rule == ORR_SEMI_IMPLICIT ? 2e-3 : 2e-6));
    orr_flight_free(&f);
  }
}

/* The acceleration jumps where a table begins and ends; no rule notices, where these are ends of steps. */
static void a_table_begins_and_ends_without_a_trace(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft:\n"
      "  bodies:\n"
      "    bus: {mass: 5, inertia: [5, 5, 5, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
      "    arm: {mass: 1, inertia: [3, 3, 3, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [0, 0, 1],\n"
      "      motion: {table: [[0.1 s, 10 deg], [0.5 s, 40 deg], [0.7 s, 30 deg], [1.1 s, 90 deg]]}}}\n"
      "simulation: {step: 10 ms}\n",
      "*");
  NEAR(orr_flight_value(&f, "arm.q"), 10 * TAU / 360, 1e-15);
  double worst = 0, turned = 0;
  for (int n = 0; n < 150; n++) {
    worst = fmax(worst, fabs(5 * orr_flight_value(&f, "bus.rate.z") +
                             3 * (orr_flight_value(&f, "bus.rate.z") + orr_flight_value(&f, "arm.speed"))));
    turned = fmax(turned, fabs(orr_flight_value(&f, "bus.rate.z")));
    orr_flight_run(&f, 1);
  }
  printf("# arm by a table at 10 ms: momentum within %.1e N m s of zero, the body turned at %.2f rad/s\n", worst,
         turned);
  assert_true(worst < 1e-14 * 10 && turned > 0.5);
  NEAR(orr_flight_value(&f, "arm.q"), TAU / 4, 1e-15);
  NEAR(orr_flight_value(&f, "arm.speed"), 0, 0);
  NEAR(orr_flight_value(&f, "bus.rate.z"), 0, 1e-13);
  orr_flight_free(&f);
}

/* Two coordinates, an angle by a polynomial and a slide by a sine. */
static void each_coordinate_has_a_motion_of_its_own(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(
      "orrery: 1\n"
      "spacecraft:\n"
      "  bodies:\n"
      "    screw: {mass: 5, inertia: [5, 5, 5, 0, 0, 0], hinge: {kind: cylindrical, to: inertial, axis: [0, 1, 0],\n"
      "      motion: [{polynomial: [0.1, 0, 0.3, -0.2]}, {sine: {amplitude: 20 mm, frequency: 2 Hz}}]}}\n"
      "simulation: {step: 5 ms}\n",
      "*");
  orr_flight_run(&f, 100);
  NEAR(orr_flight_value(&f, "screw.q[0]"), 0.1 + 0.3 * 0.25 - 0.2 * 0.125, 1e-15);
  NEAR(orr_flight_value(&f, "screw.speed[0]"), 0.6 * 0.5 - 0.6 * 0.25, 1e-15);
  NEAR(orr_flight_value(&f, "screw.q[1]"), 0.02 * sin(TAU * 1.0), 1e-15);
  NEAR(orr_flight_value(&f, "screw.speed[1]"), 0.02 * 2 * TAU, 1e-14);
  NEAR(orr_flight_value(&f, "screw.origin.angular_acceleration.y"), 0.6 - 1.2 * 0.5, 1e-12);
  orr_flight_free(&f);
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* A slide of 3 kg along x whose node is 0.6 m off the line, pushed by a rod of L = 1 + 0.2 sin(3t) m from the origin:
 * x = √(L² − 0.36), and the rod's force S pushes by m ẍ = S x/L. */
static void a_driven_distance_moves_a_slide(void **state) {
  (void)state;
  for (int rule = 0; rule < ORR_INTEGRATOR_COUNT; rule++)
    for (int k = 0; k < 2; k++) {
      char text[TEXT];
      snprintf(text, sizeof text,
               "orrery: 1\n"
               "spacecraft:\n"
               "  bodies:\n"
               "    wall: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: fixed, to: inertial}}\n"
               "    slide: {mass: 3, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, to: inertial, axis: [1, 0, "
               "0]}, nodes: {eye: {at: [0, 0.6, 0]}}}\n"
               "  loops: [{name: jack, between: [wall.origin, slide.eye], kind: distance, method: %s,\n"
               "    motion: {sine: {amplitude: 0.2 m, frequency: %.17g Hz, offset: 1 m}}}]\n"
               "simulation: {step: 1 ms, integrator: %s, initial: {slide: {q: [0.7]}}}\n",
               methods[k], 3 / TAU, orr_integrator_names[rule]);
      struct orr_flight f = orr_flight_make(text, "*");
      double worst = 0, force = 0;
      for (int n = 0; n <= 2000; n++) {
        double t = 0.001 * n, l = 1 + 0.2 * sin(3 * t), l1 = 0.6 * cos(3 * t), l2 = -1.8 * sin(3 * t);
        double x = sqrt(l * l - 0.36), x1 = l * l1 / x, x2 = (l1 * l1 + l * l2 - x1 * x1) / x;
        worst = fmax(worst, fabs(orr_flight_value(&f, "slide.q") - x));
        worst = fmax(worst, fabs(orr_flight_value(&f, "slide.speed") - x1));
        force = fmax(force, fabs(orr_flight_value(&f, "loops.jack.force") - 3 * x2 * l / x));
        orr_flight_run(&f, 1);
      }
      printf("# jack, %s, %s: place and rate within %.1e, its force within %.1e N of the closed form\n", methods[k],
             orr_integrator_names[rule], worst, force);
      assert_true(worst < 1e-11 && force < 1e-10);
      NEAR(orr_flight_value(&f, "loops.jack.determined"), 1, 0);
      orr_flight_free(&f);
    }
}

/* A crank driven by a table turns a slide by a rod of 0.5 m: x = r cos θ + √(l² − r² sin² θ). */
static void a_driven_crank_moves_its_slide(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(
        text, sizeof text,
        "orrery: 1\n"
        "spacecraft:\n"
        "  bodies:\n"
        "    crank: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: inertial, axis: [0, 0, 1],\n"
        "      motion: {table: [[0, 0.3], [1, 4], [2, 3]]}}, nodes: {pin: {at: [0.2, 0, 0]}}}\n"
        "    rod: {mass: 0.5, com: [0.25, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], hinge: {kind: revolute, to: "
        "crank.pin, axis: [0, 0, 1]}, nodes: {end: {at: [0.5, 0, 0]}}}\n"
        "    slide: {mass: 3, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, to: inertial, axis: [1, 0, "
        "0]}}\n"
        "  loops: [{name: pin, between: [rod.end, slide.origin], kind: revolute, axis: [0, 0, 1], method: %s}]\n"
        "simulation: {step: 1 ms, initial: {rod: {q: [-0.4]}, slide: {q: [0.7]}}}\n",
        methods[k]);
    struct orr_flight f = orr_flight_make(text, "*");
    double worst = 0, power = 0;
    for (int n = 0; n <= 2500; n++) {
      double theta = orr_flight_value(&f, "crank.q"), side = 0.2 * sin(theta);
      worst = fmax(worst, fabs(orr_flight_value(&f, "slide.q") - 0.2 * cos(theta) - sqrt(0.25 - side * side)));
      orr_flight_run(&f, 1);
      power = fmax(power, fabs(orr_flight_value(&f, "loops.pin.force.x")));
    }
    printf("# crank and slide, %s: within %.1e m of the closed form, up to %.1f N on the pin\n", methods[k], worst,
           power);
    assert_true(worst < 1e-12 && power > 1);
    NEAR(orr_flight_value(&f, "crank.q"), 3, 0);
    orr_flight_free(&f);
  }
}

/* Two floating bodies of 2 and 3 kg m², joined at their mass centres by a joint whose angle is x = 0.4 (1 − cos 2t):
 * they turn against each other, and the joint's moment is 6/5 ẍ on the second. */
static void a_driven_joint_turns_two_bodies_apart(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "orrery: 1\n"
             "spacecraft:\n"
             "  bodies:\n"
             "    a: {mass: 4, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
             "    b: {mass: 6, inertia: [3, 3, 3, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
             "  loops: [{name: joint, between: [a.origin, b.origin], kind: revolute, axis: [0, 0, 1], method: %s,\n"
             "    motion: {sine: {amplitude: 0.4, frequency: %.17g Hz, phase: -90 deg, offset: 0.4}}}]\n"
             "simulation: {step: 1 ms}\n",
             methods[k], 2 / TAU);
    struct orr_flight f = orr_flight_make(text, "*");
    double worst = 0, moment = 0, other = 0;
    for (int n = 0; n <= 4000; n++) {
      double t = 0.001 * n, v = 0.8 * sin(2 * t), a = 1.6 * cos(2 * t), x = 0.4 * (1 - cos(2 * t));
      worst = fmax(worst, fabs(orr_flight_value(&f, "b.rate.z") - 0.4 * v));
      worst = fmax(worst, fabs(orr_flight_value(&f, "a.rate.z") + 0.6 * v));
      worst = fmax(worst, fabs(orr_flight_value(&f, "b.attitude.z") - sin(0.2 * x)));
      moment = fmax(moment, fabs(orr_flight_value(&f, "loops.joint.moment.z") - 1.2 * a));
      other = fmax(other, fabs(orr_flight_value(&f, "loops.joint.moment.x")) +
                              fabs(orr_flight_value(&f, "loops.joint.force.y")));
      orr_flight_run(&f, 1);
    }
    printf("# driven joint, %s: within %.1e of the closed form, its moment within %.1e N m\n", methods[k], worst,
           moment);
    assert_true(worst < 1e-11 && moment < 1e-10 && other < 1e-10);
    orr_flight_free(&f);
  }
}

/* Rotors of 2 and 0.5 kg m² on a differential gear, q_b = −3 q_a + x: its force is ẍ/(1/0.5 + 9/2). */
static void a_driven_gear_turns_both_its_wheels(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "orrery: 1\n"
             "spacecraft:\n"
             "  bodies:\n"
             "    a: {mass: 1, inertia: [1, 1, 2, 0, 0, 0], hinge: {kind: revolute, to: inertial, axis: [0, 0, 1]}}\n"
             "    b: {mass: 1, inertia: [1, 1, 0.5, 0, 0, 0], hinge: {kind: revolute, to: inertial, axis: [0, 0, 1]}}\n"
             "  loops: [{gear: {hinge: a, drives: b, ratio: -3}, method: %s, motion: {polynomial: [0, 0, 0.35]}}]\n"
             "simulation: {step: 10 ms}\n",
             methods[k]);
    struct orr_flight f = orr_flight_make(text, "*");
    orr_flight_run(&f, 100);
    double force = 0.7 / (2 + 9 / 2.0);
    NEAR(orr_flight_value(&f, "loops.loop0.moment"), force, 1e-12);
    NEAR(orr_flight_value(&f, "b.q"), 0.5 * force / 0.5, 1e-12);
    NEAR(orr_flight_value(&f, "a.q"), 0.5 * 3 * force / 2, 1e-12);
    orr_flight_free(&f);
  }
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static const char commanded[] =
    "orrery: 1\n"
    "spacecraft:\n"
    "  bodies:\n"
    "    bus: {mass: 5, inertia: [5, 5, 5, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
    "    arm: {mass: 1, inertia: [3, 3, 3, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [0, 0, 1], motion: "
    "{command: {over: 0.5 s}}}, nodes: {eye: {at: [1, 0, 0]}}}\n"
    "    boom: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, to: bus.origin, axis: [0, 0, 1]}, "
    "nodes: "
    "{eye: {at: [0, 1, 0]}}}\n"
    "    flap: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.origin, axis: [1, 0, 0], motion: "
    "{table: [[0, 0], [1, 0.5]], starts: by_command}}}\n"
    "  loops: [{name: jack, between: [bus.origin, boom.eye], kind: distance, method: augment, motion: {command: {over: "
    "200 ms, from: 1.25 m}}}]\n"
    "simulation: {step: 10 ms, initial: {arm: {q: [0.2]}, boom: {q: [0.75]}}}\n";

static void a_command_is_reached_in_its_time_and_at_rest(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(commanded, "*");
  orr_flight_run(&f, 20); /* nobody commands: all stand where they begin */
  NEAR(orr_flight_value(&f, "arm.q"), 0.2, 0);
  NEAR(orr_flight_value(&f, "arm.motion"), 0.2, 0);
  NEAR(orr_flight_value(&f, "boom.q"), 0.75, 1e-12);
  NEAR(orr_flight_value(&f, "flap.q"), 0, 0);
  NEAR(orr_flight_value(&f, "bus.rate.z"), 0, 1e-15);
  orr_flight_command(&f, "arm.motion", 1.2);
  orr_flight_command(&f, "loops.jack.motion", sqrt(1 + 0.25));
  orr_flight_command(&f, "flap.motion", 1);
  for (int n = 1; n <= 50; n++) {
    orr_flight_run(&f, 1);
    double s = n / 50.0, x = s * s * s * (10 - 15 * s + 6 * s * s);
    NEAR(orr_flight_value(&f, "arm.q"), 0.2 + x, 1e-14);
  }
  NEAR(orr_flight_value(&f, "arm.speed"), 0, 0);
  NEAR(orr_flight_value(&f, "boom.q"), 0.5, 1e-12);
  NEAR(orr_flight_value(&f, "boom.speed"), 0, 1e-12);
  NEAR(orr_flight_value(&f, "flap.q"), 0.25, 1e-15); /* half of its second is over */
  NEAR(orr_flight_value(&f, "flap.motion"), 0, 0);
  orr_flight_run(&f, 100);
  NEAR(orr_flight_value(&f, "flap.q"), 0.5, 0);
  printf("# after all commands: momentum %.1e N m s\n", v3_norm(orr_flight_momentum(&f).w));
  assert_true(v3_norm(orr_flight_momentum(&f).w) < 1e-7); /* rk4's own, at 10 ms */
  orr_flight_free(&f);
}

/* A command that changes on the way is followed from there without a jump of place, rate or acceleration. */
static void a_command_on_the_way_bends_the_motion_but_does_not_break_it(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(commanded, "*");
  double h = 0.01, q[400], v[400];
  for (int n = 0; n < 400; n++) {
    if (n % 23 == 5)
      orr_flight_command(&f, "arm.motion", sin(n));
    q[n] = orr_flight_value(&f, "arm.q");
    v[n] = orr_flight_value(&f, "arm.speed");
    orr_flight_run(&f, 1);
  }
  /* jerk is bounded by 60 |h|/T³ and what is left of earlier motion; a jump of rate or acceleration would grow */
  double jerk = 0, slope = 0;
  for (int n = 1; n + 1 < 400; n++) {
    jerk = fmax(jerk, fabs(v[n + 1] - 2 * v[n] + v[n - 1]) / (h * h));
    slope = fmax(slope, fabs((q[n + 1] - q[n - 1]) / (2 * h) - v[n]));
  }
  printf("# commands on the way: jerk up to %.0f rad/s³, rate within %.1e rad/s of the slope\n", jerk, slope);
  assert_true(jerk < 3 * 60 * 2 / 0.125 && slope < jerk * h * h);
  assert_true(v3_norm(orr_flight_momentum(&f).w) < 1e-9);
  orr_flight_free(&f);
}

/* Saved in the middle of all motions and taken up again, it goes on with the same bits. */
static void a_saved_state_goes_on_with_the_same_bits(void **state) {
  (void)state;
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    struct orr_flight f = orr_flight_make(commanded, NULL);
    orr_flight_run(&f, 7);
    orr_flight_command(&f, "arm.motion", 1.2);
    orr_flight_command(&f, "loops.jack.motion", 1.1);
    orr_flight_command(&f, "flap.motion", 1);
    orr_flight_run(&f, 11);
    if (k) {
      size_t words = orr_session_state_words(f.session);
      uint64_t *saved = calloc(words, sizeof *saved);
      orr_session_state_get(f.session, saved);
      orr_flight_run(&f, 30);
      orr_flight_command(&f, "arm.motion", -1);
      orr_flight_run(&f, 5);
      assert_int_equal(orr_session_state_put(f.session, saved), ORR_OK);
      free(saved);
    }
    orr_flight_run(&f, 60);
    hash[k] = orr_session_hash(f.session);
    orr_flight_free(&f);
  }
  assert_true(hash[0] == hash[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_driven_hinge_is_exact_and_its_base_turns_back),
      cmocka_unit_test(a_table_begins_and_ends_without_a_trace),
      cmocka_unit_test(each_coordinate_has_a_motion_of_its_own),
      cmocka_unit_test(a_driven_distance_moves_a_slide),
      cmocka_unit_test(a_driven_crank_moves_its_slide),
      cmocka_unit_test(a_driven_joint_turns_two_bodies_apart),
      cmocka_unit_test(a_driven_gear_turns_both_its_wheels),
      cmocka_unit_test(a_command_is_reached_in_its_time_and_at_rest),
      cmocka_unit_test(a_command_on_the_way_bends_the_motion_but_does_not_break_it),
      cmocka_unit_test(a_saved_state_goes_on_with_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
