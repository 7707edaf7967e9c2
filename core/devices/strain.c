/* Strain gauges on a flexible body, their readings turned into deformation, with normal noise:
 *
 *   mode modal   the amplitudes η of the body's modes
 *   mode nodal   how far its node is from its undeformed place, and turned: the displacement and the rotation vector θ,
 *                body axes
 */
#include "core/math/elementary.h"
#include "core/plant/device.h"
#include "core/tree/kinematics.h"

enum mode { MODAL, NODAL };

struct params {
  int mode;
  double amplitude_noise, displacement_noise, rotation_noise;
};

static const char *const modes[] = {"modal", "nodal", NULL};

static const struct orr_param table[] = {
    {.name = "mode",
     .doc = "modal: the amplitudes of the modes; nodal: how far its node is moved and turned",
     .type = ORR_PARAM_CHOICE,
     .required = true,
     .choices = modes,
     ORR_DEVICE_PARAM(mode)},
    {.name = "noise.amplitude",
     .doc = "standard deviation of each amplitude",
     .unit = "",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(amplitude_noise)},
    {.name = "noise.displacement",
     .doc = "of each number of `displacement`",
     .unit = "m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(displacement_noise)},
    {.name = "noise.rotation",
     .doc = "of each number of `rotation`",
     .unit = "rad",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(rotation_noise)},
};

static bool is_modal(const void *params) { return ((const struct params *)params)->mode == MODAL; }
static bool is_nodal(const void *params) { return ((const struct params *)params)->mode == NODAL; }

static const struct orr_device_channel channels[] = {
    {.name = "amplitude", .doc = "amplitudes of the modes of the body", .present = is_modal},
    {.name = "displacement",
     .doc = "how far the node is from its undeformed place, body axes",
     .unit = "m",
     .count = 3,
     .elements = orr_channel_xyz,
     .present = is_nodal},
    {.name = "rotation",
     .doc = "rotation vector of the node against the undeformed body, body axes",
     .unit = "rad",
     .count = 3,
     .elements = orr_channel_xyz,
     .present = is_nodal},
};

static void sense_nodal(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct orr_node *node = &now->model->nodes[device->node];
  orr_mat3 to_body = now->model->limbs[node->limb].c;
  struct orr_site_state place = {0};
  double q[4];
  orr_place_evaluate(now->model, now->ws, device->node, &place);
  quat_from_matrix(place.r, q);
  double length = v3_norm(v3_from(q)), angle = 2 * orr_atan2(length, q[3]);
  v3_to(out, m3_apply(to_body, v3_sub(place.l, node->at)));
  v3_to(out + 3, m3_apply(to_body, v3_scale(length > 0 ? angle / length : 0, v3_from(q))));
}

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  const struct orr_limb *limb = &now->model->limbs[now->model->limb_of_body[device->body]];
  if (p->mode == MODAL) {
    for (int r = 0; r < device->width; r++)
      out[r] = orr_device_noisy(now->ws->q[limb->q + r], p->amplitude_noise, device, now, (uint64_t)r);
    return;
  }
  sense_nodal(device, now, out);
  for (int i = 0; i < 6; i++)
    out[i] = orr_device_noisy(out[i], i < 3 ? p->displacement_noise : p->rotation_noise, device, now, (uint64_t)i);
}

const struct orr_device_kind orr_strain = {
    .name = "strain",
    .doc = "Strain gauges on a flexible body, their readings turned into deformation.",
    .equation = "mode modal: amplitude = eta + noise n\n"
                "mode nodal: displacement = sum of the modes' translations + noise n, rotation likewise\n",
    .example = "gauge: {kind: strain, node: wing.tip, mode: modal, rate: 100 Hz}",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .flexible_host = true,
    .sense = sense,
};
