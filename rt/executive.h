/* The executive: a thread of its own for the cycle (tick/cycle.h), prepared and measured. What the tools call.
 *
 *   orr_executive_prepare the block of statistics, memory, the core; then the thread: affinity, priority,
 *                         calibration. It gives up its rights, and waits there
 *   orr_executive_go      the first tick
 *   orr_executive_start   both at once, where nothing is to be done between them
 *   orr_executive_stop    from anywhere, also a signal handler
 *   orr_executive_show    while it runs, for those who watch from outside
 *   orr_executive_join    waits for the last frame
 *   orr_executive_close   gives everything back
 *
 * All but stop from one thread, in that order. After a start that failed, close is still due. A run that was prepared
 * and not let go flies no frame: join and close end its thread.
 */
#ifndef ORR_RT_EXECUTIVE_H
#define ORR_RT_EXECUTIVE_H

#include <pthread.h>
#include <semaphore.h>

#include "rt/machine/isolate.h"
#include "rt/machine/setup.h"
#include "rt/tick/board.h"
#include "rt/tick/calibrate.h"
#include "rt/tick/cycle.h"

/* In place of phase_ns or margin_ns: measure at start. */
#define ORR_AUTO_NS INT64_C(-1)
/* In place of core. */
enum { ORR_CORE_AUTO = -1, ORR_CORE_ANY = -2 };

struct orr_executive_options {
  struct orr_cycle_options cycle;        /* phase_ns and margin_ns may be ORR_AUTO_NS */
  const char *name;                      /* of the run, for readers of the statistics */
  int core;                              /* or ORR_CORE_AUTO (orr_setup_choose_core), ORR_CORE_ANY (not bound) */
  int priority;                          /* SCHED_FIFO; 0: none */
  bool strict;                           /* a lack ends the start */
  bool keeps_rights;                     /* the thread stays as privileged as it began */
  const struct orr_isolation *isolation; /* applied already, for this core; NULL: none */
  const struct orr_lacks *noted;         /* lacks that were found before, to stand with the others; NULL: none */
  int64_t calibrate_ns;                  /* budget for each calibration; 0: half a second */
  const struct orr_region *regions;
  size_t region_count;
};

struct orr_executive {
  struct orr_executive_options options;
  struct orr_lacks lacks; /* complete when prepare returns */
  struct orr_calibration calibration;
  int core; /* in use; −1: not bound */
  struct orr_board board;
  struct orr_cycle cycle;
  int dma_latency_fd;
  cpu_set_t before; /* where the main thread could run before it was kept off the core */
  pthread_t thread;
  bool started;
  const char *wrong; /* of the thread's own start */
  sem_t ready, go;
  bool prepared;          /* the thread waits for `go` */
  _Atomic int refused;    /* it shall not run */
  _Atomic int stop_asked; /* also before there is a cycle to tell */
  _Atomic int ended;
};

/* [init] Does all that takes time before a run, and returns when nothing is left to do but its first tick, or what is
 * wrong: a bad option, a lack under strict, no thread. Takes as long as the calibrations asked for. `work` and `user`
 * outlive the run. */
const char *orr_executive_prepare(struct orr_executive *executive, const struct orr_executive_options *options,
                                  const struct orr_work *work, void *user);
/* [init] After prepare: the first tick is about to come. */
void orr_executive_go(struct orr_executive *executive);
/* [init] prepare, and go where nothing was wrong. */
const char *orr_executive_start(struct orr_executive *executive, const struct orr_executive_options *options,
                                const struct orr_work *work, void *user);

/* [any] Asks the run to end. Async-signal-safe. */
void orr_executive_stop(struct orr_executive *executive);
/* [any] Whether the last frame is over. */
bool orr_executive_ended(const struct orr_executive *executive);
/* [any] Shows the measures to `orrery top`; by one thread at a time, and not the executive's. */
void orr_executive_show(struct orr_executive *executive);
/* [init] Waits for the end; the result is in executive->cycle.result, the measures in executive->board.stats. */
void orr_executive_join(struct orr_executive *executive);
/* [init] Removes the board; the processor may sleep again, memory is unlocked, the process may use the core. */
void orr_executive_close(struct orr_executive *executive);

#endif
