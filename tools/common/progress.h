/* A progress bar on the terminal, with the time left, for work of more than two seconds. Nothing is shown where
 * standard error is no terminal.
 *
 * orr_progress_begin → orr_progress_show, as often as one likes (it draws at most ten times a second) →
 * orr_progress_wipe, also before anything else is printed. One thread. [init]
 */
#ifndef ORR_TOOLS_COMMON_PROGRESS_H
#define ORR_TOOLS_COMMON_PROGRESS_H

#include <stdbool.h>

struct orr_progress {
  bool terminal, drawn;
  double start_s, next_s, expected_s;
};

/* `expected_s`: how long the work takes, so that the bar is drawn from the first call on; 0: not known. */
void orr_progress_begin(struct orr_progress *progress, double expected_s);
/* The part that is done, from 0 to 1. */
void orr_progress_show(struct orr_progress *progress, double part);
void orr_progress_wipe(struct orr_progress *progress);

#endif
