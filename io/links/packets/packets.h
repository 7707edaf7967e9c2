/* The executive's end of a link whose payloads go in packets, whatever carries them: what the rt thread hands over and
 * takes, how packets are judged, and how frames become packets. The carriers that move packets (udp, …) begin with this
 * struct; io/links/packets/relay calls it on the io thread. What a packet looks like is its form's
 * (io/links/forms/form.h).
 *
 * orr_packets_make [init] → a relay is started over it → per frame, on the rt thread: orr_packets_publish,
 * orr_packets_take → the relay is stopped → orr_packets_free [init]. The io thread calls orr_packets_receive and
 * orr_packets_send. The two threads share two rings and some counts.
 *
 * The ring of frames holds payloads, written there from the block of the plant. The ring of commands holds pointers to
 * payloads: the io thread collects a command in memory of its own and swaps the pointer with that of a free slot, and
 * the rt thread swaps that with `room` of its rules. So nothing is copied between them.
 */
#ifndef ORR_IO_LINKS_PACKETS_H
#define ORR_IO_LINKS_PACKETS_H

#include "io/links/carriers/carrier.h"
#include "io/links/forms/form.h"
#include "io/links/packets/seal.h"

#include "rt/tick/ring.h"

/* Frames that wait for the io thread, commands that wait for the rt thread: powers of two. */
enum { ORR_PACKETS_OUT_SLOTS = ORR_WIRE_SLOTS, ORR_PACKETS_IN_SLOTS = ORR_WIRE_SLOTS };

/* Who sends packets, or gets them. Over UDP an address and a port; where a carrier has one other end alone, both are
 * ORR_SENDER_ONLY. `way` 0: nobody. */
struct orr_sender {
  uint32_t host;
  uint32_t way;
};
#define ORR_SENDER_ONLY ((struct orr_sender){1, 1})

/* What identifies a command that was handed over. The last ones are kept, so that a copy of one is dropped and takes no
 * slot. */
enum { ORR_PACKETS_TAKEN = 8 };
struct orr_packets_taken {
  uint64_t frame, answered;
  uint32_t crc;
};

/* A command whose packets are still coming. There are several at a time, because in lockstep a peer sends old commands
 * again. */
enum { ORR_PACKETS_GATHERINGS = 4 };
struct orr_packets_gathering {
  struct orr_wire_gather gather;
  uint32_t age;      /* when its last piece came */
  uint64_t *payload; /* whole words */
};

/* A command on its way to the rt thread. */
struct orr_packets_command {
  uint64_t answers;
  uint64_t *payload; /* whole words; free: of whatever was there */
  int64_t arrived_ns;
};

struct orr_packets;
struct pollfd;

/* What the io thread does with the descriptors of a link by plain calls; it waits in none of them. */
enum { ORR_PACKETS_FDS = 2 };
struct orr_packets_mover {
  /* What to wait for, ORR_PACKETS_FDS at most; −1: nothing. Returns how many. */
  int (*watch)(struct orr_packets *packets, struct pollfd *fds);
  /* Takes what has come, at most some 32 packets, and sends replies. Both have room for ORR_WIRE_PACKET_MAX bytes.
   * Returns whether anything came. */
  bool (*pull)(struct orr_packets *packets, uint8_t *scratch, uint8_t *reply);
  /* Sends a packet to `peer`; counts it where that fails. */
  void (*push)(struct orr_packets *packets, const uint8_t *packet, size_t bytes);
};

/* What a fault of the line does to the packet that goes out. */
struct orr_packets_wound {
  const struct orr_run_fault *fault; /* NULL: none */
  uint64_t frame;
};

struct orr_packets {
  struct orr_carrier base;
  /* fixed */
  const struct orr_packets_mover *mover;
  struct orr_form_state *form;
  struct orr_seal *seal;  /* with a key; NULL: without. Its numbers are the io thread's */
  int64_t period_ns;      /* of the link's frames in real time */
  bool is_line;           /* faults of lines are done by its mover */
  struct orr_sender told; /* where the run file says that frames go; way 0: to the newest sender */
  uint32_t run;           /* the lower half of the header's */
  uint8_t *description;   /* header, directory, names: what a peer may ask for */
  size_t description_bytes, description_piece;
  /* between the threads */
  struct orr_ring out, in;
  void *out_memory, *in_memory;
  /* [ORR_PACKETS_IN_SLOTS + ORR_PACKETS_GATHERINGS][words of a command] the payloads that are swapped, without those of
   * the rules */
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
  _Atomic int send_error;       /* the last of those */
  _Atomic int64_t published_ns; /* when the newest frame was handed over; 0: none yet */
  /* the rt thread's */
  uint64_t *last[2];  /* the newest frame and the one before, for lockstep: frame i of all is [i mod 2]. In the ring, */
  uint64_t *aside[2]; /* [ORR_WIRE_OUT_WORDS + words] or here, where the ring had no room for it */
  uint64_t *behind;   /* a frame that a fault lets come behind the next one */
  int comes_behind;   /* after so many frames; 0: there is none */
  uint64_t frames;
  uint32_t ended_seen;
  uint64_t before; /* commands that waited before the newest frame went out, and so cannot answer it */
  /* the io thread's */
  int64_t arrived_ns;             /* when what is received now came, on CLOCK_MONOTONIC; its mover says so */
  struct orr_packets_wound wound; /* of what orr_packets_send made last */
  bool unplugged;                 /* a fault has pulled the plug */
  struct orr_sender peer;         /* where frames go; way 0: not known yet */
  struct orr_sender commander;    /* where commands come from */
  int64_t heard_ns, told_ns;      /* when the last packet of the peer came; when another peer was last told TAKEN */
  int64_t keyed_ns;               /* when somebody without our key was told that there is one */
  uint32_t generation;
  uint16_t description_count;
  struct orr_wire_seal came; /* with a key: the seal of what is received now */
  struct orr_packets_gathering gathering[ORR_PACKETS_GATHERINGS];
  uint32_t gathered;        /* pieces so far: the age of each of those */
  uint64_t newest, second;  /* the newest frames that went out; ORR_WIRE_NONE: none */
  bool in_turn;             /* a lockstep run: frames are answered one after the other */
  uint64_t applied;         /* as that frame says: the frame that the command last applied had answered */
  struct orr_window handed; /* frames: an answer to it was handed over */
  struct orr_packets_taken taken[ORR_PACKETS_TAKEN];
  uint32_t taken_count; /* so far, of this peer */
};

/* The struct of a carrier whose kind has the fact `packets`. */
struct orr_packets *orr_packets_of(struct orr_carrier *carrier);

/* [init] Makes form, rings and description, with everything else zero; `base` stays. Returns 0 or an errno; EMSGSIZE
 * when a payload takes more than ORR_WIRE_PIECES_MAX packets. */
int orr_packets_make(struct orr_packets *packets, int64_t step_ns);
/* [init] May be called twice. */
void orr_packets_free(struct orr_packets *packets);

/* [rt] A frame out, from the block of the plant. Never enters the kernel. A full ring is counted (orr_ring_refused).
 * O(bytes). */
void orr_packets_publish(struct orr_packets *packets, const uint64_t head[ORR_WIRE_OUT_WORDS], const double *values);
/* [rt] Hands the commands that came to the rules, at most as many as the ring holds. Returns whether a peer asked the
 * run to end. Memory of the rules and of this struct is swapped: do not use the rules after this is freed. */
bool orr_packets_take(struct orr_packets *packets, struct orr_rules *rules);

/* [any] For lockstep, on the session's thread: waits until something has come, at most `most_ns`; and sends again the
 * frames without an answer, in case a packet was lost. A form without an echo repeats nothing. */
void orr_packets_wait(struct orr_packets *packets, int64_t most_ns);
void orr_packets_repeat(struct orr_packets *packets);

/* [any] The io thread's: a packet of any bytes from anywhere. Returns the bytes of a reply to the same sender in
 * `reply` [ORR_WIRE_PACKET_MAX], 0 for none. O(bytes). */
size_t orr_packets_receive(struct orr_packets *packets, struct orr_sender from, const uint8_t *bytes, size_t count,
                           uint8_t *reply);
/* [any] The io thread's: counts something that the carrier itself refused. Returns 0. */
size_t orr_packets_refuse(struct orr_packets *packets, enum orr_refusal why);
/* [any] The io thread's: piece `piece` of the oldest frame handed over, as a packet of the returned length in `packet`
 * [ORR_WIRE_PACKET_MAX], for `peer`. 0 when there is none to send, or nobody to send it to. The last piece frees the
 * frame's slot. */
size_t orr_packets_send(struct orr_packets *packets, uint32_t *piece, uint8_t *packet);
/* [any] The io thread's: a packet was not sent, with an errno. */
void orr_packets_unsent(struct orr_packets *packets, int error);
/* [any] The io thread's: the packet that says that the run is over. 0 when there is nobody to tell. */
size_t orr_packets_farewell(struct orr_packets *packets, uint8_t *packet);
/* [any] The io thread's: whether a peer is there, which will say when it leaves. */
bool orr_packets_peer_lives(const struct orr_packets *packets);

/* What a carrier in packets has in its table (io/links/carriers/carrier.h). */
void orr_packets_kind_publish(struct orr_carrier *carrier, struct orr_rules *rules,
                              const uint64_t head[ORR_WIRE_OUT_WORDS], const double *values);
void orr_packets_kind_spoil(struct orr_carrier *carrier, const uint64_t head[ORR_WIRE_OUT_WORDS], const double *values,
                            enum orr_link_trouble trouble);
bool orr_packets_kind_take(struct orr_carrier *carrier, struct orr_rules *rules);
uint64_t orr_packets_kind_beats(const struct orr_carrier *carrier);
void orr_packets_kind_wait(struct orr_carrier *carrier, int64_t most_ns);
void orr_packets_kind_repeat(struct orr_carrier *carrier);
void orr_packets_kind_admit(struct orr_carrier *carrier);
bool orr_packets_kind_left(const struct orr_carrier *carrier);
bool orr_packets_kind_lives(const struct orr_carrier *carrier);
enum orr_peer_process orr_packets_kind_process(const struct orr_carrier *carrier);
bool orr_packets_kind_dead(const struct orr_carrier *carrier);
void orr_packets_kind_refused(const struct orr_carrier *carrier, uint64_t refused[ORR_REFUSALS]);
struct orr_link_losses orr_packets_kind_losses(const struct orr_carrier *carrier);
#define ORR_PACKETS_CALLBACKS                                                                                          \
  .packets = true, .admit = orr_packets_kind_admit, .publish = orr_packets_kind_publish,                               \
  .spoil = orr_packets_kind_spoil, .take = orr_packets_kind_take, .beats = orr_packets_kind_beats,                     \
  .wait = orr_packets_kind_wait, .repeat = orr_packets_kind_repeat, .lives = orr_packets_kind_lives,                   \
  .left = orr_packets_kind_left, .process = orr_packets_kind_process, .dead = orr_packets_kind_dead,                   \
  .refused = orr_packets_kind_refused

#endif
