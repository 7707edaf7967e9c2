/* The part of `orrery check` about the run: step and stiffest motion, devices with their channels, pointing, scripts,
 * links. [init] */
#ifndef ORR_TOOLS_CHECK_SUMMARY_RUN_H
#define ORR_TOOLS_CHECK_SUMMARY_RUN_H

#include <jansson.h>
#include <stdio.h>

#include "io/step_limit.h"

void orr_summary_run_print(const struct orr_run *run, const struct orr_stability *stability, FILE *out);

json_t *orr_summary_run_json(const struct orr_run *run, const struct orr_stability *stability);

#endif
