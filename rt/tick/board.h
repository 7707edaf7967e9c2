/* The statistics block in POSIX shared memory: /dev/shm/orrery.rt.<pid>, readable by its owner alone.
 *
 * The writer holds a lock on the file for as long as it lives, which is how readers and the next start tell a running
 * block from what a killed process left. Readers map it read-only. Any thread, not in the executive.
 */
#ifndef ORR_RT_TICK_BOARD_H
#define ORR_RT_TICK_BOARD_H

#include <stdbool.h>
#include <stddef.h>

#include "rt/tick/stats.h"

#define ORR_BOARD_PREFIX "orrery.rt."
enum { ORR_BOARD_NAME_MAX = 48 };

struct orr_board {
  char name[ORR_BOARD_NAME_MAX]; /* without the leading slash; empty: private memory, not shared */
  struct orr_stats *stats;
  int fd;
  bool writer;
};

/* [init] Makes the block of this process, in private memory when shared memory is refused. Returns 0; the errno of the
 * refusal (the block is there all the same); or ENOMEM with stats NULL when there is no memory at all. */
int orr_board_create(struct orr_board *board);

/* [init] Opens the block of that name for reading. Returns 0, or errno: ENOENT, EACCES, EPROTO when it is not a block
 * of this build. */
int orr_board_open(struct orr_board *board, const char *name);

/* [init] Unmaps; the writer also removes the name. */
void orr_board_close(struct orr_board *board);

/* [any] Whether the process that writes the block still lives. A system call. */
bool orr_board_alive(const struct orr_board *board);

/* [init] Names of the blocks present, at most `max`; returns how many were stored. */
size_t orr_board_list(char names[][ORR_BOARD_NAME_MAX], size_t max);

/* [init] Removes the blocks of processes that died. Returns how many. */
size_t orr_board_sweep(void);

#endif
