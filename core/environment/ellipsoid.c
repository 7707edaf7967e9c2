#include "core/environment/ellipsoid.h"

#include "core/math/elementary.h"

const struct orr_ellipsoid orr_wgs84 = {6378137, 1 / 298.257223563};

orr_vec3 orr_geodetic_place(const struct orr_ellipsoid *e, struct orr_geodetic g) {
  double s = orr_sin(g.latitude), c = orr_cos(g.latitude), e2 = e->f * (2 - e->f), n = e->a / sqrt(1 - e2 * s * s);
  double across = (n + g.height) * c;
  return v3(across * orr_cos(g.longitude), across * orr_sin(g.longitude), (n * (1 - e2) + g.height) * s);
}

/* The foot of the normal has the reduced latitude β, tan φ = (z + e'² b sin³β)/(p − e² a cos³β), tan β = (1 − f) tan φ:
 * Bowring. Each turn gains some three digits near the surface, and starts with as many. */
struct orr_geodetic orr_geodetic_of(const struct orr_ellipsoid *e, orr_vec3 at) {
  double b = e->a * (1 - e->f), e2 = e->f * (2 - e->f), second = e2 / (1 - e2), p = orr_hypot(at.x, at.y);
  double sb = at.z * e->a, cb = p * b, up = 0, out = 1;
  for (int i = 0; i < 5; i++) {
    double norm = orr_hypot(sb, cb);
    norm = norm > 0 ? 1 / norm : 0;
    sb *= norm;
    cb *= norm;
    up = at.z + second * b * sb * sb * sb;
    out = p - e2 * e->a * cb * cb * cb;
    sb = (1 - e->f) * up;
    cb = out;
  }
  double length = orr_hypot(up, out), s = up / length, c = out / length;
  /* along the normal: p cos φ + z sin φ − a √(1 − e² sin²φ) */
  return (struct orr_geodetic){orr_atan2(up, out), orr_atan2(at.y, at.x),
                               p * c + at.z * s - e->a * sqrt(1 - e2 * s * s)};
}

orr_mat3 orr_geodetic_axes(struct orr_geodetic g) {
  double s = orr_sin(g.latitude), c = orr_cos(g.latitude), sl = orr_sin(g.longitude), cl = orr_cos(g.longitude);
  return (orr_mat3){{{-s * cl, -s * sl, c}, {-sl, cl, 0}, {-c * cl, -c * sl, -s}}};
}
