/* Forward dynamics beside MuJoCo's mj_forward, contacts off, in one run and interleaved: the speed goals of
 * core/README.md.
 *
 * Links with: -lmujoco
 *
 * Both programs get the same bodies and the same sixteen states, and their accelerations are compared first. Prints the
 * minimum and the median of many samples and their ratios; no figure fails the run, a disagreement does.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "io/config/spacecraft/build.h"
#include "tests/bench/mjcf.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_models.h"

enum { SAMPLES = 300, SAMPLE_EVALUATIONS = 160 };

/* ---- ours -------------------------------------------------------------------------------------------------- */

struct ours {
  struct orr_bench_model *bench;
  struct orr_build build;
  double *q[ORR_BENCH_STATES], *u[ORR_BENCH_STATES], *force[ORR_BENCH_STATES], *accel;
};

static void ours_create(struct ours *s, struct orr_bench_model *bench) {
  s->bench = bench;
  orr_build_create(&s->build, orr_bench_description(bench), ORR_MODEL_DEFAULT);
  const struct orr_model *m = s->build.model;
  for (int k = 0; k < ORR_BENCH_STATES; k++) {
    s->q[k] = orr_aligned_block(sizeof(double) * (size_t)m->q_count);
    s->u[k] = orr_aligned_block(sizeof(double) * (size_t)m->u_count);
    s->force[k] = orr_aligned_block(sizeof(double) * (size_t)m->u_count);
    orr_bench_state(m, k, s->q[k], s->u[k], s->force[k]);
  }
  s->accel = orr_aligned_block(sizeof(double) * (size_t)m->u_count);
}

static void ours_destroy(struct ours *s) {
  for (int k = 0; k < ORR_BENCH_STATES; k++) {
    free(s->q[k]);
    free(s->u[k]);
    free(s->force[k]);
  }
  free(s->accel);
  orr_build_destroy(&s->build);
  orr_bench_destroy(s->bench);
}

static void ours_evaluate(struct ours *s, int k) {
  orr_state_set(s->build.model, s->build.ws, s->q[k], s->u[k]);
  if (orr_forward(s->build.model, s->build.ws, s->force[k], NULL, s->accel) != ORR_OK)
    abort();
}

static double ours_sample(struct ours *s) {
  double start = orr_bench_now_ns();
  for (int i = 0; i < SAMPLE_EVALUATIONS; i++)
    ours_evaluate(s, i % ORR_BENCH_STATES);
  return (orr_bench_now_ns() - start) / SAMPLE_EVALUATIONS;
}

/* ---- MuJoCo's ---------------------------------------------------------------------------------------------- */

/* State k of the same bodies; MuJoCo's joints come in the order of our file here, and its quaternion w first. */
static void mujoco_set(const mjModel *m, mjData *data, const struct ours *s, int k) {
  bool free_base = m->nq != m->nv;
  memcpy(data->qpos, s->q[k], sizeof(double) * (size_t)m->nq);
  memcpy(data->qvel, s->u[k], sizeof(double) * (size_t)m->nv);
  memcpy(data->qfrc_applied, s->force[k], sizeof(double) * (size_t)m->nv);
  if (!free_base)
    return;
  data->qpos[3] = s->q[k][6];
  for (int i = 0; i < 3; i++)
    data->qpos[4 + i] = s->q[k][3 + i];
}

static double mujoco_sample(const mjModel *m, mjData *data, const struct ours *s) {
  double start = orr_bench_now_ns();
  for (int i = 0; i < SAMPLE_EVALUATIONS; i++) {
    mujoco_set(m, data, s, i % ORR_BENCH_STATES);
    mj_forward(m, data);
  }
  return (orr_bench_now_ns() - start) / SAMPLE_EVALUATIONS;
}

/* The largest relative difference of the hinges' accelerations over all states. */
static double disagreement(const mjModel *m, mjData *data, struct ours *s) {
  double worst = 0;
  for (int k = 0; k < ORR_BENCH_STATES; k++) {
    int first = m->nq != m->nv ? 6 : 0;
    double size = 0, difference = 0;
    ours_evaluate(s, k);
    mujoco_set(m, data, s, k);
    mj_forward(m, data);
    for (int i = first; i < m->nv; i++) {
      size = fmax(size, fabs(data->qacc[i]));
      difference = fmax(difference, fabs(data->qacc[i] - s->accel[i]));
    }
    worst = fmax(worst, difference / size);
  }
  return worst;
}

/* ---- the table --------------------------------------------------------------------------------------------- */

static void row(const char *name, struct orr_bench_stat ours, struct orr_bench_stat theirs) {
  printf("%-34s %10.0f %10.0f %12.0f %10.0f %9.3f %9.3f\n", name, ours.min, ours.median, theirs.min, theirs.median,
         ours.min / theirs.min, ours.median / theirs.median);
}

int main(void) {
  struct ours chain, craft, beams;
  ours_create(&chain, orr_bench_chain(20));
  ours_create(&craft, orr_bench_spacecraft(0));
  ours_create(&beams, orr_bench_flexible_chain(10, 5, ORR_DEFORMATION_FULL));
  mjModel *chain_model = mjcf_model(orr_bench_description(chain.bench), "");
  mjModel *craft_model = mjcf_model(orr_bench_description(craft.bench), "");
  mjData *chain_data = mj_makeData(chain_model), *craft_data = mj_makeData(craft_model);
  double worst = fmax(disagreement(chain_model, chain_data, &chain), disagreement(craft_model, craft_data, &craft));
  printf("MuJoCo %s; accelerations agree to %.1e\n", mj_versionString(), worst);
  static double samples[5][SAMPLES];
  for (int i = 0; i < SAMPLES; i++) {
    samples[0][i] = ours_sample(&chain);
    samples[1][i] = mujoco_sample(chain_model, chain_data, &chain);
    samples[2][i] = ours_sample(&craft);
    samples[3][i] = mujoco_sample(craft_model, craft_data, &craft);
    samples[4][i] = ours_sample(&beams);
  }
  struct orr_bench_stat stat[5];
  for (int i = 0; i < 5; i++)
    stat[i] = orr_bench_stat(samples[i], SAMPLES);
  printf("%-34s %10s %10s %12s %10s %9s %9s\n", "ns of one evaluation", "ours: min", "median", "MuJoCo: min", "median",
         "ratio min", "of median");
  row("chain of 20", stat[0], stat[1]);
  row("spacecraft, 23 bodies", stat[2], stat[3]);
  row("10 beams, 5 modes / MuJoCo chain 20", stat[4], stat[1]);
  mj_deleteData(chain_data);
  mj_deleteData(craft_data);
  mj_deleteModel(chain_model);
  mj_deleteModel(craft_model);
  ours_destroy(&chain);
  ours_destroy(&craft);
  ours_destroy(&beams);
  return worst < 1e-8 ? 0 : 1;
}
