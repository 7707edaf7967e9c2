/* The closed loops of a session: laid out, closed at the start, part of the state.
 *
 * For session.c: orr_session_loops_create after the plant is there (its devices say which hinges are driven). [init]
 */
#ifndef ORR_IO_SESSION_LOOPS_H
#define ORR_IO_SESSION_LOOPS_H

#include "core/loops/assemble.h"
#include "core/loops/closed.h"

struct orr_session_loops {
  struct orr_loops *loops;
  struct orr_closed *closed;
  struct orr_assembly assembly; /* how far the initial state was from closed */
  enum orr_status start; /* ORR_ERROR_LOOP_OPEN where it cannot be closed with driven hinges left where they are */
  double open_rate;      /* m/s or rad/s: how fast the worst equation opens with the initial speeds */
};

/* Bytes of the loops' block, and then, once that is initialised, of the solver's. */
size_t orr_session_loops_size(const struct orr_description *description, const struct orr_model *model);

/* Compiles the loops into the first block and closes q [q_count] in place; u must fit. */
void orr_session_loops_close(struct orr_session_loops *s, void *block, size_t bytes,
                             const struct orr_description *description, struct orr_workspace *ws, double *q, double *u);

/* The solver into a block of orr_closed_size(s->loops), for motion from q. */
void orr_session_loops_solver(struct orr_session_loops *s, void *block, size_t bytes, struct orr_workspace *ws,
                              double *q, double *u);

#endif
