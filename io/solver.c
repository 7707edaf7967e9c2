#include "io/solver.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree/forward.h"
#include "core/tree/kinematics.h"
#include "io/config/spacecraft/build.h"
#include "io/config/spacecraft/config.h"
#include "io/session/status_text.h"

struct orr_solver {
  struct orr_diagnostics *diagnostics; /* owns what was read */
  struct orr_config *config;
  struct orr_build build;
  double *rest, *q, *u, *none; /* [coordinates], [coordinates], [speeds]; [speeds] zeros */
};

static void put_rest(const struct orr_model *m, double *q) {
  memset(q, 0, sizeof *q * (size_t)m->q_count);
  for (int b = 0; b < m->body_count; b++) {
    const struct orr_limb *limb = &m->limbs[m->limb_of_body[b]];
    if (limb->kind == ORR_HINGE_FREE || limb->kind == ORR_HINGE_BALL)
      q[limb->hinge_q + orr_hinge_coordinates(limb->kind) - 1] = 1;
  }
}

static double *numbers(int count) { return orr_aligned_block(sizeof(double) * (size_t)(count + 1)); }

struct orr_solver *orr_solver_load(const char *path, FILE *messages) {
  struct orr_diagnostics *d = orr_diagnostics_create();
  struct orr_config *config = orr_config_load(path, NULL, d);
  if (messages)
    orr_diagnostics_print(d, 0, messages, false);
  if (!config) {
    orr_diagnostics_destroy(d);
    return NULL;
  }
  const struct orr_description *description = orr_config_description(config);
  struct orr_solver *s = orr_aligned_block(sizeof *s);
  *s = (struct orr_solver){.diagnostics = d, .config = config};
  orr_build_create(&s->build, description, ORR_MODEL_DEFAULT);
  s->rest = numbers(s->build.model->q_count);
  s->q = numbers(s->build.model->q_count);
  s->u = numbers(s->build.model->u_count);
  s->none = numbers(s->build.model->u_count);
  put_rest(s->build.model, s->rest);
  if (description->loop_count) {
    orr_build_assemble(&s->build, s->rest);
    orr_build_solver(&s->build, s->rest);
  }
  return s;
}

void orr_solver_free(struct orr_solver *s) {
  if (!s)
    return;
  orr_build_destroy(&s->build);
  orr_diagnostics_destroy(s->diagnostics);
  free(s->rest);
  free(s->q);
  free(s->u);
  free(s->none);
  free(s);
}

int orr_solver_coordinates(const struct orr_solver *s) { return s->build.model->q_count; }
int orr_solver_speeds(const struct orr_solver *s) { return s->build.model->u_count; }

bool orr_solver_find(const struct orr_solver *s, const char *name, struct orr_solver_body *body) {
  const struct orr_model *m = s->build.model;
  int index = orr_config_find_body(s->config, name);
  if (index < 0)
    return false;
  const struct orr_limb *limb = &m->limbs[m->limb_of_body[index]];
  *body = (struct orr_solver_body){.q = limb->hinge_q,
                                   .q_count = orr_hinge_coordinates(limb->kind),
                                   .u = limb->hinge_u,
                                   .u_count = limb->dof,
                                   .eta = limb->q,
                                   .eta_rate = limb->u,
                                   .mode_count = limb->mode_count};
  return true;
}

void orr_solver_rest(const struct orr_solver *s, double *q, double *u) {
  memcpy(q, s->rest, sizeof *q * (size_t)s->build.model->q_count);
  memset(u, 0, sizeof *u * (size_t)s->build.model->u_count);
}

int orr_solver_accelerations(struct orr_solver *s, const double *q, const double *u, const double *force,
                             double *accel) {
  const struct orr_model *m = s->build.model;
  struct orr_workspace *ws = s->build.ws;
  memcpy(s->q, q, sizeof *q * (size_t)m->q_count);
  memcpy(s->u, u, sizeof *u * (size_t)m->u_count);
  enum orr_status status = s->build.closed ? orr_closed_project(s->build.closed, ws, s->q, s->u) : ORR_OK;
  if (status != ORR_OK)
    return (int)status;
  orr_state_set(m, ws, s->q, s->u);
  orr_poses_update(m, ws);
  orr_force_clear(m, ws);
  force = force ? force : s->none;
  return (int)(s->build.closed ? orr_closed_forward(s->build.closed, ws, force, s->none, accel)
                               : orr_forward(m, ws, force, s->none, accel));
}

const char *orr_solver_why(int status) { return orr_status_text((enum orr_status)status); }

bool orr_solver_node(const struct orr_solver *s, const char *name, double position[3], double attitude[4]) {
  char body[256];
  const char *dot = strrchr(name, '.');
  size_t n = dot ? (size_t)(dot - name) : sizeof body;
  if (n >= sizeof body)
    return false;
  memcpy(body, name, n);
  body[n] = '\0';
  int b = orr_config_find_body(s->config, body), node = b < 0 ? -1 : orr_config_find_node(s->config, b, dot + 1);
  if (node < 0)
    return false;
  struct orr_node_state state;
  orr_node_query(s->build.model, s->build.ws, orr_model_node(s->build.model, b, node), &state);
  v3_to(position, state.position);
  quat_from_matrix(state.attitude, attitude);
  return true;
}
