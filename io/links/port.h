/* A link of a run to flight software outside: layout, rules and what carries them, as one thing for io/session.
 *
 * orr_port_init, on a ledger that measures and then on one that gives → orr_port_open [init]; then per frame of the link orr_port_publish,
 * orr_port_latch [rt], all on one thread; orr_port_close [init].
 */
#ifndef ORR_IO_LINKS_PORT_H
#define ORR_IO_LINKS_PORT_H

#include "core/math/block.h"
#include "io/config/run/run_file.h"
#include "io/links/rules.h"
#include "io/links/shm.h"
#include "io/links/udp.h"

/* How a run ends by a link. */
enum orr_port_end {
  ORR_PORT_GOES_ON,
  ORR_PORT_PEER_ENDED,  /* the flight software said so */
  ORR_PORT_SILENT,      /* no command for as long as the run file allows, under the policy `stop` */
  ORR_PORT_INTERRUPTED, /* while waiting */
  ORR_PORT_BROKEN,      /* the io thread of links over UDP cannot go on: orr_relay.failed says why */
};

/* What a summary tells of peers: from which to which frame no command came to be applied, and at which frame a peer was
 * first seen. The newest few are kept: number i of all in [i mod ORR_PORT_KEPT]. */
enum { ORR_PORT_KEPT = 8 };
struct orr_silence {
  int64_t first, last; /* frames of the simulation */
};

struct orr_port {
  const struct orr_run_link *desc;
  struct orr_layout layout;
  struct orr_rules rules;
  struct orr_shm shm;
  struct orr_udp udp;        /* one of the two, by desc->transport */
  uint64_t *payload;         /* going out */
  uint64_t *taken;           /* coming in */
  bool (*interrupted)(void); /* asked while waiting; NULL: never */
  bool lockstep, open;
  struct orr_silence silences[ORR_PORT_KEPT];
  uint64_t silence_count;
  int64_t arrivals[ORR_PORT_KEPT]; /* of peers; 0: also before the run */
  uint64_t arrival_count;
  uint64_t beats;     /* the peer's heartbeat, or over UDP packets of it, at the last look */
  int64_t beat_frame; /* when that had changed last: the newest frame out; −1: never */
  bool mute;          /* it had not while an answer was waited for in vain */
};

/* What has become of the newest peer. */
enum orr_port_peer {
  ORR_PEER_NONE,
  ORR_PEER_LIVES,
  ORR_PEER_HANGS, /* its process is there, but gives no sign of life */
  ORR_PEER_DEAD,  /* its process is gone, and had not closed the link */
  ORR_PEER_LEFT,  /* it closed the link */
  ORR_PEER_MUTE   /* UDP: no sign of life; whether it hangs or is dead cannot be seen from here */
};
/* [init] A sign of life is missing for as many frames of the link as the run file's timeout says (10 where it says
 * none), or in lockstep for the wait for an answer that did not come. Calls the kernel. */
enum orr_port_peer orr_port_peer(const struct orr_port *link);

/* [init] Bytes, by measuring; and laying out. `link` must not move afterwards. */
void orr_port_init(struct orr_port *link, const struct orr_run_link *desc, const struct orr_channel_table *table,
                   struct orr_block *block);

/* [init] Makes what the peer opens. False with what is wrong in `message`. */
bool orr_port_open(struct orr_port *link, int64_t step_ns, bool lockstep, char *message, size_t size);
void orr_port_close(struct orr_port *link);

/* [init] Waits until a peer has come, as long as the run file says from `begin_ns` on (CLOCK_MONOTONIC), so that links
 * that wait one after the other wait in the same time. False: none came. Before frame 0. */
bool orr_port_wait_for_peer(struct orr_port *link, int64_t begin_ns);

/* [rt] A frame out: the block of the plant at a frame of the link. O(numbers). */
void orr_port_publish(struct orr_port *link, int64_t frame, int64_t time_ns, const double *values);

/* [rt] Commands for a frame (of the link, or any) into the block. In lockstep it waits for the answer, and is not
 * [rt]. */
enum orr_port_end orr_port_latch(struct orr_port *link, int64_t frame, double *values);

/* [init] After the last frame: takes what is on its way, and waits for the answer to it a tenth of a second at most, if
 * there is a peer. Nothing is applied any more. */
void orr_port_settle(struct orr_port *link);

/* [any] What came of it so far, the transport's own refusals included; and whether the transport is dead. */
struct orr_link_counts orr_port_counts(const struct orr_port *link);
bool orr_port_dead(const struct orr_port *link);

/* What a link over UDP lost on the way, frames or packets. All zero over shared memory. */
struct orr_port_losses {
  uint64_t not_received; /* packets that the kernel dropped: the socket's buffer was full */
  uint64_t full;         /* packets that the kernel did not take, because its buffers were full (EAGAIN, ENOBUFS) */
  uint64_t unsent;       /* packets that it did not take for another reason */
  int error;             /* the last of those: an errno */
  uint64_t not_relayed;  /* frames that found the ring to the io thread full */
};
/* [any] A system call. */
struct orr_port_losses orr_port_losses(const struct orr_port *link);

/* [any] What carries it and to whom, in words: "shm:/orrery.fsw". */
void orr_port_describe(const struct orr_port *link, char *text, size_t size);

#endif
