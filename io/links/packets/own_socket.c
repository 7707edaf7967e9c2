#include "io/links/packets/own_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A umask that takes rights from its own user took them from the name, too. */
static int give_rights(const char *path) {
  char held[40];
  struct stat there;
  int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return errno;
  snprintf(held, sizeof held, "/proc/self/fd/%d", fd);
  int error = fstat(fd, &there) == 0 ? 0 : errno;
  if (!error && (!S_ISSOCK(there.st_mode) || there.st_uid != geteuid()))
    error = EEXIST;
  if (!error && (there.st_mode & 0777) != 0600 && chmod(held, 0600) != 0)
    error = errno;
  close(fd);
  return error;
}

/* Linux gives the name the mode of the socket, less the umask. */
int orr_own_socket_bind(int fd, const struct sockaddr_un *at) {
  if (fchmod(fd, 0600) != 0 || bind(fd, (const struct sockaddr *)at, sizeof *at) != 0)
    return errno;
  return give_rights(at->sun_path);
}
