/* The sequence of a run as it is flown: which step it stands at, and what that does.
 *
 * orr_sequence_layout, measured and then real; orr_sequence_ask; orr_sequence_start with frame 0 [init]. Then per frame
 * [rt]: orr_sequence_begin before the first frame of all is published; orr_sequence_give before commands are latched;
 * orr_sequence_step once a frame's block is complete: conditions are judged on it, and what steps do acts in the frame
 * after it. At most ORR_SEQUENCE_STEPS steps a frame; more go on in the next.
 */
#ifndef ORR_IO_SEQUENCE_H
#define ORR_IO_SEQUENCE_H

#include "io/assess.h"
#include "io/faults.h"

enum { ORR_SEQUENCE_STEPS = 64 };

/* Who is told what it does: the step, and what became of it. [rt] */
typedef void orr_step_told_fn(void *user, const struct orr_run_step *step, const char *what);

struct orr_sequence {
  const struct orr_run_sequence *desc;
  struct orr_plant *plant;
  struct orr_faults *faults;
  struct orr_assess *assess;
  uint64_t *words;                /* [word_count] */
  size_t word_count, replayed;    /* of those a replay has the first again */
  size_t memory, pending, values; /* words of conditions; whether a command is to be given, and which value */
  orr_step_told_fn *told;
  void *user;
};

/* [init] Takes the memory out of a block, or measures it; NULL while measuring. */
struct orr_sequence *orr_sequence_layout(const struct orr_run *run, struct orr_plant *plant, struct orr_faults *faults,
                                         struct orr_assess *assess, struct orr_block *block);
void orr_sequence_ask(struct orr_sequence *sequence);
void orr_sequence_start(struct orr_sequence *sequence);

/* [rt] */
void orr_sequence_begin(struct orr_sequence *sequence);
void orr_sequence_give(struct orr_sequence *sequence);
void orr_sequence_step(struct orr_sequence *sequence);

/* [any] The step that it stands at, and since when; the last one is the end. */
const struct orr_run_step *orr_sequence_at(const struct orr_sequence *sequence, int64_t *since_ns);

/* [init] Whether words of any origin can be those of a run at this time. O(words). */
bool orr_sequence_is_sound(const struct orr_sequence *sequence, const uint64_t *words, int64_t now_ns);

#endif
