/* Gears with backlash: rotor and hinge as two bodies that meet at both ends of a gap. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/plant/stability.h"
#include "tests/support/flight.h"

/* ---- an arm on the ground against the closed form ---------------------------------------------------------------- */

/* An arm of I = 0.5 kg m² and a rotor of n² J = 0.25 behind a gap of 20 mrad; ω = sqrt(k (1/I + 4)) = 300 rad/s. */
enum { RATIO = 50 };
static const double ARM = 0.5, ROTOR = 1e-4, GAP = 0.02, STIFF = 15000;

static struct orr_flight arm(int step_us, const char *rule, const char *gear, const char *more) {
  char text[2048];
  snprintf(text, sizeof text,
           "orrery: 1\n"
           "spacecraft:\n"
           "  bodies:\n"
           "    arm: {mass: 1, inertia: [0.5, 0.5, 0.5, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: "
           "inertial}}\n"
           "actuators: {d: {kind: hinge_motor, hinge: arm, mode: torque, gear: {ratio: 50, rotor_inertia: 1e-4, "
           "backlash: 0.02, stiffness: 15000%s}%s}}\n"
           "simulation: {step: %d us, integrator: %s, initial: {arm: {q: 0.3, speed: 1}}}\n",
           gear, more, step_us, rule);
  return orr_flight_make(text, "arm.*");
}

/* How far the arm is before the shaft after t seconds, when it begins at 1 rad/s and the rotor at rest, in the middle:
 * between the contacts both go on as they are, a contact lasts π/ω, and its half wave turns their drift round. */
static double lag_at(double t) {
  double contact = M_PI / sqrt(STIFF * (1 / ARM + 1 / (RATIO * RATIO * ROTOR))), drift = 1, lag = 0, until = 0.5 * GAP;
  while (t > until + contact) {
    t -= until + contact;
    until = GAP;
    lag = drift * 0.5 * GAP;
    drift = -drift;
  }
  return t <= until ? lag + drift * t : drift * (0.5 * GAP + contact / M_PI * sin(M_PI * (t - until) / contact));
}

/* The arm from the mass centre of both, which goes on at 2/3 rad/s, and the lag. */
static double off_after(int step_us, const char *rule, int frames) {
  struct orr_flight f = arm(step_us, rule, "", "");
  double worst = 0;
  f.plant->integration->spin[0] = 0;
  for (int i = 1; i <= frames; i++) {
    orr_flight_run(&f, 1);
    double t = 1e-6 * step_us * i, lag = lag_at(t), q = 0.3 + 2.0 / 3 * t + lag / 3;
    worst = fmax(worst, fabs(orr_flight_value(&f, "arm.q") - q));
    worst = fmax(worst, fabs(orr_flight_value(&f, "d.play") + lag));
  }
  double momentum = ARM * orr_flight_value(&f, "arm.speed") + RATIO * ROTOR * orr_flight_value(&f, "d.rotor_speed");
  assert_true(fabs(momentum - ARM) < 1e-12);
  orr_flight_free(&f);
  return worst;
}

static void an_arm_rattles_as_in_the_closed_form(void **state) {
  (void)state;
  printf("arm and play against the closed form over 0.5 s, some 16 contacts, rad:\n");
  for (int rule = 0; rule < ORR_INTEGRATOR_COUNT; rule++)
    printf("  %-15s 2 ms %.2g, 1 ms %.2g, 0.5 ms %.2g\n", orr_integrator_names[rule],
           off_after(2000, orr_integrator_names[rule], 250), off_after(1000, orr_integrator_names[rule], 500),
           off_after(500, orr_integrator_names[rule], 1000));
  double coarse = off_after(1000, "rk4", 500), fine = off_after(500, "rk4", 1000);
  assert_true(fine < 2e-5);
  assert_true(coarse / fine > 16);
  assert_true(off_after(500, "heun", 1000) < 1e-2);
  assert_true(off_after(500, "implicit_modal", 1000) < 1e-2);
  assert_true(off_after(500, "semi_implicit", 1000) < 1e-2);
}

/* Teeth that touch for good: the arm and n² J under n τ. */
static void teeth_that_touch_are_a_geared_rotor(void **state) {
  (void)state;
  struct orr_flight f = arm(1000, "rk4", ", damping: 60", "");
  orr_flight_command(&f, "d.torque", 0.03);
  orr_flight_run(&f, 2000);
  double before = orr_flight_value(&f, "arm.speed"), torque = RATIO * 0.03 * ARM / (ARM + 0.25);
  orr_flight_run(&f, 1000);
  assert_true(fabs(orr_flight_value(&f, "arm.speed") - before - torque / ARM) < 1e-9);
  assert_true(fabs(orr_flight_value(&f, "d.delivered") - torque) < 1e-9);
  assert_true(fabs(orr_flight_value(&f, "d.play") - 0.5 * GAP - torque / STIFF) < 1e-12);
  orr_flight_command(&f, "d.torque", 0); /* nothing pulls: they part */
  orr_flight_run(&f, 1000);
  assert_true(fabs(orr_flight_value(&f, "d.play")) < 0.5 * GAP + 1e-9);
  assert_true(orr_flight_value(&f, "d.delivered") == 0);
  orr_flight_free(&f);
}

static void the_longest_step_knows_the_teeth(void **state) {
  (void)state;
  struct orr_flight f = arm(1000, "rk4", "", "");
  size_t bytes = orr_stability_size(f.plant->model);
  void *block = calloc(1, bytes);
  struct orr_stability found = orr_stability_find(block, bytes, f.plant, 1);
  assert_int_equal(found.status, ORR_OK);
  assert_true(fabs(found.stiffest.root.im - 300) < 1e-6);
  free(block);
  orr_flight_free(&f);
}

struct counter {
  struct orr_integration_hook hook; /* first */
  int evaluations;
};

static void count(struct orr_integration_hook *hook, const struct orr_evaluation_point *point) {
  (void)point;
  ((struct counter *)hook)->evaluations++;
}

static void a_frame_costs_no_more_than_it_says(void **state) {
  (void)state;
  struct counter counter = {.hook = {count}};
  struct orr_flight f = arm(40000, "rk4, substeps: 8", "", ""); /* a gap and a contact take 30 ms */
  f.plant->integration->spin[0] = 0;
  f.plant->integration->hook = &counter.hook;
  int most = 0;
  for (int i = 0; i < 100; i++) {
    counter.evaluations = 0;
    orr_flight_run(&f, 1);
    most = counter.evaluations > most ? counter.evaluations : most;
  }
  assert_int_equal(most, 48 + 1); /* and one for the truth */
  assert_int_equal(orr_plant_frame_cost(&f.run->plant).worst, 48);
  assert_true(f.plant->events.late > 0 && f.plant->events.located > 0);
  orr_flight_free(&f);
}

/* ---- on a moving parent ------------------------------------------------------------------------------------------ */

/* A tumbling bus with a panel on a hinge that stands askew. Written out, the rotor is a body in the bus's mass centre,
 * which the bus has in it otherwise. */
static const char bus[] =
    "    bus: {mass: %s, inertia: [%s], hinge: {kind: free, to: inertial},\n"
    "          nodes: {c: {at: [0, 0, 0]}, side: {at: [0.5, 0.2, -0.1]}}}\n"
    "    panel: {mass: 3, com: [0, 0.6, 0.1], inertia: [0.6, 0.1, 0.65, 0.02, 0, 0.01],\n"
    "            hinge: {kind: revolute, axis: [0, 0.6, 0.8], to: bus.side, rotation: [0.1, 0.2, 0.3, "
    "0.92736184954957037]}}\n";

static const char start[] =
    "simulation: {step: %d us, integrator: %s, initial: {bus: {rate: [0.3, -0.5, 0.4], velocity: [1, 2, 3]}, "
    "panel: {q: 0.2, speed: 0.7}%s}}\n";

static struct orr_flight tumbling(int step_us, const char *rule, bool written_out) {
  char text[4096];
  int n = snprintf(text, sizeof text, "orrery: 1\nspacecraft:\n  bodies:\n");
  n += snprintf(text + n, sizeof text - (size_t)n, bus, written_out ? "8" : "10",
                written_out ? "2, 3, 4, 0.1, 0.2, 0.3" : "2.02, 3.02, 4.02, 0.1, 0.2, 0.3");
  if (written_out)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "    rotor: {mass: 2, inertia: [0.02, 0.02, 0.02, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0.6, "
                  "0.8], to: bus.c, rotation: [0.1, 0.2, 0.3, 0.92736184954957037]}}\n");
  else
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "actuators: {d: {kind: hinge_motor, hinge: panel, mode: torque, gear: {ratio: 5, rotor_inertia: "
                  "0.02, backlash: 0.01, stiffness: 500, damping: 0.2}}}\n");
  snprintf(text + n, sizeof text - (size_t)n, start, step_us, rule, written_out ? ", rotor: {q: 1, speed: 3.5}" : "");
  return orr_flight_make(text, "*");
}

/* What the motor and the teeth do, on bodies: panel is coordinate 6 of the speeds, the rotor 7. */
static void teeth(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                  double *force, double *given) {
  (void)point;
  (void)given;
  struct orr_plant *p = (struct orr_plant *)drive;
  const struct orr_limb *panel = &p->model->limbs[p->model->limb_of_body[1]];
  const struct orr_limb *rotor = &p->model->limbs[p->model->limb_of_body[2]];
  double x = ws->q[panel->hinge_q] - ws->q[rotor->hinge_q] / 5;
  double v = ws->u[panel->hinge_u] - ws->u[rotor->hinge_u] / 5;
  double deep = fabs(x) - 0.005, push = 500 * deep + 0.2 * (x > 0 ? v : -v);
  double f = deep > 0 && push > 0 ? (x > 0 ? -push : push) : 0;
  force[panel->hinge_u] += f;
  force[rotor->hinge_u] += 0.05 - f / 5;
}

static void a_rotor_on_a_tumbling_bus_is_one_written_out(void **state) {
  (void)state;
  struct orr_flight a = tumbling(500, "rk4", false), b = tumbling(20, "rk4", true);
  b.plant->drive.apply = teeth;
  orr_flight_command(&a, "d.torque", 0.05);
  orr_spatial before = orr_flight_momentum(&a);
  double worst = 0, turned = 0;
  for (int i = 0; i < 200; i++) {
    orr_flight_run(&a, 10);
    orr_flight_run(&b, 250);
    worst = fmax(worst, fabs(orr_flight_value(&a, "panel.q") - orr_flight_value(&b, "panel.q")));
    worst = fmax(worst, v3_norm(v3_sub(orr_flight_vector(&a, "bus.rate"), orr_flight_vector(&b, "bus.rate"))));
    double play = orr_flight_value(&b, "rotor.q") / 5 - orr_flight_value(&b, "panel.q");
    worst = fmax(worst, fabs(orr_flight_value(&a, "d.play") - play));
    worst = fmax(worst, fabs(orr_flight_value(&a, "d.rotor_speed") - orr_flight_value(&b, "rotor.speed")) / 5);
    turned = fmax(turned, fabs(orr_flight_value(&a, "panel.q") - 0.2));
  }
  orr_spatial after = orr_flight_momentum(&a), other = orr_flight_momentum(&b);
  printf(
      "a second on a tumbling bus: off by %.2g, %lld contacts made and left, panel turned by %.2g; momentum by %.2g\n",
      worst, (long long)a.plant->events.located, turned, v3_norm(v3_sub(after.w, before.w)));
  assert_true(a.plant->events.located >= 6);
  assert_true(worst < 1e-5);
  assert_true(v3_norm(v3_sub(after.w, before.w)) < 1e-9);
  assert_true(v3_norm(v3_sub(after.w, other.w)) < 1e-9);
  assert_true(fabs(orr_flight_value(&a, "energy.kinetic") - orr_flight_value(&b, "energy.kinetic")) < 1e-4);
  orr_flight_free(&a);
  orr_flight_free(&b);
}

/* From a state that is saved in every frame, the same bits follow. */
static void a_saved_state_goes_on_with_the_same_bits(void **state) {
  (void)state;
  for (int rule = 0; rule < ORR_INTEGRATOR_COUNT; rule++) {
    if (rule == ORR_SEMI_IMPLICIT) /* is refused for free bodies */
      continue;
    struct orr_flight a = tumbling(5000, orr_integrator_names[rule], false),
                      b = tumbling(5000, orr_integrator_names[rule], false);
    size_t words = orr_plant_state_words(a.plant);
    uint64_t *saved = malloc(8 * words), first = orr_plant_hash(a.plant);
    for (int i = 0; i < 30; i++) {
      orr_flight_command(&a, "d.torque", i < 15 ? 0.3 : -0.3);
      orr_flight_command(&b, "d.torque", i < 15 ? 0.3 : -0.3);
      orr_flight_run(&a, 1);
      orr_plant_state_get(b.plant, saved);
      orr_flight_free(&b);
      b = tumbling(5000, orr_integrator_names[rule], false);
      assert_true(orr_plant_state_is_sound(b.plant, saved, i));
      assert_int_equal(orr_plant_state_put(b.plant, saved), ORR_OK);
      orr_flight_command(&b, "d.torque", i < 15 ? 0.3 : -0.3);
      orr_flight_run(&b, 1);
      assert_true(orr_plant_hash(a.plant) == orr_plant_hash(b.plant));
    }
    assert_true(orr_plant_hash(a.plant) != first);
    free(saved);
    orr_flight_free(&a);
    orr_flight_free(&b);
  }
}

/* ---- what has no place ------------------------------------------------------------------------------------------- */

static void refused(const char *hinge, const char *ring, const char *motor, const char *expected) {
  char text[2048], message[512];
  size_t line;
  snprintf(text, sizeof text,
           "orrery: 1\n"
           "spacecraft:\n"
           "  bodies:\n"
           "    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
           "    ring: {%s, hinge: {kind: revolute, axis: [1, 0, 0], to: bus.origin}}\n"
           "    arm: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {%s, to: ring.origin}}\n"
           "actuators: {d: {kind: hinge_motor, hinge: arm, %s}}\n"
           "simulation: {step: 1 ms}\n",
           ring, hinge, motor);
  orr_flight_refuse(text, message, sizeof message, &line);
  if (!strstr(message, expected))
    print_error("'%s' is not in: %s\n", expected, message);
  assert_non_null(strstr(message, expected));
  assert_int_equal(line, 7);
}

static void what_has_no_place_is_refused(void **state) {
  (void)state;
  static const char turns[] = "kind: revolute, axis: [0, 0, 1]", has[] = "mass: 1, inertia: [1, 1, 1, 0, 0, 0]";
  static const char whole[] = "mode: torque, gear: {rotor_inertia: 1e-3, backlash: 1e-3, stiffness: 100}";
  refused("kind: universal, axes: [[0, 0, 1], [0, 1, 0]]", has,
          "coordinate: 1, mode: torque, gear: {rotor_inertia: 1e-3, backlash: 1e-3, stiffness: 100}",
          "sits on coordinate 0 of a universal hinge");
  refused(turns, "mass: 0", whole, "turns on 'ring', which has no inertia");
  refused(turns, has, "mode: torque, gear: {backlash: 1e-3, stiffness: 100}", "needs a 'gear.rotor_inertia'");
  refused(turns, has, "mode: torque, gear: {rotor_inertia: 1e-3, backlash: 1e-3}", "needs a 'gear.stiffness'");
  refused(turns, has, "mode: torque, gear: {rotor_inertia: 1e-3, stiffness: 100}", "they need a 'gear.backlash'");
  refused(turns, has, "mode: rate, gear: {backlash: 1e-3, stiffness: 100}", "backlash and 'max_torque' play no part");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_arm_rattles_as_in_the_closed_form),
      cmocka_unit_test(teeth_that_touch_are_a_geared_rotor),
      cmocka_unit_test(the_longest_step_knows_the_teeth),
      cmocka_unit_test(a_frame_costs_no_more_than_it_says),
      cmocka_unit_test(a_rotor_on_a_tumbling_bus_is_one_written_out),
      cmocka_unit_test(a_saved_state_goes_on_with_the_same_bits),
      cmocka_unit_test(what_has_no_place_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
