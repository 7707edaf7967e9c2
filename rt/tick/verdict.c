#include "rt/tick/verdict.h"

#include "rt/tick/clock.h"

int64_t orr_verdict_default_late_start_ns(int64_t period_ns) {
  return period_ns / 4 < ORR_NS_PER_MS ? period_ns / 4 : ORR_NS_PER_MS;
}

static enum orr_cause lost_core(const struct orr_frame_record *r) {
  if (r->involuntary > 0)
    return ORR_CAUSE_PREEMPTED;
  return r->voluntary > 0 ? ORR_CAUSE_BLOCKED : ORR_CAUSE_STOLEN;
}

static enum orr_cause late_start_cause(const struct orr_frame_record *r) {
  if (r->previous_end_ns > 0)
    return ORR_CAUSE_PREVIOUS;
  if (r->voluntary > 0)
    return ORR_CAUSE_BLOCKED;
  if (r->slept && r->woke_ns > 0)
    return ORR_CAUSE_WAKE_UP;
  return lost_core(r); /* awake before the tick, and yet late: the spin was interrupted */
}

/* What the stages took beyond their usual time, in sum, and which did most. */
static int64_t excess_ns(struct orr_frame_record *r, const int64_t *usual_ns, size_t stage_count) {
  int64_t sum_ns = 0, most_ns = INT64_MIN;
  for (uint32_t i = 0; i < stage_count; i++) {
    int64_t beyond_ns = r->stage_ns[i] - usual_ns[i];
    sum_ns += beyond_ns > 0 ? beyond_ns : 0;
    if (beyond_ns > most_ns) {
      most_ns = beyond_ns;
      r->stage = i;
    }
  }
  return sum_ns;
}

/* start + lost + own ≥ overrun: the largest of the three is the cause. What the kernel's CPU clock did not see as lost,
 * but fell between two marks, is stolen, unless page faults can have taken it. */
static enum orr_cause overrun_cause(const struct orr_frame_record *r, int64_t beyond_usual_ns) {
  int64_t start_late_ns = r->start_ns > 0 ? r->start_ns : 0;
  int64_t own_ns = beyond_usual_ns > r->lost_ns ? beyond_usual_ns - r->lost_ns : 0;
  if (start_late_ns > own_ns && start_late_ns >= r->lost_ns)
    return late_start_cause(r);
  if (r->major_faults > 0)
    return ORR_CAUSE_PAGE_FAULT;
  if (r->lost_ns > own_ns)
    return lost_core(r);
  if ((int64_t)r->minor_faults * ORR_MINOR_FAULT_MAX_NS > own_ns)
    return ORR_CAUSE_PAGE_FAULT;
  return r->gap_ns - r->lost_ns > own_ns / 2 ? ORR_CAUSE_STOLEN : ORR_CAUSE_STAGE;
}

void orr_verdict(struct orr_frame_record *record, const struct orr_verdict_limits *limits, const int64_t *usual_ns,
                 size_t stage_count) {
  record->overran = record->end_ns > limits->period_ns;
  int64_t beyond_usual_ns = excess_ns(record, usual_ns, stage_count);
  if (record->overran)
    record->cause = overrun_cause(record, beyond_usual_ns);
  else
    record->cause = record->start_ns > limits->late_start_ns ? late_start_cause(record) : ORR_CAUSE_NONE;
}

bool orr_cause_is_own(enum orr_cause cause) { return cause == ORR_CAUSE_STAGE || cause == ORR_CAUSE_PAGE_FAULT; }

const char *orr_cause_name(enum orr_cause cause) {
  static const char *const names[ORR_CAUSE_COUNT] = {
      [ORR_CAUSE_NONE] = "on time",
      [ORR_CAUSE_WAKE_UP] = "wake-up",
      [ORR_CAUSE_PREVIOUS] = "previous overran",
      [ORR_CAUSE_STAGE] = "stage",
      [ORR_CAUSE_PAGE_FAULT] = "page fault",
      [ORR_CAUSE_PREEMPTED] = "preempted",
      [ORR_CAUSE_BLOCKED] = "blocked or stopped",
      [ORR_CAUSE_STOLEN] = "stolen",
  };
  return (unsigned)cause < ORR_CAUSE_COUNT ? names[cause] : "unknown";
}
