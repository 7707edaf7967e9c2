#include "tools/common/neighbours.h"

#include <unistd.h>

#include "io/links/carriers/owner.h"
#include "rt/machine/isolate.h"
#include "rt/tick/board.h"

enum { RUNS_MAX = 64, OWNER_TEXT = 160 };

bool orr_neighbours_refuse(int core, const char *who, const char *option, FILE *out) {
  char owner[OWNER_TEXT];
  pid_t process = orr_isolate_taken(ORR_ISOLATE_STATE_DIR, core);
  if (!process)
    return false;
  orr_owner_describe(process, owner, sizeof owner);
  fprintf(out, "%s: error: core %d has been cleared by --fix for another: %s. Let that end, or name another core: %s\n",
          who, core, owner, option);
  return true;
}

void orr_neighbours_warn(int core, FILE *out) {
  char names[RUNS_MAX][ORR_BOARD_NAME_MAX];
  size_t count = core >= 0 ? orr_board_list(names, RUNS_MAX) : 0;
  for (size_t i = 0; i < count; i++) {
    struct orr_board run;
    if (orr_board_open(&run, names[i]) != 0)
      continue;
    if (orr_board_alive(&run) && run.stats->core == core && run.stats->pid != getpid()) {
      char owner[OWNER_TEXT]; /* not the name that stands there: another user may have written it */
      orr_owner_describe((pid_t)run.stats->pid, owner, sizeof owner);
      fprintf(out,
              "warning: core %d is that of another run, too: %s. Each makes frames of the other late; name another "
              "core: --set realtime.core=N\n",
              core, owner);
    }
    orr_board_close(&run);
  }
}
