/* The carrier for a controller that is linked into the program. To publish a frame calls the controller; its answer is
 * offered to the rules as any other. It serves the transport `linked`, and in batch every link that has a stand-in.
 *
 * lay_out → orr_linked_answer_by [init] → publish [rt] per frame of the link. Without a controller nothing answers.
 */
#ifndef ORR_IO_LINKS_LINKED_H
#define ORR_IO_LINKS_LINKED_H

#include "io/links/carriers/carrier.h"

/* One frame for a controller that is linked in: telemetry numbers in, command numbers out, each in the order of the
 * link's channels. `memory`, zero before the first frame, is part of the run's state. The controller must be a function
 * of these fields alone. */
enum { ORR_ANSWER_MEMORY = 64 };

struct orr_answer {
  const struct orr_run_link *link;
  const struct orr_channel_table *table;
  int64_t time_ns; /* simulated, of the frame */
  const double *telemetry;
  double *commands; /* those of its last answer, to be overwritten */
  double *memory;   /* [ORR_ANSWER_MEMORY] */
};

typedef void orr_answer_fn(const struct orr_answer *answer);

struct orr_linked {
  struct orr_carrier base;
  const struct orr_channel_table *table;
  orr_answer_fn *answer;
  int command_numbers;
  int *place; /* [channels of the layout] where its numbers begin among the controller's */
  double *telemetry;
  double *newest; /* [command_numbers] the answer to the last frame out; the rules have a copy, if it was good */
  double *before; /* [command_numbers] the one before it: kept for saved states alone, which hold both */
  double *memory; /* [ORR_ANSWER_MEMORY] */
};

/* [init] Sets the controller that answers from now on. */
void orr_linked_answer_by(struct orr_carrier *carrier, orr_answer_fn *answer);

#endif
