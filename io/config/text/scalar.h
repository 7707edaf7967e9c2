/* The text of a scalar, decoded from its bytes in the file.
 *
 * Our own, because libfyaml 0.7 loses memory when it decodes a quoted text with more than eight escapes. Folds lines as
 * YAML does; knows the escapes of JSON and \x, \0. [any]
 */
#ifndef ORR_IO_CONFIG_TEXT_SCALAR_H
#define ORR_IO_CONFIG_TEXT_SCALAR_H

#include <stdbool.h>
#include <stddef.h>

enum orr_scalar_style { ORR_SCALAR_PLAIN, ORR_SCALAR_SINGLE_QUOTED, ORR_SCALAR_DOUBLE_QUOTED };

/* [any] Decodes `length` bytes between the quotes, which are valid UTF-8, into `out` of one byte more: `written` bytes
 * and a NUL. False at an escape that is none: *at is its offset. O(length). */
bool orr_scalar_decode(enum orr_scalar_style style, const char *raw, size_t length, char *out, size_t *written,
                       size_t *at);

#endif
