/* Three accelerometers in the axes of a node, flexible or not: struct orr_triad of the node's acceleration less
 * gravity. */
#include "core/plant/device.h"
#include "core/tree/kinematics.h"

#define PARAM(member) .offset = offsetof(struct orr_triad, member)

static const struct orr_param table[] = {
    {.name = "noise.velocity_random_walk", .unit = "m/s/sqrt(s)", .high = HUGE_VAL, PARAM(random_walk)},
    {.name = "bias", .type = ORR_PARAM_VECTOR, .unit = "m/s^2", PARAM(bias)},
    {.name = "scale", .type = ORR_PARAM_VECTOR, .unit = "", PARAM(scale)},
    {.name = "misalignment", .type = ORR_PARAM_VECTOR, .unit = "rad", PARAM(misalignment)},
    {.name = "quantisation", .unit = "m/s^2", .high = HUGE_VAL, PARAM(quantum)},
    {.name = "range", .unit = "m/s^2", .high = HUGE_VAL, PARAM(range)},
};

static const struct orr_device_channel channels[] = {
    {.name = "acceleration", .unit = "m/s^2", .count = 3, .elements = orr_channel_xyz},
    {.name = "saturated", .type = ORR_CHANNEL_FLAG, .count = 1},
};

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  orr_vec3 a = orr_node_acceleration(now->model, now->ws, device->node).v;
  orr_triad_sense(device->params, a, (const double[3]){0}, device, now, out);
}

const struct orr_device_kind orr_accelerometer = {
    .name = "accelerometer",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    .params = table,
    .param_count = sizeof table / sizeof *table,
    .param_bytes = sizeof(struct orr_triad),
    .channels = channels,
    .channel_count = sizeof channels / sizeof *channels,
    .needs_acceleration = true,
    .sense = sense,
};
