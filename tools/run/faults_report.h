/* The faults of a run file that never began in the run: a test that goes on without the fault it is about says so.
 * [init] */
#ifndef ORR_TOOLS_RUN_FAULTS_REPORT_H
#define ORR_TOOLS_RUN_FAULTS_REPORT_H

#include <jansson.h>

#include "io/session/session.h"

/* On stdout two lines for each: why, and what to do. */
void orr_faults_print(const struct orr_session *session);

/* The same as a list. The caller owns the reference. */
json_t *orr_faults_json(const struct orr_session *session);

#endif
