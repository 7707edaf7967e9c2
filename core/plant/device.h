/* Devices: what turns commands into forces and motion into measurements.
 *
 * A kind of device is one file of core/devices/: a const struct orr_device_kind with its parameters, its channels and
 * functions. To add one, write that file and name it in core/devices/devices.c; CONTRIBUTING.md lists what goes with
 * it. Nothing here allocates: parameters are laid out by whoever reads them (io/config/run/run_devices.c) and state by
 * the plant.
 *
 *   reset   the state at frame 0, before anything was sensed
 *   apply   adds what the device does to the system at one evaluation of the integrator
 *   sense   fills the device's outputs from the state of the system at a frame
 *   tell    fills those that are no samples: what its commands come to
 *
 * Rules. `apply` is called several times a step; it may change the device's state only when now->point->index is 0, the
 * start of a step, whose length it knows. At index −1 it adds the same forces again and does not change the state.
 * State consists of 8-byte members, since it is hashed and saved as words. Functions are called on the plant's thread,
 * in the order of the run file.
 */
#ifndef ORR_CORE_PLANT_DEVICE_H
#define ORR_CORE_PLANT_DEVICE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plant/channel.h"
#include "core/plant/events.h"
#include "core/plant/integrate.h"
#include "core/plant/limits.h"
#include "core/plant/noise.h"

/* ---- what a kind declares ---------------------------------------------------------------------------------------- */

enum orr_param_type {
  ORR_PARAM_NUMBER, /* double */
  ORR_PARAM_VECTOR, /* double[3] */
  ORR_PARAM_AXIS,   /* double[3], made unit; no fallback unless all of `fallback` are given by the kind */
  ORR_PARAM_CHOICE, /* int, index into `choices` */
  ORR_PARAM_NAME,   /* const char *, the name of another device or of a body; NULL: none */
};

struct orr_param {
  const char *name; /* as the run file writes it; `noise.angle` stands in the mapping `noise` */
  const char *doc;  /* what it means, a sentence without a full stop at its end */
  enum orr_param_type type;
  bool required;
  const char *unit; /* "N m"; several allowed: "rad|m" */
  double low, high; /* of each number; both 0: any finite; use HUGE_VAL for no bound */
  bool open;        /* low itself is outside */
  double fallback;  /* of each number where the file says nothing; of a choice: the index; HUGE_VAL: no limit */
  const char *const *choices; /* ends with NULL */
  size_t offset;              /* in the kind's struct of parameters */
};

/* A channel of a kind. */
struct orr_device_channel {
  const char *name, *doc, *unit;
  const char *unit_linear; /* in place of `unit` on a coordinate that is a distance; NULL: the same */
  enum orr_channel_type type;
  enum orr_channel_direction direction;
  enum orr_channel_hold hold;
  int count; /* 0: as many as orr_device.width, named by index */
  const char *const *elements;
  bool (*present)(const void *params);                          /* NULL: always */
  void (*range)(const void *params, double *low, double *high); /* commands: what is beyond is refused */
  double (*most)(const void *params); /* commands: what is beyond has no more effect; NULL: there is no limit */
  bool told;                          /* an output that is no sample: `tell` fills it; behind those that are */
};

/* What a kind asks of the run's environment: an orbit under a sky; a magnetic field besides. */
enum { ORR_NEEDS_WORLD = 1, ORR_NEEDS_FIELD = 2 };

enum orr_device_role { ORR_ACTUATOR, ORR_SENSOR };

enum orr_device_host {
  ORR_ON_NODE,       /* `node: body.node` */
  ORR_ON_HINGE,      /* `hinge: body`, whole */
  ORR_ON_COORDINATE, /* `hinge: body`, one scalar coordinate of it: `coordinate` where there are several */
};

struct orr_device;
struct orr_acting;
struct orr_sensing;

struct orr_device_rotor {
  orr_vec3 axis;         /* unit, node axes */
  double inertia, speed; /* kg m²; rad/s at the start of a run, relative to the body */
};

/* A rotor that turns `ratio` times as far as the device's coordinate. */
struct orr_device_gear {
  double ratio, inertia; /* kg m²; 0: none */
};

/* A gear with a gap between the rotor and its coordinate: the rotor is a coordinate of its own, and what lies between
 * the two, q less the shaft's angle, is stopped at both ends of the gap. */
struct orr_device_mesh {
  struct orr_device_gear gear;
  double gap, stiffness, damping; /* all of the way between its ends; at the coordinate */
};

/* The most by which a device resists its coordinate, or its rotor, in any state: per unit of it and of its speed. */
struct orr_device_hold {
  double stiffness, damping;
};

/* What a tank holds, and what its bodies have lost since frame 0. */
struct orr_stock {
  double left;     /* kg */
  double usable;   /* kg of it that can be drawn */
  double gone;     /* kg from its node */
  double most;     /* kg that can go from there */
  double bob, arm; /* mass and length of its pendulum, kg, m; 0: none */
};

/* A fault that devices of a kind can have: what takes the place of its functions meanwhile (core/plant/fault.h). */
struct orr_device_fault {
  const char *name;   /* as the run file writes it: "seized" */
  const char *unit;   /* of its number; NULL: it has none */
  double low, high;   /* of the number */
  bool has_fallback;  /* `true` in the file means `fallback` */
  double fallback;    /* of the number */
  const char *number; /* what the number is, in words; NULL where there is none */
  void (*apply)(const struct orr_device *device, const struct orr_acting *now); /* NULL: as without the fault */
  void (*sense)(const struct orr_device *device, const struct orr_sensing *now, double *out); /* the same */
};

struct orr_device_kind {
  const char *name;
  const char *doc;      /* for the reference: what it is, in sentences */
  const char *equation; /* what it computes, in ASCII: lines, each with its \n */
  const char *example;  /* an entry of a run file that works: `gyro: {kind: rate_gyro, …}` */
  enum orr_device_role role;
  enum orr_device_host host;
  const struct orr_param *params;
  size_t param_count, param_bytes;
  const struct orr_device_channel *channels;
  size_t channel_count;
  size_t state_bytes;
  bool needs_places;                                    /* apply needs poses in inertial axes */
  bool needs_acceleration;                              /* sense needs accelerations or hinge forces */
  unsigned needs_world;                                 /* ORR_NEEDS_…: 0, it works without an environment */
  bool flexible_host;                                   /* only on a body with modes; width is their number */
  bool (*prescribes)(const void *params);               /* the hinge is driven: NULL or false, it is free */
  struct orr_device_rotor (*rotor)(const void *params); /* the device carries a rotor: NULL, none */
  struct orr_device_gear (*gear)(const void *params);   /* a rotor geared to its coordinate: NULL, none */
  struct orr_device_mesh (*mesh)(const void *params);   /* in its place, with a gap; the device's rotor: NULL, none */
  struct orr_device_hold (*hold)(const void *params);   /* on its coordinate or rotor: NULL, none */
  struct orr_device_stops (*stops)(const void *params); /* of its coordinate: NULL, none */
  orr_vec3 (*push)(const void *params);                 /* its force while it is on, node axes: NULL, none */
  double (*propellant)(const void *params);             /* kg of its body's mass that it may use: NULL, none */
  const char *(*feeds_from)(const void *params);        /* the tank that it draws from, by name; NULL: of its own */
  const char *(*swings)(const void *params);            /* the body that is a tank's pendulum; NULL: none */
  struct orr_stock (*stock)(const void *params, const void *state); /* of a tank; state NULL: at frame 0 */
  double (*draw)(const struct orr_device *device, double mass);     /* [rt] kg from a tank: what it gives */
  const char *(*judge)(const void *params); /* NULL, or what is wrong between parameters; NULL: nothing can be */
  /* [init] Puts into a copy of the kind what these parameters add to it: other functions, more state. False: nothing.
   * So who does not use an addition has neither its state nor its instructions. NULL: nothing is ever added. */
  bool (*vary)(const void *params, struct orr_device_kind *kind);
  void (*reset)(const struct orr_device *device);
  bool (*is_sound)(const void *state); /* state_bytes from outside can be its state; NULL: any can */
  void (*apply)(const struct orr_device *device, const struct orr_acting *now);
  void (*sense)(const struct orr_device *device, const struct orr_sensing *now, double *out);
  /* [rt] The outputs that are `told`, from the commands of the step that ended and the state that is set: they are no
   * state, and not in its hash. NULL: there are none. */
  void (*tell)(const struct orr_device *device, const struct orr_acting *now, double *out);
  const struct orr_limit *limits;        /* [limit_count] that commands to its devices meet */
  int limit_count;                       /* ORR_LIMITS_MAX at most */
  const struct orr_device_fault *faults; /* [fault_count] that its devices can have */
  size_t fault_count;
};

struct orr_trouble;

/* What every file of core/devices/ writes the same way. It calls its parameters `struct params`, the table of them
 * `table`, and its channels `channels`.
 *   ORR_DEVICE_PARAM(member)   in an entry of `table`: where the parameter stands in struct params
 *   ORR_DEVICE_TABLES          in the struct orr_device_kind: both tables, with their sizes
 *   ORR_DEVICE_FAULTS          there: its faults, a table called `faults`
 *   ORR_DEVICE_LIMITS          there: its limits, a table called `limits` */
#define ORR_DEVICE_PARAM(member) .offset = offsetof(struct params, member)
#define ORR_DEVICE_TABLES                                                                                              \
  .params = table, .param_count = sizeof table / sizeof *table, .param_bytes = sizeof(struct params),                  \
  .channels = channels, .channel_count = sizeof channels / sizeof *channels
#define ORR_DEVICE_FAULTS .faults = faults, .fault_count = sizeof faults / sizeof *faults
#define ORR_DEVICE_LIMITS .limits = limits, .limit_count = sizeof limits / sizeof *limits

/* ---- a device of a run ------------------------------------------------------------------------------------------- */

/* What the run file says, resolved. */
struct orr_device_desc {
  const char *name;
  const struct orr_device_kind *kind;
  const void *params;        /* the kind's struct */
  int body, node;            /* file order; node of the body for ORR_ON_NODE */
  int coordinate;            /* of the hinge, for ORR_ON_COORDINATE */
  int divisor, phase, delay; /* frames; 1, 0, 0: every frame, at once */
  orr_source source;
};

/* In the plant. */
struct orr_device {
  const struct orr_device_kind *kind;
  const char *name;
  const void *params;
  void *state;
  uint64_t noise; /* key of its streams */
  int body;       /* file order */
  int node;       /* of the model, or −1 */
  int q, u;       /* index of its coordinate and speed, or of the hinge's first */
  int width;      /* modes, or degrees of freedom */
  int rotor;      /* of the model, or −1 */
  int divisor, phase, delay;
  double period_s; /* of its samples */
  int command;     /* index of its first command in the block */
  int command_count;
  int output, output_count;
  const struct orr_device *tank;     /* that it draws from, or NULL */
  int pendulum;                      /* body of a tank's bob, file order; −1: none */
  const struct orr_trouble *trouble; /* the fault that it has now; NULL: none */
  int told;                          /* index in the block of the first output that is told; −1: none */
  const struct orr_stop *contact;    /* of its stops, located in the step; NULL: it has none */
  const struct orr_stop *mesh;       /* of its gear with a gap; NULL: it has none */
  const struct orr_events *events;   /* that both belong to */
  struct orr_limited *limited;       /* what it met of its kind's limits; no state */
};

/* One evaluation, for `apply`. */
struct orr_acting {
  const struct orr_model *model;
  struct orr_workspace *ws;
  const struct orr_evaluation_point *point;
  double step_s;         /* of the integration */
  double frame_s;        /* of the frame */
  bool first;            /* the first step of its frame: pulse commands are new */
  double *values;        /* the frame's block */
  double *force, *given; /* [u_count] */
  double *taken;         /* kg of propellant that the device has used; NULL where it may not be changed */
  const int64_t *frame;  /* the plant's */
};

/* One frame, for `sense`. */
struct orr_sensing {
  const struct orr_model *model;
  struct orr_workspace *ws; /* set, with poses */
  uint64_t frame;
  double time_s;
};

/* [rt] What its stops do at q, u: in a step by the side that they have, else by where they are. */
static inline double orr_device_stopped(const struct orr_device *device, const struct orr_acting *now, double q,
                                        double u) {
  if (!device->contact)
    return 0;
  return now->point->index < 0 ? orr_stops_force(&device->contact->stops, q, u) : orr_stop_force(device->contact, q, u);
}

/* [rt] The torque at the coordinate q, u that comes through a gear with a gap. */
static inline double orr_device_meshed(const struct orr_device *device, const struct orr_acting *now, double q,
                                       double u) {
  double lag = orr_shaft_lag(device->events, device->mesh, now->point, q);
  double drift = orr_shaft_drift(device->mesh, u, now->ws->rotor_speed[device->rotor]);
  return now->point->index < 0 ? orr_stops_force(&device->mesh->stops, lag, drift)
                               : orr_stop_force(device->mesh, lag, drift);
}

/* [any] The value of command i of a device. */
static inline double orr_device_command(const struct orr_device *device, const struct orr_acting *now, int i) {
  return now->values[device->command + i];
}

/* [rt] A device met a limit of its kind in a frame: in `apply` the one that is flown, in `tell` the one before. It
 * counts once a frame for each limit. */
void orr_device_limited(const struct orr_device *device, int limit, int64_t frame);

/* [rt] The same in `apply`, where a command is beyond ±most: judged once a frame. */
static inline void orr_device_judge(const struct orr_device *device, const struct orr_acting *now, int limit,
                                    double command, double most) {
  if (now->point->index == 0 && now->first && fabs(command) > most)
    orr_device_limited(device, limit, *now->frame);
}

/* A command is refused beyond ten times what the device can do, and up to that clipped by the device. One that the file
 * gives no limit takes what no spacecraft needs: N, N m, A m², rad/s. [init] */
static inline void orr_device_command_range(double limit, double *low, double *high) {
  static const double MOST = 1e6;
  *high = isfinite(limit) ? 10 * limit : MOST;
  *low = -*high;
}

/* ---- what several kinds share: core/plant/device.c --------------------------------------------------------------- */

/* A value with normal noise of standard deviation `sigma`, the `draw`-th of its device and frame; 0: none. [rt] */
double orr_device_noisy(double value, double sigma, const struct orr_device *device, const struct orr_sensing *now,
                        uint64_t draw);

/* A measurement's last step: rounded to steps of `quantum` (0: not), then kept within ±`limit` (0: no limit). [any] */
double orr_device_quantise(double value, double quantum, double limit);

/* Three sensors in the axes of a node, of a vector x in them:
 *   y = sat(quant((1 + diag s)(1 − m̃) x + b₀ + b + N/√T n))
 * with the scale errors s, the misalignment m (a small rotation of the case against the node), the constant bias b₀, a
 * drift b that the caller brings, and the random walk N at the sample interval T. out: the three, then 1 where one of
 * them is out of range. [rt] */
struct orr_triad {
  double random_walk, bias[3], scale[3], misalignment[3], quantum, range;
};
/* For a kind with a member `triad` in its struct params: the entries of its `table` but that of the random walk, which
 * each kind names by itself; `of_what` is the unit of x. */
#define ORR_TRIAD_PARAMS(of_what)                                                                                      \
  {.name = "bias",                                                                                                     \
   .doc = "constant bias b0, node axes",                                                                               \
   .type = ORR_PARAM_VECTOR,                                                                                           \
   .unit = (of_what),                                                                                                  \
   ORR_DEVICE_PARAM(triad.bias)},                                                                                      \
      {.name = "scale",                                                                                                \
       .doc = "scale errors s of the three axes",                                                                      \
       .type = ORR_PARAM_VECTOR,                                                                                       \
       .unit = "",                                                                                                     \
       ORR_DEVICE_PARAM(triad.scale)},                                                                                 \
      {.name = "misalignment",                                                                                         \
       .doc = "small rotation m of the case against the node",                                                         \
       .type = ORR_PARAM_VECTOR,                                                                                       \
       .unit = "rad",                                                                                                  \
       ORR_DEVICE_PARAM(triad.misalignment)},                                                                          \
      {.name = "quantisation",                                                                                         \
       .doc = "step to which a reading is rounded; 0: not",                                                            \
       .unit = (of_what),                                                                                              \
       .high = HUGE_VAL,                                                                                               \
       ORR_DEVICE_PARAM(triad.quantum)},                                                                               \
  {                                                                                                                    \
    .name = "range", .doc = "largest reading; beyond it `saturated` is 1; 0: no limit", .unit = (of_what),             \
    .high = HUGE_VAL, ORR_DEVICE_PARAM(triad.range)                                                                    \
  }
void orr_triad_sense(const struct orr_triad *triad, orr_vec3 x, const double drift[3], const struct orr_device *device,
                     const struct orr_sensing *now, double out[4]);

/* Coulomb friction with the Stribeck peak, and viscous: torque against a speed, smooth through rest over `speed`.
 *   −[c + (s − c) exp(−(v/v_s)²)] tanh(v/speed) − b v                                                      [any] */
struct orr_friction {
  double viscous, coulomb, stiction, stribeck_speed, speed;
  double presliding; /* how far it gives before it slides; 0: it creeps */
};
double orr_friction_torque(const struct orr_friction *friction, double v);

/* The same with a spring z in series, which gives by `presliding` z_b at most: what is pushed by less than the peak
 * comes to rest and stays there. The caller moves z with the coordinate, within ±z_b.
 *   −[c + (s − c) exp(−(v/v_s)²)] clip(z/z_b + v/speed, ±1) − b v                                          [any] */
double orr_friction_stick(const struct orr_friction *friction, double z, double v);

/* Its steepest slopes, at rest: (the larger of c and s)/speed + b, and against z over z_b. [any] */
double orr_friction_slope(const struct orr_friction *friction);
double orr_friction_stiffness(const struct orr_friction *friction);

#endif
