/* The seals of a link over UDP with a key (io/wire/wire.h), at the client's end; for io/client only. */
#ifndef ORR_IO_CLIENT_CLIENT_SEAL_H
#define ORR_IO_CLIENT_CLIENT_SEAL_H

#include "io/wire/wire.h"

struct orr_client_seal {
  uint8_t key[ORR_WIRE_KEY_BYTES];
  uint64_t run;  /* 0: not known yet */
  uint64_t peer; /* ours */
  uint64_t sent; /* the counter of the last one sealed */
  struct orr_wire_seen seen;
};

/* [init] One with a number of its own, that knows no run yet; NULL: no memory, or no random numbers. */
struct orr_client_seal *orr_client_seal_make(const uint8_t key[ORR_WIRE_KEY_BYTES]);
void orr_client_seal_free(struct orr_client_seal *seal);

/* [rt] Seals a packet of `bytes`, behind it; returns the bytes of both. A question has no number of a run. O(bytes). */
size_t orr_client_seal_put(struct orr_client_seal *seal, uint8_t *packet, size_t bytes, bool question);

enum orr_client_sealed {
  ORR_CLIENT_SEALED,
  ORR_CLIENT_FORGED,      /* no seal of our key */
  ORR_CLIENT_REPLAYED,    /* meant for another client, or seen */
  ORR_CLIENT_ANOTHER_RUN, /* an answer to us, of another run */
};
/* [rt] Judges a datagram of any bytes: the bytes of the packet in it. The first one sealed for us tells the run.
 * O(bytes). */
enum orr_client_sealed orr_client_seal_take(struct orr_client_seal *seal, const uint8_t *datagram, size_t bytes,
                                            size_t *packet_bytes);

#endif
