#include "tools/common/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 16 };

/* Whether a signal waits that is to end this process, which has it blocked. */
static bool is_to_end(void) {
  sigset_t waiting;
  return sigpending(&waiting) == 0 && (sigismember(&waiting, SIGINT) == 1 || sigismember(&waiting, SIGTERM) == 1 ||
                                       sigismember(&waiting, SIGHUP) == 1 || sigismember(&waiting, SIGQUIT) == 1);
}

/* Waits for who reads it, as open would, but not against a signal: a run has them blocked to its end. −1 with errno. */
static int open_fifo(const char *path) {
  static const struct timespec nap = {.tv_nsec = 10000000};
  int fd;
  while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO) {
    if (is_to_end() || nanosleep(&nap, NULL) != 0) {
      errno = EINTR;
      return -1;
    }
  }
  if (fd >= 0)
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

static bool open_in_place(struct orr_out_file *f, const char *path) {
  struct stat there;
  bool fifo = stat(path, &there) == 0 && S_ISFIFO(there.st_mode);
  int fd = fifo ? open_fifo(path) : -1;
  f->beside[0] = '\0';
  f->out = fd >= 0 ? fdopen(fd, "w") : fifo ? NULL : fopen(path, "we");
  if (fd >= 0 && !f->out)
    close(fd);
  return f->out != NULL;
}

/* A new file with a name that nobody has; −1 with errno. */
static int create_beside(struct orr_out_file *f) {
  int fd = -1, name = 0;
  errno = EEXIST;
  for (int i = 0; fd < 0 && errno == EEXIST && i < TRIES; i++) {
    name = snprintf(f->beside, sizeof f->beside, "%s.%ld.%d.new", f->path, (long)getpid(), i);
    errno = ENAMETOOLONG;
    if (name > 0 && (size_t)name < sizeof f->beside)
      fd = open(f->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  }
  return fd;
}

/* Mode and, where we may, owner of the file that it replaces. */
static void look_alike(int fd, const struct stat *old) {
  if (fchown(fd, old->st_uid, old->st_gid) != 0)
    errno = 0;
  fchmod(fd, old->st_mode & 07777);
}

/* What stands at a path, and where a file for it is written. */
struct target {
  struct stat there;
  bool old, in_place;
};

/* False with errno: nothing can be written. */
static bool look(struct orr_out_file *f, const char *path, struct target *t) {
  char *real = NULL;
  *f = (struct orr_out_file){0};
  t->old = stat(path, &t->there) == 0;
  bool link = !t->old && readlink(path, f->path, 1) > 0;
  t->in_place = link || (t->old && !S_ISREG(t->there.st_mode));
  if (t->in_place)
    return true;
  if (t->old && access(path, W_OK) != 0)
    return false;
  if (t->old)
    real = realpath(path, NULL);
  t->in_place = t->old && !real; /* deleted, and open behind a link of /proc: what is at `path` is that link */
  if (t->in_place)
    return true;
  int length = snprintf(f->path, sizeof f->path, "%s", real ? real : path);
  free(real);
  if (length >= 0 && (size_t)length < sizeof f->path)
    return true;
  errno = ENAMETOOLONG;
  return false;
}

/* No new file can be made beside it, for a reason that says nothing of the file itself. */
static bool is_none_beside(void) { return errno == EACCES || errno == EPERM || errno == ENAMETOOLONG; }

bool orr_out_file_open(struct orr_out_file *f, const char *path) {
  struct target t;
  if (!look(f, path, &t))
    return false;
  if (t.in_place)
    return open_in_place(f, path);
  int fd = create_beside(f);
  if (fd < 0)
    return is_none_beside() && open_in_place(f, path);
  if (t.old)
    look_alike(fd, &t.there);
  f->out = fdopen(fd, "w");
  if (!f->out)
    close(fd);
  return f->out != NULL;
}

/* Whether a file can be made where none is. It is gone again, unless another has written to it meanwhile; a link that
 * leads to it stays. */
static bool may_make(const char *path, int more) {
  struct stat now;
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | more, 0666);
  if (fd < 0)
    return false;
  char *made = realpath(path, NULL);
  if (made && fstat(fd, &now) == 0 && now.st_size == 0)
    unlink(made);
  free(made);
  close(fd);
  return true;
}

bool orr_out_file_may(const char *path) {
  struct orr_out_file f;
  struct target t;
  if (!look(&f, path, &t))
    return false;
  if (t.in_place && !t.old)
    return may_make(path, 0);
  if (t.in_place && S_ISDIR(t.there.st_mode))
    errno = EISDIR;
  if (t.in_place)
    return !S_ISDIR(t.there.st_mode) && access(path, W_OK) == 0;
  int fd = create_beside(&f);
  if (fd < 0 && errno == ENAMETOOLONG && !t.old)
    return may_make(path, O_EXCL);
  if (fd < 0)
    return is_none_beside() && t.old; /* which may be written: looked at above */
  close(fd);
  unlink(f.beside);
  return true;
}

bool orr_out_file_close(struct orr_out_file *f, bool keep) {
  if (!f->out)
    return false;
  int error = fflush(f->out) != 0 ? errno : ferror(f->out) ? EIO : 0;
  /* some file systems find only now that they are full */
  if (!error && f->beside[0] && keep && fsync(fileno(f->out)) != 0)
    error = errno;
  if (fclose(f->out) != 0 && !error)
    error = errno;
  if (f->beside[0] && (error || !keep))
    unlink(f->beside);
  else if (f->beside[0] && rename(f->beside, f->path) != 0) {
    error = errno;
    unlink(f->beside);
  }
  *f = (struct orr_out_file){0};
  errno = error;
  return error == 0;
}
