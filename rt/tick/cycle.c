#include "rt/tick/cycle.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "rt/tick/calm.h"
#include "rt/tick/clock.h"

/* The first tick leaves room for the first reading of the counters and the caches to settle. */
enum { LEAD_PERIODS = 2 };

static const char *check(const struct orr_cycle_options *o, const struct orr_work *work) {
  if (o->period_ns < ORR_PERIOD_MIN_NS || o->period_ns > ORR_PERIOD_MAX_NS)
    return "the period must be between 50 us (20 kHz) and 100 ms (10 Hz)";
  if (o->margin_ns < 0 || o->margin_ns > o->period_ns)
    return "the spin margin must be between 0 and one period";
  if (o->policy == ORR_OVERRUN_CATCH_UP && o->catch_up_limit == 0)
    return "catch_up needs a limit of at least one frame";
  if (work->stage_count > ORR_STAGES_MAX)
    return "too many stages";
  for (size_t i = 0; i < work->stage_count; i++)
    if (!work->stages[i].run || !work->stages[i].name)
      return "a stage needs a name and a function";
  return NULL;
}

const char *orr_cycle_init(struct orr_cycle *cycle, const struct orr_cycle_options *options,
                           const struct orr_work *work, void *user, struct orr_stats *stats) {
  const char *wrong = check(options, work);
  if (wrong)
    return wrong;
  memset(cycle, 0, sizeof *cycle);
  cycle->options = *options;
  cycle->limits = (struct orr_verdict_limits){
      .period_ns = options->period_ns,
      .late_start_ns =
          options->late_start_ns > 0 ? options->late_start_ns : orr_verdict_default_late_start_ns(options->period_ns),
  };
  cycle->work = work;
  cycle->user = user;
  cycle->stats = stats;
  for (size_t i = 0; i < work->stage_count; i++)
    snprintf(stats->stage_name[i], ORR_STAGE_NAME_MAX, "%s", work->stages[i].name);
  stats->stage_count = (uint32_t)work->stage_count;
  stats->period_ns = options->period_ns;
  stats->phase_ns = options->phase_ns;
  stats->margin_ns = options->margin_ns;
  stats->late_start_ns = cycle->limits.late_start_ns;
  return NULL;
}

void orr_frame_mark(struct orr_frame *frame) {
  int64_t now_ns = orr_clock_now_ns();
  int64_t gap_ns = now_ns - frame->mark_ns;
  if (frame->gap_limit_ns > 0 && gap_ns > frame->gap_limit_ns)
    frame->gap_ns += gap_ns - frame->gap_limit_ns;
  frame->mark_ns = now_ns;
}

/* Runs the stages in order and stamps the end of each. A stage that fails ends the frame. */
static bool run_stages(struct orr_cycle *cycle, struct orr_frame *frame, struct orr_frame_record *r) {
  int64_t begin_ns = frame->mark_ns;
  for (uint32_t i = 0; i < cycle->work->stage_count; i++) {
    const struct orr_stage *stage = &cycle->work->stages[i];
    frame->which = stage->which;
    frame->gap_limit_ns = stage->mark_gap_ns;
    int code = stage->run(cycle->user, frame);
    orr_frame_mark(frame);
    r->stage_ns[i] = frame->mark_ns - begin_ns;
    begin_ns = frame->mark_ns;
    if (code != 0) {
      cycle->result.end = ORR_CYCLE_STAGE;
      cycle->result.code = code;
      cycle->result.stage = i;
      return false;
    }
  }
  return true;
}

/* What the kernel counted between the ends of the last frame and of this one. Off the core = wall time − sleep − CPU
 * time; the kernel's own work in going to sleep counts as CPU time and hides a few µs of it. */
static void read_counters(struct orr_cycle *cycle, const struct orr_wait *wait, struct orr_frame_record *r) {
  struct orr_counters now, before = cycle->counters;
  orr_counters_read(&now);
  uint64_t voluntary = now.voluntary - before.voluntary;
  int64_t lost_ns = (now.wall_ns - before.wall_ns) - (wait->woke_ns - wait->asleep_ns) - (now.cpu_ns - before.cpu_ns);
  r->minor_faults = (uint32_t)(now.minor_faults - before.minor_faults);
  r->major_faults = (uint32_t)(now.major_faults - before.major_faults);
  r->involuntary = (uint32_t)(now.involuntary - before.involuntary);
  r->voluntary = (uint32_t)(voluntary > wait->slept ? voluntary - wait->slept : 0);
  r->lost_ns = lost_ns > 0 ? lost_ns : 0;
  cycle->counters = now;
}

static void judge(struct orr_cycle *cycle, struct orr_frame_record *r) {
  int64_t usual_ns[ORR_STAGES_MAX];
  int64_t on_time = (int64_t)cycle->on_time;
  for (size_t i = 0; i < cycle->work->stage_count; i++)
    usual_ns[i] = on_time > 0 ? cycle->stage_sum_ns[i] / on_time : 0;
  orr_verdict(r, &cycle->limits, usual_ns, cycle->work->stage_count);
  if (r->cause != ORR_CAUSE_NONE)
    return;
  cycle->on_time++;
  for (size_t i = 0; i < cycle->work->stage_count; i++)
    cycle->stage_sum_ns[i] += r->stage_ns[i];
}

/* A frame that nothing came into, between the marks of its stages either. */
static void keep_calm(struct orr_cycle *cycle, const struct orr_frame_record *r) {
  if (r->gap_ns == 0)
    orr_stats_add_calm(cycle->stats, r->stage_ns);
}

static void account(struct orr_cycle *cycle, const struct orr_frame_record *r) {
  struct orr_live *live = &cycle->live;
  struct orr_histogram *h = cycle->stats->histogram;
  orr_histogram_add(&h[ORR_HISTOGRAM_START], r->start_ns);
  if (r->slept)
    orr_histogram_add(&h[ORR_HISTOGRAM_WAKE_UP], r->woke_ns - r->asked_ns);
  orr_histogram_add(&h[ORR_HISTOGRAM_SLACK], cycle->options.period_ns - r->end_ns);
  for (size_t i = 0; i < cycle->work->stage_count; i++)
    orr_histogram_add(&h[ORR_HISTOGRAM_STAGE_0 + i], r->stage_ns[i]);
  orr_worst_add(&cycle->stats->worst, r);
  live->frames++;
  live->late[r->cause]++;
  if (r->cause == ORR_CAUSE_STAGE)
    live->late_stage[r->stage]++;
  live->overran += r->overran;
  live->minor_faults += r->minor_faults;
  live->major_faults += r->major_faults;
  live->involuntary += r->involuntary;
  live->voluntary += r->voluntary;
  live->sleeps += r->slept;
  live->last = *r;
}

/* Gives up the periods until the next tick in the future. The ticks that were skipped would have started late by what
 * is left of the way to `now`: they are counted so, or percentiles would hide them. */
static void slip(struct orr_cycle *cycle, uint64_t next_frame, int64_t now_ns) {
  int64_t behind_ns = now_ns - orr_grid_tick_ns(&cycle->grid, next_frame);
  uint64_t periods = orr_grid_slip(&cycle->grid, next_frame, now_ns);
  if (periods == 0 || next_frame <= cycle->options.warm_up_frames)
    return;
  orr_histogram_add_ramp(&cycle->stats->histogram[ORR_HISTOGRAM_START], behind_ns, cycle->options.period_ns, periods);
  cycle->live.slips++;
  cycle->live.skipped_periods += periods;
}

/* Returns false when the policy ends the run. */
static bool obey_policy(struct orr_cycle *cycle, const struct orr_frame_record *r) {
  if (!r->overran) {
    cycle->behind = 0;
    return true;
  }
  int64_t now_ns = cycle->counters.wall_ns;
  switch (cycle->options.policy) {
  case ORR_OVERRUN_STOP:
    cycle->result.end = ORR_CYCLE_OVERRUN;
    return false;
  case ORR_OVERRUN_CATCH_UP:
    if (cycle->behind < cycle->options.catch_up_limit) {
      cycle->behind++;
      cycle->live.caught_up++;
      return true;
    }
    break;
  case ORR_OVERRUN_SLIP:
    break;
  }
  cycle->behind = 0;
  slip(cycle, r->frame + 1, now_ns);
  return true;
}

/* The frames of the warm-up leave nothing behind, but for the grid. */
static void forget(struct orr_cycle *cycle) { memset(&cycle->live, 0, sizeof cycle->live); }

static bool run_frame(struct orr_cycle *cycle, uint64_t n) {
  struct orr_wait wait;
  struct orr_frame_record r = {.frame = n, .tick_ns = orr_grid_tick_ns(&cycle->grid, n)};
  orr_wait_until(r.tick_ns, cycle->options.margin_ns, &wait);
  struct orr_frame frame = {.number = n, .tick_ns = r.tick_ns, .mark_ns = wait.start_ns};
  if (cycle->options.watch)
    orr_calm_begin();
  bool go_on = run_stages(cycle, &frame, &r);
  bool calm = cycle->options.watch && orr_calm_kept();
  r.slept = wait.slept;
  r.entry_ns = wait.asleep_ns - r.tick_ns;
  r.asked_ns = wait.asked_ns - r.tick_ns;
  r.woke_ns = wait.woke_ns - r.tick_ns;
  r.start_ns = wait.start_ns - r.tick_ns;
  r.end_ns = frame.mark_ns - r.tick_ns;
  r.gap_ns = frame.gap_ns;
  r.previous_end_ns = cycle->last_end_ns - r.tick_ns;
  cycle->last_end_ns = frame.mark_ns;
  read_counters(cycle, &wait, &r);
  judge(cycle, &r);
  if (n >= cycle->options.warm_up_frames) {
    account(cycle, &r);
    if (calm)
      keep_calm(cycle, &r);
  }
  go_on = obey_policy(cycle, &r) && go_on;
  if (n + 1 == cycle->options.warm_up_frames)
    forget(cycle);
  cycle->result.record = r;
  orr_stats_put_live(cycle->stats, &cycle->live);
  return go_on;
}

static void run_frames(struct orr_cycle *cycle) {
  for (uint64_t n = 0; cycle->options.frames == 0 || n < cycle->options.frames; n++) {
    if (atomic_load_explicit(&cycle->stop, memory_order_relaxed)) {
      cycle->result.end = ORR_CYCLE_STOPPED;
      return;
    }
    if (!run_frame(cycle, n))
      return;
  }
  cycle->result.end = ORR_CYCLE_FRAMES_DONE;
}

void orr_cycle_run(struct orr_cycle *cycle) {
  const struct orr_cycle_options *o = &cycle->options;
  int64_t now_ns = orr_clock_now_ns();
  orr_grid_init(&cycle->grid, o->period_ns, o->phase_ns, now_ns + LEAD_PERIODS * o->period_ns);
  cycle->stats->first_tick_ns = cycle->grid.origin_ns;
  cycle->last_end_ns = now_ns;
  orr_counters_read(&cycle->counters);
  run_frames(cycle);
  cycle->live.ended = 1;
  cycle->live.reason = (uint64_t)cycle->result.end;
  orr_stats_put_live(cycle->stats, &cycle->live);
  if (cycle->work->finish)
    cycle->work->finish(cycle->user, &cycle->result);
}

void orr_cycle_stop(struct orr_cycle *cycle) { atomic_store_explicit(&cycle->stop, 1, memory_order_relaxed); }

const char *orr_cycle_end_name(enum orr_cycle_end end) {
  switch (end) {
  case ORR_CYCLE_FRAMES_DONE:
    return "all frames done";
  case ORR_CYCLE_STOPPED:
    return "stopped";
  case ORR_CYCLE_STAGE:
    return "ended by a stage";
  case ORR_CYCLE_OVERRUN:
    return "ended by an overrun";
  }
  return "unknown";
}
