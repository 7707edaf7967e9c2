/* `orrery bench --dynamics`: time of one forward-dynamics evaluation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/composite.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "io/config/spacecraft/build.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_models.h"
#include "tools/common/commands.h"
#include "tools/common/progress.h"

enum { SAMPLES = 200, QUICK_SAMPLES = 20 };
static const double SAMPLE_NS = 200e3; /* one sample lasts about this long, many evaluations */

/* A model with its sixteen states. */
struct subject {
  struct orr_bench_model *bench;
  struct orr_build build;
  void *composite_block;
  struct orr_composite *composite;
  double *q[ORR_BENCH_STATES], *u[ORR_BENCH_STATES], *force[ORR_BENCH_STATES], *accel;
};

static void subject_create(struct subject *s, struct orr_bench_model *bench, bool composite) {
  *s = (struct subject){.bench = bench};
  orr_build_create(&s->build, orr_bench_description(bench), ORR_MODEL_DEFAULT);
  const struct orr_model *m = s->build.model;
  size_t q = sizeof(double) * (size_t)m->q_count, u = sizeof(double) * (size_t)m->u_count;
  for (int k = 0; k < ORR_BENCH_STATES; k++) {
    s->q[k] = orr_aligned_block(q);
    s->u[k] = orr_aligned_block(u);
    s->force[k] = orr_aligned_block(u);
    orr_bench_state(m, k, s->q[k], s->u[k], s->force[k]);
  }
  s->accel = orr_aligned_block(u);
  if (!composite)
    return;
  size_t bytes = orr_composite_size(m);
  s->composite_block = orr_aligned_block(bytes);
  s->composite = orr_composite_init(s->composite_block, bytes, m);
}

static void subject_destroy(struct subject *s) {
  for (int k = 0; k < ORR_BENCH_STATES; k++) {
    free(s->q[k]);
    free(s->u[k]);
    free(s->force[k]);
  }
  free(s->accel);
  free(s->composite_block);
  orr_build_destroy(&s->build);
  orr_bench_destroy(s->bench);
}

/* `count` evaluations over the states in turn; ns for one. */
static double sample(struct subject *s, int count, bool composite) {
  const struct orr_model *m = s->build.model;
  struct orr_workspace *ws = s->build.ws;
  double start = orr_bench_now_ns();
  for (int i = 0; i < count; i++) {
    int k = i % ORR_BENCH_STATES;
    orr_state_set(m, ws, s->q[k], s->u[k]);
    enum orr_status status = composite ? orr_composite_solve(m, ws, s->composite, s->force[k], NULL, s->accel)
                                       : orr_forward(m, ws, s->force[k], NULL, s->accel);
    if (status != ORR_OK)
      abort();
  }
  return (orr_bench_now_ns() - start) / count;
}

struct figures {
  struct orr_bench_stat articulated, composite;
};

/* Interleaved, so that what disturbs one disturbs the other. */
static struct figures measure(struct subject *s, int samples) {
  double *a = malloc(sizeof *a * (size_t)samples), *c = malloc(sizeof *c * (size_t)samples);
  if (!a || !c)
    abort();
  int count = (int)(SAMPLE_NS / sample(s, 3, false)) + 1;
  int count_c = s->composite ? (int)(SAMPLE_NS / sample(s, 3, true)) + 1 : 0;
  for (int i = 0; i < samples; i++) {
    a[i] = sample(s, count, false);
    c[i] = s->composite ? sample(s, count_c, true) : 0;
  }
  struct figures f = {orr_bench_stat(a, samples), orr_bench_stat(c, samples)};
  free(a);
  free(c);
  return f;
}

/* In series of samples, which take about the same time each. The bar makes room for a row, and comes back after it. */
struct progress {
  struct orr_progress bar;
  int done;
};

enum { SERIES = 10 + 16 * 4 }; /* of all rows of both tables */

static void measured(struct progress *p, int series) {
  p->done += series;
  orr_progress_wipe(&p->bar);
}

static void show(struct progress *p) {
  fflush(stdout);
  orr_progress_show(&p->bar, (double)p->done / SERIES);
}

static json_t *stat_json(struct orr_bench_stat stat) {
  return json_pack("{s:f, s:f}", "min_ns", stat.min, "median_ns", stat.median);
}

static void rigid_row(const char *name, struct orr_bench_model *bench, int samples, struct progress *progress,
                      json_t *json) {
  struct subject s;
  subject_create(&s, bench, false);
  int bodies = s.build.model->body_count;
  struct figures f = measure(&s, samples);
  measured(progress, 1);
  if (json)
    json_array_append_new(json,
                          json_pack("{s:s, s:i, s:o, s:f, s:I, s:I}", "model", name, "bodies", bodies, "evaluation",
                                    stat_json(f.articulated), "min_ns_per_body", f.articulated.min / bodies,
                                    "model_bytes", (json_int_t)s.build.blocks[ORR_BUILD_MODEL].bytes, "workspace_bytes",
                                    (json_int_t)s.build.blocks[ORR_BUILD_WORKSPACE].bytes));
  else
    printf("%-22s %7d %12.0f %12.0f %10.1f\n", name, bodies, f.articulated.min, f.articulated.median,
           f.articulated.min / bodies);
  show(progress);
  subject_destroy(&s);
}

/* Operation counts of flexible-operators section 6 for ten bodies of n modes and one hinge each: multiplications and
 * additions. */
static double paper_articulated(double n) {
  double factor = n <= 7 ? 5.0 / 3 * n * n * n + 23 * n * n + 1312.0 / 3 * n + 341 : 25 * n * n + 437 * n + 1017;
  return 10 * (factor + 2 * n * n + 49 * n + 99 + 37 * n + 94);
}

static double paper_composite(double n) {
  double size = 10 * (n + 1), sum = 0;
  for (int k = 1; k <= 10; k++)
    sum += n * n + 96.5 * n + 206 + k * (23 * n * n + 58 * n + 26) + 4 * n * n + 104 * n + 349;
  return sum + size + size * size * size / 3 + 2.5 * size * size - 11.0 / 6 * size;
}

static void flexible_row(int modes, int samples, struct progress *progress, json_t *json) {
  struct subject s;
  subject_create(&s, orr_bench_flexible_chain(10, modes, ORR_DEFORMATION_FULL), true);
  struct figures f = measure(&s, samples);
  subject_destroy(&s);
  subject_create(&s, orr_bench_flexible_chain(10, modes, ORR_DEFORMATION_LINEARIZED), true);
  struct figures g = measure(&s, samples);
  subject_destroy(&s);
  measured(progress, 4);
  double ratio = f.composite.min / f.articulated.min, lean = g.composite.min / g.articulated.min;
  double paper = paper_composite(modes) / paper_articulated(modes);
  if (json)
    json_array_append_new(json, json_pack("{s:i, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f}", "modes_per_body", modes,
                                          "articulated", stat_json(f.articulated), "composite", stat_json(f.composite),
                                          "articulated_linearized", stat_json(g.articulated), "composite_linearized",
                                          stat_json(g.composite), "ratio", ratio, "ratio_linearized", lean,
                                          "paper_articulated_operations", paper_articulated(modes),
                                          "paper_composite_operations", paper_composite(modes), "paper_ratio", paper));
  else
    printf("%5d %10.0f %10.0f %6.2f   %10.0f %10.0f %6.2f   %10.0f %10.0f %6.2f\n", modes, f.articulated.min,
           f.composite.min, ratio, g.articulated.min, g.composite.min, lean, paper_articulated(modes),
           paper_composite(modes), paper);
  show(progress);
}

/* "chain N", "spacecraft N" (modes of the bus) or "flexible N" (modes per body), without the space; NULL: no such
 * model. */
static struct orr_bench_model *model_named(const char *word) {
  static const char *const names[] = {"chain", "spacecraft", "flexible"};
  for (int i = 0; i < 3; i++) {
    size_t length = strlen(names[i]);
    char *end;
    if (strncmp(word, names[i], length) != 0)
      continue;
    long n = strtol(word + length, &end, 10);
    if (end == word + length || *end || n < (i == 0) || n > 1000)
      return NULL;
    return i == 0   ? orr_bench_chain((int)n)
           : i == 1 ? orr_bench_spacecraft((int)n)
                    : orr_bench_flexible_chain(10, (int)n, ORR_DEFORMATION_FULL);
  }
  return NULL;
}

/* Evaluations and nothing else, for who counts instructions from outside. */
static int evaluate_only(const char *word, const char *count_word) {
  struct orr_bench_model *bench = word ? model_named(word) : NULL;
  long count = count_word ? strtol(count_word, NULL, 10) : 0;
  if (!bench || count < 0) {
    fprintf(stderr, "orrery bench: --only takes a model (chain20, spacecraft0, flexible5, ...) and a count\n"
                    "Try 'orrery help bench'.\n");
    if (bench)
      orr_bench_destroy(bench);
    return ORR_EXIT_USAGE;
  }
  struct subject s;
  subject_create(&s, bench, false);
  for (long done = 0; done < count; done++)
    sample(&s, 1, false);
  subject_destroy(&s);
  return ORR_EXIT_OK;
}

static void rigid_table(int samples, struct progress *progress, json_t *json) {
  static const int lengths[] = {5, 10, 20, 50, 100, 200, 500, 1000};
  if (!json)
    printf("forward dynamics, one evaluation\n%-22s %7s %12s %12s %10s\n", "model", "bodies", "minimum ns", "median ns",
           "ns/body");
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    char name[32];
    snprintf(name, sizeof name, "chain %d", lengths[i]);
    rigid_row(name, orr_bench_chain(lengths[i]), samples, progress, json);
  }
  rigid_row("spacecraft", orr_bench_spacecraft(0), samples, progress, json);
  rigid_row("spacecraft, 20 modes", orr_bench_spacecraft(20), samples, progress, json);
}

static void flexible_table(int samples, struct progress *progress, json_t *json) {
  orr_progress_wipe(&progress->bar);
  if (!json)
    printf("\nten flexible bodies, minimum ns of one evaluation; ratio = composite / articulated\n"
           "%5s %10s %10s %6s   %10s %10s %6s   %10s %10s %6s\n",
           "modes", "full: art.", "composite", "ratio", "lin.: art.", "composite", "ratio", "paper art.", "composite",
           "ratio");
  for (int modes = 0; modes <= 20; modes += modes < 10 ? 1 : 2)
    flexible_row(modes, samples, progress, json);
}

static int run(int argc, char **argv, json_t *json) {
  int samples = SAMPLES;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") == 0) {
      samples = QUICK_SAMPLES;
    } else if (strcmp(argv[i], "--only") == 0) {
      return evaluate_only(argv[i + 1], i + 1 < argc ? argv[i + 2] : NULL);
    } else {
      fprintf(stderr, "orrery bench: unknown option '%s'\nTry 'orrery help bench'.\n", argv[i]);
      return ORR_EXIT_USAGE;
    }
  }
  json_t *rigid = json ? json_array() : NULL, *flexible = json ? json_array() : NULL;
  struct progress progress = {.done = 0};
  orr_progress_begin(&progress.bar, 0);
  rigid_table(samples, &progress, rigid);
  flexible_table(samples, &progress, flexible);
  orr_progress_wipe(&progress.bar);
  if (json) {
    json_object_set_new(json, "rigid", rigid);
    json_object_set_new(json, "flexible", flexible);
  }
  return ORR_EXIT_OK;
}

const struct orr_bench orr_bench_dynamics = {"dynamics", "the solver", run};
