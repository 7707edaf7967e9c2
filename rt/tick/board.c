#include "rt/tick/board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAMES_PER_PROCESS = 16, SWEEP_MAX = 64, LOOKS = 100 };

/* shm_open needs a leading slash; a name given by hand may have it or not. */
static void shared_path(char path[ORR_BOARD_NAME_MAX + 1], const char *name) {
  snprintf(path, ORR_BOARD_NAME_MAX + 1, "/%.*s", ORR_BOARD_NAME_MAX - 1, name[0] == '/' ? name + 1 : name);
}

static int open_shared(const char *name, int flags) {
  char path[ORR_BOARD_NAME_MAX + 1];
  shared_path(path, name);
  return shm_open(path, flags | O_CLOEXEC, 0600);
}

static void unlink_shared(const char *name) {
  char path[ORR_BOARD_NAME_MAX + 1];
  shared_path(path, name);
  shm_unlink(path);
}

static int make_file(struct orr_board *board) {
  int fd = -1;
  for (int i = 0; i < NAMES_PER_PROCESS && fd < 0; i++) {
    snprintf(board->name, sizeof board->name, i ? ORR_BOARD_PREFIX "%ld.%d" : ORR_BOARD_PREFIX "%ld", (long)getpid(),
             i);
    fd = open_shared(board->name, O_RDWR | O_CREAT | O_EXCL);
    if (fd < 0 && errno != EEXIST)
      return -1;
  }
  if (fd >= 0)
    fchmod(fd, 0600); /* whatever the umask: one that its own user may not open looks like another's */
  return fd;
}

/* Seen to fail with EINTR on a slow machine. */
static int reserve(int fd, off_t bytes) {
  enum { TRIES = 100 };
  int error = EINTR;
  for (int i = 0; i < TRIES && error == EINTR; i++)
    error = posix_fallocate(fd, 0, bytes);
  return error;
}

/* Whole zeroed pages that nothing else uses. */
static struct orr_stats *make_block(void) {
  struct orr_stats *block =
      mmap(NULL, sizeof *block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (block != MAP_FAILED)
    return block;
  return NULL;
}

int orr_board_create(struct orr_board *board) {
  *board = (struct orr_board){.writer = true, .stats = make_block(), .shown = make_block()};
  board->fd = -1;
  if (!board->stats || !board->shown) {
    orr_board_close(board);
    return ENOMEM;
  }
  board->fd = make_file(board);
  int error = board->fd < 0 ? errno : 0;
  /* the lock comes before the size: a sweep that finds an empty file cannot take it for a leftover of ours */
  if (!error && flock(board->fd, LOCK_SH | LOCK_NB) != 0)
    error = errno;
  if (!error)
    error = reserve(board->fd, (off_t)sizeof(struct orr_stats));
  if (error && board->fd >= 0) {
    unlink_shared(board->name);
    close(board->fd);
    board->fd = -1;
  }
  if (error)
    board->name[0] = '\0';
  return error;
}

/* What cannot be written is not there for readers, and no more. */
static bool write_at(int fd, const void *bytes, size_t size, off_t at) {
  for (size_t done = 0; done < size;) {
    ssize_t wrote = pwrite(fd, (const char *)bytes + done, size - done, at + (off_t)done);
    if (wrote <= 0)
      return false;
    done += (size_t)wrote;
  }
  return true;
}

void orr_board_show(struct orr_board *board) {
  const off_t place = offsetof(struct orr_stats, turn);
  struct orr_stats *shown = board->shown;
  if (board->fd < 0)
    return;
  uint64_t turn = shown->turn + 1;
  orr_stats_copy(board->stats, shown);
  shown->turn = turn;
  if (!write_at(board->fd, &turn, sizeof turn, place) || !write_at(board->fd, shown, sizeof *shown, 0))
    return;
  shown->turn = ++turn;
  write_at(board->fd, &turn, sizeof turn, place);
}

static bool read_at(int fd, void *bytes, size_t size, off_t at) {
  size_t done = 0;
  ssize_t got = 1;
  for (; done < size && got > 0; done += got > 0 ? (size_t)got : 0)
    got = pread(fd, (char *)bytes + done, size - done, at + (off_t)done);
  return done == size;
}

bool orr_board_look(struct orr_board *board) {
  const struct timespec while_it_is_written = {.tv_nsec = 1000000};
  const off_t place = offsetof(struct orr_stats, turn);
  struct stat status;
  if (fstat(board->fd, &status) != 0 || status.st_size != (off_t)sizeof *board->stats)
    return false;
  for (int i = 0; i < LOOKS; i++) {
    uint64_t before, after;
    if (!read_at(board->fd, &before, sizeof before, place) ||
        !read_at(board->fd, board->stats, sizeof *board->stats, 0) || !read_at(board->fd, &after, sizeof after, place))
      return false;
    if (before == after && !(before & 1))
      break; /* else it is as good as what a writer that died within left */
    nanosleep(&while_it_is_written, NULL);
  }
  return orr_stats_valid(board->stats, sizeof *board->stats);
}

int orr_board_open(struct orr_board *board, const char *name) {
  *board = (struct orr_board){.fd = -1};
  snprintf(board->name, sizeof board->name, "%s", name);
  board->fd = open_shared(board->name, O_RDONLY);
  if (board->fd < 0)
    return errno;
  board->stats = make_block();
  int error = !board->stats ? ENOMEM : orr_board_look(board) ? 0 : EPROTO;
  if (error)
    orr_board_close(board);
  return error;
}

void orr_board_close(struct orr_board *board) {
  if (board->stats)
    munmap(board->stats, sizeof *board->stats);
  if (board->shown)
    munmap(board->shown, sizeof *board->shown);
  if (board->writer && board->name[0])
    unlink_shared(board->name);
  if (board->fd >= 0)
    close(board->fd);
  *board = (struct orr_board){.fd = -1};
}

/* The writer's shared lock keeps an exclusive one away. */
static bool locked(int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK;
  flock(fd, LOCK_UN);
  return false;
}

bool orr_board_alive(const struct orr_board *board) { return locked(board->fd); }

size_t orr_board_list(char names[][ORR_BOARD_NAME_MAX], size_t max) {
  size_t count = 0;
  DIR *shm = opendir("/dev/shm");
  if (!shm)
    return 0;
  for (struct dirent *d; count < max && (d = readdir(shm)) != NULL;)
    if (strncmp(d->d_name, ORR_BOARD_PREFIX, strlen(ORR_BOARD_PREFIX)) == 0 && strlen(d->d_name) < ORR_BOARD_NAME_MAX)
      memcpy(names[count++], d->d_name, strlen(d->d_name) + 1);
  closedir(shm);
  return count;
}

size_t orr_board_sweep(void) {
  char names[SWEEP_MAX][ORR_BOARD_NAME_MAX];
  size_t removed = 0, count = orr_board_list(names, SWEEP_MAX);
  for (size_t i = 0; i < count; i++) {
    struct stat status;
    int fd = open_shared(names[i], O_RDONLY);
    if (fd < 0)
      continue;
    /* an empty one may be between its making and its lock */
    if (fstat(fd, &status) == 0 && status.st_size > 0 && !locked(fd)) {
      unlink_shared(names[i]);
      removed++;
    }
    close(fd);
  }
  return removed;
}
