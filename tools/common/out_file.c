#include "tools/common/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 16 };

static bool open_in_place(struct orr_out_file *f, const char *path) {
  f->beside[0] = '\0';
  f->out = fopen(path, "we");
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

bool orr_out_file_open(struct orr_out_file *f, const char *path) {
  struct stat there;
  char *real = NULL;
  *f = (struct orr_out_file){0};
  bool old = stat(path, &there) == 0, link = !old && readlink(path, f->path, 1) > 0;
  if (link || (old && !S_ISREG(there.st_mode)))
    return open_in_place(f, path);
  if (old && access(path, W_OK) != 0)
    return false;
  if (old)
    real = realpath(path, NULL);
  int length = snprintf(f->path, sizeof f->path, "%s", real ? real : path);
  free(real);
  if (length < 0 || (size_t)length >= sizeof f->path) {
    errno = ENAMETOOLONG;
    return false;
  }
  int fd = create_beside(f);
  if (fd < 0)
    return (errno == EACCES || errno == EPERM || errno == ENAMETOOLONG) && open_in_place(f, path);
  if (old)
    look_alike(fd, &there);
  f->out = fdopen(fd, "w");
  if (!f->out)
    close(fd);
  return f->out != NULL;
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
