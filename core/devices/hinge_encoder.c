/* An encoder on one coordinate of a hinge: quant(q + offset + noise), the noise with a standard deviation for each
 * sample. */
#include "core/plant/device.h"

struct params {
  double offset, noise, quantum;
};

static const struct orr_param table[] = {
    {.name = "offset", .unit = "rad|m", ORR_DEVICE_PARAM(offset)},
    {.name = "noise", .unit = "rad|m", .high = HUGE_VAL, ORR_DEVICE_PARAM(noise)},
    {.name = "quantisation", .unit = "rad|m", .high = HUGE_VAL, ORR_DEVICE_PARAM(quantum)},
};

static const struct orr_device_channel channels[] = {
    {.name = "position", .unit = "rad", .unit_linear = "m", .count = 1},
};

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  double y = orr_device_noisy(now->ws->q[device->q] + p->offset, p->noise, device, now, 0);
  out[0] = orr_device_quantise(y, p->quantum, 0);
}

const struct orr_device_kind orr_hinge_encoder = {
    .name = "hinge_encoder",
    .role = ORR_SENSOR,
    .host = ORR_ON_COORDINATE,
    ORR_DEVICE_TABLES,
    .sense = sense,
};
