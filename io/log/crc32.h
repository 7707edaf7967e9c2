/* CRC-32 as in MCAP, zip and Ethernet (reflected 0x04C11DB7, starting from all ones, inverted at the end).
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

/* [any] Continues a sum: `before` is the sum of all bytes before these (0: there are none). O(size). */
uint32_t orr_crc32(const struct orr_crc32 *crc, uint32_t before, const void *bytes, size_t size);

#endif
