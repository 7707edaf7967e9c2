/* Energies and momentum of a sample at any state, and single bodies for the tests of core/model/modal. */
#include <assert.h>
#include <stdlib.h>

#include "tests/support/dense.h"
#include "tests/support/dense_parts.h"

/* −m g · place of each mass; ½ ηᵀKη */
static real body_potential(const struct orr_sample *s, const double *q, int body, const struct orr_pose *pose) {
  const struct orr_body_desc *b = &s->bodies[body];
  const double *eta = q + s->q_at[body];
  int n = (int)b->mode_count;
  real energy = 0;
  for (size_t j = 0; j < (b->flexible ? b->node_count : 1); j++) {
    const struct orr_node_desc *node = &b->nodes[j];
    real c[3], p[3], c2[3] = {0}, e[8];
    for (int r = 0; r < n; r++)
      e[r] = (real)eta[r];
    if (n)
      orr_node_curve(b, (int)j, e, true, c2, NULL);
    for (int i = 0; i < 3; i++) {
      p[i] = b->flexible ? (real)node->com[i] : (real)b->com[i];
      c[i] = p[i] + (b->flexible ? (real)node->at[i] : 0) + c2[i];
    }
    for (int r = 0; r < n; r++) {
      real slope[3], gamma[3];
      for (int i = 0; i < 3; i++)
        slope[i] = (real)node->modes[6 * r + i], gamma[i] = (real)node->modes[6 * r + 3 + i];
      add_cross(gamma, slope, p);
      for (int i = 0; i < 3; i++)
        c[i] += gamma[i] * (real)eta[r];
    }
    turned(&pose->r, c, c);
    for (int i = 0; i < 3; i++)
      energy -=
          (real)(b->flexible ? node->mass : b->mass) * (real)s->description.gravity[i] * (pose->p.e[i].c[0] + c[i]);
  }
  real zero[8] = {0}, mass[ORR_COLUMNS_MAX * ORR_COLUMNS_MAX];
  if (b->modes)
    orr_body_mass(b, zero, mass);
  for (int r = 0; r < n; r++) {
    real omega = b->modes ? 2 * acosl(-1) * (real)b->modes[r].frequency_hz : 0;
    if (b->modes)
      energy += 0.5L * omega * omega * mass[r * (n + 6) + r] * (real)eta[r] * (real)eta[r];
    for (int k = 0; k < n && !b->modes && b->stiffness; k++)
      energy += 0.5L * (real)eta[r] * (real)b->stiffness[r * n + k] * (real)eta[k];
  }
  return energy;
}

static real spring_potential(const struct orr_sample *s, const double *q, int body) {
  const struct orr_hinge_desc *h = &s->bodies[body].hinge;
  real energy = 0;
  if (orr_sample_quaternion(h->kind) >= 0)
    return 0;
  for (int k = 0; k < orr_sample_speeds(h->kind); k++) {
    real stretch = (real)q[orr_sample_hinge_q(s, body) + k] - (real)h->rest[k];
    energy += 0.5L * (real)h->stiffness[k] * stretch * stretch;
  }
  return energy;
}

/* [h_ω; h_v] of a body frame, turned to inertial axes and moved to the inertial origin. */
static void add_momentum(const struct orr_pose *pose, const real h[6], real out[6]) {
  real w[3], v[3], p[3];
  turned(&pose->r, h, w);
  turned(&pose->r, h + 3, v);
  for (int i = 0; i < 3; i++)
    p[i] = pose->p.e[i].c[0];
  add_cross(w, p, v);
  for (int i = 0; i < 3; i++)
    out[i] += w[i], out[3 + i] += v[i];
}

struct orr_dense_totals orr_dense_totals(const struct orr_sample *s, const double *q, const double *u,
                                         const double *rotor_speed) {
  struct orr_dense_totals out = {0};
  int count = (int)s->description.body_count, *order = orr_parents_first(s);
  struct orr_pose *pose = calloc((size_t)count, sizeof *pose);
  assert(pose);
  struct orr_motion m = {q, u, NULL};
  for (int i = 0; i < count; i++) {
    int body = order[i], parent = s->bodies[body].hinge.parent, n = (int)s->bodies[body].mode_count;
    real v[ORR_COLUMNS_MAX], unused[ORR_COLUMNS_MAX], h[ORR_COLUMNS_MAX], eta[8];
    pose[body] = orr_body_place(s, body, parent < 0 ? NULL : &pose[parent], m, m);
    orr_body_motion(s, m, body, &pose[body], v, unused);
    for (int r = 0; r < n; r++)
      eta[r] = (real)q[s->q_at[body] + r];
    out.kinetic += orr_body_energy(&s->bodies[body], eta, v);
    out.potential += body_potential(s, q, body, &pose[body]) + spring_potential(s, q, body);
    orr_body_momenta(&s->bodies[body], eta, v, h);
    add_momentum(&pose[body], h + n, out.momentum);
    for (size_t k = 0; k < s->description.rotor_count; k++) {
      const struct orr_rotor_desc *rotor = &s->rotors[k];
      if (rotor->body != body)
        continue;
      /* ½ J (Ω + u·ω)² in place of ½ J (u·ω)² */
      real axis[3], row[ORR_COLUMNS_MAX], turn = 0, spin = (real)rotor->inertia * (real)rotor_speed[k], own[6] = {0};
      orr_rotor_row(s, q, rotor, axis, row);
      for (int c = 0; c < n + 6; c++)
        turn += row[c] * v[c];
      out.kinetic += spin * turn + 0.5L * spin * (real)rotor_speed[k];
      for (int c = 0; c < 3; c++)
        own[c] = spin * axis[c];
      add_momentum(&pose[body], own, out.momentum);
    }
  }
  free(order);
  free(pose);
  return out;
}

void orr_dense_body_mass(const struct orr_body_desc *body, const double *eta, double *out) {
  int columns = (int)body->mode_count + 6;
  real e[8] = {0}, m[ORR_COLUMNS_MAX * ORR_COLUMNS_MAX];
  for (size_t r = 0; r < body->mode_count; r++)
    e[r] = (real)eta[r];
  orr_body_mass(body, e, m);
  for (int i = 0; i < columns * columns; i++)
    out[i] = (double)m[i];
}

void orr_dense_body_force(const struct orr_body_desc *body, const double *eta, const double *v, const double *v_dot,
                          double *out) {
  int columns = (int)body->mode_count + 6;
  real e[8] = {0}, x[ORR_COLUMNS_MAX] = {0}, y[ORR_COLUMNS_MAX] = {0}, f[ORR_COLUMNS_MAX] = {0};
  for (size_t r = 0; r < body->mode_count; r++)
    e[r] = (real)eta[r];
  for (int i = 0; i < columns; i++)
    x[i] = (real)v[i], y[i] = (real)v_dot[i];
  orr_body_inertial(body, e, x, y, f);
  for (int i = 0; i < columns; i++)
    out[i] = (double)f[i];
}
