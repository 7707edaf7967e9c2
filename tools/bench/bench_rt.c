/* `orrery bench --rt`: our executive beside cyclictest, and what spin and phase add.
 *
 * Wake-up tails on one machine differ from minute to minute by a factor of two, so the two take turns in short slices
 * with the order swapped every time, the slices are pooled, and the ratio comes with an interval from resampling them
 * in pairs. Same core, priority, period, phase and load; both without spin. */
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/executive.h"
#include "rt/machine/environment.h"
#include "rt/tick/clock.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_rt_slice.h"
#include "tools/common/burners.h"
#include "tools/common/commands.h"
#include "tools/common/progress.h"
#include "tools/common/timing_report.h"

enum { VARIANTS = 4 };

struct arguments {
  struct orr_slice_conditions conditions;
  double slice_s, rate_hz;
  size_t slices, rounds;
  bool load;
};

struct pools {
  struct orr_pool *ours, *theirs; /* [slices] */
  struct orr_pool *variant;       /* [VARIANTS] */
  struct orr_pool *scratch;       /* [2] */
};

/* Between slices alone: nothing of ours is to run beside a measurement. */
struct progress {
  struct orr_progress bar;
  size_t done, all; /* slices */
};

static void slice_done(struct progress *p) { orr_progress_show(&p->bar, (double)++p->done / (double)p->all); }

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery bench --rt: %s '%s'\nTry 'orrery help bench'.\n", what, word);
  return ORR_EXIT_USAGE;
}

static bool set(const char *option, double v, struct arguments *a) {
  if (strcmp(option, "--core") == 0 && v >= 0 && v < CPU_SETSIZE)
    a->conditions.core = (int)v;
  else if (strcmp(option, "--priority") == 0 && v >= 1 && v <= 99)
    a->conditions.priority = (int)v;
  else if (strcmp(option, "--rate") == 0 && v >= 10 && v <= 20000)
    a->rate_hz = v;
  else if (strcmp(option, "--phase-us") == 0 && v >= 0 && v < 100000)
    a->conditions.phase_us = (int64_t)v;
  else if (strcmp(option, "--slices") == 0 && v >= 0 && v <= 10000)
    a->slices = (size_t)v;
  else if (strcmp(option, "--slice-seconds") == 0 && v >= 0.1 && v <= 3600)
    a->slice_s = v;
  else if (strcmp(option, "--rounds") == 0 && v >= 0 && v <= 1000)
    a->rounds = (size_t)v;
  else
    return false;
  return true;
}

static int parse(int argc, char **argv, struct arguments *a) {
  for (int i = 1; i < argc; i++) {
    char *end = NULL;
    if (strcmp(argv[i], "--load") == 0) {
      a->load = true;
    } else if (strcmp(argv[i], "--quick") == 0) {
      a->slices = 4;
      a->rounds = 1;
      a->slice_s = 1;
    } else if (argv[i][0] != '-') {
      return usage("unexpected", argv[i]);
    } else {
      double v = argv[i + 1] ? strtod(argv[i + 1], &end) : 0;
      if (!end || end == argv[i + 1] || *end || !set(argv[i], v, a))
        return usage("unknown option or bad value of", argv[i]);
      i++;
    }
  }
  if (a->conditions.core == ORR_CORE_AUTO)
    a->conditions.core = orr_setup_choose_core();
  a->conditions.period_us = (int64_t)(1e6 / a->rate_hz + 0.5);
  a->conditions.frames = (uint64_t)(a->slice_s * a->rate_hz + 0.5);
  return a->conditions.core < 0 ? usage("this process may use one core only; name it with", "--core") : ORR_EXIT_OK;
}

/* --- beside cyclictest -------------------------------------------------------------------------------------------- */
static const char *run_pair(const struct arguments *a, struct pools *p, size_t slice, struct progress *progress) {
  struct orr_slice_outcome outcome;
  const char *wrong = NULL;
  for (int turn = 0; turn < 2 && !wrong; turn++) {
    if ((slice + (size_t)turn) % 2 == 0) {
      wrong = orr_slice_ours(&a->conditions, false, false, &p->ours[slice], &outcome);
      if (!wrong && !outcome.real_time)
        wrong = "the executive did not get its core and priority; the comparison needs root";
    } else {
      wrong = orr_slice_cyclictest(&a->conditions, &p->theirs[slice]);
    }
    slice_done(progress);
  }
  return wrong;
}

static void print_pool(const char *name, const struct orr_pool *p) {
  printf("%-26s %9.1f %9.1f %9.1f %9lld\n", name, orr_pool_percentile_us(p, 0.5), orr_pool_percentile_us(p, 0.99),
         orr_pool_percentile_us(p, 0.999), (long long)p->max_us);
}

static json_t *pool_json(const struct orr_pool *p) {
  return json_pack("{s:f, s:f, s:f, s:I}", "p50_us", orr_pool_percentile_us(p, 0.5), "p99_us",
                   orr_pool_percentile_us(p, 0.99), "p99.9_us", orr_pool_percentile_us(p, 0.999), "max_us",
                   (json_int_t)p->max_us);
}

static json_t *ratio_json(const struct orr_ratio *r, const struct arguments *a) {
  return json_pack("{s:f, s:f, s:f, s:s}", "ratio", r->value, "low", r->low, "high", r->high, "verdict",
                   orr_ratio_verdict(r, a->slices, a->slice_s));
}

static void report_pairs(const struct arguments *a, const struct pools *p, json_t *json) {
  struct orr_ratio p99 = orr_pool_ratio(p->ours, p->theirs, a->slices, 0.99, p->scratch);
  struct orr_ratio p999 = orr_pool_ratio(p->ours, p->theirs, a->slices, 0.999, p->scratch);
  memset(p->scratch, 0, 2 * sizeof *p->scratch);
  for (size_t s = 0; s < a->slices; s++) {
    orr_pool_merge(&p->scratch[0], &p->ours[s]);
    orr_pool_merge(&p->scratch[1], &p->theirs[s]);
  }
  if (json) {
    json_object_set_new(json, "beside_cyclictest",
                        json_pack("{s:o, s:o, s:o, s:o}", "orrery", pool_json(&p->scratch[0]), "cyclictest",
                                  pool_json(&p->scratch[1]), "p99", ratio_json(&p99, a), "p99.9",
                                  ratio_json(&p999, a)));
    return;
  }
  print_pool("orrery, no spin", &p->scratch[0]);
  print_pool("cyclictest", &p->scratch[1]);
  printf("ratio of p99    %.3f, 95 %% of resamples in [%.3f, %.3f]: %s\n", p99.value, p99.low, p99.high,
         orr_ratio_verdict(&p99, a->slices, a->slice_s));
  printf("ratio of p99.9  %.3f, 95 %% of resamples in [%.3f, %.3f]: %s\n\n", p999.value, p999.low, p999.high,
         orr_ratio_verdict(&p999, a->slices, a->slice_s));
}

/* --- spin and phase ----------------------------------------------------------------------------------------------- */
static const struct {
  const char *name;
  bool auto_phase, auto_spin;
} variants[VARIANTS] = {
    {"phase as given, no spin", false, false},
    {"phase auto, no spin", true, false},
    {"phase as given, spin auto", false, true},
    {"phase auto, spin auto", true, true},
};

static const char *run_variants(const struct arguments *a, struct pools *p, struct orr_slice_outcome last[VARIANTS],
                                struct progress *progress) {
  for (size_t round = 0; round < a->rounds; round++)
    for (size_t v = 0; v < VARIANTS; v++) {
      size_t turn = (v + round) % VARIANTS; /* nobody is always first */
      const char *wrong = orr_slice_ours(&a->conditions, variants[turn].auto_phase, variants[turn].auto_spin,
                                         &p->variant[turn], &last[turn]);
      if (wrong)
        return wrong;
      slice_done(progress);
    }
  return NULL;
}

static void report_variants(const struct pools *p, const struct orr_slice_outcome last[VARIANTS], json_t *json) {
  json_t *list = json ? json_array() : NULL;
  for (size_t v = 0; v < VARIANTS; v++) {
    if (list) {
      json_t *row = pool_json(&p->variant[v]);
      json_object_set_new(row, "name", json_string(variants[v].name));
      json_object_set_new(row, "phase_ns", json_integer(last[v].phase_ns));
      json_object_set_new(row, "margin_ns", json_integer(last[v].margin_ns));
      json_array_append_new(list, row);
    } else {
      print_pool(variants[v].name, &p->variant[v]);
    }
  }
  if (list)
    json_object_set_new(json, "spin_and_phase", list);
}

static void print_conditions(const struct arguments *a) {
  const struct orr_slice_conditions *c = &a->conditions;
  printf("core %d, SCHED_FIFO %d, period %lld us, phase %lld us, %s; slices of %g s: %zu pairs, then %zu rounds\n",
         c->core, c->priority, (long long)c->period_us, (long long)c->phase_us,
         a->load ? "loaded (a burner per core)" : "no load of ours", a->slice_s, a->slices, a->rounds);
  printf("%-26s %9s %9s %9s %9s\n", "wake-up, us", "p50", "p99", "p99.9", "max");
}

static const char *measure(const struct arguments *a, struct pools *p, json_t *json) {
  struct orr_slice_outcome last[VARIANTS] = {{0}};
  const char *wrong = NULL;
  struct progress progress = {.all = 2 * a->slices + VARIANTS * a->rounds};
  if (!json)
    print_conditions(a);
  fflush(stdout);
  orr_progress_begin(&progress.bar, (double)progress.all * a->slice_s);
  orr_progress_show(&progress.bar, 0);
  for (size_t s = 0; s < a->slices && !wrong; s++)
    wrong = run_pair(a, p, s, &progress);
  orr_progress_wipe(&progress.bar);
  if (wrong)
    return wrong;
  if (a->slices > 0)
    report_pairs(a, p, json);
  fflush(stdout);
  wrong = run_variants(a, p, last, &progress);
  orr_progress_wipe(&progress.bar);
  if (!wrong && a->rounds > 0)
    report_variants(p, last, json);
  return wrong;
}

static int run(int argc, char **argv, json_t *json) {
  struct arguments a = {
      .conditions = {.core = ORR_CORE_AUTO, .priority = 80}, .slice_s = 10, .rate_hz = 1000, .slices = 20, .rounds = 3};
  struct orr_burners burners = {.count = 0};
  int status = parse(argc, argv, &a);
  if (status != ORR_EXIT_OK)
    return status;
  struct pools p = {
      .ours = calloc(a.slices + 1, sizeof *p.ours),
      .theirs = calloc(a.slices + 1, sizeof *p.theirs),
      .variant = calloc(VARIANTS, sizeof *p.variant),
      .scratch = calloc(2, sizeof *p.scratch),
  };
  const char *wrong = p.ours && p.theirs && p.variant && p.scratch ? NULL : "out of memory";
  if (!wrong) {
    for (long core = 0; a.load && core < sysconf(_SC_NPROCESSORS_ONLN); core++)
      orr_burners_add(&burners, (int)core);
    wrong = measure(&a, &p, json);
    orr_burners_end(&burners);
  }
  if (json && !wrong) {
    struct orr_environment environment;
    orr_environment_read(&environment, a.conditions.core, "");
    json_object_set_new(json, "environment", orr_environment_json(&environment));
  }
  if (wrong)
    fprintf(stderr, "orrery bench --rt: %s\n", wrong);
  free(p.ours);
  free(p.theirs);
  free(p.variant);
  free(p.scratch);
  return wrong ? ORR_EXIT_BAD : ORR_EXIT_OK;
}

extern const struct orr_bench orr_bench_rt;
const struct orr_bench orr_bench_rt = {
    .name = "rt",
    .summary = "the tick, beside cyclictest, and what spin and phase add",
    .run = run,
};
