#include "core/model/validate.h"

#include <math.h>
#include <string.h>

#include "core/math/eigen.h"
#include "core/math/elementary.h"
#include "core/model/foreshorten.h"
#include "core/model/hinge_kinds.h"
#include "core/model/massprops.h"
#include "core/model/rest.h"
#include "core/model/topology.h"

struct judge {
  const struct orr_description *d;
  const unsigned char *skip;
  struct orr_problem *problems;
  size_t capacity, count, errors;
  double *matrix, *values; /* [most modes²], [most modes] */
  unsigned char *seen;     /* [body_count] */
  void *tree;              /* of orr_topology_size */
  struct orr_rest *rest;
};

/* One list for the size and for the memory. */
static void layout(struct judge *j, struct orr_block *block) {
  size_t modes = 0;
  for (size_t i = 0; i < j->d->body_count; i++)
    modes = j->d->bodies[i].mode_count > modes ? j->d->bodies[i].mode_count : modes;
  if (modes > ORR_MOST_MODES) /* reported, and then not computed with */
    modes = ORR_MOST_MODES;
  size_t most = modes > 3 ? modes : 3; /* a matrix of inertia has 3 rows */
  j->matrix = ORR_TAKE(block, double, most *most);
  j->values = ORR_TAKE(block, double, most);
  j->seen = ORR_TAKE(block, unsigned char, j->d->body_count);
  j->tree = orr_block_take(block, orr_topology_size(j->d->body_count));
  j->rest = orr_rest_layout(j->d->body_count, modes, block);
}

size_t orr_validate_scratch_size(const struct orr_description *d) {
  struct judge j = {.d = d};
  struct orr_block block = {0};
  layout(&j, &block);
  return block.used;
}

/* --- reporting ------------------------------------------------------------------------------------------------- */

static void add(struct judge *j, struct orr_problem problem) {
  if (j->count < j->capacity)
    j->problems[j->count] = problem;
  j->count++;
  j->errors += problem.severity == ORR_PROBLEM_ERROR;
}

/* What is being judged. */
struct subject {
  struct judge *j;
  enum orr_problem_entity entity;
  size_t body, index;
  orr_source source;
};

static void report(const struct subject *s, enum orr_problem_code code, enum orr_problem_severity severity,
                   const char *field, double a, double b, double c) {
  add(s->j, (struct orr_problem){code, severity, s->entity, s->body, s->index, s->source, field, {a, b, c}});
}

static void error(const struct subject *s, enum orr_problem_code code, const char *field, double a, double b) {
  report(s, code, ORR_PROBLEM_ERROR, field, a, b, 0);
}

/* --- numbers ---------------------------------------------------------------------------------------------------- */

/* Numbers of one field: finite, and none absurd. The first that is not is reported. */
static bool sensible(const struct subject *s, const char *field, size_t n, const double *values, double most) {
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(values[i])) {
      error(s, ORR_PROBLEM_NOT_FINITE, field, values[i], 0);
      return false;
    }
    if (fabs(values[i]) > most) {
      error(s, ORR_PROBLEM_ABSURD, field, values[i], most);
      return false;
    }
  }
  return true;
}

/* Largest sensible sizes, SI: beyond them sums of squares lose everything else. */
static const double most_length = 1e9, most_mass = 1e12, most_inertia = 1e18, most_stiffness = 1e18, most_shape = 1e9,
                    most_frequency = 1e9, most_gravity = 1e6, most_angle = 1e6, least_mass = 1e-12;

static bool mass_is_sensible(const struct subject *s, double mass, bool positive) {
  if (!sensible(s, "mass", 1, &mass, most_mass))
    return false;
  if (mass < 0 || (positive && mass == 0))
    error(s, positive ? ORR_PROBLEM_NOT_POSITIVE : ORR_PROBLEM_NEGATIVE, "mass", mass, 0);
  else if (mass > 0 && mass < least_mass)
    error(s, ORR_PROBLEM_TINY, "mass", mass, least_mass);
  else
    return true;
  return false;
}

/* --- inertia ---------------------------------------------------------------------------------------------------- */

enum { XX, YY, ZZ, XY, XZ, YZ };

/* Principal moments must be positive (of a node: not negative), and each at most the sum of the others: no mass
 * distribution does otherwise. Rounded data may miss by a little, and of a node both are warnings. */
static void judge_inertia(const struct subject *s, const double *inertia, bool rigid) {
  if (!sensible(s, "inertia", 6, inertia, most_inertia))
    return;
  double a[9] = {inertia[XX], inertia[XY], inertia[XZ], inertia[XY], inertia[YY],
                 inertia[YZ], inertia[XZ], inertia[YZ], inertia[ZZ]};
  double p[3];
  orr_eigen_symmetric(3, a, p);
  enum orr_problem_severity severity = rigid ? ORR_PROBLEM_ERROR : ORR_PROBLEM_WARNING;
  double rounding = 1e-12 * orr_max(fabs(p[0]), fabs(p[2]));
  if (rigid ? p[0] <= rounding : p[0] < -rounding)
    report(s, ORR_PROBLEM_INERTIA, severity, "inertia", p[0], p[2], 0);
  else if (p[0] + p[1] < 0.99 * p[2])
    report(s, ORR_PROBLEM_TRIANGLE, severity, "inertia", p[0], p[1], p[2]);
  else if (p[0] + p[1] < (1 - 1e-9) * p[2])
    report(s, ORR_PROBLEM_TRIANGLE, ORR_PROBLEM_WARNING, "inertia", p[0], p[1], p[2]);
}

/* --- modes ------------------------------------------------------------------------------------------------------ */

static bool matrix_is_sensible(const struct subject *s, const char *field, const double *matrix) {
  size_t n = s->j->d->bodies[s->body].mode_count;
  if (!matrix)
    return true;
  if (!sensible(s, field, n * n, matrix, most_stiffness))
    return false;
  memcpy(s->j->matrix, matrix, n * n * sizeof *matrix);
  orr_eigen_symmetric(n, s->j->matrix, s->j->values);
  double least = s->j->values[0], largest = orr_max(fabs(least), fabs(s->j->values[n - 1]));
  if (least < -1e-9 * largest)
    report(s, ORR_PROBLEM_UNSTABLE_MODES, ORR_PROBLEM_WARNING, field, least, 0, 0);
  return true;
}

static void judge_modal_mass(struct judge *j, size_t body) {
  const struct orr_body_desc *b = &j->d->bodies[body];
  size_t at;
  orr_body_modal_mass(b, j->matrix);
  for (size_t i = 0; i < b->mode_count; i++)
    j->values[i] = j->matrix[i * b->mode_count + i];
  if (orr_cholesky(b->mode_count, j->matrix, 1e-11, &at))
    return;
  struct subject s = {j, b->modes ? ORR_ENTITY_MODE : ORR_ENTITY_BODY, body, at,
                      b->modes ? b->modes[at].source : b->source};
  error(&s, j->values[at] > 0 ? ORR_PROBLEM_MODES_DEPEND : ORR_PROBLEM_MODE_MASSLESS, b->modes ? NULL : "stiffness",
        (double)(at + 1), 0);
}

static bool moves(const struct orr_node_desc *node, size_t modes) {
  for (size_t r = 0; r < modes; r++)
    if (node->modes[6 * r + 3] != 0 || node->modes[6 * r + 4] != 0 || node->modes[6 * r + 5] != 0)
      return true;
  return false;
}

static void judge_line(const struct subject *s, const struct orr_body_desc *b) {
  static const enum orr_problem_code codes[] = {[ORR_SPINE_OFF] = ORR_PROBLEM_LINE_OFF,
                                                [ORR_SPINE_ORDER] = ORR_PROBLEM_LINE_ORDER,
                                                [ORR_SPINE_TWICE] = ORR_PROBLEM_LINE_TWICE};
  struct orr_spine line = orr_spine_find(b);
  struct subject node = {s->j, ORR_ENTITY_NODE, s->body, line.node, b->nodes[line.node].source};
  if (line.fault == ORR_SPINE_POINT)
    error(s, ORR_PROBLEM_LINE_POINT, "stiffening", 0, 0);
  else if (line.fault != ORR_SPINE_OK)
    error(&node, codes[line.fault], NULL, line.off, line.length);
}

/* Whether second-order shapes are there, or can be computed. */
static void judge_curves(const struct subject *s, const struct orr_body_desc *b) {
  double pairs = (double)b->mode_count * (double)b->mode_count * (double)b->node_count;
  if (b->deformation == ORR_DEFORMATION_LINEARIZED)
    error(s, ORR_PROBLEM_CURVED_LINEARIZED, "stiffening", 0, 0);
  else if (b->mode_count == 0)
    error(s, ORR_PROBLEM_CURVED_RIGID, "stiffening", 0, 0);
  else if (pairs > ORR_MOST_CURVES)
    error(s, ORR_PROBLEM_CURVED_LARGE, "stiffening", pairs, ORR_MOST_CURVES);
  else if (!orr_curves_given(b))
    judge_line(s, b);
  else
    for (size_t i = 0; i < b->node_count; i++) {
      struct subject node = {s->j, ORR_ENTITY_NODE, s->body, i, b->nodes[i].source};
      if (!b->nodes[i].curves && moves(&b->nodes[i], b->mode_count))
        error(&node, ORR_PROBLEM_CURVE_MISSING, NULL, 0, 0);
    }
}

static bool mode_is_sensible(const struct subject *s, const struct orr_mode_desc *mode) {
  bool good = sensible(s, "frequency", 1, &mode->frequency_hz, most_frequency);
  good = sensible(s, "damping", 1, &mode->damping, 1e6) && good;
  if (good && mode->frequency_hz < 0)
    error(s, ORR_PROBLEM_NEGATIVE, "frequency", mode->frequency_hz, 0);
  if (good && mode->damping < 0)
    error(s, ORR_PROBLEM_NEGATIVE, "damping", mode->damping, 0);
  return good;
}

/* The modal mass matrix is judged only where everything that goes into it is sound. */
static void judge_flexible(struct judge *j, const struct subject *s, const struct orr_body_desc *b) {
  size_t before = j->errors;
  if (b->mode_count > ORR_MOST_MODES) {
    error(s, ORR_PROBLEM_TOO_MANY, b->modes ? "modes" : "stiffness", (double)b->mode_count, ORR_MOST_MODES);
    return;
  }
  for (size_t i = 0; i < b->mode_count && b->modes; i++) {
    struct subject mode = {j, ORR_ENTITY_MODE, s->body, i, b->modes[i].source};
    mode_is_sensible(&mode, &b->modes[i]);
  }
  matrix_is_sensible(s, "stiffness", b->stiffness);
  matrix_is_sensible(s, "damping_matrix", b->damping);
  for (size_t i = 0; i < b->node_count; i++) {
    const struct orr_node_desc *node = &b->nodes[i];
    struct subject at = {j, ORR_ENTITY_NODE, s->body, i, node->source};
    mass_is_sensible(&at, node->mass, false);
    sensible(&at, "com", 3, node->com, most_length);
    sensible(&at, "modes", 6 * b->mode_count, node->modes, most_shape);
    for (size_t k = 0; k < node->curve_count; k++)
      if (!sensible(&at, "second_order", 3, node->curves[k].g, most_shape))
        break;
    judge_inertia(&at, node->inertia, false);
  }
  if (j->errors == before && b->stiffening)
    judge_curves(s, b);
  if (j->errors == before && b->mode_count)
    judge_modal_mass(j, s->body);
}

/* --- hinges ----------------------------------------------------------------------------------------------------- */

static bool is_unit(const double *v, size_t n, double *length) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += v[i] * v[i];
  *length = sqrt(sum);
  return fabs(*length - 1) < 1e-6; /* and not NaN */
}

static void judge_hinge(struct judge *j, size_t body) {
  const struct orr_hinge_desc *h = &j->d->bodies[body].hinge;
  const struct orr_hinge_kind_info *kind = orr_hinge_kind_info(h->kind);
  struct subject s = {j, ORR_ENTITY_HINGE, body, 0, h->source};
  const char *field = h->kind == ORR_HINGE_PLANAR ? "normal" : kind->axis_count > 1 ? "axes" : "axis";
  double length;
  bool unit = true;
  for (size_t i = 0; i < kind->axis_count && unit; i++)
    unit = is_unit(h->axes[i], 3, &length);
  if (!unit)
    error(&s, ORR_PROBLEM_AXIS, field, length, 0);
  else if (h->kind == ORR_HINGE_PLANAR &&
           orr_max(fabs(h->axes[0][0]), orr_max(fabs(h->axes[0][1]), fabs(h->axes[0][2]))) < 1 - 1e-12)
    error(&s, ORR_PROBLEM_NORMAL, field, 0, 0);
  if (!is_unit(h->rotation, 4, &length))
    error(&s, ORR_PROBLEM_ROTATION, "rotation", length, 0);
  sensible(&s, "stiffness", kind->speed_count, h->stiffness, most_stiffness);
  sensible(&s, "damping", kind->speed_count, h->damping, most_stiffness);
  sensible(&s, "rest", kind->speed_count, h->rest, most_angle);
}

/* --- indices ---------------------------------------------------------------------------------------------------- */

static bool node_exists(const struct orr_description *d, int body, int node) {
  return body >= 0 && (size_t)body < d->body_count && node >= 0 && (size_t)node < d->bodies[body].node_count;
}

static bool body_is_whole(const struct orr_body_desc *b) {
  bool modes = b->mode_count == 0 || (b->flexible && (b->modes || b->stiffness));
  for (size_t i = 0; i < b->node_count && modes; i++)
    modes = b->mode_count == 0 || b->nodes[i].modes;
  for (size_t i = 0; i < b->node_count; i++)
    for (size_t k = 0; k < b->nodes[i].curve_count; k++)
      modes = modes && b->nodes[i].curves[k].r < b->mode_count && b->nodes[i].curves[k].s < b->mode_count;
  return modes && b->node_count > 0;
}

static bool is_whole(struct judge *j) {
  const struct orr_description *d = j->d;
  size_t before = j->errors;
  for (size_t i = 0; i < d->body_count; i++) {
    const struct orr_body_desc *b = &d->bodies[i];
    struct subject s = {j, ORR_ENTITY_BODY, i, 0, b->source};
    bool parent = b->hinge.parent == ORR_INERTIAL || node_exists(d, b->hinge.parent, b->hinge.parent_node);
    if (j->skip && j->skip[i] ? b->hinge.parent < ORR_INERTIAL || b->hinge.parent >= (int)d->body_count
                              : !parent || !body_is_whole(b) || !node_exists(d, (int)i, b->hinge.node) ||
                                    (unsigned)b->hinge.kind >= ORR_HINGE_KIND_COUNT)
      error(&s, ORR_PROBLEM_INDEX, NULL, 0, 0);
  }
  for (size_t i = 0; i < d->loop_count; i++) {
    const struct orr_loop_desc *l = &d->loops[i];
    struct subject s = {j, ORR_ENTITY_LOOP, 0, i, l->source};
    for (int k = 0; k < 2; k++)
      if (!node_exists(d, l->body[k], l->kind == ORR_LOOP_GEAR ? 0 : l->node[k]))
        error(&s, ORR_PROBLEM_INDEX, NULL, 0, 0);
  }
  return j->errors == before;
}

/* --- the tree --------------------------------------------------------------------------------------------------- */

enum { NEW, WALKED, DONE };

/* Reports the cycle that goes through a body, at the first of its bodies in the file. */
static void report_cycle(struct judge *j, int at) {
  size_t length = 0;
  int first = at;
  for (; j->seen[at] == WALKED; at = j->d->bodies[at].hinge.parent, length++) {
    j->seen[at] = DONE;
    first = at < first ? at : first;
  }
  struct subject s = {j, ORR_ENTITY_HINGE, (size_t)first, 0, j->d->bodies[first].hinge.source};
  error(&s, ORR_PROBLEM_CYCLE, "to", (double)length, 0);
}

/* A body that does not hang on inertial leads into a cycle. Each body is walked over once. */
static void judge_cycles(struct judge *j, const struct orr_topology *t) {
  const struct orr_description *d = j->d;
  memset(j->seen, 0, d->body_count);
  for (size_t k = 0; k < t->count; k++)
    j->seen[t->order[k]] = DONE;
  for (size_t i = 0; i < d->body_count; i++) {
    int at = (int)i;
    for (; !j->seen[at]; at = d->bodies[at].hinge.parent)
      j->seen[at] = WALKED;
    if (j->seen[at] == WALKED)
      report_cycle(j, at);
    for (int back = (int)i; j->seen[back] == WALKED; back = d->bodies[back].hinge.parent)
      j->seen[back] = DONE; /* what led here */
  }
}

static void judge_rest(struct judge *j, const struct orr_topology *t) {
  for (size_t k = t->count; k-- > 0;) {
    int i = t->order[k];
    const struct orr_body_desc *b = &j->d->bodies[i];
    struct orr_rest_result r = orr_rest_body(j->rest, j->d, t, i);
    struct subject mode = {j, b->modes ? ORR_ENTITY_MODE : ORR_ENTITY_BODY, (size_t)i, r.index,
                           b->modes ? b->modes[r.index].source : b->source};
    struct subject hinge = {j, ORR_ENTITY_HINGE, (size_t)i, r.index, b->hinge.source};
    if (r.fault == ORR_REST_MODES)
      error(&mode, ORR_PROBLEM_MODES_REPEAT, b->modes ? NULL : "stiffness", (double)(r.index + 1), 0);
    else if (r.fault == ORR_REST_HINGE_NOTHING)
      error(&hinge, ORR_PROBLEM_NO_INERTIA, NULL, (double)(r.index + 1), 0);
    else if (r.fault == ORR_REST_HINGE_REPEATS)
      error(&hinge, ORR_PROBLEM_HINGE_REPEATS, NULL, (double)(r.index + 1), 0);
    else if (r.ratio > ORR_DIGITS_RATIO && r.heavy >= 0)
      report(&hinge, ORR_PROBLEM_DIGITS, ORR_PROBLEM_WARNING, NULL, r.ratio, r.heavy, 0);
  }
}

static void judge_tree(struct judge *j, bool all) {
  struct orr_topology t = orr_topology_find(j->d, j->tree);
  struct subject s = {j, ORR_ENTITY_SPACECRAFT, 0, 0, j->d->source};
  judge_cycles(j, &t);
  if (t.first_child[0] < 0)
    error(&s, ORR_PROBLEM_NO_ROOT, "bodies", 0, 0);
  if (all && j->errors == 0)
    judge_rest(j, &t);
}

/* --- all -------------------------------------------------------------------------------------------------------- */

static void judge_body(struct judge *j, size_t i) {
  const struct orr_body_desc *b = &j->d->bodies[i];
  struct subject s = {j, ORR_ENTITY_BODY, i, 0, b->source};
  for (size_t k = 0; k < b->node_count; k++) {
    struct subject node = {j, ORR_ENTITY_NODE, i, k, b->nodes[k].source};
    sensible(&node, "at", 3, b->nodes[k].at, most_length);
  }
  if (b->flexible) {
    judge_flexible(j, &s, b);
  } else {
    bool massless = orr_body_is_massless(b);
    mass_is_sensible(&s, b->mass, !massless);
    sensible(&s, "com", 3, b->com, most_length);
    if (!massless)
      judge_inertia(&s, b->inertia, true);
  }
  judge_hinge(j, i);
}

static void judge_loop(struct judge *j, size_t i) {
  const struct orr_loop_desc *l = &j->d->loops[i];
  struct subject s = {j, ORR_ENTITY_LOOP, 0, i, l->source};
  double length;
  if (l->kind == ORR_LOOP_REVOLUTE && !is_unit(l->axis, 3, &length))
    error(&s, ORR_PROBLEM_AXIS, "axis", length, 0);
  if (l->kind == ORR_LOOP_ROLLING)
    sensible(&s, "radius", 1, &l->radius, most_length);
  if (l->kind == ORR_LOOP_GEAR) {
    sensible(&s, "ratio", 1, &l->ratio, most_shape);
    sensible(&s, "offset", 1, &l->offset, most_length);
  }
}

size_t orr_validate(const struct orr_description *d, const unsigned char *skip, void *scratch,
                    struct orr_problem *problems, size_t capacity) {
  struct judge j = {.d = d, .skip = skip, .problems = problems, .capacity = capacity};
  struct subject s = {&j, ORR_ENTITY_SPACECRAFT, 0, 0, d->source};
  struct orr_block block = {.base = scratch, .size = orr_validate_scratch_size(d)};
  bool all = true;
  layout(&j, &block);
  sensible(&s, "gravity", 3, d->gravity, most_gravity);
  if (d->body_count == 0)
    error(&s, ORR_PROBLEM_NO_BODIES, "bodies", 0, 0);
  if (d->body_count > ORR_MOST_BODIES)
    error(&s, ORR_PROBLEM_TOO_MANY, "bodies", (double)d->body_count, ORR_MOST_BODIES);
  if (d->body_count == 0 || d->body_count > ORR_MOST_BODIES || !is_whole(&j))
    return j.count;
  for (size_t i = 0; i < d->body_count; i++) {
    if (skip && skip[i])
      all = false;
    else
      judge_body(&j, i);
  }
  for (size_t i = 0; i < d->loop_count; i++)
    judge_loop(&j, i);
  judge_tree(&j, all);
  return j.count;
}
