#include "core/plant/stiffness.h"

#include "core/loops/closed.h"
#include "core/math/elementary.h"
#include "core/tree/articulated.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"

enum { FIRST_LOOK = 12 }; /* directions of the first span, which only finds h */

static struct orr_stiffness layout(struct orr_block *block, const struct orr_model *m, struct orr_stiffness **self) {
  struct orr_stiffness s = {.model = m, .elastic = true, .size = m->u_count + m->rotor_count};
  size_t square = (size_t)ORR_STIFF_SPAN * ORR_STIFF_SPAN;
  *self = ORR_TAKE(block, struct orr_stiffness, 1);
  s.stiffness = ORR_TAKE(block, double, s.size);
  s.damping = ORR_TAKE(block, double, s.size);
  s.gears = ORR_TAKE(block, struct orr_stiff_gear, m->rotor_count);
  s.v = ORR_TAKE(block, double, ORR_STIFF_SPAN *s.size);
  s.p = ORR_TAKE(block, double, ORR_STIFF_SPAN *s.size);
  s.w = ORR_TAKE(block, double, s.size);
  s.x = ORR_TAKE(block, double, s.size);
  s.k = ORR_TAKE(block, double, square);
  s.c = ORR_TAKE(block, double, square);
  s.roots = ORR_TAKE(block, struct orr_complex, 2 * ORR_STIFF_SPAN);
  s.vector = ORR_TAKE(block, struct orr_complex, ORR_STIFF_SPAN);
  s.work = ORR_TAKE(block, struct orr_complex, 4 * square);
  return s;
}

size_t orr_stiffness_size(const struct orr_model *model) {
  struct orr_block block = {0};
  struct orr_stiffness *self;
  layout(&block, model, &self);
  return block.used;
}

struct orr_stiffness *orr_stiffness_init(void *block, size_t bytes, const struct orr_model *model,
                                         struct orr_workspace *ws, struct orr_closed *closed) {
  if (!block || bytes < orr_stiffness_size(model))
    return NULL;
  struct orr_block b = {.base = block, .size = bytes};
  struct orr_stiffness *self, s = layout(&b, model, &self);
  *self = s;
  self->ws = ws;
  self->closed = closed;
  return self;
}

/* ---- the operators ----------------------------------------------------------------------------------------------- */

static void modes_add(const struct orr_modal *modal, double k, double c, const double *x, double *out) {
  for (int r = 0; r < modal->n; r++) {
    int first = modal->uncoupled ? r : 0, last = modal->uncoupled ? r + 1 : modal->n;
    for (int i = first; i < last; i++)
      out[r] += (k * modal->stiffness[r * modal->ld + i] + c * modal->damping[r * modal->ld + i]) * x[i];
  }
}

/* out = (k K + c C) x */
static void hold(const struct orr_stiffness *s, double k, double c, const double *x, double *out) {
  const struct orr_model *m = s->model;
  for (int i = 0; i < s->size; i++)
    out[i] = (k * s->stiffness[i] + c * s->damping[i]) * x[i];
  for (int g = 0; g < s->gear_count; g++) {
    const struct orr_stiff_gear *gear = &s->gears[g];
    int rotor = m->u_count + gear->rotor;
    double force = (k * gear->stiffness + c * gear->damping) * (x[gear->u] - x[rotor] / gear->ratio);
    out[gear->u] += force;
    out[rotor] -= force / gear->ratio;
  }
  for (int b = 0; b < m->body_count && s->elastic; b++) {
    const struct orr_limb *limb = &m->limbs[b];
    if (limb->flex >= 0)
      modes_add(&s->ws->flexes[limb->flex].modal, k, c, x + limb->u, out + limb->u);
    for (int i = 0; limb->springs && i < limb->dof; i++)
      out[limb->hinge_u + i] += (k * limb->stiffness[i] + c * limb->damping[i]) * x[limb->hinge_u + i];
  }
}

/* out = M⁻¹ x */
static enum orr_status solve(struct orr_stiffness *s, const double *x, double *out) {
  const struct orr_model *m = s->model;
  struct orr_workspace *ws = s->ws;
  enum orr_status status;
  memcpy(ws->rotor_torque, x + m->u_count, sizeof *x * (size_t)m->rotor_count);
  if (s->closed) {
    status = orr_closed_inverse_mass_apply(s->closed, ws, x, out);
  } else {
    orr_forward_load_still(m, ws, x);
    status = orr_articulated_forces(m, ws, x, NULL, false);
    if (status == ORR_OK) {
      orr_articulated_accelerations(m, ws, v3_zero(), false, out);
      orr_rotors_accelerate(m, ws);
    }
  }
  memcpy(out + m->u_count, ws->rotor_accel, sizeof *x * (size_t)m->rotor_count);
  return status;
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static void add(int n, double f, const double *a, double *to) {
  for (int i = 0; i < n; i++)
    to[i] += f * a[i];
}

/* ---- the span ---------------------------------------------------------------------------------------------------- */

static double *row(double *of, const struct orr_stiffness *s, int j) { return of + (size_t)j * (size_t)s->size; }

/* w and its M w in `x` become the next direction, unless nothing new is left of what was `before` long. */
static bool take(struct orr_stiffness *s, double before) {
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < s->count; i++) {
      double along = dot(s->size, row(s->p, s, i), s->w);
      add(s->size, -along, row(s->v, s, i), s->w);
      add(s->size, -along, row(s->p, s, i), s->x);
    }
  double length = sqrt(dot(s->size, s->w, s->x)); /* NaN where rounding has left no more than noise */
  if (!(length > 1e-9 * before))
    return false;
  double *v = row(s->v, s, s->count), *p = row(s->p, s, s->count);
  for (int i = 0; i < s->size; i++) {
    v[i] = s->w[i] / length;
    p[i] = s->x[i] / length;
  }
  s->count++;
  return true;
}

/* At most `most` directions for B = h² K + 2h C. */
static enum orr_status span(struct orr_stiffness *s, double h, int most) {
  uint64_t random = 1;
  for (int i = 0; i < s->size; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    s->x[i] = (double)(random >> 11) / 4503599627370496.0 - 1;
  }
  s->count = 0;
  double before = 0;
  do {
    enum orr_status status = solve(s, s->x, s->w);
    if (status != ORR_OK)
      return status;
    before = orr_max(before, sqrt(orr_max(0, dot(s->size, s->w, s->x))));
    if (!take(s, before))
      break;
    hold(s, h * h, 2 * h, row(s->v, s, s->count - 1), s->x);
  } while (s->count < most);
  return ORR_OK;
}

/* K and C between the directions, and the roots there. */
static void reduce(struct orr_stiffness *s) {
  int n = s->count;
  for (int j = 0; j < n; j++) {
    hold(s, 1, 0, row(s->v, s, j), s->w);
    hold(s, 0, 1, row(s->v, s, j), s->x);
    for (int i = 0; i < n; i++) {
      s->k[i * n + j] = dot(s->size, row(s->v, s, i), s->w);
      s->c[i * n + j] = dot(s->size, row(s->v, s, i), s->x);
    }
  }
  bool settled = orr_quadratic_roots((size_t)n, s->c, s->k, s->work, s->roots);
  s->root_count = settled ? 2 * n : 0;
}

/* Of all roots. */
static double fastest(const struct orr_stiffness *s) {
  double most = 0;
  for (int i = 0; i < s->root_count; i++)
    most = orr_max(most, orr_hypot(s->roots[i].re, s->roots[i].im));
  return most;
}

enum orr_status orr_stiffness_find(struct orr_stiffness *s, const double *q) {
  const struct orr_model *m = s->model;
  struct orr_workspace *ws = s->ws;
  memset(s->w, 0, sizeof *s->w * (size_t)s->size);
  memset(ws->rotor_speed, 0, sizeof *s->w * (size_t)m->rotor_count);
  s->root_count = 0;
  orr_state_set(m, ws, q, s->w);
  enum orr_status status = s->closed ? orr_closed_factor(s->closed, ws) : orr_articulated_factor(m, ws);
  double h = 1e-3;
  for (int look = 0; look < 2 && status == ORR_OK; look++) {
    status = span(s, h, look ? ORR_STIFF_SPAN : FIRST_LOOK);
    if (status != ORR_OK || s->count == 0)
      break;
    reduce(s);
    double most = fastest(s);
    if (most == 0)
      s->root_count = 0;
    if (most == 0)
      break;
    h = 2 / most;
  }
  return status;
}

/* ---- one motion -------------------------------------------------------------------------------------------------- */

/* Part `im` of the motion in full coordinates. */
static void unfold(struct orr_stiffness *s, bool im, double *out) {
  memset(out, 0, sizeof *out * (size_t)s->size);
  for (int j = 0; j < s->count; j++)
    add(s->size, im ? s->vector[j].im : s->vector[j].re, row(s->v, s, j), out);
}

static void name_coordinate(const struct orr_model *m, int i, struct orr_stiff_motion *out) {
  out->mode = out->coordinate = out->rotor = -1;
  if (i >= m->u_count) {
    out->rotor = i - m->u_count;
    out->body = m->limbs[m->rotors[out->rotor].limb].body;
    return;
  }
  for (int k = 0; k < m->body_count; k++) {
    const struct orr_limb *limb = &m->limbs[k];
    if (i < limb->u || i >= limb->hinge_u + limb->dof)
      continue;
    out->body = limb->body;
    if (i < limb->hinge_u)
      out->mode = i - limb->u;
    else
      out->coordinate = i - limb->hinge_u;
  }
}

/* Of each coordinate, x* (K + |s| C) x. The rows of p are no longer needed. */
struct orr_stiff_motion orr_stiffness_motion(struct orr_stiffness *s, struct orr_complex root) {
  struct orr_stiff_motion out = {.root = {root.re, fabs(root.im)}};
  double *work = s->p, sum = 0, most = -1;
  int best = 0;
  memset(work, 0, sizeof *work * (size_t)s->size);
  orr_quadratic_vector((size_t)s->count, s->c, s->k, root, s->work, s->vector);
  for (int part = 0; part < 2; part++) {
    unfold(s, part, s->x);
    hold(s, 1, orr_hypot(root.re, root.im), s->x, s->w);
    for (int i = 0; i < s->size; i++)
      work[i] += s->x[i] * s->w[i];
  }
  for (int i = 0; i < s->size; i++) {
    sum += fabs(work[i]);
    if (fabs(work[i]) > most) {
      most = fabs(work[i]);
      best = i;
    }
  }
  name_coordinate(s->model, best, &out);
  out.share = sum > 0 ? most / sum : 0;
  return out;
}
