/* What journal.c, undo.c and others.c share: how files are written, locked and searched. Only they include it.
 *
 * A journal is lines "verb TAB path TAB value": `began` with the time it was opened; `core` with a core that its owner
 * clears; and the changes, in the order they were made. `base` is appended by another journal that ended: undo.c says
 * why.
 */
#ifndef ORR_RT_MACHINE_JOURNAL_FILE_H
#define ORR_RT_MACHINE_JOURNAL_FILE_H

#include <stddef.h>
#include <stdint.h>

#define ORR_JOURNAL_SUFFIX ".undo"

/* [init] Writes the value, all of it at once, in place of what is there, as a shell does. 0 or errno. */
int orr_journal_write(const char *path, const char *value);

/* [init] Locks a journal; ESTALE when it is no longer the file of that name: whoever had the lock before may have
 * removed it. 0 or errno. */
int orr_journal_lock(int fd, const char *path);

/* [init] Waits for its turn to change the machine and the journals of the folder, ten seconds at most. A descriptor,
 * whose closing ends the turn, or −1 with errno: EPERM, or ELOOP or ENOTDIR of a link, where the folder is not ours. */
int orr_journal_take_turn(const char *dir);

/* [init] Whether an open folder or file is ours and writable by us alone: a regular file has one name besides. What
 * stands in any other, somebody else may have written. 0, EPERM, or the errno of looking. */
int orr_journal_is_ours(int fd);

/* [init] The folder of a journal's path. */
void orr_journal_dir(char *dir, size_t size, const char *path);

/* [init] All that a file holds, to free; NULL when it cannot be read. */
char *orr_journal_text(int fd);

/* [init] The value of a whole line with this verb and path: the first that begins before `before`, or the last of all.
 * It ends with the line. NULL: none. */
const char *orr_journal_first(const char *text, const char *before, const char *verb, const char *path);
const char *orr_journal_last(const char *text, const char *verb, const char *path);

/* [init] When it was opened, in ns since boot; 0 where it does not say. */
int64_t orr_journal_began(const char *text);

#endif
