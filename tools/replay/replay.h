/* The parts of `orrery replay`. [init] */
#ifndef ORR_TOOLS_REPLAY_REPLAY_H
#define ORR_TOOLS_REPLAY_REPLAY_H

#include "io/session/session.h"
#include "tools/common/log_rows.h"

/* Expectations that replace those of the log: a file that is laid over its run. */
struct orr_replay_rules {
  const struct orr_text_file *file;
  /* Called when the log has been flown to its end, before anything is printed: whether every number was the same, and
   * whether the log has all frames. */
  void (*judged)(void *user, const struct orr_session *session, bool identical, bool whole);
  void *user;
  char **told; /* what was said last of a run that cannot be read, to free: the same is said once */
};

struct orr_replay_arguments {
  const char *path, *with;
  bool json;
  uint64_t from_ns, to_ns;
  const struct orr_replay_rules *rules; /* NULL: none */
};

/* Each returns the exit status. */
int orr_replay_fly(const struct orr_replay_arguments *arguments);
int orr_replay_compare(const struct orr_replay_arguments *arguments);

/* [any] How many doubles lie between two, 0 for the same bits; UINT64_MAX where one is NaN. */
uint64_t orr_replay_ulps(double a, double b);

#endif
