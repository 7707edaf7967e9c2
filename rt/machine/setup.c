#include "rt/machine/setup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rt/machine/denormals.h"

static const struct {
  const char *what, *consequence, *remedy;
} lack_text[ORR_LACK_COUNT] = {
    [ORR_LACK_MEMORY_LOCK] =
        {"memory is not locked", "a page may be taken away and fetched again inside a frame: milliseconds, from a disk",
         "run as root, or raise the limit: ulimit -l unlimited (memlock in /etc/security/limits.conf)"},
    [ORR_LACK_AFFINITY] = {"the real-time thread is not bound to its core",
                           "the kernel moves it between cores: cold caches, and other work in its way",
                           "name a core this process may use (taskset -p $$ shows them)"},
    [ORR_LACK_PRIORITY] = {"no SCHED_FIFO priority", "any other thread may hold up a frame for milliseconds",
                           "run as root, grant CAP_SYS_NICE, or ulimit -r 80 (rtprio in /etc/security/limits.conf)"},
    [ORR_LACK_KEEP_OFF] = {"the other threads of this process share the core",
                           "the io and main threads wake on the core of the executive",
                           "give the process at least two cores"},
    [ORR_LACK_DMA_LATENCY] = {"/dev/cpu_dma_latency is not held",
                              "an idle core may sleep deeply and take up to hundreds of microseconds to wake",
                              "run as root, or boot with processor.max_cstate=1 (intel_idle.max_cstate=0)"},
    [ORR_LACK_THROTTLING] = {"the kernel throttles real-time threads that spin this much",
                             "it takes the core away for what is missing of every second: 50 ms by default",
                             "echo -1 > /proc/sys/kernel/sched_rt_runtime_us, or a smaller spin margin"},
    [ORR_LACK_SEGMENT] = {"the statistics are not in shared memory", "orrery top cannot show this run",
                          "mount a tmpfs on /dev/shm with 1 MB to spare"},
    [ORR_LACK_DENORMALS] = {"denormal numbers are not flushed to zero", "decaying motion may slow the frame down",
                            "no remedy on this processor"},
    [ORR_LACK_IO_PRIORITY] =
        {"the io thread has no SCHED_FIFO priority",
         "packets of links over UDP wait while other work has its core: late, and after a tenth of "
         "a second lost",
         "run as root, grant CAP_SYS_NICE, or ulimit -r 80 (rtprio in /etc/security/limits.conf)"},
};

const char *orr_lack_what(enum orr_lack lack) { return lack_text[lack].what; }
const char *orr_lack_consequence(enum orr_lack lack) { return lack_text[lack].consequence; }
const char *orr_lack_remedy(enum orr_lack lack) { return lack_text[lack].remedy; }

void orr_lacks_add(struct orr_lacks *lacks, enum orr_lack lack, int error) {
  for (unsigned i = 0; i < lacks->count; i++)
    if (lacks->entry[i].lack == lack)
      return;
  lacks->entry[lacks->count].lack = lack;
  lacks->entry[lacks->count++].error = error;
}

/* Writes back what is there: a private page becomes ours, a zero page becomes real. */
static void touch(void *base, size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  volatile unsigned char *p = base;
  for (size_t i = 0; i < bytes; i += page) {
    unsigned char there = p[i];
    p[i] = there;
  }
  if (bytes > 0) { /* the last page may begin within the last step */
    unsigned char there = p[bytes - 1];
    p[bytes - 1] = there;
  }
}

static void raise_lock_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_MEMLOCK, &limit);
  }
}

void orr_setup_lock_memory(const struct orr_region *regions, size_t count, struct orr_lacks *lacks) {
  raise_lock_limit();
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    orr_lacks_add(lacks, ORR_LACK_MEMORY_LOCK, errno);
    for (size_t i = 0; i < count; i++)
      (void)mlock(regions[i].base, regions[i].bytes); /* better than nothing; the lack is noted already */
  }
  for (size_t i = 0; i < count; i++)
    touch(regions[i].base, regions[i].bytes);
}

void orr_setup_unlock_memory(void) { munlockall(); }

int orr_setup_hold_dma_latency(struct orr_lacks *lacks) {
  const int32_t latency_us = 0;
  int fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
  if (fd >= 0 && write(fd, &latency_us, sizeof latency_us) == (ssize_t)sizeof latency_us)
    return fd;
  orr_lacks_add(lacks, ORR_LACK_DMA_LATENCY, errno);
  if (fd >= 0)
    close(fd);
  return -1;
}

static bool keep_off(pid_t thread, const cpu_set_t *core) {
  cpu_set_t set, common;
  if (sched_getaffinity(thread, sizeof set, &set) != 0)
    return errno == ESRCH; /* ended meanwhile */
  CPU_AND(&common, &set, core);
  CPU_XOR(&set, &set, &common);
  return CPU_COUNT(&set) > 0 && (sched_setaffinity(thread, sizeof set, &set) == 0 || errno == ESRCH);
}

static bool let_back(pid_t thread, const cpu_set_t *before) {
  return sched_setaffinity(thread, sizeof *before, before) == 0;
}

/* Calls `act` with every thread of this process; false when one of the calls was. */
static bool every_thread(bool (*act)(pid_t, const cpu_set_t *), const cpu_set_t *set) {
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks)
    return false;
  bool all = true;
  for (struct dirent *d; (d = readdir(tasks)) != NULL;)
    if (d->d_name[0] != '.')
      all = act((pid_t)strtol(d->d_name, NULL, 10), set) && all;
  closedir(tasks);
  return all;
}

void orr_setup_keep_off(int core, cpu_set_t *before, struct orr_lacks *lacks) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof *before, before) != 0)
    CPU_ZERO(before);
  CPU_ZERO(&set);
  if (core < CPU_SETSIZE)
    CPU_SET((size_t)core, &set);
  if (!every_thread(keep_off, &set))
    orr_lacks_add(lacks, ORR_LACK_KEEP_OFF, 0);
}

void orr_setup_let_back(const cpu_set_t *before) {
  if (CPU_COUNT(before) > 0)
    every_thread(let_back, before);
}

static int bind_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core >= CPU_SETSIZE)
    return EINVAL;
  CPU_SET((size_t)core, &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* Signals are the main thread's, but for those that an instruction of this one raises: blocked, they would kill the
 * process, and a handler may know what to do (a segment that was shrunk under the run). */
static void block_signals(void) {
  static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP};
  sigset_t others;
  sigfillset(&others);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    sigdelset(&others, own[i]);
  pthread_sigmask(SIG_SETMASK, &others, NULL);
}

void orr_setup_real_time(int core, int priority, struct orr_lacks *lacks) {
  block_signals();
  int error = core >= 0 ? bind_to(core) : 0;
  if (error)
    orr_lacks_add(lacks, ORR_LACK_AFFINITY, error);
  if (priority > 0) {
    const struct sched_param param = {.sched_priority = priority};
    error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
    if (error)
      orr_lacks_add(lacks, ORR_LACK_PRIORITY, error);
  }
  if (!orr_rt_flush_denormals())
    orr_lacks_add(lacks, ORR_LACK_DENORMALS, 0);
}

__attribute__((noinline)) void orr_setup_touch_stack(void) {
  unsigned char below[ORR_STACK_TOUCHED];
  /* the compiler must believe that the array is used, or there is no array */
  __asm__ volatile("" : : "r"(below) : "memory");
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  volatile unsigned char *p = below;
  for (size_t i = 0; i < sizeof below; i += page)
    p[i] = 0;
}

static bool read_long(const char *path, long *value) {
  FILE *f = fopen(path, "re");
  if (!f)
    return false;
  bool ok = fscanf(f, "%ld", value) == 1;
  fclose(f);
  return ok;
}

bool orr_setup_throttles(int64_t period_ns, int64_t margin_ns, int priority) {
  long runtime_us, throttle_period_us;
  if (priority <= 0 || !read_long("/proc/sys/kernel/sched_rt_runtime_us", &runtime_us) || runtime_us < 0 ||
      !read_long("/proc/sys/kernel/sched_rt_period_us", &throttle_period_us) || throttle_period_us <= 0)
    return false;
  /* what the executive computes comes on top of the spin: leave it a tenth */
  return (double)margin_ns * 1.1 > (double)period_ns * (double)runtime_us / (double)throttle_period_us;
}

/* The last number of a list like "1-3,7"; −1 when it is empty. */
static int last_in_list(const char *path) {
  char text[256] = "";
  FILE *f = fopen(path, "re");
  if (!f)
    return -1;
  bool read = fgets(text, sizeof text, f) != NULL;
  fclose(f);
  if (!read)
    return -1;
  text[strcspn(text, "\n")] = '\0';
  size_t end = strlen(text);
  while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
    end--;
  return text[end] ? (int)strtol(text + end, NULL, 10) : -1;
}

int orr_setup_choose_core(void) {
  cpu_set_t set;
  int isolated = last_in_list("/sys/devices/system/cpu/isolated");
  if (isolated >= 0)
    return isolated;
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2)
    return -1;
  for (int core = CPU_SETSIZE - 1; core >= 0; core--)
    if (CPU_ISSET((size_t)core, &set))
      return core;
  return -1;
}
