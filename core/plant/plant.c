#include "core/plant/plant.h"

#include <math.h>

#include "core/math/elementary.h"
#include "core/math/hash.h"
#include "core/tree/forward.h"
#include "core/tree/kinematics.h"

/* The truths are neighbours in the table. */
void orr_plant_ask(struct orr_plant *plant, int channel) {
  struct orr_channel *c = &plant->table.channels[channel];
  int truth = plant->truth_count ? channel - plant->truths[0].channel : -1;
  if (c->asked)
    return;
  c->asked = true;
  if (truth < 0 || truth >= plant->truth_count)
    return;
  assert(plant->truths[truth].channel == channel);
  if (orr_truth_is_node_load(&plant->truths[truth]))
    plant->asked[plant->truth_count - ++plant->asked_loads] = truth;
  else
    plant->asked[plant->asked_count++] = truth;
  plant->asked_acceleration |= orr_truth_needs_acceleration(&plant->truths[truth]);
}

/* ---- actuators --------------------------------------------------------------------------------------------------- */

void orr_plant_act(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                   double *force, double *given) {
  struct orr_plant *p = (struct orr_plant *)drive;
  const struct orr_model *m = p->model;
  struct orr_acting *now = &p->acting;
  now->point = point;
  now->force = force;
  now->given = given;
  for (int b = 0; b < m->body_count; b++) {
    const struct orr_limb *limb = &m->limbs[m->limb_of_body[b]];
    for (int i = 0; p->body_command[b] >= 0 && i < limb->dof; i++)
      given[limb->hinge_u + i] = p->values[p->body_command[b] + i];
  }
  for (int i = 0; i < p->device_count; i++) {
    const struct orr_device *device = &p->devices[i];
    now->taken = point->index == 0 ? &p->taken[i] : NULL;
    if (device->kind->apply)
      device->kind->apply(device, now);
  }
  (void)ws;
}

/* Propellant gone from a body, or from one node of it. */
static double taken_from(const struct orr_plant *p, int body, int node) {
  double sum = 0;
  for (int i = 0; i < p->device_count; i++)
    if (p->devices[i].body == body && (node < 0 || p->devices[i].node == node))
      sum += p->taken[i];
  return sum;
}

static struct orr_stock stock_of(const struct orr_device *device) {
  return device->kind->stock(device->params, device->state);
}

/* a·a 1 − a aᵀ times m, added to an inertia [xx yy zz xy xz yz]. */
static void add_point(double inertia[6], double m, const double a[3]) {
  for (int k = 0; k < 3; k++)
    inertia[k] += m * (a[(k + 1) % 3] * a[(k + 1) % 3] + a[(k + 2) % 3] * a[(k + 2) % 3]);
  inertia[3] -= m * a[0] * a[1];
  inertia[4] -= m * a[0] * a[2];
  inertia[5] -= m * a[1] * a[2];
}

/* A rigid body without the points that have left its tanks: m' = m − Σ Δ, m' c' = m c − Σ Δ a, and the inertia about
 * the origin likewise. */
static void weigh_rigid(struct orr_plant *p, int b) {
  const struct orr_body_desc *body = &p->spacecraft->bodies[b];
  double mass = body->mass - taken_from(p, b, -1), moment[3], com[3], inertia[6];
  memcpy(inertia, body->inertia, sizeof inertia);
  add_point(inertia, mass, body->com);
  for (int k = 0; k < 3; k++)
    moment[k] = mass * body->com[k];
  for (int i = 0; i < p->device_count; i++) {
    const struct orr_device *tank = &p->devices[i];
    if (tank->body != b || !tank->kind->stock)
      continue;
    double gone = stock_of(tank).gone;
    const double *at = body->nodes[tank->node - p->model->node_first[b]].at;
    mass -= gone;
    for (int k = 0; k < 3; k++)
      moment[k] -= gone * at[k];
    add_point(inertia, -gone, at);
  }
  for (int k = 0; k < 3; k++)
    com[k] = moment[k] / mass;
  add_point(inertia, -mass, com);
  orr_mass_set(p->ws, b, mass, com, inertia);
}

/* The bob keeps the direction in which its mass centre lies. */
static void weigh_pendulum(struct orr_plant *p, const struct orr_device *tank) {
  const struct orr_body_desc *bob = &p->spacecraft->bodies[tank->pendulum];
  struct orr_stock stock = stock_of(tank);
  double com[3];
  v3_to(com, v3_scale(stock.arm / v3_norm(v3_from(bob->com)), v3_from(bob->com)));
  orr_mass_set(p->ws, tank->pendulum, stock.bob, com, bob->inertia);
}

static void weigh_tank(struct orr_plant *p, const struct orr_device *tank) {
  const struct orr_body_desc *body = &p->spacecraft->bodies[tank->body];
  if (tank->pendulum >= 0)
    weigh_pendulum(p, tank);
  if (!body->flexible) {
    weigh_rigid(p, tank->body);
    return;
  }
  int index = tank->node - p->model->node_first[tank->body];
  double left = body->nodes[index].mass - taken_from(p, tank->body, tank->node);
  for (int i = 0; i < p->device_count; i++)
    if (p->devices[i].kind->stock && p->devices[i].node == tank->node)
      left -= stock_of(&p->devices[i]).gone;
  orr_node_mass_set(p->ws, tank->body, index, left, body->nodes[index].com, body->nodes[index].inertia);
}

/* Propellant of a thruster's own leaves from the mass centre of a rigid body, so its inertia about that stays; on a
 * flexible one from the device's node. That of a tank leaves from the tank. */
static void update_masses(struct orr_plant *p) {
  for (int i = 0; i < p->device_count; i++) {
    const struct orr_device *device = &p->devices[i];
    if (!device->kind->propellant || !p->burns[device->body])
      continue;
    const struct orr_body_desc *body = &p->spacecraft->bodies[device->body];
    if (!body->flexible) {
      double left = body->mass - taken_from(p, device->body, -1);
      orr_mass_set(p->ws, device->body, left, body->com, body->inertia);
      continue;
    }
    int index = device->node - p->model->node_first[device->body];
    const struct orr_node_desc *node = &body->nodes[index];
    double left = node->mass - taken_from(p, device->body, device->node);
    orr_node_mass_set(p->ws, device->body, index, left, node->com, node->inertia);
  }
  for (int i = 0; i < p->device_count && p->has_tanks; i++)
    if (p->devices[i].kind->stock)
      weigh_tank(p, &p->devices[i]);
}

enum orr_status orr_plant_advance(struct orr_plant *plant) {
  int64_t start = orr_plant_time_ns(plant), step = plant->step_ns / plant->substeps;
  orr_motions_command(&plant->motions, start, plant->values);
  for (int i = 0; i < plant->substeps; i++) {
    plant->acting.first = i == 0;
    enum orr_status status = plant->integration->step(plant->integration, start + i * step, step);
    if (status != ORR_OK) {
      plant->failed_body = plant->ws->failed_body;
      return status;
    }
  }
  update_masses(plant);
  for (int i = 0; i < plant->pulse_count; i++)
    plant->values[plant->pulse[i]] = 0;
  ++*plant->frame;
  return ORR_OK;
}

/* ---- sensors ----------------------------------------------------------------------------------------------------- */

static bool is_due(const struct orr_device *device, int64_t frame) {
  return frame == 0 || (frame >= device->phase && (frame - device->phase) % device->divisor == 0);
}

static bool needs_acceleration(const struct orr_plant *p, int64_t frame) {
  for (int i = 0; i < p->accelerometer_count; i++)
    if (is_due(&p->devices[p->accelerometer[i]], frame))
      return true;
  return p->asked_acceleration;
}

/* The sample that stands in the block. */
static double *held(const struct orr_device *device, const struct orr_sample_queue *queue) {
  return queue->samples + queue->room * device->output_count;
}

/* A new sample, if one is due, waits for `delay` frames; the one whose time has come is held from now on. The first
 * sample of all is held at once, so that no output is ever without a value. */
static void sample(struct orr_plant *p, int index, const struct orr_sensing *now) {
  const struct orr_device *device = &p->devices[index];
  const struct orr_sample_queue *queue = &p->queues[index];
  int64_t *first = &queue->due[queue->room], *count = first + 1, frame = (int64_t)now->frame;
  size_t bytes = sizeof(double) * (size_t)device->output_count;
  if (!bytes)
    return;
  if (is_due(device, frame)) {
    int64_t slot = (*first + *count) % queue->room;
    double *values = queue->samples + slot * device->output_count;
    device->kind->sense(device, now, values);
    queue->due[slot] = frame == 0 ? 0 : frame + device->delay;
    ++*count;
    assert(*count <= queue->room);
  }
  while (*count && queue->due[*first] <= frame) {
    memcpy(held(device, queue), queue->samples + *first * device->output_count, bytes);
    *first = (*first + 1) % queue->room;
    --*count;
  }
}

static void publish(struct orr_plant *p) {
  for (int i = 0; i < p->device_count; i++)
    if (p->devices[i].output_count)
      memcpy(p->values + p->devices[i].output, held(&p->devices[i], &p->queues[i]),
             sizeof(double) * (size_t)p->devices[i].output_count);
}

/* The target of a moment. */
static void target_at(const struct orr_pointing_desc *pointing, int64_t now_ns, double *out) {
  const struct orr_target *t = pointing->targets;
  size_t i = 0;
  while (i + 1 < pointing->target_count && t[i + 1].at_ns <= now_ns)
    i++;
  memcpy(out, t[i].attitude, sizeof t[i].attitude);
  if (i + 1 == pointing->target_count || t[i].at_ns >= now_ns)
    return;
  /* q_i ∘ exp(s log(q_i⁻¹ ∘ q_i+1)), the short way */
  double part = (double)(now_ns - t[i].at_ns) / (double)(t[i + 1].at_ns - t[i].at_ns), back[4], turn[4], by[4];
  for (int k = 0; k < 4; k++)
    back[k] = k < 3 ? -t[i].attitude[k] : t[i].attitude[3];
  quat_mul(back, t[i + 1].attitude, turn);
  double sign = turn[3] < 0 ? -1 : 1, length = v3_norm(v3_from(turn));
  double angle = 2 * orr_atan2(length, sign * turn[3]);
  double scale = length > 0 ? sign * part * angle / length : 0;
  quat_exp(v3_scale(scale, v3_from(turn)), by);
  quat_mul(t[i].attitude, by, out);
  quat_normalise(out);
}

static void point(struct orr_plant *p, int index) {
  const struct orr_pointing_desc *pointing = &p->pointings[index];
  const struct orr_channel *channel = &p->table.channels[p->pointing_channel[index]];
  double *target = p->values + channel->offset, *last = p->target_sign + 4 * index, sign = 0, is[4], off[4];
  struct orr_node_state node;
  target_at(pointing, orr_plant_time_ns(p), target);
  for (int k = 0; k < 4; k++)
    sign += target[k] * last[k];
  for (int k = 0; k < 4; k++)
    last[k] = target[k] = sign < 0 ? -target[k] : target[k];
  orr_node_query(p->model, p->ws, orr_model_node(p->model, pointing->body, pointing->node), &node);
  quat_from_matrix(node.attitude, is);
  const double back[4] = {-target[0], -target[1], -target[2], target[3]};
  quat_mul(back, is, off);
  p->values[channel[1].offset] = 2 * orr_atan2(v3_norm(v3_from(off)), fabs(off[3]));
}

/* What is computed from the state rather than sampled: pointing, and the truth that is asked for. */
static void compute_outputs(struct orr_plant *p) {
  for (int i = 0; i < p->device_count; i++)
    if (p->devices[i].told >= 0)
      p->devices[i].kind->tell(&p->devices[i], &p->acting, p->values + p->devices[i].told);
  for (int i = 0; i < p->pointing_count; i++)
    point(p, i);
  for (int i = 0; i < p->asked_count; i++) {
    int truth = p->asked[i];
    double *out = p->values + p->table.channels[p->truths[truth].channel].offset;
    orr_truth_fill(p->model, p->ws, p->integration->closed, &p->truths[truth], p->truth_sign + 4 * truth, out);
  }
  for (int i = 1; i <= p->asked_loads; i++) {
    const struct orr_truth *truth = &p->truths[p->asked[p->truth_count - i]];
    orr_plant_node_load(p, truth, p->values + p->table.channels[truth->channel].offset);
  }
}

static enum orr_status set_and_observe(struct orr_plant *p) {
  orr_integration_set(p->integration);
  if (!needs_acceleration(p, *p->frame))
    return ORR_OK;
  enum orr_status status = orr_integration_observe(p->integration, orr_plant_time_ns(p));
  if (status != ORR_OK)
    p->failed_body = p->ws->failed_body;
  return status;
}

enum orr_status orr_plant_sense(struct orr_plant *plant) {
  int64_t time_ns = orr_plant_time_ns(plant);
  enum orr_status status = set_and_observe(plant);
  if (status != ORR_OK)
    return status;
  const struct orr_sensing now = {
      .model = plant->model, .ws = plant->ws, .frame = (uint64_t)*plant->frame, .time_s = 1e-9 * (double)time_ns};
  for (int i = 0; i < plant->device_count; i++)
    sample(plant, i, &now);
  publish(plant);
  compute_outputs(plant);
  orr_bounds_look(&plant->bounds, plant->ws);
  return ORR_OK;
}

/* ---- start, state ------------------------------------------------------------------------------------------------ */

static void forget_counts(struct orr_plant *p) {
  orr_bounds_reset(&p->bounds);
  p->events.located = p->events.late = 0;
  memset(p->limited, 0, sizeof *p->limited * (size_t)p->device_count);
}

enum orr_status orr_plant_reset(struct orr_plant *plant) {
  const struct orr_model *m = plant->model;
  struct orr_integration *i = plant->integration;
  memset(plant->values, 0, sizeof(double) * (size_t)plant->table.value_count);
  memset(plant->state, 0, plant->state_bytes);
  memcpy(i->q, plant->q0, sizeof(double) * (size_t)m->q_count);
  memcpy(i->u, plant->u0, sizeof(double) * (size_t)m->u_count);
  orr_motions_reset(&plant->motions, i->q, plant->values);
  for (int d = 0; d < plant->device_count; d++) {
    const struct orr_device *device = &plant->devices[d];
    if (device->mesh) { /* the rotor goes along, in the middle of its gap */
      i->spin[device->rotor] = device->mesh->ratio * i->u[device->u];
      *device->mesh->shaft = i->q[device->q];
    } else if (device->rotor >= 0) {
      i->spin[device->rotor] = device->kind->rotor(device->params).speed;
    }
    if (device->kind->reset)
      device->kind->reset(device);
  }
  update_masses(plant);
  forget_counts(plant);
  return orr_plant_sense(plant);
}

int64_t orr_plant_frame(const struct orr_plant *plant) { return *plant->frame; }

int64_t orr_plant_time_ns(const struct orr_plant *plant) { return *plant->frame * plant->step_ns; }

uint64_t orr_plant_hash(const struct orr_plant *plant) {
  const struct orr_model *m = plant->model;
  const struct orr_integration *i = plant->integration;
  uint64_t hash = ORR_HASH_BEGIN;
  hash = orr_hash_words(hash, i->q, sizeof(double) * (size_t)m->q_count);
  hash = orr_hash_words(hash, i->u, sizeof(double) * (size_t)m->u_count);
  hash = orr_hash_words(hash, i->spin, sizeof(double) * (size_t)m->rotor_count);
  hash = orr_hash_words(hash, plant->state, plant->hashed_bytes);
  int commands = plant->table.value_count - plant->table.output_values;
  return orr_hash_words(hash, plant->values + plant->table.output_values, sizeof(double) * (size_t)commands);
}

/* The pieces of the whole state, one after the other: copied out of or into the plant. */
static size_t pieces(const struct orr_plant *p, uint64_t *out, const uint64_t *in) {
  const struct orr_model *m = p->model;
  const struct orr_integration *i = p->integration;
  const size_t bytes[] = {8 * (size_t)m->q_count, 8 * (size_t)m->u_count, 8 * (size_t)m->rotor_count, p->state_bytes,
                          8 * (size_t)p->table.value_count};
  void *const at[] = {i->q, i->u, i->spin, p->state, p->values};
  size_t words = 0;
  for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
    if (out)
      memcpy(out + words, at[k], bytes[k]);
    if (in)
      memcpy(at[k], in + words, bytes[k]);
    words += bytes[k] / 8;
  }
  return words;
}

size_t orr_plant_state_words(const struct orr_plant *plant) { return pieces(plant, NULL, NULL); }

static bool all_finite(const uint64_t *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double number;
    memcpy(&number, &words[i], sizeof number);
    if (!isfinite(number))
      return false;
  }
  return true;
}

/* Samples that wait come out later than now, in turn and at a device's frames, so that they are no more than there is
 * room for. `due` is the queue's piece among the words. */
static bool queue_is_sound(const struct orr_device *device, int room, const int64_t *due, int64_t frame) {
  int64_t first = due[room], count = due[room + 1], last = frame;
  if (first < 0 || first >= room || count < 0 || count > room)
    return false;
  for (int64_t i = 0; i < count; i++) {
    int64_t at = due[(first + i) % room];
    if (at <= last || at > frame + device->delay || (at - device->delay - device->phase) % device->divisor)
      return false;
    last = at;
  }
  return true;
}

bool orr_plant_state_is_sound(const struct orr_plant *p, const uint64_t *words, int64_t frame) {
  size_t moving = (size_t)(p->model->q_count + p->model->u_count + p->model->rotor_count);
  const char *state = (const char *)(words + moving);
  const uint64_t *values = words + moving + p->state_bytes / 8;
  size_t outputs = (size_t)p->table.output_values, commands = (size_t)p->table.value_count - outputs;
  if (frame < 0 || frame > INT64_MAX / 4 / p->step_ns || memcmp(state, &frame, sizeof frame) != 0 ||
      !all_finite(words, moving) || !all_finite(values + outputs, commands))
    return false;
  for (int i = 0; i < p->device_count; i++) {
    const struct orr_device *device = &p->devices[i];
    const struct orr_sample_queue *queue = &p->queues[i];
    const void *due = state + ((const char *)queue->due - p->state), *own = state + ((char *)device->state - p->state);
    if ((device->output_count && !queue_is_sound(device, queue->room, due, frame)) ||
        (device->kind->is_sound && !device->kind->is_sound(own)))
      return false;
  }
  return true;
}

void orr_plant_state_get(const struct orr_plant *plant, uint64_t *words) { pieces(plant, words, NULL); }

enum orr_status orr_plant_state_put(struct orr_plant *plant, const uint64_t *words) {
  pieces(plant, NULL, words);
  update_masses(plant);
  enum orr_status status = set_and_observe(plant);
  if (status == ORR_OK)
    compute_outputs(plant);
  forget_counts(plant);
  if (status == ORR_OK)
    orr_bounds_look(&plant->bounds, plant->ws); /* this frame counts, as frame 0 does */
  return status;
}

uint64_t orr_plant_layout_hash(const struct orr_plant *plant) {
  uint64_t hash = orr_channels_hash(&plant->table);
  const int64_t sizes[] = {plant->model->q_count, plant->model->u_count, plant->model->rotor_count,
                           (int64_t)plant->state_bytes, plant->step_ns};
  return orr_hash_words(hash, sizes, sizeof sizes);
}
