/* A force and a torque on a node, given directly: for tests, and for disturbances that a script writes. */
#include "core/math/elementary.h"
#include "core/plant/device.h"
#include "core/tree/kinematics.h"

struct params {
  int frame;
  double max_force, max_torque;
};

static const char *const frames[] = {"node", "body", "inertial", NULL};

static const struct orr_param table[] = {
    {.name = "frame",
     .doc = "axes of the force and the torque: of the node, of the body frame, or inertial",
     .type = ORR_PARAM_CHOICE,
     .choices = frames,
     ORR_DEVICE_PARAM(frame)},
    {.name = "max_force",
     .doc = "largest force along each axis",
     .unit = "N",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(max_force)},
    {.name = "max_torque",
     .doc = "largest torque about each axis",
     .unit = "N m",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(max_torque)},
};

static void force_range(const void *params, double *low, double *high) {
  orr_device_command_range(((const struct params *)params)->max_force, low, high);
}

static void torque_range(const void *params, double *low, double *high) {
  orr_device_command_range(((const struct params *)params)->max_torque, low, high);
}

static const struct orr_device_channel channels[] = {
    {.name = "force",
     .doc = "force on the node",
     .unit = "N",
     .direction = ORR_CHANNEL_COMMAND,
     .count = 3,
     .elements = orr_channel_xyz,
     .range = force_range},
    {.name = "torque",
     .doc = "torque on the node",
     .unit = "N m",
     .direction = ORR_CHANNEL_COMMAND,
     .count = 3,
     .elements = orr_channel_xyz,
     .range = torque_range},
};

static orr_vec3 clipped(const double *given, double limit) {
  return v3(orr_max(-limit, orr_min(limit, given[0])), orr_max(-limit, orr_min(limit, given[1])),
            orr_max(-limit, orr_min(limit, given[2])));
}

enum { MAX_FORCE, MAX_TORQUE };

static const struct orr_limit limits[] = {
    [MAX_FORCE] = {.name = "max_force", .words = "at max_force"},
    [MAX_TORQUE] = {.name = "max_torque", .words = "at max_torque"},
};

static double largest(const double *given) { return orr_max(fabs(given[0]), orr_max(fabs(given[1]), fabs(given[2]))); }

static void apply(const struct orr_device *device, const struct orr_acting *now) {
  static const enum orr_axes axes[] = {ORR_AXES_NODE, ORR_AXES_BODY, ORR_AXES_INERTIAL};
  const struct params *p = device->params;
  const double *given = now->values + device->command;
  orr_force_add(now->model, now->ws, device->node, axes[p->frame], clipped(given, p->max_force),
                clipped(given + 3, p->max_torque));
  orr_device_judge(device, now, MAX_FORCE, largest(given), p->max_force);
  orr_device_judge(device, now, MAX_TORQUE, largest(given + 3), p->max_torque);
}

const struct orr_device_kind orr_wrench = {
    .name = "wrench",
    .doc = "A force and a torque on a node, given directly: for tests, and for disturbances that a script writes.",
    .equation = "force and torque as commanded\n",
    .example = "shake: {kind: wrench, node: bus.imu, frame: body}",
    .role = ORR_ACTUATOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .needs_places = true,
    ORR_DEVICE_LIMITS,
    .apply = apply,
};
