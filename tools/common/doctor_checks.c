#include "tools/common/doctor_checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *orr_health_name(enum orr_health health) {
  return health == ORR_HEALTH_OK ? "ok" : health == ORR_HEALTH_WARN ? "warn" : "bad";
}

__attribute__((format(printf, 2, 3))) static void find(struct orr_check *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->finding, sizeof c->finding, format, arguments);
  va_end(arguments);
}

__attribute__((format(printf, 3, 4))) static void ill(struct orr_check *c, enum orr_health health, const char *format,
                                                      ...) {
  va_list arguments;
  c->health = health;
  va_start(arguments, format);
  vsnprintf(c->mend, sizeof c->mend, format, arguments);
  va_end(arguments);
}

static void preemption(const struct orr_environment *e, struct orr_check *c) {
  c->name = "PREEMPT_RT";
  c->why = "elsewhere the kernel may hold a woken thread back while it finishes its own work: tails of milliseconds";
  find(c, "%s, %s", e->kernel, e->preempt_rt ? "PREEMPT_RT" : "not PREEMPT_RT");
  if (!e->preempt_rt)
    ill(c, ORR_HEALTH_WARN, "%s",
        e->kernel_outside ? "this guest's kernel comes from its host: have the host boot it with one that is PREEMPT_RT"
                          : "apt install linux-image-rt-amd64, and boot it");
}

static void boot_isolation(const struct orr_environment *e, struct orr_check *c) {
  c->name = "isolcpus";
  c->why = "the scheduler puts no other task on an isolated core";
  find(c,
       e->isolated           ? "core %d is isolated"
       : e->cpuset_exclusive ? "core %d is not isolated at boot, a cpuset clears it"
                             : "core %d is shared with every task",
       e->core);
  if (!e->isolated && !e->cpuset_exclusive) {
    ill(c, ORR_HEALTH_WARN, "boot with isolcpus=managed_irq,domain,%d, or use a cpuset (below)", e->core);
    c->by_fix = e->cpuset != ORR_ISOLATE_NONE;
  }
}

static void tickless(const struct orr_environment *e, struct orr_check *c) {
  c->name = "nohz_full";
  c->why = "without it the kernel's tick interrupts the core 100 to 1000 times a second";
  find(c, e->nohz_full ? "core %d runs without the tick" : "core %d takes every tick", e->core);
  if (!e->nohz_full)
    ill(c, ORR_HEALTH_WARN, "boot with nohz_full=%d; until then phase: auto keeps the frames off the tick", e->core);
}

static void callbacks(const struct orr_environment *e, struct orr_check *c) {
  c->name = "rcu_nocbs";
  c->why = "RCU callbacks run on the core that queued them, in its interrupt time";
  find(c, e->rcu_nocbs ? "callbacks of core %d run elsewhere" : "callbacks run on core %d", e->core);
  if (!e->rcu_nocbs)
    ill(c, ORR_HEALTH_WARN, "boot with rcu_nocbs=%d", e->core);
}

static void partition(const struct orr_environment *e, struct orr_check *c) {
  static const char *const kinds[] = {"no cpuset controller", "cgroup v1 cpuset", "cgroup v2 cpuset"};
  c->name = "cpuset partition";
  c->why = "clears a core of other tasks without a reboot";
  find(c, "%s, %s", kinds[e->cpuset],
       e->cpuset_exclusive ? "the core has one of its own"
       : e->isolated       ? "none needed"
                           : "the core is in none of its own");
  if (e->cpuset_exclusive || e->isolated)
    return;
  if (e->cpuset == ORR_ISOLATE_NONE)
    ill(c, ORR_HEALTH_WARN, "mount cgroup v2 with the cpuset controller, or boot with isolcpus=%d", e->core);
  else
    ill(c, ORR_HEALTH_WARN, "orrery doctor --fix --core %d", e->core);
  c->by_fix = e->cpuset != ORR_ISOLATE_NONE;
}

static void interrupts(const struct orr_environment *e, struct orr_check *c) {
  c->name = "IRQ affinity";
  c->why = "an interrupt of a disk or a network card runs before any thread, whatever its priority";
  find(c, e->irqs < 0 ? "affinities cannot be read" : "%d interrupts may arrive on the core", e->irqs);
  if (e->irqs != 0)
    ill(c, ORR_HEALTH_WARN, "write the other cores to /proc/irq/*/smp_affinity_list (stop irqbalance), or --fix");
  c->by_fix = e->irqs > 0;
}

static void sibling(const struct orr_environment *e, struct orr_check *c) {
  c->name = "SMT sibling";
  c->why = "the other hardware thread shares the core's caches and units: compute times double when it is busy";
  find(c, e->siblings[0] ? "core %d shares with %s" : "core %d has no sibling", e->core, e->siblings);
  if (e->siblings[0])
    ill(c, ORR_HEALTH_WARN, "echo 0 > /sys/devices/system/cpu/cpu%.20s/online", e->siblings);
}

static void frequency(const struct orr_environment *e, struct orr_check *c) {
  static const char *const turbo[] = {"turbo unknown", "turbo off", "turbo on"};
  c->name = "governor, turbo";
  c->why = "a core that slows down when idle computes the first microseconds of each frame slowly";
  find(c, "%s, %s", e->governor[0] ? e->governor : "frequency not set by this kernel", turbo[e->turbo + 1]);
  if (e->governor[0] && strcmp(e->governor, "performance") != 0)
    ill(c, ORR_HEALTH_WARN, "echo performance > /sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", e->core);
}

static void sleep_states(const struct orr_environment *e, struct orr_check *c) {
  enum { QUICK_US = 10 };
  c->name = "C-states";
  c->why = "a core asleep takes this long to wake before the kernel's own work begins";
  if (e->idle_exit_us < 0)
    find(c, "none that the kernel controls (%s)", e->idle_driver[0] ? e->idle_driver : "no driver");
  else
    find(c, "%s, deepest takes %lld us to leave; /dev/cpu_dma_latency %s", e->idle_driver, (long long)e->idle_exit_us,
         e->dma_latency ? "is held during a run" : "may not be written");
  if (e->idle_exit_us > QUICK_US && !e->dma_latency)
    ill(c, ORR_HEALTH_WARN, "run as root, or boot with processor.max_cstate=1");
}

/* The usual 95 % are right for a run that sleeps in every frame; the executive says it where its spin needs more. */
static void throttling(const struct orr_environment *e, struct orr_check *c) {
  c->name = "RT throttling";
  bool off = e->rt_runtime_us == -1, little = e->rt_runtime_us >= 0 && 10 * e->rt_runtime_us < 9 * e->rt_period_us;
  c->why = off ? "a real-time thread that never sleeps keeps its core for ever, from the kernel's own threads too"
               : "a real-time thread that computes or spins beyond its share loses the core for the rest of a second";
  if (e->rt_runtime_us < 0)
    find(c, off ? "off: sched_rt_runtime_us is -1" : "unknown");
  else
    find(c, "%lld of %lld us for real-time threads", (long long)e->rt_runtime_us, (long long)e->rt_period_us);
  if (off || little)
    ill(c, ORR_HEALTH_WARN, "echo 950000 > /proc/sys/kernel/sched_rt_runtime_us; --fix turns it off for its run alone");
}

static void memory_lock(const struct orr_environment *e, struct orr_check *c) {
  c->name = "memory lock";
  c->why = "memory that is not locked may be fetched from a disk in the middle of a frame";
  if (e->may_lock || e->memlock_bytes < 0)
    find(c, "unlimited");
  else
    find(c, "limited to %lld KiB", (long long)e->memlock_bytes / 1024);
  if (!e->may_lock && e->memlock_bytes >= 0)
    ill(c, ORR_HEALTH_BAD, "run as root, or memlock unlimited in /etc/security/limits.conf");
}

static void priority(const struct orr_environment *e, struct orr_check *c) {
  c->name = "SCHED_FIFO";
  c->why = "without a real-time priority every other thread may hold the executive up";
  if (e->may_schedule)
    find(c, "allowed");
  else
    find(c, e->rtprio_limit > 0 ? "allowed up to %lld" : "not allowed (limit %lld)", (long long)e->rtprio_limit);
  if (!e->may_schedule && e->rtprio_limit <= 0)
    ill(c, ORR_HEALTH_BAD, "run as root, or rtprio 90 in /etc/security/limits.conf");
}

static void clock_source(const struct orr_environment *e, struct orr_check *c) {
  c->name = "clock source";
  c->why =
      "the executive reads the clock a dozen times a frame: 25 ns each from the TSC, a microsecond from anything else";
  bool good = strcmp(e->clock_source, "tsc") == 0 || strcmp(e->clock_source, "arch_sys_counter") == 0 ||
              strncmp(e->clock_source, "kvm-clock", 9) == 0;
  find(c, "%s%s%s", e->clock_source[0] ? e->clock_source : "unknown", e->tsc_constant ? ", constant" : "",
       e->tsc_nonstop ? ", never stops" : "");
  if (!good)
    ill(c, ORR_HEALTH_BAD, "boot with tsc=reliable if the machine's TSC is");
}

static void virtual_machine(const struct orr_environment *e, struct orr_check *c) {
  double stolen = e->total_ticks > 0 ? 100.0 * (double)e->steal_ticks / (double)e->total_ticks : 0.0;
  c->name = "hypervisor, steal";
  c->why = "a hypervisor may take the core away at any instruction; no setting in here prevents it";
  find(c, "%s, %.3f %% of the core's time stolen since boot", e->hypervisor ? "virtual machine" : "no hypervisor",
       stolen);
  if (e->hypervisor || stolen > 0)
    ill(c, stolen > 1 ? ORR_HEALTH_BAD : ORR_HEALTH_WARN, "run on the bare machine, or have the host pin this core");
}

static void huge_pages(const struct orr_environment *e, struct orr_check *c) {
  c->name = "transparent huge pages";
  c->why = "the kernel stops a process for a moment to put its pages together";
  find(c, "%s", e->huge_pages[0] ? e->huge_pages : "not in this kernel");
  if (strcmp(e->huge_pages, "always") == 0)
    ill(c, ORR_HEALTH_WARN, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

static void swap(const struct orr_environment *e, struct orr_check *c) {
  c->name = "swap";
  c->why = "memory that is not locked may be written out";
  find(c, e->swap_kib > 0 ? "%lld KiB" : "none (%lld KiB)", (long long)e->swap_kib);
  if (e->swap_kib > 0)
    ill(c, ORR_HEALTH_WARN, "swapoff -a");
}

static void cores(const struct orr_environment *e, struct orr_check *c) {
  c->name = "cores";
  c->why = "the executive wants a core of its own; io and the rest of the system need another";
  find(c, "%d online, core %d for the executive", e->cores_online, e->core);
  if (e->cores_online < 2)
    ill(c, ORR_HEALTH_BAD, "give the machine a second core");
}

/* By what it takes off the tail of wake-ups, the most first, as measured and as Linux works: what can hold a core for
 * milliseconds, then what shares it, then what interrupts it for microseconds. */
static int gain(const struct orr_check *c) {
  static const char *const order[] = {
      "SCHED_FIFO", "memory lock",      "cores",        "hypervisor, steal", "PREEMPT_RT",  "frame cost",
      "isolcpus",   "cpuset partition", "IRQ affinity", "clock source",      "SMT sibling", "governor, turbo",
      "C-states",   "nohz_full",        "rcu_nocbs",    "RT throttling",     "swap",        "transparent huge pages"};
  enum { COUNT = sizeof order / sizeof *order };
  int at = 0;
  while (at < COUNT && strcmp(order[at], c->name) != 0)
    at++;
  return at + (c->health == ORR_HEALTH_BAD ? 0 : 2 * COUNT);
}

size_t orr_doctor_advice(const struct orr_check *checks, size_t count, size_t order[ORR_CHECKS_MAX]) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    if (checks[i].health == ORR_HEALTH_OK || !checks[i].mend[0])
      continue;
    size_t at = found++;
    for (; at > 0 && gain(&checks[order[at - 1]]) > gain(&checks[i]); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  return found;
}

size_t orr_doctor_judge(const struct orr_environment *environment, struct orr_check checks[ORR_CHECKS_MAX]) {
  static void (*const judges[])(const struct orr_environment *, struct orr_check *) = {
      preemption,   cores,      boot_isolation, tickless, callbacks,    partition,       interrupts, sibling, frequency,
      sleep_states, throttling, memory_lock,    priority, clock_source, virtual_machine, huge_pages, swap,
  };
  enum { COUNT = sizeof judges / sizeof *judges };
  _Static_assert(sizeof judges / sizeof *judges < (size_t)ORR_CHECKS_MAX, "room for io_uring");
  for (size_t i = 0; i < COUNT; i++) {
    memset(&checks[i], 0, sizeof checks[i]);
    judges[i](environment, &checks[i]);
  }
  return COUNT;
}
