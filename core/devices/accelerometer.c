/* Three accelerometers in the axes of a node, flexible or not: struct orr_triad of the node's acceleration less
 * gravity. Where the run has an environment, the solver's accelerations are against the reference on its orbit, and
 * what is left of gravity at the node is taken off as well: in free fall away from the mass centre an accelerometer
 * feels the gradient of gravity.
 */
#include "core/plant/device.h"
#include "core/plant/world.h"
#include "core/tree/kinematics.h"

struct params {
  struct orr_triad triad;
};

static const struct orr_param table[] = {
    {.name = "noise.velocity_random_walk",
     .doc = "velocity random walk N: white noise of the acceleration",
     .unit = "m/s/sqrt(s)",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(triad.random_walk)},
    ORR_TRIAD_PARAMS("m/s^2"),
};

static const struct orr_device_channel channels[] = {
    {.name = "acceleration",
     .doc = "acceleration of the node less gravity, node axes",
     .unit = "m/s^2",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "saturated", .doc = "a reading is out of range", .type = ORR_CHANNEL_FLAG, .count = 1},
};

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  orr_vec3 a = orr_node_acceleration(now->model, now->ws, device->node).v;
  orr_triad_sense(&p->triad, a, (const double[3]){0}, device, now, out);
}

/* Both kinds but for how they sense. */
#define ACCELEROMETER                                                                                                  \
  .name = "accelerometer",                                                                                             \
  .doc = "Three accelerometers in the axes of a node, flexible or not. In a run with an environment they feel the "    \
         "gradient of gravity off the mass centre.",                                                                   \
  .equation = "y = sat(quant((1 + diag s)(1 - m x)(a - g) + b0 + N/sqrt(T) n))\n",                                     \
  .example = "accel: {kind: accelerometer, node: wing.tip, rate: 50 Hz, noise: {velocity_random_walk: 1e-4 "           \
             "m/s/sqrt(s)}, range: 20 m/s^2}",                                                                         \
  .role = ORR_SENSOR, .host = ORR_ON_NODE, ORR_DEVICE_TABLES, .needs_acceleration = true

const struct orr_device_kind orr_accelerometer = {ACCELEROMETER, .sense = sense};

static void sense_falling(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  orr_vec3 tide = m3_apply_t(node.attitude, orr_world_tide(orr_world_of(now->ws), node.position));
  orr_vec3 a = v3_sub(orr_node_acceleration(now->model, now->ws, device->node).v, tide);
  orr_triad_sense(&p->triad, a, (const double[3]){0}, device, now, out);
}

const struct orr_device_kind orr_accelerometer_falling = {ACCELEROMETER, .sense = sense_falling};
