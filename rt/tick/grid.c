#include "rt/tick/grid.h"

bool orr_grid_init(struct orr_grid *grid, int64_t period_ns, int64_t phase_ns, int64_t not_before_ns) {
  if (period_ns < ORR_PERIOD_MIN_NS || period_ns > ORR_PERIOD_MAX_NS)
    return false;
  int64_t ahead_ns = (phase_ns - not_before_ns) % period_ns;
  if (ahead_ns < 0)
    ahead_ns += period_ns;
  *grid = (struct orr_grid){.origin_ns = not_before_ns + ahead_ns, .period_ns = period_ns};
  return true;
}

int64_t orr_grid_tick_ns(const struct orr_grid *grid, uint64_t frame) {
  return grid->origin_ns + (int64_t)frame * grid->period_ns;
}

uint64_t orr_grid_slip(struct orr_grid *grid, uint64_t frame, int64_t now_ns) {
  int64_t behind_ns = now_ns - orr_grid_tick_ns(grid, frame);
  if (behind_ns <= 0)
    return 0;
  int64_t periods = (behind_ns + grid->period_ns - 1) / grid->period_ns;
  grid->origin_ns += periods * grid->period_ns;
  grid->skipped += (uint64_t)periods;
  return (uint64_t)periods;
}
