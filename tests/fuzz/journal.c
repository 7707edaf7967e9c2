/* Undo journals of any bytes (rt/machine/journal_file, undo, others, isolate), taken back as the start of `--fix` does
 * what killed processes left. Nothing is opened to be written, and no folder removed, but below the root that the
 * journals are of; what is not in the closed list is not done, and told.
 *
 * The first byte: bit 0 cgroup v1 in place of v2. Then up to three journals, cut by lines `%%`: of two processes that
 * were killed, and of one that lives. `@` in them stands for the root, `~` for the folder of its cpusets.
 * Fuzz with: -max_len=1024
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt/machine/isolate.h"
#include "tests/support/steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { JOURNALS = 3, ROOT = 64, PATH = 8 * ROOT, ROOM = 65536 };

static const char *const names[JOURNALS] = {"11.undo", "12.undo", "13.undo"};

static char top_path[ROOT]; /* of both roots; empty: not made yet */
static char root_path[2][2 * ROOT], state_path[2][3 * ROOT];
static bool undoing;

/* ---- in place of the C library's: the first three only look, the others do nothing ------------------------------- */

static void must_be_below(const char *path) {
  size_t length = strlen(top_path);
  orr_must(!undoing || (strncmp(path, top_path, length) == 0 && path[length] == '/' && !strstr(path, "/../")));
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
  va_end(rest);
  if ((flags & O_ACCMODE) != O_RDONLY)
    must_be_below(path);
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int rmdir(const char *path) {
  must_be_below(path);
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

int unlink(const char *path) {
  must_be_below(path);
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int usleep(useconds_t us) {
  (void)us;
  return 0;
}

int sched_setaffinity(pid_t id, size_t bytes, const cpu_set_t *cores) {
  (void)id;
  (void)bytes;
  (void)cores;
  return 0;
}

/* ---- a machine of files ------------------------------------------------------------------------------------------ */

static void write_file(const char *folder, const char *name, const char *text, size_t size) {
  char path[PATH];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  orr_must(fd >= 0 && write(fd, text, size) == (ssize_t)size);
  close(fd);
}

static void make_folders(const char *root) {
  static const char *const folders[] = {
      "",          "/state",           "/proc", "/proc/irq",         "/proc/irq/1",
      "/proc/sys", "/proc/sys/kernel", "/cpu",  "/cpu/orrery.core1", "/cpu/orrery.rest1"};
  char path[PATH];
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    snprintf(path, sizeof path, "%s%s", root, folders[i]);
    orr_must(mkdir(path, 0700) == 0);
  }
}

static void make_files(const char *root, bool v1) {
  static const char *const files[][2] = {{"proc/irq/1/smp_affinity_list", "0-1\n"},
                                         {"proc/sys/kernel/sched_rt_runtime_us", "950000\n"},
                                         {"cpu/cgroup.controllers", "cpu cpuset\n"},
                                         {"cpu/cgroup.subtree_control", "cpuset\n"},
                                         {"cpu/cgroup.threads", ""},
                                         {"cpu/cgroup.procs", ""},
                                         {"cpu/tasks", ""},
                                         {"cpu/cpuset.sched_load_balance", "1\n"},
                                         {"cpu/cpuset.cpus.effective", "0-1\n"}};
  const char *mounts = v1 ? "cgroup /cpu cgroup rw,cpuset 0 0\n" : "cgroup2 /cpu cgroup2 rw 0 0\n";
  write_file(root, "proc/mounts", mounts, strlen(mounts));
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    write_file(root, files[i][0], files[i][1], strlen(files[i][1]));
}

static void clean_up(void) {
  char command[ROOT + 16];
  snprintf(command, sizeof command, "rm -rf %s", top_path);
  if (system(command) != 0)
    fprintf(stderr, "%s is left\n", top_path);
}

static void set_up(void) {
  snprintf(top_path, sizeof top_path, "/dev/shm/orrery.fuzz.XXXXXX");
  orr_must(mkdtemp(top_path) != NULL);
  atexit(clean_up);
  for (int v1 = 0; v1 < 2; v1++) {
    snprintf(root_path[v1], sizeof root_path[v1], "%s/v%d", top_path, 2 - v1);
    snprintf(state_path[v1], sizeof state_path[v1], "%s/state", root_path[v1]);
    make_folders(root_path[v1]);
    make_files(root_path[v1], v1);
  }
}

/* ---- journals ---------------------------------------------------------------------------------------------------- */

/* What stands before the next line `%%`, which goes, too. */
static void write_journal(int v1, int number, struct orr_steps *rest) {
  static char text[ROOM];
  static const char mark[] = "%%\n";
  const uint8_t *cut = rest->left ? memmem(rest->data, rest->left, mark, 3) : NULL;
  size_t used = 0, length = cut ? (size_t)(cut - rest->data) : rest->left;
  for (size_t i = 0; i < length && used + 2 * ROOT < ROOM; i++) {
    uint8_t c = rest->data[i];
    if (c == '@' || c == '~')
      used += (size_t)snprintf(text + used, ROOM - used, "%s%s", root_path[v1], c == '~' ? "/cpu" : "");
    else
      text[used++] = (char)c;
  }
  write_file(state_path[v1], names[number], text, used);
  length += cut ? 3 : 0;
  *rest = (struct orr_steps){rest->data + length, rest->left - length};
}

static int hold(int v1) {
  char path[PATH];
  snprintf(path, sizeof path, "%s/%s", state_path[v1], names[JOURNALS - 1]);
  int fd = open(path, O_RDWR);
  orr_must(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
  return fd;
}

static void set_right(int v1) {
  static const char *const groups[] = {"cpu/orrery.core1", "cpu/orrery.rest1"};
  char path[PATH];
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", root_path[v1], groups[i]);
    orr_must(mkdir(path, 0700) == 0 || errno == EEXIST);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct orr_undo_failures failures;
  int v1 = size > 0 && data[0] & 1;
  if (!top_path[0])
    set_up();
  set_right(v1);
  struct orr_steps rest = {data + (size > 0), size - (size > 0)};
  for (int i = 0; i < JOURNALS; i++)
    write_journal(v1, i, &rest);
  int living = hold(v1);
  undoing = true;
  unsigned repaired = orr_isolate_repair(root_path[v1], state_path[v1], &failures);
  undoing = false;
  close(living);
  orr_must(repaired < JOURNALS && memchr(failures.first, '\0', sizeof failures.first));
  orr_must((failures.count == 0) == (failures.first[0] == '\0' && failures.error == 0));
  orr_must(!strchr(failures.first, '\t'));
  return 0;
}
