#include "rt/machine/others.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "rt/machine/cpulist.h"
#include "rt/machine/journal_file.h"

static bool is_journal(const char *name) {
  size_t length = strlen(name), suffix = strlen(ORR_JOURNAL_SUFFIX);
  return length > suffix && strcmp(name + length - suffix, ORR_JOURNAL_SUFFIX) == 0;
}

static bool read_one(struct orr_other *other, const char *dir, const char *name) {
  int length = snprintf(other->path, sizeof other->path, "%s/%s", dir, name);
  if (length < 0 || (size_t)length >= sizeof other->path)
    return false;
  int fd = open(other->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return false;
  if (orr_journal_is_ours(fd) != 0) {
    close(fd);
    return false;
  }
  other->process = (pid_t)strtol(name, NULL, 10);
  other->alive = flock(fd, LOCK_SH | LOCK_NB) != 0;
  other->text = orr_journal_text(fd);
  other->began_ns = other->text ? orr_journal_began(other->text) : 0;
  close(fd);
  return other->text != NULL;
}

struct orr_others orr_others_read(const char *path) {
  struct orr_others others = {NULL, 0};
  char dir[ORR_JOURNAL_PATH_MAX];
  const char *slash = strrchr(path, '/'), *own = slash ? slash + 1 : path;
  orr_journal_dir(dir, sizeof dir, path);
  int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  DIR *d = folder >= 0 && orr_journal_is_ours(folder) == 0 ? fdopendir(folder) : NULL;
  if (!d && folder >= 0)
    close(folder);
  for (struct dirent *entry; d && (entry = readdir(d)) != NULL;) {
    if (!is_journal(entry->d_name) || strcmp(entry->d_name, own) == 0)
      continue;
    struct orr_other *journals = realloc(others.journals, (others.count + 1) * sizeof *journals);
    if (!journals)
      break;
    others.journals = journals;
    others.count += read_one(&journals[others.count], dir, entry->d_name);
  }
  if (d)
    closedir(d);
  return others;
}

void orr_others_free(struct orr_others *others) {
  for (size_t i = 0; i < others->count; i++)
    free(others->journals[i].text);
  free(others->journals);
  *others = (struct orr_others){NULL, 0};
}

/* The number after "verb TAB" in the next whole line of that verb, from *at on, which moves behind it; false: no
 * more. */
static bool next_number(const char **at, const char *verb, long *number, const char **value) {
  size_t length = strlen(verb);
  for (const char *line = *at, *end; line && (end = strchr(line, '\n')) != NULL; line = end + 1) {
    char *tab;
    if (strncmp(line, verb, length) != 0 || line[length] != '\t')
      continue;
    *number = strtol(line + length + 1, &tab, 10);
    *value = *tab == '\t' ? tab + 1 : tab;
    *at = end + 1;
    return true;
  }
  return false;
}

void orr_others_cores(const struct orr_others *others, cpu_set_t *cores) {
  CPU_ZERO(cores);
  for (size_t i = 0; i < others->count; i++) {
    const char *at = others->journals[i].text, *value;
    for (long core; others->journals[i].alive && next_number(&at, "core", &core, &value);)
      if (core >= 0 && core < CPU_SETSIZE)
        CPU_SET((size_t)core, cores);
  }
}

pid_t orr_others_clearing(const struct orr_others *others, int core) {
  for (size_t i = 0; i < others->count; i++) {
    const char *at = others->journals[i].text, *value;
    for (long its; others->journals[i].alive && next_number(&at, "core", &its, &value);)
      if (its == core)
        return others->journals[i].process;
  }
  return 0;
}

size_t orr_others_tasks(const struct orr_others *others, struct orr_task **tasks) {
  size_t count = 0;
  *tasks = NULL;
  for (size_t i = 0; i < others->count; i++) {
    const char *at = others->journals[i].text, *value;
    for (long id; others->journals[i].alive && next_number(&at, "bind", &id, &value);) {
      char line[ORR_JOURNAL_LINE_MAX];
      struct orr_task *more = realloc(*tasks, (count + 1) * sizeof *more);
      if (!more)
        return count;
      *tasks = more;
      snprintf(line, sizeof line, "%.*s", (int)strcspn(value, "\n"), value);
      more[count].id = (pid_t)id;
      count += orr_journal_read_bind(line, &more[count]);
    }
  }
  return count;
}

const struct orr_other *orr_others_after(const struct orr_others *others, int64_t began_ns, const char *path) {
  const struct orr_other *first = NULL;
  for (size_t i = 0; i < others->count; i++) {
    const struct orr_other *o = &others->journals[i];
    if (o->began_ns > began_ns && (!first || o->began_ns < first->began_ns) &&
        (orr_journal_last(o->text, "write", path) || orr_journal_last(o->text, "hold", path)))
      first = o;
  }
  return first;
}

int orr_others_leave_to(const struct orr_other *other, const char *path, const char *value) {
  char line[ORR_JOURNAL_LINE_MAX];
  int length = snprintf(line, sizeof line, "base\t%s\t%s\n", path, value);
  if (length < 0 || (size_t)length >= sizeof line)
    return ENAMETOOLONG;
  int fd = open(other->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  int error = fd < 0 ? errno : write(fd, line, (size_t)length) == length ? 0 : errno ? errno : EIO;
  if (fd >= 0)
    close(fd);
  return error;
}
