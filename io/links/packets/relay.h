/* The io thread of a run's links in packets. It moves packets between rings and descriptors, so the rt thread never
 * enters the kernel for them.
 *
 * orr_relay_start over opened links → orr_relay_stop, which sends what is left and says good-bye. [init], main thread.
 *
 * One io_uring serves all sockets of links over UDP. As soon as one link goes over something else (a serial port, a
 * stream), plain calls serve all. They are registered; each has one multishot receive into a ring of buffers. One call
 * submits all that a round has to send. No one wakes the thread for a frame: it polls from a little before
 * the next frame is due (a period after the last) until the frame is there, and for a bounded time after a datagram
 * came. Else it sleeps until a datagram or a timer wakes it. After a send it sleeps at once, because the peer may share
 * its core. Where the kernel lacks a feature, plain calls do the same, and `note` says why. If the io_uring fails
 * during the run, the thread sets `failed` and ends; the session reads that at the next latch and ends the run.
 *
 * In a real-time run the thread has a real-time priority, below that of the executive and above that of others, so that
 * packets do not wait for other work on its core. It leaves that work a fifth of the core, even when it is always busy
 * itself.
 */
#ifndef ORR_IO_LINKS_RELAY_H
#define ORR_IO_LINKS_RELAY_H

#include <pthread.h>

#include "io/links/packets/packets.h"

enum { ORR_RELAY_LINKS_MAX = 16 };

struct orr_relay {
  struct orr_packets *links[ORR_RELAY_LINKS_MAX];
  int count;
  pthread_t thread;
  bool running;
  int priority;       /* SCHED_FIFO, asked for before start; 0: none */
  int priority_error; /* an errno when that was refused; set before start returns */
  bool plain;         /* without io_uring: by request, or because the kernel lacks it */
  bool loose;         /* asked for before start: without a sandbox (io/links/packets/sandbox.h) */
  int sandbox_error;  /* why it has none, an errno; set before start returns. 0: it has one, if not `loose` */
  char note[120];     /* why `plain`; set before start returns; empty: io_uring with all its features */
  pthread_barrier_t ready;
  _Atomic int stop;
  _Atomic int failed; /* an errno once the thread cannot go on; any thread may look */
};

/* [init] One more link, before the start. False when all places are taken. */
bool orr_relay_add(struct orr_relay *relay, struct orr_packets *link);
/* [init] Starts the thread, kept off `avoid_core` (−1: anywhere). 0 or an errno. */
int orr_relay_start(struct orr_relay *relay, int avoid_core);
/* [init] */
void orr_relay_stop(struct orr_relay *relay);

#endif
