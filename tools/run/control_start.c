#include "tools/run/control_start.h"

#include <stdio.h>

struct orr_control_socket *orr_run_serve_control(struct orr_session *s, const char *file, const char *mode,
                                                 struct orr_control_thread how) {
  char message[ORR_CONTROL_MESSAGE];
  struct orr_control_socket *socket = orr_control_serve(s->control, s->run, file, mode, how, message, sizeof message);
  if (message[0])
    fprintf(stderr, "orrery run: warning: %s; the run flies without\n", message);
  return socket;
}
