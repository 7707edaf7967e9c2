/* The interface of what carries a link; io/links/port is its only user.
 *
 * A carrier is a const struct orr_carrier_kind, facts and callbacks, in a file of its own: here, or in
 * io/links/packets where it moves packets. CONTRIBUTING.md lists what goes with a new one.
 *
 * Call order: lay_out with the port → open → join, where it has one → admit, where it was opened shut → per frame of
 * the link publish, take; in lockstep await, wait and repeat between the two → close. A carrier that is not `outside`
 * is never opened: it answers from lay_out on. The rules decide which command applies at which frame; a carrier only
 * hands them what comes.
 *
 * [init] main thread, before the first frame or after the last. [rt] the thread of the frames: no allocation, lock,
 * file or socket call, no unbounded loop; system calls only where the callback says so. [any] either, but one at a
 * time. A callback may be NULL only where its comment says what NULL means.
 */
#ifndef ORR_IO_LINKS_CARRIER_H
#define ORR_IO_LINKS_CARRIER_H

#include <stdatomic.h>

#include "core/math/block.h"
#include "io/config/run/run_file.h"
#include "io/links/forms/form.h"
#include "io/links/terms/rules.h"

struct orr_relay;

/* A carrier of a link: the struct of its kind begins with it. */
struct orr_carrier {
  const struct orr_carrier_kind *kind;
  const struct orr_run_link *desc;
  const struct orr_layout *layout;
  atomic_bool shut;                  /* no peer may come yet; set before open, cleared by admit */
  bool newest_kept_back;             /* the rt thread's: the newest frame did not go out, by a fault of the run file, */
  const struct orr_run_fault *fault; /* which is this one, const; NULL: none */
};

/* The state of the newest peer's process. */
enum orr_peer_process {
  ORR_PROCESS_NOBODY, /* none came */
  ORR_PROCESS_LEFT,   /* it closed the link */
  ORR_PROCESS_GONE,   /* it has ended (a zombie counts as ended) and had not closed the link */
  ORR_PROCESS_THERE,
  ORR_PROCESS_UNSEEN, /* a peer came, but its process cannot be seen from here */
};

/* What was lost on the way, frames or packets. */
struct orr_link_losses {
  uint64_t not_received; /* packets that the kernel dropped: the socket's buffer was full */
  uint64_t full;         /* packets that the kernel did not take, because its buffers were full (EAGAIN, ENOBUFS) */
  uint64_t unsent;       /* packets that it did not take for another reason */
  int error;             /* the last of those: an errno */
  uint64_t not_relayed;  /* frames that found the ring to the io thread full */
  struct orr_form_clipped clipped; /* numbers that are not what the plant has, for want of bits */
  uint64_t reconnected;            /* lines: how often it was connected again */
  uint64_t bad_frames;             /* lines: what came between two ends of frames, and was none; malformed, too */
  int not_reached;                 /* lines: why it never came to be connected, an errno; 0: it did */
  uint64_t error_frames, bus_off;  /* can: error frames of the bus, and those of them that say that it is off */
  uint64_t downs;                  /* can: how often its interface went down */
  int64_t lay_ns;                  /* can: the longest that what came lay in the socket, by the kernel's stamps */
};

struct orr_carrier_kind {
  /* ---- facts ---- */
  const char *name;      /* as the run file's `transport` */
  bool outside;          /* leads to flight software outside; if not, a controller in the program answers */
  bool flies;            /* the controller inside flies: it gives its own commands alone (orr_run_link_given) */
  bool packets;          /* a payload goes in packets of at most desc->packet_max bytes (orr_wire_cut) */
  int64_t handover_ns;   /* the most of our own time that a frame takes to publish or to latch; 0: not known */
  int64_t first_wait_ns; /* in lockstep: the first wait for an answer; the following grow to the longest one */
  size_t bytes;          /* of its struct */

  /* ---- before and after ---- */
  /* [init] Takes the memory that the carrier needs beside its struct from the block; with `carrier` NULL it only
   * measures how much. O(numbers). */
  void (*lay_out)(struct orr_carrier *carrier, const struct orr_run_link *desc, const struct orr_channel_table *table,
                  struct orr_block *block);
  /* [init] Makes the segment or socket that the peer opens, for steps of step_ns. 0, or an errno with nothing left
   * open. */
  int (*open)(struct orr_carrier *carrier, int64_t step_ns);
  /* [init] Tells the peer that the run is over, and frees everything. Once after each open that succeeded. */
  void (*close)(struct orr_carrier *carrier);
  /* [init] Joins the io thread, which is started after all have joined and stopped before any is closed. False where
   * the thread has no room for it. NULL: the carrier needs no io thread. O(1). */
  bool (*join)(struct orr_carrier *carrier, struct orr_relay *relay);
  /* [init] Lets peers in, where the carrier was opened shut. O(1). */
  void (*admit)(struct orr_carrier *carrier);
  /* [any] What carries it and to whom, in words: "shm:/orrery.fsw". O(size). */
  void (*describe)(const struct orr_run_link *desc, char *text, size_t size);
  /* [init] What an errno of open means, for the user. May read /proc. */
  void (*explain)(const struct orr_run_link *desc, int error, char *text, size_t size);

  /* [init] How a peer without our client talks over it: a paragraph for `orrery icd`, with a line end. The header is
   * that of orr_directory_header. */
  void (*document)(const struct orr_run_link *desc, const struct orr_wire_header *header, char *text, size_t size);

  /* ---- frames ---- */
  /* [rt] A frame out: its head (io/wire/wire.h), and the block of the plant from which the payload is made. The rules
   * have noted the frame already, and a controller inside answers at once. At most a system call that wakes a peer.
   * O(numbers). */
  void (*publish)(struct orr_carrier *carrier, struct orr_rules *rules, const uint64_t head[ORR_WIRE_OUT_WORDS],
                  const double *values);
  /* [rt] After a frame of a link with faults: what the fault makes of it on the wire, where frames can be damaged, come
   * behind the next or come twice. One that works, or is lost, makes nothing. NULL: there is no such wire, and a frame
   * is published once or not at all. O(numbers). */
  void (*spoil)(struct orr_carrier *carrier, const uint64_t head[ORR_WIRE_OUT_WORDS], const double *values,
                enum orr_link_trouble trouble);
  /* [rt] Hands what has come since the last call to the rules, ORR_WIRE_SLOTS commands at most; counts peers that came.
   * Returns whether a peer asked the run to end. O(commands · numbers). */
  bool (*take)(struct orr_carrier *carrier, struct orr_rules *rules);
  /* [rt] A number that changes with each sign of life of the peer. O(1). */
  uint64_t (*beats)(const struct orr_carrier *carrier);

  /* ---- lockstep: the thread of the frames waits, and is not [rt] then ---- */
  /* [any] A new peer begins with the frame `back` before the newest that went out: from its publishing with the one
   * before, whose answer is waited for next, and once that is there with the newest. NULL: `repeat` tells a peer which
   * frame to answer. O(1). */
  void (*await)(struct orr_carrier *carrier, uint32_t back);
  /* [any] Sleeps until something may have come, at most most_ns. */
  void (*wait)(struct orr_carrier *carrier, int64_t most_ns);
  /* [any] Nothing came for a whole wait: sends again the frames without an answer. NULL: the carrier loses nothing.
   * O(bytes).
   * */
  void (*repeat)(struct orr_carrier *carrier);

  /* ---- peers and counts ---- */
  /* [any] Whether a peer is there. May be a system call. */
  bool (*lives)(const struct orr_carrier *carrier);
  /* [any] Whether the newest peer closed the link. O(1). */
  bool (*left)(const struct orr_carrier *carrier);
  /* [init] While it is open. May read /proc. */
  enum orr_peer_process (*process)(const struct orr_carrier *carrier);
  /* [any] Whether the segment or socket was destroyed from outside. O(1). */
  bool (*dead)(const struct orr_carrier *carrier);
  /* [any] Adds what the carrier refused itself, before the rules. O(causes). */
  void (*refused)(const struct orr_carrier *carrier, uint64_t refused[ORR_REFUSALS]);
  /* [any] May be a system call. */
  struct orr_link_losses (*losses)(const struct orr_carrier *carrier);

  /* ---- saved states ---- */
  /* [init] The words of the carrier's part of the run's state. `put` comes after orr_rules_resume with the last frame
   * out, and restores the rules. All three NULL: the state is outside the program, and cannot be saved. O(words). */
  size_t (*state_words)(const struct orr_carrier *carrier);
  void (*state_get)(const struct orr_carrier *carrier, uint64_t *words);
  void (*state_put)(struct orr_carrier *carrier, struct orr_rules *rules, const uint64_t *words);
};

/* The kind of a transport, and that of a controller linked in, which answers every link in batch. Const. */
const struct orr_carrier_kind *orr_carrier_kind(enum orr_transport transport);
extern const struct orr_carrier_kind orr_carrier_linked, orr_carrier_shm, orr_carrier_udp, orr_carrier_serial,
    orr_carrier_tcp, orr_carrier_unix, orr_carrier_can, orr_carrier_pcap;

/* Room for what `document` says. */
enum { ORR_CARRIER_DOCUMENT = 4096 };

/* [init] For `explain`: process `owner` (0: not known), one of `who`, holds the name or port already. `key` and
 * `variable` are what to set in the run file and with make to use another. */
void orr_carrier_taken(const struct orr_run_link *desc, const char *who, int owner, const char *key,
                       const char *variable, char *text, size_t size);

#endif
