/* Judges what a run file expects (`expect`) of the run as it is flown.
 *
 * orr_expect_layout, measured and then real, and orr_plant_ask for the channels [init]; orr_expect_look [rt] once for
 * every frame, before it is computed, and once for the last; orr_expect_judge [init] at the end. One thread at a time.
 */
#ifndef ORR_IO_EXPECT_H
#define ORR_IO_EXPECT_H

#include "core/plant/plant.h"
#include "io/config/run/run_file.h"

/* What one expectation has seen of its channel. */
struct orr_expect_seen {
  int first, count;    /* numbers of the frame's block */
  uint64_t samples;    /* frames judged */
  double *peak, *left; /* of_peak: [count] largest magnitudes before and after */
  double worst;        /* the value nearest to the bound, or furthest beyond it; of_peak: the part left */
  int64_t worst_ns;    /* when; −1 for of_peak */
  bool broken;
};

enum orr_verdict_kind {
  ORR_EXPECT_MET,
  ORR_EXPECT_NOT_MET,
  ORR_EXPECT_NOT_JUDGED, /* nothing to judge: not measured in this mode, or the run ended before its time */
};

struct orr_expect_verdict {
  enum orr_verdict_kind kind;
  double value;  /* SI; what decided */
  int64_t at_ns; /* of a channel's value; −1 */
};

/* [init] Takes the memory for all expectations of a run from a block, or only measures how much. Returns
 * [run->expect_count]. */
struct orr_expect_seen *orr_expect_layout(const struct orr_run *run, struct orr_block *block);

/* [rt] Looks at the frame's block at `now_ns`. O(numbers expected). */
void orr_expect_look(const struct orr_run *run, struct orr_expect_seen *seen, const double *values, int64_t now_ns);

/* [any] The verdict on expectation i; `measured` is the number for a measure, NaN where there is none. O(numbers). */
struct orr_expect_verdict orr_expect_judge(const struct orr_run_expect *expect, const struct orr_expect_seen *seen,
                                           double measured);

/* [any] Whether a value is within the bound. Not for `of_peak`. O(1). */
bool orr_expect_holds(const struct orr_run_expect *expect, double value);

/* [any] Whether a value is further beyond the bound, or nearer to it, than another. NaN is worse than any number.
 * O(1). */
bool orr_expect_is_worse(const struct orr_run_expect *expect, double value, double than);

#endif
