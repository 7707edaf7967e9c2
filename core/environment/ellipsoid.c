#include "core/environment/ellipsoid.h"

const struct orr_ellipsoid orr_wgs84 = {6378137, 1 / 298.257223563};

orr_vec3 orr_geodetic_place(const struct orr_ellipsoid *e, struct orr_geodetic g) {
  double s = sin(g.latitude), c = cos(g.latitude), e2 = e->f * (2 - e->f), n = e->a / sqrt(1 - e2 * s * s);
  double across = (n + g.height) * c;
  return v3(across * cos(g.longitude), across * sin(g.longitude), (n * (1 - e2) + g.height) * s);
}

/* The foot of the normal has the reduced latitude β, tan φ = (z + e'² b sin³β)/(p − e² a cos³β), tan β = (1 − f) tan φ:
 * Bowring. Each turn gains some three digits near the surface, and starts with as many. */
struct orr_geodetic orr_geodetic_of(const struct orr_ellipsoid *e, orr_vec3 at) {
  double b = e->a * (1 - e->f), e2 = e->f * (2 - e->f), second = e2 / (1 - e2), p = hypot(at.x, at.y);
  double sb = at.z * e->a, cb = p * b, up = 0, out = 1;
  for (int i = 0; i < 5; i++) {
    double norm = hypot(sb, cb);
    norm = norm > 0 ? 1 / norm : 0;
    sb *= norm;
    cb *= norm;
    up = at.z + second * b * sb * sb * sb;
    out = p - e2 * e->a * cb * cb * cb;
    sb = (1 - e->f) * up;
    cb = out;
  }
  double length = hypot(up, out), s = up / length, c = out / length;
  /* along the normal: p cos φ + z sin φ − a √(1 − e² sin²φ) */
  return (struct orr_geodetic){atan2(up, out), atan2(at.y, at.x), p * c + at.z * s - e->a * sqrt(1 - e2 * s * s)};
}

orr_mat3 orr_geodetic_axes(struct orr_geodetic g) {
  double s = sin(g.latitude), c = cos(g.latitude), sl = sin(g.longitude), cl = cos(g.longitude);
  return (orr_mat3){{{-s * cl, -s * sl, c}, {-sl, cl, 0}, {-c * cl, -c * sl, -s}}};
}
