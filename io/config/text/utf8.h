/* Characters of UTF-8: their bytes, and the columns that a terminal gives them. [any]: pure functions.
 */
#ifndef ORR_IO_CONFIG_TEXT_UTF8_H
#define ORR_IO_CONFIG_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* [any] The length of the character at p, of which `left` (> 0) bytes are there; 0 where there is none: truncated,
 * overlong, a surrogate, or too large. O(1). */
size_t orr_utf8_length(const char *p, size_t left);

/* [any] Whether the character at p, which orr_utf8_length has found, is a control character (C0, DEL or C1). O(1). */
bool orr_utf8_is_control(const char *p);

/* [any] Columns of the character at p, which orr_utf8_length has found: 0 for marks that combine, 2 for wide ones (East
 * Asian letters, emoji), else 1. O(1). */
int orr_utf8_columns(const char *p);

#endif
