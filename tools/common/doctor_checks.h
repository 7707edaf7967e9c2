/* The findings of `orrery doctor` about a machine: each with why it matters and the command that mends it. */
#ifndef ORR_TOOLS_COMMON_DOCTOR_CHECKS_H
#define ORR_TOOLS_COMMON_DOCTOR_CHECKS_H

#include <stddef.h>

#include "rt/machine/environment.h"

enum orr_health { ORR_HEALTH_OK, ORR_HEALTH_WARN, ORR_HEALTH_BAD };

enum { ORR_CHECK_TEXT_MAX = 200, ORR_CHECKS_MAX = 24 };

struct orr_check {
  const char *name;
  enum orr_health health;
  char finding[ORR_CHECK_TEXT_MAX];
  const char *why;               /* it matters */
  char mend[ORR_CHECK_TEXT_MAX]; /* a command or what to do; empty: nothing to do */
  bool by_fix;                   /* `--fix` does it for the time of its run */
};

/* Judges the facts; returns how many checks were written. */
size_t orr_doctor_judge(const struct orr_environment *environment, struct orr_check checks[ORR_CHECKS_MAX]);

/* The io_uring features that the links use, tried out in this process. */
void orr_doctor_judge_uring(struct orr_check *check);

/* What to do, the largest gain first: indices of checks that are not ok; returns how many. */
size_t orr_doctor_advice(const struct orr_check *checks, size_t count, size_t order[ORR_CHECKS_MAX]);

const char *orr_health_name(enum orr_health health);

#endif
