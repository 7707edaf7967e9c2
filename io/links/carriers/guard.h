/* Shared memory that others may shrink: SIGBUS in a guarded range maps a zero page there and marks the range dead.
 *
 * orr_guard_add when a range is mapped, orr_guard_remove before it is unmapped: [init], main thread. The handler may
 * run on any thread. A signal handler takes no argument of ours, so the list of ranges is file-scope state, the only
 * one in io.
 */
#ifndef ORR_IO_LINKS_GUARD_H
#define ORR_IO_LINKS_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* [init] Guards a mapping; *dead becomes true when a part of it is gone. False when all places are taken (64). */
bool orr_guard_add(void *memory, size_t bytes, atomic_bool *dead);
/* [init] */
void orr_guard_remove(void *memory);

#endif
