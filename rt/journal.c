#include "rt/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/cpulist.h"

#define SUFFIX ".undo"

static int write_file(const char *path, const char *value) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return errno;
  size_t length = strlen(value);
  ssize_t written = write(fd, value, length);
  int error = written < 0 ? errno : (size_t)written == length ? 0 : EIO;
  if (close(fd) != 0 && !error)
    error = errno;
  return error;
}

/* The first line. */
static int read_line(const char *path, char *value, size_t size) {
  FILE *f = fopen(path, "re");
  if (!f)
    return errno;
  int error = 0;
  if (!fgets(value, (int)size, f)) {
    error = ferror(f) ? EIO : 0;
    value[0] = '\0';
  }
  fclose(f);
  value[strcspn(value, "\n")] = '\0';
  return error;
}

static int note(struct orr_journal *journal, const char *verb, const char *path, const char *value) {
  char line[ORR_JOURNAL_LINE_MAX];
  if (strpbrk(path, "\t\n") || strpbrk(value, "\t\n"))
    return EINVAL;
  int length = snprintf(line, sizeof line, "%s\t%s\t%s\n", verb, path, value);
  if (length < 0 || (size_t)length >= sizeof line)
    return ENAMETOOLONG;
  if (write(journal->fd, line, (size_t)length) != length)
    return errno ? errno : EIO;
  return fdatasync(journal->fd) == 0 || errno == EINVAL ? 0 : errno; /* tmpfs has nothing to sync */
}

/* A change that was refused needs no undo: its note goes, and its error stays. */
static int unless(struct orr_journal *journal, int error, off_t noted_from) {
  if (error && ftruncate(journal->fd, noted_from) != 0)
    return errno;
  return error;
}

static off_t noted(const struct orr_journal *journal) { return lseek(journal->fd, 0, SEEK_END); }

/* Locked, and still the file of that name: whoever had the lock before may have removed it. */
static int lock_file(int fd, const char *path) {
  struct stat named, opened;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0)
    return errno;
  return stat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_ino == opened.st_ino ? 0 : ESTALE;
}

int orr_journal_open(struct orr_journal *journal, const char *dir) {
  enum { TRIES = 50, PAUSE_US = 10000 };
  journal->fd = -1;
  if (mkdir(dir, 0700) != 0 && errno != EEXIST)
    return errno;
  int length = snprintf(journal->path, sizeof journal->path, "%s/%ld" SUFFIX, dir, (long)getpid());
  if (length < 0 || (size_t)length >= sizeof journal->path)
    return ENAMETOOLONG;
  int error = 0;
  for (int i = 0; i < TRIES;
       i++) { /* another start may be at a journal of this name, to repair what an earlier process left */
    int fd = open(journal->path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    error = fd < 0 ? errno : lock_file(fd, journal->path);
    if (!error) {
      journal->fd = fd;
      return 0;
    }
    if (fd >= 0)
      close(fd);
    if (error != EEXIST && error != EWOULDBLOCK && error != ESTALE)
      return error;
    usleep(PAUSE_US);
  }
  return error;
}

int orr_journal_set(struct orr_journal *journal, const char *path, const char *value) {
  char old[ORR_JOURNAL_LINE_MAX];
  if (strpbrk(value, "\t\n"))
    return EINVAL;
  int error = read_line(path, old, sizeof old);
  if (error)
    return error;
  if (strcmp(old, value) == 0)
    return 0;
  off_t from = noted(journal);
  error = note(journal, "write", path, old);
  return error ? error : unless(journal, write_file(path, value), from);
}

static int tell(struct orr_journal *journal, const char *verb, const char *path, const char *value,
                const char *undo_path, const char *undo_value) {
  off_t from = noted(journal);
  int error = note(journal, verb, undo_path, undo_value);
  return error ? error : unless(journal, write_file(path, value), from);
}

int orr_journal_tell(struct orr_journal *journal, const char *path, const char *value, const char *undo_path,
                     const char *undo_value) {
  return tell(journal, "write", path, value, undo_path, undo_value);
}

int orr_journal_tell_self(struct orr_journal *journal, const char *path, const char *value, const char *undo_path,
                          const char *undo_value) {
  return tell(journal, "self", path, value, undo_path, undo_value);
}

int orr_journal_mkdir(struct orr_journal *journal, const char *path) {
  struct stat status;
  if (stat(path, &status) == 0)
    return EEXIST; /* before the note: what was there is not ours to remove */
  off_t from = noted(journal);
  int error = note(journal, "rmdir", path, "");
  return error ? error : unless(journal, mkdir(path, 0755) == 0 ? 0 : errno, from);
}

int orr_journal_will_empty(struct orr_journal *journal, const char *from, const char *to) {
  return note(journal, "empty", from, to);
}

int orr_journal_will_bind(struct orr_journal *journal, const struct orr_task *task) {
  char id[32], value[ORR_JOURNAL_LINE_MAX / 2];
  snprintf(id, sizeof id, "%ld", (long)task->id);
  int length = snprintf(value, sizeof value, "%llu ", task->start_ticks);
  if (!orr_cpulist_format(&task->cores, value + length, sizeof value - (size_t)length))
    return ENAMETOOLONG;
  return note(journal, "bind", id, value);
}

/* "START CORES", as noted above. */
static int bind_again(const char *id, const char *value) {
  char *cores;
  struct orr_task task = {.id = (pid_t)strtol(id, NULL, 10), .start_ticks = strtoull(value, &cores, 10)};
  return orr_cpulist_parse(cores, &task.cores) ? orr_task_put_back(&task, NULL) : EINVAL;
}

/* A task may end, and another be born in the same place, while we read: a few rounds find them all. */
static int empty_file(const char *from, const char *to) {
  enum { ROUNDS = 5 };
  char line[64];
  bool left = true;
  for (int round = 0; round < ROUNDS && left; round++) {
    FILE *f = fopen(from, "re");
    if (!f)
      return errno == ENOENT ? 0 : errno;
    left = false;
    while (fgets(line, sizeof line, f)) {
      line[strcspn(line, "\n")] = '\0';
      int error = write_file(to, line);
      left = left || error != ESRCH;
    }
    fclose(f);
  }
  return 0;
}

/* cgroup directories stay busy for a moment after their last task has gone. */
static int remove_directory(const char *path) {
  enum { TRIES = 50, PAUSE_US = 10000 };
  for (int i = 0; i < TRIES; i++) {
    if (rmdir(path) == 0 || errno == ENOENT)
      return 0;
    if (errno != EBUSY)
      return errno;
    usleep(PAUSE_US);
  }
  return EBUSY;
}

static int take_back(char *line, bool owner) {
  char *save, *verb = strtok_r(line, "\t", &save), *path = strtok_r(NULL, "\t", &save);
  char *value = save ? save : "";
  if (!verb || !path)
    return EINVAL; /* a line cut short was noted, and its change never made */
  if (strcmp(verb, "self") == 0 && !owner)
    return 0;
  if (strcmp(verb, "write") == 0 || strcmp(verb, "self") == 0) {
    int error = write_file(path, value);
    return error == ENOENT || error == ESRCH ? 0 : error;
  }
  if (strcmp(verb, "rmdir") == 0)
    return remove_directory(path);
  if (strcmp(verb, "empty") == 0)
    return empty_file(path, value);
  if (strcmp(verb, "bind") == 0)
    return bind_again(path, value);
  return EINVAL;
}

static void note_failure(struct orr_undo_failures *failures, int error, const char *line) {
  if (failures->count++ > 0)
    return;
  failures->error = error;
  snprintf(failures->first, sizeof failures->first, "%s", line);
  for (char *c = failures->first; *c; c++)
    if (*c == '\t')
      *c = ' ';
}

static void undo_file(int fd, bool owner, struct orr_undo_failures *failures) {
  char copy[ORR_JOURNAL_LINE_MAX];
  off_t size = lseek(fd, 0, SEEK_END);
  char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
  if (!text) {
    if (size > 0)
      note_failure(failures, ENOMEM, "reading the journal");
    return;
  }
  ssize_t got = pread(fd, text, (size_t)size, 0);
  size_t end = got > 0 ? (size_t)got : 0;
  text[end] = '\0';
  while (end > 0) {
    size_t begin = end - 1; /* the newline of the last line left, or the last character of a line cut short */
    bool whole = text[begin] == '\n';
    if (whole)
      text[begin] = '\0';
    while (begin > 0 && text[begin - 1] != '\n')
      begin--;
    snprintf(copy, sizeof copy, "%s", text + begin);
    int error = whole ? take_back(text + begin, owner) : 0;
    if (error)
      note_failure(failures, error, copy);
    end = begin;
    text[end] = '\0';
  }
  free(text);
}

struct orr_undo_failures orr_journal_undo(struct orr_journal *journal) {
  struct orr_undo_failures failures = {0};
  if (journal->fd < 0)
    return failures;
  undo_file(journal->fd, true, &failures);
  unlink(journal->path);
  close(journal->fd);
  journal->fd = -1;
  return failures;
}

unsigned orr_journal_repair(const char *dir, struct orr_undo_failures *failures) {
  unsigned repaired = 0;
  char path[ORR_JOURNAL_PATH_MAX];
  *failures = (struct orr_undo_failures){0};
  DIR *d = opendir(dir);
  if (!d)
    return 0;
  for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
    size_t length = strlen(entry->d_name);
    if (length <= strlen(SUFFIX) || strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) != 0)
      continue;
    int fd = openat(dirfd(d), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
      continue;
    int n = snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
    if (n > 0 && (size_t)n < sizeof path && lock_file(fd, path) == 0) {
      undo_file(fd, false, failures);
      repaired +=
          lseek(fd, 0, SEEK_END) > 0; /* an empty one may be a start's that has not locked it yet: it makes another */
      unlinkat(dirfd(d), entry->d_name, 0);
    }
    close(fd);
  }
  closedir(d);
  return repaired;
}
