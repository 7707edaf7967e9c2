/* The log of a run (io/session/recording): where it goes, what it knows of the run and the machine, what is said of it.
 * [init] */
#ifndef ORR_TOOLS_RUN_RUN_LOG_H
#define ORR_TOOLS_RUN_RUN_LOG_H

#include <limits.h>

#include <jansson.h>

#include "io/session/recording.h"

enum { ORR_RUN_LOG_TEXT = PATH_MAX + 200 };

struct orr_run_log {
  bool wanted, caged; /* caged: its thread goes into a sandbox that was prepared */
  const char *mode, *run_path;
  const char *const *settings;
  size_t setting_count;
  const char *origin; /* where a restored run begins; empty: it is not one */
  const char *folder; /* of logs that the mode writes by itself */
  char path[PATH_MAX];
  char refused[256]; /* why there is no log though it was wanted; empty: there is one */
  struct orr_recording recording;
  const struct orr_logger_result *result;
  bool told_stop, told_behind;
};

/* `file` as --log has it; NULL: ./orrery-logs/RUN-UTC.mcap where the mode logs by itself, or in the folder that the
 * environment names as ORRERY_LOGS (empty: no log); the oldest of these are deleted so that ten are left. `none`:
 * --no-log. Asks the plant for what will be recorded. */
void orr_run_log_choose(struct orr_run_log *log, const char *file, bool none, bool by_itself,
                        struct orr_session *session);

/* Before the first frame. A log that cannot be written is a warning: the flight does not need it. */
void orr_run_log_start(struct orr_run_log *log, struct orr_diagnostics *diagnostics, const char *const *stages,
                       bool patient);
/* While the run flies, any thread but always the same: a warning in `text`, once, when the log stops or loses frames;
 * false: nothing is new. */
bool orr_run_log_watch(struct orr_run_log *log, char *text, size_t size);
/* After the last frame was recorded. */
void orr_run_log_stop(struct orr_run_log *log);

/* In place of stop where no frame was flown: there is no log. */
void orr_run_log_drop(struct orr_run_log *log);

/* Where it is, what is missing in it, and how it is replayed: the end of a summary. Nothing where none was wanted. */
void orr_run_log_print(const struct orr_run_log *log);
void orr_run_log_json(const struct orr_run_log *log, json_t *root);

void orr_run_log_free(struct orr_run_log *log);

#endif
