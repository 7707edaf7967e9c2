/* A timing case: which run is flown, for how long, and what the machine does beside it.
 *
 *   timing: 1
 *   run: reference.yaml                   # beside this file
 *   set: [simulation.step=1ms]            # laid over it
 *   slices: 20                            # each a flight in a process of its own
 *   slice: 5 s                            # measured, after
 *   warm_up: 1 s                          # flown and not measured
 *   load: {cores: [0, 1], workers: 1, kind: auto}
 *   peer: echo                            # answers the links: echo, none, or a command for the shell
 *
 * [init]; lives as long as the diagnostics.
 */
#ifndef ORR_TOOLS_TIMING_TIMING_CASE_H
#define ORR_TOOLS_TIMING_TIMING_CASE_H

#include <jansson.h>

#include "io/config/run/run_file.h"

enum { ORR_TIMING_CORES_MAX = 64, ORR_TIMING_SETTINGS_MAX = 64 };

enum orr_timing_load { ORR_TIMING_LOAD_AUTO, ORR_TIMING_LOAD_STRESS_NG, ORR_TIMING_LOAD_BURNER };

struct orr_timing_case {
  const char *path;
  const char *run_path;
  const char *settings[ORR_TIMING_SETTINGS_MAX];
  size_t setting_count;
  int64_t slices, slice_ns, warm_up_ns;
  enum orr_timing_load load;
  size_t core_count; /* 0: no load */
  int core[ORR_TIMING_CORES_MAX];
  int64_t workers;    /* on each core */
  const char *stress; /* arguments for stress-ng */
  const char *peer;   /* "echo", "none" or a command */
  const struct orr_run *run;
  char identity[17]; /* of the case, its run and all that they read: 64 bits */
};

/* Reads a case and its run, with more settings behind those of the case. False: what is wrong is among the
 * diagnostics. */
bool orr_timing_case_load(const char *path, const char *const *settings, size_t setting_count,
                          struct orr_diagnostics *diagnostics, struct orr_timing_case *out);

#endif
