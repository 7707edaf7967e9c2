/* A fine sun sensor: the direction to the Sun in node axes, turned by two normal angles of `noise` about the axes
 * across it. `valid` where the Sun stands within the half angle `view` of the boresight and at least half of its disc
 * is seen; else the last direction is held. The Sun's place is geometric, without aberration (20.5 arcsec).
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
    {.name = "direction",
     .doc = "unit vector to the Sun, node axes; the last one where it is not valid",
     .unit = "",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "valid",
     .doc = "the Sun is in view, and at least half of its disc is seen",
     .type = ORR_CHANNEL_FLAG,
     .count = 1},
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
  orr_vec3 sun = v3_sub(w->now.sky.sun, orr_world_place(w, node.position));
  sun = m3_apply_t(node.attitude, v3_scale(1 / v3_norm(sun), sun));
  double off = orr_atan2(v3_norm(v3_cross(v3_from(p->boresight), sun)), v3_dot(v3_from(p->boresight), sun));
  out[3] = off <= p->view && orr_world_sunshine(w, node.position) >= 0.5;
  if (out[3] > 0) {
    double n[3];
    for (uint64_t i = 0; i < 3; i++)
      n[i] = orr_device_noisy(0, p->noise, device, now, i);
    sun = v3_add(sun, v3_cross(v3_from(n), sun)); /* what of n lies along the Sun turns nothing */
    v3_to(s->last, v3_scale(1 / v3_norm(sun), sun));
  }
  memcpy(out, s->last, sizeof s->last);
}

const struct orr_device_kind orr_sun_sensor = {
    .name = "sun_sensor",
    .doc =
        "A fine sun sensor: the direction to the Sun. The Sun's place is geometric, without aberration (20.5 arcsec).",
    .equation = "y = s + noise n x s, made unit\n",
    .example =
        "sun: {kind: sun_sensor, node: bus.imu, rate: 10 Hz, boresight: [1, 0, 0], view: 60 deg, noise: 0.05 deg}",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .needs_world = ORR_NEEDS_WORLD,
    .reset = reset,
    .sense = sense,
};
