/* Laying a plant out: its channels, its devices, and the memory for both. */
#include "core/plant/plant.h"

enum { TARGET, POINTING_ERROR, GIVEN, MOTION, MOTION_STARTS, SPECS };

/* The channels of a plant beside those of devices and truth. */
static const struct orr_channel specs[SPECS] = {
    [TARGET] = {.name = "target",
                .doc = "with `pointing`: the attitude that its node should have",
                .unit = "",
                .count = 4,
                .elements = orr_channel_xyzw},
    [POINTING_ERROR] = {.name = "pointing_error",
                        .doc = "with `pointing`: angle between the node's attitude and the target",
                        .unit = "rad",
                        .count = 1},
    [GIVEN] = {.name = "acceleration",
               .doc = "the given acceleration of a prescribed hinge, a number for each speed",
               .direction = ORR_CHANNEL_COMMAND},
    [MOTION] = {.name = "motion",
                .doc = "with `motion: {command: ...}`, of a hinge or of a loop: where it is to go, rad or m",
                .direction = ORR_CHANNEL_COMMAND,
                .count = 1},
    [MOTION_STARTS] = {.name = "motion",
                       .doc = "with `motion: {starts: by_command}`, of a hinge or of a loop: 1 lets it begin",
                       .unit = "",
                       .type = ORR_CHANNEL_FLAG,
                       .direction = ORR_CHANNEL_COMMAND,
                       .hold = ORR_CHANNEL_PULSE,
                       .count = 1,
                       .high = 1},
};

const struct orr_channel *orr_plant_channel(size_t index, const char **of) {
  *of = "BODY";
  return index < SPECS ? &specs[index] : orr_truth_channel(index - SPECS, of);
}

/* The rotor of a gear with backlash turns on the parent's side of its hinge, about the hinge's first axis there. Where
 * that is at rest, or the coordinate is a distance, it turns by itself alone: its axis is zero, and it stands at the
 * hinge's own body so that it has a place. */
static struct orr_rotor_desc meshed_rotor(const struct orr_body_desc *bodies, const struct orr_device_desc *d) {
  const struct orr_hinge_desc *hinge = &bodies[d->body].hinge;
  struct orr_rotor_desc rotor = {.name = d->name,
                                 .body = d->body,
                                 .node = hinge->node,
                                 .inertia = d->kind->mesh(d->params).gear.inertia,
                                 .source = d->source};
  if (hinge->parent < 0 || !(orr_hinge_kind_info(hinge->kind)->angles >> d->coordinate & 1))
    return rotor;
  rotor.body = hinge->parent;
  rotor.node = hinge->parent_node;
  v3_to(rotor.axis, m3_apply(quat_matrix(hinge->rotation), v3_from(hinge->axes[0])));
  return rotor;
}

size_t orr_plant_rotors(const struct orr_body_desc *bodies, const struct orr_device_desc *devices, size_t count,
                        struct orr_rotor_desc *rotors) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    const struct orr_device_desc *d = &devices[i];
    if (!d->kind->rotor && !d->kind->mesh)
      continue;
    if (rotors && d->kind->mesh) {
      rotors[found] = meshed_rotor(bodies, d);
    } else if (rotors) {
      struct orr_device_rotor rotor = d->kind->rotor(d->params);
      rotors[found] = (struct orr_rotor_desc){
          .name = d->name, .body = d->body, .node = d->node, .inertia = rotor.inertia, .source = d->source};
      v3_to(rotors[found].axis, rotor.axis);
    }
    found++;
  }
  return found;
}

static int width_of(const struct orr_device_desc *d, const struct orr_body_desc *body) {
  if (d->kind->flexible_host)
    return (int)body->mode_count;
  return d->kind->host == ORR_ON_HINGE ? orr_hinge_speeds(body->hinge.kind) : 1;
}

static bool is_distance(const struct orr_device_desc *d, const struct orr_body_desc *body) {
  return d->kind->host == ORR_ON_COORDINATE && !(orr_hinge_kind_info(body->hinge.kind)->angles >> d->coordinate & 1);
}

/* Declares a device's channels. In `device`, if there is one, output and command become the first channel of each sort,
 * or −1. */
static void declare_device(const struct orr_device_desc *d, const struct orr_body_desc *body,
                           struct orr_channel_table *table, struct orr_device *device) {
  int outputs = 0, commands = 0, first_output = -1, first_command = -1, first_told = -1;
  for (size_t i = 0; i < d->kind->channel_count; i++) {
    const struct orr_device_channel *c = &d->kind->channels[i];
    if (c->present && !c->present(d->params))
      continue;
    struct orr_channel spec = {.name = c->name,
                               .doc = c->doc,
                               .unit = c->unit,
                               .type = c->type,
                               .direction = c->direction,
                               .hold = c->hold,
                               .count = c->count ? c->count : width_of(d, body),
                               .elements = c->elements,
                               .divisor = d->divisor,
                               .phase = d->phase};
    if (c->unit_linear && is_distance(d, body))
      spec.unit = c->unit_linear;
    if (c->range)
      c->range(d->params, &spec.low, &spec.high);
    if (c->most && isfinite(c->most(d->params)))
      spec.most = c->most(d->params);
    int index = orr_channel_declare(table, d->name, &spec);
    bool command = c->direction == ORR_CHANNEL_COMMAND;
    int *first = command ? &first_command : c->told ? &first_told : &first_output;
    *(command ? &commands : &outputs) += c->told ? 0 : spec.count;
    *first = *first < 0 ? index : *first;
  }
  if (!device)
    return;
  device->output = first_output;
  device->command = first_command;
  device->told = first_told;
  device->output_count = outputs;
  device->command_count = commands;
}

static const struct orr_limb *limb_of(const struct orr_model *m, int body) { return &m->limbs[m->limb_of_body[body]]; }

/* Whether some device, rather than a command, drives this body's hinge. */
static bool device_drives(const struct orr_plant_desc *desc, int body) {
  for (size_t i = 0; i < desc->device_count; i++) {
    const struct orr_device_desc *d = &desc->devices[i];
    if (d->body == body && d->kind->prescribes && d->kind->prescribes(d->params))
      return true;
  }
  return false;
}

/* Where a motion may be told to go: as far as it gets from one end to the other within `over` at a radian or a metre a
 * step of the integration, for faster than that no integrator can follow what turns along. A turn or 10 m either way is
 * always taken, and where a loop begins; a hinge that begins further out can only be told to come within. A distance of
 * a loop is above zero.
 *
 *   1.875 (2 x)/T h = 1,   1.875 (x₁ − x₀)/T the largest rate of the polynomial of core/plant/motions.h */
static void motion_range(const struct orr_plant_desc *desc, const struct orr_motion_desc *motion, bool angle,
                         struct orr_channel *spec) {
  double step_s = 1e-9 * (double)desc->step_ns / desc->substeps, least = angle ? 6.283185307179586476925 : 10;
  double at_pace = step_s > 0 ? motion->over_s / (3.75 * step_s) : HUGE_VAL;
  orr_device_command_range(HUGE_VAL, &spec->low, &spec->high);
  spec->high = orr_max(orr_max(least, fabs(motion->from)), orr_min(spec->high, at_pace));
  spec->low = -spec->high;
}

/* The command of one motion, or −1: where it is to go, or that it begins. */
static int declare_motion(const struct orr_plant_desc *desc, const char *entity, const struct orr_motion_desc *motion,
                          bool angle, bool distance, struct orr_channel_table *table) {
  static const double SHORTEST = 1e-3;
  struct orr_channel spec = specs[motion->waits ? MOTION_STARTS : MOTION];
  if (motion->form == ORR_MOTION_COMMAND) {
    spec.unit = angle ? "rad" : "m";
    motion_range(desc, motion, angle, &spec);
    spec.low = distance ? orr_min(SHORTEST, motion->from) : spec.low;
  } else if (!motion->waits) {
    return -1;
  }
  return orr_channel_declare(table, entity, &spec);
}

/* In the order of orr_motions_layout; until the table is sealed, `command` is the channel. */
static void declare_motions(const struct orr_plant_desc *desc, struct orr_channel_table *table,
                            struct orr_plant *plant) {
  const struct orr_description *spacecraft = desc->spacecraft;
  int k = 0;
  for (size_t b = 0; b < spacecraft->body_count; b++) {
    const struct orr_body_desc *body = &spacecraft->bodies[b];
    const struct orr_hinge_kind_info *info = orr_hinge_kind_info(body->hinge.kind);
    for (size_t i = 0; body->hinge.motion && i < info->speed_count; i++, k++) {
      int channel = declare_motion(desc, body->name, &body->hinge.motion[i], info->angles >> i & 1, false, table);
      if (plant)
        plant->motions.items[k].command = channel;
    }
  }
  for (int i = 0; i < (int)spacecraft->loop_count; i++) {
    const struct orr_loop_desc *loop = &spacecraft->loops[i];
    char entity[ORR_TRUTH_ENTITY];
    if (!loop->motion)
      continue;
    bool slides = loop->kind == ORR_LOOP_DISTANCE ||
                  (loop->kind == ORR_LOOP_GEAR && orr_truth_loop_numbers(spacecraft, i).forces);
    int channel = declare_motion(desc, orr_truth_loop_entity(spacecraft, i, entity), loop->motion, !slides,
                                 loop->kind == ORR_LOOP_DISTANCE, table);
    if (plant)
      plant->motions.items[k].command = channel;
    k++;
  }
}

static void declare_all(const struct orr_plant_desc *desc, struct orr_channel_table *table, struct orr_plant *plant) {
  const struct orr_description *spacecraft = desc->spacecraft;
  for (size_t i = 0; i < desc->device_count; i++)
    declare_device(&desc->devices[i], &spacecraft->bodies[desc->devices[i].body], table,
                   plant ? &plant->devices[i] : NULL);
  for (size_t i = 0; i < desc->pointing_count; i++) {
    const char *body = spacecraft->bodies[desc->pointings[i].body].name;
    int channel = orr_channel_declare(table, body, &specs[TARGET]);
    orr_channel_declare(table, body, &specs[POINTING_ERROR]);
    if (plant)
      plant->pointing_channel[i] = channel;
  }
  int truths = orr_truth_declare(spacecraft, table, plant ? plant->truths : NULL);
  assert(!plant || truths == plant->truth_count);
  (void)truths;
  for (int b = 0; b < (int)spacecraft->body_count; b++) {
    const struct orr_body_desc *body = &spacecraft->bodies[b];
    int dof = orr_hinge_speeds(body->hinge.kind);
    bool driven = body->hinge.prescribed && dof && !body->hinge.motion && !device_drives(desc, b);
    if (driven) {
      const struct orr_hinge_kind_info *info = orr_hinge_kind_info(body->hinge.kind);
      const char *unit = info->angles == (1u << dof) - 1 ? "rad/s^2" : info->angles ? "" : "m/s^2";
      struct orr_channel given = specs[GIVEN];
      given.unit = unit;
      given.count = dof;
      orr_device_command_range(HUGE_VAL, &given.low, &given.high);
      int channel = orr_channel_declare(table, body->name, &given);
      if (plant)
        plant->body_command[b] = channel;
    } else if (plant) {
      plant->body_command[b] = -1;
    }
  }
  declare_motions(desc, table, plant);
}

static bool has_stops(const struct orr_device_desc *d) {
  if (!d->kind->stops)
    return false;
  struct orr_device_stops stops = d->kind->stops(d->params);
  return isfinite(stops.low) || isfinite(stops.high);
}

static int count_meshes(const struct orr_plant_desc *desc) {
  int count = 0;
  for (size_t i = 0; i < desc->device_count; i++)
    count += desc->devices[i].kind->mesh != NULL;
  return count;
}

static int count_contacts(const struct orr_plant_desc *desc) {
  int count = count_meshes(desc);
  for (size_t i = 0; i < desc->device_count; i++)
    count += has_stops(&desc->devices[i]);
  return count;
}

static void layout_state(struct orr_block *block, const struct orr_plant_desc *desc, struct orr_plant *p) {
  size_t start = block->used;
  p->frame = ORR_TAKE(block, int64_t, 1);
  p->state = (char *)p->frame;
  p->shafts = ORR_TAKE(block, double, count_meshes(desc));
  p->taken = ORR_TAKE(block, double, desc->device_count);
  p->motions.state = ORR_TAKE(block, struct orr_motion_state, p->motions.count);
  for (size_t i = 0; i < desc->device_count; i++) {
    const struct orr_device_desc *d = &desc->devices[i];
    void *state = ORR_TAKE(block, char, d->kind->state_bytes);
    struct orr_device counted = {0}, *device = block->base ? &p->devices[i] : &counted;
    if (!block->base) {
      struct orr_channel_table table = {0};
      declare_device(d, &desc->spacecraft->bodies[d->body], &table, device);
    }
    struct orr_sample_queue queue = {.room = d->delay / d->divisor + 2};
    queue.due = ORR_TAKE(block, int64_t, queue.room + 2);
    queue.samples = ORR_TAKE(block, double, (queue.room + 1) * device->output_count);
    device->state = state;
    if (block->base)
      p->queues[i] = queue;
  }
  p->hashed_bytes = block->used - start;
  p->truth_sign = ORR_TAKE(block, double, 4 * p->truth_count);
  p->target_sign = ORR_TAKE(block, double, 4 * desc->pointing_count);
  p->state_bytes = block->used - start;
}

static int find_body(const struct orr_plant *p, const char *name) {
  int body = 0;
  while (strcmp(p->spacecraft->bodies[body].name, name) != 0)
    body++;
  return body;
}

/* Who feeds from which tank. */
static void join_tanks(struct orr_plant *p) {
  for (int i = 0; i < p->device_count; i++) {
    struct orr_device *device = &p->devices[i];
    p->has_tanks |= device->kind->stock != NULL;
    const char *tank = device->kind->feeds_from ? device->kind->feeds_from(device->params) : NULL;
    for (int k = 0; tank && k < p->device_count; k++)
      if (strcmp(p->devices[k].name, tank) == 0)
        device->tank = &p->devices[k];
  }
}

static void place_device(struct orr_plant *p, int index, const struct orr_device_desc *d, int *rotor, uint64_t seed) {
  struct orr_device *device = &p->devices[index];
  const struct orr_limb *limb = limb_of(p->model, d->body);
  device->kind = d->kind;
  device->name = d->name;
  device->params = d->params;
  device->limited = &p->limited[index];
  device->noise = orr_noise_key(seed, d->name);
  device->body = d->body;
  device->node = d->kind->host == ORR_ON_NODE ? orr_model_node(p->model, d->body, d->node) : -1;
  device->q = limb->hinge_q + d->coordinate;
  device->u = limb->hinge_u + d->coordinate;
  device->width = width_of(d, &p->spacecraft->bodies[d->body]);
  device->rotor = d->kind->rotor || d->kind->mesh ? (*rotor)++ : -1;
  device->divisor = d->divisor;
  device->phase = d->phase;
  device->delay = d->delay;
  device->period_s = 1e-9 * (double)p->step_ns * d->divisor;
  if (device->output >= 0)
    device->output = p->table.channels[device->output].offset;
  if (device->told >= 0)
    device->told = p->table.channels[device->told].offset;
  if (device->command >= 0)
    device->command = p->table.channels[device->command].offset;
  if (d->kind->gear) {
    struct orr_device_gear gear = d->kind->gear(d->params);
    orr_rotor_gear(p->ws, d->body, d->coordinate, gear.ratio, gear.inertia);
  }
  if (d->kind->prescribes && d->kind->prescribes(d->params))
    orr_prescribe(p->ws, d->body, true);
  if (d->kind->propellant && d->kind->propellant(d->params) > 0)
    p->burns[d->body] = true;
  device->pendulum = d->kind->swings && d->kind->swings(d->params) ? find_body(p, d->kind->swings(d->params)) : -1;
  p->drive.needs_places |= d->kind->needs_places;
  if (d->kind->needs_acceleration)
    p->accelerometer[p->accelerometer_count++] = index;
}

struct orr_frame_cost orr_plant_frame_cost(const struct orr_plant_desc *desc) {
  struct orr_frame_cost cost = {.stops = count_contacts(desc)};
  int step = orr_integrator_evaluations[desc->integrator];
  cost.not_located = cost.stops && desc->integrator == ORR_SEMI_IMPLICIT;
  cost.stops = cost.not_located ? 0 : cost.stops;
  for (size_t i = 0; i < desc->device_count; i++)
    cost.sensors |= desc->devices[i].kind->needs_acceleration;
  cost.plain = desc->substeps * step + cost.sensors;
  cost.worst = cost.plain + (cost.stops ? 2 * ORR_EVENT_SPLITS * step : 0);
  return cost;
}

/* Devices are placed. A gear's gap stops what lies between hinge and shaft. */
static void place_contacts(struct orr_plant *p, const struct orr_plant_desc *desc) {
  struct orr_events *e = &p->events;
  int k = 0, shaft = 0;
  for (int i = 0; i < p->device_count; i++) {
    struct orr_device *device = &p->devices[i];
    device->events = e;
    if (has_stops(&desc->devices[i])) {
      e->items[k] = (struct orr_stop){.q = device->q, .u = device->u, .stops = device->kind->stops(device->params)};
      device->contact = &e->items[k++];
    }
    if (device->kind->mesh) {
      struct orr_device_mesh mesh = device->kind->mesh(device->params);
      e->items[k] = (struct orr_stop){.q = device->q,
                                      .u = device->u,
                                      .stops = {-0.5 * mesh.gap, 0.5 * mesh.gap, mesh.stiffness, mesh.damping},
                                      .shaft = &p->shafts[shaft],
                                      .rotor = device->rotor,
                                      .ratio = mesh.gear.ratio};
      device->mesh = &e->items[k++];
      shaft++;
    }
  }
  e->integration = p->integration;
  e->step_s = &p->acting.step_s;
  e->first = &p->acting.first;
  e->device_state = p->state;
  p->integration->events = e;
  if (e->count)
    p->integration->step = orr_events_step;
}

static void list_pulses(struct orr_plant *p) {
  for (int i = 0; i < p->table.count; i++) {
    const struct orr_channel *c = &p->table.channels[i];
    bool pulse = c->direction == ORR_CHANNEL_COMMAND && c->hold == ORR_CHANNEL_PULSE;
    for (int k = 0; k < c->count && pulse; k++)
      p->pulse[p->pulse_count++] = c->offset + k;
  }
}

/* Everything, on a block that gives, or on one that measures: the plant is then `scratch`. */
static struct orr_plant *layout(struct orr_block *block, const struct orr_model *m, struct orr_workspace *ws,
                                const struct orr_plant_desc *desc, struct orr_plant *scratch) {
  struct orr_channel_table counted = {0};
  declare_all(desc, &counted, NULL);
  struct orr_plant *p = ORR_TAKE(block, struct orr_plant, 1);
  p = block->base ? p : scratch;
  p->model = m;
  p->table = counted;
  p->truth_count = orr_truth_declare(desc->spacecraft, &(struct orr_channel_table){0}, NULL);
  p->devices = ORR_TAKE(block, struct orr_device, desc->device_count);
  p->limited = ORR_TAKE(block, struct orr_limited, desc->device_count);
  p->queues = ORR_TAKE(block, struct orr_sample_queue, desc->device_count);
  p->truths = ORR_TAKE(block, struct orr_truth, p->truth_count);
  p->asked = ORR_TAKE(block, int, p->truth_count);
  p->pulse = ORR_TAKE(block, int, counted.value_count);
  p->accelerometer = ORR_TAKE(block, int, desc->device_count);
  p->pointing_channel = ORR_TAKE(block, int, desc->pointing_count);
  p->body_command = ORR_TAKE(block, int, m->body_count);
  p->burns = ORR_TAKE(block, bool, m->body_count);
  orr_bounds_layout(&p->bounds, m, block);
  orr_motions_layout(&p->motions, desc->spacecraft, m, block);
  orr_channels_place(&p->table, block);
  if (block->base) {
    declare_all(desc, &p->table, p);
    orr_channels_seal(&p->table);
    for (int i = 0; i < p->truth_count; i++)
      if (p->truths[i].node >= 0)
        p->truths[i].node = orr_model_node(m, p->truths[i].body, p->truths[i].node);
  }
  p->values = ORR_TAKE(block, double, counted.value_count);
  layout_state(block, desc, p);
  orr_events_layout(&p->events, m, count_contacts(desc), p->state_bytes, block);
  size_t bytes = orr_integration_size(m);
  char *integration = ORR_TAKE(block, char, bytes);
  if (block->base)
    p->integration = orr_integration_init(integration, bytes, m, ws, &p->drive);
  if (block->base && p->motions.count)
    p->integration->motions = &p->motions;
  return p;
}

void orr_plant_declare(const struct orr_plant_desc *desc, struct orr_channel_table *table) {
  declare_all(desc, table, NULL);
}

size_t orr_plant_size(const struct orr_model *model, const struct orr_plant_desc *desc) {
  struct orr_block block = {0};
  struct orr_plant scratch = {0};
  layout(&block, model, NULL, desc, &scratch);
  return block.used;
}

struct orr_plant *orr_plant_init(void *block, size_t bytes, const struct orr_model *model, struct orr_workspace *ws,
                                 const struct orr_plant_desc *desc) {
  if (!block || bytes < orr_plant_size(model, desc))
    return NULL;
  struct orr_block b = {.base = block, .size = bytes};
  struct orr_plant *p = layout(&b, model, ws, desc, NULL);
  p->drive.apply = orr_plant_act;
  p->ws = ws;
  p->spacecraft = desc->spacecraft;
  p->pointings = desc->pointings;
  p->pointing_count = (int)desc->pointing_count;
  p->device_count = (int)desc->device_count;
  p->step_ns = desc->step_ns;
  p->substeps = desc->substeps;
  p->q0 = desc->q;
  p->u0 = desc->u;
  p->integration->rule = desc->integrator;
  p->failed_body = -1;
  list_pulses(p);
  int rotor = 0;
  int64_t substep_ns = desc->step_ns / desc->substeps;
  for (int i = 0; i < p->device_count; i++)
    place_device(p, i, &desc->devices[i], &rotor, desc->seed);
  assert(rotor == model->rotor_count);
  place_contacts(p, desc);
  join_tanks(p);
  for (int i = 0; i < model->body_count; i++)
    if (p->body_command[i] >= 0)
      p->body_command[i] = p->table.channels[p->body_command[i]].offset;
  for (int k = 0; k < p->motions.count; k++)
    if (p->motions.items[k].command >= 0)
      p->motions.items[k].command = p->table.channels[p->motions.items[k].command].offset;
  p->acting = (struct orr_acting){.model = model,
                                  .ws = ws,
                                  .values = p->values,
                                  .frame = p->frame,
                                  .step_s = 1e-9 * (double)substep_ns,
                                  .frame_s = 1e-9 * (double)desc->step_ns};
  return p;
}
