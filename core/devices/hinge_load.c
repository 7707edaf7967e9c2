/* A load cell in a hinge: the inter-body force f(k) = [N; F] that the parent exerts on the child, about O, in the axes
 * of the child's body frame, with normal noise.
 *
 *   moment, force   (1 + scale) N + noise, (1 + scale) F + noise
 *   along           with an axis a: (1 + scale) a·F + noise, or with `component: moment` (1 + scale) a·N + noise
 *
 * f(k) is a by-product of the sweep, so the sensor adds little to its cost.
 */
#include "core/plant/device.h"
#include "core/tree/forward.h"

enum component { FORCE, MOMENT };

struct params {
  double moment_noise, force_noise, scale;
  double axis[3]; /* unit, axes of the child's body frame; zero: none */
  int component;
};

static const char *const components[] = {"force", "moment", NULL};

static const struct orr_param table[] = {
    {.name = "noise.moment",
     .doc = "standard deviation of each number of `moment`",
     .unit = "N m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(moment_noise)},
    {.name = "noise.force",
     .doc = "of each number of `force`",
     .unit = "N",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(force_noise)},
    {.name = "scale", .doc = "scale error", .unit = "", ORR_DEVICE_PARAM(scale)},
    {.name = "axis",
     .doc = "axis along which `along` is told, axes of the child's body frame",
     .type = ORR_PARAM_AXIS,
     ORR_DEVICE_PARAM(axis)},
    {.name = "component",
     .doc = "what `along` tells: the force along the axis, or the moment about it",
     .type = ORR_PARAM_CHOICE,
     .choices = components,
     ORR_DEVICE_PARAM(component)},
};

static bool has_axis(const void *params) {
  const struct params *p = params;
  return v3_dot(v3_from(p->axis), v3_from(p->axis)) > 0;
}
static bool tells_force(const void *params) {
  return has_axis(params) && ((const struct params *)params)->component == FORCE;
}
static bool tells_moment(const void *params) {
  return has_axis(params) && ((const struct params *)params)->component == MOMENT;
}

static const struct orr_device_channel channels[] = {
    {.name = "moment",
     .doc = "moment N that the parent exerts on the child, about O, axes of the child's body frame",
     .unit = "N m",
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "force", .doc = "force F that it exerts", .unit = "N", .count = 3, .elements = orr_channel_xyz},
    {.name = "along", .doc = "with an `axis`: the component along it", .unit = "N", .count = 1, .present = tells_force},
    {.name = "along",
     .doc = "with an `axis`: the component along it",
     .unit = "N m",
     .count = 1,
     .present = tells_moment},
};

static const char *judge(const void *params) {
  const struct params *p = params;
  return p->component == MOMENT && !has_axis(p) ? "'component' needs an 'axis' to take the component along" : NULL;
}

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  sp_to(out, orr_hinge_force(now->model, now->ws, device->body));
  for (int i = 0; i < 6; i++)
    out[i] =
        orr_device_noisy((1 + p->scale) * out[i], i < 3 ? p->moment_noise : p->force_noise, device, now, (uint64_t)i);
  if (!has_axis(p))
    return;
  struct orr_axis_force f = orr_hinge_force_along(now->model, now->ws, device->body, v3_from(p->axis));
  bool moment = p->component == MOMENT;
  out[6] = orr_device_noisy((1 + p->scale) * (moment ? f.moment : f.force), moment ? p->moment_noise : p->force_noise,
                            device, now, 6);
}

const struct orr_device_kind orr_hinge_load = {
    .name = "hinge_load",
    .doc = "A load cell in a hinge: the force that the parent exerts on the child.",
    .equation = "moment = (1 + scale) N + noise,   force = (1 + scale) F + noise\n"
                "along = (1 + scale) axis.F + noise, or axis.N\n",
    .example = "root: {kind: hinge_load, hinge: wing, rate: 100 Hz, axis: [0, 1, 0], component: moment}",
    .role = ORR_SENSOR,
    .host = ORR_ON_HINGE,
    ORR_DEVICE_TABLES,
    .needs_acceleration = true,
    .judge = judge,
    .sense = sense,
};
