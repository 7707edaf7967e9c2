/* The verdict of a run as a JUnit file, for programs that collect test results. [init] */
#ifndef ORR_TOOLS_RUN_JUNIT_H
#define ORR_TOOLS_RUN_JUNIT_H

#include "tools/run/run_report.h"

/* One suite for the run: a case for the flight itself and one for each expectation. False after saying on stderr that
 * the file cannot be written; what stood there before stays. */
bool orr_junit_write(const char *path, const struct orr_run_report *report);

/* Text for an attribute, or between elements. What XML cannot hold becomes a question mark. */
void orr_junit_text(FILE *out, const char *text);

#endif
