#include "tools/timing/timing_flier.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/ending.h"
#include "tools/run/links_report.h"

enum { WORDS_MAX = 160 };

static const char prefix[] = "orrery.timing.";

/* What those left behind that were killed. A slice and its warm-up take 25 hours at most. */
static void sweep(const char *folder) {
  const time_t oldest = time(NULL) - 48 * 3600;
  struct stat file;
  DIR *list = opendir(folder);
  for (struct dirent *d; list && (d = readdir(list)) != NULL;)
    if (strncmp(d->d_name, prefix, sizeof prefix - 1) == 0 &&
        fstatat(dirfd(list), d->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(file.st_mode) &&
        file.st_uid == geteuid() && file.st_mtime < oldest)
      unlinkat(dirfd(list), d->d_name, 0);
  if (list)
    closedir(list);
}

/* In memory, where that can be had: a disk that is made to write between two slices takes longer than a short slice,
 * and its interrupts come into the next. */
static bool make_file(struct orr_timing_flier *f) {
  static const char *const folders[] = {"/dev/shm", "/tmp"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    sweep(folders[i]);
    snprintf(f->file, sizeof f->file, "%s/%sXXXXXX", folders[i], prefix);
    int fd = mkstemp(f->file);
    if (fd < 0)
      continue;
    close(fd);
    return true;
  }
  fprintf(stderr, "orrery timing: no file in /tmp: %s\n", strerror(errno));
  return false;
}

bool orr_timing_flier_open(struct orr_timing_flier *f) {
  f->interrupted = false;
  if (!make_file(f))
    return false;
  orr_links_signals(&f->signals);
  sigdelset(&f->signals, SIGCHLD);
  sigset_t all = f->signals;
  sigaddset(&all, SIGCHLD);
  sigprocmask(SIG_BLOCK, &all, &f->before);
  return true;
}

void orr_timing_flier_close(struct orr_timing_flier *f) {
  const struct timespec now = {0};
  while (sigtimedwait(&f->signals, NULL, &now) > 0) {
    /* has been answered */
  }
  unlink(f->file);
  sigprocmask(SIG_SETMASK, &f->before, NULL);
}

/* Its status as waitpid gives it. A signal for us is passed on, and the slice ends in its own time. */
static int await(struct orr_timing_flier *f, pid_t child) {
  sigset_t all = f->signals;
  int status;
  sigaddset(&all, SIGCHLD);
  while (waitpid(child, &status, WNOHANG) == 0) {
    int signal = sigwaitinfo(&all, NULL);
    if (signal <= 0 || signal == SIGCHLD)
      continue;
    f->interrupted = true;
    kill(child, SIGTERM);
  }
  return status;
}

/* In the child. It ends in its own time when whoever looks at it has ended, even by SIGKILL. */
static _Noreturn void be(const struct orr_timing_flier *f, pid_t parent, const char *program, char *const *words) {
  int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO); /* its summary is not ours */
  close(null);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) /* it has ended before that */
    _exit(ORR_EXIT_INCOMPLETE);
  sigprocmask(SIG_SETMASK, &f->before, NULL);
  execvp(program, words);
  fprintf(stderr, "orrery timing: cannot start '%s': %s\n", program, strerror(errno));
  _exit(ORR_EXIT_BAD);
}

/* The death signal comes when the thread that forks ends: callers have no other. */
static pid_t spawn(const struct orr_timing_flier *f, const char *program, char *const *words) {
  pid_t parent = getpid(), child = fork();
  if (child == 0)
    be(f, parent, program, words);
  if (child < 0)
    fprintf(stderr, "orrery timing: cannot start '%s': %s\n", program, strerror(errno));
  return child;
}

static int take(struct orr_timing_flier *f, json_t *root) {
  struct orr_timing_result slice;
  if (!orr_timing_result_load(f->file, &slice)) {
    fprintf(stderr, "orrery timing: a slice left no result: %s\n", slice.error);
    return ORR_EXIT_BAD;
  }
  bool good = orr_timing_result_add(root, slice.root, true);
  orr_timing_result_close(&slice);
  return good ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

int orr_timing_flier_fly(struct orr_timing_flier *f, const char *program, const char *const *words, size_t count,
                         json_t *root) {
  const char *all[WORDS_MAX + 4] = {program ? program : "orrery"};
  if (count > WORDS_MAX)
    return ORR_EXIT_USAGE;
  memcpy(all + 1, words, count * sizeof *words);
  all[count + 1] = "-o";
  all[count + 2] = f->file;
  pid_t child = spawn(f, program ? program : "/proc/self/exe", (char *const *)all);
  if (child < 0)
    return ORR_EXIT_BAD;
  int status = await(f, child);
  if (f->interrupted)
    return ORR_EXIT_INCOMPLETE;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return take(f, root);
  if (!WIFEXITED(status))
    fprintf(stderr, "orrery timing: a slice ended by a signal (%s)\n", strsignal(WTERMSIG(status)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : ORR_EXIT_BAD;
}
