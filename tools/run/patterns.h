/* Patterns of channels as the command line takes them, with commas between: 'gyro.*,bus.attitude'. [any] */
#ifndef ORR_TOOLS_RUN_PATTERNS_H
#define ORR_TOOLS_RUN_PATTERNS_H

#include <stdbool.h>

enum { ORR_PATTERN_TEXT = 512 };

/* Removes the first pattern; false when there is none left. A pattern that is too long comes out empty, and fits
 * nothing. */
bool orr_patterns_cut(const char **patterns, char pattern[ORR_PATTERN_TEXT]);

/* Whether a channel's full name fits one of them (orr_channel_matches). */
bool orr_patterns_fit(const char *patterns, const char *name);

#endif
