# Sourced by scripts that let the disk stand still: makes $dir/stall.so. A run with --no-sandbox that is started with
# LD_PRELOAD=$dir/stall.so STALL=FILE writes nothing to its log while FILE is there. In its sandbox the thread of the
# log may look for no file.
cat >"$dir/stall.c" <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int is_log(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path);
  return n > 5 && memcmp(path + n - 5, ".mcap", 5) == 0;
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at) {
  const struct timespec moment = {.tv_nsec = 1000000};
  const char *file = getenv("STALL");
  while (file && is_log(fd) && access(file, F_OK) == 0)
    nanosleep(&moment, NULL);
  return syscall(SYS_pwrite64, fd, bytes, size, at);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) { return pwrite64(fd, bytes, size, at); }
C
cc -shared -fPIC -o "$dir/stall.so" "$dir/stall.c" || fail "stall.c"
