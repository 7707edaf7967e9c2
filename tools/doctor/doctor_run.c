#include "tools/doctor/doctor_run.h"

#include <string.h>

#include "rt/machine/denormals.h"
#include "tools/common/timing_report.h"
#include "tools/run/controller.h"
#include "tools/run/run_report.h"

bool orr_doctor_run_open(struct orr_doctor_run *run, const char *path) {
  memset(run, 0, sizeof *run);
  run->diagnostics = orr_diagnostics_create();
  const struct orr_run *file = orr_run_load(path, NULL, run->diagnostics);
  orr_diagnostics_print(run->diagnostics, 0, stderr, false);
  if (!file)
    return false;
  run->session = orr_session_create(file, orr_controller_answer);
  orr_rt_flush_denormals();
  enum orr_status status = orr_session_start(run->session);
  if (status != ORR_OK) {
    orr_run_report_failure(path, run->session, status);
    return false;
  }
  orr_realtime_init(&run->realtime, run->session);
  run->work = orr_realtime_computing(&run->realtime);
  return true;
}

void orr_doctor_run_close(struct orr_doctor_run *run) {
  if (run->realtime.session)
    orr_realtime_close(&run->realtime);
  orr_session_destroy(run->session);
  orr_diagnostics_destroy(run->diagnostics);
}

void orr_doctor_judge_frame(const struct orr_rehearsal *seen, int64_t period_ns, struct orr_check *check) {
  char typical[ORR_DURATION_TEXT], longest[ORR_DURATION_TEXT], period[ORR_DURATION_TEXT];
  *check = (struct orr_check){.name = "frame cost"};
  check->why = "a frame must be over before the next tick, with room for a late wake-up";
  snprintf(check->finding, sizeof check->finding, "%s typically, %s at most, undisturbed; the period is %s",
           orr_duration_text(seen->typical_ns, typical), orr_duration_text(seen->longest_ns, longest),
           orr_duration_text(period_ns, period));
  if (seen->frames == 0)
    snprintf(check->finding, sizeof check->finding, "the first frame cannot be computed; the run would say why");
  else if (2 * seen->longest_ns <= period_ns)
    return;
  check->health = seen->frames == 0 || seen->longest_ns > period_ns ? ORR_HEALTH_BAD : ORR_HEALTH_WARN;
  snprintf(check->mend, sizeof check->mend,
           "a longer simulation.step, fewer substeps or modes, a cheaper integrator or deformation: linearized");
}
