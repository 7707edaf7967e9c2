/* A bar on the terminal with the time left, of what takes more than two seconds; nothing where standard error is no
 * terminal.
 *
 * orr_progress_begin → orr_progress_show, as often as is handy, at most ten times a second drawn → orr_progress_wipe,
 * also before anything else is printed. One thread. [init]
 */
#ifndef ORR_TOOLS_COMMON_PROGRESS_H
#define ORR_TOOLS_COMMON_PROGRESS_H

#include <stdbool.h>

struct orr_progress {
  bool terminal, drawn;
  double start_s, next_s, expected_s;
};

/* `expected_s`: how long it is to take, so that the bar stands there from the first show on; 0: nobody knows. */
void orr_progress_begin(struct orr_progress *progress, double expected_s);
/* The part that is done, from 0 to 1. */
void orr_progress_show(struct orr_progress *progress, double part);
void orr_progress_wipe(struct orr_progress *progress);

#endif
