#include "io/links/packets/seal.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "io/wire/key.h"

void orr_seal_free(struct orr_seal *s) {
  if (!s)
    return;
  orr_wire_key_forget(s->key, sizeof s->key);
  free(s->seen);
  free(s);
}

struct orr_seal *orr_seal_make(const char *key_file, int *error) {
  struct orr_seal *s = calloc(1, sizeof *s);
  char why[400];
  *error = s && (s->seen = calloc(1, sizeof *s->seen)) != NULL ? 0 : ENOMEM;
  if (*error == 0)
    *error = sodium_init() < 0 ? EIO : orr_wire_key_read(key_file, s->key, why, sizeof why);
  if (*error) {
    orr_seal_free(s);
    return NULL;
  }
  while (s->run == 0)
    randombytes_buf(&s->run, sizeof s->run);
  return s;
}

static void sum(const struct orr_seal *s, const uint8_t *bytes, size_t count, uint8_t out[ORR_WIRE_MAC_BYTES]) {
  crypto_generichash_blake2b(out, ORR_WIRE_MAC_BYTES, bytes, count, s->key, sizeof s->key);
}

size_t orr_seal_put(struct orr_seal *s, uint64_t peer, uint8_t *packet, size_t bytes) {
  const struct orr_wire_seal numbers = {s->run, peer, ++s->sent};
  orr_wire_seal_write(packet, bytes, &numbers);
  bytes += sizeof numbers;
  sum(s, packet, bytes, packet + bytes);
  return bytes + ORR_WIRE_MAC_BYTES;
}

bool orr_seal_check(const struct orr_seal *s, const uint8_t *datagram, size_t bytes, struct orr_wire_seal *numbers,
                    size_t *packet_bytes) {
  uint8_t ours[ORR_WIRE_MAC_BYTES];
  if (!orr_wire_seal_read(datagram, bytes, true, numbers, packet_bytes))
    return false;
  sum(s, datagram, bytes - sizeof ours, ours);
  return sodium_memcmp(ours, datagram + bytes - sizeof ours, sizeof ours) == 0;
}

bool orr_seal_is_old(const struct orr_seal *s, const struct orr_wire_seal *numbers) {
  return numbers->run != s->run || (numbers->peer == s->peer && orr_wire_seen_has(s->seen, numbers->counter));
}

void orr_seal_enter(struct orr_seal *s, const struct orr_wire_seal *numbers) {
  if (numbers->peer != s->peer)
    memset(s->seen, 0, sizeof *s->seen);
  s->peer = numbers->peer;
  orr_wire_seen_add(s->seen, numbers->counter);
}
