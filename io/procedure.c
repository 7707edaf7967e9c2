#include "io/procedure.h"

static void note(struct orr_procedure *p, const char *kind, const char *name, const char *text) {
  const struct orr_event event = {orr_plant_frame(p->plant), kind, name, text};
  if (p->event_count < ORR_EVENTS_KEPT)
    p->events[p->event_count] = event;
  p->event_count++;
  if (p->tell)
    p->tell(p->user, &event);
}

static void hear_of_fault(void *user, const struct orr_run_fault *fault, bool begins) {
  note(user, "fault", fault->name, begins ? "begins" : "ends");
}

bool orr_procedure_needed(const struct orr_run *run) {
  bool probes = false;
  for (size_t i = 0; i < run->expect_count; i++)
    probes |= run->expects[i].probe != NULL;
  return run->fault_count > 0 || probes;
}

struct orr_procedure *orr_procedure_layout(const struct orr_run *run, struct orr_plant *plant,
                                           struct orr_block *block) {
  struct orr_procedure *p = ORR_TAKE(block, struct orr_procedure, 1);
  struct orr_faults *faults = orr_faults_layout(run, plant, block);
  struct orr_assess *assess = orr_assess_layout(run, plant, block);
  if (!block->base)
    return NULL;
  *p = (struct orr_procedure){.plant = plant, .faults = faults, .assess = assess};
  faults->told = hear_of_fault;
  faults->user = p;
  return p;
}

void orr_procedure_ask(struct orr_procedure *p) {
  orr_faults_ask(p->faults);
  orr_assess_ask(p->assess);
}

void orr_procedure_start(struct orr_procedure *p) {
  p->event_count = 0;
  orr_faults_start(p->faults);
  orr_assess_start(p->assess);
}

void orr_procedure_begin_frame(struct orr_procedure *p) { orr_faults_begin_frame(p->faults); }

void orr_procedure_before_latch(struct orr_procedure *p) { orr_faults_before_latch(p->faults); }

void orr_procedure_after_latch(struct orr_procedure *p) { orr_faults_after_latch(p->faults); }

void orr_procedure_look(struct orr_procedure *p) { orr_assess_look(p->assess); }

void orr_procedure_judge(struct orr_procedure *p) { orr_faults_judge(p->faults); }

size_t orr_procedure_state_words(const struct orr_procedure *p) { return orr_faults_state_words(p->faults); }

size_t orr_procedure_replayed_words(const struct orr_procedure *p) { return orr_faults_replayed_words(p->faults); }

void orr_procedure_state_get(const struct orr_procedure *p, uint64_t *words) { orr_faults_state_get(p->faults, words); }

void orr_procedure_state_put(struct orr_procedure *p, const uint64_t *words) { orr_faults_state_put(p->faults, words); }

bool orr_procedure_state_is_sound(const struct orr_procedure *p, const uint64_t *words, int64_t now_ns) {
  return orr_faults_state_is_sound(p->faults, words, now_ns);
}
