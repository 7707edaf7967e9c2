/* The state of a run in a file: one record (io/log/state_record), the same as a checkpoint of a log. [init] */
#ifndef ORR_TOOLS_RUN_STATE_FILE_H
#define ORR_TOOLS_RUN_STATE_FILE_H

#include "io/session/session.h"

/* False after a message on stderr; an old file then stays as it was. */
bool orr_state_file_save(const char *path, const struct orr_session *session);

/* Puts the state into a session of the same spacecraft, devices, links and step, made by the same build. False after a
 * message on stderr. */
bool orr_state_file_load(const char *path, struct orr_session *session);

#endif
