/* Places of nodes, hinges and bodies as series in time, and how speeds move them. */
#include <assert.h>
#include <stdlib.h>

#include "tests/support/dense_parts.h"

static void *take(size_t count, size_t size) {
  void *p = calloc(count ? count : 1, size);
  assert(p);
  return p;
}

/* A node in its body: l = at + Π_t η + ½ Σ η_r η_s G_rs, exp(Π_s η). */
void orr_node_place(const struct orr_body_desc *b, int node, const jet *eta, jet_vec *l, jet_mat *x) {
  const struct orr_node_desc *desc = &b->nodes[node];
  jet_vec theta = jv_zero();
  *l = jv_of(desc->at);
  for (size_t r = 0; r < b->mode_count; r++) {
    const double *pi = desc->modes + 6 * r;
    theta = jv_add(theta, jv_scale(eta[r], jv_of(pi)));
    *l = jv_add(*l, jv_scale(eta[r], jv_of(pi + 3)));
  }
  for (size_t k = 0; b->stiffening && k < desc->curve_count; k++) {
    const struct orr_curve_desc *pair = &desc->curves[k];
    jet product = jet_scale(pair->r == pair->s ? 0.5L : 1, jet_mul(eta[pair->r], eta[pair->s]));
    *l = jv_add(*l, jv_scale(product, jv_of(pair->g)));
  }
  *x = jm_exp(theta);
}

/* exp(u angle): 1 + sin ũ + (1 − cos) ũ² */
static jet_mat about(const double u[3], jet angle) {
  jet_mat s = jm_skew(jv_of(u));
  jet less = jet_add(jet_of(1), jet_scale(-1, jet_cos(angle)));
  return jm_add(jm_identity(), jm_add(jm_scale(jet_sin(angle), s), jm_scale(less, jm_mul(s, s))));
}

/* exp of ωt + ½ω̇t², whose angular velocity in the moved frame is ω + ω̇t + O(t²) */
static jet_mat spun(const double q[4], const double *w, const double *w_dot) {
  jet_vec phi;
  for (int i = 0; i < 3; i++)
    phi.e[i] = (jet){{0, (real)w[i], w_dot ? 0.5L * (real)w_dot[i] : 0}};
  return jm_mul(jm_from_quaternion(q), jm_exp(phi));
}

static jet scalar(const double *q, const double *u, const double *u_dot, int i) {
  return (jet){{(real)q[i], (real)u[i], u_dot ? 0.5L * (real)u_dot[i] : 0}};
}

static jet_vec along(const double axis[3], jet distance) { return jv_scale(distance, jv_of(axis)); }

/* ṗ = R v, p̈ = R (v̇ + ω × v) */
static jet_vec flown(const double *q, const double *u, const double *u_dot, const jet_mat *r) {
  real v[3], a[3], w[3];
  for (int i = 0; i < 3; i++)
    w[i] = (real)u[i], v[i] = (real)u[3 + i], a[i] = u_dot ? (real)u_dot[3 + i] : 0;
  add_cross(a, w, v);
  turned(r, v, v);
  turned(r, a, a);
  jet_vec p;
  for (int i = 0; i < 3; i++)
    p.e[i] = (jet){{(real)q[i], v[i], 0.5L * a[i]}};
  return p;
}

/* From O+ to O. */
static void hinge_place(const struct orr_hinge_desc *h, const double *q, const double *u, const double *u_dot,
                        jet_vec *p, jet_mat *r) {
  static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  *p = jv_zero();
  *r = jm_identity();
  switch (h->kind) {
  case ORR_HINGE_REVOLUTE:
    *r = about(h->axes[0], scalar(q, u, u_dot, 0));
    break;
  case ORR_HINGE_PRISMATIC:
    *p = along(h->axes[0], scalar(q, u, u_dot, 0));
    break;
  case ORR_HINGE_CYLINDRICAL:
    *r = about(h->axes[0], scalar(q, u, u_dot, 0));
    *p = along(h->axes[0], scalar(q, u, u_dot, 1));
    break;
  case ORR_HINGE_GIMBAL:
    *r = about(h->axes[2], scalar(q, u, u_dot, 2)); /* fall through */
  case ORR_HINGE_UNIVERSAL:
    *r = jm_mul(about(h->axes[1], scalar(q, u, u_dot, 1)), *r);
    *r = jm_mul(about(h->axes[0], scalar(q, u, u_dot, 0)), *r);
    break;
  case ORR_HINGE_PLANAR: {
    int n = h->axes[0][0] != 0 ? 0 : h->axes[0][1] != 0 ? 1 : 2;
    *r = about(h->axes[0], scalar(q, u, u_dot, 0));
    *p = jv_add(along(unit[(n + 1) % 3], scalar(q, u, u_dot, 1)), along(unit[(n + 2) % 3], scalar(q, u, u_dot, 2)));
    break;
  }
  case ORR_HINGE_BALL:
    *r = spun(q, u, u_dot);
    break;
  case ORR_HINGE_FREE:
    *r = spun(q + 3, u, u_dot);
    *p = flown(q, u, u_dot, r);
    break;
  case ORR_HINGE_FIXED:
  case ORR_HINGE_KIND_COUNT:
    break;
  }
}

static void modal_jets(const struct orr_sample *s, struct orr_motion m, int body, jet *eta) {
  for (int r = 0; r < (int)s->bodies[body].mode_count; r++)
    eta[r] = scalar(m.q + s->q_at[body], m.u + s->u_at[body], m.u_dot ? m.u_dot + s->u_at[body] : NULL, r);
}

/* The pose of a body's frame from its parent's; `on` moves as `parent_motion` says, the body as `m`. */
struct orr_pose orr_body_place(const struct orr_sample *s, int body, const struct orr_pose *on,
                               struct orr_motion on_motion, struct orr_motion m) {
  const struct orr_body_desc *b = &s->bodies[body];
  const struct orr_hinge_desc *h = &b->hinge;
  jet eta[8];
  jet_vec at = jv_zero(), l, across;
  jet_mat frame = jm_identity(), x, joint;
  if (h->parent >= 0) {
    modal_jets(s, on_motion, h->parent, eta);
    orr_node_place(&s->bodies[h->parent], h->parent_node, eta, &l, &x);
    at = jv_add(on->p, jm_apply(on->r, l));
    frame = jm_mul(on->r, x);
  }
  frame = jm_mul(frame, jm_from_quaternion(h->rotation)); /* O+ */
  int u = orr_sample_hinge_u(s, body);
  hinge_place(h, m.q + orr_sample_hinge_q(s, body), m.u + u, m.u_dot ? m.u_dot + u : NULL, &across, &joint);
  at = jv_add(at, jm_apply(frame, across)); /* O */
  frame = jm_mul(frame, joint);
  modal_jets(s, m, body, eta);
  orr_node_place(b, h->node, eta, &l, &x);
  frame = jm_mul(frame, jm_transpose(x));
  return (struct orr_pose){jv_add(at, jv_neg(jm_apply(frame, l))), frame};
}

/* V = [η̇; ω; v] in body axes, and V̇. */
void orr_body_motion(const struct orr_sample *s, struct orr_motion m, int body, const struct orr_pose *pose, real *v,
                     real *v_dot) {
  int n = (int)s->bodies[body].mode_count;
  for (int r = 0; r < n; r++) {
    v[r] = (real)m.u[s->u_at[body] + r];
    v_dot[r] = m.u_dot ? (real)m.u_dot[s->u_at[body] + r] : 0;
  }
  jm_spin(&pose->r, v + n, v_dot + n);
  real rate[3], twice[3], w[3];
  for (int i = 0; i < 3; i++)
    rate[i] = pose->p.e[i].c[1], twice[i] = 2 * pose->p.e[i].c[2], w[i] = v[n + i];
  turned_back(&pose->r, rate, v + n + 3);
  turned_back(&pose->r, twice, v_dot + n + 3);
  real back[3];
  cross(v + n + 3, w, back); /* d/dt (Rᵀ ṗ) = Rᵀ p̈ − ω × Rᵀ ṗ */
  for (int i = 0; i < 3; i++)
    v_dot[n + 3 + i] += back[i];
}

int *orr_parents_first(const struct orr_sample *s) {
  int count = (int)s->description.body_count, filled = 0;
  int *order = take((size_t)count, sizeof *order);
  bool *placed = take((size_t)count, sizeof *placed);
  while (filled < count) {
    int before = filled;
    for (int i = 0; i < count; i++) {
      int parent = s->bodies[i].hinge.parent;
      if (placed[i] || (parent >= 0 && !placed[parent]))
        continue;
      placed[i] = true;
      order[filled++] = i;
    }
    assert(filled > before);
  }
  free(placed);
  return order;
}

/* How [η̇; ω; v] of a body moves a node: [6][columns], [angular; linear], body axes. */
void orr_node_partials(const struct orr_sample *s, const double *q, int body, int node, real *out, jet_vec *l,
                       jet_mat *x) {
  const struct orr_body_desc *b = &s->bodies[body];
  int n = (int)b->mode_count, columns = n + 6;
  memset(out, 0, sizeof(real) * 6 * (size_t)columns);
  for (int r = 0; r <= n; r++) {
    jet eta[8];
    for (int k = 0; k < n; k++)
      eta[k] = (jet){{(real)q[s->q_at[body] + k], k == r, 0}};
    orr_node_place(b, node, eta, l, x);
    if (r == n)
      break;
    real w[3], unused[3];
    jm_spin(x, w, unused); /* node axes */
    turned(x, w, w);
    for (int i = 0; i < 3; i++)
      out[i * columns + r] = w[i], out[(3 + i) * columns + r] = l->e[i].c[1];
  }
  for (int i = 0; i < 3; i++) {
    real unit[3] = {i == 0, i == 1, i == 2}, at[3] = {l->e[0].c[0], l->e[1].c[0], l->e[2].c[0]}, v[3];
    cross(unit, at, v);
    out[i * columns + n + i] = 1;
    for (int k = 0; k < 3; k++)
      out[(3 + k) * columns + n + i] = v[k];
    out[(3 + i) * columns + n + 3 + i] = 1;
  }
}

/* The rotor's axis in body axes, and what makes u·ω of its node: [columns]. */
void orr_rotor_row(const struct orr_sample *s, const double *q, const struct orr_rotor_desc *rotor, real axis[3],
                   real *row) {
  real partials[6 * ORR_COLUMNS_MAX];
  jet_vec l;
  jet_mat x;
  int columns = (int)s->bodies[rotor->body].mode_count + 6;
  orr_node_partials(s, q, rotor->body, rotor->node, partials, &l, &x);
  for (int i = 0; i < 3; i++)
    axis[i] = (real)rotor->axis[i];
  turned(&x, axis, axis);
  for (int i = 0; i < columns; i++)
    row[i] = axis[0] * partials[i] + axis[1] * partials[columns + i] + axis[2] * partials[2 * columns + i];
}
