#include "io/links/carriers/owner.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PATH_ROOM = 300, LINE_ROOM = 512 };

/* /proc/locks: "1: FLOCK  ADVISORY  WRITE 4711 00:19:7 0 EOF", device in hexadecimal; who waits for a lock has "->" in
 * front of the kind. */
static pid_t owner_of_lock(const struct stat *file) {
  char line[LINE_ROOM];
  pid_t found = 0;
  FILE *f = fopen("/proc/locks", "re");
  while (f && !found && fgets(line, sizeof line, f)) {
    unsigned long inode;
    unsigned high, low;
    int pid;
    if (sscanf(line, "%*u: FLOCK %*s WRITE %d %x:%x:%lu", &pid, &high, &low, &inode) == 4 && pid > 0 &&
        inode == file->st_ino && high == major(file->st_dev) && low == minor(file->st_dev))
      found = pid;
  }
  if (f)
    fclose(f);
  return found;
}

pid_t orr_owner_of_segment(const char *name) {
  struct stat file;
  int fd = shm_open(name, O_RDONLY | O_CLOEXEC, 0);
  pid_t found = fd >= 0 && fstat(fd, &file) == 0 ? owner_of_lock(&file) : 0;
  if (fd >= 0)
    close(fd);
  return found;
}

/* /proc/net/udp: "7: 0100007F:1392 00000000:0000 07 TX:RX TR:WHEN RETRANSMITS UID TIMEOUT INODE …", the address as the
 * word lies in memory. The inode, and whose socket it is; 0: nobody's. */
static unsigned long inode_of_port(uint32_t ip, uint16_t port, uid_t *user) {
  char line[LINE_ROOM];
  unsigned long found = 0;
  FILE *f = fopen("/proc/net/udp", "re");
  while (f && !found && fgets(line, sizeof line, f)) {
    unsigned long inode;
    unsigned here, at;
    if (sscanf(line, "%*u: %x:%x %*x:%*x %*x %*x:%*x %*x:%*x %*x %u %*u %lu", &here, &at, user, &inode) != 4 ||
        at != port)
      continue;
    const unsigned char *bytes = (const unsigned char *)&here;
    uint32_t there = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    if (there == ip || there == 0 || ip == 0)
      found = inode;
  }
  if (f)
    fclose(f);
  return found;
}

/* Whether one of the descriptors of the process leads there. */
static bool has_open(const char *process, const char *what) {
  char path[PATH_ROOM], to[64];
  bool found = false;
  snprintf(path, sizeof path, "/proc/%.16s/fd", process);
  DIR *descriptors = opendir(path);
  if (!descriptors)
    return false; /* another user's, or it has ended */
  for (struct dirent *d; !found && (d = readdir(descriptors)) != NULL;) {
    ssize_t length = readlinkat(dirfd(descriptors), d->d_name, to, sizeof to - 1);
    to[length > 0 ? length : 0] = '\0';
    found = strcmp(to, what) == 0;
  }
  closedir(descriptors);
  return found;
}

bool orr_owner_of_port_is_gone(uint32_t ip, uint16_t port) {
  uid_t user = 0;
  return inode_of_port(ip, port, &user) && (geteuid() == 0 || geteuid() == user) && orr_owner_of_port(ip, port) == 0;
}

pid_t orr_owner_of_port(uint32_t ip, uint16_t port) {
  char what[40];
  uid_t user = 0;
  pid_t found = 0;
  unsigned long inode = inode_of_port(ip, port, &user);
  DIR *processes = inode ? opendir("/proc") : NULL;
  if (!processes)
    return 0;
  snprintf(what, sizeof what, "socket:[%lu]", inode);
  for (struct dirent *d; !found && (d = readdir(processes)) != NULL;)
    if (isdigit((unsigned char)d->d_name[0]) && has_open(d->d_name, what))
      found = (pid_t)strtol(d->d_name, NULL, 10);
  closedir(processes);
  return found;
}

void orr_owner_describe(pid_t process, char *text, size_t size) {
  char path[PATH_ROOM], command[120];
  if (process <= 0) {
    snprintf(text, size, "a process that this user may not see");
    return;
  }
  snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)process);
  FILE *f = fopen(path, "re");
  size_t length = f ? fread(command, 1, sizeof command - 1, f) : 0;
  if (f)
    fclose(f);
  while (length > 0 && command[length - 1] == '\0')
    length--;
  for (size_t i = 0; i < length; i++) /* words end with a zero byte; a terminal gets no control characters */
    if (!isprint((unsigned char)command[i]))
      command[i] = ' ';
  command[length] = '\0';
  snprintf(text, size, length ? "process %ld (%s)" : "process %ld", (long)process, command);
}
