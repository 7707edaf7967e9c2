/* Texts that come from outside the files we read (paths, above all), made fit for what we write: JSON, SVG and source
 * code hold UTF-8 only, and the names of files may be any bytes. [init] */
#ifndef ORR_TOOLS_COMMON_TEXT_H
#define ORR_TOOLS_COMMON_TEXT_H

#include <jansson.h>
#include <stddef.h>

enum { ORR_TEXT_MAX = 4400 }; /* more than a path may have, with words around it */

/* `text` in UTF-8, in `clean`, which is returned: what is no letter, a control character or one of `others` is a '?'.
 * Cut to whole letters where it does not fit. O(bytes). */
const char *orr_text_clean(const char *text, const char *others, char *clean, size_t size);

/* A string of such a text: jansson makes nothing of one that is not UTF-8, and whatever holds it would be left out
 * unsaid. Never NULL. */
json_t *orr_json_text(const char *text);

#endif
