#include "tests/support/dense.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/dense_parts.h"

struct dense_body {
  int columns;    /* n + 6 */
  int support;    /* speeds that move this body: those of its parents, then its own */
  int before;     /* of them, the parents' */
  int *speed;     /* [support] index in u */
  real *jacobian; /* [columns][support] */
  real *mass;     /* [columns][columns] */
  struct orr_pose pose;
  real v[ORR_COLUMNS_MAX], v_dot[ORR_COLUMNS_MAX];
  real missing[ORR_COLUMNS_MAX]; /* inertial force less what acts, but for hinges and actuators */
  real hinge[6];                 /* about O, inertial axes */
};

struct orr_dense {
  const struct orr_sample *s;
  int count, speeds;
  int *order; /* parents first */
  struct dense_body *bodies;
  real *mass;   /* [speeds][speeds], rotors free */
  real *factor; /* scratch, the same size */
  int *free;    /* speeds that are not driven */
  int free_count;
  real *accel, *rotor_accel, *rhs;
};

static void *take(size_t count, size_t size) {
  void *p = calloc(count ? count : 1, size);
  assert(p);
  return p;
}

/* ---- Jacobians --------------------------------------------------------------------------------------------------- */

/* One unit speed of body `moved` and the velocities that it gives to it and to all beyond it. */
static void fill_jacobian_column(struct orr_dense *d, const struct orr_pose *still, struct orr_pose *moving,
                                 bool *affected, int moved, int local) {
  const struct orr_sample *s = d->s;
  double *unit = take((size_t)d->speeds, sizeof *unit), *rest = take((size_t)d->speeds, sizeof *rest);
  int column = d->bodies[moved].before + local;
  unit[s->u_at[moved] + local] = 1;
  memset(affected, 0, (size_t)d->count * sizeof *affected);
  for (int i = 0; i < d->count; i++) {
    int body = d->order[i], parent = s->bodies[body].hinge.parent;
    affected[body] = body == moved || (parent >= 0 && affected[parent]);
    if (!affected[body])
      continue;
    struct dense_body *b = &d->bodies[body];
    struct orr_motion m = {s->q, unit, NULL}, on = {s->q, parent == moved ? unit : rest, NULL};
    const struct orr_pose *from = parent < 0 ? NULL : affected[parent] ? &moving[parent] : &still[parent];
    moving[body] = orr_body_place(s, body, from, on, m);
    real v[ORR_COLUMNS_MAX], unused[ORR_COLUMNS_MAX];
    orr_body_motion(s, m, body, &moving[body], v, unused);
    for (int k = 0; k < b->columns; k++)
      b->jacobian[k * b->support + column] = v[k];
  }
  free(unit);
  free(rest);
}

static void fill_jacobians(struct orr_dense *d) {
  const struct orr_sample *s = d->s;
  size_t count = (size_t)d->count;
  struct orr_pose *still = take(count, sizeof *still), *moving = take(count, sizeof *moving);
  bool *affected = take(count, sizeof *affected);
  double *rest = take((size_t)d->speeds, sizeof *rest);
  struct orr_motion m = {s->q, rest, NULL};
  for (int i = 0; i < d->count; i++) {
    int body = d->order[i], parent = s->bodies[body].hinge.parent;
    still[body] = orr_body_place(s, body, parent < 0 ? NULL : &still[parent], m, m);
  }
  for (int i = 0; i < d->count; i++) {
    int body = d->order[i], own = d->bodies[body].support - d->bodies[body].before;
    for (int k = 0; k < own; k++)
      fill_jacobian_column(d, still, moving, affected, body, k);
  }
  free(still);
  free(moving);
  free(affected);
  free(rest);
}

/* ---- mass matrix ------------------------------------------------------------------------------------------------- */

static void add_body_mass(struct orr_dense *d, int body) {
  struct dense_body *b = &d->bodies[body];
  real *product = take((size_t)b->columns * (size_t)b->support, sizeof *product);
  for (int i = 0; i < b->columns; i++)
    for (int j = 0; j < b->columns; j++) {
      real m = b->mass[i * b->columns + j];
      for (int k = 0; k < b->support; k++)
        product[i * b->support + k] += m * b->jacobian[j * b->support + k];
    }
  for (int i = 0; i < b->columns; i++)
    for (int k = 0; k < b->support; k++) {
      real j = b->jacobian[i * b->support + k], *row = d->mass + (size_t)b->speed[k] * (size_t)d->speeds;
      if (j == 0)
        continue;
      for (int l = 0; l < b->support; l++)
        row[b->speed[l]] += j * product[i * b->support + l];
    }
  free(product);
}

/* A free rotor takes J g gᵀ out of the matrix, g·u̇ = u·ω̇ of its node. */
static void take_rotor(struct orr_dense *d, const struct orr_rotor_desc *rotor) {
  struct dense_body *b = &d->bodies[rotor->body];
  real axis[3], row[ORR_COLUMNS_MAX], *g = take((size_t)b->support, sizeof *g);
  orr_rotor_row(d->s, d->s->q, rotor, axis, row);
  for (int i = 0; i < b->columns; i++)
    for (int k = 0; k < b->support; k++)
      g[k] += row[i] * b->jacobian[i * b->support + k];
  for (int k = 0; k < b->support; k++)
    for (int l = 0; l < b->support; l++)
      d->mass[(size_t)b->speed[k] * (size_t)d->speeds + (size_t)b->speed[l]] -= (real)rotor->inertia * g[k] * g[l];
  free(g);
}

static void make_body(struct orr_dense *d, int body) {
  const struct orr_sample *s = d->s;
  const struct orr_body_desc *desc = &s->bodies[body];
  struct dense_body *b = &d->bodies[body];
  int parent = desc->hinge.parent, own = (int)desc->mode_count + orr_sample_speeds(desc->hinge.kind);
  b->columns = (int)desc->mode_count + 6;
  b->before = parent < 0 ? 0 : d->bodies[parent].support;
  b->support = b->before + own;
  b->speed = take((size_t)b->support, sizeof *b->speed);
  if (b->before)
    memcpy(b->speed, d->bodies[parent].speed, (size_t)b->before * sizeof *b->speed);
  for (int k = 0; k < own; k++)
    b->speed[b->before + k] = s->u_at[body] + k;
  b->jacobian = take((size_t)b->columns * (size_t)b->support, sizeof *b->jacobian);
  b->mass = take((size_t)b->columns * (size_t)b->columns, sizeof *b->mass);
  real eta[8];
  for (size_t r = 0; r < desc->mode_count; r++)
    eta[r] = (real)s->q[s->q_at[body] + (int)r];
  orr_body_mass(desc, eta, b->mass);
}

struct orr_dense *orr_dense_make(const struct orr_sample *s) {
  struct orr_dense *d = take(1, sizeof *d);
  size_t speeds = (size_t)s->u_count;
  d->s = s;
  d->count = (int)s->description.body_count;
  d->speeds = s->u_count;
  d->order = orr_parents_first(s);
  d->bodies = take((size_t)d->count, sizeof *d->bodies);
  d->mass = take(speeds * speeds, sizeof *d->mass);
  d->factor = take(speeds * speeds, sizeof *d->factor);
  d->free = take(speeds, sizeof *d->free);
  d->accel = take(speeds, sizeof *d->accel);
  d->rhs = take(speeds, sizeof *d->rhs);
  d->rotor_accel = take(s->description.rotor_count, sizeof *d->rotor_accel);
  for (int i = 0; i < d->count; i++)
    make_body(d, d->order[i]);
  fill_jacobians(d);
  for (int i = 0; i < d->count; i++)
    add_body_mass(d, i);
  for (size_t i = 0; i < s->description.rotor_count; i++)
    take_rotor(d, &s->rotors[i]);
  for (int i = 0; i < d->count; i++) {
    int driven = s->bodies[i].hinge.prescribed ? orr_sample_speeds(s->bodies[i].hinge.kind) : 0;
    int own = d->bodies[i].support - d->bodies[i].before;
    for (int k = 0; k < own - driven; k++)
      d->free[d->free_count++] = s->u_at[i] + k;
  }
  return d;
}

void orr_dense_free(struct orr_dense *d) {
  for (int i = 0; i < d->count; i++) {
    free(d->bodies[i].speed);
    free(d->bodies[i].jacobian);
    free(d->bodies[i].mass);
  }
  free(d->order);
  free(d->bodies);
  free(d->mass);
  free(d->factor);
  free(d->free);
  free(d->accel);
  free(d->rhs);
  free(d->rotor_accel);
  free(d);
}

void orr_dense_mass(const struct orr_dense *d, double *out) {
  for (size_t i = 0; i < (size_t)d->speeds * (size_t)d->speeds; i++)
    out[i] = (double)d->mass[i];
}

/* Cholesky factor of the rows and columns `list` (NULL: all) into d->factor [count][count]. */
static bool factorise(struct orr_dense *d, const int *list, int count) {
  real *l = d->factor;
  for (int i = 0; i < count; i++)
    for (int j = 0; j <= i; j++) {
      size_t row = (size_t)(list ? list[i] : i), column = (size_t)(list ? list[j] : j);
      real sum = d->mass[row * (size_t)d->speeds + column], *a = l + (size_t)i * (size_t)count;
      const real *b = l + (size_t)j * (size_t)count;
      for (int k = 0; k < j; k++)
        sum -= a[k] * b[k];
      if (i == j && !(sum > 0))
        return false;
      a[j] = i == j ? sqrtl(sum) : sum / b[j];
    }
  return true;
}

static void forward_substitute(const real *l, int count, real *x) {
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < i; k++)
      x[i] -= l[(size_t)i * (size_t)count + (size_t)k] * x[k];
    x[i] /= l[(size_t)i * (size_t)count + (size_t)i];
  }
}

static void back_substitute(const real *l, int count, real *x) {
  for (int i = count - 1; i >= 0; i--) {
    for (int k = i + 1; k < count; k++)
      x[i] -= l[(size_t)k * (size_t)count + (size_t)i] * x[k];
    x[i] /= l[(size_t)i * (size_t)count + (size_t)i];
  }
}

bool orr_dense_log_det(struct orr_dense *d, double *out) {
  if (!factorise(d, NULL, d->speeds))
    return false;
  real sum = 0;
  for (int i = 0; i < d->speeds; i++)
    sum += 2 * logl(d->factor[(size_t)i * (size_t)d->speeds + (size_t)i]);
  *out = (double)sum;
  return true;
}

double orr_dense_condition(struct orr_dense *d) {
  if (!factorise(d, d->free, d->free_count))
    return HUGE_VAL;
  real worst = 1;
  for (int i = 0; i < d->free_count; i++) {
    real l = d->factor[(size_t)i * (size_t)d->free_count + (size_t)i];
    real m = d->mass[(size_t)d->free[i] * (size_t)d->speeds + (size_t)d->free[i]];
    if (m / (l * l) > worst)
      worst = m / (l * l);
  }
  return (double)worst;
}

/* ---- forces ------------------------------------------------------------------------------------------------------ */

/* out = partialsᵀ [N; F] for a wrench in body axes */
static void add_generalised(const real *partials, int columns, const real wrench[6], real sign, real *out) {
  for (int i = 0; i < columns; i++)
    for (int k = 0; k < 6; k++)
      out[i] += sign * partials[k * columns + i] * wrench[k];
}

/* Gravity on every mass at its deformed place, K and D. */
static void take_weight_and_elastic(const struct orr_dense *d, int body, real *missing) {
  const struct orr_sample *s = d->s;
  const struct orr_body_desc *b = &s->bodies[body];
  const double *eta = s->q + s->q_at[body], *rate = s->u + s->u_at[body];
  int n = (int)b->mode_count;
  real g[3] = {(real)s->description.gravity[0], (real)s->description.gravity[1], (real)s->description.gravity[2]};
  turned_back(&d->bodies[body].pose.r, g, g);
  for (size_t j = 0; j < (b->flexible ? b->node_count : 1); j++) {
    const struct orr_node_desc *node = &b->nodes[j];
    real mass = (real)(b->flexible ? node->mass : b->mass), c[3], p[3], f[3], c2[3] = {0}, slide[8][3], e[8];
    for (int r = 0; r < n; r++)
      e[r] = (real)eta[r];
    if (n)
      orr_node_curve(b, (int)j, e, true, c2, slide);
    for (int i = 0; i < 3; i++) {
      p[i] = b->flexible ? (real)node->com[i] : (real)b->com[i];
      c[i] = p[i] + (b->flexible ? (real)node->at[i] : 0) + c2[i];
      f[i] = mass * g[i];
    }
    for (int r = 0; r < n; r++) {
      real slope[3], gamma[3];
      for (int i = 0; i < 3; i++)
        slope[i] = (real)node->modes[6 * r + i], gamma[i] = (real)node->modes[6 * r + 3 + i];
      add_cross(gamma, slope, p);
      for (int i = 0; i < 3; i++)
        c[i] += gamma[i] * (real)eta[r];
      missing[r] -= dot(gamma, f) + dot(slide[r], f);
    }
    real moment[3];
    cross(c, f, moment);
    for (int i = 0; i < 3; i++)
      missing[n + i] -= moment[i], missing[n + 3 + i] -= f[i];
  }
  if (!n)
    return;
  const real *mass = d->bodies[body].mass;
  for (int r = 0; r < n; r++) {
    if (b->modes) {
      real omega = 2 * acosl(-1) * (real)b->modes[r].frequency_hz, m = mass[r * (n + 6) + r];
      missing[r] += omega * omega * m * (real)eta[r] + 2 * (real)b->modes[r].damping * omega * m * (real)rate[r];
    }
    for (int k = 0; k < n && !b->modes; k++) {
      if (b->stiffness)
        missing[r] += (real)b->stiffness[r * n + k] * (real)eta[k];
      if (b->damping)
        missing[r] += (real)b->damping[r * n + k] * (real)rate[k];
    }
  }
}

static void take_push(struct orr_dense *d, const struct orr_push *push) {
  struct dense_body *b = &d->bodies[push->body];
  real partials[6 * ORR_COLUMNS_MAX], wrench[6];
  jet_vec l;
  jet_mat x;
  orr_node_partials(d->s, d->s->q, push->body, push->node, partials, &l, &x);
  for (int i = 0; i < 3; i++)
    wrench[i] = (real)push->moment[i], wrench[3 + i] = (real)push->force[i];
  for (int i = 0; i < 6; i += 3) {
    if (push->axes == ORR_PUSH_INERTIAL)
      turned_back(&b->pose.r, wrench + i, wrench + i);
    if (push->axes == ORR_PUSH_NODE)
      turned(&x, wrench + i, wrench + i);
  }
  add_generalised(partials, b->columns, wrench, -1, b->missing);
}

/* The rotor's own angular momentum h = J Ω u changes at ḣ = J Ω̇ u + J Ω ω × u, which its node has to bear. */
static void take_rotor_moment(struct orr_dense *d, int index) {
  const struct orr_rotor_desc *rotor = &d->s->rotors[index];
  struct dense_body *b = &d->bodies[rotor->body];
  const struct orr_sample *s = d->s;
  int n = (int)s->bodies[rotor->body].mode_count;
  real partials[6 * ORR_COLUMNS_MAX], axis[3], wrench[6] = {0}, spin[3], rate[3];
  jet eta[8];
  jet_vec l;
  jet_mat x;
  for (int r = 0; r < n; r++)
    eta[r] = (jet){{(real)s->q[s->q_at[rotor->body] + r], b->v[r], 0.5L * b->v_dot[r]}};
  orr_node_place(&s->bodies[rotor->body], rotor->node, eta, &l, &x);
  jet_mat node = jm_mul(b->pose.r, x); /* inertial attitude of the node: its spin in node axes */
  jm_spin(&node, spin, rate);
  for (int i = 0; i < 3; i++)
    axis[i] = (real)rotor->axis[i];
  real accel = (real)s->rotor_torque[index] / (real)rotor->inertia - dot(axis, rate);
  d->rotor_accel[index] = accel;
  cross(spin, axis, wrench);
  for (int i = 0; i < 3; i++)
    wrench[i] = -(real)rotor->inertia * (accel * axis[i] + (real)s->rotor_speed[index] * wrench[i]);
  orr_node_partials(s, s->q, rotor->body, rotor->node, partials, &l, &x);
  turned(&x, wrench, wrench); /* node axes → body axes */
  add_generalised(partials, b->columns, wrench, -1, b->missing);
}

/* Balance of each body, tips to base, inertial axes about O. */
static void fill_hinges(struct orr_dense *d) {
  const struct orr_sample *s = d->s;
  real(*point)[3] = take((size_t)d->count, sizeof *point);
  for (int i = 0; i < d->count; i++)
    memset(d->bodies[i].hinge, 0, sizeof d->bodies[i].hinge);
  for (int k = d->count - 1; k >= 0; k--) {
    int body = d->order[k], parent = s->bodies[body].hinge.parent, n = (int)s->bodies[body].mode_count;
    struct dense_body *b = &d->bodies[body];
    jet eta[8];
    jet_vec l;
    jet_mat x;
    for (int r = 0; r < n; r++)
      eta[r] = jet_of((real)s->q[s->q_at[body] + r]);
    orr_node_place(&s->bodies[body], s->bodies[body].hinge.node, eta, &l, &x);
    real own[6], arm[3] = {-l.e[0].c[0], -l.e[1].c[0], -l.e[2].c[0]};
    memcpy(own, b->missing + n, sizeof own);
    add_cross(own, arm, own + 3);
    turned(&b->pose.r, own, own);
    turned(&b->pose.r, own + 3, own + 3);
    turned(&b->pose.r, arm, arm);
    for (int i = 0; i < 3; i++)
      point[body][i] = b->pose.p.e[i].c[0] - arm[i];
    /* b->hinge holds what the children take, about the inertial origin */
    real to_origin[3] = {-point[body][0], -point[body][1], -point[body][2]};
    add_cross(b->hinge, to_origin, b->hinge + 3);
    for (int i = 0; i < 6; i++)
      b->hinge[i] += own[i];
    if (parent < 0)
      continue;
    real about_origin[6];
    memcpy(about_origin, b->hinge, sizeof about_origin);
    add_cross(about_origin, point[body], about_origin + 3);
    for (int i = 0; i < 6; i++)
      d->bodies[parent].hinge[i] += about_origin[i];
  }
  free(point);
}

/* Everything that u̇ needs: d->rhs = generalised forces of all actuators. */
static void evaluate(struct orr_dense *d, const double *accel) {
  const struct orr_sample *s = d->s;
  struct orr_motion m = {s->q, s->u, accel};
  for (int i = 0; i < d->speeds; i++)
    d->rhs[i] = 0;
  for (int i = 0; i < d->count; i++) {
    int body = d->order[i], parent = s->bodies[body].hinge.parent;
    struct dense_body *b = &d->bodies[body];
    real eta[8];
    b->pose = orr_body_place(s, body, parent < 0 ? NULL : &d->bodies[parent].pose, m, m);
    orr_body_motion(s, m, body, &b->pose, b->v, b->v_dot);
    for (int r = 0; r < b->columns - 6; r++)
      eta[r] = (real)s->q[s->q_at[body] + r];
    orr_body_inertial(&s->bodies[body], eta, b->v, b->v_dot, b->missing);
    take_weight_and_elastic(d, body, b->missing);
  }
  for (int i = 0; i < s->push_count; i++)
    take_push(d, &s->pushes[i]);
  for (int i = 0; i < (int)s->description.rotor_count; i++)
    take_rotor_moment(d, i);
  for (int i = 0; i < d->count; i++) {
    const struct dense_body *b = &d->bodies[i];
    const struct orr_hinge_desc *h = &s->bodies[i].hinge;
    for (int row = 0; row < b->columns; row++)
      for (int k = 0; k < b->support; k++)
        d->rhs[b->speed[k]] += b->jacobian[row * b->support + k] * b->missing[row];
    int q = orr_sample_hinge_q(s, i), u = orr_sample_hinge_u(s, i);
    for (int k = 0; k < orr_sample_speeds(h->kind) && orr_sample_quaternion(h->kind) < 0; k++)
      d->rhs[u + k] +=
          (real)h->stiffness[k] * ((real)s->q[q + k] - (real)h->rest[k]) + (real)h->damping[k] * (real)s->u[u + k];
  }
  fill_hinges(d);
}

void orr_dense_inverse(struct orr_dense *d, const double *accel, double *force) {
  evaluate(d, accel);
  for (int i = 0; i < d->speeds; i++)
    force[i] = (double)d->rhs[i];
}

bool orr_dense_forward(struct orr_dense *d, double *accel, double *rotor_accel) {
  const struct orr_sample *s = d->s;
  int count = d->free_count;
  bool *driven = take((size_t)d->speeds, sizeof *driven);
  real *x = take((size_t)count, sizeof *x);
  for (int i = 0; i < d->speeds; i++)
    driven[i] = true;
  for (int i = 0; i < count; i++)
    driven[d->free[i]] = false;
  for (int i = 0; i < d->speeds; i++)
    accel[i] = driven[i] ? s->given[i] : 0;
  free(driven);
  evaluate(d, accel);
  bool regular = factorise(d, d->free, count);
  if (regular) {
    for (int i = 0; i < count; i++)
      x[i] = (real)s->force[d->free[i]] - d->rhs[d->free[i]];
    forward_substitute(d->factor, count, x);
    back_substitute(d->factor, count, x);
    for (int i = 0; i < count; i++)
      accel[d->free[i]] = (double)x[i];
    evaluate(d, accel);
    for (size_t i = 0; rotor_accel && i < s->description.rotor_count; i++)
      rotor_accel[i] = (double)d->rotor_accel[i];
  }
  free(x);
  return regular;
}

void orr_dense_hinge_force(const struct orr_dense *d, int body, double out[6]) {
  real f[6];
  turned_back(&d->bodies[body].pose.r, d->bodies[body].hinge, f);
  turned_back(&d->bodies[body].pose.r, d->bodies[body].hinge + 3, f + 3);
  for (int i = 0; i < 6; i++)
    out[i] = (double)f[i];
}

struct orr_dense_place orr_dense_place(const struct orr_dense *d, int body, int node) {
  const struct dense_body *b = &d->bodies[body];
  const struct orr_sample *s = d->s;
  struct orr_pose pose = b->pose;
  if (node >= 0) {
    jet eta[8];
    jet_vec l;
    jet_mat x;
    for (int r = 0; r < b->columns - 6; r++)
      eta[r] = (jet){{(real)s->q[s->q_at[body] + r], b->v[r], 0.5L * b->v_dot[r]}};
    orr_node_place(&s->bodies[body], node, eta, &l, &x);
    pose = (struct orr_pose){jv_add(pose.p, jm_apply(pose.r, l)), jm_mul(pose.r, x)};
  }
  real w[3], w_dot[3];
  jm_spin(&pose.r, w, w_dot);
  turned(&pose.r, w, w);
  turned(&pose.r, w_dot, w_dot);
  struct orr_dense_place out;
  for (int i = 0; i < 3; i++) {
    out.position[i] = (double)pose.p.e[i].c[0];
    out.v[i] = (double)pose.p.e[i].c[1];
    out.accel[i] = (double)(2 * pose.p.e[i].c[2]);
    out.omega[i] = (double)w[i];
    out.alpha[i] = (double)w_dot[i];
    for (int j = 0; j < 3; j++)
      out.attitude[i][j] = (double)pose.r.e[i][j].c[0];
  }
  return out;
}

/* Six rows of B: how the free speeds move a node, inertial axes. */
static void fill_node_rows(const struct orr_dense *d, int body, int node, real *out) {
  const struct dense_body *b = &d->bodies[body];
  const struct orr_sample *s = d->s;
  real partials[6 * ORR_COLUMNS_MAX], *all = take(6 * (size_t)d->speeds, sizeof *all);
  jet_vec l;
  jet_mat x;
  orr_node_partials(s, s->q, body, node, partials, &l, &x);
  for (int c = 0; c < b->support; c++) {
    real y[6] = {0};
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < b->columns; k++)
        y[i] += partials[i * b->columns + k] * b->jacobian[k * b->support + c];
    turned(&b->pose.r, y, y);
    turned(&b->pose.r, y + 3, y + 3);
    for (int i = 0; i < 6; i++)
      all[i * d->speeds + b->speed[c]] = y[i];
  }
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < d->free_count; k++)
      out[i * d->free_count + k] = all[i * d->speeds + d->free[k]];
  free(all);
}

bool orr_dense_compliance(struct orr_dense *d, int (*nodes)[2], int count, double *out) {
  int free_count = d->free_count, rows = 6 * count;
  double *zero = take((size_t)d->speeds, sizeof *zero);
  evaluate(d, zero);
  free(zero);
  if (!factorise(d, d->free, free_count))
    return false;
  real *b = take((size_t)rows * (size_t)free_count, sizeof *b);
  for (int i = 0; i < count; i++)
    fill_node_rows(d, nodes[i][0], nodes[i][1], b + (size_t)(6 * i) * (size_t)free_count);
  for (int i = 0; i < rows; i++)
    forward_substitute(d->factor, free_count, b + (size_t)i * (size_t)free_count);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < rows; j++) {
      real sum = 0;
      for (int k = 0; k < free_count; k++)
        sum += b[(size_t)i * (size_t)free_count + (size_t)k] * b[(size_t)j * (size_t)free_count + (size_t)k];
      out[i * rows + j] = (double)sum;
    }
  free(b);
  return true;
}
