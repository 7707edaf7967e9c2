/* One body: its kinetic energy as the conventions print it, and what follows from it by exact differences. */
#include "tests/support/dense_parts.h"

/* T of the conventions, a node with θ, θ̇, its mass centre's place c and its speed Γ η̇ in the body. */
static real node_energy(const struct orr_node_desc *node, const real theta[3], const real theta_dot[3], const real c[3],
                        const real gamma_rate[3], const real w[3], const real v[3]) {
  real speed[3], u[3], jw[3], ju[3], twist[3], term[3];
  for (int i = 0; i < 3; i++)
    speed[i] = v[i] + gamma_rate[i], u[i] = theta_dot[i];
  add_cross(speed, w, c);
  add_cross(u, w, theta);
  symmetric(node->inertia, w, jw);
  symmetric(node->inertia, u, ju);
  cross(theta, w, twist); /* θ × ω */
  for (int i = 0; i < 3; i++)
    twist[i] -= theta_dot[i];
  cross(theta, twist, term); /* θ × (θ × ω) − θ × θ̇ */
  return 0.5L * (real)node->mass * dot(speed, speed) + 0.5L * dot(w, jw) + dot(w, ju) + 0.5L * dot(u, ju) +
         0.5L * dot(jw, term);
}

/* θ × (θ × p)/2 and its derivative along a slope: ½ (s × (θ × p) + θ × (s × p)) */
static void turn_arm(const real theta[3], const real along[3], const real p[3], real scale, real out[3]) {
  real inner[3], outer[3];
  cross(along, p, inner);
  cross(theta, inner, outer);
  for (int i = 0; i < 3; i++)
    out[i] += scale * outer[i];
}

void orr_node_curve(const struct orr_body_desc *b, int node, const real *eta, bool mass_centre, real c[3],
                    real slide[][3]) {
  const struct orr_node_desc *desc = &b->nodes[node];
  real theta[3] = {0}, p[3];
  memset(c, 0, 3 * sizeof *c);
  for (size_t r = 0; r < b->mode_count && slide; r++)
    memset(slide[r], 0, sizeof slide[r]);
  if (!b->stiffening)
    return;
  for (size_t k = 0; k < desc->curve_count; k++) {
    const struct orr_curve_desc *pair = &desc->curves[k];
    real weight = pair->r == pair->s ? 0.5L : 1;
    for (int i = 0; i < 3; i++) {
      real g = (real)pair->g[i];
      c[i] += weight * eta[pair->r] * eta[pair->s] * g;
      if (slide)
        slide[pair->r][i] += weight * eta[pair->s] * g, slide[pair->s][i] += weight * eta[pair->r] * g;
    }
  }
  if (!mass_centre)
    return;
  for (int i = 0; i < 3; i++) {
    p[i] = (real)desc->com[i];
    for (size_t r = 0; r < b->mode_count; r++)
      theta[i] += (real)desc->modes[6 * r + (size_t)i] * eta[r];
  }
  turn_arm(theta, theta, p, 0.5L, c);
  for (size_t r = 0; r < b->mode_count && slide; r++) {
    const real slope[3] = {(real)desc->modes[6 * r], (real)desc->modes[6 * r + 1], (real)desc->modes[6 * r + 2]};
    turn_arm(slope, theta, p, 0.5L, slide[r]);
    turn_arm(theta, slope, p, 0.5L, slide[r]);
  }
}

/* m (v + ω × c0)·(ω × c2 + ċ2): the second-order place c2 meets the motion of the undeformed body. */
static real curve_energy(const struct orr_body_desc *b, int node, const real *eta, const real *rates) {
  int n = (int)b->mode_count;
  const struct orr_node_desc *desc = &b->nodes[node];
  const real *w = rates + n, *v = rates + n + 3;
  real c2[3], slide[8][3], c0[3], plain[3] = {v[0], v[1], v[2]}, more[3] = {0};
  orr_node_curve(b, node, eta, true, c2, slide);
  for (int i = 0; i < 3; i++) {
    c0[i] = (real)desc->at[i] + (real)desc->com[i];
    for (int r = 0; r < n; r++)
      more[i] += slide[r][i] * rates[r];
  }
  add_cross(plain, w, c0);
  add_cross(more, w, c2);
  return (real)desc->mass * dot(plain, more);
}

/* V = [η̇; ω; v] */
real orr_body_energy(const struct orr_body_desc *b, const real *eta, const real *rates) {
  int n = (int)b->mode_count;
  const real *w = rates + n, *v = rates + n + 3;
  if (!b->flexible) {
    real c[3] = {(real)b->com[0], (real)b->com[1], (real)b->com[2]}, speed[3] = {v[0], v[1], v[2]}, iw[3];
    add_cross(speed, w, c);
    symmetric(b->inertia, w, iw);
    return 0.5L * (real)b->mass * dot(speed, speed) + 0.5L * dot(w, iw);
  }
  real energy = 0;
  for (size_t j = 0; j < b->node_count; j++) {
    const struct orr_node_desc *node = &b->nodes[j];
    real theta[3] = {0}, theta_dot[3] = {0}, gamma_rate[3] = {0}, c[3], p[3];
    for (int i = 0; i < 3; i++)
      p[i] = (real)node->com[i], c[i] = (real)node->at[i] + p[i];
    for (int r = 0; r < n; r++) {
      real slope[3], gamma[3], e = b->deformation == ORR_DEFORMATION_LINEARIZED ? 0 : eta[r];
      for (int i = 0; i < 3; i++)
        slope[i] = (real)node->modes[6 * r + i], gamma[i] = (real)node->modes[6 * r + 3 + i];
      add_cross(gamma, slope, p);
      for (int i = 0; i < 3; i++) {
        theta[i] += slope[i] * e;
        theta_dot[i] += slope[i] * rates[r];
        c[i] += gamma[i] * e;
        gamma_rate[i] += gamma[i] * rates[r];
      }
    }
    energy += node_energy(node, theta, theta_dot, c, gamma_rate, w, v);
    if (b->stiffening)
      energy += curve_energy(b, (int)j, eta, rates);
  }
  return energy;
}

/* ∂T/∂V */
void orr_body_momenta(const struct orr_body_desc *b, const real *eta, const real *rates, real *out) {
  int columns = (int)b->mode_count + 6;
  real v[ORR_COLUMNS_MAX];
  memcpy(v, rates, (size_t)columns * sizeof *v);
  for (int i = 0; i < columns; i++) {
    v[i] = rates[i] + 1;
    real up = orr_body_energy(b, eta, v);
    v[i] = rates[i] - 1;
    out[i] = 0.5L * (up - orr_body_energy(b, eta, v));
    v[i] = rates[i];
  }
}

void orr_body_mass(const struct orr_body_desc *b, const real *eta, real *out) {
  int columns = (int)b->mode_count + 6;
  for (int i = 0; i < columns; i++) {
    real v[ORR_COLUMNS_MAX] = {0}, p[ORR_COLUMNS_MAX];
    v[i] = 1;
    orr_body_momenta(b, eta, v, p);
    for (int j = 0; j < columns; j++)
      out[i * columns + j] = p[j];
  }
}

/* d/dt ∂T/∂η̇ − ∂T/∂η and ḣ + [ω×h_ω + v×h_v; ω×h_v] */
void orr_body_inertial(const struct orr_body_desc *b, const real *eta, const real *v, const real *v_dot, real *out) {
  int n = (int)b->mode_count, columns = n + 6;
  static const real weight[4] = {1 / 12.0L, -8 / 12.0L, 8 / 12.0L, -1 / 12.0L};
  static const int step[4] = {-2, -1, 1, 2};
  real h[ORR_COLUMNS_MAX], e[ORR_COLUMNS_MAX] = {0}, x[ORR_COLUMNS_MAX] = {0}, p[ORR_COLUMNS_MAX];
  for (int i = 0; i < columns; i++)
    out[i] = 0;
  for (int k = 0; k < 4; k++) {
    for (int r = 0; r < n; r++)
      e[r] = eta[r] + (real)step[k] * v[r];
    for (int i = 0; i < columns; i++)
      x[i] = v[i] + (real)step[k] * v_dot[i];
    orr_body_momenta(b, e, x, p);
    for (int i = 0; i < columns; i++)
      out[i] += weight[k] * p[i];
  }
  for (int r = 0; r < n; r++)
    e[r] = eta[r];
  for (int r = 0; r < n; r++) {
    e[r] = eta[r] + 1;
    real up = orr_body_energy(b, e, v);
    e[r] = eta[r] - 1;
    out[r] -= 0.5L * (up - orr_body_energy(b, e, v));
    e[r] = eta[r];
  }
  orr_body_momenta(b, eta, v, h);
  add_cross(out + n, v + n, h + n);
  add_cross(out + n, v + n + 3, h + n + 3);
  add_cross(out + n + 3, v + n, h + n + 3);
}
