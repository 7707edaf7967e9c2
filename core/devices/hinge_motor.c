/* A motor on one coordinate of a hinge, through a gear of ratio n: the rotor turns n times as far as the hinge.
 *
 *   mode torque   τ_hinge = n clip(command) + friction(z, β) + stops(q, β), and the rotor is solved with the hinge
 *   mode rate     the hinge is prescribed: β̇ = (clip(command) − β)/frame, clipped to the motor's acceleration
 *
 * The rotor turns in bearings on the parent's side, about the coordinate's axis u, with ω_P + n β u. So the hinge feels
 * n² J β̇ + n J u·ω̇_P, and the parent bears n J (β̇ u + β ω_P × u) (core/tree/geared.h). On a coordinate that is a
 * distance it is n² J on that alone: about which axis it turns nobody says.
 *
 * With backlash the rotor is a coordinate of its own, on the parent's side as before, and what lies between hinge and
 * shaft, x = q − φ/n, is free within ± half the gap. Beyond it the teeth push and never pull:
 *
 *   F = −k (|x| − gap/2) sgn x − c ẋ      F on the hinge, −F/n on the rotor:  J (Ω̇ + u·ω̇_P) = clip(command) − F/n
 *
 * A rotor whose parent is at rest, or on a distance, has no ω_P. Friction and stops are the hinge's.
 *
 * Dry friction is a spring z that gives by a little, in series with a slider: a hinge that is pushed by less than the
 * peak comes to rest and stays (orr_friction_stick).
 *
 * Stops push and never pull: −k (q − end) − c β beyond an end; core/plant/events.h finds when within a step. So it does
 * for the teeth.
 */
#include "core/math/elementary.h"
#include "core/plant/device.h"
#include "core/tree/kinematics.h"

enum mode { TORQUE, RATE };

struct params {
  int mode;
  double ratio, rotor_inertia, backlash, mesh_stiffness, mesh_damping, max_torque, max_rate, max_acceleration;
  struct orr_friction friction;
  double stop_low, stop_high, stop_stiffness, stop_damping;
};

struct state {
  double acceleration; /* of a driven hinge, over the frame */
  double torque;       /* at the hinge, at the start of the step */
  double z, q;         /* how far friction gives, and the coordinate, both at the start of the step */
  double begun;        /* 1: they are known */
};

static const char *const modes[] = {"torque", "rate", NULL};

static const struct orr_param table[] = {
    {.name = "mode",
     .doc = "torque: the command is a torque; rate: the hinge is driven at the commanded rate",
     .type = ORR_PARAM_CHOICE,
     .required = true,
     .choices = modes,
     ORR_DEVICE_PARAM(mode)},
    {.name = "gear.ratio",
     .doc = "turns n of the rotor for one of the hinge",
     .unit = "",
     .open = true,
     .high = HUGE_VAL,
     .fallback = 1,
     ORR_DEVICE_PARAM(ratio)},
    {.name = "gear.rotor_inertia",
     .doc = "inertia J of the rotor; its n^2 J and its spin on the parent's side are solved with the hinge",
     .unit = "kg m^2|kg",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(rotor_inertia)},
    {.name = "gear.backlash",
     .doc = "gap of the gear, at the hinge: so far the hinge turns from one side of a tooth to the other while the "
            "rotor stands; the rotor begins in its middle, at the hinge's speed",
     .unit = "rad|m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(backlash)},
    {.name = "gear.stiffness",
     .doc = "with `backlash`: stiffness k of the teeth that touch, at the hinge; they need one",
     .unit = "N m/rad|N/m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(mesh_stiffness)},
    {.name = "gear.damping",
     .doc = "with `backlash`: damping c of the teeth that touch, at the hinge",
     .unit = "N m s/rad|N s/m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(mesh_damping)},
    {.name = "max_torque",
     .doc = "mode torque: largest torque of the motor, before the gear",
     .unit = "N m|N",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(max_torque)},
    {.name = "max_rate",
     .doc = "mode rate: largest rate of the hinge",
     .unit = "rad/s|m/s",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(max_rate)},
    {.name = "max_acceleration",
     .doc = "mode rate: largest acceleration of the hinge",
     .unit = "rad/s^2|m/s^2",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(max_acceleration)},
    {.name = "friction.viscous",
     .doc = "viscous friction b at the hinge",
     .unit = "N m s/rad|N s/m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(friction.viscous)},
    {.name = "friction.coulomb",
     .doc = "dry friction c at the hinge",
     .unit = "N m|N",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(friction.coulomb)},
    {.name = "friction.stiction",
     .doc = "its peak s near rest; not less than `coulomb`",
     .unit = "N m|N",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(friction.stiction)},
    {.name = "friction.stribeck_speed",
     .doc = "speed v_s over which the peak falls",
     .unit = "rad/s|m/s",
     .open = true,
     .high = HUGE_VAL,
     .fallback = 0.01,
     ORR_DEVICE_PARAM(friction.stribeck_speed)},
    {.name = "friction.rest_speed",
     .doc = "speed over which friction is smooth through rest",
     .unit = "rad/s|m/s",
     .open = true,
     .high = HUGE_VAL,
     .fallback = 0.001,
     ORR_DEVICE_PARAM(friction.speed)},
    {.name = "friction.presliding",
     .doc = "how far the hinge gives under dry friction before it slides; below the peak it comes to rest and stays; "
            "0: it creeps at speeds about `rest_speed` in place of resting",
     .unit = "rad|m",
     .high = HUGE_VAL,
     .fallback = 1e-4,
     ORR_DEVICE_PARAM(friction.presliding)},
    {.name = "stops.low",
     .doc = "where the lower stop stands",
     .unit = "rad|m",
     .low = -HUGE_VAL,
     .high = HUGE_VAL,
     .fallback = -HUGE_VAL,
     ORR_DEVICE_PARAM(stop_low)},
    {.name = "stops.high",
     .doc = "where the upper stop stands",
     .unit = "rad|m",
     .low = -HUGE_VAL,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(stop_high)},
    {.name = "stops.stiffness",
     .doc = "stiffness k of the stops; they need one",
     .unit = "N m/rad|N/m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(stop_stiffness)},
    {.name = "stops.damping",
     .doc = "damping of the stops",
     .unit = "N m s/rad|N s/m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(stop_damping)},
};

static bool is_torque(const void *params) { return ((const struct params *)params)->mode == TORQUE; }
static bool is_rate(const void *params) { return ((const struct params *)params)->mode == RATE; }

static bool has_backlash(const void *params) { return ((const struct params *)params)->backlash > 0; }

static void torque_range(const void *params, double *low, double *high) {
  orr_device_command_range(((const struct params *)params)->max_torque, low, high);
}

static void rate_range(const void *params, double *low, double *high) {
  orr_device_command_range(((const struct params *)params)->max_rate, low, high);
}

static double most_torque(const void *params) { return ((const struct params *)params)->max_torque; }

static double most_rate(const void *params) { return ((const struct params *)params)->max_rate; }

static const struct orr_device_channel channels[] = {
    {.name = "torque",
     .doc = "mode torque alone: torque of the motor, before the gear",
     .unit = "N m",
     .unit_linear = "N",
     .direction = ORR_CHANNEL_COMMAND,
     .count = 1,
     .present = is_torque,
     .range = torque_range,
     .most = most_torque},
    {.name = "rate",
     .doc = "mode rate alone: rate of the hinge",
     .unit = "rad/s",
     .unit_linear = "m/s",
     .direction = ORR_CHANNEL_COMMAND,
     .count = 1,
     .present = is_rate,
     .range = rate_range,
     .most = most_rate},
    {.name = "delivered",
     .doc = "mode torque alone: torque at the hinge, of motor, friction and stops; with backlash that of the teeth in "
            "place of the motor's",
     .unit = "N m",
     .unit_linear = "N",
     .count = 1,
     .present = is_torque},
    {.name = "rotor_speed",
     .doc = "with backlash alone: speed of the rotor against the parent's side",
     .unit = "rad/s",
     .unit_linear = "m/s",
     .count = 1,
     .present = has_backlash},
    {.name = "play",
     .doc =
         "with backlash alone: by how much the shaft, the rotor over its ratio, is before the hinge; the teeth touch "
         "beyond half the gap",
     .unit = "rad",
     .unit_linear = "m",
     .count = 1,
     .present = has_backlash},
};

static struct orr_device_gear gear(const void *params) {
  const struct params *p = params;
  return (struct orr_device_gear){p->ratio, p->mode == TORQUE ? p->rotor_inertia : 0};
}

static struct orr_device_mesh mesh(const void *params) {
  const struct params *p = params;
  return (struct orr_device_mesh){{p->ratio, p->rotor_inertia}, p->backlash, p->mesh_stiffness, p->mesh_damping};
}

static bool has_stops(const struct params *p) { return isfinite(p->stop_low) || isfinite(p->stop_high); }

static struct orr_device_stops stops(const void *params) {
  const struct params *p = params;
  return (struct orr_device_stops){p->stop_low, p->stop_high, p->stop_stiffness, p->stop_damping};
}

/* At rest, and touching a stop if there is one. */
static struct orr_device_hold hold(const void *params) {
  const struct params *p = params;
  bool stopped = has_stops(p);
  if (p->mode == RATE)
    return (struct orr_device_hold){0};
  return (struct orr_device_hold){.stiffness = orr_friction_stiffness(&p->friction) + (stopped ? p->stop_stiffness : 0),
                                  .damping = orr_friction_slope(&p->friction) + (stopped ? p->stop_damping : 0)};
}

static const char *judge(const void *params) {
  const struct params *p = params;
  bool stopped = has_stops(p);
  if (p->stop_low >= p->stop_high)
    return "'stops.low' must be below 'stops.high'";
  if (stopped && !(p->stop_stiffness > 0))
    return "'stops' need a 'stiffness'";
  if (p->friction.stiction > 0 && p->friction.stiction < p->friction.coulomb)
    return "'friction.stiction' is less than 'friction.coulomb'; it is the peak near rest";
  if (p->mode == RATE && (stopped || p->friction.coulomb > 0 || p->friction.viscous > 0 || p->rotor_inertia > 0 ||
                          isfinite(p->max_torque) || p->backlash > 0))
    return "friction, stops, rotor inertia, backlash and 'max_torque' play no part where the rate is given; take them "
           "out";
  if (p->backlash > 0 && !(p->rotor_inertia > 0))
    return "'gear.backlash' needs a 'gear.rotor_inertia': between the teeth the rotor turns by itself";
  if (p->backlash > 0 && !(p->mesh_stiffness > 0))
    return "'gear.backlash' needs a 'gear.stiffness', of the teeth that touch";
  if (!(p->backlash > 0) && (p->mesh_stiffness > 0 || p->mesh_damping > 0))
    return "'gear.stiffness' and 'gear.damping' are those of teeth with a gap; they need a 'gear.backlash'";
  if (p->mode == TORQUE && (isfinite(p->max_rate) || isfinite(p->max_acceleration)))
    return "'max_rate' and 'max_acceleration' belong to the mode 'rate'";
  return NULL;
}

static void reset(const struct orr_device *device) { memset(device->state, 0, sizeof(struct state)); }

static double clip(double x, double limit) { return orr_max(-limit, orr_min(limit, x)); }

/* z follows the coordinate from where the step began, as far as the spring gives: the sum of the steps is the whole
 * way, so what holds does not creep. */
static double friction(const struct params *p, struct state *s, double q, double speed, bool step_begins) {
  double give = p->friction.presliding;
  if (!(give > 0))
    return orr_friction_torque(&p->friction, speed);
  double z = s->begun > 0 ? clip(s->z + (q - s->q), give) : 0;
  if (step_begins) {
    s->z = z;
    s->q = q;
    s->begun = 1;
  }
  return orr_friction_stick(&p->friction, z, speed);
}

enum { MAX_TORQUE, MAX_RATE, MAX_ACCELERATION };

static const struct orr_limit limits[] = {
    [MAX_TORQUE] = {.name = "max_torque", .words = "at max_torque"},
    [MAX_RATE] = {.name = "max_rate", .words = "at max_rate"},
    [MAX_ACCELERATION] = {.name = "max_acceleration", .words = "at max_acceleration"},
};

/* The acceleration that brings the hinge to its rate within the frame. */
static double towards(const struct orr_device *device, const struct orr_acting *now, double command, double speed) {
  const struct params *p = device->params;
  double wanted = (clip(command, p->max_rate) - speed) / now->frame_s;
  orr_device_judge(device, now, MAX_RATE, command, p->max_rate);
  orr_device_judge(device, now, MAX_ACCELERATION, wanted, p->max_acceleration);
  return clip(wanted, p->max_acceleration);
}

/* At the hinge, of friction and stops and of what `drives` it. */
static inline void act(const struct orr_device *device, const struct orr_acting *now, double drives) {
  struct state *s = device->state;
  double speed = now->ws->u[device->u], q = now->ws->q[device->q];
  bool step_begins = now->point->index == 0;
  double torque = drives + friction(device->params, s, q, speed, step_begins);
  torque += orr_device_stopped(device, now, q, speed);
  now->force[device->u] += torque;
  if (step_begins)
    s->torque = torque;
}

static void apply(const struct orr_device *device, const struct orr_acting *now) {
  const struct params *p = device->params;
  struct state *s = device->state;
  double command = orr_device_command(device, now, 0), speed = now->ws->u[device->u];
  if (p->mode == RATE) {
    if (now->point->index == 0 && now->first)
      s->acceleration = towards(device, now, command, speed);
    now->given[device->u] += s->acceleration;
    return;
  }
  orr_device_judge(device, now, MAX_TORQUE, command, p->max_torque);
  act(device, now, p->ratio * clip(command, p->max_torque));
}

/* The motor drives the rotor, and the teeth the hinge. */
static void apply_meshed(const struct orr_device *device, const struct orr_acting *now) {
  const struct params *p = device->params;
  double teeth = orr_device_meshed(device, now, now->ws->q[device->q], now->ws->u[device->u]);
  double command = orr_device_command(device, now, 0);
  orr_device_judge(device, now, MAX_TORQUE, command, p->max_torque);
  now->ws->rotor_torque[device->rotor] += clip(command, p->max_torque) - teeth / p->ratio;
  act(device, now, teeth);
}

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct state *s = device->state;
  (void)now;
  out[0] = s->torque;
}

static void sense_meshed(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  sense(device, now, out);
  out[1] = now->ws->rotor_speed[device->rotor];
  out[2] = *device->mesh->shaft - now->ws->q[device->q];
}

static bool vary(const void *params, struct orr_device_kind *kind) {
  kind->gear = NULL;
  kind->mesh = mesh;
  kind->apply = apply_meshed;
  kind->sense = sense_meshed;
  return has_backlash(params);
}

const struct orr_device_kind orr_hinge_motor = {
    .name = "hinge_motor",
    .doc = "A motor on one coordinate of a hinge, through a gear, with friction and stops. Its rotor turns on the "
           "parent's side of the hinge, about the coordinate's axis; the parent's inertia holds it locked. On a "
           "distance the rotor is an inertia of that coordinate alone. With `gear.backlash` it is a coordinate of its "
           "own, on a coordinate whose axis the parent carries.",
    .equation = "mode torque: tau = n clip(torque) + friction(z, v) + stops(q, v)\n"
                "friction: -[c + (s-c) exp(-(v/v_s)^2)] clip(z/presliding + v/rest_speed, +-1) - b v,\n"
                "z follows q within +-presliding\n"
                "rotor: n^2 J dv/dt + n J u.dw/dt on the hinge, n J (u dv/dt + v w x u) on the parent\n"
                "backlash: x = q - rotor/n; beyond +-gap/2 the teeth push and never pull, located in the step:\n"
                "F = -k (|x| - gap/2) sgn x - c dx/dt on the hinge, J (dW/dt + u.dw/dt) = clip(torque) - F/n\n"
                "mode rate: dv/dt = clip((clip(rate) - v)/step), the hinge is prescribed\n"
                "stops push and never pull: -k (q - end) - c v beyond an end, located in the step\n",
    .example = "motor: {kind: hinge_motor, hinge: wing, mode: torque, gear: {ratio: 100, rotor_inertia: 1e-5 kg m^2}, "
               "max_torque: 50 mN m}",
    .role = ORR_ACTUATOR,
    .host = ORR_ON_COORDINATE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .prescribes = is_rate,
    .gear = gear,
    .hold = hold,
    .stops = stops,
    .judge = judge,
    .vary = vary,
    .reset = reset,
    .apply = apply,
    .sense = sense,
    ORR_DEVICE_LIMITS,
};
