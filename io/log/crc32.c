#include "io/log/crc32.h"

#include <string.h>

void orr_crc32_init(struct orr_crc32 *crc) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; bit++)
      rest = rest >> 1 ^ (rest & 1 ? UINT32_C(0xedb88320) : 0);
    crc->table[0][byte] = rest;
  }
  for (int zeros = 1; zeros < 8; zeros++)
    for (uint32_t byte = 0; byte < 256; byte++) {
      uint32_t rest = crc->table[zeros - 1][byte];
      crc->table[zeros][byte] = rest >> 8 ^ crc->table[0][rest & 255];
    }
}

uint32_t orr_crc32(const struct orr_crc32 *crc, uint32_t before, const void *bytes, size_t size) {
  const uint8_t *at = bytes;
  uint32_t rest = ~before;
  for (; size >= 8; size -= 8, at += 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    word ^= rest;
    rest = 0;
    for (int i = 0; i < 8; i++)
      rest ^= crc->table[7 - i][word >> 8 * i & 255];
  }
  for (; size > 0; size--)
    rest = rest >> 8 ^ crc->table[0][(rest ^ *at++) & 255];
  return ~rest;
}
