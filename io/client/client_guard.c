#include "io/client/client_guard.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RANGES_MAX = 64 };

struct range {
  _Atomic uintptr_t start; /* 0: free, 1: being filled */
  size_t bytes;
  atomic_bool *dead;
};

static struct {
  struct range ranges[RANGES_MAX];
  struct sigaction before;
} guard;

/* Only async-signal-safe calls: mmap and sigaction are system calls and nothing more. */
static void on_sigbus(int number, siginfo_t *info, void *context) {
  (void)context;
  uintptr_t at = (uintptr_t)info->si_addr, page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < RANGES_MAX; i++) {
    uintptr_t start = atomic_load(&guard.ranges[i].start);
    if (start <= 1 || at < start || at - start >= guard.ranges[i].bytes)
      continue;
    char *where = (char *)info->si_addr - at % page;
    const void *zeros = mmap(where, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED)
      break;
    atomic_store(guard.ranges[i].dead, true);
    return;
  }
  /* what was there before decides, when the instruction faults again; once, for it may hand on to us */
  struct sigaction before = guard.before;
  guard.before = (struct sigaction){.sa_handler = SIG_DFL};
  sigaction(number, &before, NULL);
}

/* Each time: somebody may have put a handler of theirs over ours. */
static void install(void) {
  struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO}, now;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGBUS, &action, &now) == 0 && (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != on_sigbus))
    guard.before = now;
}

void orr_client_guard_add(void *memory, size_t bytes, atomic_bool *dead) {
  install();
  for (int i = 0; i < RANGES_MAX; i++) {
    struct range *r = &guard.ranges[i];
    uintptr_t idle = 0;
    if (!atomic_compare_exchange_strong(&r->start, &idle, 1))
      continue;
    r->bytes = bytes;
    r->dead = dead;
    atomic_store(&r->start, (uintptr_t)memory);
    return;
  }
}

void orr_client_guard_remove(void *memory) {
  for (int i = 0; i < RANGES_MAX; i++)
    if (atomic_load(&guard.ranges[i].start) == (uintptr_t)memory)
      atomic_store(&guard.ranges[i].start, 0);
}
