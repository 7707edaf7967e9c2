/* A tachometer on one coordinate of a hinge: quant((1 + scale) β + noise), the noise with a standard deviation for each
 * sample. */
#include "core/plant/device.h"

struct params {
  double scale, noise, quantum;
};

static const struct orr_param table[] = {
    {.name = "scale", .unit = "", ORR_DEVICE_PARAM(scale)},
    {.name = "noise", .unit = "rad/s|m/s", .high = HUGE_VAL, ORR_DEVICE_PARAM(noise)},
    {.name = "quantisation", .unit = "rad/s|m/s", .high = HUGE_VAL, ORR_DEVICE_PARAM(quantum)},
};

static const struct orr_device_channel channels[] = {
    {.name = "speed", .unit = "rad/s", .unit_linear = "m/s", .count = 1},
};

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  double y = orr_device_noisy((1 + p->scale) * now->ws->u[device->u], p->noise, device, now, 0);
  out[0] = orr_device_quantise(y, p->quantum, 0);
}

const struct orr_device_kind orr_tachometer = {
    .name = "tachometer",
    .role = ORR_SENSOR,
    .host = ORR_ON_COORDINATE,
    ORR_DEVICE_TABLES,
    .sense = sense,
};
