#include "rt/machine/environment.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rt/machine/cpulist.h"

enum { PATH_ROOM = 512, LINE_ROOM = 4096, CAP_IPC_LOCK_BIT = 14, CAP_SYS_NICE_BIT = 23 };

/* First line of root + name; false, and empty, when it cannot be read. */
static bool line_of(const char *root, const char *name, char *text, size_t size) {
  char path[PATH_ROOM];
  text[0] = '\0';
  snprintf(path, sizeof path, "%s%s", root, name);
  FILE *f = fopen(path, "re");
  if (!f)
    return false;
  bool got = fgets(text, (int)size, f) != NULL;
  fclose(f);
  text[strcspn(text, "\n")] = '\0';
  return got;
}

static int64_t number_of(const char *root, const char *name, int64_t otherwise) {
  char text[64], *end;
  if (!line_of(root, name, text, sizeof text))
    return otherwise;
  long long value = strtoll(text, &end, 10);
  return end == text ? otherwise : value;
}

static bool list_has(const char *text, int core) {
  cpu_set_t set;
  return core >= 0 && orr_cpulist_parse(text, &set) && CPU_ISSET((size_t)core, &set);
}

static bool list_file_has(const char *root, const char *name, int core) {
  char text[LINE_ROOM];
  return line_of(root, name, text, sizeof text) && list_has(text, core);
}

/* Whether a word of /proc/cmdline is `key=list` and the list has the core. */
static bool boot_option_has(const char *root, const char *key, int core) {
  char text[LINE_ROOM], *save;
  if (!line_of(root, "/proc/cmdline", text, sizeof text))
    return false;
  for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
    size_t length = strlen(key);
    if (strncmp(word, key, length) == 0 && word[length] == '=')
      return strcmp(word + length + 1, "all") == 0 || list_has(word + length + 1, core);
  }
  return false;
}

/* The word in brackets of "always [madvise] never". */
static void chosen_of(const char *root, const char *name, char *chosen) {
  char text[ORR_FACT_MAX];
  chosen[0] = '\0';
  line_of(root, name, text, sizeof text);
  const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
  if (close) {
    size_t length = (size_t)(close - open - 1);
    memcpy(chosen, open + 1, length);
    chosen[length] = '\0';
  }
}

static int count_irqs(const char *root, int core) {
  char path[PATH_ROOM], name[PATH_ROOM];
  int count = 0;
  snprintf(path, sizeof path, "%s/proc/irq", root);
  DIR *irqs = opendir(path);
  if (!irqs || core < 0) {
    if (irqs)
      closedir(irqs);
    return -1;
  }
  for (struct dirent *d; (d = readdir(irqs)) != NULL;)
    if (isdigit((unsigned char)d->d_name[0])) {
      snprintf(name, sizeof name, "/proc/irq/%.16s/smp_affinity_list", d->d_name);
      count += list_file_has(root, name, core);
    }
  closedir(irqs);
  return count;
}

static void read_isolation(struct orr_environment *e, const char *root) {
  char name[PATH_ROOM], text[ORR_FACT_MAX];
  cpu_set_t set;
  e->isolated = list_file_has(root, "/sys/devices/system/cpu/isolated", e->core);
  e->nohz_full = list_file_has(root, "/sys/devices/system/cpu/nohz_full", e->core);
  e->rcu_nocbs = boot_option_has(root, "rcu_nocbs", e->core) || e->nohz_full;
  e->cpuset = orr_isolate_method(root);
  e->cpuset_exclusive = orr_isolate_present(root, e->core);
  e->irqs = count_irqs(root, e->core);
  snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", e->core);
  line_of(root, name, text, sizeof text);
  if (e->core >= 0 && orr_cpulist_parse(text, &set)) {
    CPU_CLR((size_t)e->core, &set);
    orr_cpulist_format(&set, e->siblings, sizeof e->siblings);
  }
  if (line_of(root, "/sys/devices/system/cpu/online", text, sizeof text) && orr_cpulist_parse(text, &set))
    e->cores_online = CPU_COUNT(&set);
}

/* Exit latency of the deepest idle state that is not disabled. */
static int64_t idle_exit_us(const char *root, int core) {
  int64_t deepest_us = -1;
  for (int i = 0; i < 32; i++) {
    char name[PATH_ROOM];
    snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/latency", core, i);
    int64_t exit_us = number_of(root, name, -1);
    if (exit_us < 0)
      break;
    snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable", core, i);
    if (number_of(root, name, 0) == 0 && exit_us > deepest_us)
      deepest_us = exit_us;
  }
  return deepest_us;
}

static int read_turbo(const char *root) {
  int64_t off = number_of(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", -1);
  if (off >= 0)
    return off == 0;
  return (int)number_of(root, "/sys/devices/system/cpu/cpufreq/boost", -1);
}

static void read_power(struct orr_environment *e, const char *root) {
  char name[PATH_ROOM], path[PATH_ROOM];
  snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", e->core);
  line_of(root, name, e->governor, sizeof e->governor);
  e->turbo = read_turbo(root);
  line_of(root, "/sys/devices/system/cpu/cpuidle/current_driver", e->idle_driver, sizeof e->idle_driver);
  e->idle_exit_us = idle_exit_us(root, e->core);
  snprintf(path, sizeof path, "%s/dev/cpu_dma_latency", root);
  e->dma_latency = access(path, W_OK) == 0;
}

/* The value of a line `key : value` of /proc/cpuinfo, the first of them that has one. */
static void take_value(const char *line, const char *key, char *value, size_t size) {
  const char *colon = strchr(line, ':');
  if (colon && !value[0] && strncmp(line, key, strlen(key)) == 0)
    snprintf(value, size, "%.*s", (int)size - 1, colon + 1 + strspn(colon + 1, " "));
}

/* ARM of 64 bits has numbers in place of "model name": those of the first core count, as its name does elsewhere. */
static void read_cpuinfo(struct orr_environment *e, const char *root) {
  char path[PATH_ROOM], line[LINE_ROOM], maker[32] = "", part[32] = "";
  snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
  FILE *f = fopen(path, "re");
  bool flags = false;
  while (f && !flags && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = '\0';
    take_value(line, "model name", e->cpu, sizeof e->cpu);
    take_value(line, "CPU implementer", maker, sizeof maker);
    take_value(line, "CPU part", part, sizeof part);
    const char *colon = strchr(line, ':');
    flags = colon && strncmp(line, "flags", 5) == 0;
    if (flags) {
      e->tsc_constant = strstr(colon, " constant_tsc") != NULL;
      e->tsc_nonstop = strstr(colon, " nonstop_tsc") != NULL;
      e->hypervisor = strstr(colon, " hypervisor") != NULL;
    }
  }
  if (f)
    fclose(f);
  if (!e->cpu[0] && maker[0] && part[0])
    snprintf(e->cpu, sizeof e->cpu, "ARM implementer %s, part %s", maker, part);
}

/* cpuN user nice system idle iowait irq softirq steal guest guest_nice; guest is in user already */
static void read_steal(struct orr_environment *e, const char *root) {
  char path[PATH_ROOM], line[LINE_ROOM], name[32];
  snprintf(path, sizeof path, "%s/proc/stat", root);
  snprintf(name, sizeof name, e->core >= 0 ? "cpu%d " : "cpu ", e->core);
  FILE *f = fopen(path, "re");
  while (f && fgets(line, sizeof line, f)) {
    if (strncmp(line, name, strlen(name)) != 0)
      continue;
    char *at = line + strlen(name);
    for (int i = 0; i < 8; i++) {
      int64_t ticks = strtoll(at, &at, 10);
      e->total_ticks += ticks;
      e->steal_ticks = ticks; /* the eighth */
    }
    break;
  }
  if (f)
    fclose(f);
}

static void read_rights(struct orr_environment *e, const char *root) {
  char path[PATH_ROOM], line[LINE_ROOM];
  struct rlimit limit;
  unsigned long long capabilities = 0;
  snprintf(path, sizeof path, "%s/proc/self/status", root);
  FILE *f = fopen(path, "re");
  while (f && fgets(line, sizeof line, f))
    if (strncmp(line, "CapEff:", 7) == 0)
      capabilities = strtoull(line + 7, NULL, 16);
  if (f)
    fclose(f);
  e->may_lock = capabilities >> CAP_IPC_LOCK_BIT & 1;
  e->may_schedule = capabilities >> CAP_SYS_NICE_BIT & 1;
  e->memlock_bytes = -1;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_max != RLIM_INFINITY)
    e->memlock_bytes = (int64_t)limit.rlim_max;
  if (getrlimit(RLIMIT_RTPRIO, &limit) == 0)
    e->rtprio_limit = limit.rlim_max == RLIM_INFINITY ? 99 : (int64_t)limit.rlim_max;
}

/* /proc/swaps: a heading, then name type size used priority */
static int64_t read_swap_kib(const char *root) {
  char path[PATH_ROOM], line[LINE_ROOM];
  int64_t sum_kib = 0;
  snprintf(path, sizeof path, "%s/proc/swaps", root);
  FILE *f = fopen(path, "re");
  bool heading = true;
  while (f && fgets(line, sizeof line, f)) {
    char *save;
    strtok_r(line, " \t", &save);
    strtok_r(NULL, " \t", &save);
    const char *size = strtok_r(NULL, " \t", &save);
    sum_kib += heading || !size ? 0 : strtoll(size, NULL, 10);
    heading = false;
  }
  if (f)
    fclose(f);
  return sum_kib;
}

/* Whether there is a file or folder of that name for this release of the kernel. */
static bool stands(const char *root, const char *path, const char *release) {
  char name[512];
  snprintf(name, sizeof name, "%s%s%s", root, path, release);
  return access(name, F_OK) == 0;
}

void orr_environment_read(struct orr_environment *environment, int core, const char *root) {
  struct orr_environment *e = environment;
  memset(e, 0, sizeof *e);
  e->core = core;
  line_of(root, "/proc/sys/kernel/osrelease", e->kernel, sizeof e->kernel);
  line_of(root, "/proc/sys/kernel/version", e->version, sizeof e->version);
  e->preempt_rt = number_of(root, "/sys/kernel/realtime", 0) == 1;
  read_isolation(e, root);
  read_power(e, root);
  read_cpuinfo(e, root);
  read_steal(e, root);
  read_rights(e, root);
  e->rt_runtime_us = number_of(root, "/proc/sys/kernel/sched_rt_runtime_us", -2);
  e->rt_period_us = number_of(root, "/proc/sys/kernel/sched_rt_period_us", 1000000);
  chosen_of(root, "/sys/kernel/mm/transparent_hugepage/enabled", e->huge_pages);
  e->swap_kib = read_swap_kib(root);
  line_of(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", e->clock_source,
          sizeof e->clock_source);
  e->kernel_outside = e->hypervisor && e->kernel[0] && !stands(root, "/boot/vmlinuz-", e->kernel) &&
                      !stands(root, "/lib/modules/", e->kernel);
}
