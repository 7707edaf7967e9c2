/* An encoder on one coordinate of a hinge: quant(q + offset + noise), the noise with a standard deviation for each
 * sample. */
#include "core/plant/device.h"

struct params {
  double offset, noise, quantum;
};

static const struct orr_param table[] = {
    {.name = "offset", .doc = "constant error", .unit = "rad|m", ORR_DEVICE_PARAM(offset)},
    {.name = "noise",
     .doc = "standard deviation of a reading",
     .unit = "rad|m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(noise)},
    {.name = "quantisation",
     .doc = "step to which a reading is rounded; 0: not",
     .unit = "rad|m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(quantum)},
};

static const struct orr_device_channel channels[] = {
    {.name = "position", .doc = "the coordinate", .unit = "rad", .unit_linear = "m", .count = 1},
};

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  double y = orr_device_noisy(now->ws->q[device->q] + p->offset, p->noise, device, now, 0);
  out[0] = orr_device_quantise(y, p->quantum, 0);
}

const struct orr_device_kind orr_hinge_encoder = {
    .name = "hinge_encoder",
    .doc = "An encoder on one coordinate of a hinge.",
    .equation = "y = quant(q + offset + noise n)\n",
    .example = "encoder: {kind: hinge_encoder, hinge: wing, rate: 100 Hz, quantisation: 0.01 deg}",
    .role = ORR_SENSOR,
    .host = ORR_ON_COORDINATE,
    ORR_DEVICE_TABLES,
    .sense = sense,
};
