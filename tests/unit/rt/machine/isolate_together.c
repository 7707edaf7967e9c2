/* Several processes that clear a core each at the same time, on a machine made of plain files: what one ends must not
 * be taken from another, and the last leaves everything as it was. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/machine/cpulist.h"
#include "rt/machine/isolate.h"
#include "tests/support/machine.h"
#include "tests/support/prng.h"

enum { PATH = ORR_MACHINE_PATH, CORES = 6, IRQS = 12, SLOTS = 4 };

static struct orr_machine machine;
static char run[PATH];
static const char runtime_file[] = "proc/sys/kernel/sched_rt_runtime_us";

static int make_machine(void **state) {
  (void)state;
  int status = orr_machine_make(&machine);
  orr_machine_path(&machine, run, "run");
  return status;
}

static int remove_machine(void **state) {
  (void)state;
  return orr_machine_remove(&machine);
}

/* ---- processes that clear a core, and do as they are told -------------------------------------------------------- */

struct clearing {
  pid_t pid;
  int core, tell, told;
};

enum { UNDO = 'u', REFUSED = 200 };

static void obey(int core, int told, int tell) {
  struct orr_isolation isolation;
  const struct orr_isolate_options o = {
      .core = core, .root = machine.root, .state_dir = run, .irqs = true, .throttling = true};
  orr_isolate_apply(&isolation, &o);
  unsigned char word = isolation.journal_error ? 255
                       : isolation.taken_by    ? REFUSED
                                               : (unsigned char)isolation.irqs_refused;
  if (write(tell, &word, 1) != 1 || read(told, &word, 1) != 1)
    _exit(1);
  word = (unsigned char)orr_isolate_undo(&isolation).count;
  _exit(write(tell, &word, 1) == 1 ? 0 : 1);
}

static unsigned answer_of(const struct clearing *c) {
  unsigned char word = 0;
  assert_int_equal(read(c->told, &word, 1), 1);
  return word;
}

static struct clearing start(int core, unsigned expected) {
  int to[2], from[2];
  assert_int_equal(pipe(to), 0);
  assert_int_equal(pipe(from), 0);
  struct clearing c = {.pid = fork(), .core = core, .tell = to[1], .told = from[0]};
  if (c.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
    close(to[1]);
    close(from[0]);
    obey(core, to[0], from[1]);
  }
  close(to[0]);
  close(from[1]);
  assert_int_equal(answer_of(&c), expected);
  return c;
}

static void gone(struct clearing *c) {
  waitpid(c->pid, NULL, 0);
  close(c->tell);
  close(c->told);
  c->pid = 0;
}

static void end(struct clearing *c) {
  assert_int_equal(write(c->tell, &(char){UNDO}, 1), 1);
  assert_int_equal(answer_of(c), 0);
  gone(c);
}

static void repair(unsigned expected) {
  struct orr_undo_failures failures;
  assert_int_equal(orr_isolate_repair(machine.root, run, &failures), expected);
  assert_int_equal(failures.count, 0);
}

static void killed(struct clearing *c) {
  kill(c->pid, SIGKILL);
  gone(c);
}

/* ---- what is looked at ------------------------------------------------------------------------------------------- */

static const char *irq_name(int irq) {
  static char name[64];
  snprintf(name, sizeof name, "proc/irq/%d/smp_affinity_list", irq);
  return name;
}

static bool irq_may_come_to(int irq, int core) {
  cpu_set_t set;
  assert_true(orr_cpulist_parse(orr_machine_get(&machine, irq_name(irq)), &set));
  return CPU_ISSET((size_t)core, &set);
}

static void is_cleared(const struct clearing *c, int irqs) {
  assert_string_equal(orr_machine_get(&machine, runtime_file), "-1");
  for (int irq = 0; irq < irqs; irq++)
    assert_false(irq_may_come_to(irq, c->core));
}

/* ---- two --------------------------------------------------------------------------------------------------------- */

static const char *const three[] = {"0-3", "2", "1"};

static void furnish(void) {
  orr_machine_furnish(&machine);
  for (int irq = 0; irq < 3; irq++)
    orr_machine_put(&machine, irq_name(irq), three[irq]);
  for (int irq = 7; irq < 10; irq++)
    orr_machine_put(&machine, irq_name(irq), "0");
}

static void is_as_before(void) {
  assert_string_equal(orr_machine_get(&machine, runtime_file), "95");
  for (int irq = 0; irq < 3; irq++)
    assert_string_equal(orr_machine_get(&machine, irq_name(irq)), three[irq]);
}

static void whoever_of_two_ends_first_leaves_the_other_what_it_has(void **state) {
  (void)state;
  for (int order = 0; order < 4; order++) {
    furnish();
    struct clearing c[2] = {start(1, 0), start(2, 0)};
    int first = order & 1;
    is_cleared(&c[0], 3);
    is_cleared(&c[1], 3);
    if (order & 2) {
      killed(&c[first]);
      repair(1);
    } else {
      end(&c[first]);
    }
    is_cleared(&c[!first], 3);
    end(&c[!first]);
    is_as_before();
    repair(0);
  }
}

static void a_core_that_another_clears_is_refused(void **state) {
  (void)state;
  furnish();
  struct clearing first = start(2, 0);
  assert_int_equal(orr_isolate_taken(run, 2), first.pid);
  assert_int_equal(orr_isolate_taken(run, 1), 0);
  struct clearing second = start(2, REFUSED);
  is_cleared(&first, 3);
  end(&second); /* it has nothing to take back */
  is_cleared(&first, 3);
  end(&first);
  is_as_before();
  assert_int_equal(orr_isolate_taken(run, 2), 0);
}

static void a_dead_one_holds_no_core(void **state) {
  (void)state;
  furnish();
  struct clearing first = start(2, 0);
  killed(&first);
  assert_int_equal(orr_isolate_taken(run, 2), 0);
  repair(1);
  struct clearing second = start(2, 0);
  is_cleared(&second, 3);
  end(&second);
  is_as_before();
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

static void put_random_irqs(struct orr_prng *random, char before[IRQS][64]) {
  orr_machine_put(&machine, "proc/mounts", "");
  orr_machine_put(&machine, "sys/devices/system/cpu/online", "0-5");
  orr_machine_put(&machine, runtime_file, "95");
  for (int irq = 0; irq < IRQS; irq++) {
    cpu_set_t set;
    CPU_ZERO(&set);
    uint64_t bits = prng_next(random) % ((1 << CORES) - 1) + 1;
    for (size_t core = 0; core < CORES; core++)
      if (bits >> core & 1)
        CPU_SET(core, &set);
    assert_true(orr_cpulist_format(&set, before[irq], 64));
    orr_machine_put(&machine, irq_name(irq), before[irq]);
  }
}

static bool is_taken(const struct clearing *slots, int core) {
  for (int k = 0; k < SLOTS; k++)
    if (slots[k].pid && slots[k].core == core)
      return true;
  return false;
}

/* One of them comes, ends, or is killed; leftovers are repaired by who comes, or at some other time. */
static void something_happens(struct orr_prng *random, struct clearing *slots, unsigned *dead) {
  struct clearing *c = &slots[prng_next(random) % SLOTS];
  int core = (int)(prng_next(random) % CORES);
  bool harsh = prng_next(random) % 3 == 0, tidy = prng_next(random) % 2 == 0;
  if (!c->pid && !is_taken(slots, core)) {
    repair(*dead);
    *dead = 0;
    *c = start(core, 0);
  } else if (c->pid && harsh) {
    killed(c);
    *dead += 1;
  } else if (c->pid) {
    end(c);
  }
  if (tidy) {
    repair(*dead);
    *dead = 0;
  }
}

static void many_come_and_go_and_the_machine_is_as_before(void **state) {
  (void)state;
  enum { ROUNDS = 40, EVENTS = 30 };
  for (uint64_t round = 0; round < ROUNDS; round++) {
    struct orr_prng random = {round};
    struct clearing slots[SLOTS] = {0};
    char before[IRQS][64];
    unsigned dead = 0;
    put_random_irqs(&random, before);
    for (int event = 0; event < EVENTS; event++) {
      something_happens(&random, slots, &dead);
      for (int k = 0; k < SLOTS; k++)
        if (slots[k].pid)
          is_cleared(&slots[k], IRQS);
    }
    for (int k = 0; k < SLOTS; k++)
      if (slots[k].pid)
        end(&slots[k]);
    repair(dead);
    assert_string_equal(orr_machine_get(&machine, runtime_file), "95");
    for (int irq = 0; irq < IRQS; irq++)
      assert_string_equal(orr_machine_get(&machine, irq_name(irq)), before[irq]);
  }
}

/* ---- the controller: a file that takes commands ------------------------------------------------------------------ */

/* The second finds it on, and says so; a third that never needed it changes nothing. */
static void who_relies_on_a_switch_switches_it_back_in_the_place_of_the_first(void **state) {
  (void)state;
  char control[PATH];
  int go[2], told[2];
  char word;
  orr_machine_put(&machine, "control", "none");
  orr_machine_path(&machine, control, "control");
  struct orr_journal first;
  assert_int_equal(orr_journal_open(&first, run), 0);
  assert_int_equal(orr_journal_tell(&first, control, "+cpuset", control, "-cpuset"), 0);
  orr_journal_pass(&first);
  assert_int_equal(pipe(go), 0);
  assert_int_equal(pipe(told), 0);
  pid_t child = fork();
  if (child == 0) {
    struct orr_journal second;
    bool good = orr_journal_open(&second, run) == 0 && orr_journal_hold(&second, control) == 0;
    orr_journal_pass(&second);
    good = write(told[1], "y", 1) == 1 && read(go[0], &word, 1) == 1 && good;
    _exit(orr_journal_undo(&second).count == 0 && good ? 0 : 1);
  }
  assert_int_equal(read(told[0], &word, 1), 1);
  assert_int_equal(orr_journal_undo(&first).count, 0);
  assert_string_equal(orr_machine_get(&machine, "control"), "+cpuset");
  assert_int_equal(write(go[1], "g", 1), 1);
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  assert_string_equal(orr_machine_get(&machine, "control"), "-cpuset");
  struct orr_journal alone;
  orr_machine_put(&machine, "control", "+by somebody else");
  assert_int_equal(orr_journal_open(&alone, run), 0);
  assert_int_equal(orr_journal_hold(&alone, control), 0);
  assert_int_equal(orr_journal_undo(&alone).count, 0);
  assert_string_equal(orr_machine_get(&machine, "control"), "+by somebody else");
  for (int k = 0; k < 2; k++) {
    close(go[k]);
    close(told[k]);
  }
}

/* Counts down with each nap of undo, in place of the library's; the machine gives its core back at zero. */
static int naps;
int usleep(useconds_t us) {
  const struct timespec nap = {us / 1000000, us % 1000000 * 1000L};
  if (naps > 0 && --naps == 0)
    orr_machine_put(&machine, "effective", "0-3");
  return nanosleep(&nap, NULL);
}

/* The list is written while undo waits for it; and who waits for a core that does not come says so. */
static void undo_waits_until_a_core_is_back(void **state) {
  (void)state;
  char list[PATH];
  struct orr_journal journal;
  orr_machine_put(&machine, "effective", "0,2-3");
  orr_machine_path(&machine, list, "effective");
  assert_int_equal(orr_journal_open(&journal, run), 0);
  assert_int_equal(orr_journal_will_await(&journal, list, 1), 0);
  orr_journal_pass(&journal);
  naps = 10; /* then the machine does what is awaited */
  assert_int_equal(orr_journal_undo(&journal).count, 0);
  assert_int_equal(naps, 0);
  assert_string_equal(orr_machine_get(&machine, "effective"), "0-3");
  assert_int_equal(orr_journal_open(&journal, run), 0);
  assert_int_equal(orr_journal_will_await(&journal, list, 4), 0);
  const struct orr_undo_failures failures = orr_journal_undo(&journal);
  assert_int_equal(failures.count, 1);
  assert_int_equal(failures.error, ETIMEDOUT);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static struct orr_task on_cores(pid_t pid, int first, int last) {
  struct orr_task task = {0};
  assert_true(orr_task_read(pid, &task));
  CPU_ZERO(&task.cores);
  for (int core = first; core <= last; core++)
    CPU_SET((size_t)core, &task.cores);
  return task;
}

static bool is_on(pid_t pid, const cpu_set_t *cores) {
  cpu_set_t set;
  return sched_getaffinity(pid, sizeof set, &set) == 0 && CPU_EQUAL(&set, cores);
}

/* What a task was bound to before the first came is what it gets in the end, though the second saw less of it. */
static void a_task_comes_back_to_the_cores_it_had_before_the_first(void **state) {
  (void)state;
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
    skip();
  pid_t child = fork();
  if (child == 0)
    for (;;)
      pause();
  struct orr_task wish = on_cores(child, 0, 1), seen = on_cores(child, 0, 0), other = on_cores(child, 1, 1);
  struct orr_task *list = NULL;
  cpu_set_t taken;
  CPU_ZERO(&taken);
  CPU_SET(1, &taken);
  sched_setaffinity(child, sizeof seen.cores, &seen.cores); /* core 1 is another's */
  size_t count = orr_tasks_wish(&list, 0, &wish, 1, &taken);
  bool added = count == 1 && CPU_EQUAL(&list[0].cores, &wish.cores);
  if (count == 1)
    list[0] = seen;
  count = orr_tasks_wish(&list, count, &wish, 1, &taken);
  bool replaced = count == 1 && CPU_EQUAL(&list[0].cores, &wish.cores);
  sched_setaffinity(child, sizeof other.cores, &other.cores); /* by somebody else, since then */
  if (count == 1)
    list[0] = other;
  count = orr_tasks_wish(&list, count, &wish, 1, &taken);
  bool kept = count == 1 && CPU_EQUAL(&list[0].cores, &other.cores);
  wish.start_ticks++;
  bool stranger = orr_tasks_wish(&list, 0, &wish, 1, &taken) == 0;
  free(list);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  assert_true(added);
  assert_true(replaced);
  assert_true(kept);
  assert_true(stranger);
}

/* Its undo would put a task onto a core that another clears now. */
static void undo_binds_no_task_to_a_core_that_another_clears(void **state) {
  (void)state;
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
    skip();
  furnish();
  struct clearing other = start(0, 0);
  pid_t child = fork();
  if (child == 0)
    for (;;)
      pause();
  struct orr_task both = on_cores(child, 0, 1), zero = on_cores(child, 0, 0), one = on_cores(child, 1, 1);
  struct orr_journal journal;
  int wrong = orr_journal_open(&journal, run);
  wrong = wrong ? wrong : orr_journal_will_bind(&journal, &both);
  orr_journal_pass(&journal);
  sched_setaffinity(child, sizeof zero.cores, &zero.cores);
  unsigned failures = orr_journal_undo(&journal).count;
  bool off = is_on(child, &one.cores);
  wrong = wrong ? wrong : orr_journal_open(&journal, run);
  wrong = wrong ? wrong : orr_journal_will_bind(&journal, &zero);
  orr_journal_pass(&journal);
  failures += orr_journal_undo(&journal).count;
  bool stays = is_on(child, &one.cores); /* nothing is left of what it wants */
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  end(&other);
  assert_int_equal(wrong, 0);
  assert_int_equal(failures, 0);
  assert_true(off);
  assert_true(stays);
}

#define ON_A_MACHINE(test) cmocka_unit_test_setup_teardown(test, make_machine, remove_machine)

int main(void) {
  const struct CMUnitTest tests[] = {
      ON_A_MACHINE(whoever_of_two_ends_first_leaves_the_other_what_it_has),
      ON_A_MACHINE(a_core_that_another_clears_is_refused),
      ON_A_MACHINE(a_dead_one_holds_no_core),
      ON_A_MACHINE(many_come_and_go_and_the_machine_is_as_before),
      ON_A_MACHINE(who_relies_on_a_switch_switches_it_back_in_the_place_of_the_first),
      ON_A_MACHINE(undo_waits_until_a_core_is_back),
      ON_A_MACHINE(a_task_comes_back_to_the_cores_it_had_before_the_first),
      ON_A_MACHINE(undo_binds_no_task_to_a_core_that_another_clears),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
