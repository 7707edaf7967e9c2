/* `orrery bench`: measures this build on this machine. */
#include "tools/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/common/commands.h"

extern const struct orr_bench orr_bench_dynamics;
extern const struct orr_bench orr_bench_environment;
extern const struct orr_bench orr_bench_links;
extern const struct orr_bench orr_bench_loops;
extern const struct orr_bench orr_bench_plant;
extern const struct orr_bench orr_bench_rt;

/* The first is what plain `orrery bench` runs. Ends with NULL. */
static const struct orr_bench *const benches[] = {
    &orr_bench_dynamics,
    &orr_bench_environment,
    &orr_bench_links,
    &orr_bench_loops,
    &orr_bench_plant,
    &orr_bench_rt,
    NULL,
};

double orr_bench_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct orr_bench_stat orr_bench_stat(double *samples, int count) {
  qsort(samples, (size_t)count, sizeof *samples, ascending);
  return (struct orr_bench_stat){samples[0], samples[count / 2]};
}

static const struct orr_bench *find(const char *word) {
  for (const struct orr_bench *const *b = benches; *b; b++)
    if (strncmp(word, "--", 2) == 0 && strcmp((*b)->name, word + 2) == 0)
      return *b;
  return NULL;
}

static int run(int argc, char **argv) {
  const struct orr_bench *bench = benches[0];
  json_t *json = NULL;
  int kept = 1;
  for (int i = 1; i < argc; i++) {
    const struct orr_bench *named = find(argv[i]);
    if (named)
      bench = named;
    else if (strcmp(argv[i], "--json") == 0)
      json = json ? json : json_object();
    else
      argv[kept++] = argv[i];
  }
  argv[kept] = NULL;
  int status = bench->run(kept, argv, json);
  if (json && status == ORR_EXIT_OK) {
    json_dumpf(json, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    putchar('\n');
  }
  json_decref(json);
  return status;
}

const struct orr_command orr_cmd_bench = {
    .name = "bench",
    .summary = "measure this build on this machine",
    .usage = "[--dynamics | --environment | --links | --loops | --plant [RUN] | --rt] [--quick] [--json]",
    .help = "Times are for one thread. These machines are shared: trust the minimum and the ratios within one\n"
            "run.\n"
            "\n"
            "  --dynamics   the solver (the default): chains of 5 to 1000 rigid bodies, the spacecraft of 23\n"
            "               bodies, rigid and with 20 modes on its bus, and ten flexible bodies with 0 to 20\n"
            "               modes each by the articulated and by the composite algorithm, with the paper's\n"
            "               operation counts\n"
            "  --loops      closed loops by both methods, by their number and their size, beside the tree alone\n"
            "  --environment  gravity fields, magnetic field, air and plates, as ratios to one evaluation of\n"
            "               cassini\n"
            "  --plant      a frame of a run by stage: of configs/reference.yaml, or of the run file given\n"
            "  --links      our links beside bare pairs with the same payload and cores, in alternating slices:\n"
            "               round trips, and publication at 1 kHz with an empty plant. --core N --priority N\n"
            "               (80), of the side that publishes; --peer-core N --peer-priority N (0); --slices N\n"
            "               (20) --trips N (5000) --slice-seconds S (2)\n"
            "  --rt         the tick: our executive beside cyclictest in alternating slices, with resampled\n"
            "               intervals, then what spin and phase add. --core N --priority N --rate HZ --phase-us N\n"
            "               --slices N (20) --slice-seconds S (10) --rounds N (3) --load (an ordinary burner on\n"
            "               each core)\n"
            "  --quick      fewer samples\n"
            "  --only MODEL COUNT  so many evaluations of chainN, spacecraftN (modes on the bus) or flexibleN\n"
            "               (modes per body) and nothing else, for counting instructions from outside\n"
            "               (make bench-instructions)\n"
            "  --json       the same as data\n"
            "\n"
            "Exit status: 0 everything was measured, whatever the figures: 'met', 'not met' and 'undecided' are\n"
            "in the output; 1 something could not be measured: a file is wrong, a model has no solution, rights\n"
            "or a program are missing; 2 the command line is wrong.\n",
    .run = run,
};
