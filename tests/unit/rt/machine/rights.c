/* Rights given up: those of one thread and no other's, for good, and what is kept is what was asked for. */
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/machine/rights.h"

/* In the kernel's words, as others see them. */
static uint64_t seen(const char *key) {
  char path[64], line[200];
  uint64_t value = 0;
  size_t n = strlen(key);
  snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)gettid());
  FILE *f = fopen(path, "re");
  assert_non_null(f);
  while (fgets(line, sizeof line, f))
    if (strncmp(line, key, n) == 0 && line[n] == ':')
      value = strtoull(line + n + 1, NULL, 16);
  fclose(f);
  return value;
}

struct dropped {
  unsigned kept;
  int error, again, memory;
  uint64_t permitted, effective, inheritable, sealed;
};

static int take_all(void) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct all[_LINUX_CAPABILITY_U32S_3];
  memset(all, 0xff, sizeof all);
  return syscall(SYS_capset, &head, all) == 0 ? 0 : errno;
}

static void *drop(void *user) {
  struct dropped *d = user;
  d->error = orr_rights_drop(d->kept);
  d->permitted = seen("CapPrm");
  d->effective = seen("CapEff");
  d->inheritable = seen("CapInh");
  d->sealed = seen("NoNewPrivs");
  d->again = take_all();
  /* 16 MB, more than the limit that others have by default */
  void *memory = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  d->memory = syscall(SYS_mlock, memory, 16 << 20) == 0 ? 0 : errno; /* the sanitizer has a mlock that does nothing */
  munmap(memory, 16 << 20);
  return NULL;
}

static struct dropped dropped(unsigned kept) {
  struct dropped d = {.kept = kept};
  pthread_t thread;
  uint64_t before = seen("CapEff");
  assert_int_equal(pthread_create(&thread, NULL, drop, &d), 0);
  pthread_join(thread, NULL);
  assert_int_equal(d.error, 0);
  assert_int_equal(d.inheritable, 0);
  assert_int_equal(d.sealed, 1);
  assert_int_equal(d.effective, d.permitted);
  assert_int_equal(d.again, EPERM);
  assert_int_equal(seen("CapEff"), before); /* ours are as they were */
  return d;
}

static uint64_t bit(int capability) { return UINT64_C(1) << capability; }

static void one_thread_gives_up_all_it_has(void **state) {
  (void)state;
  assert_int_equal(dropped(ORR_RIGHTS_NONE).permitted, 0);
}

static void what_is_kept_is_what_was_asked_for_and_there(void **state) {
  (void)state;
  uint64_t mine = seen("CapEff"), files = bit(CAP_DAC_OVERRIDE) | bit(CAP_FOWNER) | bit(CAP_CHOWN);
  assert_int_equal(dropped(ORR_RIGHTS_FILES).permitted, mine & files);
  assert_int_equal(dropped(ORR_RIGHTS_UNDO).permitted, mine & (bit(CAP_SYS_NICE) | bit(CAP_DAC_OVERRIDE)));
  assert_int_equal(dropped(ORR_RIGHTS_FILES | ORR_RIGHTS_UNDO).permitted, mine & (files | bit(CAP_SYS_NICE)));
}

/* Who may lock memory still may; the right to is kept only where nothing else allows it. */
static void memory_can_be_locked_as_before(void **state) {
  (void)state;
  struct rlimit limit;
  bool could = (seen("CapEff") & bit(CAP_IPC_LOCK)) != 0;
  struct dropped d = dropped(ORR_RIGHTS_MEMORY);
  assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
  if (could)
    assert_int_equal(d.memory, 0);
  assert_int_equal(d.permitted, could && limit.rlim_cur != RLIM_INFINITY ? bit(CAP_IPC_LOCK) : 0);
  if (limit.rlim_cur < 16 << 20)
    assert_int_not_equal(dropped(ORR_RIGHTS_NONE).memory, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_thread_gives_up_all_it_has),
      cmocka_unit_test(what_is_kept_is_what_was_asked_for_and_there),
      cmocka_unit_test(memory_can_be_locked_as_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
