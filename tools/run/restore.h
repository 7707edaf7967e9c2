/* `orrery run --from LOG@12s`: computes the state that a logged run had at that time.
 *
 * orr_restore_open, which reads the log → read the run file: another, or the log's with orr_restore_options →
 * orr_restore_compute → orr_restore_put into the session that goes on → orr_restore_close. [init]
 *
 * It starts from a checkpoint of the log and flies on to that time as the logged run did: with the log's own files and
 * settings, and its commands. The new run may have other parameters, scripts and flight software.
 */
#ifndef ORR_TOOLS_RUN_RESTORE_H
#define ORR_TOOLS_RUN_RESTORE_H

#include "io/config/spacecraft/config.h"
#include "io/session/saved_state.h"
#include "tools/common/log_run.h"

struct orr_restore {
  char *path; /* of the log */
  uint64_t at_ns;
  int64_t frame; /* at that moment */
  bool open;
  struct orr_log_open log;
  struct orr_log_run of;
  uint64_t *record; /* NULL: not computed */
  struct orr_state_record state;
  size_t loop_words; /* of it */
};

/* Whether `text` is LOG@TIME; `restore` then has both. */
bool orr_restore_parse(struct orr_restore *restore, const char *text);

/* Each false after a message on stderr. */
bool orr_restore_open(struct orr_restore *restore);
bool orr_restore_compute(struct orr_restore *restore);
bool orr_restore_put(const struct orr_restore *restore, struct orr_session *session);

/* The files and settings that the log holds, with `settings` behind them; `room` of them. */
struct orr_config_options orr_restore_options(const struct orr_restore *restore, const char *const *settings,
                                              size_t count, const char **room);

void orr_restore_close(struct orr_restore *restore);

#endif
