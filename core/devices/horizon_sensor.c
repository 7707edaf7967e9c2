/* An Earth horizon sensor: the direction to the centre of the central body in node axes, turned by normal angles of
 * `noise` about the axes across it. `valid` where the centre stands within the half angle `view` of the boresight; else
 * the last direction is held. The body is a sphere to it: the horizon's own oblateness and radiance are not in it.
 */
#include "core/math/elementary.h"
#include "core/plant/device.h"
#include "core/plant/world.h"
#include "core/tree/kinematics.h"

struct params {
  double boresight[3], view, noise;
};

struct state {
  double last[3];
};

static const struct orr_param table[] = {
    {.name = "boresight",
     .doc = "axis of the sensor, node axes",
     .type = ORR_PARAM_AXIS,
     .required = true,
     ORR_DEVICE_PARAM(boresight)},
    {.name = "view",
     .doc = "half angle of its view",
     .unit = "rad",
     .open = true,
     .high = 3.1416,
     .fallback = 1.0471975511965976,
     ORR_DEVICE_PARAM(view)},
    {.name = "noise",
     .doc = "standard deviation of the angles about the axes across the direction",
     .unit = "rad",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(noise)},
};

static const struct orr_device_channel channels[] = {
    {.name = "nadir",
     .doc = "unit vector to the centre of the central body, node axes; the last one where it is not valid",
     .unit = "",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "valid", .doc = "the centre is in view", .type = ORR_CHANNEL_FLAG, .count = 1},
};

static void reset(const struct orr_device *device) {
  struct state *s = device->state;
  const struct params *p = device->params;
  memcpy(s->last, p->boresight, sizeof s->last);
}

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  const struct orr_world *w = orr_world_of(now->ws);
  struct state *s = device->state;
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  orr_vec3 down = v3_neg(orr_world_place(w, node.position));
  down = m3_apply_t(node.attitude, v3_scale(1 / v3_norm(down), down));
  double off = orr_atan2(v3_norm(v3_cross(v3_from(p->boresight), down)), v3_dot(v3_from(p->boresight), down));
  out[3] = off <= p->view;
  if (out[3] > 0) {
    double n[3];
    for (uint64_t i = 0; i < 3; i++)
      n[i] = orr_device_noisy(0, p->noise, device, now, i);
    down = v3_add(down, v3_cross(v3_from(n), down));
    v3_to(s->last, v3_scale(1 / v3_norm(down), down));
  }
  memcpy(out, s->last, sizeof s->last);
}

const struct orr_device_kind orr_horizon_sensor = {
    .name = "horizon_sensor",
    .doc = "An Earth horizon sensor: the direction to the centre of the central body, which is a sphere to it.",
    .equation = "y = d + noise n x d, made unit\n",
    .example =
        "earth: {kind: horizon_sensor, node: bus.imu, rate: 5 Hz, boresight: [0, 0, -1], view: 75 deg, noise: 0.1 deg}",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .needs_world = ORR_NEEDS_WORLD,
    .reset = reset,
    .sense = sense,
};
