/* The part of `orrery check` about the run: step and stiffest motion, devices with their channels, pointing, scripts,
 * links. [init] */
#ifndef ORR_TOOLS_CHECK_SUMMARY_RUN_H
#define ORR_TOOLS_CHECK_SUMMARY_RUN_H

#include <jansson.h>
#include <stdio.h>

#include "io/session/step_limit.h"

/* The channels that fit one of the patterns, all where it is NULL: a line each with direction, numbers, unit and what
 * it is. Returns how many. */
int orr_summary_channels_print(const struct orr_run *run, const char *patterns, FILE *out);

void orr_summary_run_print(const struct orr_run *run, const struct orr_stability *stability, FILE *out);

/* `channel_list` has those that fit. */
json_t *orr_summary_run_json(const struct orr_run *run, const struct orr_stability *stability, const char *patterns);

#endif
