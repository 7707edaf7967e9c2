#include "rt/machine/isolate.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/machine/cpulist.h"
#include "rt/machine/others.h"
#include "rt/machine/tasks.h"

enum { TEXT_MAX = 256 };

struct paths {
  char dir[ORR_JOURNAL_PATH_MAX - TEXT_MAX]; /* of the cpuset hierarchy */
};

/* a, b and c one after the other; empty, and false, when they do not fit: an empty path opens nothing. */
static bool join(char *to, size_t size, const char *a, const char *b, const char *c) {
  size_t la = strlen(a), lb = strlen(b), lc = strlen(c);
  to[0] = '\0';
  if (la + lb + lc >= size)
    return false;
  memcpy(to, a, la);
  memcpy(to + la, b, lb);
  memcpy(to + la + lb, c, lc + 1);
  return true;
}

static bool read_text(const char *path, char *text, size_t size) {
  FILE *f = fopen(path, "re");
  if (!f)
    return false;
  bool got = fgets(text, (int)size, f) != NULL;
  fclose(f);
  if (!got)
    text[0] = '\0';
  text[strcspn(text, "\n")] = '\0';
  return true;
}

/* --- where the cpuset controller is ------------------------------------------------------------------------------- */
static bool has_word(const char *text, const char *word, char separator) {
  size_t length = strlen(word);
  for (const char *p = text; (p = strstr(p, word)) != NULL; p += length)
    if ((p == text || p[-1] == separator) && (p[length] == '\0' || p[length] == separator))
      return true;
  return false;
}

static bool v2_has_cpuset(const char *dir) {
  char path[ORR_JOURNAL_PATH_MAX], text[TEXT_MAX];
  return join(path, sizeof path, dir, "/cgroup.controllers", "") && read_text(path, text, sizeof text) &&
         has_word(text, "cpuset", ' ');
}

static enum orr_isolate_method find_hierarchy(const char *root, struct paths *paths) {
  char path[ORR_JOURNAL_PATH_MAX], line[1024];
  enum orr_isolate_method found = ORR_ISOLATE_NONE;
  FILE *f = join(path, sizeof path, root, "/proc/mounts", "") ? fopen(path, "re") : NULL;
  if (!f)
    return ORR_ISOLATE_NONE;
  while (found == ORR_ISOLATE_NONE && fgets(line, sizeof line, f)) {
    char *save, *device = strtok_r(line, " ", &save), *dir = strtok_r(NULL, " ", &save);
    const char *type = strtok_r(NULL, " ", &save), *options = strtok_r(NULL, " ", &save);
    if (!device || !options || !join(paths->dir, sizeof paths->dir, root, dir, ""))
      continue;
    if (strcmp(type, "cgroup") == 0 && has_word(options, "cpuset", ','))
      found = ORR_ISOLATE_V1;
    else if (strcmp(type, "cgroup2") == 0 && v2_has_cpuset(paths->dir))
      found = ORR_ISOLATE_V2;
  }
  fclose(f);
  return found;
}

/* --- the closed list of what undo may do -------------------------------------------------------------------------- */
/* What stands behind `start`; NULL: it begins otherwise. */
static const char *behind(const char *text, const char *start) {
  size_t length = strlen(start);
  return strncmp(text, start, length) == 0 ? text + length : NULL;
}

static const char *digits(const char *text) {
  size_t count = strspn(text, "0123456789");
  return count > 0 && count <= 10 ? text + count : NULL;
}

static bool is_number(const char *text) {
  const char *end = digits(text + (*text == '-'));
  return end && *end == '\0';
}

/* <cpusets>/orrery.core3, or orrery.rest3: what stands behind it. */
static const char *behind_own_group(const char *in_cpusets) {
  const char *number = behind(in_cpusets, "orrery.core");
  number = number ? number : behind(in_cpusets, "orrery.rest");
  return number ? digits(number) : NULL;
}

static bool is_tasks(const char *name) { return strcmp(name, "tasks") == 0 || strcmp(name, "cgroup.threads") == 0; }

/* What is written, or relied on, and the values that it may get. */
static bool may_write(const char *machine, const char *in_cpusets, const char *value, bool hold) {
  const char *irq = behind(machine, "/proc/irq/"), *rest = irq ? digits(irq) : NULL;
  cpu_set_t cores;
  if (rest && strcmp(rest, "/smp_affinity_list") == 0)
    return hold || orr_cpulist_parse(value, &cores);
  if (strcmp(machine, "/proc/sys/kernel/sched_rt_runtime_us") == 0)
    return hold || is_number(value);
  if (in_cpusets && strcmp(in_cpusets, "cpuset.sched_load_balance") == 0)
    return hold || strcmp(value, "0") == 0 || strcmp(value, "1") == 0;
  return in_cpusets && strcmp(in_cpusets, "cgroup.subtree_control") == 0 && (hold || strcmp(value, "-cpuset") == 0);
}

static bool allows(const struct orr_undo_list *undo, const char *verb, const char *path, const char *value) {
  const struct orr_isolate_list *list = (const struct orr_isolate_list *)undo;
  if (strcmp(verb, "bind") == 0 || strcmp(verb, "core") == 0 || strcmp(verb, "began") == 0)
    return is_number(path) || strcmp(verb, "began") == 0;
  const char *machine = behind(path, list->root), *in_cpusets = list->cpusets[0] ? behind(path, list->cpusets) : NULL;
  in_cpusets = in_cpusets && *in_cpusets == '/' ? in_cpusets + 1 : NULL;
  if (!machine || strstr(path, "/../") || strstr(value, "/../"))
    return false;
  if (strcmp(verb, "write") == 0 || strcmp(verb, "base") == 0 || strcmp(verb, "hold") == 0)
    return may_write(machine, in_cpusets, value, strcmp(verb, "hold") == 0 && !value[0]);
  const char *rest = in_cpusets ? behind_own_group(in_cpusets) : NULL;
  if (strcmp(verb, "rmdir") == 0)
    return rest && *rest == '\0';
  if (strcmp(verb, "empty") == 0) { /* of one of our groups, into the root group */
    const char *to = behind(value, list->cpusets);
    return rest && *rest == '/' && is_tasks(rest + 1) && to && *to == '/' && is_tasks(to + 1);
  }
  if (strcmp(verb, "await") == 0)
    return in_cpusets && strcmp(in_cpusets, "cpuset.cpus.effective") == 0;
  if (strcmp(verb, "self") == 0 && in_cpusets) {
    size_t length = strlen(path), tail = strlen("/cgroup.procs");
    return length > tail && strcmp(path + length - tail, "/cgroup.procs") == 0 && is_number(value);
  }
  return false;
}

static void make_list(struct orr_isolate_list *list, const char *root) {
  struct paths paths = {0};
  *list = (struct orr_isolate_list){.list.allows = allows};
  if (!join(list->root, sizeof list->root, root, "", ""))
    join(list->root, sizeof list->root, "/root/is/too/long", "", "");
  if (find_hierarchy(root, &paths) != ORR_ISOLATE_NONE)
    join(list->cpusets, sizeof list->cpusets, paths.dir, "", "");
}

/* --- steps that remember which of them failed --------------------------------------------------------------------- */
static bool step(struct orr_isolation *i, const char *what, int error) {
  if (error && !i->cpuset_error) {
    i->cpuset_error = error;
    i->cpuset_step = what;
  }
  return error == 0;
}

/* Inside a directory of ours there is nothing to take back: it goes as a whole. */
static bool set_in(struct orr_isolation *i, const char *dir, const char *file, const char *value) {
  char path[ORR_JOURNAL_PATH_MAX];
  join(path, sizeof path, dir, "/", file);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  bool ok = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);
  int error = ok ? 0 : errno;
  if (fd >= 0)
    close(fd);
  return step(i, file, error);
}

static bool make_dir(struct orr_isolation *i, const char *dir, const char *empty_file, const char *parent_file) {
  char path[ORR_JOURNAL_PATH_MAX];
  if (!step(i, "a group for the core", orr_journal_mkdir(&i->journal, dir)))
    return false;
  join(path, sizeof path, dir, "/", empty_file);
  return step(i, empty_file, orr_journal_will_empty(&i->journal, path, parent_file));
}

/* --- cgroup v1 ---------------------------------------------------------------------------------------------------- */
static void move_task(struct orr_isolation *i, const char *tasks_path, const char *id) {
  int fd = open(tasks_path, O_WRONLY | O_CLOEXEC);
  bool moved = fd >= 0 && write(fd, id, strlen(id)) > 0;
  /* a task that ended meanwhile does not matter; a kernel thread bound to its core refuses */
  if (moved)
    i->tasks_moved++;
  else if (errno != ESRCH)
    i->tasks_refused++;
  if (fd >= 0)
    close(fd);
}

static void move_all_tasks(struct orr_isolation *i, const char *from, const char *to) {
  char id[32];
  FILE *f = fopen(from, "re");
  if (!f)
    return;
  while (fgets(id, sizeof id, f)) {
    id[strcspn(id, "\n")] = '\0';
    move_task(i, to, id);
  }
  fclose(f);
}

static bool make_cpuset(struct orr_isolation *i, const char *dir, const char *cpus, const char *mems,
                        const char *root_tasks) {
  return make_dir(i, dir, "tasks", root_tasks) && set_in(i, dir, "cpuset.cpus", cpus) &&
         set_in(i, dir, "cpuset.mems", mems) && set_in(i, dir, "cpuset.cpu_exclusive", "1");
}

static void apply_v1(struct orr_isolation *i, const struct orr_isolate_options *o, const struct paths *paths) {
  char path[ORR_JOURNAL_PATH_MAX], mems[TEXT_MAX], all[TEXT_MAX], others[TEXT_MAX], name[TEXT_MAX];
  char own_dir[ORR_JOURNAL_PATH_MAX], rest_dir[ORR_JOURNAL_PATH_MAX], root_tasks[ORR_JOURNAL_PATH_MAX];
  char balance[ORR_JOURNAL_PATH_MAX];
  cpu_set_t set;
  join(path, sizeof path, paths->dir, "/cpuset.mems", "");
  bool ok = read_text(path, mems, sizeof mems);
  join(path, sizeof path, paths->dir, "/cpuset.cpus", "");
  ok = ok && read_text(path, all, sizeof all) && orr_cpulist_parse(all, &set);
  if (!step(i, "cpuset.cpus of the root", ok ? 0 : EINVAL))
    return;
  CPU_CLR((size_t)o->core, &set);
  if (!step(i, "another core", CPU_COUNT(&set) > 0 && orr_cpulist_format(&set, others, sizeof others) ? 0 : EINVAL))
    return;
  snprintf(name, sizeof name, "%d", o->core);
  join(root_tasks, sizeof root_tasks, paths->dir, "/tasks", "");
  join(own_dir, sizeof own_dir, paths->dir, "/orrery.core", name);
  join(rest_dir, sizeof rest_dir, paths->dir, "/orrery.rest", name);
  if (!make_cpuset(i, own_dir, name, mems, root_tasks) || !make_cpuset(i, rest_dir, others, mems, root_tasks))
    return;
  join(i->attach_path, sizeof i->attach_path, own_dir, "/tasks", "");
  join(path, sizeof path, rest_dir, "/tasks", "");
  if (o->clear) {
    join(balance, sizeof balance, paths->dir, "/cpuset.sched_load_balance", "");
    step(i, "cpuset.sched_load_balance of the root", orr_journal_set(&i->journal, balance, "0"));
    move_all_tasks(i, root_tasks, path);
    return;
  }
  for (size_t t = 0; t < o->task_count; t++) {
    char id[32];
    snprintf(id, sizeof id, "%ld", (long)o->tasks[t]);
    move_task(i, path, id);
  }
}

/* --- cgroup v2 ---------------------------------------------------------------------------------------------------- */
/* The threads of one process may lie in different groups only below a common root: the root group, for which no rule
 * forbids it. */
static bool move_process_to_root(struct orr_isolation *i, const struct orr_isolate_options *o,
                                 const struct paths *paths) {
  char path[ORR_JOURNAL_PATH_MAX], line[TEXT_MAX] = "", to[ORR_JOURNAL_PATH_MAX], from[ORR_JOURNAL_PATH_MAX], id[32];
  const char *group = NULL;
  join(path, sizeof path, o->root, "/proc/self/cgroup", "");
  FILE *f = fopen(path, "re");
  while (f && !group && fgets(line, sizeof line, f))
    if (strncmp(line, "0::", 3) == 0)
      group = line + 3;
  if (f)
    fclose(f);
  if (!group)
    return step(i, "the group of this process", ENOENT);
  line[strcspn(line, "\n")] = '\0';
  if (strcmp(group, "/") == 0)
    return true;
  snprintf(id, sizeof id, "%ld", (long)getpid());
  join(to, sizeof to, paths->dir, "/cgroup.procs", "");
  if (!join(path, sizeof path, paths->dir, group, "") || !join(from, sizeof from, path, "/cgroup.procs", ""))
    return step(i, "the group of this process", ENAMETOOLONG);
  return step(i, "cgroup.procs of the root", orr_journal_tell_self(&i->journal, to, id, from, id));
}

static bool enable_cpuset(struct orr_isolation *i, const struct paths *paths) {
  char path[ORR_JOURNAL_PATH_MAX], text[TEXT_MAX];
  join(path, sizeof path, paths->dir, "/cgroup.subtree_control", "");
  if (read_text(path, text, sizeof text) && has_word(text, "cpuset", ' '))
    return step(i, "noting cgroup.subtree_control", orr_journal_hold(&i->journal, path));
  return step(i, "cgroup.subtree_control", orr_journal_tell(&i->journal, path, "+cpuset", path, "-cpuset"));
}

static void apply_v2(struct orr_isolation *i, const struct orr_isolate_options *o, const struct paths *paths) {
  char dir[ORR_JOURNAL_PATH_MAX], path[ORR_JOURNAL_PATH_MAX], threads[ORR_JOURNAL_PATH_MAX], name[TEXT_MAX],
      state[TEXT_MAX];
  snprintf(name, sizeof name, "%d", o->core);
  join(dir, sizeof dir, paths->dir, "/orrery.core", name);
  join(threads, sizeof threads, paths->dir, "/cgroup.threads", "");
  join(path, sizeof path, paths->dir, "/cpuset.cpus.effective", "");
  if (!enable_cpuset(i, paths) || !move_process_to_root(i, o, paths) ||
      !step(i, "noting cpuset.cpus.effective", orr_journal_will_await(&i->journal, path, o->core)) ||
      !make_dir(i, dir, "cgroup.threads", threads) || !set_in(i, dir, "cgroup.type", "threaded") ||
      !set_in(i, dir, "cpuset.cpus", name) || !set_in(i, dir, "cpuset.cpus.partition", "isolated"))
    return;
  join(path, sizeof path, dir, "/cpuset.cpus.partition", "");
  /* the kernel accepts the word and then reads back "isolated invalid (reason)" */
  if (!step(i, "cpuset.cpus.partition",
            read_text(path, state, sizeof state) && strcmp(state, "isolated") == 0 ? 0 : EBUSY))
    return;
  join(i->attach_path, sizeof i->attach_path, dir, "/cgroup.threads", "");
}

/* --- tasks that have cores of their own choice -------------------------------------------------------------------- */
/* All of them when the core is taken from all, else those that are moved. Others that clear cores have taken those from
 * all, and know which tasks are to have them back. */
static size_t list_bound(const struct orr_isolate_options *o, const struct orr_others *others,
                         struct orr_task **tasks) {
  size_t count = 0;
  if (o->clear) {
    cpu_set_t taken;
    struct orr_task *wishes;
    orr_others_cores(others, &taken);
    size_t wish_count = orr_others_tasks(others, &wishes);
    count = orr_tasks_wish(tasks, orr_tasks_bound(&taken, tasks), wishes, wish_count, &taken);
    free(wishes);
    return count;
  }
  *tasks = calloc(o->task_count ? o->task_count : 1, sizeof **tasks);
  for (size_t t = 0; *tasks && t < o->task_count; t++)
    count += orr_task_read(o->tasks[t], &(*tasks)[count]);
  return count;
}

/* Noted before any cpuset changes, and so put back after the last one is gone; and put back at once, as far as they
 * still may. */
static void apply_cpuset(struct orr_isolation *i, const struct orr_isolate_options *o, const struct paths *paths,
                         const struct orr_others *others) {
  struct orr_task *bound = NULL;
  cpu_set_t within, taken;
  size_t count = list_bound(o, others, &bound);
  off_t mark = orr_journal_mark(&i->journal);
  int error = 0;
  for (size_t t = 0; t < count && !error; t++)
    error = orr_journal_will_bind(&i->journal, &bound[t]);
  if (step(i, "noting the cores of tasks", error))
    (i->method == ORR_ISOLATE_V1 ? apply_v1 : apply_v2)(i, o, paths);
  memset(&within, 0xff, sizeof within);
  orr_others_cores(others, &taken);
  CPU_XOR(&within, &within, &taken);
  if (o->core >= 0 && o->core < CPU_SETSIZE)
    CPU_CLR((size_t)o->core, &within);
  for (size_t t = 0; t < count && !i->cpuset_error; t++)
    orr_task_put_back(&bound[t], &within);
  if (i->cpuset_error) { /* half of it is of no use, and what it noted of tasks will not be true at the end */
    i->attach_path[0] = '\0';
    orr_journal_undo_from(&i->journal, mark);
  }
  free(bound);
}

/* --- interrupts, throttling --------------------------------------------------------------------------------------- */
/* One that does not come to the core may do so again when another gives it back what it had. */
static void move_irq(struct orr_isolation *i, const char *path, int core, const cpu_set_t *others) {
  char text[TEXT_MAX];
  cpu_set_t set, left;
  if (!read_text(path, text, sizeof text) || !orr_cpulist_parse(text, &set))
    return;
  if (!CPU_ISSET((size_t)core, &set)) {
    if (i->other)
      orr_journal_hold(&i->journal, path);
    return;
  }
  CPU_AND(&left, &set, others);
  if (!orr_cpulist_format(CPU_COUNT(&left) > 0 ? &left : others, text, sizeof text))
    return;
  if (orr_journal_set(&i->journal, path, text) == 0)
    i->irqs_moved++;
  else
    i->irqs_refused++;
}

/* A core that is online and not taken; or, when there is none left, one that is not ours. */
static bool other_cores(const struct orr_isolate_options *o, const struct orr_others *others, const char *online,
                        cpu_set_t *cores) {
  cpu_set_t taken, common;
  if (!orr_cpulist_parse(online, cores))
    return false;
  CPU_CLR((size_t)o->core, cores);
  orr_others_cores(others, &taken);
  CPU_AND(&common, cores, &taken);
  if (CPU_COUNT(&common) < CPU_COUNT(cores))
    CPU_XOR(cores, cores, &common);
  return CPU_COUNT(cores) > 0;
}

static void apply_irqs(struct orr_isolation *i, const struct orr_isolate_options *o, const struct orr_others *others) {
  char dir[ORR_JOURNAL_PATH_MAX - TEXT_MAX], path[ORR_JOURNAL_PATH_MAX], text[TEXT_MAX], name[TEXT_MAX];
  cpu_set_t cores;
  join(path, sizeof path, o->root, "/sys/devices/system/cpu/online", "");
  if (!read_text(path, text, sizeof text) || !other_cores(o, others, text, &cores) ||
      !join(dir, sizeof dir, o->root, "/proc/irq", ""))
    return;
  DIR *irqs = opendir(dir);
  if (!irqs)
    return;
  for (struct dirent *d; (d = readdir(irqs)) != NULL;) {
    if (!isdigit((unsigned char)d->d_name[0]))
      continue;
    if (join(name, sizeof name, "/", d->d_name, "/smp_affinity_list") && join(path, sizeof path, dir, name, ""))
      move_irq(i, path, o->core, &cores);
  }
  closedir(irqs);
}

enum orr_isolate_method orr_isolate_method(const char *root) {
  struct paths paths;
  return find_hierarchy(root, &paths);
}

/* v1: exclusive, and of this core alone; v2: an isolated partition with it. */
static bool has_core_alone(enum orr_isolate_method method, const char *dir, const char *child, int core) {
  char at[ORR_JOURNAL_PATH_MAX], path[ORR_JOURNAL_PATH_MAX], text[TEXT_MAX];
  cpu_set_t set;
  join(at, sizeof at, dir, "/", child);
  join(path, sizeof path, at, "/cpuset.cpus", "");
  if (!read_text(path, text, sizeof text) || !orr_cpulist_parse(text, &set) || !CPU_ISSET((size_t)core, &set))
    return false;
  bool v1 = method == ORR_ISOLATE_V1;
  join(path, sizeof path, at, v1 ? "/cpuset.cpu_exclusive" : "/cpuset.cpus.partition", "");
  return read_text(path, text, sizeof text) && strcmp(text, v1 ? "1" : "isolated") == 0 &&
         (!v1 || CPU_COUNT(&set) == 1);
}

bool orr_isolate_present(const char *root, int core) {
  struct paths paths;
  enum orr_isolate_method method = find_hierarchy(root, &paths);
  DIR *dir = method != ORR_ISOLATE_NONE && core >= 0 && core < CPU_SETSIZE ? opendir(paths.dir) : NULL;
  bool found = false;
  for (struct dirent *d; dir && !found && (d = readdir(dir)) != NULL;)
    if (d->d_type == DT_DIR && d->d_name[0] != '.')
      found = has_core_alone(method, paths.dir, d->d_name, core);
  if (dir)
    closedir(dir);
  return found;
}

unsigned orr_isolate_repair(const char *root, const char *state_dir, struct orr_undo_failures *failures) {
  struct orr_isolate_list list;
  make_list(&list, root);
  return orr_journal_repair(state_dir, &list.list, failures);
}

pid_t orr_isolate_taken(const char *state_dir, int core) {
  char own[ORR_JOURNAL_PATH_MAX];
  if (!join(own, sizeof own, state_dir, "/none", ""))
    return 0;
  struct orr_others others = orr_others_read(own);
  pid_t process = orr_others_clearing(&others, core);
  orr_others_free(&others);
  return process;
}

/* Says whose the core is: ours from now on, or another's. */
static bool claim(struct orr_isolation *i, int core, const struct orr_others *others) {
  i->taken_by = orr_others_clearing(others, core);
  for (size_t k = 0; k < others->count && !i->other; k++)
    i->other = others->journals[k].alive ? others->journals[k].process : 0;
  return i->taken_by ? step(i, "the core", EEXIST) : step(i, "noting the core", orr_journal_claim(&i->journal, core));
}

static void apply(struct orr_isolation *i, const struct orr_isolate_options *options, const struct orr_others *others) {
  struct paths paths;
  char path[ORR_JOURNAL_PATH_MAX];
  /* before the cpusets, and so given back after them: the kernel's threads for interrupts then follow their interrupts
   * again */
  if (options->irqs)
    apply_irqs(i, options, others);
  if (options->cpuset) {
    i->method = find_hierarchy(options->root, &paths);
    if (i->method == ORR_ISOLATE_NONE)
      step(i, "a cpuset controller", ENOTSUP);
    else if (i->method == ORR_ISOLATE_V2 && !options->clear) /* who names tasks has not offered all others */
      step(i, "a partition takes the core from every task", ENOTSUP);
    else
      apply_cpuset(i, options, &paths, others);
  }
  if (options->throttling) {
    join(path, sizeof path, options->root, "/proc/sys/kernel/sched_rt_runtime_us", "");
    i->throttling_error = orr_journal_set(&i->journal, path, "-1");
  }
}

bool orr_isolate_apply(struct orr_isolation *isolation, const struct orr_isolate_options *options) {
  struct orr_isolation *i = isolation;
  memset(i, 0, sizeof *i);
  i->journal.fd = -1;
  i->journal_error = orr_journal_open(&i->journal, options->state_dir);
  if (i->journal_error)
    return false;
  make_list(&i->list, options->root);
  i->journal.list = &i->list.list;
  struct orr_others others = orr_others_read(i->journal.path);
  if (claim(i, options->core, &others)) {
    apply(i, options, &others);
    orr_journal_pass(&i->journal);
  } else {
    orr_journal_undo(&i->journal);
  }
  orr_others_free(&others);
  return !i->cpuset_error && i->irqs_refused == 0 && !i->throttling_error;
}

int orr_isolate_attach(const struct orr_isolation *isolation) {
  char id[32];
  if (!isolation->attach_path[0])
    return 0;
  int fd = open(isolation->attach_path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return errno;
  int n = snprintf(id, sizeof id, "%ld", (long)gettid());
  int error = write(fd, id, (size_t)n) == n ? 0 : errno;
  close(fd);
  return error;
}

struct orr_undo_failures orr_isolate_undo(struct orr_isolation *isolation) {
  isolation->attach_path[0] = '\0';
  return orr_journal_undo(&isolation->journal);
}
