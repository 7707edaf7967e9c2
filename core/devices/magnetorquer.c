/* A magnetic torque rod in the field of the environment: the moment m × B on its node, for a dipole m along its axis.
 * `residual` is the dipole that stays when it is off, in node axes. (A torquer is the same in a field that is given.)
 */
#include "core/math/elementary.h"
#include "core/plant/device.h"
#include "core/plant/world.h"
#include "core/tree/kinematics.h"

struct params {
  double axis[3], max_dipole, residual[3];
};

static const struct orr_param table[] = {
    {.name = "axis",
     .doc = "axis of the rod, node axes",
     .type = ORR_PARAM_AXIS,
     .required = true,
     ORR_DEVICE_PARAM(axis)},
    {.name = "max_dipole",
     .doc = "largest dipole",
     .unit = "A m^2",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(max_dipole)},
    {.name = "residual",
     .doc = "dipole that stays when it is off, node axes",
     .type = ORR_PARAM_VECTOR,
     .unit = "A m^2",
     ORR_DEVICE_PARAM(residual)},
};

static void dipole_range(const void *params, double *low, double *high) {
  orr_device_command_range(((const struct params *)params)->max_dipole, low, high);
}

static double most_dipole(const void *params) { return ((const struct params *)params)->max_dipole; }

static const struct orr_device_channel channels[] = {
    {.name = "dipole",
     .doc = "dipole along the axis",
     .unit = "A m^2",
     .direction = ORR_CHANNEL_COMMAND,
     .count = 1,
     .range = dipole_range,
     .most = most_dipole},
};

enum { MAX_DIPOLE };

static const struct orr_limit limits[] = {[MAX_DIPOLE] = {.name = "max_dipole", .words = "at max_dipole"}};

static void apply(const struct orr_device *device, const struct orr_acting *now) {
  const struct params *p = device->params;
  double command = orr_device_command(device, now, 0);
  double strength = orr_max(-p->max_dipole, orr_min(p->max_dipole, command));
  orr_vec3 dipole = v3_madd(v3_from(p->residual), strength, v3_from(p->axis));
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  orr_vec3 field = orr_world_field(orr_world_of(now->ws), node.position);
  orr_vec3 moment = v3_cross(m3_apply(node.attitude, dipole), field);
  orr_force_add(now->model, now->ws, device->node, ORR_AXES_INERTIAL, v3_zero(), moment);
  orr_device_judge(device, now, MAX_DIPOLE, command, p->max_dipole);
}

const struct orr_device_kind orr_magnetorquer = {
    .name = "magnetorquer",
    .doc = "A magnetic torque rod in the field of the environment, which must have a `magnetic_field`.",
    .equation = "moment = (residual + clip(dipole) axis) x B\n",
    .example = "mtq: {kind: magnetorquer, node: bus.imu, axis: [0, 1, 0], max_dipole: 10 A m^2}",
    .role = ORR_ACTUATOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .needs_world = ORR_NEEDS_WORLD | ORR_NEEDS_FIELD,
    .needs_places = true,
    ORR_DEVICE_LIMITS,
    .apply = apply,
};
