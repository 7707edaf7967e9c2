/* The attitude control of the sample flight software: three wheels, eight thrusters, a gyro, a star tracker.
 *
 *   gyro, tracker → estimate → mode → rate that brakes in time → torque → notch, roll-off → wheels,
 *   or pulses of the thrusters
 *
 * A zeroed struct orr_fsw is the state before the first frame. orr_fsw_step once for each frame of telemetry, in order.
 * [rt], one thread per struct; no allocation, no clock but the telemetry's own. The same telemetry gives the same
 * commands, so that it can be linked into a run (tools/run/controller.c) as well as fly at the other end of a link
 * (tools/fsw/main.c).
 */
#ifndef ORR_TOOLS_FSW_FLIGHT_H
#define ORR_TOOLS_FSW_FLIGHT_H

#include <stdint.h>

enum { ORR_FSW_WHEELS = 3, ORR_FSW_JETS = 8 };

/* What the software knows about a spacecraft: one entry of missions.c. All in the axes of the sensors, SI. */
struct orr_mission {
  const char *name;
  const char *pointed; /* the body whose `target` it follows; the sensors are on it */
  double inertia[3];
  double bandwidth, damping; /* rad/s and ratio, of the wheels' loop */
  double rate_limit;         /* of a slew */
  double notch, notch_width; /* rad/s: the first mode as the loop sees it; 0: none */
  double roll_off;           /* rad/s: above it the gain of the wheels' loop falls, because of modes there; 0: none */
  double wheel_axis[ORR_FSW_WHEELS][3]; /* orthonormal */
  double wheel_inertia, wheel_torque;
  double wheel_brake;            /* share of their torque that braking counts on */
  double dump_above, dump_below; /* rad/s: a dump of momentum begins and ends */
  /* thrusters; jet_period 0: none */
  double jet_period, jet_shortest; /* s */
  double jet_ramp;                 /* s, from nothing to full torque: a period of the first mode leaves it at rest */
  double jet_brake;                /* share of their torque that braking counts on */
  double jet_bandwidth;            /* rad/s */
  double jets_above, wheels_below, wheels_rate; /* rad, rad, rad/s: when to change over */
  double jet_torque[3];                         /* N m: of the pair for an axis */
  int jet_pair[3][2][2];                        /* axis, + or −: two thrusters, from 1 */
};

/* By name, or NULL; the i-th, or NULL. */
const struct orr_mission *orr_mission_find(const char *name);
const struct orr_mission *orr_mission_get(int i);

struct orr_fsw_in {
  int64_t time_ns;
  double rate[3];                     /* gyro */
  double attitude[4], valid;          /* star tracker, held between its samples */
  double target[4];                   /* where to point */
  double wheel_speed[ORR_FSW_WHEELS]; /* rad/s */
};

struct orr_fsw_out {
  double wheel_torque[ORR_FSW_WHEELS]; /* N m, on the rotors */
  double on_time[ORR_FSW_JETS];        /* s */
};

enum orr_fsw_mode { ORR_FSW_SAFE, ORR_FSW_WHEELS_HOLD, ORR_FSW_JETS_SLEW };

/* All its memory, as doubles, so that a run can save it with its own state. */
struct orr_fsw {
  double time_s, frames;              /* of the last telemetry; seen in a row */
  double attitude[4], bias[3];        /* the estimate */
  double last_star[4], star_s, stars; /* the last sample, when, how many in a row */
  double mode;                        /* enum orr_fsw_mode */
  double notch[3][2], lag[3];
  double pulse_s, push[3]; /* when thrusters were commanded last, to what torque */
  double dumping;
};

/* Telemetry → commands. Telemetry that cannot be used (not finite, too old) gives no command and leads to the safe
 * hold. */
void orr_fsw_step(const struct orr_mission *mission, struct orr_fsw *fsw, const struct orr_fsw_in *in,
                  struct orr_fsw_out *out);

#endif
