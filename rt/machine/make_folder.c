#include "rt/machine/make_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* By a descriptor, so that no link and nobody else's folder gets rights, whatever has the name by now. One that may not
 * be read can be opened as O_PATH alone, which fchmod refuses; the name that /proc has for it is as good. */
int orr_make_folder(const char *path, mode_t mode) {
  char held[40];
  struct stat made;
  if (mkdir(path, mode) != 0)
    return -1;
  int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return -1;
  snprintf(held, sizeof held, "/proc/self/fd/%d", fd);
  int failed = fstat(fd, &made);
  if (!failed && made.st_uid == geteuid() && (made.st_mode & 0700) != 0700)
    failed = chmod(held, (made.st_mode & 07777) | 0700);
  int error = errno;
  close(fd);
  errno = error;
  return failed;
}
