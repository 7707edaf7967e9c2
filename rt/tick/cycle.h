/* The cycle of the executive: a frame at every tick, the stages of its work one after the other, with everything about
 * its timing measured.
 *
 *   wait for tick n ─ stage 0 ─ stage 1 ─ … ─ counters, verdict, statistics ─ wait for tick n+1
 *
 * rt knows nothing of physics: the work is a const list of callbacks. What goes out should be its first stage: it is
 * then as steady as the wake-up. A frame is never left out: frame numbers, and with them simulation time, run on
 * whatever the clock does; only the grid of ticks moves when time is lost, by whole periods, and those are counted and
 * enter the start-latency histogram as the ticks that would have been.
 *
 * Overrun policies (a frame ended after the next tick):
 *   catch_up  the grid stays; frames behind it run at once, at most `catch_up_limit` in a row; still behind after that,
 *             the executive gives up the lost periods as `slip` does, so that a plant slower than its period never
 *             runs flat out for ever
 *   slip      the grid moves to the next tick in the future
 *   stop      the run ends, and the result says which frame and why
 *
 * A frame makes three system calls: clock_nanosleep, and after the work getrusage and clock_gettime of the thread's CPU
 * clock. No lock, no file, no socket, no allocation. What the stages do is theirs.
 *
 * Order: orr_cycle_init [init], orr_cycle_run on the rt thread (see rt/executive.h for the thread),
 * orr_cycle_stop from anywhere.
 */
#ifndef ORR_RT_TICK_CYCLE_H
#define ORR_RT_TICK_CYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt/tick/counters.h"
#include "rt/tick/grid.h"
#include "rt/tick/record.h"
#include "rt/tick/stats.h"
#include "rt/tick/verdict.h"
#include "rt/tick/wait.h"

/* What a stage is given. The fields below the line are the executive's. */
struct orr_frame {
  uint64_t number;
  int64_t tick_ns; /* CLOCK_MONOTONIC; of this frame's tick */
  int which;       /* of the stage that is at work */
  /* -- */
  int64_t mark_ns;
  int64_t gap_limit_ns;
  int64_t gap_ns;
};

/* [rt] A stage calls this at points of its work that lie close together, and declares in `mark_gap_ns` how far apart in
 * time its own computing can put two of them. What goes beyond is time lost in between, and is not held against the
 * stage. ~25 ns. */
void orr_frame_mark(struct orr_frame *frame);

/* Returns 0 to go on; anything else ends the run after this frame's remaining bookkeeping, and is reported. */
typedef int orr_stage_fn(void *user, struct orr_frame *frame);

struct orr_stage {
  const char *name;
  orr_stage_fn *run;
  int which;           /* told to `run` by its frame, for one that serves several stages */
  int64_t mark_gap_ns; /* 0: the stage does not mark, all its time is its own */
};

struct orr_cycle_result;

struct orr_work {
  struct orr_stage stages[ORR_STAGES_MAX]; /* in their order; each with a name and `run` */
  size_t stage_count;
  /* Once, on the rt thread, after the last frame, however the run ended; the result is complete. May be NULL. */
  void (*finish)(void *user, const struct orr_cycle_result *result);
};

enum orr_overrun_policy { ORR_OVERRUN_CATCH_UP, ORR_OVERRUN_SLIP, ORR_OVERRUN_STOP };

struct orr_cycle_options {
  int64_t period_ns;
  int64_t phase_ns;      /* of the grid on CLOCK_MONOTONIC, modulo the period */
  int64_t margin_ns;     /* spin before each tick: 0 … period */
  int64_t late_start_ns; /* 0: orr_verdict_default_late_start_ns */
  enum orr_overrun_policy policy;
  uint32_t catch_up_limit; /* ≥ 1 under catch_up */
  uint64_t frames;         /* 0: until stopped */
  uint64_t warm_up_frames; /* the first so many are flown and not measured */
  bool watch;              /* keeps `calm` of the statistics: where orr_calm_works (tick/calm.h) */
};

enum orr_cycle_end {
  ORR_CYCLE_FRAMES_DONE,
  ORR_CYCLE_STOPPED, /* orr_cycle_stop */
  ORR_CYCLE_STAGE,   /* a stage returned non-zero */
  ORR_CYCLE_OVERRUN, /* policy stop */
};

struct orr_cycle_result {
  enum orr_cycle_end end;
  int code;                       /* of the stage, with ORR_CYCLE_STAGE */
  uint32_t stage;                 /* with ORR_CYCLE_STAGE */
  struct orr_frame_record record; /* of the last frame */
};

struct orr_cycle {
  struct orr_cycle_options options;
  struct orr_verdict_limits limits;
  const struct orr_work *work;
  void *user;
  struct orr_stats *stats;
  struct orr_grid grid;
  struct orr_counters counters; /* at the end of the last frame */
  struct orr_live live;
  int64_t stage_sum_ns[ORR_STAGES_MAX]; /* of frames on time, those of the warm-up too */
  uint64_t on_time;                     /* how many they are */
  int64_t last_end_ns;                  /* absolute */
  uint32_t behind;                      /* frames run at once in a row */
  struct orr_cycle_result result;
  _Atomic int stop;
};

/* [init] Checks the options and prepares the statistics block. Returns NULL, or what is wrong. */
const char *orr_cycle_init(struct orr_cycle *cycle, const struct orr_cycle_options *options,
                           const struct orr_work *work, void *user, struct orr_stats *stats);

/* [rt] Runs frames until the end; the first tick is at least one period ahead. The result is in cycle->result. */
void orr_cycle_run(struct orr_cycle *cycle);

/* [any] Asks the executive to end after the frame it is in. Async-signal-safe. */
void orr_cycle_stop(struct orr_cycle *cycle);

/* [any] The percentile-ready name of an end: "all frames done", "stopped", … */
const char *orr_cycle_end_name(enum orr_cycle_end end);

#endif
