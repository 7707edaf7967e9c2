#include "io/saved_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct orr_state_head orr_saved_state_head(const struct orr_session *s, const char *build) {
  struct orr_state_head head = {.frame = orr_plant_frame(s->plant),
                                .step_ns = s->plant->step_ns,
                                .layout = orr_plant_layout_hash(s->plant),
                                .plant_words = orr_plant_state_words(s->plant)};
  for (size_t i = 0; i < s->run->link_count; i++)
    head.link_words += orr_port_state_words(s->links[i].inside);
  head.loop_words = orr_session_state_words(s) - head.plant_words - head.link_words;
  snprintf(head.build, sizeof head.build, "%s", build);
  return head;
}

void orr_saved_state_take(const struct orr_session *s, const struct orr_state_head *head, uint64_t *record) {
  orr_session_state_get(s, record + ORR_STATE_HEAD_WORDS);
  orr_state_record_seal(record, head);
}

const char *orr_saved_state_unfit(const struct orr_session *s, const struct orr_state_record *r) {
  const struct orr_state_head own = orr_saved_state_head(s, ""), *head = &r->head;
  if (head->step_ns != own.step_ns)
    return "it was saved by a run with another step";
  if (head->layout != own.layout || head->plant_words != own.plant_words)
    return "it was saved by a run of another spacecraft or other devices";
  if (head->loop_words != own.loop_words)
    return "it was saved by a run with other closed loops or other faults";
  if (head->link_words != own.link_words)
    return "it was saved by a run with other links, or other commands in them";
  return NULL;
}

const char *orr_saved_state_put(struct orr_session *s, const struct orr_state_record *r) {
  const char *wrong = orr_saved_state_unfit(s, r);
  if (wrong)
    return wrong;
  uint64_t *words = calloc(r->state_words + 1, sizeof *words);
  if (!words)
    abort();
  memcpy(words, r->state, 8 * r->state_words);
  if (!orr_plant_state_is_sound(s->plant, words, r->head.frame) ||
      !orr_session_procedure_is_sound(s, words, r->head.frame))
    wrong = "no run can have come to its state";
  else if (orr_session_state_put(s, words) != ORR_OK)
    wrong = "the solver fails at its state";
  free(words);
  return wrong;
}
