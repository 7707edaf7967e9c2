#include "rt/machine/tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/machine/cpulist.h"

enum { LINE_ROOM = 1024 };

/* The kernel's PF_NO_SETAFFINITY: a kernel thread that belongs to its core. */
static const unsigned long bound_by_kernel = 0x04000000;

/* Flags and start time: fields 9 and 22 of stat; what may hold blanks ends at the last parenthesis, before the
 * third. */
static bool read_stat(pid_t id, unsigned long *flags, unsigned long long *start_ticks) {
  char path[64], line[LINE_ROOM];
  snprintf(path, sizeof path, "/proc/%ld/stat", (long)id);
  FILE *f = fopen(path, "re");
  if (!f)
    return false;
  bool got = fgets(line, sizeof line, f) != NULL;
  fclose(f);
  const char *rest = got ? strrchr(line, ')') : NULL;
  return rest && sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                        flags, start_ticks) == 2;
}

bool orr_task_read(pid_t id, struct orr_task *task) {
  unsigned long flags = 0;
  task->id = id;
  return read_stat(id, &flags, &task->start_ticks) && !(flags & bound_by_kernel) &&
         sched_getaffinity(id, sizeof task->cores, &task->cores) == 0;
}

struct list {
  struct orr_task *tasks;
  size_t count, room;
};

static void add(struct list *l, const struct orr_task *task) {
  if (l->count == l->room) {
    size_t room = l->room ? 2 * l->room : 64;
    struct orr_task *tasks = realloc(l->tasks, room * sizeof *tasks);
    if (!tasks)
      return;
    l->tasks = tasks;
    l->room = room;
  }
  l->tasks[l->count++] = *task;
}

static void add_threads(struct list *l, const char *process, const cpu_set_t *all) {
  char path[64];
  struct orr_task task;
  snprintf(path, sizeof path, "/proc/%.32s/task", process);
  DIR *threads = opendir(path);
  if (!threads)
    return; /* ended meanwhile */
  for (struct dirent *d; (d = readdir(threads)) != NULL;)
    if (isdigit((unsigned char)d->d_name[0]) && orr_task_read((pid_t)strtol(d->d_name, NULL, 10), &task) &&
        !CPU_EQUAL(&task.cores, all))
      add(l, &task);
  closedir(threads);
}

static bool read_online(cpu_set_t *set) {
  char text[LINE_ROOM] = "";
  FILE *f = fopen("/sys/devices/system/cpu/online", "re");
  bool got = f && fgets(text, sizeof text, f);
  if (f)
    fclose(f);
  return got && orr_cpulist_parse(text, set);
}

static void leave_out(cpu_set_t *set, const cpu_set_t *taken) {
  cpu_set_t common;
  CPU_AND(&common, set, taken);
  CPU_XOR(set, set, &common);
}

size_t orr_tasks_bound(const cpu_set_t *taken, struct orr_task **tasks) {
  struct list l = {NULL, 0, 0};
  cpu_set_t all;
  DIR *processes = read_online(&all) ? opendir("/proc") : NULL;
  if (processes) {
    leave_out(&all, taken);
    for (struct dirent *d; (d = readdir(processes)) != NULL;)
      if (isdigit((unsigned char)d->d_name[0]))
        add_threads(&l, d->d_name, &all);
    closedir(processes);
  }
  *tasks = l.tasks;
  return l.count;
}

size_t orr_tasks_wish(struct orr_task **tasks, size_t count, const struct orr_task *wishes, size_t wish_count,
                      const cpu_set_t *taken) {
  struct list l = {*tasks, count, count};
  for (size_t w = 0; w < wish_count; w++) {
    struct orr_task now;
    cpu_set_t left = wishes[w].cores;
    if (!orr_task_read(wishes[w].id, &now) || now.start_ticks != wishes[w].start_ticks)
      continue;
    leave_out(&left, taken);
    if (CPU_COUNT(&left) > 0 && !CPU_EQUAL(&left, &now.cores))
      continue;
    size_t t = 0;
    while (t < l.count && l.tasks[t].id != now.id)
      t++;
    if (t < l.count)
      l.tasks[t].cores = wishes[w].cores;
    else
      add(&l, &wishes[w]);
  }
  *tasks = l.tasks;
  return l.count;
}

int orr_task_put_back(const struct orr_task *task, const cpu_set_t *within) {
  struct orr_task now;
  cpu_set_t cores = task->cores;
  if (!orr_task_read(task->id, &now) || now.start_ticks != task->start_ticks)
    return 0;
  if (within)
    CPU_AND(&cores, &cores, within);
  if (CPU_COUNT(&cores) == 0 || CPU_EQUAL(&now.cores, &cores))
    return 0;
  return sched_setaffinity(task->id, sizeof cores, &cores) == 0 || errno == ESRCH ? 0 : errno;
}
