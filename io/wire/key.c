#include "io/wire/key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/wire/wire.h"

enum { DIGITS = 2 * ORR_WIRE_KEY_BYTES };

void orr_wire_key_forget(void *memory, size_t bytes) { explicit_bzero(memory, bytes); }

static int say(char *why, size_t size, const char *path, const char *text, int error) {
  snprintf(why, size, "key file %s: %s", path, text);
  for (char *c = why; *c; c++) /* the path is of whoever wrote the run file, and terminals obey such bytes */
    *c = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c;
  return error;
}

/* Of the file that was opened, so that none is put in its place in between. */
static int judge(int fd, const char *path, char *why, size_t size) {
  struct stat status;
  char text[160];
  if (fstat(fd, &status) != 0)
    return say(why, size, path, strerror(errno), errno);
  if (!S_ISREG(status.st_mode))
    return say(why, size, path, "it is not a regular file", EINVAL);
  if (status.st_uid != geteuid()) {
    snprintf(text, sizeof text, "it belongs to user %u, and this is user %u: chown it, or make a copy of one's own",
             (unsigned)status.st_uid, (unsigned)geteuid());
    return say(why, size, path, text, EACCES);
  }
  if (status.st_mode & 077) {
    snprintf(text, sizeof text,
             "others may read or write it (mode %04o): chmod 600 it, and make a new key if they may have",
             (unsigned)(status.st_mode & 07777));
    return say(why, size, path, text, EACCES);
  }
  return 0;
}

static int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* Digits, then at most a line end. */
static bool parse(const char *text, size_t length, uint8_t *key) {
  length -= length > DIGITS && text[length - 1] == '\n';
  if (length != DIGITS)
    return false;
  for (size_t i = 0; i < ORR_WIRE_KEY_BYTES; i++) {
    int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    key[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

int orr_wire_key_read(const char *path, uint8_t *key, char *why, size_t size) {
  char text[DIGITS + 2];
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO is not waited for */
  if (fd < 0)
    return say(why, size, path, strerror(errno), errno);
  int error = judge(fd, path, why, size);
  if (error == 0) {
    ssize_t got = read(fd, text, sizeof text);
    if (got < 0)
      error = say(why, size, path, strerror(errno), errno);
    else if (!parse(text, (size_t)got, key))
      error = say(why, size, path,
                  "a key is 64 hexadecimal digits: (umask 077; od -An -tx1 -N32 /dev/urandom | tr -d ' \\n' > FILE)",
                  EINVAL);
    orr_wire_key_forget(text, sizeof text);
  }
  close(fd);
  return error;
}
