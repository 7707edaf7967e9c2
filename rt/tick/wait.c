#include "rt/tick/wait.h"

#include "rt/tick/clock.h"

/* A signal storm must not turn the sleep into an endless cycle: past this the rest of the wait is spun. */
enum { INTERRUPTIONS_MAX = 1000 };

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void spin_until(int64_t tick_ns, struct orr_wait *wait) {
  int64_t before_ns = wait->woke_ns, now_ns = before_ns;
  while (now_ns < tick_ns) {
    relax();
    now_ns = orr_clock_now_ns();
    if (now_ns - before_ns > wait->spin_gap_ns)
      wait->spin_gap_ns = now_ns - before_ns;
    before_ns = now_ns;
  }
  wait->start_ns = now_ns;
}

void orr_wait_until(int64_t tick_ns, int64_t margin_ns, struct orr_wait *wait) {
  int64_t now_ns = orr_clock_now_ns();
  *wait = (struct orr_wait){.asked_ns = tick_ns - margin_ns, .asleep_ns = now_ns, .woke_ns = now_ns};
  if (now_ns < wait->asked_ns) {
    wait->slept = true;
    for (int i = 0; i < INTERRUPTIONS_MAX; i++)
      if (orr_clock_sleep_until(wait->asked_ns) == 0)
        break;
    wait->woke_ns = orr_clock_now_ns();
  }
  spin_until(tick_ns, wait);
}
