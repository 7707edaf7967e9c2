/* CRC-32 as MCAP, zip and Ethernet have it (reflected 0x04C11DB7, begun and ended with all ones).
 *
 * orr_crc32_init over memory of the caller → orr_crc32, as often as wanted, from any thread.
 */
#ifndef ORR_IO_LOG_CRC32_H
#define ORR_IO_LOG_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Remainders of a byte, and of a byte that one to seven zero bytes follow: eight bytes are taken at a time. */
struct orr_crc32 {
  uint32_t table[8][256];
};

/* [init] */
void orr_crc32_init(struct orr_crc32 *crc);

/* [any] The sum of what `before` is the sum of (0: of nothing) and these bytes behind it. O(size). */
uint32_t orr_crc32(const struct orr_crc32 *crc, uint32_t before, const void *bytes, size_t size);

#endif
