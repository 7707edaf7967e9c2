/* Judges the expectations of a run file that need a channel's course over time, or a condition: settling time,
 * overshoot, RMS, integral, crossings, always, eventually. io/procedure/expect judges the simpler ones.
 *
 * orr_assess_layout, measured and then real; orr_assess_ask; orr_assess_start with frame 0 [init]; orr_assess_look [rt]
 * once for every frame that is recorded, the last one too; orr_assess_result at any time. One thread at a time.
 */
#ifndef ORR_IO_ASSESS_H
#define ORR_IO_ASSESS_H

#include "core/plant/plant.h"
#include "io/config/run/run_file.h"

struct orr_assess_seen {
  double *sum, *last; /* [count] what the probe sums up, and what it needs of the frame before */
  int64_t *condition; /* words of its condition */
  int64_t begin_ns;   /* the first frame judged; −1 */
  int64_t last_ns;    /* the last one */
  bool held;          /* of a step: each time */
  int64_t at_ns;      /* always: when it broke; eventually: when it held; −1 */
};

struct orr_assess {
  const struct orr_run *run;
  struct orr_plant *plant;
  struct orr_assess_seen *seen; /* [run->expect_count] */
  bool any;
};

/* The result of an expectation that has a probe. */
struct orr_assess_result {
  double value;  /* SI; of always and eventually 1 or 0; NaN: nothing to judge, or not yet; ∞: it never settled */
  int64_t at_ns; /* of always and eventually; −1 */
};

/* [init] Takes the memory from a block, or only measures how much. */
struct orr_assess *orr_assess_layout(const struct orr_run *run, struct orr_plant *plant, struct orr_block *block);
void orr_assess_ask(struct orr_assess *assess);
void orr_assess_start(struct orr_assess *assess);

/* [rt] Looks at the frame's block. O(numbers and conditions expected). */
void orr_assess_look(struct orr_assess *assess);

/* [rt] The sequence has come to the step of expectation i. O(1). */
void orr_assess_note(struct orr_assess *assess, size_t i, bool met, int64_t now_ns);

/* [any] The result of expectation i. Of several numbers it is the one nearest to its bound, or furthest beyond it.
 * O(numbers). */
struct orr_assess_result orr_assess_result(const struct orr_assess *assess, size_t i);

#endif
