/* A satellite navigation receiver: position and velocity of its node in axes that turn with the central body (ITRS at
 * the Earth), and seconds since the epoch, each with normal noise. With the probability `dropout` a sample is lost, and
 * from `outage.from` for `outage.for` all are: it says so by `valid` and holds its last fix. The velocity is that seen
 * in the turning axes, F (v − ω × r).
 */
#include "core/plant/device.h"
#include "core/plant/world.h"
#include "core/tree/kinematics.h"

struct params {
  double position, velocity, time, dropout, from, length;
};

struct state {
  double last[7];
};

static const struct orr_param table[] = {
    {.name = "noise.position",
     .doc = "standard deviation of each number of `position`",
     .unit = "m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(position)},
    {.name = "noise.velocity",
     .doc = "of each number of `velocity`",
     .unit = "m/s",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(velocity)},
    {.name = "noise.time", .doc = "of `time`", .unit = "s", .high = HUGE_VAL, ORR_DEVICE_PARAM(time)},
    {.name = "dropout", .doc = "probability that a sample is lost", .unit = "", .high = 1, ORR_DEVICE_PARAM(dropout)},
    {.name = "outage.from",
     .doc = "simulated time from when all samples are lost",
     .unit = "s",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(from)},
    {.name = "outage.for", .doc = "for how long", .unit = "s", .high = HUGE_VAL, ORR_DEVICE_PARAM(length)},
};

static const struct orr_device_channel channels[] = {
    {.name = "position",
     .doc = "position in axes that turn with the central body (ITRS at the Earth)",
     .unit = "m",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "velocity",
     .doc = "velocity as seen in those axes",
     .unit = "m/s",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "time", .doc = "seconds since the epoch", .unit = "s", .count = 1},
    {.name = "valid", .doc = "the sample is a fix; else the last one stands", .type = ORR_CHANNEL_FLAG, .count = 1},
};

static void reset(const struct orr_device *device) { memset(device->state, 0, sizeof(struct state)); }

static void fix(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  const struct orr_world *w = orr_world_of(now->ws);
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  orr_vec3 r = orr_world_place(w, node.position), v = v3_add(w->now.v, node.v);
  v3_to(out, m3_apply(w->now.sky.fixed, r));
  v3_to(out + 3, m3_apply(w->now.sky.fixed, v3_sub(v, v3_cross(w->now.sky.spin, r))));
  out[6] = now->time_s;
  for (uint64_t i = 0; i < 7; i++)
    out[i] = orr_device_noisy(out[i], i < 3 ? p->position : i < 6 ? p->velocity : p->time, device, now, i);
}

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  struct state *s = device->state;
  bool out_of_reach = now->time_s >= p->from && now->time_s < p->from + p->length;
  bool lost = p->dropout > 0 && orr_noise_uniform(device->noise, now->frame, 7) < p->dropout;
  out[7] = !lost && !out_of_reach;
  if (out[7] > 0)
    fix(device, now, s->last);
  memcpy(out, s->last, sizeof s->last);
}

const struct orr_device_kind orr_gps_receiver = {
    .name = "gps_receiver",
    .doc =
        "A satellite navigation receiver: position and velocity of its node in axes that turn with the central body.",
    .equation = "position = F r + noise,   velocity = F (v - w x r) + noise,   F the turn to those axes\n",
    .example = "gps: {kind: gps_receiver, node: bus.imu, rate: 1 Hz, noise: {position: 5 m, velocity: 0.05 m/s}, "
               "outage: {from: 100 s, for: 20 s}}",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .needs_world = ORR_NEEDS_WORLD,
    .reset = reset,
    .sense = sense,
};
