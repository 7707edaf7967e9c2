/* Faults that somebody began and ended while a logged run flew (`orrery ctl`), to be begun and ended again. [init] */
#ifndef ORR_TOOLS_COMMON_LOG_BREAKS_H
#define ORR_TOOLS_COMMON_LOG_BREAKS_H

#include "io/log/mcap_read.h"
#include "io/session/session.h"

struct orr_log_break {
  int fault; /* −1: all */
  bool begins;
};

/* Those of one frame, in their order. */
struct orr_log_breaks {
  int64_t frame;
  int count;
  struct orr_log_break all[ORR_CONTROL_SLOTS];
};

/* A message of the topic `/orrery/event`; false where it says nothing of that kind about this run. */
bool orr_log_break_read(const struct orr_mcap_message *message, const struct orr_run *run, struct orr_log_break *out);

/* For the frame, once those before are flown. False where a frame has more than a run takes. */
bool orr_log_breaks_add(struct orr_log_breaks *breaks, const struct orr_log_break *one, int64_t frame);

/* Before the session begins its frame: those of that frame. */
void orr_log_breaks_apply(struct orr_log_breaks *breaks, struct orr_session *session);

#endif
