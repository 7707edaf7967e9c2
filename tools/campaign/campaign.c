/* `orrery campaign`: a run file flown many times. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/campaign/campaign_columns.h"
#include "tools/campaign/campaign_flight.h"
#include "tools/campaign/campaign_page.h"
#include "tools/campaign/campaign_run.h"
#include "tools/campaign/campaign_search.h"
#include "tools/campaign/campaign_slurm.h"
#include "tools/campaign/campaign_verdict.h"
#include "tools/campaign/draw.h"
#include "tools/common/commands.h"
#include "tools/run/controller.h"
#include "tools/run/links_report.h"

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery campaign: %s%s%s%s\nTry 'orrery help campaign'.\n", what, word ? " '" : "", word ? word : "",
          word ? "'" : "");
  return ORR_EXIT_USAGE;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

struct arguments {
  const char *path, *folder, *junit, *jobs, *flight, *measure, *flights, *partition, *array, *task, *tasks, *attempt;
  bool resume, json, slurm, print_script;
};

static int parse(int argc, char **argv, struct arguments *a) {
  const struct {
    const char *name;
    const char **target;
  } texts[] = {
      {"-o", &a->folder},       {"--jobs", &a->jobs},       {"--junit", &a->junit},         {"--flight", &a->flight},
      {"--worst", &a->measure}, {"--flights", &a->flights}, {"--partition", &a->partition}, {"--array-size", &a->array},
      {"--task", &a->task},     {"--tasks", &a->tasks},     {"--attempt", &a->attempt}};
  const struct {
    const char *name;
    bool *target;
  } flags[] = {
      {"--resume", &a->resume}, {"--json", &a->json}, {"--slurm", &a->slurm}, {"--print-script", &a->print_script}};
  for (int i = 1; i < argc; i++) {
    size_t k = 0, flag = 0;
    while (k < sizeof texts / sizeof *texts && strcmp(argv[i], texts[k].name) != 0)
      k++;
    while (flag < sizeof flags / sizeof *flags && strcmp(argv[i], flags[flag].name) != 0)
      flag++;
    if (k < sizeof texts / sizeof *texts) {
      if (i + 1 == argc)
        return usage("a value is missing after", argv[i]);
      *texts[k].target = argv[++i];
    } else if (flag < sizeof flags / sizeof *flags) {
      *flags[flag].target = true;
    } else if (argv[i][0] == '-') {
      return usage("unknown option", argv[i]);
    } else if (a->path) {
      return usage("one campaign file, not also", argv[i]);
    } else {
      a->path = argv[i];
    }
  }
  return a->path ? ORR_EXIT_OK : usage("needs a campaign file", NULL);
}

/* A whole number on the command line; −1: it is none. */
static int64_t whole(const char *text) {
  char *end;
  errno = 0;
  long long n = strtoll(text, &end, 10);
  return *text >= '0' && *text <= '9' && !*end && !errno ? n : -1;
}

static const struct orr_campaign *load(const char *path, struct orr_diagnostics *d) {
  const struct orr_campaign *c = orr_campaign_load(path, NULL, d);
  orr_diagnostics_print(d, 0, stderr, false);
  bool good = c && (c->software || (orr_links_inside(c->nominal, c->run_path,
                                                     "name some under 'software' of the campaign, or give the link a "
                                                     "'stand_in', or 'stiffness' and 'damping' for the plain law") &&
                                    orr_controller_fits(c->nominal, c->run_path, stderr)));
  return good ? c : NULL;
}

/* "NAME.campaign" beside where the command is, of NAME.yaml. */
static const char *folder_of(const struct arguments *a, char text[PATH_MAX]) {
  const char *slash = strrchr(a->path, '/'), *name = slash ? slash + 1 : a->path, *dot = strrchr(name, '.');
  if (a->folder)
    return a->folder;
  snprintf(text, PATH_MAX, "%.*s.campaign", dot ? (int)(dot - name) : (int)strlen(name), name);
  return text;
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

enum { RANKED = 10 };

static int tell(struct orr_folder *f, const struct arguments *a) {
  struct orr_verdict v;
  char path[PATH_MAX];
  orr_verdict_make(&v, f, RANKED);
  json_t *root = orr_verdict_json(&v);
  int status = (int)v.exit;
  snprintf(path, sizeof path, "%.3800s/summary.json", f->path);
  if (json_dump_file(root, path, JSON_INDENT(1)) != 0 || (a->junit && !orr_verdict_junit(&v, a->junit))) {
    fprintf(stderr, "orrery campaign: cannot write '%s': %s\n", a->junit ? a->junit : path, strerror(errno));
    status = ORR_EXIT_BAD;
  }
  if (a->json) {
    json_dumpf(root, stdout, JSON_INDENT(1));
    putchar('\n');
  } else {
    orr_verdict_print(&v, f);
  }
  json_decref(root);
  orr_verdict_free(&v);
  return status;
}

static int fly_into(struct orr_folder *f, const struct arguments *a, int jobs) {
  orr_campaign_catch_signals();
  bool good = orr_campaign_fly_all(f, 0, f->campaign->flights, jobs) && !f->broken;
  if (orr_campaign_signals() == 0)
    good = good && orr_campaign_keep(f);
  good = orr_folder_tables(f) && good;
  return (int)orr_exit_outranking((enum orr_exit)tell(f, a), good ? ORR_EXIT_OK : ORR_EXIT_BAD);
}

/* The flights by a cluster, in as many tasks as --array-size says, or a hundred. */
static int submit(struct orr_folder *f, const struct arguments *a) {
  int64_t tasks = a->array ? whole(a->array) : 100;
  if (tasks < 1 || tasks > 100000)
    return usage("--array-size takes a number from 1 to 100000, not", a->array);
  const struct orr_slurm_request r = {.partition = a->partition,
                                      .tasks = tasks < f->campaign->flights ? tasks : f->campaign->flights,
                                      .cpus = a->jobs ? (int)whole(a->jobs) : 1,
                                      .print_only = a->print_script};
  orr_folder_unlock(f); /* the gathering job takes it */
  return (int)orr_slurm_submit(&r, f);
}

static int run_all(int argc, char **argv) {
  struct arguments a = {0};
  char text[PATH_MAX];
  int status = parse(argc, argv, &a);
  int64_t jobs = a.jobs ? whole(a.jobs) : orr_campaign_jobs();
  if (status != ORR_EXIT_OK)
    return status;
  if (jobs < 1 || jobs > 256)
    return usage("--jobs takes a number from 1 to 256, not", a.jobs);
  if (a.flight || a.measure || a.flights || a.task || a.tasks || a.attempt)
    return usage("this option goes with another verb", NULL);
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_campaign *c = load(a.path, d);
  struct orr_folder f = {.lock = -1};
  status = ORR_EXIT_BAD;
  if (c && orr_folder_open(&f, folder_of(&a, text), a.resume ? ORR_FOLDER_RESUME : ORR_FOLDER_NEW, c, d))
    status = a.slurm || a.print_script ? submit(&f, &a) : fly_into(&f, &a, (int)jobs);
  if (c)
    orr_folder_close(&f);
  orr_diagnostics_destroy(d);
  return status;
}

/* ---- check ------------------------------------------------------------------------------------------------------- */

static void print_vary(const struct orr_campaign_vary *v) {
  static const struct {
    const char *name;
    int count; /* numbers */
  } laws[] = {[ORR_LAW_EACH] = {"a whole number for each flight", 0},
              [ORR_LAW_NORMAL] = {"normal, mean and deviation", 2},
              [ORR_LAW_UNIFORM] = {"uniform from and to", 2},
              [ORR_LAW_LOG_UNIFORM] = {"log_uniform from and to", 2},
              [ORR_LAW_TRIANGULAR] = {"triangular, low, most likely and high", 3},
              [ORR_LAW_ONE_OF] = {"one of", 0},
              [ORR_LAW_JOINT] = {"one of correlated normals", 0}};
  char unit[40];
  orr_campaign_si_unit(v->unit, unit, sizeof unit);
  printf("varies      %s%s: %s", v->path, unit, laws[v->law].name);
  for (int k = 0; k < laws[v->law].count; k++)
    printf("%s %.9g", k ? "," : "", v->number[k]);
  for (int k = 0; k < v->text_count; k++)
    printf("%s %s", k ? "," : "", v->texts[k]);
  if (isfinite(v->low) || isfinite(v->high))
    printf(", within %.9g and %.9g", v->low, v->high);
  putchar('\n');
}

/* What was understood; nothing is flown. */
static int check(int argc, char **argv) {
  struct arguments a = {0};
  int status = parse(argc, argv, &a);
  if (status != ORR_EXIT_OK)
    return status;
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_campaign *c = load(a.path, d);
  if (c) {
    printf("campaign    %s: %lld flights of %s, %s, seed %llu\n", c->path, (long long)c->flights, c->run_path,
           orr_sampling_names[c->sampling], (unsigned long long)c->seed);
    printf("flown       %s%s\n", c->software ? "in lockstep with " : "in batch, by the controllers inside",
           c->software ? c->software : "");
    for (int i = 0; i < c->vary_count; i++)
      print_vary(&c->varies[i]);
    printf("expects     %zu of each flight, %d of all\n", c->nominal->expect_count, c->expect_count);
  }
  orr_diagnostics_destroy(d);
  return c ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

/* ---- work, gather, status: on a cluster -------------------------------------------------------------------------- */

static int work(struct orr_folder *f, const struct arguments *a) {
  int64_t task = a->task ? whole(a->task) : -1, tasks = a->tasks ? whole(a->tasks) : 0,
          jobs = a->jobs ? whole(a->jobs) : orr_campaign_jobs();
  if (task < 0 || task >= tasks || !a->attempt || jobs < 1 || jobs > 256)
    return usage("work takes --task K --tasks N --attempt NAME [--jobs N]", NULL);
  return (int)orr_slurm_work(f, task, tasks, a->attempt, (int)jobs);
}

static int gather(struct orr_folder *f, const struct arguments *a) {
  orr_campaign_catch_signals();
  bool good = orr_campaign_keep(f);
  good = orr_folder_tables(f) && good;
  orr_slurm_say_refused(f);
  return (int)orr_exit_outranking((enum orr_exit)tell(f, a), good ? ORR_EXIT_OK : ORR_EXIT_BAD);
}

static int on_cluster(int argc, char **argv) {
  struct arguments a = {0};
  char text[PATH_MAX];
  int status = parse(argc, argv, &a);
  bool works = strcmp(argv[0], "work") == 0, gathers = strcmp(argv[0], "gather") == 0;
  if (status != ORR_EXIT_OK)
    return status;
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_campaign *c = load(a.path, d);
  struct orr_folder f = {.lock = -1};
  status = ORR_EXIT_BAD;
  if (c && orr_folder_open(&f, folder_of(&a, text), gathers ? ORR_FOLDER_RESUME : ORR_FOLDER_READ, c, d))
    status = works ? work(&f, &a) : gathers ? gather(&f, &a) : (int)orr_slurm_status(&f);
  else if (c && works)
    orr_slurm_refused(folder_of(&a, text));
  if (c)
    orr_folder_close(&f);
  orr_diagnostics_destroy(d);
  return status;
}

/* ---- fly --------------------------------------------------------------------------------------------------------- */

/* What stands behind the campaign file goes to `orrery run`, but for --flight and --settings. */
static int fly(int argc, char **argv) {
  const char *path = NULL, *number = NULL;
  bool settings_alone = false;
  char **words = calloc((size_t)argc + 1, sizeof *words);
  int count = 0;
  for (int i = 1; words && i < argc; i++) {
    if (strcmp(argv[i], "--flight") == 0 && i + 1 < argc)
      number = argv[++i];
    else if (strcmp(argv[i], "--settings") == 0)
      settings_alone = true;
    else if (!path && argv[i][0] != '-' && count == 0)
      path = argv[i];
    else
      words[count++] = argv[i];
  }
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_campaign *c = path && number ? load(path, d) : NULL;
  int64_t flight = number ? whole(number) : -1;
  int status = ORR_EXIT_BAD;
  double values[ORR_CAMPAIGN_VARIED];
  if (!path || !number)
    status = usage("fly takes a campaign file and --flight N", NULL);
  else if (c && (flight < 0 || flight >= c->flights))
    status = usage("this campaign has no flight", number);
  else if (c) {
    struct orr_flight_settings settings;
    orr_draw_flight(c, flight, values);
    orr_flight_settings_make(&settings, c, values);
    for (size_t i = 0; settings_alone && i < settings.count; i++)
      puts(settings.text[i]);
    orr_flight_settings_free(&settings);
    status = settings_alone ? ORR_EXIT_OK : orr_campaign_fly_one(c, values, count, words);
  }
  orr_diagnostics_destroy(d);
  free(words);
  return status;
}

/* ---- report ------------------------------------------------------------------------------------------------------ */

/* report FOLDER -o FILE.html, and export FOLDER --hdf5 FILE. */
static int report(int argc, char **argv) {
  const char *folder = NULL, *out = NULL;
  bool page = strcmp(argv[0], "report") == 0;
  const char *option = page ? "-o" : "--hdf5",
             *usual = page ? "report takes a folder and -o FILE.html" : "export takes a folder and --hdf5 FILE";
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], option) == 0 && i + 1 < argc)
      out = argv[++i];
    else if (argv[i][0] != '-' && !folder)
      folder = argv[i];
    else
      return usage(usual, argv[i]);
  }
  if (!folder || !out)
    return usage(usual, NULL);
  return (page ? orr_campaign_page(folder, out) : orr_columns_hdf5(folder, out)) ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

/* ---- shrink, worst ----------------------------------------------------------------------------------------------- */

static int search(int argc, char **argv) {
  struct arguments a = {0};
  int status = parse(argc, argv, &a);
  bool shrink = strcmp(argv[0], "shrink") == 0;
  if (status != ORR_EXIT_OK)
    return status;
  struct orr_search_request r = {.flight = a.flight ? whole(a.flight) : 0,
                                 .measure = a.measure,
                                 .flights = a.flights ? whole(a.flights) : 0,
                                 .jobs = a.jobs ? (int)whole(a.jobs) : orr_campaign_jobs(),
                                 .json = a.json};
  if (shrink && !a.flight)
    return usage("shrink takes a campaign file and --flight N", NULL);
  if (!shrink && !a.measure)
    return usage("search takes a campaign file and --worst MEASURE", NULL);
  if (r.jobs < 1 || r.jobs > 256 || r.flight < 0 || r.flights < 0 || a.folder || a.junit || a.resume)
    return usage("wrong number or option for a search", NULL);
  struct orr_diagnostics *d = orr_diagnostics_create();
  r.campaign = load(a.path, d);
  status = ORR_EXIT_BAD;
  if (r.campaign && r.flight >= r.campaign->flights)
    status = usage("this campaign has no flight", a.flight);
  else if (r.campaign)
    status = (int)(shrink ? orr_campaign_shrink(&r) : orr_campaign_worst(&r));
  orr_diagnostics_destroy(d);
  return status;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int run(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
  } verbs[] = {{"check", check},       {"run", run_all},      {"fly", fly},       {"report", report},
               {"export", report},     {"shrink", search},    {"search", search}, {"work", on_cluster},
               {"gather", on_cluster}, {"status", on_cluster}};
  if (argc < 2)
    return usage("needs a verb: check, run, fly, report, export, shrink, search, status or gather", NULL);
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
    if (strcmp(argv[1], verbs[i].name) == 0)
      return verbs[i].run(argc - 1, argv + 1);
  return usage("takes check, run, fly, report, export, shrink, search, status and gather, not", argv[1]);
}

const struct orr_command orr_cmd_campaign = {
    .name = "campaign",
    .summary = "fly a run file many times, with what varies, as one table and one verdict",
    .usage = "check CAMPAIGN.yaml\n"
             "       orrery campaign run CAMPAIGN.yaml [-o FOLDER] [--jobs N] [--resume] [--junit FILE] [--json]\n"
             "       orrery campaign fly CAMPAIGN.yaml --flight N [--settings] [OPTIONS of orrery run]\n"
             "       orrery campaign report FOLDER -o FILE.html\n"
             "       orrery campaign export FOLDER --hdf5 FILE\n"
             "       orrery campaign shrink CAMPAIGN.yaml --flight N [--jobs N] [--json]\n"
             "       orrery campaign search CAMPAIGN.yaml --worst MEASURE [--flights N] [--jobs N] [--json]\n"
             "       orrery campaign run CAMPAIGN.yaml [-o FOLDER] --slurm [--partition P] [--array-size N] [--jobs N] "
             "[--print-script]\n"
             "       orrery campaign status | gather CAMPAIGN.yaml [-o FOLDER]",
    .help = "Flies a run file many times. The campaign file names it and says what varies, how many flights\n"
            "there are, what is kept and what must hold over all (orrery help campaign-file). Flight i depends\n"
            "on these files and on i alone: not on order, machine or number of workers.\n"
            "\n"
            "check reads it and says what varies, by which law, without a flight.\n"
            "run flies what is not flown yet, by workers that are processes, into FOLDER (NAME.campaign): a\n"
            "row for each flight in table.csv and table.jsonl, with parameters, seed, hash, verdict,\n"
            "expectations with their margins, and measures; summary.json; timing.jsonl with wall time, host\n"
            "and worker. A flight that crashes, takes longer than `limits` says or more memory is a row with\n"
            "its reason.\n"
            "  --jobs N             workers; by default as many as processors\n"
            "  --resume             goes on after Ctrl-C, a kill or a crash, to the same table to the byte\n"
            "  --junit FILE, --json the verdict as JUnit; the summary as JSON on standard output\n"
            "Ctrl-C ends after the flights in the air, the second one now.\n"
            "\n"
            "fly flies one again, with the hash in the table: by orrery run, whose options stand behind it, in\n"
            "batch if they name no other mode. --settings only prints what it sets.\n"
            "\n"
            "report makes one page of HTML that needs nothing else: verdict, histograms, any parameter against\n"
            "any measure, rank correlations, envelopes over time, the ten worst with the command that flies\n"
            "each again.\n"
            "export writes the numbers of the table as HDF5, a dataset for each column.\n"
            "\n"
            "shrink finds the smallest dispersion that still fails: along the way to the middle of all laws,\n"
            "path by path, and in other directions. search finds the flight within the bounds with the largest\n"
            "MEASURE of `keep`, or the least margin of an expectation (CMA-ES); of laws without ends within\n"
            "three standard deviations. Both fly with the seeds of a flight, and print the run that they\n"
            "found.\n"
            "\n",
    .help_end = "run --slurm submits it to a cluster: a job array of N tasks (100) with --jobs processors (1)\n"
                "each, and a job behind it that gathers. All that it needs is a shared FOLDER. --print-script\n"
                "shows what would be submitted. status says how far it is; gather makes tables and verdict of the\n"
                "attempts that came to their end; what is missing then, run --resume flies, with --slurm or here.\n"
                "\n"
                "The folder belongs to its files, to this build and to the elementary functions of the C library,\n"
                "which differ between processors: the fingerprint says which. Another one is refused.\n"
                "\n"
                "Examples:\n"
                "  orrery campaign run configs/campaigns/wings-slew.yaml -o out --jobs 4\n"
                "  orrery campaign fly configs/campaigns/wings-slew.yaml --flight 17 --plot flight.svg\n"
                "  orrery campaign report out -o out.html\n"
                "\n"
                "Exit status:\n"
                "  0  passed: all flights were flown, and what it expects holds (without `expect`: all passed); of\n"
                "     the others: done\n"
                "  1  failed: it does not hold or is not shown, or a file is wrong or cannot be written\n"
                "  2  the command line is wrong\n"
                "  3  incomplete: not all flights were flown\n",
    .run = run,
};
