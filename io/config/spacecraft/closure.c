/* Has core put the closed loops of a spacecraft together and tells what does not fit. */
#include <string.h>

#include "io/config/spacecraft/build.h"
#include "io/config/spacecraft/draft.h"

static bool is_apart(const struct orr_assembly *a, struct orr_loop_gap gap) {
  return gap.metres > ORR_LOOP_TOLERANCE * (a->size > 1 ? a->size : 1);
}

static const char *gap_text(struct orr_arena *arena, const struct orr_assembly *a, struct orr_loop_gap gap) {
  bool apart = is_apart(a, gap), askew = gap.radians > ORR_LOOP_TOLERANCE;
  if (apart && askew)
    return orr_arena_format(arena, "%.3g m and %.3g rad", gap.metres, gap.radians);
  return askew ? orr_arena_format(arena, "%.3g rad", gap.radians) : orr_arena_format(arena, "%.3g m", gap.metres);
}

static void tell_open(struct orr_draft *draft, const struct orr_description *d, const struct orr_loops *loops,
                      const struct orr_assembly *a) {
  for (int i = 0; i < loops->count; i++) {
    struct orr_loop_gap gap = orr_loop_gap(loops, i);
    if (!is_apart(a, gap) && gap.radians <= ORR_LOOP_TOLERANCE)
      continue;
    const char *left = gap_text(draft->reader->arena, a, gap);
    orr_report(draft->reader->diagnostics, ORR_ERROR, d->loops[i].source, "open-loop",
               "loop %d does not close in any posture that was found: %s remain open in the best; check the places of "
               "its nodes, and that its hinges can reach",
               i + 1, left);
  }
}

/* "2 (linkage)", or its number alone where the file gives it no name. */
static const char *name_of(struct orr_draft *draft, const struct orr_description *d, int i) {
  bool named = draft->loop_drafts[i].name.node && d->loops[i].name;
  return named ? orr_arena_format(draft->reader->arena, "%d (%.60s)", i + 1, d->loops[i].name)
               : orr_arena_format(draft->reader->arena, "%d", i + 1);
}

static void tell_redundant(struct orr_draft *draft, const struct orr_description *d, struct orr_loops *loops,
                           const struct orr_workspace *ws) {
  int *redundant = orr_arena_alloc(draft->reader->arena, (size_t)loops->count, sizeof *redundant);
  int rank = orr_loops_rank(loops, ws, NULL, redundant);
  for (int i = 0; i < loops->count; i++)
    if (redundant[i])
      orr_report(draft->reader->diagnostics, ORR_WARNING, d->loops[i].source, "redundant-loop",
                 "%d of the %d equations of loop %s follow%s from others: all loops together have %d equations of rank "
                 "%d, and some forces in them cannot be known",
                 redundant[i], loops->loops[i].rows, name_of(draft, d, i), redundant[i] == 1 ? "s" : "",
                 loops->row_count, rank);
}

void orr_draft_judge_loops(struct orr_draft *draft, const struct orr_description *d) {
  struct orr_build b;
  if (!orr_build_try(&b, d, ORR_MODEL_DEFAULT))
    return; /* its tree is at fault, and that has been told */
  if (b.loops->row_count > ORR_MOST_LOOP_ROWS) {
    orr_report(draft->reader->diagnostics, ORR_ERROR, d->loops[0].source, "too-many",
               "the loops have %d equations, and at most %d are taken", b.loops->row_count, ORR_MOST_LOOP_ROWS);
    orr_build_destroy(&b);
    return;
  }
  double *q = orr_arena_alloc(draft->reader->arena, (size_t)b.model->q_count, sizeof *q);
  memcpy(q, b.ws->q, sizeof *q * (size_t)b.model->q_count);
  orr_build_assemble(&b, q);
  if (b.assembly.closed)
    tell_redundant(draft, d, b.loops, b.ws);
  else if (!draft->state_follows)
    tell_open(draft, d, b.loops, &b.assembly);
  orr_build_destroy(&b);
}
