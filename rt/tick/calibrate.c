#include "rt/tick/calibrate.h"

#include <stdlib.h>

#include "rt/tick/clock.h"
#include "rt/tick/wait.h"

/* Long enough asleep that the core goes as idle as it will in the run, short enough for many samples at slow rates. */
static int64_t rest_ns(int64_t period_ns) { return period_ns < 2 * ORR_NS_PER_MS ? period_ns : 2 * ORR_NS_PER_MS; }

static int64_t fold_ns(int64_t period_ns) { return period_ns % ORR_NS_PER_MS == 0 ? ORR_NS_PER_MS : period_ns; }

/* Next time at or after `after_ns` with that phase. */
static int64_t next_at_ns(int64_t after_ns, int64_t phase_ns, int64_t fold) {
  int64_t ahead_ns = (phase_ns - after_ns) % fold;
  return after_ns + (ahead_ns < 0 ? ahead_ns + fold : ahead_ns);
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static int64_t percentile_ns(int64_t *sample_ns, size_t count, size_t percent) {
  if (count == 0)
    return 0;
  qsort(sample_ns, count, sizeof *sample_ns, by_value);
  return sample_ns[(count - 1) * percent / 100];
}

size_t orr_calibrate_best_phase(const int64_t score_ns[ORR_PHASES]) {
  size_t best = 0;
  int64_t least_ns = INT64_MAX;
  for (size_t i = 0; i < ORR_PHASES; i++) {
    int64_t smooth_ns = score_ns[(i + ORR_PHASES - 1) % ORR_PHASES] + 2 * score_ns[i] + score_ns[(i + 1) % ORR_PHASES];
    if (smooth_ns < least_ns) {
      least_ns = smooth_ns;
      best = i;
    }
  }
  return best;
}

void orr_calibrate_phase(struct orr_calibration *c, int64_t period_ns, int64_t margin_ns, int64_t budget_ns) {
  static const size_t enough = ORR_CALIBRATE_SAMPLES_MAX / 4;
  int64_t late_ns[ORR_PHASES][ORR_CALIBRATE_SAMPLES_MAX / 4];
  int64_t fold = fold_ns(period_ns), end_ns = orr_clock_now_ns() + budget_ns;
  size_t rounds = 0;
  while (rounds < enough && (rounds == 0 || orr_clock_now_ns() < end_ns)) {
    for (size_t i = 0; i < ORR_PHASES; i++) {
      struct orr_wait wait;
      int64_t phase_ns = fold * (int64_t)i / ORR_PHASES;
      int64_t tick_ns = next_at_ns(orr_clock_now_ns() + rest_ns(period_ns), phase_ns, fold);
      orr_wait_until(tick_ns, margin_ns, &wait);
      late_ns[i][rounds] = wait.start_ns - tick_ns;
    }
    rounds++;
  }
  for (size_t i = 0; i < ORR_PHASES; i++)
    c->score_ns[i] = percentile_ns(late_ns[i], rounds, 90);
  c->phase_samples = (uint32_t)rounds;
  c->phase_ns = fold * (int64_t)orr_calibrate_best_phase(c->score_ns) / ORR_PHASES;
}

int64_t orr_calibrate_margin_for(int64_t wake_up_p99_ns, int64_t period_ns) {
  enum { ROOM_NS = 10000 }; /* for the path from the end of the sleep to the spin */
  int64_t margin_ns = wake_up_p99_ns + wake_up_p99_ns / 2 + ROOM_NS;
  return margin_ns > period_ns / 2 ? period_ns : margin_ns;
}

void orr_calibrate_margin(struct orr_calibration *c, int64_t period_ns, int64_t budget_ns) {
  int64_t late_ns[ORR_CALIBRATE_SAMPLES_MAX];
  int64_t fold = fold_ns(period_ns), end_ns = orr_clock_now_ns() + budget_ns;
  size_t count = 0;
  while (count < ORR_CALIBRATE_SAMPLES_MAX && (count == 0 || orr_clock_now_ns() < end_ns)) {
    struct orr_wait wait;
    int64_t tick_ns = next_at_ns(orr_clock_now_ns() + rest_ns(period_ns), c->phase_ns, fold);
    orr_wait_until(tick_ns, 0, &wait);
    late_ns[count++] = wait.start_ns - tick_ns;
  }
  c->margin_samples = (uint32_t)count;
  c->wake_up_p99_ns = percentile_ns(late_ns, count, 99);
  c->margin_ns = orr_calibrate_margin_for(c->wake_up_p99_ns, period_ns);
}
