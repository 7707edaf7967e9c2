/* CAN databases (.dbc), as far as frames and their signals go: messages (BO_), signals (SG_) and which of those are
 * floats (SIG_VALTYPE_). Everything else is skipped by its shape.
 *
 * A text of any bytes becomes plain numbers in an arena, or a message with its line. Every signal lies inside its
 * message, has 1 to 64 bits and a factor that is finite and not 0. [init]; one thread at a time for an arena.
 */
#ifndef ORR_IO_CONFIG_RUN_DBC_H
#define ORR_IO_CONFIG_RUN_DBC_H

#include "io/config/environment/tables.h"
#include "io/config/run/run_layout.h"

struct orr_dbc_signal {
  const char *name, *unit;
  enum orr_field_number number;
  int width;
  bool little;
  uint32_t bit; /* in the data, as orr_run_field counts: from the lowest bit, or big-endian from the highest */
  double factor, offset;
  bool by_turns; /* it stands in some of the frames alone, or says in which */
};

struct orr_dbc_message {
  uint32_t id; /* with ORR_RUN_CAN_EXTENDED where it has 29 bits */
  const char *name;
  uint32_t bytes;
  size_t signal_count;
  struct orr_dbc_signal *signals;
};

struct orr_dbc {
  size_t message_count;
  struct orr_dbc_message *messages;
};

/* [init] False with the problem. O(text · messages). */
bool orr_dbc_read(struct orr_text text, struct orr_arena *arena, struct orr_dbc *out,
                  struct orr_table_problem *problem);

#endif
