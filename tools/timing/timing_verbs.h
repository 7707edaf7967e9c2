/* What `orrery timing VERB` does, and what the verbs share. Each takes the arguments behind `timing`, argv[0] being its
 * own name, and returns an enum orr_exit. [init] */
#ifndef ORR_TOOLS_TIMING_TIMING_VERBS_H
#define ORR_TOOLS_TIMING_TIMING_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/timing/timing_slices.h"

int orr_timing_run(int argc, char **argv);
int orr_timing_run_slice(int argc, char **argv);
int orr_timing_compare_files(int argc, char **argv);
int orr_timing_merge(int argc, char **argv);
int orr_timing_trend(int argc, char **argv);

/* Says on standard error what is wrong with the command line. ORR_EXIT_USAGE. */
int orr_timing_usage(const char *verb, const char *what, const char *word);

/* An option with a value: its place is given, or with `switched` it takes none. Those that may be repeated are not
 * here. */
struct orr_timing_option {
  const char *name;
  const char **value; /* NULL: it takes none */
  bool *switched;
};

/* Puts options where they belong, and other words into `words` [most]. ORR_EXIT_OK, or _USAGE after a message. */
int orr_timing_parse(int argc, char **argv, const struct orr_timing_option *options, size_t option_count,
                     const char **words, size_t most, size_t *word_count);

/* A whole number from `least` to `most`, all of the word. */
bool orr_timing_whole(const char *word, long least, long most, long *value);

/* A line for each distribution: percentiles as far as the samples reach, the largest, and how many there are. */
void orr_timing_print_set(FILE *out, const struct orr_timing_set *set);

#endif
