/* The verdict of a run on what its file expects. [init] */
#ifndef ORR_TOOLS_RUN_EXPECT_REPORT_H
#define ORR_TOOLS_RUN_EXPECT_REPORT_H

#include <jansson.h>

#include "io/session.h"
#include "rt/tick/stats.h"

/* What was flown; stats and live are NULL where no clock was kept. */
struct orr_expect_report {
  const struct orr_session *session;
  const struct orr_stats *stats;
  const struct orr_live *live;
};

/* How many expectations are not met. */
size_t orr_expect_unmet(const struct orr_expect_report *report);

/* A line for each expectation and one for all; nothing for a file that expects nothing. On stdout. */
void orr_expect_print(const struct orr_expect_report *report);

/* The same as a list. The caller owns the reference. */
json_t *orr_expect_json(const struct orr_expect_report *report);

#endif
