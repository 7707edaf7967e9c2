/* Three rate gyros in the axes of a node: struct orr_triad of ω, with a drift that is a first-order Gauss-Markov
 * process of correlation time τ. The bias instability B is the top of that drift's Allan deviation, which stands at
 * 1.89 τ and is 0.6174 times its standard deviation.
 */
#include "core/plant/device.h"
#include "core/tree/kinematics.h"

struct params {
  struct orr_triad triad;
  double bias_instability, bias_time;
};

struct state {
  double drift[3];
};

/* The top of the Allan deviation of such a process, in units of its standard deviation. */
static const double ALLAN_TOP = 0.6174;

static const struct orr_param table[] = {
    {.name = "noise.angle_random_walk",
     .doc = "angle random walk N: white noise of the rate",
     .unit = "rad/sqrt(s)",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(triad.random_walk)},
    {.name = "noise.bias_instability",
     .doc = "top of the drift's Allan deviation, 0.6174 of its standard deviation",
     .unit = "rad/s",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(bias_instability)},
    {.name = "noise.bias_time",
     .doc = "correlation time tau of the drift",
     .unit = "s",
     .open = true,
     .high = HUGE_VAL,
     .fallback = 300,
     ORR_DEVICE_PARAM(bias_time)},
    {.name = "bias",
     .doc = "constant bias b0, node axes",
     .type = ORR_PARAM_VECTOR,
     .unit = "rad/s",
     ORR_DEVICE_PARAM(triad.bias)},
    {.name = "scale",
     .doc = "scale errors s of the three axes",
     .type = ORR_PARAM_VECTOR,
     .unit = "",
     ORR_DEVICE_PARAM(triad.scale)},
    {.name = "misalignment",
     .doc = "small rotation m of the case against the node",
     .type = ORR_PARAM_VECTOR,
     .unit = "rad",
     ORR_DEVICE_PARAM(triad.misalignment)},
    {.name = "quantisation",
     .doc = "step to which a reading is rounded; 0: not",
     .unit = "rad/s",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(triad.quantum)},
    {.name = "range",
     .doc = "largest reading; beyond it `saturated` is 1; 0: no limit",
     .unit = "rad/s",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(triad.range)},
};

static const struct orr_device_channel channels[] = {
    {.name = "rate",
     .doc = "angular velocity of the node against inertial axes, node axes",
     .unit = "rad/s",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "saturated", .doc = "a reading is out of range", .type = ORR_CHANNEL_FLAG, .count = 1},
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
  drift(device, now->frame);
  orr_triad_sense(&p->triad, m3_apply_t(node.attitude, node.omega), s->drift, device, now, out);
}

const struct orr_device_kind orr_rate_gyro = {
    .name = "rate_gyro",
    .doc = "Three rate gyros in the axes of a node, with white noise, a drifting bias, scale errors, misalignment, "
           "steps and a range.",
    .equation = "y = sat(quant((1 + diag s)(1 - m x) w + b0 + b + N/sqrt(T) n))\n"
                "b <- exp(-T/tau) b + sigma sqrt(1 - exp(-2T/tau)) n,   sigma = bias_instability/0.6174\n",
    .example = "gyro: {kind: rate_gyro, node: bus.imu, rate: 100 Hz, noise: {angle_random_walk: 0.01 deg/sqrt(h), "
               "bias_instability: 0.02 deg/h}}",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .reset = reset,
    .sense = sense,
};
