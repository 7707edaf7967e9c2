/* Memory of one reading: many small pieces, released together.
 *
 * create → alloc, copy … → destroy. One thread at a time; [init] throughout.
 * When the system has no memory left the program is aborted: files are bounded in size (yaml.h), so this is a
 * machine in trouble and not a file that is wrong.
 */
#ifndef ORR_IO_CONFIG_TEXT_ARENA_H
#define ORR_IO_CONFIG_TEXT_ARENA_H

#include <stddef.h>

struct orr_arena;

/* [init] O(1). Never NULL. */
struct orr_arena *orr_arena_create(void);

/* [init] Releases every piece. NULL is allowed. */
void orr_arena_destroy(struct orr_arena *arena);

/* [init] A zeroed piece of count × size bytes, aligned to 16; amortised O(bytes). Never NULL, also for 0 bytes. */
void *orr_arena_alloc(struct orr_arena *arena, size_t count, size_t size);

/* [init] A piece of twice `old_count` or 8 items that begins with the old ones, for a list that grows; O(bytes). */
void *orr_arena_grow(struct orr_arena *arena, const void *old, size_t old_count, size_t size, size_t *new_count);

/* [init] A copy of `length` bytes, ended by a NUL. */
char *orr_arena_copy(struct orr_arena *arena, const char *text, size_t length);

/* [init] A formatted text. */
char *orr_arena_format(struct orr_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
