/* `orrery timing`: has the executive become slower, or less steady? */
#include <stdlib.h>
#include <string.h>

#include "tools/common/commands.h"
#include "tools/timing/timing_verbs.h"

static const struct verb {
  const char *name;
  int (*run)(int argc, char **argv);
} verbs[] = {{"run", orr_timing_run},
             {"slice", orr_timing_run_slice},
             {"compare", orr_timing_compare_files},
             {"merge", orr_timing_merge},
             {"trend", orr_timing_trend}};
enum { VERBS = sizeof verbs / sizeof *verbs };

int orr_timing_usage(const char *verb, const char *what, const char *word) {
  fprintf(stderr, "orrery timing%s%s: %s%s%s%s\nTry 'orrery help timing'.\n", verb ? " " : "", verb ? verb : "", what,
          word ? " '" : "", word ? word : "", word ? "'" : "");
  return ORR_EXIT_USAGE;
}

bool orr_timing_whole(const char *word, long least, long most, long *value) {
  char *end;
  *value = strtol(word, &end, 10);
  return end != word && *end == '\0' && *value >= least && *value <= most;
}

static const struct orr_timing_option *find(const struct orr_timing_option *options, size_t count, const char *word) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(options[i].name, word) == 0)
      return &options[i];
  return NULL;
}

int orr_timing_parse(int argc, char **argv, const struct orr_timing_option *options, size_t option_count,
                     const char **words, size_t most, size_t *word_count) {
  for (int i = 1; i < argc; i++) {
    const struct orr_timing_option *o = find(options, option_count, argv[i]);
    if (!o && argv[i][0] == '-' && argv[i][1])
      return orr_timing_usage(argv[0], "unknown option", argv[i]);
    if (!o && *word_count == most)
      return orr_timing_usage(argv[0], "unexpected", argv[i]);
    if (!o)
      words[(*word_count)++] = argv[i];
    else if (!o->value)
      *o->switched = true;
    else if (i + 1 == argc)
      return orr_timing_usage(argv[0], "a value is missing after", argv[i]);
    else
      *o->value = argv[++i];
  }
  return ORR_EXIT_OK;
}

static int run(int argc, char **argv) {
  if (argc < 2)
    return orr_timing_usage(NULL, "needs run, compare, merge or trend", NULL);
  for (size_t i = 0; i < VERBS; i++)
    if (strcmp(argv[1], verbs[i].name) == 0)
      return verbs[i].run(argc - 1, argv + 1);
  return orr_timing_usage(NULL, "the verbs are run, compare, merge and trend, not", argv[1]);
}

const struct orr_command orr_cmd_timing = {
    .name = "timing",
    .summary = "find out whether the executive has become slower or less steady",
    .usage = "run CASE.yaml -o RESULT.json [--slices N | --for T] [--set PATH=VALUE]...\n"
             "       orrery timing compare BASE.json NEW.json [--across ASPECTS] [--decide P] [--json]\n"
             "           [--junit FILE] [--plot FILE.svg]\n"
             "       orrery timing compare --fly BASE.yaml NEW.yaml [--base-program P] [--new-program P]\n"
             "           [--slices N] [--limit N] [--keep FOLDER] [and the options above]\n"
             "       orrery timing merge RESULT.json... [-o RESULT.json]\n"
             "       orrery timing trend FOLDER -o PAGE.html",
    .help = "A timing case names a run file, what the machine does beside it, and how many slices are flown:\n"
            "\n"
            "  timing: 1\n"
            "  run: cubesat.yaml          # beside this file\n"
            "  set: [realtime.core=1]     # laid over it, as --set of orrery run\n"
            "  slices: 20                 # flights, each in a process of its own\n"
            "  slice: 5 s                 # measured, after\n"
            "  warm_up: 1 s               # flown and not measured\n"
            "  load: {cores: [0], workers: 1, kind: auto}\n"
            "  peer: echo                 # answers the links; or none, or a command for the shell\n"
            "\n"
            "load: kind auto is stress-ng where it is installed, else a burner of our own; `stress` is what\n"
            "stress-ng is told to do. Without `load` there is none.\n"
            "\n"
            "run      flies the slices. The result has, for each, the distributions of start, wake-up, slack,\n"
            "         every stage, and for a link that the echo answers its publication (from the tick to when\n"
            "         the frame is in the hands of flight software) and round trip (to when its answer has been\n"
            "         handed over); counts, worst frames with causes, and what doctor finds. 'calm' has the\n"
            "         exact least and mean of each stage over the frames that no interrupt came into (x86_64)\n"
            "           --for T        as many slices as fit, 10min; --slices N in place of the case's\n"
            "compare  has NEW become slower than BASE? Percentile by percentile, with intervals from resampled\n"
            "         slices, and one verdict: same, faster, slower, too noisy, not comparable. At most one in a\n"
            "         hundred comparisons of what is the same calls it slower, whatever the distributions are\n"
            "           --fly          BASE and NEW are cases, flown in turn, slice by slice, until a verdict is\n"
            "                          there: --slices N (12) of each before the first look, up to --limit N (96)\n"
            "           --base-program, --new-program   another build of orrery that flies them; --keep FOLDER\n"
            "                          leaves base.json and new.json there\n"
            "           --across A,B   compares although these differ: kernel, processor, isolation, case, load\n"
            "           --decide P     percentiles up to this one can make it too noisy (p99); those beyond can\n"
            "                          only make it slower\n"
            "           --plot FILE.svg   the distributions of both, on log axes\n"
            "           --json, --junit FILE   the verdict as data\n",
    .help_end = "merge    puts results together, of many nights and machines: percentiles up to p99.9999, with\n"
                "         counts; a part that stands in two of them is refused\n"
                "trend    draws the percentiles of all results of a folder in their order of time, by commit and\n"
                "         kernel, and marks where they changed: a page that needs nothing else\n"
                "\n"
                "Exit status:\n"
                "  0  same or faster; or the work was done\n"
                "  1  slower; or a file is wrong, or a slice failed\n"
                "  2  the command line is wrong\n"
                "  3  too noisy, or not comparable; or a signal ended it before all slices were flown\n"
                "\n"
                "rt/README.md leads from a machine of one's own to a gate in CI.\n",
    .run = run,
};
