/* The file of a key, for both ends of a link over UDP (io/wire/wire.h): 64 hexadecimal digits, a line end or none. */
#ifndef ORR_IO_WIRE_KEY_H
#define ORR_IO_WIRE_KEY_H

#include <stddef.h>
#include <stdint.h>

/* [init] Reads a key of ORR_WIRE_KEY_BYTES. The file must be a regular one (or a link to one), the user's own, and for
 * nobody else to read or write. 0 or an errno, then with what is wrong and what to do in `why`. */
int orr_wire_key_read(const char *path, uint8_t *key, char *why, size_t size);

/* [any] Zeros that no compiler leaves out. */
void orr_wire_key_forget(void *memory, size_t bytes);

#endif
