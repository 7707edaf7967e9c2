/* `--fix` of doctor and run: clears a core at run time, and undoes that.
 *
 * repair → apply → the run → undo, all from one thread. Each prints on `out` what it did.
 */
#ifndef ORR_TOOLS_COMMON_FIX_H
#define ORR_TOOLS_COMMON_FIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "rt/machine/isolate.h"

enum { ORR_FIX_MOVES_MAX = 64 };

struct orr_fix_request {
  bool wanted;
  pid_t moves[ORR_FIX_MOVES_MAX]; /* move only these tasks off the core; none: all */
  size_t move_count;
};

/* "12,345": process ids. False when it is no such list. */
bool orr_fix_parse_moves(struct orr_fix_request *request, const char *word);

/* Undoes what killed runs have left: their changes and their statistics. */
void orr_fix_repair(FILE *out);

/* Does nothing when it is not wanted, or no core is given (−1). False, with nothing changed, when another run has
 * cleared that core. */
bool orr_fix_apply(const struct orr_fix_request *request, int core, struct orr_isolation *isolation, FILE *out);
void orr_fix_undo(const struct orr_fix_request *request, struct orr_isolation *isolation, FILE *out);

#endif
