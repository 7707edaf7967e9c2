#include "io/session/realtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/tick/clock.h"

/* Our own computing between two marks is a fixed amount of work: beyond twice its longest undisturbed stretch, and what
 * a cold cache may cost, time was not ours. */
enum { GAP_FACTOR = 2, GAP_ROOM_NS = 10000 };

enum { ROUNDS = 3, ROUND_NS = 33 * 1000 * 1000, FEWEST_FRAMES = 2 };

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static void mark(struct orr_integration_hook *hook, const struct orr_evaluation_point *point) {
  const struct orr_marking *m = (const struct orr_marking *)hook;
  (void)point;
  if (m->frame)
    orr_frame_mark(m->frame);
}

/* The stage of the session that the frame names. */
static int run_stage(void *user, struct orr_frame *frame) {
  struct orr_realtime *r = user;
  r->marking.frame = frame;
  r->session->tick_ns = frame->tick_ns;
  int code = orr_session_stage_run(&orr_session_stages[frame->which], r->session);
  r->marking.frame = NULL;
  return code;
}

static int run_stage_anyway(void *user, struct orr_frame *frame) {
  run_stage(user, frame);
  return 0;
}

/* With a log: the state behind the last stage, which is before the next frame is published. */
static int run_last_and_log(void *user, struct orr_frame *frame) {
  struct orr_realtime *r = user;
  int code = r->last(user, frame);
  if (code == 0)
    orr_recording_checkpoint(r->recording);
  return code;
}

static int64_t gap_for(int64_t undisturbed_ns) { return GAP_FACTOR * undisturbed_ns + GAP_ROOM_NS; }

/* 0, all of it our own, where a carrier does not know: a controller that is linked in computes there. */
static int64_t gap_of_links(const struct orr_run *run) {
  int64_t sum_ns = GAP_ROOM_NS;
  for (size_t i = 0; i < run->link_count; i++) {
    int64_t handover_ns = orr_carrier_kind(run->links[i].transport)->handover_ns;
    if (handover_ns == 0)
      return 0;
    sum_ns += handover_ns;
  }
  return sum_ns;
}

static void add_stage(struct orr_work *work, int which, orr_stage_fn *run, int64_t mark_gap_ns) {
  assert(work->stage_count < ORR_STAGES_MAX);
  work->stages[work->stage_count++] = (struct orr_stage){
      .name = orr_session_stages[which].name, .run = run, .which = which, .mark_gap_ns = mark_gap_ns};
}

static struct orr_work work_of(const struct orr_rehearsal *seen, int64_t handover_ns) {
  const int64_t gap_ns[ORR_SESSION_WORKS] = {
      [ORR_SESSION_HANDS_OVER] = handover_ns,
      [ORR_SESSION_RECORDS] = GAP_ROOM_NS,
      [ORR_SESSION_INTEGRATES] = gap_for(seen->evaluation_ns),
      [ORR_SESSION_SENSES] = gap_for(seen->sensors_ns),
  };
  struct orr_work work = {.stage_count = 0};
  for (int i = 0; orr_session_stages[i].name; i++)
    add_stage(&work, i, run_stage, gap_ns[orr_session_stages[i].work]);
  return work;
}

struct orr_work orr_realtime_computing(const struct orr_realtime *r) {
  struct orr_work work = {.stage_count = 0};
  for (size_t i = 0; i < r->work.stage_count; i++) {
    const struct orr_stage *stage = &r->work.stages[i];
    if (orr_session_stage_computes(&orr_session_stages[stage->which]))
      add_stage(&work, stage->which, run_stage_anyway, stage->mark_gap_ns);
  }
  return work;
}

/* ---- rehearsal --------------------------------------------------------------------------------------------------- */

/* Looks at the clock where the run will mark, and keeps the longest stretch between two looks. */
struct stretch {
  struct orr_integration_hook hook; /* first: the integration calls back with it */
  int64_t last_ns, longest_ns;
};

static void look(struct stretch *s) {
  int64_t now_ns = orr_clock_now_ns();
  s->longest_ns = now_ns - s->last_ns > s->longest_ns ? now_ns - s->last_ns : s->longest_ns;
  s->last_ns = now_ns;
}

static void look_at_evaluation(struct orr_integration_hook *hook, const struct orr_evaluation_point *point) {
  (void)point;
  look((struct stretch *)hook);
}

/* What one frame took in the fastest of its rehearsals so far. */
struct rehearsed {
  int64_t whole_ns;
  int64_t stretch_ns[ORR_SESSION_WORKS]; /* of the stages that compute */
};

static int64_t less(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t more(int64_t a, int64_t b) { return a > b ? a : b; }

/* The stages that compute, and no others: nobody outside hears of a rehearsal. */
static bool rehearse_frame(struct orr_session *session, struct stretch *s, struct rehearsed *frame) {
  int64_t begin_ns = s->last_ns = orr_clock_now_ns();
  for (const struct orr_session_stage *stage = orr_session_stages; stage->name; stage++) {
    if (!orr_session_stage_computes(stage))
      continue;
    s->longest_ns = 0;
    if (orr_session_stage_run(stage, session) != 0)
      return false;
    look(s);
    frame->stretch_ns[stage->work] = less(frame->stretch_ns[stage->work], s->longest_ns);
  }
  frame->whole_ns = less(frame->whole_ns, s->last_ns - begin_ns);
  return true;
}

static int by_whole(const void *a, const void *b) {
  int64_t x = ((const struct rehearsed *)a)->whole_ns, y = ((const struct rehearsed *)b)->whole_ns;
  return x < y ? -1 : x > y;
}

static struct orr_rehearsal conclude(struct rehearsed *frames, int count) {
  struct orr_rehearsal seen = {.frames = count};
  if (count == 0)
    return seen;
  qsort(frames, (size_t)count, sizeof *frames, by_whole);
  seen.typical_ns = frames[count / 2].whole_ns;
  seen.longest_ns = frames[count - 1].whole_ns;
  for (int i = 0; i < count; i++) {
    seen.evaluation_ns = more(seen.evaluation_ns, frames[i].stretch_ns[ORR_SESSION_INTEGRATES]);
    seen.sensors_ns = more(seen.sensors_ns, frames[i].stretch_ns[ORR_SESSION_SENSES]);
  }
  return seen;
}

/* The first round finds how many frames there is time for; the others fly the same ones again from the same state. */
static struct orr_rehearsal rehearse(struct orr_session *session) {
  struct orr_integration *integration = session->plant->integration;
  struct stretch s = {.hook.evaluation = look_at_evaluation};
  struct rehearsed *frames = calloc(ORR_REHEARSED_FRAMES_MAX, sizeof *frames);
  uint64_t *words = calloc(orr_session_state_words(session) + 1, sizeof *words);
  if (!frames || !words)
    abort();
  for (int i = 0; i < ORR_REHEARSED_FRAMES_MAX; i++)
    frames[i] = (struct rehearsed){INT64_MAX, {[ORR_SESSION_INTEGRATES] = INT64_MAX, [ORR_SESSION_SENSES] = INT64_MAX}};
  int count = ORR_REHEARSED_FRAMES_MAX;
  integration->hook = &s.hook;
  orr_session_state_get(session, words);
  for (int round = 0; round < ROUNDS; round++) {
    int64_t end_ns = orr_clock_now_ns() + ROUND_NS;
    int done = 0;
    while (done < count && (round > 0 || done < FEWEST_FRAMES || orr_clock_now_ns() < end_ns) &&
           rehearse_frame(session, &s, &frames[done]))
      done++;
    count = done;
    orr_session_state_put(session, words);
  }
  integration->hook = NULL;
  struct orr_rehearsal seen = conclude(frames, count);
  free(words);
  free(frames);
  return seen;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

void orr_realtime_init(struct orr_realtime *r, struct orr_session *session) {
  memset(r, 0, sizeof *r);
  r->session = session;
  r->rehearsal = rehearse(session);
  r->work = work_of(&r->rehearsal, gap_of_links(session->run));
  r->marking.hook.evaluation = mark;
  session->plant->integration->hook = &r->marking.hook;
  if (session->relay.priority_error)
    orr_lacks_add(&r->noted, ORR_LACK_IO_PRIORITY, session->relay.priority_error);
  memcpy(r->regions, session->regions, sizeof session->regions);
  r->region_count = session->region_count;
  r->regions[r->region_count++] = (struct orr_region){r, sizeof *r};
}

void orr_realtime_log(struct orr_realtime *r, struct orr_recording *recording, const struct orr_live *live) {
  r->recording = recording;
  recording->live = live;
  r->region_count += orr_logger_regions(recording->logger, r->regions + r->region_count, ORR_LOGGER_REGIONS);
  struct orr_stage *last = &r->work.stages[r->work.stage_count - 1];
  r->last = last->run;
  last->run = run_last_and_log;
  orr_recording_checkpoint(recording); /* the state that the first frame begins with */
}

void orr_realtime_close(struct orr_realtime *r) { r->session->plant->integration->hook = NULL; }

struct orr_executive_options orr_realtime_options(const struct orr_realtime *r, const char *name, uint64_t frames) {
  const struct orr_run *run = r->session->run;
  const struct orr_run_realtime *asked = &run->realtime;
  return (struct orr_executive_options){
      .cycle = {.period_ns = run->plant.step_ns,
                .phase_ns = asked->phase_ns,
                .margin_ns = asked->spin_ns,
                .policy = asked->policy,
                .catch_up_limit = asked->limit,
                .frames = frames},
      .name = name,
      .core = asked->core,
      .priority = asked->priority,
      .strict = asked->strict,
      .noted = &r->noted,
      .regions = r->regions,
      .region_count = r->region_count,
  };
}
