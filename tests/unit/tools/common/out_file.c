/* Where a command's file is written: beside its place, or in place where nothing else is right. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/common/out_file.h"

static char folder[] = "/tmp/orrery.out_file.XXXXXX";

static bool write_to(const char *path, const char *text) {
  struct orr_out_file f;
  if (!orr_out_file_open(&f, path))
    return false;
  fputs(text, f.out);
  return orr_out_file_close(&f, true);
}

static void text_of(const char *path, char text[32]) {
  FILE *in = fopen(path, "r");
  assert_non_null(in);
  text[fread(text, 1, 31, in)] = '\0';
  fclose(in);
}

/* As /dev/stdout is one, when the file behind standard output has been deleted. */
static void a_link_to_a_deleted_file_stays_a_link(void **state) {
  (void)state;
  char text[32] = "", number[64];
  struct stat there;
  int fd = open("deleted", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  assert_int_equal(unlink("deleted"), 0);
  snprintf(number, sizeof number, "/proc/self/fd/%d", fd);
  assert_int_equal(symlink(number, "link"), 0);
  assert_true(write_to("link", "words"));
  assert_int_equal(lstat("link", &there), 0);
  assert_true(S_ISLNK(there.st_mode));
  assert_int_equal(pread(fd, text, 31, 0), 5);
  assert_string_equal(text, "words");
  close(fd);
  unlink("link");
}

/* As a run has it, which blocks signals to its end: the alarm ends a test that waits for ever. */
static void a_fifo_waits_for_its_reader_and_not_against_a_signal(void **state) {
  (void)state;
  struct orr_out_file f;
  sigset_t ends, before;
  char text[32] = "";
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  assert_int_equal(mkfifo("fifo", 0600), 0);
  alarm(20);
  sigprocmask(SIG_BLOCK, &ends, &before);
  raise(SIGTERM);
  assert_false(orr_out_file_open(&f, "fifo"));
  assert_int_equal(errno, EINTR);
  int caught = 0;
  sigwait(&ends, &caught);
  sigprocmask(SIG_SETMASK, &before, NULL);
  pid_t writer = fork();
  if (writer == 0)
    _exit(write_to("fifo", "words") ? 0 : 1);
  int fd = open("fifo", O_RDONLY | O_CLOEXEC), status = -1; /* waits until the writer is there */
  assert_int_equal(read(fd, text, 31), 5);
  assert_string_equal(text, "words");
  close(fd);
  assert_int_equal(waitpid(writer, &status, 0), writer);
  assert_int_equal(status, 0);
  alarm(0);
  unlink("fifo");
}

static void what_a_link_points_to_is_replaced(void **state) {
  (void)state;
  char text[32];
  struct stat there;
  assert_true(write_to("file", "old"));
  assert_int_equal(symlink("file", "link"), 0);
  assert_true(write_to("link", "new"));
  assert_int_equal(lstat("link", &there), 0);
  assert_true(S_ISLNK(there.st_mode));
  text_of("file", text);
  assert_string_equal(text, "new");
  unlink("link");
  unlink("file");
}

static void a_look_changes_nothing(void **state) {
  (void)state;
  char text[32];
  assert_true(orr_out_file_may("file"));
  assert_int_equal(access("file", F_OK), -1);
  assert_true(write_to("file", "old"));
  assert_true(orr_out_file_may("file"));
  text_of("file", text);
  assert_string_equal(text, "old");
  assert_true(orr_out_file_may("/dev/null"));
  assert_false(orr_out_file_may("nowhere/file"));
  assert_false(orr_out_file_may("."));
  unlink("file");
}

/* What the link names is made by the file that is written, and not by a look. */
static void a_look_makes_nothing_behind_a_link_that_leads_nowhere(void **state) {
  (void)state;
  struct stat there;
  char text[32];
  assert_int_equal(mkdir("deep", 0700), 0);
  assert_int_equal(symlink("deep/next", "link"), 0);
  assert_int_equal(symlink("target", "deep/next"), 0);
  assert_true(orr_out_file_may("link"));
  assert_int_equal(access("deep/target", F_OK), -1);
  assert_int_equal(lstat("link", &there), 0);
  assert_true(S_ISLNK(there.st_mode));
  assert_int_equal(lstat("deep/next", &there), 0);
  assert_true(write_to("link", "words"));
  text_of("deep/target", text);
  assert_string_equal(text, "words");
  assert_true(orr_out_file_may("link"));
  text_of("deep/target", text);
  assert_string_equal(text, "words");
  unlink("link");
  assert_int_equal(symlink("nowhere/target", "link"), 0);
  assert_false(orr_out_file_may("link"));
  unlink("link");
  assert_int_equal(symlink("link", "link"), 0);
  assert_false(orr_out_file_may("link"));
  unlink("link");
  unlink("deep/target");
  unlink("deep/next");
  rmdir("deep");
}

/* There is no room for a longer name beside such a file: it is written in place. */
static void a_name_that_is_nearly_too_long_is_taken(void **state) {
  (void)state;
  char name[NAME_MAX + 2], text[32];
  memset(name, 'n', sizeof name);
  for (size_t length = NAME_MAX - 15; length <= NAME_MAX; length++) {
    name[length] = '\0';
    assert_true(orr_out_file_may(name));
    assert_int_equal(access(name, F_OK), -1);
    assert_true(write_to(name, "words"));
    assert_true(orr_out_file_may(name));
    text_of(name, text);
    assert_string_equal(text, "words");
    unlink(name);
    name[length] = 'n';
  }
  name[NAME_MAX + 1] = '\0';
  assert_false(orr_out_file_may(name));
}

static int begin(void **state) {
  (void)state;
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1; /* nothing is left in it */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_link_to_a_deleted_file_stays_a_link),
      cmocka_unit_test(a_fifo_waits_for_its_reader_and_not_against_a_signal),
      cmocka_unit_test(what_a_link_points_to_is_replaced),
      cmocka_unit_test(a_look_changes_nothing),
      cmocka_unit_test(a_look_makes_nothing_behind_a_link_that_leads_nowhere),
      cmocka_unit_test(a_name_that_is_nearly_too_long_is_taken),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
