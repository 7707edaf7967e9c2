/* A load cell in a hinge: the inter-body force f(k) of the solver, [N; F] about O in the axes of the child's body, with
 * normal noise. It costs nothing but the asking: f(k) is a by-product of the sweep.
 */
#include "core/plant/device.h"
#include "core/tree/forward.h"

struct params {
  double moment_noise, force_noise, scale;
};

static const struct orr_param table[] = {
    {.name = "noise.moment", .unit = "N m", .high = HUGE_VAL, ORR_DEVICE_PARAM(moment_noise)},
    {.name = "noise.force", .unit = "N", .high = HUGE_VAL, ORR_DEVICE_PARAM(force_noise)},
    {.name = "scale", .unit = "", ORR_DEVICE_PARAM(scale)},
};

static const struct orr_device_channel channels[] = {
    {.name = "moment", .unit = "N m", .count = 3, .elements = orr_channel_xyz},
    {.name = "force", .unit = "N", .count = 3, .elements = orr_channel_xyz},
};

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  sp_to(out, orr_hinge_force(now->model, now->ws, device->body));
  for (int i = 0; i < 6; i++)
    out[i] =
        orr_device_noisy((1 + p->scale) * out[i], i < 3 ? p->moment_noise : p->force_noise, device, now, (uint64_t)i);
}

const struct orr_device_kind orr_hinge_load = {
    .name = "hinge_load",
    .role = ORR_SENSOR,
    .host = ORR_ON_HINGE,
    ORR_DEVICE_TABLES,
    .needs_acceleration = true,
    .sense = sense,
};
