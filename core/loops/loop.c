#include "core/loops/loop.h"

#include "core/loops/loop_group.h"
#include "core/math/elementary.h"
#include "core/model/motion.h"
#include "core/tree/articulated.h"
#include "core/tree/kinematics.h"

/* ---- compiling --------------------------------------------------------------------------------------------- */

static const int rows_of_kind[] = {[ORR_LOOP_POINT] = 3,    [ORR_LOOP_WELD] = 6, [ORR_LOOP_REVOLUTE] = 5,
                                   [ORR_LOOP_DISTANCE] = 1, [ORR_LOOP_GEAR] = 1, [ORR_LOOP_ROLLING] = 2};

/* Set as its motion begins; a revolute loop gets the row of its angle. */
static void drive(struct orr_loop *loop, struct orr_motion_now begin) {
  loop->driven = loop->kind == ORR_LOOP_REVOLUTE ? 2 : 0;
  loop->rows += loop->kind == ORR_LOOP_REVOLUTE;
  loop->distance = loop->angle = begin.x;
  loop->offset = loop->kind == ORR_LOOP_GEAR ? begin.x : 0;
  loop->rate = begin.v;
  loop->accel = begin.a;
}

/* What a loop needs, from the description alone. */
static struct orr_loop compile(const struct orr_loop_desc *d, const struct orr_model *m) {
  struct orr_loop loop = {.kind = d->kind, .method = d->method, .ratio = d->ratio, .offset = d->offset, .meet = -1};
  loop.rows = rows_of_kind[d->kind];
  loop.driven = -1;
  if (d->kind == ORR_LOOP_ROLLING) { /* of speeds: no coordinate depends on others by it */
    loop.method = ORR_LOOP_AUGMENT;
    loop.rows -= d->slides;
    loop.axis = v3_from(d->axis);
    loop.normal = v3_from(d->normal);
    loop.radius = d->radius;
  }
  if (d->motion)
    drive(&loop, orr_motion_begin(d->motion));
  for (int s = 0; s < 2; s++) {
    loop.limb[s] = m->limb_of_body[d->body[s]];
    loop.node[s] = d->kind == ORR_LOOP_GEAR ? -1 : orr_model_node(m, d->body[s], d->node[s]);
  }
  if (d->kind == ORR_LOOP_GEAR)
    return loop;
  loop.meet = orr_common_ancestor(m, loop.limb[0], loop.limb[1]);
  for (int s = 0; s < 2; s++)
    for (int k = loop.limb[s]; k != loop.meet; k = m->limbs[k].parent)
      loop.steps[s]++;
  if (d->kind == ORR_LOOP_REVOLUTE) {
    loop.axis = v3_from(d->axis);
    orr_vec3 far = fabs(loop.axis.x) < 0.5 ? v3(1, 0, 0) : v3(0, 1, 0);
    loop.e1 = v3_cross(loop.axis, far);
    loop.e1 = v3_scale(1 / v3_norm(loop.e1), loop.e1);
    loop.e2 = v3_cross(loop.axis, loop.e1);
  }
  return loop;
}

/* Sizes that the layout needs. Limbs and columns are counted loop by loop, so what loops share is counted again: a
 * bound. */
struct count {
  int rows, steps, carried, limbs, columns;
};

static void count_limb(struct count *n, const struct orr_limb *limb) {
  n->limbs++;
  n->columns += limb->mode_count + limb->dof;
}

static struct count measure(const struct orr_description *d, const struct orr_model *m) {
  struct count n = {0};
  for (size_t i = 0; i < d->loop_count; i++) {
    struct orr_loop loop = compile(&d->loops[i], m);
    n.rows += loop.rows;
    n.steps += loop.steps[0] + loop.steps[1];
    n.carried += loop.rows * (loop.steps[0] + loop.steps[1]);
    if (loop.meet >= 0)
      count_limb(&n, &m->limbs[loop.meet]);
    for (int s = 0; s < 2; s++) {
      if (loop.kind == ORR_LOOP_GEAR)
        count_limb(&n, &m->limbs[loop.limb[s]]);
      for (int k = loop.limb[s], t = 0; t < loop.steps[s]; t++, k = m->limbs[k].parent)
        count_limb(&n, &m->limbs[k]);
    }
  }
  n.limbs = n.limbs < m->body_count ? n.limbs : m->body_count;
  n.columns = n.columns < m->u_count ? n.columns : m->u_count;
  return n;
}

static struct orr_loops layout(struct orr_block *block, const struct orr_model *m, size_t count, struct count n,
                               struct orr_loops **self) {
  struct orr_loops l = {.model = m, .count = (int)count, .row_count = n.rows, .limb_count = n.limbs};
  int ld = (m->mode_max + 3) / 4 * 4;
  *self = ORR_TAKE(block, struct orr_loops, 1);
  l.column_count = n.columns;
  l.loops = ORR_TAKE(block, struct orr_loop, count);
  l.path = ORR_TAKE(block, int, n.steps);
  l.limbs = ORR_TAKE(block, struct orr_loop_limb, n.limbs);
  l.limb_at = ORR_TAKE(block, int, m->body_count);
  l.column_u = ORR_TAKE(block, int, n.columns);
  l.row_loop = ORR_TAKE(block, int, n.rows);
  l.rows = ORR_TAKE(block, struct orr_loop_row, n.rows);
  l.carried = ORR_TAKE(block, orr_spatial, n.carried);
  l.residual = ORR_TAKE(block, double, n.rows);
  l.span_first = ORR_TAKE(block, int, n.rows);
  l.span_past = ORR_TAKE(block, int, n.rows);
  for (int i = 0; i < n.limbs && ld; i++) {
    double *own = ORR_TAKE(block, double, 6 * ld), *parent = ORR_TAKE(block, double, 6 * ld);
    if (!block->base)
      continue;
    l.limbs[i].pi_own = own;
    l.limbs[i].pi_parent = parent;
  }
  for (int i = 0; i < 2 * n.rows && ld; i++) {
    double *modal = ORR_TAKE(block, double, ld);
    if (block->base)
      l.rows[i / 2].modal[i % 2] = modal;
  }
  for (int s = 0; s < 2; s++)
    l.pi[s] = ORR_TAKE(block, double, 6 * ld);
  l.scratch = ORR_TAKE(block, double, ld);
  l.aggregate_of = ORR_TAKE(block, int, m->body_count);
  l.marks = ORR_TAKE(block, bool, m->body_count);
  l.step = ORR_TAKE(block, double, n.columns + 3);
  l.tally = ORR_TAKE(block, int, 3 * (int)count + 2 * m->body_count);
  l.placed_q = ORR_TAKE(block, double, m->q_count);
  orr_pivot_layout(&l.g, n.rows, n.columns, block);
  orr_pivot_layout(&l.judge, n.rows, n.columns, block);
  return l;
}

size_t orr_loops_size(const struct orr_description *description, const struct orr_model *model) {
  struct orr_block block = {0};
  struct orr_loops *self;
  layout(&block, model, description->loop_count, measure(description, model), &self);
  return block.used;
}

static void fill_loops(struct orr_loops *l, const struct orr_description *d) {
  int step = 0, row = 0, carried = 0;
  for (int i = 0; i < l->count; i++) {
    struct orr_loop *loop = &l->loops[i];
    *loop = compile(&d->loops[i], l->model);
    loop->row = row;
    for (int r = 0; r < loop->rows; r++)
      l->row_loop[row++] = i;
    for (int s = 0; s < 2; s++) {
      loop->path[s] = step;
      for (int k = loop->limb[s]; loop->steps[s] > step - loop->path[s]; k = l->model->limbs[k].parent)
        l->path[step++] = k;
      loop->carried[s] = carried;
      carried += loop->rows * loop->steps[s];
    }
    for (int r = loop->row; r < row; r++)
      for (int s = 0; s < 2; s++)
        if (l->model->limbs[loop->limb[s]].flex < 0)
          l->rows[r].modal[s] = NULL;
  }
}

/* Limbs that some row depends on: those of the paths and of gears, and `meet` where modes move the nodes on it. */
static void mark_limbs(struct orr_loops *l) {
  for (int k = 0; k < l->model->body_count; k++)
    l->limb_at[k] = -1;
  for (int i = 0; i < l->count; i++) {
    const struct orr_loop *loop = &l->loops[i];
    if (loop->meet >= 0 && l->model->limbs[loop->meet].flex >= 0)
      l->limb_at[loop->meet] = 0;
    for (int s = 0; s < 2; s++) {
      if (loop->kind == ORR_LOOP_GEAR)
        l->limb_at[loop->limb[s]] = 0;
      for (int t = 0; t < loop->steps[s]; t++)
        l->limb_at[l->path[loop->path[s] + t]] = 0;
    }
  }
}

/* The next columns for a limb of the loops that has none yet. */
static void add_columns(struct orr_loops *l, int limb) {
  if (limb < 0 || l->limb_at[limb] < 0 || l->limbs[l->limb_at[limb]].column >= 0)
    return;
  struct orr_loop_limb *k = &l->limbs[l->limb_at[limb]];
  k->column = l->column_count;
  for (int c = 0; c < k->modes + l->model->limbs[limb].dof; c++)
    l->column_u[l->column_count++] = l->model->limbs[limb].u + c;
}

/* Loop by loop, so that the columns of one are neighbours. */
static void number_columns(struct orr_loops *l) {
  l->column_count = 0;
  for (int i = 0; i < l->count; i++) {
    const struct orr_loop *loop = &l->loops[i];
    add_columns(l, loop->meet);
    for (int s = 0; s < 2; s++) {
      if (loop->kind == ORR_LOOP_GEAR)
        add_columns(l, loop->limb[s]);
      for (int t = 0; t < loop->steps[s]; t++)
        add_columns(l, l->path[loop->path[s] + t]);
    }
  }
}

static void fill_limbs(struct orr_loops *l) {
  l->limb_count = 0;
  for (int k = 0; k < l->model->body_count; k++) {
    const struct orr_limb *limb = &l->model->limbs[k];
    if (l->limb_at[k] < 0)
      continue;
    l->limb_at[k] = l->limb_count;
    struct orr_loop_limb *to = &l->limbs[l->limb_count++];
    to->limb = k;
    to->column = -1;
    to->modes = limb->mode_count;
    if (limb->site_own < 0)
      to->pi_own = NULL;
    if (limb->site_parent < 0)
      to->pi_parent = NULL;
  }
  number_columns(l);
  orr_pivot_shape(&l->g, l->row_count, l->column_count);
  orr_pivot_shape(&l->judge, l->row_count, l->column_count);
}

static void widen_span(struct orr_loops *l, int row, int limb) {
  if (l->limb_at[limb] < 0)
    return;
  const struct orr_loop_limb *k = &l->limbs[l->limb_at[limb]];
  int first = k->column / 4 * 4, past = (k->column + k->modes + l->model->limbs[limb].dof + 3) / 4 * 4;
  l->span_first[row] = first < l->span_first[row] ? first : l->span_first[row];
  l->span_past[row] = past > l->span_past[row] ? past : l->span_past[row];
}

/* Loops have few limbs in common, so that most of G is zero for ever. */
static void fill_spans(struct orr_loops *l) {
  for (int r = 0; r < l->row_count; r++) {
    const struct orr_loop *loop = &l->loops[l->row_loop[r]];
    l->span_first[r] = l->g.width;
    l->span_past[r] = 0;
    if (loop->meet >= 0)
      widen_span(l, r, loop->meet);
    for (int s = 0; s < 2; s++) {
      if (loop->kind == ORR_LOOP_GEAR)
        widen_span(l, r, loop->limb[s]);
      for (int t = 0; t < loop->steps[s]; t++)
        widen_span(l, r, l->path[loop->path[s] + t]);
    }
    if (l->span_past[r] == 0)
      l->span_first[r] = 0;
  }
  orr_pivot_span(&l->judge, l->span_first, l->span_past);
}

static double mechanism_size(const struct orr_loops *l) {
  double size = 0;
  for (int i = 0; i < l->limb_count; i++)
    size = orr_max(size, v3_norm(l->model->limbs[l->limbs[i].limb].l0));
  for (int i = 0; i < l->count; i++)
    for (int s = 0; s < 2 && l->loops[i].kind != ORR_LOOP_GEAR; s++)
      size = orr_max(size, v3_norm(l->model->nodes[l->loops[i].node[s]].at));
  return size > 0 ? size : 1;
}

struct orr_loops *orr_loops_init(void *memory, size_t bytes, const struct orr_description *description,
                                 const struct orr_model *model) {
  if (!memory || bytes < orr_loops_size(description, model))
    return NULL;
  struct orr_block block = {.base = memory, .size = bytes};
  struct orr_loops *self;
  struct orr_loops l = layout(&block, model, description->loop_count, measure(description, model), &self);
  *self = l;
  fill_loops(self, description);
  mark_limbs(self);
  fill_limbs(self);
  fill_spans(self);
  self->size = mechanism_size(self);
  orr_loops_group(self);
  return self;
}

/* ---- places ------------------------------------------------------------------------------------------------ */

/* As general_limb of kinematics.c, without motion: r, l and the columns of H_F*. */
static void place_limb(const struct orr_loops *l, struct orr_workspace *ws, const double *q, struct orr_loop_limb *to) {
  const struct orr_model *m = l->model;
  const struct orr_limb *limb = &m->limbs[to->limb];
  orr_mat3 base = limb->r0, o = m3_transpose(limb->c);
  orr_vec3 at = limb->l0, own = v3_zero();
  if (limb->site_parent >= 0 && l->limb_at[limb->parent] >= 0) {
    struct orr_site_state site = {.pi = to->pi_parent};
    orr_place_evaluate(m, ws, m->sites[limb->site_parent].node, &site);
    base = m3_mul(site.r, limb->r0);
    at = site.l;
  }
  if (limb->site_own >= 0) {
    struct orr_site_state site = {.pi = to->pi_own};
    orr_place_evaluate(m, ws, m->sites[limb->site_own].node, &site);
    o = m3_mul(site.r, o);
    own = site.l;
  }
  struct orr_joint joint;
  orr_joint_pose(limb->kind, limb->axes, q + limb->hinge_q, &joint);
  to->r = m3_mul(base, m3_mul(joint.r, m3_transpose(o)));
  to->l = v3_sub(v3_add(at, m3_apply(base, joint.p)), m3_apply(to->r, own));
  for (int i = 0; i < limb->dof; i++) {
    orr_spatial h = sp_rotate(o, joint.h[i]);
    to->h[i] = (orr_spatial){h.w, v3_sub(h.v, v3_cross(h.w, own))};
  }
}

/* A node seen from S of `meet`. */
struct end {
  orr_mat3 s;      /* v_meet = s v_S of its limb */
  orr_vec3 origin; /* m, of that S */
  orr_mat3 r;      /* node axes */
  orr_vec3 p;      /* m, the node */
  struct orr_site_state place;
};

static struct end find_end(const struct orr_loops *l, const struct orr_workspace *ws, const struct orr_loop *loop,
                           int side) {
  struct end e = {.s = m3_identity(), .place = {.pi = l->pi[side]}};
  const struct orr_limb *limb = &l->model->limbs[loop->limb[side]];
  orr_place_evaluate(l->model, ws, loop->node[side], &e.place);
  for (int t = 0; t < loop->steps[side]; t++) {
    const struct orr_loop_limb *k = &l->limbs[l->limb_at[l->path[loop->path[side] + t]]];
    e.origin = v3_add(k->l, m3_apply(k->r, e.origin));
    e.s = m3_mul(k->r, e.s);
  }
  e.p = v3_add(e.origin, m3_apply(e.s, e.place.l));
  e.r = m3_mul(e.s, m3_mul(e.place.r, m3_transpose(limb->c)));
  return e;
}

/* The row of a wrench (moment, force; axes of meet) on the second node, its opposite on the first, both acting at
 * `at`. */
static void set_row(struct orr_loops *l, const struct orr_loop *loop, int row, const struct end ends[2], orr_vec3 at,
                    orr_vec3 moment, orr_vec3 force) {
  for (int s = 0; s < 2; s++) {
    orr_vec3 arm = v3_sub(at, ends[s].origin);
    orr_spatial w = {v3_add(moment, v3_cross(arm, force)), force};
    w = sp_rotate_t(ends[s].s, w);
    if (s == 0)
      w = (orr_spatial){v3_neg(w.w), v3_neg(w.v)};
    l->rows[row].wrench[s] = w;
    double *modal = l->rows[row].modal[s];
    if (!modal)
      continue;
    int ld = l->model->modals[l->model->limbs[loop->limb[s]].flex].ld;
    memset(modal, 0, sizeof *modal * (size_t)ld);
    orr_site_force(&ends[s].place, w, 1, modal, ld);
  }
}

/* The turn from u to v, both unit: a vector of length 0 … π square to both. */
static orr_vec3 turn_between(orr_vec3 u, orr_vec3 v) {
  orr_vec3 s = v3_cross(u, v);
  double sine = v3_norm(s), cosine = v3_dot(u, v);
  if (sine > 1e-8)
    return v3_scale(orr_atan2(sine, cosine) / sine, s);
  if (cosine > 0)
    return s;
  orr_vec3 far = fabs(u.x) < 0.5 ? v3(1, 0, 0) : v3(0, 1, 0); /* opposite: any square axis will do */
  s = v3_cross(u, far);
  return v3_scale(3.14159265358979323846 / v3_norm(s), s);
}

/* The rotation vector of a quaternion, length 0 … π. */
static orr_vec3 rotation_vector(const double q[4]) {
  orr_vec3 v = v3_from(q);
  double sine = v3_norm(v);
  return sine > 1e-9 ? v3_scale(2 * orr_atan2(sine, q[3]) / sine, v) : v3_scale(2, v);
}

/* The angle of a revolute loop about its axis: that of p = R e1 in the plane of e1 and e2. −π … π. */
static double angle_about(const struct orr_loop *loop) {
  orr_vec3 p = m3_apply(loop->r, loop->e1);
  return orr_atan2(v3_dot(loop->e2, p), v3_dot(loop->e1, p));
}

/* What it gains by a turn of the second node, with x = e1·p, y = e2·p: (x p × e2 − y p × e1)/(x² + y²). */
static orr_vec3 turn_about_axis(const struct orr_loop *loop) {
  orr_vec3 p = m3_apply(loop->r, loop->e1);
  double x = v3_dot(loop->e1, p), y = v3_dot(loop->e2, p), square = x * x + y * y;
  orr_vec3 gain = v3_sub(v3_scale(x, v3_cross(p, loop->e2)), v3_scale(y, v3_cross(p, loop->e1)));
  return square > 0 ? v3_scale(1 / square, gain) : loop->axis;
}

/* The moments (axes of the first node) of the rows that have to do with angles: what each row's angle gains by a turn
 * of the second node. A row that is not solved may be open by the tolerance, and one that is solved may be as weak; so
 * they are right to every order of what is open: those of the sines that are zero where the angle is. */
static void turning_moments(struct orr_loop *loop, orr_vec3 *out) {
  if (loop->kind == ORR_LOOP_REVOLUTE) {
    orr_vec3 b = m3_apply(loop->r, loop->axis);
    bool near = v3_dot(loop->axis, b) > ORR_LOOP_NEAR;
    out[0] = near ? v3_cross(loop->e2, b) : loop->e1;
    out[1] = near ? v3_cross(b, loop->e1) : loop->e2;
    if (loop->driven >= 0)
      out[2] = turn_about_axis(loop);
    return;
  }
  orr_mat3 one = m3_identity();
  bool near = loop->half[3] > ORR_LOOP_NEAR;
  for (int i = 0; i < 3; i++) {
    out[i] = m3_col(one, i);
    if (near)
      out[i] = v3_madd(v3_cross(v3_from(loop->half), out[i]), loop->half[3], out[i]);
  }
}

bool orr_loop_contact(const struct orr_loop *loop, struct orr_contact *out) {
  *out = (struct orr_contact){.axis = m3_apply(loop->r, loop->axis)};
  orr_vec3 m = v3_cross(out->axis, loop->normal);
  out->sine = v3_norm(m);
  if (!(out->sine > ORR_LOOP_TOLERANCE))
    return false;
  out->along = v3_scale(1 / out->sine, m);
  out->side = v3_cross(loop->normal, out->along);
  out->arm = v3_scale(-loop->radius, v3_cross(out->along, out->axis));
  return true;
}

int orr_loops_flat_wheel(const struct orr_loops *l) {
  for (int i = 0; i < l->count; i++)
    if (l->loops[i].flat)
      return i;
  return -1;
}

/* Forces on the wheel at P, along and across; none where it lies flat. */
static void place_rolling(struct orr_loops *l, struct orr_loop *loop, const struct end e[2]) {
  struct orr_contact c;
  loop->flat = !orr_loop_contact(loop, &c);
  orr_vec3 at = v3_add(e[1].p, m3_apply(e[0].r, c.arm));
  for (int i = 0; i < loop->rows; i++) {
    l->residual[loop->row + i] = 0;
    set_row(l, loop, loop->row + i, e, at, v3_zero(), m3_apply(e[0].r, i ? c.side : c.along));
  }
}

static void place_loop(struct orr_loops *l, const struct orr_workspace *ws, struct orr_loop *loop) {
  struct end e[2];
  for (int s = 0; s < 2; s++)
    e[s] = find_end(l, ws, loop, s);
  orr_vec3 d = v3_sub(e[1].p, e[0].p), none = v3_zero();
  orr_mat3 r = m3_mul(m3_transpose(e[0].r), e[1].r);
  double *phi = l->residual + loop->row;
  loop->r = r;
  loop->d = m3_apply_t(e[0].r, d);
  if (loop->kind == ORR_LOOP_DISTANCE) {
    double length = v3_norm(d);
    orr_vec3 n = length > 0 ? v3_scale(1 / length, d) : none;
    phi[0] = length - loop->distance;
    set_row(l, loop, loop->row, e, e[1].p, none, n);
    return;
  }
  if (loop->kind == ORR_LOOP_ROLLING) {
    place_rolling(l, loop, e);
    return;
  }
  int row = loop->row, angles = 0;
  orr_vec3 moments[ORR_LOOP_MAX_ROWS];
  if (loop->kind == ORR_LOOP_WELD) {
    quat_from_matrix(r, loop->half);
    v3_to(phi, rotation_vector(loop->half));
    angles = 3;
  } else if (loop->kind == ORR_LOOP_REVOLUTE) {
    orr_vec3 turn = turn_between(loop->axis, m3_apply(r, loop->axis));
    phi[0] = v3_dot(loop->e1, turn);
    phi[1] = v3_dot(loop->e2, turn);
    angles = 2;
    if (loop->driven >= 0)
      phi[angles++] = orr_wrapped(angle_about(loop) - loop->angle, 6.283185307179586476925);
  }
  if (angles)
    turning_moments(loop, moments);
  for (int i = 0; i < angles; i++)
    set_row(l, loop, row++, e, e[1].p, m3_apply(e[0].r, moments[i]), none);
  v3_to(l->residual + row, loop->d);
  for (int i = 0; i < 3; i++)
    set_row(l, loop, row++, e, e[1].p, none, m3_col(e[0].r, i));
}

void orr_loops_place(struct orr_loops *l, struct orr_workspace *ws, const double *q) {
  memcpy(l->placed_q, q, sizeof *q * (size_t)l->model->q_count);
  l->placed += l->placed + 1 ? 1 : 2; /* never back to 0 */
  l->filled = false;
  for (int i = 0; i < l->limb_count; i++) {
    const struct orr_limb *limb = &l->model->limbs[l->limbs[i].limb];
    for (int r = 0; r < limb->mode_count; r++)
      ws->flexes[limb->flex].eta[r] = q[limb->q + r];
  }
  for (int i = 0; i < l->limb_count; i++)
    place_limb(l, ws, q, &l->limbs[i]);
  for (int i = 0; i < l->count; i++) {
    struct orr_loop *loop = &l->loops[i];
    if (loop->kind != ORR_LOOP_GEAR) {
      place_loop(l, ws, loop);
      continue;
    }
    const struct orr_limb *a = &l->model->limbs[loop->limb[0]], *b = &l->model->limbs[loop->limb[1]];
    l->residual[loop->row] = q[b->hinge_q] - loop->ratio * q[a->hinge_q] - loop->offset;
  }
}

void orr_loops_drive(struct orr_loops *l, int i, double x, double rate, double accel) {
  struct orr_loop *loop = &l->loops[i];
  double *kept = loop->kind == ORR_LOOP_GEAR       ? &loop->offset
                 : loop->kind == ORR_LOOP_DISTANCE ? &loop->distance
                                                   : &loop->angle;
  if (*kept != x)
    l->filled = false; /* φ of the placed q is another */
  *kept = x;
  loop->rate = rate;
  loop->accel = accel;
}

void orr_loops_keep_distances(struct orr_loops *l) {
  for (int i = 0; i < l->count; i++) {
    struct orr_loop *loop = &l->loops[i];
    if (loop->kind != ORR_LOOP_DISTANCE || loop->driven >= 0)
      continue;
    l->placed = 0;
    loop->distance += l->residual[loop->row];
    l->residual[loop->row] = 0;
  }
}

/* ---- G ----------------------------------------------------------------------------------------------------- */

/* What h·w would be if nothing cancelled: a force may act with any arm there is in the mechanism. */
static double product_size(orr_spatial h, orr_spatial w, double arm) {
  double force = v3_norm(w.v);
  return v3_norm(h.w) * (v3_norm(w.w) + arm * force) + v3_norm(h.v) * force;
}

/* Modal forces `modal` [ld], made by a wrench about the origin of S, enter the row; less Π_dᵀ w where the hinge's node
 * moves, for the coordinates are η at a held hinge. */
static double enter_modes(struct orr_loops *l, const struct orr_loop_limb *k, const double *pi_own, orr_spatial w,
                          double *g) {
  double gross = 0, *modal = l->scratch;
  int ld = l->model->modals[l->model->limbs[k->limb].flex].ld;
  if (pi_own)
    orr_site_force(&(struct orr_site_state){.pi = (double *)pi_own}, w, -1, modal, ld);
  for (int r = 0; r < k->modes; r++) {
    g[k->column + r] += modal[r];
    gross += modal[r] * modal[r];
  }
  return gross;
}

/* Π'ᵀ w of the node that side `side`'s chain stands on, on the limb reached after `step` steps, into the scratch. */
static void chain_modes(struct orr_loops *l, const struct orr_loop *loop, int side, int step, const double *end,
                        orr_spatial w) {
  int k = step < loop->steps[side] ? l->path[loop->path[side] + step] : loop->meet;
  size_t ld = (size_t)l->model->modals[l->model->limbs[k].flex].ld;
  memset(l->scratch, 0, sizeof(double) * ld);
  if (step == 0) {
    memcpy(l->scratch, end, sizeof(double) * ld);
    return;
  }
  const double *pi = l->limbs[l->limb_at[l->path[loop->path[side] + step - 1]]].pi_parent;
  if (pi)
    orr_site_force(&(struct orr_site_state){.pi = (double *)pi}, w, 1, l->scratch, (int)ld);
}

/* One side of one row: the wrench handed down the path, h·w at every hinge, and what it does to modes on the way. */
static double carry(struct orr_loops *l, const struct orr_loop *loop, int side, int row, double *g) {
  orr_spatial w = l->rows[row].wrench[side];
  orr_spatial *carried = l->carried + loop->carried[side] + (row - loop->row) * loop->steps[side];
  const double *end = l->rows[row].modal[side];
  double gross = 0;
  for (int t = 0; t < loop->steps[side]; t++) {
    const struct orr_loop_limb *k = &l->limbs[l->limb_at[l->path[loop->path[side] + t]]];
    carried[t] = w;
    for (int i = 0; i < l->model->limbs[k->limb].dof; i++) {
      double size = product_size(k->h[i], w, l->size);
      g[k->column + k->modes + i] += sp_dot(k->h[i], w);
      gross += size * size;
    }
    if (k->modes) {
      chain_modes(l, loop, side, t, end, w);
      gross += enter_modes(l, k, k->pi_own, w, g);
    }
    w = sp_force_shift(k->l, sp_rotate(k->r, w));
  }
  if (loop->meet >= 0 && l->model->limbs[loop->meet].flex >= 0) {
    chain_modes(l, loop, side, loop->steps[side], end, w); /* the two wrenches on `meet` cancel, but not on its modes */
    gross += enter_modes(l, &l->limbs[l->limb_at[loop->meet]], NULL, w, g);
  }
  return gross;
}

/* The column of the only coordinate of a hinge. */
static int hinge_column(const struct orr_loops *l, int limb) {
  const struct orr_loop_limb *k = &l->limbs[l->limb_at[limb]];
  return k->column + k->modes;
}

/* An equation that is all rounding is seen as such beside its loop's others. */
static void even_out(struct orr_loops *l, const struct orr_loop *loop) {
  double most = 0, *gross = l->g.gross + loop->row;
  for (int r = 0; r < loop->rows; r++)
    most = orr_max(most, gross[r]);
  for (int r = 0; r < loop->rows; r++)
    gross[r] = orr_max(gross[r], 1e-3 * most);
}

void orr_loops_jacobian(struct orr_loops *l) {
  l->filled = true;
  for (int row = 0; row < l->row_count; row++) {
    const struct orr_loop *loop = &l->loops[l->row_loop[row]];
    double *g = l->g.a + (size_t)row * (size_t)l->g.width, gross = 0;
    memset(g + l->span_first[row], 0, sizeof *g * (size_t)(l->span_past[row] - l->span_first[row]));
    if (loop->kind == ORR_LOOP_GEAR) {
      g[hinge_column(l, loop->limb[1])] += 1;
      g[hinge_column(l, loop->limb[0])] -= loop->ratio;
      gross = 1 + loop->ratio * loop->ratio;
    } else {
      gross = carry(l, loop, 0, row, g) + carry(l, loop, 1, row, g);
    }
    l->g.gross[row] = sqrt(gross);
  }
  for (int i = 0; i < l->count; i++)
    even_out(l, &l->loops[i]);
}

void orr_loops_update(struct orr_loops *l, struct orr_workspace *ws, const double *q) {
  if (l->placed && l->filled && memcmp(l->placed_q, q, sizeof *q * (size_t)l->model->q_count) == 0)
    return;
  orr_loops_place(l, ws, q);
  orr_loops_jacobian(l);
}

/* ---- gaps and moves ---------------------------------------------------------------------------------------- */

struct orr_loop_gap orr_loop_gap(const struct orr_loops *l, int i) {
  const struct orr_loop *loop = &l->loops[i];
  const double *phi = l->residual + loop->row;
  struct orr_loop_gap gap = {0, 0};
  if (loop->kind == ORR_LOOP_GEAR) {
    bool slides = l->model->limbs[loop->limb[1]].kind == ORR_HINGE_PRISMATIC;
    *(slides ? &gap.metres : &gap.radians) = fabs(phi[0]);
    return gap;
  }
  int turning = loop->kind == ORR_LOOP_WELD || loop->kind == ORR_LOOP_REVOLUTE ? loop->rows - 3 : 0;
  for (int r = 0; r < loop->rows; r++) {
    double *to = r < turning ? &gap.radians : &gap.metres;
    *to = sqrt(*to * *to + phi[r] * phi[r]);
  }
  return gap;
}

int orr_loops_open(const struct orr_loops *l) {
  for (int i = 0; i < l->count; i++) {
    struct orr_loop_gap gap = orr_loop_gap(l, i);
    if (!(gap.metres <= ORR_LOOP_TOLERANCE * orr_max(1, l->size) && gap.radians <= ORR_LOOP_TOLERANCE))
      return i;
  }
  return -1;
}

static void turn_quaternion(double *q, orr_vec3 by) {
  double turn[4], out[4];
  quat_exp(by, turn);
  quat_mul(q, turn, out);
  quat_normalise(out);
  memcpy(q, out, sizeof out);
}

void orr_limb_move(const struct orr_limb *limb, const double *by, double *q) {
  double *at = q + limb->hinge_q;
  for (int r = 0; r < limb->mode_count; r++)
    q[limb->q + r] += by[r];
  by += limb->mode_count;
  if (limb->kind == ORR_HINGE_BALL) {
    turn_quaternion(at, v3_from(by));
  } else if (limb->kind == ORR_HINGE_FREE) {
    v3_to(at, v3_add(v3_from(at), m3_apply(quat_matrix(at + 3), v3_from(by + 3))));
    turn_quaternion(at + 3, v3_from(by));
  } else {
    for (int c = 0; c < limb->dof; c++)
      at[c] += by[c];
  }
}

void orr_loops_move(const struct orr_loops *l, const double *step, double *q) {
  for (int i = 0; i < l->limb_count; i++)
    orr_limb_move(&l->model->limbs[l->limbs[i].limb], step + l->limbs[i].column, q);
}
