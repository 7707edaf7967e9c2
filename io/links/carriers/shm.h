/* The executive's end of a link over shared memory (io/wire/wire.h): the carrier `shm`, and its parts, which tests and
 * fuzzers also call alone.
 *
 * orr_shm_open [init] → per frame, on one thread: orr_shm_publish, orr_shm_take [rt] → orr_shm_close [init]. What the
 * other side writes is read within known bounds; it never decides where this side reads or writes.
 */
#ifndef ORR_IO_LINKS_SHM_H
#define ORR_IO_LINKS_SHM_H

#include "io/links/carriers/carrier.h"

enum { ORR_SHM_NAME_MAX = 64 };

struct orr_shm {
  struct orr_carrier base;
  uint64_t *telemetry;         /* a payload going out, whole words; of the carrier alone */
  char name[ORR_SHM_NAME_MAX]; /* with the leading slash; empty: closed */
  int fd;
  char *memory;
  size_t bytes;
  atomic_bool dead; /* shrunk under us */
  struct orr_wire_run *run;
  struct orr_wire_peer *peer;
  char *out, *in; /* slot 0 */
  size_t out_slot_bytes, in_slot_bytes;
  uint32_t published, seen; /* frames out; commands looked at */
  uint32_t before;     /* the newest command that was there before the newest frame went out, and so cannot answer it */
  uint32_t odd;        /* the count of commands at the last look, also when it had gone back */
  uint32_t generation; /* of the peer */
};

/* The struct of a carrier of the kind `shm`. */
struct orr_shm *orr_shm_of(struct orr_carrier *carrier);

/* [init] Makes the segment, for its owner alone (0600). It replaces a segment whose run died. Returns 0 or an errno:
 * EEXIST when another run has that name, EPERM when it is another user's. Touches the pages, and locks them where that
 * is allowed. */
int orr_shm_open(struct orr_shm *shm, const char *name, const struct orr_layout *layout, int64_t step_ns, int divisor);
/* [init] The same in two steps: a segment without its magic, which no peer can use yet; and the magic. */
int orr_shm_make(struct orr_shm *shm, const char *name, const struct orr_layout *layout, int64_t step_ns, int divisor);
void orr_shm_admit(struct orr_shm *shm);
/* [init] Tells the peer that the run is over, and removes the segment. */
void orr_shm_close(struct orr_shm *shm);

/* [init] The parts of these that make no system call but to wake. lay_out writes header, directory and slots into
 * shm->memory, of header.segment_bytes and aligned to 64; shm->bytes and base.layout are set before. end tells the peer
 * that the run is over. */
void orr_shm_lay_out(struct orr_shm *shm, const struct orr_wire_header *header); /* and admits */
void orr_shm_lay_out_shut(struct orr_shm *shm, const struct orr_wire_header *header);
void orr_shm_end(struct orr_shm *shm);

/* [rt] A frame out. Enters the kernel only to wake a peer that asked for it. O(bytes). */
void orr_shm_publish(struct orr_shm *shm, const uint64_t head[ORR_WIRE_OUT_WORDS], const uint64_t *payload);

/* [rt] Hands the commands that came since the last call to the rules, at most ORR_WIRE_SLOTS. Returns whether a peer
 * asked the run to end. */
bool orr_shm_take(struct orr_shm *shm, struct orr_rules *rules);

/* [any] Whether a peer is there: one came, and its process lives. A system call. */
bool orr_shm_peer_lives(const struct orr_shm *shm);

#endif
