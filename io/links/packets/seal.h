/* The seals of a link over UDP with a key (io/wire/wire.h), at the run's end: keyed BLAKE2b of libsodium.
 *
 * orr_seal_make [init] → orr_seal_put, orr_seal_check on the relay's thread → orr_seal_free [init].
 */
#ifndef ORR_IO_LINKS_SEAL_H
#define ORR_IO_LINKS_SEAL_H

#include "io/wire/wire.h"

struct orr_seal {
  uint8_t key[ORR_WIRE_KEY_BYTES];
  uint64_t run;               /* ours; never 0 */
  uint64_t peer;              /* of whom we tell frames: the newest peer's */
  uint64_t sent;              /* the counter of the last one sealed */
  struct orr_wire_seen *seen; /* of that peer */
};

/* [init] Reads the key (orr_wire_key_read, which has the words), and draws the number of the run. NULL with an errno in
 * *error. */
struct orr_seal *orr_seal_make(const char *key_file, int *error);
void orr_seal_free(struct orr_seal *seal);

/* [any] Seals a packet of `bytes` for a peer, behind it; returns the bytes of both. O(bytes). */
size_t orr_seal_put(struct orr_seal *seal, uint64_t peer, uint8_t *packet, size_t bytes);
/* [any] Whether a datagram of any bytes has a seal of our key: its numbers, and the bytes of the packet. Its run and
 * counter are the caller's to judge. O(bytes). */
bool orr_seal_check(const struct orr_seal *seal, const uint8_t *datagram, size_t bytes, struct orr_wire_seal *numbers,
                    size_t *packet_bytes);
/* [any] Whether a packet with these numbers is of another run, or was seen. O(1). */
bool orr_seal_is_old(const struct orr_seal *seal, const struct orr_wire_seal *numbers);
/* [any] From now on we tell frames to the peer with these numbers, and take none of its packets twice. O(1). */
void orr_seal_enter(struct orr_seal *seal, const struct orr_wire_seal *numbers);

#endif
