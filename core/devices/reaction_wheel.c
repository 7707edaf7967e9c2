/* A reaction wheel: a rotor on a node, driven by a motor against friction.
 *
 *   J (Ω̇ + u·ω̇) = τ,   τ = clip(command) + friction(Ω)            conventions, "A body's mass and inertia …"
 *
 * The solver puts −τ and the gyroscopic torque on the body. Near its top speed the motor gives no more than brings the
 * rotor there within the frame. The rotor's imbalance, at its angle φ = ∫Ω, pulls at the node with Ω² times
 *   static  U_s (e1 cos φ + e2 sin φ)      dynamic  U_d (e1 cos φ + e2 sin φ), a moment
 * where e1, e2, u are right-handed. The imbalance is not in the inertia: it is small against the body.
 *
 * A seized wheel comes from Ω₀ to rest in the time T, evenly, and stays there; its motor does nothing:
 *   Ω_s = Ω₀ max(0, 1 − t/T),   τ = J Ω̇_s − J/(2h) (Ω − Ω_s)
 * with the step h. More drag is τ − d Ω.
 */
#include "core/plant/fault.h"
#include "core/tree/kinematics.h"

struct params {
  double axis[3], inertia, max_torque, max_speed, initial_speed;
  struct orr_friction friction;
  double static_imbalance, dynamic_imbalance;
  double tachometer_quantum, tachometer_noise;
};

struct state {
  double angle, speed; /* of the rotor at the start of the step */
  double step_s;       /* of that step; 0 before the first */
};

static const double TURN = 6.283185307179586476925;

static const struct orr_param table[] = {
    {.name = "axis",
     .doc = "axis of the rotor u, node axes",
     .type = ORR_PARAM_AXIS,
     .required = true,
     ORR_DEVICE_PARAM(axis)},
    {.name = "inertia",
     .doc = "inertia J of the rotor about it",
     .required = true,
     .unit = "kg m^2",
     .open = true,
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(inertia)},
    {.name = "max_torque",
     .doc = "largest torque of the motor",
     .unit = "N m",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(max_torque)},
    {.name = "max_speed",
     .doc = "largest speed; near it the motor gives no more than brings the rotor there",
     .unit = "rad/s",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(max_speed)},
    {.name = "initial_speed",
     .doc = "speed at frame 0, against the body",
     .unit = "rad/s",
     ORR_DEVICE_PARAM(initial_speed)},
    {.name = "friction.viscous",
     .doc = "viscous friction b",
     .unit = "N m s/rad",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(friction.viscous)},
    {.name = "friction.coulomb",
     .doc = "dry friction c",
     .unit = "N m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(friction.coulomb)},
    {.name = "friction.stiction",
     .doc = "its peak s near rest; not less than `coulomb`",
     .unit = "N m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(friction.stiction)},
    {.name = "friction.stribeck_speed",
     .doc = "speed v_s over which the peak falls",
     .unit = "rad/s",
     .open = true,
     .high = HUGE_VAL,
     .fallback = 1,
     ORR_DEVICE_PARAM(friction.stribeck_speed)},
    {.name = "friction.rest_speed",
     .doc = "speed over which friction is smooth through rest",
     .unit = "rad/s",
     .open = true,
     .high = HUGE_VAL,
     .fallback = 0.1,
     ORR_DEVICE_PARAM(friction.speed)},
    {.name = "imbalance.static",
     .doc = "static imbalance U_s; the force is U_s times speed squared",
     .unit = "kg m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(static_imbalance)},
    {.name = "imbalance.dynamic",
     .doc = "dynamic imbalance U_d; the moment is U_d times speed squared",
     .unit = "kg m^2",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(dynamic_imbalance)},
    {.name = "tachometer.quantisation",
     .doc = "step to which `speed` is rounded; 0: not",
     .unit = "rad/s",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(tachometer_quantum)},
    {.name = "tachometer.noise",
     .doc = "standard deviation of a reading of `speed`",
     .unit = "rad/s",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(tachometer_noise)},
};

static void torque_range(const void *params, double *low, double *high) {
  orr_device_command_range(((const struct params *)params)->max_torque, low, high);
}

static double most_torque(const void *params) { return ((const struct params *)params)->max_torque; }

static const struct orr_device_channel channels[] = {
    {.name = "torque",
     .doc = "torque on the rotor; the body feels its opposite",
     .unit = "N m",
     .direction = ORR_CHANNEL_COMMAND,
     .count = 1,
     .range = torque_range,
     .most = most_torque},
    {.name = "speed",
     .doc = "speed of the rotor against the body, as its tachometer reads it",
     .unit = "rad/s",
     .count = 1},
    {.name = "friction", .doc = "friction torque on the rotor", .unit = "N m", .count = 1},
    {.name = "applied_torque",
     .doc = "torque that the motor gave in the last step: its command within `max_torque` and near `max_speed`",
     .unit = "N m",
     .count = 1,
     .told = true},
};

static struct orr_device_rotor rotor(const void *params) {
  const struct params *p = params;
  return (struct orr_device_rotor){.axis = v3_from(p->axis), .inertia = p->inertia, .speed = p->initial_speed};
}

static struct orr_device_hold hold(const void *params) {
  return (struct orr_device_hold){.damping = orr_friction_slope(&((const struct params *)params)->friction)};
}

static const char *judge(const void *params) {
  const struct params *p = params;
  if (fabs(p->initial_speed) > p->max_speed)
    return "'initial_speed' is beyond 'max_speed'";
  return p->friction.stiction > 0 && p->friction.stiction < p->friction.coulomb
             ? "'friction.stiction' is less than 'friction.coulomb'; it is the peak near rest"
             : NULL;
}

static void reset(const struct orr_device *device) {
  const struct params *p = device->params;
  struct state *s = device->state;
  *s = (struct state){.speed = p->initial_speed};
}

static double motor(const struct params *p, double command, double speed, double frame_s) {
  double torque = fmax(-p->max_torque, fmin(p->max_torque, command));
  double up = p->inertia * fmax(0, p->max_speed - speed) / frame_s;
  double down = p->inertia * fmax(0, p->max_speed + speed) / frame_s;
  return fmax(-down, fmin(up, torque));
}

/* e1 ⟂ u, the same for the same u. */
static orr_vec3 across(orr_vec3 u) {
  orr_vec3 far = fabs(u.x) < 0.6 ? v3(1, 0, 0) : v3(0, 1, 0), e = v3_cross(far, u);
  return v3_scale(1 / v3_norm(e), e);
}

static void shake(const struct orr_device *device, const struct orr_acting *now, double angle, double speed) {
  const struct params *p = device->params;
  orr_vec3 u = v3_from(p->axis), e1 = across(u), e2 = v3_cross(u, e1);
  orr_vec3 out = v3_madd(v3_scale(cos(angle), e1), sin(angle), e2);
  double square = speed * speed;
  orr_force_add(now->model, now->ws, device->node, ORR_AXES_NODE, v3_scale(p->static_imbalance * square, out),
                v3_scale(p->dynamic_imbalance * square, out));
}

static void apply(const struct orr_device *device, const struct orr_acting *now) {
  const struct params *p = device->params;
  struct state *s = device->state;
  double speed = now->ws->rotor_speed[device->rotor];
  double torque = motor(p, orr_device_command(device, now, 0), speed, now->frame_s);
  torque += orr_friction_torque(&p->friction, speed);
  now->ws->rotor_torque[device->rotor] += torque;
  /* φ by the trapezoid: over the part of this step at a stage, over the whole of the last one between steps */
  bool within = now->point->index > 0;
  double angle = s->angle + 0.5 * (s->speed + speed) * (within ? now->point->part * now->step_s : s->step_s);
  if (now->point->index == 0)
    *s = (struct state){.angle = remainder(angle, TURN), .speed = speed, .step_s = now->step_s};
  if (p->static_imbalance > 0 || p->dynamic_imbalance > 0)
    shake(device, now, angle, speed);
}

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  double speed = now->ws->rotor_speed[device->rotor];
  out[0] = orr_device_quantise(orr_device_noisy(speed, p->tachometer_noise, device, now, 0), p->tachometer_quantum, 0);
  out[1] = orr_friction_torque(&p->friction, speed);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static void apply_seized(const struct orr_device *device, const struct orr_acting *now) {
  const struct params *p = device->params;
  const struct orr_trouble *t = device->trouble;
  struct state *s = device->state;
  double speed = now->ws->rotor_speed[device->rotor], time_s = fmax(t->number, now->frame_s);
  double gone_s = 1e-9 * (double)(now->point->start_ns - t->since_ns);
  gone_s += now->point->index > 0 ? now->point->part * now->step_s : 0;
  bool slows = now->point->index >= 0 && gone_s < time_s;
  double wanted = t->from * fmax(0, 1 - gone_s / time_s);
  double torque = (slows ? -p->inertia * t->from / time_s : 0) - 0.5 * p->inertia / now->step_s * (speed - wanted);
  now->ws->rotor_torque[device->rotor] += torque;
  if (now->point->index == 0)
    *s = (struct state){.angle = remainder(s->angle + 0.5 * (s->speed + speed) * s->step_s, TURN),
                        .speed = speed,
                        .step_s = now->step_s};
}

static void sense_seized(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  sense(device, now, out);
  out[1] = 0; /* what holds the rotor is no friction of its bearing */
}

static void apply_drag(const struct orr_device *device, const struct orr_acting *now) {
  apply(device, now);
  now->ws->rotor_torque[device->rotor] -= device->trouble->number * now->ws->rotor_speed[device->rotor];
}

static void sense_drag(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  sense(device, now, out);
  out[1] -= device->trouble->number * now->ws->rotor_speed[device->rotor];
}

static const struct orr_device_fault faults[] = {
    {.name = "seized",
     .unit = "s",
     .high = HUGE_VAL,
     .has_fallback = true,
     .fallback = 0.1,
     .number = "the time in which it comes to rest",
     .apply = apply_seized,
     .sense = sense_seized},
    {.name = "drag",
     .unit = "N m s/rad",
     .high = HUGE_VAL,
     .number = "the viscous drag that comes on top",
     .apply = apply_drag,
     .sense = sense_drag},
};

/* A motor that is seized gives nothing; drag is not the motor's. */
static void tell(const struct orr_device *device, const struct orr_acting *now, double *out) {
  bool seized = device->trouble && device->trouble->kind.apply == apply_seized;
  double speed = now->ws->rotor_speed[device->rotor];
  out[0] = seized ? 0 : motor(device->params, orr_device_command(device, now, 0), speed, now->frame_s);
}

const struct orr_device_kind orr_reaction_wheel = {
    .name = "reaction_wheel",
    .doc = "A rotor on a node, driven by a motor against friction. It is solved together with the body, with its "
           "gyroscopic torque.",
    .equation = "J (dW/dt + u.dw/dt) = clip(torque) + friction(W)\n"
                "friction(v) = -[c + (s - c) exp(-(v/v_s)^2)] tanh(v/rest_speed) - b v\n"
                "imbalance: force U_s W^2, moment U_d W^2, turning with the rotor\n",
    .example = "wheel: {kind: reaction_wheel, node: bus.imu, axis: [0, 0, 1], inertia: 1e-3 kg m^2, max_torque: 10 mN "
               "m, max_speed: 6000 rpm, friction: {coulomb: 0.2 mN m, viscous: 1e-6 N m s/rad}}",
    .role = ORR_ACTUATOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .rotor = rotor,
    .hold = hold,
    .judge = judge,
    .reset = reset,
    .apply = apply,
    .sense = sense,
    .tell = tell,
    ORR_DEVICE_FAULTS,
};
