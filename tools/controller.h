/* The attitude controller that can be linked into a run: what a link of transport `linked` is answered by. [rt], a pure function. */
#ifndef ORR_TOOLS_CONTROLLER_H
#define ORR_TOOLS_CONTROLLER_H

#include "io/session.h"

/* Telemetry: body rate (3), attitude (4), target attitude (4). Commands: torques of three wheels along the axes of the sensors. */
void orr_controller_answer(const struct orr_run_link *link, const double *telemetry, double *commands);

#endif
