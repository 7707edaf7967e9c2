/* The facts about a machine made of plain files, and what the doctor says of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/machine/environment.h"
#include "tools/common/doctor_checks.h"
#include "tools/common/timing_report.h"

enum { PATH = 400, CORE = 3 };

static char machine[64];

static void put(const char *name, const char *text) {
  char path[PATH];
  snprintf(path, sizeof path, "%s/%s", machine, name);
  for (char *slash = path + strlen(machine) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static int make_machine(void **state) {
  (void)state;
  snprintf(machine, sizeof machine, "/tmp/orrery-doctor-XXXXXX");
  return mkdtemp(machine) ? 0 : -1;
}

static int remove_machine(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", machine);
  return system(command);
}

/* A machine with everything a real-time run could wish for, on core 3. */
static void put_good_machine(void) {
  put("proc/sys/kernel/osrelease", "6.1.0-rt-amd64\n");
  put("proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian\n");
  put("sys/kernel/realtime", "1\n");
  put("proc/cmdline", "quiet rcu_nocbs=2-3 isolcpus=3\n");
  put("sys/devices/system/cpu/isolated", "2-3\n");
  put("sys/devices/system/cpu/nohz_full", "3\n");
  put("sys/devices/system/cpu/online", "0-3\n");
  put("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "3\n");
  put("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "performance\n");
  put("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  put("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
  put("sys/devices/system/cpu/cpu3/cpuidle/state0/latency", "2\n");
  put("sys/devices/system/cpu/cpu3/cpuidle/state1/latency", "900\n");
  put("sys/devices/system/cpu/cpu3/cpuidle/state1/disable", "1\n");
  put("dev/cpu_dma_latency", "");
  put("proc/irq/1/smp_affinity_list", "0-2\n");
  put("proc/irq/2/smp_affinity_list", "0\n");
  put("proc/mounts", "proc /proc proc rw 0 0\n");
  put("proc/sys/kernel/sched_rt_runtime_us", "950000\n");
  put("proc/sys/kernel/sched_rt_period_us", "1000000\n");
  put("proc/self/status", "Name:\torrery\nCapEff:\t000001ffffffffff\n");
  put("proc/cpuinfo", "processor\t: 0\nmodel name\t: A Fine Core\nflags\t\t: fpu constant_tsc nonstop_tsc avx2\n");
  put("proc/stat", "cpu  9 9 9 9 9 9 9 9 0 0\ncpu3 100 0 50 850 0 0 0 0 0 0\n");
  put("proc/swaps", "Filename Type Size Used Priority\n");
  put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
}

static const struct orr_check *find(const char *name, struct orr_environment *e) {
  static struct orr_check checks[ORR_CHECKS_MAX];
  orr_environment_read(e, CORE, machine);
  size_t count = orr_doctor_judge(e, checks);
  for (size_t i = 0; i < count; i++)
    if (strcmp(checks[i].name, name) == 0)
      return &checks[i];
  fail_msg("no line %s", name);
  return NULL;
}

static void a_good_machine_is_ok_in_every_line(void **state) {
  (void)state;
  struct orr_environment e;
  struct orr_check checks[ORR_CHECKS_MAX];
  put_good_machine();
  orr_environment_read(&e, CORE, machine);
  size_t count = orr_doctor_judge(&e, checks);
  assert_true(count >= 16);
  for (size_t i = 0; i < count; i++)
    if (checks[i].health != ORR_HEALTH_OK)
      fail_msg("%s: %s", checks[i].name, checks[i].finding);
  assert_string_equal(e.cpu, "A Fine Core");
  assert_string_equal(e.kernel, "6.1.0-rt-amd64");
  assert_int_equal(e.idle_exit_us, 2); /* the deep state is disabled */
  assert_int_equal(e.irqs, 0);
  assert_int_equal(e.turbo, 0);
  assert_int_equal(e.total_ticks, 1000);
}

/* Machines of aarch64 have no "model name". */
static void a_processor_without_a_name_is_told_by_its_numbers(void **state) {
  (void)state;
  static const struct {
    const char *info, *cpu;
  } cases[] = {
      {"processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
       "CPU part\t: 0xd0c\nCPU revision\t: 1\n\nprocessor\t: 1\nCPU implementer\t: 0x42\nCPU part\t: 0xd08\n",
       "ARM implementer 0x41, part 0xd0c"},
      {"processor\t: 0\nmodel name\t: ARMv7 Core\nCPU implementer\t: 0x41\nCPU part\t: 0xc07\n", "ARMv7 Core"},
      {"CPU implementer\t: 0x41\nmodel name\t: Behind\nCPU part\t: 0xc07\n", "Behind"},
      {"processor\t: 0\nCPU implementer\t: 0x41\n", ""},
      {"processor\t: 0\nCPU part\t: 0xd0c\n", ""},
      {"processor\t: 0\nisa\t: rv64imafdc\n", ""},
  };
  struct orr_environment e;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    put("proc/cpuinfo", cases[i].info);
    orr_environment_read(&e, CORE, machine);
    assert_string_equal(e.cpu, cases[i].cpu);
  }
}

static void each_thing_that_is_wrong_makes_its_own_line_worse(void **state) {
  (void)state;
  static const struct {
    const char *file, *text, *line;
    enum orr_health health;
  } wrongs[] = {
      {"sys/kernel/realtime", "0\n", "PREEMPT_RT", ORR_HEALTH_WARN},
      {"sys/devices/system/cpu/isolated", "2\n", "isolcpus", ORR_HEALTH_WARN},
      {"sys/devices/system/cpu/isolated", "2\n", "cpuset partition", ORR_HEALTH_WARN},
      {"sys/devices/system/cpu/nohz_full", "1-2\n", "nohz_full", ORR_HEALTH_WARN},
      {"proc/irq/2/smp_affinity_list", "0-3\n", "IRQ affinity", ORR_HEALTH_WARN},
      {"sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "1,3\n", "SMT sibling", ORR_HEALTH_WARN},
      {"sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave\n", "governor, turbo", ORR_HEALTH_WARN},
      {"proc/sys/kernel/sched_rt_runtime_us", "-1\n", "RT throttling", ORR_HEALTH_WARN},
      {"proc/sys/kernel/sched_rt_runtime_us", "500000\n", "RT throttling", ORR_HEALTH_WARN},
      {"proc/self/status", "CapEff:\t0000000000800000\n", "memory lock", ORR_HEALTH_BAD},
      {"proc/self/status", "CapEff:\t0000000000004000\n", "SCHED_FIFO", ORR_HEALTH_BAD},
      {"sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n", "clock source", ORR_HEALTH_BAD},
      {"proc/cpuinfo", "flags : fpu hypervisor avx2\n", "hypervisor, steal", ORR_HEALTH_WARN},
      {"proc/stat", "cpu3 100 0 50 830 0 0 0 20 0 0\n", "hypervisor, steal", ORR_HEALTH_BAD},
      {"sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n", "transparent huge pages",
       ORR_HEALTH_WARN},
      {"proc/swaps", "Filename Type Size Used Priority\n/dev/vda2 partition 2097148 0 -2\n", "swap", ORR_HEALTH_WARN},
      {"sys/devices/system/cpu/online", "0\n", "cores", ORR_HEALTH_BAD},
  };
  for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
    struct orr_environment e;
    put_good_machine();
    put(wrongs[i].file, wrongs[i].text);
    const struct orr_check *c = find(wrongs[i].line, &e);
    /* limits of this process may allow what capabilities do not */
    bool by_limit = (strcmp(c->name, "memory lock") == 0 && e.memlock_bytes < 0) ||
                    (strcmp(c->name, "SCHED_FIFO") == 0 && e.rtprio_limit > 0);
    if (c->health != wrongs[i].health && !by_limit)
      fail_msg("%s after %s: %s, %s", c->name, wrongs[i].file, orr_health_name(c->health), c->finding);
    if (c->health != ORR_HEALTH_OK) {
      assert_true(strlen(c->mend) > 0);
      assert_true(strlen(c->why) > 0);
    }
  }
}

static void a_guest_whose_kernel_comes_from_outside_is_told_so(void **state) {
  (void)state;
  struct orr_environment e;
  put_good_machine();
  put("sys/kernel/realtime", "0\n");
  assert_non_null(strstr(find("PREEMPT_RT", &e)->mend, "apt install"));
  put("proc/cpuinfo", "flags : fpu hypervisor avx2\n");
  assert_non_null(strstr(find("PREEMPT_RT", &e)->mend, "its host"));
  put("lib/modules/6.1.0-rt-amd64", "\n");
  assert_non_null(strstr(find("PREEMPT_RT", &e)->mend, "apt install"));
}

static void advice_stands_in_the_order_of_gain(void **state) {
  (void)state;
  struct orr_check checks[] = {{.name = "swap", .health = ORR_HEALTH_WARN, .mend = "a"},
                               {.name = "nohz_full", .health = ORR_HEALTH_WARN, .mend = "b"},
                               {.name = "PREEMPT_RT", .health = ORR_HEALTH_WARN, .mend = "c"},
                               {.name = "cores", .health = ORR_HEALTH_OK, .mend = ""},
                               {.name = "clock source", .health = ORR_HEALTH_BAD, .mend = "d"},
                               {.name = "isolcpus", .health = ORR_HEALTH_WARN, .mend = "e"}};
  const size_t wanted[] = {4, 2, 5, 1, 0};
  size_t order[ORR_CHECKS_MAX];
  assert_int_equal(orr_doctor_advice(checks, 6, order), 5);
  assert_memory_equal(order, wanted, sizeof wanted);
}

static void a_deep_sleep_state_is_told_when_it_cannot_be_held_off(void **state) {
  (void)state;
  struct orr_environment e;
  char path[PATH];
  put_good_machine();
  put("sys/devices/system/cpu/cpu3/cpuidle/state1/disable", "0\n");
  assert_int_equal(find("C-states", &e)->health, ORR_HEALTH_OK); /* held during a run */
  assert_int_equal(e.idle_exit_us, 900);
  snprintf(path, sizeof path, "%s/dev/cpu_dma_latency", machine);
  unlink(path);
  assert_int_equal(find("C-states", &e)->health, ORR_HEALTH_WARN);
}

static void a_cpuset_of_its_own_is_seen_in_either_hierarchy(void **state) {
  (void)state;
  struct orr_environment e;
  put_good_machine();
  put("sys/devices/system/cpu/isolated", "\n");
  put("proc/mounts", "cgroup /cg/cpuset cgroup rw,cpuset 0 0\n");
  put("cg/cpuset/mine/cpuset.cpus", "3\n");
  put("cg/cpuset/mine/cpuset.cpu_exclusive", "0\n");
  assert_int_equal(find("cpuset partition", &e)->health, ORR_HEALTH_WARN);
  assert_int_equal(e.cpuset, ORR_ISOLATE_V1);
  assert_true(find("cpuset partition", &e)->by_fix);
  put("cg/cpuset/mine/cpuset.cpu_exclusive", "1\n");
  assert_int_equal(find("cpuset partition", &e)->health, ORR_HEALTH_OK);
  put("cg/cpuset/mine/cpuset.cpus", "2-3\n"); /* shared with another */
  assert_int_equal(find("cpuset partition", &e)->health, ORR_HEALTH_WARN);
  put("proc/mounts", "cgroup2 /cg2 cgroup2 rw 0 0\n");
  put("cg2/cgroup.controllers", "cpu cpuset memory\n");
  put("cg2/mine/cpuset.cpus", "2-3\n");
  put("cg2/mine/cpuset.cpus.partition", "isolated\n");
  assert_int_equal(find("cpuset partition", &e)->health, ORR_HEALTH_OK);
  assert_int_equal(e.cpuset, ORR_ISOLATE_V2);
  put("cg2/mine/cpuset.cpus.partition", "isolated invalid (Cpu list in cpuset.cpus not exclusive)\n");
  assert_int_equal(find("cpuset partition", &e)->health, ORR_HEALTH_WARN);
}

/* An empty folder: nothing can be read, and that is no crash and no praise. */
static void a_machine_that_tells_nothing_is_not_praised_for_it(void **state) {
  (void)state;
  struct orr_environment e;
  struct orr_check checks[ORR_CHECKS_MAX];
  orr_environment_read(&e, CORE, machine);
  size_t count = orr_doctor_judge(&e, checks);
  size_t ok = 0;
  for (size_t i = 0; i < count; i++)
    ok += checks[i].health == ORR_HEALTH_OK;
  assert_true(ok <= count / 2);
  assert_int_equal(e.irqs, -1);
  assert_int_equal(e.rt_runtime_us, -2);
}

static void durations_are_short_and_have_their_unit(void **state) {
  (void)state;
  const struct {
    int64_t ns;
    const char *text;
  } cases[] = {{0, "0 ns"},
               {999, "999 ns"},
               {1000, "1.00 us"},
               {12345, "12.3 us"},
               {123456, "123 us"},
               {999600, "1.00 ms"},
               {-1550000, "-1.55 ms"},
               {INT64_C(2500000000), "2.50 s"},
               {INT64_C(100000000000), "100 s"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[ORR_DURATION_TEXT];
    assert_string_equal(orr_duration_text(cases[i].ns, text), cases[i].text);
  }
}

static void io_uring_is_tried_and_judged(void **state) {
  (void)state;
  struct orr_check check;
  orr_doctor_judge_uring(&check);
  assert_string_equal(check.name, "io_uring");
  assert_true(strlen(check.finding) > 0);
  assert_true(check.health == ORR_HEALTH_OK || strlen(check.mend) > 0);
}

#define ON_A_MACHINE(test) cmocka_unit_test_setup_teardown(test, make_machine, remove_machine)

int main(void) {
  const struct CMUnitTest tests[] = {
      ON_A_MACHINE(a_good_machine_is_ok_in_every_line),
      ON_A_MACHINE(a_processor_without_a_name_is_told_by_its_numbers),
      ON_A_MACHINE(each_thing_that_is_wrong_makes_its_own_line_worse),
      ON_A_MACHINE(a_guest_whose_kernel_comes_from_outside_is_told_so),
      cmocka_unit_test(advice_stands_in_the_order_of_gain),
      ON_A_MACHINE(a_deep_sleep_state_is_told_when_it_cannot_be_held_off),
      ON_A_MACHINE(a_cpuset_of_its_own_is_seen_in_either_hierarchy),
      ON_A_MACHINE(a_machine_that_tells_nothing_is_not_praised_for_it),
      cmocka_unit_test(durations_are_short_and_have_their_unit),
      cmocka_unit_test(io_uring_is_tried_and_judged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
