/* How the executive's end of a link over shared memory gets its segment, and gives it back: names, files, mappings. What stands in it
 * is io/links/shm.c's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/links/description.h"
#include "io/links/guard.h"
#include "io/links/shm.h"

/* The run that owns a segment holds a lock on it; where nobody does, its run died. */
static bool abandoned(const char *name) {
  int fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
  bool free = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0; /* in common with clients that ask the same */
  if (fd >= 0)
    close(fd);
  return free;
}

static int create(const char *name) {
  int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0 || errno != EEXIST)
    return fd;
  if (!abandoned(name)) {
    errno = EEXIST;
    return -1;
  }
  shm_unlink(name);
  return shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

int orr_shm_open(struct orr_shm *shm, const char *name, const struct orr_layout *layout, int64_t step_ns, int divisor,
                 uint64_t *payload) {
  struct orr_wire_header head = orr_description_header(layout, step_ns, divisor);
  *shm = (struct orr_shm){.layout = layout, .payload = payload, .bytes = head.segment_bytes};
  shm->fd = create(name);
  if (shm->fd < 0)
    return errno;
  snprintf(shm->name, sizeof shm->name, "%s", name);
  int error = flock(shm->fd, LOCK_EX | LOCK_NB) != 0 ? errno : 0;
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
  orr_shm_lay_out(shm, &head);
  return 0;
}

void orr_shm_close(struct orr_shm *shm) {
  if (!shm->name[0])
    return;
  if (shm->run)
    orr_shm_end(shm);
  shm_unlink(shm->name);
  if (shm->memory) {
    munmap(shm->memory, shm->bytes);
    orr_guard_remove(shm->memory);
  }
  close(shm->fd);
  *shm = (struct orr_shm){.fd = -1};
}
