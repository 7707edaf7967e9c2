/* One slice of a timing case: a flight in real time in this process, and what is to be kept of it. [init] */
#ifndef ORR_TOOLS_TIMING_TIMING_SLICE_H
#define ORR_TOOLS_TIMING_TIMING_SLICE_H

#include <jansson.h>

#include "tools/timing/timing_case.h"

/* Flies it and makes a result with one part and one slice. An enum orr_exit; *result is NULL but for ORR_EXIT_OK. */
int orr_timing_slice_fly(const struct orr_timing_case *c, json_t **result);

#endif
