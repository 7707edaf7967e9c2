/* A thruster: on-time pulses, resolved inside a step.
 *
 * A command of on-time τ > 0 opens the valve for τ, at most max_on_time, from the start of its frame on, and replaces
 * what is left of the one before; a negative one, by which a link says that commands have stopped, closes it; zero says
 * nothing. All is later by the valve's delay. A pulse that is to open the valve for less than the minimum is not made.
 * While the valve is open the thrust climbs to its level in the time `rise`, and it falls from there in the time
 * `fall`, both linearly, so that a long
 * pulse gives F (τ − rise/2 + fall/2). What a step feels is its mean thrust: the impulse is exact whatever the step.
 * The propellant that it takes, impulse/(g₀ I_sp), leaves its body after the frame; without any left there is no
 * thrust.
 *
 * Faults: a valve stuck on is open, one stuck off is shut, whatever is commanded; one that leaks gives at least a part
 * of the thrust in every step.
 */
#include "core/math/elementary.h"
#include "core/plant/fault.h"
#include "core/tree/kinematics.h"

struct params {
  double direction[3], thrust, min_on_time, max_on_time, valve_delay, rise, fall, isp, propellant;
  const char *tank;
};

enum { PULSES = 16 };

struct state {
  int64_t open_ns[PULSES], close_ns[PULSES]; /* in order; what is over goes */
  int64_t count;
  double thrust; /* N, now */
  double mean;   /* N, over the step */
  double left;   /* kg */
};

static const double STANDARD_GRAVITY = 9.80665; /* m/s² */

static const struct orr_param table[] = {
    {.name = "direction",
     .doc = "direction of the force on the node, node axes",
     .type = ORR_PARAM_AXIS,
     .required = true,
     ORR_DEVICE_PARAM(direction)},
    {.name = "thrust",
     .doc = "thrust F while the valve is open",
     .required = true,
     .unit = "N",
     .open = true,
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(thrust)},
    {.name = "min_on_time",
     .doc = "a shorter pulse is not made",
     .unit = "s",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(min_on_time)},
    {.name = "max_on_time",
     .doc = "a command opens the valve for no longer",
     .unit = "s",
     .open = true,
     .high = 1e6,
     .fallback = 10,
     ORR_DEVICE_PARAM(max_on_time)},
    {.name = "valve_delay",
     .doc = "from the command to the opening of the valve",
     .unit = "s",
     .high = 10,
     ORR_DEVICE_PARAM(valve_delay)},
    {.name = "rise",
     .doc = "time in which the thrust climbs, linearly",
     .unit = "s",
     .high = 10,
     ORR_DEVICE_PARAM(rise)},
    {.name = "fall", .doc = "time in which it falls", .unit = "s", .high = 10, ORR_DEVICE_PARAM(fall)},
    {.name = "isp",
     .doc = "specific impulse; 0: no propellant is counted",
     .unit = "s",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(isp)},
    {.name = "propellant",
     .doc = "propellant of its own at frame 0, part of the mass of its body; 0: it never ends. Needs `isp`",
     .unit = "kg",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(propellant)},
    {.name = "tank",
     .doc = "the tank that it feeds from, in place of `propellant`. Needs `isp`",
     .type = ORR_PARAM_NAME,
     ORR_DEVICE_PARAM(tank)},
};

static void on_time_range(const void *params, double *low, double *high) {
  orr_device_command_range(((const struct params *)params)->max_on_time, low, high);
  *low = 0;
}

static const struct orr_device_channel channels[] = {
    {.name = "on_time",
     .doc = "opens the valve for so long, in place of what is left of the command before; 0: nothing new",
     .unit = "s",
     .direction = ORR_CHANNEL_COMMAND,
     .hold = ORR_CHANNEL_PULSE,
     .count = 1,
     .range = on_time_range},
    {.name = "thrust", .doc = "thrust at the moment", .unit = "N", .count = 1},
    {.name = "propellant", .doc = "propellant that is left", .unit = "kg", .count = 1},
};

static orr_vec3 full_thrust(const void *params) {
  const struct params *p = params;
  return v3_scale(p->thrust, v3_from(p->direction));
}

static double propellant(const void *params) { return ((const struct params *)params)->propellant; }

static const char *judge(const void *params) {
  const struct params *p = params;
  if (p->tank && (p->propellant > 0 || !(p->isp > 0)))
    return p->propellant > 0 ? "it feeds from its 'tank' or from a 'propellant' of its own, not from both"
                             : "'tank' needs an 'isp' by which it is used";
  return p->propellant > 0 && !(p->isp > 0) ? "'propellant' needs an 'isp' to be used by" : NULL;
}

enum { MAX_ON_TIME, MIN_ON_TIME, EMPTY };

static const struct orr_limit limits[] = {
    [MAX_ON_TIME] = {.name = "max_on_time", .words = "cut to max_on_time", .pulses = true},
    [MIN_ON_TIME] = {.name = "min_on_time", .words = "not made: shorter than min_on_time", .pulses = true},
    [EMPTY] = {.name = "empty", .words = "without propellant"},
};

static void reset(const struct orr_device *device) {
  struct state *s = device->state;
  *s = (struct state){.left = propellant(device->params)};
}

/* Pulses in their order, within the years that a count of ns has. */
static bool is_sound(const void *state) {
  const struct state *s = state;
  int64_t last = 0;
  bool sound = s->count >= 0 && s->count <= PULSES;
  for (int64_t i = 0; sound && i < s->count; i++) {
    sound = s->open_ns[i] >= last && s->close_ns[i] >= s->open_ns[i] && s->close_ns[i] < INT64_MAX / 4;
    last = s->close_ns[i];
  }
  return sound;
}

/* A command from the moment on at which the valve hears of it. Where there is no room for one pulse more it lengthens
 * the last that waits, never beyond its own end, so that no list of commands adds up. */
static void command(const struct orr_device *device, const struct orr_acting *now, double on_time) {
  const struct params *p = device->params;
  struct state *s = device->state;
  int64_t start_ns = now->point->start_ns;
  int64_t heard = start_ns + llrint(1e9 * p->valve_delay);
  while (s->count && s->open_ns[s->count - 1] >= heard) {
    s->count--;
    s->open_ns[s->count] = s->close_ns[s->count] = 0;
  }
  int64_t *last = s->count ? &s->close_ns[s->count - 1] : NULL;
  bool open = last && *last >= heard;
  if (open)
    *last = heard;
  if (!(on_time > 0))
    return;
  if (on_time > p->max_on_time)
    orr_device_limited(device, MAX_ON_TIME, *now->frame);
  if (!open && on_time < p->min_on_time) {
    orr_device_limited(device, MIN_ON_TIME, *now->frame);
    return;
  }
  int64_t length = llrint(1e9 * orr_min(on_time, p->max_on_time)), close = heard + length;
  if (open || s->count == PULSES) {
    *last = *last + length < close ? *last + length : close;
    return;
  }
  s->open_ns[s->count] = heard;
  s->close_ns[s->count] = close;
  s->count++;
}

/* Whether the valve is open at a moment, and when that changes next. */
static bool valve(const struct state *s, int64_t at_ns, int64_t *next_ns) {
  *next_ns = INT64_MAX;
  for (int64_t i = 0; i < s->count; i++) {
    if (at_ns < s->open_ns[i]) {
      *next_ns = s->open_ns[i];
      return false;
    }
    if (at_ns < s->close_ns[i]) {
      *next_ns = s->close_ns[i];
      return true;
    }
  }
  return false;
}

static void forget_pulses(struct state *s, int64_t before_ns) {
  int64_t gone = 0;
  while (gone < s->count && s->close_ns[gone] <= before_ns)
    gone++;
  for (int64_t i = gone; i < s->count && gone; i++) {
    s->open_ns[i - gone] = s->open_ns[i];
    s->close_ns[i - gone] = s->close_ns[i];
  }
  for (int64_t i = s->count - gone; i < s->count; i++)
    s->open_ns[i] = s->close_ns[i] = 0;
  s->count -= gone;
}

/* ∫ thrust over `span_s` with the valve as it is: a ramp, then flat. Leaves the thrust at its end. */
static double ramp(const struct params *p, struct state *s, bool open, double span_s) {
  double target = open ? p->thrust : 0, time = open ? p->rise : p->fall;
  double moving = time > 0 ? fabs(target - s->thrust) / p->thrust * time : 0;
  if (moving > span_s) {
    double end = s->thrust + (target - s->thrust) * (span_s / moving), sum = 0.5 * (s->thrust + end) * span_s;
    s->thrust = end;
    return sum;
  }
  double sum = 0.5 * (s->thrust + target) * moving + target * (span_s - moving);
  s->thrust = target;
  return sum;
}

/* The impulse of a step, the thrust at its end, what is left of the pulses. */
static double burn(const struct params *p, struct state *s, int64_t from_ns, int64_t to_ns) {
  double impulse = 0;
  int64_t at = from_ns;
  for (int k = 0; k < 2 * PULSES + 1 && at < to_ns; k++) {
    int64_t next;
    bool open = valve(s, at, &next);
    next = next < to_ns ? next : to_ns;
    impulse += ramp(p, s, open, 1e-9 * (double)(next - at));
    at = next;
  }
  forget_pulses(s, to_ns);
  return impulse;
}

/* What an impulse takes of the propellant, and what of it there is propellant for. */
static double feed(const struct orr_device *device, const struct orr_acting *now, double impulse) {
  const struct params *p = device->params;
  struct state *s = device->state;
  if (!(p->propellant > 0 && impulse > 0))
    return impulse;
  double mass = impulse / (STANDARD_GRAVITY * p->isp);
  if (mass > s->left) {
    orr_device_limited(device, EMPTY, *now->frame);
    impulse *= s->left / mass;
    mass = s->left;
    s->thrust = 0;
  }
  s->left -= mass;
  *now->taken += mass;
  return impulse;
}

/* The same from its tank. */
static double draw(const struct orr_device *device, const struct orr_acting *now, double impulse) {
  const struct params *p = device->params;
  struct state *s = device->state;
  if (!(impulse > 0))
    return 0;
  double mass = impulse / (STANDARD_GRAVITY * p->isp), given = device->tank->kind->draw(device->tank, mass);
  if (given < mass) {
    s->thrust = 0;
    orr_device_limited(device, EMPTY, *now->frame);
  }
  return impulse * (given / mass);
}

static double supply(const struct orr_device *device, const struct orr_acting *now, double impulse) {
  return device->tank ? draw(device, now, impulse) : feed(device, now, impulse);
}

static inline void start_step(const struct orr_device *device, const struct orr_acting *now, bool fed) {
  const struct params *p = device->params;
  struct state *s = device->state;
  double on_time = orr_device_command(device, now, 0);
  int64_t start = now->point->start_ns;
  if (now->first && on_time != 0)
    command(device, now, on_time);
  double impulse = s->count || s->thrust > 0 ? burn(p, s, start, start + now->point->step_ns) : 0;
  s->mean = (fed ? draw(device, now, impulse) : feed(device, now, impulse)) / now->step_s;
}

static inline void act(const struct orr_device *device, const struct orr_acting *now, bool fed) {
  const struct params *p = device->params;
  const struct state *s = device->state;
  if (now->point->index == 0)
    start_step(device, now, fed);
  double force = now->point->index < 0 ? s->thrust : s->mean;
  if (force != 0)
    orr_force_add(now->model, now->ws, device->node, ORR_AXES_NODE, v3_scale(force, v3_from(p->direction)), v3_zero());
}

static void apply(const struct orr_device *device, const struct orr_acting *now) { act(device, now, false); }

static void apply_fed(const struct orr_device *device, const struct orr_acting *now) { act(device, now, true); }

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct state *s = device->state;
  (void)now;
  out[0] = s->thrust;
  out[1] = s->left;
}

/* What is left in the tank after the step. */
static void sense_fed(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  sense(device, now, out);
  out[1] = device->tank->kind->stock(device->tank->params, device->tank->state).left;
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static void push(const struct orr_device *device, const struct orr_acting *now, double force) {
  const struct params *p = device->params;
  if (force != 0)
    orr_force_add(now->model, now->ws, device->node, ORR_AXES_NODE, v3_scale(force, v3_from(p->direction)), v3_zero());
}

/* The step with a valve that is open or shut for all of it; pulses that wait are gone. */
static void apply_stuck(const struct orr_device *device, const struct orr_acting *now, bool open) {
  const struct params *p = device->params;
  struct state *s = device->state;
  if (now->point->index == 0) {
    int64_t start = now->point->start_ns, end = start + now->point->step_ns;
    forget_pulses(s, INT64_MAX);
    s->count = open;
    s->open_ns[0] = open ? start : 0;
    s->close_ns[0] = open ? end : 0;
    s->mean = supply(device, now, burn(p, s, start, end)) / now->step_s;
  }
  push(device, now, now->point->index < 0 ? s->thrust : s->mean);
}

static void apply_stuck_on(const struct orr_device *device, const struct orr_acting *now) {
  apply_stuck(device, now, true);
}

static void apply_stuck_off(const struct orr_device *device, const struct orr_acting *now) {
  apply_stuck(device, now, false);
}

static double leaked(const struct orr_device *device) {
  const struct params *p = device->params;
  const struct state *s = device->state;
  if (device->tank && !(device->tank->kind->stock(device->tank->params, device->tank->state).usable > 0))
    return 0;
  return p->propellant > 0 && !(s->left > 0) ? 0 : device->trouble->number * p->thrust;
}

static void apply_leak(const struct orr_device *device, const struct orr_acting *now) {
  struct state *s = device->state;
  if (now->point->index == 0) {
    start_step(device, now, device->tank);
    double more = orr_max(0, leaked(device) - s->mean);
    s->mean += supply(device, now, more * now->step_s) / now->step_s;
  }
  push(device, now, now->point->index < 0 ? orr_max(s->thrust, leaked(device)) : s->mean);
}

static void sense_leak(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  device->trouble->healthy->sense(device, now, out);
  out[0] = orr_max(out[0], leaked(device));
}

static const struct orr_device_fault faults[] = {
    {.name = "stuck_on", .apply = apply_stuck_on},
    {.name = "stuck_off", .apply = apply_stuck_off},
    {.name = "leak",
     .unit = "",
     .high = 1,
     .number = "the part of its thrust that it gives at least",
     .apply = apply_leak,
     .sense = sense_leak},
};

static const char *feeds_from(const void *params) { return ((const struct params *)params)->tank; }

static bool vary(const void *params, struct orr_device_kind *kind) {
  kind->apply = apply_fed;
  kind->sense = sense_fed;
  kind->propellant = NULL;
  return ((const struct params *)params)->tank;
}

const struct orr_device_kind orr_thruster = {
    .name = "thruster",
    .doc = "A thruster with pulses of commanded length, resolved inside a step: what a step feels is its mean thrust, "
           "so the impulse is exact whatever the step. Propellant that it uses leaves its body, or "
           "the tank that it feeds from.",
    .equation = "impulse of a long pulse = F (on_time - rise/2 + fall/2)\n"
                "propellant used = impulse/(g0 isp),   g0 = 9.80665 m/s^2\n",
    .example = "jet: {kind: thruster, node: bus.imu, direction: [1, 0, 0], thrust: 1 N, min_on_time: 10 ms, "
               "valve_delay: 3 ms, isp: 220 s, propellant: 2 kg}",
    .role = ORR_ACTUATOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .push = full_thrust,
    .propellant = propellant,
    .feeds_from = feeds_from,
    .judge = judge,
    .vary = vary,
    .reset = reset,
    .is_sound = is_sound,
    .apply = apply,
    .sense = sense,
    ORR_DEVICE_LIMITS,
    ORR_DEVICE_FAULTS,
};
