/* Compares the period of a run with the cost of its frames, for `orrery doctor RUN.yaml`.
 *
 * open → judge, options → close. [init]
 */
#ifndef ORR_TOOLS_DOCTOR_DOCTOR_RUN_H
#define ORR_TOOLS_DOCTOR_DOCTOR_RUN_H

#include "io/session/realtime.h"
#include "tools/common/doctor_checks.h"

struct orr_doctor_run {
  struct orr_diagnostics *diagnostics;
  struct orr_session *session;
  struct orr_realtime realtime;
  struct orr_work work; /* computes the run's frames, without commands and links */
};

/* Reads, builds and rehearses the run. False after saying on stderr what is wrong; Call close in any case. */
bool orr_doctor_run_open(struct orr_doctor_run *run, const char *path);
void orr_doctor_run_close(struct orr_doctor_run *run);

/* Compares the period with the cost of the rehearsed frames. */
void orr_doctor_judge_frame(const struct orr_rehearsal *seen, int64_t period_ns, struct orr_check *check);

#endif
