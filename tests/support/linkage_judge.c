/* How a linkage moves: by the step, by half of it and by a tenth. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/loops/loop_motion.h"
#include "core/plant/integrate.h"
#include "core/tree/energy.h"
#include "tests/support/linkages.h"
#include "tests/support/loops.h"

enum { SAMPLES = 20 };

/* One motion, sampled. */
struct motion {
  enum orr_status status;
  int samples; /* reached */
  double stopped_s;
  double *q;            /* [SAMPLES][q_count] */
  double energy, range; /* J, off by; of the kinetic energy */
  double gap;
};

/* The speeds nearest to u that keep the loops closed. */
static void fit_speeds(struct orr_mechanism_trial *t) {
  struct orr_loops *l = t->loops;
  double *rate = orr_vector_make(l->row_count), *change = orr_vector_make(l->g.width);
  orr_loops_update(l, t->trial.ws, t->q);
  orr_loops_velocity(l, t->u, rate);
  orr_loops_rank(l, t->trial.ws, NULL, NULL);
  orr_pivot_smallest(&l->judge, rate, change);
  for (int c = 0; c < l->column_count; c++)
    t->u[l->column_u[c]] -= change[c];
  free(rate);
  free(change);
}

static double widest(const struct orr_loops *l) {
  double most = 0;
  for (int i = 0; i < l->count; i++) {
    struct orr_loop_gap gap = orr_loop_gap(l, i);
    most = fmax(most, fmax(gap.metres / fmax(1, l->size), gap.radians));
  }
  return most;
}

static enum orr_status run(struct orr_mechanism_trial *t, const struct orr_linkage *linkage, int parts,
                           struct motion *out) {
  const struct orr_model *m = t->trial.model;
  struct orr_workspace *ws = t->trial.ws;
  size_t bytes = orr_integration_size(m);
  void *block = aligned_alloc(ORR_ALIGNMENT, (bytes + ORR_ALIGNMENT) / ORR_ALIGNMENT * ORR_ALIGNMENT);
  struct orr_integration *i = orr_integration_init(block, bytes, m, ws, NULL);
  i->closed = t->closed;
  i->rule = linkage->rule;
  memcpy(i->q, t->q, sizeof *t->q * (size_t)m->q_count);
  memcpy(i->u, t->u, sizeof *t->u * (size_t)m->u_count);
  int64_t step_ns = (int64_t)(1e9 * linkage->step_s) / parts, now_ns = 0;
  int steps = (int)(linkage->duration_s / linkage->step_s + 0.5) * parts, every = steps / SAMPLES;
  double start = 0, low = HUGE_VAL, high = -HUGE_VAL;
  enum orr_status status = ORR_OK;
  for (int k = 0; k <= steps && status == ORR_OK; k++) {
    orr_integration_set(i);
    double kinetic = orr_kinetic_energy(m, ws), energy = kinetic + orr_potential_energy(m, ws);
    start = k ? start : energy;
    low = fmin(low, kinetic), high = fmax(high, kinetic);
    out->energy = fmax(out->energy, fabs(energy - start));
    orr_loops_update(t->loops, ws, i->q);
    out->gap = fmax(out->gap, widest(t->loops));
    if (k && k % every == 0 && out->samples < SAMPLES)
      memcpy(out->q + out->samples++ * m->q_count, i->q, sizeof *i->q * (size_t)m->q_count);
    if (k < steps)
      status = orr_integration_step(i, now_ns, step_ns);
    now_ns += status == ORR_OK ? step_ns : 0;
  }
  out->range = fmax(high - low, 0.1 * high); /* free flight may keep its kinetic energy */
  out->stopped_s = 1e-9 * (double)now_ns;
  free(block);
  return status;
}

static struct motion move(const struct orr_linkage *linkage, enum orr_loop_method method, int parts) {
  struct orr_mechanism_trial t = orr_mechanism_trial_make(linkage->sample);
  struct motion out = {.status = ORR_ERROR_LOOP_OPEN, .q = orr_vector_make(SAMPLES * linkage->sample->q_count)};
  if (orr_loops_open(t.loops) < 0 && orr_mechanism_trial_assemble(&t).closed) {
    fit_speeds(&t);
    orr_mechanism_trial_solver(&t, method);
    out.status = orr_closed_project(t.closed, t.trial.ws, t.q, t.u);
    if (out.status == ORR_OK)
      out.status = run(&t, linkage, parts, &out);
  }
  orr_mechanism_trial_free(&t);
  return out;
}

static double difference(const struct orr_linkage *linkage, const struct motion *a, const struct motion *b) {
  int samples = a->samples < b->samples ? a->samples : b->samples, n = linkage->sample->q_count;
  double most = 0;
  for (int k = 0; k < samples * n; k++)
    most = fmax(most, fabs(a->q[k] - b->q[k]));
  return most;
}

static const char *what_is_wrong(const struct orr_linkage *linkage, const struct orr_linkage_result *r) {
  if (!(r->difference <= 20 * r->halved + 1e-9))
    return "q";
  double enough = fmax(1e-6 * r->range, 1e-9); /* of one that is locked: what closing leaves of it */
  if (linkage->rule == ORR_RK4 && !(r->energy <= enough))
    return "energy";
  return r->gap <= ORR_LOOP_TOLERANCE ? NULL : "gap";
}

struct orr_linkage_result orr_linkage_judge(const struct orr_linkage *linkage, enum orr_loop_method method) {
  static const int parts[3] = {1, 2, 10};
  struct motion m[3];
  for (int i = 0; i < 3; i++)
    m[i] = move(linkage, method, parts[i]);
  struct orr_linkage_result r = {.status = m[0].status,
                                 .stopped_s = m[0].stopped_s,
                                 .difference = difference(linkage, &m[0], &m[2]),
                                 .halved = difference(linkage, &m[0], &m[1]),
                                 .energy = m[0].energy,
                                 .range = m[0].range,
                                 .gap = m[0].gap};
  r.why = what_is_wrong(linkage, &r);
  r.verdict = r.why ? ORR_LINKAGE_WRONG : m[0].status != ORR_OK ? ORR_LINKAGE_REFUSED : ORR_LINKAGE_FINE;
  if (r.verdict == ORR_LINKAGE_FINE && (m[1].status != ORR_OK || m[2].status != ORR_OK)) {
    r.verdict = ORR_LINKAGE_WRONG; /* a motion that a shorter step says cannot be */
    r.why = "only by the long step";
  }
  for (int k = 0; k < 4 && k < linkage->sample->q_count && m[2].samples; k++)
    r.end[k] = m[2].q[(m[2].samples - 1) * linkage->sample->q_count + k];
  for (int i = 0; i < 3; i++)
    free(m[i].q);
  return r;
}
