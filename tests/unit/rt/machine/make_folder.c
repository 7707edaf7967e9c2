/* A folder that was made can be used by its user, whatever the umask; what was there stays as it was. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rt/machine/make_folder.h"

static char top[] = "/tmp/orrery.make_folder.XXXXXX";
static char path[64];

static int set_up(void **state) {
  (void)state;
  if (!mkdtemp(top))
    return -1;
  snprintf(path, sizeof path, "%s/made", top);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  return rmdir(top);
}

static int make_under(mode_t mask, mode_t mode) {
  mode_t before = umask(mask);
  int made = orr_make_folder(path, mode), error = errno;
  umask(before);
  errno = error;
  return made;
}

static void a_umask_takes_nothing_from_the_user(void **state) {
  static const struct {
    mode_t mask, mode, left;
  } cases[] = {{022, 0777, 0755},  {022, 0700, 0700},  {0177, 0777, 0700}, {0177, 0700, 0700},
               {0777, 0777, 0700}, {0777, 0700, 0700}, {0127, 0777, 0750}};
  struct stat there;
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(make_under(cases[i].mask, cases[i].mode), 0);
    assert_int_equal(stat(path, &there), 0);
    assert_int_equal(there.st_mode & 07777, cases[i].left);
    assert_int_equal(rmdir(path), 0);
  }
}

static void what_was_there_stays(void **state) {
  struct stat there;
  (void)state;
  assert_int_equal(mkdir(path, 0500), 0);
  assert_int_equal(make_under(022, 0777), -1);
  assert_int_equal(errno, EEXIST);
  assert_int_equal(stat(path, &there), 0);
  assert_int_equal(there.st_mode & 07777, 0500);
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(symlink(top, path), 0);
  assert_int_equal(make_under(022, 0777), -1);
  assert_int_equal(errno, EEXIST);
  assert_int_equal(unlink(path), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_umask_takes_nothing_from_the_user),
                                     cmocka_unit_test(what_was_there_stays)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
