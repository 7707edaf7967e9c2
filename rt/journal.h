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

#include "rt/tasks.h"

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

/* [init] The same for this process: only its own undo acts on it. After a kill -9 the id may be a stranger's. */
int orr_journal_tell_self(struct orr_journal *journal, const char *path, const char *value, const char *undo_path,
                          const char *undo_value);

/* [init] Changes nothing now; undo writes every line of `from` to `to` (tasks of a cpuset back to its parent). */
int orr_journal_will_empty(struct orr_journal *journal, const char *from, const char *to);

/* [init] Changes nothing now; undo binds the task again to the cores it has. */
int orr_journal_will_bind(struct orr_journal *journal, const struct orr_task *task);

/* What could not be taken back: how many changes, and the first of them, as "write PATH VALUE", with its errno. */
struct orr_undo_failures {
  unsigned count;
  int error;
  char first[ORR_JOURNAL_LINE_MAX];
};

/* [init] Takes every change back, last first, and removes the journal. A file or directory that is gone needs nothing. */
struct orr_undo_failures orr_journal_undo(struct orr_journal *journal);

/* [init] Undoes the journals in `dir` whose owners died; each is undone once, however many start at the same time. Returns how many. */
unsigned orr_journal_repair(const char *dir, struct orr_undo_failures *failures);

#endif
