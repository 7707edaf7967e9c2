/* The data base of the sample flight software: the spacecraft of configs/ that it flies. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tools/fsw/flight.h"

#define RPM    0.10471975511965977
#define DEGREE 0.017453292519943295
#define HERTZ  6.283185307179586

static const struct orr_mission missions[] = {
    {
        .name = "cassini",
        .pointed = "bus",
        .inertia = {8700, 7900, 4700},
        .bandwidth = 0.3,
        .damping = 0.9,
        .rate_limit = 0.2 * DEGREE,
        .notch = 0.72 * HERTZ, /* the magnetometer boom */
        .notch_width = 0.5,
        /* three wheels of 54.7 deg to z, at right angles to each other */
        .wheel_axis = {{0, 0.8164965809277260, 0.5773502691896258},
                       {0.7071067811865476, -0.4082482904638631, 0.5773502691896258},
                       {-0.7071067811865476, -0.4082482904638631, 0.5773502691896258}},
        .wheel_inertia = 0.161,
        .wheel_torque = 0.13,
        .wheel_brake = 0.5,
        .dump_above = 1900 * RPM,
        .dump_below = 1200 * RPM,
        .jet_period = 0.2,
        .jet_shortest = 0.015,
        .jet_ramp = 1.4,
        .jet_brake = 0.75,
        .jet_bandwidth = 0.6,
        .jets_above = 0.3 * DEGREE,
        .wheels_below = 0.02 * DEGREE,
        .wheels_rate = 0.003 * DEGREE,
        .jet_torque = {3.1, 3.1, 3.1},
        .jet_pair = {{{5, 7}, {1, 3}}, {{1, 7}, {3, 5}}, {{4, 8}, {2, 6}}},
    },
    {
        .name = "wings",
        .pointed = "bus",
        .inertia = {2200, 950, 2100},
        .bandwidth = 0.35,
        .damping = 0.8,
        .rate_limit = 1.5 * DEGREE,
        .notch = 0.45 * HERTZ, /* both wings, out of their plane, the bus against them */
        .notch_width = 0.4,
        .wheel_axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        .wheel_inertia = 0.3,
        .wheel_torque = 8,
        .wheel_brake = 0.6,
        .dump_above = HUGE_VAL, /* nothing to dump with */
    },
    {
        .name = "chain",
        .pointed = "link_6",
        .inertia = {1.2, 3330, 3330},
        .bandwidth = 0.2,
        .damping = 0.8,
        .rate_limit = 0.15 * DEGREE,
        .notch = 0.37 * HERTZ, /* both halves against the middle */
        .notch_width = 0.4,
        .roll_off = 2, /* its middle alone weighs 10 kg */
        .wheel_axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        .wheel_inertia = 0.015,
        .wheel_torque = 0.6,
        .wheel_brake = 0.5,
        .dump_above = HUGE_VAL,
    },
};

const struct orr_mission *orr_mission_get(int i) {
  return i >= 0 && i < (int)(sizeof missions / sizeof *missions) ? &missions[i] : NULL;
}

const struct orr_mission *orr_mission_find(const char *name) {
  for (int i = 0; orr_mission_get(i); i++)
    if (strcmp(orr_mission_get(i)->name, name) == 0)
      return orr_mission_get(i);
  return NULL;
}
