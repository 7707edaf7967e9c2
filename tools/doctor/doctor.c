/* `orrery doctor`: is this machine fit for a real-time run, and what would make it so? */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rt/executive.h"
#include "rt/tick/clock.h"
#include "tools/common/commands.h"
#include "tools/common/doctor_checks.h"
#include "tools/common/fix.h"
#include "tools/common/neighbours.h"
#include "tools/common/timing_report.h"
#include "tools/doctor/doctor_run.h"
#include "tools/run/fly_realtime.h"

enum { USUAL_PRIORITY = 80, USUAL_RATE_HZ = 1000 };

struct arguments {
  const char *path;   /* of a run, or NULL */
  int core, priority; /* −1: as the run says, or the usual */
  double seconds, rate_hz;
  bool json;
  struct orr_fix_request fix;
};

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery doctor: %s%s%s%s\nTry 'orrery help doctor'.\n", what, word ? " '" : "", word ? word : "",
          word ? "'" : "");
  return ORR_EXIT_USAGE;
}

/* A number between two bounds, all of the word. */
static bool number(const char *word, double least, double most, double *value) {
  char *end;
  if (!word || !*word)
    return false;
  *value = strtod(word, &end);
  return *end == '\0' && *value >= least && *value <= most;
}

static int parse_option(const char *option, const char *value, struct arguments *a) {
  static const char *const takes[][2] = {{"--core", "--core takes the number of a core, not"},
                                         {"--priority", "--priority takes a whole number from 0 to 99, not"},
                                         {"--seconds", "--seconds takes a number from 0 to 86400, not"},
                                         {"--rate", "--rate takes frames a second, 10 to 20000, not"},
                                         {"--move", "--move takes process ids, not"}};
  double v;
  if (!value)
    return usage("a value is missing after", option);
  if (strcmp(option, "--core") == 0 && number(value, 0, CPU_SETSIZE - 1, &v) && v == (int)v)
    a->core = (int)v;
  else if (strcmp(option, "--priority") == 0 && number(value, 0, 99, &v) && v == (int)v)
    a->priority = (int)v;
  else if (strcmp(option, "--seconds") == 0 && number(value, 0, 86400, &v))
    a->seconds = v;
  else if (strcmp(option, "--rate") == 0 && number(value, 10, 20000, &v))
    a->rate_hz = v;
  else if (strcmp(option, "--move") != 0 || !orr_fix_parse_moves(&a->fix, value))
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
      if (strcmp(option, takes[i][0]) == 0)
        return usage(takes[i][1], value);
  return ORR_EXIT_OK;
}

static bool is_online(int core) {
  char path[80];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", core);
  return access("/sys/devices/system/cpu", F_OK) != 0 || access(path, F_OK) == 0;
}

static int parse(int argc, char **argv, struct arguments *a) {
  static const char *const with_value[] = {"--core", "--priority", "--seconds", "--rate", "--move"};
  for (int i = 1; i < argc; i++) {
    bool takes = false;
    for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++)
      takes = takes || strcmp(argv[i], with_value[k]) == 0;
    if (takes) {
      int status = parse_option(argv[i], argv[i + 1], a);
      if (status != ORR_EXIT_OK)
        return status;
      i++;
    } else if (strcmp(argv[i], "--json") == 0) {
      a->json = true;
    } else if (strcmp(argv[i], "--fix") == 0) {
      a->fix.wanted = true;
    } else if (argv[i][0] == '-') {
      return usage("unknown option", argv[i]);
    } else if (a->path) {
      return usage("one run file, not also", argv[i]);
    } else {
      a->path = argv[i];
    }
  }
  if (a->core >= 0 && !is_online(a->core))
    return usage("--core names a core that this machine does not have", NULL);
  if (a->path && a->rate_hz > 0)
    return usage("--rate is for a machine without a run; the run file says its own", NULL);
  return a->fix.move_count && !a->fix.wanted ? usage("--move goes with --fix", NULL) : ORR_EXIT_OK;
}

static void print_checks(const struct orr_check *checks, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct orr_check *c = &checks[i];
    printf("%-5s %-22s %s\n", orr_health_name(c->health), c->name, c->finding);
    if (c->health != ORR_HEALTH_OK)
      printf("      %-22s why: %s\n      %-22s do:  %s%s\n", "", c->why, "", c->mend,
             c->by_fix ? " [--fix, for the time of its run]" : "");
  }
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

enum { SENTENCE_TEXT = 600, ADVICE_SHOWN = 6 };

/* What was measured, for the sentence. */
struct finding {
  bool measured, late, full, ended; /* wakes too late; frames do not fit; a signal ended it */
  int64_t p999_ns, allowed_ns;
};

__attribute__((format(printf, 2, 3))) static void append(char text[SENTENCE_TEXT], const char *format, ...) {
  size_t used = strlen(text);
  va_list list;
  va_start(list, format);
  vsnprintf(text + used, SENTENCE_TEXT - used, format, list);
  va_end(list);
}

/* One sentence: fit or not, and why. */
static void conclude(const struct orr_check *checks, size_t count, const struct finding *f, int64_t period_ns,
                     char text[SENTENCE_TEXT]) {
  const char *before = "";
  char rate[32], why[SENTENCE_TEXT] = "", a[ORR_DURATION_TEXT], b[ORR_DURATION_TEXT];
  double hz = (double)ORR_NS_PER_S / (double)period_ns;
  snprintf(rate, sizeof rate, hz >= 1000 ? "%g kHz" : "%g Hz", hz >= 1000 ? hz / 1000 : hz);
  for (size_t i = 0; i < count; i++)
    if (checks[i].health == ORR_HEALTH_BAD) {
      append(why, "%s%s: %s", before, checks[i].name, checks[i].finding);
      before = "; ";
    }
  if (f->late) {
    append(why, "%sone wake-up in a thousand is later than %s, and %s is late", before,
           orr_duration_text(f->p999_ns, a), orr_duration_text(f->allowed_ns, b));
    before = "; ";
  }
  if (f->full)
    append(why, "%sone frame in a thousand is not over before the next tick", before);
  text[0] = '\0';
  if (why[0])
    append(text, "Not fit for %s, because %s.", rate, why);
  else if (!f->measured)
    append(text, "Nothing was found against %s, but it was not measured.", rate);
  else
    append(text, "Fit for %s: of a thousand wake-ups %s 999 come within %s, and up to %s none is late.", rate,
           f->ended ? "so far" : "at least", orr_duration_text(f->p999_ns, a), orr_duration_text(f->allowed_ns, b));
}

static void print_end(const struct orr_check *checks, size_t count, const char *sentence) {
  size_t order[ORR_CHECKS_MAX], found = orr_doctor_advice(checks, count, order);
  if (found)
    printf("\nto do, the largest gain first:\n");
  for (size_t i = 0; i < found && i < ADVICE_SHOWN; i++)
    printf("  %zu. %s: %s\n", i + 1, checks[order[i]].name, checks[order[i]].mend);
  if (found > ADVICE_SHOWN)
    printf("  and %zu more above\n", found - ADVICE_SHOWN);
  printf("\n%s\n", sentence);
}

static json_t *advice_json(const struct orr_check *checks, size_t count) {
  size_t order[ORR_CHECKS_MAX], found = orr_doctor_advice(checks, count, order);
  json_t *list = json_array();
  for (size_t i = 0; i < found; i++)
    json_array_append_new(list, json_pack("{s:s, s:s}", "name", checks[order[i]].name, "do", checks[order[i]].mend));
  return list;
}

static json_t *checks_json(const struct orr_check *checks, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "name", checks[i].name, "health",
                                          orr_health_name(checks[i].health), "finding", checks[i].finding, "why",
                                          checks[i].why, "do", checks[i].mend, "by_fix", (int)checks[i].by_fix));
  return list;
}

/* --- measuring ---------------------------------------------------------------------------------------------------- */
static const struct orr_work empty_work = {.stage_count = 0};

/* The run's own frames were flown: do they fit, late wake-ups and all? */
static bool fits(const struct orr_stats *stats) {
  return orr_histogram_percentile_ns(&stats->histogram[ORR_HISTOGRAM_SLACK], 0.001) > 0;
}

static bool wakes_in_time(const struct orr_stats *stats) {
  return orr_histogram_percentile_ns(&stats->histogram[ORR_HISTOGRAM_WAKE_UP], 0.999) <= stats->late_start_ns;
}

static void print_fit(const struct orr_stats *stats) {
  int64_t slack_ns = orr_histogram_percentile_ns(&stats->histogram[ORR_HISTOGRAM_SLACK], 0.001);
  char slack[ORR_DURATION_TEXT], period[ORR_DURATION_TEXT];
  printf("needed: a frame is over before the next tick. 99.9 %% of the run's frames leave at least %s of %s: %s\n",
         orr_duration_text(slack_ns, slack), orr_duration_text(stats->period_ns, period), fits(stats) ? "ok" : "bad");
}

static void print_measured(const struct orr_executive *e, const struct arguments *a) {
  const struct orr_stats *stats = e->board.stats;
  const struct orr_histogram *wake_up = &stats->histogram[ORR_HISTOGRAM_WAKE_UP];
  char t[4][ORR_DURATION_TEXT];
  struct orr_live live;
  if (!orr_stats_live(stats, &live))
    return;
  char priority[32] = "no real-time priority";
  if (stats->priority)
    snprintf(priority, sizeof priority, "SCHED_FIFO %d", stats->priority);
  printf("\nwake-up latency on core %d, %s, %g Hz, phase %s, no spin, %llu frames%s%s\n", stats->core, priority,
         (double)ORR_NS_PER_S / (double)stats->period_ns, orr_duration_text(stats->phase_ns, t[0]),
         (unsigned long long)live.frames, a->path ? " of " : "", a->path ? a->path : "");
  orr_timing_print(stdout, stats, &live);
  int64_t p999_ns = orr_histogram_percentile_ns(wake_up, 0.999);
  printf("needed: a frame that starts more than %s late is late. p99.9 is %s: %s\n",
         orr_duration_text(stats->late_start_ns, t[1]), orr_duration_text(p999_ns, t[2]),
         wakes_in_time(stats) ? "ok" : "bad, spin: auto or a slower rate is needed");
  if (a->path)
    print_fit(stats);
  printf(
      "spin: auto would take a margin of %s\n",
      orr_duration_text(orr_calibrate_margin_for(orr_histogram_percentile_ns(wake_up, 0.99), stats->period_ns), t[3]));
}

static json_t *measured_json(const struct orr_executive *e, const char *verdict) {
  struct orr_live live;
  if (!orr_stats_live(e->board.stats, &live))
    return json_null();
  return json_pack("{s:o, s:o, s:s}", "timing", orr_timing_json(e->board.stats, &live), "lacks",
                   orr_lacks_json(&e->lacks), "verdict", verdict);
}

/* What a run asks for, or the usual; the command line comes first. Spin is left out: it would hide the wake-up. */
static struct orr_executive_options options_of(const struct arguments *a, const struct orr_doctor_run *run) {
  struct orr_executive_options o = {
      .cycle = {.phase_ns = ORR_AUTO_NS, .policy = ORR_OVERRUN_CATCH_UP, .catch_up_limit = 3},
      .core = ORR_CORE_AUTO,
      .priority = USUAL_PRIORITY};
  if (run)
    o = orr_realtime_options(&run->realtime, "", 0);
  else
    o.cycle.period_ns = (int64_t)((double)ORR_NS_PER_S / (a->rate_hz > 0 ? a->rate_hz : USUAL_RATE_HZ) + 0.5);
  o.name = "doctor";
  o.cycle.margin_ns = 0;
  o.cycle.frames = (uint64_t)(a->seconds * (double)ORR_NS_PER_S / (double)o.cycle.period_ns + 0.5);
  o.strict = false; /* what is lacking is what the doctor is asked for */
  if (a->core >= 0)
    o.core = a->core;
  if (o.core < 0)
    o.core = orr_setup_choose_core();
  if (o.core < 0)
    o.core = 0;
  if (a->priority >= 0)
    o.priority = a->priority;
  return o;
}

/* Returns the measures as JSON when asked for, else prints them. *status: bad when nothing could be measured or the
 * measures say that the run does not fit; incomplete when a signal ended it and what was measured until then is good.
 * */
static json_t *measure(const struct arguments *a, const struct orr_executive_options *options,
                       struct orr_doctor_run *run, const sigset_t *signals, enum orr_exit *status,
                       struct finding *found) {
  struct orr_executive executive;
  if (options->cycle.frames == 0)
    return NULL;
  json_t *result = NULL;
  const char *wrong =
      orr_executive_start(&executive, options, run ? &run->work : &empty_work, run ? &run->realtime : NULL);
  if (wrong) {
    fprintf(stderr, "orrery doctor: %s\n", wrong);
    *status = ORR_EXIT_BAD;
  } else {
    struct orr_progress progress;
    orr_progress_begin(&progress, a->seconds);
    orr_progress_show(&progress, 0);
    int signal = orr_run_realtime_wait(&executive, NULL, signals, NULL, NULL, &progress, options->cycle.frames);
    orr_progress_wipe(&progress);
    orr_executive_join(&executive);
    if (signal)
      fprintf(stderr, "orrery doctor: ended by a signal (%s): what was measured until then\n", strsignal(signal));
    bool good = wakes_in_time(executive.board.stats) && (!a->path || fits(executive.board.stats));
    const struct orr_stats *stats = executive.board.stats;
    *found = (struct finding){
        .measured = true,
        .late = !wakes_in_time(stats),
        .full = a->path && !fits(stats),
        .ended = signal != 0,
        .p999_ns = orr_histogram_percentile_ns(&stats->histogram[ORR_HISTOGRAM_WAKE_UP], 0.999),
        .allowed_ns = stats->late_start_ns,
    };
    *status = !good ? ORR_EXIT_BAD : signal ? ORR_EXIT_INCOMPLETE : ORR_EXIT_OK;
    orr_timing_print_lacks(stderr, &executive.lacks);
    if (a->json)
      result = measured_json(&executive, !good ? "bad" : signal ? "incomplete" : "ok");
    else
      print_measured(&executive, a);
  }
  orr_executive_close(&executive);
  return result;
}

static bool any_bad(const struct orr_check *checks, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (checks[i].health == ORR_HEALTH_BAD)
      return true;
  return false;
}

static int examine(const struct arguments *a, struct orr_doctor_run *run, const sigset_t *signals) {
  struct orr_check checks[ORR_CHECKS_MAX];
  struct orr_environment environment;
  struct orr_isolation isolation;
  struct orr_executive_options options = options_of(a, run);
  FILE *words = a->json ? stderr : stdout;
  enum orr_exit status = ORR_EXIT_OK;
  orr_fix_repair(words);
  if ((a->fix.wanted && orr_neighbours_refuse(options.core, "orrery doctor", "--core N", stderr)) ||
      !orr_fix_apply(&a->fix, options.core, &isolation, words))
    return ORR_EXIT_BAD;
  options.isolation = a->fix.wanted ? &isolation : NULL;
  orr_environment_read(&environment, options.core, "");
  size_t count = orr_doctor_judge(&environment, checks);
  for (size_t i = 0; i < count; i++)
    if (a->fix.wanted && strcmp(checks[i].name, "RT throttling") == 0)
      checks[i].health = ORR_HEALTH_OK; /* our own, until we end */
  orr_doctor_judge_uring(&checks[count++]);
  if (run)
    orr_doctor_judge_frame(&run->realtime.rehearsal, options.cycle.period_ns, &checks[count++]);
  if (!a->json)
    print_checks(checks, count);
  fflush(stdout);
  struct finding found = {0};
  char sentence[SENTENCE_TEXT];
  json_t *measured = measure(a, &options, run, signals, &status, &found);
  conclude(checks, count, &found, options.cycle.period_ns, sentence);
  if (!a->json)
    print_end(checks, count, sentence);
  orr_fix_undo(&a->fix, &isolation, words);
  if (a->json) {
    json_t *all = json_pack("{s:o, s:o, s:o, s:o, s:s}", "environment", orr_environment_json(&environment), "checks",
                            checks_json(checks, count), "measured", measured ? measured : json_null(), "advice",
                            advice_json(checks, count), "sentence", sentence);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
  }
  return (int)orr_exit_outranking(status, any_bad(checks, count) ? ORR_EXIT_BAD : ORR_EXIT_OK);
}

static int run(int argc, char **argv) {
  struct arguments a = {.core = -1, .priority = -1, .seconds = 10};
  struct orr_doctor_run file;
  sigset_t signals, before;
  int status = parse(argc, argv, &a);
  if (status != ORR_EXIT_OK)
    return status;
  /* taken with sigtimedwait: what --fix did is undone on every way out but kill -9, which the next start repairs */
  orr_run_realtime_block(&signals, &before);
  if (!a.path) {
    status = examine(&a, NULL, &signals);
  } else {
    status = orr_doctor_run_open(&file, a.path) ? examine(&a, &file, &signals) : ORR_EXIT_BAD;
    orr_doctor_run_close(&file);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

const struct orr_command orr_cmd_doctor = {
    .name = "doctor",
    .summary = "say whether this machine is fit for real time, and what would make it so",
    .usage = "[RUN] [--core N] [--priority N] [--rate HZ] [--seconds S] [--fix [--move PID,...]] [--json]",
    .help = "Prints a line for each thing that a real-time run depends on: ok, warn or bad, why it matters, and\n"
            "the command that mends it. Then measures how late the kernel wakes a thread on the core, next to\n"
            "what a run needs. With a run file it does so at that run's rate, core and priority, and computes the\n"
            "run's frames meanwhile, without commands or links: their cost stands beside the period.\n"
            "\n"
            "  --core N       the core of the executive (default: the run's; else the last isolated one, else the\n"
            "                 last)\n"
            "  --priority N   SCHED_FIFO priority (default: the run's, else 80; 0 for none)\n"
            "  --rate HZ      without a run file: frames a second, 10 to 20000 (default 1000)\n"
            "  --seconds S    how long to measure (default 10; 0: not at all)\n"
            "  --fix          do what can be done at run time, measure with it, and take it back at exit: a\n"
            "                 cpuset or partition for the core, interrupts sent elsewhere, throttling off (needs\n"
            "                 root)\n"
            "  --move PID,... with --fix: move only these tasks off the core, not all (cgroup v1; v2 has no\n"
            "                 such half measure, and the core gets no partition)\n"
            "  --json         everything as one JSON object\n"
            "\n"
            "Several may clear a core each at the same time (on cgroup v1 one of them); a core that another has\n"
            "cleared is refused. What --fix changed is taken back also after Ctrl-C or SIGTERM; what a killed run\n"
            "left is repaired by the next start.\n"
            "\n"
            "Exit status: 0 no line is bad, and what was measured is enough; 1 a line is bad, what was measured\n"
            "is not enough, or the run file is wrong; 2 the command line is wrong; 3 a signal ended the\n"
            "measurement, and nothing is bad so far.\n"
            "\n"
            "  orrery doctor --seconds 2 --rate 5000\n"
            "  orrery doctor configs/cubesat.yaml --core 1\n",
    .run = run,
};
