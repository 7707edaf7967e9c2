/* Three magnetometers in the axes of a node: struct orr_triad of the field B of the environment there; `noise.density`
 * is its white noise. */
#include "core/plant/device.h"
#include "core/plant/world.h"
#include "core/tree/kinematics.h"

struct params {
  struct orr_triad triad;
};

static const struct orr_param table[] = {
    {.name = "noise.density", .unit = "T sqrt(s)", .high = HUGE_VAL, ORR_DEVICE_PARAM(triad.random_walk)},
    {.name = "bias", .type = ORR_PARAM_VECTOR, .unit = "T", ORR_DEVICE_PARAM(triad.bias)},
    {.name = "scale", .type = ORR_PARAM_VECTOR, .unit = "", ORR_DEVICE_PARAM(triad.scale)},
    {.name = "misalignment", .type = ORR_PARAM_VECTOR, .unit = "rad", ORR_DEVICE_PARAM(triad.misalignment)},
    {.name = "quantisation", .unit = "T", .high = HUGE_VAL, ORR_DEVICE_PARAM(triad.quantum)},
    {.name = "range", .unit = "T", .high = HUGE_VAL, ORR_DEVICE_PARAM(triad.range)},
};

static const struct orr_device_channel channels[] = {
    {.name = "field", .unit = "T", .count = 3, .elements = orr_channel_xyz},
    {.name = "saturated", .type = ORR_CHANNEL_FLAG, .count = 1},
};

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  orr_vec3 field = m3_apply_t(node.attitude, orr_world_field(orr_world_of(now->ws), node.position));
  orr_triad_sense(&((const struct params *)device->params)->triad, field, (const double[3]){0}, device, now, out);
}

const struct orr_device_kind orr_magnetometer = {
    .name = "magnetometer",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .needs_world = ORR_NEEDS_WORLD | ORR_NEEDS_FIELD,
    .sense = sense,
};
