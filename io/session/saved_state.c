#include "io/session/saved_state.h"

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

/* Of the plant alone. */
static const char *unfit_of_plant(const struct orr_state_head *head, const struct orr_state_head *own) {
  if (head->step_ns != own->step_ns)
    return "it was saved by a run with another step";
  if (head->layout != own->layout || head->plant_words != own->plant_words)
    return "it was saved by a run of another spacecraft or other devices";
  return NULL;
}

const char *orr_saved_state_unfit(const struct orr_session *s, const struct orr_state_record *r) {
  const struct orr_state_head own = orr_saved_state_head(s, ""), *head = &r->head;
  const char *wrong = unfit_of_plant(head, &own);
  if (wrong)
    return wrong;
  if (head->loop_words != own.loop_words)
    return "it was saved by a run with other closed loops or other faults";
  if (head->link_words != own.link_words)
    return "it was saved by a run with other links, or other commands in them, or by an older version";
  return NULL;
}

/* Words that came from outside, in the order of this session. */
static const char *put(struct orr_session *s, int64_t frame, const uint64_t *words) {
  if (!orr_plant_state_is_sound(s->plant, words, frame) || !orr_session_procedure_is_sound(s, words, frame))
    return "no run can have come to its state";
  return orr_session_state_put(s, words) == ORR_OK ? NULL : "the solver fails at its state";
}

static uint64_t *room_for(size_t words) {
  uint64_t *room = calloc(words + 1, sizeof *room);
  if (!room)
    abort();
  return room;
}

const char *orr_saved_state_put(struct orr_session *s, const struct orr_state_record *r) {
  const char *wrong = orr_saved_state_unfit(s, r);
  if (wrong)
    return wrong;
  uint64_t *words = room_for(r->state_words);
  memcpy(words, r->state, 8 * r->state_words);
  wrong = put(s, r->head.frame, words);
  free(words);
  return wrong;
}

size_t orr_saved_state_loop_words(const struct orr_session *s) {
  return s->build.closed ? orr_closed_state_words(s->build.closed) : 0;
}

const char *orr_saved_state_put_motion(struct orr_session *s, const struct orr_state_record *r, size_t loop_words) {
  const struct orr_state_head own = orr_saved_state_head(s, ""), *head = &r->head;
  const char *wrong = unfit_of_plant(head, &own);
  if (!wrong && loop_words != orr_saved_state_loop_words(s))
    wrong = "it was saved by a run with other closed loops";
  if (wrong)
    return wrong;
  uint64_t *words = room_for(orr_session_state_words(s));
  uint64_t *links = words + own.plant_words, *loops = links + own.link_words;
  const unsigned char *from = r->state + 8 * head->plant_words;
  orr_session_state_get(s, words);
  memcpy(words, r->state, 8 * own.plant_words);
  memset(links, 0, 8 * own.link_words); /* that of links which have seen nothing */
  if (own.link_words == head->link_words)
    memcpy(links, from, 8 * own.link_words);
  from += 8 * head->link_words;
  memcpy(loops, from, 8 * (own.loop_words == head->loop_words ? own.loop_words : loop_words));
  wrong = put(s, head->frame, words);
  free(words);
  return wrong;
}
