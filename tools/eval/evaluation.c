#include "tools/eval/evaluation.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/loops/loop_motion.h"
#include "core/math/eigen.h"
#include "core/model/motion.h"
#include "core/plant/motions.h"
#include "core/tree/articulated.h"
#include "core/tree/compliance.h"
#include "core/tree/composite.h"
#include "core/tree/energy.h"
#include "core/tree/forward.h"
#include "core/tree/inverse.h"
#include "core/tree/kinematics.h"
#include "core/tree/operators.h"
#include "tools/common/json_numbers.h"
#include "tools/eval/factors.h"

static double *numbers(int count) { return orr_aligned_block(sizeof(double) * (size_t)count); }

static void put_body(struct orr_evaluation *e, int body) {
  const struct orr_model *m = e->build.model;
  const struct orr_limb *limb = &m->limbs[m->limb_of_body[body]];
  const struct orr_case_body *b = &e->given->bodies[body];
  for (int r = 0; r < limb->mode_count; r++) {
    e->q[limb->q + r] = b->eta[r];
    e->u[limb->u + r] = b->eta_rate[r];
    e->force[limb->u + r] = b->modal ? b->modal[r] : 0;
    e->accel[limb->u + r] = b->eta_acceleration ? b->eta_acceleration[r] : 0;
  }
  memcpy(e->q + limb->hinge_q, b->q, sizeof(double) * (size_t)orr_hinge_coordinates(limb->kind));
  for (int i = 0; i < limb->dof; i++) {
    e->u[limb->hinge_u + i] = b->speed[i];
    e->force[limb->hinge_u + i] = b->tau[i];
    e->accel[limb->hinge_u + i] = e->prescribed[limb->hinge_u + i] = b->acceleration[i];
  }
  orr_prescribe(e->build.ws, body, b->prescribed);
}

void orr_evaluation_create(struct orr_evaluation *e, const struct orr_description *description,
                           const struct orr_case *given) {
  *e = (struct orr_evaluation){.description = description, .given = given};
  orr_build_create(&e->build, description, ORR_MODEL_DEFAULT);
  const struct orr_model *m = e->build.model;
  e->q = numbers(m->q_count);
  e->u = numbers(m->u_count);
  e->force = numbers(m->u_count);
  e->accel = numbers(m->u_count);
  e->prescribed = numbers(m->u_count);
  for (int i = 0; i < m->body_count; i++)
    put_body(e, i);
  orr_motions_begin(description, m, e->q, e->u, e->prescribed);
  if (!description->loop_count)
    return;
  orr_build_close(&e->build, e->q);
  orr_build_solver(&e->build, e->q);
}

void orr_evaluation_destroy(struct orr_evaluation *e) {
  orr_build_destroy(&e->build);
  free(e->q);
  free(e->u);
  free(e->force);
  free(e->accel);
  free(e->prescribed);
  free(e->operational);
}

void orr_evaluation_externals(const struct orr_evaluation *e) {
  const struct orr_model *m = e->build.model;
  orr_force_clear(m, e->build.ws);
  for (size_t i = 0; i < e->given->external_count; i++) {
    const struct orr_case_external *x = &e->given->externals[i];
    orr_force_add(m, e->build.ws, orr_model_node(m, x->body, x->node), x->body_axes ? ORR_AXES_BODY : ORR_AXES_INERTIAL,
                  v3_from(x->force), v3_from(x->moment));
  }
}

static enum orr_status run_composite(struct orr_evaluation *e) {
  const struct orr_model *m = e->build.model;
  size_t bytes = orr_composite_size(m);
  void *block = orr_aligned_block(bytes);
  struct orr_composite *composite = orr_composite_init(block, bytes, m);
  enum orr_status status = orr_composite_forward(m, e->build.ws, composite, e->force, e->prescribed, e->accel);
  free(block);
  return status;
}

int orr_evaluation_open_loop(struct orr_evaluation *e, char *text, size_t size) {
  static const double MOST = ORR_LOOP_TOLERANCE;
  const struct orr_loops *l = e->build.loops;
  for (int i = 0; l && i < l->count; i++) {
    struct orr_loop_gap gap = orr_loop_gap(l, i);
    if (gap.metres <= MOST * fmax(1, l->size) && gap.radians <= MOST)
      continue;
    snprintf(text, size, "is not closed in this state: %.3g m and %.3g rad are left open", gap.metres, gap.radians);
    return i;
  }
  double *rates = l ? numbers(l->row_count) : NULL;
  int open = -1;
  bool moved = orr_motions_count(e->description) > 0; /* then the rest has to move with what is driven */
  if (l)
    orr_loops_velocity(l, e->u, rates);
  for (int r = 0; l && r < l->row_count && open < 0 && !moved; r++) {
    double largest = 1;
    for (int c = 0; c < l->column_count; c++)
      largest = fmax(largest, fabs(e->u[l->column_u[c]]));
    if (fabs(rates[r]) <= MOST * largest * fmax(1, l->g.gross[r]))
      continue;
    snprintf(text, size, "opens at %.3g m/s or rad/s with the speeds of this state", rates[r]);
    open = l->row_loop[r];
  }
  free(rates);
  return open;
}

static enum orr_status run_closed(struct orr_evaluation *e) {
  struct orr_closed *c = e->build.closed;
  struct orr_workspace *ws = e->build.ws;
  orr_build_fit_speeds(&e->build, e->q, e->u);
  enum orr_status status = orr_closed_project(c, ws, e->q, e->u); /* as a run begins */
  if (status != ORR_OK)
    return status;
  orr_state_set(ws->model, ws, e->q, e->u);
  orr_poses_update(ws->model, ws);
  orr_evaluation_externals(e);
  return orr_closed_forward(c, ws, e->force, e->prescribed, e->accel);
}

static enum orr_status solve(struct orr_evaluation *e) {
  const struct orr_model *m = e->build.model;
  struct orr_workspace *ws = e->build.ws;
  if (e->build.closed && !e->inverse)
    return run_closed(e);
  if (e->composite)
    return run_composite(e);
  if (!e->inverse)
    return orr_forward(m, ws, e->force, e->prescribed, e->accel);
  orr_inverse(m, ws, e->accel, e->force);
  return ORR_OK;
}

enum orr_status orr_evaluation_run(struct orr_evaluation *e, int *body) {
  const struct orr_model *m = e->build.model;
  struct orr_workspace *ws = e->build.ws;
  enum orr_status status = ORR_OK;
  orr_state_set(m, ws, e->q, e->u);
  orr_poses_update(m, ws);
  orr_evaluation_externals(e);
  if (e->operational_count) /* a compliance that is infinite; inverse dynamics would not notice */
    status = orr_articulated_factor(m, ws);
  if (status == ORR_OK && (e->solve || e->factors)) /* here, since hinge forces need what solve() leaves */
    status = orr_factors_take(e, body);
  if (status == ORR_OK)
    status = solve(e);
  *body = ws->failed_body;
  return status;
}

/* ---- the result -------------------------------------------------------------------------------------------- */

static json_t *array(const double *x, int count) { return orr_json_numbers(x, (size_t)count); }

static json_t *array_vec3(orr_vec3 x) { return array((const double[]){x.x, x.y, x.z}, 3); }

static json_t *array_spatial(orr_spatial x) {
  double six[6];
  sp_to(six, x);
  return array(six, 6);
}

static json_t *matrix(const double *x, int count) {
  json_t *rows = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(rows, array(x + i * count, count));
  return rows;
}

static void set_pose(json_t *object, const struct orr_node_state *state) {
  double q[4];
  quat_from_matrix(state->attitude, q);
  json_object_set_new(object, "position", array_vec3(state->position));
  json_object_set_new(object, "attitude", array(q, 4));
}

static json_t *nodes_json(struct orr_evaluation *e, int body) {
  const struct orr_model *m = e->build.model;
  const struct orr_body_desc *desc = &e->description->bodies[body];
  json_t *nodes = json_object();
  for (size_t j = 0; j < desc->node_count; j++) {
    struct orr_node_state state;
    json_t *node = json_object();
    orr_node_query(m, e->build.ws, orr_model_node(m, body, (int)j), &state);
    set_pose(node, &state);
    json_object_set_new(nodes, desc->nodes[j].name, node);
  }
  return nodes;
}

/* What redundant loop equations leave open; arrays in file order, NULL without loops. */
struct open_answers {
  bool *multipliers, *forces, *efforts;
};

static bool is_closed(const struct orr_evaluation *e) { return e->build.closed && !e->inverse; }

static struct open_answers open_answers(struct orr_evaluation *e) {
  struct open_answers open = {0};
  struct orr_loops *l = e->build.loops;
  if (!is_closed(e))
    return open;
  size_t bodies = (size_t)e->build.model->body_count;
  open.multipliers = orr_aligned_block((size_t)l->count + 2 * bodies);
  open.forces = open.multipliers + l->count;
  open.efforts = open.forces + bodies;
  orr_loops_rank(l, e->build.ws, NULL, NULL);
  orr_loops_undetermined(l, open.multipliers, open.forces, open.efforts);
  return open;
}

static json_t *multipliers_json(const struct orr_evaluation *e, const struct open_answers *open) {
  const struct orr_closed *c = e->build.closed;
  json_t *list = json_array();
  for (int i = 0; i < c->loops->count; i++) {
    double out[ORR_LOOP_MAX_ROWS];
    int count = orr_closed_multipliers(c, i, out);
    bool known = open->multipliers && !open->multipliers[i] && c->loops->loops[i].method == ORR_LOOP_AUGMENT;
    json_array_append_new(list, known ? array(out, count) : json_null());
  }
  return list;
}

static json_t *determined(const double *x, const bool *open, int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(list, open[i] ? json_null() : orr_json_number(x[i]));
  return list;
}

/* By name, of both methods: what the channels of a run have, with null for what nothing determines. */
static json_t *loops_json(const struct orr_evaluation *e) {
  const struct orr_closed *c = e->build.closed;
  json_t *loops = json_object();
  for (int i = 0; i < c->loops->count; i++) {
    double out[ORR_LOOP_MAX_ROWS];
    const bool *open = c->undetermined[i];
    struct orr_loop_numbers n = orr_truth_loop_numbers(e->description, i);
    json_t *one = json_object();
    (void)orr_closed_multipliers(c, i, out);
    if (n.moments)
      json_object_set_new(one, "moment", determined(out, open, n.moments));
    if (n.forces)
      json_object_set_new(one, "force", determined(out + n.moments, open + n.moments, n.forces));
    json_object_set_new(loops, e->description->loops[i].name, one);
  }
  return loops;
}

/* The generalised force of a prescribed hinge. */
static void set_effort(struct orr_evaluation *e, int body, int count, json_t *object) {
  double effort[6];
  if (is_closed(e))
    orr_closed_effort(e->build.closed, e->build.ws, body, effort);
  else
    orr_hinge_effort(e->build.model, e->build.ws, body, effort);
  json_object_set_new(object, "tau", array(effort, count));
}

static json_t *body_json(struct orr_evaluation *e, int body, const struct open_answers *open) {
  const struct orr_model *m = e->build.model;
  struct orr_workspace *ws = e->build.ws;
  const struct orr_limb *limb = &m->limbs[m->limb_of_body[body]];
  json_t *object = json_object();
  if (e->inverse) {
    json_object_set_new(object, "tau", array(e->force + limb->hinge_u, limb->dof));
    if (limb->flexible)
      json_object_set_new(object, "modal", array(e->force + limb->u, limb->mode_count));
  } else {
    json_object_set_new(object, "acceleration", array(e->accel + limb->hinge_u, limb->dof));
    if (limb->flexible)
      json_object_set_new(object, "eta_acceleration", array(e->accel + limb->u, limb->mode_count));
    if (ws->prescribed[m->limb_of_body[body]] && !(open->efforts && open->efforts[body]))
      set_effort(e, body, limb->dof, object);
  }
  if (!(open->forces && open->forces[body]))
    json_object_set_new(object, "force", array_spatial(orr_hinge_force(m, ws, body)));
  struct orr_node_state frame;
  orr_body_query(m, ws, body, &frame);
  set_pose(object, &frame);
  json_object_set_new(object, "nodes", nodes_json(e, body));
  return object;
}

static void set_mass_matrix(struct orr_evaluation *e, json_t *root) {
  const struct orr_model *m = e->build.model;
  size_t bytes = orr_composite_size(m);
  void *block = orr_aligned_block(bytes);
  double *dense = numbers(m->u_count * m->u_count), log_det;
  struct orr_composite *composite = orr_composite_init(block, bytes, m);
  orr_composite_matrix(m, e->build.ws, composite);
  orr_composite_dense(composite, dense);
  json_object_set_new(root, "mass_matrix", matrix(dense, m->u_count));
  if (orr_log_det_mass(m, e->build.ws, &log_det) == ORR_OK)
    json_object_set_new(root, "log_det_mass_matrix", orr_json_number(log_det));
  free(dense);
  free(block);
}

/* a ← a⁻¹ for a symmetric, positive definite a [n][n]; false where it is singular to ten digits. With a = l lᵀ a column
 * of the inverse is a forward and a backward substitution. */
static bool invert(double *a, int n) {
  double *l = numbers(n * n);
  memcpy(l, a, sizeof *l * (size_t)(n * n));
  bool regular = orr_cholesky((size_t)n, l, 1e-10, NULL);
  for (int c = 0; c < n && regular; c++) {
    for (int i = 0; i < n; i++) {
      double sum = i == c;
      for (int k = 0; k < i; k++)
        sum -= l[i * n + k] * a[k * n + c];
      a[i * n + c] = sum / l[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
      double sum = a[i * n + c];
      for (int k = i + 1; k < n; k++)
        sum -= l[k * n + i] * a[k * n + c];
      a[i * n + c] = sum / l[i * n + i];
    }
  }
  free(l);
  return regular;
}

/* Λ = B M⁻¹ Bᵀ, and the operational inertia Λ⁻¹ (sko-models 6.2): what nodes that are pushed together seem to weigh.
 * There is none where the nodes cannot be accelerated each way by itself. */
static void set_compliance(struct orr_evaluation *e, json_t *root) {
  const struct orr_model *m = e->build.model;
  if (orr_articulated_factor(m, e->build.ws) != ORR_OK)
    return;
  int size = 6 * e->operational_count;
  double *out = numbers(size * size);
  void *scratch = orr_aligned_block(orr_compliance_size(m, e->operational_count));
  orr_compliance(m, e->build.ws, e->operational, e->operational_count, scratch, out);
  json_object_set_new(root, "operational_compliance", matrix(out, size));
  json_object_set_new(root, "operational_inertia", invert(out, size) ? matrix(out, size) : json_null());
  free(scratch);
  free(out);
}

json_t *orr_evaluation_json(struct orr_evaluation *e) {
  const struct orr_model *m = e->build.model;
  struct orr_workspace *ws = e->build.ws;
  json_t *root = json_object(), *bodies = json_object();
  struct open_answers open = open_answers(e);
  for (int i = 0; i < m->body_count; i++)
    json_object_set_new(bodies, e->description->bodies[i].name, body_json(e, i, &open));
  json_object_set_new(root, "bodies", bodies);
  if (is_closed(e))
    json_object_set_new(root, "multipliers", multipliers_json(e, &open));
  if (is_closed(e))
    json_object_set_new(root, "loops", loops_json(e));
  free(open.multipliers);
  json_object_set_new(root, "kinetic_energy", orr_json_number(orr_kinetic_energy(m, ws)));
  json_object_set_new(root, "potential_energy", orr_json_number(orr_potential_energy(m, ws)));
  json_object_set_new(root, "momentum", array_spatial(orr_momentum(m, ws)));
  set_mass_matrix(e, root);
  if (e->operational_count)
    set_compliance(e, root);
  int body;
  if ((e->solve || e->factors) && orr_factors_take(e, &body) == ORR_OK) {
    if (e->factors)
      orr_factors_put(e, root);
    if (e->solve)
      orr_factors_put_solution(e, root);
  }
  return root;
}
