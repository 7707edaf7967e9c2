/* What people write to a run that flies, and what it answers: lines of text, one JSON object for each. [any] but where
 * said; no state.
 *
 *   pause | step N | go | set PATH VALUE | fault NAME | clear [NAME] | mark TEXT | get PATTERNS | status | stop
 */
#ifndef ORR_IO_CONTROL_TEXT_H
#define ORR_IO_CONTROL_TEXT_H

#include <stdio.h>

#include "io/control/control.h"

enum { ORR_CONTROL_LINE = 1024, ORR_CONTROL_MESSAGE = 400 };

/* What a line may speak of. */
struct orr_control_scope {
  const struct orr_channel_table *table;
  const bool *known; /* [table->count] channels that are computed */
  const struct orr_run_fault *faults;
  size_t fault_count;
  const struct orr_run_link *links;
  size_t link_count;
  bool inside; /* the controllers in the program answer the links: a batch run */
  bool may_pause;
};

/* [init] Reads a line of any bytes, without its end. False with what is wrong in `message`. O(length · channels). */
bool orr_control_parse(const struct orr_control_scope *scope, const char *line, size_t length,
                       struct orr_control_command *out, char *message, size_t size);

/* [init] Answers, each a line with its end: what went wrong; and the values of a snapshot that fit the patterns of a
 * GET, which parse found good; with NULL for them, the units of those channels. */
void orr_control_write_text(FILE *out, const char *text);
/* Of a SET: the link that commands the channel, too, and what that means; nothing where none does. */
void orr_control_write_commanded(FILE *out, const struct orr_control_scope *scope,
                                 const struct orr_control_command *command);
void orr_control_write_error(FILE *out, const char *message);
void orr_control_write_values(FILE *out, const struct orr_control_scope *scope, const char *patterns,
                              const double *values);

#endif
