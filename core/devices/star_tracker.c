/* A star tracker: the attitude of its node against inertial axes, q ∘ exp(n), with n normal, `noise.about` about
 * the boresight and `noise.across` about the two axes across it (standard deviations). Above its rate limit, or when a
 * sample drops out (each with the probability `dropout`), it says so by `valid` and holds its last attitude. The sign
 * is the one nearest to the last sample.
 *
 * It is blind while a body stands within `exclusion` of its boresight, measured to the edge of the body's disc: the
 * angle to its centre less asin(R/distance). The central body is blinding on its dark side, too. The Sun blinds while
 * any of it is seen, so not in the umbra of a run with an eclipse.
 */
#include "core/math/elementary.h"
#include "core/plant/device.h"
#include "core/plant/world.h"
#include "core/tree/kinematics.h"

struct params {
  double boresight[3], across, about, rate_limit, dropout;
  double sun, earth, moon, mars; /* exclusion */
};

static const double RADIUS_SUN = 6.957e8, RADIUS_EARTH = 6.3781e6, RADIUS_MOON = 1.7374e6, RADIUS_MARS = 3.39619e6;

struct state {
  double last[4];
};

static const struct orr_param table[] = {
    {.name = "boresight",
     .doc = "axis of the tracker, node axes",
     .type = ORR_PARAM_AXIS,
     .required = true,
     ORR_DEVICE_PARAM(boresight)},
    {.name = "noise.across",
     .doc = "standard deviation of the angles about the two axes across the boresight",
     .unit = "rad",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(across)},
    {.name = "noise.about",
     .doc = "of the angle about the boresight",
     .unit = "rad",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(about)},
    {.name = "rate_limit",
     .doc = "above this rate there is no sample",
     .unit = "rad/s",
     .open = true,
     .high = HUGE_VAL,
     .fallback = HUGE_VAL,
     ORR_DEVICE_PARAM(rate_limit)},
    {.name = "dropout", .doc = "probability that a sample is lost", .unit = "", .high = 1, ORR_DEVICE_PARAM(dropout)},
    {.name = "exclusion.sun",
     .doc = "angle from the boresight to the edge of the Sun within which the Sun blinds; 0: never",
     .unit = "rad",
     .high = 3.1416,
     ORR_DEVICE_PARAM(sun)},
    {.name = "exclusion.earth", .doc = "the same of the Earth", .unit = "rad", .high = 3.1416, ORR_DEVICE_PARAM(earth)},
    {.name = "exclusion.moon",
     .doc = "the same of the Moon, around the Earth and the Moon",
     .unit = "rad",
     .high = 3.1416,
     ORR_DEVICE_PARAM(moon)},
    {.name = "exclusion.mars",
     .doc = "the same of Mars, around Mars",
     .unit = "rad",
     .high = 3.1416,
     ORR_DEVICE_PARAM(mars)},
};

static bool can_be_blinded(const void *params) {
  const struct params *p = params;
  return p->sun > 0 || p->earth > 0 || p->moon > 0 || p->mars > 0;
}

static const struct orr_device_channel channels[] = {
    {.name = "attitude",
     .doc = "attitude of the node against inertial axes, with the sign nearest to the last sample; the last one where "
            "it is not valid",
     .count = 4,
     .elements = orr_channel_xyzw},
    {.name = "valid", .doc = "the sample is good", .type = ORR_CHANNEL_FLAG, .count = 1},
    {.name = "blinded",
     .doc = "a body stands within its `exclusion`",
     .type = ORR_CHANNEL_FLAG,
     .count = 1,
     .present = can_be_blinded},
};

static void reset(const struct orr_device *device) {
  struct state *s = device->state;
  *s = (struct state){.last = {0, 0, 0, 1}};
}

static void measure(const struct orr_device *device, const struct orr_sensing *now, orr_mat3 attitude, double *out) {
  const struct params *p = device->params;
  double q[4], turn[4], n[3];
  quat_from_matrix(attitude, q);
  orr_vec3 b = v3_from(p->boresight);
  for (uint64_t i = 0; i < 3; i++)
    n[i] = p->across > 0 || p->about > 0 ? orr_noise_normal(device->noise, now->frame, i) : 0;
  double along = v3_dot(v3_from(n), b);
  orr_vec3 t = v3_scale(p->across, v3_madd(v3_from(n), -along, b));
  quat_exp(v3_madd(t, p->about * along, b), turn);
  quat_mul(q, turn, out);
  quat_normalise(out);
}

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  struct state *s = device->state;
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  bool lost = p->dropout > 0 && orr_noise_uniform(device->noise, now->frame, 3) < p->dropout;
  out[4] = !lost && v3_norm(node.omega) <= p->rate_limit;
  if (out[4] > 0) {
    double q[4], sign = 0;
    measure(device, now, node.attitude, q);
    for (int i = 0; i < 4; i++)
      sign += q[i] * s->last[i];
    for (int i = 0; i < 4; i++)
      s->last[i] = sign < 0 ? -q[i] : q[i];
  }
  memcpy(out, s->last, sizeof s->last);
}

/* A disc of this radius, centred at `to` from the tracker, within `angle` of the boresight. */
static bool blinds(orr_vec3 boresight, orr_vec3 to, double radius, double angle) {
  double centre = orr_atan2(v3_norm(v3_cross(boresight, to)), v3_dot(boresight, to));
  return angle > 0 && centre - orr_asin(orr_min(1, radius / v3_norm(to))) < angle;
}

static void sense_blinded(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  const struct orr_world *w = orr_world_of(now->ws);
  const struct orr_sky_now *sky = &w->now.sky;
  enum orr_central central = w->desc->sky.central;
  struct orr_node_state node;
  orr_node_query(now->model, now->ws, device->node, &node);
  orr_vec3 at = orr_world_place(w, node.position), b = m3_apply(node.attitude, v3_from(p->boresight));
  bool blinded = blinds(b, v3_sub(sky->earth, at), RADIUS_EARTH, p->earth);
  blinded |= central != ORR_MARS && blinds(b, v3_sub(sky->moon, at), RADIUS_MOON, p->moon);
  blinded |= central == ORR_MARS && blinds(b, v3_neg(at), RADIUS_MARS, p->mars);
  blinded |= orr_world_sunshine(w, node.position) > 0 && blinds(b, v3_sub(sky->sun, at), RADIUS_SUN, p->sun);
  out[5] = blinded;
  if (!blinded) {
    sense(device, now, out);
    return;
  }
  memcpy(out, ((struct state *)device->state)->last, 4 * sizeof *out);
  out[4] = 0;
}

static bool vary(const void *params, struct orr_device_kind *kind) {
  kind->sense = sense_blinded;
  kind->needs_world = ORR_NEEDS_WORLD;
  return can_be_blinded(params);
}

const struct orr_device_kind orr_star_tracker = {
    .name = "star_tracker",
    .doc = "A star tracker: the attitude of its node. With `exclusion` it needs an environment, in which Sun, Earth, "
           "Moon and Mars blind it.",
    .equation = "y = q o exp(n),   n normal with `across` and `about`\n"
                "blind: angle(boresight, centre of a body) - asin(radius/distance) < exclusion\n",
    .example = "star: {kind: star_tracker, node: bus.imu, rate: 10 Hz, boresight: [0, 0, 1], noise: {across: 10 "
               "arcsec, about: 60 arcsec}}",
    .role = ORR_SENSOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .vary = vary,
    .reset = reset,
    .sense = sense,
};
