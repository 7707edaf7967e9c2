#include "tools/common/ending.h"

enum orr_exit orr_exit_outranking(enum orr_exit a, enum orr_exit b) {
  static const int rank[] = {[ORR_EXIT_OK] = 0, [ORR_EXIT_INCOMPLETE] = 1, [ORR_EXIT_BAD] = 2, [ORR_EXIT_USAGE] = 3};
  return rank[a] >= rank[b] ? a : b;
}

/* A run without a duration lasts until a signal or flight software ends it. One without a frame has not begun. */
static bool ended_early(const struct orr_ending *e) {
  if (e->diverged)
    return false; /* that is the reason, and the worse one */
  if (e->frames_asked > 0)
    return e->frames_flown < e->frames_asked;
  return e->frames_flown == 0 || !e->told_to_end;
}

struct orr_judgement orr_ending_judge(const struct orr_ending *e) {
  static const enum orr_exit exits[ORR_REASONS] = {[ORR_REASON_DIVERGED] = ORR_EXIT_BAD,
                                                   [ORR_REASON_NOT_MET] = ORR_EXIT_BAD,
                                                   [ORR_REASON_UNWRITTEN] = ORR_EXIT_BAD,
                                                   [ORR_REASON_ENDED_EARLY] = ORR_EXIT_INCOMPLETE,
                                                   [ORR_REASON_OUT_OF_REACH] = ORR_EXIT_INCOMPLETE,
                                                   [ORR_REASON_UNCOMMANDED] = ORR_EXIT_INCOMPLETE};
  static const char *const verdicts[] = {
      [ORR_EXIT_OK] = "passed", [ORR_EXIT_BAD] = "failed", [ORR_EXIT_INCOMPLETE] = "incomplete"};
  struct orr_judgement j = {.reason = {[ORR_REASON_DIVERGED] = e->diverged,
                                       [ORR_REASON_NOT_MET] = e->not_met > 0,
                                       [ORR_REASON_UNWRITTEN] = e->unwritten,
                                       [ORR_REASON_ENDED_EARLY] = ended_early(e),
                                       [ORR_REASON_OUT_OF_REACH] = e->out_of_reach > 0,
                                       [ORR_REASON_UNCOMMANDED] = e->uncommanded > 0},
                            .exit = ORR_EXIT_OK};
  for (int r = 0; r < ORR_REASONS; r++)
    if (j.reason[r])
      j.exit = orr_exit_outranking(j.exit, exits[r]);
  j.verdict = verdicts[j.exit];
  return j;
}

const char *orr_reason_name(enum orr_reason reason) {
  static const char *const names[ORR_REASONS] = {[ORR_REASON_DIVERGED] = "diverged",
                                                 [ORR_REASON_NOT_MET] = "not_met",
                                                 [ORR_REASON_UNWRITTEN] = "not_written",
                                                 [ORR_REASON_ENDED_EARLY] = "ended_early",
                                                 [ORR_REASON_OUT_OF_REACH] = "begins_after_the_end",
                                                 [ORR_REASON_UNCOMMANDED] = "no_commands"};
  return names[reason];
}
