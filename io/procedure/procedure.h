/* The procedure of a run: faults, the steps of a sequence, and expectations that need a memory. A session without any
 * of these has no procedure, and its stages have no part for one.
 *
 * orr_procedure_layout, measured and then real; orr_procedure_ask; orr_procedure_start with frame 0 [init]. Per frame
 * [rt]: begin_frame before the frame is published, before_latch and after_latch around the commands, judge once the
 * frame was recorded. What judge decides acts from the next frame on.
 */
#ifndef ORR_IO_PROCEDURE_H
#define ORR_IO_PROCEDURE_H

#include "io/procedure/assess.h"
#include "io/procedure/faults.h"
#include "io/procedure/sequence.h"

/* Something that happened, in a frame; the texts live as long as the run. */
struct orr_event {
  int64_t frame;
  const char *kind; /* "fault", "step" */
  const char *name; /* of the fault, the step */
  const char *text; /* "begins"; what it waits for, or what became of it */
};

enum { ORR_EVENTS_KEPT = 256 };

struct orr_procedure {
  const struct orr_plant *plant;
  struct orr_faults *faults;
  struct orr_assess *assess;
  struct orr_sequence *sequence;
  struct orr_event events[ORR_EVENTS_KEPT];                /* the first ones */
  bool judging;                                            /* what is decided now acts in the next frame */
  int64_t begun;                                           /* the last frame that was begun; −1 */
  uint64_t event_count;                                    /* of all */
  void (*tell)(void *user, const struct orr_event *event); /* [rt] besides; NULL: nobody */
  void *user;
};

/* [any] Whether a run has something to do for a procedure. */
bool orr_procedure_needed(const struct orr_run *run);

/* [init] Takes the memory from a block, or only measures how much. */
struct orr_procedure *orr_procedure_layout(const struct orr_run *run, struct orr_plant *plant, struct orr_block *block);
void orr_procedure_ask(struct orr_procedure *procedure);
void orr_procedure_start(struct orr_procedure *procedure);

/* [rt] A frame is begun once: again does nothing. */
void orr_procedure_begin_frame(struct orr_procedure *procedure);
void orr_procedure_before_latch(struct orr_procedure *procedure);
void orr_procedure_after_latch(struct orr_procedure *procedure);
void orr_procedure_look(struct orr_procedure *procedure); /* at every frame that is recorded, the last one too */
void orr_procedure_judge(struct orr_procedure *procedure);

/* [init] The words of its state, and how many of them, from the first, are the same in a replay. Put them before the
 * plant's state. */
size_t orr_procedure_state_words(const struct orr_procedure *procedure);
size_t orr_procedure_replayed_words(const struct orr_procedure *procedure);
bool orr_procedure_state_is_sound(const struct orr_procedure *procedure, const uint64_t *words, int64_t now_ns);
void orr_procedure_state_get(const struct orr_procedure *procedure, uint64_t *words);
void orr_procedure_state_put(struct orr_procedure *procedure, const uint64_t *words);

#endif
