/* Gives a real-time thread what it needs from the machine before its first tick, and notes what could not be had.
 *
 * Every function tries, and notes in a `struct orr_lacks` what was refused; the caller prints the list as warnings, or
 * ends the run under `strict`. A lack has its name, its consequence and its remedy; rt prints nothing. Order, on the
 * main thread: lock_memory, hold_dma_latency, keep_off. On the rt thread: real_time, touch_stack.
 */
#ifndef ORR_RT_MACHINE_SETUP_H
#define ORR_RT_MACHINE_SETUP_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum orr_lack {
  ORR_LACK_MEMORY_LOCK,
  ORR_LACK_AFFINITY,
  ORR_LACK_PRIORITY,
  ORR_LACK_KEEP_OFF,
  ORR_LACK_DMA_LATENCY,
  ORR_LACK_THROTTLING,
  ORR_LACK_SEGMENT,
  ORR_LACK_DENORMALS,
  ORR_LACK_IO_PRIORITY,
  ORR_LACK_COUNT
};

struct orr_lacks {
  unsigned count;
  struct {
    enum orr_lack lack;
    int error; /* errno, or 0 when there is none to tell */
  } entry[ORR_LACK_COUNT];
};

/* [any] What could not be had; what follows from it; what to do. Sentences without a full stop. */
const char *orr_lack_what(enum orr_lack lack);
const char *orr_lack_consequence(enum orr_lack lack);
const char *orr_lack_remedy(enum orr_lack lack);

/* [init] Notes a lack, once each. */
void orr_lacks_add(struct orr_lacks *lacks, enum orr_lack lack, int error);

/* A block of memory that the frames will touch. */
struct orr_region {
  void *base;
  size_t bytes;
};

/* [init] Locks all memory of the process, present and future, and touches every page of the regions. Where the whole
 * cannot be locked, the regions alone are tried. */
void orr_setup_lock_memory(const struct orr_region *regions, size_t count, struct orr_lacks *lacks);

/* [init] Undoes the lock on future memory, for a process that goes on after a run. */
void orr_setup_unlock_memory(void);

/* [init] Keeps the processor out of deep sleep while the returned descriptor is open; −1 when refused. */
int orr_setup_hold_dma_latency(struct orr_lacks *lacks);

/* [init] Takes every present thread of this process off `core`, and stores where the calling one could run before. */
void orr_setup_keep_off(int core, cpu_set_t *before, struct orr_lacks *lacks);

/* [init] Lets every present thread of this process run where `before` says. */
void orr_setup_let_back(const cpu_set_t *before);

/* [init] The calling thread: bound to `core` (−1: not), SCHED_FIFO at `priority` (0: not), signals blocked but for its
 * own faults', denormals flushed. */
void orr_setup_real_time(int core, int priority, struct orr_lacks *lacks);

/* Touched below the caller's frame, so that no stage takes a page fault for its stack. */
enum { ORR_STACK_TOUCHED = 512 * 1024 };
/* [init] Touches ORR_STACK_TOUCHED bytes of the calling thread's stack. */
void orr_setup_touch_stack(void);

/* [init] Whether a spin margin leaves less of the core than the kernel's real-time throttling reserves for others. */
bool orr_setup_throttles(int64_t period_ns, int64_t margin_ns, int priority);

/* [init] The core to use when none was named: the last one isolated at boot, else the last one this process may use. −1
 * when it may use only one, and so none can be set apart. */
int orr_setup_choose_core(void);

#endif
