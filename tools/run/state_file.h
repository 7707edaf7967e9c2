/* The state of a run in a file: JSON with the words of the state in hexadecimal, so that not a bit is lost. [init] */
#ifndef ORR_TOOLS_RUN_STATE_FILE_H
#define ORR_TOOLS_RUN_STATE_FILE_H

#include "io/session.h"

/* False after a message on stderr. */
bool orr_state_file_save(const char *path, const struct orr_session *session);

/* Puts the state into a session of the same spacecraft, devices and step. False after a message on stderr. */
bool orr_state_file_load(const char *path, struct orr_session *session);

#endif
