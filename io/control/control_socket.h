/* The socket at which a run takes commands (`orrery ctl`, orrery_ctl.py), and the thread that serves it.
 *
 * FOLDER/PID.sock, where FOLDER is $ORRERY_CTL, else $XDG_RUNTIME_DIR/orrery, else /tmp/orrery-UID. The folder is the
 * user's own and open to nobody else (0700), the socket too (0600), and who connects is of that user, or root. A client
 * writes a line and reads its answer, one JSON object in a line, before it writes the next.
 *
 * The thread is none of the io thread's, which looks for packets: it sleeps until a client speaks, runs on another core
 * than the thread of the frames and without its priority, and hands over by the ring of io/control. At most
 * ORR_CONTROL_CLIENTS are served at a time, each with one command on its way, so that the ring always has room.
 */
#ifndef ORR_IO_CONTROL_SOCKET_H
#define ORR_IO_CONTROL_SOCKET_H

#include "io/control/control_text.h"

enum { ORR_CONTROL_CLIENTS = 16 };

struct orr_control_socket;

/* [init] The folder, which need not be there; false where there shall be no socket (ORRERY_CTL is empty). */
bool orr_control_folder(char *folder, size_t size);
/* [init] 0, or an errno that says why the folder is not one that only this user can write; where `make`, it is made. */
int orr_control_check_folder(const char *folder, bool make);

/* How its thread runs. */
struct orr_control_thread {
  int avoid_core; /* that it stays off; −1: any will do */
  bool caged;     /* it goes into a sandbox (io/links/packets/sandbox.h), which was prepared */
};

/* [init] Makes the socket and starts the thread. NULL with what is wrong in `message`, empty where there shall be none.
 * `file` and `mode` are what `status` says of the run. */
struct orr_control_socket *orr_control_serve(struct orr_control *control, const struct orr_run *run, const char *file,
                                             const char *mode, struct orr_control_thread how, char *message,
                                             size_t size);
/* [init] After the last frame: whoever still waits is told that the run is over. NULL: nothing. */
void orr_control_socket_close(struct orr_control_socket *socket);

#endif
