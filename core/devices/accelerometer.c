/* Three accelerometers in the axes of a node, flexible or not. They feel the node's acceleration less gravity:
 *
 *   y = sat(quant((1 + diag s)(1 − m̃) a + b₀ + N/√T n))
 *
 * with the scale errors s, the misalignment m, the bias b₀ and the velocity random walk N at the sample interval T.
 */
#include "core/device.h"
#include "core/kinematics.h"

struct params {
  double velocity_random_walk, bias[3], scale[3], misalignment[3], quantum, range;
};

#define PARAM(member) .offset = offsetof(struct params, member)

static const struct orr_param table[] = {
    {.name = "noise.velocity_random_walk", .unit = "m/s/sqrt(s)", .high = HUGE_VAL, PARAM(velocity_random_walk)},
    {.name = "bias", .type = ORR_PARAM_VECTOR, .unit = "m/s^2", PARAM(bias)},
    {.name = "scale", .type = ORR_PARAM_VECTOR, .unit = "", PARAM(scale)},
    {.name = "misalignment", .type = ORR_PARAM_VECTOR, .unit = "rad", PARAM(misalignment)},
    {.name = "quantisation", .unit = "m/s^2", .high = HUGE_VAL, PARAM(quantum)},
    {.name = "range", .unit = "m/s^2", .high = HUGE_VAL, PARAM(range)},
};

static const struct orr_device_channel channels[] = {
    {.name = "acceleration", .unit = "m/s^2", .count = 3, .elements = orr_channel_xyz},
    {.name = "saturated", .type = ORR_CHANNEL_FLAG, .count = 1},
};

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  orr_vec3 a = orr_node_acceleration(now->model, now->ws, device->node).v;
  double felt[3];
  v3_to(felt, v3_sub(a, v3_cross(v3_from(p->misalignment), a)));
  out[3] = 0;
  for (int i = 0; i < 3; i++) {
    double y = (1 + p->scale[i]) * felt[i] + p->bias[i];
    if (p->velocity_random_walk > 0)
      y += p->velocity_random_walk / sqrt(device->period_s) * orr_noise_normal(device->noise, now->frame, (uint64_t)i);
    out[i] = orr_device_quantise(y, p->quantum, p->range);
    if (p->range > 0 && fabs(y) > p->range)
      out[3] = 1;
  }
}

const struct orr_device_kind orr_accelerometer = {
    .name = "accelerometer",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    .params = table,
    .param_count = sizeof table / sizeof *table,
    .param_bytes = sizeof(struct params),
    .channels = channels,
    .channel_count = sizeof channels / sizeof *channels,
    .needs_acceleration = true,
    .sense = sense,
};
