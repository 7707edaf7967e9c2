/* Three rate gyros in the axes of a node:
 *
 *   y = sat(quant((1 + diag s)(1 − m̃) ω + b₀ + b + N/√T n))
 *
 * with the scale errors s, the misalignment m (a small rotation of the case against the node), the constant bias b₀, the angle random
 * walk N at the sample interval T, and the drift b: a first-order Gauss-Markov process of correlation time τ. The bias instability B is
 * the top of that drift's Allan deviation, which stands at 1.89 τ and is 0.6174 times the drift's standard deviation.
 */
#include "core/device.h"
#include "core/kinematics.h"

struct params {
  double angle_random_walk, bias_instability, bias_time;
  double bias[3], scale[3], misalignment[3];
  double quantum, range;
};

struct state {
  double drift[3];
};

/* The top of the Allan deviation of such a process, in units of its standard deviation. */
static const double ALLAN_TOP = 0.6174;

#define PARAM(member) .offset = offsetof(struct params, member)

static const struct orr_param table[] = {
    {.name = "noise.angle_random_walk", .unit = "rad/sqrt(s)", .high = HUGE_VAL, PARAM(angle_random_walk)},
    {.name = "noise.bias_instability", .unit = "rad/s", .high = HUGE_VAL, PARAM(bias_instability)},
    {.name = "noise.bias_time", .unit = "s", .open = true, .high = HUGE_VAL, .fallback = 300, PARAM(bias_time)},
    {.name = "bias", .type = ORR_PARAM_VECTOR, .unit = "rad/s", PARAM(bias)},
    {.name = "scale", .type = ORR_PARAM_VECTOR, .unit = "", PARAM(scale)},
    {.name = "misalignment", .type = ORR_PARAM_VECTOR, .unit = "rad", PARAM(misalignment)},
    {.name = "quantisation", .unit = "rad/s", .high = HUGE_VAL, PARAM(quantum)},
    {.name = "range", .unit = "rad/s", .high = HUGE_VAL, PARAM(range)},
};

static const struct orr_device_channel channels[] = {
    {.name = "rate", .unit = "rad/s", .count = 3, .elements = orr_channel_xyz},
    {.name = "saturated", .type = ORR_CHANNEL_FLAG, .count = 1},
};

static void reset(const struct orr_device *device) { memset(device->state, 0, sizeof(struct state)); }

/* b ← e^(−T/τ) b + σ √(1 − e^(−2T/τ)) n; its first value is drawn from where it settles. */
static void drift(const struct orr_device *device, uint64_t frame) {
  const struct params *p = device->params;
  struct state *s = device->state;
  if (!(p->bias_instability > 0))
    return;
  double sigma = p->bias_instability / ALLAN_TOP, keep = exp(-device->period_s / p->bias_time);
  double push = sigma * sqrt(-expm1(-2 * device->period_s / p->bias_time));
  for (uint64_t i = 0; i < 3; i++) {
    double n = orr_noise_normal(device->noise, frame, 3 + i);
    s->drift[i] = frame == 0 ? sigma * n : keep * s->drift[i] + push * n;
  }
}

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  const struct state *s = device->state;
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  orr_vec3 omega = m3_apply_t(node.attitude, node.omega), tilt = v3_from(p->misalignment);
  double rate[3];
  v3_to(rate, v3_sub(omega, v3_cross(tilt, omega)));
  drift(device, now->frame);
  out[3] = 0;
  for (int i = 0; i < 3; i++) {
    double y = (1 + p->scale[i]) * rate[i] + p->bias[i] + s->drift[i];
    if (p->angle_random_walk > 0)
      y += p->angle_random_walk / sqrt(device->period_s) * orr_noise_normal(device->noise, now->frame, (uint64_t)i);
    out[i] = orr_device_quantise(y, p->quantum, p->range);
    if (p->range > 0 && fabs(y) > p->range)
      out[3] = 1;
  }
}

const struct orr_device_kind orr_rate_gyro = {
    .name = "rate_gyro",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    .params = table,
    .param_count = sizeof table / sizeof *table,
    .param_bytes = sizeof(struct params),
    .channels = channels,
    .channel_count = sizeof channels / sizeof *channels,
    .state_bytes = sizeof(struct state),
    .reset = reset,
    .sense = sense,
};
