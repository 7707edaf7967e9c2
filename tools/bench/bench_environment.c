/* `orrery bench --environment`: what fields, air and plates cost, as ratios to one evaluation of cassini in the same
 * run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/environment/light.h"
#include "core/environment/magnetic.h"
#include "core/environment/nrlmsise.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "io/config/run/run_file.h"
#include "io/config/spacecraft/build.h"
#include "io/session/session.h"
#include "rt/machine/denormals.h"
#include "tools/bench/bench.h"
#include "tools/common/commands.h"
#include "tools/common/progress.h"

enum { BATCH = 20 };

struct bench {
  struct orr_session *cassini;
  struct orr_harmonics *large, *small; /* 70 × 70, 20 × 20 */
  struct orr_magnetic *magnetic;       /* degree 13 */
  struct orr_nrlmsise_model air;
  double kept; /* so that nothing is left out */
  int turn;
};

/* Coefficients that fall with the degree as the Earth's do: what they are costs nothing. */
static struct orr_harmonics *field(int degree, void **block) {
  size_t bytes = orr_harmonics_size(degree, degree);
  *block = orr_aligned_block(bytes);
  struct orr_harmonics *h = orr_harmonics_init(*block, bytes, 3.986004415e14, 6378136.3, degree, degree);
  for (int n = 2; n <= degree; n++)
    for (int m = 0; m <= n; m++)
      orr_harmonics_set(h, n, m, 1e-5 / (n * n) * (m % 2 ? 1 : -1), 0.7e-5 / (n * n));
  return h;
}

static orr_vec3 place(struct bench *b) {
  b->turn++;
  return v3(5.1e6 + b->turn % 997, -3.2e6 + b->turn % 991, 3.3e6 - b->turn % 983);
}

static void evaluate_cassini(struct bench *b) {
  struct orr_session *s = b->cassini;
  struct orr_integration *i = s->plant->integration;
  orr_state_set(s->model, s->ws, i->q, i->u);
  orr_poses_update(s->model, s->ws);
  (void)orr_forward(s->model, s->ws, i->force, i->given, i->ku[0]);
  b->kept += i->ku[0][0];
}

static void large_gradient(struct bench *b) { b->kept += orr_harmonics_gradient(b->large, place(b)).x; }

static void with_gradient(struct bench *b, const struct orr_harmonics *h) {
  orr_sym3 second;
  b->kept += orr_harmonics_hessian(h, place(b), &second).x + second.xy;
}
static void large_hessian(struct bench *b) { with_gradient(b, b->large); }
static void small_hessian(struct bench *b) { with_gradient(b, b->small); }
static void magnetic_field(struct bench *b) { b->kept += orr_magnetic_field(b->magnetic, place(b)).y; }

static void air(struct bench *b) {
  const struct orr_nrlmsise_input in = {80, 40000, 400 + 1e-3 * (b->turn++ % 100), 40, -70, 14, 150, 150, 8, NULL};
  struct orr_nrlmsise out;
  orr_nrlmsise_evaluate(&b->air, &in, &out);
  b->kept += out.density;
}

static void plates(struct bench *b) {
  for (int k = 0; k < 6; k++) {
    const double sign = k % 2 ? 1 : -1;
    const struct orr_plate plate = {1, v3(k / 2 == 0 ? sign : 0, k / 2 == 1 ? sign : 0, k / 2 == 2 ? sign : 0), 0.2,
                                    0.3, 2.2};
    b->kept += orr_plate_drag(&plate, 1e-12, v3(7000 + b->turn % 7, 10, 1)).x;
    b->kept += orr_plate_light(&plate, 1361, v3(0.6, 0.64, 0.48)).y;
  }
  b->turn++;
}

static void all_of_it(struct bench *b) {
  small_hessian(b);
  magnetic_field(b);
  air(b);
  plates(b);
}

static const struct part {
  const char *name;
  void (*run)(struct bench *bench);
  double most; /* ratio; 0: none is asked */
} part_list[] = {
    {"cassini, one evaluation", evaluate_cassini, 0},
    {"70 x 70", large_gradient, 0.5},
    {"70 x 70 with gradient", large_hessian, 1},
    {"20 x 20 with gradient", small_hessian, 0},
    {"magnetic field, degree 13", magnetic_field, 0},
    {"NRLMSISE-00", air, 0},
    {"six plates", plates, 0},
    {"the last four together", all_of_it, 0.5},
};

enum { PARTS = sizeof part_list / sizeof *part_list };

/* All parts take turns, so that what the machine does meanwhile meets all of them. */
static void measure(struct bench *b, int rounds, double *minimum) {
  struct orr_progress progress;
  for (int k = 0; k < PARTS; k++)
    minimum[k] = 1e18;
  orr_progress_begin(&progress, 0);
  for (int r = 0; r < rounds; r++) {
    for (int k = 0; k < PARTS; k++) {
      double start = orr_bench_now_ns();
      for (int i = 0; i < BATCH; i++)
        part_list[k].run(b);
      double took = (orr_bench_now_ns() - start) / BATCH;
      minimum[k] = took < minimum[k] ? took : minimum[k];
    }
    orr_progress_show(&progress, (r + 1.0) / rounds);
  }
  orr_progress_wipe(&progress);
}

static void print(const double *minimum, json_t *json) {
  if (!json)
    printf("what an environment costs, minimum ns of one evaluation\n%-28s %10s %8s %8s\n", "", "ns", "ratio",
           "at most");
  for (int k = 0; k < PARTS; k++) {
    double ratio = minimum[k] / minimum[0];
    if (json)
      json_object_set_new(json, part_list[k].name, json_pack("{s:f, s:f}", "min_ns", minimum[k], "ratio", ratio));
    else if (part_list[k].most > 0)
      printf("%-28s %10.0f %8.3f %8.1f\n", part_list[k].name, minimum[k], ratio, part_list[k].most);
    else
      printf("%-28s %10.0f %8.3f\n", part_list[k].name, minimum[k], ratio);
  }
}

static int bench_with(const struct orr_run *run, int rounds, json_t *json) {
  static const struct orr_gauss gauss[105] = {[1] = {-29404.8, 0, 5.7, 0}, [2] = {-1450.9, 4652.5, 7.4, -25.9}};
  const struct orr_magnetic_desc desc = {2020, 6371200, 13, gauss};
  void *blocks[3];
  size_t bytes = orr_magnetic_size(13);
  struct bench b = {
      .cassini = orr_session_create(run, NULL), .large = field(70, &blocks[0]), .small = field(20, &blocks[1])};
  blocks[2] = orr_aligned_block(bytes);
  b.magnetic = orr_magnetic_init(blocks[2], bytes, &desc);
  orr_nrlmsise_init(&b.air);
  double minimum[PARTS];
  int status = ORR_EXIT_BAD;
  orr_rt_flush_denormals();
  if (orr_session_start(b.cassini) == ORR_OK) {
    measure(&b, rounds, minimum);
    print(minimum, json);
    status = ORR_EXIT_OK;
  }
  if (b.kept != b.kept)
    fputs("orrery bench: a field is not finite\n", stderr);
  for (int k = 0; k < 3; k++)
    free(blocks[k]);
  orr_session_destroy(b.cassini);
  return status;
}

static int run(int argc, char **argv, json_t *json) {
  const char *path = "configs/cassini-slew.yaml";
  int rounds = 2000;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") != 0) {
      fprintf(stderr, "orrery bench: unknown option '%s'\nTry 'orrery help bench'.\n", argv[i]);
      return ORR_EXIT_USAGE;
    }
    rounds = 200;
  }
  struct orr_diagnostics *d = orr_diagnostics_create();
  const struct orr_run *file = orr_run_load(path, NULL, d);
  orr_diagnostics_print(d, 0, stderr, false);
  int status = file ? bench_with(file, rounds, json) : ORR_EXIT_BAD;
  orr_diagnostics_destroy(d);
  return status;
}

const struct orr_bench orr_bench_environment = {
    .name = "environment",
    .summary = "fields, air and plates beside cassini",
    .run = run,
};
