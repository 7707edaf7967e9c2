/* The socket of `orrery ctl`, as a run opens it. [init] */
#ifndef ORR_TOOLS_RUN_CONTROL_START_H
#define ORR_TOOLS_RUN_CONTROL_START_H

#include "io/control/control_socket.h"
#include "io/session/session.h"

/* For a session that takes control. NULL, with a warning where it cannot be had: the run flies without. */
struct orr_control_socket *orr_run_serve_control(struct orr_session *session, const char *file, const char *mode,
                                                 struct orr_control_thread how);

#endif
