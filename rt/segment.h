/* The statistics block in POSIX shared memory: /dev/shm/orrery.rt.<pid>, readable by its owner alone.
 *
 * The writer holds a lock on the file for as long as it lives, which is how readers and the next start tell a running
 * block from what a killed process left. Readers map it read-only. Any thread, not in the loop.
 */
#ifndef ORR_RT_SEGMENT_H
#define ORR_RT_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "rt/stats.h"

#define ORR_SEGMENT_PREFIX "orrery.rt."
enum { ORR_SEGMENT_NAME_MAX = 48 };

struct orr_segment {
  char name[ORR_SEGMENT_NAME_MAX]; /* without the leading slash; empty: private memory, not shared */
  struct orr_stats *stats;
  int fd;
  bool writer;
};

/* [init] Makes the block of this process, in private memory when shared memory is refused. Returns 0; the errno of the
 * refusal (the block is there all the same); or ENOMEM with stats NULL when there is no memory at all. */
int orr_segment_create(struct orr_segment *segment);

/* [init] Opens the block of that name for reading. Returns 0, or errno: ENOENT, EACCES, EPROTO when it is not a block
 * of this build. */
int orr_segment_open(struct orr_segment *segment, const char *name);

/* [any] Unmaps; the writer also removes the name. */
void orr_segment_close(struct orr_segment *segment);

/* [any] Whether the process that writes the block still lives. */
bool orr_segment_alive(const struct orr_segment *segment);

/* [any] Names of the blocks present, at most `max`; returns how many were stored. */
size_t orr_segment_list(char names[][ORR_SEGMENT_NAME_MAX], size_t max);

/* [init] Removes the blocks of processes that died. Returns how many. */
size_t orr_segment_sweep(void);

#endif
