/* The live screen of `orrery run --mode realtime`: time, latency, pointing error, modes, loads, links.
 *
 * orr_run_status_choose, after orr_session_create and before the start → orr_run_status_draw from the main thread while
 * the run flies → orr_run_status_wipe. Where stderr is a terminal it is redrawn, cut to what fits; elsewhere there is a
 * plain line each five seconds. The first time that commands are refused a line says why, also where nothing is
 * drawn. It only reads what the executive publishes and counts.
 */
#ifndef ORR_TOOLS_RUN_RUN_STATUS_H
#define ORR_TOOLS_RUN_RUN_STATUS_H

#include "io/session/session.h"
#include "rt/tick/stats.h"

struct orr_run_status {
  struct orr_watch watch;
  const struct orr_session *session;
  const char *path;
  bool shown, terminal;
  int lines, columns, rows;               /* on it now, and its size */
  int64_t next_ns;                        /* when the next plain line is due */
  uint64_t out, applied;                  /* of links, when they were looked at last */
  uint64_t refused;                       /* then, commands */
  bool silent;                            /* frames went out since, and no command was applied */
  bool refusing;                          /* and those that came were refused */
  bool said;                              /* that commands are refused */
  int pointing, modes, mode_count, loads; /* indices of the watch; −1: none */
  const char *load_name;
};

void orr_run_status_choose(struct orr_run_status *status, struct orr_session *session, const char *path, bool wanted);
void orr_run_status_draw(struct orr_run_status *status, const struct orr_stats *stats);
void orr_run_status_wipe(struct orr_run_status *status);

#endif
