/* The devices that a world is to the plant: itself, the place of each spacecraft, and pointing at what moves.
 *
 *   environment.position, .velocity   of the reference, from the centre of the central body, GCRS axes
 *   environment.gravity               its acceleration; .third_bodies the part of Sun, Moon and Earth
 *   environment.sun                   unit vector from the reference to the Sun; .sunlight the part of it that is seen
 *   environment.beta                  angle of the Sun above the plane of the orbit
 *   environment.latitude, .longitude, .altitude     geodetic
 *   environment.magnetic_field, .density, .drag, .light     where the run has them; at the first spacecraft
 *   <body>.orbit_position, .orbit_velocity          of a spacecraft's base: reference plus offset
 */
#include "core/environment/ellipsoid.h"
#include "core/math/elementary.h"
#include "core/plant/world_forces.h"
#include "core/tree/kinematics.h"

/* ---- the world itself -------------------------------------------------------------------------------------------- */

static bool has_third(const void *p) {
  const struct orr_world_desc *d = p;
  return d->sun || d->moon || d->earth;
}
static bool has_field(const void *p) { return ((const struct orr_world_desc *)p)->magnetic.degree > 0; }
static bool has_air(const void *p) { return ((const struct orr_world_desc *)p)->atmosphere != ORR_NO_ATMOSPHERE; }
static bool has_drag(const void *p) { return has_air(p) && ((const struct orr_world_desc *)p)->surface_count > 0; }
static bool has_light(const void *p) {
  const struct orr_world_desc *d = p;
  return (d->sunlight || d->planet.albedo > 0 || d->planet.emission > 0) && d->surface_count > 0;
}

static const struct orr_device_channel world_channels[] = {
    {.name = "position",
     .doc = "reference point, from the centre of the central body, inertial axes",
     .unit = "m",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "velocity",
     .doc = "velocity of the reference point, inertial axes",
     .unit = "m/s",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "gravity",
     .doc = "acceleration of the reference point, inertial axes",
     .unit = "m/s^2",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "third_bodies",
     .doc = "the part of it that Sun, Moon and Earth give",
     .unit = "m/s^2",
     .count = 3,
     .elements = orr_channel_xyz,
     .present = has_third},
    {.name = "sun",
     .doc = "unit vector from the reference point to the Sun, inertial axes",
     .unit = "",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "sunlight", .doc = "part of the Sun that is seen, 0 to 1", .unit = "", .count = 1},
    {.name = "beta", .doc = "angle of the Sun above the plane of the orbit", .unit = "rad", .count = 1},
    {.name = "latitude", .doc = "geodetic latitude of the reference point", .unit = "rad", .count = 1},
    {.name = "longitude", .doc = "its longitude", .unit = "rad", .count = 1},
    {.name = "altitude", .doc = "its geodetic altitude", .unit = "m", .count = 1},
    {.name = "magnetic_field",
     .doc = "magnetic field at the spacecraft, inertial axes",
     .unit = "T",
     .count = 3,
     .elements = orr_channel_xyz,
     .present = has_field},
    {.name = "density",
     .doc = "density of the air at the spacecraft",
     .unit = "kg/m^3",
     .count = 1,
     .present = has_air},
    {.name = "drag",
     .doc = "force of the air on all surfaces, inertial axes",
     .unit = "N",
     .count = 3,
     .elements = orr_channel_xyz,
     .present = has_drag},
    {.name = "light",
     .doc = "force of light on all surfaces, inertial axes",
     .unit = "N",
     .count = 3,
     .elements = orr_channel_xyz,
     .present = has_light},
};

static void world_reset(const struct orr_device *device) {
  const struct orr_world_desc *d = device->params;
  struct orr_world_state *s = device->state;
  *s = (struct orr_world_state){0};
  memcpy(s->r, d->position, sizeof s->r);
  memcpy(s->v, d->velocity, sizeof s->v);
}

static void world_apply(const struct orr_device *device, const struct orr_acting *now) {
  struct orr_world *w = now->ws->world;
  w->state = device->state;
  orr_world_act(w, now->ws, now->point);
}

static double *put(double *out, orr_vec3 a) {
  v3_to(out, a);
  return out + 3;
}

static void world_sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct orr_world_desc *d = device->params;
  struct orr_world *w = now->ws->world;
  w->state = device->state;
  orr_world_observe(w, now->ws, now->time_s);
  const struct orr_world_now *n = &w->now;
  struct orr_ellipsoid shape = d->sky.central == ORR_EARTH ? orr_wgs84 : (struct orr_ellipsoid){d->radius, 0};
  struct orr_geodetic g = orr_geodetic_of(&shape, m3_apply(n->sky.fixed, n->r));
  orr_vec3 sun = v3_sub(n->sky.sun, n->r), normal = v3_cross(n->r, n->v);
  sun = v3_scale(1 / v3_norm(sun), sun);
  out = put(put(put(out, n->r), n->v), n->a);
  if (has_third(d))
    out = put(out, n->third);
  out = put(out, sun);
  *out++ = orr_world_sunshine(w, w->base[0]);
  *out++ = orr_atan2(v3_dot(sun, normal), v3_norm(v3_cross(sun, normal)));
  *out++ = g.latitude;
  *out++ = g.longitude;
  *out++ = g.height;
  if (has_field(d))
    out = put(out, orr_world_field(w, w->base[0]));
  if (has_air(d))
    *out++ = orr_world_density(w, w->base[0]);
  if (has_drag(d))
    out = put(out, n->drag);
  if (has_light(d))
    put(out, n->light);
}

const struct orr_device_kind orr_world_kind = {
    .name = "environment",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    .channels = world_channels,
    .channel_count = sizeof world_channels / sizeof *world_channels,
    .state_bytes = sizeof(struct orr_world_state),
    .needs_places = true,
    .reset = world_reset,
    .apply = world_apply,
    .sense = world_sense,
};

/* ---- places ------------------------------------------------------------------------------------------------------ */

static const struct orr_device_channel place_channels[] = {
    {.name = "orbit_position",
     .doc = "base of the spacecraft, from the centre of the central body, inertial axes",
     .unit = "m",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "orbit_velocity",
     .doc = "its velocity, inertial axes",
     .unit = "m/s",
     .count = 3,
     .elements = orr_channel_xyz},
};

static void place_sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct orr_world *w = orr_world_of(now->ws);
  struct orr_node_state body;
  orr_body_query(now->model, now->ws, device->body, &body);
  put(put(out, orr_world_place(w, body.position)), v3_add(w->now.v, body.v));
}

const struct orr_device_kind orr_world_place_kind = {
    .name = "orbit",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    .channels = place_channels,
    .channel_count = sizeof place_channels / sizeof *place_channels,
    .sense = place_sense,
};

/* ---- pointing ---------------------------------------------------------------------------------------------------- */

const char *const orr_aim_names[ORR_AIM_COUNT + 1] = {"lvlh", "nadir",  "velocity", "sun", "earth",
                                                      "moon", "ground", "node",     NULL};

static orr_vec3 unit(orr_vec3 a) {
  double length = v3_norm(a);
  return length > 0 ? v3_scale(1 / length, a) : a;
}

/* Columns x, y, z. */
static orr_mat3 columns(orr_vec3 x, orr_vec3 y, orr_vec3 z) {
  return (orr_mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
}

orr_mat3 orr_aim_axes(enum orr_aim aim, orr_vec3 r, orr_vec3 v, orr_vec3 to) {
  orr_vec3 down = unit(v3_neg(r)), side = unit(v3_cross(v, r)), along = unit(v);
  switch (aim) {
  case ORR_AIM_VELOCITY: /* x along the velocity, y against the orbit's normal */
    return columns(along, side, v3_cross(along, side));
  case ORR_AIM_SUN: /* z to it, y away from the orbit's normal as far as that is across */
  case ORR_AIM_EARTH:
  case ORR_AIM_MOON:
  case ORR_AIM_GROUND:
  case ORR_AIM_NODE: {
    orr_vec3 s = v3_norm(to) > 0 ? unit(to) : down; /* two nodes may meet */
    orr_vec3 y = v3_madd(side, -v3_dot(side, s), s);
    if (v3_norm(y) < 1e-6) /* it stands on the normal */
      y = v3_madd(along, -v3_dot(along, s), s);
    y = unit(y);
    return columns(v3_cross(y, s), y, s);
  }
  default: /* z down, y against the orbit's normal; x is then ahead */
    return columns(v3_cross(side, down), side, down);
  }
}

static const struct orr_device_channel pointing_channels[] = {
    {.name = "target",
     .doc = "the attitude that the node should have",
     .unit = "",
     .count = 4,
     .elements = orr_channel_xyzw},
    {.name = "pointing_error", .doc = "angle between the node's attitude and the target", .unit = "rad", .count = 1},
};

struct pointing_state {
  double last[4];
};

/* What the aim looks at, from the pointed node at `place`; r from the centre. */
static orr_vec3 target_of(const struct orr_world_pointing *p, const struct orr_sensing *now, orr_vec3 place,
                          orr_vec3 r) {
  const struct orr_world *w = orr_world_of(now->ws);
  const struct orr_sky_now *sky = &w->now.sky;
  struct orr_node_state node;
  switch ((enum orr_aim)p->aim) {
  case ORR_AIM_EARTH:
    return v3_sub(sky->earth, r);
  case ORR_AIM_MOON:
    return v3_sub(sky->moon, r);
  case ORR_AIM_GROUND:
    return v3_sub(m3_apply_t(sky->fixed, v3_from(p->ground)), r);
  case ORR_AIM_NODE: /* relative to the reference, so that neighbours lose no digits */
    orr_node_query(now->model, now->ws, orr_model_node(now->model, p->body, p->node), &node);
    return v3_sub(node.position, place);
  default:
    return v3_sub(sky->sun, r);
  }
}

static void pointing_sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct orr_world_pointing *p = device->params;
  const struct orr_world *w = orr_world_of(now->ws);
  struct pointing_state *s = device->state;
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  orr_vec3 r = orr_world_place(w, node.position), v = v3_add(w->now.v, node.v);
  double aim[4], is[4], off[4], sign = 0;
  quat_from_matrix(orr_aim_axes((enum orr_aim)p->aim, r, v, target_of(p, now, node.position, r)), aim);
  quat_mul(aim, p->offset, out);
  quat_normalise(out);
  for (int k = 0; k < 4; k++)
    sign += out[k] * s->last[k];
  for (int k = 0; k < 4; k++)
    s->last[k] = out[k] = sign < 0 ? -out[k] : out[k];
  quat_from_matrix(node.attitude, is);
  const double back[4] = {-out[0], -out[1], -out[2], out[3]};
  quat_mul(back, is, off);
  out[4] = 2 * orr_atan2(v3_norm(v3_from(off)), fabs(off[3]));
}

/* The axes of the target dt later: r + v dt + g dt²/2, v + g dt, with what is looked at on its way. */
static orr_mat3 axes_later(const struct orr_device *device, const struct orr_workspace *ws, double dt) {
  const struct orr_world_pointing *p = device->params;
  const struct orr_world *w = orr_world_of(ws);
  struct orr_node_state node, other;
  struct orr_sky_now sky;
  orr_node_query(w->model, ws, device->node, &node);
  orr_sky_at(w->sky, w->now.t + dt, &sky);
  orr_vec3 g = v3_add(w->now.a, orr_world_tide(w, node.position)), v = v3_add(w->now.v, node.v), to = v3_zero();
  orr_vec3 r = v3_madd(v3_madd(orr_world_place(w, node.position), dt, v), 0.5 * dt * dt, g);
  if (p->aim == ORR_AIM_EARTH)
    to = v3_sub(sky.earth, r);
  else if (p->aim == ORR_AIM_MOON)
    to = v3_sub(sky.moon, r);
  else if (p->aim == ORR_AIM_GROUND)
    to = v3_sub(m3_apply_t(sky.fixed, v3_from(p->ground)), r);
  else if (p->aim == ORR_AIM_SUN)
    to = v3_sub(sky.sun, r);
  else if (p->aim == ORR_AIM_NODE) {
    orr_node_query(w->model, ws, orr_model_node(w->model, p->body, p->node), &other);
    to = v3_madd(v3_sub(other.position, node.position), dt, v3_sub(other.v, node.v));
  }
  return orr_aim_axes((enum orr_aim)p->aim, r, v3_madd(v, dt, g), to);
}

static orr_vec3 column(orr_mat3 m, int k) { return v3(m.m[0][k], m.m[1][k], m.m[2][k]); }

/* ½ Σ a × ȧ over the columns, ȧ = (8 (a(h) − a(−h)) − (a(2h) − a(−2h)))/12h. */
orr_vec3 orr_world_aim_rate(const struct orr_device *device, const struct orr_workspace *ws) {
  static const double h = 0.05;
  orr_mat3 now = axes_later(device, ws, 0), near[2] = {axes_later(device, ws, -h), axes_later(device, ws, h)},
           far[2] = {axes_later(device, ws, -2 * h), axes_later(device, ws, 2 * h)};
  orr_vec3 rate = v3_zero();
  for (int k = 0; k < 3; k++) {
    orr_vec3 slope = v3_scale(8, v3_sub(column(near[1], k), column(near[0], k)));
    slope = v3_sub(slope, v3_sub(column(far[1], k), column(far[0], k)));
    rate = v3_madd(rate, 0.5 / (12 * h), v3_cross(column(now, k), slope));
  }
  return rate;
}

const struct orr_device_kind orr_world_pointing_kind = {
    .name = "pointing",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    .channels = pointing_channels,
    .channel_count = sizeof pointing_channels / sizeof *pointing_channels,
    .state_bytes = sizeof(struct pointing_state),
    .sense = pointing_sense,
};
