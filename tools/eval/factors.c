#include "tools/eval/factors.h"

#include <stdlib.h>

#include "core/tree/articulated.h"
#include "core/tree/body_operators.h"
#include "core/tree/operators.h"
#include "tools/common/json_numbers.h"

static double *numbers(int count) { return orr_aligned_block(sizeof(double) * (size_t)count); }

static json_t *matrix(const double *x, int rows, int columns) {
  json_t *list = json_array();
  for (int i = 0; i < rows; i++)
    json_array_append_new(list, orr_json_numbers(x + (ptrdiff_t)i * columns, (size_t)columns));
  return list;
}

static void release(struct orr_evaluation *e, bool all) {
  for (int i = 0; i < e->build.model->body_count; i++)
    orr_prescribe(e->build.ws, i, !all && e->given->bodies[i].prescribed);
}

enum orr_status orr_factors_take(struct orr_evaluation *e, int *body) {
  release(e, true);
  enum orr_status status = orr_articulated_factor(e->build.model, e->build.ws);
  release(e, false);
  *body = e->build.ws->failed_body;
  return status;
}

void orr_factors_put_solution(struct orr_evaluation *e, json_t *root) {
  const struct orr_model *m = e->build.model;
  double *solution = numbers(m->u_count), *back = numbers(m->u_count);
  release(e, true);
  orr_inverse_mass_apply(m, e->build.ws, e->solve, solution);
  orr_mass_apply(m, e->build.ws, solution, back);
  release(e, false);
  for (int i = 0; i < m->u_count; i++)
    back[i] -= e->solve[i];
  json_object_set_new(root, "solution", orr_json_numbers(solution, (size_t)m->u_count));
  json_object_set_new(root, "residual", orr_json_numbers(back, (size_t)m->u_count));
  free(solution);
  free(back);
}

/* The factors as dense matrices, [u_count][u_count]. */
struct dense {
  int count;
  double *colour, *innovate, *scale; /* I + HΦK, I − HΨK, D */
};

/* Column by column. These are the factors of the solver, which takes a body's modes and its hinge as two bodies, one
 * after the other: flexible-operators (61). */
static struct dense split_factors(const struct orr_model *m, struct orr_workspace *ws) {
  int count = m->u_count, size = count * count;
  struct dense d = {count, numbers(size), numbers(size), numbers(size)};
  double *x = numbers(count), *y = numbers(count);
  for (int j = 0; j < count; j++) {
    memset(x, 0, sizeof(double) * (size_t)count);
    x[j] = 1;
    orr_colour(m, ws, x, y);
    for (int i = 0; i < count; i++)
      d.colour[i * count + j] = y[i];
    orr_innovate(m, ws, x, y);
    for (int i = 0; i < count; i++)
      d.innovate[i * count + j] = y[i];
    orr_innovations_scale(m, ws, false, x, y);
    for (int i = 0; i < count; i++)
      d.scale[i * count + j] = y[i];
  }
  free(x);
  free(y);
  return d;
}

/* One body's modes and hinge as one: with w the block of I + HΦK from its modes to its hinge and W = [1, 0; w, 1],
 *   D(k) = W diag(D_f, D_R) W*,   I + HΦK = (of the split bodies) W⁻¹,   I − HΨK = W (of the split bodies) */
static void join_body(const struct dense *d, const struct orr_limb *limb) {
  int n = limb->mode_count, dof = limb->dof, count = d->count, modes = limb->u, hinge = limb->hinge_u;
  for (int i = 0; i < dof; i++) {
    int row = hinge + i;
    for (int r = 0; r < n; r++) {
      double w = d->colour[row * count + modes + r];
      for (int c = 0; c < count; c++)
        d->innovate[row * count + c] += w * d->innovate[(modes + r) * count + c];
      for (int c = 0; c < n; c++)
        d->scale[row * count + modes + c] += w * d->scale[(modes + r) * count + modes + c];
    }
  }
  for (int i = 0; i < dof; i++)
    for (int j = 0; j < dof; j++)
      for (int r = 0; r < n; r++)
        d->scale[(hinge + i) * count + hinge + j] +=
            d->scale[(hinge + i) * count + modes + r] * d->colour[(hinge + j) * count + modes + r];
  for (int i = 0; i < dof; i++)
    for (int r = 0; r < n; r++)
      d->scale[(modes + r) * count + hinge + i] = d->scale[(hinge + i) * count + modes + r];
  for (int row = 0; row < count; row++) {
    bool own = row >= modes && row < hinge + dof;
    for (int r = 0; r < n && !own; r++)
      for (int i = 0; i < dof; i++)
        d->colour[row * count + modes + r] -=
            d->colour[row * count + hinge + i] * d->colour[(hinge + i) * count + modes + r];
  }
  for (int i = 0; i < dof; i++)
    memset(d->colour + (hinge + i) * count + modes, 0, sizeof(double) * (size_t)n);
}

static json_t *body_json(struct orr_evaluation *e, const struct dense *d, int body) {
  const struct orr_model *m = e->build.model;
  const struct orr_workspace *ws = e->build.ws;
  const struct orr_limb *limb = &m->limbs[m->limb_of_body[body]];
  int n = limb->mode_count, own = n + limb->dof, width = n + 6, parent = orr_body_parent(m, body);
  int above = parent < 0 ? 0 : m->limbs[limb->parent].mode_count + 6;
  double *block = numbers((own > width ? own : width) * width + above * width + own * own);
  json_t *object = json_object();
  json_object_set_new(object, "parent", parent < 0 ? json_null() : json_string(e->description->bodies[parent].name));
  for (int i = 0; i < own; i++)
    for (int j = 0; j < own; j++)
      block[i * own + j] = d->scale[(limb->u + i) * d->count + limb->u + j];
  json_object_set_new(object, "D", matrix(block, own, own));
  orr_operator_joint_map(m, ws, body, block);
  json_object_set_new(object, "H", matrix(block, own, width));
  orr_operator_mass(m, ws, body, block);
  json_object_set_new(object, "M", matrix(block, width, width));
  if (parent >= 0)
    orr_operator_transform(m, ws, body, block);
  json_object_set_new(object, "Phi", parent < 0 ? json_null() : matrix(block, above, width));
  free(block);
  return object;
}

void orr_factors_put(struct orr_evaluation *e, json_t *root) {
  const struct orr_model *m = e->build.model;
  json_t *factors = json_object(), *bodies = json_object();
  release(e, true);
  struct dense d = split_factors(m, e->build.ws);
  release(e, false);
  for (int i = 0; i < m->body_count; i++)
    join_body(&d, &m->limbs[m->limb_of_body[i]]);
  for (int i = 0; i < m->body_count; i++)
    json_object_set_new(bodies, e->description->bodies[i].name, body_json(e, &d, i));
  json_object_set_new(factors, "bodies", bodies);
  json_object_set_new(factors, "I_plus_HPhiK", matrix(d.colour, m->u_count, m->u_count));
  json_object_set_new(factors, "I_minus_HPsiK", matrix(d.innovate, m->u_count, m->u_count));
  json_object_set_new(root, "factors", factors);
  free(d.colour);
  free(d.innovate);
  free(d.scale);
}
