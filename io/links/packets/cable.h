/* A link in packets (io/links/packets/packets.h) over one descriptor, read and written: a serial port, a stream, a
 * socket of messages. The carriers `serial`, `tcp` and `unix` are made of it; each says only how its descriptor comes
 * about.
 *
 * orr_cable_prepare, orr_cable_start [init] → a relay is started over it → packets, by io/links/packets/packets.h →
 * the relay is stopped → orr_cable_close [init]. The io thread reads, writes and accepts, and never waits in any of
 * them. What must be opened again (a port that was unplugged, a connection to others) opens in a thread of its own
 * (`way->reach`), because the io thread's sandbox opens nothing; the two hand a descriptor over by `wanted` and
 * `fresh`.
 *
 * What the other end does not take in time is not kept for later: a packet that finds no room is counted and gone, as
 * over UDP. One that has begun is finished first.
 */
#ifndef ORR_IO_LINKS_CABLE_H
#define ORR_IO_LINKS_CABLE_H

#include <pthread.h>

#include "io/links/packets/packets.h"
#include "io/wire/framing.h"

struct orr_cable;

/* How a descriptor comes about. */
struct orr_cable_way {
  /* The opener's thread: the descriptor, not blocking, or a negative errno; may take a tenth of a second. NULL: others
   * come to `listener`. */
  int (*reach)(struct orr_cable *line);
  /* The opener's thread: closes a descriptor so that it can be opened again. NULL: a plain close. */
  void (*leave)(int fd);
  /* The io thread: whether who came to `listener` may stay. NULL: whoever can come may. */
  bool (*may_stay)(const struct orr_cable *line, int fd);
};

enum { ORR_CABLE_ROOM = 4 * ORR_FRAMING_MOST };

struct orr_cable {
  struct orr_packets packets;
  const struct orr_cable_way *way;
  int listener;         /* −1: none */
  _Atomic int fresh;    /* opener → io thread: opened; −1: none */
  _Atomic int gone;     /* io thread → opener: to be closed; −1: none */
  atomic_bool wanted;   /* io thread → opener */
  _Atomic int reached;  /* the last errno of `reach`; 0: it succeeded */
  _Atomic int refused;  /* serial: why there is no low latency */
  _Atomic uint64_t met; /* how often the descriptor came about */
  _Atomic uint64_t bad; /* frames of the line that were none, or had a wrong sum; they are `malformed`, too */
  pthread_t opener;
  bool opening; /* there is such a thread */
  atomic_bool over;
  /* the io thread's */
  int fd; /* −1: not connected */
  bool is_socket;
  bool unplugged; /* a fault has pulled the plug, and nobody has put it back yet */
  struct orr_deframer in;
  int64_t heard_ns;            /* bare packets: when the last byte came */
  size_t out_at, out_bytes;    /* of `out`, what is still to be written */
  uint8_t out[ORR_CABLE_ROOM]; /* frames of the line, on their way */
};

/* [init] Makes everything but the descriptor; `listener` is −1. 0 or an errno. */
int orr_cable_prepare(struct orr_cable *line, const struct orr_cable_way *way, int64_t step_ns);
/* [init] Starts the opener where there is one to be. 0 or an errno. */
int orr_cable_start(struct orr_cable *line);
void orr_cable_close(struct orr_cable *line);

/* [init] The carrier of any kind of line. */
struct orr_cable *orr_cable_of(struct orr_carrier *carrier);
void orr_cable_lay_out(struct orr_carrier *carrier, const struct orr_run_link *desc,
                       const struct orr_channel_table *table, struct orr_block *block);
void orr_cable_shut(struct orr_carrier *carrier);
bool orr_cable_join(struct orr_carrier *carrier, struct orr_relay *relay);
struct orr_link_losses orr_cable_losses(const struct orr_carrier *carrier);
/* [init] A sentence on how packets stand in it, and the form's own, behind `text`. */
void orr_cable_document(const struct orr_run_link *desc, const struct orr_wire_header *header, char *text, size_t size);

/* [any] The io thread's: any bytes that came, judged packet by packet. O(bytes). */
void orr_cable_take(struct orr_cable *line, const uint8_t *bytes, size_t count, uint8_t *reply);
/* [any] The io thread's: the rest of a bare packet has not come for so long that it never will. So what looked like its
 * beginning was none, and what stands behind that is looked through. O(bytes²) at most; the line is silent. */
void orr_cable_give_up(struct orr_cable *line, uint8_t *reply);

#define ORR_CABLE_CALLBACKS                                                                                            \
  ORR_PACKETS_CALLBACKS, .outside = true, .handover_ns = 100000, .first_wait_ns = 20000000,                            \
                         .bytes = sizeof(struct orr_cable), .lay_out = orr_cable_lay_out, .close = orr_cable_shut,     \
                         .join = orr_cable_join, .losses = orr_cable_losses

#endif
