/* Taking back what journals have noted: one's own, and those of processes that were killed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/machine/cpulist.h"
#include "rt/machine/journal.h"
#include "rt/machine/journal_file.h"
#include "rt/machine/others.h"

/* What a journal was when its undo began, and those beside it. */
struct undo {
  const char *text; /* all of it */
  const char *line; /* the one that is taken back, within it */
  const struct orr_others *others;
  const struct orr_undo_list *list;
  cpu_set_t free; /* cores that no other clears */
  bool owner;
};

/* A setting that several need is taken back by the last of them. What an ending journal would write is left to the next
 * one that has changed the same file after it, or relies on it as it is: as a line `base`, which stands in for what
 * that one found there itself. So whatever the order in which they end, each has what it set until its end, and the
 * last one writes what was there before the first. */
static int restore(const struct undo *u, const char *verb, const char *path, const char *found) {
  char value[ORR_JOURNAL_LINE_MAX];
  bool first =
      !orr_journal_first(u->text, u->line, "write", path) && !orr_journal_first(u->text, u->line, "hold", path);
  const char *base = first ? orr_journal_last(u->text, "base", path) : NULL;
  if (!base && strcmp(verb, "hold") == 0)
    return 0;
  snprintf(value, sizeof value, "%.*s", (int)strcspn(base ? base : found, "\n"), base ? base : found);
  if (u->list && !u->list->allows(u->list, "write", path, value))
    return EPERM;
  const struct orr_other *other = orr_others_after(u->others, orr_journal_began(u->text), path);
  if (other)
    return first ? orr_others_leave_to(other, path, value) : 0;
  int error = orr_journal_write(path, value);
  return error == ENOENT || error == ESRCH ? 0 : error;
}

/* To the cores that it had, but those that another clears: that one's undo binds it again. */
static int bind_again(const struct undo *u, const char *id, const char *value) {
  struct orr_task task = {.id = (pid_t)strtol(id, NULL, 10)};
  return orr_journal_read_bind(value, &task) ? orr_task_put_back(&task, &u->free) : EINVAL;
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
      int error = orr_journal_write(to, line);
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

/* A partition that was removed gives its core back in the kernel's own time, and what tasks were bound to before then
 * is lost. */
static int await_core(const char *path, int core) {
  enum { TRIES = 100, PAUSE_US = 10000 };
  bool there = false;
  for (int i = 0; i < TRIES && !there; i++) {
    char list[1024] = "";
    cpu_set_t set;
    FILE *f = fopen(path, "re");
    if (!f)
      return 0;
    there = fgets(list, sizeof list, f) && orr_cpulist_parse(list, &set) && core >= 0 && core < CPU_SETSIZE &&
            CPU_ISSET((size_t)core, &set);
    fclose(f);
    usleep(PAUSE_US); /* also then: the tasks come after the list */
  }
  return there ? 0 : ETIMEDOUT;
}

static int take_back(const struct undo *u, char *line) {
  char *save, *verb = strtok_r(line, "\t", &save), *path = strtok_r(NULL, "\t", &save);
  char *value = save ? save : "";
  if (!verb || !path)
    return EINVAL; /* a line cut short was noted, and its change never made */
  if (u->list && !u->list->allows(u->list, verb, path, value))
    return EPERM;
  if (strcmp(verb, "write") == 0 || strcmp(verb, "hold") == 0)
    return restore(u, verb, path, value);
  if (strcmp(verb, "self") == 0) {
    int error = u->owner ? orr_journal_write(path, value) : 0;
    return error == ENOENT || error == ESRCH ? 0 : error;
  }
  if (strcmp(verb, "rmdir") == 0)
    return remove_directory(path);
  if (strcmp(verb, "empty") == 0)
    return empty_file(path, value);
  if (strcmp(verb, "await") == 0)
    return await_core(path, (int)strtol(value, NULL, 10));
  if (strcmp(verb, "bind") == 0)
    return bind_again(u, path, value);
  return strcmp(verb, "began") == 0 || strcmp(verb, "core") == 0 || strcmp(verb, "base") == 0 ? 0 : EINVAL;
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

/* The lines from `from` on, last first. */
static void undo_lines(struct undo *u, char *text, size_t from, struct orr_undo_failures *failures) {
  char copy[ORR_JOURNAL_LINE_MAX];
  size_t end = strlen(text);
  while (end > from) {
    size_t begin = end - 1; /* the newline of the last line left, or the last character of a line cut short */
    bool whole = text[begin] == '\n';
    if (whole)
      text[begin] = '\0';
    while (begin > from && text[begin - 1] != '\n')
      begin--;
    snprintf(copy, sizeof copy, "%s", text + begin);
    u->line = u->text + begin;
    int error = whole ? take_back(u, text + begin) : 0;
    if (error)
      note_failure(failures, error, copy);
    end = begin;
    text[end] = '\0';
  }
}

static void undo_file(int fd, const char *path, const struct orr_undo_list *list, bool owner, off_t from,
                      struct orr_undo_failures *failures) {
  char *text = orr_journal_text(fd), *all = text ? strdup(text) : NULL;
  struct orr_others others = orr_others_read(path);
  struct undo u = {.text = all, .others = &others, .list = list, .owner = owner};
  cpu_set_t every;
  memset(&every, 0xff, sizeof every);
  orr_others_cores(&others, &u.free);
  CPU_XOR(&u.free, &every, &u.free);
  if (all)
    undo_lines(&u, text, (size_t)from, failures);
  else
    note_failure(failures, ENOMEM, "reading the journal");
  orr_others_free(&others);
  free(text);
  free(all);
}

/* Without a turn after all the time that one is waited for, changes are taken back all the same. */
static void take_turn(struct orr_journal *journal) {
  char dir[ORR_JOURNAL_PATH_MAX];
  orr_journal_dir(dir, sizeof dir, journal->path);
  if (journal->turn_fd < 0)
    journal->turn_fd = orr_journal_take_turn(dir);
}

struct orr_undo_failures orr_journal_undo(struct orr_journal *journal) {
  struct orr_undo_failures failures = {0};
  if (journal->fd < 0)
    return failures;
  take_turn(journal);
  undo_file(journal->fd, journal->path, journal->list, true, 0, &failures);
  unlink(journal->path);
  close(journal->fd);
  journal->fd = -1;
  orr_journal_pass(journal);
  return failures;
}

struct orr_undo_failures orr_journal_undo_from(struct orr_journal *journal, off_t mark) {
  struct orr_undo_failures failures = {0};
  undo_file(journal->fd, journal->path, journal->list, true, mark, &failures);
  if (!failures.count && ftruncate(journal->fd, mark) != 0)
    note_failure(&failures, errno, "shortening the journal");
  return failures;
}

static bool repair_one(const char *path, const struct orr_undo_list *list, struct orr_undo_failures *failures) {
  bool left = false;
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return false;
  if (orr_journal_is_ours(fd) == 0 && orr_journal_lock(fd, path) == 0) {
    undo_file(fd, path, list, false, 0, failures);
    left = lseek(fd, 0, SEEK_END) > 0; /* nothing is in it when its owner was killed before it changed anything */
    unlink(path);
  }
  close(fd);
  return left;
}

unsigned orr_journal_repair(const char *dir, const struct orr_undo_list *list, struct orr_undo_failures *failures) {
  unsigned repaired = 0;
  char path[ORR_JOURNAL_PATH_MAX];
  *failures = (struct orr_undo_failures){0};
  int turn = orr_journal_take_turn(dir); /* not there: no journals; not in time: another start is at it */
  if (turn < 0 && (errno == EPERM || errno == ELOOP || errno == ENOTDIR))
    note_failure(failures, EPERM, dir); /* others may write there: its contents cannot be trusted */
  if (turn < 0)
    return 0;
  snprintf(path, sizeof path, "%s/", dir);
  struct orr_others found = orr_others_read(path);
  for (size_t i = 0; i < found.count; i++)
    if (!found.journals[i].alive)
      repaired += repair_one(found.journals[i].path, list, failures);
  orr_others_free(&found);
  close(turn);
  return repaired;
}
