/* The journals of other processes that clear cores at the same time: what they hold, and what they will take back.
 *
 * orr_others_read while it is one's turn (journal.h) → questions → orr_others_free. All [init], on one thread; O(what
 * they have noted).
 */
#ifndef ORR_RT_MACHINE_OTHERS_H
#define ORR_RT_MACHINE_OTHERS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rt/machine/journal.h"

struct orr_other {
  char path[ORR_JOURNAL_PATH_MAX];
  pid_t process;
  bool alive;
  int64_t began_ns;
  char *text; /* lines */
};

struct orr_others {
  struct orr_other *journals;
  size_t count;
};

/* [init] All journals in the folder of `path` but that one. Those that cannot be read are left out. */
struct orr_others orr_others_read(const char *path);
void orr_others_free(struct orr_others *others);

/* [init] The cores that living ones clear; and which of them clears `core` (0: none). */
void orr_others_cores(const struct orr_others *others, cpu_set_t *cores);
pid_t orr_others_clearing(const struct orr_others *others, int core);

/* [init] The tasks that living ones will bind again, with the cores they will get then. malloc'ed: the caller frees
 * *tasks. */
size_t orr_others_tasks(const struct orr_others *others, struct orr_task **tasks);

/* [init] Of those that began after `began_ns`, the first that has changed the file at `path` or needs it as it is;
 * NULL: none. */
const struct orr_other *orr_others_after(const struct orr_others *others, int64_t began_ns, const char *path);

/* [init] Leaves it to that one to write `value` to `path` when it has no more need of its own. 0 or errno. */
int orr_others_leave_to(const struct orr_other *other, const char *path, const char *value);

#endif
