/* Clearing a core at run time, and giving it back: what `--fix` does.
 *
 *   cpuset     cgroup v2: an isolated partition of the one core, in a threaded group directly under the root, with this
 *              process moved to the root group for the time; cgroup v1: an exclusive cpuset of the core and one of all
 *              the others, the latter taking the tasks of the root cpuset, which no longer balances load; tasks that
 *              were bound to some cores are bound to them again, as far as they may be, and wholly at the end
 *   interrupts every IRQ that may arrive on the core is sent to the others
 *   throttling of real-time threads is switched off
 * (/dev/cpu_dma_latency is the executive's: it holds it in any case.)
 *
 * Several may clear a core each at the same time (on v1 only one with a cpuset). What they share (the cpuset
 * controller, interrupts, throttling, the cores of tasks) is left alone until the last of them ends. A core that
 * another clears is refused.
 *
 * Every change goes through an undo journal. orr_isolate_undo takes them back at the end; after kill -9 the next
 * orr_isolate_repair does. What cannot be had is reported, not fatal. Order: repair, apply, attach on the rt thread,
 * undo when that thread has ended.
 */
#ifndef ORR_RT_MACHINE_ISOLATE_H
#define ORR_RT_MACHINE_ISOLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "rt/machine/journal.h"

#define ORR_ISOLATE_STATE_DIR "/run/orrery"

struct orr_isolate_options {
  int core;
  const char *root;      /* put before /proc and /sys: "" on a machine, a folder in tests */
  const char *state_dir; /* of the journal */
  bool cpuset, irqs, throttling;
  bool clear;         /* take the core from every task; otherwise only from `tasks`, which v2 cannot: no cpuset then */
  const pid_t *tasks; /* v1: moved to the other cores when `clear` is not set */
  size_t task_count;
};

enum orr_isolate_method { ORR_ISOLATE_NONE, ORR_ISOLATE_V1, ORR_ISOLATE_V2 };

struct orr_isolate_list {
  struct orr_undo_list list; /* first: undo calls back with it */
  char root[ORR_JOURNAL_PATH_MAX];
  char cpusets[ORR_JOURNAL_PATH_MAX]; /* their hierarchy; empty: there is none */
};

struct orr_isolation {
  struct orr_journal journal;
  struct orr_isolate_list list; /* of what its undo may do */
  enum orr_isolate_method method;
  char attach_path[ORR_JOURNAL_PATH_MAX]; /* where the rt thread writes its id */
  int journal_error;
  pid_t taken_by;          /* another clears this core: nothing was changed */
  pid_t other;             /* clears another one, 0: none; on v1 there can be no second cpuset then */
  int cpuset_error;        /* errno of the step that failed; ENOTSUP: no cpuset controller */
  const char *cpuset_step; /* which step that was */
  unsigned tasks_moved, tasks_refused;
  unsigned irqs_moved, irqs_refused;
  int throttling_error;
};

/* [init] Which cpuset hierarchy there is. */
enum orr_isolate_method orr_isolate_method(const char *root);
/* [init] Whether a cpuset directly under the root has this core for itself, made by whomever. */
bool orr_isolate_present(const char *root, int core);

/* [init] Undoes what killed processes left, of what orr_isolate_apply may do below this root and nothing else. Returns
 * how many of them; *failures as orr_journal_repair. */
unsigned orr_isolate_repair(const char *root, const char *state_dir, struct orr_undo_failures *failures);

/* [init] Which other process has cleared this core in the same way, and lives; 0: none. */
pid_t orr_isolate_taken(const char *state_dir, int core);

/* [init] Applies what the options ask for. Returns whether all of it worked; the details are in the struct.
 * Milliseconds, more with many tasks. */
bool orr_isolate_apply(struct orr_isolation *isolation, const struct orr_isolate_options *options);

/* [init] Puts the calling thread on the cleared core. Returns 0 or errno; 0 when no cpuset was made. */
int orr_isolate_attach(const struct orr_isolation *isolation);

/* [init] Takes everything back. Returns how many changes could not be. */
struct orr_undo_failures orr_isolate_undo(struct orr_isolation *isolation);

#endif
