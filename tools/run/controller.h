/* The controllers that `orrery run` links in: they answer the links of a batch run, and those of transport `linked`.
 *
 *   stand_in: cassini             the sample flight software (tools/fsw) with its data for that mission
 *   stiffness and damping         its plain law (tools/fsw/attitude.h)
 */
#ifndef ORR_TOOLS_RUN_CONTROLLER_H
#define ORR_TOOLS_RUN_CONTROLLER_H

#include <stdio.h>

#include "io/session/session.h"

orr_answer_fn orr_controller_answer;

/* [init] Whether the controllers that the links name exist, with the channels that they need; what is missing goes to
 * `out`. */
bool orr_controller_fits(const struct orr_run *run, const char *path, FILE *out);

#endif
