/* A reaction wheel: a rotor on a node, driven by a motor against friction.
 *
 *   J (Ω̇ + u·ω̇) = τ,   τ = clip(command) + friction(Ω)            conventions, "A body's mass and inertia …"
 *
 * Dry friction is a spring z that gives by a little, in series with a slider, as a hinge motor's (orr_friction_stick):
 * a rotor that is pushed by less than the peak comes to rest and stays. z follows the rotor by the trapezoid.
 *
 * The solver puts −τ and the gyroscopic torque on the body. Near its top speed the motor gives no more than brings the
 * rotor there within the frame. The rotor's imbalance, at its angle φ = ∫Ω, pulls at the node with Ω² times
 *   static  U_s (e1 cos φ + e2 sin φ)      dynamic  U_d (e1 cos φ + e2 sin φ), a moment
 * where e1, e2, u are right-handed. The imbalance is not in the inertia: it is small against the body.
 *
 * A seized wheel comes from Ω₀ to rest in the time T, evenly, and stays there; its motor does nothing:
 *   Ω_s = Ω₀ max(0, 1 − t/T),   τ = J Ω̇_s − J/(2h) (Ω − Ω_s)
 * with the step h. More drag is τ − d Ω.
 *
 * A drive has the current i = τ/k, the voltage U = R i + k Ω and the power P = U i, k the motor's constant:
 *   |U| ≤ voltage   →   −(voltage + k Ω) k/R ≤ τ ≤ (voltage − k Ω) k/R
 *   P ≤ power       →   −2 p/(√(Ω² + 4 R p/k²) − Ω) ≤ τ ≤ 2 p/(√(Ω² + 4 R p/k²) + Ω),   p = power
 * Beyond the speed voltage/k the first would brake the rotor; the motor then gives nothing in that direction. What it
 * gives ripples with the rotor's angle: τ (1 + part sin nφ) + cogging sin nφ.
 */
#include "core/math/elementary.h"
#include "core/math/sincos.h"
#include "core/plant/fault.h"
#include "core/tree/kinematics.h"

struct params {
  double axis[3], inertia, max_torque, max_speed, initial_speed;
  struct orr_friction friction;
  double static_imbalance, dynamic_imbalance;
  double tachometer_quantum, tachometer_noise;
  struct {
    double voltage, constant, resistance, power; /* V; N m/A, which is V s; V/A; W */
  } drive;
  struct {
    double part, cogging, periods; /* of the torque; N m; in a turn */
  } ripple;
};

struct state {
  double angle, speed; /* of the rotor at the start of the step */
  double step_s;       /* of that step; 0 before the first */
};

/* Of a wheel whose dry friction sticks. */
struct held {
  struct state state; /* first */
  double z;           /* how far friction gives, at the start of the step */
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
    {.name = "friction.presliding",
     .doc =
         "how far the rotor gives under dry friction before it slides; below the peak it comes to rest and stays; 0: "
         "it creeps at speeds about `rest_speed` in place of resting",
     .unit = "rad",
     .high = HUGE_VAL,
     .fallback = 0.01,
     ORR_DEVICE_PARAM(friction.presliding)},
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
    {.name = "drive.power",
     .doc = "largest electric power P of the drive while it gives torque",
     .unit = "W",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(drive.power)},
    {.name = "drive.voltage",
     .doc = "largest voltage at the motor; needs `drive.constant` and `drive.resistance`",
     .unit = "V",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(drive.voltage)},
    {.name = "drive.constant",
     .doc = "torque of the motor for an ampere, k, which is also its voltage for a rad/s; needed by `drive.resistance`",
     .unit = "N m/A",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(drive.constant)},
    {.name = "drive.resistance",
     .doc = "resistance R of the winding and its leads",
     .unit = "V/A",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(drive.resistance)},
    {.name = "ripple.part",
     .doc = "part by which the torque of the motor ripples",
     .unit = "",
     .high = 1,
     ORR_DEVICE_PARAM(ripple.part)},
    {.name = "ripple.cogging",
     .doc = "torque that ripples whatever the motor gives",
     .unit = "N m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(ripple.cogging)},
    {.name = "ripple.periods",
     .doc = "periods n of the ripple in a turn of the rotor",
     .unit = "",
     .low = 1,
     .high = 1000,
     .fallback = 24,
     ORR_DEVICE_PARAM(ripple.periods)},
};

static void torque_range(const void *params, double *low, double *high) {
  orr_device_command_range(((const struct params *)params)->max_torque, low, high);
}

static bool has_drive(const void *params) {
  const struct params *p = params;
  return isfinite(p->drive.power) || p->drive.resistance > 0;
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
     .doc = "torque that the motor gave in the last step: its command within `max_torque`, near `max_speed` and within "
            "its drive, without ripple",
     .unit = "N m",
     .count = 1,
     .told = true},
    {.name = "power",
     .doc = "electric power that the drive took for it; below 0 it gave power back",
     .unit = "W",
     .count = 1,
     .present = has_drive,
     .told = true},
};

static struct orr_device_rotor rotor(const void *params) {
  const struct params *p = params;
  return (struct orr_device_rotor){.axis = v3_from(p->axis), .inertia = p->inertia, .speed = p->initial_speed};
}

static struct orr_device_hold hold(const void *params) {
  const struct orr_friction *friction = &((const struct params *)params)->friction;
  return (struct orr_device_hold){.stiffness = orr_friction_stiffness(friction),
                                  .damping = orr_friction_slope(friction)};
}

static const char *judge(const void *params) {
  const struct params *p = params;
  if (fabs(p->initial_speed) > p->max_speed)
    return "'initial_speed' is beyond 'max_speed'";
  if (p->drive.resistance > 0 && !(p->drive.constant > 0))
    return "'drive.resistance' needs the motor's 'drive.constant'";
  if (isfinite(p->drive.voltage) && !(p->drive.resistance > 0))
    return "'drive.voltage' bounds nothing without 'drive.constant' and 'drive.resistance'";
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
  double torque = orr_max(-p->max_torque, orr_min(p->max_torque, command));
  double up = p->inertia * orr_max(0, p->max_speed - speed) / frame_s;
  double down = p->inertia * orr_max(0, p->max_speed + speed) / frame_s;
  return orr_max(-down, orr_min(up, torque));
}

/* 2 p/(√(Ω² + 4 R p/k²) + Ω); where there is no loss and the motor brakes, any torque. */
static double by_power(const struct params *p, double speed) {
  double r = p->drive.resistance > 0 ? p->drive.resistance / (p->drive.constant * p->drive.constant) : 0;
  double per = sqrt(speed * speed + 4 * r * p->drive.power) + speed;
  return per > 0 ? 2 * p->drive.power / per : HUGE_VAL;
}

static double by_voltage(const struct params *p, double speed) {
  return orr_max(0, p->drive.voltage - p->drive.constant * speed) * p->drive.constant / p->drive.resistance;
}

/* What the motor gives within its drive. */
static double driven(const struct params *p, double command, double speed, double frame_s) {
  double torque = motor(p, command, speed, frame_s);
  if (isfinite(p->drive.voltage))
    torque = orr_max(-by_voltage(p, -speed), orr_min(by_voltage(p, speed), torque));
  if (isfinite(p->drive.power))
    torque = orr_max(-by_power(p, -speed), orr_min(by_power(p, speed), torque));
  return torque;
}

static double rippling(const struct params *p, double torque, double angle) {
  return torque + (p->ripple.part * torque + p->ripple.cogging) * orr_sin(p->ripple.periods * angle);
}

/* e1 ⟂ u, the same for the same u. */
static orr_vec3 across(orr_vec3 u) {
  orr_vec3 far = fabs(u.x) < 0.6 ? v3(1, 0, 0) : v3(0, 1, 0), e = v3_cross(far, u);
  return v3_scale(1 / v3_norm(e), e);
}

static void shake(const struct orr_device *device, const struct orr_acting *now, double angle, double speed) {
  const struct params *p = device->params;
  orr_vec3 u = v3_from(p->axis), e1 = across(u), e2 = v3_cross(u, e1);
  double sine, cosine;
  orr_sincos_one(angle, &sine, &cosine);
  orr_vec3 out = v3_madd(v3_scale(cosine, e1), sine, e2);
  double square = speed * speed;
  orr_force_add(now->model, now->ws, device->node, ORR_AXES_NODE, v3_scale(p->static_imbalance * square, out),
                v3_scale(p->dynamic_imbalance * square, out));
}

static bool sticks(const struct params *p) { return orr_friction_stiffness(&p->friction) > 0; }

/* z, by the rotor's turn since the step began. */
static double given_way(const struct params *p, const struct held *held, double turned) {
  return orr_max(-p->friction.presliding, orr_min(p->friction.presliding, held->z + turned));
}

/* Friction after the rotor has turned by so much since the step began. */
static double friction(const struct params *p, const struct held *held, double turned, double speed) {
  return sticks(p) ? orr_friction_stick(&p->friction, given_way(p, held, turned), speed)
                   : orr_friction_torque(&p->friction, speed);
}

/* `more`: with a drive, ripple and friction that sticks. */
static inline void turn(const struct orr_device *device, const struct orr_acting *now, bool more) {
  const struct params *p = device->params;
  struct state *s = device->state;
  double speed = now->ws->rotor_speed[device->rotor], command = orr_device_command(device, now, 0);
  /* φ by the trapezoid: over the part of this step at a stage, over the whole of the last one between steps */
  bool within = now->point->index > 0;
  double turned = 0.5 * (s->speed + speed) * (within ? now->point->part * now->step_s : s->step_s);
  double angle = s->angle + turned;
  double torque =
      more ? rippling(p, driven(p, command, speed, now->frame_s), angle) : motor(p, command, speed, now->frame_s);
  torque += more ? friction(p, device->state, turned, speed) : orr_friction_torque(&p->friction, speed);
  now->ws->rotor_torque[device->rotor] += torque;
  if (more && now->point->index == 0 && sticks(p))
    ((struct held *)device->state)->z = given_way(p, device->state, turned);
  if (now->point->index == 0)
    *s = (struct state){.angle = orr_wrapped(angle, TURN), .speed = speed, .step_s = now->step_s};
  if (p->static_imbalance > 0 || p->dynamic_imbalance > 0)
    shake(device, now, angle, speed);
}

static void apply(const struct orr_device *device, const struct orr_acting *now) { turn(device, now, false); }

static void apply_more(const struct orr_device *device, const struct orr_acting *now) { turn(device, now, true); }

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  double speed = now->ws->rotor_speed[device->rotor];
  out[0] = orr_device_quantise(orr_device_noisy(speed, p->tachometer_noise, device, now, 0), p->tachometer_quantum, 0);
  out[1] = orr_friction_torque(&p->friction, speed);
}

static void sense_stuck(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct held *held = device->state;
  double speed = now->ws->rotor_speed[device->rotor];
  sense(device, now, out);
  out[1] = friction(device->params, held, 0.5 * (held->state.speed + speed) * held->state.step_s, speed);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static void apply_seized(const struct orr_device *device, const struct orr_acting *now) {
  const struct params *p = device->params;
  const struct orr_trouble *t = device->trouble;
  struct state *s = device->state;
  double speed = now->ws->rotor_speed[device->rotor], time_s = orr_max(t->number, now->frame_s);
  double gone_s = 1e-9 * (double)(now->point->start_ns - t->since_ns);
  gone_s += now->point->index > 0 ? now->point->part * now->step_s : 0;
  bool slows = now->point->index >= 0 && gone_s < time_s;
  double wanted = t->from * orr_max(0, 1 - gone_s / time_s);
  double torque = (slows ? -p->inertia * t->from / time_s : 0) - 0.5 * p->inertia / now->step_s * (speed - wanted);
  now->ws->rotor_torque[device->rotor] += torque;
  if (now->point->index == 0)
    *s = (struct state){.angle = orr_wrapped(s->angle + 0.5 * (s->speed + speed) * s->step_s, TURN),
                        .speed = speed,
                        .step_s = now->step_s};
}

static void sense_seized(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  sense(device, now, out);
  out[1] = 0; /* what holds the rotor is no friction of its bearing */
}

static void apply_drag(const struct orr_device *device, const struct orr_acting *now) {
  device->trouble->healthy->apply(device, now);
  now->ws->rotor_torque[device->rotor] -= device->trouble->number * now->ws->rotor_speed[device->rotor];
}

static void sense_drag(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  device->trouble->healthy->sense(device, now, out);
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

enum { MAX_TORQUE, MAX_SPEED, DRIVE };

static const struct orr_limit limits[] = {
    [MAX_TORQUE] = {.name = "max_torque", .words = "at max_torque"},
    [MAX_SPEED] = {.name = "max_speed", .words = "held back by max_speed"},
    [DRIVE] = {.name = "drive", .words = "held back by its drive"},
};

/* Of the step that ended. */
static __attribute__((noinline)) void judge_given(const struct orr_device *device, const struct orr_acting *now,
                                                  double command, double given) {
  const struct params *p = device->params;
  double speed = now->ws->rotor_speed[device->rotor], within = motor(p, command, speed, now->frame_s);
  double clipped = orr_max(-p->max_torque, orr_min(p->max_torque, command));
  if (clipped != command)
    orr_device_limited(device, MAX_TORQUE, *now->frame - 1);
  if (within != clipped)
    orr_device_limited(device, MAX_SPEED, *now->frame - 1);
  if (given != within)
    orr_device_limited(device, DRIVE, *now->frame - 1);
}

/* A motor that is seized gives nothing; drag is not the motor's. */
static void tell(const struct orr_device *device, const struct orr_acting *now, double *out) {
  bool seized = device->trouble && device->trouble->kind.apply == apply_seized;
  double speed = now->ws->rotor_speed[device->rotor];
  double command = orr_device_command(device, now, 0);
  out[0] = seized ? 0 : motor(device->params, command, speed, now->frame_s);
  if (out[0] != command && !seized)
    judge_given(device, now, command, out[0]);
}

static void tell_more(const struct orr_device *device, const struct orr_acting *now, double *out) {
  const struct params *p = device->params;
  bool seized = device->trouble && device->trouble->kind.apply == apply_seized;
  double speed = now->ws->rotor_speed[device->rotor];
  double command = orr_device_command(device, now, 0);
  out[0] = seized ? 0 : driven(p, command, speed, now->frame_s);
  if (out[0] != command && !seized)
    judge_given(device, now, command, out[0]);
  double current = p->drive.constant > 0 ? out[0] / p->drive.constant : 0;
  if (has_drive(p))
    out[1] = out[0] * speed + p->drive.resistance * current * current;
}

static bool vary(const void *params, struct orr_device_kind *kind) {
  const struct params *p = params;
  kind->apply = apply_more;
  kind->tell = tell_more;
  if (sticks(p)) {
    kind->sense = sense_stuck;
    kind->state_bytes = sizeof(struct held);
  }
  return sticks(p) || has_drive(p) || p->ripple.part > 0 || p->ripple.cogging > 0;
}

const struct orr_device_kind orr_reaction_wheel = {
    .name = "reaction_wheel",
    .doc = "A rotor on a node, driven by a motor against friction. It is solved together with the body, with its "
           "gyroscopic torque.",
    .equation = "J (dW/dt + u.dw/dt) = clip(torque) + friction(W)\n"
                "friction(v) = -[c + (s - c) exp(-(v/v_s)^2)] clip(z/presliding + v/rest_speed, +-1) - b v,\n"
                "z follows the rotor within +-presliding\n"
                "imbalance: force U_s W^2, moment U_d W^2, turning with the rotor\n"
                "drive: |R T/k + k W| <= voltage,   T W + R (T/k)^2 <= power\n"
                "ripple: T + (part T + cogging) sin(periods angle)\n",
    .example = "wheel: {kind: reaction_wheel, node: bus.imu, axis: [0, 0, 1], inertia: 1e-3 kg m^2, max_torque: 10 mN "
               "m, max_speed: 6000 rpm, friction: {coulomb: 0.2 mN m, viscous: 1e-6 N m s/rad}}",
    .role = ORR_ACTUATOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .rotor = rotor,
    .hold = hold,
    .judge = judge,
    .vary = vary,
    .reset = reset,
    .apply = apply,
    .sense = sense,
    .tell = tell,
    ORR_DEVICE_LIMITS,
    ORR_DEVICE_FAULTS,
};
