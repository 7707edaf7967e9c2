#include "io/client/client_seal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "io/client/client_blake2b.h"
#include "io/wire/key.h"

struct orr_client_seal *orr_client_seal_make(const uint8_t key[ORR_WIRE_KEY_BYTES]) {
  struct orr_client_seal *s = calloc(1, sizeof *s);
  while (s && s->peer == 0) {
    if (getrandom(&s->peer, sizeof s->peer, 0) != sizeof s->peer) {
      free(s);
      return NULL;
    }
  }
  if (s)
    memcpy(s->key, key, sizeof s->key);
  return s;
}

void orr_client_seal_free(struct orr_client_seal *s) {
  if (s)
    orr_wire_key_forget(s, sizeof *s);
  free(s);
}

static void sum(const struct orr_client_seal *s, const uint8_t *bytes, size_t count, uint8_t out[ORR_WIRE_MAC_BYTES]) {
  orr_client_blake2b(out, ORR_WIRE_MAC_BYTES, s->key, sizeof s->key, bytes, count);
}

size_t orr_client_seal_put(struct orr_client_seal *s, uint8_t *packet, size_t bytes, bool question) {
  const struct orr_wire_seal numbers = {question ? 0 : s->run, s->peer, ++s->sent};
  orr_wire_seal_write(packet, bytes, &numbers);
  bytes += sizeof numbers;
  sum(s, packet, bytes, packet + bytes);
  return bytes + ORR_WIRE_MAC_BYTES;
}

/* In the same time wherever they differ. */
static bool equal(const uint8_t *a, const uint8_t *b) {
  unsigned differ = 0;
  for (int i = 0; i < ORR_WIRE_MAC_BYTES; i++)
    differ |= (unsigned)(a[i] ^ b[i]);
  return differ == 0;
}

enum orr_client_sealed orr_client_seal_take(struct orr_client_seal *s, const uint8_t *datagram, size_t bytes,
                                            size_t *packet_bytes) {
  struct orr_wire_seal numbers;
  uint8_t ours[ORR_WIRE_MAC_BYTES];
  if (!orr_wire_seal_read(datagram, bytes, false, &numbers, packet_bytes))
    return ORR_CLIENT_FORGED;
  sum(s, datagram, bytes - sizeof ours, ours);
  if (!equal(ours, datagram + bytes - sizeof ours))
    return ORR_CLIENT_FORGED;
  if (numbers.peer != s->peer)
    return ORR_CLIENT_REPLAYED;
  s->run = s->run ? s->run : numbers.run;
  if (numbers.run != s->run)
    return ORR_CLIENT_ANOTHER_RUN;
  if (orr_wire_seen_has(&s->seen, numbers.counter))
    return ORR_CLIENT_REPLAYED;
  orr_wire_seen_add(&s->seen, numbers.counter);
  return ORR_CLIENT_SEALED;
}
