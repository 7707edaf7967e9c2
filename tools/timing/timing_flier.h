/* Flies slices in processes of their own, by this program or another build of it. [init]
 *
 * orr_timing_flier_open → orr_timing_flier_fly, slice after slice → orr_timing_flier_close, all on one thread.
 * Signals that end a run are held from open to close; a slice that flies is ended by them, and when we are killed. */
#ifndef ORR_TOOLS_TIMING_TIMING_FLIER_H
#define ORR_TOOLS_TIMING_TIMING_FLIER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/timing/timing_result.h"

struct orr_timing_flier {
  sigset_t signals, before;
  bool interrupted;
  char file[64]; /* where slices leave their results */
};

/* False after a message. */
bool orr_timing_flier_open(struct orr_timing_flier *flier);
void orr_timing_flier_close(struct orr_timing_flier *flier);

/* Runs PROGRAM (NULL: this one) with these words (`-o FILE` is added) to its end, and adds the result to `root`. An
 * enum orr_exit, after a message where it is not ORR_EXIT_OK. */
int orr_timing_flier_fly(struct orr_timing_flier *flier, const char *program, const char *const *words, size_t count,
                         json_t *root);

#endif
