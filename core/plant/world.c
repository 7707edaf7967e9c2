/* Gravity at r from the central body, with its field turned by F (v_fixed = F v):
 *
 *   g = Fᵀ ∇V(F r) + Σ μ_k [(s_k − r)/|s_k − r|³ − s_k/|s_k|³],   Γ = ∂g/∂r
 *
 * With d from the base of a spacecraft, a part of mass m at d feels m (g_base − a + Γ d), where a is the acceleration
 * of the reference; on a rigid body with first moment s and inertia I about a point p that is
 *
 *   F = m a_p + Γ s,   N = s × a_p − axial(I Γ),   a_p = g_base − a + Γ p,   axial(X)_x = X_yz − X_zy …
 *
 * (about the mass centre, with Γ = μ/r³ (3 e eᵀ − 1), N = 3 μ/r³ e × I e). Flexible bodies feel it node by node.
 */
#include "core/plant/world.h"

#include "core/environment/ellipsoid.h"
#include "core/math/elementary.h"
#include "core/plant/world_forces.h"
#include "core/tree/kinematics.h"

/* IAU 2015 and DE440, m³/s². */
static const double mu_sun = 1.32712440041279419e20, mu_earth = 3.98600435507e14, mu_moon = 4.902800118e12;

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static int root_limb(const struct orr_model *m, int k) {
  while (m->limbs[k].parent >= 0)
    k = m->limbs[k].parent;
  return k;
}

static struct orr_world *layout(struct orr_block *b, const struct orr_model *m, const struct orr_world_desc *d,
                                struct orr_world *w) {
  struct orr_world *self = ORR_TAKE(b, struct orr_world, 1);
  w->root = ORR_TAKE(b, int, m->body_count);
  w->roots = ORR_TAKE(b, int, m->body_count);
  w->base = ORR_TAKE(b, orr_vec3, m->body_count);
  w->pull = ORR_TAKE(b, orr_vec3, m->body_count);
  w->gradient = ORR_TAKE(b, orr_sym3, m->body_count);
  w->surface_node = ORR_TAKE(b, int, d->surface_count);
  w->us76 = d->atmosphere == ORR_US76 ? ORR_TAKE(b, struct orr_us76, 1) : NULL;
  w->nrlmsise = d->atmosphere == ORR_NRLMSISE ? ORR_TAKE(b, struct orr_nrlmsise_model, 1) : NULL;
  return self;
}

static int stored(int number) { return number > 1 ? number : 1; }

size_t orr_world_size(const struct orr_model *model, const struct orr_world_desc *desc) {
  struct orr_block b = {0};
  struct orr_world w = {0};
  layout(&b, model, desc, &w);
  if (desc->magnetic.degree)
    b.used += orr_magnetic_size(desc->magnetic.degree);
  return b.used + orr_sky_size(desc->sky.duration) + orr_harmonics_size(stored(desc->degree), stored(desc->order));
}

static void list_roots(struct orr_world *w, const struct orr_model *m) {
  w->roots[0] = m->limb_of_body[w->desc->body];
  w->root_count = 1;
  for (int k = 0; k < m->body_count; k++)
    if (m->limbs[k].parent < 0 && k != w->roots[0])
      w->roots[w->root_count++] = k;
  for (int k = 0; k < m->body_count; k++)
    for (int i = 0; i < w->root_count; i++)
      if (w->roots[i] == root_limb(m, k))
        w->root[k] = i;
}

static void fill_field(struct orr_world *w) {
  const struct orr_world_desc *d = w->desc;
  for (size_t i = 0; i < d->term_count; i++)
    orr_harmonics_set(w->gravity, d->terms[i].n, d->terms[i].m, d->terms[i].c, d->terms[i].s);
}

struct orr_world *orr_world_init(void *block, size_t bytes, const struct orr_model *model, struct orr_workspace *ws,
                                 const struct orr_world_desc *desc) {
  if (!block || bytes < orr_world_size(model, desc))
    return NULL;
  struct orr_block b = {.base = block, .size = bytes};
  struct orr_world w = {.desc = desc, .model = model}, *self = layout(&b, model, desc, &w);
  size_t field = orr_harmonics_size(stored(desc->degree), stored(desc->order)), sky = orr_sky_size(desc->sky.duration);
  w.gravity = orr_harmonics_init(ORR_TAKE(&b, char, field), field, desc->mu, desc->radius, stored(desc->degree),
                                 stored(desc->order));
  w.sky = orr_sky_init(ORR_TAKE(&b, char, sky), sky, &desc->sky);
  if (desc->magnetic.degree) {
    size_t magnetic = orr_magnetic_size(desc->magnetic.degree);
    w.magnetic = orr_magnetic_init(ORR_TAKE(&b, char, magnetic), magnetic, &desc->magnetic);
    orr_magnetic_set_year(w.magnetic, orr_moment_year(desc->sky.epoch));
  }
  if (w.us76)
    orr_us76_init(w.us76);
  if (w.nrlmsise)
    orr_nrlmsise_init(w.nrlmsise);
  for (size_t i = 0; i < desc->surface_count; i++)
    w.surface_node[i] = orr_model_node(model, desc->surfaces[i].body, desc->surfaces[i].node);
  *self = w;
  fill_field(self);
  list_roots(self, model);
  ws->world = self;
  return self;
}

/* ---- gravity ----------------------------------------------------------------------------------------------------- */

/* A third body at s: what it does at r more than at the centre, with its gradient. */
static orr_vec3 third(double mu, orr_vec3 s, orr_vec3 r, orr_sym3 *gradient) {
  orr_vec3 d = v3_sub(s, r);
  double near = v3_norm(d), far = v3_norm(s), k = mu / (near * near * near), q = 3 * k / (near * near);
  gradient->xx += q * d.x * d.x - k;
  gradient->yy += q * d.y * d.y - k;
  gradient->zz += q * d.z * d.z - k;
  gradient->xy += q * d.x * d.y;
  gradient->xz += q * d.x * d.z;
  gradient->yz += q * d.y * d.z;
  return v3_madd(v3_scale(k, d), -mu / (far * far * far), s);
}

/* At a place from the centre; `thirds` is the part of third bodies. */
static orr_vec3 gravity(const struct orr_world *w, orr_vec3 r, orr_sym3 *gradient, orr_vec3 *thirds) {
  const struct orr_world_desc *d = w->desc;
  const struct orr_sky_now *sky = &w->now.sky;
  orr_vec3 g = v3_zero();
  *gradient = s3_zero();
  *thirds = v3_zero();
  if (!d->attracts)
    return g;
  g = m3_apply_t(sky->fixed, orr_harmonics_hessian(w->gravity, m3_apply(sky->fixed, r), gradient));
  *gradient = s3_rotate(m3_transpose(sky->fixed), *gradient);
  if (d->sun)
    *thirds = third(mu_sun, sky->sun, r, gradient);
  if (d->moon)
    *thirds = v3_add(*thirds, third(mu_moon, sky->moon, r, gradient));
  if (d->earth)
    *thirds = v3_add(*thirds, third(mu_earth, sky->earth, r, gradient));
  return v3_add(g, *thirds);
}

static void pull_spacecraft(struct orr_world *w, const struct orr_workspace *ws) {
  for (int i = 0; i < w->root_count; i++) {
    orr_vec3 thirds;
    w->base[i] = ws->limbs[w->roots[i]].position;
    orr_vec3 g = gravity(w, v3_add(w->now.r, w->base[i]), &w->gradient[i], &thirds);
    if (i == 0) {
      w->now.a = g;
      w->now.third = thirds;
    }
    w->pull[i] = v3_sub(g, w->now.a);
  }
}

static orr_vec3 pull_at(const struct orr_world *w, int i, orr_vec3 place) {
  return v3_add(w->pull[i], s3_apply(w->gradient[i], v3_sub(place, w->base[i])));
}

orr_vec3 orr_world_tide(const struct orr_world *world, orr_vec3 relative) {
  int nearest = 0;
  for (int i = 1; i < world->root_count; i++)
    if (v3_norm(v3_sub(relative, world->base[i])) < v3_norm(v3_sub(relative, world->base[nearest])))
      nearest = i;
  return pull_at(world, nearest, relative);
}

/* −axial(I Γ) */
static orr_vec3 gradient_torque(orr_sym3 i, orr_sym3 g) {
  const double a[3][3] = {{i.xx, i.xy, i.xz}, {i.xy, i.yy, i.yz}, {i.xz, i.yz, i.zz}};
  const double b[3][3] = {{g.xx, g.xy, g.xz}, {g.xy, g.yy, g.yz}, {g.xz, g.yz, g.zz}};
  double x[3][3];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      x[r][c] = a[r][0] * b[0][c] + a[r][1] * b[1][c] + a[r][2] * b[2][c];
  return v3(x[2][1] - x[1][2], x[0][2] - x[2][0], x[1][0] - x[0][1]);
}

static void attract_rigid(const struct orr_world *w, struct orr_workspace *ws, int k) {
  const struct orr_limb_state *limb = &ws->limbs[k];
  const struct orr_rigid *body = &ws->rigids[k];
  orr_sym3 g = s3_rotate(m3_transpose(limb->attitude), w->gradient[w->root[k]]);
  orr_vec3 a = m3_apply_t(limb->attitude, pull_at(w, w->root[k], limb->position));
  orr_vec3 force = v3_add(v3_scale(body->mass, a), s3_apply(g, body->s));
  orr_vec3 moment = v3_add(v3_cross(body->s, a), gradient_torque(body->i, g));
  ws->external[k] = sp_add(ws->external[k], (orr_spatial){moment, force});
}

static void attract_nodes(const struct orr_world *w, struct orr_workspace *ws, int body) {
  const struct orr_model *m = w->model;
  int k = m->limb_of_body[body];
  for (int j = m->node_first[body]; j < m->node_first[body + 1]; j++) {
    const struct orr_modal_node *node = &ws->nodes[j];
    if (!(node->mass > 0))
      continue;
    struct orr_node_state at;
    orr_node_query(m, ws, j, &at);
    orr_mat3 turn = m3_mul(at.attitude, m->limbs[k].c); /* solver axes of the node → inertial */
    orr_vec3 com = m3_apply(turn, node->com);
    orr_vec3 force = v3_scale(node->mass, pull_at(w, w->root[k], v3_add(at.position, com)));
    orr_vec3 moment = gradient_torque(s3_rotate(turn, node->inertia), w->gradient[w->root[k]]);
    orr_force_add(m, ws, j, ORR_AXES_INERTIAL, force, v3_add(moment, v3_cross(com, force)));
  }
}

static void attract(const struct orr_world *w, struct orr_workspace *ws) {
  const struct orr_model *m = w->model;
  for (int b = 0; b < m->body_count; b++) {
    int k = m->limb_of_body[b];
    if (m->limbs[k].flex < 0)
      attract_rigid(w, ws, k);
    else
      attract_nodes(w, ws, b);
  }
}

/* ---- what is there at a place ------------------------------------------------------------------------------------ */

orr_vec3 orr_world_place(const struct orr_world *world, orr_vec3 relative) { return v3_add(world->now.r, relative); }

orr_vec3 orr_world_field(const struct orr_world *world, orr_vec3 relative) {
  if (!world->magnetic)
    return v3_zero();
  orr_vec3 at = m3_apply(world->now.sky.fixed, orr_world_place(world, relative));
  return m3_apply_t(world->now.sky.fixed, orr_magnetic_field(world->magnetic, at));
}

/* Local apparent time is that of the Sun's hour angle. */
static double nrlmsise_density(const struct orr_world *w, struct orr_geodetic g) {
  const double degree = 0.017453292519943295;
  orr_vec3 sun = m3_apply(w->now.sky.fixed, w->now.sky.sun);
  double seconds, day = orr_moment_day_of_year(orr_moment_add(w->desc->sky.epoch, w->now.t), &seconds);
  double hour_angle = (g.longitude - orr_atan2(sun.y, sun.x)) / degree, time = 12 + hour_angle / 15;
  const struct orr_nrlmsise_input in = {.day_of_year = floor(day),
                                        .seconds = seconds,
                                        .altitude_km = 1e-3 * g.height,
                                        .latitude_deg = g.latitude / degree,
                                        .longitude_deg = g.longitude / degree,
                                        .solar_time_h = time - 24 * floor(time / 24),
                                        .f107_average = w->desc->f107_average,
                                        .f107 = w->desc->f107,
                                        .ap = w->desc->ap};
  struct orr_nrlmsise air;
  orr_nrlmsise_evaluate(w->nrlmsise, &in, &air);
  return air.density_drag;
}

double orr_world_density(const struct orr_world *world, orr_vec3 relative) {
  const struct orr_world_desc *d = world->desc;
  if (d->atmosphere == ORR_NO_ATMOSPHERE)
    return 0;
  struct orr_ellipsoid shape = d->sky.central == ORR_EARTH ? orr_wgs84 : (struct orr_ellipsoid){d->radius, 0};
  orr_vec3 at = m3_apply(world->now.sky.fixed, orr_world_place(world, relative));
  struct orr_geodetic g = orr_geodetic_of(&shape, at);
  if (d->atmosphere == ORR_EXPONENTIAL)
    return d->density * orr_exp(-(g.height - d->base) / d->scale);
  return d->atmosphere == ORR_US76 ? orr_us76_density(world->us76, g.height) : nrlmsise_density(world, g);
}

double orr_world_sunshine(const struct orr_world *world, orr_vec3 relative) {
  if (!world->desc->eclipse)
    return 1;
  orr_vec3 at = orr_world_place(world, relative);
  return orr_light_visible(v3_neg(at), world->desc->radius, v3_sub(world->now.sky.sun, at), ORR_SUN_RADIUS);
}

/* ---- the reference ----------------------------------------------------------------------------------------------- */

/* hi + lo += by */
static void add(double *hi, double *lo, double by) {
  double rest = *lo + by, sum = *hi + rest;
  *lo = rest - (sum - *hi);
  *hi = sum;
}

/* The stages of the step that is complete, by the weights of the rule. */
void orr_world_settle(struct orr_world *w) {
  static const double rk4[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}, heun[4] = {0.5, 0.5, 0, 0},
                      euler[4] = {1, 0, 0, 0};
  struct orr_world_state *s = w->state;
  enum orr_integrator rule = w->desc->integrator;
  const double *weight = rule == ORR_RK4 ? rk4 : rule == ORR_SEMI_IMPLICIT ? euler : heun;
  double h = s->step;
  if (h == 0)
    return;
  s->step = 0;
  for (int k = 0; k < 3; k++) {
    double dv = 0, dr = 0;
    for (int i = 0; i < 4 && weight[i] > 0; i++) {
      dv += weight[i] * s->kv[i][k];
      dr += weight[i] * s->kr[i][k];
    }
    if (rule == ORR_SEMI_IMPLICIT)
      dr += h * dv;
    add(&s->v[k], &s->v_rest[k], h * dv);
    add(&s->r[k], &s->r_rest[k], h * dr);
  }
}

/* The reference, the time and the sky of an evaluation. */
static void set_stage(struct orr_world *w, const struct orr_evaluation_point *point) {
  const struct orr_world_state *s = w->state;
  double h = 1e-9 * (double)point->step_ns * point->part, r[3], v[3];
  for (int k = 0; k < 3; k++) {
    bool start = point->index <= 0;
    r[k] = s->r[k] + (s->r_rest[k] + (start ? 0 : h * s->kr[point->index - 1][k]));
    v[k] = s->v[k] + (s->v_rest[k] + (start ? 0 : h * s->kv[point->index - 1][k]));
  }
  w->now.r = v3_from(r);
  w->now.v = v3_from(v);
  double t = 1e-9 * (double)point->start_ns + h;
  if (t != w->now.t || point->index <= 0) {
    w->now.t = t;
    orr_sky_at(w->sky, t, &w->now.sky);
  }
}

void orr_world_act(struct orr_world *w, struct orr_workspace *ws, const struct orr_evaluation_point *point) {
  if (point->index <= 0)
    orr_world_settle(w);
  set_stage(w, point);
  pull_spacecraft(w, ws);
  attract(w, ws);
  orr_world_press(w, ws, true);
  if (point->index < 0)
    return;
  struct orr_world_state *s = w->state;
  v3_to(s->kr[point->index], w->now.v);
  v3_to(s->kv[point->index], w->now.a);
  static const int last[ORR_INTEGRATOR_COUNT] = {
      [ORR_RK4] = 3, [ORR_HEUN] = 1, [ORR_SEMI_IMPLICIT] = 0, [ORR_IMPLICIT_MODAL] = 1};
  if (point->index == last[w->desc->integrator])
    s->step = 1e-9 * (double)point->step_ns;
}

void orr_world_observe(struct orr_world *w, struct orr_workspace *ws, double time_s) {
  const struct orr_evaluation_point point = {.start_ns = (int64_t)rint(1e9 * time_s), .index = -1};
  orr_world_settle(w);
  set_stage(w, &point);
  pull_spacecraft(w, ws);
  orr_world_press(w, ws, false);
}
