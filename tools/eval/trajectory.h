/* `orrery eval --trajectory`: the motion from a case's state under its constant forces, as data. [init] */
#ifndef ORR_TOOLS_EVAL_TRAJECTORY_H
#define ORR_TOOLS_EVAL_TRAJECTORY_H

#include "core/plant/integrate.h"
#include "tools/eval/evaluation.h"

enum { ORR_TRAJECTORY_MOST = 10000 };

struct orr_trajectory {
  int64_t times_ns[ORR_TRAJECTORY_MOST]; /* growing, from 0 */
  size_t count;
  int64_t step_ns;
  enum orr_integrator integrator;
};

/* `T1,T2,…`: times in s, or with units. NULL, or what is wrong with it. */
const char *orr_trajectory_parse(struct orr_trajectory *trajectory, const char *times);

/* The result as JSON, or NULL with the solver's status, the body (−1: none) and the time of the failure. A time off the
 * grid of steps is reached by a shorter last step, from which the grid goes on. */
json_t *orr_trajectory_run(const struct orr_trajectory *trajectory, struct orr_evaluation *e, enum orr_status *status,
                           int *body, double *time_s);

#endif
