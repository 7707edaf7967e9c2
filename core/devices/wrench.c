/* A force and a torque on a node, given directly: for tests, and for disturbances that a script writes. */
#include "core/plant/device.h"
#include "core/tree/kinematics.h"

struct params {
  int frame;
};

static const char *const frames[] = {"node", "body", "inertial", NULL};

static const struct orr_param table[] = {
    {.name = "frame",
     .doc = "axes of the force and the torque: of the node, of the body frame, or inertial",
     .type = ORR_PARAM_CHOICE,
     .choices = frames,
     ORR_DEVICE_PARAM(frame)},
};

static const struct orr_device_channel channels[] = {
    {.name = "force",
     .doc = "force on the node",
     .unit = "N",
     .direction = ORR_CHANNEL_COMMAND,
     .count = 3,
     .elements = orr_channel_xyz},
    {.name = "torque",
     .doc = "torque on the node",
     .unit = "N m",
     .direction = ORR_CHANNEL_COMMAND,
     .count = 3,
     .elements = orr_channel_xyz},
};

static void apply(const struct orr_device *device, const struct orr_acting *now) {
  static const enum orr_axes axes[] = {ORR_AXES_NODE, ORR_AXES_BODY, ORR_AXES_INERTIAL};
  const struct params *p = device->params;
  const double *given = now->values + device->command;
  orr_force_add(now->model, now->ws, device->node, axes[p->frame], v3_from(given), v3_from(given + 3));
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
    .apply = apply,
};
