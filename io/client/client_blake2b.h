/* BLAKE2b (RFC 7693), keyed or not. Our own, so that flight software depends on nothing; no secret steers a branch or
 * an address. */
#ifndef ORR_IO_CLIENT_CLIENT_BLAKE2B_H
#define ORR_IO_CLIENT_CLIENT_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

enum { ORR_BLAKE2B_MOST = 64 }; /* bytes of a hash, and of a key */

/* [any] A hash of `size` bytes (1 to 64) with a key of `key_size` (0 to 64: 0 for none). O(count). */
void orr_client_blake2b(uint8_t *out, size_t size, const uint8_t *key, size_t key_size, const uint8_t *bytes,
                        size_t count);

#endif
