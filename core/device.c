#include "core/device.h"

#include <math.h>

double orr_device_quantise(double value, double quantum, double limit) {
  if (quantum > 0)
    value = quantum * rint(value / quantum);
  if (limit > 0)
    value = fmax(-limit, fmin(limit, value));
  return value;
}

double orr_friction_torque(const struct orr_friction *f, double v) {
  double dry = f->coulomb;
  if (f->stiction > f->coulomb && f->stribeck_speed > 0) {
    double r = v / f->stribeck_speed;
    dry += (f->stiction - f->coulomb) * exp(-r * r);
  }
  if (dry > 0)
    dry *= tanh(v / f->speed);
  return -dry - f->viscous * v;
}

double orr_friction_slope(const struct orr_friction *f) {
  double dry = f->stribeck_speed > 0 ? fmax(f->coulomb, f->stiction) : f->coulomb;
  return f->viscous + (dry > 0 ? dry / f->speed : 0);
}
