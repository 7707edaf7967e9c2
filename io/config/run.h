/* Reads the sections of a run file (conventions, "The run file") beside its spacecraft: devices, pointing, simulation, scripted commands,
 * links to controllers that are linked in, what a run in real time asks of the machine.
 *
 * orr_config_load → orr_run_read → use it while the diagnostics live. [init]; one thread at a time.
 * A section, kind or transport that is not built yet is an error that says so.
 */
#ifndef ORR_IO_CONFIG_RUN_H
#define ORR_IO_CONFIG_RUN_H

#include "core/plant.h"
#include "io/config/case.h"
#include "rt/executive.h"

/* A scripted command: from `at_ns` on, the last entry that has begun rules its channel. */
enum orr_script_form { ORR_SCRIPT_STEP, ORR_SCRIPT_RAMP, ORR_SCRIPT_SINE, ORR_SCRIPT_TABLE };

struct orr_script_entry {
  enum orr_script_form form;
  int channel, element;     /* element -1: all numbers of the channel */
  int64_t at_ns, until_ns;  /* until another entry takes the channel over */
  const double *values;     /* step: [count of the channel, or 1] */
  double from, to;          /* ramp */
  int64_t over_ns;          /* ramp: its length; the end value stands after it */
  double amplitude, offset; /* sine: offset + amplitude sin(2π f (t − at) + phase) */
  double frequency_hz, phase_rad;
  size_t row_count; /* table */
  const int64_t *row_ns;
  const double *row_values; /* linear between rows, the last one stands */
};

/* A controller that is linked in: it is given the telemetry of frame kd and its commands are latched at frame (k+1)d
 * (both later by its phase). */
struct orr_run_link {
  const char *name;
  int divisor, phase; /* it is due in frames k·divisor + phase */
  int telemetry_count, command_count;
  const int *telemetry, *commands; /* channels */
  double stiffness[3], damping[3]; /* N m/rad, N m s/rad: its gains about the axes of its sensors */
};

/* `realtime`: how the loop keeps time. */
struct orr_run_realtime {
  int core;                  /* or ORR_CORE_AUTO, ORR_CORE_ANY */
  int priority;              /* SCHED_FIFO; 0: none */
  int64_t spin_ns, phase_ns; /* or ORR_AUTO_NS */
  enum orr_overrun_policy policy;
  uint32_t limit; /* frames in a row that catch_up runs at once */
  bool strict;    /* what the machine cannot give ends the start */
};

struct orr_run {
  struct orr_config *config;
  struct orr_description spacecraft; /* with the rotors of the devices */
  struct orr_plant_desc plant;       /* but for the initial state, which needs the compiled model */
  const struct orr_case_body *initial;
  struct orr_channel_table table; /* the channels that the plant will have */
  int64_t duration_ns;            /* 0: until stopped */
  size_t script_count;
  const struct orr_script_entry *script;
  size_t link_count;
  const struct orr_run_link *links;
  struct orr_run_realtime realtime;
};

/* [init] NULL when anything is wrong: every mistake is then among the diagnostics that the config was loaded with. O(text). */
const struct orr_run *orr_run_read(struct orr_config *config);

#endif
