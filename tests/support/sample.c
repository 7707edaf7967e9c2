#include "tests/support/sample.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/prng.h"

/* Everything a sample owns, in one list. */
struct orr_sample_memory {
  struct orr_sample_memory *next;
};

static void *take(struct orr_sample *s, size_t count, size_t size) {
  size_t head = (sizeof(struct orr_sample_memory) + 15) / 16 * 16;
  char *piece = calloc(1, head + count * size + 1);
  assert(piece);
  struct orr_sample_memory *link = (struct orr_sample_memory *)piece;
  link->next = s->memory;
  s->memory = link;
  return piece + head;
}

static void *copied(struct orr_sample *s, const void *from, size_t count, size_t size) {
  if (!from)
    return NULL;
  void *to = take(s, count, size);
  if (count)
    memcpy(to, from, count * size);
  return to;
}

void orr_sample_free(struct orr_sample *s) {
  for (struct orr_sample_memory *m = s->memory, *next; m; m = next) {
    next = m->next;
    free(m);
  }
  free(s);
}

/* Kinds by their rows in the conventions. */
int orr_sample_coordinates(enum orr_hinge_kind kind) {
  static const int count[] = {0, 1, 1, 2, 2, 3, 4, 3, 7};
  return count[kind];
}
int orr_sample_speeds(enum orr_hinge_kind kind) {
  static const int count[] = {0, 1, 1, 2, 2, 3, 3, 3, 6};
  return count[kind];
}
int orr_sample_quaternion(enum orr_hinge_kind kind) {
  return kind == ORR_HINGE_BALL ? 0 : kind == ORR_HINGE_FREE ? 3 : -1;
}
int orr_sample_hinge_u(const struct orr_sample *s, int body) { return s->u_at[body] + (int)s->bodies[body].mode_count; }
int orr_sample_hinge_q(const struct orr_sample *s, int body) { return s->q_at[body] + (int)s->bodies[body].mode_count; }
struct orr_node_desc *orr_sample_nodes(struct orr_sample *s, int body) {
  return (struct orr_node_desc *)s->bodies[body].nodes;
}

/* Vectors for the bodies that are there; quaternions at identity. */
static void lay_out(struct orr_sample *s) {
  size_t bodies = s->description.body_count, rotors = s->description.rotor_count;
  s->q_at = take(s, bodies, sizeof(int));
  s->u_at = take(s, bodies, sizeof(int));
  s->q_count = s->u_count = 0;
  for (size_t i = 0; i < bodies; i++) {
    const struct orr_body_desc *b = &s->bodies[i];
    s->q_at[i] = s->q_count;
    s->u_at[i] = s->u_count;
    s->q_count += (int)b->mode_count + orr_sample_coordinates(b->hinge.kind);
    s->u_count += (int)b->mode_count + orr_sample_speeds(b->hinge.kind);
  }
  s->q = take(s, (size_t)s->q_count, sizeof(double));
  s->u = take(s, (size_t)s->u_count, sizeof(double));
  s->force = take(s, (size_t)s->u_count, sizeof(double));
  s->given = take(s, (size_t)s->u_count, sizeof(double));
  s->rotor_speed = take(s, rotors, sizeof(double));
  s->rotor_torque = take(s, rotors, sizeof(double));
  for (int i = 0; i < (int)bodies; i++) {
    int at = orr_sample_quaternion(s->bodies[i].hinge.kind);
    if (at >= 0)
      s->q[orr_sample_hinge_q(s, i) + at + 3] = 1;
  }
}

static void copy_body(struct orr_sample *s, struct orr_body_desc *to, const struct orr_body_desc *from) {
  size_t n = from->mode_count;
  *to = *from;
  to->modes = copied(s, from->modes, n, sizeof *from->modes);
  to->stiffness = copied(s, from->stiffness, n * n, sizeof(double));
  to->damping = copied(s, from->damping, n * n, sizeof(double));
  struct orr_node_desc *nodes = copied(s, from->nodes, from->node_count, sizeof *nodes);
  for (size_t j = 0; j < from->node_count; j++) {
    nodes[j].modes = copied(s, nodes[j].modes, 6 * n, sizeof(double));
    nodes[j].curves = copied(s, nodes[j].curves, nodes[j].curve_count, sizeof *nodes[j].curves);
  }
  to->nodes = nodes;
}

struct orr_sample *orr_sample_of(const struct orr_body_desc *bodies, size_t count) {
  struct orr_sample *s = calloc(1, sizeof *s);
  assert(s);
  s->bodies = take(s, count, sizeof *s->bodies);
  s->description.bodies = s->bodies;
  s->description.body_count = count;
  for (size_t i = 0; i < count; i++)
    copy_body(s, &s->bodies[i], &bodies[i]);
  lay_out(s);
  return s;
}

static void move_state(struct orr_sample *to, int new_body, const struct orr_sample *from, int body) {
  const struct orr_body_desc *b = &from->bodies[body];
  size_t q = b->mode_count + (size_t)orr_sample_coordinates(b->hinge.kind);
  size_t u = b->mode_count + (size_t)orr_sample_speeds(b->hinge.kind);
  int q_to = to->q_at[new_body], q_from = from->q_at[body], u_to = to->u_at[new_body], u_from = from->u_at[body];
  memcpy(to->q + q_to, from->q + q_from, q * sizeof(double));
  memcpy(to->u + u_to, from->u + u_from, u * sizeof(double));
  memcpy(to->force + u_to, from->force + u_from, u * sizeof(double));
  memcpy(to->given + u_to, from->given + u_from, u * sizeof(double));
}

/* The sample with body i in place to[i]. */
static struct orr_sample *reordered(const struct orr_sample *from, const int *to) {
  size_t count = from->description.body_count, rotors = from->description.rotor_count;
  struct orr_sample *s = calloc(1, sizeof *s);
  assert(s);
  s->description = from->description;
  s->bodies = take(s, count, sizeof *s->bodies);
  s->description.bodies = s->bodies;
  for (size_t i = 0; i < count; i++) {
    struct orr_body_desc *body = &s->bodies[to[i]];
    copy_body(s, body, &from->bodies[i]);
    if (body->hinge.parent >= 0)
      body->hinge.parent = to[body->hinge.parent];
  }
  s->rotors = copied(s, from->rotors, rotors, sizeof *s->rotors);
  s->description.rotors = s->rotors;
  for (size_t i = 0; i < rotors; i++)
    s->rotors[i].body = to[s->rotors[i].body];
  lay_out(s);
  for (size_t i = 0; i < count; i++)
    move_state(s, to[i], from, (int)i);
  for (size_t i = 0; i < rotors; i++) {
    s->rotor_speed[i] = from->rotor_speed[i];
    s->rotor_torque[i] = from->rotor_torque[i];
  }
  s->push_count = from->push_count;
  s->pushes = copied(s, from->pushes, (size_t)from->push_count, sizeof *s->pushes);
  for (int i = 0; i < s->push_count; i++)
    s->pushes[i].body = to[s->pushes[i].body];
  return s;
}

static void shuffled(struct orr_prng *p, int *to, int count) {
  for (int i = 0; i < count; i++)
    to[i] = i;
  for (int i = count - 1; i > 0; i--) {
    int j = prng_pick(p, i + 1), x = to[i];
    to[i] = to[j];
    to[j] = x;
  }
}

struct orr_sample *orr_sample_renumber(const struct orr_sample *sample, uint64_t seed, int *to) {
  struct orr_prng p = {seed};
  shuffled(&p, to, (int)sample->description.body_count);
  return reordered(sample, to);
}

struct orr_sample *orr_sample_copy(const struct orr_sample *sample) {
  int count = (int)sample->description.body_count, *same = malloc((size_t)(count + 1) * sizeof *same);
  assert(same);
  for (int i = 0; i < count; i++)
    same[i] = i;
  struct orr_sample *s = reordered(sample, same);
  free(same);
  return s;
}

/* ---- making one up --------------------------------------------------------------------------------------------- */

/* m (tr Σ − Σ) of a random second moment Σ = A Aᵀ + floor: an inertia that real bodies can have. */
static void random_inertia(struct orr_prng *p, double mass, double size, double floor, double out[6]) {
  double a[3][3], m[3][3];
  for (int i = 0; i < 3; i++)
    prng_vector(p, size, a[i], 3);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      m[i][j] = a[i][0] * a[j][0] + a[i][1] * a[j][1] + a[i][2] * a[j][2] + (i == j ? floor : 0);
  double trace = m[0][0] + m[1][1] + m[2][2];
  for (int i = 0; i < 3; i++)
    out[i] = mass * (trace - m[i][i]);
  out[3] = -mass * m[0][1], out[4] = -mass * m[0][2], out[5] = -mass * m[1][2];
}

enum { NODES_RIGID = 3 };
static const double FLOOR_BODY = 0.01, FLOOR_NODE = 0.01; /* m² */

static void make_rigid(struct orr_sample *s, struct orr_prng *p, struct orr_body_desc *b) {
  b->mass = prng_scale(p, 0.5, 5);
  prng_vector(p, 0.3, b->com, 3);
  random_inertia(p, b->mass, 0.3, FLOOR_BODY, b->inertia);
  b->node_count = 1 + (size_t)prng_pick(p, NODES_RIGID);
  struct orr_node_desc *nodes = take(s, b->node_count, sizeof *nodes);
  for (size_t j = 0; j < b->node_count; j++) {
    nodes[j].name = j ? "n" : "origin";
    if (j)
      prng_vector(p, 0.5, nodes[j].at, 3);
  }
  b->nodes = nodes;
}

/* By frequency and damping, or by full matrices K = A Aᵀ + 1, D = 0.05 (B Bᵀ + 1). */
static void make_elastic(struct orr_sample *s, struct orr_prng *p, struct orr_body_desc *b) {
  size_t n = b->mode_count;
  if (prng_chance(p, 0.5)) {
    struct orr_mode_desc *modes = take(s, n, sizeof *modes);
    for (size_t r = 0; r < n; r++)
      modes[r] = (struct orr_mode_desc){prng_scale(p, 0.05, 2), prng_unit(p) * 0.1, 0};
    b->modes = modes;
    return;
  }
  double *matrix[2];
  for (int k = 0; k < 2; k++) {
    double a[8][8];
    matrix[k] = take(s, n * n, sizeof(double));
    for (size_t r = 0; r < n; r++)
      prng_vector(p, 1, a[r], 8);
    for (size_t r = 0; r < n; r++)
      for (size_t c = 0; c < n; c++) {
        double sum = r == c ? 1 : 0;
        for (size_t i = 0; i < n; i++)
          sum += a[r][i] * a[c][i];
        matrix[k][r * n + c] = k ? 0.05 * sum : sum;
      }
  }
  b->stiffness = matrix[0];
  b->damping = prng_chance(p, 0.7) ? matrix[1] : NULL;
}

/* Most pairs of modes, of most nodes. */
static void make_curves(struct orr_sample *s, struct orr_prng *p, struct orr_body_desc *b,
                        struct orr_node_desc *nodes) {
  size_t n = b->mode_count;
  b->stiffening = true;
  for (size_t j = 0; j < b->node_count; j++) {
    struct orr_curve_desc *curves = take(s, n * n, sizeof *curves);
    size_t count = 0;
    for (size_t r = 0; r < n && prng_chance(p, 0.9); r++)
      for (size_t k = 0; k <= r; k++) {
        curves[count] = (struct orr_curve_desc){.r = k, .s = r};
        prng_vector(p, 0.3, curves[count].g, 3);
        count += prng_chance(p, 0.8) ? 1 : 0;
      }
    nodes[j].curves = curves;
    nodes[j].curve_count = count;
  }
}

/* Enough massive nodes for the modes to be independent of each other and of the rigid motion, then a massless one. */
static void make_flexible(struct orr_sample *s, struct orr_prng *p, struct orr_body_desc *b,
                          const struct orr_sample_options *o) {
  b->flexible = true;
  b->mode_count = (size_t)prng_pick(p, o->modes_max + 1);
  assert(b->mode_count <= 8);
  b->deformation = prng_chance(p, o->linearized) ? ORR_DEFORMATION_LINEARIZED : ORR_DEFORMATION_FULL;
  size_t n = b->mode_count, massive = 3 + n / 2;
  b->node_count = massive + 1 + (size_t)prng_pick(p, 2);
  struct orr_node_desc *nodes = take(s, b->node_count, sizeof *nodes);
  for (size_t j = 0; j < b->node_count; j++) {
    nodes[j].name = "n";
    prng_vector(p, 0.5, nodes[j].at, 3);
    if (j < massive) {
      nodes[j].mass = prng_scale(p, 0.3, 2);
      prng_vector(p, 0.1, nodes[j].com, 3);
      random_inertia(p, nodes[j].mass, 0.2, FLOOR_NODE, nodes[j].inertia);
    }
    double *modes = take(s, 6 * n, sizeof(double));
    prng_vector(p, 0.5, modes, (int)(6 * n));
    nodes[j].modes = n ? modes : NULL;
  }
  b->nodes = nodes;
  if (n)
    make_elastic(s, p, b);
  struct orr_prng own = *p; /* so that samples are the same with curves and without */
  if (n && b->deformation == ORR_DEFORMATION_FULL && prng_chance(&own, o->stiffened))
    make_curves(s, &own, b, nodes);
}

static void random_axis(struct orr_prng *p, bool coordinate, double out[3]) {
  if (!coordinate) {
    prng_direction(p, out, 3);
    return;
  }
  out[0] = out[1] = out[2] = 0;
  out[prng_pick(p, 3)] = 1;
}

static double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void make_axes(struct orr_prng *p, struct orr_hinge_desc *h) {
  bool coordinate = h->kind == ORR_HINGE_PLANAR || prng_chance(p, 0.4);
  random_axis(p, coordinate, h->axes[0]);
  if (h->kind != ORR_HINGE_UNIVERSAL && h->kind != ORR_HINGE_GIMBAL)
    return;
  do
    random_axis(p, coordinate, h->axes[1]);
  while (fabs(dot3(h->axes[0], h->axes[1])) > 0.8);
  if (h->kind == ORR_HINGE_UNIVERSAL)
    return;
  do
    random_axis(p, coordinate, h->axes[2]);
  while (fabs(dot3(h->axes[1], h->axes[2])) > 0.8);
}

static void make_hinge(struct orr_sample *s, struct orr_prng *p, int body, const struct orr_sample_options *o) {
  struct orr_body_desc *b = &s->bodies[body];
  struct orr_hinge_desc *h = &b->hinge;
  h->kind = o->one_kind ? o->kind : (enum orr_hinge_kind)prng_pick(p, ORR_HINGE_KIND_COUNT);
  int first = o->reach > 0 && body > o->reach ? body - o->reach : 0;
  bool root = body == 0 || prng_chance(p, o->roots);
  h->parent = root ? ORR_INERTIAL : first + prng_pick(p, body - first);
  h->parent_node = root ? 0 : prng_pick(p, (int)s->bodies[h->parent].node_count);
  h->node = prng_pick(p, (int)b->node_count);
  make_axes(p, h);
  h->rotation[3] = 1;
  if (prng_chance(p, 0.6))
    prng_direction(p, h->rotation, 4);
  h->prescribed = h->kind != ORR_HINGE_FIXED && prng_chance(p, o->prescribed);
  bool springs = orr_sample_quaternion(h->kind) < 0 && prng_chance(p, o->springs);
  for (int i = 0; i < orr_sample_speeds(h->kind) && springs; i++) {
    h->stiffness[i] = prng_scale(p, 0.1, 10);
    h->damping[i] = prng_scale(p, 0.01, 1);
    h->rest[i] = prng_between(p, -0.5, 0.5);
  }
  /* Cantilever: the modes are zero at the inboard node. */
  if (!b->nodes[h->node].modes || !prng_chance(p, 0.5))
    return;
  double *modes = (double *)b->nodes[h->node].modes;
  for (size_t i = 0; i < 6 * b->mode_count; i++)
    modes[i] = 0;
}

/* A rigid body's inertia moves to what is fixed on it: D(k) stays regular. */
static void drop_masses(struct orr_sample *s, struct orr_prng *p, double share) {
  for (size_t i = 0; i < s->description.body_count; i++) {
    int parent = s->bodies[i].hinge.parent;
    if (s->bodies[i].hinge.kind != ORR_HINGE_FIXED || parent < 0)
      continue;
    struct orr_body_desc *b = &s->bodies[parent];
    if (b->flexible || s->bodies[i].mass <= 0 || !prng_chance(p, share))
      continue;
    b->mass = 0;
    memset(b->com, 0, sizeof b->com);
    memset(b->inertia, 0, sizeof b->inertia);
  }
}

static void make_rotors(struct orr_sample *s, struct orr_prng *p, double share) {
  size_t count = 0, bodies = s->description.body_count;
  s->rotors = take(s, bodies, sizeof *s->rotors);
  for (size_t i = 0; i < bodies; i++) {
    const struct orr_body_desc *b = &s->bodies[i];
    if (!prng_chance(p, share))
      continue;
    int node = prng_pick(p, b->flexible ? 3 : (int)b->node_count);
    double mass = b->flexible ? b->nodes[node].mass : b->mass;
    if (mass <= 0)
      continue;
    struct orr_rotor_desc *r = &s->rotors[count++];
    *r = (struct orr_rotor_desc){.name = "rotor", .body = (int)i, .node = node};
    r->inertia = 0.8 * mass * (b->flexible ? FLOOR_NODE : FLOOR_BODY);
    prng_direction(p, r->axis, 3);
  }
  s->description.rotor_count = count;
  s->description.rotors = s->rotors;
}

/* Gimbals away from their singular place: det [R3ᵀR2ᵀu1, R3ᵀu2, u3] = u1 · R2 (u2 × u3), at least 0.3. */
static double gimbal_volume(const struct orr_hinge_desc *h, double angle) {
  const double *u1 = h->axes[0], *u2 = h->axes[1], *u3 = h->axes[2];
  double n[3] = {u2[1] * u3[2] - u2[2] * u3[1], u2[2] * u3[0] - u2[0] * u3[2], u2[0] * u3[1] - u2[1] * u3[0]};
  double t[3] = {u2[1] * n[2] - u2[2] * n[1], u2[2] * n[0] - u2[0] * n[2], u2[0] * n[1] - u2[1] * n[0]};
  return cos(angle) * dot3(u1, n) + sin(angle) * dot3(u1, t); /* n ⊥ u2 */
}

static void make_state(struct orr_sample *s, struct orr_prng *p, const struct orr_sample_options *o) {
  for (int i = 0; i < (int)s->description.body_count; i++) {
    const struct orr_body_desc *b = &s->bodies[i];
    double *q = s->q + orr_sample_hinge_q(s, i);
    prng_vector(p, 0.15, s->q + s->q_at[i], (int)b->mode_count);
    prng_vector(p, 0.3 * o->spin, s->u + s->u_at[i], (int)b->mode_count);
    prng_vector(p, 1, q, orr_sample_coordinates(b->hinge.kind));
    prng_vector(p, o->spin, s->u + orr_sample_hinge_u(s, i), orr_sample_speeds(b->hinge.kind));
    int at = orr_sample_quaternion(b->hinge.kind);
    if (at >= 0)
      prng_direction(p, q + at, 4);
    for (int k = 0; k < 1000 && b->hinge.kind == ORR_HINGE_GIMBAL && fabs(gimbal_volume(&b->hinge, q[1])) < 0.3; k++)
      q[1] = prng_between(p, -3, 3);
  }
}

static void make_loads(struct orr_sample *s, struct orr_prng *p, const struct orr_sample_options *o) {
  int bodies = (int)s->description.body_count;
  prng_vector(p, 1, s->force, s->u_count);
  prng_vector(p, 1, s->given, s->u_count);
  for (size_t i = 0; i < s->description.rotor_count; i++) {
    s->rotor_speed[i] = prng_between(p, -100, 100);
    s->rotor_torque[i] = prng_between(p, -0.1, 0.1);
  }
  s->push_count = o->pushes;
  s->pushes = take(s, (size_t)o->pushes, sizeof *s->pushes);
  for (int i = 0; i < o->pushes; i++) {
    struct orr_push *push = &s->pushes[i];
    push->body = prng_pick(p, bodies);
    push->node = prng_pick(p, (int)s->bodies[push->body].node_count);
    push->axes = (enum orr_push_axes)prng_pick(p, 3);
    prng_vector(p, 2, push->force, 3);
    prng_vector(p, 1, push->moment, 3);
  }
}

struct orr_sample_options orr_sample_default(uint64_t seed, int bodies) {
  return (struct orr_sample_options){.seed = seed,
                                     .bodies = bodies,
                                     .reach = 6,
                                     .roots = 0.05,
                                     .flexible = 0.4,
                                     .modes_max = 8,
                                     .linearized = 0.3,
                                     .stiffened = 0.5,
                                     .prescribed = 0.1,
                                     .rotors = 0.15,
                                     .springs = 0.3,
                                     .massless = 0.5,
                                     .pushes = 4,
                                     .spin = 0.5,
                                     .gravity = 3};
}

struct orr_sample *orr_sample_make(const struct orr_sample_options *o) {
  struct orr_prng p = {o->seed * 7919 + 1};
  struct orr_sample *s = calloc(1, sizeof *s);
  size_t count = (size_t)o->bodies;
  assert(s);
  s->bodies = take(s, count, sizeof *s->bodies);
  s->description.bodies = s->bodies;
  s->description.body_count = count;
  if (o->gravity > 0)
    prng_vector(&p, o->gravity, s->description.gravity, 3);
  for (int i = 0; i < o->bodies; i++) {
    s->bodies[i].name = "b";
    if (prng_chance(&p, o->flexible))
      make_flexible(s, &p, &s->bodies[i], o);
    else
      make_rigid(s, &p, &s->bodies[i]);
    make_hinge(s, &p, i, o);
  }
  drop_masses(s, &p, o->massless);
  make_rotors(s, &p, o->rotors);
  lay_out(s);
  make_state(s, &p, o);
  make_loads(s, &p, o);
  int *to = malloc((count + 1) * sizeof *to);
  assert(to);
  struct orr_sample *mixed = orr_sample_renumber(s, prng_next(&p), to);
  free(to);
  orr_sample_free(s);
  return mixed;
}

/* ---- along a path ---------------------------------------------------------------------------------------------- */

/* q exp(½ ω t) for ω in the moved frame. */
static void turn(const double q[4], const double omega[3], double t, double out[4]) {
  double angle = t * sqrt(dot3(omega, omega)), k = angle < 1e-30 ? 0.5 * t : sin(0.5 * angle) / angle * t;
  double x = k * omega[0], y = k * omega[1], z = k * omega[2], w = cos(0.5 * angle);
  out[0] = q[3] * x + q[0] * w + q[1] * z - q[2] * y;
  out[1] = q[3] * y - q[0] * z + q[1] * w + q[2] * x;
  out[2] = q[3] * z + q[0] * y - q[1] * x + q[2] * w;
  out[3] = q[3] * w - q[0] * x - q[1] * y - q[2] * z;
}

/* out += t R(q) v */
static void advance(const double q[4], const double v[3], double t, double out[3]) {
  double uv[3] = {2 * (q[1] * v[2] - q[2] * v[1]), 2 * (q[2] * v[0] - q[0] * v[2]), 2 * (q[0] * v[1] - q[1] * v[0])};
  double uuv[3] = {q[1] * uv[2] - q[2] * uv[1], q[2] * uv[0] - q[0] * uv[2], q[0] * uv[1] - q[1] * uv[0]};
  for (int i = 0; i < 3; i++)
    out[i] += t * (v[i] + q[3] * uv[i] + uuv[i]);
}

void orr_sample_along(const struct orr_sample *s, const double *accel, double t, double *q, double *u) {
  for (int i = 0; i < s->u_count; i++)
    u[i] = s->u[i] + t * accel[i];
  memcpy(q, s->q, (size_t)s->q_count * sizeof *q);
  for (int i = 0; i < (int)s->description.body_count; i++) {
    const struct orr_body_desc *b = &s->bodies[i];
    int at = s->q_at[i], from = s->u_at[i], scalar = (int)b->mode_count;
    int quaternion = orr_sample_quaternion(b->hinge.kind);
    if (quaternion < 0)
      scalar += orr_sample_speeds(b->hinge.kind);
    for (int r = 0; r < scalar; r++)
      q[at + r] += t * s->u[from + r];
    if (quaternion < 0)
      continue;
    const double *beta = s->u + orr_sample_hinge_u(s, i), *was = s->q + orr_sample_hinge_q(s, i);
    double *now = q + orr_sample_hinge_q(s, i);
    if (quaternion == 3)
      advance(was + 3, beta + 3, t, now);
    turn(was + quaternion, beta, t, now + quaternion);
  }
}
