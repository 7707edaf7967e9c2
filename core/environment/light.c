/* Shadow. With apparent radii a of the Sun and b of the body, a distance c between their centres on the sky and
 * x = (c² + a² − b²)/2c, y² = a² − x², the covered part of the Sun's disc is
 *
 *   (a² acos(x/a) + b² acos((c − x)/b) − c y)/(π a²)      (Montenbruck and Gill, 3.4.2)
 *
 * Light on a plate with normal n, light from s, cos θ = n·s > 0, irradiance E (the same, 3.4):
 *
 *   F = −(E A cos θ / c) ((1 − ρs) s + 2 (ρs cos θ + ρd/3) n)
 *
 * Drag on a plate that moves with v through air of density ρ, n·v > 0: F = −½ ρ cD A (n·v) v.
 *
 * A sphere that reflects as Lambert's law says sends, at phase angle ψ and distance r (the angle between the Sun and
 * the observer as the sphere sees them), the irradiance of a point at its centre
 *
 *   E = (2/3) α E☉ (R/r)² (sin ψ + (π − ψ) cos ψ)/π,   and by its heat M: E = M (R/r)²
 *
 * the first of which is exact far away (Lambert's phase law; the geometric albedo is 2/3 of Bond's).
 */
#include "core/environment/light.h"

#include "core/math/elementary.h"

static const double pi = 3.14159265358979323846;

double orr_light_visible(orr_vec3 body, double radius, orr_vec3 sun, double sun_radius) {
  double r = v3_norm(body), d = v3_norm(sun);
  if (r <= radius)
    return 0;
  double a = orr_asin(orr_min(1, sun_radius / d)), b = orr_asin(radius / r);
  double c = orr_atan2(v3_norm(v3_cross(body, sun)), v3_dot(body, sun));
  if (c >= a + b || d <= r - radius)
    return 1;
  if (c <= b - a)
    return 0;
  if (c <= a - b)
    return 1 - b * b / (a * a);
  double x = (c * c + a * a - b * b) / (2 * c), y = sqrt(orr_max(0, a * a - x * x));
  double covered =
      a * a * orr_acos(orr_max(-1, orr_min(1, x / a))) + b * b * orr_acos(orr_max(-1, orr_min(1, (c - x) / b))) - c * y;
  return 1 - covered / (pi * a * a);
}

double orr_light_irradiance(double distance) { return ORR_SUN_POWER / (4 * pi * distance * distance); }

orr_vec3 orr_plate_light(const struct orr_plate *plate, double irradiance, orr_vec3 from) {
  double cosine = v3_dot(plate->normal, from);
  if (cosine <= 0)
    return v3_zero();
  double push = irradiance * plate->area * cosine / ORR_LIGHT_SPEED;
  orr_vec3 f = v3_scale(-push * (1 - plate->specular), from);
  return v3_madd(f, -2 * push * (plate->specular * cosine + plate->diffuse / 3), plate->normal);
}

orr_vec3 orr_plate_drag(const struct orr_plate *plate, double density, orr_vec3 v) {
  double into = v3_dot(plate->normal, v);
  return into <= 0 ? v3_zero() : v3_scale(-0.5 * density * plate->drag * plate->area * into, v);
}

double orr_light_reflected(const struct orr_planet_light *planet, double radius, orr_vec3 at, orr_vec3 sun) {
  double r = v3_norm(at), phase = orr_atan2(v3_norm(v3_cross(at, sun)), v3_dot(at, sun)), part = radius / r;
  double lit = (orr_sin(phase) + (pi - phase) * orr_cos(phase)) / pi;
  return 2.0 / 3 * planet->albedo * orr_light_irradiance(v3_norm(sun)) * part * part * lit;
}

double orr_light_emitted(const struct orr_planet_light *planet, double radius, double distance) {
  double part = radius / distance;
  return planet->emission * part * part;
}
