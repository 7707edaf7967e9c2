/* An undo journal for changes to the machine: what a change will need to be taken back is on disk before the change is
 * made.
 *
 * Each change is one line in a file of the state directory; undo reads the lines backwards. The file stays locked while
 * its owner lives, so that a later start finds what a killed process left (orr_journal_repair) and never touches what
 * is in use. Paths and values hold no tab and no newline. Several processes may have journals there. They change the
 * machine in turn, and a file that several have set, or rely on, is restored by the last of them that ends (undo.c).
 * Order: repair, open, which waits for one's turn, changes, pass, undo. One thread.
 */
#ifndef ORR_RT_MACHINE_JOURNAL_H
#define ORR_RT_MACHINE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "rt/machine/tasks.h"

enum { ORR_JOURNAL_PATH_MAX = 512, ORR_JOURNAL_LINE_MAX = 2048 };

/* The closed list of what undo may do: whether a line with this verb, path and value is one that this program notes.
 * NULL: any. */
struct orr_undo_list {
  bool (*allows)(const struct orr_undo_list *list, const char *verb, const char *path, const char *value);
};

struct orr_journal {
  const struct orr_undo_list *list; /* the caller's, set after open */
  char path[ORR_JOURNAL_PATH_MAX];
  int fd;      /* −1: not open */
  int turn_fd; /* −1: it is not our turn */
};

/* [init] Makes `dir` (0700) if need be and a journal of this process in it. Returns 0 or errno: EWOULDBLOCK when
 * another had its turn for ten seconds. */
int orr_journal_open(struct orr_journal *journal, const char *dir);
/* [init] The changes are made: the next may make theirs. */
void orr_journal_pass(struct orr_journal *journal);

/* [init] Says to others that this process clears a core. Returns 0 or errno. */
int orr_journal_claim(struct orr_journal *journal, int core);

/* [init] Writes `value` to the file at `path`, whose present content is noted; where it is that already, as
 * orr_journal_hold. Returns 0, or errno with nothing changed. */
int orr_journal_set(struct orr_journal *journal, const char *path, const char *value);

/* [init] Writes `value` to `path`; undo will write `undo_value` to `undo_path`. For files that take commands (a task to
 * move). */
int orr_journal_tell(struct orr_journal *journal, const char *path, const char *value, const char *undo_path,
                     const char *undo_value);

/* [init] Changes nothing: says that this process relies on the file at `path` as it is, so that whoever changed it
 * leaves the undoing to us. */
int orr_journal_hold(struct orr_journal *journal, const char *path);

/* [init] Makes a directory; undo removes it. EEXIST when it is there. */
int orr_journal_mkdir(struct orr_journal *journal, const char *path);

/* [init] The same for this process: only its own undo acts on it. After a kill -9 the id may be a stranger's. */
int orr_journal_tell_self(struct orr_journal *journal, const char *path, const char *value, const char *undo_path,
                          const char *undo_value);

/* [init] Changes nothing now; undo writes every line of `from` to `to` (tasks of a cpuset back to its parent). */
int orr_journal_will_empty(struct orr_journal *journal, const char *from, const char *to);

/* [init] Changes nothing now; undo waits until the list of cores in the file has this one, a second at most. */
int orr_journal_will_await(struct orr_journal *journal, const char *path, int core);

/* [init] Changes nothing now; undo binds the task again to the cores it has. */
int orr_journal_will_bind(struct orr_journal *journal, const struct orr_task *task);
/* [init] The value of such a line: start and cores of a task. False when it is none. */
bool orr_journal_read_bind(const char *value, struct orr_task *task);

/* What could not be taken back: how many changes, and the first of them, as "write PATH VALUE", with its errno. */
struct orr_undo_failures {
  unsigned count;
  int error;
  char first[ORR_JOURNAL_LINE_MAX];
};

/* [init] Takes every change back, last first, and removes the journal. A file or directory that is gone needs
 * nothing. */
struct orr_undo_failures orr_journal_undo(struct orr_journal *journal);

/* [init] How far it is written; and takes back at once what was changed since then, while it is our turn. */
off_t orr_journal_mark(const struct orr_journal *journal);
struct orr_undo_failures orr_journal_undo_from(struct orr_journal *journal, off_t mark);

/* [init] Undoes the journals in `dir` whose owners died; each is undone once, however many start at the same time.
 * Returns how many. A folder or a journal that is not ours, and writable by us alone, is left as it is; of the folder,
 * and of lines that are not in the list, *failures tells. */
unsigned orr_journal_repair(const char *dir, const struct orr_undo_list *list, struct orr_undo_failures *failures);

#endif
