/* An exclusive cpuset on the real machine, moving nothing but tasks this test started. Skipped where there is no cgroup
 * v1 cpuset hierarchy that may be written. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/machine/isolate.h"

static char state_dir[64];

static int make_state_dir(void **state) {
  (void)state;
  snprintf(state_dir, sizeof state_dir, "/tmp/orrery-state-XXXXXX");
  return mkdtemp(state_dir) ? 0 : -1;
}

static int remove_state_dir(void **state) {
  (void)state;
  return rmdir(state_dir); /* fails when a journal was left */
}

static pid_t start_idle(void) {
  pid_t child = fork();
  if (child == 0)
    for (;;)
      pause();
  return child;
}

static void end(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

static struct orr_isolate_options options(const pid_t *tasks, size_t count) {
  return (struct orr_isolate_options){.core = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1,
                                      .root = "",
                                      .state_dir = state_dir,
                                      .cpuset = true,
                                      .tasks = tasks,
                                      .task_count = count};
}

/* The cpuset of a task, as the kernel says. */
static void cpuset_of(pid_t task, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/cpuset", (long)task);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  assert_non_null(fgets(text, (int)size, f));
  fclose(f);
  text[strcspn(text, "\n")] = '\0';
}

static void apply_or_skip(struct orr_isolation *isolation, const struct orr_isolate_options *o) {
  orr_isolate_apply(isolation, o);
  int error = isolation->cpuset_error;
  if (isolation->method == ORR_ISOLATE_V1 && error == 0)
    return;
  orr_isolate_undo(isolation);
  if (isolation->method == ORR_ISOLATE_V1 && error != EACCES && error != EROFS && error != EPERM && error != EINVAL)
    fail_msg("%s: %s", isolation->cpuset_step, strerror(error));
  skip(); /* v2 and no cpuset at all have their own ways; EINVAL: another's exclusive cpuset, or one core only */
}

static void a_task_is_moved_off_the_core_and_back(void **state) {
  (void)state;
  char before[256], during[256], after[256];
  struct orr_isolation isolation;
  cpu_set_t set;
  pid_t child = start_idle();
  struct orr_isolate_options o = options(&child, 1);
  cpuset_of(child, before, sizeof before);
  apply_or_skip(&isolation, &o);
  cpuset_of(child, during, sizeof during);
  sched_getaffinity(child, sizeof set, &set);
  bool off = !CPU_ISSET((size_t)o.core, &set);
  unsigned moved = isolation.tasks_moved;
  unsigned failures = orr_isolate_undo(&isolation).count;
  cpuset_of(child, after, sizeof after);
  end(child);
  assert_int_equal(moved, 1);
  assert_true(off);
  assert_string_not_equal(during, before);
  assert_int_equal(failures, 0);
  assert_string_equal(after, before);
}

static void the_attached_thread_is_on_the_core_alone(void **state) {
  (void)state;
  struct orr_isolation isolation;
  struct orr_isolate_options o = options(NULL, 0);
  apply_or_skip(&isolation, &o);
  /* in a child, so that this process stays where it was */
  pid_t child = fork();
  if (child == 0) {
    cpu_set_t set;
    int error = orr_isolate_attach(&isolation);
    sched_getaffinity(0, sizeof set, &set);
    _exit(error == 0 && CPU_COUNT(&set) == 1 && CPU_ISSET((size_t)o.core, &set) ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  unsigned failures = orr_isolate_undo(&isolation).count;
  assert_int_equal(status, 0);
  assert_int_equal(failures, 0);
}

static void a_second_isolation_of_the_core_is_refused_and_harms_nothing(void **state) {
  (void)state;
  struct orr_isolation first, second;
  struct orr_isolate_options o = options(NULL, 0);
  apply_or_skip(&first, &o);
  pid_t child = fork();
  if (child == 0) {
    orr_isolate_apply(&second, &o);
    int error = second.cpuset_error;
    _exit(orr_isolate_undo(&second).count == 0 ? error : 255);
  }
  int status;
  waitpid(child, &status, 0);
  struct orr_isolation still = first;
  int attach = access(still.attach_path, F_OK);
  unsigned failures = orr_isolate_undo(&first).count;
  assert_int_equal(WEXITSTATUS(status), EEXIST);
  assert_int_equal(attach, 0);
  assert_int_equal(failures, 0);
}

/* cgroup v1 has room for one: the rest of the cores are the first's, too. What the second began is taken back at once,
 * not at its end, when the first may be over and nobody is to be bound as it was meanwhile. */
static void a_second_isolation_of_another_core_leaves_nothing_behind(void **state) {
  (void)state;
  struct orr_isolation first, second;
  struct orr_isolate_options o = options(NULL, 0);
  apply_or_skip(&first, &o);
  pid_t child = fork();
  if (child == 0) {
    o.core = 0;
    orr_isolate_apply(&second, &o);
    char dir[64], text[ORR_JOURNAL_LINE_MAX] = "";
    snprintf(dir, sizeof dir, "/sys/fs/cgroup/cpuset/orrery.core%d", o.core);
    bool good = second.cpuset_error && second.other == getppid() && !second.attach_path[0] && access(dir, F_OK) != 0;
    good = good && pread(second.journal.fd, text, sizeof text - 1, 0) > 0 && !strstr(text, "rmdir") &&
           !strstr(text, "bind");
    _exit(orr_isolate_undo(&second).count == 0 && good ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  int attach = access(first.attach_path, F_OK);
  unsigned failures = orr_isolate_undo(&first).count;
  assert_int_equal(status, 0);
  assert_int_equal(attach, 0);
  assert_int_equal(failures, 0);
}

static void what_kill_9_left_is_repaired_by_the_next_start(void **state) {
  (void)state;
  char before[256], after[256];
  struct orr_undo_failures failures;
  struct orr_isolation isolation;
  pid_t idle = start_idle();
  struct orr_isolate_options o = options(&idle, 1);
  cpuset_of(idle, before, sizeof before);
  pid_t child = fork();
  if (child == 0) {
    orr_isolate_apply(&isolation, &o);
    if (isolation.cpuset_error || isolation.method != ORR_ISOLATE_V1) {
      orr_isolate_undo(&isolation);
      _exit(77);
    }
    raise(SIGKILL);
  }
  int status;
  waitpid(child, &status, 0);
  unsigned repaired = orr_isolate_repair("", state_dir, &failures);
  cpuset_of(idle, after, sizeof after);
  end(idle);
  if (WIFEXITED(status))
    skip();
  assert_int_equal(repaired, 1);
  assert_int_equal(failures.count, 0);
  assert_string_equal(after, before);
}

#define WITH_STATE(test) cmocka_unit_test_setup_teardown(test, make_state_dir, remove_state_dir)

int main(void) {
  /* whoever clears a core in a test does so alone */
  int lock = open("/tmp/orrery.test.core", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0 || flock(lock, LOCK_EX) != 0)
    return 1;
  const struct CMUnitTest tests[] = {
      WITH_STATE(a_task_is_moved_off_the_core_and_back),
      WITH_STATE(the_attached_thread_is_on_the_core_alone),
      WITH_STATE(a_second_isolation_of_the_core_is_refused_and_harms_nothing),
      WITH_STATE(a_second_isolation_of_another_core_leaves_nothing_behind),
      WITH_STATE(what_kill_9_left_is_repaired_by_the_next_start),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  close(lock);
  return failed;
}
