#include "tools/eval/trajectory.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/model/hinge.h"
#include "core/tree/energy.h"
#include "core/tree/kinematics.h"
#include "io/config/text/unit.h"
#include "tools/common/json_numbers.h"

const char *orr_trajectory_parse(struct orr_trajectory *t, const char *times) {
  char word[64];
  t->count = 0;
  while (*times) {
    size_t n = strcspn(times, ",");
    struct orr_quantity q;
    if (n >= sizeof word)
      return "a time is too long";
    memcpy(word, times, n);
    word[n] = '\0';
    if (orr_quantity_parse_time(word, &q) != ORR_QUANTITY_OK || q.ns < 0)
      return "times are numbers of seconds, or carry a unit of time, and are not negative";
    if (t->count && q.ns <= t->times_ns[t->count - 1])
      return "times must grow";
    if (t->count == ORR_TRAJECTORY_MOST)
      return "too many times";
    t->times_ns[t->count++] = q.ns;
    times += n;
    if (*times == ',' && !*++times)
      return "a time is missing after the last comma";
  }
  return t->count ? NULL : "at least one time is needed";
}

/* The case's forces, constant in time; those in body axes turn with their bodies. */
struct constant_drive {
  struct orr_drive drive; /* first */
  struct orr_evaluation *e;
};

static void apply(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                  double *force, double *given) {
  const struct orr_evaluation *e = ((struct constant_drive *)drive)->e;
  size_t bytes = sizeof(double) * (size_t)e->build.model->u_count;
  (void)ws;
  (void)point;
  memcpy(force, e->force, bytes);
  memcpy(given, e->prescribed, bytes);
  orr_evaluation_externals(e);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void set_numbers(json_t *object, const char *name, const double *x, int count) {
  json_object_set_new(object, name, orr_json_numbers(x, (size_t)count));
}

static void set_attitude(json_t *object, const double *q) {
  double positive[4];
  for (int i = 0; i < 4; i++)
    positive[i] = q[3] < 0 ? -q[i] : q[i];
  set_numbers(object, "attitude", positive, 4);
}

/* As a case would hold it. */
static json_t *body_state(const struct orr_limb *limb, const double *q, const double *u) {
  json_t *object = json_object();
  const double *hinge_q = q + limb->hinge_q, *hinge_u = u + limb->hinge_u;
  if (limb->kind == ORR_HINGE_FREE) {
    set_numbers(object, "position", hinge_q, 3);
    set_attitude(object, hinge_q + 3);
    set_numbers(object, "rate", hinge_u, 3);
    set_numbers(object, "velocity", hinge_u + 3, 3);
  } else if (limb->kind == ORR_HINGE_BALL) {
    set_attitude(object, hinge_q);
    set_numbers(object, "rate", hinge_u, 3);
  } else if (limb->dof) {
    set_numbers(object, "q", hinge_q, limb->dof);
    set_numbers(object, "speed", hinge_u, limb->dof);
  }
  if (limb->mode_count) {
    set_numbers(object, "eta", q + limb->q, limb->mode_count);
    set_numbers(object, "eta_rate", u + limb->u, limb->mode_count);
  }
  return object;
}

static json_t *sample(const struct orr_evaluation *e, const struct orr_integration *i, int64_t now_ns) {
  const struct orr_model *m = e->build.model;
  struct orr_workspace *ws = e->build.ws;
  json_t *object = json_object(), *bodies = json_object();
  double six[6];
  json_object_set_new(object, "t", json_real((double)now_ns / 1e9));
  for (int b = 0; b < m->body_count; b++)
    json_object_set_new(bodies, e->description->bodies[b].name, body_state(&m->limbs[m->limb_of_body[b]], i->q, i->u));
  json_object_set_new(object, "state", bodies);
  json_object_set_new(object, "kinetic_energy", orr_json_number(orr_kinetic_energy(m, ws)));
  json_object_set_new(object, "potential_energy", orr_json_number(orr_potential_energy(m, ws)));
  sp_to(six, orr_momentum(m, ws));
  set_numbers(object, "momentum", six, 6);
  return object;
}

/* The given motions, from t = 0, with a block for them and what they remember; nobody commands. */
static void *make_motions(struct orr_motions *motions, const struct orr_evaluation *e) {
  struct orr_block measured = {0};
  orr_motions_layout(motions, e->description, e->build.model, &measured);
  size_t state = sizeof *motions->state * (size_t)motions->count;
  void *memory = orr_aligned_block(measured.used + state);
  struct orr_block block = {.base = memory, .size = measured.used};
  orr_motions_layout(motions, e->description, e->build.model, &block);
  motions->state = (struct orr_motion_state *)((char *)memory + measured.used);
  orr_motions_reset(motions, e->q, NULL);
  return memory;
}

json_t *orr_trajectory_run(const struct orr_trajectory *t, struct orr_evaluation *e, enum orr_status *status, int *body,
                           double *time_s) {
  const struct orr_model *m = e->build.model;
  struct constant_drive drive = {.drive = {.apply = apply, .needs_places = true}, .e = e};
  size_t bytes = orr_integration_size(m);
  void *block = orr_aligned_block(bytes);
  struct orr_integration *i = orr_integration_init(block, bytes, m, e->build.ws, &drive.drive);
  struct orr_motions motions = {.loops = e->build.loops};
  void *motion_block = make_motions(&motions, e);
  i->rule = t->integrator;
  i->closed = e->build.closed;
  i->motions = motions.count ? &motions : NULL;
  *status = ORR_OK;
  if (i->closed) {
    orr_build_fit_speeds(&e->build, e->q, e->u);
    *status = orr_closed_project(i->closed, e->build.ws, e->q, e->u); /* as a run begins */
  }
  memcpy(i->q, e->q, sizeof(double) * (size_t)m->q_count);
  memcpy(i->u, e->u, sizeof(double) * (size_t)m->u_count);
  json_t *list = json_array(), *root = json_object();
  int64_t now_ns = 0;
  for (size_t k = 0; k < t->count && *status == ORR_OK; k++) {
    while (now_ns < t->times_ns[k] && *status == ORR_OK) {
      int64_t left_ns = t->times_ns[k] - now_ns, step_ns = left_ns < t->step_ns ? left_ns : t->step_ns;
      *status = orr_integration_step(i, now_ns, step_ns);
      now_ns += *status == ORR_OK ? step_ns : 0;
    }
    orr_integration_set(i);
    if (*status == ORR_OK)
      json_array_append_new(list, sample(e, i, now_ns));
  }
  *body = e->build.ws->failed_body;
  *time_s = (double)now_ns / 1e9;
  json_object_set_new(root, "trajectory", list);
  free(block);
  free(motion_block);
  if (*status == ORR_OK)
    return root;
  json_decref(root);
  return NULL;
}
