/* Prints the verdict on each expectation of a run. [init] */
#ifndef ORR_TOOLS_RUN_EXPECT_REPORT_H
#define ORR_TOOLS_RUN_EXPECT_REPORT_H

#include <jansson.h>

#include "io/session/session.h"
#include "rt/tick/stats.h"
#include "tools/common/ending.h"

/* What was flown; stats and live are NULL where no clock was kept. */
struct orr_expect_report {
  const struct orr_session *session;
  const struct orr_stats *stats;
  const struct orr_live *live;
  int64_t begin_ns; /* when the run began */
};

/* Counts the expectations into met, not_met, not_judged and out_of_reach of `ending`. The duration in force is over at
 * `end_ns`. */
void orr_expect_count(const struct orr_expect_report *report, int64_t end_ns, struct orr_ending *ending);

/* Whether a step of the sequence judges it. */
bool orr_expect_is_of_step(const struct orr_run_expect *expect);

/* How long a run must be for the expectation to be judged: until its window begins, or until what it expects must have
 * happened. */
int64_t orr_expect_needs_ns(const struct orr_run_expect *expect);

/* Whether expectation i was not judged because the run was over before that, at `end_ns`. */
bool orr_expect_is_out_of_reach(const struct orr_expect_report *report, size_t i, int64_t end_ns);

/* A line for each expectation; nothing for a file that expects nothing. On stdout. */
void orr_expect_print(const struct orr_expect_report *report);

/* The same as a list. The caller owns the reference. */
json_t *orr_expect_json(const struct orr_expect_report *report);

#endif
