#include "tools/run/patterns.h"

#include <string.h>

#include "core/plant/channel.h"

bool orr_patterns_cut(const char **patterns, char pattern[ORR_PATTERN_TEXT]) {
  size_t n = strcspn(*patterns, ","), kept = n < ORR_PATTERN_TEXT ? n : 0;
  if (!**patterns)
    return false;
  memcpy(pattern, *patterns, kept);
  pattern[kept] = '\0';
  *patterns += n + ((*patterns)[n] == ',');
  return true;
}

bool orr_patterns_fit(const char *patterns, const char *name) {
  char pattern[ORR_PATTERN_TEXT];
  while (orr_patterns_cut(&patterns, pattern))
    if (orr_channel_matches(pattern, name))
      return true;
  return false;
}
