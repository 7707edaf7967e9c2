#include "tests/support/gears.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES_MAX = 256 };

static void *take(size_t count, size_t size) {
  void *p = calloc(count ? count : 1, size);
  assert(p);
  return p;
}

/* ---- the explicit spacecraft ------------------------------------------------------------------------------------- */

struct plan {
  struct orr_body_desc bodies[BODIES_MAX];
  struct orr_node_desc origins[BODIES_MAX]; /* of rings and rotors */
  int count;
  int ring[BODIES_MAX][2]; /* of a body's hinge: rings before it, or −1 */
  int rotor[BODIES_MAX];   /* of gear i */
};

static bool has_rings(enum orr_hinge_kind kind) { return kind == ORR_HINGE_UNIVERSAL || kind == ORR_HINGE_GIMBAL; }

/* A body of mass zero on a hinge about `axis` (NULL: fixed). */
static int add_massless(struct plan *p, int parent, int node, const double *rotation, const double *axis,
                        double inertia) {
  static const double none[4] = {0, 0, 0, 1};
  assert(p->count < BODIES_MAX);
  struct orr_body_desc *b = &p->bodies[p->count];
  *b = (struct orr_body_desc){.name = "massless", .node_count = 1, .nodes = &p->origins[p->count]};
  p->origins[p->count] = (struct orr_node_desc){.name = "origin"};
  b->hinge = (struct orr_hinge_desc){
      .kind = axis && inertia >= 0 ? ORR_HINGE_REVOLUTE : ORR_HINGE_FIXED, .parent = parent, .parent_node = node};
  memcpy(b->hinge.rotation, rotation ? rotation : none, sizeof none);
  if (axis) {
    memcpy(b->hinge.axes[0], axis, sizeof b->hinge.axes[0]);
    for (int i = 0; i < 3; i++)
      b->inertia[i] = inertia * axis[i] * axis[i];
    b->inertia[3] = inertia * axis[0] * axis[1];
    b->inertia[4] = inertia * axis[0] * axis[2];
    b->inertia[5] = inertia * axis[1] * axis[2];
  }
  return p->count++;
}

/* The hinge of body b (already at its place) over rings: the outermost stays the body's own. */
static void write_rings(struct plan *p, int b) {
  struct orr_hinge_desc hinge = p->bodies[b].hinge;
  int rings = hinge.kind == ORR_HINGE_GIMBAL ? 2 : 1, parent = hinge.parent, node = hinge.parent_node;
  const double *rotation = hinge.rotation;
  for (int i = 0; i < rings; i++) {
    parent = p->ring[b][i] = add_massless(p, parent, node, rotation, hinge.axes[i], 0);
    struct orr_hinge_desc *own = &p->bodies[parent].hinge;
    own->prescribed = hinge.prescribed;
    own->stiffness[0] = hinge.stiffness[i], own->damping[0] = hinge.damping[i], own->rest[0] = hinge.rest[i];
    node = 0;
    rotation = NULL;
  }
  struct orr_hinge_desc *own = &p->bodies[b].hinge;
  *own = (struct orr_hinge_desc){.kind = ORR_HINGE_REVOLUTE,
                                 .parent = parent,
                                 .node = hinge.node,
                                 .rotation = {0, 0, 0, 1},
                                 .prescribed = hinge.prescribed};
  memcpy(own->axes[0], hinge.axes[rings], sizeof own->axes[0]);
  own->stiffness[0] = hinge.stiffness[rings], own->damping[0] = hinge.damping[rings], own->rest[0] = hinge.rest[rings];
}

/* The rotor, and what takes its locked inertia out of the carrier. */
static int add_rotor(struct plan *p, const struct orr_sample *s, const struct orr_gear_desc *g) {
  const struct orr_hinge_desc *hinge = &s->bodies[g->body].hinge;
  bool on_ring = has_rings(hinge->kind) && g->coordinate > 0;
  int parent = on_ring ? p->ring[g->body][g->coordinate - 1] : hinge->parent;
  int node = on_ring ? 0 : hinge->parent_node;
  const double *rotation = on_ring ? NULL : hinge->rotation;
  const double *axis = hinge->axes[has_rings(hinge->kind) ? g->coordinate : 0];
  add_massless(p, parent, node, rotation, axis, -g->inertia);
  return add_massless(p, parent, node, rotation, axis, g->inertia);
}

static struct plan *write_out(const struct orr_sample *s, const struct orr_gear_desc *gears, int count) {
  struct plan *p = take(1, sizeof *p);
  p->count = (int)s->description.body_count;
  for (int i = 0; i < p->count; i++)
    p->bodies[i] = s->bodies[i];
  for (int i = 0; i < (int)s->description.body_count; i++)
    if (has_rings(s->bodies[i].hinge.kind))
      write_rings(p, i);
  for (int i = 0; i < count; i++)
    p->rotor[i] = add_rotor(p, s, &gears[i]);
  return p;
}

/* ---- speeds ------------------------------------------------------------------------------------------------------ */

/* Where coordinate k of body b's hinge went: the explicit body, and its coordinate there. */
static int where(const struct plan *p, const struct orr_sample *s, int b, int k, int *coordinate) {
  *coordinate = k;
  if (!has_rings(s->bodies[b].hinge.kind))
    return b;
  *coordinate = 0;
  return k < orr_sample_speeds(s->bodies[b].hinge.kind) - 1 ? p->ring[b][k] : b;
}

static void map_body(struct orr_gears *g, const struct plan *p, int b) {
  const struct orr_sample *s = g->sample;
  struct orr_sample *e = g->explicit_sample;
  int n = (int)s->bodies[b].mode_count, speeds = orr_sample_speeds(s->bodies[b].hinge.kind), k_there;
  memcpy(e->q + e->q_at[b], s->q + s->q_at[b], sizeof(double) * (size_t)n);
  for (int r = 0; r < n; r++)
    g->x[(e->u_at[b] + r) * s->u_count + s->u_at[b] + r] = 1;
  for (int k = 0; k < speeds; k++) {
    int body = where(p, s, b, k, &k_there), from = orr_sample_hinge_u(s, b) + k;
    g->x[(orr_sample_hinge_u(e, body) + k_there) * s->u_count + from] = 1;
    e->given[orr_sample_hinge_u(e, body) + k_there] = s->given[from];
  }
  for (int k = 0; k < orr_sample_coordinates(s->bodies[b].hinge.kind); k++) {
    int body = where(p, s, b, k, &k_there);
    e->q[orr_sample_hinge_q(e, body) + k_there] = s->q[orr_sample_hinge_q(s, b) + k];
  }
}

static void set_loads(struct orr_gears *g) {
  const struct orr_sample *s = g->sample;
  struct orr_sample *e = g->explicit_sample;
  memcpy(e->description.gravity, s->description.gravity, sizeof e->description.gravity);
  e->push_count = s->push_count;
  e->pushes = s->pushes;
  for (int i = 0; i < e->u_count; i++) {
    e->u[i] = 0;
    for (int k = 0; k < s->u_count; k++)
      e->u[i] += g->x[i * s->u_count + k] * s->u[k];
  }
}

/* Xᵀ v */
static void reduce(const struct orr_gears *g, const double *v, double *out) {
  int n = g->sample->u_count;
  memset(out, 0, sizeof(double) * (size_t)n);
  for (int i = 0; i < g->explicit_sample->u_count; i++)
    for (int k = 0; k < n; k++)
      out[k] += g->x[i * n + k] * v[i];
}

static void fill_mass(struct orr_gears *g) {
  int n = g->sample->u_count, full = g->explicit_sample->u_count;
  double *m = take((size_t)full * (size_t)full, sizeof *m), *column = take((size_t)full, sizeof *column);
  double *row = take((size_t)n, sizeof *row);
  orr_dense_mass(g->dense, m);
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < full; i++) {
      column[i] = 0;
      for (int j = 0; j < full; j++)
        column[i] += m[i * full + j] * g->x[j * n + k];
    }
    reduce(g, column, row);
    for (int i = 0; i < n; i++)
      g->mass[i * n + k] = row[i];
  }
  free(m);
  free(column);
  free(row);
}

struct orr_gears *orr_gears_make(const struct orr_sample *s, const struct orr_gear_desc *gears, int count) {
  struct orr_gears *g = take(1, sizeof *g);
  struct plan *p = write_out(s, gears, count);
  size_t n = (size_t)s->u_count;
  assert(s->description.rotor_count == 0);
  g->sample = s;
  g->explicit_sample = orr_sample_of(p->bodies, (size_t)p->count);
  size_t full = (size_t)g->explicit_sample->u_count;
  g->x = take(full * n, sizeof *g->x);
  g->mass = take(n * n, sizeof *g->mass);
  g->bias = take(n, sizeof *g->bias);
  for (int b = 0; b < (int)s->description.body_count; b++)
    map_body(g, p, b);
  for (int i = 0; i < count; i++)
    g->x[(size_t)orr_sample_hinge_u(g->explicit_sample, p->rotor[i]) * n +
         (size_t)(orr_sample_hinge_u(s, gears[i].body) + gears[i].coordinate)] = gears[i].ratio;
  set_loads(g);
  g->dense = orr_dense_make(g->explicit_sample);
  fill_mass(g);
  double *zero = take(full, sizeof *zero), *c = take(full, sizeof *c);
  orr_dense_inverse(g->dense, zero, c);
  reduce(g, c, g->bias);
  free(zero);
  free(c);
  free(p);
  return g;
}

void orr_gears_free(struct orr_gears *g) {
  orr_dense_free(g->dense);
  g->explicit_sample->push_count = 0;
  orr_sample_free(g->explicit_sample);
  free(g->x);
  free(g->mass);
  free(g->bias);
  free(g);
}

/* ---- solutions --------------------------------------------------------------------------------------------------- */

static bool is_driven(const struct orr_sample *s, int speed) {
  for (int b = 0; b < (int)s->description.body_count; b++)
    if (speed >= orr_sample_hinge_u(s, b) &&
        speed < orr_sample_hinge_u(s, b) + orr_sample_speeds(s->bodies[b].hinge.kind))
      return s->bodies[b].hinge.prescribed;
  return false;
}

/* Gauss-Jordan without pivoting (the matrix is positive definite), 80 bits; ln of the product of its pivots. */
static long double eliminate(long double *a, long double *b, int n) {
  long double log_det = 0;
  for (int k = 0; k < n; k++) {
    assert(a[k * n + k] > 0);
    log_det += logl(a[k * n + k]);
    for (int i = 0; i < n; i++) {
      long double part = i == k ? 0 : a[i * n + k] / a[k * n + k];
      for (int j = k; j < n && part != 0; j++)
        a[i * n + j] -= part * a[k * n + j];
      b[i] -= part * b[k];
    }
  }
  for (int k = 0; k < n; k++)
    b[k] /= a[k * n + k];
  return log_det;
}

void orr_gears_solve(const struct orr_gears *g, const double *b, double *x) {
  int n = g->sample->u_count;
  long double *a = take((size_t)(n * n), sizeof *a), *y = take((size_t)n, sizeof *y);
  for (int i = 0; i < n; i++) {
    y[i] = is_driven(g->sample, i) ? 0 : (long double)b[i];
    for (int j = 0; j < n; j++) {
      bool driven = is_driven(g->sample, i) || is_driven(g->sample, j);
      a[i * n + j] = driven ? (long double)(i == j) : (long double)g->mass[i * n + j];
    }
  }
  eliminate(a, y, n);
  for (int i = 0; i < n; i++)
    x[i] = (double)y[i];
  free(a);
  free(y);
}

double orr_gears_log_det(const struct orr_gears *g) {
  int n = g->sample->u_count;
  long double *a = take((size_t)(n * n), sizeof *a), *y = take((size_t)n, sizeof *y);
  for (int i = 0; i < n * n; i++)
    a[i] = (long double)g->mass[i];
  double out = (double)eliminate(a, y, n);
  free(a);
  free(y);
  return out;
}

void orr_gears_forward(struct orr_gears *g, double *accel) {
  const struct orr_sample *s = g->sample;
  int n = s->u_count, full = g->explicit_sample->u_count;
  double *b = take((size_t)n, sizeof *b), *all = take((size_t)full, sizeof *all),
         *force = take((size_t)full, sizeof *force);
  for (int i = 0; i < n; i++) {
    b[i] = s->force[i] - g->bias[i];
    for (int j = 0; j < n; j++)
      if (is_driven(s, j))
        b[i] -= g->mass[i * n + j] * s->given[j];
  }
  orr_gears_solve(g, b, accel);
  for (int i = 0; i < n; i++)
    if (is_driven(s, i))
      accel[i] = s->given[i];
  for (int i = 0; i < full; i++)
    for (int k = 0; k < n; k++)
      all[i] += g->x[i * n + k] * accel[k];
  orr_dense_inverse(g->dense, all, force);
  free(b);
  free(all);
  free(force);
}

struct orr_dense_totals orr_gears_totals(const struct orr_gears *g) {
  const struct orr_sample *e = g->explicit_sample;
  return orr_dense_totals(e, e->q, e->u, e->rotor_speed);
}
