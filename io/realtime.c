#include "io/realtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/tick/clock.h"

/* Our own computing between two marks is a fixed amount of work: beyond twice its longest undisturbed stretch, and what
 * a cold cache may cost, time was not ours. */
enum { GAP_FACTOR = 2, GAP_ROOM_NS = 10000 };

/* To publish to a link or to latch from it is to copy a few kilobytes and wake its peer by a system call: 30 µs at
 * p99.99 (README.md). */
enum { HANDOVER_NS = 100000 };

enum { ROUNDS = 3, ROUND_NS = 33 * 1000 * 1000, FEWEST_FRAMES = 2 };

/* ---- marks ------------------------------------------------------------------------------------------------------- */

static void apply_marked(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                         double *force, double *given) {
  struct orr_marking *m = (struct orr_marking *)drive;
  if (m->frame)
    orr_frame_mark(m->frame);
  m->inner->apply(m->inner, ws, point, force, given);
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static int publish(void *user, struct orr_frame *frame) {
  struct orr_realtime *r = user;
  (void)frame;
  orr_session_publish(r->session);
  return 0;
}

static int latch(void *user, struct orr_frame *frame) {
  struct orr_realtime *r = user;
  (void)frame;
  orr_session_latch(r->session);
  return (int)r->session->end; /* says which */
}

static int record(void *user, struct orr_frame *frame) {
  struct orr_realtime *r = user;
  (void)frame;
  orr_session_record(r->session);
  return 0;
}

static int integrate(void *user, struct orr_frame *frame) {
  struct orr_realtime *r = user;
  r->marking.frame = frame;
  enum orr_status status = orr_session_advance(r->session);
  r->marking.frame = NULL;
  return (int)status;
}

static int sensors(void *user, struct orr_frame *frame) {
  struct orr_realtime *r = user;
  r->marking.frame = frame;
  enum orr_status status = orr_session_sense(r->session);
  r->marking.frame = NULL;
  return (int)status;
}

static int integrate_anyway(void *user, struct orr_frame *frame) {
  integrate(user, frame);
  return 0;
}

static int sensors_anyway(void *user, struct orr_frame *frame) {
  sensors(user, frame);
  return 0;
}

static int64_t gap_for(int64_t undisturbed_ns) { return GAP_FACTOR * undisturbed_ns + GAP_ROOM_NS; }

/* 0, all of it our own, where a controller is linked in: it computes there. */
static int64_t gap_of_links(const struct orr_run *run) {
  for (size_t i = 0; i < run->link_count; i++)
    if (run->links[i].transport == ORR_TRANSPORT_LINKED)
      return 0;
  return GAP_ROOM_NS + (int64_t)run->link_count * HANDOVER_NS;
}

static struct orr_work work_of(const struct orr_rehearsal *seen, int64_t handover_ns) {
  return (struct orr_work){
      .publish = {.name = "publish", .run = publish, .mark_gap_ns = handover_ns},
      .latch = {.name = "latch", .run = latch, .mark_gap_ns = handover_ns},
      .compute = {{.name = "record", .run = record, .mark_gap_ns = GAP_ROOM_NS},
                  {.name = "integrate", .run = integrate, .mark_gap_ns = gap_for(seen->evaluation_ns)},
                  {.name = "sensors", .run = sensors, .mark_gap_ns = gap_for(seen->sensors_ns)}},
      .compute_count = 3,
  };
}

struct orr_work orr_realtime_computing(const struct orr_realtime *r) {
  struct orr_work work = r->work;
  work.publish = (struct orr_stage){.name = ""};
  work.latch = (struct orr_stage){.name = ""};
  work.compute[0] = work.compute[1];
  work.compute[1] = work.compute[2];
  work.compute[0].run = integrate_anyway;
  work.compute[1].run = sensors_anyway;
  work.compute_count = 2;
  return work;
}

/* ---- rehearsal --------------------------------------------------------------------------------------------------- */

/* Looks at the clock where the run will mark, and keeps the longest stretch between two looks. */
struct stretch {
  struct orr_drive drive;
  struct orr_drive *inner;
  int64_t last_ns, longest_ns;
};

static void look(struct stretch *s) {
  int64_t now_ns = orr_clock_now_ns();
  s->longest_ns = now_ns - s->last_ns > s->longest_ns ? now_ns - s->last_ns : s->longest_ns;
  s->last_ns = now_ns;
}

static void apply_timed(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                        double *force, double *given) {
  struct stretch *s = (struct stretch *)drive;
  look(s);
  s->inner->apply(s->inner, ws, point, force, given);
}

/* What one frame took in the fastest of its rehearsals so far. */
struct rehearsed {
  int64_t whole_ns, evaluation_ns, sensors_ns;
};

static int64_t less(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t more(int64_t a, int64_t b) { return a > b ? a : b; }

static bool rehearse_frame(struct orr_session *session, struct stretch *s, struct rehearsed *frame) {
  int64_t begin_ns = s->last_ns = orr_clock_now_ns();
  s->longest_ns = 0;
  if (orr_session_advance(session) != ORR_OK)
    return false;
  look(s);
  int64_t evaluation_ns = s->longest_ns;
  s->longest_ns = 0;
  if (orr_session_sense(session) != ORR_OK)
    return false;
  look(s);
  frame->whole_ns = less(frame->whole_ns, s->last_ns - begin_ns);
  frame->evaluation_ns = less(frame->evaluation_ns, evaluation_ns);
  frame->sensors_ns = less(frame->sensors_ns, s->longest_ns);
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
    seen.evaluation_ns = more(seen.evaluation_ns, frames[i].evaluation_ns);
    seen.sensors_ns = more(seen.sensors_ns, frames[i].sensors_ns);
  }
  return seen;
}

/* The first round finds how many frames there is time for; the others fly the same ones again from the same state. */
static struct orr_rehearsal rehearse(struct orr_session *session) {
  struct orr_integration *integration = session->plant->integration;
  struct stretch s = {.drive = *integration->drive, .inner = integration->drive};
  struct rehearsed *frames = calloc(ORR_REHEARSED_FRAMES_MAX, sizeof *frames);
  uint64_t *words = calloc(orr_session_state_words(session) + 1, sizeof *words);
  if (!frames || !words)
    abort();
  for (int i = 0; i < ORR_REHEARSED_FRAMES_MAX; i++)
    frames[i] = (struct rehearsed){INT64_MAX, INT64_MAX, INT64_MAX};
  int count = ORR_REHEARSED_FRAMES_MAX;
  s.drive.apply = apply_timed;
  integration->drive = &s.drive;
  orr_session_state_get(session, words);
  for (int round = 0; round < ROUNDS; round++) {
    int64_t end_ns = orr_clock_now_ns() + ROUND_NS;
    int done = 0;
    while (done < count && (round > 0 || done < FEWEST_FRAMES || orr_clock_now_ns() < end_ns) &&
           rehearse_frame(session, &s, &frames[done]))
      done++;
    count = done;
    integration->drive = s.inner;
    orr_session_state_put(session, words);
    integration->drive = &s.drive;
  }
  integration->drive = s.inner;
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
  struct orr_integration *integration = session->plant->integration;
  r->marking.drive = *integration->drive;
  r->marking.drive.apply = apply_marked;
  r->marking.inner = integration->drive;
  integration->drive = &r->marking.drive;
  if (session->relay.priority_error)
    orr_lacks_add(&r->noted, ORR_LACK_IO_PRIORITY, session->relay.priority_error);
  memcpy(r->regions, session->regions, sizeof session->regions);
  r->region_count = session->region_count;
  r->regions[r->region_count++] = (struct orr_region){r, sizeof *r};
}

void orr_realtime_close(struct orr_realtime *r) { r->session->plant->integration->drive = r->marking.inner; }

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
