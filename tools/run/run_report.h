/* The report of a flight, the same in every mode of `orrery run`. */
#ifndef ORR_TOOLS_RUN_RUN_REPORT_H
#define ORR_TOOLS_RUN_RUN_REPORT_H

#include <jansson.h>

#include "io/session/session.h"
#include "rt/tick/stats.h"
#include "tools/run/run_log.h"

struct orr_run_report {
  const char *path, *mode;
  const struct orr_session *session;
  int64_t first_frame;
  int64_t frames_asked; /* from there to the end of the duration in force; 0: until stopped */
  double took_s;
  const char *origin;            /* where a restored run begins; NULL or empty: at frame 0 */
  const char *end;               /* how, where no link ended it; NULL: all frames were flown */
  bool signalled;                /* a signal ended it, and no link says so */
  bool with_links;               /* realtime and lockstep: links are to bring commands */
  bool unwritten;                /* a file that the run was to leave could not be written */
  const struct orr_stats *stats; /* where a clock was kept */
  const struct orr_live *live;
  const struct orr_run_log *log; /* NULL: there was no frame to log */
};

/* Prints what was flown; and how it ended: pointing, links, state_hash and the verdict. A mode may print more between
 * the two. On stdout. */
void orr_run_report_heading(const struct orr_run_report *report);
void orr_run_report_end(const struct orr_run_report *report);

/* The same as data, with the last values of channels. The caller owns the reference. */
json_t *orr_run_report_json(const struct orr_run_report *report);

/* Writes it to a file. False after saying on stderr that it cannot be; what stood there before stays. */
bool orr_run_report_save(const char *path, const json_t *root);

/* Heading and end, or the same as data. */
void orr_run_report_tell(const struct orr_run_report *report, bool json);

/* The object of a run that did not start. `what` says what is wrong (NULL or empty: only standard error says it);
 * `usage`: the command line is wrong. The caller owns the reference. */
json_t *orr_run_report_nothing(const char *path, const char *mode, const char *what, bool usage);

/* Why the solver stopped the run, on stderr. */
void orr_run_report_failure(const char *path, const struct orr_session *session, enum orr_status status);

#endif
