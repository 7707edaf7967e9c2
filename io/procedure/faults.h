/* The faults of a run as it is flown: when each begins and ends, and what it does to numbers and devices.
 *
 * orr_faults_layout, measured and then real; orr_faults_ask; orr_faults_start with frame 0 [init]. Then per frame [rt]:
 * orr_faults_begin_frame before the frame is published, orr_faults_before_latch and orr_faults_after_latch around the
 * commands, orr_faults_judge once the frame's block is complete. A condition that holds in a frame begins its fault in
 * the next one. One thread at a time. The work of a frame is bounded: O(faults + numbers broken + conditions).
 *
 * All that changes is kept in `words`, so that a state can be saved and put back.
 */
#ifndef ORR_IO_FAULTS_H
#define ORR_IO_FAULTS_H

#include "core/plant/fault.h"
#include "io/config/run/run_file.h"
#include "io/links/terms/rules.h"

enum orr_fault_phase {
  ORR_FAULT_WAITS,
  ORR_FAULT_DUE, /* begins with the next frame */
  ORR_FAULT_ACTS,
  ORR_FAULT_ENDS, /* with the next frame */
  ORR_FAULT_OVER,
};

/* Where the words of a fault stand. */
struct orr_fault_place {
  size_t at;        /* phase, since when (ns), speed of the rotor then; behind these: */
  size_t condition; /* the words of its condition */
  size_t memory;    /* what its form keeps */
};

/* Called when a fault begins (true) or ends. [rt] */
typedef void orr_fault_told_fn(void *user, const struct orr_run_fault *fault, bool begins);

struct orr_faults {
  const struct orr_run *run;
  struct orr_plant *plant;
  struct orr_fault_place *places; /* [run->fault_count] */
  uint64_t *words;                /* [word_count] */
  size_t word_count, replayed;    /* the first `replayed` words are the same in a replay */
  size_t told_at;                 /* where the commands begin as they were given */
  struct orr_trouble *troubles;   /* [run->fault_count]: of the first fault of each device */
  struct orr_jam *jams;           /* the same for hinges */
  int *trouble_of;                /* [run->fault_count] index in troubles or jams; −1 */
  int jam_count;
  bool commands; /* some fault is of commands */
  orr_fault_told_fn *told;
  void *user;
};

/* [init] Takes the memory from a block, or only measures how much. */
struct orr_faults *orr_faults_layout(const struct orr_run *run, struct orr_plant *plant, struct orr_block *block);

/* [init] Asks the plant to compute, from frame 0 on, what conditions and faults read. */
void orr_faults_ask(struct orr_faults *faults);

/* [init] Sets all faults to not begun. */
void orr_faults_start(struct orr_faults *faults);

/* [rt] */
void orr_faults_begin_frame(struct orr_faults *faults);
void orr_faults_before_latch(struct orr_faults *faults);
void orr_faults_after_latch(struct orr_faults *faults);
void orr_faults_judge(struct orr_faults *faults);

/* [rt] Begins a fault with this frame, also one that was over; or ends it. Call it before begin_frame. O(1). */
void orr_fault_begin(struct orr_faults *faults, int index);
void orr_fault_end(struct orr_faults *faults, int index);

/* [rt] The same with the next frame. Ending one that does not act does nothing. O(1). */
void orr_fault_due(struct orr_faults *faults, int index, bool begins);

/* [rt] What becomes of the command that would act in the frame at hand by a link of the run, or of the telemetry that
 * goes out in it: the fault that does it; NULL: it works. O(faults). */
const struct orr_run_fault *orr_faults_of_link(const struct orr_faults *faults, int link, bool telemetry);

/* [any] */
enum orr_fault_phase orr_fault_phase(const struct orr_faults *faults, int index);

/* [init] How many words the whole state has; how many of them, from the first, are the same in a replay; whether words
 * that are not trusted can be those of a run at this time; reading and setting them. Set them before the plant's state:
 * they break devices and hinges. */
size_t orr_faults_state_words(const struct orr_faults *faults);
size_t orr_faults_replayed_words(const struct orr_faults *faults);
bool orr_faults_state_is_sound(const struct orr_faults *faults, const uint64_t *words, int64_t now_ns);
void orr_faults_state_get(const struct orr_faults *faults, uint64_t *words);
void orr_faults_state_put(struct orr_faults *faults, const uint64_t *words);

#endif
