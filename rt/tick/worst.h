/* The worst 64 frames of a run, by response time (tick to end of work), each with its full breakdown.
 *
 * One writer; readers in other threads or processes at any time, each entry behind its own seqlock.
 * Order: zero the memory, then any.
 */
#ifndef ORR_RT_TICK_WORST_H
#define ORR_RT_TICK_WORST_H

#include <stddef.h>

#include "rt/tick/record.h"
#include "rt/tick/seqlock.h"

enum { ORR_WORST_COUNT = 64 };

struct orr_worst {
  struct {
    struct orr_seqlock lock;
    _Atomic uint64_t words[ORR_RECORD_WORDS];
  } entry[ORR_WORST_COUNT];
  int64_t response_ns[ORR_WORST_COUNT]; /* the writer's: of each entry */
  uint64_t used;                        /* the writer's: entries filled */
  uint64_t least;                       /* the writer's: the entry to go next, once all are filled */
};

/* [rt] Keeps the record if it is among the worst so far. O(1) mostly, O(64) when kept. */
void orr_worst_add(struct orr_worst *worst, const struct orr_frame_record *record);

/* [any] A copy for readers; an entry the writer is busy with is left as it was. */
void orr_worst_copy(const struct orr_worst *worst, struct orr_worst *to);

/* [any] Copies the entries, worst first, into `records` [ORR_WORST_COUNT]; returns how many. An entry the writer is
 * busy with is left out. */
size_t orr_worst_read(const struct orr_worst *worst, struct orr_frame_record *records);

#endif
