#include "core/plant/device.h"

#include <math.h>

#include "core/math/elementary.h"

void orr_device_limited(const struct orr_device *device, int limit, int64_t frame) {
  struct orr_limited *l = device->limited;
  if (l->met[limit].frames > 0 && l->met[limit].last == frame)
    return;
  if (l->met[limit].frames++ == 0)
    l->met[limit].first = frame;
  l->met[limit].last = frame;
}

double orr_device_noisy(double value, double sigma, const struct orr_device *device, const struct orr_sensing *now,
                        uint64_t draw) {
  return sigma > 0 ? value + sigma * orr_noise_normal(device->noise, now->frame, draw) : value;
}

double orr_device_quantise(double value, double quantum, double limit) {
  if (quantum > 0)
    value = quantum * rint(value / quantum);
  if (limit > 0)
    value = orr_max(-limit, orr_min(limit, value));
  return value;
}

void orr_triad_sense(const struct orr_triad *t, orr_vec3 x, const double drift[3], const struct orr_device *device,
                     const struct orr_sensing *now, double out[4]) {
  double felt[3];
  v3_to(felt, v3_sub(x, v3_cross(v3_from(t->misalignment), x)));
  out[3] = 0;
  for (int i = 0; i < 3; i++) {
    double y = (1 + t->scale[i]) * felt[i] + t->bias[i] + drift[i];
    y = orr_device_noisy(y, t->random_walk / sqrt(device->period_s), device, now, (uint64_t)i);
    out[i] = orr_device_quantise(y, t->quantum, t->range);
    if (t->range > 0 && fabs(y) > t->range)
      out[3] = 1;
  }
}

/* c + (s − c) exp(−(v/v_s)²) */
static double sliding(const struct orr_friction *f, double v) {
  double dry = f->coulomb;
  if (f->stiction > f->coulomb && f->stribeck_speed > 0) {
    double r = v / f->stribeck_speed;
    dry += (f->stiction - f->coulomb) * orr_exp(-r * r);
  }
  return dry;
}

double orr_friction_torque(const struct orr_friction *f, double v) {
  double dry = sliding(f, v);
  if (dry > 0)
    dry *= orr_tanh(v / f->speed);
  return -dry - f->viscous * v;
}

double orr_friction_stick(const struct orr_friction *f, double z, double v) {
  double dry = sliding(f, v);
  if (dry > 0)
    dry *= orr_max(-1, orr_min(1, z / f->presliding + v / f->speed));
  return -dry - f->viscous * v;
}

static double peak(const struct orr_friction *f) {
  return f->stribeck_speed > 0 ? orr_max(f->coulomb, f->stiction) : f->coulomb;
}

double orr_friction_slope(const struct orr_friction *f) { return f->viscous + (peak(f) > 0 ? peak(f) / f->speed : 0); }

double orr_friction_stiffness(const struct orr_friction *f) { return f->presliding > 0 ? peak(f) / f->presliding : 0; }
