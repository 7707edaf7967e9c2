/* An undo journal for changes to the machine: what a change will need to be taken back is on disk before the change is made.
 *
 * Each change is one line in a file of the state directory; undo reads the lines backwards. The file stays locked while its owner
 * lives, so that a later start finds what a killed process left (orr_journal_repair) and never touches what is in use. Paths and values
 * hold no tab and no newline.
 * Order: repair, open, changes, undo. One thread.
 */
#ifndef ORR_RT_JOURNAL_H
#define ORR_RT_JOURNAL_H

#include <stddef.h>
#include <sys/types.h>

enum { ORR_JOURNAL_PATH_MAX = 512, ORR_JOURNAL_LINE_MAX = 2048 };

struct orr_journal {
  char path[ORR_JOURNAL_PATH_MAX];
  int fd; /* −1: not open */
};

/* [init] Makes `dir` (0700) if need be and a journal of this process in it. Returns 0 or errno. */
int orr_journal_open(struct orr_journal *journal, const char *dir);

/* [init] Writes `value` to the file at `path`, whose present content is noted. Returns 0, or errno with nothing changed. */
int orr_journal_set(struct orr_journal *journal, const char *path, const char *value);

/* [init] Writes `value` to `path`; undo will write `undo_value` to `undo_path`. For files that take commands (a task to move). */
int orr_journal_tell(struct orr_journal *journal, const char *path, const char *value, const char *undo_path,
                     const char *undo_value);

/* [init] Makes a directory; undo removes it. EEXIST when it is there. */
int orr_journal_mkdir(struct orr_journal *journal, const char *path);

/* [init] Changes nothing now; undo writes every line of `from` to `to` (tasks of a cpuset back to its parent). */
int orr_journal_will_empty(struct orr_journal *journal, const char *from, const char *to);

/* [init] Takes every change back, last first, and removes the journal. Returns how many could not be taken back; a file or directory that
 * is gone needs nothing. */
unsigned orr_journal_undo(struct orr_journal *journal);

/* [init] Undoes the journals in `dir` whose owners died. Returns how many journals; `*failures` counts what could not be taken back. */
unsigned orr_journal_repair(const char *dir, unsigned *failures);

#endif
