#include "tools/run/controller.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/fsw/allocate.h"
#include "tools/fsw/attitude.h"
#include "tools/fsw/flight.h"

enum { RATE, ATTITUDE, TARGET };

_Static_assert(sizeof(struct orr_fsw) <= sizeof(double[ORR_ANSWER_MEMORY]), "the flight software fits its memory");

/* Where the numbers of a channel stand among those of a list; −1: nowhere. */
static int find(const struct orr_channel_table *table, const int *channels, int count, const char *name) {
  for (int i = 0, at = 0; i < count; i++) {
    const struct orr_channel *c = &table->channels[channels[i]];
    if (strcmp(c->name, name) == 0)
      return at;
    at += c->count;
  }
  return -1;
}

/* Copies a channel's numbers; NaN where the link has not got it, which the flight software does not fly on. */
static void take(const struct orr_answer *a, const char *name, double *out, int count) {
  int at = find(a->table, a->link->telemetry, a->link->telemetry_count, name);
  for (int i = 0; i < count; i++)
    out[i] = at >= 0 ? a->telemetry[at + i] : __builtin_nan("");
}

static void give(const struct orr_answer *a, const char *name, double value) {
  int at = find(a->table, a->link->commands, a->link->command_count, name);
  if (at >= 0)
    a->commands[at] = value;
}

static void answer_as_flight_software(const struct orr_answer *a, const struct orr_mission *mission) {
  struct orr_fsw fsw;
  struct orr_fsw_in in = {.time_ns = a->time_ns};
  struct orr_fsw_out out;
  char target[48];
  snprintf(target, sizeof target, "%s.target", mission->pointed);
  memcpy(&fsw, a->memory, sizeof fsw);
  take(a, "gyro.rate", in.rate, 3);
  take(a, "star.attitude", in.attitude, 4);
  take(a, "star.valid", &in.valid, 1);
  take(a, target, in.target, 4);
  for (int k = 0; k < ORR_FSW_WHEELS; k++) {
    char name[32];
    snprintf(name, sizeof name, "wheel_%d.speed", k + 1);
    take(a, name, &in.wheel_speed[k], 1);
  }
  orr_fsw_step(mission, &fsw, &in, &out);
  for (int k = 0; k < ORR_FSW_WHEELS; k++) {
    char name[32];
    snprintf(name, sizeof name, "wheel_%d.torque", k + 1);
    give(a, name, out.wheel_torque[k]);
  }
  for (int k = 0; k < ORR_FSW_JETS; k++) {
    char name[32];
    snprintf(name, sizeof name, "jet_%d.on_time", k + 1);
    give(a, name, out.on_time[k]);
  }
  memcpy(a->memory, &fsw, sizeof fsw);
}

/* ---- gains ------------------------------------------------------------------------------------------------------- */

/* The commands of one kind, gathered, and where each stands. */
struct gathered {
  int count, at[ORR_ALLOCATE_THRUSTERS];
  double torque[ORR_ALLOCATE_THRUSTERS][3], force[ORR_ALLOCATE_THRUSTERS][3], limit[ORR_ALLOCATE_THRUSTERS];
};

static void gather(const struct orr_answer *a, enum orr_run_effect_kind kind, struct gathered *g) {
  g->count = 0;
  for (int i = 0, at = 0; i < a->link->command_count && g->count < ORR_ALLOCATE_THRUSTERS;
       at += a->table->channels[a->link->commands[i++]].count) {
    const struct orr_run_effect *e = &a->link->effects[i];
    if (e->kind != kind)
      continue;
    memcpy(g->torque[g->count], e->torque, sizeof e->torque);
    memcpy(g->force[g->count], e->force, sizeof e->force);
    g->limit[g->count] = e->limit;
    g->at[g->count++] = at;
  }
}

/* Wheels give what they can, in the direction that is asked for; what is beyond the torque of one, and what wheels that
 * do not span the axes cannot turn, is left for thrusters. */
static void turn_wheels(const struct orr_answer *a, double torque[3]) {
  struct gathered wheels;
  double out[ORR_ALLOCATE_THRUSTERS], rest[3], part = 1;
  memcpy(rest, torque, sizeof rest);
  gather(a, ORR_EFFECT_WHEEL, &wheels);
  if (a->link->wheels_span)
    orr_allocate_wheels(wheels.count, (const double(*)[3])wheels.torque, torque, out);
  else
    orr_allocate_few_wheels(wheels.count, (const double(*)[3])wheels.torque, rest, out);
  for (int k = 0; k < wheels.count; k++)
    if (wheels.limit[k] > 0 && fabs(out[k]) * part > wheels.limit[k])
      part = wheels.limit[k] / fabs(out[k]);
  for (int k = 0; k < wheels.count; k++)
    a->commands[wheels.at[k]] = part < 1 ? part * out[k] : out[k];
  for (int i = 0; i < 3; i++) /* of few wheels: what they turn is `torque` less `rest` */
    torque[i] = a->link->wheels_span ? torque[i] * (1 - part) : torque[i] - part * (torque[i] - rest[i]);
}

static void answer_by_gains(const struct orr_answer *a) {
  struct gathered jets;
  double torque[3], on_time[ORR_ALLOCATE_THRUSTERS], impulse[3];
  double period_s = 1e-9 * (double)a->link->period_ns;
  const int *law = a->link->law;
  orr_attitude_control(a->telemetry + law[RATE], a->telemetry + law[ATTITUDE], a->telemetry + law[TARGET],
                       a->link->stiffness, a->link->damping, torque); /* on the rotors: the body feels its opposite */
  gather(a, ORR_EFFECT_THRUSTER, &jets);
  turn_wheels(a, torque);
  if (jets.count == 0)
    return;
  for (int i = 0; i < 3; i++)
    impulse[i] = -torque[i] * period_s;
  orr_allocate_thrusters(jets.count, (const double(*)[3])jets.torque, (const double(*)[3])jets.force, impulse, period_s,
                         on_time);
  for (int k = 0; k < jets.count; k++)
    a->commands[jets.at[k]] = on_time[k];
}

void orr_controller_answer(const struct orr_answer *a) {
  const struct orr_mission *mission = a->link->stand_in_name ? orr_mission_find(a->link->stand_in_name) : NULL;
  if (mission)
    answer_as_flight_software(a, mission);
  else if (a->link->effects)
    answer_by_gains(a);
}

static bool has(const struct orr_run *run, const struct orr_run_link *link, const char *name, bool command,
                const char *path, FILE *out) {
  const int *channels = command ? link->commands : link->telemetry;
  if (find(&run->table, channels, command ? link->command_count : link->telemetry_count, name) >= 0)
    return true;
  fprintf(out, "%s: error: link '%s': the stand-in '%s' needs '%s' among its %s\n", path, link->name,
          link->stand_in_name, name, command ? "commands" : "telemetry");
  return false;
}

static bool fits(const struct orr_run *run, const struct orr_run_link *link, const char *path, FILE *out) {
  const struct orr_mission *mission = orr_mission_find(link->stand_in_name);
  static const char *const always[] = {"gyro.rate", "star.attitude", "star.valid"};
  bool good = true;
  char target[48];
  if (!mission) {
    fprintf(out, "%s: error: link '%s': there is no stand-in '%s'; there are", path, link->name, link->stand_in_name);
    for (int i = 0; orr_mission_get(i); i++)
      fprintf(out, "%s %s", i ? "," : "", orr_mission_get(i)->name);
    fputc('\n', out);
    return false;
  }
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    good &= has(run, link, always[i], false, path, out);
  snprintf(target, sizeof target, "%s.target", mission->pointed);
  good &= has(run, link, target, false, path, out);
  for (int k = 1; k <= ORR_FSW_WHEELS; k++) {
    char name[32];
    snprintf(name, sizeof name, "wheel_%d.speed", k);
    good &= has(run, link, name, false, path, out);
    snprintf(name, sizeof name, "wheel_%d.torque", k);
    good &= has(run, link, name, true, path, out);
  }
  for (int k = 1; k <= ORR_FSW_JETS && mission->jet_period > 0; k++) {
    char name[32];
    snprintf(name, sizeof name, "jet_%d.on_time", k);
    good &= has(run, link, name, true, path, out);
  }
  return good;
}

bool orr_controller_fits(const struct orr_run *run, const char *path, FILE *out) {
  bool good = true;
  for (size_t i = 0; i < run->link_count; i++)
    if (run->links[i].stand_in_name)
      good &= fits(run, &run->links[i], path, out);
  return good;
}
