#include "tools/timing/timing_slice.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/session/realtime.h"
#include "rt/machine/denormals.h"
#include "rt/tick/calm.h"
#include "tools/common/doctor_checks.h"
#include "tools/common/ending.h"
#include "tools/common/text.h"
#include "tools/common/timing_report.h"
#include "tools/common/version.h"
#include "tools/run/controller.h"
#include "tools/run/fly_realtime.h"
#include "tools/run/links_report.h"
#include "tools/run/run_report.h"
#include "tools/timing/timing_load.h"
#include "tools/timing/timing_peer.h"
#include "tools/timing/timing_result.h"

enum { WORST_KEPT = 8, LOAD_TEXT = 400, HOST = 65, MORE_REGIONS = 2 };

struct slice {
  struct orr_realtime realtime; /* first: the user of the work */
  const struct orr_timing_case *c;
  struct orr_session *session;
  struct orr_executive executive;
  struct orr_environment before, after;
  struct orr_timing_peers peers;
  orr_stage_fn *first;      /* the stage that stamp stands before */
  int64_t *tick_ns;         /* [frames], where an echo sees frames */
  uint64_t warm_up, frames; /* all; the first of which are not measured */
  bool watched;
  struct orr_region regions[ORR_SESSION_REGIONS + 1 + ORR_LOGGER_REGIONS + MORE_REGIONS];
};

/* ---- the flight -------------------------------------------------------------------------------------------------- */

/* Before the first stage, where the tick of each frame is to be known afterwards. One store. */
static int stamp(void *user, struct orr_frame *frame) {
  struct slice *s = user;
  s->tick_ns[frame->number] = frame->tick_ns;
  return s->first(user, frame);
}

/* The options of the run file, for so many frames, with what is measured besides. */
static struct orr_executive_options options_of(struct slice *s) {
  struct orr_executive_options o = orr_realtime_options(&s->realtime, s->c->run_path, s->frames);
  o.cycle.warm_up_frames = s->warm_up;
  o.cycle.watch = s->watched = orr_calm_works();
  memcpy(s->regions, o.regions, o.region_count * sizeof *o.regions);
  o.regions = s->regions;
  if (s->peers.count > 0 && s->peers.link[0]) {
    s->first = s->realtime.work.stages[0].run;
    s->realtime.work.stages[0].run = stamp;
    s->regions[o.region_count++] = (struct orr_region){s->tick_ns, s->frames * sizeof *s->tick_ns};
  }
  s->regions[o.region_count++] = (struct orr_region){s, sizeof *s};
  return o;
}

/* To the end of the frames. An enum orr_exit. */
static int fly(struct slice *s, const struct orr_executive_options *options, const sigset_t *signals) {
  const char *wrong = orr_executive_prepare(&s->executive, options, &s->realtime.work, s);
  if (wrong)
    fprintf(stderr, "%s: error: %s\n", s->c->run_path, wrong);
  if (wrong)
    return ORR_EXIT_BAD;
  orr_timing_peers_go(&s->peers);
  if (!orr_links_wait(s->session, NULL))
    return ORR_EXIT_BAD;
  if (s->session->end != ORR_PORT_GOES_ON)
    return ORR_EXIT_INCOMPLETE;
  orr_environment_read(&s->before, s->executive.core, "");
  orr_executive_go(&s->executive);
  int caught = orr_run_realtime_wait(&s->executive, NULL, signals, NULL, NULL, NULL, 0);
  orr_executive_join(&s->executive);
  orr_environment_read(&s->after, s->executive.core, "");
  orr_session_settle(s->session);
  if (s->session->status != ORR_OK)
    orr_run_report_failure(s->c->run_path, s->session, s->session->status);
  if (s->session->status != ORR_OK)
    return ORR_EXIT_BAD;
  return caught || s->executive.cycle.result.end != ORR_CYCLE_FRAMES_DONE ? ORR_EXIT_INCOMPLETE : ORR_EXIT_OK;
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static json_t *doctor_json(const struct orr_environment *e) {
  struct orr_check checks[ORR_CHECKS_MAX];
  json_t *list = json_array();
  size_t count = orr_doctor_judge(e, checks);
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:o}", "name", checks[i].name, "health",
                                    orr_health_name(checks[i].health), "finding", orr_json_text(checks[i].finding)));
  return list;
}

static json_t *case_json(const struct orr_timing_case *c) {
  char load[LOAD_TEXT];
  json_t *settings = json_array();
  const char *slash = strrchr(c->path, '/');
  for (size_t i = 0; i < c->setting_count; i++)
    json_array_append_new(settings, orr_json_text(c->settings[i]));
  return json_pack("{s:o, s:o, s:o, s:s, s:I, s:I, s:I, s:o, s:o}", "name", orr_json_text(slash ? slash + 1 : c->path),
                   "run", orr_json_text(c->run_path), "set", settings, "identity", c->identity, "period_ns",
                   (json_int_t)c->run->plant.step_ns, "slice_ns", (json_int_t)c->slice_ns, "warm_up_ns",
                   (json_int_t)c->warm_up_ns, "load", orr_json_text(orr_timing_load_text(c, load, sizeof load)), "peer",
                   orr_json_text(c->peer));
}

static void put_histogram(json_t *to, const char *name, const struct orr_histogram *h) {
  if (name[0] && h->total > 0)
    json_object_set_new(to, name, orr_timing_bins_json(h));
}

static void put_link(const struct slice *s, size_t peer, json_t *to) {
  struct orr_histogram *publication = calloc(2, sizeof *publication);
  char name[ORR_TIMING_NAME];
  if (!publication)
    return;
  orr_timing_peers_judge(&s->peers, peer, s->tick_ns, s->warm_up, &publication[0], &publication[1]);
  snprintf(name, sizeof name, "link %.20s publication", s->peers.link[peer]->name);
  put_histogram(to, name, &publication[0]);
  snprintf(name, sizeof name, "link %.20s round trip", s->peers.link[peer]->name);
  put_histogram(to, name, &publication[1]);
  free(publication);
}

static json_t *distributions_json(const struct slice *s) {
  static const char *const fixed[] = {"start", "wake-up", "slack"};
  const struct orr_stats *stats = s->executive.board.stats;
  json_t *to = json_object();
  for (size_t i = 0; i < ORR_HISTOGRAM_STAGE_0; i++)
    put_histogram(to, fixed[i], &stats->histogram[i]);
  for (size_t i = 0; i < stats->stage_count; i++)
    put_histogram(to, stats->stage_name[i], &stats->histogram[ORR_HISTOGRAM_STAGE_0 + i]);
  for (size_t i = 0; i < s->peers.count; i++)
    if (s->peers.link[i])
      put_link(s, i, to);
  return to;
}

static json_t *calm_json(const struct orr_stats *stats) {
  json_t *stages = json_object();
  for (size_t i = 0; i < stats->stage_count && stats->calm.frames > 0; i++)
    if (stats->stage_name[i][0])
      json_object_set_new(stages, stats->stage_name[i],
                          json_pack("{s:I, s:I}", "min_ns", (json_int_t)stats->calm.min_ns[i], "sum_ns",
                                    (json_int_t)stats->calm.sum_ns[i]));
  return json_pack("{s:I, s:o}", "frames", (json_int_t)stats->calm.frames, "stages", stages);
}

static json_t *slice_json(const struct slice *s, const struct orr_live *live) {
  const struct orr_stats *stats = s->executive.board.stats;
  json_t *timing = orr_timing_json(stats, live), *worst = json_object_get(timing, "worst"), *root = json_object();
  char hash[17];
  while (json_array_size(worst) > WORST_KEPT)
    json_array_remove(worst, json_array_size(worst) - 1);
  snprintf(hash, sizeof hash, "%016" PRIx64, orr_session_hash(s->session));
  json_object_set_new(root, "state_hash", json_string(hash));
  json_object_set_new(root, "phase_ns", json_integer(stats->phase_ns));
  json_object_set_new(root, "margin_ns", json_integer(stats->margin_ns));
  json_object_set_new(root, "core", json_integer(stats->core));
  json_object_set_new(root, "priority", json_integer(stats->priority));
  json_object_set(root, "counts", json_object_get(timing, "counts"));
  json_object_set(root, "worst", worst);
  orr_links_json(s->session, "all frames flown", root);
  if (s->watched)
    json_object_set_new(root, "calm", calm_json(stats));
  json_object_set_new(root, "distributions", distributions_json(s));
  json_decref(timing);
  return root;
}

static json_t *result_json(const struct slice *s, const struct orr_live *live) {
  char host[HOST] = "localhost", when[32];
  struct orr_environment steal = s->after;
  time_t now = time(NULL);
  struct tm utc;
  gethostname(host, sizeof host - 1);
  strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  steal.steal_ticks -= s->before.steal_ticks;
  steal.total_ticks -= s->before.total_ticks;
  json_t *build = json_pack("{s:s, s:s, s:s, s:s}", "version", orr_version(), "commit", orr_version_commit(),
                            "compiler", orr_version_compiler(), "all", orr_version_build());
  json_t *slice = slice_json(s, live);
  json_object_set_new(slice, "stolen",
                      json_real(steal.total_ticks > 0 ? (double)steal.steal_ticks / (double)steal.total_ticks : 0));
  json_t *part =
      json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:[o]}", "when", when, "host", orr_json_text(host), "build", build,
                "case", case_json(s->c), "environment", orr_environment_json(&s->after), "doctor",
                doctor_json(&s->after), "lacks", orr_lacks_json(&s->executive.lacks), "slices", slice);
  return json_pack("{s:i, s:[o]}", "orrery_timing", 1, "parts", part);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int core_of(const struct orr_run *run) {
  return run->realtime.core == ORR_CORE_AUTO ? orr_setup_choose_core() : run->realtime.core;
}

static int fly_and_keep(struct slice *s, const sigset_t *signals, json_t **result) {
  struct orr_live live;
  orr_realtime_init(&s->realtime, s->session);
  const struct orr_executive_options options = options_of(s);
  int status = fly(s, &options, signals);
  orr_timing_peers_end(&s->peers);
  if (status == ORR_EXIT_OK && orr_stats_live(s->executive.board.stats, &live))
    *result = result_json(s, &live);
  orr_executive_close(&s->executive);
  orr_realtime_close(&s->realtime);
  return *result || status != ORR_EXIT_OK ? status : ORR_EXIT_BAD;
}

int orr_timing_slice_fly(const struct orr_timing_case *c, json_t **result) {
  struct slice *s = calloc(1, sizeof *s);
  sigset_t signals, before;
  int64_t step_ns = c->run->plant.step_ns;
  *result = NULL;
  if (!s)
    return ORR_EXIT_BAD;
  s->c = c;
  s->warm_up = (uint64_t)(c->warm_up_ns / step_ns);
  s->frames = s->warm_up + (uint64_t)(c->slice_ns / step_ns);
  s->tick_ns = calloc(s->frames + 1, sizeof *s->tick_ns);
  int status = ORR_EXIT_BAD;
  if (s->tick_ns && orr_timing_peers_open(c, s->frames, core_of(c->run), &s->peers)) {
    orr_run_realtime_block(&signals, &before);
    orr_rt_flush_denormals();
    s->session = orr_session_create(c->run, orr_controller_answer);
    enum orr_status solver = orr_session_start(s->session);
    if (solver != ORR_OK)
      orr_run_report_failure(c->run_path, s->session, solver);
    else if (orr_links_open(s->session, false, ORR_LINKS_SANDBOX_IF_ANY))
      status = fly_and_keep(s, &signals, result);
    orr_session_destroy(s->session);
  }
  orr_timing_peers_close(&s->peers);
  free(s->tick_ns);
  free(s);
  return status;
}
