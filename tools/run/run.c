/* `orrery run`: flies a run file. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/config/text/unit.h"
#include "io/session/status_text.h"
#include "io/session/step_limit.h"
#include "rt/machine/denormals.h"
#include "rt/machine/rights.h"
#include "tools/common/commands.h"
#include "tools/common/progress.h"
#include "tools/run/control_start.h"
#include "tools/run/controller.h"
#include "tools/run/csv.h"
#include "tools/run/ending_report.h"
#include "tools/run/fly_realtime.h"
#include "tools/run/junit.h"
#include "tools/run/links_report.h"
#include "tools/run/plot.h"
#include "tools/run/restore.h"
#include "tools/run/run_log.h"
#include "tools/run/run_report.h"
#include "tools/run/state_file.h"

enum { MOST_SETTINGS = 64, WRONG_TEXT = 2000 };

struct arguments {
  const char *path, *mode, *csv, *plot, *plot_channels, *channels, *csv_rate, *save, *from_state, *from, *ready, *log,
      *junit;
  const char *json_file; /* NULL: on stdout, where asked for */
  bool json, realtime, lockstep, no_log, paused;
  enum orr_links_sandbox sandbox;
  bool told; /* the summary stands on standard output */
  struct orr_fix_request fix;
  const char *settings[MOST_SETTINGS];
  size_t setting_count;
  char *short_forms[3];       /* of settings, to free */
  char *sequence;             /* the same */
  struct orr_restore restore; /* of --from */
  char origin[PATH_MAX + 80]; /* where a restored run begins, in words; empty: at frame 0 */
};

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery run: %s%s%s%s\nTry 'orrery help run'.\n", what, word ? " '" : "", word ? word : "",
          word ? "'" : "");
  return ORR_EXIT_USAGE;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* `--duration 10s` is `--set simulation.duration=10s`. */
static const char *const short_forms[] = {"duration", "seed", "step"};

static int add_setting(struct arguments *a, const char *setting) {
  if (a->setting_count == MOST_SETTINGS)
    return usage("too many settings", NULL);
  a->settings[a->setting_count++] = setting;
  return ORR_EXIT_OK;
}

static int short_form(struct arguments *a, size_t which, const char *value) {
  size_t bytes = strlen(short_forms[which]) + strlen(value) + sizeof "simulation.=";
  free(a->short_forms[which]);
  a->short_forms[which] = malloc(bytes);
  if (!a->short_forms[which])
    return ORR_EXIT_BAD;
  snprintf(a->short_forms[which], bytes, "simulation.%s=%s", short_forms[which], value);
  return ORR_EXIT_OK;
}

/* A file of a procedure is laid over the run file as the setting `@FILE`. */
static int add_sequence(struct arguments *a, const char *path) {
  if (a->sequence)
    return usage("one --sequence, not also", path);
  a->sequence = malloc(strlen(path) + 2);
  if (!a->sequence)
    return ORR_EXIT_BAD;
  a->sequence[0] = '@';
  memcpy(a->sequence + 1, path, strlen(path) + 1);
  return add_setting(a, a->sequence);
}

/* Where the value of an option goes that is kept as it is; NULL: it is another's. */
static const char **text_of(struct arguments *a, const char *word) {
  const struct {
    const char *name;
    const char **target;
  } texts[] = {{"--mode", &a->mode},
               {"--csv", &a->csv},
               {"--channels", &a->channels},
               {"--plot", &a->plot},
               {"--plot-channels", &a->plot_channels},
               {"--csv-rate", &a->csv_rate},
               {"--save-state", &a->save},
               {"--from-state", &a->from_state},
               {"--from", &a->from},
               {"--ready", &a->ready},
               {"--log", &a->log},
               {"--junit", &a->junit}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (strcmp(word, texts[i].name) == 0)
      return texts[i].target;
  return NULL;
}

/* An option with a value. */
static int option(struct arguments *a, const char *word, const char *value) {
  enum { FORMS = sizeof short_forms / sizeof *short_forms };
  const char **text = text_of(a, word);
  bool set = strcmp(word, "--set") == 0, move = strcmp(word, "--move") == 0, steps = strcmp(word, "--sequence") == 0;
  size_t form = 0;
  while (form < FORMS && strcmp(word + 2, short_forms[form]) != 0)
    form++;
  if (!text && !set && !move && !steps && form == FORMS)
    return usage("unknown option", word);
  if (!value)
    return usage("a value is missing after", word);
  if (set)
    return value[0] == '@' ? usage("write it as PATH.TO.KEY=VALUE, not", value) : add_setting(a, value);
  if (steps)
    return add_sequence(a, value);
  if (move)
    return orr_fix_parse_moves(&a->fix, value) ? ORR_EXIT_OK : usage("--move takes process ids, not", value);
  if (!text)
    return short_form(a, form, value);
  *text = value;
  return ORR_EXIT_OK;
}

static int check_mode(struct arguments *a) {
  if (!a->mode)
    return usage("needs --mode batch, lockstep or realtime", NULL);
  a->realtime = strcmp(a->mode, "realtime") == 0;
  a->lockstep = strcmp(a->mode, "lockstep") == 0;
  if (!a->realtime && !a->lockstep && strcmp(a->mode, "batch") != 0)
    return usage("the modes are batch, lockstep and realtime, not", a->mode);
  if (!a->realtime && (a->fix.wanted || a->fix.move_count))
    return usage("--fix goes with --mode realtime", NULL);
  if (a->fix.move_count && !a->fix.wanted)
    return usage("--move goes with --fix", NULL);
  if (a->paused && a->realtime)
    return usage("--paused goes with --mode batch or lockstep: real time does not wait", NULL);
  if (a->ready && !a->realtime && !a->lockstep)
    return usage("--ready goes with --mode lockstep or realtime: a batch run opens no links", NULL);
  if (a->from && a->from_state)
    return usage("--from and --from-state exclude each other", NULL);
  if (a->from && !orr_restore_parse(&a->restore, a->from))
    return usage("--from takes a log and a time, such as flight.mcap@12s, not", a->from);
  if (a->log && a->no_log)
    return usage("--log and --no-log exclude each other", NULL);
  if (a->realtime && a->csv)
    return usage("a table is written in batch only, so no --csv with --mode realtime", NULL);
  return ORR_EXIT_OK;
}

/* What may follow --json; where nothing else is the run file, it is that one. */
static bool is_json_file(const char *word) {
  size_t n = word ? strlen(word) : 0;
  return n > 5 && word[0] != '-' && strcmp(word + n - 5, ".json") == 0;
}

static int parse(int argc, char **argv, struct arguments *a) {
  int status = ORR_EXIT_OK;
  for (int i = 1; i < argc && status == ORR_EXIT_OK; i++) {
    const char *word = argv[i];
    if (strcmp(word, "--json") == 0) {
      a->json = true;
      if (is_json_file(argv[i + 1]))
        a->json_file = argv[++i];
    } else if (strcmp(word, "--fix") == 0)
      a->fix.wanted = true;
    else if (strcmp(word, "--no-log") == 0)
      a->no_log = true;
    else if (strcmp(word, "--paused") == 0)
      a->paused = true;
    else if (strcmp(word, "--sandbox") == 0)
      a->sandbox = ORR_LINKS_SANDBOX;
    else if (strcmp(word, "--no-sandbox") == 0)
      a->sandbox = ORR_LINKS_NO_SANDBOX;
    else if (word[0] == '-' && word[1] == '-' && word[2])
      status = option(a, word, argv[i + 1]), i++;
    else if (word[0] == '-')
      status = usage("unknown option", word);
    else if (a->path)
      status = usage("one run file, not also", word);
    else
      a->path = word;
  }
  if (status != ORR_EXIT_OK)
    return status;
  if (!a->path && !a->from) {
    a->path = a->json_file;
    a->json_file = NULL;
  }
  if (!a->path && !a->from)
    return usage("needs a run file", NULL);
  status = check_mode(a);
  if (status != ORR_EXIT_OK)
    return status;
  if (!a->csv && (a->channels || a->csv_rate))
    return usage("--channels and --csv-rate go with --csv FILE", NULL);
  if (!a->plot && a->plot_channels)
    return usage("--plot-channels goes with --plot FILE", NULL);
  struct orr_quantity rate;
  if (a->csv_rate && (orr_quantity_parse(a->csv_rate, "Hz", &rate) != ORR_QUANTITY_OK || !(rate.value > 0)))
    return usage("--csv-rate takes a frequency such as 10Hz, not", a->csv_rate);
  for (size_t i = 0; i < sizeof short_forms / sizeof *short_forms; i++)
    if (a->short_forms[i] && add_setting(a, a->short_forms[i]) != ORR_EXIT_OK)
      return ORR_EXIT_USAGE;
  return ORR_EXIT_OK;
}

/* ---- flying ------------------------------------------------------------------------------------------------------ */

struct flight {
  struct orr_session *session;
  struct orr_csv csv;
  struct orr_run_log *log;
  int64_t first, last; /* frames */
  double took_s;
};

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum orr_status fly(struct flight *f) {
  struct orr_session *s = f->session;
  double start = now_s();
  struct orr_progress progress;
  char text[ORR_RUN_LOG_TEXT];
  orr_progress_begin(&progress, 0);
  while (orr_plant_frame(s->plant) < f->last) {
    if (f->log->wanted)
      orr_recording_checkpoint(&f->log->recording);
    if (orr_session_frame(s) != 0)
      break;
    if (orr_plant_frame(s->plant) % 64 != 0)
      continue;
    if (orr_plant_frame(s->plant) < f->last && orr_links_interrupted()) {
      s->end = ORR_PORT_INTERRUPTED;
      break;
    }
    if (orr_run_log_watch(f->log, text, sizeof text)) {
      orr_progress_wipe(&progress);
      fputs(text, stderr);
    }
    orr_progress_show(&progress, (double)(orr_plant_frame(s->plant) - f->first) / (double)(f->last - f->first));
  }
  orr_progress_wipe(&progress);
  if (s->status == ORR_OK)
    orr_session_record_last(s);
  f->took_s = now_s() - start;
  orr_session_settle(s);
  return s->status;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Frames between rows of the table, or 0 after a message. */
static int csv_divisor(const struct arguments *a, const struct orr_run *run) {
  struct orr_quantity q;
  if (!a->csv_rate || orr_quantity_parse(a->csv_rate, "Hz", &q) != ORR_QUANTITY_OK)
    return 1;
  double exact = 1e9 / (q.value * (double)run->plant.step_ns), whole = (double)(int64_t)(exact + 0.5);
  if (whole >= 1 && whole < 1e9 && exact - whole < 1e-9 * whole && whole - exact < 1e-9 * whole)
    return (int)whole;
  fprintf(stderr, "orrery run: --csv-rate %s does not divide the base rate of %.10g Hz\n", a->csv_rate,
          1e9 / (double)run->plant.step_ns);
  return 0;
}

/* Frames that the run will have. */
static int64_t frames_of(const struct orr_run *run) { return run->duration_ns / run->plant.step_ns; }

/* Where the run begins, if that is not frame 0. False after a message. */
static bool put_state(struct arguments *a, struct orr_session *s) {
  if (!a->from && !a->from_state)
    return true;
  if (!(a->from ? orr_restore_put(&a->restore, s) : orr_state_file_load(a->from_state, s)))
    return false;
  orr_session_say_restored(s);
  snprintf(a->origin, sizeof a->origin, "%s at t = %.9g s, frame %" PRId64, a->from ? a->restore.path : a->from_state,
           1e-9 * (double)orr_plant_time_ns(s->plant), orr_plant_frame(s->plant));
  return true;
}

static struct orr_run_log log_of(const struct arguments *a) {
  return (struct orr_run_log){.mode = a->mode,
                              .run_path = a->path,
                              .settings = a->settings,
                              .setting_count = a->setting_count,
                              .origin = a->origin,
                              .caged = a->sandbox != ORR_LINKS_NO_SANDBOX};
}

static int fly_in_real_time(struct arguments *a, const struct orr_run *run, struct orr_diagnostics *d) {
  struct orr_session *session = orr_session_create(run, orr_controller_answer);
  struct orr_plot plot = {0};
  bool chosen = !a->plot || orr_plot_choose(&plot, session, a->plot_channels, frames_of(run));
  struct orr_run_status screen;
  orr_session_take_control(session, false, false, NULL);
  orr_run_status_choose(&screen, session, a->path, !a->json || a->json_file);
  struct orr_run_log log = log_of(a);
  orr_run_log_choose(&log, a->log, a->no_log, true, session);
  orr_rt_flush_denormals();
  int exit_status = ORR_EXIT_BAD;
  enum orr_status status = chosen ? orr_session_start(session) : ORR_OK;
  const struct orr_realtime_request request = {.path = a->path,
                                               .json = a->json && !a->json_file,
                                               .json_file = a->json_file,
                                               .junit = a->junit,
                                               .told = &a->told,
                                               .fix = &a->fix,
                                               .plot = a->plot ? &plot : NULL,
                                               .plot_path = a->plot,
                                               .save = a->save,
                                               .ready = a->ready,
                                               .sandbox = a->sandbox,
                                               .origin = a->origin,
                                               .status = &screen,
                                               .log = &log,
                                               .diagnostics = d};
  if (status != ORR_OK)
    orr_run_report_failure(a->path, session, status);
  else if (chosen && put_state(a, session))
    exit_status = orr_run_realtime(&request, session);
  orr_plot_close(&plot);
  orr_run_log_free(&log);
  orr_session_destroy(session);
  return exit_status;
}

/* What the flight leaves: the table's end, the picture, the state where the solver has one; then the summary. */
static int leave_and_tell(struct arguments *a, struct flight *f, const struct orr_plot *plot) {
  struct orr_run_report report = {.path = a->path,
                                  .mode = a->mode,
                                  .session = f->session,
                                  .first_frame = f->first,
                                  .frames_asked = f->last - f->first,
                                  .with_links = a->lockstep,
                                  .took_s = f->took_s,
                                  .origin = a->origin,
                                  .log = f->log};
  bool flown = orr_plant_frame(f->session->plant) > f->first, good = orr_csv_close(&f->csv, a->csv, true);
  if (flown && a->plot)
    good = orr_plot_write(plot, a->plot, a->path, f->session, NULL) && good;
  if (a->save && f->session->status == ORR_OK)
    good = orr_state_file_save(a->save, f->session) && good;
  report.unwritten = !good;
  json_t *root = a->json_file ? orr_run_report_json(&report) : NULL;
  report.unwritten |= root && !orr_run_report_save(a->json_file, root);
  report.unwritten |= a->junit && !orr_junit_write(a->junit, &report);
  json_decref(root);
  orr_run_report_tell(&report, a->json && !a->json_file);
  a->told = true;
  return (int)orr_ending_report_judge(&report).exit;
}

static int fly_and_tell(struct arguments *a, const struct orr_run *run, struct orr_diagnostics *d) {
  struct orr_run_log log = log_of(a);
  struct flight f = {.session = orr_session_create(run, orr_controller_answer), .log = &log};
  struct orr_plot plot = {0};
  int exit_status = ORR_EXIT_BAD, divisor = csv_divisor(a, run);
  orr_session_take_control(f.session, true, a->paused, orr_links_interrupted);
  bool chosen = !a->plot || orr_plot_choose(&plot, f.session, a->plot_channels, frames_of(run));
  orr_run_log_choose(&log, a->log, a->no_log, a->lockstep, f.session);
  orr_rt_flush_denormals();
  bool good = chosen && divisor && (!a->csv || orr_csv_open(&f.csv, a->csv, a->channels, divisor, f.session));
  enum orr_status status = good ? orr_session_start(f.session) : ORR_OK;
  if (good && status == ORR_OK)
    good = put_state(a, f.session);
  if (good && status == ORR_OK)
    good = a->lockstep ? orr_links_open(f.session, true, a->sandbox) : orr_links_batch(run, a->path);
  const struct orr_control_thread served = {.avoid_core = -1, .caged = log.caged};
  struct orr_control_socket *control =
      good && status == ORR_OK ? orr_run_serve_control(f.session, a->path, a->mode, served) : NULL;
  if (good && status == ORR_OK && a->lockstep)
    good = orr_links_wait(f.session, a->ready);
  f.first = orr_plant_frame(f.session->plant);
  f.last = f.first + frames_of(run);
  bool started = good && status == ORR_OK;
  if (started && f.session->end == ORR_PORT_GOES_ON) {
    orr_run_log_start(&log, d, NULL, true);
    if (log.caged) /* what is left to do is to fly, and to write files */
      (void)orr_rights_drop(ORR_RIGHTS_FILES);
    status = fly(&f);
    orr_run_log_stop(&log);
  }
  orr_control_socket_close(control);
  if (status != ORR_OK)
    orr_run_report_failure(a->path, f.session, status);
  if (started)
    exit_status = leave_and_tell(a, &f, &plot);
  else
    orr_csv_close(&f.csv, a->csv, false);
  orr_plot_close(&plot);
  orr_run_log_free(&log);
  orr_session_destroy(f.session);
  return exit_status;
}

/* What is written after the flight: that it cannot be is better said before. */
static bool can_write(const char *path) {
  char folder[PATH_MAX];
  const char *slash = path ? strrchr(path, '/') : NULL;
  struct stat there;
  if (!path)
    return true;
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
  bool good = stat(path, &there) == 0 ? access(path, W_OK) == 0 : access(folder, W_OK | X_OK) == 0;
  if (good && stat(path, &there) == 0 && S_ISDIR(there.st_mode)) {
    good = false;
    errno = EISDIR;
  }
  if (!good)
    fprintf(stderr, "orrery run: cannot write '%s': %s; nothing was flown\n", path, strerror(errno));
  return good;
}

/* Also of a command line that is wrong before it. */
static bool wants_json(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--json") == 0)
      return true;
  return false;
}

/* What is wrong in the files, or a doubt, for people on standard error; and in `text`, for programs. */
static void say_what_is_wrong(struct orr_diagnostics *d, char *text, size_t size) {
  memset(text, 0, size);
  FILE *out = fmemopen(text, size - 1, "w");
  orr_diagnostics_print(d, 0, stderr, false);
  if (!out || orr_diagnostics_errors(d) == 0)
    text[0] = '\0';
  else
    orr_diagnostics_print(d, 0, out, false);
  if (out)
    fclose(out);
}

/* The run file, or where none is given that of the log, with the settings of both. NULL after messages. */
static const struct orr_run *load(struct arguments *a, struct orr_diagnostics *d, char *wrong, size_t size) {
  const char *room[ORR_LOG_RUN_SETTINGS + MOST_SETTINGS];
  struct orr_config_options options = {.settings = a->settings, .setting_count = a->setting_count};
  options.start_ns = a->from_state ? -1 : 0;
  if (a->from && !(orr_restore_open(&a->restore) && orr_restore_compute(&a->restore)))
    return NULL;
  if (!a->path) {
    options = orr_restore_options(&a->restore, a->settings, a->setting_count, room);
    a->path = a->restore.of.path;
    if (options.setting_count > MOST_SETTINGS) {
      usage("too many settings, those in the log included", NULL);
      return NULL;
    }
    memcpy(a->settings, room, options.setting_count * sizeof *room);
    options.settings = a->settings;
    options.from_disk = a->sequence ? a->sequence + 1 : NULL;
    a->setting_count = options.setting_count;
  }
  if (a->from)
    options.start_ns = a->restore.frame * a->restore.of.step_ns;
  const struct orr_run *run = orr_run_load(a->path, &options, d);
  if (run)
    orr_run_judge_step(run, d);
  say_what_is_wrong(d, wrong, size);
  return run;
}

static int load_and_fly(struct arguments *a, char *wrong, size_t size) {
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_run *file = load(a, d, wrong, size);
  int status = ORR_EXIT_BAD;
  bool good = file && orr_controller_fits(file, a->path, stderr);
  if (good && a->plot && !file->duration_ns)
    status = usage("a picture needs a run with a duration: in the file, or by", "--duration 10s");
  else if (good && !a->realtime && !file->duration_ns)
    status = usage("a run in this mode needs a duration: in the file, or by", "--duration 10s");
  else if (good && orr_links_sandbox_prepare(&a->sandbox))
    status = a->realtime ? fly_in_real_time(a, file, d) : fly_and_tell(a, file, d);
  orr_diagnostics_destroy(d);
  return status;
}

/* The object that programs wait for, where there is no summary. */
static bool tell_nothing(const struct arguments *a, const char *wrong, bool is_usage) {
  json_t *root = orr_run_report_nothing(a->path, a->mode, wrong, is_usage);
  bool good = true;
  if (a->json_file) {
    good = orr_run_report_save(a->json_file, root);
  } else {
    json_dumpf(root, stdout, JSON_INDENT(1));
    putchar('\n');
  }
  json_decref(root);
  return good;
}

static int run(int argc, char **argv) {
  struct arguments a = {0};
  char wrong[WRONG_TEXT] = "";
  int status = parse(argc, argv, &a);
  if (status == ORR_EXIT_OK &&
      (!can_write(a.plot) || !can_write(a.save) || !can_write(a.junit) || !can_write(a.json_file)))
    status = ORR_EXIT_BAD;
  if (status == ORR_EXIT_OK)
    status = load_and_fly(&a, wrong, sizeof wrong);
  if (!a.told && wants_json(argc, argv) && !tell_nothing(&a, wrong, status == ORR_EXIT_USAGE))
    status = (int)orr_exit_outranking((enum orr_exit)status, ORR_EXIT_BAD);
  orr_restore_close(&a.restore);
  for (size_t i = 0; i < sizeof a.short_forms / sizeof *a.short_forms; i++)
    free(a.short_forms[i]);
  free(a.sequence);
  return status;
}

const struct orr_command orr_cmd_run = {
    .name = "run",
    .summary = "fly a run file",
    .usage = "RUN | --from LOG@T [RUN] --mode batch|lockstep|realtime [--duration T] [--seed N] [--step T] "
             "[--set PATH=VALUE]... [--sequence FILE] [--csv FILE [--channels PATTERNS] [--csv-rate F]] "
             "[--plot FILE [--plot-channels PATTERNS]] "
             "[--save-state FILE] [--from-state FILE] [--ready FILE] [--paused] [--log FILE | --no-log] "
             "[--json [FILE.json]] [--junit FILE] [--fix] [--sandbox | --no-sandbox]",
    .help = "Reads a run file (a spacecraft with its devices, and how to fly it), flies it and prints a summary.\n"
            "The same file and seed give the same bits on every run and in every mode: state_hash says so in one\n"
            "number.\n"
            "\n"
            "  --mode batch         as fast as the solver goes; scripted commands and linked-in controllers fly\n"
            "                       (the links' own, or one that stands in for flight software outside)\n"
            "  --mode lockstep      with the flight software that the links name: each frame waits for its\n"
            "                       answer, as fast as both can; the same bits however slow it is\n"
            "  --mode realtime      a frame at every tick of the clock, as the section 'realtime' says. What the\n"
            "                       machine cannot give is a warning with its consequence; the summary counts\n"
            "                       late frames by cause. `orrery top` watches; Ctrl-C ends it with the summary,\n"
            "                       as does SIGTERM\n"
            "  --duration T, --seed N, --step T   in place of those in the file\n"
            "  --set PATH=VALUE     any value of the file: --set sensors.gyro.rate=50Hz, --set commands.0.at=2s\n"
            "  --sequence FILE      sequence, faults and expect of a procedure, in place of the run file's\n"
            "  --csv FILE           a row for each frame; --channels 'gyro.*,bus.attitude' chooses them (default:\n"
            "                       all that devices and pointing tell and take), --csv-rate 10Hz how often\n"
            "  --plot FILE          an SVG picture: pointing errors, wheel speeds, thrust, first modal\n"
            "                       coordinates, a hinge's load; in real time also how punctual the frames were;\n"
            "                       --plot-channels 'gyro.rate,wheel_*.speed' draws these instead, each unit in\n"
            "                       panels of its own\n"
            "  --from LOG@T         goes on from a moment of a logged run, flight.mcap@12s: with its files and\n"
            "                       settings, and those given here behind them, or with another RUN of the same\n"
            "                       devices\n"
            "  --save-state FILE    the state after the last frame, but for that of flight software outside\n"
            "  --from-state FILE    goes on from such a state, with the same bits as if it had never stopped\n"
            "  --ready FILE         written once the links are open, with this process's id: flight software that\n"
            "                       is started then meets this run, and no other that may have its name or port\n"
            "  --paused             stands before its first frame until `orrery ctl` says go or step; not in real\n"
            "                       time\n"
            "  --log FILE           the log of the run (orrery help log) in a file that is not there yet. By\n"
            "                       default in real time and lockstep, as ./orrery-logs/RUN-UTC.mcap, the newest\n"
            "                       ten of a name kept; the variable ORRERY_LOGS names another folder, and empty\n"
            "                       none. A log that cannot be written is a warning, and the flight goes on\n"
            "  --no-log             no log\n"
            "  --fix                in real time: what can be done for the core at run time, taken back at the\n"
            "                       end (see 'orrery help doctor'); with --move PID,... only these tasks are\n"
            "                       moved off the core\n"
            "  --sandbox            do not start without sandboxes: the threads that read packets, write the log\n"
            "                       and serve `orrery ctl` open no file, start no program and have no rights of\n"
            "                       root. By default they have them where the kernel does, and a warning says\n"
            "                       where not. Of root's rights the other threads keep none but those to write\n"
            "                       files, and with --fix to take it back\n"
            "  --no-sandbox         without them, and with all rights\n"
            "  --json [FILE.json]   the summary as JSON, one object whatever the end; or in that file\n"
            "  --junit FILE         the verdict as JUnit, a case for each expectation\n"
            "\n"
            "Example:\n"
            "  orrery run configs/cubesat.yaml --mode batch --duration 60s --csv out.csv --csv-rate 10Hz\n"
            "  orrery run configs/cubesat.yaml --mode realtime --duration 10s --set realtime.core=1\n"
            "  orrery run --from flight.mcap@12s --mode batch --duration 5s --set spacecraft.bodies.bus.mass=5\n",
    .help_end = "\n"
                "The words of the table of times are explained by 'orrery help top'.\n"
                "\n"
                "The verdict, the last lines of the summary and `verdict` in JSON, is passed, failed or incomplete.\n"
                "What a mode does not measure is not judged, and does not matter.\n"
                "\n"
                "Exit status:\n"
                "  0  passed: flown for its duration (without one: until a signal or the flight software ended it),\n"
                "     and everything that the file expects (`expect`) and that was judged was met\n"
                "  1  failed: an expectation was not met, the solution diverged, a file is wrong or cannot be\n"
                "     written, or something that the run needs cannot be had; said on standard error\n"
                "  2  the command line is wrong\n"
                "  3  incomplete: the run ended before its duration was over, whoever ended it; or an expectation\n"
                "     begins after that duration; or, in realtime and lockstep, a link with `commands:` got none. The\n"
                "     summary says which, and what to do. 1 outranks 3\n",
    .run = run,
};
