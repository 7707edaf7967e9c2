/* What the processor leaves behind when the kernel comes in between: interrupts and exceptions, and not system calls.
 * */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/tick/calm.h"
#include "rt/tick/clock.h"

enum { TRIES = 1000 };

static void a_few_instructions_and_system_calls_stay_calm(void **state) {
  (void)state;
  int kept = 0;
  if (!orr_calm_works())
    skip();
  for (int i = 0; i < TRIES; i++) {
    orr_calm_begin();
    syscall(SYS_getppid);
    kept += orr_calm_kept();
  }
  assert_true(kept > 0); /* on a busy machine fewer than all of them */
}

static void a_page_fault_is_never_missed(void **state) {
  (void)state;
  if (!orr_calm_works())
    skip();
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  volatile char *memory = mmap(NULL, TRIES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  madvise((char *)memory, TRIES * page, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < TRIES; i++) {
    orr_calm_begin();
    memory[i * page] = 1;
    assert_false(orr_calm_kept());
  }
  munmap((char *)memory, TRIES * page);
}

/* The timer of the kernel comes ten times in that time, and more. */
static void a_tenth_of_a_second_of_computing_is_interrupted(void **state) {
  (void)state;
  if (!orr_calm_works())
    skip();
  orr_calm_begin();
  for (int64_t end_ns = orr_clock_now_ns() + 100 * ORR_NS_PER_MS; orr_clock_now_ns() < end_ns;) {
    /* computes */
  }
  assert_false(orr_calm_kept());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_few_instructions_and_system_calls_stay_calm),
      cmocka_unit_test(a_page_fault_is_never_missed),
      cmocka_unit_test(a_tenth_of_a_second_of_computing_is_interrupted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
