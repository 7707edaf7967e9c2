/* A coarse sun sensor, one cell: a current that follows the cosine of the Sun's angle off its boresight, of 1 at the
 * full Sun, times the part of the Sun that is seen, with normal noise. What the central body reflects is
 * added in the same way, as if from its centre, where the environment has an albedo.
 */
#include "core/math/elementary.h"
#include "core/plant/device.h"
#include "core/plant/world.h"
#include "core/tree/kinematics.h"

struct params {
  double boresight[3], noise, scale;
};

static const struct orr_param table[] = {
    {.name = "boresight",
     .doc = "axis of the cell, node axes",
     .type = ORR_PARAM_AXIS,
     .required = true,
     ORR_DEVICE_PARAM(boresight)},
    {.name = "scale",
     .doc = "current at the full Sun on the boresight",
     .unit = "",
     .high = HUGE_VAL,
     .fallback = 1,
     ORR_DEVICE_PARAM(scale)},
    {.name = "noise", .doc = "standard deviation of a reading", .unit = "", .high = HUGE_VAL, ORR_DEVICE_PARAM(noise)},
};

static const struct orr_device_channel channels[] = {
    {.name = "current", .doc = "current of the cell", .unit = "", .count = 1},
};

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  const struct orr_world *w = orr_world_of(now->ws);
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  orr_vec3 at = orr_world_place(w, node.position), sun = v3_sub(w->now.sky.sun, at);
  orr_vec3 axis = m3_apply(node.attitude, v3_from(p->boresight));
  double light = orr_world_sunshine(w, node.position) * orr_max(0, v3_dot(axis, sun) / v3_norm(sun));
  if (w->desc->planet.albedo > 0) {
    double reflected = orr_light_reflected(&w->desc->planet, w->desc->radius, at, w->now.sky.sun);
    light += reflected / orr_light_irradiance(v3_norm(sun)) * orr_max(0, -v3_dot(axis, at) / v3_norm(at));
  }
  out[0] = orr_device_noisy(p->scale * light, p->noise, device, now, 0);
}

const struct orr_device_kind orr_coarse_sun_sensor = {
    .name = "coarse_sun_sensor",
    .doc = "One cell whose current follows the cosine of the Sun's angle, less what the eclipse hides, with what the "
           "central body reflects where the environment has an albedo.",
    .equation = "y = scale (sunlight max(0, b.s) + reflected max(0, b.nadir)) + noise n\n",
    .example = "cell: {kind: coarse_sun_sensor, node: bus.imu, rate: 10 Hz, boresight: [1, 0, 0], noise: 0.01}",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .needs_world = ORR_NEEDS_WORLD,
    .sense = sense,
};
