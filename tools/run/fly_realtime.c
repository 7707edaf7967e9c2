#include "tools/run/fly_realtime.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rt/machine/rights.h"
#include "rt/tick/clock.h"
#include "tools/common/commands.h"
#include "tools/common/neighbours.h"
#include "tools/common/timing_report.h"
#include "tools/run/control_start.h"
#include "tools/run/ending_report.h"
#include "tools/run/junit.h"
#include "tools/run/links_report.h"
#include "tools/run/run_report.h"
#include "tools/run/state_file.h"

enum { WORST_SHOWN = 5, LOOKS_PER_SCREEN = 4, END_TEXT = ORR_LINKS_END_TEXT };

struct flight {
  const struct orr_realtime_request *request;
  struct orr_realtime realtime;
  struct orr_executive executive;
  struct orr_isolation isolation;
  struct orr_environment before, after;
  struct orr_control_socket *control;
  const char *stages[ORR_STAGES_MAX]; /* their names, for the log */
  int64_t first_frame;
  int signal;
};

/* ---- signals ----------------------------------------------------------------------------------------------------- */

void orr_run_realtime_block(sigset_t *signals, sigset_t *before) {
  orr_links_signals(signals);
  pthread_sigmask(SIG_BLOCK, signals, before);
}

/* What was pending has been answered: unblocked, it would end the process before it has tidied up. */
static void let_signals_back(const sigset_t *signals, const sigset_t *before) {
  const struct timespec now = {0};
  while (sigtimedwait(signals, NULL, &now) > 0)
    ;
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* The step of the sequence, for `orrery top`. */
static void say_step(struct orr_stats *stats, const struct orr_control *control) {
  char text[ORR_STATS_DOING_MAX];
  int64_t since;
  const struct orr_run_step *step = control ? orr_control_step(control, &since) : NULL;
  if (!step || atomic_load(&control->frame) < 0)
    return;
  snprintf(text, sizeof text, "%s%s%s", step->name, step->text[0] ? " " : "", step->text);
  orr_stats_say(stats, text, since);
}

int orr_run_realtime_wait(struct orr_executive *executive, const struct orr_control *control, const sigset_t *signals,
                          struct orr_run_status *status, struct orr_run_log *log, struct orr_progress *progress,
                          uint64_t frames) {
  const struct timespec look = {.tv_nsec = 50 * ORR_NS_PER_MS};
  char text[ORR_RUN_LOG_TEXT];
  int caught = 0, looks = 0;
  while (!orr_executive_ended(executive)) {
    int signal = sigtimedwait(signals, NULL, &look);
    say_step(executive->board.stats, control);
    orr_executive_show(executive);
    if (status && ++looks % LOOKS_PER_SCREEN == 0)
      orr_run_status_draw(status, executive->board.stats);
    struct orr_live live;
    if (progress && ++looks % LOOKS_PER_SCREEN == 0 && orr_stats_live(executive->board.stats, &live))
      orr_progress_show(progress, (double)live.frames / (double)frames);
    if (log && orr_run_log_watch(log, text, sizeof text)) {
      if (status)
        orr_run_status_wipe(status);
      fputs(text, stderr);
    }
    if (signal <= 0)
      continue;
    orr_executive_stop(executive);
    caught = signal;
  }
  return caught;
}

/* ---- what it says ------------------------------------------------------------------------------------------------ */

/* Late frames in three heaps: our own doing; the machine's; those that only followed from a frame before. */
struct overruns {
  uint64_t own, machine, following;
};

static struct overruns sort_overruns(const struct orr_live *live) {
  struct overruns o = {.own = orr_live_own(live), .following = live->late[ORR_CAUSE_PREVIOUS]};
  o.machine = orr_live_late(live) - o.own - o.following;
  return o;
}

static json_t *overruns_json(const struct orr_live *live) {
  struct overruns o = sort_overruns(live);
  return json_pack("{s:I, s:I, s:I, s:I, s:I}", "own", (json_int_t)o.own, "machine", (json_int_t)o.machine, "following",
                   (json_int_t)o.following, "late", (json_int_t)orr_live_late(live), "ran_past_the_next_tick",
                   (json_int_t)live->overran);
}

/* The steal of the run alone, out of two readings of counts since boot. */
static struct orr_environment environment_of(const struct flight *f) {
  struct orr_environment e = f->after;
  e.steal_ticks -= f->before.steal_ticks;
  e.total_ticks -= f->before.total_ticks;
  return e;
}

static json_t *rehearsal_json(const struct orr_rehearsal *r) {
  return json_pack("{s:i, s:I, s:I, s:I, s:I}", "frames", r->frames, "typical_ns", (json_int_t)r->typical_ns,
                   "longest_ns", (json_int_t)r->longest_ns, "evaluation_ns", (json_int_t)r->evaluation_ns, "sensors_ns",
                   (json_int_t)r->sensors_ns);
}

/* The executive knows of a stage no more than that it ended the run; the session knows why. */
static const char *end_words(const struct flight *f, char text[END_TEXT]) {
  enum orr_cycle_end end = f->executive.cycle.result.end;
  if (orr_links_end(f->realtime.session, text))
    return text;
  if (f->realtime.session->status != ORR_OK)
    return "the solver failed";
  if (end != ORR_CYCLE_STOPPED || !f->signal)
    return orr_cycle_end_name(end);
  snprintf(text, END_TEXT, "stopped by a signal (%s)", strsignal(f->signal));
  return text;
}

static json_t *whole_json(const struct flight *f, const struct orr_run_report *report, const struct orr_live *live) {
  const struct orr_environment environment = environment_of(f);
  char text[END_TEXT];
  json_t *root = orr_run_report_json(report);
  json_object_set_new(root, "end", json_string(end_words(f, text)));
  json_object_set_new(root, "overruns", overruns_json(live));
  json_object_set_new(root, "rehearsal", rehearsal_json(&f->realtime.rehearsal));
  json_t *timing = orr_timing_json(f->executive.board.stats, live);
  json_object_del(json_object_get(timing, "counts"), "end"); /* the executive's own word: above is more */
  json_object_set_new(root, "timing", timing);
  json_object_set_new(root, "environment", orr_environment_json(&environment));
  json_object_set_new(root, "lacks", orr_lacks_json(&f->executive.lacks));
  return root;
}

static void print_json(const struct flight *f, const struct orr_run_report *report, const struct orr_live *live) {
  json_t *root = whole_json(f, report, live);
  json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  putchar('\n');
  json_decref(root);
}

static void print_where(const struct flight *f) {
  const struct orr_stats *s = f->executive.board.stats;
  const struct orr_environment e = environment_of(f);
  char core[32] = "any core", priority[32] = "no real-time priority", text[2][ORR_DURATION_TEXT];
  if (s->core >= 0)
    snprintf(core, sizeof core, "core %d", s->core);
  if (s->priority > 0)
    snprintf(priority, sizeof priority, "SCHED_FIFO %d", s->priority);
  printf("loop        %s, %s, phase %s, spin %s\n", core, priority, orr_duration_text(s->phase_ns, text[0]),
         orr_duration_text(s->margin_ns, text[1]));
  printf("machine     Linux %s, %s, clock %s", e.kernel, e.preempt_rt ? "PREEMPT_RT" : "not PREEMPT_RT",
         e.clock_source[0] ? e.clock_source : "unknown");
  if (s->core >= 0)
    printf(", core %s", e.isolated || e.cpuset_exclusive || f->isolation.attach_path[0] ? "isolated" : "not isolated");
  if (e.governor[0])
    printf(", governor %s", e.governor);
  if (e.total_ticks > 0)
    printf(", stolen %.2g %%", 100.0 * (double)e.steal_ticks / (double)e.total_ticks);
  putchar('\n');
}

static void print_text(const struct flight *f, const struct orr_run_report *report, const struct orr_live *live) {
  const struct orr_rehearsal *seen = &f->realtime.rehearsal;
  struct overruns o = sort_overruns(live);
  char a[ORR_DURATION_TEXT], b[ORR_DURATION_TEXT], text[END_TEXT];
  orr_run_report_heading(report);
  printf("end         %s\n", end_words(f, text));
  print_where(f);
  printf("frame       %s typically, %s at most, undisturbed, in %d rehearsed\n", orr_duration_text(seen->typical_ns, a),
         orr_duration_text(seen->longest_ns, b), seen->frames);
  printf("overruns    own %llu, the machine's %llu, following from an earlier one %llu\n\n", (unsigned long long)o.own,
         (unsigned long long)o.machine, (unsigned long long)o.following);
  orr_timing_print(stdout, f->executive.board.stats, live);
  putchar('\n');
  orr_timing_print_worst(stdout, f->executive.board.stats, WORST_SHOWN);
  putchar('\n');
  orr_run_report_end(report);
}

/* Which frame ended the run, and why. */
static void print_stop(const struct flight *f) {
  const struct orr_cycle_result *result = &f->executive.cycle.result;
  const struct orr_frame_record *r = &result->record;
  const struct orr_stats *stats = f->executive.board.stats;
  char text[ORR_DURATION_TEXT];
  if (f->realtime.session->end != ORR_PORT_GOES_ON) {
    return; /* the summary says which link, and why */
  } else if (f->realtime.session->status != ORR_OK) {
    orr_run_report_failure(f->request->path, f->realtime.session, f->realtime.session->status);
  } else if (result->end == ORR_CYCLE_OVERRUN) {
    fprintf(stderr, "%s: error: the run stopped at frame %llu, which ended %s past the next tick: %s", f->request->path,
            (unsigned long long)(r->frame + (uint64_t)f->first_frame),
            orr_duration_text(r->end_ns - stats->period_ns, text), orr_cause_name((enum orr_cause)r->cause));
    if (r->cause == ORR_CAUSE_STAGE || r->cause == ORR_CAUSE_PAGE_FAULT)
      fprintf(stderr, " (%s)", stats->stage_name[r->stage]);
    fputs("; overrun: {policy: stop} asks for that\n", stderr);
  } else if (f->signal) {
    fprintf(stderr, "%s: ended by a signal (%s)\n", f->request->path, strsignal(f->signal));
  }
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* From the first tick to the one after the last frame, or to its end where that was later. */
static double took_s(const struct flight *f) {
  const struct orr_stats *stats = f->executive.board.stats;
  const struct orr_frame_record *last = &f->executive.cycle.result.record;
  int64_t whole_ns = last->end_ns > stats->period_ns ? last->end_ns : stats->period_ns;
  return last->tick_ns ? (double)(last->tick_ns + whole_ns - stats->first_tick_ns) / (double)ORR_NS_PER_S : 0;
}

/* The picture and the state, the state only where the solver has one. */
static bool write_files(const struct flight *f) {
  const struct orr_realtime_request *r = f->request;
  const struct orr_session *session = f->realtime.session;
  bool flown = orr_plant_frame(session->plant) > f->first_frame;
  bool good = !flown || !r->plot || orr_plot_write(r->plot, r->plot_path, r->path, session, f->executive.board.stats);
  return (!r->save || session->status != ORR_OK || orr_state_file_save(r->save, session)) && good;
}

static int64_t frames_asked(const struct orr_run *run) { return run->duration_ns / run->plant.step_ns; }

static int summarise(const struct flight *f) {
  struct orr_live live;
  char text[END_TEXT];
  enum orr_cycle_end end = f->executive.cycle.result.end;
  struct orr_run_report report = {
      .path = f->request->path,
      .mode = "realtime",
      .session = f->realtime.session,
      .first_frame = f->first_frame,
      .origin = f->request->origin,
      .frames_asked = frames_asked(f->realtime.session->run),
      .with_links = true,
      .signalled = f->signal != 0,
      .took_s = took_s(f),
      .end = end == ORR_CYCLE_FRAMES_DONE ? NULL : end_words(f, text),
      .stats = f->executive.board.stats,
      .live = &live,
      .log = f->request->log,
  };
  fflush(stdout);
  print_stop(f);
  if (!orr_stats_live(f->executive.board.stats, &live))
    return ORR_EXIT_BAD;
  report.unwritten = !write_files(f);
  json_t *root = f->request->json_file ? whole_json(f, &report, &live) : NULL;
  report.unwritten |= root && !orr_run_report_save(f->request->json_file, root);
  report.unwritten |= f->request->junit && !orr_junit_write(f->request->junit, &report);
  json_decref(root);
  (f->request->json ? print_json : print_text)(f, &report, &live);
  *f->request->told = true;
  return (int)orr_ending_report_judge(&report).exit;
}

/* A signal came while the links waited for flight software: there is no executive yet. */
static int summarise_no_frame(const struct flight *f, const struct orr_session *session) {
  const struct orr_run_report report = {.path = f->request->path,
                                        .mode = "realtime",
                                        .session = session,
                                        .first_frame = f->first_frame,
                                        .frames_asked = frames_asked(session->run),
                                        .with_links = true};
  orr_run_report_tell(&report, f->request->json);
  *f->request->told = true;
  return (int)orr_ending_report_judge(&report).exit;
}

static int fly(struct flight *f, const struct orr_executive_options *options, const sigset_t *signals) {
  struct orr_session *session = f->realtime.session;
  const char *wrong = orr_executive_prepare(&f->executive, options, &f->realtime.work, &f->realtime);
  orr_timing_print_lacks(stderr, &f->executive.lacks);
  if (wrong)
    fprintf(stderr, "%s: error: %s\n", f->request->path, wrong);
  if (wrong || !orr_links_wait(session, f->request->ready)) {
    orr_run_log_drop(f->request->log);
    return ORR_EXIT_BAD;
  }
  orr_environment_read(&f->before, f->executive.core, "");
  if (session->end != ORR_PORT_GOES_ON) {
    orr_run_log_drop(f->request->log);
    return summarise_no_frame(f, session);
  }
  if (f->request->sandbox != ORR_LINKS_NO_SANDBOX) /* what is left to do is to write files, and to undo --fix */
    (void)orr_rights_drop(ORR_RIGHTS_FILES | ORR_RIGHTS_MEMORY | (f->request->fix->wanted ? ORR_RIGHTS_UNDO : 0));
  orr_executive_go(&f->executive);
  f->signal =
      orr_run_realtime_wait(&f->executive, session->control, signals, f->request->status, f->request->log, NULL, 0);
  if (f->request->status)
    orr_run_status_wipe(f->request->status);
  orr_executive_join(&f->executive);
  orr_control_socket_close(f->control);
  f->control = NULL;
  if (f->realtime.session->status == ORR_OK)
    orr_session_record_last(f->realtime.session);
  orr_session_settle(f->realtime.session);
  orr_run_log_stop(f->request->log);
  orr_environment_read(&f->after, f->executive.core, "");
  return summarise(f);
}

/* −1: any. */
static int core_of(int asked) { return asked == ORR_CORE_AUTO ? orr_setup_choose_core() : asked; }

/* What can be refused before anybody is waited for. */
static bool may_start(const struct orr_realtime_request *request, const struct orr_run *run) {
  if (run->plant.step_ns < ORR_PERIOD_MIN_NS || run->plant.step_ns > ORR_PERIOD_MAX_NS) {
    fprintf(stderr, "%s: error: a step of %.9g ms in real time: 0.05 ms to 100 ms can be had\n", request->path,
            1e-6 * (double)run->plant.step_ns);
    return false;
  }
  return !request->fix->wanted ||
         !orr_neighbours_refuse(core_of(run->realtime.core), request->path, "--set realtime.core=N", stderr);
}

static int fly_fixed(struct flight *f, struct orr_executive_options *options, const sigset_t *signals) {
  const struct orr_fix_request *fix = f->request->fix;
  if (fix->wanted)
    options->core = core_of(options->core);
  if (!orr_fix_apply(fix, options->core, &f->isolation, stderr)) /* between the first look and now */
    return may_start(f->request, f->realtime.session->run), ORR_EXIT_BAD;
  options->isolation = fix->wanted ? &f->isolation : NULL;
  orr_neighbours_warn(core_of(options->core), stderr);
  int status = fly(f, options, signals);
  orr_executive_close(&f->executive);
  orr_fix_undo(fix, &f->isolation, stderr);
  return status;
}

static void start_log(struct flight *f) {
  struct orr_run_log *log = f->request->log;
  for (size_t i = 0; i < f->realtime.work.stage_count; i++)
    f->stages[i] = f->realtime.work.stages[i].name;
  orr_run_log_start(log, f->request->diagnostics, f->stages, false);
  if (log->recording.logger)
    orr_realtime_log(&f->realtime, &log->recording, &f->executive.cycle.live);
}

int orr_run_realtime(const struct orr_realtime_request *request, struct orr_session *session) {
  const struct orr_run *run = session->run;
  struct flight f = {.request = request, .first_frame = orr_plant_frame(session->plant)};
  sigset_t signals, before;
  orr_run_realtime_block(&signals, &before);
  orr_fix_repair(stderr);
  if (!may_start(request, run) || !orr_links_open(session, false, request->sandbox)) {
    let_signals_back(&signals, &before);
    return ORR_EXIT_BAD;
  }
  const struct orr_control_thread served = {.avoid_core = core_of(run->realtime.core),
                                            .caged = request->sandbox != ORR_LINKS_NO_SANDBOX};
  f.control = orr_run_serve_control(session, request->path, "realtime", served);
  orr_realtime_init(&f.realtime, session);
  start_log(&f);
  struct orr_executive_options options = orr_realtime_options(&f.realtime, request->path, (uint64_t)frames_asked(run));
  options.keeps_rights = request->sandbox == ORR_LINKS_NO_SANDBOX;
  int status = fly_fixed(&f, &options, &signals);
  orr_control_socket_close(f.control);
  orr_realtime_close(&f.realtime);
  let_signals_back(&signals, &before);
  return status;
}
