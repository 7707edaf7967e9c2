/* Patterns of channels as the command line takes them, with commas between: 'gyro.*,bus.attitude'. [any] */
#ifndef ORR_TOOLS_RUN_PATTERNS_H
#define ORR_TOOLS_RUN_PATTERNS_H

#include <stdbool.h>

#include "core/plant/channel.h"

enum { ORR_PATTERN_TEXT = 512 };

/* Removes the first pattern; false when there is none left. A pattern that is too long comes out empty, and fits
 * nothing. */
bool orr_patterns_cut(const char **patterns, char pattern[ORR_PATTERN_TEXT]);

/* [init] Says on stderr that no channel fits a pattern of an option, and which is the nearest, or where all are. */
void orr_patterns_report(const char *pattern, const char *option, const struct orr_channel_table *table);

/* Whether a channel's full name fits one of them (orr_channel_matches). */
bool orr_patterns_fit(const char *patterns, const char *name);

#endif
