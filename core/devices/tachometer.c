/* A tachometer on one coordinate of a hinge: quant((1 + scale) β + noise), the noise with a standard deviation for each
 * sample. */
#include "core/plant/device.h"

struct params {
  double scale, noise, quantum;
};

static const struct orr_param table[] = {
    {.name = "scale", .doc = "scale error", .unit = "", ORR_DEVICE_PARAM(scale)},
    {.name = "noise",
     .doc = "standard deviation of a reading",
     .unit = "rad/s|m/s",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(noise)},
    {.name = "quantisation",
     .doc = "step to which a reading is rounded; 0: not",
     .unit = "rad/s|m/s",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(quantum)},
};

static const struct orr_device_channel channels[] = {
    {.name = "speed", .doc = "the speed of the coordinate", .unit = "rad/s", .unit_linear = "m/s", .count = 1},
};

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  double y = orr_device_noisy((1 + p->scale) * now->ws->u[device->u], p->noise, device, now, 0);
  out[0] = orr_device_quantise(y, p->quantum, 0);
}

const struct orr_device_kind orr_tachometer = {
    .name = "tachometer",
    .doc = "A tachometer on one coordinate of a hinge.",
    .equation = "y = quant((1 + scale) v + noise n)\n",
    .example = "tacho: {kind: tachometer, hinge: wing, rate: 100 Hz, noise: 0.01 deg/s}",
    .role = ORR_SENSOR,
    .host = ORR_ON_COORDINATE,
    ORR_DEVICE_TABLES,
    .sense = sense,
};
