/* What a comparison says: to people, as JSON, as JUnit, and as a picture. [init] */
#ifndef ORR_TOOLS_TIMING_VERDICT_REPORT_H
#define ORR_TOOLS_TIMING_VERDICT_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "tools/timing/timing_result.h"
#include "tools/timing/timing_verdict.h"

struct orr_timing_report {
  const char *base_path, *new_path;
  const struct orr_timing_result *base, *new;
  const struct orr_timing_comparison *comparison; /* its verdict rules, also where nothing could be compared */
  size_t reason_count;                            /* why they are not comparable */
  char (*reasons)[ORR_TIMING_REASON];
  bool facts_differ;  /* that is why: --across would compare them */
  size_t most_slices; /* of each, that may still be flown; 0: another's business */
};

void orr_timing_report_print(FILE *out, const struct orr_timing_report *report);
/* A new reference. */
json_t *orr_timing_report_json(const struct orr_timing_report *report);
/* False after a message. */
bool orr_timing_report_junit(const char *path, const struct orr_timing_report *report);
bool orr_timing_report_plot(const char *path, const struct orr_timing_report *report);

/* How many slices of each are worth flying next, from how far the intervals are from deciding; 0: the verdict stands.
 * */
size_t orr_timing_report_wants(const struct orr_timing_report *report);

#endif
