/* The sequence of a run as it is flown: the step that it is at, and what that step does.
 *
 * orr_sequence_layout, measured and then real; orr_sequence_ask; orr_sequence_start with frame 0 [init]. Then per frame
 * [rt]: orr_sequence_begin before the first frame of all is published; orr_sequence_give before commands are latched;
 * orr_sequence_step once a frame's block is complete: conditions are judged on it, and what steps do acts in the frame
 * after it. At most ORR_SEQUENCE_STEPS steps are done in a frame; the next frame goes on with the rest.
 */
#ifndef ORR_IO_SEQUENCE_H
#define ORR_IO_SEQUENCE_H

#include "io/procedure/assess.h"
#include "io/procedure/faults.h"

enum { ORR_SEQUENCE_STEPS = 64 };

/* Called when a step is done: the step, and its outcome. [rt] */
typedef void orr_step_told_fn(void *user, const struct orr_run_step *step, const char *what);

struct orr_sequence {
  const struct orr_run_sequence *desc;
  struct orr_plant *plant;
  struct orr_faults *faults;
  struct orr_assess *assess;
  uint64_t *words;                /* [word_count] */
  size_t word_count, replayed;    /* the first `replayed` words are the same in a replay */
  size_t memory, pending, values; /* words of conditions; whether a command is to be given, and which value */
  orr_step_told_fn *told;
  void *user;
};

/* [init] Takes the memory from a block, or only measures how much; NULL while measuring. */
struct orr_sequence *orr_sequence_layout(const struct orr_run *run, struct orr_plant *plant, struct orr_faults *faults,
                                         struct orr_assess *assess, struct orr_block *block);
void orr_sequence_ask(struct orr_sequence *sequence);
void orr_sequence_start(struct orr_sequence *sequence);

/* [rt] */
void orr_sequence_begin(struct orr_sequence *sequence);
void orr_sequence_give(struct orr_sequence *sequence);
void orr_sequence_step(struct orr_sequence *sequence);

/* [any] The step that it is at, and since when; the last one is the end. */
const struct orr_run_step *orr_sequence_at(const struct orr_sequence *sequence, int64_t *since_ns);

/* [init] Whether words that are not trusted can be those of a run at this time. O(words). */
bool orr_sequence_is_sound(const struct orr_sequence *sequence, const uint64_t *words, int64_t now_ns);

#endif
