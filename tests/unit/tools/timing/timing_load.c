/* The load of a timing case: it is there while slices fly, or the run is told. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/timing/timing_load.h"

static struct orr_timing_case loaded(enum orr_timing_load kind, int core) {
  return (struct orr_timing_case){
      .path = "case.yaml", .load = kind, .core_count = 1, .core = {core}, .workers = 2, .stress = "--cpu 1"};
}

static int a_core(void) {
  cpu_set_t mine;
  int core = 0;
  assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
  while (!CPU_ISSET((size_t)core, &mine))
    core++;
  return core;
}

/* Half a minute for the load to be gone. */
static bool goes(const struct orr_timing_case *c, const struct orr_timing_loading *l) {
  const struct timespec nap = {0, 10000000};
  for (int i = 0; i < 3000 && orr_timing_load_lasts(c, l); i++)
    nanosleep(&nap, NULL);
  return !orr_timing_load_lasts(c, l);
}

static void a_core_that_is_not_online_is_refused(void **state) {
  (void)state;
  struct orr_timing_loading l;
  const struct orr_timing_case burner = loaded(ORR_TIMING_LOAD_BURNER, CPU_SETSIZE - 1);
  assert_false(orr_timing_load_start(&burner, &l));
  assert_int_equal(l.burners.count, 0);
}

static void a_burner_that_has_ended_is_noticed(void **state) {
  (void)state;
  struct orr_timing_loading l;
  const struct orr_timing_case c = loaded(ORR_TIMING_LOAD_BURNER, a_core());
  assert_true(orr_timing_load_start(&c, &l));
  assert_int_equal(l.burners.count, 2);
  assert_true(orr_timing_load_lasts(&c, &l));
  assert_int_equal(kill(l.burners.pid[1], SIGKILL), 0);
  assert_true(goes(&c, &l));
  orr_timing_load_end(&l);
  assert_int_equal(l.burners.count, 0);
}

/* A stress-ng of our own, which is told what to do in words that it does not know. */
static void a_stress_ng_that_ends_at_once_is_noticed(void **state) {
  (void)state;
  char folder[] = "/tmp/orrery.load.XXXXXX", program[64], path[4096];
  struct orr_timing_loading l;
  const struct orr_timing_case c = loaded(ORR_TIMING_LOAD_STRESS_NG, a_core());
  assert_non_null(mkdtemp(folder));
  snprintf(program, sizeof program, "%s/stress-ng", folder);
  FILE *script = fopen(program, "w");
  assert_non_null(script);
  fputs("#!/bin/sh\nexit 1\n", script);
  fclose(script);
  assert_int_equal(chmod(program, 0755), 0);
  snprintf(path, sizeof path, "%s:%.3000s", folder, getenv("PATH"));
  assert_int_equal(setenv("PATH", path, 1), 0);
  assert_true(orr_timing_load_start(&c, &l));
  assert_int_equal(l.count, 2);
  assert_true(goes(&c, &l));
  orr_timing_load_end(&l);
  unlink(program);
  rmdir(folder);
}

static void no_load_lasts(void **state) {
  (void)state;
  struct orr_timing_loading l;
  const struct orr_timing_case c = {.path = "case.yaml"};
  assert_true(orr_timing_load_start(&c, &l));
  assert_true(orr_timing_load_lasts(&c, &l));
  orr_timing_load_end(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_core_that_is_not_online_is_refused),
      cmocka_unit_test(a_burner_that_has_ended_is_noticed),
      cmocka_unit_test(a_stress_ng_that_ends_at_once_is_noticed),
      cmocka_unit_test(no_load_lasts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
