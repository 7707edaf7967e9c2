#include "tools/common/fix.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/tick/board.h"

bool orr_fix_parse_moves(struct orr_fix_request *request, const char *word) {
  while (word && *word) {
    char *end;
    long id = strtol(word, &end, 10);
    if (end == word || id <= 0 || (*end && *end != ',') || request->move_count == ORR_FIX_MOVES_MAX)
      return false;
    request->moves[request->move_count++] = (pid_t)id;
    word = *end ? end + 1 : end;
  }
  return request->move_count > 0;
}

static void say_failures(const struct orr_undo_failures *failures, FILE *out) {
  if (failures->count)
    fprintf(out, "fix: %u changes could not be taken back, the first: %s: %s; do it by hand\n", failures->count,
            failures->first, strerror(failures->error));
}

void orr_fix_repair(FILE *out) {
  orr_board_sweep();
  struct orr_undo_failures failures;
  unsigned found = orr_isolate_repair("", ORR_ISOLATE_STATE_DIR, &failures);
  if (found)
    fprintf(out, "fix: repaired what %u killed run%s had left\n", found, found == 1 ? "" : "s");
  say_failures(&failures, out);
}

static void say_applied(const struct orr_isolation *isolation, int core, FILE *out) {
  if (isolation->cpuset_error && isolation->method == ORR_ISOLATE_V1 && isolation->other)
    fprintf(out, "fix: no cpuset: process %ld has one for another core, and cgroup v1 has room for one such run\n",
            (long)isolation->other);
  else if (isolation->cpuset_error)
    fprintf(out, "fix: no cpuset: %s: %s\n", isolation->cpuset_step, strerror(isolation->cpuset_error));
  else if (isolation->method == ORR_ISOLATE_V2)
    fprintf(out, "fix: core %d has a cpuset of its own, an isolated partition: no other task may use it\n", core);
  else
    fprintf(out, "fix: core %d has a cpuset of its own; %u tasks moved off, %u bound to it\n", core,
            isolation->tasks_moved, isolation->tasks_refused);
  fprintf(out, "fix: %u interrupts moved, %u refused; throttling %s\n", isolation->irqs_moved, isolation->irqs_refused,
          isolation->throttling_error ? strerror(isolation->throttling_error) : "off");
}

bool orr_fix_apply(const struct orr_fix_request *request, int core, struct orr_isolation *isolation, FILE *out) {
  *isolation = (struct orr_isolation){.journal = {.fd = -1}};
  if (request->wanted && core < 0)
    fputs("fix: nothing changed: the run may use any core (core: any), so there is none to clear\n", out);
  if (!request->wanted || core < 0)
    return true;
  const struct orr_isolate_options o = {
      .core = core,
      .root = "",
      .state_dir = ORR_ISOLATE_STATE_DIR,
      .cpuset = true,
      .irqs = true,
      .throttling = true,
      .clear = request->move_count == 0,
      .tasks = request->moves,
      .task_count = request->move_count,
  };
  orr_isolate_apply(isolation, &o);
  if (isolation->journal_error) {
    fprintf(out, "fix: nothing changed%s: no journal in " ORR_ISOLATE_STATE_DIR ": %s\n",
            geteuid() != 0 ? ", for that needs root" : "", strerror(isolation->journal_error));
    return true;
  }
  if (isolation->taken_by)
    return false;
  say_applied(isolation, core, out);
  return true;
}

void orr_fix_undo(const struct orr_fix_request *request, struct orr_isolation *isolation, FILE *out) {
  if (!request->wanted || isolation->journal.fd < 0)
    return;
  const struct orr_undo_failures failures = orr_isolate_undo(isolation);
  say_failures(&failures, out);
  if (!failures.count)
    fprintf(out, "fix: everything taken back\n");
}
