/* What the commands of a link do to the attitude: for the controller that is linked in, which flies whatever wheels and
 * thrusters there are. Places are those at zero coordinates, without deformation, and the mass centre is the whole
 * spacecraft's there: a law of gains needs no better. */
#include <math.h>
#include <string.h>

#include "core/math/spatial.h"
#include "io/config/run/run_draft.h"

/* Of a body frame, in the axes of its root. */
struct pose {
  bool known;
  int root;
  orr_mat3 attitude;
  orr_vec3 position;
};

static void add_mass(orr_vec3 *moment, double *mass, double m, orr_vec3 at) {
  *moment = v3_madd(*moment, m, at);
  *mass += m;
}

static struct pose pose_beside(const struct orr_description *craft, int b, const struct pose *parents) {
  const struct orr_hinge_desc *h = &craft->bodies[b].hinge;
  if (h->parent == ORR_INERTIAL)
    return (struct pose){.known = true, .root = b, .attitude = m3_identity()};
  struct pose p = parents[h->parent];
  if (!p.known)
    return p;
  const struct orr_node_desc *to = &craft->bodies[h->parent].nodes[h->parent_node];
  p.position = v3_add(p.position, m3_apply(p.attitude, v3_from(to->at)));
  p.attitude = m3_mul(p.attitude, quat_matrix(h->rotation));
  p.position = v3_sub(p.position, m3_apply(p.attitude, v3_from(craft->bodies[b].nodes[h->node].at)));
  return p;
}

/* File order is free: as many rounds as the tree is deep. */
static void find_poses(const struct orr_description *craft, struct pose *poses) {
  bool more = true;
  for (size_t round = 0; more && round <= craft->body_count; round++) {
    more = false;
    for (size_t b = 0; b < craft->body_count; b++)
      if (!poses[b].known) {
        poses[b] = pose_beside(craft, (int)b, poses);
        more |= poses[b].known;
      }
  }
}

static orr_vec3 mass_centre(const struct orr_description *craft, const struct pose *poses, int root) {
  orr_vec3 moment = v3_zero();
  double mass = 0;
  for (size_t b = 0; b < craft->body_count; b++) {
    const struct orr_body_desc *body = &craft->bodies[b];
    const struct pose *p = &poses[b];
    if (p->root != root)
      continue;
    if (!body->flexible)
      add_mass(&moment, &mass, body->mass, v3_add(p->position, m3_apply(p->attitude, v3_from(body->com))));
    for (size_t n = 0; body->flexible && n < body->node_count; n++)
      add_mass(
          &moment, &mass, body->nodes[n].mass,
          v3_add(p->position, m3_apply(p->attitude, v3_add(v3_from(body->nodes[n].at), v3_from(body->nodes[n].com)))));
  }
  return mass > 0 ? v3_scale(1 / mass, moment) : moment;
}

/* The device whose channel it is: DEVICE.quantity. */
static const struct orr_device_desc *device_of(const struct orr_run_draft *d, int channel) {
  const char *name = d->run->table.channels[channel].name, *dot = strrchr(name, '.');
  for (size_t i = 0; dot && i < d->device_count; i++)
    if (strlen(d->devices[i].name) == (size_t)(dot - name) &&
        strncmp(d->devices[i].name, name, (size_t)(dot - name)) == 0)
      return &d->devices[i];
  return NULL;
}

static struct orr_run_effect effect_of(const struct orr_run_draft *d, int channel, const struct pose *poses,
                                       const struct pose *axes, orr_vec3 centre) {
  const struct orr_description *craft = &d->run->spacecraft;
  const struct orr_device_desc *device = device_of(d, channel);
  const char *quantity = strrchr(d->run->table.channels[channel].name, '.');
  struct orr_run_effect e = {.kind = ORR_EFFECT_NONE};
  if (!device || device->kind->host != ORR_ON_NODE || poses[device->body].root != axes->root)
    return e;
  const struct pose *p = &poses[device->body];
  if (device->kind->rotor && strcmp(quantity, ".torque") == 0) {
    orr_vec3 u = device->kind->rotor(device->params).axis;
    e.kind = ORR_EFFECT_WHEEL;
    e.limit = d->run->table.channels[channel].most;
    v3_to(e.torque, m3_apply_t(axes->attitude, m3_apply(p->attitude, u)));
  } else if (device->kind->push && strcmp(quantity, ".on_time") == 0) {
    orr_vec3 force = m3_apply(p->attitude, device->kind->push(device->params));
    orr_vec3 at = v3_from(craft->bodies[device->body].nodes[device->node].at);
    orr_vec3 arm = v3_sub(v3_add(p->position, m3_apply(p->attitude, at)), centre);
    e.kind = ORR_EFFECT_THRUSTER;
    v3_to(e.torque, m3_apply_t(axes->attitude, v3_cross(arm, force)));
    v3_to(e.force, m3_apply_t(axes->attitude, force));
  }
  return e;
}

/* Whether the torques span the three axes: their Gram matrix has no direction that is a millionth of the largest. */
static bool span(const struct orr_run_effect *effects, int count, enum orr_run_effect_kind kind) {
  double g[3][3] = {{0}}, trace = 0;
  for (int k = 0; k < count; k++)
    for (int i = 0; i < 3 && effects[k].kind == kind; i++)
      for (int j = 0; j < 3; j++)
        g[i][j] += effects[k].torque[i] * effects[k].torque[j];
  trace = g[0][0] + g[1][1] + g[2][2];
  double det = g[0][0] * (g[1][1] * g[2][2] - g[1][2] * g[2][1]) - g[0][1] * (g[1][0] * g[2][2] - g[1][2] * g[2][0]) +
               g[0][2] * (g[1][0] * g[2][1] - g[1][1] * g[2][0]);
  return trace > 0 && det > 1e-6 * trace * trace * trace / 27;
}

/* A thruster pushes one way: the axes are spanned when there is a torque each way about each of them. */
static bool thrusters_reach(const struct orr_run_effect *effects, int count) {
  bool reach = span(effects, count, ORR_EFFECT_THRUSTER);
  for (int i = 0; i < 6 && reach; i++) {
    bool any = false;
    for (int k = 0; k < count; k++)
      any |= effects[k].kind == ORR_EFFECT_THRUSTER && (i % 2 ? -1 : 1) * effects[k].torque[i / 2] > 0;
    reach = any;
  }
  return reach;
}

static int count_of(const struct orr_run_effect *effects, int count, enum orr_run_effect_kind kind) {
  int n = 0;
  for (int i = 0; i < count; i++)
    n += effects[i].kind == kind;
  return n;
}

/* What turns the spacecraft is flown by the plain law; every other command stays as it is. */
static void choose_flown(struct orr_run_draft *d, struct orr_run_link *link, const struct orr_run_effect *effects) {
  int *flown = orr_arena_alloc(d->reader->arena, (size_t)link->command_count + 1, sizeof *flown);
  link->flown_count = 0;
  for (int i = 0; i < link->command_count; i++)
    if (effects[i].kind != ORR_EFFECT_NONE)
      flown[link->flown_count++] = link->commands[i];
  link->flown = flown;
}

bool orr_run_find_effects(struct orr_run_draft *d, struct orr_place key, int rate, struct orr_run_link *link) {
  const struct orr_description *craft = &d->run->spacecraft;
  const struct orr_device_desc *sensor = device_of(d, rate);
  struct pose *poses = orr_arena_alloc(d->reader->arena, craft->body_count, sizeof *poses);
  struct orr_run_effect *effects = orr_arena_alloc(d->reader->arena, (size_t)link->command_count + 1, sizeof *effects);
  memset(poses, 0, craft->body_count * sizeof *poses);
  find_poses(craft, poses);
  const struct pose *axes = &poses[sensor ? sensor->body : 0];
  orr_vec3 centre = mass_centre(craft, poses, axes->root);
  for (int i = 0; i < link->command_count; i++)
    effects[i] = effect_of(d, link->commands[i], poses, axes, centre);
  link->effects = effects;
  choose_flown(d, link, effects);
  int wheels = count_of(effects, link->command_count, ORR_EFFECT_WHEEL);
  bool thrusts = count_of(effects, link->command_count, ORR_EFFECT_THRUSTER) > 0;
  link->wheels_span = span(effects, link->command_count, ORR_EFFECT_WHEEL);
  link->thrusters_reach = thrusters_reach(effects, link->command_count);
  if (link->wheels_span && thrusts && !link->thrusters_reach)
    orr_read_warning(d->reader, key, "reach",
                     "the thrusters of this link do not turn both ways about each axis: of a torque beyond that of the "
                     "wheels the linked-in controller gives only what they reach");
  if (link->wheels_span || link->thrusters_reach)
    return true;
  orr_read_error(d->reader, key, "link",
                 wheels ? "the wheels that the linked-in controller commands do not span the three axes, and no "
                          "thrusters turn both ways about each of them: give it three wheels that do, or such thrusters"
                        : "the linked-in controller needs wheels that span the three axes, or thrusters that turn both "
                          "ways about each of them, of the spacecraft that its gyro is on");
  return false;
}
