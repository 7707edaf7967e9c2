#include "tests/support/trial.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void equip(struct orr_trial *trial) {
  size_t speeds = (size_t)trial->model->u_count + 1;
  trial->accel = calloc(speeds, sizeof *trial->accel);
  trial->force = calloc(speeds, sizeof *trial->force);
  assert(trial->accel && trial->force);
}

struct orr_trial orr_trial_make(const struct orr_sample *sample, unsigned options) {
  struct orr_trial trial = {.sample = sample};
  orr_build_create(&trial.build, &sample->description, options);
  trial.model = trial.build.model;
  trial.ws = trial.build.ws;
  equip(&trial);
  return trial;
}

struct orr_trial orr_trial_second(const struct orr_trial *trial) {
  struct orr_trial other = {.sample = trial->sample, .model = trial->model};
  size_t bytes = orr_workspace_size(trial->model);
  other.ws_block = orr_aligned_block(bytes);
  other.ws = orr_workspace_init(other.ws_block, bytes, trial->model);
  equip(&other);
  return other;
}

void orr_trial_free(struct orr_trial *trial) {
  orr_build_destroy(&trial->build);
  free(trial->ws_block);
  free(trial->composite_block);
  free(trial->accel);
  free(trial->force);
}

void orr_trial_load(struct orr_trial *trial) {
  static const enum orr_axes axes[] = {ORR_AXES_INERTIAL, ORR_AXES_BODY, ORR_AXES_NODE};
  const struct orr_sample *s = trial->sample;
  orr_state_set(trial->model, trial->ws, s->q, s->u);
  orr_poses_update(trial->model, trial->ws);
  orr_force_clear(trial->model, trial->ws);
  for (int i = 0; i < s->push_count; i++) {
    const struct orr_push *push = &s->pushes[i];
    orr_force_add(trial->model, trial->ws, orr_model_node(trial->model, push->body, push->node), axes[push->axes],
                  v3_from(push->force), v3_from(push->moment));
  }
  for (size_t i = 0; i < s->description.rotor_count; i++) {
    trial->ws->rotor_speed[i] = s->rotor_speed[i];
    trial->ws->rotor_torque[i] = s->rotor_torque[i];
  }
}

enum orr_status orr_trial_forward(struct orr_trial *trial) {
  orr_trial_load(trial);
  return orr_forward(trial->model, trial->ws, trial->sample->force, trial->sample->given, trial->accel);
}

struct orr_composite *orr_trial_composite(struct orr_trial *trial) {
  size_t bytes = orr_composite_size(trial->model);
  assert(!trial->composite_block);
  trial->composite_block = orr_aligned_block(bytes);
  struct orr_composite *composite = orr_composite_init(trial->composite_block, bytes, trial->model);
  assert(composite);
  return composite;
}

double *orr_vector_make(int count) {
  double *x = calloc((size_t)count + 1, sizeof *x);
  assert_non_null(x);
  return x;
}

static double largest(const double *x, int count) {
  double most = 0;
  for (int i = 0; i < count; i++)
    if (!(fabs(x[i]) <= most))
      most = fabs(x[i]);
  return most;
}

static double difference(const double *a, const double *b, int count) {
  double most = 0;
  for (int i = 0; i < count; i++) {
    double d = fabs(a[i] - b[i]);
    if (!isfinite(d))
      return HUGE_VAL;
    if (d > most)
      most = d;
  }
  return most;
}

static double ratio(double gap, double scale) { return gap == 0 ? 0 : gap / scale; }

double orr_gap(const double *a, const double *b, int count) {
  return ratio(difference(a, b, count), largest(b, count));
}

double orr_gap_bodies(const struct orr_sample *s, const double *a, const double *b) {
  double all = largest(b, s->u_count), worst = 0;
  for (int i = 0; i < (int)s->description.body_count; i++) {
    int at = s->u_at[i], count = orr_sample_hinge_u(s, i) - at + orr_sample_speeds(s->bodies[i].hinge.kind);
    double scale = fmax(largest(b + at, count), 1e-2 * all);
    worst = fmax(worst, ratio(difference(a + at, b + at, count), scale));
  }
  return worst;
}

double orr_gap_matrix(const double *a, const double *b, int size) {
  double worst = 0;
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) {
      double d = fabs(a[i * size + j] - b[i * size + j]);
      if (!isfinite(d))
        return HUGE_VAL;
      worst = fmax(worst, ratio(d, sqrt(fabs(b[i * size + i] * b[j * size + j]))));
    }
  return worst;
}

void orr_expect_below(double value, double limit, const char *what, uint64_t seed) {
  if (value <= limit)
    return;
  fail_msg("%s: %.3g is above %.3g (seed %llu)", what, value, limit, (unsigned long long)seed);
}
