/* Every command has a range: of every kind of device, of hinges and loops, and in all of configs; and what a range of a
 * motion allows can be flown. */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/devices/devices.h"
#include "tests/support/flight.h"

static const char all[] =
    "orrery: 1\n"
    "spacecraft:\n"
    "  bodies:\n"
    "    bus: {mass: 50, inertia: [20, 20, 20, 0, 0, 0], hinge: {kind: free, to: inertial},\n"
    "      nodes: {r: {at: [0, 1, 0]}, t: {at: [0, 0, 0.1]}}}\n"
    "    arm: {mass: 2, com: [0, 0, 0.5], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.r,\n"
    "      axis: [0, 1, 0], motion: {command: {over: 1 s}}}}\n"
    "    slide: {mass: 2, com: [0, 0, 0.5], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, to: bus.r,\n"
    "      axis: [1, 0, 0], motion: {command: {over: 1 s}}}}\n"
    "    flap: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.r, axis: [0, 0, 1],\n"
    "      motion: {table: [[0, 0], [0.5, 0.5]], starts: by_command}}}\n"
    "    given: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: bus.origin,\n"
    "      prescribed: true}}\n"
    "    boom: {mass: 4, com: [0, 0.5, 0], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.r,\n"
    "      axis: [1, 0, 0]}, nodes: {eye: {at: [0, 0.6, 0]}}}\n"
    "    mast: {mass: 2, com: [0, 0, 0.5], inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.r,\n"
    "      axis: [1, 0, 0]}, nodes: {eye: {at: [0, 0, 0.8]}}}\n"
    "    led: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: bus.origin,\n"
    "      prescribed: true}}\n"
    "    a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.r, axis: [1, 0, 0]}}\n"
    "    b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, to: bus.r, axis: [1, 0, 0]}}\n"
    "  loops:\n"
    "    - {name: jack, between: [boom.eye, mast.eye], kind: distance, motion: {command: {over: 0.4 s, from: 1 m}}}\n"
    "    - {name: shift, gear: {hinge: a, drives: b, ratio: 1}, motion: {command: {over: 1 s, from: 0}}}\n"
    "actuators:\n"
    "  torquing: {kind: hinge_motor, hinge: boom, mode: torque}\n"
    "  turning: {kind: hinge_motor, hinge: given, mode: rate}\n"
    "  wheel: {kind: reaction_wheel, node: bus.r, axis: [0, 0, 1], inertia: 0.01}\n"
    "  jet: {kind: thruster, node: bus.r, direction: [1, 0, 0], thrust: 1}\n"
    "  coil: {kind: torquer, node: bus.r, axis: [1, 0, 0], field: [0, 0, 3e-5]}\n"
    "  push: {kind: wrench, node: bus.r}\n"
    "simulation: {step: 10 ms}\n";

/* What needs a world. */
static const char magnetic[] =
    "orrery: 1\n"
    "spacecraft: {bodies: {bus: {mass: 50, inertia: [20, 20, 20, 0, 0, 0], hinge: {kind: free, to: inertial}}}}\n"
    "environment: {epoch: 2025-03-20T12:00:00, magnetic_field: {file: wmm.cof}}\n"
    "actuators: {rod: {kind: magnetorquer, node: bus.origin, axis: [1, 0, 0]}}\n"
    "simulation: {step: 10 ms, duration: 1 s, initial: {bus: {orbit: {elements: {semi_major_axis: 6878 km, "
    "inclination: 51 deg}}}}}\n";

static int commands_with_a_range(const struct orr_channel_table *table, const char *of) {
  int count = 0;
  for (int i = 0; i < table->count; i++) {
    const struct orr_channel *c = &table->channels[i];
    if (c->direction != ORR_CHANNEL_COMMAND)
      continue;
    if (!isfinite(c->low) || !isfinite(c->high) || !(c->low < c->high))
      fail_msg("%s: %s is from %g to %g %s", of, c->name, c->low, c->high, c->unit);
    count++;
  }
  return count;
}

/* Whether some device of this kind has that command. */
static bool is_there(const struct orr_run *run, const struct orr_device_kind *kind, const char *channel) {
  for (size_t i = 0; i < run->plant.device_count; i++) {
    char name[80];
    snprintf(name, sizeof name, "%s.%s", run->plant.devices[i].name, channel);
    if (run->plant.devices[i].kind == kind && orr_channel_find(&run->table, name) >= 0)
      return true;
  }
  return false;
}

static void every_kind_of_command_has_a_range(void **state) {
  (void)state;
  struct orr_flight f = orr_flight_make(all, NULL), g = orr_flight_in_field(magnetic, NULL);
  for (const struct orr_device_kind *const *kind = orr_device_kinds; *kind; kind++)
    for (size_t i = 0; i < (*kind)->channel_count; i++)
      if ((*kind)->channels[i].direction == ORR_CHANNEL_COMMAND && !is_there(f.run, *kind, (*kind)->channels[i].name) &&
          !is_there(g.run, *kind, (*kind)->channels[i].name))
        fail_msg("no %s with a %s", (*kind)->name, (*kind)->channels[i].name);
  int count = commands_with_a_range(&f.run->table, "all kinds") + commands_with_a_range(&g.run->table, "magnetic");
  printf("# %d commands with a range\n", count);
  orr_flight_free(&g);
  orr_flight_free(&f);
}

static void every_command_of_configs_has_a_range(void **state) {
  (void)state;
  glob_t files;
  int runs = 0, commands = 0;
  assert_int_equal(glob("configs/*.yaml", 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    struct orr_diagnostics *d = orr_diagnostics_create();
    const struct orr_run *run = orr_run_load(files.gl_pathv[i], NULL, d); /* NULL: a spacecraft alone */
    runs += run != NULL;
    commands += run ? commands_with_a_range(&run->table, files.gl_pathv[i]) : 0;
    orr_diagnostics_destroy(d);
  }
  globfree(&files);
  printf("# %d commands of %d runs\n", commands, runs);
  assert_true(runs >= 10 && commands >= 10);
}

/* From one end of the range to the other and back: momentum stays, so nothing moves when all are at rest again. */
static void the_ends_of_a_motions_range_can_be_flown(void **state) {
  (void)state;
  static const char *const moved[] = {"arm.motion", "slide.motion", "loops.shift.motion"};
  for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
    struct orr_flight f = orr_flight_make(all, "*");
    const struct orr_channel *c = &f.plant->table.channels[orr_channel_find(&f.plant->table, moved[i])];
    orr_flight_command(&f, moved[i], c->high);
    orr_flight_run(&f, 100);
    orr_flight_command(&f, moved[i], c->low);
    orr_flight_run(&f, 100);
    orr_flight_command(&f, moved[i], 0);
    orr_flight_run(&f, 150);
    double left = v3_norm(orr_flight_vector(&f, "bus.velocity"));
    printf("# %s from %.4g to %.4g %s: the bus is left with %.1e m/s\n", moved[i], c->low, c->high, c->unit, left);
    assert_true(left < 0.1);
    orr_flight_free(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_command_has_a_range),
      cmocka_unit_test(every_command_of_configs_has_a_range),
      cmocka_unit_test(the_ends_of_a_motions_range_can_be_flown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
