/* A star tracker: the attitude of its node against inertial axes, q ∘ exp(n), with n normal, `noise.about` about
 * the boresight and `noise.across` about the two axes across it (standard deviations). Above its rate limit, or when a
 * sample drops out (each with the probability `dropout`), it says so by `valid` and holds its last attitude. The sign
 * is the one nearest to the last sample.
 */
#include "core/plant/device.h"
#include "core/tree/kinematics.h"

struct params {
  double boresight[3], across, about, rate_limit, dropout;
};

struct state {
  double last[4];
};

static const struct orr_param table[] = {
    {.name = "boresight",
     .doc = "axis of the tracker, node axes",
     .type = ORR_PARAM_AXIS,
     .required = true,
     ORR_DEVICE_PARAM(boresight)},
    {.name = "noise.across",
     .doc = "standard deviation of the angles about the two axes across the boresight",
     .unit = "rad",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(across)},
    {.name = "noise.about",
     .doc = "of the angle about the boresight",
     .unit = "rad",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(about)},
    {.name = "rate_limit",
     .doc = "above this rate there is no sample",
     .unit = "rad/s",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(rate_limit)},
    {.name = "dropout", .doc = "probability that a sample is lost", .unit = "", .high = 1, ORR_DEVICE_PARAM(dropout)},
};

static const struct orr_device_channel channels[] = {
    {.name = "attitude",
     .doc = "attitude of the node against inertial axes, with the sign nearest to the last sample; the last one where "
            "it is not valid",
     .count = 4,
     .elements = orr_channel_xyzw},
    {.name = "valid", .doc = "the sample is good", .type = ORR_CHANNEL_FLAG, .count = 1},
};

static void reset(const struct orr_device *device) {
  struct state *s = device->state;
  *s = (struct state){.last = {0, 0, 0, 1}};
}

static void measure(const struct orr_device *device, const struct orr_sensing *now, orr_mat3 attitude, double *out) {
  const struct params *p = device->params;
  double q[4], turn[4], n[3];
  quat_from_matrix(attitude, q);
  orr_vec3 b = v3_from(p->boresight);
  for (uint64_t i = 0; i < 3; i++)
    n[i] = p->across > 0 || p->about > 0 ? orr_noise_normal(device->noise, now->frame, i) : 0;
  double along = v3_dot(v3_from(n), b);
  orr_vec3 t = v3_scale(p->across, v3_madd(v3_from(n), -along, b));
  quat_exp(v3_madd(t, p->about * along, b), turn);
  quat_mul(q, turn, out);
  quat_normalise(out);
}

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  struct state *s = device->state;
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  bool lost = p->dropout > 0 && orr_noise_uniform(device->noise, now->frame, 3) < p->dropout;
  out[4] = !lost && v3_norm(node.omega) <= p->rate_limit;
  if (out[4] > 0) {
    double q[4], sign = 0;
    measure(device, now, node.attitude, q);
    for (int i = 0; i < 4; i++)
      sign += q[i] * s->last[i];
    for (int i = 0; i < 4; i++)
      s->last[i] = sign < 0 ? -q[i] : q[i];
  }
  memcpy(out, s->last, sizeof s->last);
}

const struct orr_device_kind orr_star_tracker = {
    .name = "star_tracker",
    .doc = "A star tracker: the attitude of its node.",
    .equation = "y = q o exp(n),   n normal with `across` and `about`\n",
    .example = "star: {kind: star_tracker, node: bus.imu, rate: 10 Hz, boresight: [0, 0, 1], noise: {across: 10 "
               "arcsec, about: 60 arcsec}}",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .reset = reset,
    .sense = sense,
};
