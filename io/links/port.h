/* A link of a run as io/session/session uses it: layout, rules and carrier in one.
 *
 * orr_port_init, which measures → a block → orr_port_init → orr_port_open where it leads outside [init]; then per frame
 * orr_port_publish, orr_port_latch [rt], all on one thread; orr_port_close [init].
 */
#ifndef ORR_IO_LINKS_PORT_H
#define ORR_IO_LINKS_PORT_H

#include "io/links/carriers/carrier.h"

#include "rt/tick/histogram.h"

/* How a run ends by a link, or by a word from outside. */
enum orr_port_end {
  ORR_PORT_GOES_ON,
  ORR_PORT_PEER_ENDED,  /* the flight software asked for it */
  ORR_PORT_LEFT,        /* in lockstep: it closed the link, so nothing can answer */
  ORR_PORT_SILENT,      /* no command for as long as the run file allows, under the policy `stop` */
  ORR_PORT_INTERRUPTED, /* while waiting */
  ORR_PORT_BROKEN,      /* the io thread of links in packets cannot go on: orr_relay.failed says why */
  ORR_PORT_STOPPED,     /* `orrery ctl stop` */
};

/* For the summary: the spans of frames in which no command was applied, and the frames at which peers came. The newest
 * few are kept: number i of all in [i mod ORR_PORT_KEPT]. */
enum { ORR_PORT_KEPT = 8 };
struct orr_silence {
  int64_t first, last; /* frames of the simulation */
};

struct orr_port {
  const struct orr_run_link *desc;
  struct orr_layout layout;
  struct orr_rules rules;
  uint64_t *places;            /* of the rules */
  struct orr_carrier *carrier; /* the struct of its kind */
  bool (*interrupted)(void);   /* asked while waiting; NULL: never */
  /* lockstep: called when what came for a frame was taken, again and again while an answer is waited for, `long_waited`
   * after the first second; NULL: nobody */
  void (*look)(struct orr_port *link, bool long_waited);
  bool lockstep, open;
  bool troubled;                         /* the run has faults of this link */
  enum orr_link_trouble trouble;         /* of the commands of the frame at hand: set before latch */
  enum orr_link_trouble out_trouble;     /* of the frame that goes out: set before publish, */
  const struct orr_run_fault *out_fault; /* with the fault that it comes from; NULL: it works */
  bool overtaken;                        /* the newest frame was kept back to come behind the next one */
  unsigned kept_back;                    /* by a fault: bit 0 the newest frame, bit 1 the one before */
  bool ended;                            /* a peer said that the run shall end */
  uint64_t flags;                        /* of every frame out: ORR_WIRE_OUT_RESTORED and _LOCKSTEP, where it is so */
  struct orr_silence silences[ORR_PORT_KEPT];
  uint64_t silence_count;
  int64_t arrivals[ORR_PORT_KEPT]; /* of peers; 0: also before the run */
  uint64_t arrival_count;
  uint64_t beats;            /* the carrier's `beats` when it was last read */
  int64_t beat_frame;        /* the newest frame out when that last changed; −1: never */
  int64_t tick_ns, step_ns;  /* real time: when the frame at hand began by the grid; 0: no real time */
  struct orr_histogram took; /* from the tick of a frame to its answer, of those that were applied in time */
  bool mute;                 /* it did not change during a wait for an answer that never came */
};

/* The state of the newest peer. */
enum orr_port_peer {
  ORR_PEER_NONE,
  ORR_PEER_LIVES,
  ORR_PEER_HANGS, /* its process exists, but gives no sign of life */
  ORR_PEER_DEAD,  /* its process has ended, and had not closed the link */
  ORR_PEER_LEFT,  /* it closed the link */
  ORR_PEER_MUTE   /* no sign of life; the run cannot see whether it hangs or is dead */
};
/* [init] A sign of life is missing for as many frames of the link as the run file's timeout says (10 where it says
 * none), or in lockstep for the wait for an answer that did not come. Calls the kernel. */
enum orr_port_peer orr_port_peer(const struct orr_port *link);

/* [init] Measures the bytes, or lays out, with a carrier of that kind. `link` must not move afterwards. */
void orr_port_init(struct orr_port *link, const struct orr_run_link *desc, const struct orr_carrier_kind *kind,
                   const struct orr_channel_table *table, struct orr_block *block);

/* [init] Opens the carrier, and starts the rules anew as the run file has them. False with what is wrong in
 * `message`. */
bool orr_port_open(struct orr_port *link, int64_t step_ns, bool lockstep, char *message, size_t size);
/* [init] The run has faults of this link. A silence that they make ends by the link's timeout in every mode, so that
 * all have the same bits. Before orr_port_open and frame 0. */
void orr_port_expect_trouble(struct orr_port *link);
/* [init] Lets peers in, if the carrier was opened shut. O(1). */
void orr_port_admit(struct orr_port *link);
/* [init] Joins the io thread, if the carrier needs one. False when that has no room, with `message`. */
bool orr_port_join(struct orr_port *link, struct orr_relay *relay, char *message, size_t size);
void orr_port_close(struct orr_port *link);

/* [init] Waits until a peer has come, as long as the run file says from `begin_ns` on (CLOCK_MONOTONIC), so that links
 * that wait one after the other wait in the same time. False: none came. Before frame 0. */
bool orr_port_wait_for_peer(struct orr_port *link, int64_t begin_ns);

/* [rt] A frame out, if this is one of the link: from the block of the plant. O(numbers). */
void orr_port_publish(struct orr_port *link, int64_t frame, int64_t time_ns, const double *values);

/* [rt] Commands for a frame (of the link or any other) into the block. In lockstep it waits for the answer, and is not
 * [rt]. */
enum orr_port_end orr_port_latch(struct orr_port *link, int64_t frame, double *values);

/* [init] After the last frame: takes what is on its way, and waits for the answer to it a tenth of a second at most, if
 * there is a peer. Nothing is applied any more. */
void orr_port_settle(struct orr_port *link);

/* [any] The link's counts so far, with what the carrier refused; and whether the carrier was destroyed from outside. */
struct orr_link_counts orr_port_counts(const struct orr_port *link);
bool orr_port_dead(const struct orr_port *link);

/* [any] What was lost on the way. May be a system call. */
struct orr_link_losses orr_port_losses(const struct orr_port *link);

/* [any] What carries it and to whom, in words: "shm:/orrery.fsw". */
void orr_port_describe(const struct orr_port *link, char *text, size_t size);

/* [init] The words of the link's part of the run's state; 0: its state is outside the program. `acting` is the port
 * that takes the commands of the flight, this one or that of flight software outside: how long it has had none, and
 * whether pulses can go on, are its. put: the plant has the state of frame `frame`, which is the next to be published.
 * O(words). */
size_t orr_port_state_words(const struct orr_port *link);
void orr_port_state_get(const struct orr_port *link, const struct orr_port *acting, uint64_t *words);
void orr_port_state_put(struct orr_port *link, int64_t frame, const uint64_t *words);
/* [init] Flight software outside takes the place of the controller inside: pulses that can go on are its to end. Its
 * silence begins anew. */
void orr_port_take_over_pulses(struct orr_port *link, const struct orr_port *before);
/* [init] For who flies commands of a log, in place of the port: those of one frame, and whether some were the
 * link's. */
void orr_port_note_commands(struct orr_port *link, bool applied, const double *values);
/* [init] The run begins at frame 0 (again): no frame is out, no command waits. */
void orr_port_restart(struct orr_port *link);

#endif
