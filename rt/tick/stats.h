/* Everything a run measures about its own timing, in one block of private memory, of which tick/board shows a copy to
 * other processes.
 *
 * The executive writes, and other threads of its process may read meanwhile: `live` and the worst frames are whole
 * records behind seqlocks; the histograms are counters that only grow, each atomic, read as they are. The header
 * carries version, sizes and offsets, so that a reader of another build refuses the block instead of misreading it.
 * Order: orr_stats_init, then the executive; readers: orr_stats_valid, then orr_stats_live, orr_worst_read and the
 * histograms.
 */
#ifndef ORR_RT_TICK_STATS_H
#define ORR_RT_TICK_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt/tick/histogram.h"
#include "rt/tick/record.h"
#include "rt/tick/seqlock.h"
#include "rt/tick/worst.h"

#define ORR_STATS_MAGIC UINT64_C(0x315441545352524f) /* "ORRSTAT1", little-endian */
enum { ORR_STATS_VERSION = 4, ORR_STATS_NAME_MAX = 64, ORR_STATS_DOING_MAX = 256 };

enum orr_histogram_id {
  ORR_HISTOGRAM_START,   /* work began after its tick; skipped periods included */
  ORR_HISTOGRAM_WAKE_UP, /* the sleep ended after the time it was asked for */
  ORR_HISTOGRAM_SLACK,   /* from the end of work to the next tick; negative when it overran */
  ORR_HISTOGRAM_STAGE_0, /* then one per stage */
  ORR_HISTOGRAM_COUNT = ORR_HISTOGRAM_STAGE_0 + ORR_STAGES_MAX
};

/* What the stages took in frames that nothing came into (tick/calm.h): exact, to the nanosecond of the clock. */
struct orr_calm {
  _Atomic uint64_t frames;
  _Atomic int64_t sum_ns[ORR_STAGES_MAX];
  _Atomic int64_t min_ns[ORR_STAGES_MAX]; /* valid when frames > 0 */
};

/* Where the run is: the part that changes as a whole, once a frame. */
struct orr_live {
  uint64_t frames;                     /* frames done */
  uint64_t late[ORR_CAUSE_COUNT];      /* late frames by cause; [ORR_CAUSE_NONE] counts those on time */
  uint64_t late_stage[ORR_STAGES_MAX]; /* of ORR_CAUSE_STAGE: which */
  uint64_t overran;                    /* frames that ended after the next tick */
  uint64_t caught_up;                  /* frames run at once, behind the grid, under catch_up */
  uint64_t slips;                      /* times the grid was moved */
  uint64_t skipped_periods;            /* periods it was moved by, in sum */
  uint64_t minor_faults;               /* since the first frame began, as are the next three */
  uint64_t major_faults;
  uint64_t involuntary;
  uint64_t voluntary; /* beyond one sleep a frame */
  uint64_t sleeps;
  uint64_t ended;  /* 1 when the run is over */
  uint64_t reason; /* enum orr_cycle_end, when ended */
  struct orr_frame_record last;
};
enum { ORR_LIVE_WORDS = sizeof(struct orr_live) / 8 };

struct orr_stats {
  uint64_t magic;
  uint32_t version;
  uint32_t stage_count;
  uint64_t size; /* of this block */
  uint64_t
      turn; /* of a copy on the board: odd while it is written, the same before and after a reading that is whole */
  /* offsets from the start of the block, for readers in other languages */
  uint32_t live_offset, worst_offset, histogram_offset, histogram_bytes;
  int64_t pid;
  int64_t period_ns, phase_ns, margin_ns, late_start_ns;
  int64_t first_tick_ns;
  int32_t core;        /* -1: not bound */
  int32_t priority;    /* 0: not real-time */
  int64_t doing_since; /* frame of the simulation; of `doing` */
  char name[ORR_STATS_NAME_MAX];
  char doing[ORR_STATS_DOING_MAX]; /* what the run is at, in words; empty: nothing to tell */
  char stage_name[ORR_STAGES_MAX][ORR_STAGE_NAME_MAX];
  _Alignas(64) struct orr_seqlock live_lock;
  _Atomic uint64_t live[ORR_LIVE_WORDS];
  _Alignas(64) struct orr_worst worst;
  _Alignas(64) struct orr_histogram histogram[ORR_HISTOGRAM_COUNT];
  _Alignas(64) struct orr_calm calm; /* nothing where the cycle does not watch */
};

/* [init] Zeroes the block (touching each page) and fills the header. `name` is cut to what fits;
 * its control characters become '?'. */
void orr_stats_init(struct orr_stats *stats, const char *name, int64_t period_ns);

/* [any] Says what the run is at. The thread that shows the board, and no other: the executive knows nothing of it.
 * O(length). */
void orr_stats_say(struct orr_stats *stats, const char *doing, int64_t since);

/* [rt] Replaces the live record. O(1). */
void orr_stats_put_live(struct orr_stats *stats, const struct orr_live *live);

/* [rt] Counts a frame of which nothing came into the stages. O(stages). */
void orr_stats_add_calm(struct orr_stats *stats, const int64_t stage_ns[ORR_STAGES_MAX]);

/* [any] Reads the live record; false when the writer died inside. */
bool orr_stats_live(const struct orr_stats *stats, struct orr_live *live);

/* [any] A copy that is whole, while the executive goes on: what it is just writing is left as it was in `to`. */
void orr_stats_copy(const struct orr_stats *stats, struct orr_stats *to);

/* [any] Whether `size` bytes at `stats` are a block of this build, whose names are text without control characters. */
bool orr_stats_valid(const struct orr_stats *stats, size_t size);

/* [any] Frames late by our own computing or page faults. */
uint64_t orr_live_own(const struct orr_live *live);
/* [any] All late frames. */
uint64_t orr_live_late(const struct orr_live *live);

#endif
