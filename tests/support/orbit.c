#include "tests/support/orbit.h"

#include <math.h>
#include <string.h>

#include "core/environment/ellipsoid.h"
#include "core/tree/kinematics.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wdouble-promotion" /* which is what it is for */
#endif

static orr_quad root(orr_quad x) {
  orr_quad y = sqrt((double)x);
  for (int i = 0; i < 3; i++)
    y = (y + x / y) / 2;
  return y;
}

static void pull_of(orr_quad m, const orr_quad *s, const orr_quad *r, bool third, orr_quad *out) {
  orr_quad d[3], near = 0, far = 0;
  for (int k = 0; k < 3; k++) {
    d[k] = s[k] - r[k];
    near += d[k] * d[k];
    far += s[k] * s[k];
  }
  near = near * root(near);
  far = third ? far * root(far) : 1;
  for (int k = 0; k < 3; k++)
    out[k] += m * d[k] / near - (third ? m * s[k] / far : 0);
}

/* −½ ρ cD A Σ (n·v) v over the plates that meet the air, whose attitude does not change. */
static void drag_on(const struct orr_orbit *p, const struct orr_sky_now *sky, const orr_quad *r, const orr_quad *v,
                    orr_quad *out) {
  const struct orr_world_desc *d = p->world->desc;
  orr_vec3 at = v3((double)r[0], (double)r[1], (double)r[2]);
  struct orr_geodetic g = orr_geodetic_of(&orr_wgs84, m3_apply(sky->fixed, at));
  double density = d->density * exp(-(g.height - d->base) / d->scale);
  orr_vec3 wind = v3_cross(sky->spin, at), speed = v3_sub(v3((double)v[0], (double)v[1], (double)v[2]), wind);
  orr_vec3 sum = v3_zero();
  for (size_t i = 0; i < d->surface_count; i++)
    sum = v3_add(sum, orr_plate_drag(&d->surfaces[i].plate, density, speed));
  out[0] += sum.x / p->mass;
  out[1] += sum.y / p->mass;
  out[2] += sum.z / p->mass;
}

static void slope(const struct orr_orbit *p, double t, const orr_quad *y, orr_quad *out) {
  const struct orr_world_desc *d = p->world->desc;
  struct orr_sky_now sky;
  orr_sky_at(p->world->sky, t, &sky);
  orr_quad zero[3] = {0, 0, 0}, sun[3] = {sky.sun.x, sky.sun.y, sky.sun.z},
           moon[3] = {sky.moon.x, sky.moon.y, sky.moon.z};
  for (int k = 0; k < 3; k++) {
    out[k] = y[3 + k];
    out[3 + k] = 0;
  }
  pull_of(d->mu, zero, y, false, out + 3);
  if (d->sun)
    pull_of(1.32712440041279419e20, sun, y, true, out + 3);
  if (d->moon)
    pull_of(4.902800118e12, moon, y, true, out + 3);
  if (d->term_count) { /* J2 about the pole of the turning axes */
    orr_quad pole[3] = {sky.fixed.m[2][0], sky.fixed.m[2][1], sky.fixed.m[2][2]}, r2 = 0, z = 0;
    for (int k = 0; k < 3; k++) {
      r2 += y[k] * y[k];
      z += pole[k] * y[k];
    }
    orr_quad j2 = -d->terms[0].c * root(5),
             q = (orr_quad)1.5 * j2 * d->mu * d->radius * d->radius / (r2 * r2 * root(r2));
    for (int k = 0; k < 3; k++)
      out[3 + k] -= q * ((1 - 5 * z * z / r2) * y[k] + 2 * z * pole[k]);
  }
  if (d->surface_count)
    drag_on(p, &sky, y, y + 3, out + 3);
}

enum { COLUMNS = 8 };

void orr_orbit_step(const struct orr_orbit *p, double t, double h, orr_quad y[6]) {
  orr_quad table[COLUMNS][6];
  for (int c = 0; c < COLUMNS; c++) {
    int n = 2 * (c + 1);
    double s = h / n;
    orr_quad a[6], b[6], f[6];
    slope(p, t, y, f);
    for (int k = 0; k < 6; k++) {
      a[k] = y[k];
      b[k] = y[k] + s * f[k];
    }
    for (int i = 1; i < n; i++) {
      slope(p, t + i * s, b, f);
      for (int k = 0; k < 6; k++) {
        orr_quad next = a[k] + 2 * s * f[k];
        a[k] = b[k];
        b[k] = next;
      }
    }
    slope(p, t + h, b, f);
    for (int k = 0; k < 6; k++)
      table[c][k] = (a[k] + b[k] + s * f[k]) / 2;
  }
  for (int level = 1; level < COLUMNS; level++)
    for (int c = COLUMNS - 1; c >= level; c--) {
      orr_quad ratio = (orr_quad)(c + 1) / (c + 1 - level);
      for (int k = 0; k < 6; k++)
        table[c][k] += (table[c][k] - table[c - 1][k]) / (ratio * ratio - 1);
    }
  memcpy(y, table[COLUMNS - 1], sizeof table[0]);
}

void orr_orbit_start(const struct orr_flight *f, orr_vec3 com, orr_quad y[6]) {
  const struct orr_world_desc *d = f->session->ws->world->desc;
  struct orr_node_state bus;
  orr_body_query(f->session->model, f->session->ws, 0, &bus);
  orr_vec3 arm = m3_apply(bus.attitude, com), at = v3_add(bus.position, arm),
           v = v3_add(bus.v, v3_cross(bus.omega, arm));
  const double r[3] = {at.x, at.y, at.z}, rate[3] = {v.x, v.y, v.z};
  for (int k = 0; k < 3; k++) {
    y[k] = (orr_quad)d->position[k] + r[k];
    y[3 + k] = (orr_quad)d->velocity[k] + rate[k];
  }
}

double orr_orbit_off(const struct orr_flight *f, orr_vec3 com, const orr_quad y[6]) {
  const struct orr_world_state *s = f->session->ws->world->state; /* the reference is a sum of two */
  struct orr_node_state bus;
  orr_body_query(f->session->model, f->session->ws, 0, &bus);
  orr_vec3 offset = v3_add(bus.position, m3_apply(bus.attitude, com));
  const double o[3] = {offset.x, offset.y, offset.z};
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    double off = (double)((orr_quad)s->r[k] + s->r_rest[k] + o[k] - y[k]);
    sum += off * off;
  }
  return sqrt(sum);
}
