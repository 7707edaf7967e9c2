#include "io/session/recording.h"

#include <stdlib.h>

#include "io/session/saved_state.h"

void orr_recording_choose(struct orr_recording *r, struct orr_session *s) {
  const struct orr_channel_table *table = &s->plant->table;
  const bool *asked = s->run->record.chosen;
  *r = (struct orr_recording){.session = s, .chosen = calloc((size_t)table->count + 1, sizeof *r->chosen)};
  if (!r->chosen)
    abort();
  int truth = s->plant->truth_count ? s->plant->truths[0].channel : table->count;
  for (int i = 0; i < table->count; i++) {
    bool is_truth = i >= truth && i < truth + s->plant->truth_count;
    r->chosen[i] = asked ? asked[i] : !is_truth || table->channels[i].asked;
    if (r->chosen[i])
      orr_plant_ask(s->plant, i);
  }
}

/* The executive's record of a frame is complete when the next one is at work. */
static const struct orr_frame_record *timing_of(struct orr_recording *r) {
  if (!r->live || r->live->frames <= r->timed)
    return NULL;
  r->timed = r->live->frames;
  return &r->live->last;
}

static void take_frame(struct orr_recorder *recorder, const struct orr_session *s) {
  struct orr_recording *r = (struct orr_recording *)recorder;
  int64_t frame = orr_plant_frame(s->plant);
  orr_logger_frame(r->logger, frame, timing_of(r));
  r->next = frame + 1;
}

static void take_event(void *user, const struct orr_event *event) {
  const struct orr_recording *r = user;
  orr_logger_event(r->logger, event->frame, event->kind, event->name, event->text);
}

static void state_of(const void *user, uint64_t *words) { orr_session_state_get(user, words); }

bool orr_recording_start(struct orr_recording *r, const struct orr_recording_request *request, char *message,
                         size_t size) {
  struct orr_session *s = r->session;
  int links = 0;
  r->links = calloc(s->run->link_count + 1, sizeof *r->links);
  if (!r->links)
    abort();
  for (size_t i = 0; i < s->run->link_count; i++)
    if (s->links[i].outside)
      r->links[links++] = (struct orr_logger_link){s->run->links[i].name, &s->links[i].outside->rules};
  const struct orr_logger_desc desc = {.path = request->path,
                                       .library = request->library,
                                       .table = &s->plant->table,
                                       .chosen = r->chosen,
                                       .values = s->plant->values,
                                       .links = r->links,
                                       .link_count = links,
                                       .state_head = orr_saved_state_head(s, request->build),
                                       .state = state_of,
                                       .user = s,
                                       .step_ns = s->plant->step_ns,
                                       .first_frame = orr_plant_frame(s->plant),
                                       .every = s->run->record.every,
                                       .checkpoint_frames = s->run->record.checkpoint_frames,
                                       .limit = s->run->record.limit,
                                       .keep_free = request->keep_free,
                                       .patient = request->patient,
                                       .zstd = s->run->record.zstd,
                                       .caged = request->caged,
                                       .stages = request->stages,
                                       .facts = request->facts,
                                       .fact_count = request->fact_count,
                                       .machine = request->machine,
                                       .machine_count = request->machine_count,
                                       .texts = request->texts,
                                       .text_count = request->text_count};
  r->next = desc.first_frame;
  r->logger = orr_logger_start(&desc, message, size);
  r->recorder.frame = take_frame;
  if (r->logger)
    orr_session_tell(s, &r->recorder);
  if (r->logger && s->procedure) {
    s->procedure->tell = take_event;
    s->procedure->user = r;
  }
  if (r->logger && s->control) {
    s->control->tell = take_event;
    s->control->user = r;
  }
  return r->logger != NULL;
}

void orr_recording_checkpoint(struct orr_recording *r) {
  int64_t frame = orr_plant_frame(r->session->plant);
  if (r->logger && orr_logger_is_checkpoint(r->logger, frame))
    orr_logger_checkpoint(r->logger, frame);
}

const struct orr_logger_result *orr_recording_stop(struct orr_recording *r, const struct orr_mcap_pair *end,
                                                   size_t end_count) {
  if (!r->logger)
    return NULL;
  orr_session_tell_no_more(r->session, &r->recorder);
  if (r->session->procedure)
    r->session->procedure->tell = NULL;
  if (r->session->control)
    r->session->control->tell = NULL;
  return orr_logger_stop(r->logger, r->next, timing_of(r), end, end_count);
}

void orr_recording_free(struct orr_recording *r) {
  orr_logger_free(r->logger);
  free(r->chosen);
  free(r->links);
  *r = (struct orr_recording){0};
}
