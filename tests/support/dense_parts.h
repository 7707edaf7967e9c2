/* The parts of the dense reference (dense.h): one body's kinetic energy, places and partial velocities. Internal to it.
 *
 * 80-bit arithmetic; a body's own motion is V = [η̇; ω; v] in body axes.  [any]
 */
#ifndef ORR_TESTS_SUPPORT_DENSE_PARTS_H
#define ORR_TESTS_SUPPORT_DENSE_PARTS_H

#include <string.h>

#include "tests/support/jet.h"
#include "tests/support/sample.h"

typedef long double real;

enum { ORR_COLUMNS_MAX = 8 + 6 };

struct orr_pose {
  jet_vec p; /* of the body frame, inertial */
  jet_mat r;
};

struct orr_motion {
  const double *q, *u, *u_dot; /* u_dot NULL: zero */
};

static inline void cross(const real a[3], const real b[3], real out[3]) {
  real x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] = x, out[1] = y, out[2] = z;
}
static inline real dot(const real a[3], const real b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static inline void add_cross(real out[3], const real a[3], const real b[3]) {
  real c[3];
  cross(a, b, c);
  for (int i = 0; i < 3; i++)
    out[i] += c[i];
}
/* Symmetric matrix xx yy zz xy xz yz. */
static inline void symmetric(const double j[6], const real x[3], real out[3]) {
  real a[6], y[3];
  for (int i = 0; i < 6; i++)
    a[i] = (real)j[i];
  y[0] = a[0] * x[0] + a[3] * x[1] + a[4] * x[2];
  y[1] = a[3] * x[0] + a[1] * x[1] + a[5] * x[2];
  y[2] = a[4] * x[0] + a[5] * x[1] + a[2] * x[2];
  memcpy(out, y, sizeof y);
}
/* r x, and rᵀ x, of the value of an attitude. */
static inline void turned(const jet_mat *r, const real x[3], real out[3]) {
  real y[3];
  for (int i = 0; i < 3; i++)
    y[i] = r->e[i][0].c[0] * x[0] + r->e[i][1].c[0] * x[1] + r->e[i][2].c[0] * x[2];
  memcpy(out, y, sizeof y);
}
static inline void turned_back(const jet_mat *r, const real x[3], real out[3]) {
  real y[3];
  for (int i = 0; i < 3; i++)
    y[i] = r->e[0][i].c[0] * x[0] + r->e[1][i].c[0] * x[1] + r->e[2][i].c[0] * x[2];
  memcpy(out, y, sizeof y);
}

/* Second-order shapes as the file gives them: ½ Σ η_r η_s G_rs of a node and, with `slide` [mode_count][3] (or
 * NULL), its derivatives by η; `mass_centre`: of its mass centre, whose arm turns to second order, too. */
void orr_node_curve(const struct orr_body_desc *body, int node, const real *eta, bool mass_centre, real c[3],
                    real slide[][3]);

/* T of the conventions, and by polarisation ∂T/∂V and ∂²T/∂V² [n + 6][n + 6]. */
real orr_body_energy(const struct orr_body_desc *body, const real *eta, const real *rates);
void orr_body_momenta(const struct orr_body_desc *body, const real *eta, const real *rates, real *out);
void orr_body_mass(const struct orr_body_desc *body, const real *eta, real *out);
/* d/dt ∂T/∂η̇ − ∂T/∂η and ḣ + [ω×h_ω + v×h_v; ω×h_v] */
void orr_body_inertial(const struct orr_body_desc *body, const real *eta, const real *v, const real *v_dot, real *out);

/* A node in its body: l = at + Π_t η, exp(Π_s η). */
void orr_node_place(const struct orr_body_desc *body, int node, const jet *eta, jet_vec *l, jet_mat *x);
/* The pose of a body's frame from its parent's; the parent moves as `on_motion` says, the body as `m`. */
struct orr_pose orr_body_place(const struct orr_sample *s, int body, const struct orr_pose *on,
                               struct orr_motion on_motion, struct orr_motion m);
/* V and V̇ of a body whose pose moves so. */
void orr_body_motion(const struct orr_sample *s, struct orr_motion m, int body, const struct orr_pose *pose, real *v,
                     real *v_dot);
/* Bodies, parents first; to be freed. */
int *orr_parents_first(const struct orr_sample *s);
/* How V moves a node: [6][columns], [angular; linear], body axes; its place comes too. */
void orr_node_partials(const struct orr_sample *s, const double *q, int body, int node, real *out, jet_vec *l,
                       jet_mat *x);
/* The rotor's axis in body axes, and how V makes u·ω of its node: [columns]. */
void orr_rotor_row(const struct orr_sample *s, const double *q, const struct orr_rotor_desc *rotor, real axis[3],
                   real *row);

#endif
