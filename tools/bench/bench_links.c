/* `orrery bench --links`: our links beside bare pairs with the same payload and the same threads on the same cores.
 *
 *   round trips   a frame out, the peer answers it, the answer is here and judged
 *   publication   an empty plant at 1 kHz in the executive: when a frame reaches the peer after its tick, and how even
 *                 the frames come; beside a thread with the same core and priority that sleeps to the same ticks and
 *                 only writes
 *
 * Each over shared memory and over UDP. The sides take turns in short slices, the order swapped every time; slices are
 * pooled, and a ratio comes with an interval from resampling them in pairs. */
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rt/executive.h"
#include "rt/machine/environment.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_links.h"
#include "tools/bench/latency_pool.h"
#include "tools/common/commands.h"
#include "tools/common/progress.h"
#include "tools/common/timing_report.h"

enum { TRANSPORTS = 2, SIDES = 2, FRACTIONS = 3, SLICES_MAX = 1000 };
enum { BARE, LINK };

static const double fractions[FRACTIONS] = {0.5, 0.99, 0.999};
static const char *const fraction_names[FRACTIONS] = {"p50", "p99", "p99.9"};
static const double limit = 1.3;

struct arguments {
  struct orr_links_conditions conditions;
  int slices;
  double slice_s;
};

struct transport {
  const char *name, *side_names[SIDES];
  struct orr_links_path *path[SIDES];
  struct orr_links_slice *slices[SIDES]; /* [slices] shared with the peers */
};

/* What is read off a slice. */
enum what { TRIP, ARRIVAL, INTERVAL, WHATS };
static const char *const what_names[WHATS] = {"round_trip", "arrival", "interval"};
static const char *const what_words[WHATS] = {"round trip", "publication at 1 kHz: arrival at the peer after the tick",
                                              "publication at 1 kHz: |time since the frame before - 1 ms|"};

static const struct orr_histogram *histogram_of(const struct orr_links_slice *s, enum what what) {
  return what == TRIP ? &s->trip : what == ARRIVAL ? &s->arrival : &s->interval;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery bench --links: %s '%s'\nTry 'orrery help bench'.\n", what, word);
  return ORR_EXIT_USAGE;
}

static bool set(const char *option, double v, struct arguments *a) {
  if (strcmp(option, "--core") == 0 && v >= 0 && v < CPU_SETSIZE)
    a->conditions.core = (int)v;
  else if (strcmp(option, "--peer-core") == 0 && v >= 0 && v < CPU_SETSIZE)
    a->conditions.peer_core = (int)v;
  else if (strcmp(option, "--priority") == 0 && v >= 0 && v <= 99)
    a->conditions.priority = (int)v;
  else if (strcmp(option, "--peer-priority") == 0 && v >= 0 && v <= 99)
    a->conditions.peer_priority = (int)v;
  else if (strcmp(option, "--slices") == 0 && v >= 1 && v <= SLICES_MAX)
    a->slices = (int)v;
  else if (strcmp(option, "--trips") == 0 && v >= 1 && v <= 1e6)
    a->conditions.trips = (int)v;
  else if (strcmp(option, "--slice-seconds") == 0 && v >= 0 && v <= 3600)
    a->slice_s = v;
  else
    return false;
  return true;
}

static int parse(int argc, char **argv, struct arguments *a) {
  for (int i = 1; i < argc; i++) {
    char *end = NULL;
    if (strcmp(argv[i], "--quick") == 0) {
      a->slices = 2;
      a->conditions.trips = 1000;
      a->slice_s = 0.25;
      continue;
    }
    if (argv[i][0] != '-')
      return usage("unexpected", argv[i]);
    double v = argv[i + 1] ? strtod(argv[i + 1], &end) : 0;
    if (!end || end == argv[i + 1] || *end || !set(argv[i], v, a))
      return usage("unknown option or bad value of", argv[i]);
    i++;
  }
  a->conditions.frames = (int)(a->slice_s * 1e9 / (double)a->conditions.period_ns);
  return ORR_EXIT_OK;
}

/* Two cores that this process may use; the thread that starts all has both, so that a relay kept off one gets the
 * other. */
static const char *place(struct orr_links_conditions *c) {
  cpu_set_t may, both;
  sched_getaffinity(0, sizeof may, &may);
  if (c->core == ORR_CORE_AUTO)
    c->core = orr_setup_choose_core();
  for (int i = CPU_SETSIZE - 1; i >= 0 && c->peer_core < 0; i--)
    if (i != c->core && CPU_ISSET((size_t)i, &may))
      c->peer_core = i;
  if (c->core < 0 || c->peer_core < 0 || c->core == c->peer_core || !CPU_ISSET((size_t)c->core, &may) ||
      !CPU_ISSET((size_t)c->peer_core, &may))
    return "it takes two cores that this process may use";
  CPU_ZERO(&both);
  CPU_SET((size_t)c->core, &both);
  CPU_SET((size_t)c->peer_core, &both);
  sched_setaffinity(0, sizeof both, &both);
  if (!orr_links_rise(c->priority) || !orr_links_rise(c->peer_priority)) {
    fprintf(stderr,
            "orrery bench --links: no right to SCHED_FIFO; all threads are ordinary ones, and tails say little\n");
    c->priority = c->peer_priority = 0;
  }
  orr_links_rise(0);
  return NULL;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

static bool make_transports(struct transport transports[TRANSPORTS], int slices) {
  size_t bytes = (size_t)slices * sizeof(struct orr_links_slice);
  bool good = true;
  transports[0] =
      (struct transport){"shm", {"bare pair of seqlocks", "link"}, {orr_path_bare_shm(), orr_path_link_shm()}, {0}};
  transports[1] =
      (struct transport){"udp", {"bare ring, relay, socket", "link"}, {orr_path_bare_udp(), orr_path_link_udp()}, {0}};
  for (int t = 0; t < TRANSPORTS; t++)
    for (int side = 0; side < SIDES; side++) {
      void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      transports[t].slices[side] = memory == MAP_FAILED ? NULL : memory;
      good = good && transports[t].path[side] && transports[t].slices[side];
    }
  return good;
}

static void free_transports(struct transport transports[TRANSPORTS], int slices) {
  for (int t = 0; t < TRANSPORTS; t++)
    for (int side = 0; side < SIDES; side++) {
      free(transports[t].path[side]);
      if (transports[t].slices[side])
        munmap(transports[t].slices[side], (size_t)slices * sizeof(struct orr_links_slice));
    }
}

static const char *run_slice(const struct arguments *a, struct transport *t, int number) {
  const char *wrong = NULL;
  struct orr_links_conditions lockstep = a->conditions, real_time = a->conditions;
  real_time.relay_priority = a->conditions.priority > 1 ? a->conditions.priority - 1 : 0;
  for (int turn = 0; turn < SIDES && !wrong; turn++) {
    int side = (number + turn) % SIDES;
    struct orr_links_slice *slice = &t->slices[side][number];
    wrong = orr_measure_trips(t->path[side], &lockstep, slice);
    if (!wrong && a->conditions.frames > 0)
      wrong = orr_measure_publication(t->path[side], &real_time, side == LINK, slice);
  }
  return wrong;
}

static const char *run_slices(const struct arguments *a, struct transport transports[TRANSPORTS]) {
  const char *wrong = NULL;
  struct orr_progress progress; /* between slices alone */
  orr_progress_begin(&progress, 0);
  for (int number = 0; number < a->slices && !wrong; number++)
    for (int t = 0; t < TRANSPORTS && !wrong; t++) {
      wrong = run_slice(a, &transports[t], number);
      orr_progress_show(&progress, (number * TRANSPORTS + t + 1.0) / (a->slices * TRANSPORTS));
    }
  orr_progress_wipe(&progress);
  return wrong;
}

/* ---- report ------------------------------------------------------------------------------------------------------ */

struct sums {
  double percentile_ns[FRACTIONS];
  uint64_t samples;
  int lost;
};

static struct sums sum_up(const struct orr_links_slice *slices, int count, enum what what,
                          const struct orr_histogram *pointers[SLICES_MAX]) {
  struct sums sums = {.samples = 0};
  for (int s = 0; s < count; s++) {
    pointers[s] = histogram_of(&slices[s], what);
    sums.samples += pointers[s]->total;
    sums.lost += what == TRIP ? slices[s].lost : 0;
  }
  for (int f = 0; f < FRACTIONS; f++)
    sums.percentile_ns[f] = orr_slices_percentile_ns(pointers, (size_t)count, fractions[f]);
  return sums;
}

static const char *verdict(const struct orr_ratio *r, int slices) {
  if (slices < ORR_SLICES_ENOUGH)
    return "undecided";
  return r->high <= limit ? "met" : r->low > limit ? "not met" : "undecided";
}

static json_t *sums_json(const struct sums *s) {
  return json_pack("{s:I, s:i, s:f, s:f, s:f}", "samples", (json_int_t)s->samples, "lost", s->lost, "p50_ns",
                   s->percentile_ns[0], "p99_ns", s->percentile_ns[1], "p99.9_ns", s->percentile_ns[2]);
}

static void report_json(const struct transport *t, enum what what, const struct sums sums[SIDES],
                        const struct orr_ratio ratios[FRACTIONS], int slices, json_t *into) {
  json_t *ratio = json_object();
  for (int f = 0; f < FRACTIONS; f++)
    json_object_set_new(ratio, fraction_names[f],
                        json_pack("{s:f, s:f, s:f, s:s}", "ratio", ratios[f].value, "low", ratios[f].low, "high",
                                  ratios[f].high, "within_1.3", verdict(&ratios[f], slices)));
  json_t *row =
      json_pack("{s:o, s:o, s:o}", "bare", sums_json(&sums[BARE]), "link", sums_json(&sums[LINK]), "ratio", ratio);
  json_t *group = json_object_get(into, what_names[what]);
  if (!group) {
    group = json_object();
    json_object_set_new(into, what_names[what], group);
  }
  json_object_set_new(group, t->name, row);
}

static void report_text(const struct transport *t, const struct sums sums[SIDES],
                        const struct orr_ratio ratios[FRACTIONS], int slices) {
  for (int side = 0; side < SIDES; side++)
    printf("  %s  %-26s %9llu %5d %9.3f %9.3f %9.3f\n", t->name, t->side_names[side],
           (unsigned long long)sums[side].samples, sums[side].lost, sums[side].percentile_ns[0] / 1e3,
           sums[side].percentile_ns[1] / 1e3, sums[side].percentile_ns[2] / 1e3);
  printf("       ratio");
  for (int f = 0; f < FRACTIONS; f++)
    printf("%s %s %.2f [%.2f, %.2f]", f ? "," : "", fraction_names[f], ratios[f].value, ratios[f].low, ratios[f].high);
  printf("; p50 within %.1f: %s\n", limit, verdict(&ratios[0], slices));
}

static void report(const struct arguments *a, const struct transport transports[TRANSPORTS], json_t *json) {
  const struct orr_links_conditions *c = &a->conditions;
  if (!json)
    printf("%d numbers out, %d in; publishing on core %d (SCHED_FIFO %d), peer and relay on core %d (%d); "
           "%d slices of %d trips and %d frames\n%-33s %9s %5s %9s %9s %9s\n",
           ORR_LINKS_OUT, ORR_LINKS_IN, c->core, c->priority, c->peer_core, c->peer_priority, a->slices, c->trips,
           c->frames, "us", "samples", "lost", "p50", "p99", "p99.9");
  for (int what = TRIP; what < (c->frames > 0 ? WHATS : ARRIVAL); what++) {
    if (!json)
      printf("%s\n", what_words[what]);
    for (int t = 0; t < TRANSPORTS; t++) {
      const struct orr_histogram *pointers[SIDES][SLICES_MAX];
      struct sums sums[SIDES];
      struct orr_ratio ratios[FRACTIONS];
      for (int side = 0; side < SIDES; side++)
        sums[side] = sum_up(transports[t].slices[side], a->slices, (enum what)what, pointers[side]);
      for (int f = 0; f < FRACTIONS; f++)
        ratios[f] = orr_slices_ratio(pointers[LINK], pointers[BARE], (size_t)a->slices, fractions[f]);
      if (json)
        report_json(&transports[t], (enum what)what, sums, ratios, a->slices, json);
      else
        report_text(&transports[t], sums, ratios, a->slices);
    }
  }
}

static int run(int argc, char **argv, json_t *json) {
  struct arguments a = {
      .conditions = {.core = ORR_CORE_AUTO, .peer_core = -1, .priority = 80, .trips = 5000, .period_ns = 1000000},
      .slices = 20,
      .slice_s = 2};
  struct transport transports[TRANSPORTS];
  struct orr_lacks lacks = {0};
  int status = parse(argc, argv, &a);
  if (status != ORR_EXIT_OK)
    return status;
  const char *wrong = place(&a.conditions);
  if (!make_transports(transports, a.slices) && !wrong)
    wrong = "out of memory";
  int awake = orr_setup_hold_dma_latency(&lacks); /* for both sides, as the executive does it for its run */
  if (!wrong)
    wrong = run_slices(&a, transports);
  if (awake >= 0)
    close(awake);
  if (wrong)
    fprintf(stderr, "orrery bench --links: %s\n", wrong);
  else
    report(&a, transports, json);
  if (json && !wrong) {
    struct orr_environment environment;
    orr_environment_read(&environment, a.conditions.core, "");
    json_object_set_new(json, "environment", orr_environment_json(&environment));
  }
  free_transports(transports, a.slices);
  return wrong ? ORR_EXIT_BAD : ORR_EXIT_OK;
}

const struct orr_bench orr_bench_links = {
    .name = "links", .summary = "links beside bare pairs: round trips and publication", .run = run};
