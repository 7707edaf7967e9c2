#include "rt/machine/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/machine/cpulist.h"
#include "rt/machine/journal_file.h"
#include "rt/machine/make_folder.h"
#include "rt/tick/clock.h"

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

/* A journal of this name with this process's lock on it, or −errno. */
static int make(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  int error = fd < 0 ? errno : orr_journal_lock(fd, path);
  if (error && fd >= 0)
    close(fd);
  return error ? -error : fd;
}

int orr_journal_open(struct orr_journal *journal, const char *dir) {
  char began[32];
  journal->fd = journal->turn_fd = -1;
  journal->list = NULL;
  if (orr_make_folder(dir, 0700) != 0 && errno != EEXIST)
    return errno;
  int length = snprintf(journal->path, sizeof journal->path, "%s/%ld" ORR_JOURNAL_SUFFIX, dir, (long)getpid());
  if (length < 0 || (size_t)length >= sizeof journal->path)
    return ENAMETOOLONG;
  journal->turn_fd = orr_journal_take_turn(dir);
  int error = journal->turn_fd < 0 ? errno : 0;
  if (!error) {
    int fd = make(journal->path);
    journal->fd = fd < 0 ? -1 : fd;
    error = fd < 0 ? -fd : 0;
  }
  snprintf(began, sizeof began, "%lld", (long long)orr_clock_now_ns());
  if (!error && (error = note(journal, "began", began, "")) != 0) {
    unlink(journal->path);
    close(journal->fd);
    journal->fd = -1;
  }
  if (error)
    orr_journal_pass(journal);
  return error;
}

void orr_journal_pass(struct orr_journal *journal) {
  if (journal->turn_fd >= 0)
    close(journal->turn_fd);
  journal->turn_fd = -1;
}

int orr_journal_claim(struct orr_journal *journal, int core) {
  char text[32];
  snprintf(text, sizeof text, "%d", core);
  return note(journal, "core", text, "");
}

off_t orr_journal_mark(const struct orr_journal *journal) { return noted(journal); }

int orr_journal_hold(struct orr_journal *journal, const char *path) { return note(journal, "hold", path, ""); }

int orr_journal_set(struct orr_journal *journal, const char *path, const char *value) {
  char old[ORR_JOURNAL_LINE_MAX];
  if (strpbrk(value, "\t\n"))
    return EINVAL;
  int error = read_line(path, old, sizeof old);
  if (error)
    return error;
  if (strcmp(old, value) == 0)
    return orr_journal_hold(journal, path);
  off_t from = noted(journal);
  error = note(journal, "write", path, old);
  return error ? error : unless(journal, orr_journal_write(path, value), from);
}

static int tell(struct orr_journal *journal, const char *verb, const char *path, const char *value,
                const char *undo_path, const char *undo_value) {
  off_t from = noted(journal);
  int error = note(journal, verb, undo_path, undo_value);
  return error ? error : unless(journal, orr_journal_write(path, value), from);
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

int orr_journal_will_await(struct orr_journal *journal, const char *path, int core) {
  char text[32];
  snprintf(text, sizeof text, "%d", core);
  return note(journal, "await", path, text);
}

int orr_journal_will_bind(struct orr_journal *journal, const struct orr_task *task) {
  char id[32], value[ORR_JOURNAL_LINE_MAX / 2];
  snprintf(id, sizeof id, "%ld", (long)task->id);
  int length = snprintf(value, sizeof value, "%llu ", task->start_ticks);
  if (!orr_cpulist_format(&task->cores, value + length, sizeof value - (size_t)length))
    return ENAMETOOLONG;
  return note(journal, "bind", id, value);
}

bool orr_journal_read_bind(const char *value, struct orr_task *task) {
  char *cores;
  task->start_ticks = strtoull(value, &cores, 10);
  return orr_cpulist_parse(cores, &task->cores);
}
