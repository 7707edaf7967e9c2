/* What the controller that is linked in does with the commands of a link: for `orrery check`, and the summary of a run
 * that it flies. */
#ifndef ORR_TOOLS_RUN_CONTROLLER_REPORT_H
#define ORR_TOOLS_RUN_CONTROLLER_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "io/config/run/run_file.h"

/* [init] Which of the commands it gives, and when; lines of their own. */
void orr_controller_print(const struct orr_run *run, const struct orr_run_link *link, FILE *out);
json_t *orr_controller_json(const struct orr_run *run, const struct orr_run_link *link);

/* [init] The commands that the plain law leaves as they are, "a.torque, b.dipole", as text to be freed; NULL: none. */
char *orr_controller_left(const struct orr_run *run, const struct orr_run_link *link);

#endif
