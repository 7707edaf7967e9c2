/* Three magnetometers in the axes of a node: struct orr_triad of the field B of the environment there; `noise.density`
 * is its white noise. */
#include "core/plant/device.h"
#include "core/plant/world.h"
#include "core/tree/kinematics.h"

struct params {
  struct orr_triad triad;
};

static const struct orr_param table[] = {
    {.name = "noise.density",
     .doc = "white noise N of the field",
     .unit = "T sqrt(s)",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(triad.random_walk)},
    ORR_TRIAD_PARAMS("T"),
};

static const struct orr_device_channel channels[] = {
    {.name = "field", .doc = "magnetic field, node axes", .unit = "T", .count = 3, .elements = orr_channel_xyz},
    {.name = "saturated", .doc = "a reading is out of range", .type = ORR_CHANNEL_FLAG, .count = 1},
};

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  orr_vec3 field = m3_apply_t(node.attitude, orr_world_field(orr_world_of(now->ws), node.position));
  orr_triad_sense(&((const struct params *)device->params)->triad, field, (const double[3]){0}, device, now, out);
}

const struct orr_device_kind orr_magnetometer = {
    .name = "magnetometer",
    .doc = "Three magnetometers in the axes of a node.",
    .equation = "y = sat(quant((1 + diag s)(1 - m x) B + b0 + N/sqrt(T) n))\n",
    .example =
        "mag: {kind: magnetometer, node: bus.imu, rate: 10 Hz, noise: {density: 1e-9 T sqrt(s)}, bias: [1e-7, 0, 0]}",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .needs_world = ORR_NEEDS_WORLD | ORR_NEEDS_FIELD,
    .sense = sense,
};
