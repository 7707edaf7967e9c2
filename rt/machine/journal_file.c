#include "rt/machine/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int orr_journal_write(const char *path, const char *value) {
  int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return errno;
  size_t length = strlen(value);
  ssize_t written = write(fd, value, length);
  int error = written < 0 ? errno : (size_t)written == length ? 0 : EIO;
  if (close(fd) != 0 && !error)
    error = errno;
  return error;
}

int orr_journal_lock(int fd, const char *path) {
  struct stat named, opened;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0)
    return errno;
  return stat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_ino == opened.st_ino ? 0 : ESTALE;
}

int orr_journal_is_ours(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0)
    return errno;
  bool folder = S_ISDIR(status.st_mode), file = S_ISREG(status.st_mode) && status.st_nlink <= 1;
  return (folder || file) && status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : EPERM;
}

int orr_journal_take_turn(const char *dir) {
  enum { TRIES = 1000, PAUSE_US = 10000 };
  int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  int foreign = fd >= 0 ? orr_journal_is_ours(fd) : 0;
  if (foreign) {
    close(fd);
    errno = foreign;
    return -1;
  }
  if (fd < 0)
    return -1;
  for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
    if (errno != EINTR && (errno != EWOULDBLOCK || i == TRIES)) {
      int error = errno;
      close(fd);
      errno = error;
      return -1;
    }
    usleep(PAUSE_US);
  }
  return fd;
}

void orr_journal_dir(char *dir, size_t size, const char *path) {
  const char *slash = strrchr(path, '/');
  snprintf(dir, size, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

char *orr_journal_text(int fd) {
  off_t size = lseek(fd, 0, SEEK_END);
  char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
  if (!text)
    return NULL;
  ssize_t got = pread(fd, text, (size_t)size, 0);
  text[got > 0 ? got : 0] = '\0';
  return text;
}

/* The value, when the line at `at` is whole and has this verb and path. */
static const char *value_at(const char *at, const char *verb, const char *path) {
  size_t v = strlen(verb), p = strlen(path);
  bool match = strncmp(at, verb, v) == 0 && at[v] == '\t' && strncmp(at + v + 1, path, p) == 0 && at[v + 1 + p] == '\t';
  return match && strchr(at, '\n') ? at + v + p + 2 : NULL;
}

const char *orr_journal_first(const char *text, const char *before, const char *verb, const char *path) {
  const char *value = NULL;
  for (const char *at = text; at && *at && at < before && !value; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
    value = value_at(at, verb, path);
  return value;
}

const char *orr_journal_last(const char *text, const char *verb, const char *path) {
  const char *last = NULL;
  for (const char *at = text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
    const char *value = value_at(at, verb, path);
    last = value ? value : last;
  }
  return last;
}

int64_t orr_journal_began(const char *text) {
  return strncmp(text, "began\t", 6) == 0 ? strtoll(text + 6, NULL, 10) : 0;
}
