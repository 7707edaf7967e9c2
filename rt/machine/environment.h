/* What a run's timing depends on, read from /proc and /sys: kernel, isolation, power, clock, rights. Facts only;
 * `orrery doctor` judges them, and every summary carries them. A fact that cannot be read is empty, −1 or false, as its
 * comment says. Any thread, at init or after a run.
 */
#ifndef ORR_RT_MACHINE_ENVIRONMENT_H
#define ORR_RT_MACHINE_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "rt/machine/isolate.h"

enum { ORR_FACT_MAX = 128 };

struct orr_environment {
  int core; /* the facts about one core are about this one */
  int cores_online;
  /* kernel */
  char kernel[ORR_FACT_MAX];  /* release */
  char version[ORR_FACT_MAX]; /* build, with the kind of preemption in it */
  bool preempt_rt;
  bool kernel_outside; /* a guest that has neither an image nor modules of its kernel: its host boots it */
  /* isolation */
  bool isolated; /* isolcpus */
  bool nohz_full;
  bool rcu_nocbs;
  enum orr_isolate_method cpuset; /* kind of cpuset hierarchy, NONE when there is none */
  bool cpuset_exclusive;          /* the core has a cpuset or partition of its own */
  int irqs;                       /* interrupts that may arrive on the core; −1 unknown */
  char siblings[ORR_FACT_MAX];    /* other hardware threads of the core, a list; empty: none */
  /* power */
  char cpu[ORR_FACT_MAX];
  char governor[ORR_FACT_MAX]; /* empty: the kernel does not set the frequency */
  int turbo;                   /* 1, 0, −1 unknown */
  char idle_driver[ORR_FACT_MAX];
  int64_t idle_exit_us; /* of the deepest enabled idle state; −1 unknown */
  bool dma_latency;     /* /dev/cpu_dma_latency may be written */
  /* scheduling and memory */
  int64_t rt_runtime_us; /* −1: not throttled; −2 unknown */
  int64_t rt_period_us;
  int64_t memlock_bytes; /* limit of this process; −1 unlimited */
  int64_t rtprio_limit;
  bool may_lock, may_schedule;   /* privileged, whatever the limits say */
  char huge_pages[ORR_FACT_MAX]; /* transparent: always, madvise, never */
  int64_t swap_kib;
  /* clock */
  char clock_source[ORR_FACT_MAX];
  bool tsc_constant, tsc_nonstop;
  bool hypervisor;
  int64_t steal_ticks, total_ticks; /* of the core since boot, in units of 1/100 s mostly; their ratio is what counts */
};

/* [init] Reads the facts about `core` (−1: none in particular). `root` is put before /proc, /sys and /dev: "" on a
 * machine. */
void orr_environment_read(struct orr_environment *environment, int core, const char *root);

#endif
