/* FNV-1a of 64 bits: the hash of states, of tables of channels and of layouts of links, and the key of a device's
 * noise.
 *
 *   hash = ORR_HASH_BEGIN, then any number of pieces
 *
 * All of this is [any] and O(what is mixed in), and cannot fail. The values are part of what is saved and compared:
 * they may not change.
 */
#ifndef ORR_CORE_MATH_HASH_H
#define ORR_CORE_MATH_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ORR_HASH_BEGIN UINT64_C(14695981039346656037)

/* One byte, or one word taken as if it were one. */
static inline uint64_t orr_hash_mix(uint64_t hash, uint64_t piece) { return (hash ^ piece) * UINT64_C(1099511628211); }

/* So many bytes, one after the other. */
static inline uint64_t orr_hash_bytes(uint64_t hash, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    hash = orr_hash_mix(hash, ((const unsigned char *)from)[i]);
  return hash;
}

/* Memory as words of 8 bytes; what is left behind the last whole word is not looked at. FNV-1a mixes upwards only, and
 * a word's upper bits must count as well: hence the fold. */
static inline uint64_t orr_hash_words(uint64_t hash, const void *from, size_t bytes) {
  for (size_t at = 0; at + 8 <= bytes; at += 8) {
    uint64_t word;
    memcpy(&word, (const char *)from + at, sizeof word);
    hash = orr_hash_mix(hash, word);
    hash ^= hash >> 32;
  }
  return hash;
}

#endif
