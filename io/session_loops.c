#include "io/session_loops.h"

#include <math.h>
#include <stdlib.h>

#include "core/loops/loop_motion.h"

/* Speeds of an initial state may miss by what a file rounds; that is taken away, more is a mistake. */
static const double MOST_RATE = 1e-6;

size_t orr_session_loops_size(const struct orr_description *description, const struct orr_model *model) {
  return orr_loops_size(description, model);
}

static void measure_rates(struct orr_session_loops *s, const double *u) {
  struct orr_loops *l = s->loops;
  double *rates = calloc((size_t)l->row_count + 1, sizeof *rates);
  if (!rates)
    abort();
  orr_loops_velocity(l, u, rates);
  for (int r = 0; r < l->row_count; r++)
    s->open_rate = fmax(s->open_rate, fabs(rates[r]));
  free(rates);
  if (!(s->open_rate <= MOST_RATE))
    s->start = ORR_ERROR_LOOP_OPEN;
}

void orr_session_loops_close(struct orr_session_loops *s, void *block, size_t bytes,
                             const struct orr_description *description, struct orr_workspace *ws, double *q,
                             double *u) {
  *s = (struct orr_session_loops){.loops = orr_loops_init(block, bytes, description, ws->model)};
  size_t scratch = (orr_assembly_size(s->loops) / ORR_ALIGNMENT + 1) * ORR_ALIGNMENT;
  void *memory = aligned_alloc(ORR_ALIGNMENT, scratch);
  if (!memory)
    abort();
  s->assembly = orr_loops_assemble_first(s->loops, ws, memory, q);
  free(memory);
  if (!s->assembly.closed || s->assembly.prescribed)
    s->start = ORR_ERROR_LOOP_OPEN;
  measure_rates(s, u);
}

void orr_session_loops_solver(struct orr_session_loops *s, void *block, size_t bytes, struct orr_workspace *ws,
                              double *q, double *u) {
  s->closed = orr_closed_init(block, bytes, s->loops);
  s->closed->failed_loop = 0;
  if (s->start != ORR_OK)
    return;
  orr_closed_reference(s->closed, ws, q);
  s->start = orr_closed_project(s->closed, ws, q, u);
}
