/* `orrery run --mode realtime`: a session under the executive, from its first tick to its summary. */
#ifndef ORR_TOOLS_RUN_FLY_REALTIME_H
#define ORR_TOOLS_RUN_FLY_REALTIME_H

#include "io/session/realtime.h"
#include "tools/common/fix.h"
#include "tools/common/progress.h"
#include "tools/run/links_report.h"
#include "tools/run/plot.h"
#include "tools/run/run_log.h"
#include "tools/run/run_status.h"

struct orr_realtime_request {
  const char *path;
  bool json;
  bool *told; /* set once the summary was printed */
  const struct orr_fix_request *fix;
  const struct orr_plot *plot; /* NULL: none */
  const char *plot_path;
  const char *json_file, *junit; /* written besides; NULL: not */
  const char *save;              /* NULL: none */
  const char *ready;             /* orr_links_wait's */
  enum orr_links_sandbox sandbox;
  const char *origin; /* orr_run_report's */
  struct orr_run_status *status;
  struct orr_run_log *log;             /* chosen, not started */
  struct orr_diagnostics *diagnostics; /* of the run file */
};

/* Flies the started session to the end of its duration or to a signal, writes the files asked for and prints the
 * summary. Returns an enum orr_exit. */
int orr_run_realtime(const struct orr_realtime_request *request, struct orr_session *session);

/* Waits for the end; the signals in `signals`, which the caller has blocked, end the run. Returns
 * the signal, or 0. Draws `status` meanwhile, or `progress` of so many frames; NULL: nothing. */
int orr_run_realtime_wait(struct orr_executive *executive, const struct orr_control *control, const sigset_t *signals,
                          struct orr_run_status *status, struct orr_run_log *log, struct orr_progress *progress,
                          uint64_t frames);

/* Blocks the signals that end a run, for this thread and those that it will start; *before gets the old mask. */
void orr_run_realtime_block(sigset_t *signals, sigset_t *before);

#endif
