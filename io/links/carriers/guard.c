#include "io/links/carriers/guard.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RANGES_MAX = 64 };

struct range {
  _Atomic uintptr_t start; /* 0: free; written last when added, first when removed */
  size_t bytes;
  atomic_bool *dead;
};

static struct {
  struct range ranges[RANGES_MAX];
  struct sigaction before;
} guard;

/* Only async-signal-safe calls: mmap, sigaction and raise are system calls and nothing more. */
static void on_sigbus(int number, siginfo_t *info, void *context) {
  (void)context;
  uintptr_t at = (uintptr_t)info->si_addr, page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < RANGES_MAX; i++) {
    uintptr_t start = atomic_load(&guard.ranges[i].start);
    if (!start || at < start || at - start >= guard.ranges[i].bytes)
      continue;
    char *where = (char *)info->si_addr - at % page;
    const void *page_of_zeros =
        mmap(where, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (page_of_zeros == MAP_FAILED)
      break;
    atomic_store(guard.ranges[i].dead, true);
    return;
  }
  /* not ours: what was there before decides, when the instruction faults again */
  sigaction(number, &guard.before, NULL);
}

/* Each time: somebody may have put a handler of theirs over ours. */
static bool install(void) {
  struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO}, now;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGBUS, &action, &now) != 0)
    return false;
  if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != on_sigbus)
    guard.before = now;
  return true;
}

bool orr_guard_add(void *memory, size_t bytes, atomic_bool *dead) {
  if (!install())
    return false;
  for (int i = 0; i < RANGES_MAX; i++) {
    struct range *r = &guard.ranges[i];
    if (atomic_load(&r->start))
      continue;
    r->bytes = bytes;
    r->dead = dead;
    atomic_store(&r->start, (uintptr_t)memory);
    return true;
  }
  return false;
}

void orr_guard_remove(void *memory) {
  for (int i = 0; i < RANGES_MAX; i++)
    if (atomic_load(&guard.ranges[i].start) == (uintptr_t)memory)
      atomic_store(&guard.ranges[i].start, 0);
}
