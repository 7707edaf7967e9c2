/* The world around a run: one reference point on its orbit, and what acts on every spacecraft near it.
 *
 * The reference moves in non-rotating axes (those of the GCRS, or parallel to them at another central body), with the
 * acceleration that gravity gives the first spacecraft's base. Everything that the solver carries is relative to it, so
 * a spacecraft at 7 km/s keeps its digits: what is left of gravity there is its gradient, and for other spacecraft the
 * difference of two fields. Position and velocity are sums with their rounding errors carried along; the rule is the
 * integrator's own, with the same stages.
 *
 * The world is a device of the plant that runs before all others (orr_world_kind), so that runs without one do not know
 * of it: it acts at every evaluation, its state is hashed and saved with theirs, and it has channels. Devices ask it,
 * through the workspace, for what they sense.
 *
 * Call order: orr_world_size → a block → orr_world_init [init], before orr_plant_init, with the workspace of the plant;
 * the plant's first devices are the world itself (orr_world_kind) and a place for each spacecraft
 * (orr_world_place_kind).
 */
#ifndef ORR_CORE_PLANT_WORLD_H
#define ORR_CORE_PLANT_WORLD_H

#include "core/environment/light.h"
#include "core/environment/magnetic.h"
#include "core/environment/nrlmsise.h"
#include "core/environment/sky.h"
#include "core/environment/us76.h"
#include "core/plant/device.h"

enum orr_atmosphere { ORR_NO_ATMOSPHERE, ORR_EXPONENTIAL, ORR_US76, ORR_NRLMSISE, ORR_ATMOSPHERE_COUNT };

/* A plate on a node: its normal in node axes. */
struct orr_surface_desc {
  int body, node; /* file order; node of the body */
  struct orr_plate plate;
};

struct orr_world_desc {
  struct orr_sky_desc sky;
  int body;                        /* a root, file order: the reference starts from it */
  double position[3], velocity[3]; /* of the reference at frame 0 */
  enum orr_integrator integrator;
  double mu, radius; /* of the central body, m³/s², m */
  int degree, order; /* of its field; 0: central */
  size_t term_count;
  const struct orr_harmonic_term *terms;
  bool attracts;                     /* false: no gravity at all */
  bool sun, moon, earth;             /* third bodies; the central one may not be among them */
  struct orr_magnetic_desc magnetic; /* degree 0: none */
  enum orr_atmosphere atmosphere;
  double density, base, scale; /* exponential: kg/m³ at a height, m, falling by e every `scale` */
  double f107, f107_average, ap;
  bool sunlight, eclipse;         /* pressure of light; a conical shadow */
  struct orr_planet_light planet; /* zero: none */
  size_t surface_count;
  const struct orr_surface_desc *surfaces;
};

struct orr_world_state {
  double r[3], r_rest[3], v[3], v_rest[3]; /* the reference at the start of a step, as sums of two */
  double kr[4][3], kv[4][3];               /* slopes of its stages */
  double step;                             /* s, of a step whose stages are complete and not yet added; else 0 */
};

/* What the world is at the evaluation or the frame of the moment. */
struct orr_world_now {
  double t;       /* s since the epoch */
  orr_vec3 r, v;  /* of the reference */
  orr_vec3 a;     /* its acceleration */
  orr_vec3 third; /* the part of it from third bodies */
  struct orr_sky_now sky;
  orr_vec3 drag, light; /* N, sums over all plates, inertial axes */
};

struct orr_world {
  const struct orr_world_desc *desc;
  const struct orr_model *model;
  struct orr_sky *sky;
  struct orr_harmonics *gravity;
  struct orr_magnetic *magnetic;       /* or NULL */
  struct orr_us76 *us76;               /* or NULL */
  struct orr_nrlmsise_model *nrlmsise; /* or NULL */
  int *root;                           /* [body_count] limb → number of its spacecraft */
  int *roots;                          /* [root_count] limb that is its base; the reference's first */
  int root_count;
  orr_vec3 *base, *pull; /* [root_count] of the evaluation: place of the base; gravity there less the reference's */
  orr_sym3 *gradient;    /* [root_count] */
  int *surface_node;     /* [surface_count] of the model */
  struct orr_world_state *state; /* the device's */
  struct orr_world_now now;
};

/* [any] Degree and order that are stored: at least 1. */
size_t orr_world_size(const struct orr_model *model, const struct orr_world_desc *desc);

/* [init] Sums the sky of the whole run (0.2 ms an hour). The description must live as long. NULL if the block is too
 * small. Sets ws->world. */
struct orr_world *orr_world_init(void *block, size_t bytes, const struct orr_model *model, struct orr_workspace *ws,
                                 const struct orr_world_desc *desc);

/* The devices of a world: itself, and one for each spacecraft's place. */
extern const struct orr_device_kind orr_world_kind, orr_world_place_kind, orr_world_pointing_kind;

/* What `orr_world_pointing_kind` points at, as run files write it; ends with NULL. x along the velocity (made normal to
 * z, or to y), except those that look at something, whose x lies across it and the orbit's normal. */
enum orr_aim {
  ORR_AIM_LVLH,
  ORR_AIM_NADIR,
  ORR_AIM_VELOCITY,
  ORR_AIM_SUN, /* this one and the following: z to it */
  ORR_AIM_EARTH,
  ORR_AIM_MOON,
  ORR_AIM_GROUND, /* a place on the central body */
  ORR_AIM_NODE,   /* a node of any body */
  ORR_AIM_COUNT
};
extern const char *const orr_aim_names[ORR_AIM_COUNT + 1];

struct orr_world_pointing {
  int aim;
  double offset[4]; /* turns the aim's axes into the target: unit */
  double ground[3]; /* m, in axes that turn with the central body */
  int body, node;   /* file order; node of the body */
};

/* [any] The attitude of an aim (axes → inertial) for a spacecraft at r with v; `to` what it looks at, from it; zero
 * counts as down. */
orr_mat3 orr_aim_axes(enum orr_aim aim, orr_vec3 r, orr_vec3 v, orr_vec3 to);

/* [init] The angular velocity of the target of such a device at the frame of the moment, inertial axes; by differences
 * over 0.1 s either way, in which the node is taken to fall freely. */
orr_vec3 orr_world_aim_rate(const struct orr_device *device, const struct orr_workspace *ws);

/* ---- for devices [rt]; places relative to the reference, inertial axes ------------------------------------------- */

/* The world of a workspace, at the moment of the evaluation or frame; NULL where the run has none. */
static inline const struct orr_world *orr_world_of(const struct orr_workspace *ws) { return ws->world; }

/* From the centre of the central body, m. */
orr_vec3 orr_world_place(const struct orr_world *world, orr_vec3 relative);

/* Gravity at a place less that of the reference: what falls with it does not feel. m/s². */
orr_vec3 orr_world_tide(const struct orr_world *world, orr_vec3 relative);

/* B, T. */
orr_vec3 orr_world_field(const struct orr_world *world, orr_vec3 relative);

/* kg/m³ */
double orr_world_density(const struct orr_world *world, orr_vec3 relative);

/* The part of the Sun that is seen, 0 … 1; 1 without an eclipse. */
double orr_world_sunshine(const struct orr_world *world, orr_vec3 relative);

#endif
