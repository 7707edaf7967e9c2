/* What keeps the named cores busy while a case is flown. [init] */
#ifndef ORR_TOOLS_TIMING_TIMING_LOAD_H
#define ORR_TOOLS_TIMING_TIMING_LOAD_H

#include "tools/common/burners.h"
#include "tools/timing/timing_case.h"

struct orr_timing_loading {
  struct orr_burners burners;
  size_t count; /* stress-ng, each the head of a process group */
  pid_t pid[ORR_BURNERS_MAX];
};

/* Whether stress-ng is what the case's load means on this machine. */
bool orr_timing_load_is_stress(const struct orr_timing_case *c);

/* In words, for results: "stress-ng --cpu 1 on cores 0, 1". "none" without a load. */
const char *orr_timing_load_text(const struct orr_timing_case *c, char *text, size_t size);

/* False after a message: stress-ng is asked for and not there, a core is not online, or no process can be had on it. */
bool orr_timing_load_start(const struct orr_timing_case *c, struct orr_timing_loading *loading);
/* False after a message: one of its processes has ended by itself, so what flew had not the load of the case. */
bool orr_timing_load_lasts(const struct orr_timing_case *c, const struct orr_timing_loading *loading);
void orr_timing_load_end(struct orr_timing_loading *loading);

#endif
