/* Commands from outside while a run flies (`orrery ctl`): how they come to the thread of the frames, and what they do.
 *
 * orr_control_create, before orr_realtime_init → session->control [init]; per frame orr_control_begin_frame, before
 * anything else of the frame, and orr_control_give before commands are latched [rt]. Another thread, which reads the
 * words of people (control_text) from a socket (control_socket), claims and commits commands, and finds them done in
 * their order. A ring of slots joins the two: neither locks, allocates or enters the kernel for it; a frame takes what
 * has come, ORR_CONTROL_SLOTS commands at most.
 *
 * A run that need not keep to the clock can be paused, at the top of a frame: its thread then sleeps, and takes
 * commands for that frame.
 */
#ifndef ORR_IO_CONTROL_H
#define ORR_IO_CONTROL_H

#include <stdatomic.h>

#include "io/procedure/procedure.h"

enum { ORR_CONTROL_SLOTS = 32, ORR_CONTROL_VALUES = 32, ORR_CONTROL_TEXT = 200, ORR_CONTROL_KEPT = 64 };

enum orr_control_sort {
  ORR_CONTROL_PAUSE,
  ORR_CONTROL_STEP,
  ORR_CONTROL_GO,
  ORR_CONTROL_SET,
  ORR_CONTROL_FAULT,
  ORR_CONTROL_CLEAR,
  ORR_CONTROL_MARK,
  ORR_CONTROL_GET,
  ORR_CONTROL_STOP,
  ORR_CONTROL_STATUS, /* never in the ring: what it asks for is always shown */
  ORR_CONTROL_SORTS
};
extern const char *const orr_control_verbs[ORR_CONTROL_SORTS + 1]; /* as people write them; ends with NULL */

/* A command that was judged good for this run. */
struct orr_control_command {
  enum orr_control_sort sort;
  int first, count; /* set: numbers of the block */
  double values[ORR_CONTROL_VALUES];
  int fault;                   /* fault, clear; −1: all */
  int64_t frames;              /* step */
  char text[ORR_CONTROL_TEXT]; /* what stands behind the verb */
};

struct orr_control_slot {
  struct orr_control_command command;
  uint64_t client; /* whose it is: a word of the thread that commits */
  int64_t frame;   /* at the top of which it was applied */
  int changed;     /* clear: faults that it ended */
};

/* What was applied, for the summary: the first of it. */
struct orr_control_event {
  int64_t frame;
  enum orr_control_sort sort;
  char text[ORR_CONTROL_TEXT];
};

struct orr_control {
  /* const after create */
  struct orr_plant *plant;
  struct orr_procedure *procedure; /* NULL: the run has no faults and no sequence */
  bool may_pause;
  bool (*interrupted)(void); /* asked while paused; NULL: never */
  /* of the thread of the frames */
  bool paused, stopped;
  int64_t until;    /* pauses at the top of this frame; −1 */
  bool any;         /* something is to be given */
  bool *given;      /* [commands] */
  double *values;   /* [commands] */
  double *snapshot; /* [value_count] of the last GET; the other thread's from its answer to its next one */
  void (*tell)(void *user, const struct orr_event *event); /* [rt] besides; NULL: nobody */
  void *user;
  struct orr_control_event events[ORR_CONTROL_KEPT];
  uint64_t event_count;
  /* shown to others */
  _Atomic int64_t frame; /* at the top of which it was last; −1: none yet */
  _Atomic int pausing;   /* it stands there */
  _Atomic uint64_t step; /* of the sequence: its index, and since which frame, as orr_control_step takes apart */
  struct orr_control_slot slots[ORR_CONTROL_SLOTS];
  _Alignas(64) _Atomic uint64_t head; /* commands ever committed */
  _Alignas(64) _Atomic uint64_t tail; /* of these applied */
  size_t bytes;                       /* of all of it */
};

/* [init] For a plant and its procedure, or NULL. One block of memory. Never NULL. */
struct orr_control *orr_control_create(struct orr_plant *plant, struct orr_procedure *procedure, bool may_pause);
void orr_control_destroy(struct orr_control *control);

enum orr_control_end { ORR_CONTROL_GOES_ON, ORR_CONTROL_STOPPED, ORR_CONTROL_INTERRUPTED };

/* [rt] Takes what has come; sleeps only where the run may be paused and is. O(commands · numbers of one). */
enum orr_control_end orr_control_begin_frame(struct orr_control *control);
/* [rt] What was set for this frame, into the block. */
void orr_control_give(struct orr_control *control);

/* [rt] Begins or ends a fault with the frame at hand, as a command does; −1: all. For use before the procedure begins
 * the frame. Returns how many it began, or ended of those that acted or were due. O(faults). */
int orr_control_break(struct orr_procedure *procedure, int fault, bool begins);

/* [any] One thread: the slot to fill next, or NULL where all are on their way; handing it over; and slot `number` of
 * all that were committed, where it was applied, else NULL. Wait-free. */
struct orr_control_slot *orr_control_claim(struct orr_control *control);
void orr_control_commit(struct orr_control *control);
const struct orr_control_slot *orr_control_done(const struct orr_control *control, uint64_t number);

/* [any] The step at which the sequence stands, and since which frame; NULL: there is none. */
const struct orr_run_step *orr_control_step(const struct orr_control *control, int64_t *since);

#endif
