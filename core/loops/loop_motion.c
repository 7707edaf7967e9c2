#include "core/loops/loop_motion.h"

#include "core/tree/kinematics.h"

/* A node's inertial motion, its own axes. */
struct node_motion {
  orr_vec3 omega, v;
  orr_spatial alpha; /* [ω̇; a − g] */
};

/* The same bits as below with a place at rest, for a fraction of the work: loops ask for it twice an evaluation. */
static struct node_motion motion_of_rigid(const struct orr_model *m, const struct orr_workspace *ws, int node) {
  int k = m->nodes[node].limb;
  const struct orr_flow *flow = &ws->flows[k];
  const orr_mat3 *to_node = &m->limbs[k].c;
  orr_vec3 at = m->nodes[node].at, v = v3_cross(flow->omega, at);
  orr_vec3 lin = v3_add(flow->alpha.v, v3_cross(flow->alpha.w, at));
  lin = v3_add(lin, v3_cross(flow->omega, v));
  return (struct node_motion){.omega = m3_apply(*to_node, flow->omega),
                              .v = m3_apply(*to_node, v3_add(ws->limbs[k].v, v)),
                              .alpha = {m3_apply(*to_node, flow->alpha.w), m3_apply(*to_node, lin)}};
}

static struct node_motion motion_of(const struct orr_model *m, const struct orr_workspace *ws, int node) {
  int k = m->nodes[node].limb;
  if (m->limbs[k].flex < 0)
    return motion_of_rigid(m, ws, node);
  orr_vec3 omega = ws->flows[k].omega;
  struct orr_site_state place = {0};
  orr_place_evaluate(m, ws, node, &place);
  orr_mat3 to_node = m3_mul(m->limbs[k].c, m3_transpose(place.r));
  orr_vec3 v = v3_add(ws->limbs[k].v, v3_add(v3_cross(omega, place.l), place.u.v));
  return (struct node_motion){.omega = m3_apply(to_node, v3_add(omega, place.u.w)),
                              .v = m3_apply(to_node, v),
                              .alpha = orr_node_acceleration(m, ws, node)};
}

/* The second node's motion in the axes of the first. */
static struct node_motion seen_from_first(const struct orr_loop *loop, struct node_motion x) {
  return (struct node_motion){m3_apply(loop->r, x.omega), m3_apply(loop->r, x.v), sp_rotate(loop->r, x.alpha)};
}

/* Σ of |ḋ|² − φ̇² over |d|, and n·d̈. */
static double distance_acceleration(orr_vec3 d, orr_vec3 rate, orr_vec3 accel) {
  double length = v3_norm(d);
  if (!(length > 0))
    return 0;
  orr_vec3 n = v3_scale(1 / length, d);
  double along = v3_dot(n, rate);
  return v3_dot(n, accel) + (v3_dot(rate, rate) - along * along) / length;
}

/* φ̈ of the angles of a revolute loop, of the sines that turning_moments of loop.c takes: φ = (−e2·b, e1·b) with b the
 * second node's axis. `turn` is the first node's view of the relative angular acceleration, `spin` of the speed. */
static void revolute_acceleration(const struct orr_loop *loop, orr_vec3 spin, orr_vec3 turn, double *out) {
  orr_vec3 b = m3_apply(loop->r, loop->axis);
  if (!(v3_dot(loop->axis, b) > ORR_LOOP_NEAR)) {
    out[0] = v3_dot(loop->e1, turn);
    out[1] = v3_dot(loop->e2, turn);
    return;
  }
  orr_vec3 accel = v3_add(v3_cross(turn, b), v3_cross(spin, v3_cross(spin, b)));
  out[0] = -v3_dot(loop->e2, accel);
  out[1] = v3_dot(loop->e1, accel);
}

/* The same of the angle about the axis, θ̇ = (x ẏ − y ẋ)/(x² + y²) with x = e1·p, y = e2·p, p = R e1. */
static double angle_acceleration(const struct orr_loop *loop, orr_vec3 spin, orr_vec3 turn) {
  orr_vec3 p = m3_apply(loop->r, loop->e1), rate = v3_cross(spin, p);
  orr_vec3 accel = v3_add(v3_cross(turn, p), v3_cross(spin, rate));
  double x = v3_dot(loop->e1, p), y = v3_dot(loop->e2, p), x1 = v3_dot(loop->e1, rate), y1 = v3_dot(loop->e2, rate);
  double square = x * x + y * y, theta = (x * y1 - y * x1) / square;
  if (!(square > 0))
    return v3_dot(loop->axis, turn);
  return (x * v3_dot(loop->e2, accel) - y * v3_dot(loop->e1, accel) - 2 * theta * (x * x1 + y * y1)) / square;
}

/* The same of a weld: φ = 2 sin(θ/2) n, the quaternion's first three parts doubled. */
static orr_vec3 weld_acceleration(const struct orr_loop *loop, orr_vec3 spin, orr_vec3 turn) {
  orr_vec3 p = v3_from(loop->half);
  double c = loop->half[3];
  if (!(c > ORR_LOOP_NEAR))
    return turn;
  orr_vec3 p_rate = v3_scale(0.5, v3_madd(v3_cross(spin, p), c, spin));
  double c_rate = -0.5 * v3_dot(spin, p);
  orr_vec3 sum = v3_madd(v3_madd(v3_zero(), c_rate, spin), c, turn);
  return v3_add(sum, v3_add(v3_cross(turn, p), v3_cross(spin, p_rate)));
}

/* ẇ·t + w·ṫ, and the same across: with ρ = P − p_B
 *   w = v_B + ω_B × ρ − v_A − ω_A × (d + ρ),   ρ̇ = −r (ṫ × a + t × (ω_B × a)),   ṫ from t = (a × n)/|a × n| */
static void rolling_acceleration(const struct orr_loop *loop, const struct node_motion *a, const struct node_motion *b,
                                 double *out) {
  struct orr_contact c;
  out[0] = 0;
  if (loop->rows > 1)
    out[1] = 0;
  if (!orr_loop_contact(loop, &c))
    return;
  orr_vec3 arm = v3_add(loop->d, c.arm);
  orr_vec3 w = v3_sub(v3_add(b->v, v3_cross(b->omega, c.arm)), v3_add(a->v, v3_cross(a->omega, arm)));
  orr_vec3 axis_rate = v3_cross(b->omega, c.axis), normal_rate = v3_cross(a->omega, loop->normal);
  orr_vec3 m_rate = v3_add(v3_cross(axis_rate, loop->normal), v3_cross(c.axis, normal_rate));
  orr_vec3 t_rate = v3_scale(1 / c.sine, v3_madd(m_rate, -v3_dot(c.along, m_rate), c.along));
  orr_vec3 s_rate = v3_add(v3_cross(normal_rate, c.along), v3_cross(loop->normal, t_rate));
  orr_vec3 rho_rate = v3_scale(-loop->radius, v3_add(v3_cross(t_rate, c.axis), v3_cross(c.along, axis_rate)));
  orr_vec3 d_rate = v3_sub(b->v, a->v);
  orr_vec3 of_b = v3_add(b->alpha.v, v3_add(v3_cross(b->alpha.w, c.arm), v3_cross(b->omega, rho_rate)));
  orr_vec3 of_a = v3_add(a->alpha.v, v3_add(v3_cross(a->alpha.w, arm), v3_cross(a->omega, v3_add(d_rate, rho_rate))));
  orr_vec3 w_rate = v3_sub(of_b, of_a);
  out[0] = v3_dot(w_rate, c.along) + v3_dot(w, t_rate);
  if (loop->rows > 1)
    out[1] = v3_dot(w_rate, c.side) + v3_dot(w, s_rate);
}

void orr_loop_acceleration(const struct orr_loops *l, const struct orr_workspace *ws, int i, const double *accel,
                           double *out) {
  const struct orr_model *m = l->model;
  const struct orr_loop *loop = &l->loops[i];
  if (loop->kind == ORR_LOOP_GEAR) {
    out[0] = accel[m->limbs[loop->limb[1]].hinge_u] - loop->ratio * accel[m->limbs[loop->limb[0]].hinge_u] -
             (loop->driven >= 0 ? loop->accel : 0);
    return;
  }
  struct node_motion a = motion_of(m, ws, loop->node[0]);
  struct node_motion b = seen_from_first(loop, motion_of(m, ws, loop->node[1]));
  orr_vec3 d = loop->d, rate = v3_sub(b.v, a.v), accel_d = v3_sub(b.alpha.v, a.alpha.v);
  if (loop->kind == ORR_LOOP_DISTANCE) {
    out[0] = distance_acceleration(d, rate, accel_d) - (loop->driven >= 0 ? loop->accel : 0);
    return;
  }
  if (loop->kind == ORR_LOOP_ROLLING) {
    rolling_acceleration(loop, &a, &b, out);
    return;
  }
  orr_vec3 spin = v3_sub(b.omega, a.omega), turn = v3_sub(v3_sub(b.alpha.w, a.alpha.w), v3_cross(a.omega, spin));
  if (loop->kind == ORR_LOOP_WELD) {
    v3_to(out, weld_acceleration(loop, spin, turn));
    out += 3;
  } else if (loop->kind == ORR_LOOP_REVOLUTE) {
    revolute_acceleration(loop, spin, turn, out);
    out += 2;
    if (loop->driven >= 0)
      *out++ = angle_acceleration(loop, spin, turn) - loop->accel;
  }
  orr_vec3 phi = v3_sub(accel_d, v3_cross(a.alpha.w, d));
  phi = v3_add(phi, v3_cross(a.omega, v3_madd(v3_cross(a.omega, d), -2, rate)));
  v3_to(out, phi);
}

void orr_loops_velocity(const struct orr_loops *l, const double *u, double *out) {
  for (int r = 0; r < l->row_count; r++) {
    const double *g = l->g.a + (size_t)r * (size_t)l->g.width;
    out[r] = 0;
    for (int c = 0; c < l->column_count; c++)
      out[r] += g[c] * u[l->column_u[c]];
  }
  for (int i = 0; i < l->count; i++)
    if (l->loops[i].driven >= 0)
      out[l->loops[i].row + l->loops[i].driven] -= l->loops[i].rate;
}
