/* The statistics of a run and the environment it ran in, for people and as JSON. Used by doctor, top, bench and run
 * summaries. */
#ifndef ORR_TOOLS_COMMON_TIMING_REPORT_H
#define ORR_TOOLS_COMMON_TIMING_REPORT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "rt/machine/environment.h"
#include "rt/machine/setup.h"
#include "rt/tick/stats.h"

/* "12.3 us", "4.56 ms": three digits and the unit that suits. Returns text. */
enum { ORR_DURATION_TEXT = 24 };
const char *orr_duration_text(int64_t ns, char text[ORR_DURATION_TEXT]);

/* Percentiles by stage, late frames by cause, switches and faults. */
void orr_timing_print(FILE *out, const struct orr_stats *stats, const struct orr_live *live);
/* The `count` worst frames with their breakdown. */
void orr_timing_print_worst(FILE *out, const struct orr_stats *stats, size_t count);
/* What the machine did not give, a paragraph each. */
void orr_timing_print_lacks(FILE *out, const struct orr_lacks *lacks);

/* New references; NULL when memory is out. */
json_t *orr_timing_json(const struct orr_stats *stats, const struct orr_live *live);
json_t *orr_environment_json(const struct orr_environment *environment);
json_t *orr_lacks_json(const struct orr_lacks *lacks);

#endif
