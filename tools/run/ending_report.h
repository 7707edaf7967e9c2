/* Prints the verdict of a run, and the reasons why it has not passed. [init] */
#ifndef ORR_TOOLS_RUN_ENDING_REPORT_H
#define ORR_TOOLS_RUN_ENDING_REPORT_H

#include "tools/common/ending.h"
#include "tools/run/run_report.h"

/* The judgement of orr_ending_judge on what the report knows of the run. */
struct orr_judgement orr_ending_report_judge(const struct orr_run_report *report);

/* The line `verdict`, and below it each reason that was not printed above it, with what to do. On stdout. */
void orr_ending_report_print(const struct orr_run_report *report);

/* The same into `root`: `verdict`, and `reasons`, a list of {reason, what, do} that is empty for a run that passed. */
void orr_ending_report_json(const struct orr_run_report *report, json_t *root);

#endif
