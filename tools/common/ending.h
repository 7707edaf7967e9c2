/* The exit statuses of all commands, and the one function that judges the end of a run.
 *
 * configs/conventions.md ("How a command ends") states the same for users. [any]; O(1); nothing fails.
 */
#ifndef ORR_TOOLS_COMMON_ENDING_H
#define ORR_TOOLS_COMMON_ENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The exit status of a command. Its output gives the reason. */
enum orr_exit {
  ORR_EXIT_OK = 0,         /* the work was done, and the answer is good; of a run: flown, every expectation met */
  ORR_EXIT_BAD = 1,        /* an expectation was not met, the solution diverged, a file is wrong, a finding is bad */
  ORR_EXIT_USAGE = 2,      /* the command line is wrong: a message on stderr names `orrery help NAME` */
  ORR_EXIT_INCOMPLETE = 3, /* what was asked for was not flown or measured to its end: neither good nor bad */
};

/* The status of a command that has earned both: 2 outranks 1, 1 outranks 3, 3 outranks 0. */
enum orr_exit orr_exit_outranking(enum orr_exit a, enum orr_exit b);

/* The facts about a run that is over, in any mode. */
struct orr_ending {
  int64_t frames_asked; /* the duration in force, from the first frame of this run; 0: the run has none */
  int64_t frames_flown;
  bool told_to_end;    /* a signal or the flight software ended it: without a duration, that is the run's end */
  bool diverged;       /* the solver failed */
  bool unwritten;      /* a file that the run was to leave could not be written */
  size_t met, not_met; /* expectations */
  size_t not_judged;   /* expectations that this mode does not measure, and those of a window that was not reached */
  size_t out_of_reach; /* of those: their window begins after the duration in force */
  size_t uncommanded;  /* realtime and lockstep: links with `commands:` that got none */
};

/* Why a run has not passed. The first three make it fail; the others make it incomplete. */
enum orr_reason {
  ORR_REASON_DIVERGED,
  ORR_REASON_NOT_MET,
  ORR_REASON_UNWRITTEN,
  ORR_REASON_ENDED_EARLY,
  ORR_REASON_OUT_OF_REACH,
  ORR_REASON_UNCOMMANDED,
  ORR_REASONS
};

struct orr_judgement {
  bool reason[ORR_REASONS];
  enum orr_exit exit;
  const char *verdict; /* "passed", "failed" or "incomplete" */
};

/* The judgement of a run: ORR_EXIT_OK, _BAD or _INCOMPLETE. It lists all reasons, also those that do not decide. */
struct orr_judgement orr_ending_judge(const struct orr_ending *ending);

/* One word for programs: "ended_early". */
const char *orr_reason_name(enum orr_reason reason);

#endif
