/* What the parts of `orrery bench --links` share: a path is a way to a peer and back, ours or a bare one, and two
 * measures run over any.
 *
 * orr_path_… makes one, for free → per slice orr_measure_trips or orr_measure_publication, which opens it (forks a
 * peer, starts a relay) and closes it. [init], but publish, answered and latch, which the measured thread calls.
 */
#ifndef ORR_TOOLS_BENCH_BENCH_LINKS_H
#define ORR_TOOLS_BENCH_BENCH_LINKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "rt/tick/histogram.h"

/* The payload, in numbers. */
enum { ORR_LINKS_OUT = 40, ORR_LINKS_IN = 8 };

struct orr_links_conditions {
  int core, peer_core; /* of the thread that publishes; of the peer, and of the relay over UDP */
  int priority;        /* SCHED_FIFO, of the first; 0: none */
  int peer_priority;   /* of the peer, and of the bare relay */
  int relay_priority;  /* of ours: in a real-time run one has that of the executive less one, in lockstep none */
  int trips;           /* of a slice */
  int64_t period_ns;   /* of publication */
  int frames;          /* of a slice */
};

/* What one slice saw. In memory shared with the peer, which writes `arrival` and `interval`. */
struct orr_links_slice {
  struct orr_histogram trip;     /* publish → its answer is here */
  struct orr_histogram arrival;  /* at the peer, after the tick */
  struct orr_histogram interval; /* | since the arrival before − period |, of frames in a row */
  int lost;                      /* without an answer in ORR_LINKS_PATIENCE_NS */
  uint64_t last_frame;           /* the peer's own */
  int64_t last_ns;
};
#define ORR_LINKS_PATIENCE_NS INT64_C(100000000)

struct orr_links_path {
  /* With a slice the peer notes arrivals there. Returns NULL, or what is wrong; close is due in any case. */
  const char *(*open)(struct orr_links_path *path, const struct orr_links_conditions *conditions,
                      struct orr_links_slice *slice);
  void (*publish)(struct orr_links_path *path, int64_t frame, int64_t tick_ns); /* frames 0, 1, … */
  bool (*answered)(struct orr_links_path *path, int64_t frame);                 /* looks; does not wait */
  void (*latch)(struct orr_links_path *path, int64_t frame);                    /* once per frame: the answer before */
  void (*close)(struct orr_links_path *path);
  pid_t peer; /* 0: none */
};

/* A minimal pair of seqlocks; a link over shared memory. */
struct orr_links_path *orr_path_bare_shm(void);
struct orr_links_path *orr_path_link_shm(void);
/* Ring, thread with plain sockets, peer; a link over UDP. */
struct orr_links_path *orr_path_bare_udp(void);
struct orr_links_path *orr_path_link_udp(void);

/* Round trips, as fast as they go. */
const char *orr_measure_trips(struct orr_links_path *path, const struct orr_links_conditions *conditions,
                              struct orr_links_slice *slice);
/* Publication at each tick, by the executive with an empty plant (`executive`), or by a thread that does nothing but
 * wait for it. */
const char *orr_measure_publication(struct orr_links_path *path, const struct orr_links_conditions *conditions,
                                    bool executive, struct orr_links_slice *slice);

/* For paths: the calling thread at a SCHED_FIFO priority (0: an ordinary one). False without the right to it. */
bool orr_links_rise(int priority);
/* For paths: forks a peer bound to its core that dies with us; 0 in the child. Ends one. */
pid_t orr_links_fork(const struct orr_links_conditions *conditions);
void orr_links_reap(pid_t *peer, bool kill_it);
/* For paths, in the peer: a frame is here. */
void orr_links_arrived(struct orr_links_slice *slice, const struct orr_links_conditions *conditions, uint64_t frame,
                       int64_t tick_ns);

#endif
