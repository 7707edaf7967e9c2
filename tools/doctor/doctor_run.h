/* What a run file asks of the machine, for `orrery doctor RUN.yaml`: its period beside what its frames cost.
 *
 * open → judge, options → close. [init]
 */
#ifndef ORR_TOOLS_DOCTOR_DOCTOR_RUN_H
#define ORR_TOOLS_DOCTOR_DOCTOR_RUN_H

#include "io/realtime.h"
#include "tools/common/doctor_checks.h"

struct orr_doctor_run {
  struct orr_diagnostics *diagnostics;
  struct orr_session *session;
  struct orr_realtime realtime;
  struct orr_work work; /* computes the run's frames; commands and links play no part */
};

/* Reads, builds and rehearses the run. False after saying on stderr what is wrong; close is due in any case. */
bool orr_doctor_run_open(struct orr_doctor_run *run, const char *path);
void orr_doctor_run_close(struct orr_doctor_run *run);

/* The period beside the rehearsed cost of a frame. */
void orr_doctor_judge_frame(const struct orr_rehearsal *seen, int64_t period_ns, struct orr_check *check);

#endif
