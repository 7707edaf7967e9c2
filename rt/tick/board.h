/* The statistics block, and a copy of it in POSIX shared memory: /dev/shm/orrery.rt.<pid>, readable by its owner alone.
 *
 * The executive writes the block, which is private memory. orr_board_show writes the copy by calls on the file, from
 * another thread, and nobody of this process maps it: a process that writes to the file, or cuts it, spoils what
 * readers see until the next copy, and nothing else. Readers copy it in turn, for the same reason.
 *
 * The writer holds a lock on the file while it runs, which is how readers and the next start tell a running block from
 * what a killed process left. Any thread, not in the executive.
 *
 *   orr_board_create → orr_stats_init → orr_board_show, as often as wanted → orr_board_close
 *   orr_board_open → orr_board_look before each reading of `stats` → orr_board_close
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
  struct orr_stats *stats;       /* the writer's own; a reader's copy */
  struct orr_stats *shown;       /* the writer's: what it writes to the file */
  int fd;
  bool writer;
};

/* [init] Makes the block of this process and the file. Returns 0; the errno with which shared memory was refused (the
 * block is there all the same); or ENOMEM with stats NULL when there is no memory at all. */
int orr_board_create(struct orr_board *board);

/* [any] Brings the file up to date. Three system calls and a copy of half a megabyte. */
void orr_board_show(struct orr_board *board);

/* [init] Opens the block of that name for reading. Returns 0, or errno: ENOENT, EACCES, EPROTO when it is not a block
 * of this build. */
int orr_board_open(struct orr_board *board, const char *name);

/* [init] Reads the block anew. False where the file holds no block any more: another process has spoilt it. */
bool orr_board_look(struct orr_board *board);

/* [init] Gives the memory back; the writer also removes the name. */
void orr_board_close(struct orr_board *board);

/* [any] Whether the process that writes the block still runs. A system call. */
bool orr_board_alive(const struct orr_board *board);

/* [init] Names of the blocks present, at most `max`; returns how many were stored. */
size_t orr_board_list(char names[][ORR_BOARD_NAME_MAX], size_t max);

/* [init] Removes the blocks of processes that died. Returns how many. */
size_t orr_board_sweep(void);

#endif
