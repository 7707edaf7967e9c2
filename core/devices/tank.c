/* A tank of propellant on a node, from which thrusters feed by its name.
 *
 * What leaves, leaves from the node: a rigid body loses a point mass there, so its mass, its mass centre and its
 * inertia change together; a flexible body's node gets lighter. The liquid counts as a point at the tank's centre: in a
 * smooth sphere it does not turn with the tank. What leaves takes its velocity along; its push is the thruster's.
 *
 * Slosh. In a sphere of radius R the pressure acts through the centre, so the first mode of the liquid is a pendulum
 * that hangs there, whatever the level: `slosh` names the body that is its bob. Of the liquid's mass m, with level h
 *   v = 3 m/(4π R³ ρ) = 3 f² − 2 f³,   f = h/2R
 *   L = R/λ(f),   m₁ = μ(f) m,   m₀ = m − m₁, a point at the centre
 * where ω² = λ g/R is the first eigenvalue of −∂φ/∂n = 0 on the wall and ∂φ/∂z = (λ/R) φ on the surface, and
 * μ = π λ/(R V) (∫ φ r² dr)²/∫ φ² r dr. λ and μ were computed for this table by Ritz's method with rⁿ P_n^1, n ≤ 40, in
 * quadruple precision. The fixed body has its mass with m₀ of frame 0. As the level falls the plant gives the bob
 * its new mass and distance; its own inertia stays as the file says.
 */
#include "core/math/elementary.h"
#include "core/plant/device.h"

struct params {
  double propellant, residual;
  const char *slosh;
  double radius, density;
};

struct state {
  double left; /* kg */
};

static const struct orr_param table[] = {
    {.name = "propellant",
     .doc = "propellant at frame 0, part of the masses of the bodies",
     .required = true,
     .unit = "kg",
     .open = true,
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(propellant)},
    {.name = "residual",
     .doc = "what of it cannot be drawn; with `slosh` at least a hundredth",
     .unit = "kg",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(residual)},
    {.name = "slosh",
     .doc = "the body that is the bob of the liquid's pendulum: it hangs on the tank's node, its mass centre off its "
            "hinge",
     .type = ORR_PARAM_NAME,
     ORR_DEVICE_PARAM(slosh)},
    {.name = "radius",
     .doc = "radius R of the sphere; `slosh` needs it",
     .unit = "m",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(radius)},
    {.name = "density",
     .doc = "density of the propellant; `slosh` needs it",
     .unit = "kg/m^3",
     .high = HUGE_VAL,
     ORR_DEVICE_PARAM(density)},
};

static bool sloshes(const void *params) { return ((const struct params *)params)->slosh; }

static const struct orr_device_channel channels[] = {
    {.name = "propellant", .doc = "propellant that is left", .unit = "kg", .count = 1},
    {.name = "level", .doc = "height of the liquid over the diameter", .unit = "", .count = 1, .present = sloshes},
    {.name = "sloshing", .doc = "mass of the bob", .unit = "kg", .count = 1, .present = sloshes},
    {.name = "arm", .doc = "length of the pendulum", .unit = "m", .count = 1, .present = sloshes},
};

enum { LEVELS = 25 };
static const double FULLEST = 0.96, LEVEL_STEP = 0.04;

/* R/L and m₁/m at the levels 0, 0.04 … 0.96. */
static const struct {
  double lambda, part;
} modes[LEVELS] = {{1, 1},
                   {1.0275249, 0.972872},
                   {1.0568893, 0.944792},
                   {1.0882997, 0.915713},
                   {1.1219964, 0.885589},
                   {1.1582613, 0.854368},
                   {1.1974275, 0.821997},
                   {1.2398919, 0.788422},
                   {1.2861320, 0.753586},
                   {1.3367278, 0.717432},
                   {1.3923926, 0.679902},
                   {1.4540144, 0.640939},
                   {1.5227160, 0.600490},
                   {1.5999409, 0.558507},
                   {1.6875818, 0.514952},
                   {1.7881782, 0.469805},
                   {1.9052313, 0.423068},
                   {2.0437309, 0.374785},
                   {2.2110816, 0.325061},
                   {2.4188505, 0.274091},
                   {2.6863566, 0.222225},
                   {3.0489572, 0.170052},
                   {3.5805812, 0.118585},
                   {4.4729905, 0.069622},
                   {6.4899907, 0.026697}};

/* f of 3 f² − 2 f³ = v. */
static double level_of(const struct params *p, double mass) {
  double v = mass / (4.1887902047863905 * p->radius * p->radius * p->radius * p->density);
  return 0.5 - orr_sin(orr_asin(orr_max(-1, orr_min(1, 1 - 2 * v))) / 3);
}

/* The pendulum of a mass of liquid: 1/λ and μ by cubics through four neighbours of the table. */
static void pendulum(const struct params *p, double mass, double *bob, double *arm) {
  double at = orr_min(level_of(p, mass), FULLEST) / LEVEL_STEP, y[2] = {0, 0};
  int first = (int)orr_min(orr_max(floor(at) - 1, 0), LEVELS - 4);
  for (int i = first; i < first + 4; i++) {
    double weight = 1;
    for (int k = first; k < first + 4; k++)
      weight *= k == i ? 1 : (at - k) / (i - k);
    y[0] += weight * modes[i].part;
    y[1] += weight / modes[i].lambda;
  }
  *bob = y[0] * mass;
  *arm = y[1] * p->radius;
}

static const char *judge(const void *params) {
  const struct params *p = params;
  if (p->residual >= p->propellant)
    return "'residual' is all of its propellant or more";
  if (!p->slosh)
    return p->radius > 0 || p->density > 0 ? "'radius' and 'density' are of the pendulum that 'slosh' names" : NULL;
  if (!(p->radius > 0 && p->density > 0))
    return "'slosh' needs the 'radius' of the tank and the 'density' of the propellant";
  if (p->residual < 0.01 * p->propellant)
    return "'slosh' needs a 'residual' of at least a hundredth of the propellant: a bob without mass has no motion";
  return level_of(p, p->propellant) > FULLEST
             ? "the propellant fills more than 0.96 of the height of the sphere, where it hardly sloshes: leave "
               "'slosh' out, or take a larger 'radius'"
             : NULL;
}

static void reset(const struct orr_device *device) {
  ((struct state *)device->state)->left = ((const struct params *)device->params)->propellant;
}

static const char *swings(const void *params) { return ((const struct params *)params)->slosh; }

static struct orr_stock stock_of(const void *params, double left) {
  const struct params *p = params;
  struct orr_stock s = {
      .left = left, .usable = left - p->residual, .gone = p->propellant - left, .most = p->propellant - p->residual};
  if (p->slosh) {
    double bob0, arm0;
    pendulum(p, p->propellant, &bob0, &arm0);
    pendulum(p, left, &s.bob, &s.arm);
    s.gone -= bob0 - s.bob;
    s.most -= bob0;
  }
  return s;
}

static struct orr_stock stock(const void *params, const void *state) {
  const struct params *p = params;
  return stock_of(params, state ? ((const struct state *)state)->left : p->propellant);
}

static double draw(const struct orr_device *device, double mass) {
  const struct params *p = device->params;
  struct state *s = device->state;
  double given = orr_min(mass, orr_max(0, s->left - p->residual));
  s->left = mass > given ? p->residual : s->left - given;
  return given;
}

static bool is_sound(const void *state) {
  double left = ((const struct state *)state)->left;
  return isfinite(left) && left >= 0;
}

static double usable(const void *params) {
  const struct params *p = params;
  return p->propellant - p->residual;
}

static void sense(const struct orr_device *device, const struct orr_sensing *now, double *out) {
  const struct params *p = device->params;
  struct orr_stock s = stock(p, device->state);
  (void)now;
  out[0] = s.left;
  if (!p->slosh)
    return;
  out[1] = level_of(p, s.left);
  out[2] = s.bob;
  out[3] = s.arm;
}

const struct orr_device_kind orr_tank = {
    .name = "tank",
    .doc =
        "A tank of propellant, from which thrusters feed by its name (`tank`). What leaves, leaves from its node as a "
        "point mass: mass, mass centre and inertia of the body follow. With `slosh` the liquid in a sphere is a "
        "pendulum, whose mass and length follow the level: the file has a body for its bob, on a ball or universal "
        "hinge at the tank's node.",
    .equation = "level f: 3 f^2 - 2 f^3 = propellant/(4/3 pi R^3 density)\n"
                "arm = R/lambda(f), bob = mu(f) propellant, the rest a point at the centre\n"
                "f       0     0.2    0.4    0.5    0.6    0.8    0.96\n"
                "lambda  1     1.158  1.392  1.560  1.788  2.686  6.490\n"
                "mu      1     0.854  0.680  0.580  0.470  0.222  0.027\n",
    .example = "tank: {kind: tank, node: bus.imu, propellant: 2 kg}",
    .role = ORR_ACTUATOR,
    .host = ORR_ON_NODE,
    ORR_DEVICE_TABLES,
    .state_bytes = sizeof(struct state),
    .propellant = usable,
    .stock = stock,
    .swings = swings,
    .draw = draw,
    .judge = judge,
    .reset = reset,
    .is_sound = is_sound,
    .sense = sense,
};
