/* io/config/run: the sections of a run file, and every mistake at its place. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/devices/devices.h"
#include "tests/support/flight.h"

static const char SHIP[] =
    "orrery: 1\n"
    "spacecraft:\n"
    "  bodies:\n"
    "    bus: {mass: 10, inertia: [2, 2, 2, 0, 0, 0], hinge: {kind: free, to: inertial}}\n"
    "    arm: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: bus.origin}}\n"
    "    rail: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: prismatic, axis: [0, 0, 1], to: bus.origin}}\n"
    "    ball: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: ball, to: bus.origin}}\n"
    "    two: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: cylindrical, axis: [0, 0, 1], to: bus.origin}}\n"
    "    given: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], hinge: {kind: revolute, axis: [0, 0, 1], to: bus.origin, "
    "prescribed: true}}\n"
    "    panel:\n"
    "      hinge: {kind: fixed, to: bus.origin}\n"
    "      modes: [{frequency: 1 Hz, damping: 0}]\n"
    "      nodes:\n"
    "        origin: {at: [0, 0, 0], mass: 1, inertia: [1, 1, 1, 0, 0, 0], modes: [[0, 0, 0, 0, 0, 0]]}\n"
    "        tip: {at: [0, 2, 0], mass: 1, inertia: [1, 1, 1, 0, 0, 0], modes: [[0.5, 0, 0, 0, 0, 1]]}\n";
enum { SHIP_LINES = 15, TEXT = 8192 };

/* The first error of the ship with these lines behind it must hold `says` and stand in line `line` of them (0:
 * wherever). */
static void expect(const char *lines, const char *says, size_t line) {
  char text[TEXT], message[1024] = "";
  size_t at;
  snprintf(text, sizeof text, "%s%s", SHIP, lines);
  orr_flight_refuse(text, message, sizeof message, &at);
  if (!strstr(message, says) || (line && at != SHIP_LINES + line))
    fail_msg("line %zu: '%s'\nexpected in line %zu: '%s'\nof:\n%s", at - SHIP_LINES, message, line, says, lines);
}

/* ---- every parameter of every kind ------------------------------------------------------------------------------- */

static void append(char *text, const char *format, ...) {
  va_list list;
  size_t used = strlen(text);
  va_start(list, format);
  vsnprintf(text + used, TEXT - used, format, list);
  va_end(list);
}

static const char *good_value(const struct orr_param *p) {
  switch (p->type) {
  case ORR_PARAM_AXIS:
  case ORR_PARAM_VECTOR:
    return "[1, 0, 0]";
  case ORR_PARAM_CHOICE:
    return p->choices[0];
  default:
    return p->unit && strcmp(p->unit, "kg") == 0 ? "0.1" : "1"; /* some body has no more than 1 kg */
  }
}

/* A device of a kind, a line for each key; all that is required but `but`, which is written as `name: value`. Returns
 * that line. */
static size_t write_device(char *text, const struct orr_device_kind *kind, const struct orr_param *but,
                           const char *name, const char *value) {
  text[0] = '\0';
  append(text, "simulation: {step: 10 ms}\n%s:\n  d:\n    kind: %s\n    %s\n",
         kind->role == ORR_SENSOR ? "sensors" : "actuators", kind->name,
         kind->host == ORR_ON_NODE ? "node: panel.tip" : "hinge: arm");
  size_t line = 5;
  for (size_t i = 0; i < kind->param_count; i++)
    if (kind->params[i].required && &kind->params[i] != but) {
      append(text, "    %s: %s\n", kind->params[i].name, good_value(&kind->params[i]));
      line++;
    }
  const char *dot = but ? strchr(name, '.') : NULL;
  if (dot)
    append(text, "    %.*s:\n      %s: %s\n", (int)(dot - name), name, dot + 1, value);
  else if (but)
    append(text, "    %s: %s\n", name, value);
  return line + (dot ? 2 : 1);
}

static void every_kind_is_read_with_what_it_requires(void **state) {
  (void)state;
  for (const struct orr_device_kind *const *kind = orr_device_kinds; *kind; kind++) {
    char lines[TEXT], text[2 * TEXT];
    write_device(lines, *kind, NULL, NULL, NULL);
    snprintf(text, sizeof text, "%s%s", SHIP, lines);
    if ((*kind)->needs_world) { /* flown in tests/unit/core/devices/devices_environment.c */
      char message[400];
      size_t line;
      orr_flight_refuse(text, message, sizeof message, &line);
      assert_non_null(strstr(message, "needs an environment"));
      continue;
    }
    struct orr_flight f = orr_flight_make(text, NULL);
    assert_int_equal(f.plant->device_count, 1);
    orr_flight_free(&f);
  }
}

static void every_parameter_is_refused_when_it_is_misspelt_or_no_value_of_its(void **state) {
  (void)state;
  int tried = 0;
  for (const struct orr_device_kind *const *kind = orr_device_kinds; *kind; kind++)
    for (size_t i = 0; i < (*kind)->param_count; i++, tried++) {
      const struct orr_param *p = &(*kind)->params[i];
      const char *dot = strchr(p->name, '.'), *last = dot ? dot + 1 : p->name;
      char lines[TEXT], name[80];
      size_t line = write_device(lines, *kind, p, p->name, "nonsense");
      expect(lines, p->type == ORR_PARAM_CHOICE ? "nonsense" : last,
             p->type == ORR_PARAM_NAME ? 0 : line); /* what has no such name is a device's fault as a whole */
      snprintf(name, sizeof name, "%s_", p->name);
      line = write_device(lines, *kind, p, name, good_value(p));
      expect(lines, p->required ? "" : "did you mean", p->required ? 0 : line);
      if (p->type == ORR_PARAM_NUMBER && (p->low != 0 || p->high != 0) && p->low == 0) {
        line = write_device(lines, *kind, p, p->name, "-1");
        expect(lines, "must", line);
      }
      if (p->unit && *p->unit && p->type == ORR_PARAM_NUMBER) {
        line = write_device(lines, *kind, p, p->name, "1 K");
        expect(lines, "1 K", line);
      }
      if (p->type == ORR_PARAM_AXIS) {
        line = write_device(lines, *kind, p, p->name, "[0, 0, 0]");
        expect(lines, "points nowhere", line);
      }
    }
  assert_true(tried > 60);
}

/* ---- what else can be wrong -------------------------------------------------------------------------------------- */

static void mistakes_of_runs_are_reported_at_their_place(void **state) {
  (void)state;
  const struct {
    const char *lines, *says;
    size_t line;
  } cases[] = {
      {"actuators: {}\n", "needs a section 'simulation'", 0},
      {"simulation: {step: 0.5 us}\n", "must be at least", 1},
      {"simulation: {step: 1 ms, duration: 1.5 ms}\n", "no whole number of steps", 1},
      {"simulation: {step: 1 ms, duration: -1 s}\n", "greater than zero", 1},
      {"simulation: {step: 1 ms, initial: {bus: {q: [1]}}}\n", "has no 'q'", 1},
      {"simulation: {step: 1 ms}\nenvironment: {gravity: earth}\n", "gravity", 2},
      {"simulation: {step: 1 ms}\nfaults: [{link: fsw, at: 1 s}]\n", "there is no link", 2},
      {"simulation: {step: 1 ms}\nsensors:\n  s: {kind: hinge_encoder, hinge: ball}\n", "has no coordinate", 3},
      {"simulation: {step: 1 ms}\nsensors:\n  s: {kind: hinge_encoder, hinge: two}\n", "say which", 3},
      {"simulation: {step: 1 ms}\nsensors:\n  s: {kind: hinge_encoder, hinge: two, coordinate: 2}\n", "0 to 1", 3},
      {"simulation: {step: 1 ms}\nsensors:\n  s: {kind: hinge_encoder, hinge: two, coordinate: 1, offset: 1 deg}\n",
       "1 deg", 3},
      {"simulation: {step: 1 ms}\nsensors:\n  s: {kind: hinge_encoder, hinge: arm, offset: 1 mm}\n", "1 mm", 3},
      {"simulation: {step: 1 ms}\nsensors:\n  s: {kind: strain, node: bus.origin, mode: modal}\n", "modes", 3},
      {"simulation: {step: 1 ms}\nsensors:\n  s: {kind: lidar, node: bus.origin}\n",
       "there is no kind of sensor 'lidar'; there are accelerometer, ", 3},
      {"simulation: {step: 1 ms}\nsensors:\n  bus: {kind: rate_gyro, node: bus.origin}\n", "name of a body", 3},
      {"simulation: {step: 1 ms}\nsensors:\n  s: {kind: rate_gyro, node: bus.origin, rate: 2 kHz}\n", "divide", 3},
      {"simulation: {step: 1 ms}\nsensors:\n  s: {node: bus.origin}\n", "no 'kind'", 3},
      {"simulation: {step: 1 ms}\nactuators:\n  a: {kind: hinge_motor, hinge: arm, mode: rate}\n  b: {kind: "
       "hinge_motor, hinge: arm, mode: torque}\n",
       "already gives", 4},
      {"simulation: {step: 1 ms}\nactuators:\n  a: {kind: hinge_motor, hinge: two, coordinate: 0, mode: rate}\n",
       "one coordinate", 3},
      {"simulation: {step: 1 ms}\nactuators:\n  a: {kind: hinge_motor, hinge: arm, mode: rate, max_torque: 1}\n",
       "play no part", 3},
      {"simulation: {step: 1 ms}\nactuators:\n  a: {kind: hinge_motor, hinge: arm, mode: torque, stops: {low: 1, high: "
       "0, stiffness: 1}}\n",
       "below", 3},
      {"simulation: {step: 1 ms}\nactuators:\n  a: {kind: hinge_motor, hinge: arm, mode: torque, stops: {low: 1}}\n",
       "stiffness", 3},
      {"simulation: {step: 1 ms}\nactuators:\n  a: {kind: thruster, node: bus.origin, direction: [1, 0, 0], thrust: 1, "
       "propellant: 1}\n",
       "isp", 3},
      {"simulation: {step: 1 ms}\nactuators:\n  a: &t {kind: thruster, node: bus.origin, direction: [1, 0, 0], thrust: "
       "1, propellant: 6, isp: 1}\n  b: *t\n",
       "12 kg of propellant", 0},
      {"simulation: {step: 1 ms}\nactuators:\n  w: {kind: reaction_wheel, node: bus.origin, axis: [1, 0, 0], inertia: "
       "1, max_speed: 1, initial_speed: 2}\n",
       "beyond 'max_speed'", 3},
      {"simulation: {step: 1 ms}\nactuators:\n  a: {kind: hinge_motor, hinge: given, mode: torque}\n",
       "would not feel it", 3},
      {"simulation: {step: 1 ms}\npointing: {bus: {node: panel.tip, target: [0, 0, 0, 1]}}\n", "must be one of 'bus'",
       2},
      {"simulation: {step: 1 ms}\npointing: {bus: {node: bus.origin, target: [0, 0, 0, 2]}}\n", "length", 2},
      {"simulation: {step: 1 ms}\npointing:\n  bus:\n    node: bus.origin\n    target:\n      - {at: 1 s, attitude: "
       "[0, 0, 0, 1]}\n      - {at: 1 s, attitude: [0, 0, 0, 1]}\n",
       "order", 7},
      {"simulation: {step: 1 ms}\nactuators: {w: {kind: wrench, node: bus.origin}}\ncommands:\n  - {channel: w.force, "
       "value: 1}\n",
       "3 numbers", 4},
      {"simulation: {step: 1 ms}\nactuators: {w: {kind: wrench, node: bus.origin}}\ncommands:\n  - {channel: "
       "w.force.x, value: 1 m}\n",
       "1 m", 4},
      {"simulation: {step: 1 ms}\nactuators: {w: {kind: wrench, node: bus.origin}}\ncommands:\n  - {channel: "
       "w.force.x, value: 1, ramp: {from: 0, to: 1, over: 1 s}}\n",
       "one of", 4},
      {"simulation: {step: 1 ms}\nactuators: {w: {kind: wrench, node: bus.origin}}\ncommands:\n  - {channel: "
       "w.force.x, table: [[1 s, 0], [0 s, 0]]}\n",
       "grow", 4},
      {"simulation: {step: 1 ms}\nactuators: {t: {kind: thruster, node: bus.origin, direction: [1, 0, 0], thrust: "
       "1}}\ncommands:\n  - {channel: t.on_time, sine: {amplitude: 1, frequency: 1}}\n",
       "only 'value'", 4},
      {"simulation: {step: 1 ms}\nactuators: {t: {kind: thruster, node: bus.origin, direction: [1, 0, 0], thrust: "
       "1}}\ncommands:\n  - {channel: t.on_time, value: -1 ms}\n",
       "must", 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect(cases[i].lines, cases[i].says, cases[i].line);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_is_read_with_what_it_requires),
      cmocka_unit_test(every_parameter_is_refused_when_it_is_misspelt_or_no_value_of_its),
      cmocka_unit_test(mistakes_of_runs_are_reported_at_their_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
