/* The composite-body factorisation M = L* D L beside LAPACK's dpotrf on the same matrices, in one run and interleaved.
 *
 * Links with: -llapack
 *
 * The matrices are those of ten flexible bodies of `orrery bench`. Both start from fresh copies; copying is not
 * counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/composite.h"
#include "core/tree/kinematics.h"
#include "io/config/spacecraft/build.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_models.h"

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);

enum { SAMPLES = 400, COPIES = 16 };

struct copies {
  struct orr_build build;
  struct orr_composite *ours[COPIES];
  void *blocks[COPIES];
  double *dense, *theirs[COPIES];
  size_t bytes;
};

static void create(struct copies *s, const struct orr_description *d) {
  orr_build_create(&s->build, d, ORR_MODEL_DEFAULT);
  const struct orr_model *m = s->build.model;
  size_t u = (size_t)m->u_count;
  double *q = orr_aligned_block(sizeof *q * (size_t)m->q_count), *v = orr_aligned_block(sizeof *v * u);
  double *force = orr_aligned_block(sizeof *force * u);
  orr_bench_state(m, 3, q, v, force);
  orr_state_set(m, s->build.ws, q, v);
  s->bytes = sizeof(double) * u * u;
  s->dense = orr_aligned_block(s->bytes);
  for (int i = 0; i < COPIES; i++) {
    size_t size = orr_composite_size(m);
    s->blocks[i] = orr_aligned_block(size);
    s->ours[i] = orr_composite_init(s->blocks[i], size, m);
    s->theirs[i] = orr_aligned_block(s->bytes);
  }
  orr_composite_matrix(m, s->build.ws, s->ours[0]);
  orr_composite_dense(s->ours[0], s->dense);
  free(q);
  free(v);
  free(force);
}

static void destroy(struct copies *s) {
  for (int i = 0; i < COPIES; i++) {
    free(s->blocks[i]);
    free(s->theirs[i]);
  }
  free(s->dense);
  orr_build_destroy(&s->build);
}

static double sample_ours(struct copies *s) {
  int where;
  for (int i = 0; i < COPIES; i++)
    orr_composite_matrix(s->build.model, s->build.ws, s->ours[i]);
  double start = orr_bench_now_ns();
  for (int i = 0; i < COPIES; i++)
    if (orr_composite_factor(s->ours[i], &where) != ORR_OK)
      abort();
  return (orr_bench_now_ns() - start) / COPIES;
}

static double sample_theirs(struct copies *s) {
  int n = s->build.model->u_count, info = 0;
  for (int i = 0; i < COPIES; i++)
    memcpy(s->theirs[i], s->dense, s->bytes);
  double start = orr_bench_now_ns();
  for (int i = 0; i < COPIES; i++) {
    dpotrf_("L", &n, s->theirs[i], &n, &info, 1);
    if (info)
      abort();
  }
  return (orr_bench_now_ns() - start) / COPIES;
}

int main(void) {
  static const int modes[] = {1, 2, 5, 10, 20};
  static double ours[SAMPLES], theirs[SAMPLES];
  printf("%6s %6s %12s %12s %12s %12s %9s %9s\n", "modes", "size", "ours: min", "median ns", "dpotrf: min", "median ns",
         "ratio min", "of median");
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    struct orr_bench_model *bench = orr_bench_flexible_chain(10, modes[i], ORR_DEFORMATION_FULL);
    struct copies s;
    create(&s, orr_bench_description(bench));
    for (int k = 0; k < SAMPLES; k++) {
      ours[k] = sample_ours(&s);
      theirs[k] = sample_theirs(&s);
    }
    struct orr_bench_stat a = orr_bench_stat(ours, SAMPLES), b = orr_bench_stat(theirs, SAMPLES);
    printf("%6d %6d %12.0f %12.0f %12.0f %12.0f %9.2f %9.2f\n", modes[i], s.build.model->u_count, a.min, a.median,
           b.min, b.median, a.min / b.min, a.median / b.median);
    destroy(&s);
    orr_bench_destroy(bench);
  }
  return 0;
}
