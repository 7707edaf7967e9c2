/* The parts of `orrery replay`. [init] */
#ifndef ORR_TOOLS_REPLAY_REPLAY_H
#define ORR_TOOLS_REPLAY_REPLAY_H

#include "tools/common/log_rows.h"

struct orr_replay_arguments {
  const char *path, *with;
  bool json;
  uint64_t from_ns, to_ns;
};

/* Each returns the exit status. */
int orr_replay_fly(const struct orr_replay_arguments *arguments);
int orr_replay_compare(const struct orr_replay_arguments *arguments);

/* [any] How many doubles lie between two, 0 for the same bits; UINT64_MAX where one is no number. */
uint64_t orr_replay_ulps(double a, double b);

#endif
