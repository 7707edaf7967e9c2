/* Records a session into a log (io/log/logger).
 *
 *   orr_recording_choose before orr_session_start (it asks the plant for what is recorded) → orr_recording_start,
 * from when
 *   on the session's `record` hands frames over → orr_recording_checkpoint before a frame is published [rt]
 *   → orr_recording_stop → orr_recording_free
 *
 * A frame of the log is a copy of the frame's block: the outputs of the frame, and the commands that act in it.
 */
#ifndef ORR_IO_RECORDING_H
#define ORR_IO_RECORDING_H

#include "io/log/logger.h"
#include "io/session/session.h"
#include "rt/tick/stats.h"

struct orr_recording {
  struct orr_recorder recorder; /* first member: the session passes a pointer to it */
  struct orr_session *session;
  struct orr_logger *logger;
  bool *chosen;                /* [table.count] */
  const struct orr_live *live; /* the executive's measures, written by its own thread; NULL: there is no executive */
  uint64_t timed;              /* frames of it that were handed over */
  int64_t next;                /* the frame behind the last one handed over */
  struct orr_logger_link *links;
};

/* What the caller adds to the log. */
struct orr_recording_request {
  const char *path;          /* of a file that does not exist yet */
  const char *library;       /* what writes it */
  const char *build;         /* the same, for checkpoints */
  uint64_t keep_free;        /* bytes of the disk */
  bool patient;              /* not in real time: a full ring is waited for */
  bool caged;                /* its thread goes into a sandbox that was prepared */
  const char *const *stages; /* of the executive; NULL: none */
  const struct orr_mcap_pair *facts, *machine;
  size_t fact_count, machine_count;
  const struct orr_logger_text *texts;
  size_t text_count;
};

/* [init] Chooses what is recorded: the channels of the run file's `record`, or without it all that are computed anyway
 * (true values only where something else needs them). */
void orr_recording_choose(struct orr_recording *recording, struct orr_session *session);

/* [init] False with what is wrong in `message`: there is no log then, and the recording does nothing. */
bool orr_recording_start(struct orr_recording *recording, const struct orr_recording_request *request, char *message,
                         size_t size);

/* [rt] Before a frame is published: the state, where one is due. */
void orr_recording_checkpoint(struct orr_recording *recording);

/* [init] After the last frame was recorded. NULL where there is no log. */
const struct orr_logger_result *orr_recording_stop(struct orr_recording *recording, const struct orr_mcap_pair *end,
                                                   size_t end_count);
void orr_recording_free(struct orr_recording *recording);

#endif
