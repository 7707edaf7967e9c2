/* The flight software's side of a link: one header, one small library, no dependency but the C library.
 *
 *   struct orr_client c;
 *   orr_client_open(&c, "shm:/orrery.fsw", 10000);              // wait up to 10 s for the run to be there
 *   struct orr_signal gyro = orr_client_find(&c, "gyro.rate"), wheel = orr_client_find(&c, "wheel_x.torque");
 *   while (orr_client_wait(&c, ORR_CLIENT_FUTEX, 1000) > 0) {   // the next frame in turn
 *     orr_client_set(&c, wheel, 0, 0.02 * orr_client_get(&c, gyro, 0));
 *     orr_client_send(&c);                                      // answers that frame; applied at the link's next
 *   }
 *   orr_client_close(&c);
 *
 * One thread per client, and a client stays where it was opened. Over shared memory the library handles SIGBUS of the
 * segment's pages, and leaves that of others to what was there before. open, find and close are [init]: they allocate
 * and enter the kernel. get, set and send do neither, but for two calls of send: it wakes an executive that sleeps
 * (lockstep), and over UDP it sends a packet. Their time is in proportion to the payload at most. Failures are negative
 * errno values. client.error says in words why open, find or wait failed. Nothing that the other side writes can make a
 * read or write go outside the segment.
 */
#ifndef ORR_IO_CLIENT_CLIENT_H
#define ORR_IO_CLIENT_CLIENT_H

#include "io/wire/wire.h"

#ifdef __cplusplus
extern "C" {
#endif

enum orr_client_how {
  ORR_CLIENT_SPIN,  /* never sleeps: a core of its own; over shared memory ten calls a second while nothing comes */
  ORR_CLIENT_FUTEX, /* sleeps in the kernel (UDP: on the socket) */
  ORR_CLIENT_POLL,  /* looks, sleeps 50 µs, looks again: where the kernel cannot wake us */
};

/* Where a channel is. count 0: there is none of that name. */
struct orr_signal {
  uint32_t offset, count;
  uint8_t type, direction;
};

/* The frame that wait found. */
struct orr_client_frame {
  uint64_t number;   /* of the simulation */
  int64_t time_ns;   /* simulated */
  uint64_t answered; /* the frame that the command last applied had answered, or ORR_WIRE_NONE */
  uint64_t flags;    /* ORR_WIRE_OUT_… */
};

/* A command over UDP, kept until the next but one, in case it is lost. */
struct orr_client_kept {
  uint64_t answers;
  int64_t time_ns;
  uint32_t number;
  enum orr_wire_function function;
  uint64_t *payload;
};

/* A frame over UDP whose packets are still coming, or that is not the next in turn yet. */
enum { ORR_CLIENT_WINDOW = 8 };
struct orr_client_coming {
  bool used, whole;
  struct orr_client_frame frame;
  struct orr_wire_gather gather;
  uint64_t *payload;
};

struct orr_client_seal;
struct orr_client_stream;

struct orr_client {
  struct orr_client_frame frame;
  int64_t step_ns;
  uint32_t divisor;
  uint64_t missed; /* frames that went by unseen */
  uint64_t late;   /* of those, over UDP: came when a newer one had been taken */
  uint64_t forged,
      replayed;    /* over UDP with a key: datagrams without a seal of it; sealed for others, or seen before */
  char error[512]; /* of the last open, find or wait that failed, a time-out too; empty: none has */
  /* -- the library's own -- */
  char *memory; /* shared memory */
  size_t memory_bytes;
  orr_wire_bool dead;            /* shared memory that was shrunk under us */
  struct orr_wire_header header; /* a copy, checked */
  const struct orr_wire_channel *directory;
  const char *names;
  struct orr_wire_run *run;
  struct orr_wire_peer *peer;
  uint64_t *telemetry, *command; /* payloads, whole words */
  uint32_t seen, sent, generation;
  int64_t pulse_ms; /* when to check again that the run is alive, and to tell it that we are */
  bool any;         /* a frame was seen */
  bool refused;     /* UDP: nobody has that port any more */
  int lock_fd;      /* the segment, on which a run that lives holds a lock; 0: none */
  int fd;           /* packets; −1: shared memory */
  size_t out_piece, in_piece;
  uint32_t out_pieces, in_pieces;
  uint16_t counts[ORR_WIRE_PIECES_MAX];
  struct orr_client_coming window[ORR_CLIENT_WINDOW];
  uint64_t *places;        /* the payloads of window and kept */
  uint64_t newest, before; /* the frame taken last; bit i: the one of the link that is i + 1 before it was here */
  struct orr_client_kept kept[2], end; /* end: once the run was asked to end */
  bool gap;                            /* a frame came out of turn since we asked */
  int ended;                           /* the status that ended the link */
  bool taken, over;                    /* the run told us: another client commands; the run is over */
  uint64_t unsent;                     /* commands, by packets, that the kernel did not take */
  int64_t asked_ms;                    /* when we asked last which run this is */
  struct orr_client_seal *seal;        /* UDP with a key */
  struct orr_client_stream *stream;    /* packets, but not over UDP */
  bool keyed;                          /* the run has said that it takes another key than ours, or a key at all */
};

/* [init] Opens `shm:/name`, `udp:host:port`, `tcp:host:port`, `unix:/path` or `serial:/dev/ttyUSB0@115200`; host is an
 * IPv4 address or a name that has one. Behind what streams may stand `,slip`, behind a serial port `,8N1` and `,rs485`.
 * Tries again for `wait_ms` when nobody is there yet. A peer that was there before is replaced. 0; -EINVAL for a URL
 * that is none; -EAFNOSUPPORT for an IPv6 address; -EHOSTUNREACH for a name that has no address; -ENOENT where
 * nobody answers or no run has opened the name, which client.error says; -EACCES; -EPROTO when what is there is not a
 * link of this version. */
int orr_client_open(struct orr_client *client, const char *url, int wait_ms);
/* [init] The same in packets with the key of the link's `key_file` (NULL: without). Also the errno of a file that is
 * not there, -EACCES for one that others may read, -EINVAL for one that is no key, or over shared memory. A run that
 * wants a key and is opened without: -ENOKEY; one that wants another answers nobody: -ENOENT. */
int orr_client_open_keyed(struct orr_client *client, const char *url, const char *key_file, int wait_ms);
/* [init] Any time, also after a failed open. The run goes on by the policy of the link's `timeout`. */
void orr_client_close(struct orr_client *client);

/* [init] A channel by its full name. Its `count` is 0 where there is none: client.error says so, with the nearest name.
 * O(channels). */
struct orr_signal orr_client_find(struct orr_client *client, const char *name);
/* [init] The i-th entry of the directory, or NULL; its name and unit. */
const struct orr_wire_channel *orr_client_channel(const struct orr_client *client, uint32_t i);
const char *orr_client_name(const struct orr_client *client, uint32_t i);
const char *orr_client_unit(const struct orr_client *client, uint32_t i);

/* [any] 1: the next frame in turn is in client.frame, its numbers are for get. 0: none for `most_ms`. -EPIPE: the run
 * is over. -ECONNRESET: it died, or another has taken its place: close and open again, and find anew, for its layout
 * may be another. Noticed within 0.2 s of waiting. Over UDP a run on another host is noticed only if that host tells by
 * ICMP that the port is closed: else wait returns 0. -EOWNERDEAD: another peer has replaced this one. -EBUSY: no frame
 * came for `most_ms`, because another peer commands over UDP. It must close, or be silent for half a second: wait
 * again, or close. */
int orr_client_wait(struct orr_client *client, enum orr_client_how how, int most_ms);

/* [any] The same in words: what a status of wait, send or end that is not 1 means. O(1). */
const char *orr_client_why(int status);

/* [rt] A number of the frame; NaN for a signal or element that is not there. O(1). */
double orr_client_get(const struct orr_client *client, struct orr_signal signal, uint32_t element);
/* [rt] A number of the next command; what is never set is zero, and stays from one command to the next but for pulses.
 * A command with a number beyond ten times what its device can do is refused whole (`out_of_range`), so clip it.
 * False for a signal or element that is not there. O(1). */
bool orr_client_set(struct orr_client *client, struct orr_signal signal, uint32_t element, double value);
/* [rt] Sends the command as the answer to the frame that wait found last. 0, or -EAGAIN before the first frame,
 * -EOWNERDEAD. */
int orr_client_send(struct orr_client *client);
/* [rt] Tells the run that this client is alive, when there is nothing to command. send does so too, and so does wait:
 * with each frame (over UDP, while none comes) and ten times a second. The run finds a client that hangs by it. */
void orr_client_beat(struct orr_client *client);
/* [rt] Asks the run to end. As orr_client_send. */
int orr_client_end(struct orr_client *client);

#ifdef __cplusplus
}
#endif

#endif
