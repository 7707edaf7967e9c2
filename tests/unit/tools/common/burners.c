/* Where burners run: on the core that was named, or not at all. */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/common/burners.h"

static void a_burner_may_run_on_its_core_and_on_no_other(void **state) {
  (void)state;
  cpu_set_t mine, its;
  assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
  for (int core = 0; core < CPU_SETSIZE; core++) {
    struct orr_burners burners = {.count = 0};
    if (!CPU_ISSET((size_t)core, &mine))
      continue;
    assert_true(orr_burners_add(&burners, core));
    assert_int_equal(burners.count, 1);
    assert_int_equal(sched_getaffinity(burners.pid[0], sizeof its, &its), 0);
    assert_int_equal(CPU_COUNT(&its), 1);
    assert_true(CPU_ISSET((size_t)core, &its));
    assert_int_equal(getpgid(burners.pid[0]), burners.pid[0]); /* Ctrl-C is no word to it */
    pid_t pid = burners.pid[0];
    orr_burners_end(&burners);
    assert_int_equal(burners.count, 0);
    assert_int_equal(kill(pid, 0), -1); /* and it is waited for */
  }
}

static void no_burner_is_left_where_the_core_is_not_there(void **state) {
  (void)state;
  struct orr_burners burners = {.count = 0};
  assert_false(orr_burners_add(&burners, CPU_SETSIZE - 1));
  assert_int_equal(burners.count, 0);
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child */
  orr_burners_end(&burners);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_burner_may_run_on_its_core_and_on_no_other),
      cmocka_unit_test(no_burner_is_left_where_the_core_is_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
