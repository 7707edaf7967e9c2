/* Cleans texts of any bytes, such as paths, for output: JSON, SVG and source code hold UTF-8 only. [init] */
#ifndef ORR_TOOLS_COMMON_TEXT_H
#define ORR_TOOLS_COMMON_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

enum { ORR_TEXT_MAX = 4400 }; /* more than a path may have, with words around it */

/* Writes `text` in UTF-8 to `clean`, and returns that. Bytes that are no UTF-8, control characters and those of
 * `others` become '?'. A text that does not fit is cut behind a whole character. O(bytes). */
const char *orr_text_clean(const char *text, const char *others, char *clean, size_t size);

/* Prints so many bytes cleaned, so that nothing in them steers a terminal; returns how many it printed. O(size). */
size_t orr_text_print(FILE *out, const char *text, size_t size);

/* A JSON string of the cleaned text. (jansson makes no string of bytes that are not UTF-8, and would drop the whole
 * object without an error.) Never NULL. */
json_t *orr_json_text(const char *text);

#endif
