/* A socket with a name is its user's alone, whatever the umask, and whatever somebody else puts in its place. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/links/packets/own_socket.h"

static char folder[] = "/tmp/orrery.own_socket.XXXXXX";
static char victim[64], aside[64];
static struct sockaddr_un at = {.sun_family = AF_UNIX};
static bool swaps; /* between the moment at which the name is there, and what is done next */

/* In place of the C library's: here somebody else comes in between. */
int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t size) {
  int failed = (int)syscall(SYS_bind, fd, address.__sockaddr__, size);
  if (swaps && !failed) {
    assert_return_code(rename(at.sun_path, aside), errno);
    assert_return_code(symlink(victim, at.sun_path), errno);
  }
  return failed;
}

static mode_t mode_of(const char *path) {
  struct stat there;
  assert_return_code(lstat(path, &there), errno);
  return there.st_mode & 0777;
}

static int own(void) {
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  assert_return_code(fd, errno);
  int error = orr_own_socket_bind(fd, &at);
  close(fd);
  return error;
}

static int set_up(void **state) {
  (void)state;
  if (!mkdtemp(folder))
    return -1;
  snprintf(at.sun_path, sizeof at.sun_path, "%s/s", folder);
  snprintf(victim, sizeof victim, "%s/victim", folder);
  snprintf(aside, sizeof aside, "%s/aside", folder);
  int fd = open(victim, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  return fd >= 0 && fchmod(fd, 0644) == 0 && close(fd) == 0 ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  unlink(at.sun_path);
  unlink(victim);
  unlink(aside);
  return rmdir(folder);
}

static void is_its_users_alone_under_any_umask(void **state) {
  static const mode_t masks[] = {0, 022, 077, 0177, 0277, 0777};
  (void)state;
  for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
    mode_t before = umask(masks[i]);
    int error = own();
    umask(before);
    assert_int_equal(error, 0);
    assert_int_equal(mode_of(at.sun_path), 0600);
    assert_int_equal(unlink(at.sun_path), 0);
  }
}

static void never_changes_what_has_taken_its_place(void **state) {
  (void)state;
  swaps = true;
  int error = own();
  swaps = false;
  assert_int_equal(mode_of(victim), 0644);
  assert_int_equal(error, EEXIST);
  assert_int_equal(mode_of(aside), 0600);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(is_its_users_alone_under_any_umask),
                                     cmocka_unit_test(never_changes_what_has_taken_its_place)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
