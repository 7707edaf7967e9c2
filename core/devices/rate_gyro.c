/* Three rate gyros in the axes of a node: struct orr_triad of ω, with a drift that is a first-order Gauss-Markov
 * process of correlation time τ. The bias instability B is the top of that drift's Allan deviation, which stands at
 * 1.89 τ and is 0.6174 times its standard deviation.
 *
 * With `integrating.step` q it tells counts: the angle θ about each axis of its case that it turned since frame 0,
 * in whole steps, what is left over staying for later ones,
 *   θ ← θ + T y,   counts = floor(θ/q) mod wrap,   rate = q (counts − last counts)/T
 * where y is the measurement above with the mean of ω over the interval T in place of ω, so that T N/√T n = N √T n is
 * the angle random walk. ∫ω dt is taken at the stages of the integrator, by the weights of its rule.
 */
#include "core/math/elementary.h"
#include "core/plant/device.h"
#include "core/tree/kinematics.h"

struct params {
  struct orr_triad triad;
  double bias_instability, bias_time, step, wrap;
};

struct state {
  double drift[3];
};

struct counting {
  struct state state; /* first */
  double stage[4][3]; /* ω at the stages of the step at hand, axes of the node */
  double stages, step_s;
  double turned[3]; /* ∫ω dt since the last sample, to the start of that step */
  double angle[3];  /* θ less the steps told */
  double told[3];   /* counts, not wrapped */
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
    ORR_TRIAD_PARAMS("rad/s"),
    {.name = "integrating.step",
     .doc = "angle of a count; `counts` then tells the angle turned, and `rate` is its mean over the interval. 0: not",
     .unit = "rad",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(step)},
    {.name = "integrating.wrap",
     .doc = "number of counts after which they begin at 0 again, 65536 of a counter of 16 bits; 0: never",
     .unit = "",
     .high = 9007199254740992.0,
     ORR_DEVICE_PARAM(wrap)},
};

static bool counts(const void *params) { return ((const struct params *)params)->step > 0; }

static const char *judge(const void *params) {
  const struct params *p = params;
  if (p->step > 0 && p->triad.quantum > 0)
    return "an integrating gyro rounds by 'integrating.step'; leave 'quantisation' out";
  if (p->wrap != rint(p->wrap) || p->wrap == 1)
    return "'integrating.wrap' is a whole number of counts, two at least";
  return p->wrap > 0 && !(p->step > 0) ? "'integrating.wrap' needs an 'integrating.step'" : NULL;
}

static const struct orr_device_channel channels[] = {
    {.name = "rate",
     .doc = "angular velocity of the node against inertial axes, node axes",
     .unit = "rad/s",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "saturated", .doc = "a reading is out of range", .type = ORR_CHANNEL_FLAG, .count = 1},
    {.name = "counts",
     .doc = "angle turned about each axis since frame 0, in steps",
     .unit = "",
     .type = ORR_CHANNEL_WHOLE,
     .count = 3,
     .elements = orr_channel_xyz,
     .present = counts},
};

static void reset(const struct orr_device *device) { memset(device->state, 0, sizeof(struct state)); }

/* b ← e^(−T/τ) b + σ √(1 − e^(−2T/τ)) n; its first value is drawn from where it settles. */
static void drift(const struct orr_device *device, uint64_t frame) {
  const struct params *p = device->params;
  struct state *s = device->state;
  if (!(p->bias_instability > 0))
    return;
  double sigma = p->bias_instability / ALLAN_TOP, keep = orr_exp(-device->period_s / p->bias_time);
  double push = sigma * sqrt(-orr_expm1(-2 * device->period_s / p->bias_time));
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

/* ---- integrating ------------------------------------------------------------------------------------------------- */

static void reset_counting(const struct orr_device *device) { memset(device->state, 0, sizeof(struct counting)); }

/* The step whose stages are complete: four of rk4, two of heun, one of Euler. */
static void settle(struct counting *s) {
  static const double weights[5][4] = {{0}, {1}, {0.5, 0.5}, {0}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};
  const double *weight = weights[(int)s->stages];
  for (int i = 0; i < (int)s->stages; i++)
    for (int k = 0; k < 3; k++)
      s->turned[k] += s->step_s * weight[i] * s->stage[i][k];
  s->stages = 0;
}

static void apply_counting(const struct orr_device *device, const struct orr_acting *now) {
  struct counting *s = device->state;
  int index = now->point->index;
  if (index < 0)
    return;
  if (index == 0)
    settle(s);
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  v3_to(s->stage[index], m3_apply_t(node.attitude, node.omega));
  s->stages = index + 1;
  s->step_s = 1e-9 * (double)now->point->step_ns;
}

static void sense_counting(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  struct counting *s = device->state;
  double period = device->period_s;
  settle(s);
  orr_vec3 mean = v3_scale(1 / period, v3_from(s->turned));
  drift(device, now->frame);
  orr_triad_sense(&p->triad, mean, s->state.drift, device, now, out);
  for (int k = 0; k < 3; k++) {
    s->turned[k] = 0;
    s->angle[k] += now->frame ? period * out[k] : 0; /* at frame 0 nothing is turned yet */
    double steps = floor(s->angle[k] / p->step);
    s->angle[k] -= steps * p->step;
    s->told[k] += steps;
    out[k] = steps * p->step / period;
    out[4 + k] = p->wrap > 0 ? s->told[k] - p->wrap * floor(s->told[k] / p->wrap) : s->told[k];
  }
}

static bool is_sound_counting(const void *state) {
  const struct counting *s = state;
  return s->stages == 0 || s->stages == 1 || s->stages == 2 || s->stages == 4;
}

static bool vary(const void *params, struct orr_device_kind *kind) {
  kind->state_bytes = sizeof(struct counting);
  kind->needs_places = true;
  kind->reset = reset_counting;
  kind->is_sound = is_sound_counting;
  kind->apply = apply_counting;
  kind->sense = sense_counting;
  return counts(params);
}

const struct orr_device_kind orr_rate_gyro = {
    .name = "rate_gyro",
    .doc = "Three rate gyros in the axes of a node, with white noise, a drifting bias, scale errors, misalignment, "
           "steps and a range. With `integrating` they tell the angle turned, in counts.",
    .equation = "y = sat(quant((1 + diag s)(1 - m x) w + b0 + b + N/sqrt(T) n))\n"
                "b <- exp(-T/tau) b + sigma sqrt(1 - exp(-2T/tau)) n,   sigma = bias_instability/0.6174\n"
                "integrating: theta <- theta + T y with the mean of w over T,   counts = floor(theta/step) mod wrap\n",
    .example = "gyro: {kind: rate_gyro, node: bus.imu, rate: 100 Hz, noise: {angle_random_walk: 0.01 deg/sqrt(h), "
               "bias_instability: 0.02 deg/h}}",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .judge = judge,
    .vary = vary,
    .reset = reset,
    .sense = sense,
};
