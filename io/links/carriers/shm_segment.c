/* How the executive's end of a link over shared memory gets its segment, and gives it back: names, files, mappings.
 * What stands in it is io/links/carriers/shm.c's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/links/carriers/guard.h"
#include "io/links/carriers/shm.h"
#include "io/links/terms/directory.h"
#include "rt/tick/clock.h"

/* The run that owns a segment holds the lock of flock on it alone, from before it is laid out to its end; where nobody
 * does, its run died. Who clears away such a leftover holds the lock of flock in common, so that it does not pass for a
 * run that lives and no peer enters what is dead, and beside it the lock of fcntl alone. Only who holds both may unlink
 * the name, so two runs that find the same leftover do not both remove it, and a new one with it. */

/* Whether the file is still what the name stands for. */
static bool bears_name(int fd, const char *name) {
  struct stat here, there;
  int other = shm_open(name, O_RDWR | O_CLOEXEC, 0);
  bool same = other >= 0 && fstat(fd, &here) == 0 && fstat(other, &there) == 0 && here.st_dev == there.st_dev &&
              here.st_ino == there.st_ino;
  if (other >= 0)
    close(other);
  return same;
}

/* 0, or EEXIST where another holds it. */
static int lock(int fd, int how) { return flock(fd, how | LOCK_NB) == 0 ? 0 : errno == EWOULDBLOCK ? EEXIST : errno; }

static int lock_leftover(int fd) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int error = lock(fd, LOCK_SH);
  if (!error && fcntl(fd, F_OFD_SETLK, &whole) != 0)
    error = errno == EAGAIN || errno == EACCES ? EEXIST : errno;
  return error;
}

/* One try: a file of our own, locked, under that name, or −1 with errno: EAGAIN when something changed meanwhile,
 * EEXIST when it is locked, EPERM when it is another user's. */
static int create_once(const char *name) {
  int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0)
    fchmod(fd, 0600); /* whatever the umask: a segment that its own user may not open looks like another's */
  bool fresh = fd >= 0;
  if (!fresh && errno == EEXIST) {
    fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
      errno = errno == ENOENT ? EAGAIN : errno == EACCES ? EPERM : errno;
  }
  if (fd < 0)
    return -1;
  int error = fresh ? lock(fd, LOCK_EX) : lock_leftover(fd);
  if (!error && !bears_name(fd, name))
    error = EAGAIN;
  if (!error && fresh)
    return fd;
  if (!error) { /* the locks are ours until the name is gone */
    shm_unlink(name);
    error = EAGAIN;
  }
  close(fd);
  errno = error;
  return -1;
}

/* Others hold a lock for moments, too: a run that clears away a leftover, a peer that asks whether the run lives. */
static int create(const char *name) {
  enum { TRIES = 50, NAP_NS = 2000000 };
  for (int i = 0;; i++) {
    int fd = create_once(name);
    if (fd >= 0 || (errno != EAGAIN && errno != EEXIST) || i == TRIES)
      return fd;
    if (errno == EEXIST)
      orr_clock_sleep_until(orr_clock_now_ns() + NAP_NS);
  }
}

int orr_shm_make(struct orr_shm *shm, const char *name, const struct orr_layout *layout, int64_t step_ns, int divisor) {
  struct orr_wire_header head = orr_directory_header(layout, step_ns, divisor);
  *shm = (struct orr_shm){.base = {.kind = &orr_carrier_shm, .layout = layout}, .bytes = head.segment_bytes};
  shm->fd = create(name);
  if (shm->fd < 0)
    return errno;
  snprintf(shm->name, sizeof shm->name, "%s", name);
  int error = 0;
  for (int i = 0; !error && i < 100; i++)
    if ((error = posix_fallocate(shm->fd, 0, (off_t)shm->bytes)) != EINTR)
      break;
  void *memory = error ? MAP_FAILED : mmap(NULL, shm->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shm->fd, 0);
  if (!error && memory == MAP_FAILED)
    error = errno;
  if (!error) {
    shm->memory = memory;
    if (!orr_guard_add(memory, shm->bytes, &shm->dead))
      error = ENOSPC;
  }
  if (error) {
    orr_shm_close(shm);
    return error;
  }
  mlock(memory, shm->bytes); /* where it may not, the setup of the run says so for all memory */
  orr_shm_lay_out_shut(shm, &head);
  return 0;
}

int orr_shm_open(struct orr_shm *shm, const char *name, const struct orr_layout *layout, int64_t step_ns, int divisor) {
  int error = orr_shm_make(shm, name, layout, step_ns, divisor);
  if (!error)
    orr_shm_admit(shm);
  return error;
}

void orr_shm_close(struct orr_shm *shm) {
  if (!shm->name[0])
    return;
  if (shm->run)
    orr_shm_end(shm);
  if (bears_name(shm->fd, shm->name)) /* it may have been removed, and be another's now */
    shm_unlink(shm->name);
  if (shm->memory) {
    orr_guard_remove(shm->memory);
    munmap(shm->memory, shm->bytes);
  }
  close(shm->fd);
  *shm = (struct orr_shm){.fd = -1};
}
