/* The two measures of `orrery bench --links`: round trips, and publication at the tick. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/executive.h"
#include "rt/tick/clock.h"
#include "tools/bench/bench_links.h"

enum { WARM_UP = 200, SILENT_MAX = 100, FIRST_FRAMES = 10, START_NS = 20 * ORR_NS_PER_MS };

/* ---- peers ------------------------------------------------------------------------------------------------------- */

static void bind_to(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)core, &one);
  sched_setaffinity(0, sizeof one, &one);
}

bool orr_links_rise(int priority) {
  const struct sched_param to = {.sched_priority = priority};
  return sched_setscheduler(0, priority > 0 ? SCHED_FIFO : SCHED_OTHER, &to) == 0;
}

pid_t orr_links_fork(const struct orr_links_conditions *conditions) {
  pid_t peer = fork();
  if (peer == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bind_to(conditions->peer_core);
    orr_links_rise(conditions->peer_priority);
  }
  return peer;
}

void orr_links_reap(pid_t *peer, bool kill_it) {
  if (*peer <= 0)
    return;
  if (kill_it)
    kill(*peer, SIGKILL);
  waitpid(*peer, NULL, 0);
  *peer = 0;
}

/* A frame that was written over before it was seen has come with the next. */
void orr_links_arrived(struct orr_links_slice *s, const struct orr_links_conditions *conditions, uint64_t frame,
                       int64_t tick_ns) {
  int64_t now_ns = orr_clock_now_ns(), period_ns = conditions->period_ns;
  uint64_t from = s->last_frame + 1 > FIRST_FRAMES ? s->last_frame + 1 : FIRST_FRAMES;
  for (uint64_t i = from; i <= frame; i++) {
    int64_t off_ns = (i == from ? now_ns - s->last_ns : 0) - period_ns;
    orr_histogram_add(&s->arrival, now_ns - tick_ns + (int64_t)(frame - i) * period_ns);
    orr_histogram_add(&s->interval, off_ns < 0 ? -off_ns : off_ns);
  }
  s->last_frame = frame;
  s->last_ns = now_ns;
}

/* ---- the thread that is measured --------------------------------------------------------------------------------- */

/* As the executive prepares its own: its core, its priority. */
static void rise(const struct orr_links_conditions *conditions, cpu_set_t *before) {
  sched_getaffinity(0, sizeof *before, before);
  bind_to(conditions->core);
  orr_links_rise(conditions->priority);
}

static void sink(const cpu_set_t *before) {
  orr_links_rise(0);
  sched_setaffinity(0, sizeof *before, before);
}

/* When the answer came, or 0. The clock is looked at only when it is here, but for once in a while. */
static int64_t await(struct orr_links_path *path, int64_t frame, int64_t begin_ns) {
  enum { LOOKS = 1000 };
  for (;;) {
    for (int i = 0; i < LOOKS; i++)
      if (path->answered(path, frame))
        return orr_clock_now_ns();
    if (orr_clock_now_ns() - begin_ns > ORR_LINKS_PATIENCE_NS)
      return 0;
  }
}

const char *orr_measure_trips(struct orr_links_path *path, const struct orr_links_conditions *conditions,
                              struct orr_links_slice *slice) {
  cpu_set_t before;
  int silent = 0;
  const char *wrong = path->open(path, conditions, NULL);
  rise(conditions, &before);
  for (int64_t frame = 0; !wrong && frame < WARM_UP + conditions->trips; frame++) {
    int64_t begin_ns = orr_clock_now_ns();
    path->publish(path, frame, begin_ns);
    int64_t end_ns = await(path, frame, begin_ns);
    silent = end_ns ? 0 : silent + 1; /* in a row: a busy machine keeps a peer waiting now and then */
    if (silent > SILENT_MAX)
      wrong = "the peer does not answer";
    else if (end_ns && frame >= WARM_UP)
      orr_histogram_add(&slice->trip, end_ns - begin_ns);
    else if (frame >= WARM_UP)
      slice->lost++;
    path->latch(path, frame);
  }
  sink(&before);
  path->close(path);
  return wrong;
}

/* ---- publication ------------------------------------------------------------------------------------------------- */

static int publish(void *user, struct orr_frame *frame) {
  struct orr_links_path *path = user;
  path->publish(path, (int64_t)frame->number, frame->tick_ns);
  return 0;
}

static int latch(void *user, struct orr_frame *frame) {
  struct orr_links_path *path = user;
  path->latch(path, (int64_t)frame->number);
  return 0;
}

static const struct orr_work empty_plant = {
    .stages = {{.name = "publish", .run = publish}, {.name = "latch", .run = latch}}, .stage_count = 2};

static const char *publish_by_executive(struct orr_links_path *path, const struct orr_links_conditions *conditions) {
  struct orr_executive executive;
  const struct orr_executive_options options = {.cycle = {.period_ns = conditions->period_ns,
                                                          .policy = ORR_OVERRUN_CATCH_UP,
                                                          .catch_up_limit = UINT32_MAX,
                                                          .frames = (uint64_t)conditions->frames},
                                                .name = "bench",
                                                .core = conditions->core,
                                                .priority = conditions->priority};
  const char *wrong = orr_executive_start(&executive, &options, &empty_plant, path);
  if (!wrong)
    orr_executive_join(&executive);
  orr_executive_close(&executive);
  return wrong;
}

/* The same grid, the same sleep, and nothing else. */
static void publish_by_itself(struct orr_links_path *path, const struct orr_links_conditions *conditions) {
  cpu_set_t before;
  rise(conditions, &before);
  int64_t tick_ns = (orr_clock_now_ns() + START_NS) / conditions->period_ns * conditions->period_ns;
  for (int64_t frame = 0; frame < conditions->frames; frame++, tick_ns += conditions->period_ns) {
    while (orr_clock_sleep_until(tick_ns) == EINTR) {
    }
    path->publish(path, frame, tick_ns);
    path->latch(path, frame);
  }
  sink(&before);
}

const char *orr_measure_publication(struct orr_links_path *path, const struct orr_links_conditions *conditions,
                                    bool executive, struct orr_links_slice *slice) {
  const char *wrong = path->open(path, conditions, slice);
  if (!wrong && executive)
    wrong = publish_by_executive(path, conditions);
  else if (!wrong)
    publish_by_itself(path, conditions);
  orr_clock_sleep_until(orr_clock_now_ns() + START_NS); /* the last frame is on its way */
  path->close(path);
  return wrong;
}
