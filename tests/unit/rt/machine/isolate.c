/* The undo journal, lists of cores, and isolation on a machine made of plain files. */
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

#include "rt/machine/cpulist.h"
#include "rt/machine/isolate.h"
#include "rt/machine/journal.h"
#include "tests/support/machine.h"

enum { PATH = ORR_MACHINE_PATH };

static struct orr_machine files;
static const char *const machine = files.root;

static void path_of(char path[PATH], const char *name) { orr_machine_path(&files, path, name); }
static void put(const char *name, const char *text) { orr_machine_put(&files, name, text); }
static const char *get(const char *name) { return orr_machine_get(&files, name); }

static int make_machine(void **state) {
  (void)state;
  return orr_machine_make(&files);
}

static int remove_machine(void **state) {
  (void)state;
  return orr_machine_remove(&files);
}

static void lists_of_cores_come_back_as_they_went(void **state) {
  (void)state;
  const char *const good[] = {"", "0", "0-3", "0-1,4,6-9", "1023"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    cpu_set_t set;
    char text[64];
    assert_true(orr_cpulist_parse(good[i], &set));
    assert_true(orr_cpulist_format(&set, text, sizeof text));
    assert_string_equal(text, good[i]);
  }
  cpu_set_t set;
  char tiny[4];
  assert_true(orr_cpulist_parse(" 2-3\n", &set));
  assert_int_equal(CPU_COUNT(&set), 2);
  assert_true(orr_cpulist_parse("100-200", &set));
  assert_false(orr_cpulist_format(&set, tiny, sizeof tiny));
  const char *const bad[] = {"x", "3-1", "1,", "1-", "-1", "1024", "99999999999999999999", "0-3 4", "0,,1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(orr_cpulist_parse(bad[i], &set));
    assert_int_equal(CPU_COUNT(&set), 0);
  }
}

static void undo_takes_back_in_reverse_order(void **state) {
  (void)state;
  struct orr_journal journal;
  char a[PATH], dir[PATH], run[PATH];
  put("a", "one");
  path_of(a, "a");
  path_of(dir, "made");
  path_of(run, "run");
  assert_int_equal(orr_journal_open(&journal, run), 0);
  assert_int_equal(orr_journal_set(&journal, a, "two"), 0);
  assert_int_equal(orr_journal_set(&journal, a, "six"), 0);
  assert_string_equal(get("a"), "six");
  assert_int_equal(orr_journal_mkdir(&journal, dir), 0);
  assert_int_equal(orr_journal_mkdir(&journal, dir), EEXIST);
  assert_int_equal(orr_journal_set(&journal, "/nonexistent/file", "1"), ENOENT);
  assert_int_equal(orr_journal_set(&journal, a, "t\tb"), EINVAL);
  assert_int_equal(orr_journal_undo(&journal).count, 0);
  assert_string_equal(get("a"), "one"); /* not "two": the first value is written last */
  assert_int_equal(access(dir, F_OK), -1);
  assert_int_equal(access(journal.path, F_OK), -1);
}

static pid_t start_on_core_0(void) {
  pid_t child = fork();
  if (child == 0)
    for (;;)
      pause();
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(0, &only);
  sched_setaffinity(child, sizeof only, &only);
  return child;
}

/* As a kernel that forgets what a task had asked for when its cpuset changes. */
static void forget(pid_t task) {
  cpu_set_t all;
  memset(&all, 0xff, sizeof all);
  sched_setaffinity(task, sizeof all, &all);
}

static bool is_on_core_0_alone(pid_t task) {
  cpu_set_t set;
  return sched_getaffinity(task, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1 && CPU_ISSET(0, &set);
}

static void a_task_is_bound_again_to_the_cores_of_its_choice(void **state) {
  (void)state;
  struct orr_journal journal;
  struct orr_task first = {0}, second = {0}, *bound = NULL;
  char run[PATH];
  pid_t a = start_on_core_0(), b = start_on_core_0();
  bool fit = sysconf(_SC_NPROCESSORS_ONLN) > 1 && is_on_core_0_alone(a) && is_on_core_0_alone(b);
  path_of(run, "run");
  bool listed = false;
  cpu_set_t none;
  CPU_ZERO(&none);
  for (size_t i = orr_tasks_bound(&none, &bound); i-- > 0;)
    listed = listed || bound[i].id == a;
  free(bound);
  bool read = orr_task_read(a, &first) && orr_task_read(b, &second);
  second.start_ticks++; /* another one had this id */
  int wrong = orr_journal_open(&journal, run);
  wrong = wrong ? wrong : orr_journal_will_bind(&journal, &first);
  wrong = wrong ? wrong : orr_journal_will_bind(&journal, &second);
  forget(a);
  forget(b);
  bool forgotten = !is_on_core_0_alone(a) && !is_on_core_0_alone(b);
  unsigned failures = orr_journal_undo(&journal).count;
  bool again = is_on_core_0_alone(a), let_be = !is_on_core_0_alone(b);
  kill(a, SIGKILL);
  kill(b, SIGKILL);
  waitpid(a, NULL, 0);
  waitpid(b, NULL, 0);
  if (!fit)
    skip(); /* one core, or not the first */
  assert_true(listed && read && forgotten);
  assert_int_equal(wrong, 0);
  assert_int_equal(failures, 0);
  assert_true(again);
  assert_true(let_be);
  assert_int_equal(orr_task_put_back(&first, NULL), 0); /* it has ended: nothing to do */
}

static void what_was_there_before_is_not_removed(void **state) {
  (void)state;
  struct orr_journal journal;
  char dir[PATH], run[PATH];
  path_of(dir, "mine");
  path_of(run, "run");
  mkdir(dir, 0755);
  assert_int_equal(orr_journal_open(&journal, run), 0);
  assert_int_equal(orr_journal_mkdir(&journal, dir), EEXIST);
  assert_int_equal(orr_journal_undo(&journal).count, 0);
  assert_int_equal(access(dir, F_OK), 0);
}

static void a_change_that_cannot_be_taken_back_is_counted(void **state) {
  (void)state;
  struct orr_journal journal;
  char dir[PATH], run[PATH];
  path_of(dir, "full");
  path_of(run, "run");
  assert_int_equal(orr_journal_open(&journal, run), 0);
  assert_int_equal(orr_journal_mkdir(&journal, dir), 0);
  put("full/file", "in the way");
  const struct orr_undo_failures failures = orr_journal_undo(&journal);
  char first[2 * PATH];
  snprintf(first, sizeof first, "rmdir %s ", dir);
  assert_int_equal(failures.count, 1);
  assert_int_equal(failures.error, ENOTEMPTY);
  assert_string_equal(failures.first, first); /* what somebody must do by hand has a name */
}

/* After kill -9 its id may be a stranger's: only the owner's own undo moves the process back. */
static void only_its_owner_moves_itself_back(void **state) {
  (void)state;
  struct orr_journal journal;
  struct orr_undo_failures failures;
  char a[PATH], b[PATH], run[PATH], line[3 * PATH];
  path_of(a, "a");
  path_of(b, "b");
  path_of(run, "run");
  put("a", "");
  put("b", "before");
  assert_int_equal(orr_journal_open(&journal, run), 0);
  assert_int_equal(orr_journal_tell_self(&journal, a, "7", b, "7"), 0);
  assert_int_equal(orr_journal_undo(&journal).count, 0);
  assert_string_equal(get("b"), "7");
  put("b", "before");
  snprintf(line, sizeof line, "self\t%s\t7\n", b);
  put("run/99999999.undo", line);
  assert_int_equal(orr_journal_repair(run, NULL, &failures), 1);
  assert_int_equal(failures.count, 0);
  assert_string_equal(get("b"), "before");
}

/* Two that start at the same moment: one of them repairs, and both get a journal of their own. */
static void a_leftover_is_repaired_once(void **state) {
  (void)state;
  enum { ROUNDS = 300, STARTS = 2 };
  char run[PATH], a[PATH], line[2 * PATH];
  path_of(run, "run");
  path_of(a, "a");
  snprintf(line, sizeof line, "write\t%s\told\n", a);
  put("a", "new");
  for (int round = 0; round < ROUNDS; round++) {
    int go[2], repaired = 0;
    pid_t child[STARTS];
    put("run/99999999.undo", line);
    assert_int_equal(pipe(go), 0);
    for (int k = 0; k < STARTS; k++)
      if ((child[k] = fork()) == 0) {
        struct orr_journal journal;
        struct orr_undo_failures failures;
        char word;
        close(go[1]);
        if (read(go[0], &word, 1) != 0)
          _exit(100);
        unsigned mine = orr_journal_repair(run, NULL, &failures);
        if (orr_journal_open(&journal, run) != 0 || access(journal.path, F_OK) != 0)
          _exit(100);
        _exit(orr_journal_undo(&journal).count ? 100 : (int)mine);
      }
    close(go[0]);
    close(go[1]);
    for (int k = 0; k < STARTS; k++) {
      int status;
      waitpid(child[k], &status, 0);
      assert_true(WIFEXITED(status));
      assert_true(WEXITSTATUS(status) <= 1);
      repaired += WEXITSTATUS(status);
    }
    assert_int_equal(repaired, 1);
  }
}

/* /dev/full takes no byte, as a file of the kernel's that refuses a value. */
static void a_change_that_was_refused_needs_no_undo(void **state) {
  (void)state;
  struct orr_journal journal;
  char run[PATH], a[PATH];
  path_of(run, "run");
  path_of(a, "a");
  put("a", "one");
  assert_int_equal(orr_journal_open(&journal, run), 0);
  assert_int_equal(orr_journal_tell(&journal, "/dev/full", "5", "/dev/full", "6"), ENOSPC);
  assert_int_not_equal(orr_journal_set(&journal, "/proc/version", "5"), 0);
  assert_int_equal(orr_journal_mkdir(&journal, "/proc/nothing"), ENOENT);
  assert_int_equal(orr_journal_set(&journal, a, "two"), 0);
  assert_int_equal(orr_journal_tell(&journal, "/dev/full", "5", "/dev/full", "6"), ENOSPC);
  assert_int_equal(orr_journal_undo(&journal).count, 0);
  assert_string_equal(get("a"), "one");
}

static struct orr_isolate_options core_2(char run[PATH]) {
  path_of(run, "run");
  return (struct orr_isolate_options){
      .core = 2, .root = machine, .state_dir = run, .cpuset = true, .irqs = true, .throttling = true};
}

static void interrupts_and_throttling_are_moved_off_and_given_back(void **state) {
  (void)state;
  char run[PATH];
  struct orr_isolation isolation;
  orr_machine_furnish(&files);
  struct orr_isolate_options o = core_2(run);
  assert_false(orr_isolate_apply(&isolation, &o));
  assert_int_equal(isolation.cpuset_error, ENOTSUP);
  assert_int_equal(isolation.method, ORR_ISOLATE_NONE);
  assert_int_equal(isolation.irqs_moved, 2);
  assert_string_equal(get("proc/irq/7/smp_affinity_list"), "0-1,3");
  /* it was bound to this core alone */
  assert_string_equal(get("proc/irq/8/smp_affinity_list"), "0-1,3");
  assert_string_equal(get("proc/irq/9/smp_affinity_list"), "0-1");
  assert_string_equal(get("proc/sys/kernel/sched_rt_runtime_us"), "-1");
  assert_int_equal(orr_isolate_attach(&isolation), 0);
  assert_int_equal(orr_isolate_undo(&isolation).count, 0);
  assert_string_equal(get("proc/irq/7/smp_affinity_list"), "0-3");
  assert_string_equal(get("proc/irq/8/smp_affinity_list"), "2");
  assert_string_equal(get("proc/sys/kernel/sched_rt_runtime_us"), "95");
}

static void what_a_killed_process_left_is_repaired_and_a_living_one_is_let_be(void **state) {
  (void)state;
  char run[PATH];
  int tell[2];
  struct orr_isolation own;
  struct orr_undo_failures failures = {.count = 1};
  orr_machine_furnish(&files);
  struct orr_isolate_options o = core_2(run);
  assert_int_equal(pipe(tell), 0);
  pid_t child = fork();
  if (child == 0) {
    struct orr_isolation isolation;
    o.irqs = o.cpuset = false;
    bool ok = orr_isolate_apply(&isolation, &o);
    if (write(tell[1], ok ? "y" : "n", 1) != 1)
      _exit(1);
    for (;;)
      pause();
  }
  char done = 0;
  assert_int_equal(read(tell[0], &done, 1), 1);
  assert_int_equal(done, 'y');
  assert_string_equal(get("proc/sys/kernel/sched_rt_runtime_us"), "-1");
  assert_int_equal(orr_isolate_repair(machine, run, &failures), 0); /* it lives */
  assert_string_equal(get("proc/sys/kernel/sched_rt_runtime_us"), "-1");
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  o.throttling = false;
  orr_isolate_apply(&own, &o); /* ours is not a leftover either */
  assert_int_equal(orr_isolate_repair(machine, run, &failures), 1);
  assert_int_equal(failures.count, 0);
  assert_string_equal(get("proc/sys/kernel/sched_rt_runtime_us"), "95");
  assert_string_equal(get("proc/irq/7/smp_affinity_list"), "0-1,3");
  orr_isolate_undo(&own);
  assert_int_equal(orr_isolate_repair(machine, run, &failures), 0);
  close(tell[0]);
  close(tell[1]);
}

static void a_line_cut_short_by_a_crash_does_no_harm(void **state) {
  (void)state;
  char run[PATH], line[3 * PATH], a[PATH], b[PATH];
  struct orr_undo_failures failures;
  path_of(run, "run");
  path_of(a, "a");
  path_of(b, "b");
  put("a", "new");
  put("b", "new");
  snprintf(line, sizeof line, "write\t%s\told\nwrite\t%s\tno", a, b);
  put("run/99999999.undo", line);
  assert_int_equal(orr_journal_repair(run, NULL, &failures), 1);
  assert_int_equal(failures.count, 0);
  assert_string_equal(get("a"), "old");
  assert_string_equal(get("b"), "new");
}

#define ON_A_MACHINE(test) cmocka_unit_test_setup_teardown(test, make_machine, remove_machine)

/* ---- journals that others own, or wrote -------------------------------------------------------------------------- */

/* A journal of a process that has died, with one line below the folder of the machine. */
static void put_journal(const char *name, const char *line) {
  char text[2 * PATH + 64];
  snprintf(text, sizeof text, "began\t1\t\n%s\n", line);
  put(name, text);
  char path[PATH];
  path_of(path, name);
  assert_int_equal(chmod(path, 0600), 0);
}

static void put_victim(char line[2 * PATH], char run[PATH]) {
  char irq[PATH];
  orr_machine_furnish(&files);
  path_of(run, "run");
  path_of(irq, "proc/irq/7/smp_affinity_list");
  put("proc/irq/7/smp_affinity_list", "0-3");
  mkdir(run, 0700);
  chmod(run, 0700);
  snprintf(line, 2 * PATH, "write\t%s\t1", irq);
}

static unsigned repair_run(struct orr_undo_failures *failures) {
  char run[PATH];
  path_of(run, "run");
  return orr_isolate_repair(machine, run, failures);
}

static const char *victim(void) { return get("proc/irq/7/smp_affinity_list"); }

static void a_journal_of_ours_is_undone(void **state) {
  (void)state;
  char line[2 * PATH], run[PATH];
  struct orr_undo_failures failures;
  put_victim(line, run);
  put_journal("run/99999999.undo", line);
  assert_int_equal(repair_run(&failures), 1);
  assert_int_equal(failures.count, 0);
  assert_string_equal(victim(), "1");
}

static void a_folder_that_others_may_write_is_left_alone(void **state) {
  (void)state;
  const mode_t modes[] = {0777, 0720, 0702, 01777};
  char line[2 * PATH], run[PATH];
  struct orr_undo_failures failures;
  struct orr_journal journal;
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    put_victim(line, run);
    put_journal("run/99999999.undo", line);
    assert_int_equal(chmod(run, modes[i]), 0);
    assert_int_equal(repair_run(&failures), 0);
    assert_int_equal(failures.count, 1);
    assert_string_equal(victim(), "0-3");
    assert_int_equal(orr_journal_open(&journal, run), EPERM);
  }
}

static void a_folder_behind_a_link_or_of_another_user_is_left_alone(void **state) {
  (void)state;
  char line[2 * PATH], run[PATH], link[PATH];
  struct orr_undo_failures failures;
  put_victim(line, run);
  put_journal("run/99999999.undo", line);
  path_of(link, "link");
  unlink(link);
  assert_int_equal(symlink(run, link), 0);
  assert_int_equal(orr_isolate_repair(machine, link, &failures), 0);
  assert_int_equal(failures.count, 1);
  assert_string_equal(victim(), "0-3");
  unlink(link);
  if (geteuid() != 0)
    return;
  assert_int_equal(chown(run, 65534, 65534), 0);
  assert_int_equal(repair_run(&failures), 0);
  assert_int_equal(failures.count, 1);
  assert_string_equal(victim(), "0-3");
  assert_int_equal(chown(run, 0, 0), 0);
}

static void a_journal_that_others_may_have_written_is_left_alone(void **state) {
  (void)state;
  char line[2 * PATH], run[PATH], journal[PATH], other[PATH];
  struct orr_undo_failures failures;
  put_victim(line, run);
  path_of(journal, "run/99999999.undo");
  path_of(other, "elsewhere");
  put_journal("run/99999999.undo", line);
  chmod(journal, 0620);
  assert_int_equal(repair_run(&failures), 0);
  assert_string_equal(victim(), "0-3");
  chmod(journal, 0600);
  assert_int_equal(link(journal, other), 0); /* it has another name, somewhere */
  assert_int_equal(repair_run(&failures), 0);
  assert_string_equal(victim(), "0-3");
  unlink(journal);
  assert_int_equal(symlink(other, journal), 0);
  assert_int_equal(repair_run(&failures), 0);
  assert_string_equal(victim(), "0-3");
  unlink(journal);
  unlink(other);
  if (geteuid() != 0)
    return;
  put_journal("run/99999999.undo", line);
  assert_int_equal(chown(journal, 65534, 65534), 0);
  assert_int_equal(repair_run(&failures), 0);
  assert_string_equal(victim(), "0-3");
  unlink(journal);
}

/* Whoever has written the journal: it does what this program does, and nothing else. Each %s is the machine's root. */
static void lines_that_are_not_in_the_list_do_nothing(void **state) {
  (void)state;
  static const char *const lines[] = {
      "write\t%s/victim\tbad",
      "write\t%s/proc/irq/7/../../../victim\tbad",
      "write\t%s/proc/irq/victim\tbad",
      "write\t%s/proc/irq/7/smp_affinity_list\tbad",
      "write\t%s/proc/sys/kernel/core_pattern\t|/tmp/x",
      "write\t%s/proc/sys/kernel/sched_rt_runtime_us\tbad",
      "write\t%s/cgroup/victim\tbad",
      "write\t%s/cgroup/cpuset.sched_load_balance\tbad",
      "self\t%s/victim\t1",
      "rmdir\t%s/victims\t",
      "rmdir\t%s/cgroup/orrery.core1x\t",
      "rmdir\t%s/cgroup/orrery.core1/../../victims\t",
      "empty\t%s/victim\t/dev/null",
      "empty\t%s/cgroup/orrery.core1/tasks\t/dev/null",
      "await\t%s/victim\t1",
      "exec\t%s/victim\t1",
      "base\t%s/victim\tbad",
  };
  char mount[PATH + 64], line[2 * PATH], run[PATH], victims[PATH];
  struct orr_undo_failures failures;
  put_victim(line, run);
  snprintf(mount, sizeof mount, "cgroup /cgroup cgroup rw,cpuset 0 0\n");
  put("proc/mounts", mount);
  put("cgroup/cpuset.sched_load_balance", "1");
  put("cgroup/victim", "good");
  put("cgroup/orrery.core1/tasks", "17");
  put("victim", "good");
  put("proc/sys/kernel/core_pattern", "good");
  path_of(victims, "victims");
  mkdir(victims, 0700);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    const char *at = strstr(lines[i], "%s");
    snprintf(line, sizeof line, "%.*s%s%s", (int)(at - lines[i]), lines[i], machine, at + 2);
    put_journal("run/99999999.undo", line);
    repair_run(&failures);
    if (failures.count != 1 || failures.error != EPERM)
      fail_msg("not refused: %s", line);
    assert_string_equal(get("victim"), "good");
    assert_string_equal(get("cgroup/victim"), "good");
    assert_string_equal(get("proc/sys/kernel/core_pattern"), "good");
    assert_string_equal(get("cgroup/cpuset.sched_load_balance"), "1");
    assert_string_equal(victim(), "0-3");
    assert_int_equal(access(victims, F_OK), 0);
  }
  rmdir(victims);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_of_cores_come_back_as_they_went),
      ON_A_MACHINE(undo_takes_back_in_reverse_order),
      ON_A_MACHINE(a_task_is_bound_again_to_the_cores_of_its_choice),
      ON_A_MACHINE(what_was_there_before_is_not_removed),
      ON_A_MACHINE(a_change_that_cannot_be_taken_back_is_counted),
      ON_A_MACHINE(only_its_owner_moves_itself_back),
      ON_A_MACHINE(a_leftover_is_repaired_once),
      ON_A_MACHINE(a_change_that_was_refused_needs_no_undo),
      ON_A_MACHINE(interrupts_and_throttling_are_moved_off_and_given_back),
      ON_A_MACHINE(what_a_killed_process_left_is_repaired_and_a_living_one_is_let_be),
      ON_A_MACHINE(a_line_cut_short_by_a_crash_does_no_harm),
      ON_A_MACHINE(a_journal_of_ours_is_undone),
      ON_A_MACHINE(a_folder_that_others_may_write_is_left_alone),
      ON_A_MACHINE(a_folder_behind_a_link_or_of_another_user_is_left_alone),
      ON_A_MACHINE(a_journal_that_others_may_have_written_is_left_alone),
      ON_A_MACHINE(lines_that_are_not_in_the_list_do_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
