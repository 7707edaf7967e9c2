/* Which cores the tasks of the machine may use, so that they can be given back.
 *
 * A cpuset that shrinks and grows again makes kernels before 6.2 forget what its tasks had asked for with
 * sched_setaffinity: each may then use all that the cpuset has. Who changes a cpuset notes its tasks before, and puts
 * them back after.
 */
#ifndef ORR_RT_MACHINE_TASKS_H
#define ORR_RT_MACHINE_TASKS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct orr_task {
  pid_t id;                       /* of a thread */
  unsigned long long start_ticks; /* since boot: tells it from a later one of the same id */
  cpu_set_t cores;
};

/* [init] False when there is no such thread, or the kernel has bound it for good. */
bool orr_task_read(pid_t id, struct orr_task *task);

/* [init] All threads that may not use just the cores that are online and not `taken` from everybody. malloc'ed: the
 * caller frees *tasks. Some 10 µs per thread. */
size_t orr_tasks_bound(const cpu_set_t *taken, struct orr_task **tasks);

/* [init] Puts into the list what `wishes` says of tasks that still live: to what cores they are to come in the end,
 * where less was left to them while `taken` are not theirs. One that has been bound otherwise since then keeps that.
 * Returns the new count; the list may move. */
size_t orr_tasks_wish(struct orr_task **tasks, size_t count, const struct orr_task *wishes, size_t wish_count,
                      const cpu_set_t *taken);

/* [init] Binds the thread again to its cores, those of them within `within` (NULL: all), unless it is, has ended, or
 * none of them is left. Returns 0 or errno. */
int orr_task_put_back(const struct orr_task *task, const cpu_set_t *within);

#endif
