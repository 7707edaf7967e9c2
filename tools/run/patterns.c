#include "tools/run/patterns.h"

#include <stdio.h>
#include <string.h>

#include "io/config/text/names.h"

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

void orr_patterns_report(const char *pattern, const char *option, const struct orr_channel_table *table) {
  struct orr_nearest nearest = {.wanted = pattern};
  for (int i = 0; i < table->count; i++)
    orr_nearest_offer(&nearest, table->channels[i].name);
  if (nearest.best)
    fprintf(stderr, "orrery run: no channel fits '%s' of %s, did you mean '%s'?\n", pattern, option, nearest.best);
  else
    fprintf(stderr, "orrery run: no channel fits '%s' of %s; 'orrery check --channels' lists them\n", pattern, option);
}
