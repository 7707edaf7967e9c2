#include "tools/run/faults_report.h"

#include <stdio.h>

#include "tools/common/text.h"

enum { WHY_TEXT = 320 };

static bool is_named(const struct orr_run_sequence *sequence, size_t fault) {
  for (int i = 0; i < sequence->count; i++)
    if (sequence->steps[i].sort == ORR_STEP_FAULT && sequence->steps[i].fault == (int)fault)
      return true;
  return false;
}

/* Why a fault has not begun, and what to do; NULL: it began, or was cleared before. */
static const char *why_not(const struct orr_session *s, size_t i, char why[WHY_TEXT]) {
  const struct orr_run_fault *f = &s->run->faults[i];
  enum orr_fault_phase phase = orr_fault_phase(s->procedure->faults, (int)i);
  if (phase == ORR_FAULT_DUE) {
    snprintf(why, WHY_TEXT, "it was to begin with the frame after the last one");
    return "let the run go on for longer";
  }
  if (phase != ORR_FAULT_WAITS)
    return NULL;
  if (f->when) {
    snprintf(why, WHY_TEXT, "'%.240s' did not come true", f->when->text);
    return "compare the condition with what its channels did (--csv FILE), or let the run go on for longer";
  }
  if (f->at_ns >= 0) {
    snprintf(why, WHY_TEXT, "its time, %.9g s, lies behind the end of the run", 1e-9 * (double)f->at_ns);
    return "let it begin sooner ('at', 'frame'), or let the run go on for longer";
  }
  if (is_named(&s->run->sequence, i)) {
    snprintf(why, WHY_TEXT, "the sequence did not come to the step that names it");
    return "see above which step the sequence came to, or let the run go on for longer";
  }
  snprintf(why, WHY_TEXT, "it has no 'at', 'frame' or 'when', and no step of a sequence names it");
  return "say when it begins, or name it in a step ('fault: NAME') or from outside ('orrery ctl')";
}

void orr_faults_print(const struct orr_session *s) {
  char why[WHY_TEXT];
  for (size_t i = 0; s->procedure && i < s->run->fault_count; i++) {
    const char *todo = why_not(s, i, why);
    if (todo)
      printf("fault       %s never began: %s\n            do:  %s\n", s->run->faults[i].name, why, todo);
  }
}

json_t *orr_faults_json(const struct orr_session *s) {
  json_t *list = json_array();
  char why[WHY_TEXT];
  for (size_t i = 0; s->procedure && i < s->run->fault_count; i++) {
    const char *todo = why_not(s, i, why);
    if (todo)
      json_array_append_new(list, json_pack("{s:o, s:o, s:s}", "fault", orr_json_text(s->run->faults[i].name), "why",
                                            orr_json_text(why), "do", todo));
  }
  return list;
}
