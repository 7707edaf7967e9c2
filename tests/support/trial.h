/* A compiled sample on the bench: model, workspace and composite in blocks of their own, and the measure of
 * disagreement that property tests use. orr_trial_make → orr_trial_load → calls of core → orr_trial_free. One thread
 * per trial.
 */
#ifndef ORR_TESTS_SUPPORT_TRIAL_H
#define ORR_TESTS_SUPPORT_TRIAL_H

#include "core/tree/composite.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "io/config/spacecraft/build.h"
#include "tests/support/sample.h"

struct orr_trial {
  const struct orr_sample *sample;
  const struct orr_model *model;
  struct orr_workspace *ws;
  struct orr_build build; /* that model and ws are of; of a second trial, zero */
  void *ws_block, *composite_block;
  double *accel, *force; /* [u_count] for the test's use */
};

/* Compiles with the options of orr_model_init; a failure is the test's (assert). */
struct orr_trial orr_trial_make(const struct orr_sample *sample, unsigned options);
void orr_trial_free(struct orr_trial *trial);
/* Another workspace on the same model. */
struct orr_trial orr_trial_second(const struct orr_trial *trial);

/* The sample's state, pushes and rotors into the workspace. */
void orr_trial_load(struct orr_trial *trial);
/* Load, forward dynamics with the sample's forces; accelerations in trial->accel. */
enum orr_status orr_trial_forward(struct orr_trial *trial);
/* A composite for the model; freed with the trial. */
struct orr_composite *orr_trial_composite(struct orr_trial *trial);

/* Zeroed; fails the test without memory; the test frees it. */
double *orr_vector_make(int count);

/* max |a − b| / max |b|, infinite if something is not finite; 0 / 0 is 0. */
double orr_gap(const double *a, const double *b, int count);
/* The largest over bodies of max |a − b| / max(largest of the body, 1e-2 of the largest of all), for vectors laid out
 * like u. */
double orr_gap_bodies(const struct orr_sample *sample, const double *a, const double *b);
/* The largest of |a_ij − b_ij| / sqrt(b_ii b_jj). */
double orr_gap_matrix(const double *a, const double *b, int size);

/* Fails the test, saying which seed, unless value <= limit. */
void orr_expect_below(double value, double limit, const char *what, uint64_t seed);

#endif
