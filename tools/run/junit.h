/* The verdict of a run as a JUnit file, for programs that collect test results. What is written holds to the schema of
 * Ant's JUnit reports and to that of Jenkins (tests/data/junit.xsd). [init] */
#ifndef ORR_TOOLS_RUN_JUNIT_H
#define ORR_TOOLS_RUN_JUNIT_H

#include "tools/run/run_report.h"

/* One suite for the run: a case for the flight itself and one for each expectation. False after saying on stderr that
 * the file cannot be written; what stood there before stays. */
bool orr_junit_write(const char *path, const struct orr_run_report *report);

/* A file of one suite: begin, the properties, cases, then <testcase> elements in a row, end. */
struct orr_junit_suite {
  const char *name;
  int tests, failures, errors, skipped;
  double took_s;
};
void orr_junit_begin(FILE *out, const struct orr_junit_suite *suite);
void orr_junit_property(FILE *out, const char *name, const char *value);
void orr_junit_cases(FILE *out);
void orr_junit_end(FILE *out);

/* Text for an attribute, or between elements. What XML cannot hold becomes a question mark. */
void orr_junit_text(FILE *out, const char *text);

#endif
