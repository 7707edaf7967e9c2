/* The executive's end of a link over UDP (packets as in io/wire/wire.h), the carrier `udp`: what the rt thread hands
 * over and takes, and how packets are judged. io/links/relay reads and writes the socket.
 *
 * orr_udp_open [init] → a relay is started over it → per frame, on the rt thread: orr_udp_publish, orr_udp_take → the
 * relay is stopped → orr_udp_close [init]. The relay calls orr_udp_receive and orr_udp_send on its thread. The two
 * threads share two rings and some counts.
 *
 * The ring of frames holds payloads, written there from the block of the plant. The ring of commands holds pointers to
 * payloads: the relay collects a command in memory of its own and swaps the pointer with that of a free slot, and the
 * rt thread swaps that with `room` of its rules. So nothing is copied between them.
 */
#ifndef ORR_IO_LINKS_UDP_H
#define ORR_IO_LINKS_UDP_H

#include <netinet/in.h>

#include "io/links/carrier.h"
#include "io/links/seal.h"
#include "rt/tick/ring.h"

/* Frames that wait for the relay, commands that wait for the rt thread: powers of two. */
enum { ORR_UDP_OUT_SLOTS = ORR_WIRE_SLOTS, ORR_UDP_IN_SLOTS = ORR_WIRE_SLOTS };

/* What identifies a command that was handed over. The last ones are kept, so that a copy of one is dropped and takes no
 * slot. */
enum { ORR_UDP_TAKEN = 8 };
struct orr_udp_taken {
  uint64_t frame, answered;
  uint32_t crc;
};

/* A command whose packets are still coming. There are several at a time, because in lockstep a peer sends old commands
 * again. */
enum { ORR_UDP_GATHERINGS = 4 };
struct orr_udp_gathering {
  struct orr_wire_gather gather;
  uint32_t age;      /* when its last piece came */
  uint64_t *payload; /* whole words */
};

/* A command on its way to the rt thread. */
struct orr_udp_command {
  uint64_t answers;
  uint64_t *payload; /* whole words; free: of whatever was there */
};

struct orr_udp {
  struct orr_carrier base;
  int fd; /* bound, not blocking; −1: closed */
  /* fixed */
  struct orr_wire_cut out_cut, in_cut;
  struct orr_seal *seal; /* with a key; NULL: without. Its numbers are the relay's */
  int64_t period_ns;     /* of the link's frames in real time */
  uint32_t run;          /* the lower half of the header's */
  uint8_t *description;  /* header, directory, names: what a peer may ask for */
  size_t description_bytes, description_piece;
  /* between the threads */
  struct orr_ring out, in;
  void *out_memory, *in_memory;
  /* [ORR_UDP_IN_SLOTS + ORR_UDP_GATHERINGS][words of a command] the payloads that are swapped, without those of the
   * rules */
  uint64_t *payloads;
  _Atomic uint32_t peers;
  _Atomic uint32_t ended;       /* how often a peer asked the run to end */
  _Atomic uint64_t end_answers; /* the first frame that such a packet answered */
  _Atomic uint32_t asked;       /* counts peers that miss a frame, or are new: lockstep sends the frame again */
  atomic_bool left;             /* the newest peer closed the link */
  _Atomic uint64_t heard;       /* packets of the peer */
  _Atomic uint64_t refused[ORR_REFUSALS];
  _Atomic uint64_t unsent_full; /* packets that the kernel did not take: buffers full */
  _Atomic uint64_t unsent;      /* the same for another reason, */
  _Atomic int64_t published_ns; /* when the newest frame was handed over; 0: none yet */
  _Atomic int send_error;       /* the last of those */
  /* the rt thread's */
  uint64_t *last[2];  /* the newest frame and the one before, for lockstep: frame i of all is [i mod 2]. In the ring, */
  uint64_t *aside[2]; /* [ORR_WIRE_OUT_WORDS + words] or here, where the ring had no room for it */
  uint64_t frames;
  uint32_t ended_seen;
  uint64_t before; /* commands that waited before the newest frame went out, and so cannot answer it */
  /* the relay's */
  struct sockaddr_in peer;      /* where frames go; port 0: not known yet */
  struct sockaddr_in commander; /* where commands come from */
  int64_t heard_ns, told_ns;    /* when the last packet of the peer came; when another peer was last told TAKEN */
  int64_t keyed_ns;             /* when somebody without our key was told that there is one */
  uint32_t generation;
  uint16_t counts[ORR_WIRE_PIECES_MAX]; /* sequence counts of telemetry, by piece */
  uint16_t description_count;
  struct orr_wire_seal came; /* with a key: the seal of what is received now */
  struct orr_udp_gathering gathering[ORR_UDP_GATHERINGS];
  uint32_t gathered;        /* pieces so far: the age of each of those */
  uint64_t newest;          /* frame out; ORR_WIRE_NONE: none */
  uint64_t applied;         /* as that frame says: the frame that the command last applied had answered */
  struct orr_window handed; /* frames: an answer to it was handed over */
  struct orr_udp_taken taken[ORR_UDP_TAKEN];
  uint32_t taken_count; /* so far, of this peer */
};

/* The struct of a carrier of the kind `udp`. */
struct orr_udp *orr_udp_of(struct orr_carrier *carrier);

/* [init] Binds the socket and makes the rings. Returns 0 or an errno; EMSGSIZE when a payload takes more than
 * ORR_WIRE_PIECES_MAX packets. */
int orr_udp_open(struct orr_udp *udp, const struct orr_run_link *desc, const struct orr_layout *layout,
                 int64_t step_ns);
/* [init] The same without the socket. */
int orr_udp_prepare(struct orr_udp *udp, const struct orr_run_link *desc, const struct orr_layout *layout,
                    int64_t step_ns);
void orr_udp_close(struct orr_udp *udp);

/* [rt] A frame out, from the block of the plant. Never enters the kernel. A full ring is counted (orr_ring_refused).
 * O(bytes). */
void orr_udp_publish(struct orr_udp *udp, const uint64_t head[ORR_WIRE_OUT_WORDS], const double *values);
/* [rt] Hands the commands that came to the rules, at most as many as the ring holds. Returns whether a peer asked the
 * run to end. Memory of the rules and of this struct is swapped: do not use the rules after this is closed. */
bool orr_udp_take(struct orr_udp *udp, struct orr_rules *rules);

/* [any] Packets so far that the kernel dropped before they could be read: SO_RXQ_OVFL tells it with the next packet. A
 * system call. */
uint64_t orr_udp_overflow(const struct orr_udp *udp);

/* [any] For lockstep, on the session's thread: waits until something has come, at most `most_ns`; and sends again the
 * frames without an answer, in case a packet was lost. */
void orr_udp_wait(struct orr_udp *udp, int64_t most_ns);
void orr_udp_repeat(struct orr_udp *udp);

/* [any] The relay's: a datagram of any bytes from anywhere. Returns the bytes of a reply to the same address in `reply`
 * [ORR_WIRE_PACKET_MAX], 0 for none. O(bytes). */
size_t orr_udp_receive(struct orr_udp *udp, const struct sockaddr_in *from, const uint8_t *bytes, size_t count,
                       uint8_t *reply);
/* [any] The relay's: piece `piece` of the oldest frame handed over, as a packet of the returned length in `packet`
 * [ORR_WIRE_PACKET_MAX]. 0 when there is none to send, or nobody to send it to. The last piece frees the frame's
 * slot. */
size_t orr_udp_send(struct orr_udp *udp, uint32_t *piece, uint8_t *packet);
/* [any] The relay's: a packet was not sent, with an errno. */
void orr_udp_unsent(struct orr_udp *udp, int error);
/* [any] The relay's: the packet that says that the run is over. 0 when there is nobody to tell. */
size_t orr_udp_farewell(struct orr_udp *udp, uint8_t *packet);
/* [any] The relay's: whether a peer is there, which will say when it leaves. */
bool orr_udp_peer_lives(const struct orr_udp *udp);

#endif
