#include "io/procedure/procedure.h"

#include <string.h>

static void note(struct orr_procedure *p, int64_t frame, const char *kind, const char *name, const char *text) {
  const struct orr_event event = {frame, kind, name, text};
  if (p->event_count < ORR_EVENTS_KEPT)
    p->events[p->event_count] = event;
  p->event_count++;
  if (p->tell)
    p->tell(p->user, &event);
}

static void hear_of_fault(void *user, const struct orr_run_fault *fault, bool begins) {
  struct orr_procedure *p = user;
  note(p, orr_plant_frame(p->plant), "fault", fault->name, begins ? "begins" : "ends");
}

/* A step acts in the frame after the one on which it was judged; the first ones in the first frame. */
static void hear_of_step(void *user, const struct orr_run_step *step, const char *what) {
  struct orr_procedure *p = user;
  note(p, orr_plant_frame(p->plant) + p->judging, "step", step->name, what);
}

bool orr_procedure_needed(const struct orr_run *run) {
  bool probes = false;
  for (size_t i = 0; i < run->expect_count; i++)
    probes |= run->expects[i].probe != NULL;
  return run->fault_count > 0 || run->sequence.count > 0 || probes;
}

struct orr_procedure *orr_procedure_layout(const struct orr_run *run, struct orr_plant *plant,
                                           struct orr_block *block) {
  struct orr_procedure *p = ORR_TAKE(block, struct orr_procedure, 1);
  struct orr_faults *faults = orr_faults_layout(run, plant, block);
  struct orr_assess *assess = orr_assess_layout(run, plant, block);
  struct orr_sequence *sequence = orr_sequence_layout(run, plant, faults, assess, block);
  if (!block->base)
    return NULL;
  *p = (struct orr_procedure){.plant = plant, .faults = faults, .assess = assess, .sequence = sequence};
  sequence->told = hear_of_step;
  sequence->user = p;
  faults->told = hear_of_fault;
  faults->user = p;
  return p;
}

void orr_procedure_ask(struct orr_procedure *p) {
  orr_faults_ask(p->faults);
  orr_assess_ask(p->assess);
  orr_sequence_ask(p->sequence);
}

void orr_procedure_start(struct orr_procedure *p) {
  p->event_count = 0;
  p->begun = -1;
  orr_faults_start(p->faults);
  orr_assess_start(p->assess);
  orr_sequence_start(p->sequence);
}

void orr_procedure_begin_frame(struct orr_procedure *p) {
  if (p->begun == orr_plant_frame(p->plant))
    return;
  p->begun = orr_plant_frame(p->plant);
  orr_sequence_begin(p->sequence);
  orr_faults_begin_frame(p->faults);
}

void orr_procedure_before_latch(struct orr_procedure *p) {
  orr_faults_before_latch(p->faults);
  orr_sequence_give(p->sequence);
}

void orr_procedure_after_latch(struct orr_procedure *p) { orr_faults_after_latch(p->faults); }

void orr_procedure_look(struct orr_procedure *p) { orr_assess_look(p->assess); }

void orr_procedure_judge(struct orr_procedure *p) {
  p->judging = true;
  orr_faults_judge(p->faults);
  orr_sequence_step(p->sequence);
  p->judging = false;
}

/* ---- state: what a replay has again first ------------------------------------------------------------------------ */

size_t orr_procedure_state_words(const struct orr_procedure *p) {
  return orr_faults_state_words(p->faults) + p->sequence->word_count;
}

size_t orr_procedure_replayed_words(const struct orr_procedure *p) {
  return p->sequence->replayed + orr_faults_replayed_words(p->faults);
}

void orr_procedure_state_get(const struct orr_procedure *p, uint64_t *words) {
  const struct orr_sequence *s = p->sequence;
  memcpy(words, s->words, 8 * s->replayed);
  orr_faults_state_get(p->faults, words + s->replayed);
  words += s->replayed + orr_faults_state_words(p->faults);
  memcpy(words, s->words + s->replayed, 8 * (s->word_count - s->replayed));
}

void orr_procedure_state_put(struct orr_procedure *p, const uint64_t *words) {
  struct orr_sequence *s = p->sequence;
  p->begun = -1;
  memcpy(s->words, words, 8 * s->replayed);
  orr_faults_state_put(p->faults, words + s->replayed);
  words += s->replayed + orr_faults_state_words(p->faults);
  memcpy(s->words + s->replayed, words, 8 * (s->word_count - s->replayed));
}

bool orr_procedure_state_is_sound(const struct orr_procedure *p, const uint64_t *words, int64_t now_ns) {
  return orr_sequence_is_sound(p->sequence, words, now_ns) &&
         orr_faults_state_is_sound(p->faults, words + p->sequence->replayed, now_ns);
}
